/* GraphProgram: a differentiable graph made ready to run. As a Callable it runs the forward graph with grad mode off
 * and hangs one GradNode on the results, which runs the backward graph; where no input records it only computes. */
#pragma once

#include "autodiff/differentiate.h"
#include "autodiff/node.h"

typedef struct GraphProgram GraphProgram;

/* Code of a graph as it is (prim::GradOf is lowered in a copy): the plain way to make a Callable. The types of the
 * graph's store must outlive it. */
Status code_callable(void *unused, const Graph *graph, Callable **out) MUST_CHECK;

Status graph_program_new(const Gradient *gradient, MakeCallable *make_callable, void *maker, Callable **out) MUST_CHECK;
/* With the store of its types. */
void graph_program_retain(GraphProgram *program);
void graph_program_release(GraphProgram *program); /* NULL is allowed */

/* The gradients of the node's edges, owned, NULL where there is none. */
Status graph_node_backward(Exec *exec, GradNode *node, bool with_history, Tensor *const *grads,
                           Tensor **out) MUST_CHECK;
