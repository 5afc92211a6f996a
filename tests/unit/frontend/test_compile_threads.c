/* Programs compiled and called for the first time by several threads: each its own, and all the same one. Results are
 * those of one thread; the sanitizers see to the rest. The programs have calls, a fork, operators written in
 * TorchScript and an autocast region, for each is made ready in its own way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wick/wick.h"

enum { THREADS = 4, PROGRAMS = 8, ROUNDS = 3 };

/* %d: what makes programs different. */
static const char program[] =
    "def scaled(x: Tensor, n: int) -> Tensor:\n"
    "    for i in range(n):\n"
    "        x = x * 2 + i\n"
    "    return x\n"
    "def slow(x: Tensor) -> Tensor:\n"
    "    return scaled(x, 2) + %d\n"
    "def cast(x: Tensor) -> Tensor:\n"
    "    with torch.cpu.amp.autocast():\n"
    "        return torch.mm(x.view(2, 2), x.view(2, 2)).float()\n"
    "def f(x: Tensor) -> Tensor:\n"
    "    future = torch.jit.fork(slow, x)\n"
    "    y = torch.nn.functional.layer_norm(scaled(x, 3), [4])\n"
    "    z = torch.stack([cast(x).view(4), y])\n"
    "    return torch.jit.wait(future) + z.sum(0) + torch.linalg.vector_norm(x)\n";

static wick_module *compile(int number) {
  char text[sizeof program + 16];
  wick_module *module = NULL;
  wick_error *error = NULL;
  int length = snprintf(text, sizeof text, program, number);
  if (wick_compile(NULL, text, (size_t)length, "p.py", &module, &error)) fail_msg("%s", wick_error_message(error));
  return module;
}

/* The sum of what f gives. */
static double call(wick_module *module, uint32_t executor) {
  wick_value *x, *result;
  wick_error *error = NULL;
  wick_run_options options = {.size = sizeof options, .executor = executor};
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, (int64_t[]){4}, &x, NULL), WICK_OK);
  float *data = wick_tensor_mutable_data(x);
  for (int i = 0; i < 4; i++) data[i] = (float)i + 1;
  if (wick_run(module, "f", (const wick_value *const[]){x}, 1, NULL, 0, &options, &result, &error))
    fail_msg("%s", wick_error_message(error));
  data = wick_tensor_mutable_data(result);
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += (double)data[i];
  wick_value_release(x);
  wick_value_release(result);
  return sum;
}

typedef struct Worker {
  pthread_t thread;
  wick_module *module; /* all threads', or NULL: each compiles its own */
  uint32_t executor;
  int number;
  double sums[PROGRAMS];
} Worker;

static void *work(void *argument) {
  Worker *w = argument;
  for (int i = 0; i < PROGRAMS; i++) {
    wick_module *own = w->module ? NULL : compile(i);
    w->sums[i] = call(own ? own : w->module, w->executor);
    wick_module_release(own);
  }
  return NULL;
}

static void run(wick_module *module, uint32_t executor, const double *expected) {
  Worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (Worker){.module = module, .executor = executor, .number = i};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
  for (int i = 0; expected && i < THREADS; i++)
    for (int k = 0; k < PROGRAMS; k++) assert_true(workers[i].sums[k] == expected[module ? 0 : k]);
}

static const uint32_t executors[] = {WICK_EXECUTOR_SIMPLE, WICK_EXECUTOR_SPECIALIZING, WICK_EXECUTOR_PROFILING};

static void test_each_its_own(void **state) {
  (void)state;
  double expected[PROGRAMS];
  for (int e = 0; e < 3; e++) {
    if (e == 1) /* the first time everything is new to the process, too */
      for (int i = 0; i < PROGRAMS; i++) {
        wick_module *module = compile(i);
        expected[i] = call(module, WICK_EXECUTOR_SIMPLE);
        wick_module_release(module);
      }
    run(NULL, executors[e], e ? expected : NULL);
  }
}

/* The first call of everything by all threads at once. */
static void test_all_the_same(void **state) {
  (void)state;
  for (int e = 0; e < 3; e++)
    for (int round = 0; round < ROUNDS; round++) {
      wick_module *one = compile(5), *all = compile(5);
      double expected = call(one, WICK_EXECUTOR_SIMPLE);
      run(all, executors[e], &expected);
      wick_module_release(one);
      wick_module_release(all);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_its_own), cmocka_unit_test(test_all_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
