/* What the files of graph differentiation share. Values of the forward graph are "outside", of the backward graph
 * "inside". */
#pragma once

#include "autodiff/differentiate.h"
#include "report/symbol.h"

typedef struct Differ {
  Graph *forward, *backward;
  Arena *arena;
  Exec *exec;
  PtrMap requires;   /* outside values that may require grad */
  PtrMap gradients;  /* outside value -> its gradient inside */
  PtrMap constants;  /* outside constant -> its copy inside */
  PtrMap captures;   /* outside value -> an input of the backward graph */
  PtrMap is_capture; /* that input -> outside value */
  PtrMap sizes;      /* outside tensor -> outside aten::size of it */
  PtrMap dtypes;     /* outside tensor -> outside prim::dtype of it */
  PtrMap roots;      /* outside temporaries that get a gradient from the start -> itself */
} Differ;

static inline bool differ_requires(const Differ *d, const Value *outside) {
  return ptrmap_has(&d->requires, outside);
}
bool type_is_tensor(const Type *type);      /* Tensor or Tensor? */
bool type_is_tensor_list(const Type *type); /* of those */

/* Whether the node stands for another operator in differentiable graphs; puts the others in their places. */
bool node_is_expanded(const Node *node);
void expand_nodes(Graph *graph);

/* The value inside: a copy of the constant, a list made of its elements, else a capture. */
Value *differ_import(Differ *d, Value *outside);
/* A node of the forward graph right after the definition of `outside`: aten::size, prim::dtype, ...; one for each. */
Value *differ_metadata(Differ *d, PtrMap *memo, Symbol kind, const Type *type, Value *outside);
Value *differ_size(Differ *d, Value *outside);
Value *differ_dtype(Differ *d, Value *outside);
void differ_add_gradient(Differ *d, Value *outside, Value *gradient);
/* Inserts into the backward graph, at its insertion point. */
Value *differ_insert(Differ *d, Symbol kind, uint32_t count, Value *const *inputs, const Type *type);

/* The arguments whose gradients the node's statements give and somebody wants; 0: none. */
uint64_t wanted_arguments(const Differ *d, const Node *node, const Formula *formula, uint32_t *out_statements);
/* Appends what gives the gradients of the node's inputs from those of its outputs. */
void backward_of_node(Differ *d, Node *node);

bool node_requires(const Differ *d, const Node *node); /* an output may require grad */
bool reads_values(const Node *node, uint32_t input);   /* not only sizes and the like */
/* ---- dependence.c: fill the arrays of Gradient ---- */
void differ_find_dependence(const Differ *d, Gradient *g);
void differ_find_readers(const Differ *d, Gradient *g);
void differ_find_carriers(const Differ *d, Gradient *g);
/* Nodes of a subgraph that run: no constants, no profiles. */
uint32_t differ_count_running(const Graph *subgraph);
