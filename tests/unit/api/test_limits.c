/* What a call may take, from C: every way to use more memory, steps or time than was given ends with the status that
 * says so, under every executor, and the module goes on working. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "wick/wick.h"

static const char source[] =
    "def tensors(n: int):\n"
    "    l: List[Tensor] = []\n"
    "    for i in range(n):\n"
    "        l.append(torch.zeros([1000]))\n"
    "    return len(l)\n"
    "def reused(n: int):\n"
    "    x = torch.zeros([1000])\n"
    "    for i in range(n):\n"
    "        x = torch.sin(x) + x\n"
    "    return n\n"
    "def views(n: int):\n"
    "    x = torch.zeros([1000])\n"
    "    for i in range(n):\n"
    "        x = x.cumsum(0)\n"
    "    return n\n"
    "def text(n: int):\n"
    "    s = 'a'\n"
    "    for i in range(n):\n"
    "        s = s + s\n"
    "    return len(s)\n"
    "def ints(n: int):\n"
    "    l = [1]\n"
    "    for i in range(n):\n"
    "        l = l + l\n"
    "    return len(l)\n"
    "def repeated(n: int):\n"
    "    return len([0] * (n * n * n))\n"
    "def keys(n: int):\n"
    "    d: Dict[int, int] = {}\n"
    "    for i in range(n * n):\n"
    "        d[i] = i\n"
    "    return len(d)\n"
    "def tuples(n: int):\n"
    "    l: List[Tuple[int, Tuple[int, int]]] = []\n"
    "    for i in range(n * n):\n"
    "        l.append((i, (i, i)))\n"
    "    return len(l)\n"
    "def forked(n: int):\n"
    "    fs = [torch.jit.fork(tensors, n) for i in range(4)]\n"
    "    total = 0\n"
    "    for f in fs:\n"
    "        total += torch.jit.wait(f)\n"
    "    return total\n"
    "def count(n: int):\n"
    "    i = 0\n"
    "    while i < n:\n"
    "        i = (i + 1) * 1\n"
    "    return i\n"
    "def forked_count(n: int):\n"
    "    fs = [torch.jit.fork(count, n) for i in range(64)]\n"
    "    total = 0\n"
    "    for f in fs:\n"
    "        total += torch.jit.wait(f)\n"
    "    return total\n"
    "def straight(n: int):\n"
    "    return n\n"
    "def products(n: int):\n"
    "    x = torch.ones([n, n])\n"
    "    return x @ x @ x @ x @ x @ x\n"
    "def endless_sum(n: int):\n"
    "    return torch.ones([1]).expand([n * 1000000000000]).sum()\n"
    "def endless_columns(n: int):\n"
    "    return torch.ones([1, 1]).expand([n * 1000000000000, 4]).amax(0)\n";

static wick_module *module;
static int setup(void **state) {
  (void)state;
  return wick_compile(NULL, source, strlen(source), "limits.py", &module, NULL);
}
static int teardown(void **state) {
  (void)state;
  wick_module_release(module);
  return 0;
}

static wick_status run(const char *name, int64_t n, const wick_run_options *options) {
  wick_value *argument = wick_value_int(n), *result = NULL;
  wick_error *error = NULL;
  wick_status status =
      wick_run(module, name, (const wick_value *const[]){argument}, 1, NULL, 0, options, &result, &error);
  if (status) assert_int_equal(wick_error_status(error), status);
  wick_error_free(error);
  wick_value_release(result);
  wick_value_release(argument);
  return status;
}

static wick_status run_async(const char *name, int64_t n, const wick_run_options *options) {
  wick_value *argument = wick_value_int(n), *result = NULL;
  wick_future *future;
  wick_status status =
      wick_run_async(module, name, (const wick_value *const[]){argument}, 1, NULL, 0, options, &future, NULL);
  wick_value_release(argument);
  if (status) return status;
  status = wick_future_wait(future, 0, &result, NULL);
  wick_value_release(result);
  wick_future_release(future);
  return status;
}

#define WITH_EXECUTORS(options)                                                                    \
  for ((options)->executor = WICK_EXECUTOR_SIMPLE; (options)->executor <= WICK_EXECUTOR_PROFILING; \
       (options)->executor++)

static void test_memory(void **state) {
  (void)state;
  wick_run_options options = {.size = sizeof options, .max_bytes = 1000000};
  WITH_EXECUTORS(&options) {
    for (int i = 0; i < 4; i++) {
      static const char *const greedy[] = {"tensors", "text", "ints", "repeated", "keys", "tuples", "forked"};
      for (size_t k = 0; k < sizeof greedy / sizeof *greedy; k++) {
        assert_int_equal(run(greedy[k], 1000, &options), WICK_BUDGET);
        assert_int_equal(run_async(greedy[k], 1000, &options), WICK_BUDGET);
      }
      assert_int_equal(run("tensors", 100, &options), WICK_OK);
      assert_int_equal(run("reused", 2000, &options), WICK_OK); /* what is given back may be taken again */
      assert_int_equal(run("views", 2000, &options), WICK_OK);
      assert_int_equal(run_async("reused", 2000, &options), WICK_OK);
    }
  }
  assert_int_equal(run("tensors", 1000, NULL), WICK_OK);
}

static void test_steps_are_shared_by_forks(void **state) {
  (void)state;
  wick_run_options options = {.size = sizeof options, .max_steps = 100000, .threads = 1};
  WITH_EXECUTORS(&options) {
    assert_int_equal(run("count", 50000, &options), WICK_OK);
    assert_int_equal(run("forked_count", 50000, &options), WICK_BUDGET);
    assert_int_equal(run_async("forked_count", 50000, &options), WICK_BUDGET);
    assert_int_equal(run("forked_count", 1000, &options), WICK_OK);
  }
}

static void test_over_before_it_begins(void **state) {
  (void)state;
  wick_cancel *cancel = wick_cancel_new();
  wick_cancel_fire(cancel);
  wick_run_options late = {.size = sizeof late, .deadline_ns = 1},
                   cancelled = {.size = sizeof cancelled, .cancel = cancel};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(run("straight", 1, &late), WICK_DEADLINE);
    assert_int_equal(run_async("straight", 1, &late), WICK_DEADLINE);
    assert_int_equal(run("straight", 1, &cancelled), WICK_CANCELLED);
    assert_int_equal(run_async("straight", 1, &cancelled), WICK_CANCELLED);
    assert_int_equal(run("straight", 1, NULL), WICK_OK);
  }
  wick_cancel_release(cancel);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A deadline is seen between operators and within those whose work has no bound. */
static void test_long_operators(void **state) {
  (void)state;
  wick_run_options options = {.size = sizeof options, .deadline_ns = 20000000};
  double begin = seconds();
  for (int grad = 0; grad < 2; grad++) {
    options.grad = grad ? WICK_GRAD_ON : WICK_GRAD_OFF;
    assert_int_equal(run("products", 3000, &options), WICK_DEADLINE);
    assert_int_equal(run("endless_sum", 1, &options), WICK_DEADLINE);
    assert_int_equal(run("endless_columns", 1, &options), WICK_DEADLINE);
  }
  assert_true(seconds() - begin < 60); /* generous: sanitizers, a busy machine */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_steps_are_shared_by_forks),
      cmocka_unit_test(test_over_before_it_begins),
      cmocka_unit_test(test_long_operators),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
