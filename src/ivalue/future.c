/* Future: one value or error, given once. Callbacks run without the lock. */
#include "ivalue/future.h"

#include <assert.h>

#include "base/clock.h"
#include "base/vec.h"

typedef struct Callback {
  void (*run)(void *argument, Future *f);
  void *argument;
} Callback;
struct Future {
  RefCount refs;
  const Type *element;
  pthread_mutex_t lock;
  pthread_cond_t completed;
  _Atomic bool done;
  IValue value;
  Status error;
  VEC(Callback) callbacks;
  FutureWaiter *first_waiter, *last_waiter; /* fixed once it is done */
  void *producer;
};

Status future_new(const Type *element, Future **out) {
  Future *f = mem_calloc(1, sizeof *f);
  if (!f) return status_out_of_memory();
  ref_init(&f->refs);
  f->element = element;
  type_store_retain(element->store);
  pthread_mutex_init(&f->lock, NULL);
  clock_condition_init(&f->completed);
  *out = f;
  return OK;
}

void future_free(Future *f) {
  assert(!f->first_waiter || future_is_done(f));
  TypeStore *store = f->element->store;
  ivalue_release(f->value);
  if (f->error) status_free(f->error);
  vec_dispose(&f->callbacks);
  pthread_cond_destroy(&f->completed);
  pthread_mutex_destroy(&f->lock);
  mem_free(f);
  type_store_release(store);
}

bool future_is_done(const Future *f) {
  return atomic_load_explicit(&f->done, memory_order_acquire);
}
const Type *future_element_type(const Future *f) {
  return f->element;
}

static Status error_copy(const Error *error) {
  Status copy = status_new(error->code, "%s", error->message ? error->message : "");
  if (copy->code != error->code || copy == error) return copy; /* out of memory */
  copy->exception = error->exception;
  if (error->class_name) {
    copy->class_name = mem_strdup(error->class_name);
    copy->exception = copy->class_name ? copy->class_name : "Exception";
  }
  return error->trace ? status_add_trace(copy, error->trace) : copy;
}

Status future_result(Future *f, IValue *out) {
  if (!future_is_done(f)) return status_internal("the future is not done");
  if (f->error) return error_copy(f->error);
  *out = ivalue_retain(f->value);
  return OK;
}

static void finish(Future *f, IValue value, Status error) {
  pthread_mutex_lock(&f->lock);
  if (f->done) {
    pthread_mutex_unlock(&f->lock);
    ivalue_release(value);
    if (error) status_free(error);
    return;
  }
  f->value = value;
  f->error = error;
  atomic_store_explicit(&f->done, true, memory_order_release);
  pthread_cond_broadcast(&f->completed);
  pthread_mutex_unlock(&f->lock);
  ref_retain(&f->refs); /* a callback may let go of it */
  for (size_t i = 0; i < f->callbacks.length; i++) f->callbacks.data[i].run(f->callbacks.data[i].argument, f);
  for (FutureWaiter *w = f->first_waiter, *next; w; w = next) {
    next = w->next;
    w->run(w, f);
  }
  ivalue_release(ivalue_future(f));
}

void future_complete(Future *f, IValue value) {
  finish(f, value, OK);
}
void future_fail(Future *f, Status error) {
  finish(f, IVALUE_NONE, error);
}

Status future_then(Future *f, void (*callback)(void *argument, Future *f), void *argument) {
  pthread_mutex_lock(&f->lock);
  bool done = f->done;
  Callback item = {callback, argument};
  bool queued = done || vec_push(&f->callbacks, item);
  pthread_mutex_unlock(&f->lock);
  if (!queued) return status_out_of_memory();
  if (done) callback(argument, f);
  return OK;
}

bool future_await(Future *f, FutureWaiter *waiter) {
  pthread_mutex_lock(&f->lock);
  bool done = f->done;
  if (!done) {
    waiter->next = NULL;
    waiter->previous = f->last_waiter;
    if (f->last_waiter)
      f->last_waiter->next = waiter;
    else
      f->first_waiter = waiter;
    f->last_waiter = waiter;
  }
  pthread_mutex_unlock(&f->lock);
  return !done;
}

bool future_forget(Future *f, FutureWaiter *waiter) {
  pthread_mutex_lock(&f->lock);
  bool done = f->done;
  if (!done) {
    *(waiter->previous ? &waiter->previous->next : &f->first_waiter) = waiter->next;
    *(waiter->next ? &waiter->next->previous : &f->last_waiter) = waiter->previous;
  }
  pthread_mutex_unlock(&f->lock);
  return !done;
}

void future_set_producer(Future *f, void *producer) {
  f->producer = producer;
}
void *future_producer(const Future *f) {
  return f->producer;
}

void future_wait(Future *f) {
  pthread_mutex_lock(&f->lock);
  while (!f->done) pthread_cond_wait(&f->completed, &f->lock);
  pthread_mutex_unlock(&f->lock);
}

bool future_wait_for(Future *f, uint64_t timeout_ns) {
  struct timespec until = clock_after(timeout_ns);
  pthread_mutex_lock(&f->lock);
  while (!f->done && !pthread_cond_timedwait(&f->completed, &f->lock, &until)) {
  }
  bool done = f->done;
  pthread_mutex_unlock(&f->lock);
  return done;
}
