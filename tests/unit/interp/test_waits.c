/* Waiting that could never end, or not in time: tasks that wait for themselves, alone or in rings, also through calls
 * from C; deadlines and cancelling of calls that wait or are queued; threads of the pool that block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "wick/wick.h"

static const char source[] =
    "class Futures:\n"
    "    def __init__(self):\n"
    "        self.all: List[Future[int]] = []\n"
    "        self.turns = 0\n"
    "        self.open = False\n"
    "class Key:\n"
    "    def __init__(self, futures: Futures):\n"
    "        self.futures = futures\n"
    "    def __lt__(self, other: Key) -> bool:\n"
    "        return torch.jit.wait(self.futures.all[0]) < 0\n"
    "class Leaving:\n"
    "    def __init__(self, futures: Futures):\n"
    "        self.futures = futures\n"
    "    def __enter__(self):\n"
    "        return 0\n"
    "    def __exit__(self, type: Any, value: Any, trace: Any) -> None:\n"
    "        torch.jit.wait(self.futures.all[0])\n"
    "def futures():\n"
    "    return Futures()\n"
    "def wait_for(f: Futures, i: int) -> int:\n"
    "    while len(f.all) <= i:\n"
    "        f.turns += 1\n"
    "    return torch.jit.wait(f.all[i])\n"
    "def ring(n: int) -> int:\n"
    "    f = Futures()\n"
    "    for i in range(n):\n"
    "        f.all.append(torch.jit.fork(wait_for, f, (i + 1) % n))\n"
    "    return torch.jit.wait(f.all[0])\n"
    "def ring_left_alone(n: int) -> int:\n"
    "    f = Futures()\n"
    "    for i in range(n):\n"
    "        f.all.append(torch.jit.fork(wait_for, f, (i + 1) % n))\n"
    "    return n\n"
    "def join_ring(f: Futures, i: int, n: int) -> int:\n"
    "    f.all.append(torch.jit.fork(wait_for, f, (i + 1) % n))\n"
    "    return torch.jit.wait(f.all[len(f.all) - 1])\n"
    "def sort(f: Futures) -> int:\n"
    "    while len(f.all) == 0:\n"
    "        f.turns += 1\n"
    "    keys = [Key(f), Key(f)]\n"
    "    keys.sort()\n"
    "    return len(keys)\n"
    "def sort_by_itself() -> int:\n"
    "    f = Futures()\n"
    "    f.all.append(torch.jit.fork(sort, f))\n"
    "    return torch.jit.wait(f.all[0])\n"
    "def leave(f: Futures) -> int:\n"
    "    while len(f.all) == 0:\n"
    "        f.turns += 1\n"
    "    with Leaving(f):\n"
    "        if f.turns >= 0:\n"
    "            raise ValueError('as asked')\n"
    "    return 1\n"
    "def leave_for_itself() -> int:\n"
    "    f = Futures()\n"
    "    f.all.append(torch.jit.fork(leave, f))\n"
    "    return torch.jit.wait(f.all[0])\n"
    "def until_open(f: Futures) -> int:\n"
    "    while not f.open:\n"
    "        f.turns += 1\n"
    "    return 1\n"
    "def gate(f: Futures) -> int:\n"
    "    f.all.append(torch.jit.fork(until_open, f))\n"
    "    return torch.jit.wait(f.all[0])\n"
    "def open(f: Futures) -> int:\n"
    "    f.open = True\n"
    "    return 1\n"
    "def count(n: int) -> int:\n"
    "    turns = 0\n"
    "    for i in range(n):\n"
    "        turns += 2\n"
    "        if turns > 7: turns -= 3\n"
    "    return turns\n"
    "def count_between_waits(n: int) -> int:\n"
    "    turns = 0\n"
    "    for i in range(n):\n"
    "        turns += torch.jit.wait(torch.jit.fork(count, 500))\n"
    "    return turns\n";

static const uint64_t FOREVER = 20000000000, SOON = 30000000; /* ns: longer than anything here takes; a deadline */

static wick_module *module;
static int setup(void **state) {
  (void)state;
  return wick_compile(NULL, source, strlen(source), "waits.py", &module, NULL);
}
static int teardown(void **state) {
  (void)state;
  wick_module_release(module);
  return 0;
}

/* ---- calls: of `futures`, when given, and numbers; -1: no number ---- */

typedef struct Arguments {
  wick_value *values[3];
  size_t count;
} Arguments;
static Arguments arguments_of(wick_value *futures, int64_t a, int64_t b) {
  Arguments list = {.count = 0};
  if (futures) list.values[list.count++] = wick_value_retain(futures);
  if (a >= 0) list.values[list.count++] = wick_value_int(a);
  if (b >= 0) list.values[list.count++] = wick_value_int(b);
  return list;
}
static void release(Arguments *list) {
  for (size_t i = 0; i < list->count; i++) wick_value_release(list->values[i]);
}

static wick_status run(const char *name, wick_value *futures, int64_t a, const wick_run_options *options,
                       wick_error **error) {
  Arguments list = arguments_of(futures, a, -1);
  wick_value *value = NULL;
  wick_status status =
      wick_run(module, name, (const wick_value *const *)list.values, list.count, NULL, 0, options, &value, error);
  wick_value_release(value);
  release(&list);
  return status;
}

static wick_future *start(const char *name, wick_value *futures, int64_t a, int64_t b,
                          const wick_run_options *options) {
  Arguments list = arguments_of(futures, a, b);
  wick_future *future = NULL;
  assert_int_equal(
      wick_run_async(module, name, (const wick_value *const *)list.values, list.count, NULL, 0, options, &future, NULL),
      WICK_OK);
  release(&list);
  return future;
}

/* It must end by itself, without a deadline of its own. */
static wick_status end_of(wick_future *future, wick_error **error) {
  wick_value *value = NULL;
  wick_status status = wick_future_wait(future, FOREVER, &value, error);
  assert_true(wick_future_done(future));
  wick_value_release(value);
  wick_future_release(future);
  return status;
}

static wick_value *new_futures(void) {
  wick_value *value = NULL;
  assert_int_equal(wick_run(module, "futures", NULL, 0, NULL, 0, NULL, &value, NULL), WICK_OK);
  return value;
}

static void assert_names_ring(wick_status status, wick_error *error) {
  assert_int_equal(status, WICK_RUNTIME);
  assert_non_null(strstr(wick_error_message(error), "waits for itself"));
  wick_error_free(error);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static void pause_ms(long ms) {
  nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

/* ---- rings ---- */

static void test_rings(void **state) {
  (void)state;
  const int64_t lengths[] = {1, 2, 3, 31, 32, 33, 100};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    wick_error *error = NULL;
    wick_status status = run("ring", NULL, lengths[i], NULL, &error);
    assert_names_ring(status, error);
    status = end_of(start("ring", NULL, lengths[i], -1, NULL), &error);
    assert_names_ring(status, error);
    assert_int_equal(run("ring_left_alone", NULL, lengths[i], NULL, NULL), WICK_OK);
    assert_int_equal(end_of(start("ring_left_alone", NULL, lengths[i], -1, NULL), NULL), WICK_OK);
  }
}

/* Each task of the ring belongs to another call. */
static void test_ring_of_calls(void **state) {
  (void)state;
  enum { CALLS = 5 };
  wick_value *futures = new_futures();
  wick_future *calls[CALLS];
  for (int i = 0; i < CALLS; i++) calls[i] = start("join_ring", futures, i, CALLS, NULL);
  for (int i = 0; i < CALLS; i++) {
    wick_error *error = NULL;
    wick_status status = end_of(calls[i], &error);
    assert_names_ring(status, error);
  }
  wick_value_release(futures);
}

static void test_ring_through_c(void **state) {
  (void)state;
  wick_error *error = NULL;
  wick_status status = run("sort_by_itself", NULL, -1, NULL, &error);
  assert_names_ring(status, error);
  status = end_of(start("sort_by_itself", NULL, -1, -1, NULL), &error);
  assert_names_ring(status, error);
  status = run("leave_for_itself", NULL, -1, NULL, &error); /* what __exit__ raises is lost */
  assert_int_equal(status, WICK_RAISED);
  assert_non_null(strstr(wick_error_message(error), "as asked"));
  wick_error_free(error);
}

static void *rings(void *argument) {
  for (int i = 0; i < 50; i++) {
    wick_error *error = NULL;
    wick_status status = run("ring", NULL, 1 + (i + (int)(intptr_t)argument) % 7, NULL, &error);
    if (status != WICK_RUNTIME || !strstr(wick_error_message(error), "waits for itself")) return argument;
    wick_error_free(error);
    if (i % 3) continue;
    wick_run_options options = {.size = sizeof options, .deadline_ns = FOREVER, .cancel = wick_cancel_new()};
    wick_future *future = start("ring", NULL, 3, -1, &options);
    if (i % 2) wick_cancel_fire(options.cancel);
    end_of(future, NULL);
    wick_cancel_release(options.cancel);
  }
  return NULL;
}
static void test_many_users(void **state) {
  (void)state;
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, rings, (void *)(intptr_t)(i + 1)), 0);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
}

/* ---- in time ---- */

/* A call that waits for what another one does. */
static void test_deadline_and_cancel(void **state) {
  (void)state;
  wick_value *futures = new_futures();
  wick_future *gate = start("gate", futures, -1, -1, NULL);
  for (int i = 0; i < 3; i++) {
    wick_run_options options = {.size = sizeof options, .deadline_ns = SOON};
    uint64_t begin = now_ns();
    assert_int_equal(run("wait_for", futures, 0, &options, NULL), WICK_DEADLINE);
    assert_int_equal(end_of(start("wait_for", futures, 0, -1, &options), NULL), WICK_DEADLINE);
    assert_true(now_ns() - begin < FOREVER / 2);
    options = (wick_run_options){.size = sizeof options, .cancel = wick_cancel_new()};
    wick_future *cancelled = start("wait_for", futures, 0, -1, &options);
    if (i) pause_ms(10);
    assert_false(wick_future_done(cancelled));
    wick_cancel_fire(options.cancel);
    assert_int_equal(end_of(cancelled, NULL), WICK_CANCELLED);
    assert_int_equal(run("wait_for", futures, 0, &options, NULL), WICK_CANCELLED);
    wick_cancel_release(options.cancel);
  }
  assert_false(wick_future_done(gate));
  assert_int_equal(run("open", futures, -1, NULL, NULL), WICK_OK);
  assert_int_equal(end_of(gate, NULL), WICK_OK);
  assert_int_equal(run("wait_for", futures, 0, NULL, NULL), WICK_OK);
  wick_value_release(futures);
}

static void *fire_later(void *cancel) {
  pause_ms(20);
  wick_cancel_fire(cancel);
  return NULL;
}
static void test_cancel_of_caller(void **state) {
  (void)state;
  wick_value *futures = new_futures();
  wick_future *gate = start("gate", futures, -1, -1, NULL);
  wick_run_options options = {.size = sizeof options, .cancel = wick_cancel_new()};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fire_later, options.cancel), 0);
  assert_int_equal(run("wait_for", futures, 0, &options, NULL), WICK_CANCELLED);
  pthread_join(thread, NULL);
  wick_cancel_release(options.cancel);
  assert_int_equal(run("open", futures, -1, NULL, NULL), WICK_OK);
  assert_int_equal(end_of(gate, NULL), WICK_OK);
  wick_value_release(futures);
}

/* Steps on both sides of a wait count. */
static void test_steps(void **state) {
  (void)state;
  wick_run_options options = {.size = sizeof options, .max_steps = 20000};
  assert_int_equal(run("count_between_waits", NULL, 10, &options, NULL), WICK_OK);
  assert_int_equal(run("count_between_waits", NULL, 1000, &options, NULL), WICK_BUDGET);
}

/* Calls that no thread has taken up yet, since all are busy with others. */
static void test_queued(void **state) {
  (void)state;
  enum { BUSY = 12 };
  wick_value *busy_futures = new_futures();
  wick_future *busy[BUSY];
  for (int i = 0; i < BUSY; i++) busy[i] = start("until_open", busy_futures, -1, -1, NULL);
  wick_run_options options = {.size = sizeof options, .deadline_ns = SOON};
  wick_future *late[3];
  for (int i = 0; i < 3; i++) late[i] = start("count", NULL, 1, -1, &options);
  for (int i = 0; i < 3; i++) assert_int_equal(end_of(late[i], NULL), WICK_DEADLINE);
  options = (wick_run_options){.size = sizeof options, .cancel = wick_cancel_new()};
  wick_future *cancelled = start("count", NULL, 1, -1, &options);
  wick_cancel_fire(options.cancel);
  assert_int_equal(end_of(cancelled, NULL), WICK_CANCELLED);
  wick_cancel_release(options.cancel);
  assert_int_equal(run("open", busy_futures, -1, NULL, NULL), WICK_OK);
  for (int i = 0; i < BUSY; i++) assert_int_equal(end_of(busy[i], NULL), WICK_OK);
  wick_value_release(busy_futures);
}

/* More calls wait on the native stack than the pool has threads, for one that is queued after them. */
static void test_blocked_threads(void **state) {
  (void)state;
  enum { SORTS = 20 };
  wick_value *futures = new_futures();
  wick_future *gate = start("gate", futures, -1, -1, NULL), *sorts[SORTS];
  for (int i = 0; i < SORTS; i++) sorts[i] = start("sort", futures, -1, -1, NULL);
  pause_ms(20);
  wick_future *opened = start("open", futures, -1, -1, NULL);
  assert_int_equal(end_of(opened, NULL), WICK_OK);
  assert_int_equal(end_of(gate, NULL), WICK_OK);
  for (int i = 0; i < SORTS; i++) assert_int_equal(end_of(sorts[i], NULL), WICK_OK);
  wick_value_release(futures);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rings),
      cmocka_unit_test(test_ring_of_calls),
      cmocka_unit_test(test_ring_through_c),
      cmocka_unit_test(test_many_users),
      cmocka_unit_test(test_deadline_and_cancel),
      cmocka_unit_test(test_cancel_of_caller),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_queued),
      cmocka_unit_test(test_blocked_threads),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
