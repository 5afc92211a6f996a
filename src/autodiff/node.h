/* GradNode: one recorded call in the graph that backward walks; AutogradMeta: what a tensor knows of its history.
 *
 * A node's edges lead to nodes made earlier (a smaller sequence), so walking by falling sequence meets every node after
 * all that lead to it. Nothing a node keeps refers to the tensors it made: results are saved as aliases without
 * history. Accumulators alone refer to tensors that have autograd data, which may lead back to them: such a tensor they
 * only borrow. So nothing here keeps itself alive. */
#pragma once

#include "autodiff/gradient_formula.h"

typedef struct GradNode GradNode;
/* Where a gradient goes: to that output of that recorded call. node NULL: nowhere. */
typedef struct GradEdge {
  GradNode *node;
  uint32_t output;
} GradEdge;

/* Called with the gradient of a tensor, a leaf's before it is added; may give another one, owned. */
typedef struct GradHook {
  Status (*call)(void *user, Tensor *grad, Tensor **out_replacement);
  void (*drop)(void *user); /* when the hook goes; may be NULL */
  void *user;
} GradHook;
typedef VEC(GradHook) GradHooks;

/* What a gradient must be like. */
typedef struct Metadata {
  uint8_t dtype, ndim;
  bool sparse;
  int64_t *sizes;
} Metadata;
typedef struct GradEdgeSlot {
  GradEdge to;       /* owned */
  Metadata metadata; /* of the input */
} GradEdgeSlot;
typedef struct GradOutput {
  Metadata metadata;
  bool differentiable;
  GradHooks hooks;           /* of the tensor it became, in order of registration */
  _Atomic(Tensor *) retains; /* borrowed: who asked to retain its gradient, and clears this when it dies */
} GradOutput;

/* A tensor kept for the gradient: an alias without history, and the edge where its gradient went. */
typedef struct SavedTensor {
  Tensor *tensor; /* NULL: undefined or None */
  GradEdge history;
  uint32_t version;
  bool checked; /* its data are read: they must not have changed */
} SavedTensor;
/* An argument kept for the gradient. */
typedef struct SavedValue {
  enum { SAVED_NOTHING, SAVED_VALUE, SAVED_TENSOR, SAVED_TENSORS } kind;
  IValue value;
  const Type *element; /* SAVED_TENSORS */
  SavedTensor *tensors;
  size_t count;
} SavedValue;
/* The edges of one argument: `count` from `first`; a list's are one for each element. */
typedef struct GradArgument {
  uint32_t argument, first, count;
  bool is_list;
} GradArgument;

typedef enum GradKind {
  GRAD_FORMULA,        /* by the row's text */
  GRAD_ACCUMULATE,     /* into a leaf's .grad */
  GRAD_COPY_SLICES,    /* an operator that wrote into a view, seen by the view's base */
  GRAD_GRAPH,          /* a differentiable graph: by its backward graph */
  GRAD_FOREIGN,        /* by somebody outside: autodiff/foreign_gradient.h */
  GRAD_NOT_IMPLEMENTED /* an error, if backward gets here */
} GradKind;

typedef struct Geometry {
  uint8_t ndim;
  int64_t offset;
  int64_t *sizes, *strides;
} Geometry;

struct GradNode {
  RefCount refs;
  uint8_t kind;
  bool released;         /* what it saved went with an earlier backward */
  uint8_t torch_version; /* TorchVersion of the call: its formula's; TORCH_DEFAULT: that of the backward */
  bool list_output;
  uint64_t sequence;
  const Operator *op; /* as it was called */
  uint32_t output_count, edge_count, argument_count, saved_count, result_count;
  GradOutput *outputs;
  GradEdgeSlot *edges;
  GradArgument *arguments;
  Formula *formula;
  uint32_t statements;
  SavedValue *saved;               /* by argument of the schema */
  SavedTensor *results;            /* by output */
  Tensor *leaf;                    /* GRAD_ACCUMULATE; NULL: it was borrowed and is gone */
  bool holds_leaf;                 /* else borrows it: autograd_settle */
  bool leaf_moved;                 /* it has, or had when it went, a history of its own */
  struct GraphProgram *program;    /* GRAD_GRAPH; what is saved are its captures */
  struct ForeignGradient *foreign; /* GRAD_FOREIGN */
  GradNode *inner; /* GRAD_COPY_SLICES: the operator on the view; edge 0 is the base's, edge i the inner's i - 1 */
  Geometry base, view;
};

struct AutogradMeta {
  AutogradBase head; /* first */
  GradEdge history;  /* owned; node NULL: a leaf */
  Tensor *grad;
  _Atomic(GradNode *) accumulator; /* borrowed: it refers to the tensor, and clears this when it goes */
  GradHooks hooks;                 /* of a leaf, in order of registration */
  bool retains_grad;
};

Status gradnode_new(GradKind kind, uint32_t output_count, uint32_t edge_count, GradNode **out) MUST_CHECK;
GradNode *gradnode_retain(GradNode *node);
void gradnode_release(GradNode *node); /* iterative; NULL is allowed */
void gradnode_release_saved(GradNode *node);
void gradedge_release(GradEdge edge);

/* As PyTorch names it: "AddBackward0". */
void gradnode_print_name(const GradNode *node, StrBuf *out);

Status metadata_of(const Tensor *t, Metadata *out) MUST_CHECK;
Status geometry_of(const Tensor *t, Geometry *out) MUST_CHECK;
static inline uint32_t tensor_version(const Tensor *t) {
  return t->storage ? atomic_load(&t->storage->version) : 0;
}

/* t's autograd data, made when absent. */
Status autograd_meta(Tensor *t, AutogradMeta **out) MUST_CHECK;
/* Gives t a history (taken over, also on failure). */
Status autograd_set_history(Tensor *t, GradEdge edge) MUST_CHECK;
/* To be called after t's history, base or .grad changed: its accumulator holds t while none of these can lead back to
 * it, else borrows it. */
void autograd_settle(Tensor *t);
/* Cuts t from its history, and from the tensor that it shows. */
void autograd_detach(Tensor *t);
/* The leaf of an accumulator, owned; NULL when it is gone or asks for no gradient any more. An error when it became the
 * result of a recorded call. */
Status autograd_leaf(GradNode *accumulator, Tensor **out) MUST_CHECK;
/* The tensor that retains the gradient of this output, owned; NULL when there is none. */
Tensor *gradoutput_retains(const GradOutput *output);
/* A view whose base was written to gets its history anew. Who makes a node calls it first for what the node's edges
 * lead to, whose nodes must be the older ones. */
Status autograd_refresh(Tensor *t) MUST_CHECK;
/* Where t's gradient goes: its history, its accumulator when it is a leaf that requires grad; owned. */
Status autograd_edge(Tensor *t, GradEdge *out) MUST_CHECK;
/* The sum of two gradients of the same: dense where one is, whichever came first. */
Status gradient_sum(Exec *exec, Tensor *a, Tensor *b, IValue *out) MUST_CHECK;
/* Adds to a leaf's .grad; with keep_history out of place. */
Status autograd_accumulate(Exec *exec, Tensor *leaf, Tensor *grad, bool keep_history) MUST_CHECK;

/* Of a leaf that requires grad, or of what a recorded call made. Takes over the hook's user, also on failure. Not while
 * backward runs. */
Status autograd_add_hook(Tensor *t, GradHook hook) MUST_CHECK;
void autograd_clear_hooks(Tensor *t);
/* Takes over *grad and gives what the leaf's hooks make of it. */
Status autograd_run_hooks(Tensor *leaf, Tensor **grad) MUST_CHECK;
/* The same of an output of a node. */
Status gradoutput_run_hooks(const GradOutput *output, Tensor **grad) MUST_CHECK;

Status saved_tensor(Tensor *t, bool checked, SavedTensor *out) MUST_CHECK;
/* The tensor as it was, an error if it is not any more and somebody will read it; with its history when with_history.
 * own: of a result, whose own edge is not kept. */
Status saved_tensor_unpack(const SavedTensor *saved, bool is_read, bool with_history, GradEdge own,
                           Tensor **out) MUST_CHECK;

/* With its history when with_history; `own` is the edge of the first tensor when it is a result of the node. */
Status saved_value_unpack(const SavedValue *saved, bool is_read, bool with_history, GradEdge own,
                          IValue *out) MUST_CHECK;
/* `t` shares the memory of `of`: writes into one are seen by the other's gradients. */
Status autograd_note_view(Tensor *t, Tensor *of) MUST_CHECK;

/* The record of aten::as_strided(base, ...) that gives `view`; in record.c. */
Status record_strided_view(Tensor *base, const Tensor *view, GradNode **out) MUST_CHECK;
