/* Forks while other threads compile, call, fork tasks, make plans, look up operators, collect errors and trim: no lock
 * is in the hands of a thread that the child does not have, so it calls the same module, compiles another, and ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/parallel.h"
#include "executor/variant.h"
#include "ivalue/lock.h"
#include "wick/wick.h"

enum { THREADS = 6, FORKS = 40, DEADLINE_SECONDS = 120 /* no machine is so slow: it hangs */ };

static const char source[] =
    "def work(x):\n"
    "    y = torch.cat([x, x * 2])\n"
    "    for i in range(3):\n"
    "        y = (y * 1.5 + float(i)).relu() / 2\n"
    "    return y.sum()\n"
    "def forks(x):\n"
    "    a, b = torch.jit.fork(work, x), torch.jit.fork(work, x + 1)\n"
    "    return torch.jit.wait(a) + torch.jit.wait(b)\n"
    "def fails(x):\n"
    "    if x.size(0) > 0:\n"
    "        raise ValueError('no ' + str(x.size()))\n"
    "    return x\n";

static wick_module *shared;
static _Atomic bool is_over;

static pid_t fork_with_deadline(void) {
  alarm(DEADLINE_SECONDS); /* forking may hang, too */
  pid_t child = fork();
  alarm(child ? 2 * DEADLINE_SECONDS : DEADLINE_SECONDS); /* for who waits for the child, too */
  return child;
}

static wick_module *compile(void) {
  wick_module *module = NULL;
  wick_error *error = NULL;
  if (wick_compile(NULL, source, strlen(source), "text.py", &module, &error))
    fprintf(stderr, "%s\n", wick_error_message(error));
  wick_error_free(error);
  return module;
}

static wick_value *ones(int64_t count) {
  wick_value *x = NULL;
  wick_tensor_view view = {.size = sizeof view};
  if (wick_tensor_new(WICK_FLOAT32, 1, &count, &x, NULL) || wick_tensor_view_of(x, &view, NULL)) abort();
  for (int64_t i = 0; i < count; i++) ((float *)view.data)[i] = 1;
  return x;
}

/* Whether a call with ones ends as it should. */
static bool ends(wick_module *module, const char *method, int64_t count, wick_status expected) {
  wick_value *x = ones(count), *out = NULL;
  wick_error *error = NULL;
  wick_status status = wick_run(module, method, (const wick_value *const[]){x}, 1, NULL, 0, NULL, &out, &error);
  if (status != expected)
    fprintf(stderr, "%s(%lld): status %d: %s\n", method, (long long)count, (int)status, wick_error_message(error));
  wick_error_free(error);
  wick_value_release(out);
  wick_value_release(x);
  return status == expected;
}

static bool does_all(int64_t count) {
  wick_module *own = compile();
  bool fine = own && ends(own, "forks", count, WICK_OK) && ends(own, "fails", count, WICK_RAISED);
  for (int i = 0; i < 6 && fine; i++)
    fine = ends(own, "work", count + i, WICK_OK) && ends(shared, "work", count + i, WICK_OK) &&
           ends(shared, "forks", count, WICK_OK);
  fine = fine && wick_op_exists("aten::relu") && !wick_op_exists("aten::relux");
  wick_module_release(own);
  return fine;
}

static void *be_busy(void *argument) {
  int number = *(int *)argument;
  for (int64_t i = 0; !atomic_load(&is_over); i++) {
    if (!does_all(number % 2 ? 40000 + i % 7 : 5 + i % 7)) abort();
    if (number == 0) wick_trim();
  }
  return NULL;
}

static void test_children_do_not_wait_for_threads_that_are_gone(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip(); /* it does not let a forked child start threads */
#endif
#ifdef __SANITIZE_ADDRESS__
  skip(); /* its allocator's locks may be in the hands of a thread that the child does not have */
#endif
  if (getenv("WICK_TEST_EMULATED")) skip(); /* nor does qemu-user */
  pthread_t threads[THREADS];
  int numbers[THREADS];
  shared = compile();
  assert_non_null(shared);
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    assert_int_equal(pthread_create(&threads[i], NULL, be_busy, &numbers[i]), 0);
  }
  for (int i = 0; i < FORKS; i++) {
    usleep(500 * (unsigned)(i % 9));
    pid_t child = fork_with_deadline();
    if (!child) {
      bool fine = does_all(100) && does_all(50000);
      wick_wait_for_plans();
      wick_trim();
      _exit(fine ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
  atomic_store(&is_over, true);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  wick_module_release(shared);
}

/* ---- calls that are about to hold a plan ---- */

static void add_reader(Variant *v, void *count) {
  atomic_fetch_add(&v->readers, *(int *)count);
}
static void add_readers(ExecutorLink *link, void *count) {
  variants_each((GraphExecutor *)link, add_reader, count);
}

/* As if a thread stood between reading and retaining a plan, of every variant there is, when the process forks. */
static void test_readers_that_are_gone(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip();
#endif
  if (getenv("WICK_TEST_EMULATED")) skip();
  wick_module *module = compile();
  for (int i = 0; i < 6; i++) {
    assert_true(ends(module, "work", 100, WICK_OK));
    wick_wait_for_plans();
  }
  executor_list_each(add_readers, &(int){1});
  pid_t child = fork_with_deadline();
  if (!child) {
    wick_trim();
    bool fine = ends(module, "work", 100, WICK_OK);
    wick_wait_for_plans();
    _exit(fine ? 0 : 1);
  }
  executor_list_each(add_readers, &(int){-1});
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  wick_module_release(module);
}

/* ---- the locks ---- */

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;

static void take_inner(void *argument, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  lock_take(&inner);
  ++*(int64_t *)argument;
  lock_drop(&inner);
}

/* What a holder is the first to use while a fork waits for it: nothing of that may wait for the fork. */
static void *use_all(void *argument) {
  int64_t *count = argument;
  lock_take(&outer);
  atomic_store(&is_over, true);
  usleep(50000); /* until the fork waits */
  parallel_for(3, 3, 1, take_inner, count);
  marking_lock();
  marking_unlock();
  lock_drop(&outer);
  return NULL;
}

static void test_first_uses_do_not_wait_for_forks(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip();
#endif
  if (getenv("WICK_TEST_EMULATED")) skip();
  pthread_t thread;
  int64_t count = 0;
  assert_int_equal(pthread_create(&thread, NULL, use_all, &count), 0);
  while (!atomic_load(&is_over)) usleep(100);
  pid_t child = fork_with_deadline();
  if (!child) _exit(0);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  pthread_join(thread, NULL);
  assert_int_equal(count, 3);
  atomic_store(&is_over, false);
}

/* Within each other, and by threads that work for who holds one. */
static void *hold(void *argument) {
  int64_t *count = argument;
  while (!atomic_load(&is_over)) {
    lock_take(&outer);
    parallel_for(3, 3, 1, take_inner, count);
    lock_drop(&outer);
  }
  return NULL;
}

static void test_locks_are_free_in_a_child(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip();
#endif
  if (getenv("WICK_TEST_EMULATED")) skip();
  pthread_t threads[3];
  int64_t count = 0;
  atomic_store(&is_over, false);
  for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, hold, &count), 0);
  for (int i = 0; i < 200; i++) {
    pid_t child = fork_with_deadline();
    if (!child) {
      bool free = lock_try(&outer) && lock_try(&inner);
      _exit(free ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
  }
  atomic_store(&is_over, true);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert_true(count > 0);
}

/* ---- the order ---- */

static int steps[8], step_count;
static void first_before(void) {
  steps[step_count++] = 1;
}
static void second_before(void) {
  steps[step_count++] = 2;
}
static void first_after(void) {
  steps[step_count++] = -1;
}
static void second_after(void) {
  steps[step_count++] = -2;
}

static void test_steps_are_done_in_their_order_and_back(void **state) {
  (void)state;
  static const ForkHandler first = {first_before, first_after, first_after},
                           second = {second_before, second_after, second_after};
  static const ForkHandler none;
  fork_watch(FORK_OPENMP, &second); /* in whichever order they come */
  fork_watch(FORK_THREADS, &first);
  pid_t child = fork();
  bool right = step_count == 4 && steps[0] == 1 && steps[1] == 2 && steps[2] == -2 && steps[3] == -1;
  if (!child) _exit(right ? 0 : 1);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_true(right);
  fork_watch(FORK_OPENMP, &none);
  fork_watch(FORK_THREADS, &none);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_readers_that_are_gone),
                                     cmocka_unit_test(test_first_uses_do_not_wait_for_forks), /* before other uses */
                                     cmocka_unit_test(test_children_do_not_wait_for_threads_that_are_gone),
                                     cmocka_unit_test(test_locks_are_free_in_a_child),
                                     cmocka_unit_test(test_steps_are_done_in_their_order_and_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
