/* Graphs from outside: reading, printing, running, passes and operations. */
#include <assert.h>

#include "api/find.h"
#include "api/function.h"
#include "api/ir_handles.h"
#include "call/row.h"
#include "executor/executor.h"
#include "executor/plan.h"
#include "ir/node_kind.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite_rule.h"
#include "pass/rewrite/user_passes.h"
#include "report/jit_log.h"
#include "serial/python/python_print.h"

Status ir_protect(Graph *graph, void (*body)(void *argument), void *argument) {
  Arena *const store = graph->store->is_process ? NULL : &graph->store->arena;
  Catch *const of_graph = graph->arena->catch_point, *const of_store = store ? store->catch_point : NULL;
  Catch here;
  if (catch_enter(&here)) {
    graph->arena->catch_point = &here;
    if (store) store->catch_point = &here;
    body(argument);
  }
  graph->arena->catch_point = of_graph;
  if (store) store->catch_point = of_store;
  return here.status;
}

/* ---- making ---- */

Status graph_box_new(CompilationUnit *unit, wick_graph **out) {
  wick_graph *box = mem_calloc(1, sizeof *box);
  if (!box) return status_out_of_memory();
  Status status = unit_new(&box->types);
  if (status) {
    mem_free(box);
    return status;
  }
  arena_init(&box->arena, NULL);
  box->is_owned = true;
  box->unit = unit ? unit_retain(unit) : NULL;
  *out = box;
  return OK;
}

typedef struct Filling {
  wick_graph *box;
  void (*body)(void *argument);
  void *argument;
} Filling;
static void fill(void *argument) {
  Filling *filling = argument;
  wick_graph *box = filling->box;
  graph_box_types(box)->arena.catch_point = box->arena.catch_point;
  filling->body(filling->argument);
}

Status graph_box_fill(wick_graph *box, void (*body)(void *argument), void *argument) {
  Status status = arena_protect(&box->arena, fill, &(Filling){box, body, argument});
  graph_box_types(box)->arena.catch_point = NULL;
  return status;
}
Status graph_box_give(Status status, wick_graph *box, wick_graph **out) {
  assert(status || box->graph);
  if (status)
    wick_graph_release(box);
  else
    *out = box;
  return status;
}

void wick_graph_release(wick_graph *graph) {
  if (!graph || (!graph->is_owned && !graph->is_part)) return;
  if (graph->is_part) {
    mem_free(graph);
    return;
  }
  Code *code = atomic_load(&graph->code);
  if (code) code_free(code);
  if (graph->graph) graph_dispose(graph->graph);
  arena_dispose(&graph->arena);
  unit_release(graph->types);
  unit_release(graph->unit);
  mem_free(graph);
}

typedef struct Make {
  wick_graph *box;
  Str text;
  const Graph *from;
  bool inlined;
} Make;

static void make(void *argument) {
  Make *m = argument;
  wick_graph *box = m->box;
  if (m->from) unit_keep_types(box->types, m->from->store);
  box->graph = m->from ? graph_copy(m->from, &box->arena, graph_box_types(box))
                       : graph_parse(&box->arena, graph_box_types(box), m->text, NULL, NULL);
  if (m->inlined) inliner(box->graph);
  if (m->from) return;
  Status status = graph_check(box->graph);
  if (status) catch_throw(box->arena.catch_point, status);
}

static Status make_graph(Make *m, CompilationUnit *unit, wick_graph **out) {
  TRY(graph_box_new(unit, &m->box));
  return graph_box_give(graph_box_fill(m->box, make, m), m->box, out);
}

wick_status wick_graph_parse(const char *text, size_t length, wick_graph **out, wick_error **error) {
  Make m = {.text = {text, length}};
  API_OUT(out);
  API_NEED_BYTES(text, length);
  return api_status(make_graph(&m, NULL, out), error);
}

wick_status wick_graph_of_method(const wick_module *module, const char *method, int inlined, wick_graph **out,
                                 wick_error **error) {
  Function *function;
  API_OUT(out);
  API_NEED(module);
  API_NEED(method);
  API_TRY(module_find(module, method, &function));
  if (!function->graph) return api_status(status_internal("'%s' was not compiled", method), error);
  Make m = {.from = function->graph, .inlined = inlined != 0};
  return api_status(make_graph(&m, module->unit, out), error);
}

wick_status wick_graph_of_node(const wick_node *node, wick_graph **out, wick_error **error) {
  API_OUT(out);
  API_NEED(node);
  const NodeAttribute *subgraph = node_attribute(node_of(node), SYM_attr_Subgraph);
  if (!subgraph || subgraph->tag != ATTR_GRAPH)
    return api_status(status_new(ERROR_NOT_FOUND, "%s has no Subgraph", wick_node_kind(node)), error);
  Make m = {.from = subgraph->g};
  return api_status(make_graph(&m, NULL, out), error);
}

wick_status wick_graph_copy(const wick_graph *graph, wick_graph **out, wick_error **error) {
  API_OUT(out);
  API_NEED(graph);
  API_TRY(graph_check(graph->graph));
  Make m = {.from = graph->graph};
  return api_status(make_graph(&m, graph->unit, out), error);
}

wick_status wick_graph_of_plan(const wick_function *function, wick_graph **out, wick_error **error) {
  API_OUT(out);
  API_NEED(function);
  Plan *plan = executor_newest_plan(function->function);
  if (!plan) return api_status(status_new(ERROR_NOT_FOUND, "'%s' has no plan", function->name), error);
  Make m = {.from = plan->graph};
  Status status = make_graph(&m, function->function->unit, out);
  plan_release(plan);
  return api_status(status, error);
}

/* ---- looking ---- */

wick_status wick_graph_print(const wick_graph *graph, char **out_text, wick_error **error) {
  StrBuf text = {0};
  API_OUT(out_text);
  API_NEED(graph);
  graph_print(graph->graph, false, &text);
  return api_status(strbuf_take(&text, out_text), error);
}
wick_status wick_graph_print_places(const wick_graph *graph, char **out_text, wick_error **error) {
  StrBuf text = {0};
  API_OUT(out_text);
  API_NEED(graph);
  graph_print(graph->graph, true, &text);
  return api_status(strbuf_take(&text, out_text), error);
}

wick_status wick_graph_check(const wick_graph *graph, wick_error **error) {
  API_NEED(graph);
  return api_status(graph_check(graph->graph), error);
}

wick_block *wick_graph_block(const wick_graph *graph) {
  return graph ? (wick_block *)graph->graph->block : NULL;
}

/* ---- running ---- */

/* Guards go on in other Code and profiles write beside it, both of the plan they were made for. */
static Status check_runs_alone(const Block *block) {
  BLOCK_EACH(node, block) {
    if (node_kind(node->kind)->effect == EFFECT_GUARDS || node->kind == SYM_prim_profile)
      return status_new(ERROR_UNSUPPORTED, STR_FMT " only runs in the plan that it was made for",
                        STR_ARG(symbol_name(node->kind)));
    for (uint32_t i = 0; i < node->block_count; i++) TRY(check_runs_alone(node->blocks[i]));
  }
  return OK;
}

typedef struct Define {
  CompilationUnit *unit;
  const wick_graph *graph;
  Str name;
} Define;
static void define(void *argument) {
  Define *d = argument;
  if (d->graph->unit) unit_use(d->unit, d->graph->unit);
  unit_add_graph(d->unit, NULL, d->name, d->graph->graph);
}

wick_status wick_graph_compile(const wick_graph *graph, wick_runtime *runtime, const char *name, wick_module **out,
                               wick_error **error) {
  HEAP_SCOPE(runtime_of(runtime)->heap);
  API_OUT(out);
  API_NEED(graph);
  API_NEED(name);
  if (!python_is_identifier(str_from(name)))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "'%s' is no name for a function", name), error);
  API_TRY(graph_check(graph->graph));
  API_TRY(check_runs_alone(graph->graph->block));
  Define d = {.graph = graph, .name = str_from(name)};
  API_TRY(unit_new(&d.unit));
  Status status = arena_protect(&d.unit->store.arena, define, &d);
  if (!status) status = module_handle_new(runtime, NULL, d.unit, out);
  unit_release(d.unit);
  return api_status(status, error);
}

static Status graph_code(wick_graph *graph, const Code **out) {
  Code *code = atomic_load(&graph->code), *there = NULL;
  if (!code) {
    TRY(graph_check(graph->graph));
    TRY(check_runs_alone(graph->graph->block));
    TRY(code_compile(graph->graph, STR("graph"), &code));
    if (!atomic_compare_exchange_strong(&graph->code, &there, code)) {
      code_free(code);
      code = there;
    }
  }
  *out = code;
  return OK;
}

static Status check_argument(const Graph *graph, uint32_t i, const wick_value *argument) {
  assert(i < graph_input_count(graph));
  const Type *type = graph_input(graph, i)->type;
  IValue value = argument ? argument->value : IVALUE_NONE;
  if (type->kind == TYPE_TENSOR ? value.tag == TAG_TENSOR : ivalue_is_instance(value, type)) return OK;
  StrBuf text = {.max_length = 1000};
  type_print_str(type, &text);
  Status status = status_new(ERROR_INVALID_ARGUMENT, "argument %u is no " STR_FMT, i, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

static Status run_graph(wick_graph *graph, Exec *exec, const wick_value *const *arguments, uint32_t count,
                        wick_value **results, uint32_t result_count) {
  const Code *code;
  if (count != graph_input_count(graph->graph) || result_count != graph_output_count(graph->graph))
    return status_new(ERROR_INVALID_ARGUMENT, "the graph takes %u values and gives %u, not %u and %u",
                      graph_input_count(graph->graph), graph_output_count(graph->graph), count, result_count);
  for (uint32_t i = 0; i < count; i++) TRY(check_argument(graph->graph, i, arguments[i]));
  TRY(graph_code(graph, &code));
  IValue *values = mem_calloc((size_t)count + result_count + 1, sizeof *values);
  if (!values) return status_out_of_memory();
  for (uint32_t i = 0; i < count; i++) values[i] = arguments[i] ? arguments[i]->value : IVALUE_NONE;
  IValue *outputs = values + count;
  Status status = interp_run(exec, code, values, count, outputs, result_count);
  for (uint32_t i = 0; i < result_count && !status; i++) {
    status = value_box_of(outputs[i], graph->unit, &results[i]);
    outputs[i] = IVALUE_NONE;
  }
  for (uint32_t i = 0; i < result_count; i++) ivalue_release(outputs[i]);
  mem_free(values);
  return status;
}

wick_status wick_graph_run(wick_graph *graph, wick_call *call, const wick_value *const *arguments, size_t count,
                           wick_value **results, size_t result_count, wick_error **error) {
  Exec own;
  API_NEED_BYTES(results, result_count);
  for (size_t i = 0; i < result_count; i++) results[i] = NULL;
  API_NEED(graph);
  API_NEED_ITEMS(arguments, count);
  if (!graph->is_owned || count > UINT32_MAX / 2 || result_count > UINT32_MAX / 2)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "a pass can't run the graph it is given: copy it"), error);
  if (!call) api_exec_init(&own, NULL);
  Status status =
      run_graph(graph, call ? call->call->exec : &own, arguments, (uint32_t)count, results, (uint32_t)result_count);
  for (size_t i = 0; status && i < result_count; i++) {
    wick_value_release(results[i]);
    results[i] = NULL;
  }
  return api_status(status, error);
}

/* ---- passes ---- */

typedef struct NamedPass {
  Graph *graph;
  const char *name;
  Status status; /* of what does not throw */
} NamedPass;
static void run_named(void *argument) {
  NamedPass *named = argument;
  const Pass *pass = pass_find(str_from(named->name));
  Exec exec;
  api_exec_init(&exec, NULL);
  named->status = graph_check(named->graph);
  if (named->status) return;
  if (pass)
    named->status = pass_run(pass, named->graph, &exec);
  else if (!user_pass_run(named->graph, named->name))
    named->status = status_new(ERROR_NOT_FOUND, "there is no pass '%s'", named->name);
}

wick_status wick_graph_run_pass(wick_graph *graph, const char *pass, wick_error **error) {
  API_NEED(graph);
  API_NEED(pass);
  NamedPass named = {graph->graph, pass, OK};
  Status thrown = ir_protect(graph->graph, run_named, &named);
  return api_status(thrown ? thrown : named.status, error);
}

typedef struct Rewrite {
  const wick_graph *graph;
  const char *pattern, *replacement;
  uint32_t count;
} Rewrite;
static void rewrite(void *argument) {
  Rewrite *r = argument;
  const char *name = r->graph->pass ? r->graph->pass : "wick_graph_rewrite";
  r->count = rewrite_by_graphs(r->graph->graph, name, r->pattern, r->replacement);
}

wick_status wick_graph_rewrite(wick_graph *graph, const char *pattern, const char *replacement, size_t *out_count,
                               wick_error **error) {
  if (out_count) *out_count = 0;
  API_NEED(graph);
  API_NEED(pattern);
  API_NEED(replacement);
  API_TRY(graph_check(graph->graph));
  Rewrite r = {graph, pattern, replacement, 0};
  Status status = ir_protect(graph->graph, rewrite, &r);
  if (out_count) *out_count = r.count;
  return api_status(status, error);
}

typedef struct ForeignPass {
  wick_pass *pass;
  void *user;
} ForeignPass;

static Status run_foreign_pass(void *user, const char *name, Graph *graph) {
  const ForeignPass *foreign = user;
  wick_graph box = {.graph = graph, .pass = name};
  wick_error *error = NULL;
  wick_status status = foreign->pass(foreign->user, &box, &error);
  if (status) return foreign_status(status, error, "the pass");
  wick_error_free(error);
  return OK;
}

/* What stands behind a name is never freed: a pass may be running while it is removed. */
wick_status wick_pass_register(const char *name, wick_pass *pass, void *user, wick_error **error) {
  API_NEED(name);
  API_NEED(pass);
  ForeignPass *foreign = mem_calloc(1, sizeof *foreign);
  if (!foreign) return api_status(status_out_of_memory(), error);
  *foreign = (ForeignPass){pass, user};
  Status status = user_pass_add(name, run_foreign_pass, foreign);
  if (status) mem_free(foreign);
  return api_status(status, error);
}

wick_status wick_pass_remove(const char *name, wick_error **error) {
  API_NEED(name);
  return api_status(user_pass_remove(name) ? OK : status_new(ERROR_NOT_FOUND, "there is no pass '%s'", name), error);
}

int wick_pass_may_rewrite(const char *name) {
  return name && jit_opt_limit(name);
}

/* ---- operations ---- */

typedef struct ForeignOperation {
  OpRow row; /* first: a node's operator leads here */
  OpFactory factory;
  OpTable table;
  wick_operation_factory *make;
  void *user;
  char *schema; /* owned */
} ForeignOperation;

typedef struct ForeignState {
  wick_kernel *kernel;
  void *state;
  void (*drop)(void *state);
} ForeignState;

static Status run_operation(Call *call) {
  assert(call->state);
  const ForeignState *s = call->state;
  return foreign_run(s->kernel, s->state, call);
}

static void drop_operation(void *state) {
  ForeignState *s = state;
  if (s->drop) s->drop(s->state);
  mem_free(s);
}

static Status make_operation(const Node *node, Kernel **out_kernel, void **out_state, void (**out_free)(void *state)) {
  const ForeignOperation *operation = (const ForeignOperation *)node_operator(node)->row;
  wick_error *error = NULL;
  ForeignState *s = mem_calloc(1, sizeof *s);
  if (!s) return status_out_of_memory();
  wick_status status =
      operation->make(operation->user, (const wick_node *)node, &s->kernel, &s->state, &s->drop, &error);
  if (!status && !s->kernel) {
    if (s->drop) s->drop(s->state);
    mem_free(s);
    wick_error_free(error);
    return status_new(ERROR_INVALID_ARGUMENT, "the factory of %s gave no kernel", operation->schema);
  }
  if (status) {
    mem_free(s);
    return foreign_status(status, error, "the factory");
  }
  wick_error_free(error);
  *out_kernel = run_operation;
  *out_state = s;
  *out_free = drop_operation;
  return OK;
}

wick_status wick_operation_register(const char *schema, wick_operation_factory *factory, void *user,
                                    wick_error **error) {
  API_NEED(schema);
  API_NEED(factory);
  API_TRY(foreign_check_schema(schema));
  ForeignOperation *operation = mem_calloc(1, sizeof *operation);
  if (!operation || !(operation->schema = mem_strdup(schema))) {
    mem_free(operation);
    return api_status(status_out_of_memory(), error);
  }
  operation->make = factory;
  operation->user = user;
  operation->factory.make = make_operation;
  operation->row = (OpRow){.schema = operation->schema,
                           .factory = &operation->factory,
                           .flags = OP_ACCEPT_ANY & ~(uint32_t)OP_ACCEPT_DEVICES};
  operation->table = (OpTable){"foreign", &operation->row, 1};
  Status status = operator_register(&operation->table, operation);
  if (status) {
    mem_free(operation->schema);
    mem_free(operation);
  }
  return api_status(status, error);
}

int wick_call_records(const wick_call *border) {
  if (!border) return 0;
  const Call *call = border->call;
  if (!call->exec->grad_enabled) return 0;
  for (uint32_t i = 0; i < call->input_count; i++)
    if (call->inputs[i].tag == TAG_TENSOR && call->inputs[i].tensor->flags & TENSOR_RECORDS) return 1;
  return 0;
}
