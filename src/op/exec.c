/* Exec: defaults, polling, the process's default generator. */
#include "op/exec.h"

#include <limits.h>
#include <pthread.h>

#include "base/clock.h"

static pthread_once_t generator_once = PTHREAD_ONCE_INIT;
static Generator *default_generator; /* NULL when there was no memory for it */
static pthread_mutex_t generator_mutex = PTHREAD_MUTEX_INITIALIZER;

static void make_generator(void) {
  status_free(generator_new(67280421310721, &default_generator));
}

void exec_init(Exec *exec, const Services *services) {
  pthread_once(&generator_once, make_generator);
  *exec = (Exec){
      .services = services,
      .grad_enabled = true,
      .threads = parallel_default_threads(),
      .generator = default_generator,
      .steps_left = INT64_MAX,
      .bytes_left = INT64_MAX,
  };
}

Status exec_poll(Exec *exec) {
  if (exec->stop && atomic_load_explicit(exec->stop, memory_order_relaxed))
    return status_new(ERROR_CANCELLED, "cancelled");
  if (exec->deadline_ns && clock_now_ns() >= exec->deadline_ns)
    return status_new(ERROR_DEADLINE, "the deadline has passed");
  if (atomic_load_explicit(&exec->steps_left, memory_order_relaxed) <= 0)
    return status_new(ERROR_BUDGET, "the step budget is used up");
  return OK;
}

void generator_lock(void) {
  pthread_mutex_lock(&generator_mutex);
}
void generator_unlock(void) {
  pthread_mutex_unlock(&generator_mutex);
}
