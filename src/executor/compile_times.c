/* A bounded table under a lock: some hundred steps in the life of a plan. */
#include "executor/compile_times.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "base/fork.h"

enum { MAX_ENTRIES = 160 };

typedef struct Entry {
  const char *work, *step; /* step NULL: the whole of the work */
  uint64_t count, ns;
} Entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Entry entries[MAX_ENTRIES];
static uint32_t entry_count;

static uint64_t processor_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool same(const char *a, const char *b) {
  return a == b || (a && b && !strcmp(a, b));
}

static void add(const char *work, const char *step, uint64_t count, uint64_t ns) {
  assert(entry_count <= MAX_ENTRIES);
  uint32_t i = 0;
  while (i < entry_count && !(same(entries[i].work, work) && same(entries[i].step, step))) i++;
  if (i == MAX_ENTRIES) return;
  if (i == entry_count) entries[entry_count++] = (Entry){.work = work, .step = step};
  entries[i].count += count;
  entries[i].ns += ns;
}

void compile_clock_start(CompileClock *clock, const char *work) {
  *clock = (CompileClock){work, processor_time()};
  lock_take(&lock);
  add(work, NULL, 1, 0);
  lock_drop(&lock);
}

void compile_clock_step(CompileClock *clock, const char *step) {
  uint64_t now = processor_time();
  lock_take(&lock);
  add(clock->work, NULL, 0, now - clock->last);
  add(clock->work, step, 1, now - clock->last);
  lock_drop(&lock);
  clock->last = now;
}

static int compare(const void *a, const void *b) {
  const Entry *left = a, *right = b;
  return left->ns == right->ns ? 0 : left->ns < right->ns ? 1 : -1;
}

void compile_times_print(StrBuf *out) {
  lock_take(&lock);
  qsort(entries, entry_count, sizeof *entries, compare);
  for (uint32_t w = 0; w < entry_count; w++) {
    for (uint32_t i = 0; !entries[w].step && i < entry_count; i++) {
      const Entry *e = &entries[i];
      if (!same(e->work, entries[w].work) || (!e->step && i != w)) continue;
      strbuf_printf(out, "%9.3f ms %6llux  %s%s%s\n", (double)e->ns / 1e6, (unsigned long long)e->count, e->work,
                    e->step ? ": " : "", e->step ? e->step : "");
    }
  }
  lock_drop(&lock);
}
