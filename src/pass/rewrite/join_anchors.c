/* Later anchors move up to the first, so nothing that lies between may be in their way. */
#include "pass/rewrite/join_anchors.h"

#include "interp/region_read.h"
#include "ir/graph_log.h"
#include "pass/rewrite/chain.h"

#define FILE_NAME "fuse_regions"

enum {
  MAX_ANCHORS = REGION_MAX_UNITS - 1,
  MAX_SPAN = 64 /* nodes between an anchor and the next one of its input */
};

typedef struct Anchors {
  Node *nodes[MAX_ANCHORS]; /* in the order as written */
  uint32_t count;
} Anchors;

/* The next such anchor of the same input; NULL: none is near. */
static Node *find_next(const Node *first, const Anchor *anchor) {
  Node *node = first->next;
  for (int steps = 0; steps < MAX_SPAN && node != first->owning_block->ret; steps++, node = node->next)
    if (node_anchor(node) == anchor && node_input(node, 0) == node_input(first, 0)) return node;
  return NULL;
}

/* Moves each next one in front of those found before it, and what it needs in front of all of them, until one has to
 * stay. */
static void gather_anchors(AliasDb *db, Node *first, const Anchor *anchor, Anchors *anchors) {
  Node *point = first, *next;
  *anchors = (Anchors){.nodes = {first}, .count = 1};
  while (anchors->count < MAX_ANCHORS && (next = find_next(first, anchor))) {
    if (!alias_move_before(db, next, point)) {
      node_refused(FILE_NAME, next, REASON_NOT_MOVED_ALIASING);
      return;
    }
    anchors->nodes[anchors->count++] = point = next;
  }
}

static Node *join(Graph *graph, AliasDb *db, const Anchors *anchors) {
  Node *first = anchors->nodes[0];
  Node *joined = graph_create(graph, SYM_wick_region, 0, NULL, 0);
  node_copy_metadata(joined, first);
  for (uint32_t i = 0; i < anchors->count; i++) {
    Node *node = anchors->nodes[i];
    Value *output = node_add_output(joined, node_output(node, 0)->type);
    alias_replace_value(db, node_output(node, 0), output);
  }
  keep_as_subgraph(joined, anchors->nodes, (int)anchors->count, (int)anchors->count);
  for (uint32_t i = 0; i < anchors->count; i++)
    value_replace_all_uses_with(node_output(anchors->nodes[i], 0), node_output(joined, i));
  node_insert_before(joined, first);
  for (uint32_t i = 0; i < anchors->count; i++) node_destroy(anchors->nodes[i]);
  return joined;
}

void join_anchors(Graph *graph, AliasDb *db, Block *block) {
  BLOCK_EACH(node, block) {
    Anchors anchors;
    for (uint32_t i = 0; i < node->block_count; i++) join_anchors(graph, db, node->blocks[i]);
    const Anchor *anchor = node_anchor(node);
    if (!anchor || !(anchor->takes & ANCHOR_JOINS)) continue;
    gather_anchors(db, node, anchor, &anchors);
    if (anchors.count > 1) {
      if (!jit_opt_limit(FILE_NAME)) return;
      NODE_LOG_UPDATE(FILE_NAME, "with others of its input:", node);
      node = join(graph, db, &anchors);
    }
    node_next = node->next; /* the next one may have moved */
  }
}
