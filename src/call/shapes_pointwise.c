/* Shape functions of pointwise operators: broadcast sizes, promoted dtype, and strides that follow the order of
 * dimensions in memory of the inputs, so that channels-last stays channels-last. */
#include "call/pointwise.h"

enum { MAX_INPUTS = 16 };

typedef struct Inputs {
  int count;
  const Tensor *tensors[MAX_INPUTS];
} Inputs;

static void collect_inputs(const Call *call, Inputs *inputs) {
  const FunctionSchema *schema = operator_schema(call->op);
  inputs->count = 0;
  for (uint32_t i = 0; i < call->input_count && i < schema->argument_count && !schema->arguments[i].is_out; i++) {
    if (call->inputs[i].tag != TAG_TENSOR || !tensor_is_defined(call->inputs[i].tensor)) continue;
    if (inputs->count < MAX_INPUTS) inputs->tensors[inputs->count++] = call->inputs[i].tensor;
  }
}

/* The stride of an input along a dimension of the broadcast shape; 0 where it is repeated. */
static int64_t broadcast_stride(const Tensor *t, int ndim, int dim) {
  int own = dim - (ndim - t->ndim);
  return own < 0 || t->sizes[own] == 1 ? 0 : t->strides[own];
}

/* Positive when dimension `a` should lie outside of `b`, judged by the first input that tells. */
static int compare_dimensions(const Inputs *inputs, const TensorSpec *spec, int a, int b) {
  for (int i = 0; i < inputs->count; i++) {
    int64_t stride_a = broadcast_stride(inputs->tensors[i], spec->ndim, a),
            stride_b = broadcast_stride(inputs->tensors[i], spec->ndim, b);
    if (!stride_a || !stride_b) continue;
    if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
    if (spec->sizes[a] > spec->sizes[b]) return 1;
  }
  return 0;
}

static void choose_strides(const Inputs *inputs, TensorSpec *spec) {
  bool row_major = true, alike = true;
  for (int i = 0; i < inputs->count && row_major; i++) row_major = tensor_is_contiguous(inputs->tensors[i]);
  if (row_major) return;
  row_major = true;
  for (int i = 0; i < inputs->count; i++) {
    const Tensor *t = inputs->tensors[i], *first = inputs->tensors[0];
    if (t->ndim > 1 && !tensor_is_contiguous(t)) row_major = false;
    alike = alike && t->ndim == spec->ndim && !memcmp(t->sizes, spec->sizes, sizeof(int64_t) * (size_t)spec->ndim) &&
            !memcmp(t->strides, first->strides, sizeof(int64_t) * (size_t)spec->ndim);
  }
  if (row_major || spec->ndim < 2) return;
  spec->has_strides = true;
  if (alike && tensor_is_dense(inputs->tensors[0])) {
    memcpy(spec->strides, inputs->tensors[0]->strides, sizeof(int64_t) * (size_t)spec->ndim);
    return;
  }
  int order[TENSOR_MAX_DIMS]; /* innermost first */
  for (int i = 0; i < spec->ndim; i++) order[i] = spec->ndim - 1 - i;
  for (int i = 1; i < spec->ndim; i++) {
    for (int inner = i - 1, moving = i; inner >= 0; inner--) {
      int comparison = compare_dimensions(inputs, spec, order[inner], order[moving]);
      if (comparison < 0) break;
      if (comparison == 0) continue;
      int swapped = order[inner];
      order[inner] = order[moving], order[moving] = swapped;
      moving = inner;
    }
  }
  int64_t stride = 1;
  for (int i = 0; i < spec->ndim; i++) {
    spec->strides[order[i]] = stride;
    if (__builtin_mul_overflow(stride, spec->sizes[order[i]] ? spec->sizes[order[i]] : 1, &stride)) {
      spec->has_strides = false; /* allocation will say that it is too large */
      return;
    }
  }
}

static Status shape_broadcast(Call *call, TensorSpec *spec, DType dtype) {
  Inputs inputs;
  collect_inputs(call, &inputs);
  spec->dtype = dtype;
  spec->device = DEVICE_CPU_0;
  spec->flags = 0;
  spec->ndim = 0;
  spec->has_strides = false;
  for (int i = 0; i < inputs.count; i++) {
    const Tensor *t = inputs.tensors[i];
    spec->flags |= t->flags & TENSOR_META;
    if (i == 0) {
      spec->ndim = t->ndim;
      memcpy(spec->sizes, t->sizes, sizeof(int64_t) * (size_t)t->ndim);
    } else if (t->ndim != spec->ndim || memcmp(t->sizes, spec->sizes, sizeof(int64_t) * (size_t)t->ndim)) {
      int64_t sizes[TENSOR_MAX_DIMS];
      TRY(sizes_broadcast(spec->ndim, spec->sizes, t->ndim, t->sizes, &spec->ndim, sizes));
      memcpy(spec->sizes, sizes, sizeof(int64_t) * (size_t)spec->ndim);
    }
  }
  if (spec->flags & TENSOR_META) spec->device.type = DEVICE_META;
  choose_strides(&inputs, spec);
  return OK;
}

static Status shape_with_dtype(Call *call, TensorSpec *specs, DType dtype) {
  TRY(shape_broadcast(call, &specs[0], dtype));
  uint32_t count = operator_schema(call->op)->return_count;
  for (uint32_t i = 1; i < count && i < CALL_MAX_OUTPUTS; i++) specs[i] = specs[0];
  return OK;
}

Status shape_pointwise(Call *call, TensorSpec *specs) {
  DType dtype;
  TRY(pointwise_promote(call, &dtype));
  return shape_with_dtype(call, specs, dtype);
}

Status shape_pointwise_float(Call *call, TensorSpec *specs) {
  DType dtype;
  TRY(pointwise_promote(call, &dtype));
  return shape_with_dtype(call, specs, dtype == DTYPE_BOOL || dtype_is_integral(dtype) ? DTYPE_FLOAT32 : dtype);
}

Status shape_pointwise_bool(Call *call, TensorSpec *specs) {
  return shape_with_dtype(call, specs, DTYPE_BOOL);
}

Status shape_pointwise_real(Call *call, TensorSpec *specs) {
  DType dtype;
  TRY(pointwise_promote(call, &dtype));
  return shape_with_dtype(call, specs, dtype_is_complex(dtype) ? dtype_to_real(dtype) : dtype);
}
