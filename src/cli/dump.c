/* wick dump: the program as tokens, tree, graph, Python or instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/find.h"
#include "cli/cli.h"
#include "frontend/frontend.h"
#include "fuse/fuse.h"
#include "fuse/group.h"
#include "interp/interp.h"
#include "ir/alias_db.h"
#include "module/lower_graph.h"
#include "pass/pass.h"
#include "serial/archive/archive.h"
#include "serial/python/python_print.h"
#include "syntax/syntax.h"

/* A function's graph after a step of its compilation. */
typedef struct Snapshot {
  const Function *function;
  const char *step;
  StrBuf text;
} Snapshot;
typedef struct Dump {
  const char *path, *stage, *method, *pass, *preserved;
  Object *self; /* of a module */
  bool with_source;
  VEC(Snapshot) snapshots; /* of the step `pass`, or of all */
  bool failed;             /* out of memory while compiling */
} Dump;

static int print_and_dispose(const char *path, StrBuf *text) {
  bool failed = text->failed;
  if (failed) {
    complain(path, "out of memory");
  } else if (text->length) {
    fwrite(text->data, 1, text->length, stdout);
    if (text->data[text->length - 1] != '\n') putchar('\n');
  }
  strbuf_dispose(text);
  return failed ? EXIT_FAILED : EXIT_DONE;
}

/* ---- before compiling: the text itself ---- */

typedef struct Parse {
  Arena arena;
  const Source *source;
  int flags;
  bool tokens;
  StrBuf text;
} Parse;
static void parse_body(void *argument) {
  Parse *parse = argument;
  if (parse->tokens) {
    Lexer lexer;
    lexer_init(&lexer, &parse->arena, parse->source);
    lexer_print(&lexer, &parse->text);
  } else {
    tree_print(parse_file(&parse->arena, parse->source, parse->flags), &parse->text);
  }
}
static int dump_text(const Dump *dump, const char *name, Str text, int flags) {
  Source *source;
  Parse parse = {.flags = flags, .tokens = !strcmp(dump->stage, "tokens")};
  Status status = source_new(text, name, 1, &source);
  if (!status) {
    parse.source = source;
    arena_init(&parse.arena, NULL);
    status = arena_protect(&parse.arena, parse_body, &parse);
    arena_dispose(&parse.arena);
    source_release(source);
  }
  if (!status) return print_and_dispose(name, &parse.text);
  strbuf_dispose(&parse.text);
  complain_error(dump->path, (wick_error *)status);
  return EXIT_USAGE;
}

static int dump_archive_texts(const Dump *dump) {
  ByteSource *source = NULL;
  Archive *archive = NULL;
  int result = EXIT_DONE;
  Status status = byte_source_open(dump->path, true, &source);
  if (!status) status = archive_open(source, true, 0, &archive);
  for (size_t i = 0; !status && result == EXIT_DONE && i < archive->records.length; i++) {
    const ArchiveRecord *record = &archive->records.data[i];
    char *text;
    size_t length;
    if (!str_starts_with(record->name, "code/") || !str_ends_with(record->name, ".py")) continue;
    status = archive_read(archive, record, &text, &length);
    if (status) break;
    char *name = mem_alloc(record->name.length + 1);
    if (name) {
      memcpy(name, record->name.data, record->name.length);
      name[record->name.length] = 0;
    }
    printf("# %s\n", name ? name : "");
    result = dump_text(dump, name, (Str){text, length}, PARSE_ARCHIVE);
    mem_free(name);
    mem_free(text);
  }
  archive_free(archive);
  byte_source_release(source);
  if (!status) return result;
  complain_error(dump->path, (wick_error *)status);
  return EXIT_USAGE;
}

static int dump_texts(const Dump *dump) {
  if (!is_source_file(dump->path)) return dump_archive_texts(dump);
  size_t length;
  char *text = file_read(dump->path, &length);
  if (!text) return EXIT_USAGE;
  int result = dump_text(dump, dump->path, (Str){text, length}, PARSE_PYTHON);
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

static void observe(void *user, const Function *function, const char *step, const Graph *graph) {
  Dump *dump = user;
  Snapshot snapshot = {function, step, {0}};
  if (strcmp(dump->pass, "all") != 0 && strcmp(step_name(dump->pass), step) != 0) return;
  graph_print(graph, dump->with_source, &snapshot.text);
  if (!vec_push(&dump->snapshots, snapshot)) {
    strbuf_dispose(&snapshot.text);
    dump->failed = true;
  }
}

static bool is_lowering_step(const char *name) {
  const char *step = step_name(name);
  for (size_t i = 0; frontend_lowering_step(i); i++)
    if (!strcmp(frontend_lowering_step(i), step)) return step != name || !pass_find(str_from(name));
  return !strcmp(name, "all");
}

static int complain_of_pass(const char *name) {
  StrBuf text = {0};
  for (size_t i = 0; frontend_lowering_step(i); i++) {
    const char *step = frontend_lowering_step(i);
    strbuf_printf(&text, "%s%s, ", is_lowering_step(step) ? "" : step_prefix, step);
  }
  for (const Pass *pass = pass_next(NULL); pass; pass = pass_next(pass)) strbuf_printf(&text, "%s, ", pass->name);
  complain(NULL, "there is no pass '%s' (" STR_FMT "lower_graph, freeze, alias, alias-dot, all)", name,
           STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return EXIT_USAGE;
}

static int dump_steps(const Dump *dump, const Function *function) {
  for (size_t i = 0; i < dump->snapshots.length; i++) {
    const Snapshot *snapshot = &dump->snapshots.data[i];
    if (snapshot->function != function) continue;
    if (!strcmp(dump->pass, "all")) printf("# after %s\n", snapshot->step);
    fwrite(snapshot->text.data, 1, snapshot->text.length, stdout);
  }
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

static Status print_aliases(const Dump *dump, Graph *graph, StrBuf *text) {
  Arena arena;
  Catch here;
  arena_init(&arena, &here);
  if (catch_enter(&here)) {
    AliasDb *db = alias_db_new(graph, &arena);
    if (!strcmp(dump->pass, "alias")) {
      graph_print(graph, dump->with_source, text);
      alias_print(db, text);
    } else {
      alias_print_dot(db, text);
    }
  }
  arena_dispose(&arena);
  return here.status;
}

/* The next of names with commas between them; false: there is none. */
static bool next_name(Str *rest, Str *out) {
  if (!rest->length) return false;
  ptrdiff_t comma = str_find_char(*rest, ',');
  size_t end = comma < 0 ? rest->length : (size_t)comma;
  *out = str_slice(*rest, 0, end);
  *rest = str_slice(*rest, comma < 0 ? end : end + 1, rest->length);
  return true;
}

static bool are_passes(const char *names) {
  Str rest = str_from(names), name;
  while (next_name(&rest, &name))
    if (!pass_find(name)) return false;
  return *names;
}

static Status run_passes(const char *names, Graph *graph, Exec *exec) {
  Str rest = str_from(names), name;
  while (next_name(&rest, &name)) TRY(pass_run(pass_find(name), graph, exec));
  return OK;
}

/* Passes that are no part of compiling, over a copy of the compiled graph. */
static Status run_pass(const Dump *dump, const Function *function, StrBuf *text) {
  Arena arena;
  Exec exec;
  Catch here;
  Graph *volatile copy = NULL;
  api_exec_init(&exec, NULL);
  arena_init(&arena, &here);
  if (catch_enter(&here)) copy = graph_copy(function->graph, &arena, function->graph->store);
  Status status = here.status;
  bool aliases = is_alias_dump(dump->pass);
  if (!status) status = run_passes(aliases ? "inliner" : dump->pass, copy, &exec);
  if (!status && aliases)
    status = print_aliases(dump, copy, text);
  else if (!status)
    graph_print(copy, dump->with_source, text);
  if (copy) graph_dispose(copy);
  arena_dispose(&arena);
  return status;
}

/* The method with every attribute that it reads as an input. */
static Status print_lowered(const Dump *dump, const Function *function, StrBuf *text) {
  Arena arena;
  Catch here;
  LoweredGraph lowered = {0};
  if (!dump->self) return status_new(ERROR_INVALID_ARGUMENT, "a function has no attributes to lower");
  arena_init(&arena, &here);
  if (catch_enter(&here)) {
    lower_graph(function, dump->self, &arena, function->graph->store, &lowered);
    graph_print(lowered.graph, dump->with_source, text);
  }
  if (lowered.graph) graph_dispose(lowered.graph);
  arena_dispose(&arena);
  return here.status;
}

typedef struct Fusing {
  Graph *graph;
  StrBuf *text;
} Fusing;
static void fuse_body(void *argument) {
  Fusing *fusing = argument;
  Graph *graph = fusing->graph;
  inliner(graph);
  canonicalize_graph_fuser_ops(graph);
  graph_fuser(graph, NULL);
  Status status = fuse_print_kernels(graph, fusing->text);
  if (status) catch_throw(graph->arena->catch_point, status);
}

/* Of the groups that the graph as written has, for tensors of float32: without inputs nothing more is known. */
static Status print_kernels(const Function *function, StrBuf *text) {
  Arena arena;
  Catch here;
  Graph *volatile copy = NULL;
  arena_init(&arena, &here);
  if (catch_enter(&here)) copy = graph_copy(function->graph, &arena, function->graph->store);
  Status status = here.status;
  if (!status) status = arena_protect(&arena, fuse_body, &(Fusing){copy, text});
  if (copy) graph_dispose(copy);
  arena_dispose(&arena);
  return status;
}

/* ---- compiled ---- */

static int dump_function(const Dump *dump, Function *function) {
  StrBuf text = {0};
  Status status = OK;
  if (dump->pass && is_lowering_step(dump->pass)) return dump_steps(dump, function);
  if (dump->pass && !strcmp(dump->pass, "lower_graph")) {
    if (function->graph) status = print_lowered(dump, function, &text);
  } else if (dump->pass && !is_module_pass(dump->pass)) {
    if (function->graph) status = run_pass(dump, function, &text);
  } else if (!strcmp(dump->stage, "kernel")) {
    if (function->graph) status = print_kernels(function, &text);
  } else if (!strcmp(dump->stage, "ir")) {
    if (function->graph) graph_print(function->graph, dump->with_source, &text);
  } else if (!strcmp(dump->stage, "code")) {
    PythonPrinter printer;
    python_printer_init(&printer);
    status = python_print_function(&printer, function, 0, (Str){0}, &text);
    python_printer_dispose(&printer);
  } else {
    const Code *code;
    Exec exec;
    api_exec_init(&exec, NULL);
    status = function_code(&exec, function, &code);
    if (!status) code_print(code, &text);
  }
  if (!status) return print_and_dispose(dump->path, &text);
  strbuf_dispose(&text);
  complain_error(dump->path, (wick_error *)status);
  return EXIT_FAILED;
}

static int dump_module(const Dump *dump, const wick_module *module) {
  size_t count = wick_module_method_count(module);
  if (dump->method) {
    Function *function;
    Status status = module_find(module, dump->method, &function);
    if (!status) return dump_function(dump, function);
    complain_error(dump->path, (wick_error *)status);
    return EXIT_USAGE;
  }
  int result = EXIT_DONE;
  for (size_t i = 0; i < count && result == EXIT_DONE; i++) {
    Function *function;
    Status status = module_find(module, wick_module_method_name(module, i), &function);
    status_free(status);
    if (status) continue;
    if (count > 1) printf("# %s\n", wick_module_method_name(module, i));
    result = dump_function(dump, function);
  }
  return result;
}

static int dump_model(Dump *dump, ModelOptions *model) {
  wick_error *error = NULL;
  if (dump->pass && wick_runtime_new(NULL, &model->runtime, &error)) {
    complain_error(NULL, error);
    return EXIT_FAILED;
  }
  if (model->runtime) {
    model->runtime->runtime.observe = observe;
    model->runtime->runtime.observe_user = dump;
  }
  wick_module *module = model_open(dump->path, model, &error);
  int result = EXIT_USAGE;
  if (dump->failed) {
    complain(dump->path, "out of memory");
  } else if (module && dump->pass && !strcmp(dump->pass, "freeze") && model_freeze(&module, dump->preserved, &error)) {
    result = EXIT_FAILED;
  } else if (module) {
    if (module->module) dump->self = module->module->object;
    result = dump_module(dump, module);
  }
  if (error) complain_error(dump->path, error);
  wick_module_release(module);
  wick_runtime_release(model->runtime);
  for (size_t i = 0; i < dump->snapshots.length; i++) strbuf_dispose(&dump->snapshots.data[i].text);
  vec_dispose(&dump->snapshots);
  return result;
}

static int run(const Command *command, int count, char **words) {
  Dump dump = {.stage = "ir"};
  ModelOptions model = {0};
  OptimizedDump optimized = {.calls = 4};
  const Option options[] = {
      {"--stage", OPTION_TEXT, &dump.stage,
       "STAGE  tokens, tree, ir (the default), code, bytecode, optimized or kernel"},
      {"--method", OPTION_TEXT, &dump.method, "NAME  only this method or function"},
      {"--pass", OPTION_TEXT, &dump.pass,
       "NAME  the graph after this step of compiling, `all` of them, or other passes A,B; unknown names list all"},
      {"--preserve", OPTION_TEXT, &dump.preserved, "A,B  for --pass freeze: what stays, as in `wick save --freeze`"},
      {"--source", OPTION_FLAG, &dump.with_source, "  with source positions in graphs"},
      {"--calls", OPTION_INT, &optimized.calls, "N  calls before plans are shown (4; optimized and kernel)"},
      {"--grad", OPTION_FLAG, &optimized.grad, "  grad mode on, inputs that require gradients (optimized and kernel)"},
      MODEL_OPTIONS(model),
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, &result)) return result;
  dump.path = words[0];
  if (!strcmp(dump.stage, "tokens") || !strcmp(dump.stage, "tree")) return dump_texts(&dump);
  bool kernels = !strcmp(dump.stage, "kernel");
  if (!strcmp(dump.stage, "optimized") || (kernels && count > 1)) {
    optimized.kernels = kernels;
    optimized.path = dump.path;
    optimized.method = dump.method;
    optimized.pass = dump.pass;
    optimized.with_source = dump.with_source;
    return dump_optimized(&optimized, &model, count - 1, words + 1);
  }
  if (strcmp(dump.stage, "ir") != 0 && strcmp(dump.stage, "code") != 0 && strcmp(dump.stage, "bytecode") != 0 &&
      !kernels) {
    complain(NULL, "there is no stage '%s' (tokens, tree, ir, code, bytecode, optimized, kernel)", dump.stage);
    return EXIT_USAGE;
  }
  if (dump.pass && (strcmp(dump.stage, "ir") != 0 || (!is_lowering_step(dump.pass) && !is_alias_dump(dump.pass) &&
                                                      !is_module_pass(dump.pass) && !are_passes(dump.pass))))
    return complain_of_pass(dump.pass);
  return dump_model(&dump, &model);
}

const Command command_dump = {"dump", "MODEL [INPUT...]", "print the program at a stage", run};
