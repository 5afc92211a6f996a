/* What nodes call: "torch.ops.aten.add.Tensor", "_operator.mul", "torch.ops.higher_order.cond". */
#pragma once

#include "serial/pt2/builder.h"

/* Inserts what the node does, and defines its outputs. */
void pt2_build_node(Pt2Builder *b, const Json *node);
/* All nodes of a graph. */
void pt2_build_nodes(Pt2Builder *b, const Json *graph);
/* Throws ERROR_UNSUPPORTED naming everything in the graph, and in graphs within it, that wick does not have. */
void pt2_check_targets(const Pt2Builder *b, const Json *graph);
