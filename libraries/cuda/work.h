/* Work: one call of an operator on a card: what it is given and gives, and what is held until it returns. The first
 * thing that fails stays its status; what comes after it does nothing. */
#ifndef CUDA_WORK_H
#define CUDA_WORK_H

#include "cuda/source.h"
#include "wick/device.h"
#include "wick/library.h"

enum { WORK_MAX_HELD = 96, WORK_MAX_DIMS = 8 };
typedef struct Work {
  const char *name; /* of the operator, with its overload: "aten::sum.dim_IntList" */
  wick_call *call;
  wick_error **error;
  wick_status status;
  Card *card; /* of the last tensor that was asked for */
  wick_value *held[WORK_MAX_HELD];
  int held_count;
  wick_value *results[3], *targets[3]; /* what a result was computed in, where it is not row-major itself */
} Work;

void work_begin(Work *w, wick_call *call, wick_error **error);
wick_status work_end(Work *w);
__attribute__((format(printf, 2, 3))) void work_refuse(Work *w, const char *format, ...); /* unsupported */
void work_take(Work *w, wick_status status);                                              /* of a step */
/* Keeps it until the end; NULL is a failure, for want of memory. */
wick_value *work_hold(Work *w, wick_value *value);

size_t work_argument_count(const Work *w);
wick_value *work_argument(Work *w, size_t index); /* NULL: it failed */
bool work_is_none(Work *w, size_t index);
int64_t work_int(Work *w, size_t index);
double work_real(Work *w, size_t index);
/* At most `room` integers: of a list, or one. How many; of None 0. */
int work_ints(Work *w, size_t index, int64_t *out, int room);
/* A tensor as it lies, or with `dense` as a row-major copy where it is not row-major. False: None, or it failed. */
bool work_tensor(Work *w, size_t index, bool dense, wick_tensor_view *out);
bool work_view(Work *w, const wick_value *tensor, wick_tensor_view *out);
wick_value *work_dense(Work *w, wick_value *tensor);
/* A result to be filled, row-major. */
bool work_result(Work *w, size_t index, wick_tensor_view *out);
/* What an operator gives, held. */
wick_value *work_call(Work *w, const char *name, const char *overload, const wick_value *const *arguments,
                      size_t count);
void work_launch(Work *w, Source *source, const SourceUse *use, int64_t threads, void **parameters);

int64_t view_count(const wick_tensor_view *t);
/* A dimension from 0 on. */
int view_dim(const wick_tensor_view *t, int64_t dim);

#endif
