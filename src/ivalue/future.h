/* Future: a value that comes later. Waiting suspends the interpreter's frames; C callers may block or give a callback.
 */
#pragma once

#include "ivalue/ivalue.h"

Status future_new(const Type *element, Future **out) MUST_CHECK;
bool future_is_done(const Future *f);
/* Done only. The error, if any, is a copy that the caller owns. */
Status future_result(Future *f, IValue *out) MUST_CHECK;
void future_complete(Future *f, IValue value); /* takes over; a second completion is ignored */
void future_fail(Future *f, Status error);     /* takes over */
/* callback runs once, at once when done already, else on the completing thread. */
Status future_then(Future *f, void (*callback)(void *argument, Future *f), void *argument) MUST_CHECK;
/* One who waits; lies with him, so that waiting takes no memory and may be given up again. */
typedef struct FutureWaiter {
  struct FutureWaiter *next, *previous;
  void (*run)(struct FutureWaiter *waiter, Future *f); /* once, on the completing thread; the waiter may be gone then */
} FutureWaiter;
bool future_await(Future *f, FutureWaiter *waiter);  /* false: it is done already, and nobody will be told */
bool future_forget(Future *f, FutureWaiter *waiter); /* false: it is done, and the waiter is or will be told */
/* Who is to complete it, for whoever looks for rings of waiting; NULL at first. The caller's lock guards it. */
void future_set_producer(Future *f, void *producer);
void *future_producer(const Future *f);
void future_wait(Future *f);                          /* blocks the thread; for callers from outside */
bool future_wait_for(Future *f, uint64_t timeout_ns); /* false: not done within the time */
const Type *future_element_type(const Future *f);
void future_free(Future *f);
