/* Reads the Subgraph of a wick::region (call/region.h). */
#pragma once

#include "call/region.h"
#include "ir/graph.h"

/* In the arena; borrows from the graph. NULL: it is of no form that engines take, and runs operator by operator. */
const Region *region_read(const Graph *subgraph, Arena *arena);
/* What the operator does to the result of the anchor's unit so far, `through`, whose last step has the role `last`;
 * REGION_ROLES: it can't be part of one. For the pass too, which makes what this reads. */
RegionRole region_role(const Node *node, const Anchor *anchor, const Value *through, RegionRole last);
/* What it does before an anchor, `through` being what the chain that ends in one gives so far; NULL: it is the chain's
 * first. REGION_ROLES: nothing. */
RegionRole region_role_before(const Node *node, const Value *through);
/* The anchor of the node's operator; NULL: it is none. */
const Anchor *node_anchor(const Node *node);
/* Dropout that gives what it takes. */
bool is_idle_dropout(const Node *node);
