/* Runs differentiable graphs. */
#include "autodiff/graph_program.h"

#include <assert.h>

#include "interp/interp.h"

/* ---- graphs as Code ---- */

typedef struct CodeCallable {
  Callable callable;
  Code *code;
} CodeCallable;

static Status run_code(Callable *callable, Exec *exec, const IValue *inputs, uint32_t input_count, IValue *outputs,
                       uint32_t output_count) {
  return interp_run(exec, ((CodeCallable *)callable)->code, inputs, input_count, outputs, output_count);
}

static void release_code(Callable *callable) {
  CodeCallable *c = (CodeCallable *)callable;
  if (c->code) code_free(c->code);
  mem_free(c);
}

static void callable_release(Callable *callable) {
  if (callable && ref_release(&callable->refs)) callable->release(callable);
}

/* Compiles a copy of the graph, of which only the first outputs are left. */
typedef struct Compiling {
  const Graph *graph;
  uint32_t outputs;
  Arena arena;
  Graph *copy;
  Code *code;
} Compiling;

static void copy_graph(void *argument) {
  Compiling *c = argument;
  c->copy = graph_copy(c->graph, &c->arena, c->graph->store);
  while (graph_output_count(c->copy) > c->outputs) block_erase_output(c->copy->block, graph_output_count(c->copy) - 1);
  lower_grad_of(c->copy);
  dead_code_elimination(c->copy);
}

static Status compile_copy(const Graph *graph, uint32_t outputs, Code **out) {
  Compiling c = {.graph = graph, .outputs = outputs};
  arena_init(&c.arena, NULL);
  Status status = arena_protect(&c.arena, copy_graph, &c);
  if (!status) status = code_compile(c.copy, STR("differentiable graph"), out);
  if (c.copy) graph_dispose(c.copy);
  arena_dispose(&c.arena);
  return status;
}

Status code_callable(void *unused, const Graph *graph, Callable **out) {
  (void)unused;
  CodeCallable *c = mem_calloc(1, sizeof *c);
  if (!c) return status_out_of_memory();
  c->callable.run = run_code;
  c->callable.release = release_code;
  ref_init(&c->callable.refs);
  Status status = compile_copy(graph, graph_output_count(graph), &c->code);
  if (status)
    callable_release(&c->callable);
  else
    *out = &c->callable;
  return status;
}

/* ---- programs ---- */

struct GraphProgram {
  Callable callable;     /* first */
  TypeStore *store;      /* of the graph around, which holds this: kept by GradNodes only */
  Code *forward, *plain; /* plain gives the real outputs alone */
  Callable *backward;
  uint32_t input_count, real_outputs, all_outputs, captured_input_count, captured_output_count, input_vjp_count,
      output_vjp_count, words, vjp_words;
  uint32_t *captured_inputs, *captured_outputs, *input_vjps, *output_vjps; /* as in Gradient; one block */
  bool *differentiable, *metadata_only;
  uint64_t *dependence, *readers, *carriers; /* one block */
};

void graph_program_retain(GraphProgram *program) {
  ref_retain(&program->callable.refs);
  type_store_retain(program->store);
}

void graph_program_release(GraphProgram *program) {
  if (!program) return;
  TypeStore *store = program->store;
  callable_release(&program->callable);
  type_store_release(store);
}

static void free_program(Callable *callable) {
  GraphProgram *p = (GraphProgram *)callable;
  if (p->plain) code_free(p->plain);
  if (p->forward) code_free(p->forward);
  callable_release(p->backward);
  mem_free(p->captured_inputs);
  mem_free(p->differentiable);
  mem_free(p->dependence);
  mem_free(p);
}

static Status copy_tables(GraphProgram *p, const Gradient *g) {
  size_t captures = (size_t)g->captured_input_count + g->captured_output_count;
  uint32_t *numbers = mem_calloc(captures + g->input_vjp_count + g->output_vjp_count + 1, sizeof *numbers);
  bool *flags = mem_calloc(p->input_count + captures + 1, sizeof *flags);
  size_t words = (size_t)g->words * g->real_outputs, reader_words = (size_t)g->words * captures,
         carrier_words = (size_t)g->vjp_words * captures;
  p->dependence = mem_calloc(words + reader_words + carrier_words + 1, sizeof *p->dependence);
  p->captured_inputs = numbers;
  p->differentiable = flags;
  if (!numbers || !flags || !p->dependence) return status_out_of_memory();
  p->captured_outputs = numbers + g->captured_input_count;
  p->input_vjps = p->captured_outputs + g->captured_output_count;
  p->output_vjps = p->input_vjps + g->input_vjp_count;
  p->metadata_only = flags + p->input_count;
  for (uint32_t i = 0; i < g->captured_input_count; i++) p->captured_inputs[i] = g->captured_inputs[i];
  for (uint32_t i = 0; i < g->captured_output_count; i++) p->captured_outputs[i] = g->captured_outputs[i];
  for (uint32_t i = 0; i < g->input_vjp_count; i++) p->input_vjps[i] = g->input_vjps[i];
  for (uint32_t i = 0; i < g->output_vjp_count; i++) p->output_vjps[i] = g->output_vjps[i];
  for (uint32_t i = 0; i < p->input_count; i++) p->differentiable[i] = g->differentiable[i];
  for (size_t i = 0; i < captures; i++) p->metadata_only[i] = g->metadata_only[i];
  if (words) memcpy(p->dependence, g->dependence, words * sizeof *p->dependence);
  p->readers = p->dependence + words;
  p->carriers = p->readers + reader_words;
  if (reader_words) memcpy(p->readers, g->readers, reader_words * sizeof *p->readers);
  if (carrier_words) memcpy(p->carriers, g->carriers, carrier_words * sizeof *p->carriers);
  return OK;
}

static Status run_program(Callable *callable, Exec *exec, const IValue *inputs, uint32_t input_count, IValue *outputs,
                          uint32_t output_count);

Status graph_program_new(const Gradient *g, MakeCallable *make_callable, void *maker, Callable **out) {
  GraphProgram *p = mem_calloc(1, sizeof *p);
  if (!p) return status_out_of_memory();
  *p = (GraphProgram){
      .callable = {.run = run_program, .release = free_program},
      .store = g->forward->store,
      .input_count = graph_input_count(g->forward),
      .real_outputs = g->real_outputs,
      .all_outputs = graph_output_count(g->forward),
      .captured_input_count = g->captured_input_count,
      .captured_output_count = g->captured_output_count,
      .input_vjp_count = g->input_vjp_count,
      .output_vjp_count = g->output_vjp_count,
      .words = g->words,
      .vjp_words = g->vjp_words,
  };
  ref_init(&p->callable.refs);
  Status status = copy_tables(p, g);
  if (!status) status = compile_copy(g->forward, p->all_outputs, &p->forward);
  if (!status) status = compile_copy(g->forward, p->real_outputs, &p->plain);
  if (!status) status = (make_callable ? make_callable : code_callable)(maker, g->backward, &p->backward);
  if (status)
    callable_release(&p->callable);
  else
    *out = &p->callable;
  return status;
}

/* ---- forward ---- */

static bool records(IValue v) {
  return v.tag == TAG_TENSOR && tensor_records(v.tensor);
}

static bool holds_recording(IValue v) {
  if (v.tag != TAG_LIST || v.list->kind != LIST_VALUES) return records(v);
  for (size_t i = 0; i < v.list->length; i++)
    if (records(v.list->values[i])) return true;
  return false;
}

static Status save_list(const List *list, bool checked, SavedValue *out) {
  out->kind = SAVED_TENSORS;
  out->element = list->element;
  out->tensors = mem_calloc(list->length + 1, sizeof *out->tensors);
  if (!out->tensors) return status_out_of_memory();
  out->count = list->length;
  for (size_t i = 0; i < list->length; i++)
    if (list->values[i].tag == TAG_TENSOR) TRY(saved_tensor(list->values[i].tensor, checked, &out->tensors[i]));
  return OK;
}

/* own: a result, whose history is the node itself and not kept. */
static Status save(IValue v, bool checked, bool own, SavedValue *out) {
  if (v.tag == TAG_LIST && v.list->kind == LIST_VALUES && v.list->length && v.list->values[0].tag <= TAG_TENSOR)
    return save_list(v.list, checked, out);
  if (v.tag != TAG_TENSOR) {
    out->kind = SAVED_VALUE;
    out->value = ivalue_retain(v);
    return OK;
  }
  out->tensors = mem_calloc(1, sizeof *out->tensors);
  if (!out->tensors) return status_out_of_memory();
  out->kind = SAVED_TENSOR;
  out->count = 1;
  if (!own) return saved_tensor(v.tensor, checked, &out->tensors[0]);
  out->tensors[0].checked = checked;
  if (!tensor_is_defined(v.tensor)) return OK;
  out->tensors[0].version = tensor_version(v.tensor);
  return tensor_alias(v.tensor, &out->tensors[0].tensor);
}

static bool any_records(const GraphProgram *p, const uint64_t *set, const IValue *inputs) {
  for (uint32_t i = 0; i < p->input_count; i++)
    if (set[i / 64] >> (i % 64) & 1 && records(inputs[i])) return true;
  return false;
}

/* Its values must not have changed: they are read, and for gradients that go on from here. */
static bool is_checked(const GraphProgram *p, uint32_t capture, const IValue *inputs) {
  assert(capture < p->captured_input_count + p->captured_output_count);
  return !p->metadata_only[capture] && any_records(p, p->readers + (size_t)capture * p->words, inputs);
}

static Status save_captures(const GraphProgram *p, const IValue *inputs, const IValue *outputs, GradNode *node) {
  uint32_t count = p->captured_input_count + p->captured_output_count;
  node->saved = mem_calloc(count + 1u, sizeof *node->saved);
  if (!node->saved) return status_out_of_memory();
  node->saved_count = count;
  for (uint32_t i = 0; i < p->captured_input_count; i++)
    TRY(save(inputs[p->captured_inputs[i]], is_checked(p, i, inputs), false, &node->saved[i]));
  for (uint32_t i = 0; i < p->captured_output_count; i++) {
    uint32_t at = p->captured_input_count + i;
    TRY(save(outputs[p->captured_outputs[i]], is_checked(p, at, inputs), true, &node->saved[at]));
  }
  return OK;
}

static Status make_edges(const GraphProgram *p, const IValue *inputs, GradNode *node) {
  for (uint32_t i = 0; i < p->output_vjp_count; i++) {
    IValue v = inputs[p->output_vjps[i]];
    if (!records(v)) continue;
    TRY(autograd_edge(v.tensor, &node->edges[i].to));
    TRY(metadata_of(v.tensor, &node->edges[i].metadata));
  }
  return OK;
}

/* A tensor of its own for a result that is an input, or another result; of memory that an input has, a view. */
static Status own_result(const IValue *inputs, uint32_t input_count, IValue *outputs, uint32_t index) {
  assert(outputs[index].tag == TAG_TENSOR);
  Tensor *t = outputs[index].tensor, *of = NULL;
  bool taken = t->flags & TENSOR_RECORDS;
  for (uint32_t i = 0; i < index && !taken; i++) taken = outputs[i].tag == TAG_TENSOR && outputs[i].tensor == t;
  for (uint32_t i = 0; i < input_count; i++) {
    if (inputs[i].tag != TAG_TENSOR) continue;
    taken = taken || inputs[i].tensor == t;
    if (!of && t->storage && inputs[i].tensor->storage == t->storage) of = inputs[i].tensor;
  }
  if (taken) {
    Tensor *alias;
    TRY(tensor_alias(t, &alias));
    ivalue_release(outputs[index]);
    outputs[index] = ivalue_tensor(alias);
  }
  return of && of != outputs[index].tensor ? autograd_note_view(outputs[index].tensor, of) : OK;
}

static Status hang(GraphProgram *p, const Exec *exec, const IValue *inputs, IValue *outputs) {
  GradNode *node;
  for (uint32_t i = 0; i < p->input_count; i++)
    if (inputs[i].tag == TAG_TENSOR) TRY(autograd_refresh(inputs[i].tensor));
  TRY(gradnode_new(GRAD_GRAPH, p->all_outputs, p->output_vjp_count, &node));
  graph_program_retain(p);
  node->program = p;
  node->torch_version = (uint8_t)exec->work.torch_version;
  Status status = make_edges(p, inputs, node);
  if (!status) status = save_captures(p, inputs, outputs, node);
  for (uint32_t i = 0; !status && i < p->real_outputs; i++) {
    Tensor *t = outputs[i].tag == TAG_TENSOR ? outputs[i].tensor : NULL;
    if (!t || !tensor_is_defined(t) || !(dtype_is_floating((DType)t->dtype) || dtype_is_complex((DType)t->dtype)) ||
        !any_records(p, p->dependence + (size_t)i * p->words, inputs))
      continue;
    status = own_result(inputs, p->input_count, outputs, i);
    if (!status) status = metadata_of(outputs[i].tensor, &node->outputs[i].metadata);
    node->outputs[i].differentiable = true;
    if (!status) status = autograd_set_history(outputs[i].tensor, (GradEdge){gradnode_retain(node), i});
  }
  gradnode_release(node);
  return status;
}

static Status run_recorded(GraphProgram *p, Exec *exec, const IValue *inputs, IValue *outputs) {
  IValue *all = mem_calloc(p->all_outputs + 1u, sizeof *all);
  if (!all) return status_out_of_memory();
  for (uint32_t i = 0; i < p->all_outputs; i++) all[i] = IVALUE_NONE;
  exec->grad_enabled = false;
  Status status = interp_run(exec, p->forward, inputs, p->input_count, all, p->all_outputs);
  exec->grad_enabled = true;
  if (!status) status = hang(p, exec, inputs, all);
  for (uint32_t i = 0; i < p->all_outputs; i++) {
    if (!status && i < p->real_outputs)
      outputs[i] = all[i];
    else
      ivalue_release(all[i]);
  }
  mem_free(all);
  return status;
}

static bool has_no_strides(IValue v) {
  return v.tag == TAG_TENSOR && v.tensor->flags & (TENSOR_SPARSE | TENSOR_OPAQUE);
}

static Status run_program(Callable *callable, Exec *exec, const IValue *inputs, uint32_t input_count, IValue *outputs,
                          uint32_t output_count) {
  GraphProgram *p = (GraphProgram *)callable;
  assert(input_count == p->input_count && output_count == p->real_outputs);
  (void)output_count;
  bool recorded = false, known = true;
  for (uint32_t i = 0; exec->grad_enabled && i < input_count; i++) {
    known = known && !has_no_strides(inputs[i]);
    if (!holds_recording(inputs[i])) continue;
    recorded = true;
    known = known && p->differentiable[i] && inputs[i].tag == TAG_TENSOR;
  }
  /* An input that was not expected to require grad, or whose layout formulas of graphs don't have: eager gradients, which
   * compute what is asked for alone, see to it. */
  if (!recorded || !known) return interp_run(exec, p->plain, inputs, input_count, outputs, output_count);
  return run_recorded(p, exec, inputs, outputs);
}

/* ---- backward ---- */

static bool is_read(const GraphProgram *p, uint32_t capture, Tensor *const *grads) {
  assert(capture < p->captured_input_count + p->captured_output_count);
  const uint64_t *set = p->carriers + (size_t)capture * p->vjp_words;
  for (uint32_t i = 0; i < p->input_vjp_count; i++)
    if (set[i / 64] >> (i % 64) & 1 && grads[p->input_vjps[i]]) return true;
  return false;
}

static Status backward_inputs(const GraphProgram *p, GradNode *node, bool with_history, Tensor *const *grads,
                              IValue *values) {
  uint32_t at = 0;
  for (; at < p->input_vjp_count; at++) {
    Tensor *grad = grads[p->input_vjps[at]];
    values[at] = ivalue_tensor(grad ? tensor_retain(grad) : tensor_undefined());
  }
  for (uint32_t i = 0; i < node->saved_count; i++, at++) {
    GradEdge own = {0};
    if (i >= p->captured_input_count) own = (GradEdge){node, p->captured_outputs[i - p->captured_input_count]};
    TRY(saved_value_unpack(&node->saved[i], is_read(p, i, grads), with_history, own, &values[at]));
  }
  return OK;
}

Status graph_node_backward(Exec *exec, GradNode *node, bool with_history, Tensor *const *grads, Tensor **out) {
  const GraphProgram *p = node->program;
  uint32_t count = p->input_vjp_count + node->saved_count;
  IValue *values = mem_calloc((size_t)count + p->output_vjp_count + 1, sizeof *values);
  if (!values) return status_out_of_memory();
  IValue *results = values + count;
  for (uint32_t i = 0; i < count + p->output_vjp_count; i++) values[i] = IVALUE_NONE;
  Status status = backward_inputs(p, node, with_history, grads, values);
  if (!status) status = p->backward->run(p->backward, exec, values, count, results, p->output_vjp_count);
  for (uint32_t i = 0; i < count; i++) ivalue_release(values[i]);
  for (uint32_t i = 0; i < p->output_vjp_count; i++) {
    bool defined = results[i].tag == TAG_TENSOR && tensor_is_defined(results[i].tensor);
    if (!status && defined)
      out[i] = results[i].tensor;
    else
      ivalue_release(results[i]);
  }
  mem_free(values);
  return status;
}

/* ---- nodes ---- */

void pack_gradient(Node *node, const Gradient *gradient, MakeCallable *make_callable, void *maker) {
  Callable *callable;
  node_set_graph(node, SYM_attr_Subgraph, gradient->forward);
  Status status = graph_program_new(gradient, make_callable, maker, &callable);
  if (status) catch_throw(node->graph->arena->catch_point, status);
  node_set_callable(node, callable);
  callable_release(callable);
}
