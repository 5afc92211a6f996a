/* Programs on their way to what runs: observers, functions as text, passes over whole programs. */
#include <assert.h>

#include "api/find.h"
#include "api/function.h"
#include "api/ir_handles.h"
#include "executor/executor.h"
#include "frontend/frontend.h"
#include "fuse/group.h"
#include "module/lower_graph.h"
#include "pass/pass.h"
#include "pass/rewrite/user_passes.h"
#include "serial/python/python_print.h"
#include "serial/python/reprint.h"

/* ---- steps, passes, observers ---- */

const char *wick_compile_step(size_t index) {
  size_t known = 0;
  while (known < index && frontend_lowering_step(known)) known++;
  return frontend_lowering_step(known);
}

const char *wick_pass_name(size_t index) {
  const Pass *pass = pass_next(NULL);
  for (; pass && index; index--) pass = pass_next(pass);
  return pass ? pass->name : user_pass_name(index);
}

int wick_pass_exists(const char *name) {
  return name && (pass_find(str_from(name)) || user_pass_exists(name));
}

/* What the library compiles for itself, bodies of operators and helpers, is not the caller's. */
static bool is_shown(const Function *function) {
  return function && !function->unit->growth;
}

/* Runtime.observe, with the handle. */
static void show_observer(void *user, const Function *function, const char *step, const Graph *graph) {
  const wick_runtime *runtime = user;
  wick_graph box = {.graph = (Graph *)(uintptr_t)graph};
  if (is_shown(function)) runtime->observer(runtime->observer_user, function->name.data, step, &box);
}

void wick_runtime_observe(wick_runtime *runtime, wick_graph_observer *observer, void *user) {
  if (!runtime) return;
  runtime->observer = observer;
  runtime->observer_user = user;
  runtime->runtime.observe_user = runtime;
  runtime->runtime.observe = observer ? show_observer : NULL;
}

/* ---- functions as text ---- */

const char *wick_function_qualified_name(const wick_function *function) {
  return function ? function->function->name.data : "";
}

static Status print_code(const Function *function, StrBuf *out) {
  PythonPrinter printer;
  python_printer_init(&printer);
  printer.bare_self = true;
  Status status = python_print_function(&printer, function, 0, (Str){0}, out);
  python_printer_dispose(&printer);
  return status;
}

static Status print_bytecode(Function *function, StrBuf *out) {
  const Code *code;
  Exec exec;
  api_exec_init(&exec, NULL);
  TRY(function_code(&exec, function, &code));
  code_print(code, out);
  return OK;
}

static Status print_function(Function *function, uint32_t what, StrBuf *out) {
  switch (what) {
    case WICK_PRINT_GRAPH:
    case WICK_PRINT_PLACES:
      if (function->graph) graph_print(function->graph, what == WICK_PRINT_PLACES, out);
      return OK;
    case WICK_PRINT_CODE:
      return print_code(function, out);
    case WICK_PRINT_BYTECODE:
      return print_bytecode(function, out);
    case WICK_PRINT_PLANS:
    case WICK_PRINT_PLAN_PLACES:
      executor_print_plans(function, what == WICK_PRINT_PLAN_PLACES, out);
      return OK;
    case WICK_PRINT_KERNELS:
      executor_print_kernels(function, out);
      return OK;
    default:
      return status_new(ERROR_INVALID_ARGUMENT, "wick_function_print: what %u", what);
  }
}

/* Takes over the text. */
static wick_status give_text(Status status, StrBuf *text, char **out_text, wick_error **error) {
  if (!status) return api_status(strbuf_take(text, out_text), error);
  strbuf_dispose(text);
  return api_status(status, error);
}

wick_status wick_function_print(const wick_function *function, uint32_t what, char **out_text, wick_error **error) {
  StrBuf text = {0};
  API_OUT(out_text);
  API_NEED(function);
  Status status = print_function(function->function, what, &text);
  return give_text(status, &text, out_text, error);
}

wick_status wick_graph_print_kernels(const wick_graph *graph, char **out_text, wick_error **error) {
  StrBuf text = {0};
  API_OUT(out_text);
  API_NEED(graph);
  Status status = fuse_print_kernels(graph->graph, &text);
  return give_text(status, &text, out_text, error);
}

/* ---- attributes as inputs ---- */

typedef struct Lower {
  const Function *method;
  Object *self;
  wick_graph *box;
  LoweredGraph lowered;
} Lower;

static void lower(void *argument) {
  Lower *l = argument;
  lower_graph(l->method, l->self, &l->box->arena, graph_box_types(l->box), &l->lowered);
}

static Status take_attributes(const LoweredGraph *lowered, CompilationUnit *unit, wick_value **out) {
  Tuple *tuple;
  TRY(tuple_new(lowered->slot_count, NULL, &tuple));
  for (uint32_t i = 0; i < lowered->slot_count; i++) tuple->values[i] = ivalue_retain(lowered->slots[i]);
  return value_box_of(ivalue_tuple(tuple), unit, out);
}

wick_status wick_graph_lower(const wick_module *module, const char *method, wick_graph **out,
                             wick_value **out_attributes, wick_error **error) {
  Function *function;
  if (out_attributes) *out_attributes = NULL;
  API_OUT(out);
  API_NEED(module);
  API_NEED(method);
  API_TRY(module_find(module, method, &function));
  if (!module->module)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "a function has no attributes to lower"), error);
  Lower l = {.method = function, .self = module->module->object};
  API_TRY(graph_box_new(module->unit, &l.box));
  Status status = graph_box_fill(l.box, lower, &l);
  l.box->graph = l.lowered.graph; /* disposed of after an error, too */
  if (!status && out_attributes) status = take_attributes(&l.lowered, module->unit, out_attributes);
  return api_status(graph_box_give(status, l.box, out), error);
}

/* ---- whole programs ---- */

static void unseal(void *graph) {
  graph_unseal(graph);
}
static void seal(void *graph) {
  graph_seal(graph);
}

static Status run_passes(Graph *graph, const char *const *passes, size_t count) {
  assert(!graph->is_sealed);
  Exec exec;
  api_exec_init(&exec, NULL);
  for (size_t i = 0; i < count; i++) {
    const Pass *pass = pass_find(str_from(passes[i]));
    if (!pass) return status_new(ERROR_NOT_FOUND, "there is no pass '%s'", passes[i]);
    TRY(pass_run(pass, graph, &exec));
    TRY(graph_lint(graph));
  }
  return OK;
}

static Status run_passes_on(Function *function, const char *const *passes, size_t count) {
  Graph *graph = function->graph;
  if (!graph || atomic_load(&function->code) || atomic_load(&function->executor)) return OK;
  TRY(arena_protect(graph->arena, unseal, graph));
  TRY(run_passes(graph, passes, count));
  return arena_protect(graph->arena, seal, graph);
}

wick_status wick_module_run_passes(wick_module *module, const char *const *passes, size_t count, wick_error **error) {
  API_NEED(module);
  API_NEED_ITEMS(passes, count);
  CompilationUnit *unit = module->unit;
  for (size_t i = 0; i < unit->all_functions.length; i++) {
    Function *function = unit->all_functions.data[i];
    Status status = run_passes_on(function, passes, count);
    if (status) return api_status(status_context(status, "%s", function->name.data), error);
  }
  return WICK_OK;
}

wick_status wick_module_check_code(const wick_module *module, char **out_differences, wick_error **error) {
  enum { MOST_TEXT = 1 << 16 };
  Exec exec;
  StrBuf differences = {.max_length = MOST_TEXT};
  size_t count;
  API_OUT(out_differences);
  API_NEED(module);
  api_exec_init(&exec, NULL);
  Status status = unit_reprint(module->unit, &exec, &differences, &count);
  return give_text(status, &differences, out_differences, error);
}
