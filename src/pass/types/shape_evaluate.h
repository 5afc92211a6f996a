/* What an operator makes of the metadata of tensors, found by running it on tensors without data: shape functions,
 * kernels that only make views, composites and bodies all answer; whatever would read data answers with an error, and
 * then nothing is known. */
#pragma once

#include "call/exec.h"
#include "ir/graph.h"
#include "tensor/random.h"

typedef struct ShapeEvaluator {
  Exec exec;
  WorkBudget budget; /* of each evaluation */
  Arena *scratch;
  PtrMap known;     /* Value -> KnownValue: numbers and lists that evaluation gave, lists of tensors without data */
  VEC(IValue) held; /* what `known` holds */
  Generator *generator;
} ShapeEvaluator;

/* exec (may be NULL) lends its services; nothing that is evaluated counts against its budgets. */
Status shape_evaluator_init(ShapeEvaluator *e, Exec *exec, Arena *scratch) MUST_CHECK;
void shape_evaluator_dispose(ShapeEvaluator *e);

/* Computes what is known of the node's tensor outputs (infos[output_count], requires_grad left out) from the types of
 * its inputs and known constants; notes what is known of other outputs. False: nothing is known. strict: only what
 * follows for certain; else unknown sizes are tried out with several fillings, and what these agree on is kept. */
bool shape_evaluate(ShapeEvaluator *e, Node *node, bool strict, TensorInfo *infos);
/* Types tell for certain that the node's one result has the dtype, sizes and strides of its first input. */
bool shape_keeps_first_input(Arena *scratch, Node *node);
/* The same for the tensors that a prim::ListUnpack takes out of a list that an operator made: sets their types. */
void shape_known_elements(const ShapeEvaluator *e, Node *unpack, int requires_grad);
