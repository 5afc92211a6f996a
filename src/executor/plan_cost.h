/* About what a run of a graph costs: enough to tell which of two graphs that do the same does less. */
#pragma once

#include "ir/graph.h"

typedef struct PlanCost {
  uint64_t time;      /* in steps of the interpreter */
  bool has_calls;     /* of functions and methods */
  bool has_groups;    /* nodes that carry something made for them: fusion groups, graphs with gradients */
  bool has_gradients; /* of graphs */
  bool has_guards;
  bool is_strict; /* a strict_fusion region: the plan has to run, since it says what was not fused */
} PlanCost;

PlanCost plan_cost(const Graph *graph);
/* Whether a graph with all that it calls, once for each call, has at most so many nodes. */
bool graph_is_within(const Graph *graph, uint32_t nodes);
