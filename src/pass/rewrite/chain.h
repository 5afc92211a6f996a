/* Chains: nodes each of which is used by the next alone, which become one. */
#pragma once

#include "ir/alias_db.h"

/* The node that alone uses the only output of `node`, in the same block; NULL: there is none. */
Node *chain_next(const Node *node);
static inline bool is_first_input(const Node *user, const Node *node) {
  return node_input(user, 0) == node_output(node, 0);
}
/* Moves each node before the next, the later ones first. What a move has to keep in order it puts after the point,
 * which can be between two of them. */
void chain_gather(AliasDb *db, Node *const *nodes, int count);
/* How many, from the first on, lie right after each other. */
int chain_together(Node *const *nodes, int count);
/* Gives the region, which has no inputs yet, the nodes, in order, as its Subgraph, for calls that its engine declines;
 * and as inputs what they take of others, but for constants that are no tensors. Its outputs are what the last
 * `results` nodes give. */
void keep_as_subgraph(Node *region, Node *const *nodes, int count, int results);
/* Puts `fused`, which was made with the graph's insertion point at the last of them, in the place of all; they
 * become its Subgraph. */
void chain_replace(Graph *graph, AliasDb *db, Node *const *nodes, int count, Node *fused);
