/* Counted reasons: a total for each, and a bounded table of places. */
#include "report/reason.h"

#include <assert.h>
#include <stdio.h>

#include "base/fork.h"
#include "report/jit_log.h"

enum { MAX_PLACES = 256, MAX_TEXT = 120 };

typedef struct Place {
  uint8_t reason;
  uint64_t count;
  char text[MAX_TEXT]; /* "file.py:12" */
} Place;

static const char *const texts[] = {
#define X(name, text) text,
    REASONS(X)
#undef X
};

Statistics executor_statistics;
static _Atomic uint64_t totals[REASON_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Place *places; /* guarded; allocated with the first place, kept by the process */
static uint32_t place_count;

const char *reason_text(Reason reason) {
  assert(reason < REASON_COUNT);
  return texts[reason];
}

static void print_place(SourceRange range, char *out) {
  range = source_range_original(range);
  uint32_t line, column;
  source_position(range.source, range.begin, &line, &column);
  snprintf(out, MAX_TEXT, "%.100s:%u", range.source->filename ? range.source->filename : "<source>", line);
}

static Place *new_places(void) {
  HEAP_SCOPE(NULL);
  return mem_calloc(MAX_PLACES, sizeof *places);
}

void reason_add(Reason reason, SourceRange range) {
  assert(reason < REASON_COUNT);
  char text[MAX_TEXT] = "";
  atomic_fetch_add_explicit(&totals[reason], 1, memory_order_relaxed);
  if (range.source) print_place(range, text);
  JIT_LOG_DEBUG("reason", "%s %s\n", text, texts[reason]);
  if (!range.source) return;
  lock_take(&lock);
  if (!places) places = new_places();
  uint32_t i = 0;
  while (places && i < place_count && (places[i].reason != reason || strcmp(places[i].text, text) != 0)) i++;
  if (places && i < MAX_PLACES) {
    if (i == place_count) {
      places[i].reason = (uint8_t)reason;
      memcpy(places[i].text, text, sizeof text);
      place_count++;
    }
    places[i].count++;
  }
  lock_drop(&lock);
}

uint64_t reason_count(Reason reason) {
  assert(reason < REASON_COUNT);
  return atomic_load_explicit(&totals[reason], memory_order_relaxed);
}

void reason_print(StrBuf *out) {
  lock_take(&lock);
  for (int reason = 0; reason < REASON_COUNT; reason++) {
    uint64_t left = reason_count((Reason)reason);
    for (uint32_t i = 0; i < place_count; i++) {
      if (places[i].reason != reason) continue;
      strbuf_printf(out, "%6llux  %-24s %s\n", (unsigned long long)places[i].count, places[i].text, texts[reason]);
      left -= places[i].count < left ? places[i].count : left;
    }
    if (left) strbuf_printf(out, "%6llux  %-24s %s\n", (unsigned long long)left, "", texts[reason]);
  }
  lock_drop(&lock);
}

void reason_reset(void) {
  lock_take(&lock);
  mem_free(places);
  places = NULL;
  place_count = 0;
  for (int i = 0; i < REASON_COUNT; i++) atomic_store(&totals[i], 0);
  lock_drop(&lock);
}
