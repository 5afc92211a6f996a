/* Chains: nodes each of which is used by the next alone, which become one. */
#pragma once

#include "ir/alias_db.h"
#include "pass/rewrite/rewrite.h"

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
/* Gives `fused` the nodes, in order, as its Subgraph, for calls that its operator declines. Its inputs are the node's;
 * what the nodes take besides is constant, or has no influence on what they give. Its outputs are what the last
 * `results` nodes give. */
void keep_as_subgraph(Node *fused, Node *const *nodes, int count, int results);
/* The region gets the value as an input, unless it has it or keeps it as a constant in its Subgraph: tensors are always
 * inputs. */
void region_add_input(Node *region, Value *value);
/* Puts `fused`, which was made with the graph's insertion point at the last of them, in the place of all; they
 * become its Subgraph. */
void chain_replace(Graph *graph, AliasDb *db, Node *const *nodes, int count, Node *fused);
