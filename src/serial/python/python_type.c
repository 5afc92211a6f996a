/* Definitions of named types: classes with attributes, constants and methods; interfaces, enums, named tuples. */
#include <assert.h>

#include "serial/python/python_print.h"
#include "syntax/token.h"

void python_depend_type(PythonPrinter *printer, const Type *type) {
  if (!printer->depend) return;
  switch (type->kind) {
    case TYPE_CLASS:
    case TYPE_INTERFACE:
    case TYPE_ENUM:
      printer->depend(printer->context, type, NULL);
      return;
    case TYPE_TUPLE:
      if (type->name.length) printer->depend(printer->context, type, NULL);
      break;
    default:
      break;
  }
  for (uint32_t i = 0; i < type->count; i++) python_depend_type(printer, type->elements[i]);
}

bool python_is_identifier(Str name) {
  if (!name.length || (name.data[0] >= '0' && name.data[0] <= '9')) return false;
  for (size_t i = 0; i < name.length; i++) {
    char c = name.data[i];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

bool python_is_name(Str name) {
  return python_is_identifier(name) && token_keyword(name) == TK_IDENT;
}

void python_quote(Str text, StrBuf *out) {
  strbuf_char(out, '"');
  for (size_t i = 0; i < text.length; i++) {
    unsigned char c = (unsigned char)text.data[i];
    if (c == '"' || c == '\\') strbuf_char(out, '\\');
    if (c < 32)
      strbuf_printf(out, "\\%03o", c);
    else
      strbuf_char(out, (char)c);
  }
  strbuf_char(out, '"');
}

static void print_annotation(PythonPrinter *printer, const Type *type, StrBuf *out) {
  python_depend_type(printer, type);
  type_print_annotation(type, out);
}

static void print_attribute_list(const ClassType *type, AttributeKind kind, const char *title, StrBuf *out) {
  strbuf_printf(out, "  %s = [", title);
  for (size_t i = 0; i < type->attributes.length; i++) {
    const ClassAttribute *attribute = &type->attributes.data[i];
    if (attribute->kind != kind) continue;
    python_quote(attribute->name, out);
    strbuf_puts(out, ", ");
  }
  strbuf_puts(out, "]\n");
}

static void print_hook_list(const ClassType *type, HookKind kind, StrBuf *out) {
  assert(kind < HOOK_KIND_COUNT);
  if (!type->hooks[kind].length) return;
  strbuf_printf(out, "  %s = [", class_hook_lists[kind]);
  for (size_t i = 0; i < type->hooks[kind].length; i++) {
    python_quote(str_after_last(type->hooks[kind].data[i]->name, '.'), out);
    strbuf_puts(out, ", ");
  }
  strbuf_puts(out, "]\n");
}
static bool is_hook_before(const ClassType *type, HookKind kind, const Function *hook, size_t end) {
  for (size_t i = 0; i < end && i < type->hooks[kind].length; i++)
    if (type->hooks[kind].data[i] == hook) return true;
  return false;
}
/* Each once, whatever it is listed as. */
static Status print_hooks(PythonPrinter *printer, const ClassType *type, HookKind kind, StrBuf *out) {
  for (size_t i = 0; i < type->hooks[kind].length; i++) {
    const Function *hook = type->hooks[kind].data[i];
    bool printed = kind == HOOK_BEFORE_FORWARD && is_hook_before(type, HOOK_AFTER_FORWARD, hook, SIZE_MAX);
    if (!printed && !is_hook_before(type, kind, hook, i)) TRY(python_print_function(printer, hook, 1, (Str){0}, out));
  }
  return OK;
}

/* `__annotations__` and its like mean something else where they are assigned. */
static bool has_plain_annotation(Str name) {
  return python_is_name(name) && !(str_starts_with(name, "__") && str_ends_with(name, "__"));
}

static void print_attributes(PythonPrinter *printer, const ClassType *type, StrBuf *out) {
  for (size_t i = 0; i < type->attributes.length; i++) {
    const ClassAttribute *attribute = &type->attributes.data[i];
    if (has_plain_annotation(attribute->name)) {
      strbuf_printf(out, "  " STR_FMT " : ", STR_ARG(attribute->name));
    } else {
      if (!i) strbuf_puts(out, "  __annotations__ = []\n");
      strbuf_puts(out, "  __annotations__[");
      python_quote(attribute->name, out);
      strbuf_puts(out, "] = ");
    }
    print_annotation(printer, attribute->type, out);
    strbuf_char(out, '\n');
  }
}

/* What has no literal is left out: code has it inlined. */
typedef struct ClassConstants {
  PythonPrinter *printer;
  const ClassType *class_type;
  StrBuf *out;
  TypeStore store; /* of the constants' types */
  Status status;
} ClassConstants;
static void print_constants(void *argument) {
  ClassConstants *c = argument;
  StrBuf *out = c->out;
  for (size_t i = 0; i < c->class_type->constants.length && !c->status; i++) {
    const ClassConstant *constant = &c->class_type->constants.data[i];
    if (!python_is_name(constant->name) || constant->value->tag > TAG_ENUM) continue;
    const Type *type = ivalue_type(*constant->value, &c->store);
    strbuf_printf(out, "  " STR_FMT " : Final[", STR_ARG(constant->name));
    print_annotation(c->printer, type, out);
    strbuf_puts(out, "] = ");
    c->status = python_print_constant(c->printer, *constant->value, type, out);
    strbuf_char(out, '\n');
  }
}

static Status print_class(PythonPrinter *printer, const ClassType *type, StrBuf *out) {
  strbuf_printf(out, "class " STR_FMT "%s:\n", STR_ARG(str_after_last(type->type.name, '.')),
                type->is_module ? "(Module)" : "");
  if (type->is_module) {
    print_attribute_list(type, ATTRIBUTE_PARAMETER, "__parameters__", out);
    print_attribute_list(type, ATTRIBUTE_BUFFER, "__buffers__", out);
    print_hook_list(type, HOOK_BEFORE_FORWARD, out);
    print_hook_list(type, HOOK_AFTER_FORWARD, out);
  }
  print_attributes(printer, type, out);
  ClassConstants constants = {.printer = printer, .class_type = type, .out = out};
  TRY(type_store_init(&constants.store, NULL));
  Status thrown = arena_protect(&constants.store.arena, print_constants, &constants);
  type_store_dispose(&constants.store);
  if (constants.status) status_free(thrown);
  TRY(constants.status ? constants.status : thrown);
  for (size_t i = 0; i < type->methods.length; i++)
    TRY(python_print_function(printer, type->methods.data[i], 1, (Str){0}, out));
  TRY(print_hooks(printer, type, HOOK_AFTER_FORWARD, out));
  TRY(print_hooks(printer, type, HOOK_BEFORE_FORWARD, out));
  if (!type->is_module && !type->attributes.length && !type->methods.length && !type->constants.length)
    strbuf_puts(out, "  pass\n");
  return OK;
}

static void print_named_tuple(PythonPrinter *printer, const Type *type, StrBuf *out) {
  assert(type->kind == TYPE_TUPLE && type->field_names);
  strbuf_printf(out, "class " STR_FMT "(NamedTuple):\n", STR_ARG(str_after_last(type->name, '.')));
  for (uint32_t i = 0; i < type->count; i++) {
    strbuf_printf(out, "  " STR_FMT " : ", STR_ARG(type->field_names[i]));
    print_annotation(printer, type->elements[i], out);
    strbuf_char(out, '\n');
  }
  if (!type->count) strbuf_puts(out, "  pass\n");
}

static Status print_interface(PythonPrinter *printer, const InterfaceType *type, StrBuf *out) {
  strbuf_printf(out, "class " STR_FMT "(%s):\n", STR_ARG(str_after_last(type->type.name, '.')),
                type->is_module ? "ModuleInterface" : "Interface");
  for (size_t i = 0; i < type->methods.length; i++) {
    const FunctionSchema *method = type->methods.data[i];
    strbuf_printf(out, "  def " STR_FMT "(self", STR_ARG(str_after_last(method->name, '.')));
    for (uint32_t k = 1; k < method->argument_count; k++) {
      const Argument *argument = &method->arguments[k];
      strbuf_printf(out, ", " STR_FMT ": ", STR_ARG(argument->name));
      print_annotation(printer, argument->type, out);
      if (!argument->has_default) continue;
      strbuf_char(out, '=');
      TRY(python_print_constant(printer, argument->default_value, argument->type, out));
    }
    strbuf_puts(out, ") -> ");
    print_annotation(printer, method->return_count ? method->returns[0].type : TYPE(NONE), out);
    strbuf_puts(out, ":\n    pass\n");
  }
  return OK;
}

static Status print_enum(PythonPrinter *printer, const EnumType *type, StrBuf *out) {
  strbuf_printf(out, "class " STR_FMT "(Enum):\n", STR_ARG(str_after_last(type->type.name, '.')));
  for (uint32_t i = 0; i < type->count; i++) {
    strbuf_printf(out, "  " STR_FMT " = ", STR_ARG(type->names[i]));
    TRY(python_print_constant(printer, type->values[i], type->value_type, out));
    strbuf_char(out, '\n');
  }
  return OK;
}

Status python_print_type(PythonPrinter *printer, const Type *type, StrBuf *out) {
  switch (type->kind) {
    case TYPE_CLASS:
      return print_class(printer, type->class_type, out);
    case TYPE_INTERFACE:
      return print_interface(printer, type->interface_type, out);
    case TYPE_ENUM:
      return print_enum(printer, type->enum_type, out);
    case TYPE_TUPLE:
      print_named_tuple(printer, type, out);
      return OK;
    default:
      return status_internal("a type without a definition");
  }
}
