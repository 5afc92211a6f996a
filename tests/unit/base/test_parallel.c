/* parallel_for covers each index once, nests serially and works in a forked child; the cache keeps and bounds blocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/lasting.h"
#include "base/parallel_pool.h"
#include "base/stack.h"

enum { COUNT = 10007 };
static _Atomic int hits[COUNT];

static void hit(void *argument, int64_t begin, int64_t end) {
  (void)argument;
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&hits[i], 1);
}

static void hit_nested(void *argument, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) parallel_for(4, 1, 1, hit, argument);
  parallel_for(4, end - begin, 1, hit, argument);
}

/* Longer than who waits for it stays awake. */
static void hit_late(void *argument, int64_t begin, int64_t end) {
  usleep(2000);
  hit(argument, begin, end);
}

static bool covered(void) {
  bool all = true;
  for (int i = 0; i < COUNT; i++) all &= atomic_exchange(&hits[i], 0) == 1;
  return all;
}

static void *many_times(void *argument) {
  for (int i = 0; i < 50; i++) {
    parallel_for(3, 1000, 10, argument ? hit_nested : hit, argument);
    ParallelPieces pieces = {.body = hit, .n = 1000, .count = 5};
    parallel_pool_run(3, &pieces);
  }
  return NULL;
}

static void test_each_index_once(void **state) {
  (void)state;
  for (int threads = 0; threads < 6; threads++) {
    parallel_for(threads, COUNT, 100, hit, NULL);
    assert_true(covered());
    ParallelPieces pieces = {.body = hit, .n = COUNT, .count = 5};
    parallel_pool_run(threads + 1, &pieces);
    assert_true(covered());
    pieces = (ParallelPieces){.body = hit_late, .n = COUNT, .count = 3};
    parallel_pool_run(threads + 1, &pieces);
    assert_true(covered());
  }
  parallel_for(4, 0, 1, hit, NULL);
  parallel_for(4, -1, 1, hit, NULL);
  assert_true(parallel_default_threads() >= 1);
  int64_t huge = INT64_MAX - 5;
  assert_int_equal(parallel_piece_begin(huge, 7, 7), huge);
}

/* Of the last ones more than there are places for jobs. */
static void test_many_callers(void **state) {
  (void)state;
  enum { MOST = 80 };
  for (int count = 4; count <= MOST; count += MOST - 4) {
    pthread_t threads[MOST];
    for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, many_times, i % 2 ? &threads : NULL);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    int sum = 0, nested = count / 2; /* those hit twice */
    for (int i = 0; i < COUNT; i++) sum += atomic_exchange(&hits[i], 0);
    assert_int_equal(sum, 50 * 1000 * (count + (count - nested) + 2 * nested));
  }
}

static void test_fork(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip(); /* its runtime does not start threads in a forked child */
#endif
  if (getenv("WICK_TEST_EMULATED")) skip(); /* nor does qemu-user */
  parallel_for(4, COUNT, 1, hit, NULL);
  assert_true(covered());
  pid_t child = fork();
  if (child == 0) {
    alarm(300); /* no machine is so slow: it hangs */
    parallel_for(4, COUNT, 1, hit, NULL);
    _exit(covered() ? 0 : 1);
  }
  int result;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
}

static void test_cache(void **state) {
  (void)state;
  cache_trim(NULL);
  cache_set_limit(NULL, 1 << 20);
  for (size_t bytes = 0; bytes < 300000; bytes = bytes * 2 + 7) {
    char *p = cache_alloc(bytes);
    assert_int_equal((uintptr_t)p % 64, 0);
    memset(p, 1, bytes);
    cache_free(p, bytes);
  }
  cache_trim(NULL);
  void *p = cache_alloc(100000);
  cache_free(p, 100000);
  assert_true(cache_bytes(NULL) >= 100000);
  assert_ptr_equal(cache_alloc(99999), p);
  assert_int_equal(cache_bytes(NULL), 0);
  cache_free(p, 99999);
  void *lasting = lasting_alloc(heap_current(), 99999);
  assert_ptr_not_equal(lasting, p); /* which calls are going to want */
  assert_ptr_equal(cache_alloc(99999), p);
  cache_free(p, 99999);
  size_t kept = cache_bytes(NULL);
  lasting_free(heap_current(), lasting, 99999);
  assert_int_equal(cache_bytes(NULL), kept); /* it goes at once */
  cache_trim(NULL);                          /* the hostile build keeps one block */
  void *twice = cache_alloc(400000);         /* a block up to four times as large serves, and stays what it was */
  cache_free(twice, 400000);
  assert_ptr_equal(cache_alloc(210000), twice);
  cache_free(twice, 210000);
  assert_ptr_equal(cache_alloc(400000), twice);
  cache_free(twice, 400000);
  void *small = cache_alloc(90000);
  assert_ptr_not_equal(small, twice);
  cache_free(small, 90000);
  void *large = cache_alloc(8 << 20);
  cache_free(large, 8 << 20);
  assert_true(cache_bytes(NULL) <= 1 << 20);
  assert_null(cache_alloc(SIZE_MAX - 3));
  assert_true(cache_trim(NULL) >= 100000);
  assert_int_equal(cache_bytes(NULL), 0);
}

static void *free_there(void *block) {
  cache_free(block, 100000);
  return NULL;
}

/* A block that this thread had last comes before those that others had since. */
static void test_near_blocks(void **state) {
  (void)state;
#ifdef WICK_HOSTILE
  skip(); /* one block is kept */
#endif
  cache_trim(NULL);
  cache_set_limit(NULL, 1 << 20);
  void *own = cache_alloc(100000), *others = cache_alloc(100000);
  cache_free(own, 100000);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, free_there, others), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_ptr_equal(cache_alloc(100000), own);
  assert_ptr_equal(cache_alloc(100000), others); /* better than none */
  cache_free(own, 100000);
  cache_free(others, 100000);
  cache_trim(NULL);
}

static void *measure(void *argument) {
  *(size_t *)argument = stack_left();
  return NULL;
}

static void test_stack(void **state) {
  (void)state;
  assert_true(stack_left() > STACK_RESERVE);
#if defined(__GLIBC__) && !defined(WICK_SANITIZED)
  enum { KEPT_BACK = 256 << 10 };
  pthread_attr_t own; /* of the first thread glibc knows by /proc/self/maps */
  void *address = NULL;
  size_t bytes = 0;
  assert_int_equal(pthread_getattr_np(pthread_self(), &own), 0);
  assert_int_equal(pthread_attr_getstack(&own, &address, &bytes), 0);
  pthread_attr_destroy(&own);
  size_t by_library = (size_t)((const char *)__builtin_frame_address(0) - (const char *)address);
  assert_true(stack_left() <= by_library && by_library - stack_left() < KEPT_BACK);
#endif
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 << 10);
  pthread_t thread;
  size_t left = 0;
  pthread_create(&thread, &attributes, measure, &left);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  assert_true(left > 100 << 10 && left <= 512 << 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_index_once), cmocka_unit_test(test_many_callers), cmocka_unit_test(test_fork),
      cmocka_unit_test(test_near_blocks),     cmocka_unit_test(test_cache),        cmocka_unit_test(test_stack),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
