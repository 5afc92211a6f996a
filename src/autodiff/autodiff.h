/* autodiff: reverse-mode differentiation of what runs (docs/autograd.md).
 *
 *   autodiff/gradient_formula.h        the `.grad` text of a row, split, and compiled for the gradients asked for
 *   autodiff/node.h                    GradNode, what it saves, what a tensor knows of its history
 *   autodiff/record.h                  what operator_call calls when an input records
 *   autodiff/foreign_gradient.h        recorded calls whose gradient comes from outside
 *   autodiff/engine.h                  backward, grad
 *   autodiff/differentiate.h           parts of a graph with a backward graph of their own
 *   autodiff/differentiate_internal.h  what the files of that share
 *   autodiff/graph_program.h           such a part made ready to run */
#pragma once

#include "autodiff/engine.h"
#include "autodiff/record.h"
