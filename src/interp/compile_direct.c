/* Nodes that become instructions of their own: arithmetic and comparisons of scalars, lists, dicts, tuples, objects.
 * The table below says which; what it does not know becomes a call of its operator. */
#include "interp/compile_internal.h"

/* Kinds of operands in the table. */
enum { ANY_ = TYPE_ERROR + 1, NUM_ };
#define I TYPE_INT
#define F TYPE_FLOAT
#define B TYPE_BOOL

typedef struct Direct {
  Symbol kind;
  int left, right, result; /* TypeKind */
  Opcode op;
  bool swap;
} Direct;

static const Direct binary[] = {
    {SYM_aten_add, I, I, I, INST_ADD_INT, 0},
    {SYM_aten_sub, I, I, I, INST_SUB_INT, 0},
    {SYM_aten_mul, I, I, I, INST_MUL_INT, 0},
    {SYM_aten_floordiv, I, I, I, INST_FLOORDIV_INT, 0},
    {SYM_aten_remainder, I, I, I, INST_MOD_INT, 0},
    {SYM_aten_div, I, I, F, INST_DIV_INT, 0},
    {SYM_aten___and__, I, I, I, INST_AND_INT, 0},
    {SYM_aten___or__, I, I, I, INST_OR_INT, 0},
    {SYM_aten___xor__, I, I, I, INST_XOR_INT, 0},
    {SYM_prim_min, I, I, I, INST_MIN_INT, 0},
    {SYM_prim_max, I, I, I, INST_MAX_INT, 0},
    {SYM_aten_lt, I, I, B, INST_LT_INT, 0},
    {SYM_aten_le, I, I, B, INST_LE_INT, 0},
    {SYM_aten_gt, I, I, B, INST_LT_INT, 1},
    {SYM_aten_ge, I, I, B, INST_LE_INT, 1},
    {SYM_aten_eq, I, I, B, INST_EQ_INT, 0},
    {SYM_aten_ne, I, I, B, INST_NE_INT, 0},
    {SYM_aten_add, F, F, F, INST_ADD_FLOAT, 0},
    {SYM_aten_sub, F, F, F, INST_SUB_FLOAT, 0},
    {SYM_aten_mul, F, F, F, INST_MUL_FLOAT, 0},
    {SYM_aten_div, F, F, F, INST_DIV_FLOAT, 0},
    {SYM_aten_lt, F, F, B, INST_LT_FLOAT, 0},
    {SYM_aten_le, F, F, B, INST_LE_FLOAT, 0},
    {SYM_aten_gt, F, F, B, INST_LT_FLOAT, 1},
    {SYM_aten_ge, F, F, B, INST_LE_FLOAT, 1},
    {SYM_aten_eq, F, F, B, INST_EQ_FLOAT, 0},
    {SYM_aten_ne, F, F, B, INST_NE_FLOAT, 0},
    {SYM_aten_eq, TYPE_STRING, TYPE_STRING, B, INST_EQ_STR, 0},
    {SYM_aten_ne, TYPE_STRING, TYPE_STRING, B, INST_NE_STR, 0},
};

static const Direct unary[] = {
    {SYM_aten_neg, I, 0, I, INST_NEG_INT, 0},          {SYM_aten_neg, F, 0, F, INST_NEG_FLOAT, 0},
    {SYM_aten___not__, B, 0, B, INST_NOT, 0},          {SYM_aten_Int, B, 0, I, INST_TO_INT, 0},
    {SYM_aten_Int, I, 0, I, INST_TO_INT, 0},           {SYM_aten_Int, F, 0, I, INST_TO_INT, 0},
    {SYM_aten_Float, I, 0, F, INST_TO_FLOAT, 0},       {SYM_aten_Float, B, 0, F, INST_TO_FLOAT, 0},
    {SYM_aten_Float, F, 0, F, INST_TO_FLOAT, 0},       {SYM_aten_Bool, I, 0, B, INST_TO_BOOL, 0},
    {SYM_aten_Bool, F, 0, B, INST_TO_BOOL, 0},         {SYM_aten_Bool, B, 0, B, INST_TO_BOOL, 0},
    {SYM_aten_len, TYPE_LIST, 0, I, INST_LIST_LEN, 0},
};

static int kind_of(const Node *node, uint32_t i) {
  return node_input(node, i)->type->kind;
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
  if (node->input_count != 2 || node->output_count != 1) return false;
  int left = kind_of(node, 0), right = kind_of(node, 1);
  if (!((left == I && right == F) || (left == F && right == I))) return false;
  for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
    const Direct *d = &binary[i];
    if (d->kind != node->kind || d->left != F || d->right != F || d->result != (int)node->outputs[0]->type->kind)
      continue;
    uint32_t converted = take_register(c), which = left == I ? 0 : 1;
    emit(c, INST_TO_FLOAT, 0, converted, use(c, node, which), 0);
    uint32_t b = which == 0 ? converted : use(c, node, 0), cc = which == 1 ? converted : use(c, node, 1);
    kill_inputs(c, node);
    free_register(c, converted);
    emit(c, d->op, 0, define_output(c, node, 0), d->swap ? cc : b, d->swap ? b : cc);
    drop_dead(c, node);
    return true;
  }
  return false;
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
  if (container->kind == TYPE_LIST && kind_of(node, 1) == I)
    return two(c, node, list_form(container, INST_LIST_GET_INT, INST_LIST_GET_FLOAT, INST_LIST_GET_BOOL, INST_LIST_GET),
               0, 1);
  return container->kind == TYPE_DICT && two(c, node, INST_DICT_GET, 0, 1);
}

static bool set_item(Compiler *c, const Node *node) {
  if (node->input_count != 3) return false;
  const Type *container = node_input(node, 0)->type;
  if (container->kind == TYPE_LIST && kind_of(node, 1) == I)
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
      return one(c, node, moves(c, node, 0, 1) ? INST_MOVE : INST_LOAD, 0);
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
    default:
      break;
  }
  if (!result) return false;
  if (inputs == 1)
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
      if (unary[i].kind == node->kind && unary[i].left == kind_of(node, 0) && unary[i].result == (int)result->kind)
        return one(c, node, unary[i].op, 0);
  if (inputs == 2) {
    int left = kind_of(node, 0), right = kind_of(node, 1);
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
      const Direct *d = &binary[i];
      if (d->kind == node->kind && d->left == left && d->right == right && d->result == (int)result->kind)
        return two(c, node, d->op, d->swap, !d->swap);
    }
    return mixed(c, node);
  }
  return false;
}

bool fusable_branch(Compiler *c, const Node *node, FusedBranch *out) {
  if (node->output_count != 1 || node->outputs[0]->type->kind != B) return false;
  static const struct {
    Symbol kind;
    int type;
    Opcode branch, loop;
    bool swap;
  } table[] = {{SYM_aten_lt, I, INST_JF_LT_INT, INST_LOOP_WHILE_LT_INT, 0},
               {SYM_aten_gt, I, INST_JF_LT_INT, INST_LOOP_WHILE_LT_INT, 1},
               {SYM_aten_le, I, INST_JF_LE_INT, INST_LOOP_WHILE_LE_INT, 0},
               {SYM_aten_ge, I, INST_JF_LE_INT, INST_LOOP_WHILE_LE_INT, 1},
               {SYM_aten_eq, I, INST_JF_EQ_INT, INST_LOOP_WHILE_EQ_INT, 0},
               {SYM_aten_ne, I, INST_JF_NE_INT, INST_LOOP_WHILE_NE_INT, 0},
               {SYM_aten_lt, F, INST_JF_LT_FLOAT, INST_JMP, 0},
               {SYM_aten_gt, F, INST_JF_LT_FLOAT, INST_JMP, 1},
               {SYM_aten_le, F, INST_JF_LE_FLOAT, INST_JMP, 0},
               {SYM_aten_ge, F, INST_JF_LE_FLOAT, INST_JMP, 1},
               {SYM_aten_eq, F, INST_JF_EQ_FLOAT, INST_JMP, 0},
               {SYM_aten_ne, F, INST_JF_NE_FLOAT, INST_JMP, 0}};
  *out = (FusedBranch){.loop = INST_JMP};
  if (node->input_count == 1 && node->kind == SYM_aten___not__ && kind_of(node, 0) == B) {
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
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (table[i].kind != node->kind || kind_of(node, 0) != table[i].type || kind_of(node, 1) != table[i].type) continue;
    uint32_t left = c->register_of[node_input(node, 0)->unique], right = c->register_of[node_input(node, 1)->unique];
    *out =
        (FusedBranch){table[i].branch, table[i].loop, table[i].swap ? right : left, table[i].swap ? left : right, true};
    return true;
  }
  return false;
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
