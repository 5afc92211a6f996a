/* Groups with reductions, softmax and layer norm along the last dimensions give their operators' bits (but for which
 * NaN a sum of several is), dtypes, strides and errors, and leave to them what they would compute in another order. */
#include "fuse_fixture.h"

#include <stdlib.h>

#include "fuse/lines.h"
#include "wick/wick.h"

#define CONSTANTS                                                                                 \
  "  %one : int = prim::Constant[value=1]()\n  %last : int = prim::Constant[value=-1]()\n"        \
  "  %first : int = prim::Constant[value=0]()\n  %lasts : int[] = prim::Constant[value=[-1]]()\n" \
  "  %ones : int[] = prim::Constant[value=[1]]()\n  %keep : bool = prim::Constant[value=1]()\n"   \
  "  %drop : bool = prim::Constant[value=0]()\n  %half : float = prim::Constant[value=0.5]()\n"   \
  "  %eps : float = prim::Constant[value=1e-05]()\n  %double : int = prim::Constant[value=7]()\n" \
  "  %single : int = prim::Constant[value=6]()\n  %none : NoneType = prim::Constant()\n"          \
  "  %two : int[] = prim::Constant[value=[-2, -1]]()\n"                                           \
  "  %turned : int[] = prim::Constant[value=[2, 1]]()\n"

static const char *const templates[] = {"aten::softmax(t, %last, %none)",
                                        "aten::softmax(t, %one, %none)",
                                        "aten::softmax(t, %last, %double)",
                                        "aten::softmax(t, %last, %single)",
                                        "aten::log_softmax(t, %last, %none)",
                                        "aten::log_softmax(t, %last, %single)",
                                        "aten::sum(t, %lasts, %keep, %none)",
                                        "aten::sum(t, %lasts, %keep, %double)",
                                        "aten::sum(t, %lasts, %drop, %none)",
                                        "aten::sum(t, %ones, %keep, %none)",
                                        "aten::mean(t, %lasts, %keep, %none)",
                                        "aten::mean(t, %lasts, %drop, %none)",
                                        "aten::mean(t, %lasts, %keep, %single)",
                                        "aten::amax(t, %lasts, %keep)",
                                        "aten::amin(t, %lasts, %keep)",
                                        "aten::amax(t, %lasts, %drop)",
                                        "aten::layer_norm(t, %shape, %w, %b, %eps, %keep)",
                                        "aten::layer_norm(t, %shape, %none, %none, %eps, %keep)",
                                        "aten::layer_norm(t, %shape, %w, %none, %eps, %keep)",
                                        "aten::layer_norm(t, %shape, %none, %b, %eps, %keep)",
                                        "aten::relu(t)",
                                        "aten::neg(t)",
                                        "aten::exp(t)",
                                        "aten::tanh(t)",
                                        "aten::floor_divide(t, t)",
                                        "aten::rsqrt(t)",
                                        "aten::mul(t, t)",
                                        "aten::mul(t, t)",
                                        "aten::mul(t, %half)",
                                        "aten::mul(t, %w)",
                                        "aten::add(t, %b, %one)",
                                        "aten::add(t, t, %one)",
                                        "aten::sub(t, t, %one)",
                                        "aten::div(t, t)",
                                        "aten::gt(t, t)"};
/* The same, over two dimensions. */
static const char *const wide_templates[] = {"aten::sum(t, %two, %keep, %none)",
                                             "aten::sum(t, %two, %drop, %none)",
                                             "aten::sum(t, %turned, %keep, %double)",
                                             "aten::mean(t, %two, %keep, %none)",
                                             "aten::mean(t, %turned, %drop, %none)",
                                             "aten::mean(t, %two, %keep, %single)",
                                             "aten::amax(t, %two, %keep)",
                                             "aten::amin(t, %turned, %drop)"};
enum { INPUTS = 4 }; /* two tensors, a weight and a bias */

/* rows 0: lines of `length` elements; else each is of so many rows. */
static void write_program(StrBuf *out, int64_t rows, int64_t length, Random *r) {
  uint32_t values = 2, steps = 2 + below(r, 9);
  bool used[32] = {false};
  strbuf_puts(out, "graph(%v0 : Tensor, %v1 : Tensor, %w : Tensor, %b : Tensor):\n" CONSTANTS);
  if (rows)
    strbuf_printf(out, "  %%shape : int[] = prim::Constant[value=[%lld, %lld]]()\n", (long long)rows,
                  (long long)length);
  else
    strbuf_printf(out, "  %%shape : int[] = prim::Constant[value=[%lld]]()\n", (long long)length);
  for (uint32_t s = 0; s < steps; s++, values++) {
    strbuf_printf(out, "  %%v%u : Tensor = ", values);
    const char *form = templates[below(r, sizeof templates / sizeof *templates)];
    if (rows && below(r, 3) == 0) form = wide_templates[below(r, sizeof wide_templates / sizeof *wide_templates)];
    for (const char *c = form; *c; c++) {
      bool stands = *c == 't' && (c[1] == ',' || c[1] == ')') && (c[-1] == ' ' || c[-1] == '(');
      if (!stands) {
        strbuf_char(out, *c);
        continue;
      }
      uint32_t from = below(r, 3) ? values - 1 - below(r, values < 3 ? values : 3) : below(r, values);
      used[from] = true;
      strbuf_printf(out, "%%v%u", from);
    }
    strbuf_char(out, '\n');
  }
  strbuf_puts(out, "  return (");
  uint32_t results = 0;
  for (uint32_t i = 2; i < values; i++)
    if (!used[i] || below(r, 5) == 0) strbuf_printf(out, "%s%%v%u", results++ ? ", " : "", i);
  strbuf_puts(out, ")\n");
}

static void run_once(Pair *pair, Exec *exec, const char *text, int64_t rows, int64_t length, int run, Random *r) {
  static const DType floats[] = {DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_FLOAT16, DTYPE_BFLOAT16};
  IValue inputs[INPUTS];
  int64_t sizes[5];
  int ndim = (rows ? 2 : 1) + (int)below(r, 3);
  for (int i = 0; i < ndim; i++) sizes[i] = 1 + below(r, 7);
  if (ndim > 1 && !rows && below(r, 6) == 0) sizes[0] = 200;
  if (below(r, 30) == 0) sizes[below(r, (uint32_t)ndim)] = 0;
  if (rows) sizes[ndim - 2] = rows;
  sizes[ndim - 1] = length;
  DType dtype = run < 3 ? DTYPE_FLOAT32 : below(r, 3) ? floats[below(r, 5)] : dtypes[below(r, 12)];
  for (int i = 0; i < 2; i++)
    inputs[i] = ivalue_tensor(run % 3 == 0 ? dense(dtype, ndim, sizes, r) : some_tensor(dtype, ndim, sizes, r));
  const int64_t shape[] = {rows, length};
  for (int i = 2; i < INPUTS; i++) inputs[i] = ivalue_tensor(dense(dtype, rows ? 2 : 1, rows ? shape : &length, r));
  check_run(pair, exec, text, inputs);
  for (int i = 0; i < INPUTS; i++) ivalue_release(inputs[i]);
}

static void run_random_programs(bool wide) {
  const char *seed = getenv("WICK_TEST_SEED"), *count = getenv("WICK_TEST_COUNT");
  uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
  uint32_t programs = count ? (uint32_t)strtoul(count, NULL, 10) : 500, fused = 0, refused = 0;
  static const int64_t lengths[] = {1, 2, 3, 5, 8, 16, 17, 64, 255, 257, 600, 1025, 3000};
  static const int64_t counts[] = {1, 2, 3, 7, 16};
  Exec exec;
  exec_init(&exec, NULL);
  exec.work.threads = 2;
  for (uint32_t p = 0; p < programs; p++) {
    Random r = {(first + p) * 104729};
    next_random(&r);
    int64_t length = lengths[below(&r, sizeof lengths / sizeof *lengths)];
    int64_t rows = wide ? counts[below(&r, sizeof counts / sizeof *counts)] : 0;
    StrBuf text = {0};
    Pair pair;
    write_program(&text, rows, length, &r);
    pair_make(&pair, text.data);
    for (int run = 0; run < 8; run++) run_once(&pair, &exec, text.data, rows, length, run, &r);
    if (pair.group && pair.group->has_lines && (pair.group->line_dims > 1) == wide) {
      fused += (uint32_t)pair.group->runs;
      for (int i = 0; i < FUSE_REFUSAL_COUNT; i++) refused += (uint32_t)pair.group->refusals[i];
    }
    pair_dispose(&pair);
    strbuf_dispose(&text);
  }
  print_message("%u programs: %u runs with lines fused, %u operator by operator\n", programs, fused, refused);
  if (!count && FUSE_MAX_ENTRIES > 1) assert_true(fused > 300);
}

static void test_random_programs(void **state) {
  (void)state;
  run_random_programs(false);
}
static void test_random_programs_over_two_dims(void **state) {
  (void)state;
  run_random_programs(true);
}

/* ---- what is fused, and what is not ---- */

typedef struct Form {
  const char *body; /* of %x [4, 6], %w [6], giving %y */
  bool is_one_group;
} Form;

static void test_forms(void **state) {
  (void)state;
  static const Form forms[] = {
      {"  %a : Tensor = aten::mul(%x, %half)\n  %m : Tensor = aten::add(%a, %w, %one)\n"
       "  %y : Tensor = aten::softmax(%m, %last, %none)\n",
       true},
      {"  %a : Tensor = aten::layer_norm(%x, %shape, %w, %w, %eps, %keep)\n  %y : Tensor = aten::mul(%a, %w)\n", true},
      {"  %a : Tensor = aten::mul(%x, %x)\n  %y : Tensor = aten::mean(%a, %lasts, %keep, %none)\n", true},
      {"  %a : Tensor = aten::mul(%x, %x)\n  %y : Tensor = aten::sum(%a, %ones, %drop, %none)\n", true},
      {"  %a : Tensor = aten::mul(%x, %x)\n  %m : Tensor = aten::mean(%a, %lasts, %keep, %none)\n"
       "  %e : Tensor = aten::add(%m, %eps, %one)\n  %r : Tensor = aten::rsqrt(%e)\n"
       "  %n : Tensor = aten::mul(%x, %r)\n  %y : Tensor = aten::mul(%n, %w)\n",
       true}, /* RMSNorm */
      {"  %m : Tensor = aten::amax(%x, %lasts, %keep)\n  %s : Tensor = aten::sub(%x, %m, %one)\n"
       "  %e : Tensor = aten::exp(%s)\n  %t : Tensor = aten::sum(%e, %lasts, %keep, %none)\n"
       "  %y : Tensor = aten::div(%e, %t)\n",
       true},
      {"  %m : Tensor = aten::mean(%x, %lasts, %drop, %none)\n  %y : Tensor = aten::mul(%m, %half)\n", false},
      {"  %a : Tensor = aten::mul(%x, %x)\n  %y : Tensor = aten::sum(%a, %none, %keep, %none)\n", false},
      {"  %a : Tensor = aten::mul(%x, %x)\n  %m : Tensor = aten::mean(%a, %two, %keep, %none)\n"
       "  %y : Tensor = aten::mul(%x, %m)\n",
       true},
      {"  %a : Tensor = aten::mul(%x, %x)\n  %y : Tensor = aten::sum(%a, %two, %drop, %none)\n", true},
      {"  %a : Tensor = aten::mul(%x, %w)\n  %y : Tensor = aten::sum(%a, %two, %keep, %none)\n",
       false}, /* %w is a part of what a line is */
  };
  Exec exec;
  exec_init(&exec, NULL);
  exec.work.threads = 1;
  int64_t sizes[] = {4, 6};
  IValue inputs[] = {tensor_of(DTYPE_FLOAT32, 2, sizes, 1), tensor_of(DTYPE_FLOAT32, 1, sizes + 1, 2)};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    char text[2000];
    snprintf(
        text, sizeof text,
        "graph(%%x : Tensor, %%w : Tensor):\n%s  %%shape : int[] = prim::Constant[value=[6]]()\n%s  return (%%y)\n",
        CONSTANTS, forms[i].body);
    Pair pair;
    pair_make(&pair, text);
    check_run(&pair, &exec, text, inputs);
    bool fused = pair.group && pair.group->has_lines && pair.group->runs == 1;
    if (fused != forms[i].is_one_group) fail_msg("form %zu is%s fused", i, fused ? "" : " not");
    pair_dispose(&pair);
  }
  for (int i = 0; i < 2; i++) ivalue_release(inputs[i]);
}

static void test_refusals(void **state) {
  (void)state;
  static const char text[] = "graph(%x : Tensor, %w : Tensor):\n" CONSTANTS
                             "  %a : Tensor = aten::mul(%x, %w)\n  %y : Tensor = aten::sum(%a, %ones, %keep, %none)\n"
                             "  return (%y)\n";
  Pair pair;
  Exec exec;
  exec_init(&exec, NULL);
  exec.work.threads = 1;
  pair_make(&pair, text);
  FuseGroup *group = pair.group;
  assert_non_null(group);
  int64_t flat[] = {4, 6}, deep[] = {2, 3, 4}, none[] = {0, 6}, wide[] = {2, FUSE_MAX_LINE + 1};
  IValue a = tensor_of(DTYPE_FLOAT32, 2, flat, 1), b = tensor_of(DTYPE_FLOAT32, 3, deep, 2);
  IValue c = tensor_of(DTYPE_FLOAT32, 2, none, 3), d = tensor_of(DTYPE_FLOAT32, 2, wide, 4), turned;
  int64_t turned_sizes[] = {6, 4};
  IValue before = tensor_of(DTYPE_FLOAT32, 2, turned_sizes, 5);
  Tensor *view;
  assert_null(tensor_transpose(before.tensor, 0, 1, &view));
  turned = ivalue_tensor(view);
  IValue all[] = {a, b, c, d, turned};
  static const int refusals[] = {FUSE_NOT_REFUSED, FUSE_LINES, FUSE_SHAPE, FUSE_LINES, FUSE_LINES};
  for (int i = 0; i < 5; i++) {
    uint64_t was = group->refusals[refusals[i]], runs = group->runs;
    check_run(&pair, &exec, text, (IValue[]){all[i], all[i]});
    assert_int_equal(group->runs, runs + (refusals[i] == FUSE_NOT_REFUSED));
    if (refusals[i]) assert_int_equal(group->refusals[refusals[i]], was + 1);
  }
  for (int i = 0; i < 5; i++) ivalue_release(all[i]);
  ivalue_release(before);
  pair_dispose(&pair);
}

/* Lines over other dimensions are another group's. */
static void test_dimensions_apart(void **state) {
  (void)state;
  static const char text[] = "graph(%x : Tensor):\n" CONSTANTS
                             "  %a : Tensor = aten::mul(%x, %x)\n  %s : Tensor = aten::softmax(%a, %last, %none)\n"
                             "  %m : Tensor = aten::mean(%s, %two, %keep, %none)\n  %y : Tensor = aten::neg(%m)\n"
                             "  return (%y)\n";
  Pair pair;
  Exec exec;
  uint32_t groups = 0;
  int64_t sizes[] = {2, 4, 6};
  IValue x = tensor_of(DTYPE_FLOAT32, 3, sizes, 1);
  exec_init(&exec, NULL);
  exec.work.threads = 1;
  pair_make(&pair, text);
  BLOCK_EACH(node, pair.fused_graph->block) groups += node->kind == SYM_prim_FusionGroup;
  assert_int_equal(groups, 2);
  check_run(&pair, &exec, text, &x);
  assert_int_equal(pair.group->runs, 1);
  ivalue_release(x);
  pair_dispose(&pair);
}

/* bfloat16's own layer norm is left to its operator. */
static void test_dtypes_of_layer_norm(void **state) {
  (void)state;
  static const char text[] =
      "graph(%x : Tensor, %w : Tensor):\n" CONSTANTS
      "  %shape : int[] = prim::Constant[value=[4, 6]]()\n  %a : Tensor = aten::neg(%x)\n"
      "  %b : Tensor = aten::layer_norm(%a, %shape, %w, %none, %eps, %keep)\n  %y : Tensor = aten::relu(%b)\n"
      "  return (%b, %y)\n";
  static const DType kinds[] = {DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_FLOAT16, DTYPE_BFLOAT16};
  Pair pair;
  Exec exec;
  int64_t sizes[] = {5, 4, 6};
  exec_init(&exec, NULL);
  exec.work.threads = 2;
  for (int i = 0; i < 4; i++) { /* a group each: how many kernels one holds is not asked here */
    IValue inputs[] = {tensor_of(kinds[i], 3, sizes, 1), tensor_of(kinds[i], 2, sizes + 1, 2)};
    pair_make(&pair, text);
    check_run(&pair, &exec, text, inputs);
    assert_int_equal(pair.group->runs, i < 3);
    assert_int_equal(pair.group->refusals[FUSE_NO_KERNEL], i == 3);
    for (int k = 0; k < 2; k++) ivalue_release(inputs[k]);
    pair_dispose(&pair);
  }
}

static void test_text(void **state) {
  (void)state;
  static const char text[] = "graph(%x : Tensor):\n" CONSTANTS
                             "  %a : Tensor = aten::mul(%x, %x)\n  %y : Tensor = aten::mean(%a, %lasts, %keep, %none)\n"
                             "  return (%y)\n";
  Pair pair;
  StrBuf out = {0};
  pair_make(&pair, text);
  assert_null(fuse_group_print(pair.group, &out));
  assert_text(&out,
              "inputs: float32\n"
              "kernel(%0: f32) {\n"
              "  %1: f32 = mul %0, %0\n"
              "  %2: f64 = line_mean %1\n"
              "  return %2\n"
              "}\n");
  pair_dispose(&pair);
}

/* ---- in every executor ---- */

static const char source[] =
    "def f(x, y, w):\n"
    "    a = torch.softmax(x * 0.5 + y, -1)\n"
    "    b = torch.layer_norm(a * w, [6], w, w)\n"
    "    c = (b * b).mean(-1, keepdim=True)\n"
    "    d = torch.log_softmax(b * c, dim=-1)\n"
    "    return (a, d, (d + y).sum(-1), torch.amax(d * w, dim=-1, keepdim=True), c.amin(-1) + 1)\n"
    "def g(x, y, w):\n" /* refused by some run or other: dims, dtypes, an error */
    "    a = (x * y).sum(1, keepdim=True) * w\n"
    "    return torch.softmax(a.to(torch.float64) - y, -1), (x + y).mean(-1)\n"
    "def h(x, y, w):\n" /* over two dimensions */
    "    a = x * 0.5 + y\n"
    "    b = torch.layer_norm(a * w, [3, 6])\n"
    "    c = a * torch.rsqrt((a * a).mean([-2, -1], keepdim=True) + 1e-5)\n"
    "    return (b, (b + 1).amax([-1, -2]), c, torch.relu(c).sum([1, 2]), torch.softmax(c, -1))\n";

static wick_value *tensor_value(DType dtype, int ndim, const int64_t *sizes, uint64_t seed) {
  wick_value *value = NULL;
  Random r = {seed};
  assert_int_equal(wick_tensor_new((uint32_t)dtype, ndim, sizes, &value, NULL), WICK_OK);
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(value, &view, NULL), WICK_OK);
  int64_t n = 1;
  for (int i = 0; i < ndim; i++) n *= sizes[i];
  for (int64_t i = 0; i < n; i++) {
    double x = (double)below(&r, 1000) / 100 - 5;
    dtype_convert(dtype, (char *)view.data + i * (int64_t)dtype_size(dtype), 1, DTYPE_FLOAT64, &x, 1, 1);
  }
  return value;
}

/* The text of the results, or of the error, of each of some calls. */
static void call_all(uint32_t executor, StrBuf *out) {
  static const int64_t sizes[][3] = {{4, 6}, {4, 6}, {2, 3, 6}, {5, 1}, {4, 7}, {6}, {0, 6}};
  static const int ndims[] = {2, 2, 3, 2, 2, 1, 2};
  static const DType kinds[] = {DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_BFLOAT16, DTYPE_INT64};
  wick_runtime *runtime;
  wick_module *module;
  wick_executor_options options = {.size = sizeof options, .executor = executor, .synchronous = 1};
  assert_int_equal(wick_runtime_new(NULL, &runtime, NULL), WICK_OK);
  assert_int_equal(wick_runtime_set_executor(runtime, &options, NULL), WICK_OK);
  assert_int_equal(wick_compile(runtime, source, strlen(source), "f.py", &module, NULL), WICK_OK);
  for (int turn = 0; turn < 3; turn++)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
      for (size_t i = 0; i < sizeof ndims / sizeof *ndims; i++)
        for (int name = 0; name < 3; name++) {
          int64_t last[] = {6};
          wick_value *x = tensor_value(kinds[k], ndims[i], sizes[i], 1), *result = NULL;
          wick_value *y = tensor_value(kinds[k], ndims[i], sizes[i], 2), *w = tensor_value(kinds[k], 1, last, 3);
          wick_error *error = NULL;
          char *text = NULL;
          if (wick_run(module,
                       name == 2 ? "h"
                       : name    ? "g"
                                 : "f",
                       (const wick_value *const[]){x, y, w}, 3, NULL, 0, NULL, &result, &error)) {
            const char *message = wick_error_message(error);
            strbuf_printf(out, "%d %zu %zu: %s\n", name, k, i,
                          strrchr(message, '\n') ? strrchr(message, '\n') : message);
          } else {
            assert_int_equal(wick_value_print(result, &text, NULL), WICK_OK);
            strbuf_printf(out, "%d %zu %zu: %s\n", name, k, i, text);
            wick_text_free(text);
          }
          wick_error_free(error);
          wick_value *all[] = {x, y, w, result};
          for (int v = 0; v < 4; v++) wick_value_release(all[v]);
        }
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static void test_executors(void **state) {
  (void)state;
  StrBuf expected = {0};
  call_all(WICK_EXECUTOR_SIMPLE, &expected);
  for (uint32_t executor = WICK_EXECUTOR_SPECIALIZING; executor <= WICK_EXECUTOR_PROFILING; executor++) {
    StrBuf text = {0};
    call_all(executor, &text);
    assert_string_equal(text.data, expected.data);
    strbuf_dispose(&text);
  }
  strbuf_dispose(&expected);
}

int main(void) {
  nans_are_equal = true;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms),
                                     cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_dimensions_apart),
                                     cmocka_unit_test(test_dtypes_of_layer_norm),
                                     cmocka_unit_test(test_text),
                                     cmocka_unit_test(test_executors),
                                     cmocka_unit_test(test_random_programs),
                                     cmocka_unit_test(test_random_programs_over_two_dims)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
