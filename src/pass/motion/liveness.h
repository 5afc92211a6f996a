/* Liveness: what is needed after a node. One backward walk over the graph; nothing is kept. Constants belong to
 * whoever runs the graph and are never live; in a loop's body its trip count and trip index always are, and so is what
 * the next turn takes from outside. */
#pragma once

#include "pass/motion/attribute_reads.h"

/* live: what is needed after `node` without its outputs, in order of value numbers; valid during the call, which must
 * not change the graph. */
typedef void LivenessVisitor(void *argument, Node *node, uint32_t count, Value *const *live);
/* Visits the nodes for which `wanted` says so, the last first. `reads` (NULL: none) are not live, the inputs that they
 * begin at are in their place. Throws to the arena's catch point. */
void liveness_visit(Graph *graph, Arena *scratch, const AttributeReads *reads, bool (*wanted)(const Node *node),
                    LivenessVisitor *visit, void *argument);
