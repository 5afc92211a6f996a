/* FunctionSchema: lookup and comparison. */
#include "schema/schema.h"

#include <assert.h>

#include "type/class_type.h"

ptrdiff_t schema_find_argument(const FunctionSchema *schema, Str name) {
  for (uint32_t i = 0; i < schema->argument_count; i++)
    if (str_equal(schema->arguments[i].name, name)) return i;
  return -1;
}

bool schema_same_arguments(const FunctionSchema *a, const FunctionSchema *b) {
  if (a->argument_count != b->argument_count || a->is_vararg != b->is_vararg) return false;
  for (uint32_t i = 0; i < a->argument_count; i++) {
    const Argument *x = &a->arguments[i], *y = &b->arguments[i];
    if (!type_equal(x->type, y->type) || x->kwarg_only != y->kwarg_only || !str_equal(x->name, y->name)) return false;
  }
  return true;
}

void schema_dispose_defaults(FunctionSchema *schema) {
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    ivalue_release(schema->arguments[i].default_value);
    schema->arguments[i].default_value = IVALUE_NONE;
  }
}

/* Whether a value for `sub` can be used where `super` is expected. */
static bool argument_is_subtype(const Argument *sub, const Argument *super, StrBuf *why) {
  return type_is_subtype(sub->type, super->type, why) && str_equal(sub->name, super->name) &&
         sub->kwarg_only == super->kwarg_only && sub->has_default == super->has_default &&
         (!sub->has_default || ivalue_is_surely_equal(sub->default_value, super->default_value));
}

bool schema_is_subtype(const FunctionSchema *a, const FunctionSchema *b, bool as_method, StrBuf *why) {
  if (a->argument_count != b->argument_count || a->return_count != b->return_count) return false;
  for (uint32_t i = as_method; i < a->argument_count; i++)
    if (!argument_is_subtype(&b->arguments[i], &a->arguments[i], why)) return false;
  for (uint32_t i = 0; i < a->return_count; i++)
    if (!type_is_subtype(a->returns[i].type, b->returns[i].type, why)) return false;
  return true;
}

const FunctionSchema *interface_type_find_method(const InterfaceType *interface, Str name) {
  for (size_t i = 0; i < interface->methods.length; i++)
    if (str_equal(interface->methods.data[i]->name, name)) return interface->methods.data[i];
  return NULL;
}

bool schema_implements(const Type *type, const InterfaceType *interface,
                       const FunctionSchema *(*find_method)(const Type *type, Str name), StrBuf *why) {
  assert(type->kind == TYPE_CLASS || type->kind == TYPE_INTERFACE);
  const char *what = type->kind == TYPE_CLASS ? "Class" : "Interface",
             *lower = type->kind == TYPE_CLASS ? "class" : "interface";
  Str super = interface->type.name;
  for (size_t i = 0; i < interface->methods.length; i++) {
    const FunctionSchema *wanted = interface->methods.data[i];
    const FunctionSchema *own = type->kind == TYPE_INTERFACE
                                    ? interface_type_find_method(type->interface_type, wanted->name)
                                    : find_method(type, wanted->name);
    if (own && schema_is_subtype(own, wanted, true, why)) continue;
    if (!why) return false;
    if (!own) {
      strbuf_printf(why, "%s '" STR_FMT "' does not have method '" STR_FMT "' but '" STR_FMT "' does.\n", what,
                    STR_ARG(type->name), STR_ARG(wanted->name), STR_ARG(super));
      return false;
    }
    strbuf_printf(why, "Method on %s '" STR_FMT "' (1) is not compatible with interface '" STR_FMT "' (2)\n  (1) ",
                  lower, STR_ARG(type->name), STR_ARG(super));
    schema_print(own, why);
    strbuf_puts(why, "\n  (2) ");
    schema_print(wanted, why);
    strbuf_char(why, '\n');
    return false;
  }
  return true;
}
