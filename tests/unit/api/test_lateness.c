/* Programs that need little memory and very much time: each ends soon after its deadline, or at once when there is
 * nothing to do. Lateness is measured in the process's CPU time, which other load on the machine does not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "wick/wick.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const double ALLOWED = 6; /* seconds of CPU time, of all threads together */
#else
static const double ALLOWED = 1;
#endif
static const uint64_t DEADLINE_NS = 60000000;
static const uint64_t LONG_DEADLINE_NS = 10000000000; /* for what ends at once, but may open a library first */

/* What each gives; MANY stands for a size that no loop gets through. */
#define MANY "1000000000000000000"
#define LONG "1000000000000"
#define INDEX "torch.zeros(1, dtype=torch.int64).expand(" LONG ")"
#define WIDE "torch.rand(1).expand(1, 100000000000)"
#define BYTES "torch.quantize_per_tensor(torch.rand"
static const char *const over_nothing[] = {
    "torch.bmm(torch.zeros(" MANY ", 0, 0), torch.zeros(" MANY ", 0, 5))",
    "torch.matmul(torch.zeros(" MANY ", 0, 3), torch.zeros(" MANY ", 3, 0))",
    "torch.baddbmm(torch.zeros(1, 0, 5), torch.zeros(" MANY ", 0, 0), torch.zeros(" MANY ", 0, 5))",
    "torch.svd(torch.zeros(" MANY ", 0, 0))[1]",
    "torch.linalg.qr(torch.zeros(" MANY ", 0, 0))[0]",
    "torch.matrix_power(torch.zeros(" MANY ", 0, 0), 3)",
    "torch.norm_except_dim(torch.zeros(0, " MANY "), 2, 0)",
    "torch.unique_dim(torch.zeros(" LONG ", 0), 1)[0]",
    "torch.softmax(torch.zeros(" MANY ", 0), 1)",
    "torch.sort(torch.zeros(" MANY ", 0), 1)[0]",
    "torch.topk(torch.zeros(" MANY ", 5, 0), 2, 1)[0]",
    "torch.cumsum(torch.zeros(" MANY ", 0), 1)",
    "torch.triu(torch.zeros(" MANY ", 0, 3))",
    "torch.gather(torch.zeros(" MANY ", 0), 1, torch.zeros(" MANY ", 0, dtype=torch.int64))",
    "torch.index_select(torch.zeros(5, 0), 0, " INDEX ")",
    "torch.layer_norm(torch.zeros(" MANY ", 0), [0])",
    "torch.flip(torch.zeros(" MANY ", 0), [0])",
};
static const char *const too_long[] = {
    "torch.mm(" WIDE ", " WIDE ".t())",
    "torch.dot(" WIDE "[0], " WIDE "[0])",
    "torch.mv(" WIDE ", " WIDE "[0])",
    "torch.mm(" WIDE ".to(torch.float32), " WIDE ".t()) + 1",
    "torch.mm(torch.ones(1, 1, dtype=torch.int64).expand(1, " LONG "), torch.ones(1, 1, dtype=torch.int64).expand(" LONG
    ", 1))",
    "torch.mm(torch.ones(1, 1, dtype=torch.bfloat16).expand(1, " LONG
    "), torch.ones(1, 1, dtype=torch.bfloat16).expand(" LONG ", 1))",
    "torch.mm(torch.ones(1, 1, dtype=torch.complex64).expand(1, " LONG
    "), torch.ones(1, 1, dtype=torch.complex64).expand(" LONG ", 1))",
    "torch.mm(torch.rand(1, 1).expand(64, 20000), torch.rand(20000, 1).expand(20000, 400000))[0, 0]",
    "torch.tensordot(torch.rand(1, 1).expand(2, " LONG "), torch.rand(1, 1).expand(" LONG ", 2), [[1], [0]])",
    "torch.zeros(5).index_add(0, " INDEX ", torch.ones(1).expand(" LONG "))",
    "torch.zeros(5).scatter_add(0, " INDEX ", torch.ones(1).expand(" LONG "))",
    "torch.zeros(5).scatter_reduce(0, " INDEX ", torch.ones(1).expand(" LONG "), 'amax')",
    "torch.max_pool1d(torch.rand(1, 1, 200000), [100001], [1], [50000])",
    "torch.max_pool2d(torch.rand(1, 1, 4000, 4000), [2001, 2001], [1, 1], [1000, 1000])",
    "torch.max_pool3d(torch.rand(1, 1, 100, 100, 100), [51, 51, 51], [1, 1, 1], [25, 25, 25])",
    "torch._C._nn.avg_pool2d(torch.rand(1, 1, 4000, 4000), [2001, 2001], [1, 1], [1000, 1000])",
    "torch._C._nn.avg_pool3d(torch.rand(1, 1, 100, 100, 100), [51, 51, 51], [1, 1, 1], [25, 25, 25])",
    "torch._C._nn.fractional_max_pool2d(torch.rand(1, 1, 1000, 1000), [500, 500], [400, 400], torch.rand(1, 1, 2))[0]",
    "torch.max_pool1d_with_indices(torch.rand(1, 1, 4000000), [2000000], [1], [0])[0]",
    "torch.max_pool2d_with_indices(torch.rand(1, 1, 3000, 3000), [1500, 1500], [1, 1])[0]",
    "torch.max_pool1d(torch.rand(1, 1, 10000000), [9999100], [1], [0])",
    "torch.max_pool2d(" BYTES "(1, 1, 1500, 1500), 0.1, 0, torch.quint8), [1001, 1001], [1, 1], [500, 500])",
    "torch.max_pool1d(" BYTES "(1, 1, 4000000), 0.1, 0, torch.quint8), [2000000], [1], [0])",
    "torch._C._nn.avg_pool2d(" BYTES "(1, 1, 1500, 1500), 0.1, 0, torch.quint8), [1001, 1001], [1, 1], [500, 500])",
    "torch.conv2d(torch.rand(1, 2, 2000, 2000), torch.rand(2, 1, 1000, 1000), groups=2)",
    "torch.conv1d(torch.rand(1, 2, 1000000), torch.rand(2, 1, 500000), groups=2)",
    "torch.ops.quantized.embedding_bag_2bit_prepack(torch.rand(100, 1000), True, 1000000, 0.9)",
    "torch.choose_qparams_optimized(torch.rand(10000000), 10000000, 1000000, 0.9, 8)",
    "torch.special.laguerre_polynomial_l(torch.ones(16384) * 0.5, 2000000000)",
    "torch.kaiser_window(10000000, True, 1e9)",
    "torch.split(torch.rand(1).expand(3000000), 1)",
    "torch.cdist(torch.rand(8000, 300), torch.rand(8000, 300), 3.0)",
    "torch.pdist(torch.rand(8000, 300))",
    "torch.histc(torch.zeros(1).expand(" LONG "), 10)",
    "torch.unique_dim(torch.rand(2000000, 4), 0)[0]",
    "torch.searchsorted(torch.rand(100000), torch.rand(10000000))",
    "torch.sort(torch.rand(5000000), stable=True, dim=0)[0]",
    "torch.randn(30000000)",
    "torch.multinomial(torch.rand(10), 30000000, True)",
    "torch.linalg.svd(torch.rand(1500, 1500))[1]",
    "torch.linalg.eigvals(torch.rand(1500, 1500))",
    "torch.linalg.qr(torch.rand(2500, 2500))[0]",
    "torch.linalg.lstsq(torch.rand(2500, 2500), torch.rand(2500, 10))[0]",
    "torch.inverse(torch.rand(3000, 3000))",
    "torch.conv1d(torch.rand(1, 1, 1000000), torch.rand(1, 1, 500000))",
    "torch.cartesian_prod([torch.rand(1).expand(10000), torch.rand(1).expand(10000)])",
    "torch.cat([torch.rand(1).expand(100000000), torch.rand(1).expand(100000000)])",
    "torch.rand(1, 2).expand(100000000, 2).clone()",
    "torch.zeros(1, dtype=torch.int8).expand(1000000000).flip([0])",
    "torch.zeros(1, dtype=torch.int8).expand(1000000000).to(torch.bool)",
    "torch.full([1000000000], 3, dtype=torch.int8)",
    "torch.logspace(0, 1, 200000000)",
    "torch.tril_indices(10000, 10000)",
    "torch.polar(torch.rand(1).expand(100000000), torch.rand(1).expand(100000000))",
    "torch.quantize_per_tensor(torch.rand(1).expand(400000000), 0.1, 2, torch.quint8)",
    "torch.isin(torch.rand(1).expand(100000000), torch.rand(3))",
    "torch.addbmm(torch.rand(2, 4), torch.rand(1).expand(10000000000, 2, 5), torch.rand(1).expand(10000000000, 5, 4))",
    "[1] * 30000000 == [1] * 30000000",
    "([1] * 30000000).count(2)",
    "str([1] * 30000000)",
};

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static wick_status end_of(const char *expression, uint64_t deadline_ns) {
  char text[1024];
  wick_module *module = NULL;
  wick_error *error = NULL;
  wick_value *value = NULL;
  int length = snprintf(text, sizeof text, "def f():\n    return %s\n", expression);
  assert_in_range(length, 0, sizeof text - 1);
  if (wick_compile(NULL, text, (size_t)length, "late.py", &module, &error))
    fail_msg("%s: %s", expression, wick_error_message(error));
  wick_run_options options = {.size = sizeof options, .deadline_ns = deadline_ns, .max_bytes = 1ull << 30};
  double begin = cpu_seconds();
  wick_status status = wick_run(module, "f", NULL, 0, NULL, 0, &options, &value, &error);
  double used = cpu_seconds() - begin;
  if (used > ALLOWED) fail_msg("%s: %.2f s of CPU time", expression, used);
  if (status == WICK_UNSUPPORTED) {
    wick_error_free(error); /* an optional library */
  } else if (status && status != WICK_DEADLINE) {
    fail_msg("%s: %s", expression, wick_error_message(error));
  } else {
    wick_error_free(error);
  }
  wick_value_release(value);
  wick_module_release(module);
  return status;
}

static void test_over_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof over_nothing / sizeof *over_nothing; i++) {
    wick_status status = end_of(over_nothing[i], LONG_DEADLINE_NS);
    if (status != WICK_UNSUPPORTED && status) fail_msg("%s: late", over_nothing[i]);
  }
}

/* A step that rounding undoes: PyTorch's search would not end. */
static void test_step_that_rounding_undoes(void **state) {
  (void)state;
  assert_int_equal(
      end_of("torch.choose_qparams_optimized(torch.rand(64) + 1000, 64, 2147483647, 0.2, 8)[0]", 5000000000), WICK_OK);
}

static void test_too_long(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof too_long / sizeof *too_long; i++) {
    wick_status status = end_of(too_long[i], DEADLINE_NS);
    if (!status) fail_msg("%s: it ended, and tests nothing", too_long[i]);
  }
}

/* Linear, whatever the text. */
static void test_texts(void **state) {
  (void)state;
  static const char *const quick[] = {
      "len(a.strip(b + 'a'))",          "len(a.strip(b))",
      "a.rfind('b' + a[:500000])",      "len(a.rsplit('b' + a[:500000]))",
      "a.rpartition('b' + a[:500000])", "len(a.rsplit(a[:100]))",
  };
  for (size_t i = 0; i < sizeof quick / sizeof *quick; i++) {
    char text[256];
    wick_module *module = NULL;
    wick_value *value = NULL;
    int length = snprintf(text, sizeof text,
                          "def f():\n    a = 'a'\n    b = 'b'\n    for i in range(20):\n        a = a + a\n"
                          "        b = b + b\n    return %s\n",
                          quick[i]);
    assert_int_equal(wick_compile(NULL, text, (size_t)length, "texts.py", &module, NULL), WICK_OK);
    double begin = cpu_seconds();
    assert_int_equal(wick_run(module, "f", NULL, 0, NULL, 0, NULL, &value, NULL), WICK_OK);
    if (cpu_seconds() - begin > ALLOWED) fail_msg("%s: %.2f s of CPU time", quick[i], cpu_seconds() - begin);
    wick_value_release(value);
    wick_module_release(module);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_over_nothing),
      cmocka_unit_test(test_too_long),
      cmocka_unit_test(test_step_that_rounding_undoes),
      cmocka_unit_test(test_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
