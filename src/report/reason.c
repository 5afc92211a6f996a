/* Counted reasons: a total for each, and a bounded table of places. */
#include "report/reason.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fork.h"
#include "report/jit_log.h"

enum { MAX_PLACES = 256, MAX_TEXT = 120, MAX_WHAT = 48, MAX_LINE = 100 };

typedef struct Place {
  uint8_t reason;
  uint64_t count;
  char text[MAX_TEXT]; /* "file.py:12" */
  char what[MAX_WHAT];
  char line[MAX_LINE]; /* of source, without the spaces around it */
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

static void print_line(const Source *source, uint32_t offset, char *out) {
  if (offset > source->length) return;
  const char *begin = source->text + offset, *end = begin;
  while (begin > source->text && begin[-1] != '\n') begin--;
  while (*begin == ' ' || *begin == '\t') begin++;
  end += strcspn(end, "\r\n");
  if (end > begin) snprintf(out, MAX_LINE, "%.*s", end - begin < MAX_LINE ? (int)(end - begin) : MAX_LINE, begin);
}
static void print_place(SourceRange range, char *out, char *out_line) {
  range = source_range_original(range);
  uint32_t line, column;
  source_position(range.source, range.begin, &line, &column);
  print_line(range.source, range.begin, out_line);
  snprintf(out, MAX_TEXT, "%.100s:%u", range.source->filename ? range.source->filename : "<source>", line);
}

static bool is_place(const Place *place, Reason reason, const char *text, const char *what) {
  return place->reason == reason && !strcmp(place->text, text) && !strcmp(place->what, what);
}
static Place *new_places(void) {
  HEAP_SCOPE(NULL);
  return mem_calloc(MAX_PLACES, sizeof *places);
}

void reason_add(Reason reason, SourceRange range) {
  reason_add_of(reason, (Str){0}, range);
}
void reason_add_of(Reason reason, Str what, SourceRange range) {
  assert(reason < REASON_COUNT);
  char text[MAX_TEXT] = "", line[MAX_LINE] = "", name[MAX_WHAT] = "";
  snprintf(name, sizeof name, STR_FMT, STR_ARG(what));
  atomic_fetch_add_explicit(&totals[reason], 1, memory_order_relaxed);
  if (range.source) print_place(range, text, line);
  JIT_LOG_DEBUG("reason", "%s %s\n", text, texts[reason]);
  if (!range.source) return;
  lock_take(&lock);
  if (!places) places = new_places();
  uint32_t i = 0;
  while (places && i < place_count && !is_place(&places[i], reason, text, name)) i++;
  if (places && i < MAX_PLACES) {
    if (i == place_count) {
      places[i].reason = (uint8_t)reason;
      memcpy(places[i].text, text, sizeof text);
      memcpy(places[i].what, name, sizeof name);
      memcpy(places[i].line, line, sizeof line);
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
  for (int i = 0; i < REASON_COUNT; i++) atomic_store(&totals[i], 0);
  lock_drop(&lock);
}
