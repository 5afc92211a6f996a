/* Rows that draw random numbers: made tensors, and in-place fills. The generator is locked while it is drawn from. */
#include <assert.h>

#include "call/options.h"
#include "call/row.h"
#include "tensor/iterate.h"
#include "tensor/random.h"

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define LONG_OPTIONS "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None"
enum { DEFAULT_GENERATOR = 0 }; /* no argument: that is never the first */

static Generator *begin(const Call *c, uint32_t at) {
  generator_lock();
  return at == DEFAULT_GENERATOR ? c->exec->generator : call_generator(c, at);
}
static Status end(Status status) {
  generator_unlock();
  return status;
}

static Status no_generator(void) {
  return status_new(ERROR_OUT_OF_MEMORY, "there is no random generator");
}
/* Draws with `expression`, in which g is the generator in argument `at`. */
#define DRAW(c, at, expression)                    \
  do {                                             \
    Generator *g = begin((c), (at));               \
    return end(g ? (expression) : no_generator()); \
  } while (0)

static Status check_floating(const char *kernel, DType dtype) {
  if (dtype_is_floating(dtype)) return OK;
  return status_new(ERROR_RUNTIME, "\"%s\" not implemented for '%s'", kernel, dtype_scalar_name(dtype));
}

/* ---- uniform and normal ---- */
static Status uniform_fill(Generator *g, Tensor *out, double from, double to) {
  DType dtype = (DType)out->dtype;
  if (!dtype_is_complex(dtype)) TRY(check_floating("check_uniform_bounds", dtype));
  if (!(from <= to))
    return status_new(ERROR_RUNTIME, "uniform_ expects to return a [from, to) range, but found from=%g > to=%g", from,
                      to);
  if (dtype_is_complex(dtype)) { /* real and imaginary parts, side by side */
    if (out->numel == 0 || !out->storage) return OK;
    int64_t sizes[TENSOR_MAX_DIMS + 1], strides[TENSOR_MAX_DIMS + 1];
    for (int i = 0; i < out->ndim; i++) sizes[i] = out->sizes[i], strides[i] = out->strides[i] * 2;
    sizes[out->ndim] = 2, strides[out->ndim] = 1;
    Tensor *parts;
    TRY(tensor_from_storage(out->storage, dtype_to_real(dtype), out->ndim + 1, sizes, strides, out->offset * 2,
                            &parts));
    Status status = random_uniform(g, parts, from, to);
    tensor_release(parts);
    return status;
  }
  return random_uniform(g, out, from, to);
}

static Status normal_fill(Generator *g, Tensor *out, double mean, double std) {
  if (!(std >= 0)) return status_new(ERROR_RUNTIME, "normal expects std >= 0.0, but found std %g", std);
  if (!dtype_is_complex((DType)out->dtype)) TRY(check_floating("normal_kernel_cpu", (DType)out->dtype));
  return random_normal(g, out, mean, std);
}

/* A bound whose neighbour on the inner side the dtype would round across it moves inwards, as PyTorch has it. */
static int64_t float_bound(DType dtype, int64_t bound, int direction) {
  assert(dtype < DTYPE_COUNT && (direction == 1 || direction == -1));
  static const int digits[DTYPE_COUNT] = {
      [DTYPE_FLOAT16] = 11, [DTYPE_FLOAT32] = 24, [DTYPE_FLOAT64] = 53, [DTYPE_BFLOAT16] = 8};
  int64_t near = (int64_t)((uint64_t)bound + (uint64_t)direction), stored;
  char element[16];
  dtype_convert(dtype, element, 1, DTYPE_INT64, &near, 1, 1);
  dtype_convert(DTYPE_INT64, &stored, 1, dtype, element, 1, 1);
  if (direction > 0 ? stored >= bound : stored < bound) return bound;
  uint64_t magnitude = near < 0 ? 0 - (uint64_t)near : (uint64_t)near;
  int exponent = 0;
  while (magnitude >>= 1) exponent++;
  int shift = exponent - digits[dtype] + 1;
  return (int64_t)((uint64_t)stored + (uint64_t)direction * ((uint64_t)1 << (shift > 0 ? shift : 0)));
}

static Status integer_fill(Generator *g, Tensor *out, int64_t low, int64_t high) {
  if (low >= high)
    return status_new(ERROR_RUNTIME, "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
                      (long long)low, (long long)high);
  DType dtype = (DType)out->dtype;
  if (dtype_is_floating(dtype)) {
    low = float_bound(dtype, low, 1);
    high = float_bound(dtype, high, -1);
  }
  if (dtype_is_complex(dtype))
    return status_new(ERROR_RUNTIME, "\"check_random_bounds\" not implemented for '%s'", dtype_scalar_name(dtype));
  static const struct {
    DType dtype;
    int64_t least, greatest;
  } bounds[] = {{DTYPE_UINT8, 0, 255},        {DTYPE_INT8, -128, 127},
                {DTYPE_INT16, -32768, 32767}, {DTYPE_INT32, INT32_MIN, INT32_MAX},
                {DTYPE_BOOL, 0, 1},           {DTYPE_FLOAT16, -65504, 65504}};
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
    if (bounds[i].dtype != dtype) continue;
    if (low < bounds[i].least || low > bounds[i].greatest)
      return status_new(ERROR_RUNTIME, "from is out of bounds for %s", dtype_name(dtype));
    if (high - 1 < bounds[i].least || high - 1 > bounds[i].greatest)
      return status_new(ERROR_RUNTIME, "to - 1 is out of bounds for %s", dtype_name(dtype));
  }
  return random_from_to(g, out, low, (uint64_t)high - (uint64_t)low);
}

static Status random_from(Call *c, int64_t from, IValue to, uint32_t generator) {
  Tensor *out = call_out(c, 0);
  DType dtype = (DType)out->dtype;
  if (to.tag != TAG_NONE) {
    DRAW(c, generator, integer_fill(g, out, from, to.i));
  }
  if (from == INT64_MIN) DRAW(c, generator, random_from_to(g, out, 0, 0));
  int64_t greatest;
  switch (dtype) {
    case DTYPE_UINT8:
      greatest = 255;
      break;
    case DTYPE_INT8:
      greatest = 127;
      break;
    case DTYPE_INT16:
      greatest = 32767;
      break;
    case DTYPE_INT32:
      greatest = INT32_MAX;
      break;
    case DTYPE_BOOL:
      greatest = 1;
      break;
    case DTYPE_FLOAT16:
      greatest = 1 << 11;
      break;
    case DTYPE_BFLOAT16:
      greatest = 1 << 8;
      break;
    case DTYPE_FLOAT32:
      greatest = 1 << 24;
      break;
    case DTYPE_FLOAT64:
      greatest = (int64_t)1 << 53;
      break;
    default:
      greatest = INT64_MAX;
      break;
  }
  if (from > greatest) return status_new(ERROR_RUNTIME, "from is out of bounds for %s", dtype_name(dtype));
  DRAW(c, generator, random_from_to(g, out, from, (uint64_t)greatest - (uint64_t)from + 1));
}

/* ---- kernels of made tensors ---- */
/* Arguments that the forms of an operator have in different places. */
typedef struct Places {
  uint32_t sizes, generator, options;
} Places;

static Status shape_made(Call *c, TensorSpec *spec) {
  const Places *at = call_with(c);
  TRY(sizes_read(c, at->sizes, spec));
  return options_read(c, at->options, dtype_default(), spec);
}

static Status shape_as_self(Call *c, TensorSpec *spec) {
  uint32_t options = ((const Places *)call_with(c))->options;
  const Tensor *self = call_tensor(c, 0);
  spec->ndim = self->ndim;
  if (self->ndim) memcpy(spec->sizes, self->sizes, self->ndim * sizeof *self->sizes);
  spec->device = tensor_device(self);
  TRY(options_read(c, options, (DType)self->dtype, spec));
  return format_read(c, options + 4, FORMAT_PRESERVE, self, spec);
}

static Status shape_permutation(Call *c, TensorSpec *spec) {
  const Places *at = call_with(c);
  int64_t n = call_int(c, 0);
  if (n < 0) return status_new(ERROR_RUNTIME, "n must be non-negative, got %lld", (long long)n);
  shape_set(spec, DTYPE_INT64, 1, &n);
  TRY(options_read(c, at->options, DTYPE_INT64, spec));
  static const int64_t most[DTYPE_COUNT] = {
      [DTYPE_UINT8] = 256,    [DTYPE_INT8] = 128,         [DTYPE_INT16] = 32768, [DTYPE_INT32] = INT32_MAX,
      [DTYPE_FLOAT16] = 2049, [DTYPE_FLOAT32] = 16777217, [DTYPE_BFLOAT16] = 257};
  if (spec->dtype == DTYPE_BOOL || dtype_is_complex(spec->dtype))
    return status_new(ERROR_RUNTIME, "\"randperm\" not implemented for '%s'", dtype_scalar_name(spec->dtype));
  if (most[spec->dtype] && n > most[spec->dtype])
    return status_new(ERROR_RUNTIME, "n is too large for result tensor type: '%s'", dtype_scalar_name(spec->dtype));
  return OK;
}

static Status kernel_rand(Call *c) {
  const Places *at = call_with(c);
  DRAW(c, at->generator, uniform_fill(g, call_out(c, 0), 0, 1));
}
static Status kernel_randn(Call *c) {
  const Places *at = call_with(c);
  DRAW(c, at->generator, normal_fill(g, call_out(c, 0), 0, 1));
}
/* (high, size, ...) or (low, high, size, ...) */
static Status kernel_randint(Call *c) {
  const Places *at = call_with(c);
  int64_t low = at->sizes > 1 ? call_int(c, 0) : 0;
  DRAW(c, at->generator, integer_fill(g, call_out(c, 0), low, call_int(c, at->sizes - 1)));
}
/* (self, high, *options) or (self, low, high, *options) */
static Status kernel_randint_like(Call *c) {
  const Places *at = call_with(c);
  int64_t low = at->options > 2 ? call_int(c, 1) : 0;
  DRAW(c, at->generator, integer_fill(g, call_out(c, 0), low, call_int(c, at->options - 1)));
}
static Status kernel_randperm(Call *c) {
  const Places *at = call_with(c);
  DRAW(c, at->generator, random_permutation(g, call_out(c, 0)));
}
static Status kernel_normal_made(Call *c) { /* (mean, std, size, generator, *options) */
  const Places *at = call_with(c);
  DRAW(c, at->generator, normal_fill(g, call_out(c, 0), call_double(c, 0), call_double(c, 1)));
}

/* ---- kernels of fills: (self, parameters, generator) ---- */
static Status kernel_uniform(Call *c) {
  DRAW(c, 3, uniform_fill(g, call_out(c, 0), call_double(c, 1), call_double(c, 2)));
}
static Status kernel_normal_fill(Call *c) {
  DRAW(c, 3, normal_fill(g, call_out(c, 0), call_double(c, 1), call_double(c, 2)));
}
static Status kernel_normal_(Call *c) {
  Tensor *self = call_tensor(c, 0);
  call_set_tensor(c, 0, tensor_retain(self));
  DRAW(c, 3, normal_fill(g, self, call_double(c, 1), call_double(c, 2)));
}
static Status kernel_random(Call *c) {
  DRAW(c, 1, random_full_range(g, call_out(c, 0)));
}
static Status kernel_random_to(Call *c) {
  return random_from(c, 0, call_value(c, 1), 2);
}
static Status kernel_random_from(Call *c) {
  return random_from(c, call_int(c, 1), call_value(c, 2), 3);
}

static Status kernel_cauchy(Call *c) {
  TRY(check_floating("cauchy_cpu", (DType)call_out(c, 0)->dtype));
  DRAW(c, 3, random_cauchy(g, call_out(c, 0), call_double(c, 1), call_double(c, 2)));
}
static Status kernel_log_normal(Call *c) {
  TRY(check_floating("log_normal_cpu", (DType)call_out(c, 0)->dtype));
  if (!(call_double(c, 2) > 0))
    return status_new(ERROR_RUNTIME, "log_normal_ expects std > 0.0, but found std=%g", call_double(c, 2));
  DRAW(c, 3, random_log_normal(g, call_out(c, 0), call_double(c, 1), call_double(c, 2)));
}
static Status kernel_exponential(Call *c) {
  TRY(check_floating("exponential_cpu", (DType)call_out(c, 0)->dtype));
  if (!(call_double(c, 1) >= 0))
    return status_new(ERROR_RUNTIME, "exponential_ expects lambda >= 0.0, but found lambda=%g", call_double(c, 1));
  DRAW(c, 2, random_exponential(g, call_out(c, 0), call_double(c, 1)));
}
static Status kernel_geometric(Call *c) {
  double p = call_double(c, 1);
  DType dtype = (DType)call_out(c, 0)->dtype;
  if (dtype == DTYPE_BOOL || dtype_is_complex(dtype))
    return status_new(ERROR_RUNTIME, "\"geometric_cpu\" not implemented for '%s'", dtype_scalar_name(dtype));
  if (!(p > 0 && p < 1)) return status_new(ERROR_RUNTIME, "geometric_ expects p to be in (0, 1), but got p=%g", p);
  DRAW(c, 2, random_geometric(g, call_out(c, 0), p));
}

/* ---- bernoulli ---- */
static Status kernel_bernoulli(Call *c) {
  DRAW(c, 1, random_bernoulli_tensor(g, call_out(c, 0), call_tensor(c, 0)));
}
static Status kernel_bernoulli_p(Call *c) {
  DRAW(c, 2, random_bernoulli(g, call_out(c, 0), call_double(c, 1)));
}
static Status kernel_bernoulli_tensor(Call *c) {
  DRAW(c, 2, random_bernoulli_tensor(g, call_out(c, 0), call_tensor(c, 1)));
}
static Status shape_row_major(Call *c, TensorSpec *spec) {
  const Tensor *self = call_tensor(c, 0);
  shape_set(spec, (DType)self->dtype, self->ndim, self->sizes);
  spec->device = tensor_device(self);
  return OK;
}
static Status kernel_bernoulli_float_(Call *c) {
  Tensor *self = call_tensor(c, 0);
  call_set_tensor(c, 0, tensor_retain(self));
  DRAW(c, 2, random_bernoulli(g, self, call_double(c, 1)));
}

/* ---- normal with tensors: standard numbers, scaled and moved in the dtype's precision ---- */
static Status shape_normal(Call *c, TensorSpec *spec) {
  const Tensor *m = call_value(c, 0).tag == TAG_TENSOR ? call_tensor(c, 0) : NULL,
               *s = call_value(c, 1).tag == TAG_TENSOR ? call_tensor(c, 1) : NULL;
  int64_t sizes[TENSOR_MAX_DIMS];
  int ndim;
  if (m && s) TRY(sizes_broadcast(m->ndim, m->sizes, s->ndim, s->sizes, &ndim, sizes));
  const Tensor *like = m ? m : s;
  if (m && s)
    shape_set(spec, (DType)like->dtype, ndim, sizes);
  else
    shape_set(spec, (DType)like->dtype, like->ndim, like->sizes);
  spec->device = tensor_device(like);
  return OK;
}

typedef struct Affine {
  DType out, mean, std;
} Affine;

static void affine_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Affine *affine = argument;
  double x[256], scale[256], shift[256];
  for (int64_t i = 0; i < n; i += 256) {
    int64_t count = n - i < 256 ? n - i : 256, item = (int64_t)dtype_size(affine->out);
    char *at = data[0] + i * strides[0];
    dtype_convert(DTYPE_FLOAT64, x, 1, affine->out, at, strides[0] / item, count);
    dtype_convert(DTYPE_FLOAT64, shift, 1, affine->mean, data[1] + i * strides[1],
                  strides[1] / (int64_t)dtype_size(affine->mean), count);
    dtype_convert(DTYPE_FLOAT64, scale, 1, affine->std, data[2] + i * strides[2],
                  strides[2] / (int64_t)dtype_size(affine->std), count);
    for (int64_t j = 0; j < count; j++) x[j] *= scale[j];
    dtype_convert(affine->out, at, strides[0] / item, DTYPE_FLOAT64, x, 1, count);
    dtype_convert(DTYPE_FLOAT64, x, 1, affine->out, at, strides[0] / item, count);
    for (int64_t j = 0; j < count; j++) x[j] += shift[j];
    dtype_convert(affine->out, at, strides[0] / item, DTYPE_FLOAT64, x, 1, count);
  }
}

static Status any_negative(const Tensor *std, bool *out) {
  Tensor *reals, *row_major;
  TRY(tensor_to_dtype(std, DTYPE_FLOAT64, &reals));
  Status status = tensor_contiguous(reals, &row_major);
  tensor_release(reals);
  TRY(status);
  const double *data = tensor_data(row_major);
  *out = false;
  for (int64_t i = 0; i < row_major->numel; i++) *out = *out || data[i] < 0;
  tensor_release(row_major);
  return OK;
}

/* mean and std: a tensor, or the number. */
static Status normal_tensors(Call *c, IValue mean, IValue std, uint32_t generator) {
  Tensor *out = call_out(c, 0), *m = NULL, *s = NULL;
  bool negative = std.tag != TAG_TENSOR && !(ivalue_to_double(std) >= 0);
  if (std.tag == TAG_TENSOR && std.tensor->storage) TRY(any_negative(std.tensor, &negative));
  if (negative && std.tag != TAG_TENSOR)
    return status_new(ERROR_RUNTIME, "normal expects std >= 0.0, but found std %g", ivalue_to_double(std));
  if (negative) return status_new(ERROR_RUNTIME, "normal expects all elements of std >= 0.0");
  Generator *g = begin(c, generator);
  Status status = end(g ? normal_fill(g, out, 0, 1) : no_generator());
  if (status || !out->storage) return status;
  if (mean.tag == TAG_TENSOR)
    m = tensor_retain(mean.tensor);
  else
    TRY_GOTO(tensor_from_double(ivalue_to_double(mean), &m), done);
  if (std.tag == TAG_TENSOR)
    s = tensor_retain(std.tensor);
  else
    TRY_GOTO(tensor_from_double(ivalue_to_double(std), &s), done);
  Iterator it;
  TRY_GOTO(iterator_init(&it, 3, (const Tensor *const[]){out, m, s}), done);
  iterator_run(&it, 0, it.numel, affine_run, &(Affine){(DType)out->dtype, (DType)m->dtype, (DType)s->dtype});
done:
  tensor_release(m);
  tensor_release(s);
  return status;
}
static Status kernel_normal_tensors(Call *c) {
  return normal_tensors(c, call_value(c, 0), call_value(c, 1), 2);
}

#define MAKE(text, shape_function, kernel_function, ...)                                                      \
  {                                                                                                           \
    .schema = text, .shape = shape_function, .kernel = kernel_function, .with = &(const Places){__VA_ARGS__}, \
    .flags = OP_OUT | OP_NONDETERMINISTIC | OP_NOT_DIFFERENTIABLE | OP_ACCEPT_META                            \
  }
#define FILL(text, kernel_function, ...)                                                                             \
  {                                                                                                                  \
    .schema = text, .shape = shape_same_as_first, .kernel = kernel_function, .grad = "self: torch.zeros_like(grad)", \
    .flags = OP_INPLACE | OP_OUT | OP_NONDETERMINISTIC | OP_ALIASING_SELF, __VA_ARGS__                               \
  }
#define NORMAL(text, gradient)                                                                \
  {                                                                                           \
    .schema = text, .shape = shape_normal, .kernel = kernel_normal_tensors, .grad = gradient, \
    .flags = OP_OUT | OP_NONDETERMINISTIC                                                     \
  }

static const OpRow rows[] = {
    MAKE("aten::rand(int[] size, *, " OPTIONS ") -> Tensor", shape_made, kernel_rand, .sizes = 0, .options = 1),
    MAKE("aten::rand.generator(int[] size, *, Generator? generator, " OPTIONS ") -> Tensor", shape_made, kernel_rand,
         .sizes = 0, .generator = 1, .options = 2),
    MAKE("aten::rand_like(Tensor self, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor", shape_as_self,
         kernel_rand, .options = 1),
    MAKE("aten::randn(int[] size, *, " OPTIONS ") -> Tensor", shape_made, kernel_randn, .sizes = 0, .options = 1),
    MAKE("aten::randn.generator(int[] size, *, Generator? generator, " OPTIONS ") -> Tensor", shape_made, kernel_randn,
         .sizes = 0, .generator = 1, .options = 2),
    MAKE("aten::randn_like(Tensor self, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor", shape_as_self,
         kernel_randn, .options = 1),
    MAKE("aten::randint(int high, int[] size, *, " LONG_OPTIONS ") -> Tensor", shape_made, kernel_randint, .sizes = 1,
         .options = 2),
    MAKE("aten::randint.generator(int high, int[] size, *, Generator? generator, " LONG_OPTIONS ") -> Tensor",
         shape_made, kernel_randint, .sizes = 1, .generator = 2, .options = 3),
    MAKE("aten::randint.low(int low, int high, int[] size, *, " LONG_OPTIONS ") -> Tensor", shape_made, kernel_randint,
         .sizes = 2, .options = 3),
    MAKE("aten::randint.low_generator(int low, int high, int[] size, *, Generator? generator, " LONG_OPTIONS
         ") -> Tensor",
         shape_made, kernel_randint, .sizes = 2, .generator = 3, .options = 4),
    MAKE("aten::randint_like(Tensor self, int high, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
         shape_as_self, kernel_randint_like, .options = 2),
    MAKE("aten::randint_like.low_dtype(Tensor self, int low, int high, *, " OPTIONS
         ", MemoryFormat? memory_format=None) -> Tensor",
         shape_as_self, kernel_randint_like, .options = 3),
    MAKE("aten::randperm(int n, *, " LONG_OPTIONS ") -> Tensor", shape_permutation, kernel_randperm, .options = 1),
    MAKE("aten::randperm.generator(int n, *, Generator? generator, " LONG_OPTIONS ") -> Tensor", shape_permutation,
         kernel_randperm, .generator = 1, .options = 2),
    FILL("aten::uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor",
         kernel_uniform),
    FILL("aten::random(Tensor self, *, Generator? generator=None) -> Tensor", kernel_random),
    FILL("aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor", kernel_random_to),
    FILL("aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor",
         kernel_random_from),
    FILL("aten::cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor",
         kernel_cauchy),
    FILL("aten::log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor",
         kernel_log_normal),
    FILL("aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor", kernel_exponential),
    FILL("aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor", kernel_geometric),
    FILL("aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
         kernel_bernoulli_tensor, .dtypes = "bernoulli_tensor_cpu_self_: bool integral floating"),
    {.schema = "aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
     .shape = shape_row_major,
     .dtypes = "bernoulli_tensor_cpu_self_: bool integral floating",
     .kernel = kernel_bernoulli,
     .grad = "self: torch.zeros_like(grad)",
     .flags = OP_OUT | OP_NONDETERMINISTIC},
    {.schema = "aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
     .dtypes = "bernoulli_scalar_cpu_: bool integral floating",
     .shape = shape_row_major,
     .kernel = kernel_bernoulli_p,
     .grad = "self: torch.zeros_like(grad)",
     .flags = OP_NONDETERMINISTIC},
    {.schema = "aten::bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
     .dtypes = "bernoulli_scalar_cpu_: bool integral floating",
     .kernel = kernel_bernoulli_float_,
     .grad = "self: torch.zeros_like(grad)",
     .flags = OP_NONDETERMINISTIC},
    {.schema =
         "aten::normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)",
     .kernel = kernel_normal_,
     .grad = "self: torch.zeros_like(grad)",
     .flags = OP_NONDETERMINISTIC},
    {.schema =
         "aten::normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor",
     .shape = shape_same_as_first,
     .kernel = kernel_normal_fill,
     .grad = "self: torch.zeros_like(grad)",
     .flags = OP_NONDETERMINISTIC},
    NORMAL("aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
           "mean: torch.zeros_like(grad)"),
    NORMAL("aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
           "std: torch.zeros_like(grad)"),
    NORMAL("aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
           "mean: torch.zeros_like(grad); std: torch.zeros_like(grad)"),
    MAKE("aten::normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, " OPTIONS
         ") -> Tensor",
         shape_made, kernel_normal_made, .sizes = 2, .generator = 3, .options = 4),
};

OP_TABLE(op_table_random, rows);
