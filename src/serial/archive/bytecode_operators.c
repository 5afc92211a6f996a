/* The machine's stack and registers, and operators: their arguments from the stack, fitted to the schema. */
#include "serial/archive/bytecode_lift.h"
#include "serial/archive/bytecode_machine.h"
#include "serial/archive/upgraders.h"

SourceRange lift_line(const Lift *l, size_t at) {
  return (SourceRange){l->source, l->lines[at], l->lines[at + 1] - 1};
}

/* ---- tables ---- */

IValue bytecode_table_get(IValue table, const char *key) {
  for (uint32_t i = 0; table.tag == TAG_TUPLE && i < table.tuple->length; i++) {
    IValue pair = table.tuple->values[i];
    if (pair.tag != TAG_TUPLE || pair.tuple->length != 2 || pair.tuple->values[0].tag != TAG_STRING) continue;
    if (str_is(ivalue_str(pair.tuple->values[0]), key)) return pair.tuple->values[1];
  }
  return IVALUE_NONE;
}

IValue lift_row(Lift *l, IValue table, int64_t index, const char *what) {
  if (table.tag != TAG_TUPLE || index < 0 || index >= (int64_t)table.tuple->length)
    LIFT_FAIL(l, "there is no %s %lld", what, (long long)index);
  return table.tuple->values[index];
}

/* ---- stack and registers ---- */

void lift_push(Lift *l, Value *value) {
  vec_arena_push(l->graph->arena, &l->stack, value);
}
Value *lift_pop(Lift *l) {
  if (l->stack.length <= l->base) LIFT_FAIL(l, "the stack is empty");
  return vec_pop(&l->stack);
}
/* The topmost n in the order in which they were pushed; valid until the next push. */
Value **lift_pop_many(Lift *l, int64_t n) {
  if (n < 0 || (uint64_t)n > l->stack.length - l->base)
    LIFT_FAIL(l, "the stack holds fewer than %lld values", (long long)n);
  l->stack.length -= (size_t)n;
  Value **values = ARENA_ARRAY(l->graph->arena, Value *, (size_t)n + 1);
  for (int64_t i = 0; i < n; i++) values[i] = l->stack.data[l->stack.length + (size_t)i];
  return values;
}

/* ---- nodes ---- */

Node *lift_add(Lift *l, Symbol kind, uint32_t count, Value *const *inputs, uint32_t outputs) {
  Node *node = graph_create(l->graph, kind, count, inputs, outputs);
  node->range = lift_line(l, l->at);
  return graph_insert_node(l->graph, node);
}
Value *lift_add_one(Lift *l, Symbol kind, uint32_t count, Value *const *inputs, const Type *type) {
  Value *value = node_output(lift_add(l, kind, count, inputs, 1), 0);
  value->type = type;
  return value;
}

const Type *lift_require_kind(Lift *l, const Value *value, TypeKind kind) {
  if (value->type->kind != kind) LIFT_FAIL(l, "a value is of another type than the instruction takes");
  return value->type;
}

/* ---- operators ---- */

bool bytecode_operator(IValue entry, BytecodeOperator *out) {
  if (entry.tag != TAG_TUPLE || entry.tuple->length < 2 || entry.tuple->values[0].tag != TAG_STRING ||
      entry.tuple->values[1].tag != TAG_STRING)
    return false;
  *out = (BytecodeOperator){ivalue_str(entry.tuple->values[0]), ivalue_str(entry.tuple->values[1]), -1};
  if (entry.tuple->length > 2 && entry.tuple->values[2].tag == TAG_INT) out->given = entry.tuple->values[2].i;
  return true;
}

/* Kinds that are rows of PyTorch's and nodes of the language here. */
static bool is_of_language(Str name) {
  Symbol kind = symbol_find(name);
  return kind == SYM_prim_TupleUnpack || kind == SYM_prim_unchecked_cast || kind == SYM_prim_ListUnpack ||
         kind == SYM_prim_unchecked_unwrap_optional;
}

Status bytecode_operator_find(const BytecodeOperator *op, bool *out_is_known) {
  const Operator *found = operator_find_overload(op->name, op->overload_name);
  *out_is_known = found || is_of_language(op->name);
  return found ? operator_check_name(found) : OK;
}

static const Type *without_none(TypeStore *store, const Type *type) {
  if (type->kind == TYPE_OPTIONAL) return type->elements[0];
  if (type->kind != TYPE_UNION) return type;
  const Type *members[TYPE_MAX_MEMBERS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < type->count; i++)
    if (type->elements[i]->kind != TYPE_NONE) members[count++] = type->elements[i];
  return type_union(store, count, members);
}

/* The program tested the value before: it is not None. */
void lift_unchecked_cast(Lift *l) {
  Value *value = lift_pop(l);
  lift_push(l, lift_add_one(l, SYM_prim_unchecked_cast, 1, &value, without_none(l->graph->store, value->type)));
}

static void lift_tuple_unpack(Lift *l) {
  Value *tuple = lift_pop(l);
  lift_require_kind(l, tuple, TYPE_TUPLE);
  uint32_t count = tuple->type->count;
  Value **values = graph_insert_tuple_unpack(l->graph, tuple);
  for (uint32_t i = 0; i < count; i++) lift_push(l, values[i]);
}

/* Its type is not in the bytecode: until it meets a type, it is that of None. */
Value *lift_uninitialized(Lift *l, const Type *type) {
  return lift_add_one(l, SYM_prim_Uninitialized, 0, NULL, type);
}
bool value_is_uninitialized(const Value *value) {
  return value->node->kind == SYM_prim_Uninitialized;
}

/* None where the program needs something: it tested for that before, in a branch that is still there. */
Value *lift_impossible(Lift *l, const Type *type) {
  IValue text;
  Status status = ivalue_from_str(STR("None where a value is needed"), &text);
  if (status) catch_throw(&l->c->catch_point, status);
  graph_hold(l->graph, text);
  Value *message = graph_insert_constant(l->graph, text, NULL);
  lift_add(l, SYM_prim_RaiseException, 1, &message, 0);
  return lift_uninitialized(l, type);
}

/* A formal type with what the other arguments say of its variables, elements a Tensor where none says anything; NULL:
 * any value will do. */
static const Type *substituted(Lift *l, const FunctionSchema *schema, const Type *formal, int64_t count,
                               Value *const *values) {
  Map bindings;
  TypeStore *store = l->graph->store;
  map_init(&bindings, l->graph->arena);
  for (uint32_t i = 0; i < count && i < schema->argument_count; i++)
    if (schema->arguments[i].type->has_var && values[i]->type->kind != TYPE_NONE)
      type_match_vars(store, schema->arguments[i].type, values[i]->type, &bindings, NULL);
  const Type *type = type_substitute(store, formal, &bindings);
  if (type || formal->kind == TYPE_VAR) return type;
  return formal->kind == TYPE_LIST   ? type_list_of(TYPE_TENSOR)
         : formal->kind == TYPE_DICT ? type_dict(store, TYPE(STRING), TYPE(TENSOR))
                                     : TYPE(TENSOR);
}

/* The program was typed when it was compiled: where wick knows less, the operator's type is what the value is. */
Value *lift_fit(Lift *l, const Type *type, Value *value) {
  if (value_is_uninitialized(value)) return lift_uninitialized(l, type);
  if (type_is_subtype_unrefined(value->type, type)) return value;
  if (value->type->kind == TYPE_NONE) return lift_impossible(l, type);
  bool unknown = value->type->kind == TYPE_ANY || type_is_optional_like(value->type);
  return unknown ? lift_add_one(l, SYM_prim_unchecked_cast, 1, &value, type) : value;
}
static Value *fit_argument(Lift *l, const FunctionSchema *schema, const Argument *formal, int64_t count,
                           Value *const *values, Value *value) {
  if (!formal->type->has_var) return lift_fit(l, formal->type, value);
  if (value->type->kind != TYPE_NONE && !type_is_optional_like(value->type)) return value;
  if (formal->type->kind == TYPE_OPTIONAL) return value;
  const Type *type = substituted(l, schema, formal->type, count, values);
  return type ? lift_fit(l, type, value) : value;
}

/* The arguments given: the first of the schema's, and all that results are written to, which stand last. `version`: of
 * the archive, where the operator meant something else in it; else -1. */
static void lift_schema(Lift *l, const Operator *op, int64_t given, int64_t version) {
  const FunctionSchema *schema = operator_schema(op);
  uint32_t outs = 0;
  while (outs < schema->argument_count && schema->arguments[schema->argument_count - 1 - outs].is_out) outs++;
  if (given < 0) given = schema->argument_count;
  if (!schema->is_vararg && (given < outs || given > schema->argument_count))
    LIFT_FAIL(l, STR_FMT " takes no %lld arguments", STR_ARG(op->name), (long long)given);
  Value **values = lift_pop_many(l, given);
  NamedValue *arguments = ARENA_ARRAY(l->graph->arena, NamedValue, (size_t)given + 1);
  uint32_t plain = 0, named = 0;
  for (uint32_t i = 0; i < given; i++) {
    if (schema->is_vararg) {
      arguments[plain++] = (NamedValue){.value = values[i], .range = lift_line(l, l->at)};
      continue;
    }
    uint32_t slot = i < given - outs ? i : schema->argument_count - (uint32_t)given + i;
    const Argument *formal = &schema->arguments[slot];
    NamedValue argument = {.value = fit_argument(l, schema, formal, given, values, values[i]),
                           .range = lift_line(l, l->at)};
    if (formal->kwarg_only) argument.name = formal->name;
    arguments[i] = argument;
    if (formal->kwarg_only)
      named++;
    else
      plain++;
  }
  CallArguments call = {.count = plain, .positional = arguments, .keyword_count = named, .keywords = arguments + plain};
  if (version >= 0) {
    SugaredValue *then = operator_of_version(l->c, version, symbol_intern(op->name));
    lift_push(l, sugared_call_from(l->c, l->graph, "bytecode", then, lift_line(l, l->at), &call));
    return;
  }
  MatchedSchema m;
  strbuf_clear(&l->why);
  l->why.max_length = 1000;
  if (!schema_try_match(l->graph, schema, lift_line(l, l->at), &call, true, &l->why, &m)) {
    const char *text = arena_printf(l->graph->arena, STR_FMT, STR_ARG(strbuf_view(&l->why)));
    LIFT_FAIL(l, "the arguments of " STR_FMT " do not fit: %s", STR_ARG(op->name), text);
  }
  Symbol kind = symbol_intern(op->name);
  if (!kind) catch_throw(&l->c->catch_point, status_out_of_memory());
  Node *node = operator_insert_node(l->graph, op, kind, lift_line(l, l->at), &m);
  for (uint32_t i = 0; i < m.return_count; i++) lift_push(l, node_output(node, i));
}

/* Operators of plain numbers share names with those that have changed, and have not. */
static bool takes_tensors(const FunctionSchema *schema) {
  for (uint32_t i = 0; i < schema->return_count; i++)
    if (schema->returns[i].type->kind == TYPE_TENSOR) return true;
  return false;
}
static void lift_named(Lift *l, Str name, Str overload_name, int64_t given) {
  const Operator *op = operator_find_overload(name, overload_name);
  int64_t version = l->bytecode->import->importer.version;
  if (!op) LIFT_FAIL(l, "unknown operator " STR_FMT "." STR_FMT, STR_ARG(name), STR_ARG(overload_name));
  if (op->flags & OP_BUILTIN) LIFT_FAIL(l, STR_FMT " can't be named by bytecode", STR_ARG(name));
  bool changed = upgrader_of(version, name) && takes_tensors(operator_schema(op));
  lift_schema(l, op, given, changed ? version : -1);
}
void lift_operator(Lift *l, const char *name, const char *overload_name, int64_t given) {
  lift_named(l, str_from(name), str_from(overload_name), given);
}

void lift_op(Lift *l, const Instruction *in) {
  BytecodeOperator op;
  if (!bytecode_operator(lift_row(l, l->operators, in->x, "operator"), &op)) LIFT_FAIL(l, "an operator has no name");
  Symbol kind = symbol_find(op.name);
  if (kind == SYM_prim_TupleUnpack)
    lift_tuple_unpack(l);
  else if (kind == SYM_prim_unchecked_cast || kind == SYM_prim_unchecked_unwrap_optional)
    lift_unchecked_cast(l);
  else
    lift_named(l, op.name, op.overload_name, op.given < 0 && in->opcode == OPCODE_OPN ? in->n : op.given);
}
