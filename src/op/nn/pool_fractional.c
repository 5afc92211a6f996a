/* Fractional maximum pooling: windows of one size at places that a random number per plane and dimension spreads over
 * the input. */
#include "op/nn/pool.h"

#include <assert.h>
#include <math.h>

#include "base/work_limit.h"
#include "call/row.h"

typedef struct Fractional {
  int spatial;
  int64_t batch, channels;
  int64_t in[3], kernel[3], out[3];
} Fractional;

static Status read_fractional(const Call *call, Fractional *f) {
  const Tensor *input = call_tensor(call, 0), *samples = call_tensor(call, 3);
  f->spatial = pool_spatial(call);
  int spatial = f->spatial, ndim = input->ndim;
  if (ndim != spatial + 1 && ndim != spatial + 2)
    return status_new(ERROR_RUNTIME, "fractional_max_pool%dd(): Expected %dD or %dD tensor, but got %d dimensions",
                      spatial, spatial + 1, spatial + 2, ndim);
  if (!dtype_is_floating((DType)input->dtype)) return call_unsupported_dtype(call, (DType)input->dtype);
  f->batch = ndim == spatial + 2 ? input->sizes[0] : 1;
  f->channels = input->sizes[ndim - spatial - 1];
  size_t kernels, outs;
  const int64_t *kernel = call_ints(call, 1, &kernels), *out = call_ints(call, 2, &outs);
  if (kernels != (size_t)spatial || outs != (size_t)spatial)
    return status_new(ERROR_RUNTIME, "fractional_max_pool%dd: kernel_size and output_size must have %d elements",
                      spatial, spatial);
  for (int d = 0; d < spatial; d++) {
    f->in[d] = input->sizes[ndim - spatial + d];
    f->kernel[d] = kernel[d];
    f->out[d] = out[d];
    if (kernel[d] < 1 || out[d] < 1 || kernel[d] > f->in[d] || out[d] > f->in[d] || out[d] + kernel[d] - 1 > f->in[d])
      return status_new(ERROR_RUNTIME,
                        "fractional_max_pool%dd(): pool size (%lld) too large relative to input size (%lld)", spatial,
                        (long long)kernel[d], (long long)f->in[d]);
  }
  if (samples->dtype != input->dtype)
    return status_new(ERROR_RUNTIME, "Expect _random_samples to have the same dtype as input");
  if (samples->ndim != 3 || samples->sizes[0] < f->batch || samples->sizes[1] < f->channels ||
      samples->sizes[2] != spatial)
    return status_new(ERROR_RUNTIME, "Expect _random_samples to have sizes (%lld, %lld, %d)", (long long)f->batch,
                      (long long)f->channels, spatial);
  return OK;
}

static Status shape_fractional(Call *call, TensorSpec *specs) {
  Fractional f;
  TRY(read_fractional(call, &f));
  const Tensor *input = call_tensor(call, 0);
  int64_t sizes[TENSOR_MAX_DIMS];
  memcpy(sizes, input->sizes, (size_t)input->ndim * sizeof *sizes);
  memcpy(sizes + input->ndim - f.spatial, f.out, (size_t)f.spatial * sizeof *sizes);
  shape_set(&specs[0], (DType)input->dtype, input->ndim, sizes);
  shape_set(&specs[1], DTYPE_INT64, input->ndim, sizes);
  return OK;
}

/* Where window `o` of a dimension begins; the last ends with the input. Computed as precisely as the samples are. */
static int64_t window_begin(DType dtype, double sample, int64_t o, int64_t in, int64_t out, int64_t kernel) {
  assert(o >= 0 && o < out);
  if (o == out - 1) return in - kernel;
  int64_t begin;
  if (dtype == DTYPE_FLOAT64) {
    double alpha = (double)(in - kernel) / (double)(out - 1);
    begin = (int64_t)(((double)o + sample) * alpha) - (int64_t)(sample * alpha);
  } else {
    float alpha = (float)(in - kernel) / (float)(out - 1), s = (float)sample;
    begin = (int64_t)(((float)o + s) * alpha) - (int64_t)(s * alpha);
  }
  return begin < 0 ? 0 : begin > in - kernel ? in - kernel : begin; /* samples may lie outside of [0, 1) */
}

/* `begin` has the three dimensions of a window of `size`; leading ones are 1. */
static void pool_window(const double *plane, const int64_t *in, const int64_t *begin, const int64_t *size, double *out,
                        int64_t *index) {
  double best = -INFINITY;
  int64_t at = (begin[0] * in[1] + begin[1]) * in[2] + begin[2];
  for (int64_t i = begin[0]; i < begin[0] + size[0]; i++)
    for (int64_t j = begin[1]; j < begin[1] + size[1]; j++)
      for (int64_t k = begin[2]; k < begin[2] + size[2]; k++) {
        int64_t here = (i * in[1] + j) * in[2] + k;
        if (plane[here] > best || isnan(plane[here])) {
          best = plane[here];
          at = here;
        }
      }
  *out = best;
  *index = at;
}

static Status kernel_fractional(Call *call) {
  Fractional f;
  TRY(read_fractional(call, &f));
  Tensor *input = NULL, *samples = NULL, *values = NULL;
  Tensor *out = call_out(call, 0), *indices = call_out(call, 1);
  int64_t in[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, sizes[3] = {1, 1, 1}, lead = 3 - f.spatial;
  memcpy(in + lead, f.in, (size_t)f.spatial * sizeof *in);
  memcpy(kernel + lead, f.kernel, (size_t)f.spatial * sizeof *kernel);
  memcpy(sizes + lead, f.out, (size_t)f.spatial * sizeof *sizes);
  DType dtype = (DType)call_tensor(call, 0)->dtype;
  Status status = OK;
  Tensor *places = NULL;
  TRY_GOTO(tensor_to_dtype(call_tensor(call, 0), DTYPE_FLOAT64, &values), done);
  TRY_GOTO(tensor_contiguous(values, &input), done);
  tensor_release(values);
  values = NULL;
  TRY_GOTO(tensor_to_dtype(call_tensor(call, 3), DTYPE_FLOAT64, &samples), done);
  TRY_GOTO(tensor_empty(DTYPE_FLOAT64, out->ndim, out->sizes, &values), done);
  TRY_GOTO(tensor_empty(DTYPE_INT64, out->ndim, out->sizes, &places), done);
  int64_t o = 0, plane_size = in[0] * in[1] * in[2], window = 8 + kernel[0] * kernel[1] * kernel[2], done = 0;
  for (int64_t p = 0; p < f.batch * f.channels; p++) {
    const double *plane = (const double *)tensor_data(input) + p * plane_size;
    const double *sample = (const double *)tensor_data(samples) + (p / f.channels) * samples->strides[0] +
                           (p % f.channels) * samples->strides[1];
    for (int64_t i = 0; i < sizes[0] * sizes[1] * sizes[2]; i++, o++) {
      if (work_is_over_after(&done, window)) {
        status = work_status();
        goto done;
      }
      int64_t at[3] = {i / sizes[2] / sizes[1], i / sizes[2] % sizes[1], i % sizes[2]}, begin[3] = {0, 0, 0};
      for (int d = (int)lead; d < 3; d++) {
        /* planes are given (width, height), volumes (time, height, width) */
        int64_t which = f.spatial == 2 ? 2 - d : d;
        begin[d] = window_begin(dtype, sample[which * samples->strides[2]], at[d], in[d], sizes[d], kernel[d]);
      }
      pool_window(plane, in, begin, kernel, (double *)tensor_data(values) + o, (int64_t *)tensor_data(places) + o);
    }
  }
  TRY_GOTO(tensor_copy(out, values, call->exec->work.threads), done);
  status = tensor_copy(indices, places, call->exec->work.threads);
done:
  tensor_release(input);
  tensor_release(samples);
  tensor_release(values);
  tensor_release(places);
  return status;
}

#define FRACTIONAL(d)                                                                          \
  {                                                                                            \
    .schema = "aten::fractional_max_pool" #d "d(Tensor self, int[" #d "] kernel_size, int[" #d \
              "] output_size, Tensor random_samples) "                                         \
              "-> (Tensor, Tensor)",                                                           \
    .out = "output: output indices", .shape = shape_fractional, .kernel = kernel_fractional,   \
    .grad = "self: pool_scatter_backward(grad, self, results[1], " #d ")"                      \
  }
static const OpRow rows[] = {FRACTIONAL(2), FRACTIONAL(3)};
OP_TABLE(op_table_pool_fractional, rows);
