/* Schemas as text: gives back the line that was parsed. */
#include "schema/schema.h"

#include <assert.h>

static void print_alias_set(uint32_t set, StrBuf *out) {
  const char *separator = "";
  if (set & ALIAS_WILDCARD) {
    strbuf_char(out, '*');
    separator = "|";
  }
  for (int letter = 25; letter >= 0; letter--) {
    if (!(set & 1u << letter)) continue;
    strbuf_printf(out, "%s%c", separator, 'a' + letter);
    separator = "|";
  }
}

static void print_alias(uint32_t before, uint32_t after, bool is_write, StrBuf *out) {
  strbuf_char(out, '(');
  print_alias_set(before, out);
  if (is_write) strbuf_char(out, '!');
  if (after && after != before) {
    strbuf_puts(out, " -> ");
    print_alias_set(after, out);
  }
  strbuf_char(out, ')');
}

static void print_base(const Type *type, uint8_t int_kind, StrBuf *out) {
  assert(int_kind <= INT_SYM);
  static const char *const names[] = {NULL, "ScalarType", "Layout", "MemoryFormat", "SymInt"};
  if (int_kind && type->kind == TYPE_INT)
    strbuf_puts(out, names[int_kind]);
  else
    type_print_str(type, out);
}

/* Annotations stand before the `?`: `t(*)?`. */
static void print_type(const Argument *argument, StrBuf *out) {
  const Type *type = argument->type;
  const AliasInfo *alias = argument->alias;
  bool is_optional = type->kind == TYPE_OPTIONAL;
  if (is_optional) type = type->elements[0];
  if (type->kind == TYPE_LIST) {
    const Type *element = type->elements[0];
    bool element_optional = element->kind == TYPE_OPTIONAL && argument->int_kind;
    print_base(element_optional ? element->elements[0] : element, argument->int_kind, out);
    if (element_optional) strbuf_char(out, '?');
    if (alias && alias->contained) print_alias(alias->contained, 0, alias->contained_write, out);
    if (argument->broadcast_n)
      strbuf_printf(out, "[%d]", argument->broadcast_n);
    else
      strbuf_puts(out, "[]");
  } else {
    print_base(type, argument->int_kind, out);
  }
  if (alias && alias->before) print_alias(alias->before, alias->after, alias->is_write, out);
  if (is_optional) strbuf_char(out, '?');
}

static void print_default(const Argument *argument, StrBuf *out) {
  IValue value = argument->default_value;
  if (value.tag == TAG_LIST && argument->broadcast_n > 1 && value.list->length == (size_t)argument->broadcast_n) {
    IValue first = list_get(value.list, 0);
    bool all_equal = ivalue_is_number(first);
    for (size_t i = 1; all_equal && i < value.list->length; i++) {
      IValue other = list_get(value.list, i);
      all_equal = ivalue_is_surely_equal(first, other);
      ivalue_release(other);
    }
    ivalue_release(first);
    if (all_equal) value = first; /* a number: nothing to release */
  }
  Status status = value.tag == TAG_STRING ? ivalue_print_repr(value, out) : ivalue_print(value, out);
  if (status != OK) {
    out->failed = true;
    status_free(status);
  }
}

void schema_print(const FunctionSchema *schema, StrBuf *out) {
  strbuf_str(out, schema->name);
  if (schema->overload_name.length) strbuf_printf(out, "." STR_FMT, STR_ARG(schema->overload_name));
  strbuf_char(out, '(');
  bool kwarg_only = false;
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    const Argument *argument = &schema->arguments[i];
    if (i) strbuf_puts(out, ", ");
    if (argument->kwarg_only && !kwarg_only) strbuf_puts(out, "*, ");
    kwarg_only |= argument->kwarg_only;
    print_type(argument, out);
    if (argument->name.length) strbuf_printf(out, " " STR_FMT, STR_ARG(argument->name));
    if (argument->has_default) {
      strbuf_char(out, '=');
      print_default(argument, out);
    }
  }
  if (schema->is_vararg) strbuf_puts(out, schema->argument_count ? ", ..." : "...");
  strbuf_puts(out, ") -> ");
  if (schema->is_varret && !schema->return_count) {
    strbuf_puts(out, "...");
    return;
  }
  /* A single return that itself begins with a bracket would read as several. */
  StrBuf first = {0};
  if (schema->return_count == 1) print_type(&schema->returns[0], &first);
  bool brackets = schema->return_count != 1 || schema->is_varret || (first.length && first.data[0] == '(');
  strbuf_dispose(&first);
  if (brackets) strbuf_char(out, '(');
  for (uint32_t i = 0; i < schema->return_count; i++) {
    if (i) strbuf_puts(out, ", ");
    print_type(&schema->returns[i], out);
    if (schema->returns[i].name.length) strbuf_printf(out, " " STR_FMT, STR_ARG(schema->returns[i].name));
  }
  if (schema->is_varret) strbuf_puts(out, ", ...");
  if (brackets) strbuf_char(out, ')');
}
