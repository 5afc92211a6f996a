/* fork: what the library does around a fork of the process, in one order. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/* ORDER fork. Before a fork the steps are done in this order, after it backwards. First come those that wait for a
 * thread, while every lock it may want is free. */
typedef enum ForkStep {
  FORK_PAUSES,     /* the queue's thread comes to a pause */
  FORK_LOCKS,      /* nobody holds one of the locks below */
  FORK_PLANS,      /* the queue of plans and of kernels */
  FORK_READERS,    /* calls that are about to hold the plan they run in */
  FORK_KERNELS,    /* what back ends compiled */
  FORK_CODE,       /* regions of machine code */
  FORK_TASKS,      /* the pool of forked tasks */
  FORK_CONTAINERS, /* shared lists, dicts and objects */
  FORK_THREADS,    /* the list of wick's threads */
  FORK_PARALLEL,   /* the pool of parallel_for */
  FORK_OPENMP,
  FORK_STEPS
} ForkStep;
typedef struct ForkHandler {
  void (*before)(void), (*in_parent)(void), (*in_child)(void); /* each may be NULL */
} ForkHandler;
/* From now on; the handler lives as long as the process. Handlers take no locks but their own plain ones. It waits for
 * a fork that is under way, which may be waiting for any other thread: so it is for constructors, that run while the
 * library is loaded. */
void fork_watch(ForkStep step, const ForkHandler *handler);

/* Locks that a fork never finds in another thread's hands, whichever are taken within which: it waits until no thread
 * holds any, and who wants its first one meanwhile waits for the fork. The holder must not wait for another thread that
 * takes one, nor sleep at a condition. */
void lock_take(pthread_mutex_t *lock);
bool lock_try(pthread_mutex_t *lock); /* false: another thread has it */
void lock_drop(pthread_mutex_t *lock);
/* The same for other kinds of locks: around the time one is held. */
void lock_enter(void);
void lock_leave(void);
/* True while this thread holds one. Threads that work for one who does (parallel_for) enter although a fork waits. */
bool lock_is_held(void);
void lock_enter_for_holder(void);
