/* thread: how threads of wick's own start, and where they run. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Whoever starts a thread may be a control loop: pinned, of a real-time policy, with handlers for signals. None of that
 * goes to the thread: it has the processors, the policy (never a real-time one) and the nice value that the process had
 * when the library was loaded, or those of thread_set_options, where the system permits, and all signals are blocked in
 * it. stack_bytes 0: the default. Detached when `out` is NULL. false: the system has no more threads, or no memory. */
bool thread_start(void *(*body)(void *argument), void *argument, size_t stack_bytes, pthread_t *out);
/* This thread of wick's own gives way to others: at least so nice, and in short slices where the system knows those,
 * unless its policy is a real-time one. */
void thread_be_nice(int nice);
/* This thread of wick's own goes on on another of its processors, if it has one, and may come back. */
void thread_leave_processor(int processor);

typedef struct ThreadOptions {
  const uint32_t *processors; /* their numbers; NULL: those the process had */
  uint32_t processor_count;
  int policy;   /* SCHED_...; below 0: the one the process had, with its nice value */
  int priority; /* of SCHED_FIFO and SCHED_RR; otherwise the nice value */
} ThreadOptions;
/* For the threads that there are and those to come. Fails, with nothing changed, where a new thread can't have them. */
Status thread_set_options(const ThreadOptions *options) MUST_CHECK;

/* For threads that a library starts as the callers' copies: gives this thread what wick's own have, once. */
void thread_settle(void);
/* Whether threads that are copies of this one need it. */
bool thread_needs_settling(void);
