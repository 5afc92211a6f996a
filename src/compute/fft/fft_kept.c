/* Plans of the lengths that were used last, kept for the calls that follow. Roots of unity are nobody's: they belong to
 * the process, come from its heap, and count in no call's budget. */
#include <pthread.h>

#include "base/heap.h"
#include "base/hostile.h"
#include "compute/fft/fft_plan.h"

enum { KEPT = CACHE_ENTRIES(16), KEPT_BYTES = 8 << 20, MOST_BYTES = 1 << 20 };
static struct {
  pthread_mutex_t lock;
  FftPlan *plans[KEPT]; /* NULL: none */
  uint64_t clock;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Nearly: what is as long as the transform. */
static size_t bytes_of(const FftPlan *plan) {
  size_t pair = plan->is_double ? 2 * sizeof(double) : 2 * sizeof(float), points = (size_t)plan->points;
  size_t bytes = sizeof *plan + pair * points * ((size_t)plan->step + (plan->twists != NULL) + (plan->chirp != NULL));
  if (plan->convolved) bytes += pair * (size_t)plan->convolved->points + bytes_of(plan->convolved);
  return bytes;
}
static bool is_wanted(const FftPlan *plan, int64_t points, int64_t step, bool is_double) {
  return plan && plan->points == points && plan->step == step && plan->is_double == is_double;
}
static FftPlan *find(int64_t points, int64_t step, bool is_double) {
  FftPlan *found = NULL;
  pthread_mutex_lock(&kept.lock);
  for (int i = 0; i < KEPT && !found; i++)
    if (is_wanted(kept.plans[i], points, step, is_double)) found = kept.plans[i];
  if (found) {
    ref_retain(&found->refs);
    found->taken_at = ++kept.clock;
  }
  pthread_mutex_unlock(&kept.lock);
  return found;
}
/* The one that was not taken for longest, out of its place; NULL: there is none. The lock is held. */
static FftPlan *drop_oldest(void) {
  int oldest = -1;
  for (int i = 0; i < KEPT; i++)
    if (kept.plans[i] && (oldest < 0 || kept.plans[i]->taken_at < kept.plans[oldest]->taken_at)) oldest = i;
  FftPlan *plan = oldest < 0 ? NULL : kept.plans[oldest];
  if (plan) kept.plans[oldest] = NULL;
  return plan;
}
static void keep(FftPlan *plan) {
  FftPlan *dropped[KEPT] = {NULL};
  int drops = 0;
  ref_retain(&plan->refs);
  pthread_mutex_lock(&kept.lock);
  plan->taken_at = ++kept.clock;
  for (int place = -1; place < 0;) {
    size_t bytes = bytes_of(plan);
    for (int i = 0; i < KEPT; i++) {
      if (kept.plans[i])
        bytes += bytes_of(kept.plans[i]);
      else
        place = i;
    }
    if (place >= 0 && bytes <= KEPT_BYTES)
      kept.plans[place] = plan;
    else {
      place = -1;
      dropped[drops++] = drop_oldest();
    }
  }
  pthread_mutex_unlock(&kept.lock);
  for (int i = 0; i < drops; i++) fft_plan_give(dropped[i]);
}

Status fft_plan_take(int64_t points, int64_t step, bool is_double, FftPlan **out) {
  size_t pair = is_double ? 2 * sizeof(double) : 2 * sizeof(float);
  *out = find(points, step, is_double);
  if (*out) return OK;
  if (points * step > (int64_t)(MOST_BYTES / pair)) return fft_plan_new(points, step, is_double, out);
  HEAP_SCOPE(NULL);
  MemBudget *budget = mem_budget_enter(NULL);
  Status status = fft_plan_new(points, step, is_double, out);
  mem_budget_enter(budget);
  TRY(status);
  (*out)->is_shared = true;
  if (bytes_of(*out) <= KEPT_BYTES) keep(*out);
  return OK;
}

void fft_plan_give(FftPlan *plan) {
  if (!ref_release(&plan->refs)) return;
  if (!plan->is_shared) {
    fft_plan_free(plan);
    return;
  }
  MemBudget *budget = mem_budget_enter(NULL);
  fft_plan_free(plan);
  mem_budget_enter(budget);
}

size_t fft_trim(void) {
  FftPlan *idle[KEPT] = {NULL};
  size_t bytes = 0;
  pthread_mutex_lock(&kept.lock);
  for (int i = 0; i < KEPT; i++)
    if (kept.plans[i] && ref_is_unique(&kept.plans[i]->refs)) {
      idle[i] = kept.plans[i];
      kept.plans[i] = NULL;
    }
  pthread_mutex_unlock(&kept.lock);
  for (int i = 0; i < KEPT; i++)
    if (idle[i]) {
      bytes += bytes_of(idle[i]);
      fft_plan_give(idle[i]);
    }
  return bytes;
}
