/* Freezing: a copy of a module whose methods have everything inlined and the attributes that nobody changes as
 * constants. What is left: attributes that a method sets or writes into, what was asked to stay, and what can't be a
 * constant. The copy shares tensors with the module it came from, whose submodules it copies, and keeps that alive. */
#include "module/freeze.h"

#include "call/call.h"
#include "ir/alias_db.h"
#include "pass/pass.h"

typedef struct Freezer {
  const Module *from;
  Object *root; /* the module's object as it was when freezing began; its submodules are copies, too */
  Exec *exec;
  const FreezeOptions *options;
  CompilationUnit *unit;
  ClassType *type;
  Object *object;
  PtrMap objects;   /* value of a graph -> the object it is at the time of freezing */
  PtrMap changed;   /* slots that are set or have to stay, values and storages that are written into */
  Map set_names;    /* attributes that are set on objects nobody knows */
  PtrMap constants; /* tensor that records -> the same, detached */
  Map used;         /* attributes of the module that are still read or set */
} Freezer;

static _Noreturn void fail(Freezer *f, Status status) {
  catch_throw(f->unit->store.arena.catch_point, status);
}

static bool is_module(IValue v) {
  return v.tag == TAG_OBJECT && v.object->class_type->is_module;
}

/* ---- the module as it is now ---- */

typedef struct ModuleCopies {
  PtrMap copies;           /* module -> its copy */
  VEC(Object *) originals; /* of which slots are to be copied */
} ModuleCopies;

static Object *copy_of(Freezer *f, ModuleCopies *s, Object *original) {
  Object *copy = ptrmap_get(&s->copies, original);
  if (copy) return copy;
  Arena *arena = &f->unit->store.arena;
  vec_arena_reserve(arena, &f->unit->held, f->unit->held.length + 2);
  Status status = object_new(original->class_type, &copy);
  if (status) fail(f, status);
  unit_hold(f->unit, ivalue_object(copy));
  unit_hold(f->unit, ivalue_retain(ivalue_object(original)));
  ptrmap_put(&s->copies, original, copy);
  vec_arena_push(arena, &s->originals, original);
  return copy;
}

/* Other threads may set attributes meanwhile, which takes the lock of each object. */
static void take_snapshot(Freezer *f) {
  ModuleCopies s = {0};
  ptrmap_init(&s.copies, &f->unit->store.arena);
  f->root = copy_of(f, &s, f->from->object);
  for (size_t i = 0; i < s.originals.length; i++) {
    const Object *original = s.originals.data[i];
    Object *copy = ptrmap_get(&s.copies, original);
    for (uint32_t slot = 0; slot < copy->slot_count && slot < original->slot_count; slot++) {
      copy->slots[slot] = object_get(original, slot);
      if (!is_module(copy->slots[slot])) continue;
      IValue inner = copy->slots[slot]; /* stays where it is until the unit holds it */
      copy->slots[slot] = ivalue_retain(ivalue_object(copy_of(f, &s, inner.object)));
      ivalue_release(inner);
    }
  }
}

/* ---- what was asked to stay ---- */

static Str first_part(Str path) {
  ptrdiff_t dot = str_find_char(path, '.');
  return dot < 0 ? path : str_slice(path, 0, (size_t)dot);
}

/* The attribute, or something within it, was asked to stay. */
static bool is_preserved(const Freezer *f, Str name) {
  for (uint32_t i = 0; i < f->options->preserved_count; i++)
    if (str_equal(first_part(f->options->preserved[i]), name)) return true;
  return false;
}

/* Of "inner.weight"; NULL: there is no such attribute. */
static IValue *find_slot(const Freezer *f, Str path) {
  Object *object = f->root;
  for (;;) {
    Str name = first_part(path);
    ptrdiff_t at = class_type_find_attribute(object->class_type, name);
    if (at < 0 || (uint32_t)at >= object->slot_count) return NULL;
    if (name.length == path.length) return &object->slots[at];
    if (!is_module(object->slots[at])) return NULL;
    object = object->slots[at].object;
    path = str_slice(path, name.length + 1, path.length);
  }
}

/* What stays counts as changed; of a module, all that is in it. */
static void mark_preserved(Freezer *f) {
  VEC(IValue *) slots = {0};
  Arena *arena = &f->unit->store.arena;
  for (uint32_t i = 0; i < f->options->preserved_count; i++) {
    IValue *slot = find_slot(f, f->options->preserved[i]);
    if (slot) vec_arena_push(arena, &slots, slot);
  }
  while (slots.length) {
    IValue *slot = slots.data[--slots.length];
    if (ptrmap_has(&f->changed, slot)) continue;
    ptrmap_put(&f->changed, slot, f);
    for (uint32_t i = 0; is_module(*slot) && i < slot->object->slot_count; i++)
      vec_arena_push(arena, &slots, &slot->object->slots[i]);
  }
}

/* The slot that a GetAttr or SetAttr means; NULL: its object is not known before the program runs. */
static IValue *slot_of(const Freezer *f, const Node *node) {
  Object *object = ptrmap_get(&f->objects, node_input(node, 0));
  ptrdiff_t slot = object ? class_type_find_attribute(object->class_type, node_string(node, SYM_attr_name)) : -1;
  return slot < 0 || (uint32_t)slot >= object->slot_count ? NULL : &object->slots[slot];
}

static void find_objects(Freezer *f, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) find_objects(f, node->blocks[i]);
    const IValue *slot = node->kind == SYM_prim_GetAttr ? slot_of(f, node) : NULL;
    if (slot && is_module(*slot)) ptrmap_put(&f->objects, node_output(node, 0), slot->object);
  }
}

/* ---- what changes ---- */

static void mark_value(Freezer *f, IValue value) {
  ptrmap_put(&f->changed, value.counted, f);
  if (value.tag == TAG_TENSOR && value.tensor->storage) ptrmap_put(&f->changed, value.tensor->storage, f);
}

static bool is_marked(const Freezer *f, const IValue *slot) {
  if (ptrmap_has(&f->changed, slot)) return true;
  if (!ivalue_is_counted(*slot)) return false;
  return ptrmap_has(&f->changed, slot->counted) ||
         (slot->tag == TAG_TENSOR && slot->tensor->storage && ptrmap_has(&f->changed, slot->tensor->storage));
}

static void find_sets(Freezer *f, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) find_sets(f, node->blocks[i]);
    if (node->kind != SYM_prim_SetAttr) continue;
    const IValue *slot = slot_of(f, node);
    if (slot)
      ptrmap_put(&f->changed, slot, f);
    else
      map_put(&f->set_names, node_string(node, SYM_attr_name), f);
  }
}

static void find_writes(Freezer *f, AliasDb *db, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) find_writes(f, db, node->blocks[i]);
    const IValue *slot = node->kind == SYM_prim_GetAttr ? slot_of(f, node) : NULL;
    if (slot && !is_module(*slot) && ivalue_is_counted(*slot) && alias_type_is_mutable(node_output(node, 0)->type) &&
        alias_has_writers(db, node_output(node, 0)))
      mark_value(f, *slot);
  }
}

typedef struct Find {
  Freezer *freezer;
  Graph *graph;
} Find;
static void find_in_graph(Arena *scratch, void *argument) {
  Find *find = argument;
  find_writes(find->freezer, alias_db_new(find->graph, scratch), find->graph->block);
}

/* ---- constants ---- */

static IValue detached(Freezer *f, Tensor *tensor) {
  static OpRef detach = OP_REF("aten::detach", "");
  Tensor *known = ptrmap_get(&f->constants, tensor);
  if (known) return ivalue_tensor(known);
  IValue self = ivalue_tensor(tensor), result = IVALUE_NONE;
  Status status = op_call(f->exec, &detach, 1, &self, 1, &result);
  if (status) fail(f, status);
  unit_hold(f->unit, result);
  ptrmap_put(&f->constants, tensor, result.tensor);
  return result;
}

/* A list of tensors of which some record, as one whose tensors do not; the items of other lists stay as they are. */
static IValue detached_list(Freezer *f, const List *list) {
  List *made;
  vec_arena_reserve(&f->unit->store.arena, &f->unit->held, f->unit->held.length + 1);
  Status status = list_new(TYPE(TENSOR), list->length, &made);
  if (status) fail(f, status);
  unit_hold(f->unit, ivalue_list(made));
  for (size_t i = 0; i < list->length; i++) {
    IValue item = list->values[i];
    if (item.tag == TAG_TENSOR && item.tensor->flags & TENSOR_RECORDS) item = detached(f, item.tensor);
    status = list_append(made, ivalue_retain(item));
    if (status) fail(f, status);
  }
  return ivalue_list(made);
}

/* Constants take no part in gradients. */
static IValue without_gradients(Freezer *f, IValue value, const Type *type) {
  if (value.tag == TAG_TENSOR && value.tensor->flags & TENSOR_RECORDS) return detached(f, value.tensor);
  if (value.tag == TAG_LIST && value.list->kind == LIST_VALUES && type->kind == TYPE_LIST &&
      type->elements[0]->kind == TYPE_TENSOR)
    return detached_list(f, value.list);
  return value;
}

/* `plain`: only what is immutable anyway, flags and numbers: they decide which writes there are. */
static void replace_attributes(Freezer *f, Graph *graph, const Block *block, bool plain) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) replace_attributes(f, graph, node->blocks[i], plain);
    if (node->kind != SYM_prim_GetAttr) continue;
    const IValue *slot = slot_of(f, node);
    Str name = node_string(node, SYM_attr_name);
    if (!slot || is_module(*slot) || is_marked(f, slot) || map_has(&f->set_names, name) ||
        (plain && alias_type_is_mutable(node_output(node, 0)->type)))
      continue;
    IValue value = without_gradients(f, *slot, node_output(node, 0)->type);
    if (!constant_is_possible(value)) continue;
    bool own_type = value.tag == TAG_TENSOR || value.tag == TAG_NONE;
    graph_set_insert_point(graph, node);
    Value *constant = graph_insert_constant(graph, value, own_type ? NULL : node_output(node, 0)->type);
    value_replace_all_uses_with(node_output(node, 0), constant);
    node_destroy(node);
  }
  graph_set_insert_block(graph, graph->block);
}

/* ---- methods ---- */

static bool is_set_in(const Block *block, Str name) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++)
      if (is_set_in(node->blocks[i], name)) return true;
    if (node->kind == SYM_prim_SetAttr && str_equal(node_string(node, SYM_attr_name), name)) return true;
  }
  return false;
}

/* An attribute that is an interface is the module that it holds, unless one is set there: its calls can be inlined. */
static bool resolve_interfaces(Freezer *f, const Block *block) {
  bool found = false;
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) found = resolve_interfaces(f, node->blocks[i]) || found;
    const IValue *slot = node->kind == SYM_prim_GetAttr ? slot_of(f, node) : NULL;
    Value *output = node->kind == SYM_prim_GetAttr ? node_output(node, 0) : NULL;
    if (!slot || !is_module(*slot) || output->type->kind != TYPE_INTERFACE ||
        is_set_in(node->graph->block, node_string(node, SYM_attr_name)))
      continue;
    output->type = &slot->object->class_type->type;
    found = true;
  }
  return found;
}

static void add_method(Freezer *f, Str name) {
  const Function *old = module_find_method(f->from, name);
  if (!old || !old->graph || !old->schema)
    fail(f, status_new(ERROR_NOT_FOUND, "there is no method '" STR_FMT "' to freeze", STR_ARG(name)));
  TypeStore *store = &f->unit->store;
  Function *method = unit_new_method(f->unit, f->type, name);
  method->graph = graph_copy(old->graph, &store->arena, store);
  inliner(method->graph);
  FunctionSchema *schema = ARENA_NEW(&store->arena, FunctionSchema);
  *schema = *old->schema; /* its text and defaults are the old module's, which stays */
  schema->arguments = ARENA_ARRAY(&store->arena, Argument, schema->argument_count + 1);
  memcpy(schema->arguments, old->schema->arguments, schema->argument_count * sizeof *schema->arguments);
  if (schema->argument_count) schema->arguments[0].type = &f->type->type;
  method->schema = schema;
  ptrmap_put(&f->objects, graph_input(method->graph, 0), f->root);
  find_objects(f, method->graph->block);
  while (resolve_interfaces(f, method->graph->block)) {
    inliner(method->graph);
    find_objects(f, method->graph->block);
  }
}

static void find_uses(Freezer *f, Graph *graph) {
  const Value *self = graph_input(graph, 0);
  for (size_t i = 0; i < self->uses.length; i++) {
    const Use *use = &self->uses.data[i];
    if (use->offset || (use->user->kind != SYM_prim_GetAttr && use->user->kind != SYM_prim_SetAttr))
      fail(f, status_new(ERROR_UNSUPPORTED, "the module can't be frozen: " STR_FMT " takes the module itself",
                         STR_ARG(symbol_name(use->user->kind))));
    map_put(&f->used, node_string(use->user, SYM_attr_name), f);
  }
}

static void add_attributes(Freezer *f) {
  const ClassType *old = f->root->class_type;
  for (size_t i = 0; i < old->attributes.length; i++) {
    const ClassAttribute *a = &old->attributes.data[i];
    if (!map_has(&f->used, a->name) && !is_preserved(f, a->name)) continue;
    Str name = {arena_strndup(&f->unit->store.arena, a->name.data, a->name.length), a->name.length};
    class_type_add_attribute(f->type, name, a->type, a->kind);
  }
  Status status = object_new(f->type, &f->object);
  if (status) fail(f, status);
  for (uint32_t i = 0; i < f->type->attributes.length; i++) {
    ptrdiff_t from = class_type_find_attribute(old, f->type->attributes.data[i].name);
    f->object->slots[i] = ivalue_retain(f->root->slots[from]);
  }
}

static Status check(const Freezer *f) {
  const Object *object = f->root;
  ptrdiff_t training = class_type_find_attribute(object->class_type, STR("training"));
  if (!f->options->in_training && training >= 0 && object->slots[training].tag == TAG_BOOL && object->slots[training].b)
    return status_new(ERROR_INVALID_ARGUMENT, "a module that trains can't be frozen: switch it to evaluation before");
  for (uint32_t i = 0; i < f->options->preserved_count; i++)
    if (!find_slot(f, f->options->preserved[i]) && !module_find_method(f->from, f->options->preserved[i]))
      return status_new(ERROR_NOT_FOUND,
                        "Unknown name: " STR_FMT ": the module has no such method or attribute to preserve",
                        STR_ARG(f->options->preserved[i]));
  return OK;
}

static void freeze(void *argument) {
  Freezer *f = argument;
  Arena *arena = &f->unit->store.arena;
  unit_set_device_map(f->unit, f->from->unit->device_map.text);
  f->unit->torch_version = f->from->unit->torch_version;
  ptrmap_init(&f->objects, arena);
  ptrmap_init(&f->changed, arena);
  ptrmap_init(&f->constants, arena);
  map_init(&f->set_names, arena);
  map_init(&f->used, arena);
  take_snapshot(f);
  Status status = check(f);
  if (status) fail(f, status);
  mark_preserved(f);
  f->type = class_type_new(&f->unit->store, f->root->class_type->type.name, true);
  unit_add_type(f->unit, &f->type->type);
  bool has_forward = false;
  for (uint32_t i = 0; i < f->options->preserved_count; i++) {
    if (!module_find_method(f->from, f->options->preserved[i])) continue;
    add_method(f, f->options->preserved[i]);
    has_forward = has_forward || str_is(f->options->preserved[i], "forward");
  }
  if (!has_forward && (module_find_method(f->from, STR("forward")) || !f->type->methods.length))
    add_method(f, STR("forward"));
  for (size_t i = 0; i < f->type->methods.length; i++) find_sets(f, f->type->methods.data[i]->graph->block);
  for (size_t i = 0; i < f->type->methods.length; i++) {
    Graph *graph = f->type->methods.data[i]->graph;
    replace_attributes(f, graph, graph->block, true);
    constant_propagation(graph, f->exec);
    graph_with_scratch(graph, find_in_graph, &(Find){f, graph});
  }
  for (size_t i = 0; i < f->type->methods.length; i++) {
    Graph *graph = f->type->methods.data[i]->graph;
    replace_attributes(f, graph, graph->block, false);
    constant_propagation_mutable(graph, f->exec);
    peephole_no_shapes(graph);
    remove_dropout(graph);
    if (!f->options->exact) fold_frozen_conv_bn(graph, f->exec);
    dead_code_elimination(graph);
    constant_pooling(graph);
    find_uses(f, graph);
    graph_input(graph, 0)->type = &f->type->type;
    graph_seal(graph);
  }
  add_attributes(f);
}

Status module_freeze(const Module *module, const FreezeOptions *options, Exec *exec, Module **out) {
  Freezer f = {.from = module, .exec = exec, .options = options};
  TRY(unit_new(&f.unit));
  bool grad = exec->grad_enabled;
  exec->grad_enabled = false;
  Status status = arena_protect(&f.unit->store.arena, freeze, &f);
  exec->grad_enabled = grad;
  if (!status) status = module_new(f.unit, f.object, out);
  if (f.object) ivalue_release(ivalue_object(f.object));
  unit_release(f.unit);
  return status;
}
