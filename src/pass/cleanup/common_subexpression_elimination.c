/* Common subexpression elimination: of two nodes that compute the same from the same, the second goes, where nobody
 * writes to what they read or give, no sharing becomes visible and grad mode stays. Blocks know the nodes of the blocks
 * around them. */
#include <assert.h>

#include "ir/graph_log.h"
#include "ir/node_kind.h"
#include "pass/motion/with_aliases.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "report/jit_log.h"

#define FILE_NAME "common_subexpression_elimination"

typedef struct Seen {
  Node *node;
  uint32_t next; /* with the same hash, + 1 */
} Seen;

typedef struct Elimination {
  AliasDb *db;
  Arena *arena;
  PtrMap heads; /* hash | 1 -> entry + 1 */
  VEC(Seen) seen;
  bool has_modes; /* grad mode may change somewhere */
  size_t floor;   /* of `seen`: before it, grad mode may be another one */
} Elimination;

static uintptr_t hash_of(const Node *node) {
  uint64_t hash = node->kind;
  for (uint32_t i = 0; i < node->input_count; i++)
    hash = (hash ^ (uintptr_t)node_input(node, i)) * UINT64_C(0x9E3779B97F4A7C15);
  return (uintptr_t)(hash ^ hash >> 32) | 1;
}

static bool same_attributes(const Node *a, const Node *b) {
  if (a->attribute_count != b->attribute_count) return false;
  for (uint32_t i = 0; i < a->attribute_count; i++) {
    const NodeAttribute *x = &a->attributes[i], *y = node_attribute(b, x->name);
    if (!y || x->tag != y->tag) return false;
    bool same = x->tag == ATTR_INT      ? x->i == y->i
                : x->tag == ATTR_STRING ? str_equal(x->s, y->s)
                : x->tag == ATTR_TYPE   ? type_equal(x->ty, y->ty)
                                        : false;
    if (!same) return false;
  }
  return true;
}

static bool is_same(const Node *a, const Node *b) {
  if (a->kind != b->kind || a->input_count != b->input_count || a->output_count != b->output_count) return false;
  for (uint32_t i = 0; i < a->input_count; i++)
    if (node_input(a, i) != node_input(b, i)) return false;
  for (uint32_t i = 0; i < a->output_count; i++)
    if (!type_equal(node_output(a, i)->type, node_output(b, i)->type)) return false;
  return same_attributes(a, b);
}

/* Constants are constant_pooling's. */
static bool is_candidate(Elimination *e, const Node *node) {
  uint8_t flags = node_kind(node->kind)->flags;
  return flags & KIND_MAY_SHARE && !(flags & KIND_LASTS) && node->output_count && !node->block_count &&
         !node->callable && !node_has_side_effects(node) && !node_is_nondeterministic(node) &&
         !alias_node_writes(e->db, node) && !alias_node_has_writers(e->db, node);
}

static bool may_share(Elimination *e, const Node *a, const Node *b) {
  for (uint32_t i = 0; i < a->output_count; i++) {
    const Value *one = node_output(a, i), *other = node_output(b, i);
    if (value_is_told_apart(one) || value_is_told_apart(other) || !alias_safe_to_change(e->db, one, other))
      return false;
  }
  return true;
}

/* The analysis learns what is now seen of `first`: where it leaves the graph, no third node may become it. */
static void merge(Elimination *e, Node *node, Node *first) {
  JIT_LOG_UPDATE(FILE_NAME, "a second " STR_FMT " of the same goes", STR_ARG(symbol_name(node->kind)));
  for (uint32_t i = 0; i < node->output_count; i++)
    alias_replace_value(e->db, node_output(node, i), node_output(first, i));
  node_replace_all_uses_with(node, first);
  node_destroy(node);
}

static void eliminate_in(Elimination *e, Block *block) {
  assert(e->floor <= e->seen.length);
  size_t bottom = e->seen.length;
  BLOCK_EACH(node, block) {
    if (e->has_modes && (node->block_count || node_may_change_grad_mode(node))) e->floor = e->seen.length;
    for (uint32_t i = 0; i < node->block_count; i++) {
      eliminate_in(e, node->blocks[i]);
      if (e->has_modes) e->floor = e->seen.length;
    }
    if (!is_candidate(e, node)) continue;
    uintptr_t hash = hash_of(node), head = (uintptr_t)ptrmap_get(&e->heads, (void *)hash);
    uintptr_t at = head;
    while (at > e->floor &&
           !(is_same(e->seen.data[at - 1].node, node) && may_share(e, e->seen.data[at - 1].node, node)))
      at = e->seen.data[at - 1].next;
    if (at > e->floor && jit_opt_limit(FILE_NAME)) {
      merge(e, node, e->seen.data[at - 1].node);
      continue;
    }
    vec_arena_push(e->arena, &e->seen, ((Seen){node, (uint32_t)head}));
    ptrmap_put(&e->heads, (void *)hash, (void *)(uintptr_t)e->seen.length);
  }
  while (e->seen.length >
         bottom) { /* nodes of an inner block are not seen from outside; the last is first in its chain */
    Seen last = vec_pop(&e->seen);
    ptrmap_put(&e->heads, (void *)hash_of(last.node), (void *)(uintptr_t)last.next);
  }
}

static void eliminate(Graph *graph, AliasDb *db, void *argument) {
  Elimination e = {.db = db, .arena = argument};
  e.arena = graph->arena;
  ptrmap_init(&e.heads, e.arena);
  e.has_modes = graph_changes_grad_mode(graph);
  eliminate_in(&e, graph->block);
}

void common_subexpression_elimination(Graph *graph) {
  with_aliases(graph, eliminate, NULL);
  GRAPH_LOG_DUMP(FILE_NAME, "After EliminateCommonSubexpression: ", graph);
}

PASS(common_subexpression_elimination, GRADIENTS, common_subexpression_elimination(graph),
     "keeps one of nodes that compute the same");
