/* Nodes that hold a graph (attr::Subgraph): fusion groups, differentiable graphs. The group's inputs are the subgraph's
 * in their order, and so are its outputs, of which the subgraph may have more. All in the arena of the graph around. An
 * AliasDb that is given is kept right; NULL is allowed. */
#pragma once

#include "ir/alias_db.h"

/* The graph a group holds; NULL: none. */
Graph *node_subgraph(const Node *group);
/* The same where it says what the node does: not of a plan's operator, whose row says so and whose Subgraph is what
 * runs where its kernel declines. */
Graph *node_acting_subgraph(const Node *node);
/* A new group with `node` alone in it, in the place of `node`, which is destroyed. */
Node *subgraph_wrap(Node *node, Symbol kind, AliasDb *db);
/* Puts a copy of `node` at the start of the group and destroys it. `node` stands before `group` in the same block and
 * nothing between them uses its outputs. Constants are copied in; outputs used elsewhere become outputs of the group.
 */
void subgraph_merge(Node *group, Node *node, AliasDb *db);
/* The nodes of the group in its place; destroys it. */
void subgraph_unwrap(Node *group, AliasDb *db);
/* Output `index` of the group is computed after it, by a copy of the node that gave it. */
void subgraph_unmerge_output(Node *group, uint32_t index);
/* Removes input `index`, which the subgraph does not use, or output `index`, which nobody uses. */
void subgraph_erase_input(Node *group, uint32_t index);
void subgraph_erase_output(Node *group, uint32_t index);
