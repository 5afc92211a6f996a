/* Operators that finish later: Futures kept from other threads, broken, abandoned by who waited, in every executor. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "checks.h"
#include "wick/library.h"
#include "wick/wick.h"

/* ---- a thread that keeps promises in the order in which it is asked, once the gate is open ---- */

enum { MOST = 4096 };
typedef struct Errand {
  wick_promise *promise;
  wick_value *value; /* NULL: the promise is broken */
} Errand;
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  Errand errands[MOST];
  int asked, done;
  bool is_open, ends;
} keeper = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .is_open = true};

static void *keep(void *argument) {
  (void)argument;
  pthread_mutex_lock(&keeper.lock);
  while (!keeper.ends || keeper.done < keeper.asked) {
    if (keeper.done == keeper.asked || !keeper.is_open) {
      pthread_cond_wait(&keeper.changed, &keeper.lock);
      continue;
    }
    Errand errand = keeper.errands[keeper.done++ % MOST];
    pthread_mutex_unlock(&keeper.lock);
    if (errand.value)
      wick_promise_keep(errand.promise, errand.value, NULL);
    else
      wick_promise_break(errand.promise, "the line is dead");
    wick_value_release(errand.value);
    pthread_mutex_lock(&keeper.lock);
  }
  pthread_mutex_unlock(&keeper.lock);
  return NULL;
}
static void ask(wick_promise *promise, wick_value *value) {
  pthread_mutex_lock(&keeper.lock);
  assert_true(keeper.asked - keeper.done < MOST);
  keeper.errands[keeper.asked++ % MOST] = (Errand){promise, value};
  pthread_cond_broadcast(&keeper.changed);
  pthread_mutex_unlock(&keeper.lock);
}
static int asked(void) {
  pthread_mutex_lock(&keeper.lock);
  int count = keeper.asked;
  pthread_mutex_unlock(&keeper.lock);
  return count;
}
static void open_gate(bool is_open) {
  pthread_mutex_lock(&keeper.lock);
  keeper.is_open = is_open;
  pthread_cond_broadcast(&keeper.changed);
  pthread_mutex_unlock(&keeper.lock);
}

/* ---- operators ---- */

static wick_status later(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_promise *promise;
  wick_status status = wick_call_promise(call, 0, &promise, error);
  if (!status) ask(promise, wick_call_argument(call, 0));
  return status;
}
static wick_status never(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_promise *promise;
  wick_status status = wick_call_promise(call, 0, &promise, error);
  if (!status) ask(promise, NULL);
  return status;
}
static wick_status at_once(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_promise *promise;
  wick_value *value = wick_call_argument(call, 0);
  wick_status status = wick_call_promise(call, 0, &promise, error);
  if (!status) assert_int_equal(wick_promise_keep(promise, value, NULL), WICK_OK);
  wick_value_release(value);
  return status;
}
static wick_status wrong(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_promise *promise;
  wick_error *refused = NULL;
  assert_int_equal(wick_call_promise(call, 1, &promise, &refused), WICK_INVALID_ARGUMENT);
  wick_error_free(refused);
  assert_null(promise);
  wick_value *text = wick_value_string("text", 4);
  wick_status status = wick_call_promise(call, 0, &promise, error);
  if (!status) assert_int_equal(wick_promise_keep(promise, text, &refused), WICK_INVALID_ARGUMENT);
  assert_non_null(strstr(wick_error_message(refused), "a promise of 'Tensor' can't be kept with"));
  wick_error_free(refused);
  wick_value_release(text);
  return status;
}
static wick_status no_future(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_promise *promise;
  return wick_call_promise(call, 0, &promise, error);
}

#define OPERATOR(text, function) \
  { .size = sizeof(wick_operator), .schema = text, .kernel = function, .flags = 4 }
static const wick_operator operators[] = {
    OPERATOR("promise::later(Tensor x) -> Future(Tensor)", later),
    OPERATOR("promise::number(int x) -> Future(int)", later),
    OPERATOR("promise::words(str[] x) -> Future(str[])", later),
    OPERATOR("promise::never(Tensor x) -> Future(Tensor)", never),
    OPERATOR("promise::at_once(Tensor x) -> Future(Tensor)", at_once),
    OPERATOR("promise::wrong(Tensor x) -> Future(Tensor)", wrong),
    OPERATOR("promise::no_future(Tensor x) -> Tensor", no_future),
};

static const char source[] =
    "def pair(x: Tensor):\n"
    "    a = torch.ops.promise.later(x)\n"
    "    b = torch.ops.promise.later(x + 1)\n"
    "    return torch.jit.wait(a) * torch.jit.wait(b)\n"
    "def now(x: Tensor):\n"
    "    return torch.jit.wait(torch.ops.promise.at_once(x)) + 1\n"
    "def many(n: int):\n"
    "    waits = torch.jit.annotate(List[Future[int]], [])\n"
    "    for i in range(n):\n"
    "        waits.append(torch.ops.promise.number(i))\n"
    "    sum = 0\n"
    "    for w in waits:\n"
    "        sum += torch.jit.wait(w)\n"
    "    return sum\n"
    "def one(i: int):\n"
    "    return torch.jit.wait(torch.ops.promise.number(i))\n"
    "def forks(n: int):\n"
    "    tasks = torch.jit.annotate(List[Future[int]], [])\n"
    "    for i in range(n):\n"
    "        tasks.append(torch.jit.fork(one, i))\n"
    "    sum = 0\n"
    "    for t in tasks:\n"
    "        sum += torch.jit.wait(t)\n"
    "    return sum\n"
    "def words(n: int):\n"
    "    return torch.jit.wait(torch.ops.promise.words(['a', 'b']))[1]\n"
    "def broken(x: Tensor):\n"
    "    return torch.jit.wait(torch.ops.promise.never(x))\n"
    "def wrong(x: Tensor):\n"
    "    return torch.jit.wait(torch.ops.promise.wrong(x))\n"
    "def no_future(x: Tensor):\n"
    "    return torch.ops.promise.no_future(x)\n"
    "def unasked(n: int):\n"
    "    for i in range(n):\n"
    "        torch.ops.promise.number(i)\n"
    "    return n\n";

static wick_module *module;
static pthread_t thread;

static int setup(void **state) {
  (void)state;
  wick_error *error = NULL;
  assert_int_equal(wick_operators_register(operators, sizeof operators / sizeof *operators, &error), WICK_OK);
  if (wick_compile(NULL, source, strlen(source), "promise.py", &module, &error))
    fail_msg("%s", wick_error_message(error));
  return pthread_create(&thread, NULL, keep, NULL);
}
static int teardown(void **state) {
  (void)state;
  pthread_mutex_lock(&keeper.lock);
  keeper.ends = keeper.is_open = true;
  pthread_cond_broadcast(&keeper.changed);
  pthread_mutex_unlock(&keeper.lock);
  pthread_join(thread, NULL);
  wick_module_release(module);
  return 0;
}

static wick_status run(const char *name, wick_value *argument, const wick_run_options *options, wick_value **out,
                       wick_error **error) {
  wick_status status = wick_run(module, name, (const wick_value *const[]){argument}, 1, NULL, 0, options, out, error);
  wick_value_release(argument);
  return status;
}
static wick_value *two(void) {
  float number = 2;
  int64_t size = 1;
  wick_value *x = NULL;
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, &size, &x, NULL), WICK_OK);
  assert_int_equal(wick_tensor_copy_from(x, &number, sizeof number, NULL), WICK_OK);
  return x;
}
static float first_of(wick_value *x) {
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(x, &view, NULL), WICK_OK);
  float number = *(const float *)view.data;
  wick_value_release(x);
  return number;
}
static int64_t number_of(const char *name, int64_t n) {
  wick_value *out = NULL;
  wick_error *error = NULL;
  if (run(name, wick_value_int(n), NULL, &out, &error)) fail_msg("%s", wick_error_message(error));
  int64_t number = wick_value_to_int(out);
  wick_value_release(out);
  return number;
}

/* More calls than any plan takes to settle. */
static void test_kept(void **state) {
  (void)state;
  for (int i = 0; i < 8; i++) {
    wick_value *out = NULL;
    assert_int_equal(run("pair", two(), NULL, &out, NULL), WICK_OK);
    assert_true(first_of(out) == 6);
    assert_int_equal(run("now", two(), NULL, &out, NULL), WICK_OK);
    assert_true(first_of(out) == 3);
    assert_int_equal(run("words", wick_value_int(1), NULL, &out, NULL), WICK_OK);
    assert_string_equal(wick_value_to_string(out, NULL), "b");
    wick_value_release(out);
    assert_int_equal(number_of("many", 1000), 1000 * 999 / 2);
    assert_int_equal(number_of("forks", 200), 200 * 199 / 2);
    assert_int_equal(number_of("unasked", 10), 10);
  }
}

/* Both are asked for before the first is there. */
static void test_overlap(void **state) {
  (void)state;
  open_gate(false);
  int before = asked();
  wick_value *n = wick_value_int(100);
  wick_future *future = NULL;
  assert_int_equal(wick_run_async(module, "many", (const wick_value *const[]){n}, 1, NULL, 0, NULL, &future, NULL),
                   WICK_OK);
  wick_value_release(n);
  while (asked() < before + 100) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_false(wick_future_done(future));
  open_gate(true);
  wick_value *out = NULL;
  assert_int_equal(wick_future_wait(future, 0, &out, NULL), WICK_OK);
  assert_int_equal(wick_value_to_int(out), 100 * 99 / 2);
  wick_value_release(out);
  wick_future_release(future);
}

static void test_errors(void **state) {
  (void)state;
  static const char *const texts[][2] = {{"broken", "the line is dead"},
                                         {"wrong", "a promise of 'Tensor' can't be kept with"},
                                         {"no_future", "the schema does not say that result 0 is a Future"}};
  for (int i = 0; i < 5; i++) {
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
      wick_error *error = NULL;
      wick_value *out = NULL;
      assert_int_not_equal(run(texts[k][0], two(), NULL, &out, &error), WICK_OK);
      assert_non_null(strstr(wick_error_message(error), texts[k][1]));
      wick_error_free(error);
      assert_null(out);
    }
  }
}

/* A wait ends in time, and the promise that nobody waits for any more is kept afterwards. */
static void test_limits(void **state) {
  (void)state;
  open_gate(false);
  wick_run_options options = {.size = sizeof options, .deadline_ns = 20000000};
  assert_int_equal(run("one", wick_value_int(1), &options, NULL, NULL), WICK_DEADLINE);
  assert_int_equal(run("forks", wick_value_int(10), &options, NULL, NULL), WICK_DEADLINE);
  wick_cancel *cancel = wick_cancel_new();
  options = (wick_run_options){.size = sizeof options, .cancel = cancel};
  wick_value *n = wick_value_int(7);
  wick_future *future = NULL;
  assert_int_equal(wick_run_async(module, "many", (const wick_value *const[]){n}, 1, NULL, 0, &options, &future, NULL),
                   WICK_OK);
  wick_value_release(n);
  assert_int_equal(wick_future_wait(future, 10000000, NULL, NULL), WICK_DEADLINE);
  wick_cancel_fire(cancel);
  assert_int_equal(wick_future_wait(future, 0, NULL, NULL), WICK_CANCELLED);
  wick_future_release(future);
  wick_cancel_release(cancel);
  open_gate(true);
  assert_int_equal(number_of("many", 3), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_overlap),
                                     cmocka_unit_test(test_errors), cmocka_unit_test(test_limits)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
