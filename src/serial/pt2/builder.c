#include "serial/pt2/builder.h"

void pt2_fail(const Pt2Builder *b, ErrorCode code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = status_newv(code, format, arguments);
  va_end(arguments);
  catch_throw(b->graph->arena->catch_point, b->where ? status_context(status, "%s", b->where) : status);
}
void pt2_try(const Pt2Builder *b, Status status) {
  if (status) catch_throw(b->graph->arena->catch_point, b->where ? status_context(status, "%s", b->where) : status);
}

/* ---- values by name ---- */

void pt2_scope_init(Pt2Builder *b, Pt2Scope *scope) {
  *scope = (Pt2Scope){.outer = b->scope};
  map_init(&scope->values, b->graph->arena);
  b->scope = scope;
}
Value *pt2_value(const Pt2Builder *b, Str name) {
  Value *value = map_get(&b->scope->values, name);
  if (!value) pt2_fail(b, ERROR_DATA, "no value is called '" STR_FMT "'", PT2_SHORT(name));
  return value;
}
/* What graphs print values by: a name as in a program, for others their number. */
static bool is_identifier(Str name) {
  for (size_t i = 0; i < name.length; i++) {
    char c = name.data[i];
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!is_letter && (!i || c < '0' || c > '9')) return false;
  }
  return name.length && name.length < 200;
}
void pt2_define(Pt2Builder *b, Str name, Value *value) {
  if (map_has(&b->scope->values, name)) pt2_fail(b, ERROR_DATA, "two values are called '" STR_FMT "'", PT2_SHORT(name));
  map_put(&b->scope->values, name, value);
  if (is_identifier(name) && !value->name.length && value->node->kind != SYM_prim_Constant)
    value_set_name(value, (Str){arena_strndup(b->graph->arena, name.data, name.length), name.length});
}
Str pt2_text(const Pt2Builder *b, const Json *object, const char *key) {
  Str text;
  if (!json_string(json_get(object, key), &text)) pt2_fail(b, ERROR_DATA, "a '%s' is missing", key);
  return text;
}

/* ---- making nodes ---- */

Value *pt2_constant(Pt2Builder *b, IValue value) {
  graph_hold(b->graph, value);
  return graph_insert_constant(b->graph, value, NULL);
}
Value *pt2_string(Pt2Builder *b, Str text) {
  IValue value;
  pt2_try(b, ivalue_from_str(text, &value));
  return pt2_constant(b, value);
}

Value *pt2_emit(Pt2Builder *b, const char *name, uint32_t count, Value *const *arguments) {
  NamedValue *named = ARENA_ARRAY(b->graph->arena, NamedValue, count + 1);
  for (uint32_t i = 0; i < count; i++) named[i] = (NamedValue){.value = arguments[i]};
  CallArguments call = {.count = count, .positional = named};
  return operator_emit(b->graph, b->exec, str_from(name), b->graph->range, &call);
}

void pt2_raise_if(Pt2Builder *b, Value *condition, Str format, uint32_t count, Value *const *values) {
  Graph *graph = b->graph;
  Node *node = graph_create_if(graph, condition), *before = graph->insert_before;
  graph_insert_node(graph, node);
  graph_set_insert_block(graph, node->blocks[0]);
  Value *inputs[PT2_MAX_VALUES + 1] = {pt2_string(b, format)}, *raised[2];
  for (uint32_t i = 0; i < count; i++) inputs[i + 1] = values[i];
  raised[0] = count ? pt2_emit(b, "aten::format", count + 1, inputs) : inputs[0];
  raised[1] = pt2_string(b, STR("builtins.RuntimeError"));
  graph_insert_node(graph, graph_create(graph, SYM_prim_RaiseException, 2, raised, 0));
  graph_set_insert_point(graph, before);
}
