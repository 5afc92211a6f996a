/* See open_types.h. */
#include "schema/open_types.h"

#include <assert.h>

#include "schema/type_parse.h"

/* ---- text ---- */

static void add_type(TypeParser *p, TypeRow *row) {
  ParsedType parsed = {0};
  if (row->count == OPEN_TYPES_MAX) type_parser_fail(p, "fewer types");
  type_parse(p, &parsed);
  row->types[row->count++] = parsed.type;
}

/* A type or a group of them in braces, which `...` repeats. */
static void parse_group(TypeParser *p, TypeRow *row) {
  uint32_t begin = row->count;
  bool is_group = type_parser_take(p, '{');
  do add_type(p, row);
  while (is_group && p->token.kind != '}');
  if (is_group) type_parser_expect(p, '}', "}");
  bool repeats = type_parser_take(p, TK_DOTS);
  if (is_group && !repeats) type_parser_fail(p, "...");
  if (!repeats) return;
  if (row->repeated) type_parser_fail(p, "one ...");
  row->before = (uint8_t)begin;
  row->repeated = (uint8_t)(row->count - begin);
}

static bool is_over(const TypeParser *p) {
  return p->token.kind == TK_EOF || p->token.kind == TK_NEWLINE;
}

static void parse_row(TypeParser *p, TypeRow *row) {
  while (!is_over(p) && p->token.kind != TK_ARROW) parse_group(p, row);
  if (!row->repeated) row->before = row->count;
}

static uint8_t count_open(const Argument *arguments, uint32_t count) {
  uint8_t open = 0;
  for (uint32_t i = 0; i < count; i++) open = (uint8_t)(open + (arguments[i].type->kind == TYPE_ANY));
  return open;
}

const OpenTypes *open_types_parse(Arena *arena, TypeStore *store, const FunctionSchema *schema, Str text) {
  OpenTypes *open = ARENA_NEW(arena, OpenTypes);
  TypeParser p;
  type_parser_init(&p, arena, store, text);
  parse_row(&p, &open->inputs);
  if (type_parser_take(&p, TK_ARROW)) parse_row(&p, &open->outputs);
  if (!is_over(&p)) type_parser_fail(&p, "a type");
  open->inputs.any = count_open(schema->arguments, schema->argument_count);
  open->outputs.any = count_open(schema->returns, schema->return_count);
  return open;
}

/* ---- questions ---- */

static bool takes_count(const TypeRow *row, uint32_t count) {
  uint32_t fixed = (uint32_t)(row->count - row->repeated);
  if (!row->repeated || count < fixed) return count == fixed;
  return (count - fixed) % row->repeated == 0;
}

/* Of the i-th open value of `count`. */
static const Type *type_at(const TypeRow *row, uint32_t i, uint32_t count) {
  assert(i < count && takes_count(row, count));
  uint32_t after = (uint32_t)(row->count - row->before - row->repeated);
  if (i < row->before) return row->types[i];
  if (i >= count - after) return row->types[row->count - (count - i)];
  return row->types[row->before + (i - row->before) % row->repeated];
}

/* Which of the open values stands at i. */
static uint32_t place_of(const TypeRow *row, const Argument *typed, uint32_t typed_count, uint32_t i) {
  return i < typed_count ? count_open(typed, i) : row->any + (i - typed_count);
}

bool schema_takes_count(const FunctionSchema *schema, uint32_t count) {
  if (count < schema->argument_count || (count > schema->argument_count && !schema->is_vararg)) return false;
  const OpenTypes *open = schema->open;
  return !open || takes_count(&open->inputs, open->inputs.any + (count - schema->argument_count));
}

const Type *schema_input_type(const FunctionSchema *schema, uint32_t i, uint32_t count) {
  assert(i < count);
  if (!schema_input_is_open(schema, i)) return schema->arguments[i].type;
  if (!schema->open) return TYPE(ANY);
  const TypeRow *row = &schema->open->inputs;
  return type_at(row, place_of(row, schema->arguments, schema->argument_count, i),
                 row->any + (count - schema->argument_count));
}

const Type *schema_output_type(const FunctionSchema *schema, uint32_t i, uint32_t count) {
  assert(i < count);
  if (i < schema->return_count && schema->returns[i].type->kind != TYPE_ANY) return schema->returns[i].type;
  if (!schema->open || !schema->open->outputs.count || count < schema->return_count) return NULL;
  const TypeRow *row = &schema->open->outputs;
  uint32_t open = row->any + (count - schema->return_count);
  return takes_count(row, open) ? type_at(row, place_of(row, schema->returns, schema->return_count, i), open) : NULL;
}
