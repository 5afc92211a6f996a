/* Conditions: their Value, whether it is known at compile time (then only one branch compiles), and what holding or not
 * holding proves of the types of variables: `x is None`, isinstance, and what and, or, not make of those. */
#include <assert.h>

#include "base/stack.h"
#include "frontend/emitter.h"
#include "syntax/view.h"

/* ---- sets of refinements ---- */

static const Refinement *find_refinement(const Refinement *set, uint32_t count, Str name) {
  for (uint32_t i = 0; i < count; i++)
    if (str_equal(set[i].name, name)) return &set[i];
  return NULL;
}

static void union_of(Emitter *e, const Refinements *a, const Refinements *b, int side, Refinements *out) {
  assert(side == 0 || side == 1);
  Refinement *set = ARENA_ARRAY(e->arena, Refinement, a->count[side] + b->count[side] + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < a->count[side]; i++) {
    /* What the right side proved it proved knowing the left. */
    const Refinement *later = find_refinement(b->when[side], b->count[side], a->when[side][i].name);
    set[count++] = later ? *later : a->when[side][i];
  }
  for (uint32_t i = 0; i < b->count[side]; i++)
    if (!find_refinement(a->when[side], a->count[side], b->when[side][i].name)) set[count++] = b->when[side][i];
  out->when[side] = set;
  out->count[side] = count;
}

static void intersection_of(Emitter *e, const Refinements *a, const Refinements *b, int side, Refinements *out) {
  assert(side == 0 || side == 1);
  Refinement *set = ARENA_ARRAY(e->arena, Refinement, a->count[side] + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < a->count[side]; i++) {
    const Refinement *other = find_refinement(b->when[side], b->count[side], a->when[side][i].name);
    if (!other) continue;
    const Type *both = type_unify(e->store, a->when[side][i].type, other->type, true);
    if (both) set[count++] = (Refinement){other->name, both};
  }
  out->when[side] = set;
  out->count[side] = count;
}

static Refinements refinements_both(Emitter *e, const Refinements *a, const Refinements *b) {
  Refinements out = {0};
  union_of(e, a, b, 0, &out);
  intersection_of(e, a, b, 1, &out);
  return out;
}
static Refinements refinements_either(Emitter *e, const Refinements *a, const Refinements *b) {
  Refinements out = {0};
  intersection_of(e, a, b, 0, &out);
  union_of(e, a, b, 1, &out);
  return out;
}
static Refinements refinements_not(const Refinements *a) {
  return (Refinements){{a->when[1], a->when[0]}, {a->count[1], a->count[0]}};
}
static void refinement_add(Emitter *e, Refinements *set, int side, Str name, const Type *type) {
  assert(side == 0 || side == 1);
  set->when[side] = ARENA_NEW(e->arena, Refinement);
  *set->when[side] = (Refinement){name, type};
  set->count[side] = 1;
}

void emit_refinements(Emitter *e, SourceRange range, const Refinements *refinements, bool holds) {
  int side = holds ? 0 : 1;
  for (uint32_t i = 0; i < refinements->count[side]; i++) {
    const Refinement *r = &refinements->when[side][i];
    Value *value = environment_get_value(e, e->environment, r->name, range);
    environment_set_value(e, range, r->name, emit_unchecked_cast(e, range, value, r->type));
  }
}

/* ---- conditions ---- */

static Condition known(Emitter *e, SourceRange range, bool is_true, Refinements refinements) {
  return (Condition){emit_constant(e, range, ivalue_bool(is_true)), refinements, is_true};
}

Value *emit_to_bool(Emitter *e, SourceRange range, Value *value) {
  if (value->type->kind == TYPE_BOOL) return value;
  if (type_is_optional_like(value->type))
    compilation_fail(e->c, range, "Could not cast value of type %s to bool", type_text(e->c, value->type));
  NamedValue argument = named_argument(STR(""), value, range);
  SugaredValue *cast = builtin_global(e->c, STR("bool"));
  Value *result = sugared_as_value(
      sugared_call(cast, e, range, &(CallArguments){.count = 1, .positional = &argument}, 1), e, range);
  if (result->type->kind != TYPE_BOOL)
    compilation_fail(e->c, range, "expected a bool expression for condition but found %s",
                     type_text(e->c, value->type));
  return result;
}

Value *emit_if_expr(Emitter *e, SourceRange range, const Condition *condition, EmitValue *then_value,
                    EmitValue *else_value, void *argument, const Type *hint) {
  Node *node = emit_node(e, range, SYM_prim_If, 1, &condition->value, 0);
  for (int i = 0; i < 2; i++) {
    Block *block = node_add_block(node);
    InsertPoint saved = insert_point_into(e, block);
    environment_push(e, block);
    emit_refinements(e, range, &condition->refinements, i == 0);
    block_register_output(block, (i == 0 ? then_value : else_value)(e, argument));
    environment_pop(e);
    insert_point_restore(e, saved);
  }
  const Type *then_type = block_output(node->blocks[0], 0)->type, *else_type = block_output(node->blocks[1], 0)->type;
  bool to_union = hint && hint->kind == TYPE_UNION;
  const Type *type = type_unify(e->store, then_type, else_type, to_union);
  if (!type)
    compilation_fail(e->c, range, "if-expression's true branch has type %s but false branch has type %s",
                     type_text(e->c, then_type), type_text(e->c, else_type));
  return node_add_output(node, type);
}

typedef struct ShortCircuit {
  const Tree *rhs_tree;
  Condition rhs;
  bool is_or;
  SourceRange range;
} ShortCircuit;

static Value *emit_rhs(Emitter *e, void *argument) {
  ShortCircuit *s = argument;
  s->rhs = emit_condition(e, s->rhs_tree);
  return s->rhs.value;
}

static Value *emit_decided(Emitter *e, void *argument) {
  ShortCircuit *s = argument;
  return emit_constant(e, s->range, ivalue_bool(s->is_or));
}

static Condition combine(Emitter *e, const Condition *lhs, const ShortCircuit *s, Value *value) {
  Condition result = {value, {{0}, {0}}, -1};
  const Condition *rhs = &s->rhs;
  result.refinements = s->is_or ? refinements_either(e, &lhs->refinements, &rhs->refinements)
                                : refinements_both(e, &lhs->refinements, &rhs->refinements);
  if (lhs->is_static == s->is_or || rhs->is_static == s->is_or)
    result.is_static = s->is_or;
  else if (lhs->is_static >= 0 && rhs->is_static >= 0)
    result.is_static = !s->is_or;
  return result;
}

/* Chains lean to the left and may be long: the spine is walked, not recursed into. */
static Condition emit_short_circuit(Emitter *e, const Tree *expr) {
  uint32_t depth = 1;
  const Tree *first = expr;
  while (binary_lhs(first)->kind == expr->kind) {
    first = binary_lhs(first);
    depth++;
  }
  const Tree **spine = ARENA_ARRAY(e->arena, const Tree *, depth);
  for (uint32_t i = depth; i-- > 0; expr = binary_lhs(expr)) spine[i] = expr;
  Condition lhs = emit_condition(e, binary_lhs(first));
  for (uint32_t i = 0; i < depth; i++) {
    ShortCircuit s = {.rhs_tree = binary_rhs(spine[i]), .is_or = spine[i]->kind == TK_OR, .range = spine[i]->range};
    s.rhs.is_static = -1;
    Value *value = s.is_or ? emit_if_expr(e, s.range, &lhs, emit_decided, emit_rhs, &s, NULL)
                           : emit_if_expr(e, s.range, &lhs, emit_rhs, emit_decided, &s, NULL);
    lhs = combine(e, &lhs, &s, value);
  }
  return lhs;
}

typedef enum CanBeNone { NONE_NEVER, NONE_MAYBE, NONE_ALWAYS } CanBeNone;

static CanBeNone can_be_none(const Type *type) {
  if (type->kind == TYPE_NONE) return NONE_ALWAYS;
  if (type->kind == TYPE_ANY || type_is_optional_like(type)) return NONE_MAYBE;
  return NONE_NEVER;
}

/* The type without None, NULL when nothing is left. */
static const Type *without_none(Emitter *e, const Type *type) {
  if (type->kind == TYPE_OPTIONAL) return type->elements[0];
  if (type->kind != TYPE_UNION) return NULL;
  const Type **members = ARENA_ARRAY(e->arena, const Type *, type->count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < type->count; i++)
    if (type->elements[i]->kind != TYPE_NONE) members[count++] = type->elements[i];
  return count && count < type->count ? type_union(e->store, count, members) : NULL;
}

static Condition emit_is(Emitter *e, const Tree *expr) {
  Value *lhs = emit_expr(e, binary_lhs(expr), NULL), *rhs = emit_expr(e, binary_rhs(expr), NULL);
  CanBeNone lhs_none = can_be_none(lhs->type), rhs_none = can_be_none(rhs->type);
  bool is = expr->kind == TK_IS;
  if (lhs_none == NONE_ALWAYS && rhs_none == NONE_ALWAYS) return known(e, expr->range, is, (Refinements){0});
  if ((lhs_none == NONE_ALWAYS && rhs_none == NONE_NEVER) || (lhs_none == NONE_NEVER && rhs_none == NONE_ALWAYS))
    return known(e, expr->range, !is, (Refinements){0});
  Value *inputs[2] = {lhs, rhs};
  Condition result = {
      emit_builtin(e, expr->range, is ? SYM_aten___is__ : SYM_aten___isnot__, 2, inputs), {{0}, {0}}, -1};
  const Tree *variable = rhs_none == NONE_ALWAYS ? binary_lhs(expr) : lhs_none == NONE_ALWAYS ? binary_rhs(expr) : NULL;
  const Type *present = variable ? without_none(e, rhs_none == NONE_ALWAYS ? lhs->type : rhs->type) : NULL;
  if (variable && variable->kind == TK_VAR && present)
    refinement_add(e, &result.refinements, is ? 1 : 0, var_text(variable), present);
  return result;
}

static bool is_call_of(const Tree *expr, const char *name, uint32_t count) {
  return apply_callee(expr)->kind == TK_VAR && str_is(var_text(apply_callee(expr)), name) &&
         apply_inputs(expr)->count == count && apply_attributes(expr)->count == 0;
}

static Condition emit_plain(Emitter *e, const Tree *expr) {
  Value *value = emit_to_bool(e, expr->range, emit_expr(e, expr, NULL));
  Condition result = {value, {{0}, {0}}, -1};
  IValue constant;
  if (value_is_constant(value, &constant) && constant.tag == TAG_BOOL) result.is_static = constant.b;
  if (str_is(symbol_name(value->node->kind), "aten::_get_tracing_state"))
    result.is_static = false; /* a script is not traced */
  return result;
}

Condition emit_condition(Emitter *e, const Tree *expr) {
  if (STACK_IS_LOW()) compilation_fail(e->c, expr->range, "This expression is nested too deeply");
  switch (expr->kind) {
    case TK_AND:
    case TK_OR:
      return emit_short_circuit(e, expr);
    case TK_NOT: {
      Condition operand = emit_condition(e, unary_operand(expr));
      Value *value = emit_builtin(e, expr->range, SYM_aten___not__, 1, &operand.value);
      return (Condition){value, refinements_not(&operand.refinements), operand.is_static < 0 ? -1 : !operand.is_static};
    }
    case TK_IS:
    case TK_ISNOT:
      return emit_is(e, expr);
    case TK_APPLY: {
      const Tree *inputs = apply_inputs(expr);
      if (is_call_of(expr, "isinstance", 2))
        return emit_isinstance(e, expr->range, inputs->children[0], inputs->children[1]);
      if (is_call_of(expr, "hasattr", 2))
        return emit_has_attr(e, expr->range, inputs->children[0], inputs->children[1]);
      if (apply_callee(expr)->kind == '.' && inputs->count == 2) {
        SugaredValue *callee = emit_sugared(e, apply_callee(expr), 1, NULL);
        if (callee->kind == &SUGARED_SPECIAL_FORM && ((SugaredForm *)callee)->form == FORM_ISINSTANCE)
          return emit_isinstance(e, expr->range, inputs->children[0], inputs->children[1]);
      }
      return emit_plain(e, expr);
    }
    default:
      return emit_plain(e, expr);
  }
}

/* ---- isinstance and hasattr ---- */

typedef struct TypeSet {
  VEC(const Type *) types;
} TypeSet;

static void add_flat(Emitter *e, TypeSet *set, const Type *type) {
  if (type->kind == TYPE_OPTIONAL || type->kind == TYPE_UNION) {
    for (uint32_t i = 0; i < type->count; i++) add_flat(e, set, type->elements[i]);
    if (type->kind == TYPE_OPTIONAL) add_flat(e, set, TYPE(NONE));
    return;
  }
  for (size_t i = 0; i < set->types.length; i++)
    if (type_equal(set->types.data[i], type)) return;
  vec_arena_push(e->arena, &set->types, type);
}

static void gather_classes(Emitter *e, TypeSet *set, const Tree *expr) {
  if (expr->kind == TK_TUPLE_LITERAL) {
    const Tree *items = tuple_literal_items(expr);
    for (uint32_t i = 0; i < items->count; i++) gather_classes(e, set, items->children[i]);
    return;
  }
  add_flat(e, set, annotation_type(e->c, e->resolver, expr));
}

static const Type *unify_all(Emitter *e, const TypeSet *set) {
  return set->types.length ? type_union(e->store, (uint32_t)set->types.length, set->types.data) : NULL;
}

Condition emit_isinstance(Emitter *e, SourceRange range, const Tree *object, const Tree *classes) {
  Value *value = emit_expr(e, object, NULL);
  TypeSet have = {0}, asked = {0}, yes = {0}, no = {0};
  add_flat(e, &have, value->type);
  gather_classes(e, &asked, classes);
  bool all_match = true;
  for (size_t i = 0; i < have.types.length; i++) {
    const Type *type = have.types.data[i], *found = NULL;
    if (type->kind == TYPE_ANY) {
      for (size_t k = 0; k < asked.types.length; k++) add_flat(e, &yes, asked.types.data[k]);
      add_flat(e, &no, type);
      all_match = asked.types.length == 1 && asked.types.data[0]->kind == TYPE_ANY;
      break;
    }
    for (size_t k = 0; k < asked.types.length && !found; k++) {
      const Type *other = asked.types.data[k];
      found = type_is_subtype(type, other, NULL) ? type : type_is_subtype(other, type, NULL) ? other : NULL;
    }
    if (found) add_flat(e, &yes, found);
    if (found == type) continue;
    add_flat(e, &no, type); /* a narrower one was asked for, or another */
    all_match = false;
  }
  Condition result = {NULL, {{0}, {0}}, -1};
  if (object->kind == TK_VAR) {
    if (yes.types.length) refinement_add(e, &result.refinements, 0, var_text(object), unify_all(e, &yes));
    if (no.types.length) refinement_add(e, &result.refinements, 1, var_text(object), unify_all(e, &no));
  }
  if (!yes.types.length || all_match) return known(e, range, yes.types.length != 0, result.refinements);
  result.value = emit_typed(e, range, SYM_prim_isinstance, 1, &value, TYPE(BOOL));
  const Type *together = unify_all(e, &asked); /* in the order of a Union */
  bool listed = together->kind == TYPE_UNION && together->count == asked.types.length;
  node_set_types(result.value->node, SYM_attr_types, (uint32_t)asked.types.length,
                 listed ? together->elements : asked.types.data);
  return result;
}

Condition emit_has_attr(Emitter *e, SourceRange range, const Tree *object, const Tree *name) {
  SugaredValue *value = emit_sugared(e, object, 1, NULL);
  if (name->kind != TK_STRINGLITERAL)
    compilation_fail(e->c, name->range, "hasattr's second argument must be a string literal");
  return known(e, range, sugared_has_attr(value, e, range, string_text(name)), (Refinements){0});
}
