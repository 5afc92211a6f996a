/* Tables of numbers: .csv, .tsv. */
#include <stdlib.h>
#include <string.h>

#include "cli/media.h"
#include "wick/tensor.h"

typedef struct Table {
  float *numbers;
  size_t count, capacity;
  int64_t rows, columns;
} Table;

static bool is_separator(char c) {
  return c == ',' || c == ';' || c == '\t' || c == ' ';
}
static bool push(Table *t, float number) {
  if (t->count == t->capacity) {
    size_t capacity = t->capacity ? 2 * t->capacity : 256;
    float *more = realloc(t->numbers, capacity * sizeof *more);
    if (!more) return false;
    t->numbers = more;
    t->capacity = capacity;
  }
  t->numbers[t->count++] = number;
  return true;
}
/* The numbers of one line: how many; -1: something else stands there; -2: out of memory; -3: it begins with it. */
static int64_t read_line(Table *t, char *line) {
  int64_t columns = 0;
  for (char *at = line; *at;) {
    char *end;
    while (*at == ' ') at++;
    if (!*at) break;
    float number = strtof(at, &end);
    if (end == at || (*end && !is_separator(*end))) return columns ? -1 : -3;
    if (!push(t, number)) return -2;
    columns++;
    at = end;
    while (*at == ' ') at++;
    if (is_separator(*at)) at++;
  }
  return columns;
}

static wick_status read_lines(Table *t, char *text, wick_error **error) {
  int number = 0;
  for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
    size_t length = strlen(line);
    number++;
    if (length && line[length - 1] == '\r') line[length - 1] = 0;
    int64_t columns = read_line(t, line);
    if (columns == -2) return media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
    if (columns == -3 && number == 1) continue; /* names */
    if (columns < 0) return media_error(error, WICK_DATA, "line %d: not all of it is numbers", number);
    if (!columns) continue;
    if (t->rows && columns != t->columns)
      return media_error(error, WICK_DATA, "line %d: %lld numbers, not %lld", number, (long long)columns,
                         (long long)t->columns);
    t->columns = columns;
    t->rows++;
  }
  return WICK_OK;
}

wick_status table_read(const char *path, wick_value **out, wick_error **error) {
  char *text;
  size_t length;
  Table t = {0};
  wick_status status = media_bytes(path, &text, &length, error);
  if (!status && strlen(text) != length) status = media_error(error, WICK_DATA, "no text");
  if (!status) status = read_lines(&t, text, error);
  const int64_t sizes[] = {t.rows, t.columns};
  if (!status) status = wick_tensor_new(WICK_FLOAT32, 2, sizes, out, error);
  if (!status && t.count) status = wick_tensor_copy_from(*out, t.numbers, t.count * sizeof *t.numbers, error);
  free(t.numbers);
  free(text);
  return status;
}
