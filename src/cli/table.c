/* Tables of numbers: .csv, .tsv. */
#include <stdlib.h>
#include <string.h>

#include "cli/media.h"
#include "wick/archive.h"
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

/* ---- writing ---- */

/* Contiguous rows of float64, or of int64 where the tensor has whole numbers. */
static wick_status rows_of(const wick_value *tensor, wick_value **out, wick_error **error) {
  static const char program[] =
      "def rows_of(x: Tensor) -> Tensor:\n"
      "    while x.dim() > 2 and x.size(0) == 1:\n"
      "        x = x[0]\n"
      "    if x.dim() > 2 or x.is_complex():\n"
      "        raise ValueError('a table has the sizes [rows, columns] of real numbers, not ' + str(x.size()))\n"
      "    x = x.to(torch.double) if x.is_floating_point() else x.to(torch.long)\n"
      "    return x.reshape([1, 1] if x.dim() == 0 else [1, -1] if x.dim() == 1 else x.size()).contiguous()\n";
  wick_module *module;
  wick_status status = wick_compile(NULL, program, strlen(program), "wick", &module, error);
  if (!status) status = wick_run(module, "rows_of", (const wick_value *const[]){tensor}, 1, NULL, 0, NULL, out, error);
  wick_module_release(module);
  return status ? media_own_error(error, status) : WICK_OK;
}
wick_status table_write(const wick_value *tensor, const char *path, wick_error **error) {
  wick_value *rows = NULL;
  wick_tensor_view view = {.size = sizeof view};
  wick_tensor_spec spec;
  char *text = NULL;
  size_t length;
  wick_status status = wick_tensor_spec_of(tensor, &spec, error);
  if (!status) status = rows_of(tensor, &rows, error);
  if (!status) status = wick_tensor_view_of(rows, &view, error);
  FILE *to = status ? NULL : open_memstream(&text, &length);
  if (!status && !to) status = media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  int digits = spec.dtype == WICK_FLOAT64 ? 17 : 9; /* as many as tell all numbers apart */
  for (int64_t i = 0; to && i < view.sizes[0] * view.sizes[1]; i++) {
    if (view.dtype == WICK_FLOAT64)
      fprintf(to, "%.*g", digits, ((const double *)view.data)[i]);
    else
      fprintf(to, "%lld", (long long)((const int64_t *)view.data)[i]);
    fputc((i + 1) % view.sizes[1] ? ',' : '\n', to);
  }
  if (to && fclose(to)) status = media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  if (!status) status = wick_file_write(path, text, length, error);
  free(text);
  wick_value_release(rows);
  return status;
}
