/* Packed weights: where elements go, what is kept, what is packed again; counted, not timed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/handles.h"
#include "compute/conv/conv_weights.h"
#include "compute/conv/weight_reader.h"
#include "report/reason.h"
#include "wick/wick.h"

/* ---- the store ---- */

static Tensor *counting(int64_t n) {
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT32, 1, &n, &t));
  for (int64_t i = 0; i < n; i++) ((float *)tensor_data(t))[i] = (float)(i + 1);
  return t;
}

/* The layout of sizes that are blocked by `blocks`, outermost first, each of a dimension. */
static WeightLayout layout_of(int ndim, int channels, const int64_t *sizes, int blocks, const int64_t *block_sizes,
                              const int *dims) {
  WeightLayout l;
  memset(&l, 0, sizeof l);
  l.ndim = ndim;
  l.channels = channels;
  l.block_count = blocks;
  int64_t outer[WEIGHT_DIMS], stride = 1;
  for (int d = 0; d < ndim; d++) outer[d] = l.sizes[d] = sizes[d];
  for (int b = 0; b < blocks; b++) {
    l.block_dims[b] = dims[b];
    l.blocks[b] = block_sizes[b];
    stride *= block_sizes[b];
    outer[dims[b]] = (outer[dims[b]] + block_sizes[b] - 1) / block_sizes[b];
  }
  for (int d = ndim - 1; d >= 0; d--) {
    l.strides[d] = stride;
    stride *= outer[d];
  }
  l.bytes = (uint64_t)stride * sizeof(float);
  return l;
}

static const Work on_two_threads = {.threads = 2};

static PackedWeight *take(const Tensor *weight, const WeightLayout *l) {
  PackedWeight *p = packed_weight_take(&on_two_threads, weight, l);
  assert_non_null(p);
  return p;
}

/* Every element once, by the definition of the layout; zeros between. Blocks of one dimension stand beside each other
 * here, or it has but one. */
static void check_layout(const WeightLayout *l) {
  int64_t count = 1, total = 0;
  for (int d = 0; d < l->ndim; d++) count *= l->sizes[d];
  Tensor *weight = counting(count);
  PackedWeight *packed = take(weight, l);
  const float *data = packed_weight_data(packed);
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, offset = 0, inside = 1, index[WEIGHT_DIMS];
    for (int d = l->ndim - 1; d >= 0; d--) {
      index[d] = rest % l->sizes[d];
      rest /= l->sizes[d];
    }
    for (int b = l->block_count - 1; b >= 0; b--) {
      offset += index[l->block_dims[b]] % l->blocks[b] * inside;
      index[l->block_dims[b]] /= l->blocks[b];
      inside *= l->blocks[b];
    }
    for (int d = 0; d < l->ndim; d++) offset += index[d] * l->strides[d];
    float expected = (float)(i + 1);
    if (data[offset] != expected)
      fail_msg("element %lld: %g, not %g", (long long)i, (double)data[offset], (double)expected);
  }
  for (uint64_t i = 0; i < l->bytes / sizeof(float); i++) total += data[i] != 0;
  assert_int_equal(total, count);
  packed_weight_give_back(packed);
  tensor_release(weight);
}

static void layouts(void **state) {
  (void)state;
  static const int64_t plain[] = {37, 5, 3, 3}, grouped[] = {3, 10, 6, 3, 2}, deep[] = {33, 20, 2, 3, 1},
                       long_rows[] = {4, 300, 1, 1};
  WeightLayout l = layout_of(4, 0, plain, 0, NULL, NULL);
  check_layout(&l);
  l = layout_of(4, 0, plain, 1, (int64_t[]){16}, (int[]){0});
  check_layout(&l);
  l = layout_of(4, 0, long_rows, 2, (int64_t[]){8, 8}, (int[]){1, 0});
  check_layout(&l);
  l = layout_of(5, 1, grouped, 3, (int64_t[]){4, 8, 2}, (int[]){2, 1, 2});
  check_layout(&l);
  l = layout_of(5, 0, deep, 3, (int64_t[]){2, 16, 4}, (int[]){1, 0, 1});
  check_layout(&l);
}

/* How many weights that made. */
static uint64_t packs_of(const Tensor *weight, const WeightLayout *l) {
  uint64_t before = STATISTIC_GET(packed_weights);
  packed_weight_give_back(take(weight, l));
  return STATISTIC_GET(packed_weights) - before;
}

static void packs_again_after_a_write(void **state) {
  (void)state;
  static const int64_t sizes[] = {16, 4, 3, 3};
  WeightLayout l = layout_of(4, 0, sizes, 1, (int64_t[]){16}, (int[]){0});
  Tensor *weight = counting(16 * 4 * 9);
  PackedWeight *before = take(weight, &l);
  ((float *)tensor_data(weight))[0] = 100;
  tensor_bump_version(weight);
  PackedWeight *during = take(weight, &l); /* `before` is in use: it stays as it is */
  assert_ptr_not_equal(during, before);
  assert_int_equal(packed_weight_data(before)[0], 1);
  assert_int_equal(packed_weight_data(during)[0], 100);
  packed_weight_give_back(before);
  packed_weight_give_back(during);
  ((float *)tensor_data(weight))[0] = 200;
  tensor_bump_version(weight);
  PackedWeight *after = take(weight, &l);
  assert_true(after == before || after == during); /* memory of an old version */
  assert_int_equal(packed_weight_data(after)[0], 200);
  packed_weight_give_back(after);
  tensor_release(weight);
}

/* Each finds its own, in the same layout, and only exact ones stand for the weight. */
static void precisions_do_not_meet(void **state) {
  (void)state;
  static const int64_t sizes[] = {16, 4, 3, 3};
  static const Work other = {.threads = 2, .precision = PRECISION_COUNT};
  WeightLayout l = layout_of(4, 0, sizes, 1, (int64_t[]){16}, (int[]){0});
  Tensor *weight = counting(16 * 4 * 9);
  ContentSource source;
  PackedWeight *near = packed_weight_take(&other, weight, &l);
  assert_non_null(near);
  assert_false(packed_weights_source(weight->storage, &source));
  PackedWeight *exact = take(weight, &l);
  assert_ptr_not_equal(exact, near);
  assert_true(packed_weights_source(weight->storage, &source));
  source.free(source.context);
  packed_weight_give_back(near);
  packed_weight_give_back(exact);
  assert_int_equal(packs_of(weight, &l), 0);
  PackedWeight *again = packed_weight_take(&other, weight, &l);
  assert_ptr_equal(again, near);
  packed_weight_give_back(again);
  tensor_release(weight);
}

static void trim_empties_the_store(void **state) {
  (void)state;
  static const int64_t sizes[] = {16, 4, 3, 3};
  WeightLayout l = layout_of(4, 0, sizes, 1, (int64_t[]){16}, (int[]){0});
  Tensor *weight = counting(16 * 4 * 9);
  PackedWeight *held = take(weight, &l);
  packed_weights_trim(NULL);
  assert_int_equal(packed_weight_data(held)[0], 1);
  assert_int_equal(packs_of(weight, &l), 0);
  packed_weight_give_back(held);
  packed_weights_trim(NULL);
  assert_true(ref_is_unique(&weight->storage->refs));
  assert_int_equal(packs_of(weight, &l), 1);
  tensor_release(weight);
}

static uint64_t settled_packs_of(const Tensor *weight, const WeightLayout *l, bool *out_is_kept) {
  uint64_t before = STATISTIC_GET(packed_weights);
  PackedWeight *p = packed_weight_take_settled(&on_two_threads, weight, l);
  *out_is_kept = p != NULL;
  if (p) packed_weight_give_back(p);
  return STATISTIC_GET(packed_weights) - before;
}

static void settles_at_the_second_sight(void **state) {
  (void)state;
  static const int64_t sizes[] = {16, 4, 3, 3};
  WeightLayout l = layout_of(4, 0, sizes, 1, (int64_t[]){16}, (int[]){0});
  Tensor *weight = counting(16 * 4 * 9);
  tensor_bump_version(weight); /* no other had its place and this version */
  for (int version = 0; version < 2; version++) {
    bool is_kept;
    assert_int_equal(settled_packs_of(weight, &l, &is_kept), 0);
    assert_false(is_kept);
    assert_int_equal(settled_packs_of(weight, &l, &is_kept), 1);
    assert_true(is_kept);
    assert_int_equal(settled_packs_of(weight, &l, &is_kept), 0);
    assert_true(is_kept);
    tensor_bump_version(weight);
  }
  packed_weights_trim(NULL);
  assert_true(ref_is_unique(&weight->storage->refs));
  tensor_release(weight);
}

/* ---- through plans ---- */

static const char program[] =
    "def clamped(x, w, a, b, mean, var):\n"
    "    y = torch.conv2d(x, w, None, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.relu(torch.batch_norm(y, a, b, mean, var, False, 0.1, 1e-5, True))\n"
    "def normalized(x, w, a, b, mean, var):\n"
    "    y = torch.conv2d(x, w, None, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.batch_norm(y, a, b, mean, var, False, 0.1, 1e-5, True)\n"
    "def without_data(n: int):\n"
    "    x = torch.zeros([1, 16, n, n], device=torch.device('meta'))\n"
    "    w = torch.zeros([32, 16, 3, 3], device=torch.device('meta'))\n"
    "    v = torch.zeros([32], device=torch.device('meta'))\n"
    "    y = torch.conv2d(x, w, None, [1, 1], [1, 1], [1, 1], 1)\n"
    "    y = torch.batch_norm(y, v, v, v, v, False, 0.1, 1e-5, True)\n"
    "    return torch.relu(y).numel()\n";

enum { INPUT, WEIGHT, GAMMA, BETA, MEAN, VAR, ARGUMENTS, OUT = 32, SIDE = 20 };
typedef struct Net {
  wick_module *module;
  int64_t in;
  wick_value *arguments[ARGUMENTS];
} Net;

static float *data_of(const wick_value *value) {
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(value, &view, NULL), WICK_OK);
  return view.data;
}

static wick_value *numbers(int32_t ndim, const int64_t *sizes, float from, float step) {
  wick_value *value;
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, ndim, sizes, &value, NULL), WICK_OK);
  int64_t count = 1;
  for (int i = 0; i < ndim; i++) count *= sizes[i];
  for (int64_t i = 0; i < count; i++) data_of(value)[i] = from + step * (float)(i * 7 % 13);
  return value;
}

static Net net_new(int64_t in) {
  Net net = {.in = in};
  const int64_t channels = OUT;
  assert_int_equal(wick_compile(NULL, program, sizeof program - 1, "conv.py", &net.module, NULL), WICK_OK);
  net.arguments[INPUT] = numbers(4, (const int64_t[]){1, in, SIDE, SIDE}, -0.5f, 0.1f);
  net.arguments[WEIGHT] = numbers(4, (const int64_t[]){OUT, in, 3, 3}, -0.05f, 0.01f);
  net.arguments[GAMMA] = numbers(1, &channels, 0.5f, 0.1f);
  net.arguments[BETA] = numbers(1, &channels, -0.2f, 0.05f);
  net.arguments[MEAN] = numbers(1, &channels, -0.1f, 0.02f);
  net.arguments[VAR] = numbers(1, &channels, 0.4f, 0.1f);
  return net;
}
static void net_free(Net *net) {
  for (int i = 0; i < ARGUMENTS; i++) wick_value_release(net->arguments[i]);
  wick_module_release(net->module);
}

static double expected_at(const Net *net, int64_t channel, int64_t row, int64_t column, bool clamps) {
  const float *x = data_of(net->arguments[INPUT]), *w = data_of(net->arguments[WEIGHT]) + channel * net->in * 9;
  double sum = 0;
  for (int64_t i = 0; i < net->in; i++)
    for (int64_t k = 0; k < 9; k++) {
      int64_t r = row + k / 3 - 1, c = column + k % 3 - 1;
      if (r >= 0 && r < SIDE && c >= 0 && c < SIDE) sum += (double)x[(i * SIDE + r) * SIDE + c] * (double)w[i * 9 + k];
    }
  double scale =
      (double)data_of(net->arguments[GAMMA])[channel] / sqrt((double)data_of(net->arguments[VAR])[channel] + 1e-5);
  double y =
      (sum - (double)data_of(net->arguments[MEAN])[channel]) * scale + (double)data_of(net->arguments[BETA])[channel];
  return clamps && y < 0 ? 0 : y;
}

/* How many weights a call packs; its result is right, and the next plan ready when this returns. */
static uint64_t packs_of_call(const Net *net, const char *name, uint32_t executor) {
  uint64_t before = STATISTIC_GET(packed_weights);
  wick_run_options options = {.size = sizeof options, .executor = executor, .threads = 2};
  wick_value *out;
  assert_int_equal(
      wick_run(net->module, name, (const wick_value *const *)net->arguments, ARGUMENTS, NULL, 0, &options, &out, NULL),
      WICK_OK);
  uint64_t packs = STATISTIC_GET(packed_weights) - before;
  wick_wait_for_plans();
  for (int64_t i = 0; i < OUT * SIDE * SIDE; i += 37) {
    double y = expected_at(net, i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE, strcmp(name, "clamped") == 0);
    if (!(fabs((double)data_of(out)[i] - y) <= 1e-4 + 1e-4 * fabs(y)))
      fail_msg("%s: %g, not %g at %lld", name, (double)data_of(out)[i], y, (long long)i);
  }
  wick_value_release(out);
  return packs;
}

/* The first call runs the parts, the second the plan in which they are one. */
static void plans_pack_nothing(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t in;
  } nets[] = {{"clamped", 16}, {"normalized", 16}, {"normalized", 64}};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    Net net = net_new(nets[i].in);
    assert_int_equal(packs_of_call(&net, nets[i].name, WICK_EXECUTOR_PROFILING), 1);
    for (int k = 0; k < 3; k++) assert_int_equal(packs_of_call(&net, nets[i].name, WICK_EXECUTOR_PROFILING), 0);
    assert_int_equal(packs_of_call(&net, nets[i].name, WICK_EXECUTOR_SIMPLE), 0);
    net_free(&net);
  }
}

static void write_in_place(const Net *net, int which) {
  wick_value *two = wick_value_double(2), *out;
  assert_int_equal(wick_op_call(NULL, "aten::mul_", "Scalar", (const wick_value *const[]){net->arguments[which], two},
                                2, NULL, 0, &out, NULL),
                   WICK_OK);
  wick_value_release(out);
  wick_value_release(two);
}

static void writes_are_seen(void **state) {
  (void)state;
  static const char *const names[] = {"clamped", "normalized"};
  for (int i = 0; i < 2; i++) {
    Net net = net_new(16);
    assert_int_equal(packs_of_call(&net, names[i], WICK_EXECUTOR_PROFILING), 1);
    packs_of_call(&net, names[i], WICK_EXECUTOR_PROFILING);
    write_in_place(&net, WEIGHT);
    assert_int_equal(packs_of_call(&net, names[i], WICK_EXECUTOR_PROFILING), 1);
    write_in_place(&net, GAMMA);
    packs_of_call(&net, names[i], WICK_EXECUTOR_PROFILING);
    write_in_place(&net, VAR);
    packs_of_call(&net, names[i], WICK_EXECUTOR_PROFILING);
    net_free(&net);
  }
}

/* Who lends memory may write to it between calls without telling. */
static void borrowed_weights_may_change(void **state) {
  (void)state;
  float weight[3] = {1, 2, 3};
  wick_value *input, *borrowed, *out;
  assert_int_equal(
      wick_tensor_borrow(weight, WICK_FLOAT32, 3, (const int64_t[]){1, 1, 3}, NULL, NULL, NULL, &borrowed, NULL),
      WICK_OK);
  input = numbers(3, (const int64_t[]){1, 1, 3}, 1, 0);
  for (int i = 0; i < 3; i++) {
    weight[1] = (float)i;
    assert_int_equal(
        wick_op_call(NULL, "aten::conv1d", NULL, (const wick_value *const[]){input, borrowed}, 2, NULL, 0, &out, NULL),
        WICK_OK);
    assert_true(data_of(out)[0] == (float)(4 + i));
    wick_value_release(out);
  }
  wick_value_release(input);
  wick_value_release(borrowed);
}

/* A linear layer keeps its weight from the second call on and sees what is written to it. */
static void linear_layers_settle(void **state) {
  (void)state;
  enum { ROWS = 9, IN = 40, OUTS = 33 };
  wick_value *input = numbers(2, (const int64_t[]){ROWS, IN}, -1, 0.25f),
             *weight = numbers(2, (const int64_t[]){OUTS, IN}, -0.5f, 0.125f),
             *bias = numbers(1, (const int64_t[]){OUTS}, 0, 1), *two = wick_value_double(2), *out;
  static const uint64_t packs[] = {0, 1, 0, 0, 1, 0, 0, 1};
  for (int call = 0; call < 8; call++) {
    uint64_t before = STATISTIC_GET(packed_weights);
    assert_int_equal(wick_op_call(NULL, "aten::linear", NULL, (const wick_value *const[]){input, weight, bias}, 3, NULL,
                                  0, &out, NULL),
                     WICK_OK);
    assert_int_equal(STATISTIC_GET(packed_weights) - before, packs[call]);
    for (int i = 0; i < ROWS * OUTS; i++) {
      float sum = data_of(bias)[i % OUTS]; /* eighths: exact */
      for (int k = 0; k < IN; k++) sum += data_of(input)[i / OUTS * IN + k] * data_of(weight)[i % OUTS * IN + k];
      assert_true(data_of(out)[i] == sum);
    }
    wick_value_release(out);
    if (call == 5) data_of(weight)[OUTS * IN - 1] = 3; /* nobody is told */
    if (call != 2) continue;
    assert_int_equal(
        wick_op_call(NULL, "aten::mul_", "Scalar", (const wick_value *const[]){weight, two}, 2, NULL, 0, &out, NULL),
        WICK_OK);
    wick_value_release(out);
  }
  wick_value_release(input);
  wick_value_release(weight);
  wick_value_release(bias);
  wick_value_release(two);
}

/* A weight that is a passing value, seen again and packed, whose memory the next value takes. */
static void dying_weights(void **state) {
  (void)state;
  Exec exec;
  exec_init(&exec, &api_services);
  static OpRef linear = OP_REF("aten::linear", ""), add = OP_REF("aten::add", "Scalar");
  enum { ROWS = 9, WIDTH = 12 };
  Tensor *input, *weight;
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, (const int64_t[]){ROWS, WIDTH}, &input));
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, (const int64_t[]){WIDTH, WIDTH}, &weight));
  for (int i = 0; i < ROWS * WIDTH; i++) ((float *)tensor_data(input))[i] = 1;
  for (int i = 0; i < WIDTH * WIDTH; i++) ((float *)tensor_data(weight))[i] = 2;
  for (int turn = 0; turn < 3; turn++) {
    IValue out = IVALUE_NONE, next = IVALUE_NONE, inputs[] = {ivalue_tensor(weight), ivalue_int(1), ivalue_int(1)};
    uint64_t before = STATISTIC_GET(packed_weights);
    for (int sight = 0; sight < 2; sight++) {
      assert_null(op_call(&exec, &linear, 3, (IValue[]){ivalue_tensor(input), inputs[0], IVALUE_NONE}, 1, &out));
      assert_true(((float *)tensor_data(out.tensor))[0] == (float)(WIDTH * (2 + turn)));
      ivalue_release(out);
    }
    assert_int_equal(STATISTIC_GET(packed_weights) - before, 1);
    Call call = {.inputs = inputs, .input_count = 3, .outputs = &next, .output_count = 1, .dying = 1};
    const Operator *operator;
    assert_null(op_find(&add, &operator));
    assert_null(operator_call(&exec, operator, & call));
    assert_ptr_equal(next.tensor->storage, weight->storage);
    tensor_release(weight);
    weight = next.tensor;
  }
  tensor_release(input), tensor_release(weight);
}

static wick_value *op(const char *name, const char *overload, int count, const wick_value *const *inputs) {
  wick_value *out;
  assert_int_equal(wick_op_call(NULL, name, overload, inputs, (size_t)count, NULL, 0, &out, NULL), WICK_OK);
  return out;
}

/* So do products with a weight's transpose, and sums of a vector with one. */
static void products_settle(void **state) {
  (void)state;
  enum { ROWS = 9, IN = 40, OUTS = 33 };
  wick_value *two = wick_value_double(2), *input = numbers(2, (const int64_t[]){ROWS, IN}, -1, 0.25f),
             *half = numbers(2, (const int64_t[]){OUTS, IN}, -0.5f, 0.125f),
             *bias = numbers(1, (const int64_t[]){OUTS}, 0, 1);
  wick_value *weight = op("aten::mul", "Scalar", 2, (const wick_value *const[]){half, two}), /* never looked at */
      *columns = op("aten::t", NULL, 1, (const wick_value *const[]){weight});
  static const uint64_t packs[] = {0, 1, 0, 0, 0, 1};
  for (int call = 0; call < 6; call++) {
    bool has_bias = call & 1;
    float scale = call < 4 ? 2 : 4;
    uint64_t before = STATISTIC_GET(packed_weights);
    wick_value *out = has_bias ? op("aten::addmm", NULL, 3, (const wick_value *const[]){bias, input, columns})
                               : op("aten::mm", NULL, 2, (const wick_value *const[]){input, columns});
    assert_int_equal(STATISTIC_GET(packed_weights) - before, packs[call]);
    for (int i = 0; i < ROWS * OUTS; i++) {
      float sum = has_bias ? data_of(bias)[i % OUTS] : 0; /* eighths: exact */
      for (int k = 0; k < IN; k++) sum += data_of(input)[i / OUTS * IN + k] * scale * data_of(half)[i % OUTS * IN + k];
      assert_true(data_of(out)[i] == sum);
    }
    wick_value_release(out);
    if (call == 3) wick_value_release(op("aten::mul_", "Scalar", 2, (const wick_value *const[]){weight, two}));
  }
  wick_value *const values[] = {two, input, half, bias, weight, columns};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) wick_value_release(values[i]);
}

/* In a function's first call what is older than the call is kept at once; what the call made waits to be seen again. */
static void first_calls_keep_what_was_there(void **state) {
  (void)state;
  const WeightLayout l = layout_of(1, 0, (const int64_t[]){64}, 0, NULL, NULL);
  Work work = on_two_threads;
  Tensor *older = counting(64);
  work.first_epoch = storage_epoch_begin();
  Tensor *younger = counting(64);
  atomic_store(&older->storage->version, 1001); /* as nothing was seen before */
  atomic_store(&younger->storage->version, 1002);
  PackedWeight *kept = packed_weight_take_settled(&work, older, &l);
  assert_non_null(kept);
  assert_null(packed_weight_take_settled(&work, younger, &l));
  packed_weight_give_back(kept);
  tensor_release(older);
  tensor_release(younger);
}

static void first_calls_pack(void **state) {
  (void)state;
#ifdef WICK_HOSTILE
  skip(); /* an argument that an operator may write over is a copy there: the weight is another one in every call */
#endif
  static const char text[] =
      "def f(x: Tensor, w: Tensor, b: Tensor):\n"
      "    return torch.addmm(b, x, w.t())\n";
  wick_value *input = numbers(2, (const int64_t[]){9, 40}, -1, 0.25f), *one = wick_value_double(1),
             *half = numbers(2, (const int64_t[]){33, 40}, -0.5f, 0.125f),
             *bias = numbers(1, (const int64_t[]){33}, 0, 1), *out;
  for (uint32_t executor = WICK_EXECUTOR_SPECIALIZING; executor <= WICK_EXECUTOR_PROFILING; executor++) {
    wick_value *weight = op("aten::mul", "Scalar", 2, (const wick_value *const[]){half, one});
    wick_module *module;
    assert_int_equal(wick_compile(NULL, text, sizeof text - 1, NULL, &module, NULL), WICK_OK);
    for (int call = 0; call < 4; call++) {
      const wick_run_options options = {.size = sizeof options, .executor = executor};
      uint64_t before = STATISTIC_GET(packed_weights);
      assert_int_equal(
          wick_run(module, "f", (const wick_value *const[]){input, weight, bias}, 3, NULL, 0, &options, &out, NULL),
          WICK_OK);
      assert_int_equal(STATISTIC_GET(packed_weights) - before, call == 0);
      wick_value_release(out);
    }
    wick_module_release(module);
    wick_value_release(weight);
  }
  wick_value *const values[] = {input, one, half, bias};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) wick_value_release(values[i]);
}

static wick_value *load_weight(const char *path, uint32_t mode) {
  const wick_load_options options = {.size = sizeof options, .mode = mode};
  wick_value *value;
  assert_int_equal(wick_load_value(NULL, path, &options, &value, NULL), WICK_OK);
  return value;
}

static void expect_same_results(const wick_value *input, const wick_value *weight, const wick_value *other) {
  wick_value *a = op("aten::conv2d", NULL, 2, (const wick_value *const[]){input, weight}),
             *b = op("aten::conv2d", NULL, 2, (const wick_value *const[]){input, other});
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(a, &view, NULL), WICK_OK);
  assert_memory_equal(data_of(a), data_of(b),
                      sizeof(float) * (size_t)(view.sizes[0] * view.sizes[1] * view.sizes[2] * view.sizes[3]));
  wick_value_release(a);
  wick_value_release(b);
}

/* A mapped weight is packed out of its file only as long as nobody wrote it, in whichever way. */
static void mapped_weights(void **state) {
  (void)state;
  enum { CHANNELS = 80 };
  static const int64_t kernels[][2] = {{3, 3}, {1, 1}, {5, 2}};
  char path[64];
  snprintf(path, sizeof path, "/tmp/wick_mapped_weight_%d.pt", (int)getpid());
  wick_value *two = wick_value_double(2), *input = numbers(4, (const int64_t[]){1, 256, 12, 12}, -0.5f, 0.1f);
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    wick_value *saved = numbers(4, (const int64_t[]){CHANNELS, 256, kernels[k][0], kernels[k][1]}, -0.05f, 0.01f);
    assert_int_equal(wick_save_value(NULL, saved, path, NULL), WICK_OK);
    wick_value *read = load_weight(path, WICK_LOAD_READ);
    for (int writes = 0; writes < 3; writes++) {
      wick_value *mapped = load_weight(path, WICK_LOAD_MAP), *weights[] = {read, mapped};
      for (int i = 0; writes == 1 && i < 2; i++)
        wick_value_release(op("aten::mul_", "Scalar", 2, (const wick_value *const[]){weights[i], two}));
      for (int i = 0; writes == 2 && i < 2; i++) data_of(weights[i])[CHANNELS * 256 / 2] += 1;
      expect_same_results(input, mapped, read);
      for (int i = 0; i < 2; i++)
        wick_value_release(op("aten::mul_", "Scalar", 2, (const wick_value *const[]){weights[i], two}));
      expect_same_results(input, mapped, read);
      wick_value_release(mapped);
      wick_value_release(read);
      read = load_weight(path, WICK_LOAD_READ);
    }
    wick_value_release(read);
    wick_value_release(saved);
  }
  unlink(path);
  wick_value_release(two);
  wick_value_release(input);
}

/* Parts as they are asked for, in whatever order, and the end of the weight. */
static void weights_are_fetched_in_parts(void **state) {
  (void)state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/wick_fetched_weight_%d.pt", (int)getpid());
  enum { COUNT = 40000 };
  wick_value *saved = numbers(1, (const int64_t[]){COUNT}, 0, 1);
  assert_int_equal(wick_save_value(NULL, saved, path, NULL), WICK_OK);
  wick_value *mapped = load_weight(path, WICK_LOAD_MAP);
  const Tensor *weight = mapped->value.tensor;
  float first;
  assert_true(storage_fetch(weight->storage, 0, &first, sizeof first));
  WeightReader reader;
  weight_reader_begin(&reader, weight, 100);
  static const int64_t parts[][2] = {{0, 100}, {100, 100}, {39900, 100}, {16380, 100}, {20, 7}, {COUNT, 0}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    assert_memory_equal(weight_reader_at(&reader, parts[i][0], parts[i][1]), data_of(saved) + parts[i][0],
                        (size_t)parts[i][1] * sizeof(float));
  atomic_fetch_add(&weight->storage->version, 1); /* a write on the way: the rest is read in place */
  assert_false(storage_fetch(weight->storage, 0, &first, sizeof first));
  assert_ptr_equal(weight_reader_at(&reader, 30000, 100), (const float *)tensor_data(weight) + 30000);
  weight_reader_end(&reader);
  unlink(path);
  wick_value_release(mapped);
  wick_value_release(saved);
}

static void trim_between_calls(void **state) {
  (void)state;
  Net net = net_new(16);
  assert_int_equal(packs_of_call(&net, "clamped", WICK_EXECUTOR_PROFILING), 1);
  wick_trim();
  assert_int_equal(packs_of_call(&net, "clamped", WICK_EXECUTOR_PROFILING), 1);
  assert_int_equal(packs_of_call(&net, "clamped", WICK_EXECUTOR_PROFILING), 0);
  net_free(&net);
}

/* In the plan they are one operation, which must not look for data. */
static void meta_tensors(void **state) {
  (void)state;
  Net net = net_new(16);
  wick_value *side = wick_value_int(SIDE), *out;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(
        wick_run(net.module, "without_data", (const wick_value *const[]){side}, 1, NULL, 0, NULL, &out, NULL), WICK_OK);
    assert_int_equal(wick_value_to_int(out), OUT * SIDE * SIDE);
    wick_value_release(out);
    wick_wait_for_plans();
  }
  wick_value_release(side);
  net_free(&net);
}

/* How soon a plan is there must not depend on how busy the machine is. */
static int plans_at_once(void **state) {
  (void)state;
  const wick_executor_options options = {.size = sizeof options, .synchronous = 1};
  return wick_runtime_set_executor(NULL, &options, NULL) != WICK_OK;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layouts),
      cmocka_unit_test(packs_again_after_a_write),
      cmocka_unit_test(precisions_do_not_meet),
      cmocka_unit_test(trim_empties_the_store),
      cmocka_unit_test(settles_at_the_second_sight),
      cmocka_unit_test(plans_pack_nothing),
      cmocka_unit_test(writes_are_seen),
      cmocka_unit_test(borrowed_weights_may_change),
      cmocka_unit_test(linear_layers_settle),
      cmocka_unit_test(dying_weights),
      cmocka_unit_test(products_settle),
      cmocka_unit_test(first_calls_keep_what_was_there),
      cmocka_unit_test(first_calls_pack),
      cmocka_unit_test(mapped_weights),
      cmocka_unit_test(weights_are_fetched_in_parts),
      cmocka_unit_test(trim_between_calls),
      cmocka_unit_test(meta_tensors),
  };
  return cmocka_run_group_tests(tests, plans_at_once, NULL);
}
