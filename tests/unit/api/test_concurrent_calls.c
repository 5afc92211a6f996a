/* One module, many threads: every kind of state that a program keeps in attributes, read and replaced by calls beside
 * each other, while others read it from C, empty the caches and choose executors. What is asked of the results is only
 * that each is a number; the rest is for the sanitizers. data/shared_state.pt holds the module
 *
 *   replaced  a tensor that each call replaces           late     a tuple that the first call makes
 *   window    the last columns of what came, by cat      holders  a list and a dict of tensors that grow and shrink
 *   cell      the two states of an LSTMCell                                                                          */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "wick/wick.h"

enum { MAX_THREADS = 16 };
static const char *const methods[] = {"replaced", "window", "cell", "late", "holders"};
enum { METHODS = sizeof methods / sizeof *methods };

static int calls_a_thread(void) {
  const char *text = getenv("WICK_CONCURRENT_CALLS");
  return text ? atoi(text) : 150;
}

typedef struct Shared {
  wick_module *module;
  const char *method; /* NULL: each thread another */
  wick_value *argument, *object;
  _Atomic int left, failed;
} Shared;
typedef struct Worker {
  Shared *shared;
  int number;
  pthread_t thread;
} Worker;

static wick_value *row_of_ones(int64_t columns) {
  wick_value *value;
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 2, (int64_t[]){1, columns}, &value, NULL), WICK_OK);
  assert_int_equal(wick_tensor_view_of(value, &view, NULL), WICK_OK);
  for (int64_t i = 0; i < columns; i++) ((float *)view.data)[i] = 1;
  return value;
}

static wick_module *load(void) {
  wick_module *module = NULL;
  assert_int_equal(wick_load(NULL, "data/shared_state.pt", NULL, &module, NULL), WICK_OK);
  return module;
}

/* Runs `work` on so many threads, with `beside` on this one until they have ended. */
static void run_threads(int count, void *work(void *), Shared *shared, void beside(Shared *shared)) {
  Worker workers[MAX_THREADS];
  atomic_store(&shared->left, count);
  for (int i = 0; i < count; i++) {
    workers[i] = (Worker){shared, i, 0};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  while (beside && atomic_load(&shared->left)) beside(shared);
  for (int i = 0; i < count; i++) pthread_join(workers[i].thread, NULL);
  assert_int_equal(atomic_load(&shared->failed), 0);
}

static bool is_scalar(const wick_value *value) {
  wick_tensor_view view = {.size = sizeof view};
  return !wick_tensor_view_of(value, &view, NULL) && !view.ndim && isfinite(*(float *)view.data);
}

static void *call(void *argument) {
  Worker *w = argument;
  Shared *s = w->shared;
  const char *method = s->method ? s->method : methods[w->number % METHODS];
  for (int i = 0, n = calls_a_thread(); i < n; i++) {
    wick_value *result = NULL;
    wick_error *error = NULL;
    const wick_value *arguments[2] = {s->object ? s->object : s->argument, s->argument};
    if (wick_run(s->module, method, arguments, s->object ? 2 : 1, NULL, 0, NULL, &result, &error) ||
        !is_scalar(result)) {
      print_error("%s: %s\n", method, wick_error_message(error));
      s->failed++;
    }
    wick_error_free(error);
    wick_value_release(result);
  }
  s->left--;
  return NULL;
}

/* ---- what goes on beside the calls ---- */

static void read_value(const wick_value *value, int depth) {
  char *text;
  if (!value || depth > 4) return;
  if (!wick_value_type(value, &text, NULL)) wick_text_free(text);
  if (!wick_value_print(value, &text, NULL)) wick_text_free(text);
  for (size_t i = 0; i < wick_value_length(value); i++) {
    wick_value *item = wick_value_item(value, i), *key = wick_value_key(value, i);
    read_value(item, depth + 1);
    wick_value_release(item);
    wick_value_release(key);
  }
}

static void read_state(Shared *s) {
  wick_value *object = s->object ? wick_value_retain(s->object) : wick_module_object(s->module), *copy = NULL;
  read_value(object, 0);
  wick_value *holders = wick_value_get_text(object, "e");
  if (holders) {
    wick_value *list = wick_value_get_text(holders, "log"), *dict = wick_value_get_text(holders, "seen");
    wick_value_release(wick_value_get_text(dict, "1"));
    read_value(list, 0);
    wick_value_release(list);
    wick_value_release(dict);
  }
  if (!wick_value_copy(object, &copy, NULL)) wick_value_release(copy);
  wick_value_release(holders);
  wick_value_release(object);
}

static int visit(void *user, const char *name, uint32_t kind, const char *type, const wick_value *value) {
  (void)user, (void)name, (void)kind, (void)type;
  read_value(value, 3);
  return 0;
}
static void read_module(Shared *s) {
  wick_value *state = NULL;
  assert_int_equal(wick_module_each(s->module, visit, NULL, NULL), WICK_OK);
  assert_int_equal(wick_module_state_dict(s->module, &state, NULL), WICK_OK);
  wick_value_release(state);
  read_state(s);
}

static void trim(Shared *s) {
  (void)s;
  (void)wick_trim();
  wick_stats stats = {.size = sizeof stats};
  wick_stats_get(&stats);
}

/* What is frozen is the module as it was at some moment: it goes on alone. */
static void freeze(Shared *s) {
  const char *const names[] = {"replaced", "window"};
  wick_module *frozen = NULL;
  wick_value *result = NULL;
  assert_int_equal(wick_module_freeze(s->module, NULL, names, 2, &frozen, NULL), WICK_OK);
  const wick_value *arguments[] = {s->argument};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(wick_run(frozen, names[i], arguments, 1, NULL, 0, NULL, &result, NULL), WICK_OK);
    assert_true(is_scalar(result));
    wick_value_release(result);
  }
  wick_module_release(frozen);
}

static void choose(Shared *s) {
  static uint32_t executor;
  (void)s;
  wick_executor_options options = {.size = sizeof options, .executor = executor % 4, .max_plans = executor % 5};
  executor++;
  assert_int_equal(wick_runtime_set_executor(NULL, &options, NULL), WICK_OK);
  wick_runtime_set_optimize(NULL, executor & 1);
  assert_int_equal(wick_runtime_set_backend(NULL, "cpu", executor % 3, NULL), WICK_OK);
  trim(s);
}

static void as_before(void) {
  wick_executor_options options = {.size = sizeof options};
  assert_int_equal(wick_runtime_set_executor(NULL, &options, NULL), WICK_OK);
  wick_runtime_set_optimize(NULL, 1);
  assert_int_equal(wick_runtime_set_backend(NULL, "cpu", WICK_BACKEND_DEFAULT, NULL), WICK_OK);
}

/* ---- tests ---- */

static void call_beside(int threads, const char *method, uint32_t executor, void beside(Shared *shared)) {
  wick_executor_options options = {.size = sizeof options, .executor = executor};
  assert_int_equal(wick_runtime_set_executor(NULL, &options, NULL), WICK_OK);
  wick_module *module = load();
  assert_int_equal(wick_module_train(module, 0, NULL), WICK_OK);
  Shared shared = {.module = module, .method = method, .argument = row_of_ones(16)};
  run_threads(threads, call, &shared, beside);
  wick_value_release(shared.argument);
  wick_module_release(module);
  as_before();
}

static void test_each_kind_of_state(void **state) {
  (void)state;
  for (uint32_t executor = WICK_EXECUTOR_SIMPLE; executor <= WICK_EXECUTOR_PROFILING; executor++)
    for (int i = 0; i < METHODS; i++) call_beside(8, methods[i], executor, NULL);
}
static void test_all_kinds_at_once(void **state) {
  (void)state;
  call_beside(MAX_THREADS, NULL, WICK_EXECUTOR_DEFAULT, NULL);
}
static void test_beside_trim(void **state) {
  (void)state;
  call_beside(8, NULL, WICK_EXECUTOR_DEFAULT, trim);
  call_beside(MAX_THREADS, NULL, WICK_EXECUTOR_SPECIALIZING, trim);
}
static void test_beside_choosing_executors(void **state) {
  (void)state;
  call_beside(8, NULL, WICK_EXECUTOR_DEFAULT, choose);
  call_beside(MAX_THREADS, NULL, WICK_EXECUTOR_DEFAULT, choose);
}
static void test_beside_readers(void **state) {
  (void)state;
  call_beside(8, NULL, WICK_EXECUTOR_DEFAULT, read_module);
  call_beside(8, "holders", WICK_EXECUTOR_SIMPLE, read_module);
}

static void test_beside_freezing(void **state) {
  (void)state;
  call_beside(8, NULL, WICK_EXECUTOR_DEFAULT, freeze);
  call_beside(8, "replaced", WICK_EXECUTOR_SIMPLE, freeze);
}

/* An object that a call made and handed out is as much everybody's as a module is. */
static void test_an_object_as_an_argument(void **state) {
  (void)state;
  static const char source[] =
      "class Counter:\n"
      "    def __init__(self):\n"
      "        self.sum = torch.zeros(1, 16)\n"
      "        self.parts: List[Tensor] = []\n"
      "def make() -> Counter:\n"
      "    return Counter()\n"
      "def step(c: Counter, x: Tensor):\n"
      "    c.sum = c.sum * 0.5 + x\n"
      "    c.parts.append(x)\n"
      "    if len(c.parts) > 4:\n"
      "        c.parts = [torch.cat(c.parts)[:1]]\n"
      "    return c.sum.sum()\n";
  wick_module *module = NULL;
  assert_int_equal(wick_compile(NULL, source, strlen(source), "counter.py", &module, NULL), WICK_OK);
  Shared shared = {.module = module, .method = "step", .argument = row_of_ones(16)};
  assert_int_equal(wick_run(module, "make", NULL, 0, NULL, 0, NULL, &shared.object, NULL), WICK_OK);
  run_threads(8, call, &shared, read_state);
  wick_value_release(shared.object);
  wick_value_release(shared.argument);
  wick_module_release(module);
}

/* ---- modules that come and go ---- */

/* Shapes that change from call to call, so that profiles are extended while plans are made of them. */
static void *compile_call_release(void *argument) {
  static const char source[] =
      "def work(x):\n"
      "    y = torch.cat([x, x * 2])\n"
      "    for i in range(3):\n"
      "        y = (y * 1.5 + float(i)).relu() / 2\n"
      "    return y.sum()\n"
      "def forks(x):\n"
      "    a, b = torch.jit.fork(work, x), torch.jit.fork(work, x + 1)\n"
      "    return torch.jit.wait(a) + torch.jit.wait(b)\n";
  Worker *w = argument;
  for (int i = 0, n = calls_a_thread() / 5; i < n; i++) {
    wick_module *module = NULL;
    if (wick_compile(NULL, source, strlen(source), "text.py", &module, NULL)) w->shared->failed++;
    for (int k = 0; k < 12 && module; k++) {
      wick_value *row = row_of_ones(5 + (i + k / 2) % 7), *result = NULL;
      if (wick_run(module, k % 3 ? "work" : "forks", (const wick_value *const[]){row}, 1, NULL, 0, NULL, &result, NULL))
        w->shared->failed++;
      wick_value_release(result);
      wick_value_release(row);
    }
    if (w->number % 2) wick_trim(); /* takes plans of those that others release now */
    wick_module_release(module);
  }
  w->shared->left--;
  return NULL;
}

static void test_modules_that_come_and_go_beside_trim(void **state) {
  (void)state;
  Shared shared = {0};
  run_threads(6, compile_call_release, &shared, trim);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_kind_of_state),
      cmocka_unit_test(test_all_kinds_at_once),
      cmocka_unit_test(test_beside_trim),
      cmocka_unit_test(test_beside_choosing_executors),
      cmocka_unit_test(test_beside_readers),
      cmocka_unit_test(test_beside_freezing),
      cmocka_unit_test(test_an_object_as_an_argument),
      cmocka_unit_test(test_modules_that_come_and_go_beside_trim),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
