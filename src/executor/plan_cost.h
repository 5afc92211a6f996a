/* About what a run of a graph costs: enough to tell which of two graphs that do the same does less. */
#pragma once

#include "ir/graph.h"

/* What is computed and moved in one dtype on one type of device. */
typedef struct PlanWork {
  int dtype, device_type; /* -1: not known, or one of more than PLAN_WORKS */
  double flops, bytes;
} PlanWork;
enum { PLAN_WORKS = 8 };

typedef struct PlanCost {
  /* Nanoseconds on one thread (node_work_ns), and of the calls of operators: with `work`, and as though no size were
   * known. Then a tensor is small, so that what takes time is the call, and an operator with flops (a product, a
   * convolution) has GUESSED_FLOPS of them. */
  double time, guess;
  PlanWork work[PLAN_WORKS];
  uint32_t work_count;
  uint32_t unsized;   /* nodes that compute tensors whose sizes are not known: they count in `time` as in `guess` */
  bool has_calls;     /* of functions and methods */
  bool has_groups;    /* nodes that carry something made for them: fusion groups, graphs with gradients */
  bool has_gradients; /* of graphs */
  bool has_guards;
  bool is_strict; /* a strict_fusion region: the plan has to run, since it says what was not fused */
} PlanCost;

PlanCost plan_cost(const Graph *graph);
/* How much less a run of `a` costs, in nanoseconds; negative: more. Where sizes are known of one of them only, it is
 * the guesses that are compared: what is not known would seem cheap. */
double plan_cost_gain(const PlanCost *a, const PlanCost *than);
/* "0.5 MFLOP and 2.1 KB of float32, 3 operators of unknown sizes"; nothing where nothing computes tensors. */
void plan_cost_print(const PlanCost *cost, StrBuf *out);
/* Whether a graph with all that it calls, once for each call, has at most so many nodes. */
bool graph_is_within(const Graph *graph, uint32_t nodes);
