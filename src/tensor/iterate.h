/* Strided iteration: several tensors of one broadcast shape walked together. Dimensions are reordered and merged, so
 * contiguous operands become one run; the inner loop gets pointers and byte strides. */
#pragma once

#include "tensor/tensor.h"

enum { ITERATE_MAX_OPERANDS = 40 };

typedef struct Iterator {
  int operand_count, ndim;
  int64_t numel;
  int64_t sizes[TENSOR_MAX_DIMS];                         /* innermost first, merged */
  int64_t strides[ITERATE_MAX_OPERANDS][TENSOR_MAX_DIMS]; /* bytes, 0 where broadcast */
  char *data[ITERATE_MAX_OPERANDS];
} Iterator;

/* Operands must broadcast to operand 0's sizes (the output's, or the widest). */
Status iterator_init(Iterator *it, int operand_count, const Tensor *const *operands) MUST_CHECK;
/* body(argument, n, data, byte_strides): one inner run of n elements. Runs cover [begin, end) of the linear order.
 * Within a WorkLimit long runs come in parts, and what is left when it is over does not come. */
typedef void IterateBody(void *argument, int64_t n, char *const *data, const int64_t *byte_strides);
void iterator_run(const Iterator *it, int64_t begin, int64_t end, IterateBody *body, void *argument);
/* The whole, split over threads at `grain` elements. */
void iterator_run_parallel(const Iterator *it, int threads, int64_t grain, IterateBody *body, void *argument);
/* Leaves dimension `dim` (of the broadcast shape) out of the walk: body is called once for each line along it, with the
 * line's stride in *line_strides: for sort, cumsum, softmax, reductions along one dimension. */
typedef void IterateLineBody(void *argument, char *const *data, const int64_t *line_byte_strides);
Status iterate_lines(int operand_count, const Tensor *const *operands, int dim, int threads, IterateLineBody *body,
                     void *argument) MUST_CHECK;
