/* Whether a device computes what the CPU computes: operators, copies, fusion groups, errors, memory, threads. Prints a
 * table; exit status 1 where something differs, 77 where the device is not there.
 *
 *   device_check DEVICE          all of it
 *   device_check DEVICE brief    with float32 and int64 alone
 *   device_check DEVICE large    with more elements than 31 bits count, which takes 9 GB
 *   device_check DEVICE speed    bandwidth of copies, of pointwise operators and groups, time of a launch
 *   device_check DEVICE net MODEL INPUTS   a net of an archive, for the tuple of tensors that torch.save wrote to
 *                                          INPUTS: its result compared, its time                             */
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wick/wick.h"

static const char *device;
static bool is_brief;
static int passed, failed, section_passed, section_failed;

__attribute__((format(printf, 2, 3))) static void note(bool good, const char *format, ...) {
  *(good ? &section_passed : &section_failed) += 1;
  if (good) return;
  va_list list;
  va_start(list, format);
  printf("  FAILED ");
  vprintf(format, list);
  printf("\n");
  va_end(list);
}
static void end_section(const char *name) {
  printf("%-12s %4d passed %4d failed\n", name, section_passed, section_failed);
  fflush(stdout);
  passed += section_passed;
  failed += section_failed;
  section_passed = section_failed = 0;
}

/* The message of a call that should have gone well; frees it. */
static bool is_fine(wick_status status, wick_error **error, const char *what) {
  if (status) note(false, "%s: %.600s", what, wick_error_message(*error));
  wick_error_free(*error);
  *error = NULL;
  return !status;
}

/* ---- programs ---- */

/* x, y: floating [3, 4], y above 0; p: [4], u: [3, 1]; i, j: integers [3, 4], j not 0; c: bool [3, 4]. Both sides are
 * given on one device. */
static const char *const expressions[] = {
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x + p",
    "u * x",
    "x + 1",
    "2 - x",
    "x * 0.5",
    "1 / y",
    "x + 2 * i",
    "torch.add(x, y, alpha=3)",
    "torch.sub(x, p, alpha=0.5)",
    "torch.addcmul(x, y, p, value=2)",
    "torch.addcdiv(x, p, y)",
    "torch.neg(x)",
    "torch.abs(x)",
    "torch.sign(x)",
    "x * x",
    "torch.reciprocal(y)",
    "torch.exp(x)",
    "torch.expm1(x)",
    "torch.exp2(x)",
    "torch.log(y)",
    "torch.log1p(y)",
    "torch.log2(y)",
    "torch.log10(y)",
    "torch.sqrt(y)",
    "torch.rsqrt(y)",
    "torch.sin(x)",
    "torch.cos(x)",
    "torch.tan(x)",
    "torch.asin(x / 8)",
    "torch.acos(x / 8)",
    "torch.atan(x)",
    "torch.sinh(x)",
    "torch.cosh(x)",
    "torch.tanh(x)",
    "torch.asinh(x)",
    "torch.acosh(y + 1)",
    "torch.atanh(x / 8)",
    "torch.sigmoid(x)",
    "torch.erf(x)",
    "torch.erfc(x)",
    "torch.relu(x)",
    "torch.lgamma(y)",
    "torch.nn.functional.gelu(x)",
    "torch.nn.functional.hardswish(x)",
    "torch.nn.functional.hardsigmoid(x)",
    "torch.nn.functional.hardtanh(x)",
    "torch.nn.functional.relu6(x)",
    "torch.nn.functional.leaky_relu(x, 0.1)",
    "torch.nn.functional.elu(x)",
    "torch.nn.functional.selu(x)",
    "torch.nn.functional.silu(x)",
    "torch.nn.functional.softplus(x)",
    "torch.nn.functional.mish(x)",
    "torch.nn.functional.logsigmoid(x)",
    "torch.nn.functional.softsign(x)",
    "torch.nn.functional.tanhshrink(x)",
    "torch.floor(x)",
    "torch.ceil(x)",
    "torch.round(x)",
    "torch.trunc(x)",
    "torch.frac(x)",
    "torch.pow(y, 2)",
    "torch.pow(y, p)",
    "y ** 0.5",
    "2 ** x",
    "torch.atan2(x, y)",
    "torch.fmod(x, y)",
    "torch.remainder(x, y)",
    "x % 3",
    "torch.floor_divide(x, y)",
    "x // 2",
    "torch.div(x, y, rounding_mode='trunc')",
    "torch.maximum(x, y)",
    "torch.minimum(x, p)",
    "torch.fmax(x, y)",
    "torch.fmin(x, y)",
    "torch.clamp(x, -1, 1)",
    "torch.clamp(x, min=0)",
    "torch.hypot(x, y)",
    "torch.copysign(x, p)",
    "torch.where(c, x, y)",
    "torch.lerp(x, y, 0.3)",
    "x > y",
    "x >= 0",
    "x < y",
    "x <= p",
    "x == x.floor()",
    "x != y",
    "torch.isnan(x / 0)",
    "torch.isinf(x / 0)",
    "torch.isfinite(x)",
    "torch.signbit(x)",
    "torch.logical_and(c, x > 0)",
    "torch.logical_or(c, x > 0)",
    "torch.logical_xor(c, x > 0)",
    "torch.logical_not(c)",
    "~c",
    "c & (x > 0)",
    "c | (x > 0)",
    "c ^ (x > 0)",
    "i + j",
    "i - j",
    "i * j",
    "i / j",
    "i // j",
    "i % j",
    "torch.div(i, j, rounding_mode='trunc')",
    "torch.fmod(i, j)",
    "i ** 2",
    "-i",
    "torch.abs(i)",
    "torch.sign(i)",
    "i & j",
    "i | j",
    "i ^ j",
    "~i",
    "i << 2",
    "i >> 1",
    "i > j",
    "i == 2",
    "torch.maximum(i, j)",
    "torch.clamp(i, 0, 3)",
    "torch.gcd(i, j)",
    "i * 0.5",
    "i + x",
    "torch.where(c, i, j)",
    "x.masked_fill(c, 5)",
    "torch.square(x)",
    "torch.rsub(x, 3)",
    "torch.deg2rad(x)",
    "torch.rad2deg(x)",
    "torch.xlogy(y, y)",
    "torch.logaddexp(x, y)",
    "torch.nan_to_num(x / 0)",
    "torch.heaviside(x, p)",
    "x.t() + y.t()",
    "x.t() * y[:, :3].t().contiguous().t()[0:1].t()[0:1, 0:1]",
    "x[:, 1:3] + y[:, 2:4]",
    "x[1] * y[2]",
    "x.unsqueeze(0) + u.unsqueeze(1)",
    "x[0, 0] + y",
    "x[0, 0] * y[1, 1]",
    "x.expand([2, 3, 4]) + y",
    "torch.threshold(x, 0.5, 2.0)",
    "x.clone().add_(y).mul_(2)",
    "x.clone().t().add_(1)",
    "torch.add(x, y, out=torch.empty_like(x))",
    "x.to(torch.float64) + y",
    "x.to(torch.float16)",
    "x.to(torch.bfloat16)",
    "i.to(torch.uint8)",
    "x.to(torch.int32)",
    "c.to(torch.float32)",
    "i.to(torch.float16) + 1",
    "x.to(torch.bool)",
    "y.to(torch.float16).to(torch.float64)",
    "torch.zeros_like(x) + 1",
    "torch.full_like(i, 7)",
    "torch.ones_like(y)",
};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

static const char *const copies[] = {
    "x.t().contiguous()",
    "x.clone()",
    "x[:, 1:3].contiguous()",
    "x.expand([2, 3, 4]).contiguous()",
    "x[:, ::2].clone()",
    "x.flatten()",
    "x.t().reshape([12])",
    "x.unsqueeze(1).permute([2, 0, 1]).contiguous()",
    "x.t()",
    "x[1:]",
    "torch.zeros([2, 3, 4], device=x.device).copy_(x)",
    "torch.zeros([4, 3], device=x.device).t().copy_(x)",
    "torch.full([5], 2.5, device=x.device)",
    "torch.full([7], 3, dtype=torch.int64, device=x.device)",
    "torch.full([7], 1.5, dtype=torch.float64, device=x.device)",
    "torch.full([7], -2, dtype=torch.int16, device=x.device)",
    "x.clone().t().fill_(3)",
    "torch.zeros([0, 3], device=x.device)",
    "x[:0].contiguous()",
    "torch.complex(x.cpu(), y.cpu()).to(x.device).t().contiguous()",
};
enum { COPIES = sizeof copies / sizeof *copies };

/* What becomes one kernel; t: large. */
static const char *const groups[] = {
    "torch.tanh(x * y + x)",
    "torch.sigmoid(x) * torch.tanh(y) + p",
    "(x.chunk(2, 1)[0] * 2 + 1).relu()",
    "torch.where(x > 0, x * 2, torch.exp(x)) - y",
    "(x.t() + 1) * (y.t() - 2)",
    "(x * u + p) / y",
    "(i + j) * 3 - i",
    "torch.softmax(x * 2 + y, 1) * p",
    "torch.log_softmax(x.expand([20, 3, 4]) + u, -1).exp()",
    "torch.nn.functional.layer_norm(x + y, [4], p, p) * 2",
    "(x * y).sum(1, keepdim=True) + x",
    "(x * y).mean(-1)",
    "(x - x.amax([1], keepdim=True)).exp() * y",
    "torch.softmax(x.repeat([20, 300]) * 2 + 1, 1)",
    "x * torch.rsqrt((x * x).mean([-1], keepdim=True) + 0.5)",
};
enum { GROUPS = sizeof groups / sizeof *groups };
static const char *const products[] = {
    "torch.mm(x, y.t())",
    "torch.mm(x.t(), y)",
    "torch.mm(x.t(), y.t().contiguous().t())",
    "torch.mm(x[:, 1:3], y[:2])",
    "torch.mm(x[:, ::2], y[:2])",
    "torch.mm(x[:1], y.t())",
    "torch.mm(x, y[:1].t())",
    "torch.mm(x[:, :1], y[:1])",
    "torch.mm(x[:0], y.t())",
    "torch.mm(x[:, :0], y[:0])",
    "torch.addmm(p[:3], x, y.t())",
    "torch.addmm(u, x, y.t(), beta=2, alpha=0.5)",
    "torch.addmm(p[:3], x, y.t(), beta=0)",
    "torch.bmm(x.expand([5, 3, 4]), y.t().expand([5, 4, 3]))",
    "torch.bmm(x.unsqueeze(1), y.unsqueeze(2))",
    "torch.bmm(x.expand([2, 3, 4]).transpose(1, 2), y.expand([2, 3, 4]))",
    "torch.nn.functional.linear(x, y)",
    "torch.nn.functional.linear(x, y, p[:3])",
    "torch.nn.functional.linear(p, y, p[:3])",
    "torch.nn.functional.linear(x.expand([2, 3, 4]), y, p[:3])",
    "torch.nn.functional.linear(x.t(), y.t(), p)",
    "x.clone()[:, :3].addmm_(x, y.t())",
    "x.clone()[:, :3].t().addmm_(x, y.t())",
    "torch.matmul(x, y.t())",
    "torch.matmul(x, p)",
    "torch.matmul(p, y.t())",
    "torch.matmul(p, p)",
    "torch.matmul(x.expand([2, 5, 3, 4]), y.t())",
    "torch.matmul(x.expand([2, 5, 3, 4]), y.t().expand([5, 4, 3]))",
    "torch.matmul(x.expand([5, 3, 4]), y.t().expand([2, 5, 4, 3]))",
    "torch.matmul(x.unsqueeze(1), y.unsqueeze(2))",
    "torch.matmul(x.expand([2, 3, 4]).transpose(0, 1), y.t().expand([3, 4, 3]))",
    "torch.matmul(x.expand([2, 3, 4]), p)",
    "torch.matmul(p, y.t().expand([2, 4, 3]))",
    "torch.mv(x, p)",
    "torch.dot(p, p)",
    "torch.baddbmm(u, x.expand([5, 3, 4]), y.t().expand([5, 4, 3]), beta=2, alpha=0.5)",
    "torch.nn.functional.scaled_dot_product_attention(x.expand([2, 3, 4]), y.expand([2, 3, 4]), x.expand([2, 3, 4]))",
    "torch.mm(x, y.t(), out=torch.empty([3, 3], device=x.device, dtype=x.dtype))",
};
enum { PRODUCTS = sizeof products / sizeof *products };
static const char *const reductions[] = {
    "torch.sum(x)",
    "torch.sum(x, 0)",
    "torch.sum(x, [1], keepdim=True)",
    "torch.sum(x, [0, 1])",
    "torch.sum(x.t(), 0)",
    "torch.sum(x.expand([5, 3, 4]), [0, 2])",
    "torch.sum(x, 1, dtype=torch.float64)",
    "torch.sum(x.expand([50000, 3, 4]))",
    "torch.mean(x.expand([50000, 3, 4]))",
    "torch.sum(i)",
    "torch.sum(c, 0)",
    "torch.mean(x)",
    "torch.mean(x, 1)",
    "torch.mean(x[:0])",
    "torch.prod(x)",
    "torch.prod(x, 0)",
    "torch.max(x)",
    "torch.min(i)",
    "torch.amax(x, [0])",
    "torch.amin(x, [1], keepdim=True)",
    "torch.max(x, 1)[0]",
    "torch.max(x, 1)[1]",
    "torch.min(x, 0, keepdim=True)[1]",
    "torch.max(x[:, ::2], 1)[0]",
    "torch.argmax(x)",
    "torch.argmax(x, 1)",
    "torch.argmin(x, 0, keepdim=True)",
    "torch.argmax(x * 0, 1)",
    "torch.max(x / 0, 1)[1]",
    "torch.any(c)",
    "torch.any(x > 100, 0)",
    "torch.all(c, 1)",
    "torch.all(x == x)",
    "torch.count_nonzero(i, 1)",
    "torch.var(x)",
    "torch.var(x, 1)",
    "torch.std(x, [0], unbiased=False, keepdim=True)",
    "torch.var_mean(x, 1)[1]",
    "torch.norm(x)",
    "torch.norm(x, 1, [1])",
    "torch.linalg.vector_norm(x, 2, [0])",
    "torch.sum(x.expand([2, 3000, 3, 4]), [1])",
    "torch.sum(x.expand([70, 60, 3, 4]).permute([2, 3, 0, 1]).contiguous(), [0])",
    "torch.softmax(x, 1)",
    "torch.softmax(x, 0)",
    "torch.softmax(x.expand([300, 3, 4]).contiguous(), 2)",
    "torch.softmax(x.expand([300, 3, 4]).contiguous(), 0)",
    "torch.softmax(x.repeat([1, 300]), -1)",
    "torch.log_softmax(x, 1)",
    "torch.log_softmax(x.t(), 1)",
    "torch.softmax(x / 0, 1)",
    "torch.softmax(torch.where(c, x, -1.0 / (x * 0)), 1)",
    "torch.nn.functional.layer_norm(x, [4])",
    "torch.nn.functional.layer_norm(x, [4], p, p)",
    "torch.nn.functional.layer_norm(x, [3, 4], x, y)",
    "torch.nn.functional.layer_norm(x.t(), [3])",
    "torch.nn.functional.batch_norm(x, p, p, None, None)",
    "torch.nn.functional.batch_norm(x.unsqueeze(2).expand([3, 4, 5]), p, p, p, p)",
    "torch.nn.functional.batch_norm(x.t(), u.flatten(), u.flatten() + 9)",
};
static const char *const numbers_of[] = {
    "x * float(y.sum())",
    "x[int(i.max()) % 3]",
    "x if bool(c.any()) else y",
    "x * y.mean().item()",
    "x if torch.equal(x, x.clone()) else y",
    "x + 1 if x[0, 0] > 0 else x",
    "x * torch.tensor([1.5, 2.0, 3.0, 4.0], device=x.device)",
};
enum { NUMBERS_OF = sizeof numbers_of / sizeof *numbers_of };
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };
/* Indices are within [0, 3): i % 3. */
static const char *const moves[] = {
    "torch.cat([x, y])",
    "torch.cat([x, u], 1)",
    "torch.cat([x.t(), y.t()], -1)",
    "torch.cat([x, i.to(x.dtype), x[:0]])",
    "torch.stack([x, y])",
    "torch.stack([x, y], 1)",
    "torch.stack([x.t(), y.t()], -1)",
    "torch.index_select(x, 0, (i.flatten() % 3).to(torch.int64))",
    "torch.index_select(x.t(), 1, (i[0] % 3).to(torch.int64))",
    "torch.index_select(i, 1, (i[0] % 3).to(torch.int64))",
    "torch.nn.functional.embedding((i % 3).to(torch.int64), x)",
    "torch.gather(x, 1, (i % 3).to(torch.int64))",
    "torch.gather(x.t(), 0, (i.t() % 3).to(torch.int64))",
    "torch.scatter(x, 1, (i[:, :1] % 3).to(torch.int64), y)",
    "torch.scatter(x, 0, (i[:1] % 3).to(torch.int64), 7)",
    "x[(i[:, 0] % 3).to(torch.int64)]",
    "x[:, (i % 3).to(torch.int64)]",
    "x[(i % 3).to(torch.int64), (j % 3).to(torch.int64)]",
    "x.unsqueeze(0).expand([2, 3, 4])[:, (i % 3).to(torch.int64), (j % 3).to(torch.int64)]",
    "x.expand([3, 3, 4])[(i[:, 0] % 3).to(torch.int64), :, (j[:, 0] % 3).to(torch.int64)]",
    "x.index_put([(i[:, 0] % 3).to(torch.int64)], x[0])",
    "torch.nn.functional.pad(x, [1, 2])",
    "torch.nn.functional.pad(x, [-1, 2, 1, 0], 'constant', 2.5)",
    "torch.nn.functional.pad(x.unsqueeze(0), [1, 2], 'reflect')",
    "torch.nn.functional.pad(x.unsqueeze(0).unsqueeze(0), [1, 2, 2, 1], 'reflect')",
    "torch.nn.functional.pad(x.unsqueeze(0), [1, 2], 'replicate')",
    "torch.nn.functional.pad(x.unsqueeze(0), [1, 2], 'circular')",
    "torch.arange(7, device=x.device)",
    "torch.arange(2, 9, 3, device=x.device)",
    "torch.arange(0.5, 3, 0.25, device=x.device)",
    "torch.tril(x)",
    "torch.triu(x.expand([2, 3, 4]), 1)",
    "torch.max_pool1d(x.unsqueeze(0), 2)",
    "torch.max_pool2d(x.unsqueeze(0).unsqueeze(0), [2, 3], stride=1, padding=1)",
    "torch.nn.functional.max_pool2d_with_indices(x.unsqueeze(0).unsqueeze(0), [2, 2], stride=[1, 1], dilation=[2, "
    "1])[1]",
    "torch.nn.functional.avg_pool2d(x.unsqueeze(0), 2, 1, 1)",
    "torch.nn.functional.avg_pool2d(x.unsqueeze(0), 2, 1, 1, True, False)",
    "torch.avg_pool1d(x.unsqueeze(0), 3, 2, 1)",
    "torch.nn.functional.adaptive_avg_pool2d(x.expand([2, 5, 3, 4]), [2, 3])",
    "torch.nn.functional.adaptive_avg_pool1d(x.unsqueeze(0), 1)",
    "torch.nn.functional.adaptive_max_pool2d(x.unsqueeze(0), [2, 3])",
    "torch.nn.functional.interpolate(x.unsqueeze(0).unsqueeze(0), scale_factor=2.0, mode='nearest')",
    "torch.nn.functional.interpolate(x.unsqueeze(0), size=[7], mode='nearest')",
};
enum { MOVES = sizeof moves / sizeof *moves };
static const char *const convolutions[] = {
    "torch.conv1d(x.unsqueeze(0), y.expand([2, 3, 4]))",
    "torch.conv1d(x, y.expand([4, 3, 4])[:, :, :3], p, 2, 1)",
    "torch.conv1d(x.unsqueeze(0), y.unsqueeze(1)[:, :, :2], None, 1, 1, 1, 3)",
    "torch.conv1d(x.unsqueeze(0), y.expand([2, 3, 4])[:, :, :2], None, padding='same')",
    "torch.conv2d(x.expand([2, 5, 3, 4]), y[:2, :3].expand([4, 5, 2, 3]), p)",
    "torch.conv2d(x.expand([2, 5, 3, 4]), y[:, :3].expand([4, 5, 3, 3]), p, [2, 1], [1, 2])",
    "torch.conv2d(x.expand([2, 5, 3, 4]), y[:2, :2].expand([4, 5, 2, 2]), None, 1, 1, 2)",
    "torch.conv2d(x.expand([2, 6, 3, 4]), y[:2, :3].expand([4, 3, 2, 3]), p, 1, 1, 1, 2)",
    "torch.conv2d(x.expand([2, 4, 3, 4]), y[:, :3].expand([4, 1, 3, 3]), p, 1, 1, 1, 4)",
    "torch.conv2d(x.expand([3, 5, 3, 4]), y[:1, :1].expand([4, 5, 1, 1]), p)",
    "torch.conv2d(x.expand([2, 5, 3, 4]), y[:2, :3].expand([4, 5, 2, 3]), p, padding='same')",
    "torch.conv_transpose1d(x.unsqueeze(0), y.expand([3, 3, 4]))",
    "torch.conv_transpose2d(x.expand([2, 5, 3, 4]), y[:2, :3].expand([5, 4, 2, 3]), p, 2, 1, 1)",
    "torch.conv_transpose2d(x.expand([2, 4, 3, 4]), y[:2, :3].expand([4, 2, 2, 3]), p, 1, 0, 0, 2, 2)",
    "torch.conv3d(x.expand([2, 2, 3, 3, 4]), y[:2, :2].expand([4, 2, 2, 2, 2]), p)",
};
enum { CONVOLUTIONS = sizeof convolutions / sizeof *convolutions };
enum { INPUTS = 7 };
static const char parameters[] = "x, y, p, u, i, j, c";

static wick_module *compile(const char *const *texts, int count) {
  size_t room = 1, length = 0;
  for (int k = 0; k < count; k++) room += strlen(texts[k]) + 100;
  char *text = malloc(room);
  for (int k = 0; k < count; k++)
    length += (size_t)snprintf(text + length, room - length, "def f%d(%s):\n    return %s\n", k, parameters, texts[k]);
  wick_module *module = NULL;
  wick_error *error = NULL;
  is_fine(wick_compile(NULL, text, length, NULL, &module, &error), &error, "compiling the programs");
  free(text);
  return module;
}

/* ---- values ---- */

static wick_value *tensor_of(uint32_t dtype, int ndim, const int64_t *sizes, int kind) {
  wick_value *v = NULL, *to[2], *result = NULL;
  if (wick_tensor_new(kind < 2 ? WICK_FLOAT32 : WICK_INT64, ndim, sizes, &v, NULL)) abort();
  int64_t count = wick_tensor_count(v);
  for (int64_t k = 0; k < count; k++) {
    double unit = (double)((k * 37 + 11) % 64) / 16 - 2; /* in halves, too: exact */
    if (kind < 2)
      ((float *)wick_tensor_mutable_data(v))[k] = (float)(kind ? fabs(unit) + 0.25 : unit);
    else
      ((int64_t *)wick_tensor_mutable_data(v))[k] = kind == 2   ? (k * 7) % 11 - 5
                                                    : kind == 3 ? (k * 5) % 7 - 3 ? (k * 5) % 7 - 3 : 2
                                                                : k % 3 == 0;
  }
  to[0] = v, to[1] = wick_value_int(dtype);
  if (wick_op_call(NULL, "aten::to", "dtype", (const wick_value *const *)to, 2, NULL, 0, &result, NULL)) abort();
  wick_value_release(v);
  wick_value_release(to[1]);
  return result;
}

static wick_value *moved(const wick_value *v, const char *to, wick_error **error) {
  wick_value *where = NULL, *result = NULL;
  if (wick_value_device(to, &where, error)) return NULL;
  const wick_value *arguments[] = {v, where};
  static const char *const names[] = {"device"};
  wick_op_call(NULL, "aten::to", "dtype_layout", arguments, 2, names, 1, &result, error);
  wick_value_release(where);
  return result;
}

static void make_inputs(uint32_t floating, uint32_t whole, const char *where, wick_value **out) {
  static const int64_t sizes[] = {3, 4}, column[] = {3, 1};
  wick_value *here[INPUTS] = {tensor_of(floating, 2, sizes, 0),     tensor_of(floating, 2, sizes, 1),
                              tensor_of(floating, 1, sizes + 1, 1), tensor_of(floating, 2, column, 0),
                              tensor_of(whole, 2, sizes, 2),        tensor_of(whole, 2, sizes, 3),
                              tensor_of(WICK_BOOL8, 2, sizes, 4)};
  for (int k = 0; k < INPUTS; k++) {
    wick_error *error = NULL;
    out[k] = moved(here[k], where, &error);
    if (!out[k]) note(false, "an input on %s: %s", where, wick_error_message(error));
    wick_error_free(error);
    wick_value_release(here[k]);
  }
}
static void release_all(wick_value **values, int count) {
  for (int k = 0; k < count; k++) wick_value_release(values[k]);
}

/* As float64, on the host. */
static wick_value *numbers(const wick_value *v) {
  wick_value *here = moved(v, "cpu", NULL), *dense = NULL, *result = NULL;
  wick_tensor_info info = {.size = sizeof info};
  if (!here || wick_tensor_info_of(here, &info, NULL)) return NULL;
  if (info.dtype == WICK_COMPLEX64 || info.dtype == WICK_COMPLEX128) {
    const wick_value *arguments[] = {here};
    wick_value *pairs = NULL;
    wick_op_call(NULL, "aten::view_as_real", NULL, arguments, 1, NULL, 0, &pairs, NULL);
    wick_value_release(here);
    here = pairs;
  }
  const wick_value *arguments[] = {here, wick_value_int(WICK_FLOAT64)};
  if (here && !wick_op_call(NULL, "aten::to", "dtype", arguments, 2, NULL, 0, &dense, NULL))
    wick_tensor_contiguous(dense, &result, NULL);
  wick_value_release(dense);
  wick_value_release(here);
  wick_value_release((wick_value *)arguments[1]);
  return result;
}

/* NULL: equal in dtype, sizes and strides, and in norm but for `tolerance`. */
static const char *difference(const wick_value *expected, const wick_value *got, double tolerance, double *out_norm) {
  wick_tensor_info a = {.size = sizeof a}, b = {.size = sizeof b};
  *out_norm = 0;
  if (wick_tensor_info_of(expected, &a, NULL) || wick_tensor_info_of(got, &b, NULL)) return "no tensor";
  if (a.dtype != b.dtype) return "another dtype";
  if (a.ndim != b.ndim || memcmp(a.sizes, b.sizes, sizeof(int64_t) * (size_t)a.ndim)) return "other sizes";
  for (int d = 0; d < a.ndim; d++)
    if (a.sizes[d] != 1 && a.count && a.strides[d] != b.strides[d]) return "other strides";
  wick_value *x = numbers(expected), *y = numbers(got);
  double error = 0, norm = 0;
  const char *what = x && y ? NULL : "can't be read";
  for (int64_t k = 0; x && y && k < wick_tensor_count(x); k++) {
    double p = ((const double *)wick_tensor_data(x))[k], q = ((const double *)wick_tensor_data(y))[k];
    if (isnan(p) != isnan(q) || isinf(p) != isinf(q) || (isinf(p) && p != q)) what = "NaN or infinity elsewhere";
    if (!isfinite(p)) continue;
    error += (p - q) * (p - q), norm += p * p;
  }
  *out_norm = sqrt(error) / (norm > 0 ? sqrt(norm) : 1);
  wick_value_release(x);
  wick_value_release(y);
  return what ? what : *out_norm <= tolerance ? NULL : "other values";
}

static bool is_elsewhere(const wick_value *v) {
  wick_tensor_info info = {.size = sizeof info};
  return !wick_tensor_info_of(v, &info, NULL) && info.device_type != WICK_DEVICE_CPU;
}

static void compare(wick_module *module, int k, const char *text, wick_value **here, wick_value **there,
                    double tolerance, const char *dtypes) {
  char name[16];
  wick_value *expected = NULL, *got = NULL;
  wick_error *error = NULL;
  double norm;
  snprintf(name, sizeof name, "f%d", k);
  wick_status status =
      wick_run(module, name, (const wick_value *const *)here, INPUTS, NULL, 0, NULL, &expected, &error);
  if (status) { /* not for such dtypes: then not on the device either */
    wick_error_free(error);
    status = wick_run(module, name, (const wick_value *const *)there, INPUTS, NULL, 0, NULL, &got, NULL);
    note(status != WICK_OK, "%s: %s: an error on the CPU alone", dtypes, text);
    wick_value_release(got);
    return;
  }
  status = wick_run(module, name, (const wick_value *const *)there, INPUTS, NULL, 0, NULL, &got, &error);
  if (status) {
    note(false, "%s: %s: %.900s", dtypes, text, wick_error_message(error));
  } else {
    const char *what = difference(expected, got, tolerance, &norm);
    note(!what, "%s: %s: %s (%.2g)", dtypes, text, what, norm);
    if (!is_elsewhere(got)) note(false, "%s: %s: the result is on the CPU", dtypes, text);
  }
  wick_error_free(error);
  wick_value_release(expected);
  wick_value_release(got);
}

static void check_expressions(const char *section, const char *const *texts, int count, int repeat) {
  static const struct {
    uint32_t floating, whole;
    const char *name;
    double tolerance;
  } dtypes[] = {{WICK_FLOAT32, WICK_INT64, "float32, int64", 1e-5},
                {WICK_FLOAT64, WICK_INT32, "float64, int32", 1e-12},
                {WICK_FLOAT16, WICK_UINT8, "float16, uint8", 1e-2},
                {WICK_BFLOAT16, WICK_INT16, "bfloat16, int16", 2e-2}};
  wick_module *module = compile(texts, count);
  size_t dtype_count = is_brief ? 1 : sizeof dtypes / sizeof *dtypes;
  for (size_t d = 0; module && d < dtype_count; d++) {
    wick_value *here[INPUTS], *there[INPUTS];
    make_inputs(dtypes[d].floating, dtypes[d].whole, "cpu", here);
    make_inputs(dtypes[d].floating, dtypes[d].whole, device, there);
    for (int k = 0; k < count; k++)
      for (int n = 0; n < repeat; n++) {
        compare(module, k, texts[k], here, there, dtypes[d].tolerance, dtypes[d].name);
        if (repeat > 1) wick_wait_for_plans();
      }
    release_all(here, INPUTS);
    release_all(there, INPUTS);
  }
  wick_module_release(module);
  end_section(section);
}

/* ---- sizes ---- */

static const char chain[] =
    "def chain(x, y):\n    return torch.tanh(x * y + 0.5) * torch.sigmoid(x) - y\n"
    "def add(x, y):\n    return x + y\n"
    "def turned(x, y):\n    return x.t() + y.t().contiguous()\n"
    "def wrong(x, y):\n    return torch.erfinv(x)\n"
    "def sorted(x, y):\n    return torch.sort(x)\n";

static wick_module *compile_chain(void) {
  wick_module *module = NULL;
  wick_error *error = NULL;
  is_fine(wick_compile(NULL, chain, strlen(chain), NULL, &module, &error), &error, "compiling the programs");
  return module;
}

static void check_sizes(void) {
  static const int64_t sizes[][2] = {{1, 1},    {1, 255},  {1, 256},  {1, 1023},
                                     {1, 1024}, {1, 1025}, {513, 33}, {1, 1000003}};
  wick_module *module = compile_chain();
  for (size_t s = 0; module && s < sizeof sizes / sizeof *sizes; s++) {
    static const char *const names[] = {"chain", "add", "turned"};
    wick_value *here[] = {tensor_of(WICK_FLOAT32, 2, sizes[s], 0), tensor_of(WICK_FLOAT32, 2, sizes[s], 1)};
    wick_value *there[] = {moved(here[0], device, NULL), moved(here[1], device, NULL)};
    for (int k = 0; k < 3; k++) {
      wick_value *expected = NULL, *got = NULL;
      wick_error *error = NULL;
      double norm = 0;
      wick_status status =
          wick_run(module, names[k], (const wick_value *const *)here, 2, NULL, 0, NULL, &expected, NULL);
      if (!status)
        status = wick_run(module, names[k], (const wick_value *const *)there, 2, NULL, 0, NULL, &got, &error);
      const char *what = status ? wick_error_message(error) : difference(expected, got, 1e-5, &norm);
      note(!what, "%s of %lldx%lld: %s (%.2g)", names[k], (long long)sizes[s][0], (long long)sizes[s][1], what, norm);
      wick_error_free(error);
      wick_value_release(expected);
      wick_value_release(got);
    }
    release_all(here, 2);
    release_all(there, 2);
  }
  wick_module_release(module);
  end_section("sizes");
}

/* ---- errors ---- */

static void expect_error(wick_status status, wick_error **error, const char *text) {
  bool good = status && strstr(wick_error_message(*error), text);
  note(good, "'%s' expected in '%.400s'", text, status ? wick_error_message(*error) : "no error");
  wick_error_free(*error);
  *error = NULL;
}

static void check_errors(void) {
  static const int64_t sizes[] = {2, 2}, huge[] = {1 << 20, 1 << 20, 64};
  wick_module *module = compile_chain();
  wick_value *x = tensor_of(WICK_FLOAT32, 2, sizes, 0), *there = moved(x, device, NULL), *where = NULL, *out = NULL;
  wick_error *error = NULL;
  const wick_value *mixed[] = {there, x}, *both[] = {there, there};
  if (!module) return;
  expect_error(wick_run(module, "add", mixed, 2, NULL, 0, NULL, NULL, &error), &error,
               "Expected all tensors to be on the same device");
  expect_error(wick_run(module, "wrong", both, 2, NULL, 0, NULL, NULL, &error), &error,
               "aten::erfinv does not run on device");
  expect_error(wick_run(module, "sorted", both, 2, NULL, 0, NULL, NULL, &error), &error,
               "aten::sort does not run on device");
  char beyond[64];
  snprintf(beyond, sizeof beyond, "%.*s:99", (int)strcspn(device, ":"), device);
  wick_value_release(moved(x, beyond, &error));
  expect_error(error ? WICK_RUNTIME : WICK_OK, &error, "there is no device");
  wick_value *items[3];
  for (int k = 0; k < 3; k++) items[k] = wick_value_int(huge[k]);
  wick_value *size = NULL;
  wick_value_list((const wick_value *const *)items, 3, &size, NULL);
  wick_value_device(device, &where, NULL);
  const wick_value *empty[] = {size, where};
  static const char *const names[] = {"device"};
  wick_status status = wick_op_call(NULL, "aten::empty", "memory_format", empty, 2, names, 1, &out, &error);
  note(status == WICK_OUT_OF_MEMORY, "256 TiB: status %d, %.300s", status,
       error ? wick_error_message(error) : "no error");
  wick_error_free(error);
  wick_value *result = NULL;
  error = NULL; /* and afterwards it goes on */
  is_fine(wick_run(module, "add", both, 2, NULL, 0, NULL, &result, &error), &error, "after errors");
  release_all(items, 3);
  wick_value_release(result);
  wick_value_release(out);
  wick_value_release(size);
  wick_value_release(where);
  wick_value_release(x);
  wick_value_release(there);
  wick_module_release(module);
  end_section("errors");
}

/* ---- more than 31 bits ---- */

static void check_large(void) {
  static const char source[] =
      "def large(d: str):\n    x = torch.zeros([2, 1073743873], dtype=torch.uint8, device=d)\n    x[:, -3:].fill_(4)\n"
      "    y = x + 3\n    z = y.t().contiguous()\n    w = y + x[:, -1:]\n"
      "    return y[:, -5:].cpu(), z[-5:].t().cpu(), w[:, -5:].cpu() - 4\n";
  wick_module *module = NULL;
  wick_error *error = NULL;
  wick_value *where = wick_value_string(device, strlen(device)), *out = NULL;
  const wick_value *arguments[] = {where};
  static const unsigned char expected[] = {3, 3, 7, 7, 7, 3, 3, 7, 7, 7};
  if (!is_fine(wick_compile(NULL, source, strlen(source), NULL, &module, &error), &error, "compiling")) return;
  if (is_fine(wick_run(module, "large", arguments, 1, NULL, 0, NULL, &out, &error), &error, "large"))
    for (size_t k = 0; k < 3; k++) {
      wick_value *item = wick_value_item(out, k);
      unsigned char got[sizeof expected] = {0};
      wick_tensor_copy_to(item, got, sizeof got, NULL);
      note(!memcmp(got, expected, sizeof got), "large, result %zu: other values", k);
      wick_value_release(item);
    }
  wick_value_release(out);
  wick_value_release(where);
  wick_module_release(module);
  end_section("large");
}

/* ---- threads ---- */

typedef struct Work {
  wick_module *module;
  wick_value *x, *y, *expected;
  int wrong;
} Work;

static void *work(void *argument) {
  Work *w = argument;
  const wick_value *inputs[] = {w->x, w->y};
  for (int n = 0; n < 50; n++) {
    wick_value *got = NULL;
    double norm;
    w->wrong += wick_run(w->module, "chain", inputs, 2, NULL, 0, NULL, &got, NULL) ||
                difference(w->expected, got, 1e-5, &norm) != NULL;
    wick_value_release(got);
  }
  return NULL;
}

static void check_threads(void) {
  enum { THREADS = 4 };
  static const int64_t sizes[] = {300, 7};
  wick_module *module = compile_chain();
  pthread_t threads[THREADS];
  Work works[THREADS];
  for (int k = 0; module && k < THREADS; k++) {
    wick_value *x = tensor_of(WICK_FLOAT32, 2, sizes, 0), *y = tensor_of(WICK_FLOAT32, 2, sizes, 1);
    const wick_value *inputs[] = {x, y};
    works[k] = (Work){module, moved(x, device, NULL), moved(y, device, NULL), NULL, 0};
    wick_run(module, "chain", inputs, 2, NULL, 0, NULL, &works[k].expected, NULL);
    wick_value_release(x);
    wick_value_release(y);
    if (pthread_create(&threads[k], NULL, work, &works[k])) abort();
  }
  for (int k = 0; module && k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    note(!works[k].wrong, "thread %d: %d of 50 calls went wrong", k, works[k].wrong);
    wick_value_release(works[k].x);
    wick_value_release(works[k].y);
    wick_value_release(works[k].expected);
  }
  wick_module_release(module);
  end_section("threads");
}

/* ---- speed ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of one call, when many are given to the device at once; the best of five. */
static double time_calls(wick_module *module, const char *name, const wick_value *const *inputs, int type, int calls) {
  double best = INFINITY;
  for (int n = 0; n < 7; n++) {
    wick_device_synchronize(type, 0, NULL);
    double begin = now();
    for (int k = 0; k < calls; k++) {
      wick_value *got = NULL;
      if (wick_run(module, name, inputs, 2, NULL, 0, NULL, &got, NULL)) return NAN;
      wick_value_release(got);
    }
    if (wick_device_synchronize(type, 0, NULL)) return NAN;
    double seconds = (now() - begin) / calls;
    if (n >= 2 && seconds < best) best = seconds;
    wick_wait_for_plans();
  }
  return best;
}

static void print_speed(void) {
  static const struct {
    const char *name;
    double bytes; /* moved for each element */
  } programs[] = {{"copied", 8}, {"relu", 8}, {"add", 12}, {"chain", 12}, {"turned", 8}, {"mm", 12}};
  static const char text[] =
      "def copied(x, y):\n    return x.clone()\n"
      "def relu(x, y):\n    return torch.relu(x)\n"
      "def add(x, y):\n    return x + y\n"
      "def chain(x, y):\n    return torch.tanh(x * y + 0.5) * torch.sigmoid(x) - y\n"
      "def turned(x, y):\n    return x.t().contiguous()\n"
      "def mm(x, y):\n    return torch.mm(x, y.t())\n";
  static const int64_t sizes[][2] = {{1, 1}, {2048, 2048}, {16384, 8192}};
  wick_module *module = NULL;
  wick_error *error = NULL;
  if (!is_fine(wick_compile(NULL, text, strlen(text), NULL, &module, &error), &error, "compiling")) return;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    wick_value *x = tensor_of(WICK_FLOAT32, 2, sizes[s], 0),
               *there[] = {moved(x, device, NULL), moved(x, device, NULL)};
    wick_tensor_info info = {.size = sizeof info};
    if (!there[0] || wick_tensor_info_of(there[0], &info, NULL)) return;
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
      if (s == 2 && !strcmp(programs[k].name, "mm")) continue;
      double seconds =
          time_calls(module, programs[k].name, (const wick_value *const *)there, info.device_type, s == 2 ? 20 : 200);
      printf("wick  %-8s %5lldx%-5lld %10.2f us %8.0f GB/s\n", programs[k].name, (long long)sizes[s][0],
             (long long)sizes[s][1], seconds * 1e6,
             programs[k].bytes * (double)(sizes[s][0] * sizes[s][1]) / seconds * 1e-9);
    }
    double begin = now();
    wick_value *back = moved(there[0], "cpu", NULL);
    double fetched = now() - begin;
    begin = now();
    wick_value *again = moved(x, device, NULL);
    double sent = now() - begin, bytes = 4.0 * (double)(sizes[s][0] * sizes[s][1]);
    printf("wick  fetched  %5lldx%-5lld %10.2f us %8.2f GB/s; sent %10.2f us %8.2f GB/s\n", (long long)sizes[s][0],
           (long long)sizes[s][1], fetched * 1e6, bytes / fetched * 1e-9, sent * 1e6, bytes / sent * 1e-9);
    fflush(stdout);
    wick_value_release(back);
    wick_value_release(again);
    wick_value_release(x);
    release_all(there, 2);
  }
  wick_module_release(module);
}

/* ---- nets ---- */

enum { MOST_INPUTS = 8 };

/* The first tensor of a result. */
static wick_value *first_tensor(wick_value *v) {
  while (v && wick_value_kind(v) != WICK_TENSOR) {
    wick_value *item = wick_value_length(v) ? wick_value_item(v, 0) : NULL;
    wick_value_release(v);
    v = item;
  }
  return v;
}

static double time_net(wick_module *module, wick_value **inputs, size_t count, int type, int calls) {
  double best = INFINITY;
  for (int n = 0; n < 5; n++) {
    wick_device_synchronize(type, 0, NULL);
    double begin = now();
    for (int k = 0; k < calls; k++) {
      wick_value *got = NULL;
      if (wick_run(module, "forward", (const wick_value *const *)inputs, count, NULL, 0, NULL, &got, NULL)) return NAN;
      wick_value_release(got);
    }
    if (wick_device_synchronize(type, 0, NULL)) return NAN;
    double seconds = (now() - begin) / calls;
    if (seconds < best) best = seconds;
    wick_wait_for_plans();
  }
  return best;
}

/* The first call with twice the batch. */
static double time_new_shape(wick_module *module, wick_value **inputs, size_t count, int type) {
  wick_value *twice[MOST_INPUTS] = {NULL}, *got = NULL;
  for (size_t i = 0; i < count; i++) {
    wick_value *list = NULL;
    if (wick_value_list((const wick_value *const[]){inputs[i], inputs[i]}, 2, &list, NULL)) continue;
    wick_op_call(NULL, "aten::cat", NULL, (const wick_value *const[]){list}, 1, NULL, 0, &twice[i], NULL);
    wick_value_release(list);
  }
  wick_device_synchronize(type, 0, NULL);
  double begin = now();
  wick_status status = wick_run(module, "forward", (const wick_value *const *)twice, count, NULL, 0, NULL, &got, NULL);
  if (!status) status = wick_device_synchronize(type, 0, NULL);
  double seconds = status ? NAN : now() - begin;
  wick_value_release(got);
  release_all(twice, (int)count);
  return seconds;
}

static void check_net(const char *path, const char *inputs_path) {
  enum { CALLS = 6 };
  wick_module *module = NULL;
  wick_value *given = NULL, *here[MOST_INPUTS] = {NULL}, *there[MOST_INPUTS] = {NULL}, *expected = NULL;
  wick_error *error = NULL;
  wick_tensor_info info = {.size = sizeof info};
  const wick_load_options options = {.size = sizeof options, .device_map = "*=cpu"};
  if (!is_fine(wick_load(NULL, path, &options, &module, &error), &error, path) ||
      !is_fine(wick_load_value(NULL, inputs_path, &options, &given, &error), &error, inputs_path))
    return;
  size_t count = wick_value_length(given) < MOST_INPUTS ? wick_value_length(given) : MOST_INPUTS;
  for (size_t i = 0; i < count; i++) {
    here[i] = wick_value_item(given, i);
    there[i] = moved(here[i], device, NULL);
  }
  is_fine(wick_run(module, "forward", (const wick_value *const *)here, count, NULL, 0, NULL, &expected, &error), &error,
          path);
  expected = first_tensor(expected);
  double begin = now();
  if (!is_fine(wick_module_to_device(module, device, &error), &error, path)) return;
  double moving = now() - begin, norm = 0, worst = 0, first = 0, second = 0;
  for (int n = 0; n < CALLS; n++) {
    wick_value *got = NULL;
    begin = now();
    wick_status status =
        wick_run(module, "forward", (const wick_value *const *)there, count, NULL, 0, NULL, &got, &error);
    got = first_tensor(got);
    if (got && !wick_tensor_info_of(got, &info, NULL)) wick_device_synchronize(info.device_type, 0, NULL);
    *(n ? &second : &first) = now() - begin;
    const char *what = status ? wick_error_message(error) : difference(expected, got, 1e-3, &norm);
    note(!what, "%s, call %d: %.900s (%.2g)", path, n, what, norm);
    if (norm > worst) worst = norm;
    wick_error_free(error);
    error = NULL;
    wick_value_release(got);
    wick_wait_for_plans();
  }
  const double shape = time_new_shape(module, there, count, info.device_type);
  double seconds = time_net(module, there, count, info.device_type, second < 0.05 ? 50 : 1);
  printf(
      "wick  %s: %.3f ms a call, first %.0f ms, then %.2f; first of a new shape %.1f; moved in %.0f ms; error %.2g\n",
      path, seconds * 1e3, first * 1e3, second * 1e3, shape * 1e3, moving * 1e3, worst);
  release_all(here, (int)count);
  release_all(there, (int)count);
  wick_value_release(expected);
  wick_value_release(given);
  wick_module_release(module);
  end_section("net");
}

int main(int argc, char **argv) {
  bool is_speed = argc == 3 && !strcmp(argv[2], "speed");
  is_brief = argc == 3 && !strcmp(argv[2], "brief");
  bool is_large = argc == 3 && !strcmp(argv[2], "large");
  bool is_net = argc == 5 && !strcmp(argv[2], "net");
  if (argc < 2 || (argc > 3 && !is_net) || (argc == 3 && !is_brief && !is_speed && !is_large))
    return fprintf(stderr, "usage: device_check DEVICE [brief|large|speed|net MODEL INPUTS]\n"), 2;
  device = argv[1];
  static const int64_t one = 1;
  wick_value *x = tensor_of(WICK_FLOAT32, 1, &one, 0);
  wick_error *error = NULL;
  wick_value *there = moved(x, device, &error);
  if (!there) return printf("%s\n", wick_error_message(error)), 77;
  wick_value_release(there);
  wick_value_release(x);
  if (is_speed) return print_speed(), 0;
  if (is_net) return check_net(argv[3], argv[4]), failed != 0;
  if (is_large) return check_large(), failed != 0;
  check_expressions("operators", expressions, EXPRESSIONS, 1);
  check_expressions("copies", copies, COPIES, 1);
  check_expressions("products", products, PRODUCTS, 1);
  check_expressions("reductions", reductions, REDUCTIONS, 1);
  check_expressions("numbers", numbers_of, NUMBERS_OF, 1);
  check_expressions("moves", moves, MOVES, 1);
  check_expressions("convolutions", convolutions, CONVOLUTIONS, 1);
  check_expressions("groups", groups, GROUPS, 4);
  check_sizes();
  check_errors();
  check_threads();
  printf("%-12s %4d passed %4d failed\n", "all", passed, failed);
  return failed != 0;
}
