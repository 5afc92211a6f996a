/* The engine: takes nodes by falling sequence, sums the gradients that reach each output, calls the formulas. The
 * caller's thread does it all; nothing recurses. */
#include "autodiff/engine.h"

#include <assert.h>

#include "autodiff/foreign_gradient.h"
#include "autodiff/graph_program.h"
#include "call/call.h"

/* ---- one run ---- */

/* What reached a node: a gradient for each of its outputs, owned, NULL where none did. */
typedef struct Task {
  GradNode *node; /* borrowed: what leads to it holds it */
  Tensor **grads;
} Task;
typedef struct Capture {
  GradEdge edge;
  Tensor *grad;
} Capture;
typedef struct Run {
  Exec *exec;
  BackwardOptions options;
  VEC(Task *) heap; /* by sequence, the greatest first */
  PtrMap tasks;     /* node -> Task, waiting */
  bool grad_only;   /* captures are wanted, leaves stay as they are */
  Capture *captures;
  size_t capture_count;
  PtrMap needed; /* grad_only: node -> non-NULL when a capture can be reached */
} Run;

static bool before(const Task *a, const Task *b) {
  return a->node->sequence > b->node->sequence;
}

static bool heap_push(Run *run, Task *task) {
  if (!vec_push(&run->heap, task)) return false;
  Task **heap = run->heap.data;
  size_t i = run->heap.length - 1;
  while (i && before(task, heap[(i - 1) / 2])) {
    heap[i] = heap[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  heap[i] = task;
  return true;
}

static Task *heap_pop(Run *run) {
  assert(run->heap.length > 0);
  Task **heap = run->heap.data, *top = heap[0], *last = vec_pop(&run->heap);
  size_t n = run->heap.length, i = 0;
  for (size_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && before(heap[child + 1], heap[child])) child++;
    if (!before(heap[child], last)) break;
    heap[i] = heap[child];
  }
  if (n) heap[i] = last;
  return top;
}

static void task_free(Task *task) {
  for (uint32_t i = 0; i < task->node->output_count; i++) tensor_release(task->grads[i]);
  mem_free(task->grads);
  mem_free(task);
}

static Status task_of(Run *run, GradNode *node, Task **out) {
  Task *task = ptrmap_get(&run->tasks, node);
  *out = task;
  if (task) return OK;
  task = mem_calloc(1, sizeof *task);
  Tensor **grads = mem_calloc(node->output_count + 1u, sizeof *grads);
  if (!task || !grads) {
    mem_free(task);
    mem_free(grads);
    return status_out_of_memory();
  }
  *task = (Task){node, grads};
  if (!heap_push(run, task)) {
    task_free(task);
    return status_out_of_memory();
  }
  if (!ptrmap_put(&run->tasks, node, task)) return status_out_of_memory(); /* the heap frees it */
  *out = task;
  return OK;
}

/* Adds a gradient (borrowed) for an output of a node. */
static Status add_gradient(Run *run, GradEdge to, Tensor *grad) {
  assert(!to.node || to.output < to.node->output_count);
  Task *task;
  if (run->grad_only && !ptrmap_has(&run->needed, to.node)) return OK;
  TRY(task_of(run, to.node, &task));
  Tensor **slot = &task->grads[to.output];
  if (!*slot) {
    *slot = tensor_retain(grad);
    return OK;
  }
  IValue sum = IVALUE_NONE;
  TRY(gradient_sum(run->exec, *slot, grad, &sum));
  tensor_release(*slot);
  *slot = sum.tensor;
  return OK;
}

/* ---- gradients of the metadata that inputs have ---- */

static bool metadata_has_sizes(const Metadata *metadata, const Tensor *t) {
  return metadata->ndim == t->ndim &&
         (!metadata->ndim || memcmp(metadata->sizes, t->sizes, metadata->ndim * sizeof *t->sizes) == 0);
}

/* Takes over *grad, that of edge i, and gives it anew: summed to the input's sizes, real where the input is, of its
 * dtype. */
static Status conform(Exec *exec, const GradNode *node, uint32_t i, Tensor **grad) {
  assert(i < node->edge_count);
  static OpRef sum_to_size = OP_REF("aten::sum_to_size", ""), real = OP_REF("aten::real", ""),
               to = OP_REF("aten::to", "dtype");
  const Metadata *metadata = &node->edges[i].metadata;
  if (metadata->sparse && !((*grad)->flags & TENSOR_SPARSE)) {
    Str name = node->op ? node->op->name : STR("graph");
    return status_new(ERROR_RUNTIME,
                      "Function " STR_FMT
                      " returned an invalid gradient at index %u - expected layout Sparse but got Strided",
                      STR_ARG(name), i);
  }
  if (!metadata_has_sizes(metadata, *grad)) {
    List *sizes;
    IValue summed = IVALUE_NONE;
    TRY(list_from_ints(metadata->sizes, metadata->ndim, &sizes));
    Status status = op_call(exec, &sum_to_size, 2, (IValue[]){ivalue_tensor(*grad), ivalue_list(sizes)}, 1, &summed);
    ivalue_release(ivalue_list(sizes));
    TRY(status);
    tensor_release(*grad);
    *grad = summed.tensor;
  }
  if (dtype_is_complex((DType)(*grad)->dtype) && !dtype_is_complex((DType)metadata->dtype)) {
    IValue part = IVALUE_NONE;
    TRY(op_call(exec, &real, 1, (IValue[]){ivalue_tensor(*grad)}, 1, &part));
    tensor_release(*grad);
    *grad = part.tensor;
  }
  if ((*grad)->dtype != metadata->dtype) {
    IValue converted = IVALUE_NONE;
    TRY(op_call(exec, &to, 2, (IValue[]){ivalue_tensor(*grad), ivalue_int(metadata->dtype)}, 1, &converted));
    tensor_release(*grad);
    *grad = converted.tensor;
  }
  return OK;
}

static Status zeros(const Metadata *metadata, Tensor **out) {
  TRY(tensor_empty((DType)metadata->dtype, metadata->ndim, metadata->sizes, out));
  tensor_fill_zero(*out);
  return OK;
}

/* ---- formulas ---- */

enum { MAX_PARAMETERS = 68 };

static Status pack_grads(GradNode *node, Tensor *const *grads, IValue *out) {
  List *list;
  TRY(list_new(TYPE(TENSOR), node->output_count, &list));
  Status status = OK;
  for (uint32_t i = 0; i < node->output_count; i++) {
    Tensor *t = grads[i] ? tensor_retain(grads[i]) : NULL;
    if (!t && node->outputs[i].differentiable)
      status = zeros(&node->outputs[i].metadata, &t);
    else if (!t)
      t = tensor_undefined();
    if (status) break;
    list->values[list->length++] = ivalue_tensor(t);
  }
  if (status)
    ivalue_release(ivalue_list(list));
  else
    *out = ivalue_list(list);
  return status;
}

static Status unpack_results(GradNode *node, bool with_history, IValue *out) {
  SavedValue all = {
      .kind = SAVED_TENSORS, .element = TYPE(TENSOR), .tensors = node->results, .count = node->result_count};
  return saved_value_unpack(&all, true, with_history, (GradEdge){node, 0}, out);
}

/* The parameters of the formula's function, in its order. */
static Status pack_parameters(Run *run, GradNode *node, Tensor *const *grads, IValue *values, uint32_t *count) {
  FormulaNames names = formula_names(node->formula, node->statements);
  bool create = run->options.create_graph;
  for (uint32_t i = 0; i < node->saved_count; i++)
    if (names.arguments >> i & 1) {
      TRY(saved_value_unpack(&node->saved[i], true, create, (GradEdge){0}, &values[*count]));
      ++*count;
    }
  if (names.grad) {
    if (!grads[0] || node->output_count == 0)
      return status_internal("the gradient of a first output is read, which has none");
    values[(*count)++] = ivalue_tensor(tensor_retain(grads[0]));
  }
  if (names.grads) {
    TRY(pack_grads(node, grads, &values[*count]));
    ++*count;
  }
  if (names.result && !node->list_output) {
    Tensor *t;
    TRY(saved_tensor_unpack(&node->results[0], true, create, (GradEdge){node, 0}, &t));
    values[(*count)++] = ivalue_tensor(t);
  } else if (names.result) {
    TRY(unpack_results(node, create, &values[*count]));
    ++*count;
  }
  if (names.results) {
    TRY(unpack_results(node, create, &values[*count]));
    ++*count;
  }
  return OK;
}

/* Gives an argument's gradient (borrowed) to its edges. */
static Status take_gradient(Run *run, const GradNode *node, const GradArgument *argument, IValue value, Tensor **out) {
  if (!argument->is_list) {
    if (value.tag != TAG_TENSOR || !tensor_is_defined(value.tensor)) return OK;
    out[argument->first] = tensor_retain(value.tensor);
  } else if (value.tag == TAG_LIST && value.list->kind == LIST_VALUES) {
    for (uint32_t i = 0; i < argument->count && i < value.list->length; i++) {
      IValue item = value.list->values[i];
      if (item.tag == TAG_TENSOR && tensor_is_defined(item.tensor))
        out[argument->first + i] = tensor_retain(item.tensor);
    }
  }
  for (uint32_t i = argument->first; i < argument->first + argument->count; i++) {
    const Metadata *metadata = &node->edges[i].metadata;
    bool wanted =
        metadata->sizes || metadata->dtype != 0; /* an element of a list that did not record has no metadata */
    if (!wanted && argument->is_list) {
      tensor_release(out[i]);
      out[i] = NULL;
    }
    if (out[i]) TRY(conform(run->exec, node, i, &out[i]));
  }
  return OK;
}

static Status take_statement(Run *run, const GradNode *node, const FormulaStatement *s, IValue value, Tensor **out) {
  if (s->target_count > 1 && (value.tag != TAG_TUPLE || value.tuple->length != s->target_count))
    return status_internal(STR_FMT ": its gradient does not give %u values", STR_ARG(node->op->name), s->target_count);
  for (uint32_t i = 0; i < node->argument_count; i++)
    for (uint32_t k = 0; k < s->target_count; k++)
      if (s->order[k] == node->arguments[i].argument)
        TRY(take_gradient(run, node, &node->arguments[i], s->target_count > 1 ? value.tuple->values[k] : value, out));
  return OK;
}

static Status check_saved(const GradNode *node) {
  if (node->released)
    return status_new(
        ERROR_RUNTIME,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have "
        "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
        "autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved "
        "tensors after calling backward.");
  return OK;
}

static Status apply_graph(Run *run, GradNode *node, Tensor *const *grads, Tensor **out) {
  assert(node->kind == GRAD_GRAPH);
  TRY(check_saved(node));
  TRY(graph_node_backward(run->exec, node, run->options.create_graph, grads, out));
  for (uint32_t i = 0; i < node->edge_count; i++)
    if (out[i] && node->edges[i].to.node) TRY(conform(run->exec, node, i, &out[i]));
  return OK;
}

static Status apply_foreign(Run *run, GradNode *node, Tensor *const *grads, Tensor **out) {
  TRY(foreign_gradient_apply(node, run->options.create_graph, grads, out));
  for (uint32_t i = 0; i < node->edge_count; i++)
    if (out[i] && node->edges[i].to.node) TRY(conform(run->exec, node, i, &out[i]));
  return OK;
}

static Status apply_formula(Run *run, GradNode *node, Tensor *const *grads, Tensor **out) {
  Exec *exec = run->exec;
  TRY(check_saved(node));
  if (!exec->services || !exec->services->call_function)
    return status_new(ERROR_UNSUPPORTED, "nothing here runs TorchScript");
  Function *function;
  TRY(formula_program(exec, node->formula, node->statements, &function));
  IValue values[MAX_PARAMETERS], result = IVALUE_NONE;
  uint32_t count = 0;
  Status status = pack_parameters(run, node, grads, values, &count);
  if (!status) status = exec->services->call_function(exec, function, values, count, &result);
  for (uint32_t i = 0; i < count; i++) ivalue_release(values[i]);
  if (status) return status;
  bool several = (node->statements & (node->statements - 1)) != 0;
  uint32_t at = 0;
  for (uint32_t i = 0; !status && i < node->formula->count; i++) {
    if (!(node->statements >> i & 1)) continue;
    IValue value = !several                                               ? result
                   : result.tag == TAG_TUPLE && at < result.tuple->length ? result.tuple->values[at]
                                                                          : IVALUE_NONE;
    status = take_statement(run, node, &node->formula->statements[i], value, out);
    at++;
  }
  ivalue_release(result);
  return status;
}

/* ---- writes into views ---- */

static Status ints(size_t count, const int64_t *values, IValue *out) {
  List *list;
  TRY(list_from_ints(values, count, &list));
  *out = ivalue_list(list);
  return OK;
}

/* The gradient in the memory layout of the base, so that the view's geometry fits it. */
static Status lay_out(Exec *exec, const Geometry *base, Tensor *grad, IValue *out) {
  static OpRef copy = OP_REF("aten::copy_", "");
  Tensor *laid;
  TRY(tensor_empty_strided((DType)grad->dtype, base->ndim, base->sizes, base->strides, &laid));
  IValue result = IVALUE_NONE;
  Status status = op_call(exec, &copy, 2, (IValue[]){ivalue_tensor(laid), ivalue_tensor(grad)}, 1, &result);
  ivalue_release(result);
  if (status)
    tensor_release(laid);
  else
    *out = ivalue_tensor(laid);
  return status;
}

static Status apply_formula_or_fail(Run *run, GradNode *node, Tensor *const *grads, Tensor **out);

static Status apply_copy_slices(Run *run, GradNode *node, Tensor *grad, Tensor **out) {
  assert(node->kind == GRAD_COPY_SLICES);
  static OpRef as_strided = OP_REF("aten::as_strided", ""), clone = OP_REF("aten::clone", ""),
               scatter = OP_REF("aten::as_strided_scatter", ""), zeros_like = OP_REF("aten::zeros_like", "");
  Exec *exec = run->exec;
  GradNode *inner = node->inner;
  IValue laid = IVALUE_NONE, sizes = IVALUE_NONE, strides = IVALUE_NONE, slice = IVALUE_NONE, own = IVALUE_NONE,
         whole = IVALUE_NONE;
  IValue offset = ivalue_int(node->view.offset - node->base.offset);
  Status status = OK;
  Tensor **inner_out = mem_calloc(inner->edge_count + 1u, sizeof *inner_out);
  if (!inner_out) return status_out_of_memory();
  TRY_GOTO(lay_out(exec, &node->base, grad, &laid), done);
  TRY_GOTO(ints(node->view.ndim, node->view.sizes, &sizes), done);
  TRY_GOTO(ints(node->view.ndim, node->view.strides, &strides), done);
  TRY_GOTO(op_call(exec, &as_strided, 4, (IValue[]){laid, sizes, strides, offset}, 1, &slice), done);
  TRY_GOTO(op_call(exec, &clone, 1, &slice, 1, &own), done);
  TRY_GOTO(apply_formula_or_fail(run, inner, &own.tensor, inner_out), done);
  bool has_self = inner->argument_count && inner->arguments[0].argument == 0;
  if (node->edges[0].to.node) {
    IValue replacement = IVALUE_NONE;
    if (has_self && inner_out[0])
      replacement = ivalue_tensor(tensor_retain(inner_out[0]));
    else
      TRY_GOTO(op_call(exec, &zeros_like, 1, &own, 1, &replacement), done);
    status = op_call(exec, &scatter, 5, (IValue[]){laid, replacement, sizes, strides, offset}, 1, &whole);
    ivalue_release(replacement);
    if (status) goto done;
    out[0] = tensor_retain(whole.tensor);
  }
  for (uint32_t i = has_self; i < inner->edge_count; i++) {
    out[i + 1] = inner_out[i];
    inner_out[i] = NULL;
  }
done:
  for (uint32_t i = 0; i < inner->edge_count; i++) tensor_release(inner_out[i]);
  mem_free(inner_out);
  ivalue_release(laid);
  ivalue_release(sizes);
  ivalue_release(strides);
  ivalue_release(slice);
  ivalue_release(own);
  ivalue_release(whole);
  return status;
}

/* ---- nodes ---- */

static Status apply_formula_or_fail(Run *run, GradNode *node, Tensor *const *grads, Tensor **out) {
  if (node->kind == GRAD_FORMULA) return apply_formula(run, node, grads, out);
  if (node->kind == GRAD_GRAPH) return apply_graph(run, node, grads, out);
  if (node->kind == GRAD_FOREIGN) return apply_foreign(run, node, grads, out);
  return status_new(ERROR_RUNTIME, "derivative for " STR_FMT " is not implemented", STR_ARG(node->op->name));
}

/* Hooks first: what they give is what everybody sees. */
static Status show_gradients(Run *run, Task *task) {
  for (uint32_t i = 0; i < task->node->output_count; i++) {
    if (task->grads[i]) TRY(gradoutput_run_hooks(&task->node->outputs[i], &task->grads[i]));
    Tensor *t = task->grads[i] && !run->grad_only ? gradoutput_retains(&task->node->outputs[i]) : NULL;
    if (!t) continue;
    Status status = autograd_accumulate(run->exec, t, task->grads[i], run->options.create_graph);
    tensor_release(t);
    TRY(status);
  }
  return OK;
}

static void capture(Run *run, const Task *task) {
  for (size_t i = 0; i < run->capture_count; i++) {
    Capture *c = &run->captures[i];
    if (c->edge.node == task->node && task->grads[c->edge.output]) c->grad = tensor_retain(task->grads[c->edge.output]);
  }
}

/* Whether the node's own gradients lead anywhere that is wanted. */
static bool leads_on(Run *run, const GradNode *node) {
  if (!run->grad_only) return true;
  for (uint32_t i = 0; i < node->edge_count; i++)
    if (node->edges[i].to.node && ptrmap_has(&run->needed, node->edges[i].to.node)) return true;
  return false;
}

static Status add_to_leaf(Run *run, Task *task) {
  Tensor *leaf;
  TRY(autograd_leaf(task->node, &leaf));
  if (!leaf) return OK;
  Status status = autograd_run_hooks(leaf, &task->grads[0]);
  if (!status) status = autograd_accumulate(run->exec, leaf, task->grads[0], run->options.create_graph);
  tensor_release(leaf);
  return status;
}

static Status run_task(Run *run, Task *task) {
  GradNode *node = task->node;
  TRY(show_gradients(run, task));
  if (run->grad_only) capture(run, task);
  if (node->kind == GRAD_ACCUMULATE) return run->grad_only || !task->grads[0] ? OK : add_to_leaf(run, task);
  if (!leads_on(run, node)) return OK;
  Tensor **out = mem_calloc(node->edge_count + 1u, sizeof *out);
  if (!out) return status_out_of_memory();
  TorchVersion version = run->exec->work.torch_version;
  if (node->torch_version != TORCH_DEFAULT) run->exec->work.torch_version = (TorchVersion)node->torch_version;
  Status status = node->kind == GRAD_COPY_SLICES ? apply_copy_slices(run, node, task->grads[0], out)
                                                 : apply_formula_or_fail(run, node, task->grads, out);
  run->exec->work.torch_version = version;
  for (uint32_t i = 0; i < node->edge_count; i++) {
    if (!status && out[i] && node->edges[i].to.node) status = add_gradient(run, node->edges[i].to, out[i]);
    tensor_release(out[i]);
  }
  mem_free(out);
  if (!status && !run->options.retain_graph) gradnode_release_saved(node);
  return status;
}

static Status run_all(Run *run) {
  while (run->heap.length) {
    TRY(work_poll(&run->exec->work));
    Task *task = heap_pop(run);
    ptrmap_put(&run->tasks, task->node, NULL);
    Status status = run_task(run, task);
    task_free(task);
    TRY(status);
  }
  return OK;
}

/* ---- roots ---- */

static Status root_gradient(Exec *exec, Tensor *output, Tensor *given, Tensor **out) {
  static OpRef ones_like = OP_REF("aten::ones_like", "");
  if (tensor_is_defined(given)) {
    if (!tensor_same_sizes(given, output))
      return status_new(ERROR_RUNTIME, "Mismatch in shape: grad_output has a shape of %s and output has a shape of %s.",
                        SIZES_TEXT(given->ndim, given->sizes), SIZES_TEXT(output->ndim, output->sizes));
    *out = tensor_retain(given);
    return OK;
  }
  if (output->numel != 1) return status_new(ERROR_RUNTIME, "grad can be implicitly created only for scalar outputs");
  IValue ones = IVALUE_NONE;
  bool mode = exec->grad_enabled;
  exec->grad_enabled = false;
  Status status = op_call(exec, &ones_like, 1, (IValue[]){ivalue_tensor(output)}, 1, &ones);
  exec->grad_enabled = mode;
  TRY(status);
  *out = ones.tensor;
  return OK;
}

/* grad_only: which nodes lead to a capture. Nodes are met from the outputs down, decided from the inputs up. */
typedef struct Visit {
  GradNode *node;
  uint32_t edge;
} Visit;

static Status find_needed(Run *run, GradNode *root, PtrMap *seen) {
  VEC(Visit) path = {0};
  Status status = OK;
  if (ptrmap_has(seen, root)) return OK;
  if (!ptrmap_put(seen, root, root) || !vec_push(&path, ((Visit){root, 0}))) status = status_out_of_memory();
  while (!status && path.length) {
    Visit *top = &path.data[path.length - 1];
    GradNode *node = top->node;
    if (top->edge < node->edge_count) {
      GradNode *next = node->edges[top->edge++].to.node;
      if (!next || ptrmap_has(seen, next)) continue;
      if (!ptrmap_put(seen, next, next) || !vec_push(&path, ((Visit){next, 0}))) status = status_out_of_memory();
      continue;
    }
    bool needed = false;
    for (uint32_t i = 0; i < node->edge_count && !needed; i++)
      needed = node->edges[i].to.node && ptrmap_has(&run->needed, node->edges[i].to.node);
    if (needed && !ptrmap_put(&run->needed, node, node)) status = status_out_of_memory();
    path.length--;
  }
  vec_dispose(&path);
  return status;
}

static Status add_roots(Run *run, size_t count, Tensor *const *outputs, Tensor *const *grads, GradEdge *roots) {
  PtrMap seen;
  ptrmap_init(&seen, NULL);
  Status status = OK;
  for (size_t i = 0; !status && i < count; i++) {
    if (!tensor_is_defined(outputs[i]) || !tensor_records(outputs[i]))
      status = status_new(ERROR_RUNTIME, "element %zu of tensors does not require grad and does not have a grad_fn", i);
    if (!status) status = autograd_edge(outputs[i], &roots[i]);
    if (!status && run->grad_only && roots[i].node) status = find_needed(run, roots[i].node, &seen);
  }
  for (size_t i = 0; !status && i < count; i++) {
    Tensor *grad;
    status = root_gradient(run->exec, outputs[i], grads ? grads[i] : NULL, &grad);
    if (status) break;
    if (roots[i].node) status = add_gradient(run, roots[i], grad);
    tensor_release(grad);
  }
  ptrmap_dispose(&seen);
  return status;
}

static Status run_engine(Run *run, size_t count, Tensor *const *outputs, Tensor *const *grads) {
  Exec *exec = run->exec;
  bool mode = exec->grad_enabled;
  ptrmap_init(&run->tasks, NULL);
  ptrmap_init(&run->needed, NULL);
  Status status = OK;
  GradEdge *roots = mem_calloc(count + 1u, sizeof *roots);
  if (!roots) return status_out_of_memory();
  for (size_t i = 0; !status && i < run->capture_count; i++)
    if (run->captures[i].edge.node && !ptrmap_put(&run->needed, run->captures[i].edge.node, run))
      status = status_out_of_memory();
  exec->grad_enabled = run->options.create_graph;
  if (!status) status = add_roots(run, count, outputs, grads, roots);
  if (!status) status = run_all(run);
  exec->grad_enabled = mode;
  while (run->heap.length) task_free(vec_pop(&run->heap));
  for (size_t i = 0; i < count; i++) gradedge_release(roots[i]);
  mem_free(roots);
  vec_dispose(&run->heap);
  ptrmap_dispose(&run->tasks);
  ptrmap_dispose(&run->needed);
  return status;
}

Status autograd_backward(Exec *exec, size_t count, Tensor *const *outputs, Tensor *const *grads,
                         BackwardOptions options) {
  Run run = {.exec = exec, .options = options};
  return run_engine(&run, count, outputs, grads);
}

Status autograd_grad(Exec *exec, size_t count, Tensor *const *outputs, Tensor *const *grads, size_t input_count,
                     Tensor *const *inputs, BackwardOptions options, Tensor **out) {
  Run run = {.exec = exec, .options = options, .grad_only = true, .capture_count = input_count};
  Status status = OK;
  run.captures = mem_calloc(input_count + 1u, sizeof *run.captures);
  if (!run.captures) return status_out_of_memory();
  for (size_t i = 0; !status && i < input_count; i++) {
    out[i] = NULL;
    if (!tensor_is_defined(inputs[i]) || !tensor_records(inputs[i]))
      status = status_new(ERROR_RUNTIME, "One of the differentiated Tensors does not require grad");
    else
      status = autograd_edge(inputs[i], &run.captures[i].edge);
  }
  if (!status) status = run_engine(&run, count, outputs, grads);
  for (size_t i = 0; i < input_count; i++) {
    Capture *c = &run.captures[i];
    if (!status && !c->grad && !options.allow_unused)
      status = status_new(ERROR_RUNTIME,
                          "One of the differentiated Tensors appears to not have been used in the graph. Set "
                          "allow_unused=True if this is the desired behavior.");
    out[i] = c->grad;
    gradedge_release(c->edge);
  }
  for (size_t i = 0; status && i < input_count; i++) {
    tensor_release(out[i]);
    out[i] = NULL;
  }
  mem_free(run.captures);
  return status;
}
