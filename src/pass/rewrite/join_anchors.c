/* Later anchors move up to the first, so nothing that lies between may be in their way. */
#include "pass/rewrite/join_anchors.h"

#include "interp/region_read.h"
#include "ir/graph_log.h"
#include "pass/rewrite/chain.h"

#define FILE_NAME "fuse_regions"

enum {
  MAX_ANCHORS = REGION_MAX_UNITS - 1,
  MAX_FUNCTIONS = 2, /* after each */
  MAX_SPAN = 64      /* nodes between an anchor and the next one of its input */
};

typedef struct Anchors {
  Node *nodes[MAX_ANCHORS * (1 + MAX_FUNCTIONS)]; /* each anchor and the functions of its result */
  uint32_t count, units;
} Anchors;

/* The next such anchor of the same input; NULL: none is near. */
static Node *find_next(const Node *first, const Anchor *anchor) {
  Node *node = first->next;
  for (int steps = 0; steps < MAX_SPAN && node != first->owning_block->ret; steps++, node = node->next)
    if (node_anchor(node) == anchor && node_input(node, 0) == node_input(first, 0)) return node;
  return NULL;
}

/* The anchor and the functions of its result, which need nothing else. The last. */
static Node *add_unit(Anchors *anchors, Node *node, const Anchor *anchor) {
  RegionRole last = REGION_ANCHOR;
  Node *next = node;
  anchors->units++;
  do {
    anchors->nodes[anchors->count++] = node = next;
    next = chain_next(node);
    if (next) last = region_role(next, anchor, node_output(node, 0), last);
  } while (next && (last == REGION_FIRST_FUNCTION || last == REGION_FUNCTION));
  return node;
}

/* Moves each next one in front of those found before it, and what it needs in front of all of them, until one has to
 * stay. */
static void gather_anchors(AliasDb *db, Node *first, const Anchor *anchor, Anchors *anchors) {
  Node *point = first, *next;
  anchors->count = anchors->units = 0;
  add_unit(anchors, first, anchor);
  while (anchors->units < MAX_ANCHORS && (next = find_next(first, anchor))) {
    if (!alias_move_before(db, next, point)) {
      node_refused(FILE_NAME, next, REASON_NOT_MOVED_ALIASING);
      return;
    }
    add_unit(anchors, point = next, anchor);
  }
}

static Node *join(Graph *graph, AliasDb *db, const Anchors *anchors) {
  Node *first = anchors->nodes[0];
  Node *joined = graph_create(graph, SYM_wick_region, 0, NULL, 0);
  node_copy_metadata(joined, first);
  node_insert_before(joined, first);
  chains_replace(db, anchors->nodes, (int)anchors->count, joined);
  return joined;
}

void join_anchors(Graph *graph, AliasDb *db, Block *block) {
  BLOCK_EACH(node, block) {
    Anchors anchors;
    for (uint32_t i = 0; i < node->block_count; i++) join_anchors(graph, db, node->blocks[i]);
    const Anchor *anchor = node_anchor(node);
    if (!anchor || !(anchor->takes & ANCHOR_JOINS)) continue;
    gather_anchors(db, node, anchor, &anchors);
    if (anchors.units > 1) {
      if (!jit_opt_limit(FILE_NAME)) return;
      NODE_LOG_UPDATE(FILE_NAME, "with others of its input:", node);
      node = join(graph, db, &anchors);
    }
    node_next = node->next; /* the next one may have moved */
  }
}
