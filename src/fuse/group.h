/* FuseGroup: a FusionGroup's Subgraph made ready to run. It is what the node's Callable is.
 *
 * A run looks at its inputs. Where all are ordinary CPU tensors and numbers, none records gradients and nobody traces,
 * it finds the kernels for their dtypes (made with the group or on first use; found again without a lock), computes the
 * outputs' looks by the operators' own shape functions (or knows them from the last run, kept_shapes.h), allocates, and
 * runs the kernels. In every other case, whatever it is, the Subgraph's own Code runs, so that results and errors are
 * those of the operators.
 *
 * Values of a group are numbered: its inputs, the pieces of its chunks, the results of its steps. */
#pragma once

#include "base/hostile.h"
#include "call/exec.h"
#include "call/row.h"
#include "fuse/words.h"
#include "ir/graph.h"
#include "report/reason.h"

enum { FUSE_MAX_INPUTS = 64, FUSE_MAX_STORES = 32, FUSE_MAX_KEY = 256 };
enum { FUSE_MAX_ENTRIES = CACHE_ENTRIES(16) };

/* Why a group ran operator by operator: REASON_NOT_FUSED_... of report/reason.h. */
#define FUSE_REFUSALS(X) \
  X(SWITCHED_OFF)        \
  X(GRADIENT) X(TRACED) X(KIND) X(RANK) X(SHAPE) X(LINES) X(NO_KERNEL) X(CACHE_FULL) X(NOT_READY) X(FORM) X(FAILED)
typedef enum FuseRefusal {
  FUSE_NOT_REFUSED,
#define X(name) FUSE_##name,
  FUSE_REFUSALS(X)
#undef X
      FUSE_REFUSAL_COUNT
} FuseRefusal;
Reason fuse_refusal_reason(FuseRefusal refusal); /* REASON_COUNT: it was not refused */

typedef enum FuseOperandKind { FUSE_VALUE, FUSE_NUMBER, FUSE_CONSTANT } FuseOperandKind;
typedef struct FuseOperand {
  uint8_t kind;
  uint16_t index; /* of a value, an input, a constant */
} FuseOperand;
typedef struct FuseStep {
  const Operator *op;
  ShapeFunction *shape;
  uint16_t first_operand, operand_count, result;
  FuseLine line;           /* its formula is not used where there is a function */
  bool is_write;           /* an in-place form: `op` is the functional one, whose result has to be what self is */
  bool depends_on_numbers; /* the formula or the shape function may look at a number that is not constant */
} FuseStep;
typedef struct FusePiece { /* of an input that is cut: value input_count + its place */
  uint16_t input, index, count;
  int64_t dim;
} FusePiece;
typedef struct FuseOutput { /* its stores are first_store ..; several for a cat */
  uint16_t first_store, store_count;
  bool is_cat;
  int64_t dim;
} FuseOutput;

struct Code;
typedef struct FuseEntry FuseEntry;
typedef struct FuseShapes FuseShapes;
typedef struct FuseGroup {
  Callable callable;
  SourceRange range; /* of the group's node */
  FuseRefusal form;  /* FUSE_FORM: it always runs operator by operator */
  struct Code *code; /* of the Subgraph */
  uint16_t input_count, output_count, piece_count, step_count, value_count, store_count, leaf_count;
  bool has_cat, has_lines, depends_on_numbers;
  uint8_t line_dims;      /* how many of the last dimensions its lines are along */
  uint64_t tensor_inputs; /* bit i: input i is a tensor */
  /* Those that in-place forms change: a result has the strides of such an input, whatever these are, and requires a
   * gradient if that did, in whichever mode it was written to. */
  uint64_t written_inputs;
  FusePiece *pieces;
  FuseStep *steps;
  FuseOperand *operands;
  IValue *constants; /* held */
  uint32_t constant_count;
  uint16_t *stores;  /* values */
  uint16_t *leaves;  /* inputs and pieces that steps and stores read */
  uint64_t *sources; /* of every store: inputs that it depends on, as bits */
  FuseOutput *outputs;
  _Atomic(FuseEntry *) entries; /* immutable ones, the newest first */
  _Atomic uint32_t entry_count;
  /* Made with the group, off its callers' threads, for the dtypes that the graph's types tell, float32 where they
   * don't. The first run that it suits puts it among the entries. */
  _Atomic(FuseEntry *) expected;
  _Atomic(FuseShapes *) shapes; /* of the last run that asked the steps' shape functions; NULL: a run has it */
  _Atomic uint64_t runs, refusals[FUSE_REFUSAL_COUNT];
} FuseGroup;

/* The Callable of a prim::FusionGroup node, with one reference. */
Status fuse_group_new(const Node *node, Callable **out) MUST_CHECK;
/* An input's byte of a key. */
static inline uint8_t fuse_key_of_tensor(const Tensor *t) {
  return (uint8_t)(t->dtype | (t->ndim == 0) << 5 | (t->flags & TENSOR_WRAPPED_NUMBER ? 1 : 0) << 6);
}
static inline uint8_t fuse_key_of_number(IValue v) {
  return (uint8_t)(0x80 | v.tag);
}
/* What the Callable does. */
Status fuse_group_run(Callable *callable, Exec *exec, const IValue *inputs, uint32_t input_count, IValue *outputs,
                      uint32_t output_count) MUST_CHECK;
/* NULL when the callable is not a group. */
FuseGroup *fuse_group_of(Callable *callable);
/* Kernel IR of what runs have used so far; when there is nothing, of what is expected. */
Status fuse_group_print(FuseGroup *group, StrBuf *out) MUST_CHECK;
/* Every group of the graph in turn, with a heading; for dumps. */
Status fuse_print_kernels(const Graph *graph, StrBuf *out) MUST_CHECK;
