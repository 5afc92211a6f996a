/* Counted reasons: a total for each, and a bounded table of places, which are ranges until they are asked for or their
 * source goes. */
#include "report/reason.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/heap.h"
#include "report/jit_log.h"

enum { MAX_PLACES = 256, MAX_TEXT = 120, MAX_WHAT = 48, MAX_LINE = 100 };

typedef struct Place {
  uint8_t reason;
  uint64_t count;
  SourceRange range;   /* while nobody has asked and the source is there; then these say where it is: */
  char text[MAX_TEXT]; /* "file.py:12" */
  char line[MAX_LINE]; /* of source, without the spaces around it */
  char what[MAX_WHAT];
} Place;

static const char *const texts[] = {
#define X(name, text) text,
    REASONS(X)
#undef X
};

static const Error declines[] = {
#define X(name, text) {ERROR_UNSUPPORTED, (char *)text, "NotImplementedError", NULL, NULL, true},
    REASONS(X)
#undef X
};

Statistics executor_statistics;
static _Atomic uint64_t totals[REASON_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Place *places; /* guarded; allocated with the first place, kept by the process */
static uint32_t place_count;
static ReasonCounter *counters; /* guarded */

const char *reason_text(Reason reason) {
  assert(reason < REASON_COUNT);
  return texts[reason];
}

Status reason_decline(Reason reason) {
  assert(reason < REASON_COUNT);
  return (Status)&declines[reason];
}

bool reason_is_decline(Status status, Reason *out) {
  if (!status || !status->is_static || status < declines || status >= declines + REASON_COUNT) return false;
  *out = (Reason)(status - declines);
  return true;
}

static void print_line(const Source *source, uint32_t offset, char *out) {
  if (offset > source->length) return;
  const char *begin = source->text + offset, *end = begin;
  while (begin > source->text && begin[-1] != '\n') begin--;
  while (*begin == ' ' || *begin == '\t') begin++;
  end += strcspn(end, "\r\n");
  if (end > begin) snprintf(out, MAX_LINE, "%.*s", end - begin < MAX_LINE ? (int)(end - begin) : MAX_LINE, begin);
}
/* Finding the original text of an archive's code means reading what the archive says of it, more work than a plan has
 * with most passes: not before somebody wants to see it. */
static void write_down(Place *place) {
  if (!place->range.source) return;
  SourceRange range = source_range_original(place->range);
  uint32_t line, column;
  source_position(range.source, range.begin, &line, &column);
  print_line(range.source, range.begin, place->line);
  snprintf(place->text, MAX_TEXT, "%.100s:%u", range.source->filename ? range.source->filename : "<source>", line);
  place->range = (SourceRange){0};
}

/* Places on one line are one only when they are written down. */
static bool is_same_place(const Place *a, const Place *b) {
  return a->reason == b->reason && a->range.source == b->range.source && a->range.begin == b->range.begin &&
         !strcmp(a->text, b->text) && !strcmp(a->what, b->what);
}
/* Among the first `count`; NULL: it is not there. The lock is held. */
static Place *find_place(const Place *like, uint32_t count) {
  assert(lock_is_held());
  for (uint32_t i = 0; i < count; i++)
    if (is_same_place(&places[i], like)) return &places[i];
  return NULL;
}

/* All places in `source` (NULL: in any) are written down; places that are one become one. The lock is held. */
static void write_down_places(const Source *source) {
  assert(lock_is_held());
  uint32_t kept = 0;
  for (uint32_t i = 0; places && i < place_count; i++) {
    Place *place = &places[i];
    if (!source || place->range.source == source) write_down(place);
    Place *same = find_place(place, kept);
    if (same)
      same->count += place->count;
    else if (kept++ != i)
      places[kept - 1] = *place;
  }
  place_count = kept;
}

/* The lock is held. */
static void count_place(Place *place) {
  assert(lock_is_held());
  Place *same = find_place(place, place_count);
  if (!same && place_count == MAX_PLACES) {
    write_down_places(NULL);
    write_down(place);
    same = find_place(place, place_count);
  }
  if (same) {
    same->count += place->count;
  } else if (place_count < MAX_PLACES) {
    Source *source = (Source *)place->range.source;
    if (source) atomic_store_explicit(&source->has_reasons, true, memory_order_relaxed);
    places[place_count++] = *place;
  }
}

static Place *new_places(void) {
  HEAP_SCOPE(NULL);
  size_t bytes;
  return size_mul(MAX_PLACES, sizeof *places, &bytes) ? mem_alloc(bytes) : NULL;
}

static Place place_of(Reason reason, Str what, SourceRange range, uint64_t count) {
  Place place = {.reason = (uint8_t)reason, .count = count, .range = {range.source, range.begin, range.begin}};
  size_t shown = what.length < sizeof place.what ? what.length : sizeof place.what - 1;
  if (shown) memcpy(place.what, what.data, shown);
  return place;
}

void reason_add(Reason reason, SourceRange range) {
  reason_add_of(reason, (Str){0}, range);
}
void reason_add_of(Reason reason, Str what, SourceRange range) {
  assert(reason < REASON_COUNT);
  Place place = place_of(reason, what, range, 1);
  atomic_fetch_add_explicit(&totals[reason], 1, memory_order_relaxed);
  if (jit_log_enabled("reason", JIT_DEBUG)) {
    write_down(&place);
    JIT_LOG_DEBUG("reason", "%s %s\n", place.text, texts[reason]);
  }
  if (!range.source) return;
  lock_take(&lock);
  if (!places) places = new_places();
  if (places) count_place(&place);
  lock_drop(&lock);
}

/* ---- counters ---- */

/* The lock is held. */
static void gather(ReasonCounter *c) {
  assert(lock_is_held());
  uint64_t count = atomic_exchange(&c->count, 0);
  if (count && !places) places = new_places();
  if (!count || !places) return;
  Place place = place_of((Reason)(atomic_load(&c->known) - 1), c->what, c->range, count);
  count_place(&place);
}
/* The lock is held. */
static void unlink_counter(ReasonCounter *c) {
  assert(lock_is_held() && atomic_load(&c->known));
  *(c->previous ? &c->previous->next : &counters) = c->next;
  if (c->next) c->next->previous = c->previous;
  atomic_store(&c->known, 0);
}

static void begin_counting(ReasonCounter *c, Reason reason, Str what, SourceRange range) {
  lock_take(&lock);
  if (!atomic_load(&c->known)) {
    c->what = what;
    c->range = range;
    c->previous = NULL;
    c->next = counters;
    if (counters) counters->previous = c;
    counters = c;
    atomic_store_explicit(&c->known, (uint32_t)reason + 1, memory_order_release);
  }
  lock_drop(&lock);
}

void reason_add_at(ReasonCounter *c, Reason reason, Str what, SourceRange range) {
  assert(reason < REASON_COUNT);
  uint32_t known = atomic_load_explicit(&c->known, memory_order_acquire);
  if (known == (uint32_t)reason + 1 && !jit_log_enabled("reason", JIT_DEBUG)) {
    atomic_fetch_add_explicit(&totals[reason], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->count, 1, memory_order_relaxed);
    return;
  }
  reason_add_of(reason, what, range);
  if (!known && range.source) begin_counting(c, reason, what, range);
}

void reason_counter_end(ReasonCounter *c) {
  if (!atomic_load(&c->known)) return;
  lock_take(&lock);
  if (atomic_load(&c->known)) gather(c), unlink_counter(c);
  lock_drop(&lock);
}

void reason_keep_places(const Source *source) {
  lock_take(&lock);
  for (ReasonCounter *c = counters, *next; c; c = next) {
    next = c->next;
    if (c->range.source == source) gather(c), unlink_counter(c);
  }
  write_down_places(source);
  lock_drop(&lock);
}

uint64_t reason_count(Reason reason) {
  assert(reason < REASON_COUNT);
  return atomic_load_explicit(&totals[reason], memory_order_relaxed);
}

static int compare_counts(const void *a, const void *b) {
  const Place *left = a, *right = b;
  if (left->count != right->count) return left->count < right->count ? 1 : -1;
  return left->reason != right->reason ? left->reason - right->reason : strcmp(left->text, right->text);
}
static void print_reason(const Place *place, StrBuf *out) {
  strbuf_printf(out, "%6llux  %-24s %s", (unsigned long long)place->count, place->text, texts[place->reason]);
  if (*place->what) strbuf_printf(out, " (%s)", place->what);
  strbuf_char(out, '\n');
  if (*place->line) strbuf_printf(out, "%*s%s\n", 13, "", place->line);
}
void reason_print(StrBuf *out) {
  uint64_t left[REASON_COUNT];
  lock_take(&lock);
  for (ReasonCounter *c = counters; c; c = c->next) gather(c);
  write_down_places(NULL);
  if (places) qsort(places, place_count, sizeof *places, compare_counts);
  for (int reason = 0; reason < REASON_COUNT; reason++) left[reason] = reason_count((Reason)reason);
  for (uint32_t i = 0; i < place_count; i++) {
    print_reason(&places[i], out);
    left[places[i].reason] -= places[i].count < left[places[i].reason] ? places[i].count : left[places[i].reason];
  }
  for (int reason = 0; reason < REASON_COUNT; reason++)
    if (left[reason]) strbuf_printf(out, "%6llux  %-24s %s\n", (unsigned long long)left[reason], "", texts[reason]);
  lock_drop(&lock);
}

void reason_reset(void) {
  lock_take(&lock);
  mem_free(places);
  places = NULL;
  place_count = 0;
  for (ReasonCounter *c = counters; c; c = c->next) atomic_store(&c->count, 0);
  for (int i = 0; i < REASON_COUNT; i++) atomic_store(&totals[i], 0);
  lock_drop(&lock);
}
