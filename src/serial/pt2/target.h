/* What nodes call: "torch.ops.aten.add.Tensor", "_operator.mul", "torch.ops.higher_order.cond". */
#pragma once

#include "serial/pt2/builder.h"

/* What is called otherwise than by the registry's row of that name. */
typedef struct Pt2Target {
  const char *name;
  void (*build)(Pt2Builder *b, const struct Pt2Target *target, const Json *node);
  const char *op; /* TorchScript's name of it */
} Pt2Target;

/* All nodes of a graph. */
void pt2_build_nodes(Pt2Builder *b, const Json *graph);
/* Throws ERROR_UNSUPPORTED naming everything in the graph, and in graphs within it, that wick does not have. */
void pt2_check_targets(const Pt2Builder *b, const Json *graph);
