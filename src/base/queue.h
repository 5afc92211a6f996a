/* The compile queue: one thread of low priority that makes plans and kernels off the callers' threads, one job at a
 * time. It starts with the first job. Who forks waits for the job under way to come to a pause (queue_pause), so that a
 * child finds every lock free; the child starts a thread of its own. When the library goes, the job under way is
 * cancelled at its next pause and waiting ones are dropped. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Job {
  struct Job *next;
  bool is_queued;
  void (*run)(struct Job *job);
  /* Around run: keep alive what the job works on. hold: false: it is being freed; the job is dropped. */
  bool (*hold)(struct Job *job);
  void (*let_go)(struct Job *job);
} Job;

/* Starts the thread, for a job that is going to come. */
void queue_begin(void);
/* false: no thread could be started; the job is not queued. A job that waits already stays where it is. */
bool queue_add(Job *job);
/* Takes a waiting job out; afterwards the queue does not know it. Not for one that runs: it holds what it works on. */
void queue_remove(Job *job);
/* Until the job neither waits nor runs, at most ns; not at all when others are ahead of it. */
void queue_wait(const Job *job, uint64_t ns);
/* Whether a job is under way, as far as anybody can tell without a lock. */
bool queue_is_running(void);
/* Between them no job goes on: for who changes what jobs read. Not with a lock that a job may take. */
void queue_hold(void);
void queue_let_go(void);
/* Within a job, at places where no lock is held: lets a fork, or who holds the queue, go ahead. false: the job is to
 * end. On other threads: true at once. */
bool queue_pause(void);
/* Until no job waits or runs; for tests and for who wants a warmed-up module. */
void queue_drain(void);
