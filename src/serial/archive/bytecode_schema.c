/* Schemas of bytecode's methods: tables of arguments and returns, each a name, a type as text and a default. */
#include <assert.h>

#include "base/stack.h"
#include "serial/archive/bytecode_lift.h"
#include "serial/python/python_print.h"

enum { MAX_ARGUMENTS = 1 << 12 };

/* ---- types ---- */

/* Where the bracket that opens at `at` closes; the text's length when it does not. */
static size_t closing(Str text, size_t at) {
  assert(at <= text.length);
  int depth = 0;
  for (; at < text.length; at++) {
    depth += text.data[at] == '[';
    depth -= text.data[at] == ']';
    if (!depth) break;
  }
  return at;
}

static Str trimmed(Str text) {
  while (text.length && text.data[0] == ' ') text = str_slice(text, 1, text.length);
  return text;
}

/* `[[field, type], ...]`. */
static const Type *declare_named_tuple(Compilation *c, Bytecode *bytecode, Str name, Str fields) {
  Arena *arena = &c->unit->store.arena;
  VEC(Str) names = {0};
  VEC(const Type *) types = {0};
  for (size_t at = 1; at < fields.length; at++) {
    if (fields.data[at] != '[') continue;
    size_t end = closing(fields, at);
    Str field = str_slice(fields, at + 1, end);
    ptrdiff_t comma = str_find_char(field, ',');
    if (comma <= 0 || end == fields.length) break;
    Str kept = {arena_strndup(arena, field.data, (size_t)comma), (size_t)comma};
    vec_arena_push(&c->scratch, &names, kept);
    vec_arena_push(&c->scratch, &types,
                   bytecode_parse_type(c, bytecode, trimmed(str_slice(field, (size_t)comma + 1, field.length))));
    at = end;
  }
  Str kept = {arena_strndup(arena, name.data, name.length), name.length};
  const Type *type = type_named_tuple(&c->unit->store, kept, (uint32_t)types.length, types.data, names.data);
  unit_add_type(c->unit, type);
  return type;
}

const Type *bytecode_parse_type(Compilation *c, Bytecode *bytecode, Str text) {
  static const char mark[] = "[NamedTuple, ";
  ptrdiff_t bracket = str_find_char(text, '[');
  if (STACK_IS_LOW()) catch_throw(&c->catch_point, status_new(ERROR_DATA, "types nest too deeply"));
  if (bracket > 0 && str_starts_with(str_slice(text, (size_t)bracket, text.length), mark)) {
    Str name = str_slice(text, 0, (size_t)bracket);
    const Type *type = unit_find_type(c->unit, name);
    return type ? type
                : declare_named_tuple(c, bytecode, name, str_slice(text, (size_t)bracket + strlen(mark), text.length));
  }
  return frontend_parse_type(c, text, &bytecode->import->importer.resolver);
}

/* ---- schemas ---- */

static _Noreturn void fail(Compilation *c, const BytecodeFunction *function, const char *what) {
  catch_throw(&c->catch_point, status_new(ERROR_DATA, "the schema of " STR_FMT "." STR_FMT " %s",
                                          STR_ARG(function->class_name), STR_ARG(function->name), what));
}

static void read_argument(Compilation *c, Bytecode *bytecode, const BytecodeFunction *function, IValue table,
                          Argument *out) {
  IValue name = bytecode_table_get(table, "name"), type = bytecode_table_get(table, "type");
  if (name.tag != TAG_STRING || type.tag != TAG_STRING) fail(c, function, "has an argument without name or type");
  Str text = ivalue_str(name);
  *out = (Argument){.name = {arena_strndup(&c->unit->store.arena, text.data, text.length), text.length}};
  out->type = bytecode_parse_type(c, bytecode, ivalue_str(type));
  IValue value = bytecode_table_get(table, "default_value");
  /* None also stands for no default */
  if (!ivalue_is_instance(value, out->type) || value.tag == TAG_OBJECT) return;
  unit_hold(c->unit, ivalue_retain(value));
  out->has_default = true;
  out->default_value = value;
}

/* Of arguments, which have names, or of returns, which need none. */
static uint32_t read_arguments(Compilation *c, Bytecode *bytecode, const BytecodeFunction *function, const char *key,
                               bool need_names, Argument **out) {
  IValue entries = bytecode_table_get(function->schema, key);
  if (entries.tag != TAG_TUPLE || entries.tuple->length > MAX_ARGUMENTS) fail(c, function, "has no list of arguments");
  uint32_t count = entries.tuple->length;
  *out = ARENA_ARRAY(&c->unit->store.arena, Argument, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    Argument *argument = &(*out)[i];
    read_argument(c, bytecode, function, entries.tuple->values[i], argument);
    if ((need_names || argument->name.length) && !python_is_name(argument->name))
      fail(c, function, "has an argument whose name is no identifier");
  }
  return count;
}

/* The first instruction stores the arguments. */
static uint32_t count_stored(const BytecodeFunction *function) {
  IValue entries = bytecode_table_get(function->code, "instructions");
  if (entries.tag != TAG_TUPLE || !entries.tuple->length) return 1;
  IValue first = entries.tuple->values[0];
  if (first.tag != TAG_TUPLE || first.tuple->length != 3 || first.tuple->values[0].tag != TAG_STRING ||
      first.tuple->values[2].tag != TAG_INT || !str_is(ivalue_str(first.tuple->values[0]), "STOREN"))
    return 1;
  int64_t count = first.tuple->values[2].i;
  return count < 1 || count > MAX_ARGUMENTS ? 1 : (uint32_t)count;
}

static void guess(Compilation *c, const BytecodeFunction *function, FunctionSchema *schema) {
  Arena *arena = &c->unit->store.arena;
  schema->argument_count = count_stored(function);
  schema->arguments = ARENA_ARRAY(arena, Argument, schema->argument_count);
  for (uint32_t i = 0; i < schema->argument_count; i++)
    schema->arguments[i] =
        (Argument){.name = str_from(arena_printf(arena, i ? "x%u" : "self", i)), .type = TYPE(TENSOR)};
  schema->arguments[0].type = unit_find_type(c->unit, function->class_name);
  schema->return_count = 1;
  schema->returns = ARENA_ARRAY(arena, Argument, 1);
  schema->returns[0] = (Argument){.type = TYPE(ANY)};
}

FunctionSchema *bytecode_schema(Compilation *c, Bytecode *bytecode, const BytecodeFunction *function) {
  Arena *arena = &c->unit->store.arena;
  FunctionSchema *schema = ARENA_NEW(arena, FunctionSchema);
  *schema = (FunctionSchema){
      .name = {arena_strndup(arena, function->name.data, function->name.length), function->name.length}};
  if (function->schema.tag == TAG_NONE) {
    guess(c, function, schema);
    return schema;
  }
  schema->argument_count = read_arguments(c, bytecode, function, "arguments", true, &schema->arguments);
  schema->return_count = read_arguments(c, bytecode, function, "returns", false, &schema->returns);
  const Type *self = schema->argument_count ? schema->arguments[0].type : NULL;
  if (!self || self != unit_find_type(c->unit, function->class_name)) fail(c, function, "does not begin with self");
  if (schema->return_count != 1) fail(c, function, "gives other than one value");
  return schema;
}

const Type *bytecode_return_type(Compilation *c, Bytecode *bytecode, Str class_name, Str method) {
  for (size_t i = 0; i < bytecode->functions.length; i++) {
    const BytecodeFunction *function = &bytecode->functions.data[i];
    if (str_equal(function->class_name, class_name) && str_equal(function->name, method))
      return bytecode_schema(c, bytecode, function)->returns[0].type;
  }
  return NULL;
}
