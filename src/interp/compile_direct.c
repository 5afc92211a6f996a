/* Nodes that become instructions of their own: arithmetic and comparisons of scalars, lists, dicts, tuples, objects.
 * The table below says which; what it does not know becomes a call of its operator. */
#include "interp/compile_internal.h"

static TypeKind kind_of(const Node *node, uint32_t i) {
  return node_input(node, i)->type->kind;
}

static bool are_all(const Node *node, TypeKind kind) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (kind_of(node, i) != kind) return false;
  return true;
}

/* ---- scalars ---- */

/* A row of ivalue/scalar.h as nodes have it. */
typedef struct Scalar {
  Symbol kind;
  uint32_t count; /* of operands */
  TypeKind operand, result;
  Opcode op, branch, loop; /* the last two of comparisons; INST_JMP: there is none */
  bool turned;             /* the operands are the other way round */
} Scalar;

/* clang-format off */
#define UNARY(X, name, symbol, operand, result, value) \
  {SYM_##symbol, 1, TYPE_##operand, TYPE_##result, INST_##name, INST_JMP, INST_JMP, false},
#define BINARY(X, name, symbol, operand, result, raises, value) \
  {SYM_##symbol, 2, TYPE_##operand, TYPE_##result, INST_##name, INST_JMP, INST_JMP, false},
#define COMPARISON(LOOP, name, symbol, other, operand, value) \
  {SYM_##symbol, 2, TYPE_##operand, TYPE_BOOL, INST_##name, INST_JF_##name, LOOP(name), false}, \
  {SYM_##other, 2, TYPE_##operand, TYPE_BOOL, INST_##name, INST_JF_##name, LOOP(name), true},
#define WITH_LOOP(name) INST_LOOP_WHILE_##name
#define WITHOUT_LOOP(name) INST_JMP
static const Scalar scalars[] = {
  SCALAR_UNARY(UNARY, )
  SCALAR_ARITHMETIC(BINARY, )
  SCALAR_INT_COMPARISONS(COMPARISON, WITH_LOOP)
  SCALAR_FLOAT_COMPARISONS(COMPARISON, WITHOUT_LOOP)
};
/* clang-format on */

/* What the node does to operands of that type; NULL: no instruction does it. */
static const Scalar *find_scalar(const Node *node, TypeKind operand) {
  if (operand != TYPE_INT && operand != TYPE_FLOAT && operand != TYPE_BOOL) return NULL;
  if (node->output_count != 1) return NULL;
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
    const Scalar *s = &scalars[i];
    if (s->kind == node->kind && s->count == node->input_count && s->operand == operand &&
        s->result == node->outputs[0]->type->kind)
      return s;
  }
  return NULL;
}
static const Scalar *find_own_scalar(const Node *node) {
  if (!node->input_count || node->input_count > 2 || !are_all(node, kind_of(node, 0))) return NULL;
  return find_scalar(node, kind_of(node, 0));
}

/* ---- forms ---- */

/* r[a] = f(r[b]) */
static bool one(Compiler *c, const Node *node, Opcode op, uint32_t extra) {
  uint32_t b = use(c, node, 0);
  uint8_t flags = moves(c, node, 0, MOVES_B);
  kill_inputs(c, node);
  emit(c, op, flags, define_output(c, node, 0), b, extra);
  drop_dead(c, node);
  return true;
}

/* r[a] = f(r[b], r[c]) of inputs `left` and `right` */
static bool two(Compiler *c, const Node *node, Opcode op, uint32_t left, uint32_t right) {
  uint32_t b = use(c, node, left), cc = use(c, node, right);
  uint8_t flags = moves(c, node, left, MOVES_B) | moves(c, node, right, MOVES_C);
  kill_inputs(c, node);
  emit(c, op, flags, define_output(c, node, 0), b, cc);
  drop_dead(c, node);
  return true;
}

/* Writes three inputs; an output (the container itself) is loaded first when somebody wants it. */
static bool store(Compiler *c, const Node *node, Opcode op, uint32_t count) {
  uint32_t r[3] = {0};
  static const uint8_t flag_of[] = {MOVES_A, MOVES_B, MOVES_C};
  uint8_t flags = 0;
  uint32_t first = 3 - count;
  for (uint32_t i = 0; i < count; i++) {
    r[first + i] = use(c, node, i);
    flags |= moves(c, node, i, flag_of[first + i]);
  }
  if (node->output_count && !c->life.dead[node->outputs[0]->unique])
    emit(c, INST_LOAD, 0, define_output(c, node, 0), use(c, node, 0), 0);
  emit(c, op, flags, r[0], r[1], r[2]);
  kill_inputs(c, node);
  return true;
}

/* r[a] = made of the inputs */
static bool make(Compiler *c, const Node *node, Opcode op, const Type *type) {
  uint32_t index;
  new_site(c, node, 0, &index);
  Site *site = &c->sites.data[index];
  site->type = type_for_value(type);
  if (site->arg_count > c->code->window) c->code->window = site->arg_count;
  emit(c, op, 0, define_output(c, node, 0), index, 0);
  drop_dead(c, node);
  return true;
}

/* outputs = the elements of input 0 */
static bool spread(Compiler *c, const Node *node, Opcode op) {
  uint32_t index;
  new_site(c, node, 0, &index);
  site_outputs(c, &c->sites.data[index], node);
  emit(c, op, 0, index, 0, 0);
  return true;
}

/* r[a] = f(r[b]) with what a site says */
static bool with_site(Compiler *c, const Node *node, Opcode op, Site site) {
  uint32_t index = (uint32_t)c->sites.length;
  vec_arena_push(&c->scratch, &c->sites, site);
  return one(c, node, op, index);
}

static bool constant_int(const Node *node, uint32_t i, int64_t *out) {
  IValue v;
  if (!value_is_constant(node_input(node, i), &v) || v.tag != TAG_INT) return false;
  *out = v.i;
  return true;
}

/* ---- mixed numbers: the int becomes a float first ---- */

static bool mixed(Compiler *c, const Node *node) {
  if (node->input_count != 2) return false;
  TypeKind left = kind_of(node, 0), right = kind_of(node, 1);
  if (!((left == TYPE_INT && right == TYPE_FLOAT) || (left == TYPE_FLOAT && right == TYPE_INT))) return false;
  const Scalar *scalar = find_scalar(node, TYPE_FLOAT);
  if (!scalar) return false;
  uint32_t converted = take_register(c), which = left == TYPE_INT ? 0 : 1;
  emit(c, INST_INT_TO_FLOAT, 0, converted, use(c, node, which), 0);
  uint32_t b = which == 0 ? converted : use(c, node, 0), cc = which == 1 ? converted : use(c, node, 1);
  kill_inputs(c, node);
  free_register(c, converted);
  emit(c, scalar->op, 0, define_output(c, node, 0), scalar->turned ? cc : b, scalar->turned ? b : cc);
  drop_dead(c, node);
  return true;
}

/* aten::__derive_index(index, start, step): start + index * step */
static bool derive_index(Compiler *c, const Node *node) {
  int64_t step;
  uint32_t index = use(c, node, 0), start = use(c, node, 1);
  if (constant_int(node, 2, &step) && step == 1) {
    kill_inputs(c, node);
    emit(c, INST_ADD_INT, 0, define_output(c, node, 0), index, start);
  } else {
    uint32_t product = take_register(c);
    emit(c, INST_MUL_INT, 0, product, index, use(c, node, 2));
    kill_inputs(c, node);
    free_register(c, product);
    emit(c, INST_ADD_INT, 0, define_output(c, node, 0), product, start);
  }
  drop_dead(c, node);
  return true;
}

static Opcode list_form(const Type *list, Opcode ints, Opcode floats, Opcode bools, Opcode values) {
  switch (list->elements[0]->kind) {
    case TYPE_INT:
      return ints;
    case TYPE_FLOAT:
      return floats;
    case TYPE_BOOL:
      return bools;
    default:
      return values;
  }
}

static bool is_none(const Value *v) {
  IValue value;
  return v->type->kind == TYPE_NONE || (value_is_constant(v, &value) && value.tag == TAG_NONE);
}

static bool identity(Compiler *c, const Node *node, bool same) {
  int other = is_none(node_input(node, 1)) ? 0 : is_none(node_input(node, 0)) ? 1 : -1;
  if (other >= 0) {
    uint32_t b = use(c, node, (uint32_t)other);
    uint8_t flags = moves(c, node, (uint32_t)other, MOVES_B);
    kill_inputs(c, node);
    emit(c, same ? INST_IS_NONE : INST_IS_NOT_NONE, flags, define_output(c, node, 0), b, 0);
    drop_dead(c, node);
    return true;
  }
  if (node->input_count != 2 || !two(c, node, INST_IS, 0, 1)) return false;
  if (!same && !c->life.dead[node->outputs[0]->unique]) {
    uint32_t r = c->register_of[node->outputs[0]->unique];
    emit(c, INST_NOT, 0, r, r, 0);
  }
  return true;
}

static bool get_item(Compiler *c, const Node *node) {
  if (node->input_count != 2) return false;
  const Type *container = node_input(node, 0)->type;
  if (container->kind == TYPE_LIST && kind_of(node, 1) == TYPE_INT)
    return two(c, node, list_form(container, INST_LIST_GET_INT, INST_LIST_GET_FLOAT, INST_LIST_GET_BOOL, INST_LIST_GET),
               0, 1);
  return container->kind == TYPE_DICT && two(c, node, INST_DICT_GET, 0, 1);
}

static bool set_item(Compiler *c, const Node *node) {
  if (node->input_count != 3) return false;
  const Type *container = node_input(node, 0)->type;
  if (container->kind == TYPE_LIST && kind_of(node, 1) == TYPE_INT)
    return store(c, node,
                 list_form(container, INST_LIST_SET_INT, INST_LIST_SET_FLOAT, INST_LIST_SET_BOOL, INST_LIST_SET), 3);
  return container->kind == TYPE_DICT && store(c, node, INST_DICT_SET, 3);
}

static bool get_attribute(Compiler *c, const Node *node, bool set) {
  const Type *type = node_input(node, 0)->type;
  if (type->kind != TYPE_CLASS) return false;
  ptrdiff_t slot = class_type_find_attribute(type->class_type, node_string(node, SYM_attr_name));
  if (slot < 0) {
    Str name = node_string(node, SYM_attr_name);
    compile_out(c, status_new(ERROR_COMPILE, "'" STR_FMT "' has no attribute '" STR_FMT "'", STR_ARG(type->name),
                              STR_ARG(name)));
  }
  if (!set) return one(c, node, INST_GET_ATTR, (uint32_t)slot);
  uint32_t object = use(c, node, 0), value = use(c, node, 1);
  emit(c, INST_SET_ATTR, moves(c, node, 0, MOVES_B) | moves(c, node, 1, MOVES_C), (uint32_t)slot, object, value);
  kill_inputs(c, node);
  return true;
}

static bool tuple_index(Compiler *c, const Node *node) {
  int64_t i;
  const Type *type = node_input(node, 0)->type;
  if (constant_int(node, 1, &i) && type->kind == TYPE_TUPLE) {
    if (i < 0) i += type->count;
    if (i >= 0 && i < (int64_t)type->count) return one(c, node, INST_TUPLE_GET, (uint32_t)i);
  }
  return two(c, node, INST_TUPLE_INDEX, 0, 1);
}

static bool is_instance(Compiler *c, const Node *node) {
  const NodeAttribute *types = node_attribute(node, SYM_attr_types);
  if (!types || types->tag != ATTR_TYPES) return false;
  const Type **copy = ARENA_ARRAY(c->arena, const Type *, types->count ? types->count : 1);
  if (types->count) memcpy(copy, types->types, types->count * sizeof *copy);
  return with_site(c, node, INST_IS_INSTANCE, (Site){.types = copy, .type_count = types->count});
}

static bool to_list(Compiler *c, const Node *node) {
  return node->input_count && with_site(c, node, INST_TO_LIST, (Site){.type = type_for_value(node->outputs[0]->type)});
}

static bool raise(Compiler *c, const Node *node) {
  uint32_t index;
  Site *site = new_site(c, node, 0, &index);
  if (site->arg_count > c->code->window) c->code->window = site->arg_count;
  site_outputs(c, site, node);
  emit(c, INST_RAISE, 0, index, 0, 0);
  return true;
}

/* r[a] = r[b] */
static bool keep(Compiler *c, const Node *node) {
  return one(c, node, moves(c, node, 0, 1) ? INST_MOVE : INST_LOAD, 0);
}

static bool of_scalars(Compiler *c, const Node *node) {
  const Scalar *scalar = find_own_scalar(node);
  if (!scalar) return mixed(c, node);
  return scalar->count == 1 ? one(c, node, scalar->op, 0) : two(c, node, scalar->op, scalar->turned, !scalar->turned);
}

bool compile_direct(Compiler *c, const Node *node) {
  uint32_t inputs = node->input_count;
  const Type *result = node->output_count == 1 ? node->outputs[0]->type : NULL;
  switch (node->kind) {
    case SYM_prim_Uninitialized:
      return true; /* a constant */
    case SYM_aten___getitem__:
      return get_item(c, node);
    case SYM_aten__set_item:
      return set_item(c, node);
    case SYM_aten_append:
      if (inputs != 2 || kind_of(node, 0) != TYPE_LIST) return false;
      return store(c, node,
                   list_form(node_input(node, 0)->type, INST_LIST_APPEND_INT, INST_LIST_APPEND_FLOAT, INST_LIST_APPEND,
                             INST_LIST_APPEND),
                   2);
    case SYM_aten___contains__:
      return inputs == 2 && kind_of(node, 0) == TYPE_DICT && two(c, node, INST_DICT_HAS, 0, 1);
    case SYM_aten___is__:
      return inputs == 2 && identity(c, node, true);
    case SYM_aten___isnot__:
      return inputs == 2 && identity(c, node, false);
    case SYM_aten___derive_index:
      return inputs == 3 && derive_index(c, node);
    case SYM_prim_ListConstruct:
      return make(c, node, INST_LIST_CONSTRUCT, result->kind == TYPE_LIST ? result->elements[0] : TYPE(ANY));
    case SYM_prim_DictConstruct:
      return inputs % 2 == 0 && make(c, node, INST_DICT_CONSTRUCT, result);
    case SYM_prim_TupleConstruct:
      return make(c, node, INST_TUPLE_CONSTRUCT, result->kind == TYPE_TUPLE && result->field_names ? result : NULL);
    case SYM_prim_CreateObject:
      return result->kind == TYPE_CLASS && make(c, node, INST_CREATE_OBJECT, result);
    case SYM_prim_ListUnpack:
      return spread(c, node, INST_LIST_UNPACK);
    case SYM_prim_TupleUnpack:
      return spread(c, node, INST_TUPLE_UNPACK);
    case SYM_prim_TupleIndex:
      return inputs == 2 && tuple_index(c, node);
    case SYM_prim_TupleSlice:
      return with_site(c, node, INST_TUPLE_SLICE,
                       (Site){.begin = node_int(node, SYM_attr_beg), .end = node_int(node, SYM_attr_end)});
    case SYM_prim_GetAttr:
      return get_attribute(c, node, false);
    case SYM_prim_SetAttr:
      return get_attribute(c, node, true);
    case SYM_prim_unchecked_cast:
      return with_site(c, node, INST_CAST, (Site){.type = result});
    case SYM_prim_unchecked_unwrap_optional:
    case SYM_aten__unwrap_optional:
      return one(c, node, INST_UNWRAP, 0);
    case SYM_prim_annotate:
      return keep(c, node);
    case SYM_prim_isinstance:
      return is_instance(c, node);
    case SYM_prim_EnumName:
      return one(c, node, INST_ENUM_NAME, 0);
    case SYM_prim_EnumValue:
      return one(c, node, INST_ENUM_VALUE, 0);
    case SYM_prim_tolist:
      return to_list(c, node);
    case SYM_prim_ModuleContainerIndex:
      return inputs == 2 && two(c, node, INST_CONTAINER_INDEX, 0, 1);
    case SYM_aten_wait:
      return inputs == 1 && kind_of(node, 0) == TYPE_FUTURE && one(c, node, INST_WAIT, 0);
    case SYM_prim_RaiseException:
      return inputs >= 1 && inputs <= 2 && raise(c, node);
    case SYM_aten_len:
      return inputs == 1 && kind_of(node, 0) == TYPE_LIST && one(c, node, INST_LIST_LEN, 0);
    case SYM_aten_eq:
      if (inputs == 2 && are_all(node, TYPE_STRING)) return two(c, node, INST_EQ_STR, 0, 1);
      break;
    case SYM_aten_ne:
      if (inputs == 2 && are_all(node, TYPE_STRING)) return two(c, node, INST_NE_STR, 0, 1);
      break;
    case SYM_aten_Int:
    case SYM_aten_Float:
    case SYM_aten_Bool:
      if (inputs == 1 && kind_of(node, 0) == result->kind) return keep(c, node);
      break;
    default:
      break;
  }
  return of_scalars(c, node);
}

bool fusable_branch(Compiler *c, const Node *node, FusedBranch *out) {
  if (node->output_count != 1 || node->outputs[0]->type->kind != TYPE_BOOL) return false;
  *out = (FusedBranch){.loop = INST_JMP};
  if (node->input_count == 1 && node->kind == SYM_aten___not__ && kind_of(node, 0) == TYPE_BOOL) {
    out->branch = INST_JT;
    out->left = c->register_of[node_input(node, 0)->unique];
    return true;
  }
  if (node->input_count != 2) return false;
  if (node->kind == SYM_aten___is__ || node->kind == SYM_aten___isnot__) {
    uint32_t other = is_none(node_input(node, 1)) ? 0 : 1;
    if (!is_none(node_input(node, 1 - other)) || moves(c, node, other, 1)) return false;
    if (moves(c, node, 1 - other, 1)) return false;
    out->branch = node->kind == SYM_aten___is__ ? INST_JF_NOT_NONE : INST_JF_NONE;
    out->left = c->register_of[node_input(node, other)->unique];
    return true;
  }
  const Scalar *scalar = find_own_scalar(node);
  if (!scalar || scalar->branch == INST_JMP) return false;
  uint32_t left = c->register_of[node_input(node, 0)->unique], right = c->register_of[node_input(node, 1)->unique];
  *out =
      (FusedBranch){scalar->branch, scalar->loop, scalar->turned ? right : left, scalar->turned ? left : right, true};
  return true;
}

/* Constants of a unit must not keep it: types of its own are left out. */
static const Type *shared_type(const Type *type) {
  return !type->store || type->store->is_process ? type : TYPE(ANY);
}

/* What stands for a value that is never read: of the right shape, in case a program reads it all the same. */
IValue zero_of_type(Compiler *c, const Type *type, int depth) {
  Status status = OK;
  IValue v = ivalue_uninitialized();
  switch (type->kind) {
    case TYPE_INT:
      return ivalue_int(0);
    case TYPE_FLOAT:
      return ivalue_float(0);
    case TYPE_BOOL:
      return ivalue_bool(false);
    case TYPE_NUMBER:
      return ivalue_int(0);
    case TYPE_DEVICE:
      return ivalue_device(DEVICE_CPU_0);
    case TYPE_COMPLEX:
      status = ivalue_from_complex(0, &v);
      break;
    case TYPE_STRING:
      status = ivalue_from_str(STR(""), &v);
      break;
    case TYPE_TENSOR:
      return ivalue_tensor(tensor_undefined());
    case TYPE_LIST: {
      List *list = NULL;
      status = list_new(shared_type(type->elements[0]), 0, &list);
      v = ivalue_list(list);
      break;
    }
    case TYPE_DICT: {
      Dict *dict = NULL;
      status = dict_new(shared_type(type->elements[0]), shared_type(type->elements[1]), &dict);
      v = ivalue_dict(dict);
      break;
    }
    case TYPE_ENUM: {
      EnumValue *e = NULL;
      if (!type->enum_type->count) return v;
      status = enum_value_new(type, 0, &e);
      if (!status) enum_value_borrow_type(e);
      v = (IValue){.tag = TAG_ENUM, .enum_value = e};
      break;
    }
    case TYPE_TUPLE: {
      if (depth > 8) return v;
      Tuple *tuple = NULL;
      status = tuple_new(type->count, NULL, &tuple);
      for (uint32_t i = 0; !status && i < type->count; i++)
        tuple->values[i] = zero_of_type(c, type->elements[i], depth + 1);
      v = ivalue_tuple(tuple);
      break;
    }
    default:
      return v;
  }
  if (status) compile_out(c, status);
  if (v.tag >= TAG_LIST) ivalue_mark_constant(v);
  return v;
}
