/* Sums and products of quantized tensors, with numbers and with each other. */
#include <math.h>

#include "call/quantized_engine.h"
#include "call/row_extras.h"
#include "compute/quantized/qgemm.h"
#include "op/quantized/quantized.h"
#include "tensor/iterate.h"
#include "tensor/quantizer.h"

/* ---- two tensors ---- */

/* One element of the result, unclamped and without its zero point. */
typedef struct Pair {
  DType dtype;
  int64_t item;
  float scale_a, scale_b, shift_a, shift_b; /* a number is fma(q, scale, shift): shift = -(zero * scale) */
  int64_t zero_a, zero_b;
  float inverse, multiplier;
  int64_t zero, least, most;
  int64_t fixed_a, fixed_b; /* qnnpack's multipliers */
  int shift;
  bool product, relu, fixed, ties_up;
} Pair;

static int64_t load(DType dtype, const char *p) {
  return dtype == DTYPE_QUINT8 ? *(const uint8_t *)p : dtype == DTYPE_QINT8 ? *(const int8_t *)p : *(const int32_t *)p;
}
static void store(DType dtype, char *p, int64_t value) {
  if (dtype == DTYPE_QINT32) {
    int32_t wide = (int32_t)value;
    memcpy(p, &wide, sizeof wide);
  } else {
    *(uint8_t *)p = (uint8_t)value;
  }
}

static int64_t from_float(float x) {
  return x >= 0x1p62f ? (int64_t)1 << 62 : x > -0x1p62f ? (int64_t)x : -((int64_t)1 << 62);
}

/* Ties away from zero. */
static int64_t shift_right(int64_t x, int shift) {
  int64_t half = (int64_t)1 << (shift - 1);
  return x >= 0 ? (x + half) >> shift : -((-x + half) >> shift);
}

/* fused: as vectors compute; single elements round the product of number and scale first. */
static int64_t combine(const Pair *p, int64_t a, int64_t b, bool fused) {
  if (p->fixed) {
    int64_t sum = (a - p->zero_a) * p->fixed_a + (b - p->zero_b) * p->fixed_b;
    return p->ties_up ? (sum + ((int64_t)1 << (p->shift - 1))) >> p->shift : shift_right(sum, p->shift);
  }
  if (p->product) {
    int64_t c = (int32_t)((uint32_t)(a - p->zero_a) * (uint32_t)(b - p->zero_b));
    if (p->relu && c < 0) c = 0;
    return from_float(rintf((float)c * p->multiplier));
  }
  float x = fused ? fmaf((float)a, p->scale_a, p->shift_a) + fmaf((float)b, p->scale_b, p->shift_b)
                  : (float)(a - p->zero_a) * p->scale_a + (float)(b - p->zero_b) * p->scale_b;
  if (p->relu && !(x > 0)) x = 0;
  return from_float(rintf(x * p->inverse));
}

/* PyTorch's loops take two 512-bit vectors at a time; what is left of a run goes element by element. */
static int64_t fused_count(const Pair *p, int64_t n, const int64_t *strides) {
  int64_t step = 2 * 64 / p->item;
  bool dense = strides[0] == p->item && strides[1] == p->item && strides[2] == p->item;
  return dense && !p->product ? n / step * step : 0;
}

static void add_bytes(const Pair *p, int64_t n, char *const *data) {
  QuantizedSum s = {p->scale_a,
                    p->scale_b,
                    p->shift_a,
                    p->shift_b,
                    p->inverse,
                    (float)(p->least - p->zero),
                    (float)(p->most - p->zero),
                    (int32_t)p->zero,
                    p->relu};
  if (p->dtype == DTYPE_QUINT8)
    quantized_loops()->add_uint8(&s, n, (const uint8_t *)data[1], (const uint8_t *)data[2], (uint8_t *)data[0]);
  else
    quantized_loops()->add_int8(&s, n, (const int8_t *)data[1], (const int8_t *)data[2], (int8_t *)data[0]);
}

static void run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Pair *p = argument;
  int64_t least = p->relu && p->zero > p->least ? p->zero : p->least, fused = fused_count(p, n, strides), i = 0;
  if (fused && !p->fixed && p->item == 1) add_bytes(p, i = fused, data);
  for (; i < n; i++) {
    int64_t c =
        combine(p, load(p->dtype, data[1] + i * strides[1]), load(p->dtype, data[2] + i * strides[2]), i < fused) +
        p->zero;
    c = c < least ? least : c > p->most ? p->most : c;
    store(p->dtype, data[0] + i * strides[0], c);
  }
}

/* Both ratios of scales as integers: QNNPACK's for unsigned bytes has 22 bits for the larger and rounds ties
 * away from zero, XNNPACK's for signed ones has 21 and rounds them up. */
static void set_fixed_point(Pair *p, float ratio_a, float ratio_b) {
  float most = ratio_a > ratio_b ? ratio_a : ratio_b;
  int exponent;
  if (!(most > 0x1p-14f) || !(most < 0x1p8f)) return;
  frexpf(most, &exponent);
  p->ties_up = p->dtype == DTYPE_QINT8;
  p->shift = (p->ties_up ? 20 : 21) - (exponent - 1);
  p->fixed_a = (int64_t)lrintf(ldexpf(ratio_a, p->shift));
  p->fixed_b = (int64_t)lrintf(ldexpf(ratio_b, p->shift));
  p->fixed = p->shift > 0 && p->shift < 62;
}

static Status set_up(const Call *c, const Tensor *a, const Tensor *b, double scale, int64_t zero, Pair *p) {
  TRY(expect_per_tensor(c, a));
  TRY(expect_per_tensor(c, b));
  if (a->dtype != b->dtype) return status_new(ERROR_RUNTIME, "Add operands should have same data type.");
  TRY(quantizer_check_scale((DType)a->dtype, scale, zero));
  const Quantizer *qa = tensor_quantizer(a), *qb = tensor_quantizer(b);
  p->dtype = (DType)a->dtype;
  p->item = (int64_t)dtype_size(p->dtype);
  p->scale_a = (float)qa->scale;
  p->scale_b = (float)qb->scale;
  p->zero_a = qa->zero_point;
  p->zero_b = qb->zero_point;
  p->shift_a = -((float)p->zero_a * p->scale_a);
  p->shift_b = -((float)p->zero_b * p->scale_b);
  p->inverse = 1.0f / (float)scale;
  p->multiplier = p->scale_a * p->scale_b * p->inverse;
  p->zero = zero;
  p->least = dtype_quantized_min(p->dtype);
  p->most = dtype_quantized_max(p->dtype);
  return OK;
}

enum { PRODUCT = 1, RELU = 2 }; /* what the operator's name says */

/* Result into *out, or into `into` when it is given. */
static Status binary(Call *c, const Tensor *a, const Tensor *b, double scale, int64_t zero, Tensor *into) {
  bool product = call_param(c) & PRODUCT;
  Pair p = {.product = product, .relu = call_param(c) & RELU};
  Iterator it;
  int ndim;
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  TRY(set_up(c, a, b, scale, zero, &p));
  bool qnnpack = quantized_engine(c->exec) == ENGINE_QNNPACK && tensor_same_sizes(a, b) && !into;
  if (!product && qnnpack && p.dtype != DTYPE_QINT32)
    set_fixed_point(&p, p.scale_a / (float)scale, p.scale_b / (float)scale);
  TRY(sizes_broadcast(a->ndim, a->sizes, b->ndim, b->sizes, &ndim, sizes));
  Tensor *out = into;
  if (!into) {
    Quantizer *q;
    bool same = ndim == a->ndim && tensor_same_sizes(a, b);
    if (same) strides_preserve(ndim, sizes, a->strides, strides);
    TRY(quantizer_new_per_tensor(scale, zero, &q));
    Status status = tensor_new_quantized(p.dtype, ndim, sizes, same ? strides : NULL, q, &out);
    quantizer_release(q);
    TRY(status);
  } else if (into->dtype != a->dtype || into->ndim != ndim ||
             memcmp(into->sizes, sizes, (size_t)ndim * sizeof *sizes) != 0) {
    return status_new(ERROR_RUNTIME, STR_FMT ": the out tensor has other sizes or another dtype", STR_ARG(c->op->name));
  }
  Status status = iterator_init(&it, 3, (const Tensor *const[]){out, a, b});
  if (!status && out->numel) iterator_run_parallel(&it, c->exec->work.threads, 1 << 18, run, &p);
  if (status && !into) tensor_release(out);
  if (!status) call_set_tensor(c, 0, into ? tensor_retain(into) : out);
  return status;
}

/* (qa, qb, scale, zero_point) */
static Status kernel_pair(Call *c) {
  return binary(c, call_tensor(c, 0), call_tensor(c, 1), call_double(c, 2), call_int(c, 3), NULL);
}
/* (qa, qb, out): quantized as out is. */
static Status kernel_pair_out(Call *c) {
  Tensor *out = call_tensor(c, 2);
  TRY(expect_per_tensor(c, out));
  const Quantizer *q = tensor_quantizer(out);
  return binary(c, call_tensor(c, 0), call_tensor(c, 1), q->scale, q->zero_point, out);
}
/* ---- a tensor and a number ---- */

/* Integers of `a` by `change`, quantized anew. */
typedef struct Change {
  DType dtype;
  int64_t item, zero_in, number; /* sum: what is added, in steps of the input */
  float multiplier;
  int64_t zero, least, most;
  bool rescale, mirror, relu, blank;
} Change;

static void run_change(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Change *h = argument;
  for (int64_t i = 0; i < n; i++) {
    int64_t q = load(h->dtype, data[1] + i * strides[1]);
    if (h->blank) q = 0;
    if (h->mirror) q = h->most + h->least - q;
    if (h->rescale) {
      int64_t sum = q - h->zero_in + h->number;
      if (h->relu && sum < 0) sum = 0;
      q = from_float(rintf((float)(int32_t)sum * h->multiplier)) + h->zero;
      q = q < h->least ? h->least : q > h->most ? h->most : q;
    }
    if (h->relu && q < h->zero) q = h->zero;
    store(h->dtype, data[0] + i * strides[0], q);
  }
}

static Status change(Call *c, const Tensor *a, Change *h, double scale, Tensor *into) {
  Iterator it;
  Quantizer *q;
  Tensor *out = into;
  int64_t strides[TENSOR_MAX_DIMS];
  TRY(quantizer_new_per_tensor(scale, h->zero, &q));
  if (!into) {
    strides_preserve(a->ndim, a->sizes, a->strides, strides);
    Status status = tensor_new_quantized(h->dtype, a->ndim, a->sizes, strides, q, &out);
    quantizer_release(q);
    TRY(status);
  } else if (into->dtype != a->dtype || !tensor_same_sizes(into, a)) {
    quantizer_release(q);
    return status_new(ERROR_RUNTIME, STR_FMT ": the out tensor has other sizes or another dtype", STR_ARG(c->op->name));
  } else {
    tensor_set_quantizer(into, q);
  }
  Status status = iterator_init(&it, 2, (const Tensor *const[]){out, a});
  if (!status && out->numel) iterator_run_parallel(&it, c->exec->work.threads, 16384, run_change, h);
  if (status && !into) tensor_release(out);
  if (!status) call_set_tensor(c, 0, into ? tensor_retain(into) : out);
  return status;
}

static Status start_change(const Call *c, const Tensor *a, bool relu, Change *h) {
  TRY(expect_per_tensor(c, a));
  const Quantizer *q = tensor_quantizer(a);
  *h = (Change){.dtype = (DType)a->dtype,
                .item = (int64_t)dtype_size((DType)a->dtype),
                .zero_in = q->zero_point,
                .zero = q->zero_point,
                .least = dtype_quantized_min((DType)a->dtype),
                .most = dtype_quantized_max((DType)a->dtype),
                .relu = relu};
  return OK;
}

/* The zero point moves; where that leaves the dtype's range, the scale grows too. */
static Status add_number(Call *c, const Tensor *a, double number, bool relu, Tensor *into) {
  Change h;
  TRY(start_change(c, a, relu, &h));
  double scale = tensor_quantizer(a)->scale, steps = nearbyint(number / scale);
  if (!(fabs(steps) < 0x1p31))
    return status_new(ERROR_RUNTIME, STR_FMT ": the number %g is out of range", STR_ARG(c->op->name), number);
  h.number = (int64_t)steps;
  int64_t zero = h.zero_in - h.number;
  double width = (double)h.most - (double)h.least, grown = scale;
  h.zero = zero;
  if (h.least > zero) {
    grown = ((double)h.most - (double)zero) / width * scale;
    h.zero = h.least;
  } else if (h.most < zero) {
    grown = ((double)zero - (double)h.least) / width * scale;
    h.zero = h.most;
  }
  h.rescale = h.zero != zero;
  h.multiplier = (float)scale * (1.0f / (float)grown);
  return change(c, a, &h, grown, into);
}

/* The scale is multiplied; a negative number mirrors the integers. */
static Status mul_number(Call *c, const Tensor *a, double number, bool relu, Tensor *into) {
  Change h;
  TRY(start_change(c, a, relu, &h));
  double scale = tensor_quantizer(a)->scale * fabs(number);
  if (number == 0) {
    h.blank = true;
    h.zero = 0;
    scale = 1;
  } else if (number < 0) {
    h.mirror = true;
    h.zero = h.most - (h.zero_in - h.least);
  }
  return change(c, a, &h, scale, into);
}

static double number_of(IValue v) {
  return v.tag == TAG_TENSOR ? tensor_item_double(v.tensor) : ivalue_to_double(v);
}
static Status check_number(const Call *c, IValue v) {
  if (v.tag != TAG_TENSOR) return OK;
  if (tensor_is_defined(v.tensor) && v.tensor->numel == 1 && !(v.tensor->flags & TENSOR_UNUSUAL)) return OK;
  return status_new(ERROR_RUNTIME, STR_FMT ": expected a tensor of one number", STR_ARG(c->op->name));
}

static Status kernel_number(Call *c) { /* a tensor and a number in either order, and an out */
  bool product = call_param(c) & PRODUCT, relu = call_param(c) & RELU;
  uint32_t tensor_at = call_value(c, 0).tag == TAG_TENSOR && tensor_is_quantized(call_tensor(c, 0)) ? 0 : 1;
  IValue number = call_value(c, 1 - tensor_at), tensor = call_value(c, tensor_at);
  TRY(check_number(c, number));
  if (tensor.tag != TAG_TENSOR) return status_new(ERROR_RUNTIME, STR_FMT ": no tensor given", STR_ARG(c->op->name));
  if (number.tag == TAG_TENSOR && !product) relu = false; /* PyTorch's overload for tensors leaves it out */
  Tensor *into = c->input_count > 2 ? call_tensor(c, 2) : NULL;
  if (into) TRY(expect_quantized(c, into));
  return product ? mul_number(c, tensor.tensor, number_of(number), relu, into)
                 : add_number(c, tensor.tensor, number_of(number), relu, into);
}
#define ROW(text, kernel_function, ...)                                                              \
  {                                                                                                  \
    .schema = text, .kernel = kernel_function, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED, \
    .param = __VA_ARGS__                                                                             \
  }
#define ROWS(name, scalar_name, of, which)                                                                             \
  ROW("quantized::" #name "(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", kernel_pair, which,      \
      .extras = &(const RowExtras){.quantizes = &(const QuantizedForm){of, .relu = (which)&RELU}}),                    \
      ROW("quantized::" #name ".out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", kernel_pair_out, which), \
      ROW("quantized::" #name "_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", kernel_pair_out, which), \
      ROW("quantized::" #name ".Scalar(Tensor qa, Scalar b) -> Tensor qc", kernel_number, which),                      \
      ROW("quantized::" #name ".Scalar2(Scalar b, Tensor qa) -> Tensor qc", kernel_number, which),                     \
      ROW("quantized::" #name ".Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", kernel_number,     \
          which),                                                                                                      \
      ROW("quantized::" scalar_name "(Tensor qa, Scalar b) -> Tensor qc", kernel_number, which),                       \
      ROW("quantized::" scalar_name ".Tensor(Tensor qa, Tensor b) -> Tensor qc", kernel_number, which),                \
      ROW("quantized::" scalar_name "_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", kernel_number,      \
          which),                                                                                                      \
      ROW("quantized::" scalar_name "_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out",              \
          kernel_number, which)

static const OpRow rows[] = {
    ROWS(add, "add_scalar", "aten::add.Tensor", 0),
    ROWS(add_relu, "add_scalar_relu", "aten::add.Tensor", RELU),
    ROWS(mul, "mul_scalar", "aten::mul.Tensor", PRODUCT),
    ROWS(mul_relu, "mul_scalar_relu", "aten::mul.Tensor", PRODUCT | RELU),
    ROW("_quantized::add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", kernel_pair, 0),
};
OP_TABLE(op_table_quantized_arithmetic, rows);
