#include "base/work_limit.h"

#include "base/clock.h"

static _Thread_local WorkLimit *limit;
static _Thread_local int64_t uncounted; /* pieces since it looked, of those that nobody else counts */

WorkLimit *work_limit_enter(WorkLimit *entered) {
  WorkLimit *before = limit;
  limit = entered;
  return before;
}
WorkLimit *work_limit(void) {
  return limit;
}

bool work_is_over(void) {
  WorkLimit *l = limit;
  if (!l) return false;
  bool is_over = (l->stop && atomic_load_explicit(l->stop, memory_order_relaxed)) ||
                 (l->deadline_ns && clock_now_ns() >= l->deadline_ns);
  if (is_over) atomic_store_explicit(&l->noticed, true, memory_order_relaxed);
  return is_over;
}

bool work_is_over_after_more(int64_t pieces) {
  return limit && work_is_over_after(&uncounted, pieces);
}

uint64_t work_time_left(void) {
  if (!limit || !limit->deadline_ns) return UINT64_MAX;
  uint64_t now = clock_now_ns();
  return now < limit->deadline_ns ? limit->deadline_ns - now : 0;
}

Status work_status(void) {
  if (!work_is_over()) return OK;
  const WorkLimit *limit = work_limit();
  if (limit->stop && atomic_load_explicit(limit->stop, memory_order_relaxed))
    return status_new(ERROR_CANCELLED, "cancelled");
  return status_new(ERROR_DEADLINE, "the deadline has passed");
}

Status work_status_before(double expected_ns, const char *what) {
  TRY(work_status());
  uint64_t left = work_time_left();
  if (left == UINT64_MAX || expected_ns <= (double)left) return OK;
  return status_new(ERROR_DEADLINE, "the deadline would pass: %s of some %.3g s, and %.3g s are left", what,
                    expected_ns * 1e-9, (double)left * 1e-9);
}

Status work_take_tree(void) {
  if (!limit || !limit->limits_trees) return OK;
  if (!limit->trees_left) return status_new(ERROR_BUDGET, "the program is larger than may be compiled");
  limit->trees_left--;
  return OK;
}
