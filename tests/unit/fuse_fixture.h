/* A program as written and with its groups, run beside each other; tensors of all kinds for them. */
#pragma once

#include "ir_fixture.h"

#include <math.h>

#include "fuse/backend.h"
#include "fuse/fuse.h"
#include "fuse/group.h"

typedef struct Pair {
  IrText ir;
  Code *plain, *fused;
  Graph *fused_graph;
  FuseGroup *group; /* the first, or NULL */
} Pair;

static inline void find_group(Pair *pair, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) find_group(pair, node->blocks[i]);
    if (node->callable && !pair->group) pair->group = fuse_group_of(node->callable);
  }
}

static inline void pair_make(Pair *pair, const char *text) {
  memset(pair, 0, sizeof *pair);
  ir_parse(&pair->ir, text);
  Status status = code_compile(pair->ir.graph, STR("f"), &pair->plain);
  if (status) fail_msg("%s", status->message);
  if (catch_enter(&pair->ir.catch_point)) {
    pair->fused_graph = graph_copy(pair->ir.graph, &pair->ir.arena, &pair->ir.store);
    graph_fuser(pair->fused_graph, NULL);
  }
  if (pair->ir.catch_point.status) fail_msg("%s\n%s", text, pair->ir.catch_point.status->message);
  status = graph_lint(pair->fused_graph);
  if (status) fail_msg("%s\n%s", text, status->message);
  status = code_compile(pair->fused_graph, STR("f"), &pair->fused);
  if (status) fail_msg("%s", status->message);
  find_group(pair, pair->fused_graph->block);
}

static inline void pair_dispose(Pair *pair) {
  code_free(pair->plain);
  code_free(pair->fused);
  graph_dispose(pair->fused_graph);
  ir_dispose(&pair->ir);
}

/* ---- comparing ---- */

/* Which of several NaNs a sum of them is, C leaves open: a test of sums takes all for one. */
static bool nans_are_equal;

static inline bool are_nans(DType dtype, const void *a, const void *b) {
  complex128 x, y;
  if (!nans_are_equal || !(dtype_is_floating(dtype) || dtype_is_complex(dtype))) return false;
  dtype_convert(DTYPE_COMPLEX128, &x, 1, dtype, a, 1, 1);
  dtype_convert(DTYPE_COMPLEX128, &y, 1, dtype, b, 1, 1);
  bool real = isnan(__real__ x) ? isnan(__real__ y) : __real__ x == __real__ y;
  bool imag = isnan(__imag__ x) ? isnan(__imag__ y) : __imag__ x == __imag__ y;
  return real && imag && (isnan(__real__ x) || isnan(__imag__ x));
}

static inline bool bits_equal(const Tensor *a, const Tensor *b) {
  size_t item = dtype_size((DType)a->dtype);
  int64_t at[TENSOR_MAX_DIMS] = {0};
  for (int64_t n = 0; n < a->numel; n++) {
    int64_t from_a = 0, from_b = 0;
    for (int i = 0; i < a->ndim; i++) from_a += at[i] * a->strides[i], from_b += at[i] * b->strides[i];
    const char *x = (char *)tensor_data(a) + from_a * (int64_t)item;
    const char *y = (char *)tensor_data(b) + from_b * (int64_t)item;
    if (memcmp(x, y, item) && !are_nans((DType)a->dtype, x, y)) return false;
    for (int i = a->ndim - 1; i >= 0 && ++at[i] == a->sizes[i]; i--) at[i] = 0;
  }
  return true;
}

static inline bool tensors_equal(const Tensor *a, const Tensor *b) {
  if (!tensor_is_defined(a) || !tensor_is_defined(b)) return tensor_is_defined(a) == tensor_is_defined(b);
  if (a->dtype != b->dtype || a->ndim != b->ndim || a->numel != b->numel) return false;
  size_t bytes = sizeof(int64_t) * a->ndim;
  if (memcmp(a->sizes, b->sizes, bytes)) return false;
  return (a->numel == 0 || !memcmp(a->strides, b->strides, bytes)) && bits_equal(a, b);
}

static inline bool values_equal(IValue a, IValue b) {
  if (a.tag != b.tag) return false;
  if (a.tag == TAG_TENSOR) return tensors_equal(a.tensor, b.tensor);
  if (a.tag == TAG_LIST && a.list->kind == LIST_INTS)
    return a.list->length == b.list->length && !memcmp(a.list->ints, b.list->ints, a.list->length * sizeof(int64_t));
  return a.i == b.i;
}

enum { MAX_RESULTS = 24 };

/* Runs both; equal results or errors, which may be of different operators where several fail. */
static inline void check_run(Pair *pair, Exec *exec, const char *text, const IValue *inputs) {
  uint32_t count = graph_output_count(pair->ir.graph), input_count = graph_input_count(pair->ir.graph);
  IValue plain[MAX_RESULTS] = {{0}}, fused[MAX_RESULTS] = {{0}};
  assert_true(count <= MAX_RESULTS);
  Status first = interp_run(exec, pair->plain, inputs, input_count, plain, count);
  Status second = interp_run(exec, pair->fused, inputs, input_count, fused, count);
  bool equal = !first == !second;
  if (equal && !first) {
    for (uint32_t i = 0; i < count; i++) equal &= values_equal(plain[i], fused[i]);
  }
  if (!equal) {
    StrBuf out = {0};
    for (uint32_t i = 0; i < count && !first && !second; i++) {
      if (values_equal(plain[i], fused[i])) continue;
      strbuf_printf(&out, "\noutput %u: ", i);
      if (plain[i].tag == TAG_TENSOR) {
        if (plain[i].tensor->numel <= 64) status_free(tensor_print(plain[i].tensor, &out));
        strbuf_printf(&out, " %s %s\nfused: ", dtype_name((DType)plain[i].tensor->dtype),
                      SIZES_TEXT(plain[i].tensor->ndim, plain[i].tensor->strides));
        if (fused[i].tensor->numel <= 64) status_free(tensor_print(fused[i].tensor, &out));
        strbuf_printf(&out, " %s %s", dtype_name((DType)fused[i].tensor->dtype),
                      SIZES_TEXT(fused[i].tensor->ndim, fused[i].tensor->strides));
      }
    }
    for (uint32_t i = 0; i < input_count; i++)
      if (inputs[i].tag == TAG_TENSOR && tensor_is_defined(inputs[i].tensor))
        strbuf_printf(&out, "\ninput %u: %s %s %s", i, dtype_name((DType)inputs[i].tensor->dtype),
                      SIZES_TEXT(inputs[i].tensor->ndim, inputs[i].tensor->sizes),
                      SIZES_TEXT(inputs[i].tensor->ndim, inputs[i].tensor->strides));
    fprintf(stderr, "%s%s\nplain: %s\nfused: %s\n", text, out.data ? out.data : "", first ? first->message : "a result",
            second ? second->message : "a result");
    fail_msg("fused and not fused differ");
  }
  status_free(first);
  status_free(second);
  for (uint32_t i = 0; i < count; i++) {
    ivalue_release(plain[i]);
    ivalue_release(fused[i]);
  }
}

/* ---- inputs ---- */

typedef struct Random {
  uint64_t state;
} Random;
static inline uint32_t next_random(Random *r) {
  r->state = r->state * 6364136223846793005ull + 1442695040888963407ull;
  uint64_t x = r->state ^ r->state >> 29;
  return (uint32_t)(x * 0x9e3779b97f4a7c15ull >> 32);
}
static inline uint32_t below(Random *r, uint32_t n) {
  return next_random(r) % n;
}

static inline Tensor *dense(DType dtype, int ndim, const int64_t *sizes, Random *r) {
  Tensor *t, *doubles;
  assert_null(tensor_empty(DTYPE_FLOAT64, ndim, sizes, &doubles));
  double *data = tensor_data(doubles);
  static const double odd[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-42, 65504, 300, 2.5, -2.5};
  bool plain = dtype_is_integral(dtype) || dtype == DTYPE_BOOL;
  for (int64_t i = 0; i < doubles->numel; i++) {
    double value = ((double)next_random(r) / 4294967296.0 - 0.5) * 8;
    if (!plain && below(r, 12) == 0) value = odd[below(r, sizeof odd / sizeof *odd)];
    if (plain) value = floor(value * 2);
    if (dtype == DTYPE_UINT8) value = fabs(value);
    data[i] = value;
  }
  assert_null(tensor_to_dtype(doubles, dtype, &t));
  tensor_release(doubles);
  return t;
}

static inline IValue tensor_of(DType dtype, int ndim, const int64_t *sizes, uint64_t seed) {
  Random r = {seed};
  return ivalue_tensor(dense(dtype, ndim, sizes, &r));
}

static const DType dtypes[] = {DTYPE_FLOAT32, DTYPE_FLOAT32,  DTYPE_FLOAT32, DTYPE_FLOAT64,
                               DTYPE_FLOAT16, DTYPE_BFLOAT16, DTYPE_INT64,   DTYPE_INT32,
                               DTYPE_UINT8,   DTYPE_BOOL,     DTYPE_INT8,    DTYPE_COMPLEX64};

/* Some tensor that broadcasts to the sizes (mostly), laid out in some way. */
static inline Tensor *some_tensor(DType dtype, int ndim, const int64_t *sizes, Random *r) {
  int64_t own[8];
  int drop = below(r, 5) == 0 ? (int)below(r, (uint32_t)ndim + 1) : 0, n = ndim - drop;
  for (int i = 0; i < n; i++) own[i] = below(r, 7) == 0 ? 1 : sizes[i + drop];
  switch (below(r, 8)) {
    case 0: { /* transposed */
      if (n < 2) break;
      int64_t swapped = own[n - 1];
      own[n - 1] = own[n - 2], own[n - 2] = swapped;
      Tensor *t = dense(dtype, n, own, r), *view;
      assert_null(tensor_transpose(t, n - 1, n - 2, &view));
      tensor_release(t);
      return view;
    }
    case 1: { /* every second of twice as many */
      if (n < 1) break;
      int64_t length = own[n - 1];
      own[n - 1] = 2 * length + 1;
      Tensor *t = dense(dtype, n, own, r), *view;
      assert_null(tensor_slice(t, n - 1, 1, 2 * length + 1, 2, &view));
      tensor_release(t);
      return view;
    }
    case 2: { /* repeated in memory */
      if (n < 1) break;
      int64_t length = own[0];
      own[0] = 1;
      Tensor *t = dense(dtype, n, own, r), *view;
      own[0] = length;
      assert_null(tensor_expand(t, n, own, &view));
      tensor_release(t);
      return view;
    }
    case 3: { /* a part */
      if (n < 1) break;
      int64_t length = own[0];
      own[0] = length + 2;
      Tensor *t = dense(dtype, n, own, r), *view;
      assert_null(tensor_narrow(t, 0, 1, length, &view));
      tensor_release(t);
      return view;
    }
    default:
      break;
  }
  return dense(dtype, n, own, r);
}
