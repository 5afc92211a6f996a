/* Environment: what names stand for while a definition is emitted, a frame for each block. First-class values are kept
 * in the graph (prim::Store and prim::Load, which SSA conversion removes) and known here by type; SugaredValues are
 * kept here and can't be assigned again. Also the small helpers that insert nodes. */
#include "frontend/emitter.h"

#include <assert.h>

#include "frontend/suggest.h"

bool name_is_meaningful(Str name) {
  if (!name.length || name.data[0] != '_') return name.length && name.data[0] != '$';
  for (size_t i = 1; i < name.length; i++)
    if (name.data[i] < '0' || name.data[i] > '9') return true;
  return false;
}

Environment *environment_push(Emitter *e, Block *block) {
  Environment *env = ARENA_NEW(e->arena, Environment);
  env->outer = e->environment;
  env->block = block;
  map_init(&env->table, e->arena);
  e->environment = env;
  return env;
}

Environment *environment_pop(Emitter *e) {
  assert(e->environment);
  Environment *env = e->environment;
  e->environment = env->outer;
  return env;
}

static Variable *variable_of(Emitter *e, Environment *env, Str name) {
  Variable *variable = map_get(&env->table, name);
  if (!variable) {
    variable = ARENA_NEW(e->arena, Variable);
    map_put(&env->table, name, variable);
  }
  return variable;
}

static SugaredValue *load(Emitter *e, Str name, const Variable *variable) {
  Node *node = graph_create(e->graph, SYM_prim_Load, 0, NULL, 1);
  node_set_string(node, SYM_attr_name, name);
  Value *value = node_output(graph_insert_node(e->graph, node), 0);
  value->type = variable->type;
  value->inferred = variable->inferred;
  if (name_is_meaningful(name)) value_set_name(value, name);
  return sugared_value(e->c, value);
}

static SugaredValue *find_here(Emitter *e, Environment *env, Str name) {
  const Variable *variable = map_get(&env->table, name);
  if (!variable) return NULL;
  if (variable->sugared) return variable->sugared;
  return variable->type ? load(e, name, variable) : NULL;
}

SugaredValue *environment_find(Emitter *e, Environment *env, Str name) {
  for (; env; env = env->outer) {
    SugaredValue *found = find_here(e, env, name);
    if (found) return found;
  }
  return NULL;
}

void environment_set_type(Emitter *e, Environment *env, Str name, const Type *type) {
  Variable *variable = variable_of(e, env, name);
  variable->type = type;
  variable->sugared = NULL;
  variable->inferred = NULL;
}

void environment_set_error(Emitter *e, Environment *env, Str name, const char *message, SourceRange range) {
  Variable *variable = variable_of(e, env, name);
  variable->error = message;
  variable->error_range = range;
}

void environment_remove(Emitter *e, Str name, SourceRange range) {
  for (Environment *env = e->environment; env; env = env->outer) {
    Variable *variable = map_get(&env->table, name);
    if (!variable || (!variable->sugared && !variable->type)) continue;
    *variable = (Variable){.error = arena_printf(e->arena, STR_FMT " was deleted", STR_ARG(name))};
    return;
  }
  compilation_fail(e->c, range, "undefined value " STR_FMT, STR_ARG(name));
}

void environment_store(Emitter *e, Environment *env, SourceRange range, Str name, Value *value, const Type *type) {
  Node *store = graph_create(e->graph, SYM_prim_Store, 1, &value, 0);
  node_set_string(store, SYM_attr_name, name);
  graph_insert_node(e->graph, store);
  store->range = range;
  environment_set_type(e, env, name, type);
  if (type->kind == TYPE_TENSOR) variable_of(e, env, name)->inferred = value->inferred;
}

static void check_reassignment(Emitter *e, SourceRange range, Str name, SugaredValue *outer, SugaredValue *value,
                               Value **simple, const Type *annotated) {
  if (annotated)
    compilation_fail(e->c, range,
                     "Attempting to declare and annotate the type of variable '" STR_FMT
                     "' that is already defined in an outer block",
                     STR_ARG(name));
  Value *before = sugared_plain_value(outer);
  if (!*simple || !before)
    compilation_fail(e->c, range,
                     "Cannot re-assign '" STR_FMT "' %s %s because " STR_FMT
                     " is not a first-class value. Only reassignments to first-class values are allowed",
                     STR_ARG(name), *simple ? "because it has type" : "to a value of type",
                     *simple ? outer->kind->name : value->kind->name, STR_ARG(name));
  const Type *type = type_without_refinement(e->store, before->type);
  *simple = emit_convert(e, range, type, *simple, true);
  StrBuf why = {0};
  if (!type_is_subtype((*simple)->type, type, &why)) {
    const char *reason = why.length ? arena_printf(e->arena, "\n" STR_FMT, STR_ARG(strbuf_view(&why))) : "";
    strbuf_dispose(&why);
    bool tensors = (*simple)->type->kind == TYPE_LIST && (*simple)->type->elements[0]->kind == TYPE_TENSOR;
    compilation_fail(
        e->c, range,
        "Variable '" STR_FMT "' previously had type %s but is now being assigned to a value of type %s%s%s",
        STR_ARG(name), type_text(e->c, before->type), type_text(e->c, (*simple)->type), reason,
        tensors ? "\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to create an "
                  "empty list of another type (torch.jit.annotate(List[T], []) where T is the type of elements)"
                : "");
  }
  strbuf_dispose(&why);
}

void environment_set(Emitter *e, SourceRange range, Str name, SugaredValue *value, const Type *annotated) {
  Environment *env = e->environment;
  Value *simple = sugared_plain_value(value);
  if (!simple && (value->kind == &SUGARED_CONSTANT)) simple = sugared_as_value(value, e, range);
  /* A name that only this block knows is no name for a value of another block. */
  if (simple && !simple->name.length && name_is_meaningful(name) && simple->node->owning_block == env->block)
    value_set_name(simple, name);
  SugaredValue *outer = env->outer ? environment_find(e, env->outer, name) : NULL;
  if (outer) check_reassignment(e, range, name, outer, value, &simple, annotated);
  if (!simple) {
    Variable *variable = variable_of(e, env, name);
    variable->sugared = value;
    variable->type = NULL;
    return;
  }
  if (annotated && !type_is_subtype(simple->type, annotated, NULL))
    compilation_fail(e->c, range,
                     "Variable '" STR_FMT "' is annotated with type %s but is being assigned to a value of type %s",
                     STR_ARG(name), type_text(e->c, annotated), type_text(e->c, simple->type));
  environment_store(e, env, range, name, simple, annotated ? annotated : simple->type);
}

void environment_set_value(Emitter *e, SourceRange range, Str name, Value *value) {
  environment_set(e, range, name, sugared_value(e->c, value), NULL);
}

static const char *find_error(Emitter *e, const Environment *env, Str name) {
  const Variable *variable = NULL;
  for (; env && !(variable && variable->error); env = env->outer) variable = map_get(&env->table, name);
  if (!variable || !variable->error || !variable->error_range.source) return variable ? variable->error : NULL;
  StrBuf buffer = {0};
  strbuf_printf(&buffer, "%s:\n", variable->error);
  source_range_highlight(variable->error_range, &buffer);
  return arena_take_text(e->arena, &buffer).data;
}

static _Noreturn void fail_undefined(Emitter *e, const Environment *env, Str name, SourceRange range) {
  Suggestion similar;
  suggestion_start(&similar, name);
  for (; env; env = env->outer)
    for (MapEntry *entry = map_next(&env->table, NULL); entry; entry = map_next(&env->table, entry))
      if (name_is_meaningful(entry->key) && !((const Variable *)entry->value)->error)
        suggestion_offer(&similar, entry->key);
  const char *hint = suggestion_text(&similar, e->c);
  compilation_fail(e->c, range, "undefined value " STR_FMT "%s%s", STR_ARG(name), *hint ? "." : "", hint);
}

SugaredValue *environment_get(Emitter *e, Environment *env, Str name, SourceRange range, bool required) {
  SugaredValue *found = environment_find(e, env, name);
  if (!found) found = builtin_global(e->c, name);
  if (!found) found = resolver_find_value(e->resolver, e->c, name, range);
  if (!found) {
    const Type *type = resolver_find_type(e->resolver, e->c, name, range);
    if (type) found = sugared_class(e->c, type);
  }
  if (found || !required) return found;
  const char *error = find_error(e, env, name);
  if (error) compilation_fail(e->c, range, "%s and was used here", error);
  fail_undefined(e, env, name, range);
}

Value *environment_get_value(Emitter *e, Environment *env, Str name, SourceRange range) {
  return sugared_as_value(environment_get(e, env, name, range, true), e, range);
}

/* ---- nodes ---- */

Node *emit_node(Emitter *e, SourceRange range, Symbol kind, uint32_t input_count, Value *const *inputs,
                uint32_t output_count) {
  Node *node = graph_create(e->graph, kind, input_count, inputs, output_count);
  graph_insert_node(e->graph, node);
  node->range = range;
  return node;
}

Value *emit_typed(Emitter *e, SourceRange range, Symbol kind, uint32_t input_count, Value *const *inputs,
                  const Type *type) {
  Value *value = node_output(emit_node(e, range, kind, input_count, inputs, 1), 0);
  value->type = type;
  return value;
}

Value *emit_constant(Emitter *e, SourceRange range, IValue constant) {
  Value *value = graph_insert_constant(e->graph, constant, NULL);
  value->node->range = range;
  return value;
}

Value *emit_int(Emitter *e, SourceRange range, int64_t value) {
  return emit_constant(e, range, ivalue_int(value));
}
Value *emit_number_constant(Emitter *e, SourceRange range, IValue value) {
  PtrMap *seen = &e->numbers[value.tag == TAG_FLOAT];
  uintptr_t key = (uintptr_t)value.i + 1; /* the bits; 0 is no key, which is the int -1 */
  Value *known = key ? ptrmap_get(seen, (void *)key) : e->minus_one;
  if (known) return known;
  InsertPoint saved = insert_point_move(e, e->graph->block->param->next);
  Value *constant = emit_constant(e, range, value);
  insert_point_restore(e, saved);
  if (key)
    ptrmap_put(seen, (void *)key, constant);
  else
    e->minus_one = constant;
  return constant;
}

Value *emit_none(Emitter *e, SourceRange range) {
  return emit_constant(e, range, IVALUE_NONE);
}

Value *emit_string(Emitter *e, SourceRange range, Str text) {
  IValue string;
  Status status = ivalue_from_str(text, &string);
  if (status) catch_throw(&e->c->catch_point, status);
  graph_hold(e->graph, string);
  return emit_constant(e, range, string);
}

Value *emit_unchecked_cast(Emitter *e, SourceRange range, Value *value, const Type *type) {
  return emit_typed(e, range, SYM_prim_unchecked_cast, 1, &value, type);
}

Value *emit_tuple(Emitter *e, SourceRange range, uint32_t count, Value *const *values) {
  const Type **types = ARENA_ARRAY(e->arena, const Type *, count + 1);
  for (uint32_t i = 0; i < count; i++) types[i] = values[i]->type;
  const Type *type = require_small_type(e->c, range, type_tuple(e->store, count, types));
  return emit_typed(e, range, SYM_prim_TupleConstruct, count, values, type);
}

Value *emit_list(Emitter *e, SourceRange range, const Type *element, uint32_t count, Value *const *values) {
  return emit_typed(e, range, SYM_prim_ListConstruct, count, values, type_list(e->store, element));
}

/* What has just been put together: so `a, b = x, y` gives the values the names a and b. */
static Value **tuple_parts(Emitter *e, const Node *construct) {
  Value **parts = ARENA_ARRAY(e->arena, Value *, construct->input_count + 1);
  for (uint32_t i = 0; i < construct->input_count; i++) parts[i] = node_input(construct, i);
  return parts;
}

Value **emit_tuple_unpack(Emitter *e, SourceRange range, Value *tuple) {
  assert(tuple->type->kind == TYPE_TUPLE);
  uint32_t count = tuple->type->count;
  if (tuple->node->kind == SYM_prim_TupleConstruct) return tuple_parts(e, tuple->node);
  Node *node = emit_node(e, range, SYM_prim_TupleUnpack, 1, &tuple, count);
  for (uint32_t i = 0; i < count; i++) node_output(node, i)->type = tuple->type->elements[i];
  return node->outputs;
}

Value *emit_tuple_index(Emitter *e, SourceRange range, Value *tuple, uint32_t index) {
  assert(tuple->type->kind == TYPE_TUPLE && index < tuple->type->count);
  Value *inputs[2] = {tuple, emit_int(e, range, index)};
  return emit_typed(e, range, SYM_prim_TupleIndex, 2, inputs, tuple->type->elements[index]);
}

NamedValue named_argument(Str name, Value *value, SourceRange range) {
  return (NamedValue){.name = name, .value = value, .range = range};
}

Value *emit_builtin_call(Emitter *e, SourceRange range, Symbol kind, const CallArguments *arguments) {
  return operator_emit(e->graph, e->c->exec, symbol_name(kind), range, arguments);
}

Value *emit_builtin(Emitter *e, SourceRange range, Symbol kind, uint32_t count, Value *const *inputs) {
  NamedValue values[8];
  assert(count <= 8);
  for (uint32_t i = 0; i < count; i++) values[i] = named_argument(STR(""), inputs[i], range);
  return emit_builtin_call(e, range, kind, &(CallArguments){.count = count, .positional = values});
}

Value *emit_convert(Emitter *e, SourceRange range, const Type *type, Value *value, bool allow_conversions) {
  return value_convert(e->graph, type, value, allow_conversions, range);
}
