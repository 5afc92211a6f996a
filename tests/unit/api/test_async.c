/* Asynchronous calls from C: results, errors, callbacks, time, cancelling, handles that go early, many forks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wick/wick.h"

static const char source[] =
    "def add(a: int, b: int) -> int:\n"
    "    return a + b\n"
    "def fail(a: int, b: int) -> int:\n"
    "    raise ValueError('as asked')\n"
    "def endless(a: int, b: int) -> int:\n"
    "    i = 0\n"
    "    while i >= 0:\n"
    "        i = (i + 1) % 7\n"
    "    return i\n"
    "def forks(a: int, b: int) -> int:\n"
    "    futures = [torch.jit.fork(add, i, b) for i in range(a)]\n"
    "    total = 0\n"
    "    for f in futures:\n"
    "        total += torch.jit.wait(f)\n"
    "    return total\n"
    "def nest(a: int, b: int) -> int:\n"
    "    f = torch.jit.fork(add, a, b)\n"
    "    for i in range(a):\n"
    "        f = torch.jit.fork(follow, f)\n"
    "    return torch.jit.wait(f)\n"
    "def follow(f: Future[int]) -> int:\n"
    "    return torch.jit.wait(f) + 1\n"
    "def promise(a: int, b: int):\n"
    "    return torch.jit.fork(add, a, b)\n"
    "def promise_fails(a: int, b: int):\n"
    "    return torch.jit.fork(fail, a, b)\n"
    "def keeps(a: List[int]):\n"
    "    a.append(1)\n";

static wick_module *module;
static int setup(void **state) {
  (void)state;
  return wick_compile(NULL, source, strlen(source), "async.py", &module, NULL);
}
static int teardown(void **state) {
  (void)state;
  wick_module_release(module);
  return 0;
}

static wick_future *start(const char *name, int64_t a, int64_t b, const wick_run_options *options) {
  wick_value *arguments[2] = {wick_value_int(a), wick_value_int(b)};
  wick_future *future = NULL;
  assert_int_equal(
      wick_run_async(module, name, (const wick_value *const *)arguments, 2, NULL, 0, options, &future, NULL), WICK_OK);
  for (int i = 0; i < 2; i++) wick_value_release(arguments[i]);
  return future;
}

static int64_t result_of(wick_future *future) {
  wick_value *value = NULL;
  int64_t number = -1;
  assert_int_equal(wick_future_wait(future, 0, &value, NULL), WICK_OK);
  number = wick_value_to_int(value);
  wick_value_release(value);
  return number;
}

static void test_result(void **state) {
  (void)state;
  wick_future *future = start("add", 2, 3, NULL);
  assert_int_equal(result_of(future), 5);
  assert_true(wick_future_done(future));
  assert_int_equal(result_of(future), 5); /* again */
  wick_future_release(future);
}

static wick_value *call(const char *name) {
  wick_value *arguments[2] = {wick_value_int(2), wick_value_int(3)}, *out = NULL;
  assert_int_equal(wick_run(module, name, (const wick_value *const *)arguments, 2, NULL, 0, NULL, &out, NULL), WICK_OK);
  for (int i = 0; i < 2; i++) wick_value_release(arguments[i]);
  return out;
}

static void test_result_of_a_forked_call(void **state) {
  (void)state;
  wick_value *promise = call("promise"), *fails = call("promise_fails"), *out = NULL;
  wick_error *error = NULL;
  for (int i = 0; i < 2; i++) { /* as often as it is asked */
    assert_int_equal(wick_value_wait(promise, &out, NULL), WICK_OK);
    assert_int_equal(wick_value_to_int(out), 5);
    wick_value_release(out);
  }
  assert_int_equal(wick_value_wait(fails, &out, &error), WICK_RAISED);
  assert_non_null(strstr(wick_error_message(error), "as asked"));
  wick_error_free(error);
  wick_value *number = wick_value_int(1);
  assert_int_equal(wick_value_wait(number, &out, NULL), WICK_INVALID_ARGUMENT);
  wick_value_release(number);
  wick_value_release(promise);
  wick_value_release(fails);
}

static void test_shared_arguments(void **state) {
  (void)state;
  for (uint32_t shares = 0; shares < 2; shares++) {
    wick_value *item = wick_value_int(7), *list = NULL;
    wick_run_options options = {.size = sizeof options, .shares_arguments = shares};
    assert_int_equal(wick_value_list((const wick_value *const[]){item}, 1, &list, NULL), WICK_OK);
    assert_int_equal(wick_run(module, "keeps", (const wick_value *const[]){list}, 1, NULL, 0, &options, NULL, NULL),
                     WICK_OK);
    assert_int_equal(wick_value_length(list), 1 + shares);
    /* a list takes no more than its own argument */
    const wick_value *const two[] = {item, item};
    assert_int_equal(wick_run(module, "keeps", two, 2, NULL, 0, &options, NULL, NULL), WICK_INVALID_ARGUMENT);
    wick_value_release(list);
    wick_value_release(item);
  }
}

static void test_error(void **state) {
  (void)state;
  wick_future *future = start("fail", 2, 3, NULL);
  wick_value *value = NULL;
  wick_error *error = NULL;
  assert_int_equal(wick_future_wait(future, 0, &value, &error), WICK_RAISED);
  assert_null(value);
  assert_non_null(strstr(wick_error_message(error), "as asked"));
  wick_error_free(error);
  wick_future_release(future);
}

static void test_cancel(void **state) {
  (void)state;
  wick_cancel *cancel = wick_cancel_new();
  wick_run_options options = {.size = sizeof options, .cancel = cancel};
  wick_future *future = start("endless", 0, 0, &options);
  wick_value *value = NULL;
  assert_int_equal(wick_future_wait(future, 2000000, &value, NULL), WICK_DEADLINE);
  assert_false(wick_future_done(future));
  wick_cancel_fire(cancel);
  assert_int_equal(wick_future_wait(future, 0, &value, NULL), WICK_CANCELLED);
  wick_future_release(future);
  wick_cancel_release(cancel);
}

static void test_released_early(void **state) {
  (void)state;
  wick_run_options options = {.size = sizeof options, .deadline_ns = 20000000};
  wick_cancel *cancel = options.cancel = wick_cancel_new();
  for (int i = 0; i < 4; i++) wick_future_release(start("endless", 0, 0, &options));
  wick_cancel_release(cancel);
  wick_future *last = start("endless", 0, 0, &options); /* ends after the others, which began before */
  wick_value *value = NULL;
  assert_int_equal(wick_future_wait(last, 0, &value, NULL), WICK_DEADLINE);
  wick_future_release(last);
}

typedef struct Heard {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int count;
  int64_t sum;
} Heard;
static void hear(void *user, wick_future *future) {
  Heard *heard = user;
  wick_value *value = NULL;
  int64_t number = 0;
  if (wick_future_wait(future, 0, &value, NULL) == WICK_OK) number = wick_value_to_int(value);
  wick_value_release(value);
  pthread_mutex_lock(&heard->lock);
  heard->count++;
  heard->sum += number;
  pthread_cond_signal(&heard->changed);
  pthread_mutex_unlock(&heard->lock);
}

static void test_then(void **state) {
  (void)state;
  Heard heard = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  for (int i = 0; i < 100; i++) {
    wick_future *future = start("add", i, 1, NULL);
    assert_int_equal(wick_future_then(future, hear, &heard, NULL), WICK_OK);
    wick_future_release(future);
  }
  pthread_mutex_lock(&heard.lock);
  while (heard.count < 100) pthread_cond_wait(&heard.changed, &heard.lock);
  pthread_mutex_unlock(&heard.lock);
  assert_int_equal(heard.sum, 100 * 99 / 2 + 100);
}

/* Neither threads nor native stack grow with the number of forks or the length of a chain of waits. */
static void test_ten_thousand_forks(void **state) {
  (void)state;
  wick_future *flat = start("forks", 10000, 1, NULL), *deep = start("nest", 10000, 1, NULL);
  assert_int_equal(result_of(flat), 10000ll * 9999 / 2 + 10000);
  assert_int_equal(result_of(deep), 20001);
  wick_future_release(flat);
  wick_future_release(deep);
}

/* A child has none of the pool's threads, whether they slept or worked, and starts its own. */
static void test_forked_child(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip(); /* its runtime does not start threads in a forked child */
#endif
  if (getenv("WICK_TEST_EMULATED")) skip(); /* nor does qemu-user */
  wick_cancel *cancel = wick_cancel_new();
  wick_run_options options = {.size = sizeof options, .cancel = cancel};
  wick_future *busy = NULL;
  for (int i = 0; i < 6; i++) {
    wick_future *future = start("forks", 20, 1, NULL);
    assert_int_equal(result_of(future), 210);
    wick_future_release(future);
    if (i == 3) busy = start("endless", 0, 0, &options);
    pid_t child = fork();
    if (!child) {
      alarm(300); /* no machine is so slow: it hangs */
      bool fine = true;
      for (int k = 0; k < 20 && fine; k++) {
        wick_value *value = NULL;
        future = start("forks", 50, 1, NULL);
        fine = wick_future_wait(future, 0, &value, NULL) == WICK_OK && wick_value_to_int(value) == 50 * 49 / 2 + 50;
        wick_value_release(value);
        wick_future_release(future);
      }
      _exit(fine ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
  }
  wick_cancel_fire(cancel);
  wick_value *value = NULL;
  assert_int_equal(wick_future_wait(busy, 0, &value, NULL), WICK_CANCELLED);
  wick_future_release(busy);
  wick_cancel_release(cancel);
}

static wick_status begin(wick_module *of, const char *name, const wick_run_options *options, wick_future **out) {
  wick_value *argument = wick_value_int(1);
  const wick_value *arguments[] = {argument, argument};
  wick_error *error = NULL;
  wick_status status = wick_run_async(of, name, arguments, 2, NULL, 0, options, out, &error);
  assert_int_equal(wick_error_status(error), status);
  wick_error_free(error);
  wick_value_release(argument);
  return status;
}

/* One call too many is refused, until one has ended. */
static void test_busy(void **state) {
  (void)state;
  wick_runtime_options runtime_options = {.size = sizeof runtime_options, .max_async = 2};
  wick_runtime *runtime;
  wick_module *limited;
  wick_cancel *cancel = wick_cancel_new();
  wick_run_options options = {.size = sizeof options, .cancel = cancel};
  wick_future *calls[2], *more = NULL;
  assert_int_equal(wick_runtime_new(&runtime_options, &runtime, NULL), WICK_OK);
  assert_int_equal(wick_compile(runtime, source, strlen(source), "async.py", &limited, NULL), WICK_OK);
  for (int i = 0; i < 100; i++) { /* each counts as ended once its end is known, however soon */
    assert_int_equal(begin(limited, "add", NULL, &more), WICK_OK);
    assert_int_equal(wick_future_wait(more, 0, NULL, NULL), WICK_OK);
    wick_future_release(more);
  }
  for (int i = 0; i < 2; i++) assert_int_equal(begin(limited, "endless", &options, &calls[i]), WICK_OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(begin(limited, "add", NULL, &more), WICK_BUSY);
    assert_null(more);
  }
  assert_int_equal(begin(module, "add", NULL, &more), WICK_OK); /* another runtime's affair; it may have to wait */
  wick_future_release(more);
  assert_int_equal(begin(limited, "missing", NULL, &more), WICK_NOT_FOUND);
  wick_cancel_fire(cancel);
  for (int i = 0; i < 2; i++) assert_int_equal(wick_future_wait(calls[i], 0, NULL, NULL), WICK_CANCELLED);
  for (int i = 0; i < 2; i++) assert_int_equal(begin(limited, "fail", NULL, &more), WICK_OK), wick_future_release(more);
  for (int i = 0; i < 2; i++) wick_future_release(calls[i]);
  wick_cancel_release(cancel);
  wick_module_release(limited);
  wick_runtime_release(runtime);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_result),
      cmocka_unit_test(test_error),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_released_early),
      cmocka_unit_test(test_then),
      cmocka_unit_test(test_ten_thousand_forks),
      cmocka_unit_test(test_forked_child),
      cmocka_unit_test(test_busy),
      cmocka_unit_test(test_result_of_a_forked_call),
      cmocka_unit_test(test_shared_arguments),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
