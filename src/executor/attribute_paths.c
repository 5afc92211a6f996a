/* A walk over a graph and its calls finds the paths; a walk over the inlined graph finds their reads again. */
#include "executor/attribute_paths.h"

#include <assert.h>

#include "base/stack.h"
#include "pass/motion/attribute_writes.h"
#include "pass/motion/inliner.h"
#include "pass/rewrite/rewrite.h"
#include "report/reason.h"

enum { MAX_OBJECTS = 4096 };

/* What the slots of one object hold: an object or a leaf, + 1. */
typedef struct SlotTable {
  uint32_t count, *places;
} SlotTable;

static SlotTable slot_table(Arena *arena, const ClassType *class_type) {
  uint32_t count = (uint32_t)class_type->attributes.length;
  return (SlotTable){count, ARENA_ARRAY(arena, uint32_t, count + 1)};
}

static bool is_leaf_type(const Type *type) {
  switch (type->kind) {
    case TYPE_TENSOR:
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_BOOL:
    case TYPE_STRING:
    case TYPE_NONE:
      return true;
    case TYPE_OPTIONAL:
      return type->elements[0]->kind != TYPE_OPTIONAL && is_leaf_type(type->elements[0]);
    default:
      return false;
  }
}

/* The attribute that a prim::GetAttr reads of an object on a path; NULL: it reads none. */
static const ClassAttribute *attribute_on_path(const PtrMap *objects, const Node *node, uint32_t *out_object,
                                               uint32_t *out_slot) {
  uintptr_t object = node->kind == SYM_prim_GetAttr ? (uintptr_t)ptrmap_get(objects, node_input(node, 0)) : 0;
  const ClassType *class_type;
  if (!object) return NULL;
  *out_object = (uint32_t)object - 1;
  return attribute_of_node(node, &class_type, out_slot);
}

static void set_object(PtrMap *objects, const Value *value, uintptr_t object_plus_one) {
  ptrmap_put(objects, value, (void *)object_plus_one);
}

/* ---- finding the paths ---- */

typedef struct Search {
  AttributePaths *paths;
  const Graph *graph;
  Arena scratch;
  AttributeWrites writes;
  PtrMap objects; /* Value -> object + 1, of the calls under way */
  VEC(SlotTable) tables;
  uint32_t nodes; /* that were seen */
} Search;

/* The calls under way. */
typedef struct Caller {
  const Function *function;
  const struct Caller *caller;
  uint32_t depth;
} Caller;

static void add_object(Search *s, AttributeObject object) {
  if (!vec_push(&s->paths->objects, object)) catch_throw(s->scratch.catch_point, status_out_of_memory());
  vec_arena_push(&s->scratch, &s->tables, slot_table(&s->scratch, object.class_type));
}

/* What slot `slot` of the object holds becomes part of the paths, unless they are too many; + 1. */
static uint32_t place_of(Search *s, uint32_t object, uint32_t slot, const Type *type) {
  assert(object < s->tables.length);
  AttributePaths *p = s->paths;
  uint32_t *place = &s->tables.data[object].places[slot];
  if (*place) return *place;
  if (type->kind == TYPE_CLASS) {
    if (p->objects.length >= MAX_OBJECTS) return 0;
    *place = (uint32_t)p->objects.length + 1;
    uint32_t made = *place;
    add_object(s, (AttributeObject){object, slot, type->class_type}); /* moves the tables */
    return made;
  }
  if (p->leaves.length >= MAX_OBJECTS) return 0;
  if (!vec_push(&p->leaves, ((AttributeLeaf){object, slot, type})))
    catch_throw(s->scratch.catch_point, status_out_of_memory());
  return *place = (uint32_t)p->leaves.length;
}

static void search_attribute(Search *s, const Node *node) {
  uint32_t object, slot;
  uintptr_t found = 0;
  const ClassAttribute *attribute = attribute_on_path(&s->objects, node, &object, &slot);
  if (attribute && attribute_is_written(&s->writes, attribute)) {
    reason_add(REASON_ATTRIBUTE_NOT_ASSUMED, node->range);
  } else if (attribute && attribute->type->kind == TYPE_CLASS) {
    found = place_of(s, object, slot, attribute->type);
  } else if (attribute && is_leaf_type(attribute->type)) {
    place_of(s, object, slot, attribute->type);
  }
  set_object(&s->objects, node_output(node, 0), found);
}

static void search_block(Search *s, const Block *block, const Caller *caller);

static bool recurses(const Function *callee, const Caller *caller) {
  for (; caller; caller = caller->caller)
    if (caller->function == callee) return true;
  return false;
}

/* Paths come in with arguments and go out with results, or not at all. */
static void search_call(Search *s, const Node *node, const Caller *caller) {
  const Function *callee = inlined_callee(node);
  uint32_t first = node->kind == SYM_prim_CallFunction, depth = caller ? caller->depth + 1 : 0;
  if (!callee || !callee->graph || callee->graph == s->graph || recurses(callee, caller)) return;
  const Graph *graph = callee->graph;
  if (node->input_count - first != graph_input_count(graph) || node->output_count != graph_output_count(graph)) return;
  if (depth > INLINE_MAX_DEPTH || s->nodes > INLINE_MAX_NODES || STACK_IS_LOW()) return;
  bool comes_in = false;
  for (uint32_t i = 0; i < graph_input_count(graph); i++) {
    uintptr_t object = (uintptr_t)ptrmap_get(&s->objects, node_input(node, first + i));
    set_object(&s->objects, graph_input(graph, i), object);
    comes_in |= object != 0;
  }
  if (comes_in && graph_fits_stack(graph)) search_block(s, graph->block, &(Caller){callee, caller, depth});
  for (uint32_t i = 0; i < node->output_count; i++)
    set_object(&s->objects, node_output(node, i), (uintptr_t)ptrmap_get(&s->objects, graph_output(graph, i)));
}

static void search_block(Search *s, const Block *block, const Caller *caller) {
  BLOCK_EACH(node, block) {
    s->nodes++;
    for (uint32_t i = 0; i < node->block_count; i++) search_block(s, node->blocks[i], caller);
    if (node->kind == SYM_prim_GetAttr)
      search_attribute(s, node);
    else if (node->kind == SYM_prim_CallFunction || node->kind == SYM_prim_CallMethod)
      search_call(s, node, caller);
  }
}

static void search(void *argument) {
  Search *s = argument;
  const Graph *graph = s->graph;
  if (!graph_input_count(graph) || graph_input(graph, 0)->type->kind != TYPE_CLASS) return;
  attribute_writes_init(&s->writes, &s->scratch);
  ptrmap_init(&s->objects, &s->scratch);
  attribute_writes_collect(&s->writes, graph);
  if (s->writes.unknown) return;
  add_object(s, (AttributeObject){.class_type = graph_input(graph, 0)->type->class_type});
  set_object(&s->objects, graph_input(graph, 0), 1);
  search_block(s, graph->block, NULL);
}

Status attribute_paths_find(const Graph *graph, AttributePaths *out) {
  *out = (AttributePaths){0};
  if (!graph_fits_stack(graph)) return graph_too_deep();
  Search s = {.paths = out, .graph = graph};
  arena_init(&s.scratch, NULL);
  Status status = arena_protect(&s.scratch, search, &s);
  arena_dispose(&s.scratch);
  if (status || !out->leaves.length) attribute_paths_dispose(out);
  return status;
}

void attribute_paths_dispose(AttributePaths *paths) {
  vec_dispose(&paths->objects);
  vec_dispose(&paths->leaves);
}

/* ---- finding their reads ---- */

void leaf_finder_init(LeafFinder *finder, const AttributePaths *paths, const Graph *graph, Arena *scratch) {
  uint32_t objects = paths ? (uint32_t)paths->objects.length : 0, leaves = paths ? (uint32_t)paths->leaves.length : 0;
  *finder = (LeafFinder){.paths = paths, .tables = ARENA_ARRAY(scratch, SlotTable, objects + 1)};
  ptrmap_init(&finder->objects, scratch);
  if (!objects) return;
  for (uint32_t i = 0; i < objects; i++) {
    const AttributeObject *object = &paths->objects.data[i];
    finder->tables[i] = slot_table(scratch, object->class_type);
    if (i) finder->tables[object->parent].places[object->slot] = i + 1;
  }
  for (uint32_t i = 0; i < leaves; i++)
    finder->tables[paths->leaves.data[i].object].places[paths->leaves.data[i].slot] = i + 1;
  set_object(&finder->objects, graph_input(graph, 0), 1);
}

uint32_t leaf_finder_visit(LeafFinder *finder, const Node *node) {
  uint32_t object, slot;
  const ClassAttribute *attribute = attribute_on_path(&finder->objects, node, &object, &slot);
  if (!attribute || slot >= finder->tables[object].count) return NO_LEAF;
  uint32_t place = finder->tables[object].places[slot];
  if (!place) return NO_LEAF;
  if (attribute->type->kind != TYPE_CLASS) return place - 1;
  set_object(&finder->objects, node_output(node, 0), place);
  return NO_LEAF;
}
