/* wick dump: the program as tokens, tree, graph, Python or instructions. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/steps.h"
#include "wick/archive.h"

/* A function's graph after a step of its compilation. */
typedef struct Snapshot {
  char *function, *text;
  const char *step; /* static */
} Snapshot;
typedef struct Dump {
  const char *path, *stage, *method, *pass, *preserved;
  bool with_source, as_difference, as_dot, as_json;
  FILE *to;            /* memory: shown when it is whole */
  Snapshot *snapshots; /* of the step `pass`, or of all */
  size_t snapshot_count, snapshot_capacity;
  bool failed; /* out of memory while compiling */
} Dump;

/* Takes over text and error. */
static int finish(const Dump *dump, wick_status status, char *text, wick_error *error) {
  size_t length = text ? strlen(text) : 0;
  if (length) fputs(text, dump->to);
  if (length && text[length - 1] != '\n') fputc('\n', dump->to);
  wick_text_free(text);
  if (status) complain_error(dump->path, error);
  return status ? EXIT_FAILED : EXIT_DONE;
}

/* ---- before compiling: the text itself ---- */

static wick_status print_text(const Dump *dump, const char *name, const char *text, size_t length, bool is_code,
                              char **out, wick_error **error) {
  wick_trees *trees = NULL;
  const wick_tree *tree;
  wick_status status = wick_trees_new(text, length, name, &trees, error);
  if (status) return status;
  if (!strcmp(dump->stage, "tokens")) {
    status = wick_trees_print_tokens(trees, out, error);
  } else {
    status = is_code ? wick_trees_parse_code(trees, &tree, error) : wick_trees_parse(trees, &tree, error);
    if (!status) status = wick_tree_print(tree, out, error);
  }
  wick_trees_release(trees);
  return status;
}
static int dump_text(const Dump *dump, const char *name, const char *text, size_t length, bool is_code) {
  char *printed = NULL;
  wick_error *error = NULL;
  wick_status status = print_text(dump, name, text, length, is_code, &printed, &error);
  return finish(dump, status, printed, error) == EXIT_DONE ? EXIT_DONE : EXIT_USAGE;
}

static int dump_archive_texts(const Dump *dump) {
  wick_archive *archive = NULL;
  wick_error *error = NULL;
  int result = EXIT_DONE;
  wick_status status = wick_archive_open(dump->path, &ARCHIVE_OPTIONS, &archive, &error);
  for (size_t i = 0; !status && result == EXIT_DONE && i < wick_archive_count(archive); i++) {
    const char *name = wick_archive_name(archive, i);
    char *text = NULL;
    size_t length;
    if (strncmp(name, "code/", 5) != 0 || !is_source_file(name)) continue;
    status = wick_archive_read(archive, name, &text, &length, &error);
    if (status) break;
    fprintf(dump->to, "# %s\n", name);
    result = dump_text(dump, name, text, length, true);
    wick_text_free(text);
  }
  wick_archive_release(archive);
  if (!status) return result;
  complain_error(dump->path, error);
  return EXIT_USAGE;
}

static int dump_texts(const Dump *dump) {
  if (!is_source_file(dump->path)) return dump_archive_texts(dump);
  size_t length;
  char *text = file_read(dump->path, &length);
  if (!text) return EXIT_USAGE;
  int result = dump_text(dump, dump->path, text, length, false);
  free(text);
  return result;
}

/* ---- on the way to the graph ---- */

/* A step of compiling bears the name of the pass that it is; where a pass over whole graphs has the same name, that is
 * meant by it, and the step by `step:NAME`. */
static const char step_prefix[] = "step:";
static const char *step_name(const char *name) {
  size_t length = strlen(step_prefix);
  return strncmp(name, step_prefix, length) ? name : name + length;
}

static bool snapshot_add(Dump *dump, Snapshot snapshot) {
  assert(dump->snapshot_count <= dump->snapshot_capacity);
  if (dump->snapshot_count == dump->snapshot_capacity) {
    size_t capacity = dump->snapshot_capacity ? 2 * dump->snapshot_capacity : 16;
    Snapshot *more = realloc(dump->snapshots, capacity * sizeof *more);
    if (!more) return false;
    dump->snapshots = more;
    dump->snapshot_capacity = capacity;
  }
  dump->snapshots[dump->snapshot_count++] = snapshot;
  return true;
}

/* As text, or for Graphviz. */
static wick_status put_graph(const Dump *dump, const wick_graph *graph, const char *name, FILE *to,
                             wick_error **error) {
  char *text = NULL;
  if (dump->as_dot) return graph_dot(graph, name, to), WICK_OK;
  wick_status status = graph_text(graph, dump->with_source, &text, error);
  if (text) fputs(text, to);
  wick_text_free(text);
  return status;
}
static void observe(void *user, const char *function, const char *step, const wick_graph *graph) {
  Dump *dump = user;
  if (strcmp(dump->pass, "all") != 0 && strcmp(step_name(dump->pass), step) != 0) return;
  Snapshot snapshot = {.function = strdup(function), .step = step};
  size_t length;
  FILE *to = open_memstream(&snapshot.text, &length);
  bool fine = to && !put_graph(dump, graph, function, to, NULL);
  if (to && fclose(to)) fine = false;
  if (fine && snapshot.function && snapshot_add(dump, snapshot)) return;
  free(snapshot.function);
  free(snapshot.text);
  dump->failed = true;
}

static bool is_compile_step(const char *name) {
  const char *step = step_name(name);
  for (size_t i = 0; wick_compile_step(i); i++)
    if (!strcmp(wick_compile_step(i), step)) return step != name || !wick_pass_exists(name);
  return !strcmp(name, "all");
}

static int complain_of_pass(const char *name) {
  char *names = NULL;
  size_t length = 0;
  FILE *list = open_memstream(&names, &length);
  for (size_t i = 0; list && wick_compile_step(i); i++)
    fprintf(list, "%s%s, ", is_compile_step(wick_compile_step(i)) ? "" : step_prefix, wick_compile_step(i));
  for (size_t i = 0; list && wick_pass_name(i); i++) fprintf(list, "%s, ", wick_pass_name(i));
  if (list && fclose(list)) length = 0;
  complain(NULL, "there is no pass '%s' (%slower_graph, freeze, alias, alias-dot, all)", name, length ? names : "");
  free(names);
  return EXIT_USAGE;
}

static int dump_steps(const Dump *dump, const wick_function *function) {
  Steps steps = {dump->to, dump->as_difference, NULL};
  bool all = !strcmp(dump->pass, "all") && !dump->as_dot;
  for (size_t i = 0; i < dump->snapshot_count; i++) {
    const Snapshot *snapshot = &dump->snapshots[i];
    if (strcmp(snapshot->function, wick_function_qualified_name(function)) != 0) continue;
    if (all)
      steps_show(&steps, snapshot->step, snapshot->text);
    else
      fputs(snapshot->text, dump->to);
  }
  steps_end(&steps);
  return EXIT_DONE;
}

/* Passes over a whole module, not over one graph. */
static bool is_module_pass(const char *name) {
  return !strcmp(name, "lower_graph") || !strcmp(name, "freeze");
}

/* Not passes, but found out about the compiled graph in the same way. */
static bool is_alias_dump(const char *name) {
  return !strcmp(name, "alias") || !strcmp(name, "alias-dot");
}

static wick_status print_aliases(const Dump *dump, wick_graph *graph, char **out, wick_error **error) {
  wick_alias *alias = NULL;
  char *text = NULL;
  bool as_dot = strcmp(dump->pass, "alias") != 0;
  wick_status status = as_dot ? WICK_OK : graph_text(graph, dump->with_source, &text, error);
  if (text) fputs(text, dump->to);
  wick_text_free(text);
  if (!status) status = wick_alias_new(graph, &alias, error);
  if (!status) status = wick_alias_print(alias, as_dot, out, error);
  wick_alias_release(alias);
  return status;
}

/* Names with commas between them: calls each(user, name) until one answers false. */
static bool each_name(const char *names, bool (*each)(void *user, const char *name), void *user) {
  char *copy = strdup(names), *rest = copy;
  bool fine = copy != NULL;
  for (char *name; fine && (name = strsep(&rest, ","));) fine = (!*name && !rest && name != copy) || each(user, name);
  free(copy);
  return fine;
}
static bool exists(void *user, const char *name) {
  (void)user;
  return wick_pass_exists(name);
}

typedef struct PassRun {
  wick_graph *graph;
  wick_status status;
  wick_error **error;
} PassRun;
static bool run_named(void *user, const char *name) {
  PassRun *run = user;
  run->status = wick_graph_run_pass(run->graph, name, run->error);
  return !run->status;
}

/* Passes that are no part of compiling, over a copy of the compiled graph. */
static wick_status run_passes(const Dump *dump, wick_graph *graph, char **out, wick_error **error) {
  PassRun run = {graph, WICK_OK, error};
  bool aliases = is_alias_dump(dump->pass);
  bool done = each_name(aliases ? "inliner" : dump->pass, run_named, &run);
  if (run.status) return run.status;
  if (!done) {
    *error = wick_error_new(WICK_OUT_OF_MEMORY, "out of memory");
    return WICK_OUT_OF_MEMORY;
  }
  return aliases ? print_aliases(dump, graph, out, error) : put_graph(dump, graph, dump->pass, dump->to, error);
}

/* Of the groups that the graph as written has, for tensors of float32: without inputs nothing more is known. */
static wick_status print_kernels(wick_graph *graph, char **out, wick_error **error) {
  PassRun run = {graph, WICK_OK, error};
  if (!run_named(&run, "inliner") || !run_named(&run, "canonicalize_graph_fuser_ops") ||
      !run_named(&run, "graph_fuser"))
    return run.status;
  return wick_graph_print_kernels(graph, out, error);
}

/* ---- compiled ---- */

static wick_status print_graph(const Dump *dump, const wick_module *module, const char *method, char **out,
                               wick_error **error) {
  wick_graph *graph = NULL;
  bool lowers = dump->pass && !strcmp(dump->pass, "lower_graph");
  wick_status status = lowers ? wick_graph_lower(module, method, &graph, NULL, error)
                              : wick_graph_of_method(module, method, 0, &graph, error);
  if (status) return status;
  if (dump->pass && !is_module_pass(dump->pass))
    status = run_passes(dump, graph, out, error);
  else if (!strcmp(dump->stage, "kernel"))
    status = print_kernels(graph, out, error);
  else
    status = put_graph(dump, graph, method, dump->to, error);
  wick_graph_release(graph);
  return status;
}

static int dump_function(const Dump *dump, const wick_module *module, const wick_function *function) {
  char *text = NULL;
  wick_error *error = NULL;
  wick_status status;
  if (dump->pass && is_compile_step(dump->pass)) return dump_steps(dump, function);
  if (!strcmp(dump->stage, "code"))
    status = wick_function_print(function, WICK_PRINT_CODE, &text, &error);
  else if (!strcmp(dump->stage, "bytecode"))
    status = wick_function_print(function, WICK_PRINT_BYTECODE, &text, &error);
  else if (!strcmp(dump->stage, "ir") && !dump->as_dot && (!dump->pass || !strcmp(dump->pass, "freeze")))
    status = wick_function_print(function, dump->with_source ? WICK_PRINT_PLACES : WICK_PRINT_GRAPH, &text, &error);
  else
    status = print_graph(dump, module, wick_function_name(function), &text, &error);
  return finish(dump, status, text, error);
}

static int dump_module(const Dump *dump, wick_module *module) {
  size_t count = wick_module_method_count(module);
  int result = EXIT_DONE;
  for (size_t i = 0; result == EXIT_DONE && i < (dump->method ? 1 : count); i++) {
    const char *name = dump->method ? dump->method : wick_module_method_name(module, i);
    wick_function *function;
    wick_error *error;
    if (wick_function_of(module, name, &function, &error)) {
      complain_error(dump->path, error);
      return EXIT_USAGE;
    }
    if (!dump->method && count > 1 && !dump->as_dot) fprintf(dump->to, "# %s\n", name);
    result = dump_function(dump, module, function);
    wick_function_release(function);
  }
  return result;
}

static int dump_model(Dump *dump, ModelOptions *model) {
  wick_error *error = NULL;
  if (dump->pass && !model->runtime && wick_runtime_new(NULL, &model->runtime, &error)) {
    complain_error(NULL, error);
    return EXIT_FAILED;
  }
  if (dump->pass) wick_runtime_observe(model->runtime, observe, dump);
  wick_module *module = model_open(dump->path, model, &error);
  int result = EXIT_USAGE;
  if (dump->failed) {
    complain(dump->path, "out of memory");
  } else if (module && dump->pass && !strcmp(dump->pass, "freeze") && model_freeze(&module, dump->preserved, &error)) {
    result = EXIT_FAILED;
  } else if (module) {
    result = dump_module(dump, module);
  }
  if (error) complain_error(dump->path, error);
  wick_module_release(module);
  wick_runtime_release(model->runtime);
  for (size_t i = 0; i < dump->snapshot_count; i++) {
    free(dump->snapshots[i].function);
    free(dump->snapshots[i].text);
  }
  free(dump->snapshots);
  return result;
}

static bool is_plan_stage(const char *stage) {
  return !strcmp(stage, "optimized") || !strcmp(stage, "optimised");
}
const char *dump_stage_at(size_t index) {
  static const char *const stages[] = {"tokens", "tree", "ir", "code", "bytecode", "optimized", "kernel"};
  return index < sizeof stages / sizeof *stages ? stages[index] : NULL;
}
/* How the words of --stage and --pass go together; EXIT_DONE: they do. */
static int check_stage(const Dump *dump) {
  bool is_ir = !strcmp(dump->stage, "ir"), is_optimized = is_plan_stage(dump->stage), found = is_optimized;
  for (size_t i = 0; dump_stage_at(i); i++) found = found || !strcmp(dump_stage_at(i), dump->stage);
  if (!found) {
    complain(NULL, "there is no stage '%s' (tokens, tree, ir, code, bytecode, optimized, kernel)", dump->stage);
    return EXIT_USAGE;
  }
  if (dump->as_difference && (!dump->pass || strcmp(dump->pass, "all") != 0)) {
    complain(NULL, "--diff is for --pass all");
    return EXIT_USAGE;
  }
  if (dump->as_dot && !is_ir) {
    complain(NULL, "--dot shows graphs: of the stage ir, after any --pass");
    return EXIT_USAGE;
  }
  bool is_known = !dump->pass || is_optimized || is_compile_step(dump->pass) || is_alias_dump(dump->pass) ||
                  is_module_pass(dump->pass) || (*dump->pass && each_name(dump->pass, exists, NULL));
  return is_known && (!dump->pass || is_ir || is_optimized) ? EXIT_DONE : complain_of_pass(dump->pass);
}

static int dump_stage(Dump *dump, OptimizedDump *optimized, ModelOptions *model, int count, char **words) {
  if (!strcmp(dump->stage, "tokens") || !strcmp(dump->stage, "tree")) return dump_texts(dump);
  bool kernels = !strcmp(dump->stage, "kernel");
  if (!is_plan_stage(dump->stage) && !(kernels && count)) return dump_model(dump, model);
  optimized->kernels = kernels;
  optimized->path = dump->path;
  optimized->method = dump->method;
  optimized->pass = dump->pass;
  optimized->with_source = dump->with_source;
  optimized->as_difference = dump->as_difference;
  optimized->to = dump->to;
  return dump_optimized(optimized, model, count, words);
}
/* All of it as one member of an object. */
static bool print_json(const Dump *dump, const char *text) {
  Json json;
  if (!json_out_open(&json)) return false;
  json_put_begin(&json, '{');
  json_put_key(&json, "model"), json_put_text(&json, dump->path);
  json_put_key(&json, "stage"), json_put_text(&json, dump->stage);
  json_put_key(&json, "pass"), json_put_text(&json, dump->pass);
  json_put_key(&json, "text"), json_put_text(&json, text);
  json_put_end(&json, '}');
  return json_out_print(&json);
}
static int dump_all(Dump *dump, OptimizedDump *optimized, ModelOptions *model, int count, char **words) {
  char *text = NULL;
  size_t length;
  if (dump->as_json && !model_print_aside(model)) return EXIT_FAILED;
  dump->to = open_memstream(&text, &length);
  int result = dump->to ? dump_stage(dump, optimized, model, count, words) : EXIT_FAILED;
  if (!dump->to || fclose(dump->to)) {
    complain(dump->path, "out of memory");
    result = EXIT_FAILED;
  } else if (!dump->as_json) {
    show_text(stdout, text); /* as far as it came */
  } else if (result == EXIT_DONE && !print_json(dump, text)) {
    result = EXIT_FAILED;
  }
  free(text);
  return result;
}

static int run(const Command *command, int count, char **words) {
  Dump dump = {.stage = "ir"};
  ModelOptions model = {0};
  OptimizedDump optimized = {.calls = 4};
  const Option options[] = {
      {"--stage", OPTION_TEXT, &dump.stage, "STAGE", "tokens tree ir code bytecode optimized kernel"},
      {"--method", OPTION_TEXT, &dump.method, "METHOD", "only this method or function"},
      {"--pass", OPTION_TEXT, &dump.pass, "PASS", "after this step of compiling, or all; or passes A,B"},
      {"--diff", OPTION_FLAG, &dump.as_difference, NULL, "with --pass all: the lines that each step changed"},
      {"--dot", OPTION_FLAG, &dump.as_dot, NULL, "graphs for Graphviz"},
      {"--preserve", OPTION_TEXT, &dump.preserved, "NAMES", "for --pass freeze: what stays, as in `wick save`"},
      {"--source", OPTION_FLAG, &dump.with_source, NULL, "with source positions in graphs"},
      {"--calls", OPTION_INT, &optimized.calls, "N", "calls before plans are shown (4)"},
      {"--grad", OPTION_FLAG, &optimized.grad, NULL, "plans with gradients of the inputs"},
      {"--json", OPTION_FLAG, &dump.as_json, NULL, "print one JSON object"},
      {.kind = OPTION_MODEL, .to = &model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, ANY_WORDS, &result)) return result;
  dump.path = words[0];
  if ((result = check_stage(&dump)) != EXIT_DONE) return result;
  return dump_all(&dump, &optimized, &model, count - 1, words + 1);
}

const Command command_dump = {"dump", "MODEL [INPUT...]", "Prints a program at a stage, from tokens to kernels.", run};
