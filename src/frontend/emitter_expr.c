/* Expressions other than calls and subscripts: literals, operators, displays, comprehensions, the ternary. */
#include "frontend/emitter.h"

#include <assert.h>

#include "base/stack.h"
#include "base/work_limit.h"
#include "frontend/container.h"
#include "syntax/view.h"

/* ---- operators ---- */

typedef struct OperatorSpelling {
  TokenKind kind;
  const char *name, *method; /* the operator, and the class's method that stands in for it */
} OperatorSpelling;

static const OperatorSpelling binary_operators[] = {
    {'+', "aten::add", "__add__"},
    {'-', "aten::sub", "__sub__"},
    {'*', "aten::mul", "__mul__"},
    {'/', "aten::div", "__truediv__"},
    {'%', "aten::remainder", "__mod__"},
    {'@', "aten::matmul", "__matmul__"},
    {TK_POW, "aten::pow", "__pow__"},
    {TK_FLOOR_DIV, "aten::floordiv", "__floordiv__"},
    {'&', "aten::__and__", "__and__"},
    {'|', "aten::__or__", "__or__"},
    {'^', "aten::__xor__", "__xor__"},
    {TK_LSHIFT, "aten::__lshift__", "__lshift__"},
    {TK_RSHIFT, "aten::__rshift__", "__rshift__"},
    {TK_EQ, "aten::eq", "__eq__"},
    {TK_NE, "aten::ne", "__ne__"},
    {'<', "aten::lt", "__lt__"},
    {'>', "aten::gt", "__gt__"},
    {TK_LE, "aten::le", "__le__"},
    {TK_GE, "aten::ge", "__ge__"},
    {TK_IN, "aten::__contains__", "__contains__"},
};
static const OperatorSpelling unary_operators[] = {
    {TK_UNARY_MINUS, "aten::neg", "__neg__"},
    {'~', "aten::bitwise_not", "__invert__"},
};

static const OperatorSpelling *find_spelling(const OperatorSpelling *table, size_t count, TokenKind kind) {
  for (size_t i = 0; i < count; i++)
    if (table[i].kind == kind) return &table[i];
  return NULL;
}
#define FIND_SPELLING(table, kind) find_spelling(table, sizeof(table) / sizeof *(table), kind)

static Value *emit_operator(Emitter *e, SourceRange range, const OperatorSpelling *op, uint32_t count, Value **inputs) {
  if (inputs[0]->type->kind == TYPE_CLASS) {
    NamedValue rest = named_argument(STR(""), count > 1 ? inputs[1] : NULL, range);
    return emit_method_call(e, range, inputs[0], str_from(op->method),
                            &(CallArguments){.count = count - 1, .positional = &rest});
  }
  return emit_builtin(e, range, symbol_intern(str_from(op->name)), count, inputs);
}

static Value *concatenate_tuples(Emitter *e, SourceRange range, Value *lhs, Value *rhs) {
  assert(lhs->type->kind == TYPE_TUPLE && rhs->type->kind == TYPE_TUPLE);
  uint32_t count = lhs->type->count + rhs->type->count;
  Value **values = ARENA_ARRAY(e->arena, Value *, count + 1);
  if (lhs->type->count) memcpy(values, emit_tuple_unpack(e, range, lhs), lhs->type->count * sizeof *values);
  if (rhs->type->count)
    memcpy(values + lhs->type->count, emit_tuple_unpack(e, range, rhs), rhs->type->count * sizeof *values);
  return emit_tuple(e, range, count, values);
}

static Value *emit_binary_of(Emitter *e, const Tree *expr, Value *lhs) {
  Value *rhs = emit_expr(e, binary_rhs(expr), NULL), *inputs[2] = {lhs, rhs};
  if (expr->kind == '%' && lhs->type->kind == TYPE_STRING)
    return emit_typed(e, expr->range, symbol_intern(STR("aten::percentFormat")), 2, inputs, TYPE(STRING));
  if (expr->kind == '+' && lhs->type->kind == TYPE_TUPLE && rhs->type->kind == TYPE_TUPLE)
    return concatenate_tuples(e, expr->range, lhs, rhs);
  if (expr->kind == TK_IN && container_of(rhs->type)) return container_contains(e, expr->range, rhs, lhs);
  if (expr->kind == TK_IN) { /* the container is the receiver */
    inputs[0] = rhs;
    inputs[1] = lhs;
  }
  return emit_operator(e, expr->range, FIND_SPELLING(binary_operators, expr->kind), 2, inputs);
}

/* `a + b + c + ...` leans to the left and may be long: the spine is walked, not recursed into. */
static Value *emit_binary(Emitter *e, const Tree *expr) {
  uint32_t depth = 1;
  const Tree *first = expr;
  while (FIND_SPELLING(binary_operators, binary_lhs(first)->kind)) {
    first = binary_lhs(first);
    depth++;
  }
  const Tree **spine = ARENA_ARRAY(e->arena, const Tree *, depth);
  for (uint32_t i = depth; i-- > 0; expr = binary_lhs(expr)) spine[i] = expr;
  Value *value = emit_expr(e, binary_lhs(first), NULL);
  for (uint32_t i = 0; i < depth; i++) value = emit_binary_of(e, spine[i], value);
  return value;
}

static Value *emit_number(Emitter *e, const Tree *expr, Str text, bool negative) {
  int64_t integer = 0;
  double real = 0;
  switch (number_parse(text, negative, &integer, &real)) {
    case NUMBER_INT:
      return emit_number_constant(e, expr->range, ivalue_int(integer));
    case NUMBER_FLOAT:
      return emit_number_constant(e, expr->range, ivalue_float(real));
    case NUMBER_COMPLEX: {
      IValue value;
      Status status = ivalue_from_complex(__builtin_complex(negative ? -0.0 : 0.0, real), &value);
      if (status) catch_throw(&e->c->catch_point, status);
      graph_hold(e->graph, value);
      return emit_constant(e, expr->range, value);
    }
    default:
      compilation_fail(e->c, expr->range, "The number " STR_FMT " is out of range", STR_ARG(text));
  }
}

static Value *emit_unary(Emitter *e, const Tree *expr) {
  const Tree *operand = unary_operand(expr);
  if (expr->kind == TK_UNARY_MINUS && operand->kind == TK_CONST) return emit_number(e, expr, operand->text, true);
  Value *value = emit_expr(e, operand, NULL);
  IValue constant;
  if (expr->kind == TK_UNARY_MINUS && value_is_constant(value, &constant)) {
    if (constant.tag == TAG_INT && constant.i != INT64_MIN) return emit_int(e, expr->range, -constant.i);
    if (constant.tag == TAG_FLOAT) return emit_constant(e, expr->range, ivalue_float(-constant.f));
  }
  return emit_operator(e, expr->range, FIND_SPELLING(unary_operators, expr->kind), 1, &value);
}

/* ---- ternary ---- */

typedef struct Ternary {
  const Tree *expr;
  const Type *hint;
} Ternary;
static Value *emit_then(Emitter *e, void *argument) {
  const Ternary *t = argument;
  return emit_expr(e, ternary_then(t->expr), t->hint);
}
static Value *emit_else(Emitter *e, void *argument) {
  const Ternary *t = argument;
  return emit_expr(e, ternary_else(t->expr), t->hint);
}

static Value *emit_ternary(Emitter *e, const Tree *expr, const Type *hint) {
  Condition condition = emit_condition(e, ternary_condition(expr));
  Ternary ternary = {expr, hint};
  if (condition.is_static >= 0) return condition.is_static ? emit_then(e, &ternary) : emit_else(e, &ternary);
  return emit_if_expr(e, expr->range, &condition, emit_then, emit_else, &ternary, hint);
}

/* ---- displays ---- */

/* The one member of an Optional or Union hint that is of the kind; the hint itself when it is; else NULL. */
static const Type *hint_of_kind(Emitter *e, SourceRange range, const Type *hint, TypeKind kind, bool *out_ambiguous) {
  *out_ambiguous = false;
  if (!hint) return NULL;
  if (hint->kind == kind) return hint;
  const Type *found = NULL;
  if (hint->kind == TYPE_OPTIONAL || hint->kind == TYPE_UNION)
    for (uint32_t i = 0; i < hint->count; i++)
      if (hint->elements[i]->kind == kind) {
        if (found) *out_ambiguous = true;
        found = hint->elements[i];
      }
  if (!found && hint->kind != TYPE_ANY && !hint->has_var && hint->kind != TYPE_ANY_LIST)
    compilation_fail(e->c, range, "Expected an annotation of type %s but got %s", kind == TYPE_LIST ? "List" : "Dict",
                     type_text(e->c, hint));
  return found;
}

/* The member of the hint whose elements accept these; several are possible in a Union. */
static const Type *choose_list_hint(const Type *hint, const Type *element) {
  assert(hint->kind == TYPE_UNION);
  for (uint32_t i = 0; i < hint->count; i++)
    if (hint->elements[i]->kind == TYPE_LIST && type_is_subtype(element, hint->elements[i]->elements[0], NULL))
      return hint->elements[i];
  return NULL;
}

static Value **emit_items(Emitter *e, const Tree *items, const Type *hint, uint32_t *out_count) {
  VEC(Value *) values = {0};
  for (uint32_t i = 0; i < items->count; i++) {
    const Tree *item = items->children[i];
    if (item->kind != TK_STARRED) {
      vec_arena_push(e->arena, &values, emit_expr(e, item, hint));
      continue;
    }
    uint32_t count;
    SugaredValue **elements =
        sugared_elements(emit_sugared(e, starred_value(item), 1, NULL), e, item->range, 0, &count);
    for (uint32_t k = 0; k < count; k++)
      vec_arena_push(e->arena, &values, sugared_as_value(elements[k], e, item->range));
  }
  *out_count = (uint32_t)values.length;
  return values.data;
}

/* `x: Union[List[int], str] = [...]` declares the whole Union. */
static Value *cast_to_union(Emitter *e, SourceRange range, Value *value, const Type *hint) {
  bool is_union = hint && hint->kind == TYPE_UNION && type_is_subtype(value->type, hint, NULL);
  return is_union ? emit_unchecked_cast(e, range, value, hint) : value;
}

static const Type *unify_values(Emitter *e, uint32_t count, Value **values) {
  assert(count > 0);
  const Type *type = values[0]->type;
  for (uint32_t i = 1; i < count && type; i++) type = type_unify(e->store, type, values[i]->type, true);
  return type ? type_without_refinement(e->store, type)
              : NULL; /* what is known of a constant's sizes is no part of a container's type */
}

static Value *emit_list_literal(Emitter *e, const Tree *expr, const Type *hint) {
  bool ambiguous;
  const Type *list_hint = hint_of_kind(e, expr->range, hint, TYPE_LIST, &ambiguous);
  const Type *element_hint = list_hint && !ambiguous ? list_hint->elements[0] : NULL;
  uint32_t count;
  const Tree *items = list_literal_items(expr);
  bool nested = element_hint && (element_hint->kind == TYPE_LIST || element_hint->kind == TYPE_DICT);
  if (nested)
    for (uint32_t i = 0; i < items->count && nested; i++)
      nested = items->children[i]->kind == TK_LIST_LITERAL || items->children[i]->kind == TK_DICT_LITERAL;
  Value **values = emit_items(e, items, nested ? element_hint : NULL, &count);
  if (!count && !list_hint)
    return emit_typed(e, expr->range, SYM_prim_EmptyListLiteral, 0, NULL, type_list_of(TYPE_TENSOR));
  const Type *element = count ? unify_values(e, count, values) : element_hint;
  if (count && ambiguous) {
    list_hint = element ? choose_list_hint(hint, element) : NULL;
    element_hint = list_hint ? list_hint->elements[0] : NULL;
  }
  if (element_hint) {
    for (uint32_t i = 0; i < count; i++)
      if (!type_is_subtype(values[i]->type, element_hint, NULL))
        compilation_fail(
            e->c, expr->range,
            "List type annotation `%s` did not match the types of the given list elements, which were unified to %s",
            type_text(e->c, list_hint), type_text(e->c, element ? element : values[i]->type));
    element = element_hint;
  }
  if (!element) compilation_fail(e->c, expr->range, "The elements of a list must have one type, or a Union");
  return cast_to_union(e, expr->range, emit_list(e, expr->range, element, count, values), hint);
}

static const Type *dict_hint(Emitter *e, SourceRange range, const Type *hint) {
  bool ambiguous;
  const Type *found = hint_of_kind(e, range, hint, TYPE_DICT, &ambiguous);
  return ambiguous ? NULL : found;
}

static Value *emit_dict_literal(Emitter *e, const Tree *expr, const Type *hint) {
  const Tree *keys = dict_literal_keys(expr), *values = dict_literal_values(expr);
  const Type *type = dict_hint(e, expr->range, hint);
  uint32_t count = keys->count;
  Value **inputs = ARENA_ARRAY(e->arena, Value *, 2 * count + 1),
        **value_inputs = ARENA_ARRAY(e->arena, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    inputs[2 * i] = emit_expr(e, keys->children[i], NULL);
    const Tree *value = values->children[i];
    bool nested = type && (value->kind == TK_LIST_LITERAL || value->kind == TK_DICT_LITERAL);
    inputs[2 * i + 1] = value_inputs[i] = emit_expr(e, value, nested ? type->elements[1] : NULL);
  }
  const Type *key_type = type ? type->elements[0] : count ? inputs[0]->type : TYPE(STRING);
  const Type *value_type = type ? type->elements[1] : count ? unify_values(e, count, value_inputs) : TYPE(TENSOR);
  for (uint32_t i = 0; i < count; i++) {
    if (!type_is_subtype(inputs[2 * i]->type, key_type, NULL))
      compilation_fail(e->c, keys->children[i]->range,
                       type ? "Dict key type annotation `%s` did not match the type of an actual key type `%s`"
                            : "Dict keys must contain only a single type. Expected: %s but found %s instead",
                       type_text(e->c, key_type), type_text(e->c, inputs[2 * i]->type));
    if (type && !type_is_subtype(value_inputs[i]->type, value_type, NULL))
      compilation_fail(e->c, values->children[i]->range,
                       "Dict value type annotation `%s` did not match the type of an actual value type `%s`",
                       type_text(e->c, value_type), type_text(e->c, value_inputs[i]->type));
  }
  if (!value_type) compilation_fail(e->c, expr->range, "The values of a dict must have one type, or a Union");
  check_dict_key(e->c, expr->range, key_type);
  Value *dict =
      emit_typed(e, expr->range, SYM_prim_DictConstruct, 2 * count, inputs, type_dict(e->store, key_type, value_type));
  return cast_to_union(e, expr->range, dict, hint);
}

/* ---- comprehensions ---- */

typedef struct Comprehension {
  const Tree *key, *element, *conditions; /* key NULL: a list */
  Value *result;
  const Type *hint; /* of the result */
  bool typed;
  SourceRange range;
} Comprehension;

static void comprehension_type(Emitter *e, Comprehension *c, Value *key, Value *element) {
  if (c->typed && c->hint) {
    const Type *expected = c->hint->elements[c->key ? 1 : 0];
    if (!type_is_subtype(element->type, expected, NULL) ||
        (key && !type_is_subtype(key->type, c->hint->elements[0], NULL)))
      compilation_fail(e->c, c->range, "%s type annotation `%s` did not match the types of the given %s",
                       c->key ? "Dict" : "List", type_text(e->c, c->hint),
                       c->key ? "keys and values" : "list elements");
    return;
  }
  const Type *type = type_without_refinement(e->store, element->type);
  if (c->typed) type = type_unify(e->store, c->result->type->elements[c->key ? 1 : 0], type, true);
  if (!type) compilation_fail(e->c, c->range, "The elements of a comprehension must have one type");
  if (key) check_dict_key(e->c, c->range, key->type);
  c->result->type = key ? type_dict(e->store, key->type, type) : type_list(e->store, type);
  c->typed = true;
}

static void emit_comprehension_item(Emitter *e, Comprehension *c) {
  Value *key = c->key ? emit_expr(e, c->key, NULL) : NULL, *element = emit_expr(e, c->element, NULL);
  comprehension_type(e, c, key, element);
  Value *inputs[3] = {c->result, key ? key : element, element};
  emit_builtin(e, c->range, key ? SYM_aten__set_item : SYM_aten_append, key ? 3 : 2, inputs);
}

static void emit_comprehension_from(Emitter *e, Comprehension *c, uint32_t condition) {
  assert(!c->conditions || condition <= c->conditions->count);
  if (!c->conditions || condition == c->conditions->count) {
    emit_comprehension_item(e, c);
    return;
  }
  Condition test = emit_condition(e, c->conditions->children[condition]);
  if (test.is_static >= 0) {
    if (test.is_static) emit_comprehension_from(e, c, condition + 1);
    return;
  }
  Node *node = emit_node(e, c->range, SYM_prim_If, 1, &test.value, 0);
  Block *then = node_add_block(node);
  node_add_block(node);
  InsertPoint saved = insert_point_into(e, then);
  environment_push(e, then);
  emit_refinements(e, c->range, &test.refinements, true);
  emit_comprehension_from(e, c, condition + 1);
  environment_pop(e);
  insert_point_restore(e, saved);
}

static void emit_comprehension_body(Emitter *e, void *argument) {
  emit_comprehension_from(e, argument, 0);
}

/* Its targets live in a scope of their own. */
static Value *emit_comprehension(Emitter *e, const Tree *expr, Comprehension *c, const Tree *target, const Tree *iter) {
  Node *scope = emit_node(e, expr->range, SYM_prim_ComprehensionScope, 0, NULL, 0);
  Block *block = node_add_block(scope);
  InsertPoint saved = insert_point_into(e, block);
  environment_push(e, block);
  const Tree *targets = tree_list(e->arena, target->range, 1, (Tree *[]){(Tree *)target});
  SugaredValue *iterable = sugared_iter(emit_sugared(e, iter, 1, NULL), e, expr->range);
  int64_t length = sugared_static_length(iterable, e);
  if (length < 0) {
    emit_loop(e, expr->range, emit_comprehension_body, c, iterable, targets, NULL);
  } else {
    for (int64_t i = 0; i < length; i++) {
      SugaredValue *element = sugared_get_item(iterable, e, expr->range, emit_int(e, expr->range, i), NULL);
      emit_targets(e, targets, 1, &element, expr->range, 1);
      emit_comprehension_body(e, c);
    }
  }
  environment_pop(e);
  insert_point_restore(e, saved);
  return c->result;
}

Value *emit_list_comprehension(Emitter *e, const Tree *expr, const Type *hint) {
  bool ambiguous;
  const Type *list_hint = hint_of_kind(e, expr->range, hint, TYPE_LIST, &ambiguous);
  if (ambiguous) list_hint = NULL;
  Value *result =
      emit_typed(e, expr->range, SYM_prim_ListConstruct, 0, NULL, list_hint ? list_hint : type_list_of(TYPE_TENSOR));
  Comprehension c = {
      NULL, list_comp_element(expr), list_comp_conditions(expr), result, list_hint, list_hint != NULL, expr->range};
  return emit_comprehension(e, expr, &c, list_comp_target(expr), list_comp_iter(expr));
}

static Value *emit_dict_comprehension(Emitter *e, const Tree *expr, const Type *hint) {
  const Type *type = dict_hint(e, expr->range, hint);
  Value *result = emit_typed(e, expr->range, SYM_prim_DictConstruct, 0, NULL,
                             type ? type : type_dict(e->store, TYPE(STRING), TYPE(TENSOR)));
  Comprehension c = {dict_comp_key(expr), dict_comp_value(expr), dict_comp_conditions(expr), result, type, type != NULL,
                     expr->range};
  return emit_comprehension(e, expr, &c, dict_comp_target(expr), dict_comp_iter(expr));
}

/* ---- all ---- */

static Value *emit_simple(Emitter *e, const Tree *expr, const Type *hint) {
  switch (expr->kind) {
    case TK_AND:
    case TK_OR:
    case TK_NOT:
    case TK_IS:
    case TK_ISNOT:
      return emit_condition(e, expr).value;
    case TK_UNARY_MINUS:
    case '~':
      return emit_unary(e, expr);
    case TK_CONST:
      return emit_number(e, expr, expr->text, false);
    case TK_TRUE:
    case TK_FALSE:
      return emit_constant(e, expr->range, ivalue_bool(expr->kind == TK_TRUE));
    case TK_NONE:
      return emit_none(e, expr->range);
    case TK_STRINGLITERAL:
      return emit_string(e, expr->range, string_text(expr));
    case TK_IF_EXPR:
      return emit_ternary(e, expr, hint);
    case TK_LIST_LITERAL:
      return emit_list_literal(e, expr, hint);
    case TK_TUPLE_LITERAL: {
      uint32_t count;
      Value **values = emit_items(e, tuple_literal_items(expr), NULL, &count);
      return emit_tuple(e, expr->range, count, values);
    }
    case TK_DICT_LITERAL:
      return emit_dict_literal(e, expr, hint);
    case TK_LIST_COMP:
      return emit_list_comprehension(e, expr, hint);
    case TK_DICT_COMP:
      return emit_dict_comprehension(e, expr, hint);
    case TK_STARRED:
      compilation_fail(e->c, expr->range, "Unexpected starred expansion");
    case TK_UNSUPPORTED:
      unsupported_throw(e->arena, expr);
    default:
      if (FIND_SPELLING(binary_operators, expr->kind)) return emit_binary(e, expr);
      compilation_fail(e->c, expr->range, "Cannot emit expr for: (%s)", token_kind_name(expr->kind));
  }
}

SugaredValue *emit_sugared(Emitter *e, const Tree *expr, uint32_t binders, const Type *hint) {
  if (STACK_IS_LOW()) compilation_fail(e->c, expr->range, "This expression is nested too deeply");
  switch (expr->kind) {
    case TK_VAR:
      return environment_get(e, e->environment, var_text(expr), expr->range, true);
    case '.':
      return sugared_attr(emit_sugared(e, select_value(expr), 1, NULL), e, expr->range, ident_text(select_name(expr)));
    case TK_APPLY:
      return emit_apply(e, expr, binders, hint);
    case TK_SUBSCRIPT:
      return emit_subscript(e, expr, hint);
    default:
      return sugared_value(e->c, emit_simple(e, expr, hint));
  }
}

Value *emit_expr(Emitter *e, const Tree *expr, const Type *hint) {
  Status status = work_take_tree();
  if (status) catch_throw(&e->c->catch_point, status);
  Value *value = sugared_as_value(emit_sugared(e, expr, 1, hint), e, expr->range);
  /* Any is never unified to: say it explicitly. */
  if (hint && hint->kind == TYPE_ANY && value->type->kind != TYPE_ANY)
    value = emit_unchecked_cast(e, expr->range, value, hint);
  return value;
}
