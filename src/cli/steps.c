/* Texts after steps, and their differences by line. */
#include "cli/steps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 2 };
#define MAX_CELLS ((size_t)1 << 24) /* of the table: texts that need more are shown whole */

typedef struct Lines {
  const char **starts; /* and the end, one past the last */
  size_t count;
} Lines;
static bool lines_of(const char *text, Lines *out) {
  size_t count = 0;
  for (const char *at = text; (at = strchr(at, '\n')); at++) count++;
  out->starts = malloc((count + 2) * sizeof *out->starts);
  if (!out->starts) return false;
  out->count = 0;
  while (*text) {
    out->starts[out->count++] = text;
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  out->starts[out->count] = text;
  return true;
}
static bool equal(const Lines *a, size_t i, const Lines *b, size_t k) {
  size_t n = (size_t)(a->starts[i + 1] - a->starts[i]), m = (size_t)(b->starts[k + 1] - b->starts[k]);
  return n == m && !memcmp(a->starts[i], b->starts[k], n);
}
static void put_line(FILE *to, char mark, const Lines *lines, size_t i) {
  size_t length = strcspn(lines->starts[i], "\n");
  fprintf(to, "%c%.*s\n", mark, (int)length, lines->starts[i]);
}

/* table[i][k]: the length of the longest common subsequence of the lines from i and from k on. */
static void show_changes(const Lines *a, const Lines *b, size_t begin, size_t end_a, size_t end_b, uint32_t *table,
                         FILE *to) {
  size_t width = end_b - begin + 1;
#define AT(i, k) table[((i)-begin) * width + ((k)-begin)]
  for (size_t i = end_a + 1; i-- > begin;)
    for (size_t k = end_b + 1; k-- > begin;)
      AT(i, k) = i == end_a || k == end_b      ? 0
                 : equal(a, i, b, k)           ? AT(i + 1, k + 1) + 1
                 : AT(i + 1, k) > AT(i, k + 1) ? AT(i + 1, k)
                                               : AT(i, k + 1);
  size_t i = begin, k = begin;
  while (i < end_a || k < end_b) {
    if (i < end_a && k < end_b && equal(a, i, b, k))
      put_line(to, ' ', a, i), i++, k++;
    else if (k == end_b || (i < end_a && AT(i + 1, k) >= AT(i, k + 1)))
      put_line(to, '-', a, i++);
    else
      put_line(to, '+', b, k++);
  }
#undef AT
}
/* false: too large, or out of memory. */
static bool show_difference(const char *before, const char *after, FILE *to) {
  Lines a = {0}, b = {0};
  bool fine = lines_of(before, &a) && lines_of(after, &b);
  size_t begin = 0, end_a = a.count, end_b = b.count;
  while (fine && begin < end_a && begin < end_b && equal(&a, begin, &b, begin)) begin++;
  while (fine && end_a > begin && end_b > begin && equal(&a, end_a - 1, &b, end_b - 1)) end_a--, end_b--;
  assert(begin <= end_a && begin <= end_b);
  size_t cells = (end_a - begin + 1) * (end_b - begin + 1);
  uint32_t *table = fine && cells < MAX_CELLS ? malloc(cells * sizeof *table) : NULL;
  if (table) {
    size_t from = begin > CONTEXT ? begin - CONTEXT : 0;
    if (from) fprintf(to, "@ line %zu\n", from + 1);
    for (size_t i = from; i < begin; i++) put_line(to, ' ', &a, i);
    show_changes(&a, &b, begin, end_a, end_b, table, to);
    for (size_t i = end_b; i < b.count && i < end_b + CONTEXT; i++) put_line(to, ' ', &b, i);
  }
  bool shown = table != NULL;
  free(a.starts);
  free(b.starts);
  free(table);
  return shown;
}

void steps_show(Steps *steps, const char *step, const char *text) {
  bool is_same = steps->before && !strcmp(steps->before, text);
  fprintf(steps->to, "# after %s%s\n", step, is_same ? " (unchanged)" : "");
  bool shown = is_same || (steps->as_difference && steps->before && show_difference(steps->before, text, steps->to));
  if (!shown) fputs(text, steps->to);
  if (is_same) return;
  free(steps->before);
  steps->before = strdup(text);
}
void steps_end(Steps *steps) {
  free(steps->before);
  steps->before = NULL;
}
