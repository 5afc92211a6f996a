/* OpRow: an operator is one row of data. */
#pragma once

#include "call/call.h"
#include "call/operator.h"

/* Computes the metadata of every tensor output from the arguments (sizes and dtypes only, never data): specs[i] is the
 * i-th return. Errors about shapes and dtypes are raised here. */
typedef Status ShapeFunction(Call *call, TensorSpec *specs);
/* Additions and multiplications of floating numbers that a call which has returned had to do, for profiles. */
typedef double FlopFunction(const Call *call);

/* What an autocast region does to tensor arguments of the functional form (pass/rewrite/autocast.c), as PyTorch 1.13
 * has it for scripted code: */
typedef enum OpCast {
  CAST_NONE,
  CAST_REDUCED,           /* float32 becomes the region's dtype */
  CAST_FULL,              /* float16 and bfloat16 become float32 */
  CAST_FULL_UNLESS_DTYPE, /* the same where no `dtype` is given */
  CAST_WIDEST,            /* the same where a tensor may be float32 */
  CAST_REFUSED            /* can't be computed in a reduced dtype */
} OpCast;

enum { CONV_ANY_DIMS = 4 }; /* OpRow.conv_dims: those of the weight */

/* node -> operation with state (vararg primitives, user compilers); Node is ir's. */
typedef struct OpFactory {
  Status (*make)(const struct Node *node, Kernel **out_kernel, void **out_state, void (**out_free)(void *state));
} OpFactory;

/* A row. Text fields are C literals. Exactly one of kernel, lower, body and factory says how it runs (with lower the
 * tile interpreter does, shape defaults to shape_pointwise). There are thousands: small members stand together, at the
 * end. */
typedef struct OpRow {
  const char *schema;
  Kernel *kernel;
  /* What the kernel and the shape function are told of which of several operators they run for: a number, or the
   * members of a const struct. */
  union {
    int64_t param;    /* call_param */
    const void *with; /* call_with */
  };
  ShapeFunction *shape; /* NULL: the kernel sets its outputs itself (call_set) */
  const char *lower;    /* formula over the argument names, tile/formula.h */
  const char *grad; /* "self: grad * cos(self); other: ..." TorchScript text; NULL: none known; see docs/autograd.md */
  const char *body; /* TorchScript statements: the body of the function; the parameter names are the schema's */
  struct OpFactory *factory;
  /* Where PyTorch's names do not follow the rule (see call/derive.h): the overload of the in-place form; that of the
   * out form, and after ": " its arguments, separated by blanks. A row with `out` has an out form without OP_OUT too. */
  const char *inplace, *out;
  /* "aten::neg": the operator this one is another name of, plans have one name for each; or, of more results, the one
   * whose first it gives, by which gradients of graphs go. */
  const char *same_as;
  FlopFunction *flops; /* NULL: not known */
  /* "elu_cpu: floating": what PyTorch's refusals call the operator, then the kinds of dtypes it takes, separated by
   * blanks: bool, integral (uint8, int8 to int64), int64, floating (float16 to float64, bfloat16), complex. The dtype
   * that is looked at is the one a formula computes in; of other rows that of the first argument, or, where `promoted`
   * stands among the kinds, the one that tensors and `promote` promote to. NULL: any that the kernel or formula does. */
  const char *dtypes;
  const char *promote; /* Scalar parameters that take part in type promotion, separated by blanks; NULL: "self other" */
  const struct RowExtras *extras; /* columns that few rows have: call/row_extras.h */
  float clamp[2];                 /* where the first is the lesser: it only limits elements to them */
  uint32_t flags;
  uint8_t cast; /* OpCast */
  uint8_t line; /* LineFunction (tile/line.h) that it is along the last dimension; 0: none */
  uint8_t since;
  /* 2: what the operator of this schema is in programs of PyTorch 2.x (call/torch_version.h); the row before it is what
   * it is in others. 0: no other row is about it. */
  uint8_t torch : 2;
  uint8_t conv_dims : 3; /* a convolution over so many dimensions, or CONV_ANY_DIMS, of (input, weight, bias, ...) */
  /* Bits by argument, the first five: it writes to them although its schema, PyTorch's, does not say so, where no
   * argument `train` or `training` is false. */
  uint8_t writes : 5;
} OpRow;
typedef struct OpTable {
  const char *family;
  const OpRow *rows;
  size_t count;
} OpTable;
#define OP_TABLE(name, array) const OpTable name = {#name, array, sizeof(array) / sizeof *(array)}

static inline int64_t call_param(const Call *c) {
  return c->op->row->param;
}
static inline const void *call_with(const Call *c) {
  return c->op->row->with;
}
