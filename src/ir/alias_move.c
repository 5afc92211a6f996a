/* Moves of nodes within a block. From the node towards the point a working set grows: what depends on it comes along.
 * The move is possible when the point does not depend on what has to pass it. */
#include "ir/alias_internal.h"

typedef struct WorkingSet {
  AliasDb *db;
  const Block *block;
  bool forward;
  VEC(Node *) nodes;
  VEC(const Effects *) effects;
  PtrMap members;  /* nodes of the set */
  PtrMap supplies; /* backwards: nodes of the block that the set takes values from */
  const Node *asked;
} WorkingSet;

/* The node of the block that gives the value; NULL: none does. */
static const Node *supplier(const WorkingSet *set, const Value *value) {
  return value->node->owning_block == set->block && value->node->kind != SYM_prim_Param ? value->node : NULL;
}

typedef bool UseVisitor(WorkingSet *set, const Value *value);

/* Every value that the node, its blocks included, takes from outside of itself; true: the visitor had enough. */
static bool each_use(WorkingSet *set, const Node *node, UseVisitor *visit) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (visit(set, node_input(node, i))) return true;
  for (uint32_t b = 0; b < node->block_count; b++) {
    BLOCK_EACH(inner, node->blocks[b]) if (each_use(set, inner, visit)) return true;
    if (each_use(set, node->blocks[b]->ret, visit)) return true;
  }
  return false;
}

static bool is_from_set(WorkingSet *set, const Value *value) {
  return ptrmap_has(&set->members, value->node);
}

static bool note_supplier(WorkingSet *set, const Value *value) {
  const Node *node = supplier(set, value);
  if (node) ptrmap_put(&set->supplies, node, (void *)node);
  return false;
}

static void add(WorkingSet *set, Node *node) {
  vec_arena_push(set->db->arena, &set->nodes, node);
  vec_arena_push(set->db->arena, &set->effects, alias_effects(set->db, node));
  if (set->forward)
    ptrmap_put(&set->members, node, node);
  else
    each_use(set, node, note_supplier);
}

static bool effects_collide(const Effects *a, const Effects *b) {
  if (a->is_ordered && b->is_ordered) return true;
  if (a->is_drawing && b->is_drawing) return true;
  if ((a->sets_mode && b->records) || (a->records && b->sets_mode)) return true;
  if ((a->may_raise && b->is_seen) || (a->is_seen && b->may_raise)) return true;
  bool a_acts = a->is_ordered || a->is_drawing || a->is_barrier || a->writes->count;
  bool b_acts = b->is_ordered || b->is_drawing || b->is_barrier || b->writes->count;
  if ((a->is_barrier && b_acts) || (b->is_barrier && a_acts)) return true;
  return memory_set_intersects(a->writes, b->reads) || memory_set_intersects(a->reads, b->writes) ||
         memory_set_intersects(a->writes, b->writes);
}

static bool depends(WorkingSet *set, const Node *node) {
  if (!set->nodes.length) return false;
  if (set->forward ? each_use(set, node, is_from_set) : ptrmap_has(&set->supplies, node)) return true;
  const Effects *effects = alias_effects(set->db, node);
  for (size_t i = 0; i < set->effects.length; i++)
    if (effects_collide(set->effects.data[i], effects)) return true;
  return false;
}

static bool is_from_asked(WorkingSet *set, const Value *value) {
  return supplier(set, value) == set->asked;
}

/* Whether `n` and `point` have to keep their order. */
static bool is_bound(WorkingSet *set, const Node *n, const Node *point) {
  set->asked = set->forward ? n : point;
  return each_use(set, set->forward ? point : n, is_from_asked) ||
         effects_collide(alias_effects(set->db, n), alias_effects(set->db, point));
}

static void place(Node *node, Node *point, bool before) {
  if (before)
    node_move_before(node, point);
  else
    node_move_after(node, point);
}

/* Where the walk may begin. Of a node that neither touches memory nor has effects only users depend, so those before
 * its first user need not be looked at. */
static Node *first_dependent(const WorkingSet *set, Node *node, Node *point) {
  const Effects *e = vec_last(&set->effects);
  if (!set->forward) return node->prev;
  if (e->reads->count || e->writes->count || e->is_ordered || e->is_drawing || e->is_barrier || e->sets_mode ||
      e->may_raise || (e->records && set->db->sets_mode))
    return node->next;
  Node *first = point;
  for (uint32_t o = 0; o < node->output_count; o++) {
    const Value *output = node_output(node, o);
    for (size_t i = 0; i < output->uses.length; i++) {
      Node *user = output->uses.data[i].user;
      while (user->owning_block != set->block) user = user->owning_block->owning_node;
      if (user->position < first->position) first = user;
    }
  }
  return first;
}

static bool try_move(AliasDb *db, Node *node, Node *point, bool before, bool dry_run) {
  if (!node->owning_block || node->owning_block != point->owning_block) return false;
  if (node == point) return true;
  WorkingSet set = {.db = db, .block = node->owning_block, .forward = node_is_before(node, point)};
  ptrmap_init(&set.members, db->arena);
  ptrmap_init(&set.supplies, db->arena);
  add(&set, node);
  bool is_edge = point == node->owning_block->ret || point == node->owning_block->param;
  bool stops_here = before == set.forward; /* only what depends on the node has to pass the point */
  if (!stops_here && (is_edge || is_bound(&set, node, point))) return false;
  for (Node *n = first_dependent(&set, node, point); n != point; n = set.forward ? n->next : n->prev) {
    if (!depends(&set, n)) continue;
    if (is_edge || is_bound(&set, n, point)) return false;
    add(&set, n);
  }
  if (dry_run) return true;
  if (stops_here) place(node, point, before);
  Node *last = point;
  bool side = stops_here ? !before : before;
  for (size_t i = stops_here; i < set.nodes.length; i++) {
    place(set.nodes.data[i], last, side);
    last = set.nodes.data[i];
  }
  return true;
}

bool alias_could_move_before(AliasDb *db, Node *node, Node *point) {
  return try_move(db, node, point, true, true);
}
bool alias_could_move_after(AliasDb *db, Node *node, Node *point) {
  return try_move(db, node, point, false, true);
}
bool alias_move_before(AliasDb *db, Node *node, Node *point) {
  return try_move(db, node, point, true, false);
}
bool alias_move_after(AliasDb *db, Node *node, Node *point) {
  return try_move(db, node, point, false, false);
}
