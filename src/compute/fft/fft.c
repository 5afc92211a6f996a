/* All lines of an array, in groups that threads share. */
#include "compute/fft/fft.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/processor.h"
#include "compute/fft/fft_plan.h"

int64_t fft_room(const FftPlan *plan, bool is_single) {
  bool is_flat = is_single && plan->split == plan->lanes;
  return (plan->points + 1) * (is_flat ? 1 : plan->lanes) + plan->lanes * plan->lanes;
}

int64_t fft_lines_workspace(const FftPlan *plan, bool is_single) {
  return 4 * fft_room(plan, is_single) + (plan->convolved ? 4 * fft_room(plan->convolved, is_single) : 0);
}

typedef struct Loop {
  const FftAxis *axis;
  const FftPlan *plan;
  FftRun *run;
  int64_t lines;
  int group; /* lines in one */
  _Atomic bool failed;
} Loop;

/* Where a line begins, on both sides. */
static void begin_of(const FftAxis *axis, int64_t line, int64_t *from, int64_t *to) {
  *from = *to = 0;
  for (int d = axis->rank - 1; d >= 0; d--) {
    int64_t at = line % axis->sizes[d];
    line /= axis->sizes[d];
    *from += at * axis->in_strides[d];
    *to += at * axis->out_strides[d];
  }
}

static void run_groups(void *argument, int64_t begin, int64_t end) {
  Loop *loop = argument;
  size_t number = loop->axis->is_double ? sizeof(double) : sizeof(float);
  void *workspace = mem_alloc(number * (size_t)fft_lines_workspace(loop->plan, loop->group == 1));
  if (!workspace) {
    loop->failed = true;
    return;
  }
  for (int64_t g = begin; g < end; g++) {
    int64_t from[FFT_MOST_LANES], to[FFT_MOST_LANES], first = g * loop->group, left = loop->lines - first;
    FftLines lines = {loop->axis, loop->plan, loop->group == 1, (int)(left < loop->group ? left : loop->group),
                      from,       to};
    for (int l = 0; l < lines.count; l++) begin_of(loop->axis, first + l, &from[l], &to[l]);
    loop->run(&lines, workspace);
  }
  mem_free(workspace);
}

Status fft_axis(const Work *work, const FftAxis *axis) {
  bool halves = axis->kind != FFT_C2C && axis->points % 2 == 0;
  FftPlan *plan;
  Loop loop = {.axis = axis, .lines = 1};
  for (int d = 0; d < axis->rank; d++) loop.lines *= axis->sizes[d];
  if (loop.lines == 0 || axis->points == 0) return OK;
  TRY(fft_plan_take(halves ? axis->points / 2 : axis->points, halves ? 2 : 1, axis->is_double, &plan));
  loop.plan = plan;
  loop.run = axis->is_double ? PROCESSOR_FORM(fft_lines_double) : PROCESSOR_FORM(fft_lines_float);
  loop.group = plan->split && 2 * loop.lines <= plan->split ? 1 : plan->lanes;
  int64_t groups = (loop.lines + loop.group - 1) / loop.group, grain = 1 + 4096 / axis->points;
  parallel_for(work->threads, groups, grain, run_groups, &loop);
  fft_plan_give(plan);
  return loop.failed ? status_out_of_memory() : OK;
}
