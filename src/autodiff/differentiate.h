/* Graph differentiation: parts of a graph whose nodes have gradient texts become prim::DifferentiableGraph nodes; each
 * part gets a graph that also gives what the gradient needs, and a graph that computes the gradient. */
#pragma once

#include "autodiff/gradient_formula.h"
#include "pass/pass.h"

/* Nodes a part must have to be split off, and to stay once everything is optimized. */
enum { AUTODIFF_NODE_THRESHOLD = 2, AUTODIFF_INLINE_THRESHOLD = 5 };

/* Whether the gradient of the node can go into a graph. */
bool node_is_differentiable(const Node *node);
/* The formula of such a node; NULL for the primitives, which differentiate.c knows, and for what has no gradient. */
Formula *node_formula(const Node *node);

void create_autodiff_subgraphs(Graph *graph, uint32_t threshold);
void create_autodiff_subgraphs_of_one(Graph *graph); /* the same with a threshold of 1 */
/* Parts smaller than the threshold go back, unless something in them only runs there (fusion groups). */
void inline_autodiff_subgraphs(Graph *graph, uint32_t threshold);

/* What differentiate makes of a graph. Arrays and the backward graph lie in the graph's arena.
 *
 *   forward(inputs) -> real outputs, then the captured temporaries
 *   backward(gradients of outputs, captured inputs, captured outputs) -> gradients of inputs
 *
 * A captured temporary that may require grad is an output like the others, with a gradient of its own: that is where
 * gradients of gradients reach it. */
typedef struct Gradient {
  Graph *forward, *backward;
  uint32_t real_outputs;
  uint32_t captured_input_count, captured_output_count, input_vjp_count, output_vjp_count;
  uint32_t *captured_inputs;  /* which inputs of forward */
  uint32_t *captured_outputs; /* which outputs of forward */
  uint32_t *input_vjps;       /* whose gradients the first inputs of backward are: outputs of forward */
  uint32_t *output_vjps;      /* whose gradients the outputs of backward are: inputs of forward */
  bool *differentiable;       /* by input of forward: it was taken to require grad where it does */
  bool *metadata_only;        /* by capture, inputs first: only sizes, dtypes and the like are read */
  uint64_t *readers;          /* by capture, `words` each: the inputs of forward whose gradients read it */
  uint64_t *carriers;   /* by capture, `vjp_words` each: the first inputs of backward, with one of which it is read */
  uint64_t *dependence; /* by real output, `words` each: the inputs its gradient reaches */
  uint32_t words, vjp_words; /* of a set of inputs of forward, of gradients of outputs */
} Gradient;

/* `graph` becomes the forward graph. exec compiles the texts. Throws. */
void differentiate(Graph *graph, Exec *exec, Gradient *out);

/* Makes something executable of a graph, which it copies. */
typedef Status MakeCallable(void *maker, const Graph *graph, Callable **out);
/* Gives a prim::DifferentiableGraph node its forward graph (attr::Subgraph) and what runs it: the forward graph as Code
 * of its own, the backward graph by what make_callable gives for it (NULL: Code as well, after lowering). Throws. */
void pack_gradient(Node *node, const Gradient *gradient, MakeCallable *make_callable, void *maker);
/* Differentiates the Subgraphs of all such nodes and packs them, without optimizing anything: for tests and dumps. */
void differentiate_subgraphs(Graph *graph, Exec *exec);

extern const Pass pass_create_autodiff_subgraphs, pass_create_autodiff_subgraphs_of_one, pass_differentiate,
    pass_inline_autodiff_subgraphs;
