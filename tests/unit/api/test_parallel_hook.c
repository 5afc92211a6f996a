/* A runtime whose loops run on the host's threads: the results are the same whatever the host does with the parts, each
 * call reaches its own runtime's host, and what the host leaves out is done all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "wick/wick.h"

enum { THREADS = 4 };

static const char source[] =
    "def waves(sizes: List[int], k: int) -> Tensor:\n"
    "    count = 1\n"
    "    for size in sizes:\n"
    "        count *= size\n"
    "    return torch.sin(torch.arange(count) * 0.37 + k).reshape(sizes)\n"
    "def run(k: int) -> List[Tensor]:\n"
    "    y = torch.conv2d(waves([2, 16, 40, 40], k), waves([32, 16, 3, 3], 1), None, 1, 1)\n"
    "    pooled = torch.max_pool2d(torch.relu(y), 2)\n"
    "    flat = torch.softmax(pooled.flatten(2), -1)\n"
    "    product = torch.matmul(flat, waves([400, 300], 2))\n"
    "    return [y, pooled, flat, product, torch.exp(product).sum(-1), torch.layer_norm(product, [300])]\n"
    "def later(k: int) -> Tensor:\n"
    "    a = torch.jit.fork(run, k)\n"
    "    b = run(k)\n"
    "    return torch.jit.wait(a)[3] + b[3]\n"
    "def long(n: int) -> Tensor:\n"
    "    x = waves([300, 300], 3)\n"
    "    for i in range(n):\n"
    "        x = torch.sigmoid(torch.matmul(x, x))\n"
    "    return x\n";

/* ---- hosts ---- */

typedef void Body(void *argument, int64_t begin, int64_t end);
typedef struct Host {
  _Atomic int loops, parts;
  _Atomic bool is_inside;
  bool is_alone; /* two loops at once would be an error */
} Host;
typedef struct Part {
  Host *host;
  Body *body;
  void *argument;
  int64_t begin, end;
} Part;

static void begin_loop(Host *host, int64_t n, int64_t grain) {
  assert_true(n > 1 && n <= THREADS && grain == 1);
  atomic_fetch_add(&host->loops, 1);
  if (host->is_alone) assert_false(atomic_exchange(&host->is_inside, true));
}
static void end_loop(Host *host) {
  atomic_store(&host->is_inside, false);
}

static void *run_part(void *argument) {
  const Part *part = argument;
  atomic_fetch_add(&part->host->parts, 1);
  part->body(part->argument, part->begin, part->end);
  return NULL;
}
/* A thread for each part. */
static void on_threads(void *user, int64_t n, int64_t grain, Body *body, void *argument) {
  Host *host = user;
  pthread_t threads[THREADS];
  Part parts[THREADS];
  begin_loop(host, n, grain);
  for (int64_t i = 0; i < n; i++) {
    parts[i] = (Part){host, body, argument, i, i + 1};
    assert_int_equal(pthread_create(&threads[i], NULL, run_part, &parts[i]), 0);
  }
  for (int64_t i = 0; i < n; i++) pthread_join(threads[i], NULL);
  end_loop(host);
}
static void backwards(void *user, int64_t n, int64_t grain, Body *body, void *argument) {
  begin_loop(user, n, grain);
  for (int64_t i = n; i-- > 0;) body(argument, i, i + 1);
  end_loop(user);
}
static void at_once(void *user, int64_t n, int64_t grain, Body *body, void *argument) {
  begin_loop(user, n, grain);
  body(argument, 0, n);
  end_loop(user);
}
static void one_part(void *user, int64_t n, int64_t grain, Body *body, void *argument) {
  begin_loop(user, n, grain);
  body(argument, n / 2, n / 2 + 1);
  end_loop(user);
}
static void nothing(void *user, int64_t n, int64_t grain, Body *body, void *argument) {
  (void)body, (void)argument;
  begin_loop(user, n, grain);
  end_loop(user);
}

/* ---- calls ---- */

typedef void Parallel(void *, int64_t, int64_t, Body *, void *);

static wick_module *compile_with(Parallel *parallel, Host *host) {
  wick_runtime_options options = {.size = sizeof options, .max_threads = THREADS, .parallel = parallel, .user = host};
  wick_runtime *runtime;
  wick_module *module;
  assert_int_equal(wick_runtime_new(&options, &runtime, NULL), WICK_OK);
  assert_int_equal(wick_compile(runtime, source, strlen(source), "host.py", &module, NULL), WICK_OK);
  wick_runtime_release(runtime);
  return module;
}

static wick_value *call(wick_module *module, const char *function, int64_t number) {
  wick_value *argument = wick_value_int(number), *out = NULL;
  const wick_value *arguments[] = {argument};
  wick_error *error = NULL;
  wick_status status = wick_run(module, function, arguments, 1, NULL, 0, NULL, &out, &error);
  if (status) print_error("%s\n", wick_error_message(error));
  assert_int_equal(status, WICK_OK);
  wick_value_release(argument);
  return out;
}

static void expect_same(const wick_value *a, const wick_value *b) {
  wick_tensor_view x = {.size = sizeof x}, y = {.size = sizeof y};
  assert_int_equal(wick_tensor_view_of(a, &x, NULL), WICK_OK);
  assert_int_equal(wick_tensor_view_of(b, &y, NULL), WICK_OK);
  int64_t count = 1;
  for (int32_t i = 0; i < x.ndim; i++) count *= x.sizes[i];
  assert_memory_equal(x.data, y.data, (size_t)count * sizeof(float));
}

static void test_hosts(void **state) {
  (void)state;
  static Parallel *const hosts[] = {backwards, on_threads, at_once, one_part, nothing};
  wick_value *expected = NULL;
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
    Host host = {.is_alone = true};
    wick_module *module = compile_with(hosts[i], &host);
    for (int k = 0; k < 6; k++) {
      wick_value *found = call(module, "run", 7);
      if (!expected) {
        expected = found;
        continue;
      }
      assert_int_equal(wick_value_length(found), 6);
      for (size_t j = 0; j < 6; j++) {
        wick_value *a = wick_value_item(expected, j), *b = wick_value_item(found, j);
        expect_same(a, b);
        wick_value_release(a);
        wick_value_release(b);
      }
      wick_value_release(found);
      wick_wait_for_plans();
    }
    assert_true(atomic_load(&host.loops) >= 6 * 4);
    if (hosts[i] == on_threads) assert_true(atomic_load(&host.parts) >= 2 * atomic_load(&host.loops));
    wick_module_release(module);
  }
  wick_value_release(expected);
}

/* ---- two runtimes, and calls of none, at once ---- */

typedef struct Caller {
  wick_module *module;
  wick_value *last;
} Caller;
static void *call_often(void *argument) {
  Caller *caller = argument;
  for (int i = 0; i < 10; i++) {
    wick_value_release(caller->last);
    caller->last = call(caller->module, "later", 3);
  }
  return NULL;
}
static void test_runtimes_at_once(void **state) {
  (void)state;
  Host hosts[2] = {0};
  Caller callers[3] = {{compile_with(on_threads, &hosts[0]), NULL}, {compile_with(backwards, &hosts[1]), NULL}};
  pthread_t threads[3];
  wick_error *error = NULL;
  assert_int_equal(wick_compile(NULL, source, strlen(source), "host.py", &callers[2].module, &error), WICK_OK);
  int before = atomic_load(&hosts[0].loops) + atomic_load(&hosts[1].loops);
  wick_value_release(call(callers[2].module, "run", 3));
  assert_int_equal(atomic_load(&hosts[0].loops) + atomic_load(&hosts[1].loops), before);
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, call_often, &callers[i]);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert_true(atomic_load(&hosts[0].loops) > 0 && atomic_load(&hosts[1].loops) > 0);
  expect_same(callers[0].last, callers[1].last);
  for (int i = 0; i < 3; i++) {
    wick_value_release(callers[i].last);
    wick_module_release(callers[i].module);
  }
}

/* ---- limits hold on threads of others ---- */

static void test_deadline(void **state) {
  (void)state;
  Host host = {0};
  wick_module *module = compile_with(on_threads, &host);
  wick_run_options options = {.size = sizeof options, .deadline_ns = 50000000};
  wick_value *argument = wick_value_int(1000000), *out = NULL;
  const wick_value *arguments[] = {argument};
  assert_int_equal(wick_run(module, "long", arguments, 1, NULL, 0, &options, &out, NULL), WICK_DEADLINE);
  assert_null(out);
  assert_true(atomic_load(&host.loops) > 0);
  wick_value_release(argument);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hosts),
      cmocka_unit_test(test_runtimes_at_once),
      cmocka_unit_test(test_deadline),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
