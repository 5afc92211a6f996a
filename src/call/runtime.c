/* The runtime of the process, and others that begin like it. */
#include "call/runtime.h"

#include <pthread.h>

#include "base/fork.h"

static Runtime process;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Runtime *first; /* guarded: of those that count */

Runtime *runtime_of_process(void) {
  return &process;
}

void runtime_init(Runtime *runtime) {
  *runtime = (Runtime){.executor = atomic_load_explicit(&process.executor, memory_order_acquire),
                       .precision = atomic_load_explicit(&process.precision, memory_order_relaxed),
                       .quantized_engine = atomic_load_explicit(&process.quantized_engine, memory_order_relaxed),
                       .torch_version = atomic_load_explicit(&process.torch_version, memory_order_relaxed)};
  for (size_t i = 0; i < sizeof runtime->backends; i++)
    runtime->backends[i] = atomic_load_explicit(&process.backends[i], memory_order_relaxed);
}

void runtime_begin(Runtime *runtime, void (*destroy)(Runtime *runtime)) {
  ref_init(&runtime->refs);
  runtime->destroy = destroy;
  lock_take(&lock);
  runtime->next = first;
  if (first) first->previous = runtime;
  first = runtime;
  lock_drop(&lock);
}

Runtime *runtime_hold(Runtime *runtime) {
  if (runtime->destroy) ref_retain(&runtime->refs);
  return runtime;
}

void runtime_let_go(Runtime *runtime) {
  if (!runtime->destroy || !ref_release(&runtime->refs)) return;
  lock_take(&lock);
  *(runtime->previous ? &runtime->previous->next : &first) = runtime->next;
  if (runtime->next) runtime->next->previous = runtime->previous;
  lock_drop(&lock);
  runtime->destroy(runtime);
}

void runtime_each(void (*visit)(Runtime *runtime, void *argument), void *argument) {
  visit(&process, argument);
  lock_take(&lock);
  for (Runtime *runtime = first; runtime; runtime = runtime->next) visit(runtime, argument);
  lock_drop(&lock);
}
