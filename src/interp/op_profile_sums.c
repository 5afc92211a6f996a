/* An OpProfile as sums: rows that have the operator, the submodule or the line of the source in common are one line. */
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "interp/op_profile_internal.h"

typedef struct Sum {
  Str name;
  uint64_t ns, count;
  double flops, bytes;
} Sum;

/* "layer.py:12 < model.py:30": the first of them. */
static Str innermost(Str place) {
  for (size_t i = 0; i + 3 <= place.length; i++)
    if (!memcmp(place.data + i, " < ", 3)) return str_slice(place, 0, i);
  return place;
}
static Sum sum_of(const OpProfileRow *row, OpProfileGroup group) {
  Str name = group == OP_PROFILE_BY_OPERATOR ? row->name
             : group == OP_PROFILE_BY_MODULE ? row->module
                                             : innermost(row->place);
  if (!name.length) name = group == OP_PROFILE_BY_MODULE ? STR("(the module itself)") : STR("(unknown)");
  return (Sum){name, row->ns, row->count, row->flops, row->bytes};
}
static int compare_names(const void *a, const void *b) {
  const Sum *x = a, *y = b;
  size_t length = x->name.length < y->name.length ? x->name.length : y->name.length;
  int order = memcmp(x->name.data, y->name.data, length);
  return order ? order : (x->name.length > y->name.length) - (x->name.length < y->name.length);
}
static int compare_times(const void *a, const void *b) {
  const Sum *x = a, *y = b;
  return x->ns == y->ns ? compare_names(a, b) : x->ns < y->ns ? 1 : -1;
}
/* Sorted by name; each name once. The number that is left. */
static size_t join(Sum *sums, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept && str_equal(sums[kept - 1].name, sums[i].name)) {
      Sum *into = &sums[kept - 1];
      into->ns += sums[i].ns;
      into->count += sums[i].count;
      into->flops += sums[i].flops;
      into->bytes += sums[i].bytes;
    } else {
      sums[kept++] = sums[i];
    }
  }
  return kept;
}

/* What is too long loses its beginning: the end of a path tells more. */
static void print_name(Str name, StrBuf *out) {
  enum { WIDTH = 55 };
  if (name.length <= WIDTH) {
    strbuf_str(out, name);
    return;
  }
  size_t from = name.length - WIDTH + 3;
  while (from < name.length && ((unsigned char)name.data[from] & 0xC0) == 0x80) from++; /* within a character */
  strbuf_puts(out, "...");
  strbuf_str(out, str_slice(name, from, name.length));
}
static void print_sums(const OpProfile *p, const Sum *sums, size_t count, StrBuf *out) {
  uint64_t sum = op_profile_sum_of_rows(p), rest = op_profile_rest(p, sum);
  double whole = (double)(sum + rest ? sum + rest : 1), calls = p->calls ? (double)p->calls : 1;
  for (size_t i = 0; i < count; i++) {
    strbuf_printf(out, "%10.4f %5.1f%% %7.4g", (double)sums[i].ns / 1e6 / calls, 100 * (double)sums[i].ns / whole,
                  (double)sums[i].count / calls);
    op_profile_print_rate(sums[i].flops, sums[i].ns, out);
    op_profile_print_rate(sums[i].bytes, sums[i].ns, out);
    strbuf_puts(out, "  ");
    print_name(sums[i].name, out);
    strbuf_puts(out, "\n");
  }
  op_profile_print_totals(p, sum, out);
}

Status op_profile_print_sums(OpProfile *p, OpProfileGroup group, StrBuf *out) {
  static const char *const heads[] = {"operator", "module", "line of the source"};
  lock_take(&p->lock);
  Sum *sums = mem_calloc(p->rows.length + 1, sizeof *sums);
  if (sums) {
    for (size_t i = 0; i < p->rows.length; i++) sums[i] = sum_of(&p->rows.data[i], group);
    qsort(sums, p->rows.length, sizeof *sums, compare_names);
    size_t count = join(sums, p->rows.length);
    qsort(sums, count, sizeof *sums, compare_times);
    strbuf_printf(out, "   ms/call  share   /call  GFLOP/s     GB/s  %s\n", heads[group]);
    print_sums(p, sums, count, out);
  }
  lock_drop(&p->lock);
  if (!sums) return status_out_of_memory();
  mem_free(sums);
  return OK;
}
