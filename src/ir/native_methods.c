/* Methods of native classes as Functions: a graph of one operator, made once for the process, so that whatever knows
 * methods knows these. */
#include <pthread.h>

#include "base/fork.h"
#include "base/heap.h"
#include "call/built_in.h"
#include "ir/ir_internal.h"

static CompilationUnit *native_unit; /* lives as long as the process, as the classes do */

static Value *result_of(Graph *graph, Node *node, uint32_t count, const Type *type) {
  if (count == 1) return node_output(node, 0);
  if (count == 0) return graph_insert_constant(graph, IVALUE_NONE, TYPE(NONE));
  Value **parts = ARENA_ARRAY(graph->arena, Value *, count);
  for (uint32_t i = 0; i < count; i++) parts[i] = node_output(node, i);
  Node *tuple = graph_create(graph, SYM_prim_TupleConstruct, count, parts, 1);
  graph_insert_node(graph, tuple);
  node_output(tuple, 0)->type = type;
  return node_output(tuple, 0);
}

static const Type *return_type(TypeStore *store, const FunctionSchema *schema) {
  if (schema->return_count == 1) return schema->returns[0].type;
  if (schema->return_count == 0) return TYPE(NONE);
  const Type *types[16];
  assert(schema->return_count <= 16);
  for (uint32_t i = 0; i < schema->return_count; i++) types[i] = schema->returns[i].type;
  return type_tuple(store, schema->return_count, types);
}

static void make_method(CompilationUnit *unit, ClassType *class_type, const NativeMethod *method) {
  Arena *arena = &unit->store.arena;
  if (class_type_find_method(class_type, str_from(method->name))) return; /* made before memory ran out */
  const Operator *op = operator_find(str_from(method->op));
  assert(op);
  const FunctionSchema *schema = operator_schema(op);
  Status status = operator_schema_status(schema);
  if (status) catch_throw(arena->catch_point, status);
  const Type *type = return_type(&unit->store, schema);
  FunctionSchema *own = ARENA_NEW(arena, FunctionSchema);
  *own = *schema;
  own->name = str_from(method->name);
  own->return_count = 1;
  own->returns = ARENA_NEW(arena, Argument);
  *own->returns = (Argument){.type = type};
  Graph *graph = graph_new(arena, &unit->store);
  Value **inputs = ARENA_ARRAY(arena, Value *, schema->argument_count + 1);
  for (uint32_t i = 0; i < schema->argument_count; i++)
    inputs[i] = graph_add_input(graph, schema->arguments[i].name, schema->arguments[i].type);
  Symbol kind = symbol_intern(op->name);
  if (kind == SYMBOL_NONE) catch_throw(arena->catch_point, status_out_of_memory());
  Node *node = graph_create(graph, kind, schema->argument_count, inputs, schema->return_count);
  graph_insert_node(graph, node);
  for (uint32_t i = 0; i < schema->return_count; i++) node_output(node, i)->type = schema->returns[i].type;
  graph_register_output(graph, result_of(graph, node, schema->return_count, type));
  graph_seal(graph);
  Function *function = unit_new_method(unit, class_type, str_from(method->name)); /* the last that may fail */
  function->schema = own;
  function->graph = graph;
  function->is_native = true;
}

static void make_methods(void *argument) {
  const NativeClass *native = argument;
  const Type *type = native_class_type(native);
  if (type->kind != TYPE_CLASS) catch_throw(native_unit->store.arena.catch_point, status_out_of_memory());
  for (size_t i = 0; i < native->method_count; i++) make_method(native_unit, type->class_type, &native->methods[i]);
}

static pthread_mutex_t native_unit_lock = PTHREAD_MUTEX_INITIALIZER;

Status native_methods_add(const NativeClass *native) {
  HEAP_SCOPE(NULL);
  Status status = OK;
  lock_take(&native_unit_lock);
  if (!native_unit) status = unit_new_plain(&native_unit);
  if (!status) status = arena_protect(&native_unit->store.arena, make_methods, (void *)native);
  lock_drop(&native_unit_lock);
  return status;
}

/* Again where memory was short before. */
Status native_methods_publish(void) {
  static _Atomic bool done;
  if (atomic_load_explicit(&done, memory_order_acquire)) return OK;
  TRY(operators_prepare());
  for (const NativeClass *const *native = built_in()->native_classes; native && *native; native++)
    TRY(native_methods_add(*native));
  atomic_store_explicit(&done, true, memory_order_release);
  return OK;
}
