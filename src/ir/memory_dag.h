/* MemoryDag: what may point to what. Its elements stand for values and for things that are no values (the wildcards:
 * the world outside of the graph, one for each type). An element that points to nothing is a location: memory of its
 * own. Containers, besides, contain elements.
 *
 * First the elements and edges are declared, then memory_dag_solve finds the locations that every element may point to.
 * Locations that escape become one with the wildcard of their type, with all that they contain. More than
 * MEMORY_SET_LIMIT locations of one type in a set become one location, so that solving is near-linear. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "type/type.h"

typedef uint32_t ElementId;
enum { ELEMENT_NONE = UINT32_MAX, ELEMENT_ANY = 0, MEMORY_SET_LIMIT = 48 };

/* Locations in ascending order. ELEMENT_ANY among them stands for all wildcards. */
typedef struct MemorySet {
  uint32_t count, version;
  bool has_any, has_wildcard;
  const ElementId *ids;
  const struct MemorySet *current; /* of this set, with what became one since; see version */
} MemorySet;

typedef struct MemoryEdge {
  ElementId to;
  uint32_t next; /* edge + 1; 0: the last */
} MemoryEdge;

typedef struct Element {
  const void *value; /* the Value it was made for; NULL: a wildcard or content of a container */
  const Type *type;  /* whose wildcard it would escape to, the outermost Optional left out */
  uint32_t points_to, contains, last_contained; /* edge + 1 */
  ElementId parent;                             /* locations that became one: union-find */
  uint32_t order, low;                          /* of the walk for cycles */
  const MemorySet *set;
  const MemorySet *reach; /* of a location: itself and what it contains; of version reach_version */
  uint32_t reach_version;
  bool is_wildcard, on_stack, is_reaching;
} Element;

typedef struct MemoryDag {
  Arena *arena;
  TypeStore *store;
  VEC(Element) elements;
  VEC(MemoryEdge) edges;
  PtrMap wildcards; /* Type -> element + 1: as the pointer stands */
  VEC(ElementId) wildcard_ids;
  VEC(ElementId) escaping;
  bool is_solved;
  uint32_t version; /* counts locations that became one after solving */
  const MemorySet *empty;
  const MemorySet **by_location; /* sets of one */
  size_t by_location_capacity;
  VEC(ElementId) scratch;
} MemoryDag;

void memory_dag_init(MemoryDag *dag, Arena *arena, TypeStore *store);
/* A location of its own until it is made to point somewhere. */
ElementId memory_dag_new_element(MemoryDag *dag, const void *value, const Type *type);
/* The element that stands for what comes from outside with this type; ELEMENT_NONE for immutable types. */
ElementId memory_dag_wildcard(MemoryDag *dag, const Type *type);
/* Both may be called after solving too, for elements that are new. */
void memory_dag_point(MemoryDag *dag, ElementId from, ElementId to);
void memory_dag_contain(MemoryDag *dag, ElementId container, ElementId element);
/* All memory that the element may point to can be reached from outside or through a container. */
void memory_dag_escape(MemoryDag *dag, ElementId element);
void memory_dag_solve(MemoryDag *dag);

/* ---- when solved ---- */
const MemorySet *memory_dag_locations(MemoryDag *dag, ElementId element);
/* With what containers among the locations contain, and so on. */
const MemorySet *memory_dag_reachable(MemoryDag *dag, ElementId element);
const MemorySet *memory_dag_contained(MemoryDag *dag, ElementId element); /* one step down */
/* A set from locations in any order, twice or not. */
const MemorySet *memory_dag_set(MemoryDag *dag, size_t count, ElementId *ids);
/* The set as of now. */
const MemorySet *memory_set_current(MemoryDag *dag, const MemorySet *set);
/* Of current sets. Time goes with the smaller set. */
bool memory_set_intersects(const MemorySet *a, const MemorySet *b);
ElementId memory_dag_find(MemoryDag *dag, ElementId location); /* what it became one with */
