/* What an operator or function that was called becomes in the graph. It has run when it is recorded: what stood for its
 * arguments does so until its results are given their values. */
#include "call/call_plan.h"
#include "call/row.h"
#include "ir/match.h"
#include "trace/tracing.h"

/* ---- numbers that stand for sizes ---- */

static const Type *unwrapped(const Type *type) {
  return type->kind == TYPE_OPTIONAL ? type->elements[0] : type;
}

/* A number that came out of a tensor which stands for something: it is read where that is made. */
static Value *number_value(TracingState *t, IValue number, IValue given, const Type *type) {
  Value *tensor = given.tag == TAG_TENSOR ? trace_find(t, given.counted) : NULL;
  if (!tensor || number.tag == TAG_TENSOR) return trace_value(t, number, type);
  Str name = type->kind == TYPE_INT     ? STR("aten::Int")
             : type->kind == TYPE_FLOAT ? STR("aten::Float")
             : type->kind == TYPE_BOOL  ? STR("aten::Bool")
                                        : STR("aten::ScalarImplicit");
  Node *before = t->graph->insert_before;
  graph_set_insert_point(t->graph, tensor->node->next);
  Node *node = trace_node(t, name, 1, &tensor, 1);
  node_output(node, 0)->type =
      type->kind == TYPE_NUMBER || type->kind == TYPE_INT || type->kind == TYPE_FLOAT || type->kind == TYPE_BOOL
          ? type
          : TYPE(NUMBER);
  graph_set_insert_point(t->graph, before == node->next ? node->next : before);
  return node_output(node, 0);
}

/* Element i of what the caller gave for a list. */
static IValue given_item(IValue given, size_t i) {
  if (given.tag == TAG_TUPLE) return i < given.tuple->length ? given.tuple->values[i] : IVALUE_NONE;
  if (given.tag == TAG_LIST && given.list->kind == LIST_VALUES)
    return i < given.list->length ? given.list->values[i] : IVALUE_NONE;
  return IVALUE_NONE;
}

/* Lists of numbers are put together of constants, one each. */
static Value *numbers_value(TracingState *t, const List *list, IValue given) {
  Value **items = ARENA_ARRAY(t->graph->arena, Value *, list->length + 1);
  for (size_t i = 0; i < list->length; i++) {
    IValue number = list_get(list, i);
    items[i] = number_value(t, number, given_item(given, i), list->element);
    ivalue_release(number);
  }
  return graph_insert_list(t->graph, list->element, (uint32_t)list->length, items);
}

/* ---- arguments ---- */

static bool is_number(IValue v) {
  return v.tag == TAG_INT || v.tag == TAG_FLOAT || v.tag == TAG_BOOL || v.tag == TAG_COMPLEX;
}

typedef struct Recording {
  TracingState *t;
  const Call *call;
  const FunctionSchema *schema;
} Recording;

static Value *argument_value(const Recording *r, uint32_t i) {
  IValue v = r->call->inputs[i];
  bool is_declared = i < r->schema->argument_count;
  const Type *type = is_declared ? unwrapped(r->schema->arguments[i].type) : NULL;
  IValue given = is_declared && r->call->given ? r->call->given[i] : IVALUE_NONE;
  if (v.tag == TAG_GENERATOR)
    trace_fail(r->t, ERROR_UNSUPPORTED, "an operator with a generator can't be traced: programs have none");
  if (is_number(v)) return number_value(r->t, v, given, type ? type : TYPE(NUMBER));
  if (v.tag == TAG_LIST && (v.list->kind != LIST_VALUES || v.list->element->kind == TYPE_COMPLEX))
    return numbers_value(r->t, v.list, given);
  return trace_value(r->t, v, type);
}

/* ---- results ---- */

static void give_result(TracingState *t, Node *node, uint32_t i, const Type *type, IValue v) {
  Value *value = node_output(node, i);
  value->type = type->has_var ? ivalue_type(v, t->graph->store) : type;
  if (v.tag == TAG_TENSOR || v.tag == TAG_LIST || v.tag == TAG_TUPLE || v.tag == TAG_DICT) trace_assign(t, v, value);
}

static bool gives_tensors(const FunctionSchema *schema) {
  for (uint32_t i = 0; i < schema->return_count; i++) {
    const Type *type = schema->returns[i].type;
    if (type->kind == TYPE_LIST || type->kind == TYPE_OPTIONAL) type = type->elements[0];
    if (type->kind == TYPE_TENSOR || type->kind == TYPE_VAR) return true;
  }
  return false;
}

/* ---- convolutions: PyTorch records all as _convolution, with a batch ---- */

static Value *flag(TracingState *t, bool value) {
  return trace_constant(t, ivalue_bool(value), NULL);
}

/* Arguments of aten::_convolution, after input, weight and bias, that may come from the call. */
static const char *const of_convolution[] = {"stride", "padding", "dilation", "transposed", "output_padding", "groups"};

/* An argument that the call has none of: a convolution of its kind has it so. */
static Value *implied_argument(TracingState *t, Str name, int dims, bool transposed) {
  if (str_is(name, "transposed")) return flag(t, transposed);
  assert(str_is(name, "output_padding"));
  Value *zeros[3];
  for (int i = 0; i < dims; i++) zeros[i] = trace_constant(t, ivalue_int(0), NULL);
  return graph_insert_list(t->graph, TYPE(INT), (uint32_t)dims, zeros);
}

static void record_convolution(const Recording *r) {
  enum { MOST = 13 };
  TracingState *t = r->t;
  const FunctionSchema *schema = r->schema;
  int dims = r->call->op->row->conv_dims;
  bool transposed = schema_find_argument(schema, STR("output_padding")) >= 0, /* or it is an argument itself */
      by_mode = schema->arguments[schema_find_argument(schema, STR("padding"))].type->kind == TYPE_STRING,
       single = dims != CONV_ANY_DIMS && r->call->inputs[0].tensor->ndim == dims + 1;
  uint32_t count = 0;
  Value *inputs[MOST];
  inputs[count++] = argument_value(r, 0);
  if (single) {
    Value *batch[] = {inputs[0], trace_constant(t, ivalue_int(0), NULL)};
    inputs[0] = node_output(trace_node(t, STR("aten::unsqueeze"), 2, batch, 1), 0);
  }
  inputs[count++] = argument_value(r, 1);
  inputs[count++] = argument_value(r, 2);
  for (size_t i = 0; i < sizeof of_convolution / sizeof *of_convolution; i++) {
    Str name = str_from(of_convolution[i]);
    ptrdiff_t given = schema_find_argument(schema, name);
    if (given >= 0)
      inputs[count++] = argument_value(r, (uint32_t)given);
    else if (!by_mode)
      inputs[count++] = implied_argument(t, name, dims, transposed);
  }
  for (uint32_t i = 0; i < 4 && !by_mode; i++) inputs[count++] = flag(t, i >= 2); /* cudnn_enabled, allow_tf32 */
  assert(count <= MOST);
  Node *node = trace_node(t, by_mode ? STR("aten::_convolution_mode") : STR("aten::_convolution"), count, inputs, 1);
  if (single) {
    Value *batch[] = {node_output(node, 0), trace_constant(t, ivalue_int(0), NULL)};
    node = trace_node(t, STR("aten::squeeze"), 2, batch, 1);
  }
  trace_assign(t, r->call->outputs[0], node_output(node, 0));
}

/* ---- operators ---- */

/* Programs have an overload without non_blocking beside PyTorch's operator. */
static bool is_short_copy(const Call *call) {
  return call->input_count == 2 && str_is(call->op->name, "aten::copy_");
}

/* "aten::add" of "aten::add_", where nothing is to be written in place and there is such an operator. */
static Str recorded_name(const TracingState *t, const Call *call) {
  Str name = call->op->name;
  if (!t->outplace || name.data[name.length - 1] != '_') return name;
  Str plain = str_slice(name, 0, name.length - 1);
  for (const Operator *op = operator_find(plain); op; op = op->next)
    if (str_equal(op->overload_name, call->op->overload_name) &&
        operator_schema(op)->argument_count == operator_schema(call->op)->argument_count)
      return plain;
  return name;
}

static void record_plain(const Recording *r) {
  TracingState *t = r->t;
  const Call *call = r->call;
  uint32_t count = call->input_count;
  Value **inputs = ARENA_ARRAY(t->graph->arena, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++) inputs[i] = argument_value(r, i);
  if (is_short_copy(call)) inputs[count++] = flag(t, false);
  Node *node = trace_node(t, recorded_name(t, call), count, inputs, call->output_count);
  for (uint32_t i = 0; i < call->output_count; i++)
    give_result(t, node, i, r->schema->returns[i].type, call->outputs[i]);
}

static bool reads_traced(const TracingState *t, const Call *call) {
  for (uint32_t i = 0; i < call->input_count; i++)
    if (call->inputs[i].tag == TAG_TENSOR && !operator_reads_metadata(call->op, i) &&
        trace_find(t, call->inputs[i].counted))
      return true;
  return false;
}

static void record_call(void *argument) {
  const Recording *r = argument;
  if (r->call->op->row->conv_dims)
    record_convolution(r);
  else
    record_plain(r);
}

Status trace_record(Recorder *recorder, Exec *exec, Call *call) {
  TracingState *t = (TracingState *)recorder;
  const CallPlan *plan;
  (void)exec;
  TRY(call_plan(call->op, &plan));
  Recording r = {.t = t, .call = call, .schema = plan->schema};
  if (gives_tensors(plan->schema) || plan->writes) return trace_protect(t, record_call, &r);
  if (t->listener.warn && reads_traced(t, call)) {
    char text[256];
    snprintf(text, sizeof text,
             STR_FMT
             " gives no tensor: what is computed with its result is not part of the trace, it is a constant "
             "from here on, and the trace may not hold for other inputs",
             STR_ARG(call->op->name));
    t->recorder.inside++;
    trace_warn(t, TRACE_NUMBER, text);
    t->recorder.inside--;
  }
  return OK;
}

/* ---- sizes ---- */

typedef struct Size {
  TracingState *t;
  IValue tensor, result;
  int64_t dim;
  bool all;
} Size;
static void record_size(void *argument) {
  const Size *s = argument;
  TracingState *t = s->t;
  Value *inputs[] = {trace_value(t, s->tensor, NULL), NULL};
  if (!s->all) inputs[1] = trace_constant(t, ivalue_int(s->dim), NULL);
  Node *size = trace_node(t, s->all ? STR("aten::numel") : STR("aten::size"), s->all ? 1 : 2, inputs, 1);
  Value *number = node_output(size, 0);
  number->type = TYPE(INT);
  Node *node = graph_insert_node(t->graph, graph_create(t->graph, SYM_prim_NumToTensor, 1, &number, 1));
  trace_assign(t, s->result, node_output(node, 0));
}

static Status give_size(TracingState *t, Tensor *tensor, int64_t dim, bool all, IValue *out) {
  Tensor *number;
  *out = IVALUE_NONE;
  if (!tensor_is_defined(tensor)) return status_new(ERROR_INVALID_ARGUMENT, "an undefined tensor has no size");
  int64_t wrapped = dim < 0 ? dim + tensor->ndim : dim;
  if (!all && (wrapped < 0 || wrapped >= tensor->ndim))
    return status_exception("IndexError", "Dimension out of range (expected to be in range of [%d, %d], but got %lld)",
                            -tensor->ndim, tensor->ndim - 1, (long long)dim);
  TRY(tensor_from_int(all ? tensor->numel : tensor->sizes[wrapped], &number));
  Size size = {t, ivalue_tensor(tensor), ivalue_tensor(number), dim, all};
  Status status = trace_is_paused(t) ? OK : trace_protect(t, record_size, &size);
  if (status)
    tensor_release(number);
  else
    *out = ivalue_tensor(number);
  return status;
}
Status trace_size(TracingState *t, Tensor *tensor, int64_t dim, IValue *out) {
  return give_size(t, tensor, dim, false, out);
}
Status trace_numel(TracingState *t, Tensor *tensor, IValue *out) {
  return give_size(t, tensor, 0, true, out);
}

/* ---- functions ---- */

typedef struct FunctionCall {
  TracingState *t;
  Function *function;
  const IValue *arguments;
  uint32_t count;
  IValue result;
} FunctionCall;
static void record_function(void *argument) {
  const FunctionCall *c = argument;
  TracingState *t = c->t;
  Graph *graph = t->graph;
  const FunctionSchema *schema = c->function->schema;
  bool is_method = c->function->class_type && !c->function->is_hook;
  Value **inputs = ARENA_ARRAY(graph->arena, Value *, c->count + 1);
  for (uint32_t i = 0; i < c->count; i++) inputs[i + 1] = trace_value(t, c->arguments[i], schema->arguments[i].type);
  Str name = str_after_last(c->function->name, '.');
  if (!is_method) {
    Node *constant = graph_insert_node(graph, graph_create(graph, SYM_prim_Constant, 0, NULL, 1));
    inputs[0] = node_output(constant, 0);
    inputs[0]->type = type_function(graph->store, c->function);
    node_set_string(constant, SYM_attr_name, name);
  }
  Node *node = graph_create(graph, is_method ? SYM_prim_CallMethod : SYM_prim_CallFunction, c->count + !is_method,
                            inputs + is_method, 1);
  node->range = t->range;
  node_output(node, 0)->type = schema->return_count ? schema->returns[0].type : TYPE(NONE);
  if (is_method) node_set_string(node, SYM_attr_name, name);
  graph_insert_node(graph, node);
  trace_assign(t, c->result, node_output(node, 0));
}

static Status use_unit(TracingState *t, CompilationUnit *unit) {
  for (size_t i = 0; i < t->used.length; i++)
    if (t->used.data[i] == unit) return OK;
  if (!vec_reserve(&t->used, t->used.length + 1)) return status_out_of_memory();
  t->used.data[t->used.length++] = unit_retain(unit);
  return OK;
}

Status trace_call(TracingState *t, Function *function, const IValue *arguments, uint32_t count, IValue result) {
  if (!function->schema) return status_internal("the function was not compiled");
  TRY(use_unit(t, function->unit));
  return trace_protect(t, record_function, &(FunctionCall){t, function, arguments, count, result});
}
