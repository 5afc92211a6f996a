/* Dropout and randomised leaky ReLU. A mask is drawn as PyTorch draws it; the product with it is an operator of its
 * own, so gradients follow. */
#include <math.h>

#include "call/row.h"
#include "tensor/iterate.h"
#include "tensor/layout.h"
#include "tensor/random.h"

static OpRef mul_ref = OP_REF("aten::mul", "Tensor");
static OpRef add_ref = OP_REF("aten::add", "Tensor");

/* x * scale + shift on every element, each step rounded to the dtype. */
typedef struct Scale {
  DType dtype;
  double divisor, shift;
} Scale;

static void scale_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Scale *scale = argument;
  double values[256];
  int64_t item = (int64_t)dtype_size(scale->dtype);
  for (int64_t i = 0; i < n; i += 256) {
    int64_t count = n - i < 256 ? n - i : 256;
    char *at = data[0] + i * strides[0];
    dtype_convert(DTYPE_FLOAT64, values, 1, scale->dtype, at, strides[0] / item, count);
    for (int64_t j = 0; j < count; j++) values[j] = values[j] / scale->divisor + scale->shift;
    dtype_convert(scale->dtype, at, strides[0] / item, DTYPE_FLOAT64, values, 1, count);
  }
}

static Status rescale(Tensor *t, double divisor, double shift) {
  Iterator it;
  if (!t->storage) return OK;
  TRY(iterator_init(&it, 1, (const Tensor *const[]){t}));
  iterator_run(&it, 0, it.numel, scale_run, &(Scale){(DType)t->dtype, divisor, shift});
  return OK;
}

static Status draw_bernoulli(Exec *exec, Tensor *t, double p) {
  generator_lock();
  Status status = exec->generator ? random_bernoulli(exec->generator, t, p)
                                  : status_new(ERROR_OUT_OF_MEMORY, "there is no random generator");
  generator_unlock();
  return status;
}

static Status new_noise(const Tensor *input, bool feature, Tensor **out) {
  if (feature && input->ndim < 2)
    return status_new(ERROR_RUNTIME, "Feature dropout requires at least 2 dimensions in the input");
  TensorSpec spec;
  tensor_spec_of(input, &spec);
  spec.has_strides = false;
  for (int i = 2; feature && i < spec.ndim; i++) spec.sizes[i] = 1;
  return tensor_new(&spec, out);
}

static Status binary(Exec *exec, OpRef *op, IValue a, IValue b, IValue *out) {
  *out = IVALUE_NONE;
  return op == &add_ref ? op_call(exec, op, 3, (IValue[]){a, b, ivalue_int(1)}, 1, out)
                        : op_call(exec, op, 2, (IValue[]){a, b}, 1, out);
}

static Status check_probability(double p) {
  if (p >= 0 && p <= 1) return OK;
  return status_new(ERROR_RUNTIME, "dropout probability has to be between 0 and 1, but got %g", p);
}

enum { DROP_FEATURES = 1, DROP_ALPHA = 2 };

static Status kernel_dropout(Call *c) {
  bool feature = call_param(c) & DROP_FEATURES, alpha = call_param(c) & DROP_ALPHA;
  Tensor *input = call_tensor(c, 0), *noise = NULL, *shift = NULL;
  double p = call_double(c, 1);
  IValue product = IVALUE_NONE, sum = IVALUE_NONE;
  TRY(check_probability(p));
  if (p == 0 || !call_bool(c, 2) || input->numel == 0) {
    call_set_tensor(c, 0, tensor_retain(input));
    return OK;
  }
  Status status = OK;
  if (p == 1) {
    TRY(tensor_empty((DType)input->dtype, 0, NULL, &noise));
    tensor_fill_zero(noise);
    status = binary(c->exec, &mul_ref, call_value(c, 0), ivalue_tensor(noise), &product);
    goto done;
  }
  bool takes_float = dtype_is_floating((DType)input->dtype) || dtype_is_complex((DType)input->dtype);
  if (!alpha && !takes_float)
    return status_new(ERROR_RUNTIME, "result type Float can't be cast to the desired output type %s",
                      dtype_scalar_name((DType)input->dtype));
  if (dtype_is_complex((DType)input->dtype))
    return status_new(ERROR_RUNTIME, "\"bernoulli_scalar_cpu_\" not implemented for '%s'",
                      dtype_scalar_name((DType)input->dtype));
  TRY(new_noise(input, feature, &noise));
  TRY_GOTO(draw_bernoulli(c->exec, noise, 1 - p), done);
  if (alpha) { /* keeps mean and variance of self-normalizing networks: constants of SELU */
    static const double saturation = 1.7580993408473766;
    double a = 1.0 / sqrt((saturation * saturation * p + 1) * (1 - p));
    TRY_GOTO(tensor_clone(noise, &shift), done);
    TRY_GOTO(rescale(shift, 1, -1), done);
    TRY_GOTO(rescale(shift, 1 / (saturation * a), saturation * a * p), done);
    TRY_GOTO(rescale(noise, 1 / a, 0), done);
    TRY_GOTO(binary(c->exec, &mul_ref, call_value(c, 0), ivalue_tensor(noise), &product), done);
    TRY_GOTO(binary(c->exec, &add_ref, product, ivalue_tensor(shift), &sum), done);
  } else {
    TRY_GOTO(rescale(noise, 1 - p, 0), done);
    TRY_GOTO(binary(c->exec, &mul_ref, call_value(c, 0), ivalue_tensor(noise), &product), done);
  }
done:
  tensor_release(noise);
  tensor_release(shift);
  if (status) {
    ivalue_release(product);
    return status;
  }
  if (sum.tag == TAG_TENSOR) {
    ivalue_release(product);
    product = sum;
  }
  call_set(c, 0, product);
  return OK;
}

/* ---- native_dropout: result and mask ----
 * It draws as dropout does, whose gradient it serves: a row-major mask, whatever the input's strides. */
static bool native_trains(Call *c) {
  return call_is_none(c, 2) || call_bool(c, 2);
}

/* What trains has the strides of the product with a mask, what does not is a copy. */
static Status shape_native(Call *c, TensorSpec *specs) {
  const Tensor *input = call_tensor(c, 0);
  TRY(check_probability(call_double(c, 1)));
  shape_like(input, &specs[0]);
  shape_set(&specs[1], DTYPE_BOOL, input->ndim, input->sizes);
  specs[1].device = specs[0].device;
  if (!native_trains(c)) return OK;
  specs[0].has_strides = false;
  if (tensor_has_format(input, FORMAT_CONTIGUOUS)) return OK;
  int64_t of_mask[TENSOR_MAX_DIMS];
  strides_contiguous(input->ndim, input->sizes, of_mask);
  layout_ordered(2, (const int64_t *const[]){input->strides, of_mask}, &specs[0]);
  return OK;
}

typedef struct Mask {
  DType dtype;
  double scale;
} Mask;

static void mask_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Mask *mask = argument;
  int64_t item = (int64_t)dtype_size(mask->dtype);
  double values[256];
  for (int64_t i = 0; i < n; i += 256) {
    int64_t count = n - i < 256 ? n - i : 256;
    dtype_convert(DTYPE_FLOAT64, values, 1, mask->dtype, data[2] + i * strides[2], strides[2] / item, count);
    for (int64_t j = 0; j < count; j++) values[j] *= *(uint8_t *)(data[1] + (i + j) * strides[1]) * mask->scale;
    dtype_convert(mask->dtype, data[0] + i * strides[0], strides[0] / item, DTYPE_FLOAT64, values, 1, count);
  }
}

static Status kernel_native_dropout(Call *c) {
  const Tensor *input = call_tensor(c, 0);
  Tensor *out = call_out(c, 0), *mask = call_out(c, 1);
  double keep = 1 - call_double(c, 1);
  if (!out->storage) return OK;
  if (!native_trains(c)) {
    memset(tensor_data(mask), 1, (size_t)mask->numel);
    return tensor_copy(out, input, c->exec->work.threads);
  }
  TRY(draw_bernoulli(c->exec, mask, keep));
  Iterator it;
  TRY(iterator_init(&it, 3, (const Tensor *const[]){out, mask, input}));
  iterator_run(&it, 0, it.numel, mask_run, &(Mask){(DType)out->dtype, keep == 0 ? 0 : 1 / keep});
  return OK;
}

/* ---- randomised leaky ReLU ---- */
/* In the order of memory of a row-major walk: a slope for every element that is not positive; noise keeps the slopes.
 */
static Status rrelu_train(Call *c, const Tensor *self, Tensor *noise, Tensor *out, double lower, double upper,
                          uint32_t generator) {
  Tensor *values = NULL, *slopes = NULL;
  Status status = OK;
  TRY_GOTO(tensor_empty(DTYPE_FLOAT64, self->ndim, self->sizes, &values), done);
  TRY_GOTO(tensor_copy(values, self, 1), done);
  TRY_GOTO(tensor_empty(DTYPE_FLOAT64, self->ndim, self->sizes, &slopes), done);
  double *x = tensor_data(values), *slope = tensor_data(slopes);
  generator_lock();
  Generator *g = generator == UINT32_MAX ? c->exec->generator : call_generator(c, generator);
  for (int64_t i = 0; g && i < values->numel; i++) {
    slope[i] = x[i] <= 0 ? generator_uniform_double(g) * (upper - lower) + lower : 1;
    x[i] *= slope[i];
  }
  generator_unlock();
  if (!g) status = status_new(ERROR_OUT_OF_MEMORY, "there is no random generator");
  if (!status) status = tensor_copy(out, values, 1);
  if (!status) status = tensor_copy(noise, slopes, 1);
done:
  tensor_release(values);
  tensor_release(slopes);
  return status;
}

static Status shape_rrelu(Call *c, TensorSpec *spec) {
  const Tensor *self = call_tensor(c, 0);
  double lower = ivalue_to_double(call_scalar(c, 2)), upper = ivalue_to_double(call_scalar(c, 3));
  if (!dtype_is_floating((DType)self->dtype)) return call_unsupported_dtype(c, (DType)self->dtype);
  if (!(lower <= upper))
    return status_new(ERROR_RUNTIME, "Lower bound should be less than or equal to the upper bound");
  if (call_bool(c, 4) && !(isfinite(lower) && isfinite(upper)))
    return status_new(ERROR_RUNTIME, "rrelu: Lower bound must be <= upper bound, but got %g and %g", lower, upper);
  return shape_rows_of_first(c, spec);
}

static void leaky_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Scale *leaky = argument; /* divisor: the slope */
  int64_t item = (int64_t)dtype_size(leaky->dtype);
  double values[256];
  for (int64_t i = 0; i < n; i += 256) {
    int64_t count = n - i < 256 ? n - i : 256;
    dtype_convert(DTYPE_FLOAT64, values, 1, leaky->dtype, data[1] + i * strides[1], strides[1] / item, count);
    for (int64_t j = 0; j < count; j++) values[j] = values[j] > 0 ? values[j] : values[j] * leaky->divisor;
    dtype_convert(leaky->dtype, data[0] + i * strides[0], strides[0] / item, DTYPE_FLOAT64, values, 1, count);
  }
}

static Status kernel_rrelu_with_noise(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *noise = call_tensor(c, 1), *out = call_out(c, 0);
  double lower = ivalue_to_double(call_scalar(c, 2)), upper = ivalue_to_double(call_scalar(c, 3));
  if (!out->storage) return OK;
  if (call_bool(c, 4)) {
    if (!tensor_same_sizes(self, noise)) TRY(tensor_resize(noise, self->ndim, self->sizes));
    return rrelu_train(c, self, noise, out, lower, upper, 5);
  }
  Iterator it;
  TRY(iterator_init(&it, 2, (const Tensor *const[]){out, self}));
  iterator_run(&it, 0, it.numel, leaky_run, &(Scale){(DType)out->dtype, (lower + upper) / 2, 0});
  return OK;
}

/* Noise of its own, then the operator above. */
static Status kernel_rrelu(Call *c) {
  static OpRef with_noise = OP_REF("aten::rrelu_with_noise", "");
  Tensor *noise;
  IValue out = IVALUE_NONE;
  TRY(tensor_empty_like(call_tensor(c, 0), &noise));
  Status status = tensor_zero(noise);
  if (!status)
    status = op_call(c->exec, &with_noise, 6,
                     (IValue[]){call_value(c, 0), ivalue_tensor(noise), call_value(c, 1), call_value(c, 2),
                                call_value(c, 3), call_value(c, 4)},
                     1, &out);
  tensor_release(noise);
  TRY(status);
  call_set(c, 0, out);
  return OK;
}

#define DROPOUT(name, ...)                                                                                \
  {.schema = "aten::" #name "(Tensor input, float p, bool train) -> Tensor",                              \
   .kernel = kernel_dropout,                                                                              \
   .flags = OP_COMPOSITE | OP_NONDETERMINISTIC | OP_ACCEPT_META | OP_RETURNS_ARGUMENT | OP_EVAL_IDENTITY, \
   __VA_ARGS__},                                                                                          \
  {                                                                                                       \
    .schema = "aten::" #name "_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",                     \
    .body = "return self.copy_(torch." #name "(self, p, train)) if train and p > 0.0 else self",          \
    .flags = OP_NONDETERMINISTIC | OP_EVAL_IDENTITY                                                       \
  }

static const OpRow rows[] = {
    DROPOUT(dropout, .param = 0, .same_as = "aten::native_dropout"),
    DROPOUT(feature_dropout, .param = DROP_FEATURES),
    DROPOUT(alpha_dropout, .param = DROP_ALPHA),
    DROPOUT(feature_alpha_dropout, .param = DROP_FEATURES | DROP_ALPHA),
    {.schema = "aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
     .shape = shape_native,
     .kernel = kernel_native_dropout,
     .grad = "input: torch.native_dropout_backward(grad, results[1], 1.0 if train is None or not train else (0.0 if p "
             "== 1.0 else 1.0 / (1.0 - p)))",
     .flags = OP_NONDETERMINISTIC},
    {.schema = "aten::rrelu_with_noise(Tensor self, Tensor noise, Scalar lower=0.125, Scalar "
               "upper=0.33333333333333331, bool training=False, "
               "Generator? generator=None) -> Tensor",
     .writes = 1 << 1,
     .shape = shape_rrelu,
     .kernel = kernel_rrelu_with_noise,
     .grad = "self: torch.rrelu_with_noise_backward(grad, self, noise, lower, upper, training, False)",
     .flags = OP_INPLACE | OP_OUT | OP_NONDETERMINISTIC},
    {.schema = "aten::rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar "
               "upper, bool training, "
               "bool self_is_result) -> Tensor",
     .body =
         "if training and float(upper) - float(lower) > 1e-6:\n"
         "  return grad_output * noise\n"
         "return torch.leaky_relu_backward(grad_output, self, (float(lower) + float(upper)) / 2.0, self_is_result)"},
    {.schema = "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, "
               "Generator? generator=None) -> Tensor",
     .kernel = kernel_rrelu,
     .flags = OP_COMPOSITE | OP_INPLACE | OP_NONDETERMINISTIC},
};

OP_TABLE(op_table_dropout, rows);
