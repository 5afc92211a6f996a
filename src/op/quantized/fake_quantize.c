/* Fake quantization: numbers rounded to what integers of a scale and zero point could say. Gradients pass where the
 * integer lies within its range. */
#include <assert.h>
#include <math.h>

#include "base/work_limit.h"
#include "call/row.h"
#include "tensor/iterate.h"

typedef struct Fake {
  float scale, inverse, zero;
  int64_t least, most;
} Fake;

/* What is no 64-bit integer becomes the least one, as x86 converts. */
static int64_t integer_of(float x) {
  return x > -0x1p63f && x < 0x1p63f ? (int64_t)x : INT64_MIN;
}

/* data: rounded numbers, mask, numbers */
static void run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Fake *f = argument;
  for (int64_t i = 0; i < n; i++) {
    float x = *(const float *)(data[2] + i * strides[2]);
    int64_t q = integer_of(f->zero + rintf(x * f->inverse));
    int64_t limited = q < f->least ? f->least : q > f->most ? f->most : q;
    *(float *)(data[0] + i * strides[0]) = ((float)limited - f->zero) * f->scale;
    *(uint8_t *)(data[1] + i * strides[1]) = q >= f->least && q <= f->most;
  }
}

static Status shape_cachemask(Call *c, TensorSpec *specs) {
  shape_like(call_tensor(c, 0), &specs[0]);
  specs[1] = specs[0];
  specs[1].dtype = DTYPE_BOOL;
  return OK;
}

static Status check_range(const Call *c, int64_t least, int64_t most) {
  if (!dtype_is_floating((DType)call_tensor(c, 0)->dtype))
    return call_unsupported_dtype(c, (DType)call_tensor(c, 0)->dtype);
  if (least > most) return status_new(ERROR_RUNTIME, "`quant_min` should be less than or equal to `quant_max`.");
  return OK;
}

static Status fake_floats(const Tensor *out, const Tensor *mask, const Tensor *self, Fake *f) {
  Iterator it;
  TRY(iterator_init(&it, 3, (const Tensor *const[]){out, mask, self}));
  if (self->numel) iterator_run(&it, 0, it.numel, run, f);
  return OK;
}

/* Other floating dtypes by way of float32. */
static Status fake(Tensor *out, const Tensor *mask, const Tensor *self, Fake *f) {
  Tensor *wide_self, *wide_out;
  if (self->dtype == DTYPE_FLOAT32) return fake_floats(out, mask, self, f);
  TRY(tensor_to_dtype(self, DTYPE_FLOAT32, &wide_self));
  Status status = tensor_empty_like(wide_self, &wide_out);
  if (!status) {
    status = fake_floats(wide_out, mask, wide_self, f);
    if (!status) status = tensor_copy(out, wide_out, 1);
    tensor_release(wide_out);
  }
  tensor_release(wide_self);
  return status;
}

static Status fake_per_tensor(Call *c, float scale, int64_t zero, int64_t least, int64_t most) {
  TRY(check_range(c, least, most));
  if (zero < least || zero > most)
    return status_new(ERROR_RUNTIME, "`zero_point` must be between `quant_min` and `quant_max`.");
  Fake f = {scale, 1.0f / scale, (float)zero, least, most};
  return fake(call_out(c, 0), call_out(c, 1), call_tensor(c, 0), &f);
}

static Status kernel_per_tensor(Call *c) { /* (self, scale, zero_point, quant_min, quant_max) */
  return fake_per_tensor(c, (float)call_double(c, 1), call_int(c, 2), call_int(c, 3), call_int(c, 4));
}

static Status one_number(const Call *c, const Tensor *t, const char *what) {
  if (t->numel == 1 && !(t->flags & TENSOR_UNUSUAL)) return OK;
  return status_new(ERROR_RUNTIME, STR_FMT ": %s must be a tensor of one number", STR_ARG(c->op->name), what);
}

/* (self, scale, zero_point, fake_quant_enabled, quant_min, quant_max) */
static Status kernel_tensor_qparams(Call *c) {
  TRY(one_number(c, call_tensor(c, 1), "scale"));
  TRY(one_number(c, call_tensor(c, 2), "zero_point"));
  TRY(one_number(c, call_tensor(c, 3), "fake_quant_enabled"));
  if (!tensor_item_int(call_tensor(c, 3))) {
    Tensor *mask = call_out(c, 1);
    TRY(tensor_copy(call_out(c, 0), call_tensor(c, 0), 1));
    memset(tensor_data(mask), 1, (size_t)mask->numel);
    return OK;
  }
  Fake f = {(float)tensor_item_double(call_tensor(c, 1)), 0, (float)tensor_item_int(call_tensor(c, 2)), call_int(c, 4),
            call_int(c, 5)};
  TRY(check_range(c, f.least, f.most));
  f.inverse = 1.0f / f.scale;
  return fake(call_out(c, 0), call_out(c, 1), call_tensor(c, 0), &f);
}

static Status fake_channel(Call *c, int64_t axis, int64_t i, Fake *f) {
  assert(axis >= 0 && axis < call_tensor(c, 0)->ndim);
  Tensor *out, *mask = NULL, *self = NULL;
  TRY(tensor_slice(call_out(c, 0), axis, i, i + 1, 1, &out));
  Status status = tensor_slice(call_out(c, 1), axis, i, i + 1, 1, &mask);
  if (!status) status = tensor_slice(call_tensor(c, 0), axis, i, i + 1, 1, &self);
  if (!status) status = fake(out, mask, self, f);
  tensor_release(out);
  tensor_release(mask);
  tensor_release(self);
  return status;
}

static Status numbers_of_channels(const Tensor *t, int64_t channels, const char *what, Tensor **out) {
  if (t->ndim != 1 || t->numel != channels || t->flags & TENSOR_UNUSUAL)
    return status_new(ERROR_RUNTIME, "dimensions of %s are not consistent with input tensor: %s, expected %lld numbers",
                      what, SIZES_TEXT(t->ndim, t->sizes), (long long)channels);
  TRY(tensor_empty(DTYPE_FLOAT32, 1, &channels, out));
  Status status = tensor_copy(*out, t, 1);
  if (status) tensor_release(*out);
  return status;
}

static Status kernel_per_channel(Call *c) { /* (self, scale, zero_point, axis, quant_min, quant_max) */
  const Tensor *self = call_tensor(c, 0);
  int64_t axis = call_int(c, 3), least = call_int(c, 4), most = call_int(c, 5);
  Tensor *scales, *zeros;
  TRY(check_range(c, least, most));
  if (axis < 0 || axis >= self->ndim)
    return status_new(ERROR_RUNTIME, "`axis` must be between 0 and number of dimensions of input");
  TRY(numbers_of_channels(call_tensor(c, 1), self->sizes[axis], "scale", &scales));
  Status status = numbers_of_channels(call_tensor(c, 2), self->sizes[axis], "zero point", &zeros);
  if (status) {
    tensor_release(scales);
    return status;
  }
  bool floating_zero = dtype_is_floating((DType)call_tensor(c, 2)->dtype);
  for (int64_t i = 0, done = 0; !status && i < self->sizes[axis] && !work_is_over_after(&done, 1024); i++) {
    float scale = ((const float *)tensor_data(scales))[i], zero = ((const float *)tensor_data(zeros))[i];
    if (!floating_zero && (zero < (float)least || zero > (float)most))
      status = status_new(ERROR_RUNTIME, "`zero_point` must be between `quant_min` and `quant_max`.");
    Fake f = {scale, 1.0f / scale, zero, least, most};
    if (!status) status = fake_channel(c, axis, i, &f);
  }
  tensor_release(zeros);
  tensor_release(scales);
  return status;
}

#define RANGE "int quant_min, int quant_max"
static const OpRow rows[] = {
    {.schema = "aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, " RANGE
               ") -> (Tensor output, Tensor mask)",
     .kernel = kernel_per_tensor,
     .shape = shape_cachemask,
     .grad = "self: grad * results[1]",
     .flags = OP_OUT},
    {.schema = "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor "
               "zero_point, Tensor fake_quant_enabled, " RANGE ") -> (Tensor output, Tensor mask)",
     .kernel = kernel_tensor_qparams,
     .shape = shape_cachemask,
     .grad = "self: grad * results[1]",
     .flags = OP_OUT},
    {.schema = "aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int "
               "axis, " RANGE ") -> (Tensor output, Tensor mask)",
     .kernel = kernel_per_channel,
     .shape = shape_cachemask,
     .grad = "self: grad * results[1]",
     .flags = OP_OUT},
    {.schema = "aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, " RANGE ") -> Tensor",
     .body =
         "return torch.fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max)[0]"},
    {.schema =
         "aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, " RANGE
         ") -> Tensor",
     .body = "return torch._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(self, scale, zero_point, "
             "torch.ones(1, dtype=torch.long), quant_min, quant_max)[0]"},
    {.schema = "aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, " RANGE
               ") -> Tensor",
     .body = "return torch.fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, "
             "quant_max)[0]"},
    {.schema = "aten::fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor",
     .body = "return grad * mask"},
    {.schema = "aten::fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor",
     .body = "return grad * mask"},
    /* Learned scales: S. Esser et al., "Learned Step Size Quantization" (2020). */
    {.schema = "aten::_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, " RANGE
               ", float grad_factor=1.) -> Tensor",
     .body = "z = int(min(max(float(zero_point) + 0.5, float(quant_min)), float(quant_max)))\n"
             "return torch.fake_quantize_per_tensor_affine(self, float(scale), z, quant_min, quant_max)",
     .grad =
         "self: learnable_per_tensor_backward(grad, self, scale, zero_point, quant_min, quant_max, grad_factor)[0]; "
         "scale: learnable_per_tensor_backward(grad, self, scale, zero_point, quant_min, quant_max, "
         "grad_factor)[1]; zero_point: learnable_per_tensor_backward(grad, self, scale, zero_point, quant_min, "
         "quant_max, grad_factor)[2]",
     .flags = OP_OUT},
    {.schema =
         "aten::_fake_quantize_learnable_per_tensor_affine_backward(Tensor grad, Tensor self, Tensor scale, Tensor "
         "zero_point, " RANGE ", float grad_factor=1.) -> (Tensor, Tensor, Tensor)",
     .body = "return learnable_per_tensor_backward(grad, self, scale, zero_point, quant_min, quant_max, grad_factor)"},
    {.schema = "aten::_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int "
               "axis, " RANGE ", float grad_factor=1.) -> Tensor",
     .body = "z = zero_point.round().clamp(quant_min, quant_max)\n"
             "return torch.fake_quantize_per_channel_affine(self, scale, z, axis, quant_min, quant_max)",
     .grad = "self: learnable_per_channel_backward(grad, self, scale, zero_point, axis, quant_min, quant_max, "
             "grad_factor)[0]; scale: learnable_per_channel_backward(grad, self, scale, zero_point, axis, quant_min, "
             "quant_max, grad_factor)[1]; zero_point: learnable_per_channel_backward(grad, self, scale, zero_point, "
             "axis, quant_min, quant_max, grad_factor)[2]",
     .flags = OP_OUT},
    {.schema =
         "aten::_fake_quantize_learnable_per_channel_affine_backward(Tensor grad, Tensor self, Tensor scale, Tensor "
         "zero_point, int axis, " RANGE ", float grad_factor=1.) -> (Tensor, Tensor, Tensor)",
     .body = "return learnable_per_channel_backward(grad, self, scale, zero_point, axis, quant_min, quant_max, "
             "grad_factor)"},
    {.schema =
         "aten::fused_moving_avg_obs_fake_quant(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) "
         "running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, float averaging_const, " RANGE
         ", int ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False) -> Tensor",
     .body = "return moving_average_fake_quantize(self, observer_on, fake_quant_on, running_min, running_max, scale, "
             "zero_point, averaging_const, quant_min, quant_max, ch_axis, per_row_fake_quant, symmetric_quant)[0]"},
    {.schema =
         "aten::_fused_moving_avg_obs_fq_helper(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) "
         "running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, float averaging_const, " RANGE
         ", int ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False) -> (Tensor output, "
         "Tensor mask)",
     .body = "return moving_average_fake_quantize(self, observer_on, fake_quant_on, running_min, running_max, scale, "
             "zero_point, averaging_const, quant_min, quant_max, ch_axis, per_row_fake_quant, symmetric_quant)"},
};
OP_TABLE(op_table_fake_quantize, rows);
