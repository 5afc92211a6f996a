/* Suggestions: names by edit distance out of what a type has, in the order in which attributes are looked up. Only run
 * when compiling has failed, so they may take the time to look at every operator. */
#include "frontend/suggest.h"

void suggestion_start(Suggestion *s, Str wanted) {
  *s = (Suggestion){.wanted = wanted, .limit = wanted.length < 4 ? 1 : 2};
}

void suggestion_offer(Suggestion *s, Str name) {
  if (str_equal(name, s->wanted)) return;
  if (str_starts_with(name, "_") && !str_starts_with(s->wanted, "_")) return;
  size_t distance = str_distance(s->wanted, name, s->limit);
  if (distance > s->limit) return;
  size_t common = 0;
  while (common < name.length && common < s->wanted.length && name.data[common] == s->wanted.data[common]) common++;
  if (s->best.length && distance == s->limit && common <= s->common) return;
  s->best = name;
  s->limit = distance;
  s->common = common;
}

const char *suggestion_text(const Suggestion *s, Compilation *c) {
  return s->best.length ? arena_printf(&c->scratch, " Did you mean '" STR_FMT "'?", STR_ARG(s->best)) : "";
}

static Str last_part(Str name) {
  ptrdiff_t dot = str_rfind_char(name, '.');
  return str_slice(name, (size_t)(dot + 1), name.length);
}

static void offer_class(Suggestion *s, const ClassType *c) {
  for (size_t i = 0; i < c->attributes.length; i++) suggestion_offer(s, c->attributes.data[i].name);
  for (size_t i = 0; i < c->constants.length; i++) suggestion_offer(s, c->constants.data[i].name);
  for (size_t i = 0; i < c->properties.length; i++) suggestion_offer(s, c->properties.data[i].name);
  for (size_t i = 0; i < c->methods.length; i++) suggestion_offer(s, last_part(c->methods.data[i]->name));
  for (size_t i = 0; i < c->static_methods.length; i++) suggestion_offer(s, last_part(c->static_methods.data[i]->name));
}

static void offer_operators(Suggestion *s, Emitter *e, Value *value) {
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    if (!str_starts_with(op->name, "aten::") || operator_is_of_plans(op)) continue;
    Str name = str_slice(op->name, strlen("aten::"), op->name.length);
    if (str_distance(s->wanted, name, s->limit) > s->limit) continue;
    if (sugared_takes_receiver(e, operator_schema(op), value)) suggestion_offer(s, name);
  }
}

const char *suggest_attribute(Emitter *e, Value *value, Str name) {
  const Type *type = value->type;
  Suggestion s;
  suggestion_start(&s, name);
  sugared_offer_properties(&s, type);
  if (type->kind == TYPE_CLASS) {
    offer_class(&s, type->class_type);
  } else if (type->kind == TYPE_INTERFACE) {
    for (size_t i = 0; i < type->interface_type->methods.length; i++)
      suggestion_offer(&s, type->interface_type->methods.data[i]->name);
  } else if (type->kind == TYPE_TUPLE && type->field_names) {
    for (uint32_t i = 0; i < type->count; i++) suggestion_offer(&s, type->field_names[i]);
  } else {
    offer_operators(&s, e, value);
  }
  return arena_printf(e->arena, "%s%s", suggestion_text(&s, e->c), suggest_annotation(e, value));
}

const char *suggest_annotation(Emitter *e, const Value *value) {
  if (!value->inferred) return "";
  return arena_printf(
      e->arena, "\n'%s' is taken for a Tensor because it has no annotation; write '%s: TYPE' if it is something else",
      value->inferred, value->inferred);
}
