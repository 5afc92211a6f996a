/* Recording: runs an operator with grad mode off and hangs a GradNode on its results. What the gradient reads is saved
 * before the operator runs (so that in-place forms keep what they overwrite). */
#include "autodiff/record.h"

#include "autodiff/node.h"
#include "call/call_plan.h"

/* ---- inputs ---- */

static bool records(IValue v) {
  return v.tag == TAG_TENSOR && tensor_records(v.tensor);
}

static bool argument_records(IValue v) {
  if (v.tag != TAG_LIST || v.list->kind != LIST_VALUES) return records(v);
  for (size_t i = 0; i < v.list->length; i++)
    if (records(v.list->values[i])) return true;
  return false;
}

static bool holds_tensors(IValue v) {
  return v.tag == TAG_LIST && v.list->kind == LIST_VALUES && v.list->length && v.list->values[0].tag <= TAG_TENSOR;
}

static uint32_t tensor_count(IValue v) {
  return v.tag == TAG_TENSOR ? 1 : holds_tensors(v) ? (uint32_t)v.list->length : 0;
}

typedef struct Recording {
  Call *call;
  const CallPlan *plan;
  Formula *formula;    /* NULL: not implemented */
  uint32_t statements; /* the wanted ones */
  uint64_t wanted;     /* arguments whose gradients are */
  bool in_place;
} Recording;

static void choose_statements(Recording *r) {
  const Call *call = r->call;
  uint64_t recording = 0;
  for (uint32_t i = 0; i < call->input_count && i < CALL_MAX_INPUTS; i++)
    if (argument_records(call->inputs[i])) recording |= (uint64_t)1 << i;
  if (!r->formula) {
    r->wanted = recording;
    return;
  }
  for (uint32_t i = 0; i < r->formula->count; i++) {
    uint64_t both = r->formula->statements[i].targets & recording;
    if (both) r->statements |= 1u << i;
    r->wanted |= both;
  }
}

static Status check_in_place(const Recording *r) {
  const Tensor *self = r->call->inputs[0].tensor;
  if (self->flags & TENSOR_REQUIRES_GRAD)
    return status_new(ERROR_RUNTIME, "a leaf Variable that requires grad is being used in an in-place operation.");
  const AutogradMeta *meta = self->autograd;
  if (meta && meta->head.base && (meta->head.base->flags & TENSOR_REQUIRES_GRAD))
    return status_new(ERROR_RUNTIME,
                      "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  return OK;
}

static Status make_edges(const Recording *r, GradNode *node) {
  uint32_t at = 0, argument = 0;
  for (uint32_t i = 0; i < r->call->input_count && i < CALL_MAX_INPUTS; i++) {
    if (!(r->wanted >> i & 1)) continue;
    IValue v = r->call->inputs[i];
    uint32_t count = tensor_count(v);
    bool is_list = v.tag == TAG_LIST;
    node->arguments[argument++] = (GradArgument){i, at, count, is_list};
    for (uint32_t k = 0; k < count; k++, at++) {
      IValue item = is_list ? v.list->values[k] : v;
      if (!records(item)) continue;
      TRY(autograd_edge(item.tensor, &node->edges[at].to));
      TRY(metadata_of(item.tensor, &node->edges[at].metadata));
    }
  }
  return OK;
}

static Status make_node(const Recording *r, GradNode **out) {
  uint32_t edges = 0, arguments = 0;
  for (uint32_t i = 0; i < r->call->input_count && i < CALL_MAX_INPUTS; i++) {
    if (!(r->wanted >> i & 1)) continue;
    edges += tensor_count(r->call->inputs[i]);
    arguments++;
  }
  GradNode *node;
  TRY(gradnode_new(r->formula ? GRAD_FORMULA : GRAD_NOT_IMPLEMENTED, 0, edges, &node));
  if (r->call->exec) node->torch_version = (uint8_t)r->call->exec->work.torch_version;
  node->op = r->call->op;
  node->formula = r->formula;
  node->statements = r->statements;
  node->argument_count = arguments;
  node->arguments = mem_calloc(arguments + 1u, sizeof *node->arguments);
  Status status = node->arguments ? make_edges(r, node) : status_out_of_memory();
  if (status)
    gradnode_release(node);
  else
    *out = node;
  return status;
}

/* A copy of what an in-place operator is about to overwrite, with its history. */
static Status save_overwritten(Tensor *t, SavedTensor *out) {
  Tensor *copy;
  TRY(saved_tensor(t, false, out));
  TRY(tensor_clone(t, &copy));
  tensor_release(out->tensor);
  out->tensor = copy;
  return OK;
}

static Status save_tensor(const Recording *r, IValue v, bool read, SavedTensor *out) {
  if (v.tag != TAG_TENSOR) return OK;
  if (read && r->in_place && r->call->inputs[0].tag == TAG_TENSOR && v.tensor == r->call->inputs[0].tensor &&
      !r->plan->is_view)
    return save_overwritten(v.tensor, out);
  return saved_tensor(v.tensor, read && !r->plan->is_view, out);
}

static Status save_argument(const Recording *r, uint32_t i, bool read, SavedValue *out) {
  IValue v = r->call->inputs[i];
  uint32_t count = tensor_count(v);
  if (!count) {
    out->kind = SAVED_VALUE;
    if (v.tag != TAG_LIST) {
      out->value = ivalue_retain(v);
      return OK;
    }
    List *copy; /* the program may change it later */
    TRY(list_copy(v.list, &copy));
    out->value = ivalue_list(copy);
    return OK;
  }
  out->kind = v.tag == TAG_LIST ? SAVED_TENSORS : SAVED_TENSOR;
  if (v.tag == TAG_LIST) out->element = v.list->element;
  out->tensors = mem_calloc(count, sizeof *out->tensors);
  if (!out->tensors) return status_out_of_memory();
  out->count = count;
  for (uint32_t k = 0; k < count; k++)
    TRY(save_tensor(r, v.tag == TAG_LIST ? v.list->values[k] : v, read, &out->tensors[k]));
  return OK;
}

static Status save_arguments(const Recording *r, GradNode *node) {
  FormulaNames names = formula_names(r->formula, r->statements);
  uint32_t count = r->call->input_count < CALL_MAX_INPUTS ? r->call->input_count : CALL_MAX_INPUTS;
  node->saved = mem_calloc(count + 1u, sizeof *node->saved);
  if (!node->saved) return status_out_of_memory();
  node->saved_count = count;
  for (uint32_t i = 0; i < count; i++)
    if (names.arguments >> i & 1) TRY(save_argument(r, i, names.reads >> i & 1, &node->saved[i]));
  return OK;
}

/* ---- outputs ---- */

static uint32_t count_outputs(const Call *call) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < call->output_count; i++)
    count += call->outputs[i].tag == TAG_LIST ? tensor_count(call->outputs[i]) : 1;
  return count;
}

static Tensor *output_at(const Call *call, uint32_t index) {
  for (uint32_t i = 0; i < call->output_count; i++) {
    IValue v = call->outputs[i];
    uint32_t count = v.tag == TAG_LIST ? tensor_count(v) : 1;
    if (index >= count) {
      index -= count;
      continue;
    }
    if (v.tag == TAG_LIST) v = v.list->values[index];
    return v.tag == TAG_TENSOR && tensor_is_defined(v.tensor) ? v.tensor : NULL;
  }
  return NULL;
}

static bool is_input(const Call *call, const Tensor *t) {
  for (uint32_t i = 0; i < call->input_count; i++) {
    IValue v = call->inputs[i];
    for (uint32_t k = 0; k < tensor_count(v); k++) {
      IValue item = v.tag == TAG_LIST ? v.list->values[k] : v;
      if (item.tag == TAG_TENSOR && item.tensor == t) return true;
    }
  }
  return false;
}

static bool is_differentiable(const Tensor *t) {
  return t && (dtype_is_floating((DType)t->dtype) || dtype_is_complex((DType)t->dtype));
}

/* `t`, a result, shows the memory of an input. */
static Status set_base(const Call *call, Tensor *t) {
  for (uint32_t i = 0; i < call->input_count; i++) {
    IValue v = call->inputs[i];
    if (v.tag != TAG_TENSOR || v.tensor == t || !v.tensor->storage || v.tensor->storage != t->storage) continue;
    return autograd_note_view(t, v.tensor);
  }
  return OK;
}

Status autodiff_view(Exec *exec, Call *call) {
  (void)exec;
  uint32_t count = count_outputs(call);
  for (uint32_t i = 0; i < count; i++) {
    Tensor *t = output_at(call, i);
    if (t && !is_input(call, t)) TRY(set_base(call, t));
  }
  return OK;
}

/* The history of a write into a view goes to its base; the view's own is made anew. */
static Status set_slices(Tensor *self, GradNode *inner) {
  AutogradMeta *meta = self->autograd;
  Tensor *base = meta->head.base;
  GradNode *node;
  if (self->dtype != base->dtype)
    return status_new(ERROR_UNSUPPORTED, "writing into a view of another dtype, with gradients");
  TRY(gradnode_new(GRAD_COPY_SLICES, 1, inner->edge_count + 1, &node));
  Status status = metadata_of(base, &node->outputs[0].metadata);
  node->outputs[0].differentiable = true;
  if (!status) status = metadata_of(base, &node->edges[0].metadata);
  if (!status) status = geometry_of(base, &node->base);
  if (!status) status = geometry_of(self, &node->view);
  if (!status) status = autograd_edge(base, &node->edges[0].to);
  if (status) {
    gradnode_release(node);
    return status;
  }
  node->op = inner->op;
  node->inner = gradnode_retain(inner);
  for (uint32_t i = 0; i < inner->edge_count; i++) { /* the view's own history is that of the base */
    bool self_edge = inner->argument_count && inner->arguments[0].argument == 0 && i == 0;
    if (self_edge)
      gradedge_release(inner->edges[i].to);
    else
      node->edges[i + 1].to = inner->edges[i].to;
    inner->edges[i].to = (GradEdge){0};
  }
  TRY(autograd_set_history(base, (GradEdge){node, 0}));
  GradNode *view;
  TRY(record_strided_view(base, self, &view));
  return autograd_set_history(self, (GradEdge){view, 0});
}

static Status set_histories(const Recording *r, GradNode *node) {
  const Call *call = r->call;
  for (uint32_t i = 0; i < node->output_count; i++) {
    Tensor *t = output_at(call, i);
    GradOutput *out = &node->outputs[i];
    if (t) TRY(metadata_of(t, &out->metadata));
    bool self = r->in_place && t == call->inputs[0].tensor;
    out->differentiable = is_differentiable(t) && (self || !is_input(call, t));
    if (!out->differentiable) continue;
    AutogradMeta *meta = t->autograd;
    if (self && meta && meta->head.base) {
      TRY(set_slices(t, node));
      continue;
    }
    if (!self && r->plan->is_view) TRY(set_base(call, t));
    TRY(autograd_set_history(t, (GradEdge){gradnode_retain(node), i}));
  }
  return OK;
}

static Status save_results(const Recording *r, GradNode *node) {
  FormulaNames names = formula_names(r->formula, r->statements);
  if (!names.result && !names.results) return OK;
  node->results = mem_calloc(node->output_count + 1u, sizeof *node->results);
  if (!node->results) return status_out_of_memory();
  node->result_count = node->output_count;
  for (uint32_t i = 0; i < node->output_count; i++) {
    Tensor *t = output_at(r->call, i);
    if (!t) continue;
    TRY(tensor_alias(t, &node->results[i].tensor));
    node->results[i].version = tensor_version(t);
    node->results[i].checked = true;
  }
  return OK;
}

static Status hang(const Recording *r, GradNode *node) {
  const Call *call = r->call;
  uint32_t count = count_outputs(call);
  GradOutput *outputs = mem_calloc(count + 1u, sizeof *outputs);
  if (!outputs) return status_out_of_memory();
  mem_free(node->outputs);
  node->outputs = outputs;
  node->output_count = count;
  node->list_output = call->output_count == 1 && call->outputs[0].tag == TAG_LIST;
  if (r->formula) TRY(save_results(r, node));
  return set_histories(r, node);
}

static Status run_quietly(Call *call) {
  Exec *exec = call->exec;
  exec->grad_enabled = false;
  Status status = operator_run(call);
  exec->grad_enabled = true;
  return status;
}

static Status refresh(IValue v) {
  if (v.tag == TAG_TENSOR) return autograd_refresh(v.tensor);
  for (size_t i = 0; holds_tensors(v) && i < v.list->length; i++)
    if (v.list->values[i].tag == TAG_TENSOR) TRY(autograd_refresh(v.list->values[i].tensor));
  return OK;
}

Status autodiff_record(Exec *exec, Call *call) {
  Recording r = {.call = call};
  (void)exec;
  for (uint32_t i = 0; i < call->input_count; i++) TRY(refresh(call->inputs[i]));
  TRY(call_plan(call->op, &r.plan));
  TRY(formula_of(r.plan->functional, &r.formula));
  choose_statements(&r);
  if (!r.wanted) {
    TRY(run_quietly(call));
    return r.plan->is_view ? autodiff_view(exec, call) : OK;
  }
  if (call->op->variant == VARIANT_OUT)
    return status_new(ERROR_RUNTIME,
                      STR_FMT
                      "(): functions with out=... arguments don't support automatic differentiation, but one of the "
                      "arguments requires grad.",
                      STR_ARG(call->op->name));
  r.in_place = (r.plan->writes & 1) && call->inputs[0].tag == TAG_TENSOR;
  if (r.in_place) TRY(check_in_place(&r));
  GradNode *node;
  TRY(make_node(&r, &node));
  Status status = r.formula ? save_arguments(&r, node) : OK;
  if (!status) status = run_quietly(call);
  if (!status) status = hang(&r, node);
  gradnode_release(node);
  return status;
}

Status record_strided_view(Tensor *base, const Tensor *view, GradNode **out) {
  const Operator *op = operator_find_overload(STR("aten::as_strided"), STR(""));
  if (!op) return status_new(ERROR_UNSUPPORTED, "there is no operator aten::as_strided");
  List *sizes = NULL, *strides = NULL;
  Status status = list_from_ints(view->sizes, view->ndim, &sizes);
  if (!status) status = list_from_ints(view->strides, view->ndim, &strides);
  GradNode *node = NULL;
  if (!status) {
    IValue inputs[] = {ivalue_tensor(base), ivalue_list(sizes), ivalue_list(strides), ivalue_int(view->offset)};
    Call call = {.op = op, .inputs = inputs, .input_count = 4};
    Recording r = {.call = &call};
    status = call_plan(op, &r.plan);
    if (!status) status = formula_of(op, &r.formula);
    if (!status) choose_statements(&r);
    if (!status) status = make_node(&r, &node);
    if (!status && r.formula) status = save_arguments(&r, node);
  }
  GradOutput *outputs = status ? NULL : mem_calloc(2, sizeof *outputs);
  if (!status && !outputs) status = status_out_of_memory();
  if (!status) {
    mem_free(node->outputs);
    node->outputs = outputs;
    node->output_count = 1;
    outputs[0].differentiable = true;
    status = metadata_of(view, &outputs[0].metadata);
  }
  if (sizes) ivalue_release(ivalue_list(sizes));
  if (strides) ivalue_release(ivalue_list(strides));
  if (status)
    gradnode_release(node);
  else
    *out = node;
  return status;
}
