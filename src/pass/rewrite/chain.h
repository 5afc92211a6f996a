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
/* Puts the region, which stands where they are to run and has no inputs and outputs yet, in the place of the nodes.
 * They become its Subgraph, for calls that its engine declines. It gives what they don't take of each other; what they
 * do nobody else takes. */
void chains_replace(AliasDb *db, Node *const *nodes, int count, Node *region);
