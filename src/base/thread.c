/* What the process had when the library was loaded, and threads that get it. */
#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"

enum { MASK_WORDS = 128 }; /* 8,192 processors */
typedef struct Home {
  unsigned long processors[MASK_WORDS];
  bool has_processors;
  int policy, nice;
} Home;
static Home home;

static bool add_processors(pid_t id) {
  unsigned long mask[MASK_WORDS] = {0};
  if (sched_getaffinity(id, sizeof mask, (cpu_set_t *)mask)) return false;
  for (int i = 0; i < MASK_WORDS; i++) home.processors[i] |= mask[i];
  return true;
}

/* A thread that opens the library at run time may be pinned already: the main thread's processors count, too. */
__attribute__((constructor)) static void look_around(void) {
  bool own = add_processors(0), of_process = add_processors(getpid());
  int policy = sched_getscheduler(getpid());
  home.has_processors = own || of_process;
  home.policy = policy == SCHED_BATCH || policy == SCHED_IDLE ? policy : SCHED_OTHER;
  home.nice = getpriority(PRIO_PROCESS, (id_t)getpid());
}

typedef struct Start {
  void *(*body)(void *argument);
  void *argument;
} Start;

static void *begin(void *argument) {
  Start start = *(Start *)argument;
  mem_free(argument);
  /* Refused where the cpuset has changed: then the thread stays where it was started. */
  if (home.has_processors) (void)sched_setaffinity(0, sizeof home.processors, (const cpu_set_t *)home.processors);
  (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), home.nice); /* upwards it may not be permitted */
  return start.body(start.argument);
}

static bool create(Start *start, size_t stack_bytes, bool with_policy, pthread_t *out) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes)) return false;
  bool fine = !stack_bytes || !pthread_attr_setstacksize(&attributes, stack_bytes);
  if (with_policy)
    fine &= !pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) &&
            !pthread_attr_setschedpolicy(&attributes, home.policy) &&
            !pthread_attr_setschedparam(&attributes, &(struct sched_param){0});
  if (!out) fine &= !pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  fine = fine && !pthread_create(out ? out : &thread, &attributes, begin, start);
  pthread_attr_destroy(&attributes);
  return fine;
}

bool thread_start(void *(*body)(void *argument), void *argument, size_t stack_bytes, pthread_t *out) {
  Start *start = mem_alloc(sizeof *start);
  if (!start) return false;
  *start = (Start){body, argument};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  /* the system may refuse the policy */
  bool started = create(start, stack_bytes, true, out) || create(start, stack_bytes, false, out);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!started) mem_free(start);
  return started;
}
