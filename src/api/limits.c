/* Limits of calls that load and compile, and what is left when they are over. */
#include "api/handles.h"
#include "base/clock.h"

void api_limit_init(WorkLimit *limit, uint64_t deadline_ns, uint64_t max_trees) {
  uint64_t now = deadline_ns ? clock_now_ns() : 0;
  *limit = (WorkLimit){.deadline_ns = deadline_ns > UINT64_MAX - now ? UINT64_MAX : now + deadline_ns,
                       .trees_left = max_trees,
                       .limits_trees = max_trees != 0};
}

Status api_limit_leave(WorkLimit *limit, WorkLimit *outer, Status status) {
  if (!status && limit->noticed) status = work_status();
  work_limit_enter(outer);
  return status;
}
