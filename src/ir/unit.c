/* Functions and the units that own them. */
#include "ir/unit.h"

#include "call/exec.h"
#include "ir/ir_internal.h"
#include "ir/operator_use.h"

static void destroy_prepared(TypeStore *store) {
  PreparedGraph *prepared = (PreparedGraph *)store;
  graph_dispose(prepared->graph);
  type_store_dispose(store);
  mem_free(prepared);
}

Status prepared_graph_new(TypeStore *home, PreparedGraph **out) {
  PreparedGraph *prepared = mem_calloc(1, sizeof *prepared);
  if (!prepared) return status_out_of_memory();
  Status status = type_store_init(&prepared->store, destroy_prepared);
  if (status) {
    mem_free(prepared);
    return status;
  }
  prepared->store.home = home;
  *out = prepared;
  return OK;
}

void prepared_graph_free(PreparedGraph *prepared) {
  if (prepared) type_store_release(&prepared->store);
}

static const FunctionSlots *slots;

void function_slots_set(const FunctionSlots *brought) {
  slots = brought;
}

const FunctionSlots *function_slots(void) {
  return slots;
}

static void function_dispose(Function *function) {
  if (slots) {
    slots->free_code(atomic_load(&function->code));
    slots->free_executor(atomic_load(&function->executor));
  }
  prepared_graph_free(atomic_load(&function->prepared));
  graph_dispose(function->graph);
}

static void destroy(TypeStore *store) {
  CompilationUnit *unit = (CompilationUnit *)store;
  for (size_t i = 0; i < unit->all_functions.length; i++) function_dispose(unit->all_functions.data[i]);
  for (size_t i = 0; i < unit->held.length; i++) ivalue_release(unit->held.data[i]);
  for (size_t i = 0; i < unit->sources.length; i++) source_release(unit->sources.data[i]);
  for (size_t i = 0; i < unit->used.length; i++) unit_release(unit->used.data[i]);
  for (size_t i = 0; i < unit->stores.length; i++) type_store_release(unit->stores.data[i]);
  type_store_dispose(store);
  mem_free(unit);
}

static const FunctionSchema *method_schema(const Type *type, Str name) {
  if (type->kind == TYPE_INTERFACE) return interface_type_find_method(type->interface_type, name);
  const Function *method = class_type_find_method(type->class_type, name);
  return method ? method->schema : NULL;
}
static bool implements(const Type *type, const InterfaceType *interface, StrBuf *why) {
  return schema_implements(type, interface, method_schema, why);
}

Status unit_new(CompilationUnit **out) {
  *out = NULL;
  TRY(native_methods_publish());
  return unit_new_plain(out);
}

Status unit_new_plain(CompilationUnit **out) {
  *out = NULL;
  CompilationUnit *unit = mem_calloc(1, sizeof *unit);
  if (!unit) return status_out_of_memory();
  Status status = type_store_init(&unit->store, destroy);
  if (status) {
    mem_free(unit);
    return status;
  }
  unit->store.implements = implements;
  Arena *arena = &unit->store.arena;
  map_init(&unit->function_names, arena);
  map_init(&unit->types, arena);
  ptrmap_init(&unit->tuple_defaults, arena);
  *out = unit;
  return OK;
}

CompilationUnit *unit_retain(CompilationUnit *unit) {
  type_store_retain(&unit->store);
  return unit;
}

void unit_release(CompilationUnit *unit) {
  if (unit) type_store_release(&unit->store);
}

Function *unit_find_function(const CompilationUnit *unit, Str name) {
  return map_get(&unit->function_names, name);
}

const Type *unit_find_type(const CompilationUnit *unit, Str name) {
  return map_get(&unit->types, name);
}

static Function *new_function(CompilationUnit *unit, Str name) {
  Arena *arena = &unit->store.arena;
  Function *function = ARENA_NEW(arena, Function);
  ref_init(&function->refs);
  function->name = (Str){arena_strndup(arena, name.data, name.length), name.length};
  function->unit = unit;
  vec_arena_push(arena, &unit->all_functions, function);
  return function;
}

Function *unit_new_function(CompilationUnit *unit, Str name) {
  Arena *arena = &unit->store.arena;
  if (map_has(&unit->function_names, name))
    catch_throw(arena->catch_point, status_new(ERROR_COMPILE, "method '" STR_FMT "' already defined.", STR_ARG(name)));
  Function *function = new_function(unit, name);
  map_put(&unit->function_names, function->name, function);
  vec_arena_push(arena, &unit->functions, function);
  return function;
}

typedef struct NewMethod {
  ClassType *class_type;
  Function *function;
} NewMethod;

static void add_method(void *argument) {
  const NewMethod *new = argument;
  Str whole = new->function->name;
  class_type_add_method(new->class_type, str_slice(whole, new->class_type->type.name.length + 1, whole.length),
                        new->function);
}

static Function *new_of_class(CompilationUnit *unit, ClassType *c, Str own_name) {
  Arena *arena = &unit->store.arena;
  if (class_type_find_method(c, own_name))
    catch_throw(arena->catch_point,
                status_new(ERROR_COMPILE, "method '" STR_FMT "' of '" STR_FMT "' is already defined", STR_ARG(own_name),
                           STR_ARG(c->type.name)));
  Str name = str_from(arena_printf(arena, STR_FMT "." STR_FMT, STR_ARG(c->type.name), STR_ARG(own_name)));
  Function *function = new_function(unit, name);
  function->class_type = c;
  return function;
}

Function *unit_new_hook(CompilationUnit *unit, ClassType *c, Str hook_name) {
  Function *hook = new_of_class(unit, c, hook_name);
  hook->is_hook = true;
  return hook;
}

/* The name that a value has in the text of graphs, without what tells equal ones apart: "x" of "x.1". */
static Str name_of(const Value *value) {
  ptrdiff_t dot = str_find_char(value->name, '.');
  return dot > 0 ? str_slice(value->name, 0, (size_t)dot) : value->name;
}

static FunctionSchema *schema_of(const Graph *graph, Str function_name) {
  Arena *arena = graph->arena;
  FunctionSchema *schema = ARENA_NEW(arena, FunctionSchema);
  schema->name = function_name;
  schema->argument_count = graph_input_count(graph);
  schema->return_count = graph_output_count(graph);
  schema->arguments = ARENA_ARRAY(arena, Argument, schema->argument_count + 1);
  schema->returns = ARENA_ARRAY(arena, Argument, schema->return_count + 1);
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    Str name = name_of(graph_input(graph, i));
    schema->arguments[i].name = name.length ? (Str){arena_strndup(arena, name.data, name.length), name.length}
                                            : str_from(arena_printf(arena, "argument_%u", i));
    schema->arguments[i].type = type_without_refinement(graph->store, graph_input(graph, i)->type);
  }
  for (uint32_t i = 0; i < schema->return_count; i++)
    schema->returns[i].type = type_without_refinement(graph->store, graph_output(graph, i)->type);
  return schema;
}

Function *unit_add_graph(CompilationUnit *unit, ClassType *c, Str name, const Graph *from) {
  unit_keep_types(unit, from->store);
  Function *function = c ? unit_new_method(unit, c, name) : unit_new_function(unit, name);
  Graph *graph = function->graph = graph_compact(from, &unit->store.arena, &unit->store, false);
  function->schema = schema_of(graph, c ? str_after_last(function->name, '.') : function->name);
  function_note_operators(function, graph);
  graph_seal(graph);
  return function;
}

void class_type_add_hook(ClassType *c, HookKind kind, Function *hook) {
  vec_arena_push(&c->type.store->arena, &c->hooks[kind], hook);
}
Function *class_type_find_hook(const ClassType *c, Str name) {
  for (int kind = 0; kind < HOOK_KIND_COUNT; kind++)
    for (size_t i = 0; i < c->hooks[kind].length; i++)
      if (str_equal(str_after_last(c->hooks[kind].data[i]->name, '.'), name)) return c->hooks[kind].data[i];
  return NULL;
}

Function *unit_new_method(CompilationUnit *unit, ClassType *c, Str method_name) {
  Function *function = new_of_class(unit, c, method_name);
  NewMethod new = {c, function};
  if (!c->type.store->is_process) {
    add_method(&new);
    return function;
  }
  /* A native class: meanwhile other threads make types in the store that holds it. */
  Status status = type_store_change(c->type.store, add_method, &new);
  if (status) catch_throw(unit->store.arena.catch_point, status);
  return function;
}

void unit_add_type(CompilationUnit *unit, const Type *named) {
  assert(named->name.length);
  map_put(&unit->types, named->name, (void *)named);
}

void unit_hold_source(CompilationUnit *unit, Source *source) {
  Status status = vec_arena_try_reserve(&unit->store.arena, &unit->sources, unit->sources.length + 1);
  if (status) {
    source_release(source);
    catch_throw(unit->store.arena.catch_point, status);
  }
  unit->sources.data[unit->sources.length++] = source;
}

void unit_hold(CompilationUnit *unit, IValue value) {
  Status status = vec_arena_try_reserve(&unit->store.arena, &unit->held, unit->held.length + 1);
  if (status) {
    ivalue_release(value);
    catch_throw(unit->store.arena.catch_point, status);
  }
  unit->held.data[unit->held.length++] = value;
}

void unit_set_device_map(CompilationUnit *unit, const char *text) {
  Arena *arena = &unit->store.arena;
  if (!text) return;
  Status status = device_map_check(text);
  if (status) catch_throw(arena->catch_point, status);
  unit->device_map.text = arena_strndup(arena, text, strlen(text));
}

void unit_enter(CompilationUnit *unit, Exec *exec) {
  exec->device_map = &unit->device_map;
  if (unit->torch_version != TORCH_DEFAULT) exec->work.torch_version = (TorchVersion)unit->torch_version;
}

static bool uses(const CompilationUnit *unit, const CompilationUnit *other) {
  for (size_t i = 0; i < unit->used.length; i++)
    if (unit->used.data[i] == other || uses(unit->used.data[i], other)) return true;
  return false;
}

void unit_use(CompilationUnit *unit, CompilationUnit *other) {
  Arena *arena = &unit->store.arena;
  if (unit == other) return;
  for (size_t i = 0; i < unit->used.length; i++)
    if (unit->used.data[i] == other) return;
  if (uses(other, unit))
    catch_throw(arena->catch_point, status_new(ERROR_COMPILE, "programs can't use each other both ways"));
  Status status = unit_check_operators(unit, other, "the program that is named");
  if (status) catch_throw(arena->catch_point, status);
  vec_arena_reserve(arena, &unit->used, unit->used.length + 1);
  unit->used.data[unit->used.length++] = unit_retain(other);
}

CompilationUnit *unit_of_store(TypeStore *store) {
  return store->destroy == destroy ? (CompilationUnit *)store : NULL;
}

void unit_keep_types(CompilationUnit *unit, TypeStore *store) {
  Arena *arena = &unit->store.arena;
  if (store == &unit->store || store->is_process || store->home) return;
  for (size_t i = 0; i < unit->stores.length; i++)
    if (unit->stores.data[i] == store) return;
  vec_arena_reserve(arena, &unit->stores, unit->stores.length + 1);
  type_store_retain(store);
  unit->stores.data[unit->stores.length++] = store;
}

UnitMark unit_mark(const CompilationUnit *unit) {
  return (UnitMark){unit->functions.length, unit->all_functions.length, map_count(&unit->types)};
}

void unit_remove_method(CompilationUnit *unit, Function *method) {
  size_t kept = 0;
  for (size_t i = 0; i < unit->all_functions.length; i++)
    if (unit->all_functions.data[i] != method) unit->all_functions.data[kept++] = unit->all_functions.data[i];
  unit->all_functions.length = kept;
  class_type_remove_method(method->class_type, method);
  function_dispose(method);
}

void unit_roll_back(CompilationUnit *unit, UnitMark mark) {
  for (size_t i = mark.all_functions; i < unit->all_functions.length; i++) {
    Function *function = unit->all_functions.data[i];
    if (function->class_type)
      class_type_remove_method(function->class_type, function);
    else
      map_remove(&unit->function_names, function->name);
    function_dispose(function);
    function->graph = NULL;
  }
  unit->all_functions.length = mark.all_functions;
  unit->functions.length = mark.functions;
  uint32_t seen = 0;
  for (MapEntry *it = map_next(&unit->types, NULL), *next; it; it = next) {
    next = map_next(&unit->types, it);
    if (seen++ >= mark.types) map_remove(&unit->types, it->key);
  }
}
