/* Polling of a call's limits. */
#include "base/work.h"

#include "base/clock.h"

static bool is_stopped(const Work *work) {
  return work->stop && atomic_load_explicit(work->stop, memory_order_relaxed);
}
static bool is_late(const Work *work) {
  return work->deadline_ns && clock_now_ns() >= work->deadline_ns;
}

void work_set_deadline(Work *work, uint64_t monotonic_ns) {
  work->deadline_ns = monotonic_ns;
  work->is_limited = true;
}

void work_set_stop(Work *work, const _Atomic bool *stop) {
  work->stop = stop;
  work->is_limited = true;
}

bool work_has_to_end(const Work *work) {
  return work->is_limited && (is_stopped(work) || is_late(work));
}

Status work_poll(const Work *work) {
  if (is_stopped(work)) return status_new(ERROR_CANCELLED, "cancelled");
  if (is_late(work)) return status_new(ERROR_DEADLINE, "the deadline has passed");
  if (work->budget && atomic_load_explicit(&work->budget->steps_left, memory_order_relaxed) <= 0)
    return status_new(ERROR_BUDGET, "the step budget is used up");
  return OK;
}
