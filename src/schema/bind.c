/* The rules are those of PyTorch 1.13's programs. */
#include "schema/bind.h"

#include <assert.h>

static Str keyword_at(const ArgumentBinder *b, uint32_t i) {
  assert(i < b->keyword_count);
  return *(const Str *)(const void *)((const char *)b->keywords + i * b->keyword_stride);
}

/* An operator's self may also be called "input". */
static bool is_named(const FunctionSchema *schema, uint32_t parameter, Str name) {
  assert(parameter < schema->argument_count);
  Str own = schema->arguments[parameter].name;
  return str_equal(own, name) || (str_is(own, "self") && str_is(name, "input") &&
                                  str_starts_with(schema->name, "aten::") && schema_find_argument(schema, name) < 0);
}

static ptrdiff_t find_parameter(const FunctionSchema *schema, Str name) {
  for (uint32_t i = 0; i < schema->argument_count; i++)
    if (is_named(schema, i, name)) return i;
  return -1;
}

bool binder_next(ArgumentBinder *b, uint32_t parameter, Bound *out, StrBuf *why) {
  assert(b->used_positional <= b->positional_count);
  const Argument *argument = &b->schema->arguments[parameter];
  if (b->has_self && str_is(argument->name, "self")) {
    b->has_self = false;
    *out = (Bound){BOUND_SELF, 0};
    return true;
  }
  if (!argument->kwarg_only && b->used_positional < b->positional_count) {
    b->positional_end = parameter + 1;
    *out = (Bound){BOUND_POSITION, b->used_positional++};
    return true;
  }
  for (uint32_t k = 0; k < b->keyword_count; k++)
    if (is_named(b->schema, parameter, keyword_at(b, k))) {
      b->used_keywords++;
      *out = (Bound){BOUND_KEYWORD, k};
      return true;
    }
  *out = (Bound){BOUND_DEFAULT, 0};
  if (argument->has_default) return true;
  if (why) strbuf_printf(why, "Argument " STR_FMT " not provided.\n", STR_ARG(argument->name));
  return false;
}

void binder_take_remaining(ArgumentBinder *b) {
  b->used_positional = b->positional_count;
}

/* Whether what the keyword names has another value already. */
static bool is_given_twice(const ArgumentBinder *b, uint32_t k, uint32_t parameter) {
  const Argument *argument = &b->schema->arguments[parameter];
  if (!argument->kwarg_only && parameter < b->positional_end) return true;
  for (uint32_t before = 0; before < k; before++)
    if (is_named(b->schema, parameter, keyword_at(b, before))) return true;
  return false;
}

static void explain_unknown(const FunctionSchema *schema, Str name, StrBuf *why) {
  strbuf_printf(why, "Keyword argument " STR_FMT " unknown.", STR_ARG(name));
  for (uint32_t k = 0; k < schema->argument_count; k++) {
    Str similar = schema->arguments[k].name;
    if (similar.length <= 2 || str_distance(name, similar, 2) > (name.length < 4 ? 1 : 2)) continue;
    strbuf_printf(why, " Did you mean '" STR_FMT "'?", STR_ARG(similar));
    break;
  }
  strbuf_char(why, '\n');
}

static void explain_keywords(const ArgumentBinder *b, StrBuf *why) {
  for (uint32_t k = 0; k < b->keyword_count; k++) {
    Str name = keyword_at(b, k);
    ptrdiff_t parameter = find_parameter(b->schema, name);
    if (parameter < 0) {
      explain_unknown(b->schema, name, why);
      return;
    }
    if (is_given_twice(b, k, (uint32_t)parameter)) {
      strbuf_printf(why, "Keyword argument " STR_FMT " specified twice.\n", STR_ARG(name));
      return;
    }
  }
  strbuf_puts(why, "Argument self specified twice.\n"); /* by a keyword, besides the value that the call is made on */
}

bool binder_finish(const ArgumentBinder *b, StrBuf *why) {
  assert(b->used_keywords <= b->keyword_count);
  if (b->has_self) {
    if (why) strbuf_puts(why, "Provided self argument not used in schema.\n");
    return false;
  }
  if (!b->schema->is_vararg && b->used_positional < b->positional_count) {
    if (why)
      strbuf_printf(why, "Expected at most %u arguments but found %u positional arguments.\n", b->used_positional,
                    b->positional_count);
    return false;
  }
  if (b->used_keywords == b->keyword_count) return true; /* no parameter takes two */
  if (why) explain_keywords(b, why);
  return false;
}

/* ---- what a parameter takes ---- */

bool argument_takes_remaining(const FunctionSchema *schema, uint32_t parameter) {
  const Argument *argument = &schema->arguments[parameter];
  bool is_last = parameter + 1 == schema->argument_count || schema->arguments[parameter + 1].kwarg_only;
  return is_last && argument->type->kind == TYPE_LIST && !argument->broadcast_n &&
         argument->type->elements[0]->kind != TYPE_VAR;
}

bool argument_repeats(const Argument *argument, TypeKind number) {
  const Type *list = argument->type->kind == TYPE_OPTIONAL ? argument->type->elements[0] : argument->type;
  return argument->broadcast_n && (number == TYPE_INT || number == TYPE_FLOAT) && list->kind == TYPE_LIST &&
         list->elements[0]->kind == number;
}

void argument_begin_mismatch(const Argument *argument, StrBuf *why) {
  strbuf_puts(why, "Expected a value of type '");
  type_print_annotation(argument->type, why);
  strbuf_printf(why, "' for argument '" STR_FMT "' but instead found type '", STR_ARG(argument->name));
}
void argument_end_mismatch(StrBuf *why) {
  strbuf_puts(why, "'.\n");
}
