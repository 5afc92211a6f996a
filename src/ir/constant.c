/* Constants: which values may stand in a prim::Constant, and in which attribute form (as PyTorch: numbers and bools as
 * int and float, text and devices as string, tensors as tensor, the rest boxed). */
#include "ir/constant.h"

#include "type/class_type.h"

/* A value may hold one part many times over; what prints, compares and copies constants walks it as a tree. */
enum { CONSTANT_MAX_DEPTH = 64, CONSTANT_MAX_PARTS = 1 << 18 };

static bool insertable(IValue v, int depth, uint32_t *parts) {
  if (depth > CONSTANT_MAX_DEPTH || ++*parts > CONSTANT_MAX_PARTS) return false;
  switch ((Tag)v.tag) {
    case TAG_NONE:
      return v.i == 0;
    case TAG_INT:
    case TAG_FLOAT:
    case TAG_BOOL:
    case TAG_DEVICE:
    case TAG_COMPLEX:
    case TAG_STRING:
    case TAG_ENUM:
    case TAG_GENERATOR:
      return true;
    case TAG_TENSOR:
      return !(v.tensor->flags & (TENSOR_RECORDS | TENSOR_OPAQUE)) &&
             (v.tensor->storage || v.tensor->flags & TENSOR_UNDEFINED);
    case TAG_LIST:
      if (v.list->kind == LIST_VALUES)
        for (size_t i = 0; i < v.list->length; i++)
          if (!insertable(v.list->values[i], depth + 1, parts)) return false;
      return true;
    case TAG_TUPLE:
      for (uint32_t i = 0; i < v.tuple->length; i++)
        if (!insertable(v.tuple->values[i], depth + 1, parts)) return false;
      return true;
    case TAG_DICT:
      for (DictEntry *e = dict_next(v.dict, NULL); e; e = dict_next(v.dict, e))
        if (!insertable(e->key, depth + 1, parts) || !insertable(e->value, depth + 1, parts)) return false;
      return true;
    case TAG_OBJECT:
      return !v.object->class_type->is_module;
    default:
      return false;
  }
}

bool constant_is_possible(IValue value) {
  uint32_t parts = 0;
  return insertable(value, 0, &parts);
}

static const Type *tensor_type(Graph *graph, const Tensor *t) {
  TensorInfo info = {.dtype = t->dtype,
                     .device_type = -1,
                     .device_index = -1,
                     .ndim = t->ndim,
                     .has_sizes = true,
                     .has_strides = true,
                     .requires_grad = (t->flags & TENSOR_RECORDS) != 0,
                     .undefined = -1};
  Device device = tensor_device(t);
  info.device_type = device.type;
  info.device_index = device.index;
  for (int i = 0; i < t->ndim; i++) {
    info.sizes[i] = t->sizes[i];
    info.strides[i] = t->strides[i];
  }
  return type_tensor_refined(graph->store, &info);
}

static void set_boxed(Node *node, IValue value) {
  Graph *graph = node->graph;
  vec_arena_reserve(graph->arena, &graph->held, graph->held.length + 1);
  graph_hold(graph, ivalue_retain(value));
  ((NodeAttribute *)node_attribute(node, SYM_attr_value))->boxed = value;
}

void constant_set(Node *node, IValue value, const Type *type) {
  assert(node->kind == SYM_prim_Constant && node->output_count == 1);
  const Type *own = NULL;
  switch ((Tag)value.tag) {
    case TAG_NONE:
      node_remove_attribute(node, SYM_attr_value);
      own = TYPE(NONE);
      break;
    case TAG_INT:
      node_set_int(node, SYM_attr_value, value.i);
      own = TYPE(INT);
      break;
    case TAG_BOOL:
      node_set_int(node, SYM_attr_value, value.b);
      own = TYPE(BOOL);
      break;
    case TAG_FLOAT:
      node_set_float(node, SYM_attr_value, value.f);
      own = TYPE(FLOAT);
      break;
    case TAG_COMPLEX:
      node_set_complex(node, SYM_attr_value, ivalue_complex(value));
      set_boxed(node, value);
      own = TYPE(COMPLEX);
      break;
    case TAG_STRING:
      node_set_string(node, SYM_attr_value, ivalue_str(value));
      set_boxed(node, value);
      own = TYPE(STRING);
      break;
    case TAG_DEVICE: {
      StrBuf text = {0};
      device_print(value.device, &text);
      node_set_string(node, SYM_attr_value, arena_take_text(node->graph->arena, &text));
      set_boxed(node, value);
      own = TYPE(DEVICE);
      break;
    }
    case TAG_TENSOR:
      node_set_tensor(node, SYM_attr_value, value.tensor);
      own = tensor_is_defined(value.tensor) ? tensor_type(node->graph, value.tensor) : TYPE(TENSOR);
      break;
    default:
      node_set_ivalue(node, SYM_attr_value, value);
      own = ivalue_type(value, node->graph->store);
      break;
  }
  node->outputs[0]->type = type ? type : own;
}

Value *graph_insert_constant(Graph *graph, IValue value, const Type *type) {
  assert(constant_is_possible(value) || value.tag == TAG_OBJECT);
  Node *node = graph_create(graph, SYM_prim_Constant, 0, NULL, 1);
  constant_set(node, value, type);
  graph_insert_node(graph, node);
  return node->outputs[0];
}

bool value_is_constant(const Value *value, IValue *out) {
  const Node *node = value->node;
  if (node->kind != SYM_prim_Constant || value->type->kind == TYPE_FUNCTION) return false;
  const NodeAttribute *a = node_attribute(node, SYM_attr_value);
  IValue unused;
  if (!out) out = &unused;
  *out = IVALUE_NONE;
  if (!a) return true;
  switch ((AttributeTag)a->tag) {
    case ATTR_INT:
      *out = value->type->kind == TYPE_BOOL ? ivalue_bool(a->i != 0) : ivalue_int(a->i);
      return true;
    case ATTR_FLOAT:
      *out = ivalue_float(a->f);
      return true;
    case ATTR_STRING:
    case ATTR_COMPLEX:
      *out = a->boxed;
      return true;
    case ATTR_TENSOR:
      *out = ivalue_tensor(a->t);
      return true;
    case ATTR_IVALUE:
      *out = a->value;
      return true;
    default:
      return false;
  }
}

bool constant_int(const Value *value, int64_t *out) {
  IValue v;
  if (!value_is_constant(value, &v) || v.tag != TAG_INT) return false;
  *out = v.i;
  return true;
}

bool constant_bool(const Value *value, bool *out) {
  IValue v;
  if (!value_is_constant(value, &v) || v.tag != TAG_BOOL) return false;
  *out = v.b;
  return true;
}

bool constant_double(const Value *value, double *out) {
  IValue v;
  if (!value_is_constant(value, &v)) return false;
  if (v.tag != TAG_INT && v.tag != TAG_FLOAT && v.tag != TAG_BOOL) return false;
  *out = ivalue_to_double(v);
  return true;
}

bool constant_is_bool(const Value *value, bool expected) {
  bool b;
  return constant_bool(value, &b) && b == expected;
}
