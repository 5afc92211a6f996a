/* Assignments: to names, attributes, subscripts and nested tuples of those; augmented assignment, in place where
 * Python's is. */
#include "frontend/emitter.h"

#include "syntax/view.h"

/* ---- plain ---- */

static bool check_targets(Emitter *e, const Tree *targets, SourceRange range) {
  uint32_t starred = 0, others = 0;
  for (uint32_t i = 0; i < targets->count; i++) {
    switch (targets->children[i]->kind) {
      case TK_STARRED:
        starred++;
        break;
      case TK_VAR:
      case TK_SUBSCRIPT:
      case TK_TUPLE_LITERAL:
      case '.':
        others++;
        break;
      default:
        compilation_fail(e->c, targets->children[i]->range,
                         "Assignment must be a variable, subscript, attribute or tuple of these");
    }
  }
  if (starred > 1) compilation_fail(e->c, range, "Only one starred expression is allowed on the lhs");
  if (starred && !others)
    compilation_fail(
        e->c, range,
        "A starred expression may only appear on the lhs within the presence of another non-starred expression");
  return starred != 0;
}

static void emit_unpack(Emitter *e, const Tree *tuple, SugaredValue *value, SourceRange range) {
  const Tree *targets = tuple_literal_items(tuple);
  bool starred = check_targets(e, targets, tuple->range);
  uint32_t binders = targets->count - (starred ? 1 : 0), count;
  SugaredValue **elements = sugared_elements(value, e, range, starred ? 0 : binders, &count);
  if (count < binders)
    compilation_fail(e->c, tuple->range, "need %s%u values to unpack but found only %u", starred ? "at least " : "",
                     binders, count);
  if (count > binders && !starred)
    compilation_fail(e->c, tuple->range, "too many values to unpack: need %u but found %u", binders, count);
  emit_targets(e, targets, count, elements, range, binders);
}

static void emit_attribute_target(Emitter *e, const Tree *select, Value *value, SourceRange range) {
  sugared_set_attr(emit_sugared(e, select_value(select), 1, NULL), e, range, ident_text(select_name(select)), value);
}

static void emit_starred_target(Emitter *e, const Tree *starred, SugaredValue **values, uint32_t count,
                                SourceRange range) {
  const Tree *variable = starred_value(starred);
  if (variable->kind != TK_VAR) compilation_fail(e->c, variable->range, "Cannot pack a tuple into a non-variable");
  Value **packed = ARENA_ARRAY(e->arena, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++) packed[i] = sugared_as_value(values[i], e, range);
  environment_set_value(e, variable->range, var_text(variable), emit_tuple(e, range, count, packed));
}

void emit_targets(Emitter *e, const Tree *targets, uint32_t count, SugaredValue **values, SourceRange range,
                  uint32_t binders) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < targets->count; i++) {
    const Tree *target = targets->children[i];
    switch (target->kind) {
      case TK_VAR:
        environment_set(e, target->range, var_text(target), values[at++], NULL);
        break;
      case TK_SUBSCRIPT:
        emit_subscript_assign(e, range, target, named_argument(STR(""), sugared_as_value(values[at], e, range), range));
        at++;
        break;
      case '.':
        emit_attribute_target(e, target, sugared_as_value(values[at], e, range), target->range);
        at++;
        break;
      case TK_TUPLE_LITERAL:
      case TK_LIST_LITERAL:
        emit_unpack(e, target, values[at++], range);
        break;
      case TK_STARRED: {
        uint32_t matched = count - binders;
        emit_starred_target(e, target, values + at, matched, range);
        at += matched;
        break;
      }
      default:
        compilation_fail(e->c, target->range, "unexpected expression on the left-hand side of an assignment");
    }
  }
}

/* `self.x: Optional[int] = None` makes an attribute of the declared type. */
static Value *declare_as(Emitter *e, SourceRange range, Value *value, const Type *type) {
  if (type_equal(value->type, type) || !type_is_subtype(value->type, type, NULL)) return value;
  if (value->type->kind != TYPE_NONE) return emit_unchecked_cast(e, range, value, type);
  Value *none = emit_none(e, range);
  none->type = type;
  return none;
}

static void emit_single_assign(Emitter *e, const Tree *stmt, const Tree *target, const Tree *value) {
  const Tree *annotation = option_get(assign_type(stmt));
  const Type *type = annotation && (target->kind == TK_VAR || target->kind == '.')
                         ? annotation_type(e->c, e->resolver, annotation)
                         : NULL;
  switch (target->kind) {
    case TK_VAR: {
      SugaredValue *sugared = emit_sugared(e, value, 1, type);
      environment_set(e, target->range, var_text(target), sugared, type);
      break;
    }
    case TK_TUPLE_LITERAL: {
      const Tree *items = tuple_literal_items(target);
      bool starred = check_targets(e, items, target->range);
      emit_unpack(e, target, emit_sugared(e, value, items->count - (starred ? 1 : 0), NULL), value->range);
      break;
    }
    case '.': {
      SugaredValue *object = emit_sugared(e, select_value(target), 1, NULL);
      Value *result = sugared_as_value(emit_sugared(e, value, 1, type), e, value->range);
      if (type) result = declare_as(e, value->range, emit_convert(e, value->range, type, result, true), type);
      sugared_set_attr(object, e, stmt->range, ident_text(select_name(target)), result);
      break;
    }
    case TK_SUBSCRIPT:
      emit_subscript_assign(e, stmt->range, target, named_argument(STR(""), emit_expr(e, value, NULL), value->range));
      break;
    default:
      compilation_fail(e->c, target->range, "unexpected expression on left-hand side of assignment");
  }
}

void emit_assign(Emitter *e, const Tree *stmt) {
  const Tree *targets = assign_targets(stmt), *value = option_get(assign_value(stmt));
  if (!value) compilation_fail(e->c, stmt->range, "For an assignment statement, the right-hand side is required");
  if (targets->count == 1) {
    emit_single_assign(e, stmt, targets->children[0], value);
    return;
  }
  /* a = b = value: the value once, then the targets from the left. */
  Str name = str_from(arena_printf(e->arena, "$tmp_assign_%u", e->temporaries++));
  environment_set(e, value->range, name, emit_sugared(e, value, 1, NULL), NULL);
  const Tree *once = tree_var(e->arena, value->range, name);
  for (uint32_t i = 0; i < targets->count; i++) emit_single_assign(e, stmt, targets->children[i], once);
}

/* ---- augmented ---- */

typedef struct AugOperator {
  TokenKind kind;
  const char *plain, *in_place; /* operators; in_place for tensors (and lists where there is one) */
  const char *method;           /* of classes, between __i and __ */
} AugOperator;

static const AugOperator aug_operators[] = {
    {'+', "aten::add", "aten::add_", "add"},
    {'-', "aten::sub", "aten::sub_", "sub"},
    {'*', "aten::mul", "aten::mul_", "mul"},
    {'/', "aten::div", "aten::div_", "truediv"},
    {'%', "aten::fmod", "aten::fmod_", "mod"},
    {'|', "aten::__or__", "aten::__ior__", "or"},
    {'&', "aten::__and__", "aten::__iand__", "and"},
    {'^', "aten::__xor__", "aten::__ixor__", "xor"},
    {TK_LSHIFT, "aten::__lshift__", "aten::__ilshift__", "lshift"},
    {TK_RSHIFT, "aten::__rshift__", "aten::__irshift__", "rshift"},
    {TK_POW, "aten::pow", "aten::pow_", "pow"},
};

static const AugOperator *find_aug_operator(Emitter *e, const Tree *stmt) {
  TokenKind kind = aug_assign_operator(stmt)->kind;
  for (size_t i = 0; i < sizeof aug_operators / sizeof *aug_operators; i++)
    if (aug_operators[i].kind == kind) return &aug_operators[i];
  compilation_fail(e->c, stmt->range, "unsupported kind of augmented assignment: %s=", token_kind_name(kind));
}

Symbol aug_operator(Emitter *e, const Tree *stmt, const Type *type) {
  const AugOperator *op = find_aug_operator(e, stmt);
  bool in_place = type->kind == TYPE_TENSOR || (type->kind == TYPE_LIST && (op->kind == '+' || op->kind == '*'));
  return symbol_intern(str_from(in_place ? op->in_place : op->plain));
}

Value *emit_aug_operation(Emitter *e, const Tree *stmt, Value *lhs, bool in_place) {
  if (lhs->type->kind == TYPE_CLASS) {
    const char *name = find_aug_operator(e, stmt)->method;
    Str in_place = str_from(arena_printf(e->arena, "__i%s__", name)),
        plain = str_from(arena_printf(e->arena, "__%s__", name));
    ClassType *class_type = lhs->type->class_type;
    Str method = class_type_find_method(class_type, in_place) ? in_place : plain;
    if (!class_type_find_method(class_type, method))
      compilation_fail(e->c, stmt->range,
                       "Cannot emit inplace op on %s since it does not define an " STR_FMT " or " STR_FMT " method",
                       type_text(e->c, lhs->type), STR_ARG(in_place), STR_ARG(plain));
    NamedValue value =
        named_argument(STR(""), emit_expr(e, aug_assign_value(stmt), NULL), aug_assign_value(stmt)->range);
    return emit_method_call(e, stmt->range, lhs, method, &(CallArguments){.count = 1, .positional = &value});
  }
  Value *inputs[2] = {lhs, emit_expr(e, aug_assign_value(stmt), NULL)};
  return emit_builtin(e, stmt->range, aug_operator(e, stmt, in_place ? lhs->type : TYPE(ANY)), 2, inputs);
}

void emit_aug_assign(Emitter *e, const Tree *stmt) {
  const Tree *target = aug_assign_target(stmt);
  switch (target->kind) {
    case TK_VAR: {
      Value *lhs = emit_expr(e, target, NULL);
      environment_set_value(e, target->range, var_text(target), emit_aug_operation(e, stmt, lhs, true));
      break;
    }
    case '.': {
      SugaredValue *object = emit_sugared(e, select_value(target), 1, NULL);
      Str name = ident_text(select_name(target));
      Value *lhs = sugared_as_value(sugared_attr(object, e, target->range, name), e, target->range);
      sugared_set_attr(object, e, stmt->range, name, emit_aug_operation(e, stmt, lhs, true));
      break;
    }
    case TK_SUBSCRIPT:
      emit_subscript_aug_assign(e, stmt);
      break;
    default:
      compilation_fail(e->c, target->range, "unexpected expression on left-hand side of augmented assignment");
  }
}
