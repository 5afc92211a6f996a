/* When the work of a thread is to end: the deadline and the cancel flag of the call that it works for. Known by the
 * thread, as its memory budget is, so that loops anywhere can look. Who looks and finds that it is over leaves its work
 * undone; whoever entered the limit sees `noticed` and fails the call. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct WorkLimit {
  const _Atomic bool *stop; /* NULL: none */
  uint64_t deadline_ns;     /* monotonic; 0: none */
  _Atomic bool noticed;     /* somebody has found that it is over */
  uint64_t trees_left;      /* of those that compiling may emit; this thread's alone */
  bool limits_trees;
} WorkLimit;
/* From now on this thread works within it (NULL: within none); gives the one before. */
WorkLimit *work_limit_enter(WorkLimit *limit);
WorkLimit *work_limit(void);
/* Costs some 30 ns where there is a limit: for loops, every 10,000 elements or so. */
bool work_is_over(void);
/* The error, when it is over; else OK. */
Status work_status(void) MUST_CHECK;
/* Before work that nothing interrupts and that is expected to take so long: an error also where no time is left for
 * it. */
Status work_status_before(double expected_ns, const char *what) MUST_CHECK;
/* Before a statement or an expression is compiled. */
Status work_take_tree(void) MUST_CHECK;
/* Nanoseconds until the deadline; UINT64_MAX: none. */
uint64_t work_time_left(void);
/* Looks once in WORK_PER_LOOK pieces of work; *done counts. Once it is over, each call says so. */
enum { WORK_PER_LOOK = 1 << 16 };
static inline bool work_is_over_after(int64_t *done, int64_t pieces) {
  if ((*done += pieces) < WORK_PER_LOOK) return false;
  bool is_over = work_is_over();
  *done = is_over ? WORK_PER_LOOK : 0;
  return is_over;
}
/* The same, for a function of one element, which has no place to count in: the thread counts. */
bool work_is_over_after_more(int64_t pieces);
