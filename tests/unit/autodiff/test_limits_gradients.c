/* Limits that end a call while it differentiates: in a forward or a backward graph, a fork, a fusion group, an
 * optimizer's step. Whatever the limit, the call gives its value or the status of that limit, and the module goes on
 * working. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "wick/wick.h"

static const char source[] =
    "def chain(x, w):\n"
    "    y = torch.tanh(x * w) * 2. + x.exp()\n"
    "    y = torch.sigmoid(y * w) * y + w\n"
    "    return y * torch.cos(y) - x * 0.5\n"
    "def data(n: int):\n"
    "    x = torch.arange(n, dtype=torch.float64) / float(n)\n"
    "    return x.requires_grad_()\n"
    "def once(n: int) -> float:\n"
    "    x = data(n)\n"
    "    w = data(n)\n"
    "    chain(x, w).sum().backward()\n"
    "    g = x.grad\n"
    "    assert g is not None\n"
    "    return float(g.sum())\n"
    "def repeated(n: int) -> float:\n"
    "    x = data(n)\n"
    "    w = data(n)\n"
    "    y = x\n"
    "    for i in range(7):\n"
    "        y = chain(y, w) * 0.5\n"
    "    g = torch.autograd.grad([y.sum()], [w])[0]\n"
    "    assert g is not None\n"
    "    return float(g.sum())\n"
    "def second(n: int) -> float:\n"
    "    x = data(n)\n"
    "    w = data(n)\n"
    "    g = torch.autograd.grad([chain(x, w).sum()], [x], create_graph=True)[0]\n"
    "    assert g is not None\n"
    "    h = torch.autograd.grad([(g * g).sum()], [w])[0]\n"
    "    assert h is not None\n"
    "    return float(h.sum())\n"
    "def forked(n: int) -> float:\n"
    "    parts = [torch.jit.fork(once, n), torch.jit.fork(repeated, n), torch.jit.fork(second, n)]\n"
    "    total = 0.\n"
    "    for part in parts:\n"
    "        total += torch.jit.wait(part)\n"
    "    return total\n"
    "def trained(n: int) -> float:\n"
    "    x = data(n).detach()\n"
    "    w = data(n)\n"
    "    buffers: List[Optional[Tensor]] = [None]\n"
    "    for i in range(4):\n"
    "        loss = ((chain(x, w) - 1.) ** 2).mean()\n"
    "        g = torch.autograd.grad([loss], [w])[0]\n"
    "        assert g is not None\n"
    "        with torch.no_grad():\n"
    "            torch.optim._functional.sgd([w], [g], buffers, weight_decay=0., momentum=0.9, lr=0.1,\n"
    "                                        dampening=0., nesterov=False, maximize=False)\n"
    "    return float(w.sum())\n";

static const char *const functions[] = {"once", "repeated", "second", "forked", "trained"};
enum { FUNCTION_COUNT = sizeof functions / sizeof *functions, SIZE = 500 };

static wick_module *module;
static double expected[FUNCTION_COUNT];

/* The status; *out_value where it is WICK_OK. */
static wick_status run(size_t function, wick_run_options *options, bool async, double *out_value) {
  wick_value *size = wick_value_int(SIZE), *result = NULL;
  const wick_value *const *arguments = (const wick_value *const[]){size};
  wick_error *error = NULL;
  wick_future *future = NULL;
  wick_status status;
  options->grad = WICK_GRAD_ON;
  if (async) {
    status = wick_run_async(module, functions[function], arguments, 1, NULL, 0, options, &future, &error);
    if (!status) status = wick_future_wait(future, 0, &result, &error);
    wick_future_release(future);
  } else {
    status = wick_run(module, functions[function], arguments, 1, NULL, 0, options, &result, &error);
  }
  if (status && status != WICK_BUDGET && status != WICK_DEADLINE && status != WICK_CANCELLED)
    print_error("%s: %s\n", functions[function], wick_error_message(error));
  if (!status) *out_value = wick_value_to_double(result);
  wick_error_free(error);
  wick_value_release(result);
  wick_value_release(size);
  return status;
}

static void check_value(size_t function, double value) {
  double difference = value - expected[function], most = 1e-9 * (expected[function] < 0 ? -1 : 1) * expected[function];
  if (difference > most || difference < -most)
    fail_msg("%s gives %.17g, not %.17g", functions[function], value, expected[function]);
}

/* How many calls the limit ended, of those with it; each is followed by one without. */
static int end_by(size_t function, wick_run_options *options, wick_status over) {
  wick_run_options free = {.size = sizeof free, .executor = options->executor};
  int ended = 0;
  for (int async = 0; async < 2; async++) {
    double value;
    wick_status status = run(function, options, async, &value);
    if (status)
      assert_int_equal(status, over);
    else
      check_value(function, value);
    ended += status != WICK_OK;
    assert_int_equal(run(function, &free, false, &value), WICK_OK);
    check_value(function, value);
  }
  return ended;
}

static int setup(void **state) {
  (void)state;
  wick_run_options simple = {.size = sizeof simple, .executor = WICK_EXECUTOR_SIMPLE};
  if (wick_compile(NULL, source, strlen(source), "limits.py", &module, NULL)) return -1;
  for (size_t f = 0; f < FUNCTION_COUNT; f++)
    if (run(f, &simple, false, &expected[f])) return -1;
  return 0;
}
static int teardown(void **state) {
  (void)state;
  wick_module_release(module);
  return 0;
}

#define EVERYWHERE(options, f)                                                                     \
  for ((options)->executor = WICK_EXECUTOR_SIMPLE; (options)->executor <= WICK_EXECUTOR_PROFILING; \
       (options)->executor++)                                                                      \
    for (size_t f = 0; f < FUNCTION_COUNT; f++)

static void test_memory(void **state) {
  (void)state;
  wick_run_options options = {.size = sizeof options};
  EVERYWHERE(&options, f) {
    int ended = 0, calls = 0;
    for (options.max_bytes = 100 + 37 * f; options.max_bytes < 4000000; options.max_bytes += options.max_bytes / 4)
      ended += end_by(f, &options, WICK_BUDGET), calls += 2;
    assert_true(ended > 0 && ended < calls);
  }
}

static void test_steps(void **state) {
  (void)state;
  wick_run_options options = {.size = sizeof options};
  int ended = 0;
  EVERYWHERE(&options, f)
  for (options.max_steps = 1; options.max_steps < 300; options.max_steps += 1 + options.max_steps / 3)
    ended += end_by(f, &options, WICK_BUDGET);
  assert_true(ended > 0);
}

static void test_deadlines(void **state) {
  (void)state;
  wick_run_options options = {.size = sizeof options};
  int ended = 0;
  EVERYWHERE(&options, f)
  for (options.deadline_ns = 1000; options.deadline_ns < 4000000; options.deadline_ns += options.deadline_ns / 3)
    ended += end_by(f, &options, WICK_DEADLINE);
  assert_true(ended > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_deadlines),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
