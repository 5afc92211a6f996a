/* What stands for a value in the graph, and the other way round. Tensors, futures and objects go by what they are,
 * containers are put together of what they hold and taken apart when they come from somewhere, the rest is constant. */
#include "base/stack.h"
#include "call/call.h"
#include "ir/match.h"
#include "trace/tracing.h"
#include "type/tensor_type.h"

Node *trace_node(TracingState *t, Str name, uint32_t input_count, Value *const *inputs, uint32_t output_count) {
  Symbol kind = symbol_intern(name);
  if (!kind) catch_throw(t->graph->arena->catch_point, status_out_of_memory());
  Node *node = graph_create(t->graph, kind, input_count, inputs, output_count);
  node->range = t->range;
  return graph_insert_node(t->graph, node);
}

Value *trace_constant(TracingState *t, IValue value, const Type *type) {
  Value *constant = graph_insert_constant(t->graph, value, type);
  constant->node->range = t->range;
  return constant;
}

const Type *trace_tensor_type(TracingState *t, const Tensor *tensor) {
  TensorInfo info;
  tensor_info_of(tensor, true, &info);
  return tensor_info_is_known(&info) ? type_tensor_refined(t->graph->store, &info) : TYPE(TENSOR);
}

static const Type *element_of(const Type *type, uint32_t i) {
  return type && i < type->count && (type->kind == TYPE_LIST || type->kind == TYPE_DICT || type->kind == TYPE_TUPLE)
             ? type->elements[i]
             : NULL;
}

/* ---- what stands for a value ---- */

static _Noreturn void fail_unknown(TracingState *t, const char *what) {
  trace_fail(t, ERROR_RUNTIME,
             "%s is used that the trace has not seen: what is no tensor has to be an input, a part of the traced "
             "module, or come from a call that was traced",
             what);
}

static Value *tensor_constant(TracingState *t, Tensor *tensor) {
  IValue v = ivalue_tensor(tensor);
  if (tensor->flags & TENSOR_RECORDS)
    trace_fail(t, ERROR_RUNTIME,
               "Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or "
               "detaching the gradient");
  if (!constant_is_possible(v)) trace_fail(t, ERROR_UNSUPPORTED, "such a tensor can't be a constant of a trace");
  Value *constant = trace_constant(t, v, NULL);
  trace_remember(t, v, constant);
  return constant;
}

static bool is_letter(char c) {
  return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

/* The variable that holds it gives its value a name, once one is known. */
static void name_value(TracingState *t, Value *value, IValue v) {
  if (value->name.length || !t->listener.name) return;
  const char *name = t->listener.name(t->listener.user, &v);
  if (!name || !is_letter(*name)) return;
  for (const char *c = name; *c; c++)
    if (!is_letter(*c) && !(*c >= '0' && *c <= '9')) return;
  value_set_name(value, str_from(name));
}

static bool holds_traced(IValue v) {
  switch ((Tag)v.tag) {
    case TAG_TENSOR:
    case TAG_FUTURE:
    case TAG_OBJECT:
      return true;
    case TAG_LIST:
      for (size_t i = 0; v.list->kind == LIST_VALUES && i < v.list->length; i++)
        if (holds_traced(v.list->values[i])) return true;
      return false;
    case TAG_TUPLE:
      for (uint32_t i = 0; i < v.tuple->length; i++)
        if (holds_traced(v.tuple->values[i])) return true;
      return false;
    case TAG_DICT:
      for (DictEntry *e = dict_next(v.dict, NULL); e; e = dict_next(v.dict, e))
        if (holds_traced(e->value)) return true;
      return false;
    default:
      return false;
  }
}

static const char *type_text(TracingState *t, const Type *type) {
  StrBuf text = {0};
  type_print_annotation(type_without_refinement(t->graph->store, type), &text);
  return arena_take_text(t->graph->arena, &text).data;
}

/* The items of a container, `step` apart, are of the type of the first. */
static void check_same_type(TracingState *t, const char *what, const Type *type, Value *const *items, size_t count,
                            size_t step) {
  for (size_t i = 0; i < count; i += step)
    if (!type_is_subtype_unrefined(items[i]->type, type))
      trace_fail(t, ERROR_RUNTIME, "%s traced functions must have consistent type. Found %s and %s", what,
                 type_text(t, type), type_text(t, items[i]->type));
}

static Value *list_value(TracingState *t, const List *list, const Type *type,
                         Value *(*of)(TracingState *, IValue, const Type *)) {
  const Type *element = element_of(type, 0);
  Value **items = ARENA_ARRAY(t->graph->arena, Value *, list->length + 1);
  if (!element) element = list->element;
  for (size_t i = 0; i < list->length; i++) items[i] = of(t, list->values[i], element);
  if (element->kind == TYPE_ANY && list->length) element = type_without_refinement(t->graph->store, items[0]->type);
  check_same_type(t, "The items of lists of", element, items, list->length, 1);
  return graph_insert_list(t->graph, element, (uint32_t)list->length, items);
}

static Value *tuple_value(TracingState *t, const Tuple *tuple, const Type *type,
                          Value *(*of)(TracingState *, IValue, const Type *)) {
  Value **items = ARENA_ARRAY(t->graph->arena, Value *, tuple->length + 1);
  for (uint32_t i = 0; i < tuple->length; i++) items[i] = of(t, tuple->values[i], element_of(type, i));
  return graph_insert_tuple(t->graph, tuple->length, items, tuple->type);
}

static Value *dict_value(TracingState *t, const Dict *dict, const Type *type,
                         Value *(*of)(TracingState *, IValue, const Type *)) {
  Value **items = ARENA_ARRAY(t->graph->arena, Value *, 2 * dict_length(dict) + 1);
  uint32_t count = 0;
  for (DictEntry *e = dict_next(dict, NULL); e; e = dict_next(dict, e)) {
    items[count++] = trace_constant(t, e->key, NULL);
    items[count++] = of(t, e->value, element_of(type, 1));
  }
  const Type *key = count ? items[0]->type : dict->key_type;
  const Type *value = dict->value_type->kind == TYPE_ANY && count ? items[1]->type : dict->value_type;
  check_same_type(t, "The keys of dicts of", key, items, count, 2);
  if (count) check_same_type(t, "The values of dicts of", value, items + 1, count - 1, 2);
  Node *node = graph_create(t->graph, SYM_prim_DictConstruct, count, items, 1);
  node_output(node, 0)->type = type_dict(t->graph->store, key, type_without_refinement(t->graph->store, value));
  return node_output(graph_insert_node(t->graph, node), 0);
}

static void check_stack(TracingState *t) {
  if (STACK_IS_LOW()) trace_fail(t, ERROR_INVALID_ARGUMENT, "values are nested too deeply to be traced");
}

/* A Scalar is no bool in schemas, and as an int it would promote otherwise: a tensor without dimensions, as PyTorch
 * records it. */
static Value *bool_as_tensor(TracingState *t, bool value) {
  Tensor *made;
  Status status = tensor_empty(DTYPE_BOOL, 0, NULL, &made);
  if (status) catch_throw(t->graph->arena->catch_point, status);
  *(bool *)tensor_data(made) = value;
  graph_hold(t->graph, ivalue_tensor(made));
  return trace_constant(t, ivalue_tensor(made), NULL);
}

Value *trace_value(TracingState *t, IValue v, const Type *type) {
  check_stack(t);
  if (type && type->kind == TYPE_OPTIONAL && v.tag != TAG_NONE) type = type->elements[0];
  if (v.tag == TAG_TENSOR && !tensor_is_defined(v.tensor)) return trace_constant(t, IVALUE_NONE, NULL);
  if (v.tag == TAG_TENSOR || v.tag == TAG_FUTURE || v.tag == TAG_OBJECT) {
    Value *known = trace_find(t, v.counted);
    if (known) {
      if (v.tag == TAG_TENSOR) name_value(t, known, v);
      return known;
    }
    if (v.tag == TAG_TENSOR) return tensor_constant(t, v.tensor);
    if (v.tag == TAG_OBJECT && constant_is_possible(v)) return trace_constant(t, v, NULL); /* packed weights */
    fail_unknown(t, v.tag == TAG_FUTURE ? "a future" : "an object");
  }
  bool is_list_of_tensors = v.tag == TAG_LIST && v.list->element->kind == TYPE_TENSOR;
  if (is_list_of_tensors || holds_traced(v)) {
    if (v.tag == TAG_LIST) return list_value(t, v.list, type, trace_value);
    if (v.tag == TAG_TUPLE) return tuple_value(t, v.tuple, type, trace_value);
    if (v.tag == TAG_DICT) return dict_value(t, v.dict, type, trace_value);
  }
  if (!constant_is_possible(v)) {
    StrBuf name = {.max_length = 1000};
    ivalue_print_type(v, &name);
    char *text = arena_printf(t->graph->arena, STR_FMT, STR_ARG(strbuf_view(&name)));
    strbuf_dispose(&name);
    trace_fail(t, ERROR_UNSUPPORTED, "a value of type '%s' can't be traced and is no constant", text);
  }
  if (v.tag == TAG_BOOL && type && type->kind == TYPE_NUMBER) return bool_as_tensor(t, v.b);
  return trace_constant(t, v, type && v.tag == TAG_LIST ? type : NULL);
}

/* ---- what a value stands for ---- */

/* A tensor behind Optional, Any or a Union is a Tensor from now on. */
static Value *as_type(TracingState *t, Value *value, const Type *type) {
  TypeKind kind = (TypeKind)value->type->kind;
  if (kind != TYPE_OPTIONAL && kind != TYPE_ANY && kind != TYPE_UNION) return value;
  Node *node = graph_insert_node(t->graph, graph_create(t->graph, SYM_prim_unchecked_cast, 1, &value, 1));
  node_output(node, 0)->type = type;
  return node_output(node, 0);
}

static Node *unpack(TracingState *t, Symbol kind, Value *value, size_t count) {
  Node *node = graph_insert_node(t->graph, graph_create(t->graph, kind, 1, &value, (uint32_t)count));
  for (size_t i = 0; i < count; i++)
    node->outputs[i]->type = kind == SYM_prim_TupleUnpack ? value->type->elements[i] : value->type->elements[0];
  return node;
}

static Value *entry_of(TracingState *t, Value *dict, IValue key) {
  Value *inputs[] = {dict, graph_insert_constant(t->graph, key, NULL)};
  Node *node = trace_node(t, STR("aten::__getitem__"), 2, inputs, 1);
  node_output(node, 0)->type = dict->type->elements[1];
  return node_output(node, 0);
}

void trace_assign(TracingState *t, IValue v, Value *value) {
  check_stack(t);
  if (v.tag == TAG_TENSOR && tensor_is_defined(v.tensor)) {
    value = as_type(t, value, TYPE(TENSOR));
    if (!value->type->tensor) value->type = trace_tensor_type(t, v.tensor);
    trace_remember(t, v, value);
  } else if (v.tag == TAG_FUTURE || v.tag == TAG_OBJECT) {
    trace_remember(t, v, as_type(t, value, ivalue_type(v, t->graph->store)));
  } else if (!holds_traced(v)) {
    if (v.tag == TAG_INT || v.tag == TAG_FLOAT || v.tag == TAG_BOOL || v.tag == TAG_COMPLEX)
      trace_warn(t, TRACE_NUMBER,
                 "a traced call gives a number: what is computed with it is not part of the trace, it is a constant "
                 "from here on");
  } else {
    value = as_type(t, value, ivalue_type(v, t->graph->store));
    if (v.tag == TAG_LIST) {
      Node *node = unpack(t, SYM_prim_ListUnpack, value, v.list->length);
      for (size_t i = 0; i < v.list->length; i++) trace_assign(t, v.list->values[i], node_output(node, (uint32_t)i));
    } else if (v.tag == TAG_TUPLE) {
      Node *node = unpack(t, SYM_prim_TupleUnpack, value, v.tuple->length);
      for (uint32_t i = 0; i < v.tuple->length; i++) trace_assign(t, v.tuple->values[i], node_output(node, i));
    } else {
      for (DictEntry *e = dict_next(v.dict, NULL); e; e = dict_next(v.dict, e))
        trace_assign(t, e->value, entry_of(t, value, e->key));
    }
  }
}

/* ---- inputs ---- */

static _Noreturn void refuse_input(TracingState *t) {
  trace_fail(t, ERROR_INVALID_ARGUMENT,
             "Only Tensors and (possibly nested) Lists, Dicts, and Tuples of Tensors can be traced");
}

static const Type *item_type(TracingState *t, IValue v);

static Str annotation_of(TracingState *t, const Type *type) {
  StrBuf text = {0};
  type_print_annotation(type, &text);
  return arena_take_text(t->graph->arena, &text);
}

/* The type of two items of a container; NULL is the type of those that were not yet seen. */
static const Type *common_type(TracingState *t, const Type *seen, const Type *type, const char *container) {
  const Type *common = seen ? type_unify(t->graph->store, seen, type, false) : type;
  if (common) return common;
  trace_fail(t, ERROR_INVALID_ARGUMENT, "%s. Found " STR_FMT " and " STR_FMT, container,
             STR_ARG(annotation_of(t, seen)), STR_ARG(annotation_of(t, type)));
}

static const Type *list_type(TracingState *t, const List *list) {
  const Type *element = NULL;
  if (list->kind != LIST_VALUES) refuse_input(t);
  for (size_t i = 0; i < list->length; i++)
    element = common_type(t, element, item_type(t, list->values[i]),
                          "List inputs to traced functions must have consistent element type");
  if (!element) trace_fail(t, ERROR_INVALID_ARGUMENT, "List trace inputs must have elements");
  return type_list(t->graph->store, element);
}

static const Type *dict_type(TracingState *t, Dict *dict) {
  static const char *const consistent = "Dictionary inputs to traced functions must have consistent type";
  const Type *key = NULL, *value = NULL;
  for (DictEntry *e = dict_next(dict, NULL); e; e = dict_next(dict, e)) {
    key = common_type(t, key, ivalue_type(e->key, t->graph->store), consistent);
    value = common_type(t, value, item_type(t, e->value), consistent);
  }
  if (!value) trace_fail(t, ERROR_INVALID_ARGUMENT, "Dictionary inputs must have entries");
  return type_dict(t->graph->store, key, value);
}

static const Type *tuple_type(TracingState *t, const Tuple *tuple, const Type *(*type_of)(TracingState *, IValue)) {
  if (tuple->type) return tuple->type;
  const Type **types = ARENA_ARRAY(t->graph->arena, const Type *, tuple->length + 1);
  for (uint32_t i = 0; i < tuple->length; i++) types[i] = type_of(t, tuple->values[i]);
  return type_tuple(t->graph->store, tuple->length, types);
}

/* In a list or a dict nothing is known of single tensors. */
static const Type *item_type(TracingState *t, IValue v) {
  check_stack(t);
  if (v.tag == TAG_LIST) return list_type(t, v.list);
  if (v.tag == TAG_DICT) return dict_type(t, v.dict);
  if (v.tag == TAG_TUPLE) return tuple_type(t, v.tuple, item_type);
  return ivalue_type(v, t->graph->store);
}

const Type *trace_input_type(TracingState *t, IValue v) {
  check_stack(t);
  if (v.tag == TAG_TENSOR && tensor_is_defined(v.tensor)) return trace_tensor_type(t, v.tensor);
  if (v.tag == TAG_LIST || v.tag == TAG_DICT) return item_type(t, v);
  if (v.tag != TAG_TUPLE) refuse_input(t);
  return tuple_type(t, v.tuple, trace_input_type);
}

static IValue tensor_input(TracingState *t, Exec *exec, IValue v, Value *value) {
  static OpRef alias = OP_REF("aten::alias", "");
  IValue input = ivalue_retain(v);
  if (trace_find(t, v.counted)) { /* a second one has to be told apart from it */
    ivalue_release(input);
    bool grad = exec->grad_enabled;
    exec->grad_enabled = true;
    Status status = op_call(exec, &alias, 1, &v, 1, &input);
    exec->grad_enabled = grad;
    if (status) catch_throw(t->graph->arena->catch_point, status);
  }
  graph_hold(t->graph, input);
  trace_assign(t, input, value);
  return ivalue_retain(input);
}

/* The containers that are made are held by the graph, so that a throw loses none. */
IValue trace_input(TracingState *t, Exec *exec, IValue v, Value *value) {
  check_stack(t);
  Status status = OK;
  if (v.tag == TAG_TENSOR && tensor_is_defined(v.tensor)) return tensor_input(t, exec, v, value);
  if (v.tag == TAG_TUPLE) {
    Tuple *tuple;
    status = tuple_new(v.tuple->length, v.tuple->type, &tuple);
    if (status) catch_throw(t->graph->arena->catch_point, status);
    graph_hold(t->graph, ivalue_tuple(tuple));
    value = as_type(t, value, item_type(t, v));
    Node *node = unpack(t, SYM_prim_TupleUnpack, value, tuple->length);
    for (uint32_t i = 0; i < tuple->length; i++)
      tuple->values[i] = trace_input(t, exec, v.tuple->values[i], node_output(node, i));
    return ivalue_retain(ivalue_tuple(tuple));
  }
  if (v.tag == TAG_LIST && v.list->kind == LIST_VALUES) {
    List *list;
    status = list_new(v.list->element, v.list->length, &list);
    if (status) catch_throw(t->graph->arena->catch_point, status);
    graph_hold(t->graph, ivalue_list(list));
    value = as_type(t, value, item_type(t, v));
    Node *node = unpack(t, SYM_prim_ListUnpack, value, v.list->length);
    for (size_t i = 0; i < v.list->length && !status; i++)
      status = list_append(list, trace_input(t, exec, v.list->values[i], node_output(node, (uint32_t)i)));
    if (status) catch_throw(t->graph->arena->catch_point, status);
    return ivalue_retain(ivalue_list(list));
  }
  if (v.tag == TAG_DICT) {
    Dict *dict;
    status = dict_new(v.dict->key_type, v.dict->value_type, &dict);
    if (status) catch_throw(t->graph->arena->catch_point, status);
    graph_hold(t->graph, ivalue_dict(dict));
    value = as_type(t, value, item_type(t, v));
    for (DictEntry *e = dict_next(v.dict, NULL); e && !status; e = dict_next(v.dict, e))
      status = dict_set(dict, ivalue_retain(e->key), trace_input(t, exec, e->value, entry_of(t, value, e->key)));
    if (status) catch_throw(t->graph->arena->catch_point, status);
    return ivalue_retain(ivalue_dict(dict));
  }
  refuse_input(t);
}

/* ---- results ---- */

static Value *result_of(TracingState *t, IValue v, const Type *type) {
  (void)type;
  return trace_result(t, v);
}

Value *trace_result(TracingState *t, IValue v) {
  check_stack(t);
  if (v.tag == TAG_TENSOR && !tensor_is_defined(v.tensor)) return trace_constant(t, IVALUE_NONE, NULL);
  if (v.tag == TAG_TENSOR) {
    Value *value = trace_find(t, v.counted);
    if (!value)
      trace_fail(t, ERROR_RUNTIME,
                 "a result is a tensor that did not come from what was traced, so that no run of the program could "
                 "give another one");
    return value;
  }
  if (v.tag == TAG_TUPLE) return tuple_value(t, v.tuple, NULL, result_of);
  if (v.tag == TAG_LIST && v.list->kind == LIST_VALUES) {
    if (!t->lenient)
      trace_warn(t, TRACE_CONTAINER,
                 "Encountering a list at the output of the tracer might cause the trace to be incorrect, this is only "
                 "valid if the container structure does not change based on the module's inputs. Consider using a "
                 "constant container instead (e.g. for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple` "
                 "instead). If you absolutely need this and know the side effects, pass strict=False to trace() to "
                 "allow this behavior.");
    return list_value(t, v.list, NULL, result_of);
  }
  if (v.tag == TAG_DICT && t->lenient) return dict_value(t, v.dict, NULL, result_of);
  if (v.tag == TAG_DICT)
    trace_fail(t, ERROR_RUNTIME,
               "Encountering a dict at the output of the tracer might cause the trace to be incorrect, this is only "
               "valid if the container structure does not change based on the module's inputs. Consider using a "
               "constant container instead (e.g. for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple` "
               "instead). If you absolutely need this and know the side effects, pass strict=False to trace() to allow "
               "this behavior.");
  trace_fail(t, ERROR_RUNTIME,
             "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions");
}
