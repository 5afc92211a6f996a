/* The reduction engine: walks a tensor so that memory is read in order, hands runs of values to an accumulator, and
 * writes the finished results. Values are computed in double, int64 or complex double whatever the element type.
 *
 * An accumulator keeps up to three states for each result, each in an array of its own of the type it takes (double,
 * int64 or complex double). `down` adds one value to each of n results, `along` adds n values to one result; `position`
 * is the index of the (first) value among the reduced ones, in row-major order. */
#pragma once

#include "base/work.h"
#include "compute/reduce/reduce_float32.h"
#include "tensor/tensor.h"
#include "tile/line_sum.h"

typedef enum ReduceClass { REDUCE_F64, REDUCE_I64, REDUCE_C128 } ReduceClass;
enum { REDUCE_BLOCK = LINE_SUM_BLOCK, REDUCE_STATES = 3 };

typedef struct ReduceParams {
  double p;          /* norm's order */
  double correction; /* var: subtracted from the count */
  int64_t count;     /* values reduced into each result */
  bool take_root;    /* std */
} ReduceParams;

typedef struct ReduceOp {
  ReduceClass input;      /* class the values are converted to */
  ReduceClass outputs[2]; /* class of each result */
  bool magnitude;         /* complex values arrive as their absolute value (input must be REDUCE_F64) */
  void (*start)(void *const *state, int64_t n, const ReduceParams *params);
  void (*down)(void *const *state, const void *values, int64_t n, int64_t position, const ReduceParams *params);
  void (*along)(void *const *state, const void *values, int64_t n, int64_t position, const ReduceParams *params);
  /* Writes n results of each output class to out[k] that is not NULL. */
  void (*finish)(void *const *state, int64_t n, const ReduceParams *params, void *const out[2]);
  ReduceFloat32 float32; /* what does the same to neighbouring float32 values, which then aren't converted */
} ReduceOp;

/* Which dimensions go. */
typedef struct ReduceDims {
  bool reduced[TENSOR_MAX_DIMS];
  bool keepdim;
} ReduceDims;

/* outputs[k] may be NULL (not wanted); they have the kept sizes, with or without the reduced dimensions as 1. */
Status reduce_run(const Work *work, const ReduceOp *op, ReduceParams *params, const Tensor *self,
                  const ReduceDims *dims, Tensor *const outputs[2]) MUST_CHECK;

/* Sizes of a result. */
void reduce_spec(const Tensor *self, const ReduceDims *dims, DType dtype, TensorSpec *out);
