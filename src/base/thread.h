/* thread: how threads of wick's own start. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Whoever starts a thread may be a control loop: pinned, of a real-time policy, with handlers for signals. None of that
 * goes to the thread: it has the processors, the policy (never a real-time one) and the nice value that the process had
 * when the library was loaded, where the system permits, and all signals are blocked in it. stack_bytes 0: the default.
 * Detached when `out` is NULL. false: the system has no more threads, or no memory. */
bool thread_start(void *(*body)(void *argument), void *argument, size_t stack_bytes, pthread_t *out);
