/* Threads of wick's own, started from a thread that is pinned, of a real-time policy where that is permitted, and
 * waits for signals: none of it goes to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/parallel_pool.h"
#include "base/thread.h"
#include "wick/wick.h"

static const char source[] =
    "def work(x):\n"
    "    return (x * 2 + 1).relu().sum()\n"
    "def forks(x):\n"
    "    a, b = torch.jit.fork(work, x), torch.jit.fork(work, x)\n"
    "    return torch.jit.wait(a) + torch.jit.wait(b)\n";

/* ---- looking at a thread ---- */

static unsigned long long blocked_signals(int id) {
  char path[64], line[256];
  unsigned long long mask = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/status", id);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "SigBlk: %llx", &mask) == 1) break;
  if (file) fclose(file);
  return mask;
}

/* Gone, or about to: who joins a thread goes on while the system still lists it. */
static bool is_ending(int id) {
  enum { PF_EXITING = 4 };
  char path[64], text[512] = "";
  unsigned flags = PF_EXITING;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", id);
  FILE *file = fopen(path, "r");
  if (file) text[fread(text, 1, sizeof text - 1, file)] = '\0', fclose(file);
  const char *after_name = strrchr(text, ')');
  if (after_name) (void)sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %u", &flags);
  return flags & PF_EXITING;
}

typedef struct Found {
  int threads, of_other_policy, of_other_processors, with_signals;
} Found;

static bool takes_a_signal(int id) {
  static const int signals[] = {SIGUSR1, SIGINT, SIGTERM, SIGALRM, SIGCHLD};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    if (!(blocked_signals(id) >> (signals[i] - 1) & 1)) return true;
  return false;
}

/* Threads that are there before wick has any: a sanitizer's. */
static int strangers[8];

static bool is_stranger(int id) {
  for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
    if (strangers[i] == id) return true;
  return false;
}

static void *nothing(void *argument) {
  return argument;
}

static int note_strangers(void **state) {
  (void)state;
  size_t count = 0;
  pthread_t first;
  if (pthread_create(&first, NULL, nothing, NULL)) return 1; /* a sanitizer may begin its own now */
  pthread_join(first, NULL);
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return 1;
  for (struct dirent *entry; (entry = readdir(tasks)) && count < sizeof strangers / sizeof *strangers;) {
    int id = atoi(entry->d_name);
    if (id && id != getpid()) strangers[count++] = id;
  }
  closedir(tasks);
  return 0;
}

static void look_at(int id, int policy, const cpu_set_t *processors, Found *found) {
  cpu_set_t own;
  bool other_policy = (int)syscall(SYS_sched_getscheduler, id) != policy,
       other_processors = sched_getaffinity(id, sizeof own, &own) || !CPU_EQUAL(&own, processors),
       with_signals = takes_a_signal(id);
  if (is_ending(id)) return;
  found->threads++;
  found->of_other_policy += other_policy;
  found->of_other_processors += other_processors;
  found->with_signals += with_signals;
}

/* Of all threads but the caller, the main thread and strangers. */
static Found look_at_others(int caller, int policy, const cpu_set_t *processors) {
  Found found = {0};
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (struct dirent *entry; (entry = readdir(tasks));) {
    int id = atoi(entry->d_name);
    if (id && id != getpid() && id != caller && !is_stranger(id)) look_at(id, policy, processors, &found);
  }
  closedir(tasks);
  return found;
}

/* ---- using all kinds of threads ---- */

static void piece(void *argument, int64_t begin, int64_t end) {
  (void)argument, (void)begin, (void)end;
  usleep(1000);
}

static void use_threads(void) {
  wick_module *module;
  wick_value *x;
  wick_future *future;
  assert_int_equal(wick_compile(NULL, source, strlen(source), "text.py", &module, NULL), WICK_OK);
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, (int64_t[]){64}, &x, NULL), WICK_OK);
  const wick_value *const arguments[] = {x};
  for (int i = 0; i < 5; i++)
    assert_int_equal(wick_run(module, "forks", arguments, 1, NULL, 0, NULL, NULL, NULL), WICK_OK);
  assert_int_equal(wick_run_async(module, "work", arguments, 1, NULL, 0, NULL, &future, NULL), WICK_OK);
  assert_int_equal(wick_future_wait(future, 0, NULL, NULL), WICK_OK);
  wick_wait_for_plans();
  parallel_for(3, 8, 1, piece, NULL);
  wick_future_release(future);
  wick_value_release(x);
  wick_module_release(module);
}

typedef struct Loop {
  cpu_set_t processors; /* of the process */
  int id;
  Found at_first, found;
} Loop;

/* When the workers are there, but may not have run yet. */
static void look_early(void *argument, int64_t begin, int64_t end) {
  Loop *loop = argument;
  (void)begin, (void)end;
  if ((int)syscall(SYS_gettid) == loop->id && !loop->at_first.threads)
    loop->at_first = look_at_others(loop->id, SCHED_OTHER, &loop->processors);
}

static void *control_loop(void *argument) {
  Loop *loop = argument;
  int first = 0;
  cpu_set_t one;
  sigset_t none;
  while (!CPU_ISSET(first, &loop->processors)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
  (void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
  loop->id = (int)syscall(SYS_gettid);
  parallel_for(3, 8, 1, look_early, loop);
  use_threads();
  loop->found = look_at_others(loop->id, SCHED_OTHER, &loop->processors);
  return NULL;
}

static void test_nothing_is_inherited(void **state) {
  (void)state;
  Loop loop = {0};
  pthread_t thread;
  assert_int_equal(sched_getaffinity(0, sizeof loop.processors, &loop.processors), 0);
  assert_int_equal(pthread_create(&thread, NULL, control_loop, &loop), 0);
  pthread_join(thread, NULL);
  assert_true(loop.found.threads >= 2); /* plans are made, forks are run */
  assert_int_equal(loop.at_first.of_other_policy, 0);
  assert_int_equal(loop.at_first.of_other_processors, 0);
  assert_int_equal(loop.at_first.with_signals, 0);
  assert_int_equal(loop.found.of_other_policy, 0);
  assert_int_equal(loop.found.of_other_processors, 0);
  assert_int_equal(loop.found.with_signals, 0);
}

/* ---- options ---- */

static wick_status set_options(wick_runtime_options options, char *message) {
  wick_runtime *runtime;
  wick_error *error = NULL;
  options.size = sizeof options;
  wick_status status = wick_runtime_new(&options, &runtime, &error);
  snprintf(message, 200, "%s", wick_error_message(error));
  wick_error_free(error);
  wick_runtime_release(runtime);
  return status;
}

static int threads_of_other_policy(int policy) {
  cpu_set_t any;
  CPU_ZERO(&any);
  use_threads();
  return look_at_others((int)syscall(SYS_gettid), policy, &any).of_other_policy;
}

static void test_processors_are_chosen(void **state) {
  (void)state;
  cpu_set_t all, one;
  char message[200];
  int first = 0;
  use_threads(); /* threads that are there go, too */
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  while (!CPU_ISSET(first, &all)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  uint32_t cpus[] = {(uint32_t)first, 8191};
  assert_int_equal(set_options((wick_runtime_options){.thread_cpus = cpus, .thread_cpu_count = 2}, message),
                   WICK_INVALID_ARGUMENT);
  assert_non_null(strstr(message, "8191"));
  assert_int_equal(set_options((wick_runtime_options){.thread_cpus = cpus}, message), WICK_INVALID_ARGUMENT);
  assert_int_equal(look_at_others(0, SCHED_OTHER, &all).of_other_processors, 0); /* nothing has changed */
  assert_int_equal(set_options((wick_runtime_options){.thread_cpus = cpus, .thread_cpu_count = 1}, message), WICK_OK);
  use_threads(); /* OpenMP's follow when they work */
  Found found = look_at_others(0, SCHED_OTHER, &one);
  assert_true(found.threads >= 2);
  assert_int_equal(found.of_other_processors, 0);
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  assert_true(CPU_COUNT(&all) >= 1); /* the caller's are its own */
}

static void test_policies_are_chosen_or_refused(void **state) {
  (void)state;
  char message[200];
  const wick_runtime_options wrong[] = {{.thread_policy = 77},
                                        {.thread_priority = 5},
                                        {.thread_policy = WICK_THREADS_FIFO},
                                        {.thread_policy = WICK_THREADS_OTHER, .thread_priority = 50},
                                        {.thread_reserved = 1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(set_options(wrong[i], message), WICK_INVALID_ARGUMENT);
  wick_status status =
      set_options((wick_runtime_options){.thread_policy = WICK_THREADS_FIFO, .thread_priority = 2}, message);
  if (status) {
    assert_int_equal(status, WICK_UNSUPPORTED);
    assert_non_null(strstr(message, "EPERM"));
    assert_int_equal(threads_of_other_policy(SCHED_OTHER), 0);
  } else {
    assert_int_equal(threads_of_other_policy(SCHED_FIFO), 0);
    assert_int_equal(set_options((wick_runtime_options){.thread_policy = WICK_THREADS_OTHER}, message), WICK_OK);
    assert_int_equal(threads_of_other_policy(SCHED_OTHER), 0);
  }
  assert_int_equal(set_options((wick_runtime_options){.thread_policy = WICK_THREADS_BATCH}, message), WICK_OK);
  assert_int_equal(threads_of_other_policy(SCHED_BATCH), 0);
}

/* ---- OpenMP's threads, which are copies of who calls ---- */

static void *pinned_products(void *argument) {
  enum { N = 512 };
  cpu_set_t *processors = argument, one;
  int first = 0, id = (int)syscall(SYS_gettid);
  while (!CPU_ISSET(first, processors)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
  (void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
  wick_value *a, *out;
  wick_runtime_options options = {.size = sizeof options, .max_threads = 3};
  wick_runtime *runtime;
  assert_int_equal(wick_runtime_new(&options, &runtime, NULL), WICK_OK);
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 2, (int64_t[]){N, N}, &a, NULL), WICK_OK);
  assert_int_equal(wick_op_call(runtime, "aten::mm", NULL, (const wick_value *const[]){a, a}, 2, NULL, 0, &out, NULL),
                   WICK_OK);
  wick_value_release(out);
  parallel_for(3, 8, 1, piece, NULL);
  Found found = look_at_others(id, SCHED_OTHER, processors);
  wick_value_release(a);
  wick_runtime_release(runtime);
  return (void *)(intptr_t)(found.of_other_policy + found.of_other_processors);
}

static void test_openmp_inherits_nothing(void **state) {
  (void)state;
  pthread_t thread;
  void *others;
  cpu_set_t processors;
  assert_int_equal(sched_getaffinity(0, sizeof processors, &processors), 0);
  assert_int_equal(pthread_create(&thread, NULL, pinned_products, &processors), 0);
  pthread_join(thread, &others);
  assert_int_equal((intptr_t)others, 0);
}

/* On another processor, but for who has only one, and with all that it had. */
static void *leaves(void *argument) {
  (void)argument;
  cpu_set_t before, after;
  intptr_t wrong = sched_getaffinity(0, sizeof before, &before) != 0;
  for (int i = 0; i < 20; i++) {
    int processor = sched_getcpu();
    thread_leave_processor(processor);
    bool stays = sched_getcpu() == processor; /* it may come back at once, but not each time */
    wrong += stays != (CPU_COUNT(&before) == 1);
    wrong += sched_getaffinity(0, sizeof after, &after) || !CPU_EQUAL(&before, &after) ? 100 : 0;
  }
  return (void *)wrong;
}

static void test_processors_are_left(void **state) {
  (void)state;
  pthread_t thread;
  void *wrong;
  assert_true(thread_start(leaves, NULL, 0, &thread));
  pthread_join(thread, &wrong);
  assert_true((intptr_t)wrong < 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_inherited), cmocka_unit_test(test_openmp_inherits_nothing),
      cmocka_unit_test(test_processors_are_chosen), cmocka_unit_test(test_policies_are_chosen_or_refused),
      cmocka_unit_test(test_processors_are_left)};
  return cmocka_run_group_tests(tests, note_strangers, NULL);
}
