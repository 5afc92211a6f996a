/* What each instruction does, by opcode. */
#include <assert.h>

#include "frontend/sugared_value.h"
#include "serial/archive/bytecode_lift.h"
#include "serial/archive/bytecode_machine.h"

static const Type *type_at(Lift *l, int64_t index) {
  IValue text = lift_row(l, l->types, index, "type");
  if (text.tag != TAG_STRING) LIFT_FAIL(l, "a type is no text");
  return bytecode_parse_type(l->c, l->bytecode, ivalue_str(text));
}

static Value **reg(Lift *l, int64_t index) {
  if (index < 0 || (uint64_t)index >= l->register_count) LIFT_FAIL(l, "there is no register %lld", (long long)index);
  return &l->registers[index];
}

/* ---- instructions ---- */

static void lift_load(Lift *l, const Instruction *in) {
  Value *value = *reg(l, in->x);
  if (!value) LIFT_FAIL(l, "register %lld holds nothing", (long long)in->x);
  lift_push(l, value);
}
static void lift_store(Lift *l, const Instruction *in) {
  *reg(l, in->x) = lift_pop(l);
}
static void lift_storen(Lift *l, const Instruction *in) {
  Value **values = lift_pop_many(l, in->n);
  for (int64_t i = 0; i < in->n; i++) *reg(l, in->x + i) = values[i];
}
static void lift_drop(Lift *l, const Instruction *in) {
  (void)in;
  lift_pop(l);
}
static void lift_dropr(Lift *l, const Instruction *in) {
  *reg(l, in->x) = NULL;
}
/* As the constants of archives with source: what has no dimensions stands for a number. */
static IValue as_constant(Lift *l, IValue value) {
  Importer *importer = &l->bytecode->import->importer;
  if (value.tag != TAG_TENSOR) return value;
  Status status = importer_add_constant(importer, value);
  if (status) catch_throw(&l->c->catch_point, status);
  return importer->constants.data[importer->constants.length - 1];
}
static void lift_loadc(Lift *l, const Instruction *in) {
  IValue constant = as_constant(l, lift_row(l, l->constants, in->x, "constant"));
  if (!constant_is_possible(constant) && constant.tag != TAG_OBJECT)
    LIFT_FAIL(l, "a constant is of no type that constants have");
  lift_push(l, graph_insert_constant(l->graph, constant, NULL));
}
static void lift_list_construct(Lift *l, const Instruction *in) {
  const Type *type = type_at(l, in->x);
  if (type->kind != TYPE_LIST) LIFT_FAIL(l, "the type is no list");
  lift_push(l, lift_add_one(l, SYM_prim_ListConstruct, (uint32_t)in->n, lift_pop_many(l, in->n), type));
}
static void lift_dict_construct(Lift *l, const Instruction *in) {
  const Type *type = type_at(l, in->x);
  lift_push(l, lift_add_one(l, SYM_prim_DictConstruct, (uint32_t)in->n, lift_pop_many(l, in->n), type));
}
static void lift_tuple_construct(Lift *l, const Instruction *in) {
  lift_push(l, graph_insert_tuple(l->graph, (uint32_t)in->x, lift_pop_many(l, in->x), NULL));
}
static void lift_named_tuple_construct(Lift *l, const Instruction *in) {
  const Type *type = type_at(l, in->x);
  if (type->kind != TYPE_TUPLE || (int64_t)type->count != in->n) LIFT_FAIL(l, "the type is no such tuple");
  lift_push(l, graph_insert_tuple(l->graph, (uint32_t)in->n, lift_pop_many(l, in->n), type));
}
static void lift_list_unpack(Lift *l, const Instruction *in) {
  Value *list = lift_pop(l);
  const Type *element = lift_require_kind(l, list, TYPE_LIST)->elements[0];
  if (in->x < 0 || in->x > UINT16_MAX) LIFT_FAIL(l, "a list is not unpacked to %lld values", (long long)in->x);
  Node *node = lift_add(l, SYM_prim_ListUnpack, 1, &list, (uint32_t)in->x);
  for (uint32_t i = 0; i < node->output_count; i++) {
    node_output(node, i)->type = element;
    lift_push(l, node_output(node, i));
  }
}
static void lift_tuple_slice(Lift *l, const Instruction *in) {
  Value *tuple = lift_pop(l);
  const Type *type = lift_require_kind(l, tuple, TYPE_TUPLE);
  if (in->x < 0 || in->x > in->n || in->n > (int64_t)type->count) LIFT_FAIL(l, "the tuple holds no such slice");
  const Type *slice = type_tuple(l->graph->store, (uint32_t)(in->n - in->x), type->elements + in->x);
  Value *value = lift_add_one(l, SYM_prim_TupleSlice, 1, &tuple, slice);
  node_set_int(value->node, SYM_attr_beg, in->x);
  node_set_int(value->node, SYM_attr_end, in->n);
  lift_push(l, value);
}
static void lift_tuple_index(Lift *l, const Instruction *in) {
  (void)in;
  Value **values = lift_pop_many(l, 2);
  if (values[0]->type->kind == TYPE_NONE) {
    lift_push(l, lift_impossible(l, TYPE(TENSOR)));
    return;
  }
  const Type *type = lift_require_kind(l, values[0], TYPE_TUPLE);
  IValue index;
  if (!value_is_constant(values[1], &index) || index.tag != TAG_INT)
    LIFT_FAIL(l, "the index of a tuple is no constant");
  int64_t at = index.i < 0 ? index.i + type->count : index.i;
  if (at < 0 || at >= (int64_t)type->count) LIFT_FAIL(l, "the tuple holds no element %lld", (long long)index.i);
  lift_push(l, lift_add_one(l, SYM_prim_TupleIndex, 2, values, type->elements[at]));
}
/* The overload follows from the keys' type. */
static void lift_dict_index(Lift *l, const Instruction *in) {
  (void)in;
  Value **values = lift_pop_many(l, 2);
  NamedValue arguments[] = {{.value = values[0]}, {.value = values[1]}};
  CallArguments call = {.count = 2, .positional = arguments};
  lift_push(l, operator_emit(l->graph, NULL, STR("aten::__getitem__"), lift_line(l, l->at), &call));
}
static void lift_get_attr(Lift *l, const Instruction *in) {
  Value *object = lift_pop(l);
  const ClassType *class_type = lift_require_kind(l, object, TYPE_CLASS)->class_type;
  if (!class_type_has_slot(class_type, in->x))
    LIFT_FAIL(l, STR_FMT " has no attribute %lld", STR_ARG(class_type->type.name), (long long)in->x);
  const ClassAttribute *attribute = &class_type->attributes.data[in->x];
  Value *value = lift_add_one(l, SYM_prim_GetAttr, 1, &object, attribute->type);
  node_set_string(value->node, SYM_attr_name, attribute->name);
  char first = attribute->name.length ? attribute->name.data[0] : '0';
  if (first < '0' || first > '9') value_set_name(value, attribute->name); /* numbers are those of unnamed values */
  lift_push(l, value);
}

/* A __setstate__ declares what it sets: the names are not in the bytecode. Classes of the process are as they are. */
static ClassAttribute *attribute_to_set(Lift *l, ClassType *class_type, int64_t slot, const Type *type) {
  size_t count = class_type->attributes.length;
  bool is_own = class_type->type.store == &l->c->unit->store;
  bool is_open = is_own && !ptrmap_has(&l->bytecode->classes, class_type);
  bool is_next = is_open && slot >= (int64_t)count && slot < (int64_t)count + 64;
  if (!is_next && !(is_own && class_type_has_slot(class_type, slot)))
    LIFT_FAIL(l, STR_FMT " has no attribute %lld", STR_ARG(class_type->type.name), (long long)slot);
  for (; count <= (size_t)slot; count++)
    class_type_add_attribute(class_type, str_from(arena_printf(l->graph->arena, "slot%zu", count)),
                             count == (size_t)slot ? type : TYPE(NONE), ATTRIBUTE_PLAIN);
  return &class_type->attributes.data[slot];
}
static void lift_set_attr(Lift *l, const Instruction *in) {
  Value **values = lift_pop_many(l, 2);
  ClassType *class_type = lift_require_kind(l, values[0], TYPE_CLASS)->class_type;
  ClassAttribute *attribute = attribute_to_set(l, class_type, in->x, values[1]->type);
  if (!type_is_subtype(values[1]->type, attribute->type, NULL)) {
    attribute->type = type_unify(l->graph->store, attribute->type, values[1]->type, true);
    l->widened = true;
  }
  node_set_string(lift_add(l, SYM_prim_SetAttr, 2, values, 0), SYM_attr_name, attribute->name);
}
static void lift_create_object(Lift *l, const Instruction *in) {
  lift_push(l, lift_add_one(l, SYM_prim_CreateObject, 0, NULL, type_at(l, in->x)));
}
static void lift_isinstance(Lift *l, const Instruction *in) {
  Value *value = lift_pop(l);
  if (in->n < 0 || in->n > TYPE_MAX_MEMBERS) LIFT_FAIL(l, "too many types");
  const Type **types = ARENA_ARRAY(l->graph->arena, const Type *, (size_t)in->n + 1);
  for (int64_t i = 0; i < in->n; i++) types[i] = type_at(l, in->x + i);
  Value *answer = lift_add_one(l, SYM_prim_isinstance, 1, &value, TYPE(BOOL));
  node_set_types(answer->node, SYM_attr_types, (uint32_t)in->n, types);
  lift_push(l, answer);
}
static void run_uninitialized(Lift *l, const Instruction *in) {
  (void)in;
  lift_push(l, lift_uninitialized(l, TYPE(NONE)));
}
static void run_unchecked_cast(Lift *l, const Instruction *in) {
  (void)in;
  lift_unchecked_cast(l);
}

static bool is_text(const Type *type) {
  return type->kind == TYPE_STRING || type->kind == TYPE_NONE ||
         (type->kind == TYPE_OPTIONAL && type->elements[0]->kind == TYPE_STRING);
}
/* The message, and in newer archives the name of the exception's class after it. */
static void lift_raise(Lift *l, const Instruction *in) {
  (void)in;
  size_t depth = l->stack.length - l->base;
  bool has_class = depth > 1 && is_text(l->stack.data[l->stack.length - 1]->type) &&
                   l->stack.data[l->stack.length - 2]->type->kind == TYPE_STRING;
  lift_add(l, SYM_prim_RaiseException, has_class ? 2 : 1, lift_pop_many(l, has_class ? 2 : 1), 0);
}
static void lift_warn(Lift *l, const Instruction *in) {
  (void)in;
  lift_operator(l, "aten::warn", "", 2);
}
/* A tensor, how deep its lists go and the code of their elements: the type follows from those. */
static void lift_to_list(Lift *l, const Instruction *in) {
  (void)in;
  Value **values = lift_pop_many(l, 3);
  IValue depth, element;
  lift_require_kind(l, values[0], TYPE_TENSOR);
  if (!value_is_constant(values[1], &depth) || !value_is_constant(values[2], &element) || depth.tag != TAG_INT ||
      element.tag != TAG_INT)
    LIFT_FAIL(l, "depth and element of a list are no constants");
  const Type *type = depth.i < 0 || depth.i > TENSOR_MAX_DIMS ? NULL : tolist_type(l->graph->store, depth.i, element.i);
  if (!type) LIFT_FAIL(l, "there are no lists of that depth and element");
  lift_push(l, lift_add_one(l, SYM_prim_tolist, 3, values, type));
}

static void lift_call_method(Lift *l, const Instruction *in) {
  IValue name = lift_row(l, l->constants, in->x, "constant");
  if (name.tag != TAG_STRING || in->n < 1) LIFT_FAIL(l, "a call names no method");
  Value **values = lift_pop_many(l, in->n);
  const Type *self = lift_require_kind(l, values[0], TYPE_CLASS);
  const Type *result = bytecode_return_type(l->c, l->bytecode, self->name, ivalue_str(name));
  if (!result) LIFT_FAIL(l, STR_FMT " has no method " STR_FMT, STR_ARG(self->name), STR_ARG(ivalue_str(name)));
  Value *value = lift_add_one(l, SYM_prim_CallMethod, (uint32_t)in->n, values, result);
  node_set_string(value->node, SYM_attr_name, ivalue_str(name));
  lift_push(l, value);
}

static void push_bool(Lift *l, bool value) {
  lift_push(l, graph_insert_constant(l->graph, ivalue_bool(value), NULL));
}
/* Whether the value is None: 1 or 0 when its type says it, else -1. */
static int is_none(const Value *value) {
  const Type *type = value->type;
  if (value_is_uninitialized(value)) return -1;
  if (type->kind == TYPE_NONE) return 1;
  return type->kind == TYPE_ANY || type_is_optional_like(type) || type->kind == TYPE_VAR ? -1 : 0;
}
/* Functions with optional parameters were inlined into the method: what they test for is mostly known now, and types
 * only fit where the branches that are not taken are left out. */
static void lift_is(Lift *l, const char *name, bool when_same) {
  Value **values = lift_pop_many(l, 2);
  int left = is_none(values[0]), right = is_none(values[1]);
  if (left >= 0 && right >= 0 && left + right > 0) {
    push_bool(l, (left == right) == when_same);
    return;
  }
  lift_push(l, values[0]);
  lift_push(l, values[1]);
  lift_operator(l, name, "", 2);
}
static void lift_is_same(Lift *l, const Instruction *in) {
  (void)in;
  lift_is(l, "aten::__is__", true);
}
static void lift_is_not(Lift *l, const Instruction *in) {
  (void)in;
  lift_is(l, "aten::__isnot__", false);
}
static void lift_not(Lift *l, const Instruction *in) {
  (void)in;
  Value *value = lift_pop(l);
  IValue constant;
  if (value_is_constant(value, &constant) && constant.tag == TAG_BOOL) {
    push_bool(l, !constant.b);
    return;
  }
  lift_push(l, value);
  lift_operator(l, "aten::__not__", "", 1);
}

#define X(name, op, overload, count)                               \
  static void lift_##name(Lift *l, const Instruction *in) {        \
    lift_operator(l, op, overload, (count) < 0 ? in->x : (count)); \
  }
OPERATOR_INSTRUCTIONS(X)
#undef X
static const char *const opcode_names[] = {
#define X(name, ...) #name,
    PLAIN_INSTRUCTIONS(X) OPERATOR_INSTRUCTIONS(X) FLOW_INSTRUCTIONS(X)
#undef X
};
static void (*const plain[])(Lift *l, const Instruction *in) = {
#define X(name, lift) lift,
    PLAIN_INSTRUCTIONS(X)
#undef X
#define X(name, ...) lift_##name,
        OPERATOR_INSTRUCTIONS(X)
#undef X
};

void lift_instruction(Lift *l, const Instruction *in) {
  assert(in->opcode < sizeof plain / sizeof *plain);
  plain[in->opcode](l, in);
}

uint8_t bytecode_opcode(Str name) {
  uint8_t i = 0;
  while (i < OPCODE_COUNT && !str_is(name, opcode_names[i])) i++;
  return i;
}

const char *bytecode_opcode_name(uint8_t opcode) {
  assert(opcode < sizeof opcode_names / sizeof *opcode_names);
  return opcode_names[opcode];
}
