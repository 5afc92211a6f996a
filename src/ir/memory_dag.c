/* MemoryDag: cycles of elements are found by Tarjan's walk, sets of locations built from what is pointed to upwards;
 * then what escapes is joined with the wildcards by union-find, and sets are looked at through it. */
#include "ir/memory_dag.h"

#include <assert.h>
#include <stdlib.h>

static Element *at(MemoryDag *dag, ElementId id) {
  return &dag->elements.data[id];
}

static ElementId push_element(MemoryDag *dag, Element element) {
  ElementId id = (ElementId)dag->elements.length;
  element.parent = id;
  vec_arena_push(dag->arena, &dag->elements, element);
  return id;
}

void memory_dag_init(MemoryDag *dag, Arena *arena, TypeStore *store) {
  *dag = (MemoryDag){.arena = arena, .store = store};
  ptrmap_init(&dag->wildcards, arena);
  dag->empty = ARENA_NEW(arena, MemorySet);
  ElementId any = push_element(dag, (Element){.type = TYPE(ANY), .is_wildcard = true});
  assert(any == ELEMENT_ANY);
  memory_dag_contain(dag, any, any);
}

static uint32_t push_edge(MemoryDag *dag, ElementId to, uint32_t next) {
  vec_arena_push(dag->arena, &dag->edges, ((MemoryEdge){to, next}));
  return (uint32_t)dag->edges.length;
}

void memory_dag_contain(MemoryDag *dag, ElementId container, ElementId element) {
  if (container == ELEMENT_NONE || element == ELEMENT_NONE) return;
  uint32_t edge = push_edge(dag, element, at(dag, container)->contains);
  Element *e = at(dag, container);
  if (!e->contains) e->last_contained = edge;
  e->contains = edge;
}

/* ---- wildcards ---- */

static const Type *without_optional(const Type *type) {
  while (type->kind == TYPE_OPTIONAL) type = type->elements[0];
  return type;
}

/* Types whose values may be of any other mutable type too. */
static bool is_open_type(const Type *type) {
  switch (type->kind) {
    case TYPE_ANY:
    case TYPE_VAR:
    case TYPE_INTERFACE:
    case TYPE_ANY_LIST:
    case TYPE_ANY_TUPLE:
    case TYPE_ANY_CLASS:
    case TYPE_ERROR:
    case TYPE_CAPSULE:
      return true;
    case TYPE_LIST:
    case TYPE_DICT:
    case TYPE_TUPLE:
    case TYPE_FUTURE:
      for (uint32_t i = 0; i < type->count; i++)
        if (is_open_type(type->elements[i])) return true;
      return false;
    default:
      return false;
  }
}

static ElementId find_wildcard(MemoryDag *dag, const Type *type) {
  for (size_t i = 0; i < dag->wildcard_ids.length; i++)
    if (type_equal(at(dag, dag->wildcard_ids.data[i])->type, type)) return dag->wildcard_ids.data[i];
  return ELEMENT_NONE;
}

static ElementId new_wildcard(MemoryDag *dag, const Type *type) {
  if (type->kind == TYPE_UNION) { /* no location: the members' */
    ElementId id = push_element(dag, (Element){.type = type});
    for (uint32_t i = 0; i < type->count; i++) {
      ElementId member = memory_dag_wildcard(dag, type->elements[i]);
      if (member != ELEMENT_NONE) memory_dag_point(dag, id, member);
    }
    return id;
  }
  ElementId id = find_wildcard(dag, type);
  if (id != ELEMENT_NONE) return id;
  id = push_element(dag, (Element){.type = type, .is_wildcard = true});
  vec_arena_push(dag->arena, &dag->wildcard_ids, id);
  return id;
}

ElementId memory_dag_wildcard(MemoryDag *dag, const Type *type) {
  type = without_optional(type);
  if (!type_may_be_mutable(type)) return ELEMENT_NONE;
  uintptr_t known = (uintptr_t)ptrmap_get(&dag->wildcards, type);
  if (known) return (ElementId)(known - 1);
  const Type *plain = type;
  if (type->has_refinement)
    plain = type->kind == TYPE_TENSOR ? TYPE(TENSOR) : type_without_refinement(dag->store, type);
  if (is_open_type(plain)) {
    ptrmap_put(&dag->wildcards, type, (void *)(uintptr_t)(ELEMENT_ANY + 1));
    return ELEMENT_ANY;
  }
  size_t before = dag->wildcard_ids.length;
  ElementId id = new_wildcard(dag, plain);
  ptrmap_put(&dag->wildcards, type, (void *)(uintptr_t)(id + 1));
  if (dag->wildcard_ids.length == before || plain->kind == TYPE_TENSOR || plain->kind == TYPE_UNION) return id;
  switch (plain->kind) {
    case TYPE_LIST:
    case TYPE_DICT:
    case TYPE_TUPLE:
    case TYPE_FUTURE:
      for (uint32_t i = 0; i < plain->count; i++)
        memory_dag_contain(dag, id, memory_dag_wildcard(dag, plain->elements[i]));
      break;
    default:
      memory_dag_contain(dag, id, ELEMENT_ANY);
  }
  return id;
}

/* ---- sets ---- */

ElementId memory_dag_find(MemoryDag *dag, ElementId id) {
  while (at(dag, id)->parent != id) {
    ElementId parent = at(dag, id)->parent;
    at(dag, id)->parent = at(dag, parent)->parent;
    id = parent;
  }
  return id;
}

static int compare_ids(const void *a, const void *b) {
  ElementId x = *(const ElementId *)a, y = *(const ElementId *)b;
  return (x > y) - (x < y);
}

static const MemorySet *set_of_one(MemoryDag *dag, ElementId id) {
  if (id >= dag->by_location_capacity) {
    size_t capacity = dag->elements.capacity > id ? dag->elements.capacity : (size_t)id + 1;
    const MemorySet **sets = ARENA_ARRAY(dag->arena, const MemorySet *, capacity);
    if (dag->by_location_capacity) memcpy(sets, dag->by_location, dag->by_location_capacity * sizeof *dag->by_location);
    dag->by_location = sets;
    dag->by_location_capacity = capacity;
  }
  if (dag->by_location[id]) return dag->by_location[id];
  MemorySet *set = arena_alloc(dag->arena, sizeof *set + sizeof id);
  ElementId *ids = (ElementId *)(set + 1);
  *ids = id;
  *set = (MemorySet){.count = 1,
                     .version = dag->version,
                     .has_any = id == ELEMENT_ANY,
                     .has_wildcard = at(dag, id)->is_wildcard,
                     .ids = ids};
  return dag->by_location[id] = set;
}

const MemorySet *memory_dag_set(MemoryDag *dag, size_t count, ElementId *ids) {
  for (size_t i = 0; i < count; i++) ids[i] = memory_dag_find(dag, ids[i]);
  bool is_sorted = true;
  for (size_t i = 1; i < count && is_sorted; i++) is_sorted = ids[i - 1] < ids[i];
  if (!is_sorted) {
    qsort(ids, count, sizeof *ids, compare_ids);
    size_t n = 1;
    for (size_t i = 1; i < count; i++)
      if (ids[i] != ids[n - 1]) ids[n++] = ids[i];
    count = n;
  }
  if (!count) return dag->empty;
  if (count == 1) return set_of_one(dag, ids[0]);
  MemorySet *set = ARENA_NEW(dag->arena, MemorySet);
  ElementId *kept = ARENA_ARRAY(dag->arena, ElementId, count);
  memcpy(kept, ids, count * sizeof *ids);
  *set = (MemorySet){.count = (uint32_t)count, .version = dag->version, .ids = kept, .has_any = kept[0] == ELEMENT_ANY};
  for (size_t i = 0; i < count && !set->has_wildcard; i++) set->has_wildcard = at(dag, kept[i])->is_wildcard;
  return set;
}

const MemorySet *memory_set_current(MemoryDag *dag, const MemorySet *set) {
  if (set->version == dag->version || !set->count) return set;
  MemorySet *memo = (MemorySet *)set;
  if (set->current && set->current->version == dag->version) return set->current;
  bool same = true;
  for (uint32_t i = 0; i < set->count && same; i++) same = memory_dag_find(dag, set->ids[i]) == set->ids[i];
  if (same) {
    memo->version = dag->version;
    memo->current = NULL;
    return set;
  }
  ElementId *ids = ARENA_ARRAY(dag->arena, ElementId, set->count);
  memcpy(ids, set->ids, set->count * sizeof *ids);
  const MemorySet *current = memory_dag_set(dag, set->count, ids);
  if (current->version != dag->version) current = memory_set_current(dag, current);
  return memo->current = current;
}

static bool contains_id(const MemorySet *set, ElementId id) {
  uint32_t low = 0, high = set->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (set->ids[middle] < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < set->count && set->ids[low] == id;
}

bool memory_set_intersects(const MemorySet *a, const MemorySet *b) {
  if ((a->has_any && b->has_wildcard) || (b->has_any && a->has_wildcard)) return true;
  if (a->count > b->count) {
    const MemorySet *swap = a;
    a = b;
    b = swap;
  }
  if (a->count && a == b) return true;
  for (uint32_t i = 0; i < a->count; i++)
    if (contains_id(b, a->ids[i])) return true;
  return false;
}

/* ---- joining ---- */

static void join(MemoryDag *dag, ElementId into, ElementId from) {
  into = memory_dag_find(dag, into);
  from = memory_dag_find(dag, from);
  if (into == from) return;
  Element *a = at(dag, into), *b = at(dag, from);
  assert(!b->is_wildcard || a->is_wildcard);
  b->parent = into;
  dag->version++;
  if (!b->contains) return;
  if (a->contains)
    dag->edges.data[a->last_contained - 1].next = b->contains;
  else
    a->contains = b->contains;
  a->last_contained = b->last_contained;
}

static void escape_now(MemoryDag *dag, ElementId start) {
  size_t bottom = dag->escaping.length;
  vec_arena_push(dag->arena, &dag->escaping, start);
  while (dag->escaping.length > bottom) {
    ElementId element = vec_pop(&dag->escaping);
    const MemorySet *set = memory_dag_locations(dag, element);
    for (uint32_t i = 0; i < set->count; i++) {
      ElementId location = memory_dag_find(dag, set->ids[i]);
      if (at(dag, location)->is_wildcard) continue;
      ElementId wildcard = memory_dag_wildcard(dag, at(dag, location)->type);
      assert(wildcard != ELEMENT_NONE);
      for (uint32_t e = at(dag, location)->contains; e; e = dag->edges.data[e - 1].next)
        vec_arena_push(dag->arena, &dag->escaping, dag->edges.data[e - 1].to);
      at(dag, location)->contains = 0; /* the wildcard contains the wildcards of those */
      join(dag, wildcard, location);
    }
  }
}

/* ---- solving ---- */

/* Locations of one type become one; the wildcards stay. */
static void limit_set(MemoryDag *dag, size_t *count, ElementId *ids) {
  struct {
    ElementId wildcard, first;
  } kinds[TYPE_MAX_MEMBERS];
  size_t kind_count = 0, kept = 0;
  for (size_t i = 0; i < *count; i++) {
    size_t k = 0;
    if (!at(dag, ids[i])->is_wildcard) {
      ElementId wildcard = memory_dag_wildcard(dag, at(dag, ids[i])->type);
      while (k < kind_count && kinds[k].wildcard != wildcard) k++;
      if (k < kind_count) {
        join(dag, kinds[k].first, ids[i]);
        continue;
      }
      if (kind_count < TYPE_MAX_MEMBERS) {
        kinds[kind_count].wildcard = wildcard;
        kinds[kind_count++].first = ids[i];
      }
    }
    ids[kept++] = ids[i];
  }
  *count = kept;
}

/* The union of the sets of what the elements of one cycle, the top `size` of the stack, point to outside of it. */
static const MemorySet *join_sets(MemoryDag *dag, const ElementId *members, size_t size) {
  dag->scratch.length = 0;
  const MemorySet *only = NULL;
  bool many = false;
  for (size_t m = 0; m < size; m++)
    for (uint32_t e = at(dag, members[m])->points_to; e; e = dag->edges.data[e - 1].next) {
      const MemorySet *set = at(dag, dag->edges.data[e - 1].to)->set;
      if (!set || set == only) continue; /* none yet: of the same cycle */
      many |= only != NULL;
      if (!only) only = set;
      vec_arena_reserve(dag->arena, &dag->scratch, dag->scratch.length + set->count);
      memcpy(dag->scratch.data + dag->scratch.length, set->ids, set->count * sizeof *set->ids);
      dag->scratch.length += set->count;
    }
  if (!only) return set_of_one(dag, members[0]);
  if (!many) return only;
  const MemorySet *set = memory_dag_set(dag, dag->scratch.length, dag->scratch.data);
  if (set->count <= MEMORY_SET_LIMIT) return set;
  size_t count = set->count;
  memcpy(dag->scratch.data, set->ids, count * sizeof *set->ids);
  limit_set(dag, &count, dag->scratch.data);
  return memory_dag_set(dag, count, dag->scratch.data);
}

typedef struct Visit {
  ElementId element;
  uint32_t edge; /* to go on with, + 1 */
} Visit;

void memory_dag_solve(MemoryDag *dag) {
  VEC(Visit) path = {0};
  VEC(ElementId) open = {0};
  uint32_t order = 0;
  for (ElementId root = 0; root < dag->elements.length; root++) {
    if (at(dag, root)->set) continue;
    if (!at(dag, root)->points_to) {
      at(dag, root)->set = set_of_one(dag, root);
      continue;
    }
    vec_arena_push(dag->arena, &path, ((Visit){root, 0}));
    while (path.length) {
      Visit *visit = &vec_last(&path);
      Element *e = at(dag, visit->element);
      if (!e->order) {
        e->order = e->low = ++order;
        e->on_stack = true;
        visit->edge = e->points_to;
        vec_arena_push(dag->arena, &open, visit->element);
      }
      ElementId next = ELEMENT_NONE;
      while (visit->edge && next == ELEMENT_NONE) {
        const MemoryEdge *edge = &dag->edges.data[visit->edge - 1];
        Element *to = at(dag, edge->to);
        if (!to->order && !to->set) {
          next = edge->to;
        } else {
          if (to->on_stack && to->order < e->low) e->low = to->order;
          visit->edge = edge->next;
        }
      }
      if (next != ELEMENT_NONE) {
        vec_arena_push(dag->arena, &path, ((Visit){next, 0}));
        continue;
      }
      ElementId self = visit->element;
      path.length--;
      if (e->low == e->order) {
        size_t first = open.length;
        do first--;
        while (open.data[first] != self);
        const MemorySet *set = join_sets(dag, open.data + first, open.length - first);
        for (size_t i = first; i < open.length; i++) {
          at(dag, open.data[i])->set = set;
          at(dag, open.data[i])->on_stack = false;
        }
        open.length = first;
      }
      if (path.length) {
        Element *parent = at(dag, vec_last(&path).element);
        if (at(dag, self)->low < parent->low) parent->low = at(dag, self)->low;
      }
    }
  }
  dag->is_solved = true;
  size_t count = dag->escaping.length;
  ElementId *escaping = ARENA_ARRAY(dag->arena, ElementId, count + 1);
  memcpy(escaping, dag->escaping.data ? dag->escaping.data : escaping, count * sizeof *escaping);
  dag->escaping.length = 0;
  for (size_t i = 0; i < count; i++) escape_now(dag, escaping[i]);
}

/* ---- declarations ---- */

ElementId memory_dag_new_element(MemoryDag *dag, const void *value, const Type *type) {
  ElementId id = push_element(dag, (Element){.value = value, .type = without_optional(type)});
  if (dag->is_solved) at(dag, id)->set = set_of_one(dag, id);
  return id;
}

void memory_dag_point(MemoryDag *dag, ElementId from, ElementId to) {
  if (from == ELEMENT_NONE || to == ELEMENT_NONE || from == to) return;
  bool is_first = !at(dag, from)->points_to;
  uint32_t edge = push_edge(dag, to, at(dag, from)->points_to);
  at(dag, from)->points_to = edge;
  if (!dag->is_solved) return;
  const MemorySet *a = memory_dag_locations(dag, from), *b = memory_dag_locations(dag, to);
  if (is_first) {
    at(dag, from)->set = b;
    return;
  }
  dag->scratch.length = 0;
  vec_arena_reserve(dag->arena, &dag->scratch, (size_t)a->count + b->count);
  memcpy(dag->scratch.data, a->ids, a->count * sizeof *a->ids);
  memcpy(dag->scratch.data + a->count, b->ids, b->count * sizeof *b->ids);
  at(dag, from)->set = memory_dag_set(dag, (size_t)a->count + b->count, dag->scratch.data);
}

void memory_dag_escape(MemoryDag *dag, ElementId element) {
  if (element == ELEMENT_NONE) return;
  if (dag->is_solved)
    escape_now(dag, element);
  else
    vec_arena_push(dag->arena, &dag->escaping, element);
}

/* ---- questions ---- */

const MemorySet *memory_dag_locations(MemoryDag *dag, ElementId element) {
  Element *e = at(dag, element);
  if (!e->set) e->set = set_of_one(dag, element);
  return e->set = memory_set_current(dag, e->set);
}

static void push_ids(MemoryDag *dag, const MemorySet *set, ElementId **ids, size_t *count, size_t *capacity) {
  vec_arena_grow_(dag->arena, (void **)ids, capacity, *count, *count + set->count, sizeof **ids);
  if (set->count) memcpy(*ids + *count, set->ids, set->count * sizeof *set->ids);
  *count += set->count;
}

const MemorySet *memory_dag_contained(MemoryDag *dag, ElementId element) {
  const MemorySet *set = memory_dag_locations(dag, element);
  ElementId *ids = NULL;
  size_t count = 0, capacity = 0;
  for (uint32_t i = 0; i < set->count; i++)
    for (uint32_t e = at(dag, set->ids[i])->contains; e; e = dag->edges.data[e - 1].next)
      push_ids(dag, memory_dag_locations(dag, dag->edges.data[e - 1].to), &ids, &count, &capacity);
  return memory_dag_set(dag, count, ids);
}

/* Everything below a location, found by an explicit walk: containment may have cycles. */
static const MemorySet *reach_of(MemoryDag *dag, ElementId location) {
  Element *e = at(dag, location);
  if (!e->contains) return set_of_one(dag, location);
  if (e->reach && e->reach_version == dag->version) return e->reach;
  VEC(ElementId) found = {0};
  vec_arena_push(dag->arena, &found, location);
  at(dag, location)->is_reaching = true;
  for (size_t i = 0; i < found.length; i++)
    for (uint32_t edge = at(dag, found.data[i])->contains; edge; edge = dag->edges.data[edge - 1].next) {
      const MemorySet *set = memory_dag_locations(dag, dag->edges.data[edge - 1].to);
      for (uint32_t k = 0; k < set->count; k++) {
        Element *below = at(dag, set->ids[k]);
        if (below->is_reaching) continue;
        below->is_reaching = true;
        vec_arena_push(dag->arena, &found, set->ids[k]);
      }
    }
  for (size_t i = 0; i < found.length; i++) at(dag, found.data[i])->is_reaching = false;
  e = at(dag, location);
  e->reach = memory_dag_set(dag, found.length, found.data);
  e->reach_version = dag->version;
  return e->reach;
}

const MemorySet *memory_dag_reachable(MemoryDag *dag, ElementId element) {
  const MemorySet *set = memory_dag_locations(dag, element);
  if (set->count == 1) return memory_set_current(dag, reach_of(dag, set->ids[0]));
  bool deeper = false;
  for (uint32_t i = 0; i < set->count; i++) deeper |= at(dag, set->ids[i])->contains != 0;
  if (!deeper) return set;
  ElementId *ids = NULL;
  size_t count = 0, capacity = 0;
  for (uint32_t i = 0; i < set->count; i++) push_ids(dag, reach_of(dag, set->ids[i]), &ids, &count, &capacity);
  return memory_dag_set(dag, count, ids);
}
