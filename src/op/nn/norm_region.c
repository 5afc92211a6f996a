/* A normalization by stored statistics as the anchor of a region (call/region.h), where no convolution comes first: one
 * pass over memory with its activation, and over the input's memory where nobody needs that any more. */
#include <math.h>

#include "base/parallel.h"
#include "call/region.h"
#include "compute/norm/norm_affine.h"
#include "op/nn/fused.h"
#include "op/nn/norm.h"

Status stored_norm_read(const RegionCall *r, const RegionStep *norm, int64_t channels, StoredNorm *out) {
  *out = (StoredNorm){.weight = region_tensor_or_null(r, norm, 1),
                      .bias = region_tensor_or_null(r, norm, 2),
                      .mean = region_tensor_or_null(r, norm, 3),
                      .variance = region_tensor_or_null(r, norm, 4),
                      .eps = ivalue_to_double(region_argument(r, norm, 7))};
  bool fit = fused_is_vector(out->weight, channels) && fused_is_vector(out->bias, channels) &&
             fused_is_vector(out->mean, channels) && fused_is_vector(out->variance, channels);
  if (!fit) return reason_decline(REASON_NOT_FUSED_WEIGHTS);
  return out->mean && out->variance ? OK : reason_decline(REASON_NOT_FUSED_KIND);
}

/* Of row-major input [batch, channels, inner]: planes of one channel, or, where inner is 1, rows of all of them. */
typedef struct Lines {
  const float *x, *scale, *shift;
  float *y;
  int64_t channels, length;
  bool is_row;
  const Activation *activation;
} Lines;

static bool is_relu(const Activation *a) {
  return a->kind == ACTIVATION_LIMITS && a->low == 0 && a->high == INFINITY;
}

static void normalize_lines(void *argument, int64_t begin, int64_t end) {
  const Lines *l = argument;
  for (int64_t i = begin; i < end; i++) {
    int64_t channel = l->is_row ? 0 : i % l->channels;
    const float *x = l->x + i * l->length, *scale = l->scale + channel, *shift = l->shift + channel;
    float *y = l->y + i * l->length;
    if (!l->is_row && is_relu(l->activation)) {
      norm_affine_relu(l->length, x, y, *scale, *shift);
    } else {
      norm_affine(l->length, x, y, (NormScaling){NULL, scale, shift}, l->is_row);
      activation_line(l->activation, l->length, y);
    }
  }
}

static Status check_input(const Tensor *input) {
  if (!fused_is_plain(input)) return fused_decline(input);
  return input->ndim < 2 || !input->numel ? reason_decline(REASON_NOT_FUSED_SHAPE) : OK;
}

/* In the input's memory, if that is dying. */
static Status make_output(const RegionCall *r, const Tensor *input) {
  TensorSpec spec;
  memset(&spec, 0, offsetof(TensorSpec, sizes));
  shape_set(&spec, DTYPE_FLOAT32, input->ndim, input->sizes);
  return call_fill_slot(r->call, 0, &spec);
}

static Status run(RegionCall *r) {
  const RegionUnit *unit = r->region->units;
  const RegionStep *norm = &unit->steps[REGION_ANCHOR];
  const Tensor *input = region_argument(r, norm, 0).tensor;
  StoredNorm stored;
  TRY(check_input(input));
  TRY(stored_norm_read(r, norm, input->sizes[1], &stored));
  int64_t channels = input->sizes[1], inner = input->numel / channels / input->sizes[0],
          length = inner == 1 ? channels : inner;
  float *numbers = mem_alloc((size_t)channels * 2 * sizeof *numbers);
  if (!numbers) return status_out_of_memory();
  Status status = make_output(r, input);
  if (!status) {
    norm_fold_stored(&stored, channels, numbers, numbers + channels);
    Lines lines = {.x = tensor_data(input),
                   .y = tensor_data(call_out(r->call, 0)),
                   .scale = numbers,
                   .shift = numbers + channels,
                   .channels = channels,
                   .length = length,
                   .is_row = inner == 1,
                   .activation = &unit->activation};
    parallel_for(r->call->exec->work.threads, input->numel / length, 1 + 8192 / length, normalize_lines, &lines);
  }
  mem_free(numbers);
  return status;
}

const Anchor norm_anchor = {.takes = 1u << REGION_FUNCTION, .run = run};
