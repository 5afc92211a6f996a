/* The method forward: the caller's arguments taken apart into the graph's inputs, the nodes, what is written back, the
 * results put together. */
#pragma once

#include "serial/pt2/attributes.h"

/* Builds b->graph, whose first input `self` is made here. Throws. */
void pt2_build_forward(Pt2Builder *b, Pt2Attributes *attributes, const Json *program);
