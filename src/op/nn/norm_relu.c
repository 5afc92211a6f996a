/* A normalization by stored statistics and the relu that follows as one operation, for plans: one pass over memory, and
 * over the input's memory where nobody needs that any more. */
#include "base/parallel.h"
#include "compute/norm/norm_affine.h"
#include "op/nn/fused.h"
#include "op/nn/norm.h"

enum { INPUT, GAMMA, BETA, MEAN, VAR, EPS };

/* Of row-major input [batch, channels, inner]. */
typedef struct Planes {
  const float *x, *scale, *shift;
  float *y;
  int64_t channels, inner;
} Planes;

static void normalize_planes(void *argument, int64_t begin, int64_t end) {
  const Planes *p = argument;
  for (int64_t i = begin; i < end; i++)
    norm_affine_relu(p->inner, p->x + i * p->inner, p->y + i * p->inner, p->scale[i % p->channels],
                     p->shift[i % p->channels]);
}

static Status kernel_norm_relu(Call *call) {
  const Tensor *input = call_tensor(call, INPUT);
  if (fused_records(call)) return reason_decline(REASON_NOT_FUSED_GRADIENT);
  if (!fused_is_plain(input)) return fused_decline(input);
  if (input->ndim < 3 || !input->numel) return reason_decline(REASON_NOT_FUSED_SHAPE);
  int64_t channels = input->sizes[1], inner = input->numel / channels / input->sizes[0];
  for (uint32_t i = GAMMA; i <= VAR; i++)
    if ((i >= MEAN && call_is_none(call, i)) || !fused_is_vector(call_tensor_or_null(call, i), channels))
      return reason_decline(REASON_NOT_FUSED_WEIGHTS);

  float *numbers = mem_alloc((size_t)channels * 2 * sizeof *numbers);
  if (!numbers) return status_out_of_memory();
  TensorSpec spec;
  memset(&spec, 0, offsetof(TensorSpec, sizes));
  shape_set(&spec, DTYPE_FLOAT32, input->ndim, input->sizes);
  Status status = call_fill_slot(call, 0, &spec);
  if (!status) {
    norm_fold_stored(call_tensor_or_null(call, GAMMA), call_tensor_or_null(call, BETA), call_tensor(call, MEAN),
                     call_tensor(call, VAR), call_double(call, EPS), channels, numbers, numbers + channels);
    Planes p = {tensor_data(input), numbers, numbers + channels, tensor_data(call_out(call, 0)), channels, inner};
    parallel_for(call->exec->work.threads, input->numel / inner, 1 + 8192 / inner, normalize_planes, &p);
  }
  mem_free(numbers);
  return status;
}

static const OpRow rows[] = {
    {.schema = "wick::batch_norm_relu(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, float eps) -> Tensor",
     .kernel = kernel_norm_relu,
     .flags = OP_COMPOSITE | OP_ALIASING_SELF | OP_OF_PLANS},
};
OP_TABLE(op_table_norm_relu, rows);
