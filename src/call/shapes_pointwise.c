/* Shape functions of pointwise operators: broadcast sizes, promoted dtype, and strides that follow the order of
 * dimensions in memory of the inputs, so that channels-last stays channels-last. */
#include "call/pointwise.h"
#include "schema/schema.h"
#include "tensor/layout.h"

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

/* Whether self or other is a number: PyTorch makes a tensor of it. Numbers of other names are parameters. */
static bool takes_number(const Call *call) {
  const FunctionSchema *schema = operator_schema(call->op);
  for (uint32_t i = 0; i < call->input_count && i < schema->argument_count; i++) {
    Tag tag = (Tag)call->inputs[i].tag;
    if (tag != TAG_INT && tag != TAG_FLOAT && tag != TAG_COMPLEX && tag != TAG_BOOL) continue;
    Str name = schema->arguments[i].name;
    if (str_equal(name, STR("self")) || str_equal(name, STR("other"))) return true;
  }
  return false;
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
  if (!layout_is_row_major(inputs.count, inputs.tensors))
    layout_iterated(inputs.count, inputs.tensors, takes_number(call), spec);
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
  return shape_with_dtype(call, specs, dtype == DTYPE_BOOL || dtype_is_integral(dtype) ? dtype_default() : dtype);
}

Status shape_pointwise_bool(Call *call, TensorSpec *specs) {
  return shape_with_dtype(call, specs, DTYPE_BOOL);
}

Status shape_pointwise_real(Call *call, TensorSpec *specs) {
  DType dtype;
  TRY(pointwise_promote(call, &dtype));
  return shape_with_dtype(call, specs, dtype_is_complex(dtype) ? dtype_to_real(dtype) : dtype);
}

Status shape_pointwise_kept(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise(call, specs));
  layout_preserve(call_tensor(call, 0), specs);
  return OK;
}
