/* Executors through wick.h: the same results in every mode, what is assumed and noticed, bounds, threads. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/handles.h"
#include "base/queue.h"
#include "executor/compile_times.h"
#include "wick/wick.h"

static const char *const program =
    "def scale(x, k: int):\n"
    "    return x * k + x\n"
    "def shapes(x, n: int):\n"
    "    y = x\n"
    "    for i in range(n):\n"
    "        if i % 2 == 0:\n"
    "            y = scale(y, i)\n"
    "        else:\n"
    "            y = y - x.size(0)\n"
    "    return y.sum()\n"
    "def loss(x, w, n: int):\n"
    "    y = x\n"
    "    for i in range(n):\n"
    "        if i % 2 == 0:\n"
    "            y = y * w\n"
    "        else:\n"
    "            y = torch.relu(y) + x\n"
    "    return (y * 2 + w).sum()\n"
    "def nothing_to_assume(x, n: int):\n"
    "    y = scale(x, n)\n"
    "    return scale(y, n).sum()\n"
    "def much_to_assume(x, n: int):\n"
    "    y = scale(x, n)\n"
    "    if x.dim() != 1:\n"
    "        y = y.flatten()\n"
    "    if x.size(0) > 100:\n"
    "        y = y[:100] * 2\n"
    "    return y.sum()\n"
    "def numbers(n: int):\n"
    "    total = 0\n"
    "    for i in range(n):\n"
    "        total += i * 2\n"
    "    return total\n"
    "def maybe(x, y: Optional[Tensor]):\n"
    "    if y is None:\n"
    "        return x * 2 + 1\n"
    "    return x + y\n"
    "def fails(x, n: int):\n"
    "    y = scale(x, n)\n"
    "    assert n < 3, 'n is too large'\n"
    "    return y\n"
    "class State:\n"
    "    def __init__(self):\n"
    "        self.sum = torch.zeros(0)\n"
    "def begin():\n"
    "    return State()\n"
    "def add(state: State, x):\n"
    "    before = state.sum\n"
    "    if len(before) == 0:\n"
    "        before = torch.zeros_like(x)\n"
    "    after = (before + x * 2) * 1\n"
    "    state.sum = after\n"
    "    return after.sum()\n";

static wick_stats stats(void) {
  wick_stats s = {.size = sizeof s};
  wick_stats_get(&s);
  return s;
}

static wick_runtime *runtime_with(uint32_t executor, uint32_t synchronous, uint32_t depth) {
  wick_runtime *runtime;
  wick_executor_options options = {
      .size = sizeof options, .executor = executor, .synchronous = synchronous, .bailout_depth = depth};
  assert_int_equal(wick_runtime_new(NULL, &runtime, NULL), WICK_OK);
  assert_int_equal(wick_runtime_set_executor(runtime, &options, NULL), WICK_OK);
  return runtime;
}

static wick_module *compile(wick_runtime *runtime) {
  wick_module *module;
  wick_error *error = NULL;
  wick_compile(runtime, program, strlen(program), "program.py", &module, &error);
  if (error) print_error("%s\n", wick_error_message(error));
  assert_null(error);
  return module;
}

static wick_value *ones(int64_t n) {
  wick_value *size = wick_value_int(n), *list, *none = wick_value_none(), *out;
  wick_value_list((const wick_value *const[]){size}, 1, &list, NULL);
  wick_error *error = NULL;
  wick_op_call(NULL, "aten::ones", NULL, (const wick_value *const[]){list}, 1, NULL, 0, &out, &error);
  assert_null(error);
  wick_value_release(size);
  wick_value_release(list);
  wick_value_release(none);
  return out;
}

static double number(const wick_value *v) {
  if (wick_value_kind(v) != WICK_TENSOR) return wick_value_to_double(v);
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(v, &view, NULL), WICK_OK);
  return *(float *)view.data;
}

/* The first element of the result; both arguments are released. */
static double run2(wick_module *module, const char *name, wick_value *a, wick_value *b) {
  wick_value *out;
  wick_error *error = NULL;
  wick_run(module, name, (const wick_value *const[]){a, b}, b ? 2 : 1, NULL, 0, NULL, &out, &error);
  if (error) print_error("%s\n", wick_error_message(error));
  assert_null(error);
  double result = number(out);
  wick_value_release(out);
  wick_value_release(a);
  wick_value_release(b);
  return result;
}

enum { RUNS_TO_WEIGH = 8, BAILOUTS_TO_GIVE_UP = 2 }; /* as in executor/variant_stages.c */

/* Calls until the plan is made, then one with another size; returns how many of these failed a guard. */
static uint64_t bailouts_of(wick_module *module, const char *name) {
  for (int k = 0; k < 6; k++) {
    run2(module, name, ones(3), wick_value_int(2));
    wick_wait_for_plans();
  }
  wick_stats before = stats();
  assert_float_equal(run2(module, name, ones(5), wick_value_int(0)), 5, 0);
  assert_int_equal(stats().plan_hits, before.plan_hits + 1);
  return stats().bailouts - before.bailouts;
}

/* 0: nobody says. */
static int thread_count(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return 0;
  for (const struct dirent *entry; (entry = readdir(tasks));) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* Before all others: no thread that makes plans is there yet. */
static void test_first_call_makes_small_plans(void **state) {
  (void)state;
  int threads = thread_count();
  for (uint32_t executor = WICK_EXECUTOR_SPECIALIZING; executor <= WICK_EXECUTOR_PROFILING; executor++) {
    wick_runtime *runtime = runtime_with(executor, 0, 1);
    wick_module *module = compile(runtime);
    wick_stats before = stats();
    for (int k = 0; k < 2; k++) run2(module, "much_to_assume", ones(3), wick_value_int(2));
    assert_int_equal(stats().plan_hits, before.plan_hits + 2);
    assert_true(stats().compiles > before.compiles);
    wick_module_release(module);
    wick_runtime_release(runtime);
  }
  assert_int_equal(thread_count(), threads);
}

static void test_guards_have_to_pay(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 0, 1);
  wick_module *module = compile(runtime);
  assert_int_equal(bailouts_of(module, "nothing_to_assume"), 0);
  assert_int_equal(bailouts_of(module, "much_to_assume"), 1);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static uint64_t bailouts_with(wick_module *module, int64_t size) {
  uint64_t before = stats().bailouts;
  assert_float_equal(run2(module, "nothing_to_assume", ones(size), wick_value_int(2)), (double)size * 9, 0);
  return stats().bailouts - before;
}

/* Calls run in the guarded plan until it has been weighed, which none of them waits for, and which a change of stage
 * makes needless. */
static void test_guards_are_weighed_later(void **state) {
  (void)state;
  enum { PROFILING_AND_GUARDED = 2 };
  for (int changes_stage = 0; changes_stage < 2; changes_stage++) {
    wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 0, 1);
    wick_module *module = compile(runtime);
    wick_stats before = stats();
    queue_hold();
    for (int k = 0; k < 1 + RUNS_TO_WEIGH; k++) assert_int_equal(bailouts_with(module, 3), 0);
    assert_int_equal(stats().plan_hits, before.plan_hits + 1 + RUNS_TO_WEIGH);
    assert_int_equal(bailouts_with(module, 5), 1);
    for (int k = 1; changes_stage && k < BAILOUTS_TO_GIVE_UP; k++) assert_int_equal(bailouts_with(module, 5), 1);
    if (changes_stage) assert_int_equal(bailouts_with(module, 5), 0); /* watched again */
    assert_int_equal(stats().compiles, before.compiles + PROFILING_AND_GUARDED);
    queue_let_go();
    queue_drain();
    assert_int_equal(stats().compiles, before.compiles + PROFILING_AND_GUARDED + !changes_stage);
    for (int k = 0; changes_stage && k < 3; k++) {
      assert_int_equal(bailouts_with(module, 3), 0);
      wick_wait_for_plans();
    }
    assert_int_equal(bailouts_with(module, 7), 0); /* nothing is assumed any more */
    wick_module_release(module);
    wick_runtime_release(runtime);
  }
}

/* Calls alone don't have guards weighed before there are many; who waits for plans does. */
static void test_waiting_has_guards_weighed(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 0, 1);
  wick_module *module = compile(runtime);
  wick_stats before = stats();
  for (int k = 0; k < RUNS_TO_WEIGH; k++) run2(module, "nothing_to_assume", ones(3), wick_value_int(2));
  queue_drain();
  assert_int_equal(stats().compiles, before.compiles + 2);
  wick_wait_for_plans();
  assert_int_equal(stats().compiles, before.compiles + 3);
  assert_int_equal(bailouts_with(module, 5), 0);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static double expected_shapes(int64_t size, int n) {
  double y = 1;
  for (int i = 0; i < n; i++) y = i % 2 ? y - (double)size : y * i + y;
  return y * (double)size;
}

/* Whether the call finds a plan. */
static bool hits_plan(wick_module *module) {
  uint64_t before = stats().plan_hits;
  assert_float_equal(run2(module, "shapes", ones(2), wick_value_int(4)), expected_shapes(2, 4), 1e-4);
  return stats().plan_hits > before;
}

static void test_trim_gives_plans_back(void **state) {
  (void)state;
  for (uint32_t executor = WICK_EXECUTOR_SPECIALIZING; executor <= WICK_EXECUTOR_PROFILING; executor++) {
    wick_runtime *runtime = runtime_with(executor, 0, 2);
    wick_module *module = compile(runtime);
    for (int round = 0; round < 3; round++) {
      uint64_t before = stats().compiles;
      for (int k = 0; k < 5; k++) {
        hits_plan(module);
        wick_wait_for_plans();
      }
      assert_true(stats().compiles > before); /* a plan is made, and made again */
      before = stats().compiles;
      assert_true(hits_plan(module));
      wick_wait_for_plans();
      assert_int_equal(stats().compiles, before);
      wick_trim();
    }
    wick_wait_for_plans();
    wick_module_release(module);
    wick_runtime_release(runtime);
  }
}

static void test_times_are_told(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 1, 2);
  wick_module *module = compile(runtime);
  for (int k = 0; k < 4; k++) run2(module, "shapes", ones(2), wick_value_int(6));
  StrBuf text = {0};
  compile_times_print(&text);
  const char *whole = strstr(text.data, "  optimized\n"), *step = strstr(text.data, "  optimized: guard_elimination\n");
  assert_non_null(whole);
  assert_true(step > whole); /* the sum stands above its parts */
  assert_non_null(strstr(text.data, "  profiling: copy and inline\n"));
  strbuf_dispose(&text);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static void test_modes_agree(void **state) {
  (void)state;
  for (uint32_t executor = WICK_EXECUTOR_SIMPLE; executor <= WICK_EXECUTOR_PROFILING; executor++) {
    wick_runtime *runtime = runtime_with(executor, 1, 2);
    wick_module *module = compile(runtime);
    for (int64_t size = 1; size < 5; size++)
      for (int k = 0; k < 4; k++) {
        assert_float_equal(run2(module, "shapes", ones(size), wick_value_int(6)), expected_shapes(size, 6), 1e-3);
        assert_float_equal(run2(module, "numbers", wick_value_int(10), NULL), 90, 0);
      }
    for (int k = 0; k < 3; k++) {
      assert_float_equal(run2(module, "maybe", ones(2), wick_value_none()), 3, 0);
      assert_float_equal(run2(module, "maybe", ones(2), ones(2)), 2, 0);
    }
    wick_module_release(module);
    wick_runtime_release(runtime);
  }
}

static void test_bailout_goes_on(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 1, 1);
  wick_module *module = compile(runtime);
  for (int k = 0; k < 3; k++) run2(module, "shapes", ones(3), wick_value_int(4));
  wick_stats before = stats();
  assert_float_equal(run2(module, "shapes", ones(5), wick_value_int(4)), expected_shapes(5, 4), 1e-3);
  assert_int_equal(stats().bailouts, before.bailouts + 1);
  /* profiled again, both sizes are expected from then on */
  for (int k = 0; k < 4; k++) run2(module, "shapes", ones(5), wick_value_int(4));
  before = stats();
  assert_float_equal(run2(module, "shapes", ones(3), wick_value_int(4)), expected_shapes(3, 4), 1e-3);
  assert_int_equal(stats().bailouts, before.bailouts);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static void test_error_has_a_trace(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 1, 1);
  wick_module *module = compile(runtime);
  for (int k = 0; k < 4; k++) {
    wick_value *x = ones(2), *n = wick_value_int(5), *out;
    wick_error *error = NULL;
    assert_int_not_equal(wick_run(module, "fails", (const wick_value *const[]){x, n}, 2, NULL, 0, NULL, &out, &error),
                         WICK_OK);
    assert_non_null(strstr(wick_error_message(error), "n is too large"));
    assert_non_null(strstr(wick_error_trace(error), "program.py\", line"));
    assert_non_null(strstr(wick_error_trace(error), "assert n < 3"));
    wick_error_free(error);
    wick_value_release(x);
    wick_value_release(n);
    run2(module, "fails", ones(2), wick_value_int(1));
  }
  wick_module_release(module);
  wick_runtime_release(runtime);
}

/* Ever new shapes end in a plan that assumes none; nothing is compiled any more. */
static void test_changing_shapes_settle(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 1, 2);
  wick_module *module = compile(runtime);
  for (int64_t i = 0; i < 40; i++) run2(module, "shapes", ones(1 + i % 23), wick_value_int(3));
  wick_stats before = stats();
  for (int64_t i = 0; i < 200; i++) {
    int64_t size = 1 + i % 29;
    assert_float_equal(run2(module, "shapes", ones(size), wick_value_int(3)), expected_shapes(size, 3), 1e-2);
  }
  assert_int_equal(stats().compiles, before.compiles);
  assert_int_equal(stats().bailouts, before.bailouts);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static void test_unoptimized(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 1, 0);
  wick_runtime_set_optimize(runtime, 0);
  wick_module *module = compile(runtime);
  for (int k = 0; k < 3; k++)
    assert_float_equal(run2(module, "shapes", ones(3), wick_value_int(4)), expected_shapes(3, 4), 1e-3);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static double start2(wick_module *module, const char *name, wick_value *a, wick_value *b) {
  wick_future *future;
  wick_value *out;
  assert_int_equal(wick_run_async(module, name, (const wick_value *const[]){a, b}, 2, NULL, 0, NULL, &future, NULL),
                   WICK_OK);
  assert_int_equal(wick_future_wait(future, 0, &out, NULL), WICK_OK);
  double result = number(out);
  wick_value_release(out);
  wick_future_release(future);
  wick_value_release(a);
  wick_value_release(b);
  return result;
}

/* Asynchronous calls are watched, run in the plan and bail out of it as the others. */
static void test_asynchronous_calls(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 1, 1);
  wick_module *module = compile(runtime);
  for (int k = 0; k < 4; k++)
    assert_float_equal(start2(module, "shapes", ones(3), wick_value_int(4)), expected_shapes(3, 4), 1e-3);
  wick_stats before = stats();
  assert_float_equal(start2(module, "shapes", ones(3), wick_value_int(4)), expected_shapes(3, 4), 1e-3);
  assert_int_equal(stats().plan_hits, before.plan_hits + 1);
  assert_float_equal(start2(module, "shapes", ones(5), wick_value_int(4)), expected_shapes(5, 4), 1e-3);
  assert_int_equal(stats().bailouts, before.bailouts + 1);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

/* Calls that enter without grad mode and turn it on: what no_grad computes stays in there, and what required a gradient
 * still does when it was written to after that. */
static void test_grad_mode_within(void **state) {
  (void)state;
  static const char *const text =
      "def written(x):\n"
      "    y = x * 2.\n"
      "    with torch.enable_grad():\n"
      "        y.copy_(x.detach().requires_grad_())\n"
      "    y.mul_(0.5)\n"
      "    y.add_(1.)\n"
      "    return int(y.requires_grad)\n"
      "def f(x):\n"
      "    with torch.enable_grad():\n"
      "        x = x * 1.\n"
      "        x.requires_grad_()\n"
      "        with torch.no_grad():\n"
      "            y = x * 2.\n"
      "        z = y + 1.\n"
      "    return int(z.requires_grad)\n";
  for (uint32_t executor = WICK_EXECUTOR_SIMPLE; executor <= WICK_EXECUTOR_PROFILING; executor++) {
    wick_runtime *runtime = runtime_with(executor, 1, 1);
    wick_module *module;
    assert_int_equal(wick_compile(runtime, text, strlen(text), "mode.py", &module, NULL), WICK_OK);
    for (int k = 0; k < 4; k++) {
      assert_float_equal(run2(module, "f", ones(3), NULL), 0, 0);
      assert_float_equal(run2(module, "written", ones(3), NULL), 1, 0);
    }
    wick_module_release(module);
    wick_runtime_release(runtime);
  }
}

/* Calls until no plan is made any more; how many were. */
static uint64_t plans_until_settled(wick_module *module) {
  uint64_t before = stats().compiles;
  for (int k = 0; k < 12; k++) {
    hits_plan(module);
    wick_wait_for_plans();
  }
  return stats().compiles - before;
}

/* A plan that was made for one precision is no other's: neither one for a kind of arguments nor, where there is room
 * for one of those alone, one for any. */
static void test_precisions_do_not_meet(void **state) {
  (void)state;
  for (uint32_t executor = WICK_EXECUTOR_SPECIALIZING; executor <= WICK_EXECUTOR_PROFILING; executor++) {
    for (uint32_t max_plans = 0; max_plans < 2; max_plans++) {
      wick_executor_options options = {.size = sizeof options, .executor = executor, .max_plans = max_plans};
      wick_runtime *runtime = runtime_with(executor, 0, 1);
      assert_int_equal(wick_runtime_set_executor(runtime, &options, NULL), WICK_OK);
      wick_module *module = compile(runtime);
      for (int precision = 0; precision < PRECISION_LIMIT; precision++) {
        atomic_store(&runtime_of(runtime)->precision, (uint8_t)precision);
        assert_true(plans_until_settled(module) > 0);
      }
      for (int precision = 0; precision < PRECISION_LIMIT; precision++) {
        atomic_store(&runtime_of(runtime)->precision, (uint8_t)precision);
        assert_int_equal(plans_until_settled(module), 0);
        assert_true(hits_plan(module));
      }
      wick_module_release(module);
      wick_runtime_release(runtime);
    }
  }
}

static void test_options_are_checked(void **state) {
  (void)state;
  wick_executor_options options = {.size = sizeof options, .executor = 9};
  wick_error *error = NULL;
  assert_int_not_equal(wick_runtime_set_executor(NULL, &options, &error), WICK_OK);
  wick_error_free(error);
}

/* A child has no thread that compiles, and starts its own. */
static void test_forked_child(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip(); /* it does not let a forked child start threads */
#endif
  if (getenv("WICK_TEST_EMULATED")) skip(); /* nor does qemu-user */
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 0, 1);
  wick_module *module = compile(runtime);
  for (int k = 0; k < 20; k++) run2(module, "shapes", ones(3), wick_value_int(4));
  for (int k = 0; k < 5; k++) {
    run2(module, "maybe", ones(1 + k), ones(1 + k));
    pid_t child = fork();
    if (!child) {
      alarm(300); /* no machine is so slow: it hangs */
      wick_module *own = compile(runtime);
      for (int i = 0; i < 50; i++) run2(own, "shapes", ones(2), wick_value_int(4));
      wick_wait_for_plans();
      double y = run2(own, "shapes", ones(2), wick_value_int(4));
      _exit(y == expected_shapes(2, 4) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
  wick_module_release(module);
  wick_runtime_release(runtime);
}

typedef struct Shared {
  wick_module *module;
  wick_value *weight; /* requires grad; of all threads */
  int index, failed;
  double weight_grad; /* what the thread's calls add to the weight's */
} Shared;

static void *call_often(void *argument) {
  Shared *s = argument;
  for (int i = 0; i < 60; i++) {
    int64_t size = 1 + (i / 20 + s->index % 2) % 3;
    wick_value *x = ones(size), *n = wick_value_int(5), *out;
    if (wick_run(s->module, "shapes", (const wick_value *const[]){x, n}, 2, NULL, 0, NULL, &out, NULL)) {
      s->failed++;
    } else {
      double want = expected_shapes(size, 5), got = number(out);
      if (got < want - 1e-2 || got > want + 1e-2) s->failed++;
      wick_value_release(out);
    }
    wick_value_release(x);
    wick_value_release(n);
  }
  return NULL;
}

/* Backward of graphs of its own, which end in a weight of all threads and in an input of the call. */
static void *differentiate_often(void *argument) {
  Shared *s = argument;
  for (int i = 0; i < 40; i++) {
    int64_t size = 1 + (i / 10 + s->index % 2) % 3;
    wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
    wick_value *x = ones(size), *n = wick_value_int(4), *out = NULL, *grad = NULL;
    bool fine =
        !wick_tensor_set_requires_grad(x, 1, NULL) &&
        !wick_run(s->module, "loss", (const wick_value *const[]){x, s->weight, n}, 3, NULL, 0, &options, &out, NULL);
    fine = fine && !wick_backward(NULL, (const wick_value *const[]){out}, NULL, 1, 0, NULL);
    fine = fine && !wick_tensor_grad(x, &grad, NULL) && grad && number(grad) == 6;
    if (fine) s->weight_grad += 7 * (double)size;
    s->failed += !fine;
    wick_value_release(grad);
    wick_value_release(out);
    wick_value_release(n);
    wick_value_release(x);
  }
  return NULL;
}

static void *trim_often(void *argument) {
  for (int i = 0; i < 30; i++) {
    wick_trim();
    sched_yield();
  }
  return call_often(argument);
}

/* One module in many threads: it is profiled, optimized and bails out meanwhile. */
static void call_in_threads(void *(*first)(void *), void *(*second)(void *)) {
  enum { THREADS = 32 };
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 0, 2);
  wick_module *module = compile(runtime);
  wick_value *weight = ones(1), *grad = NULL;
  assert_int_equal(wick_tensor_set_requires_grad(weight, 1, NULL), WICK_OK);
  pthread_t threads[THREADS];
  Shared shared[THREADS];
  double expected = 0;
  for (int i = 0; i < THREADS; i++) {
    shared[i] = (Shared){.module = module, .weight = weight, .index = i};
    assert_int_equal(pthread_create(&threads[i], NULL, i % 4 < 2 ? first : second, &shared[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(shared[i].failed, 0);
    expected += shared[i].weight_grad;
  }
  assert_int_equal(wick_tensor_grad(weight, &grad, NULL), WICK_OK);
  assert_true(expected > 0 ? grad && number(grad) == expected : !grad);
  wick_value_release(grad);
  wick_value_release(weight);
  wick_module_release(module); /* while plans may be in the making */
  wick_runtime_release(runtime);
}

static void test_many_threads(void **state) {
  (void)state;
  call_in_threads(call_often, call_often);
}

static void test_many_threads_trim(void **state) {
  (void)state;
  call_in_threads(differentiate_often, trim_often);
}

static void test_many_threads_differentiate(void **state) {
  (void)state;
  call_in_threads(differentiate_often, call_often);
  call_in_threads(differentiate_often, differentiate_often);
}

/* A program that begins without a state: what the first call reads is not what those after it read. */
static void test_state_is_awaited(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 0, 1);
  wick_module *module = compile(runtime);
  wick_value *held;
  wick_error *error = NULL;
  wick_run(module, "begin", NULL, 0, NULL, 0, NULL, &held, &error);
  assert_null(error);
  wick_wait_for_plans();
  wick_stats before = stats();
  for (int k = 1; k <= 6; k++) {
    assert_float_equal(run2(module, "add", wick_value_retain(held), ones(3)), 6 * k, 0);
    wick_wait_for_plans();
    if (k == 1) assert_int_equal(stats().compiles, before.compiles + 1); /* watches, and goes on to */
  }
  assert_true(stats().compiles > before.compiles + 1);
  assert_int_equal(stats().bailouts, before.bailouts);
  wick_value_release(held);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_state_is_awaited),
      cmocka_unit_test(test_first_call_makes_small_plans),
      cmocka_unit_test(test_times_are_told),
      cmocka_unit_test(test_modes_agree),
      cmocka_unit_test(test_bailout_goes_on),
      cmocka_unit_test(test_error_has_a_trace),
      cmocka_unit_test(test_changing_shapes_settle),
      cmocka_unit_test(test_unoptimized),
      cmocka_unit_test(test_grad_mode_within),
      cmocka_unit_test(test_asynchronous_calls),
      cmocka_unit_test(test_precisions_do_not_meet),
      cmocka_unit_test(test_options_are_checked),
      cmocka_unit_test(test_forked_child),
      cmocka_unit_test(test_many_threads),
      cmocka_unit_test(test_many_threads_differentiate),
      cmocka_unit_test(test_guards_have_to_pay),
      cmocka_unit_test(test_guards_are_weighed_later),
      cmocka_unit_test(test_waiting_has_guards_weighed),
      cmocka_unit_test(test_trim_gives_plans_back),
      cmocka_unit_test(test_many_threads_trim),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
