/* The stages that the graphs of a program go through, and what calls with the given inputs took. */
#include "cli/view.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "wick/tensor.h"

typedef enum StageKind { STAGE_COMPILE, STAGE_INLINED, STAGE_PLAN } StageKind;
typedef struct Stage {
  char *function;
  const char *step; /* static */
  StageKind kind;
  long call; /* that made the plan, from 1 */
  uint32_t block;
} Stage;
typedef struct Watch {
  GraphTable *table;
  char **functions; /* whose graphs are wanted */
  size_t function_count;
  StageKind kind;
  long call;
  Stage *stages;
  size_t count, capacity;
  bool failed; /* out of memory */
} Watch;

static void add_stage(Watch *watch, const char *function, const char *step, const wick_graph *graph) {
  if (watch->count == watch->capacity) {
    size_t capacity = watch->capacity ? 2 * watch->capacity : 64;
    Stage *more = realloc(watch->stages, capacity * sizeof *more);
    if (!more) {
      watch->failed = true;
      return;
    }
    watch->stages = more;
    watch->capacity = capacity;
  }
  Stage stage = {strdup(function), step, watch->kind, watch->call, graph_table_add(watch->table, graph)};
  if (stage.function)
    watch->stages[watch->count++] = stage;
  else
    watch->failed = true;
}
static void observe(void *user, const char *function, const char *step, const wick_graph *graph) {
  Watch *watch = user;
  assert(function && step && graph);
  for (size_t i = 0; i < watch->function_count; i++)
    if (!strcmp(watch->functions[i], function)) {
      add_stage(watch, function, step, graph);
      return;
    }
}

/* ---- methods ---- */

static size_t shown_methods(const wick_module *module) {
  enum { MOST = 64 };
  size_t count = wick_module_method_count(module);
  return count < MOST ? count : MOST;
}
/* Their qualified names; false: out of memory. */
static bool name_functions(Watch *watch, wick_module *module) {
  size_t count = shown_methods(module);
  watch->functions = calloc(count + 1, sizeof *watch->functions);
  for (size_t i = 0; watch->functions && i < count; i++) {
    wick_function *function;
    if (wick_function_of(module, wick_module_method_name(module, i), &function, NULL)) continue;
    char *name = strdup(wick_function_qualified_name(function));
    wick_function_release(function);
    if (!name) return false;
    watch->functions[watch->function_count++] = name;
  }
  return watch->functions != NULL;
}
static void add_inlined(Watch *watch, wick_module *module, const char *method) {
  wick_graph *graph;
  wick_function *function;
  watch->kind = STAGE_INLINED;
  if (wick_function_of(module, method, &function, NULL)) return;
  if (!wick_graph_of_method(module, method, 1, &graph, NULL)) {
    add_stage(watch, wick_function_qualified_name(function), "inlined", graph);
    wick_graph_release(graph);
  }
  wick_function_release(function);
}
static void put_stages(const Watch *watch, const char *function, Json *json) {
  json_put_begin(json, '[');
  for (size_t i = 0; i < watch->count; i++) {
    const Stage *stage = &watch->stages[i];
    if (strcmp(stage->function, function) != 0) continue;
    json_put_begin(json, '[');
    json_put_text(json, stage->step);
    json_put_int(json, stage->kind);
    json_put_int(json, stage->call);
    json_put_int(json, stage->block);
    json_put_end(json, ']');
  }
  json_put_end(json, ']');
}
static void put_printed(const wick_function *function, const char *key, uint32_t what, Json *json) {
  char *text = NULL;
  wick_function_print(function, what, &text, NULL);
  json_put_key(json, key);
  json_put_text(json, text ? text : "");
  wick_text_free(text);
}
static void put_function(const Watch *watch, wick_module *module, const char *method, Json *json) {
  wick_function *function;
  char *schema = NULL;
  if (wick_function_of(module, method, &function, NULL)) return;
  wick_function_schema(function, &schema, NULL);
  json_put_begin(json, '{');
  json_put_key(json, "name"), json_put_text(json, method);
  json_put_key(json, "qualified"), json_put_text(json, wick_function_qualified_name(function));
  json_put_key(json, "schema"), json_put_text(json, schema ? schema : "");
  put_printed(function, "code", WICK_PRINT_CODE, json);
  put_printed(function, "kernels", WICK_PRINT_KERNELS, json);
  json_put_key(json, "stages");
  put_stages(watch, wick_function_qualified_name(function), json);
  json_put_end(json, '}');
  wick_text_free(schema);
  wick_function_release(function);
}
static void put_functions(const Watch *watch, wick_module *module, Json *json) {
  json_put_key(json, "functions");
  json_put_begin(json, '[');
  for (size_t i = 0; i < shown_methods(module); i++)
    put_function(watch, module, wick_module_method_name(module, i), json);
  json_put_end(json, ']');
}

/* ---- calls ---- */

typedef struct Calls {
  const View *view;
  wick_function *function;
  Inputs inputs;
  wick_value *result; /* of the last */
  uint64_t least_ns;  /* that one of the last calls took */
} Calls;
static bool call(Calls *calls, long count, uint32_t executor, wick_profile *profile, Watch *watch) {
  wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_OFF, .executor = executor, .profile = profile};
  wick_error *error;
  for (long i = 0; i < count; i++) {
    watch->call++;
    wick_value_release(calls->result);
    calls->result = NULL;
    uint64_t start = clock_ns();
    if (wick_function_run(calls->function, (const wick_value *const *)calls->inputs.values, calls->inputs.count,
                          calls->inputs.names, calls->inputs.named_count, &options, &calls->result, &error)) {
      complain_error(calls->view->path, error);
      return false;
    }
    uint64_t took = clock_ns() - start;
    if (!i || took < calls->least_ns) calls->least_ns = took;
  }
  return true;
}
/* A few calls to get warm, then some whose operators are timed. */
static bool profile(Calls *calls, const char *key, long warm, uint32_t executor, Watch *watch, Json *json) {
  enum { TIMED = 5 };
  char *text = NULL;
  wick_error *error = NULL;
  wick_profile *profile = wick_profile_new();
  if (!profile) return complain(NULL, "out of memory"), false;
  bool fine = call(calls, warm, executor, NULL, watch) && call(calls, TIMED, executor, profile, watch);
  if (fine && wick_profile_print(profile, WICK_PROFILE_JSON, &text, &error)) {
    complain_error(calls->view->path, error);
    fine = false;
  }
  char least[40];
  snprintf(least, sizeof least, "%s_ms", key);
  json_put_key(json, least), json_put_real(json, (double)calls->least_ns / 1e6);
  json_put_key(json, key);
  if (text)
    json_put_verbatim(json, text);
  else
    json_put_text(json, NULL);
  wick_text_free(text);
  wick_profile_release(profile);
  return fine;
}
/* In a few words: tensors by dtype and sizes, containers by what they hold. */
static void describe(FILE *to, const wick_value *value, int depth) {
  enum { MOST = 8 };
  wick_tensor_spec spec;
  uint32_t kind = wick_value_kind(value);
  if (kind == WICK_TENSOR && !wick_tensor_spec_of(value, &spec, NULL)) {
    fprintf(to, "%s[", wick_dtype_name(spec.dtype));
    for (int i = 0; i < spec.ndim; i++) fprintf(to, "%s%lld", i ? ", " : "", (long long)spec.sizes[i]);
    fputc(']', to);
  } else if ((kind == WICK_TUPLE || kind == WICK_LIST) && depth < 3) {
    size_t count = wick_value_length(value);
    fputc(kind == WICK_TUPLE ? '(' : '[', to);
    for (size_t i = 0; i < count && i < MOST; i++) {
      wick_value *item = wick_value_item(value, i);
      if (i) fputs(", ", to);
      describe(to, item, depth + 1);
      wick_value_release(item);
    }
    fputs(count > MOST ? ", ..." : "", to);
    fputc(kind == WICK_TUPLE ? ')' : ']', to);
  } else {
    char *text = NULL;
    wick_value_print_short(value, &text, NULL);
    fprintf(to, "%.200s", text ? text : "?");
    wick_text_free(text);
  }
}
static void put_described(Json *json, const wick_value *value) {
  char *text = NULL;
  size_t length;
  FILE *to = value ? open_memstream(&text, &length) : NULL;
  if (to) {
    describe(to, value, 0);
    fclose(to);
  }
  json_put_text(json, text);
  free(text);
}
static void put_inputs(const Calls *calls, Json *json) {
  json_put_key(json, "words");
  json_put_begin(json, '[');
  for (int i = 0; i < calls->view->count; i++) json_put_text(json, calls->view->words[i]);
  json_put_end(json, ']');
  json_put_key(json, "inputs");
  json_put_begin(json, '[');
  for (size_t i = 0; i < calls->inputs.count; i++) put_described(json, calls->inputs.values[i]);
  json_put_end(json, ']');
}

/* The same program in a runtime of its own that optimizes nothing: calls are inlined, so that times belong to the nodes
 * of the inlined graph. */
static bool profile_plain(Calls *calls, const char *method, Watch *watch, Json *json) {
  ModelOptions model = calls->view->model;
  wick_error *error = NULL;
  wick_executor_options options = {.size = sizeof options, .executor = WICK_EXECUTOR_SPECIALIZING, .synchronous = 1};
  if (!model_print_aside(&model)) return false;
  wick_runtime_set_optimize(model.runtime, 0);
  wick_module *module =
      wick_runtime_set_executor(model.runtime, &options, &error) ? NULL : model_open(calls->view->path, &model, &error);
  bool fine = module && !wick_function_of(module, method, &calls->function, &error);
  fine = fine && profile(calls, "written", 2, WICK_EXECUTOR_SPECIALIZING, watch, json);
  if (error) complain_error(calls->view->path, error);
  wick_function_release(calls->function);
  calls->function = NULL;
  wick_module_release(module);
  wick_runtime_release(model.runtime);
  return fine;
}
static bool profile_planned(Calls *calls, wick_module *module, const char *method, Watch *watch, Json *json) {
  wick_error *error = NULL;
  char *reasons = NULL;
  watch->call = 0;
  bool fine = !wick_function_of(module, method, &calls->function, &error);
  fine = fine && profile(calls, "planned", calls->view->calls, WICK_EXECUTOR_DEFAULT, watch, json);
  fine = fine && !wick_explain(&reasons, &error);
  json_put_key(json, "result");
  put_described(json, calls->result);
  json_put_key(json, "reasons");
  json_put_text(json, reasons);
  if (error) complain_error(calls->view->path, error);
  wick_text_free(reasons);
  wick_function_release(calls->function);
  return fine;
}
/* false: it was complained about. */
static bool put_calls(const View *view, wick_module *module, const char *method, Watch *watch, Json *json) {
  Calls calls = {.view = view};
  if (!model_has_method(view->path, module, method)) return false;
  if (!inputs_read_for(&calls.inputs, view->path, method, view->count, view->words)) return false;
  json_put_key(json, "run");
  json_put_begin(json, '{');
  json_put_key(json, "method"), json_put_text(json, method);
  put_inputs(&calls, json);
  watch->kind = STAGE_PLAN;
  bool fine = profile_plain(&calls, method, watch, json) && profile_planned(&calls, module, method, watch, json);
  json_put_end(json, '}');
  wick_value_release(calls.result);
  inputs_dispose(&calls.inputs);
  return fine;
}

/* ---- the whole ---- */

/* A program is opened twice: the first time to learn what its methods are called, the second to watch them compiled. */
static wick_module *open_watched(const View *view, Watch *watch, ModelOptions *model, wick_error **error) {
  wick_module *module = model_open(view->path, model, error);
  if (!module) return NULL;
  if (!name_functions(watch, module)) watch->failed = true;
  wick_module_release(module);
  watch->kind = STAGE_COMPILE;
  wick_runtime_observe(model->runtime, observe, watch);
  return model_open(view->path, model, error);
}
static bool put_opened(const View *view, Watch *watch, wick_module *module, Json *json) {
  size_t count = shown_methods(module);
  for (size_t i = 0; i < count; i++) add_inlined(watch, module, wick_module_method_name(module, i));
  const char *method = view->method ? view->method : model_default_method(module);
  json_put_key(json, "method"), json_put_text(json, method);
  bool fine = view->count < 0 || put_calls(view, module, method, watch, json);
  put_functions(watch, module, json);
  return fine;
}

bool view_put_program(const View *view, GraphTable *table, Json *json, wick_module **out_module) {
  Watch watch = {.table = table};
  ModelOptions model = view->model;
  wick_error *error = NULL;
  wick_executor_options options = {.size = sizeof options, .executor = wick_runtime_executor(NULL), .synchronous = 1};
  *out_module = NULL;
  if (!wick_runtime_set_executor(model.runtime, &options, &error))
    *out_module = open_watched(view, &watch, &model, &error);
  bool fine = *out_module && put_opened(view, &watch, *out_module, json);
  if (error) complain_error(view->path, error);
  if (watch.failed) complain(view->path, "out of memory");
  wick_runtime_observe(model.runtime, NULL, NULL);
  for (size_t i = 0; i < watch.count; i++) free(watch.stages[i].function);
  for (size_t i = 0; i < watch.function_count; i++) free(watch.functions[i]);
  free(watch.functions);
  free(watch.stages);
  return fine && !watch.failed;
}
