/* pass: graph -> graph, one optimisation or normalisation per file, with PyTorch's names. Passes allocate from the
 * graph's arena and throw to its catch point. In the order the front end runs them: */
#pragma once

#include "ir/ir.h"

/* prim::Closure's block becomes a Subgraph whose one input is the tuple of what it captures. */
void lift_closures(Graph *graph, void (*clean_up)(Graph *graph, void *argument), void *argument);
/* prim::forkClosure over a lifted closure becomes prim::fork with a Subgraph and the captured values as inputs. */
void inline_forked_closures(Graph *graph, void (*clean_up)(Graph *graph, void *argument), void *argument);
/* prim::EmptyListLiteral that no call gave a type is an empty list of tensors. */
void lower_empty_lists(Graph *graph);
/* Loops with a trip count and a condition (`for` with break) count by themselves and become while loops. */
void canonicalize_modified_loops(Graph *graph);
/* Synonyms get one name: absolute is abs, clip is clamp, `is` of two bools is ==. */
void normalize_ops(Graph *graph);
/* TupleUnpack, TupleIndex of a TupleConstruct are its inputs. */
void lower_simple_tuples(Graph *graph);
/* Runs what depends on constants alone and gives values that nobody can change; takes the known branch of Ifs. exec may
 * be NULL. */
void constant_propagation_immutable(Graph *graph, Exec *exec);
/* Equal constants are one, at the top of the graph. */
void constant_pooling(Graph *graph);
/* Outputs of Ifs and Loops in the order of their first use. */
void canonicalize_outputs(Graph *graph);
/* aten::warn nodes get numbers, so that each warns once. */
void annotate_warns(Graph *graph);

/* Removes what has no effect and gives nothing that is used, and dead outputs of Ifs and Loops. */
void eliminate_dead_code(Graph *graph);

/* ---- not part of the clean-up ---- */

/* Bodies of called functions and methods in place of the calls, and of the calls in those. What recurses, is not
 * compiled or would make the graph too large stays a call. */
void inline_calls(Graph *graph);
/* Small local rewrites: tests for None that types decide, casts to the type a value has. */
void peephole(Graph *graph);
/* Names go, values are numbered from 0 in order of definition. */
void canonicalize_names(Graph *graph);

/* ---- by name, for dumps and tests ---- */
typedef struct Pass {
  const char *name, *what;
  void (*run)(Graph *graph, Exec *exec); /* exec may be NULL */
} Pass;
const Pass *pass_find(Str name);          /* NULL: no such pass */
const Pass *pass_next(const Pass *after); /* all in turn; NULL starts and ends */
/* Runs a pass with a catch point of its own; debug builds lint afterwards. */
Status pass_run(const Pass *pass, Graph *graph, Exec *exec) MUST_CHECK;
