/* An OpProfile as a table, as JSON and as a trace. Each prints under the lock, of what is recorded by then. */
#include <stdlib.h>

#include "base/fork.h"
#include "interp/op_profile_internal.h"
#include "report/reason.h"

static int compare_rows(const void *a, const void *b) {
  const OpProfileRow *x = *(const OpProfileRow *const *)a, *y = *(const OpProfileRow *const *)b;
  if (x->ns != y->ns) return x->ns < y->ns ? 1 : -1;
  return x < y ? -1 : x > y;
}
/* Rows by falling time, then in the order in which they came; NULL: no memory. */
static const OpProfileRow **sort_rows(const OpProfile *p) {
  const OpProfileRow **rows = mem_calloc(p->rows.length + 1, sizeof *rows);
  if (!rows) return NULL;
  for (size_t i = 0; i < p->rows.length; i++) rows[i] = &p->rows.data[i];
  qsort(rows, p->rows.length, sizeof *rows, compare_rows);
  return rows;
}

/* ---- what tables share ---- */

uint64_t op_profile_sum_of_rows(const OpProfile *p) {
  uint64_t sum = 0;
  for (size_t i = 0; i < p->rows.length; i++) sum += p->rows.data[i].ns;
  return sum;
}
static uint64_t sum_of_fused(const OpProfile *p) {
  uint64_t sum = 0;
  for (size_t i = 0; i < p->rows.length; i++) sum += p->rows.data[i].is_fused ? p->rows.data[i].ns : 0;
  return sum;
}
uint64_t op_profile_rest(const OpProfile *p, uint64_t sum) {
  return p->call_ns > sum ? p->call_ns - sum : 0;
}
void op_profile_print_rate(double amount, uint64_t ns, StrBuf *out) {
  if (amount > 0 && ns)
    strbuf_printf(out, " %8.2f", amount / (double)ns);
  else
    strbuf_puts(out, "        -");
}
void op_profile_print_totals(const OpProfile *p, uint64_t sum, StrBuf *out) {
  uint64_t rest = op_profile_rest(p, sum);
  double whole = (double)(sum + rest ? sum + rest : 1), calls = p->calls ? (double)p->calls : 1;
  strbuf_printf(out, "%10.4f %5.1f%%  interpreter\n", (double)rest / 1e6 / calls, 100 * (double)rest / whole);
  double fused = (double)sum_of_fused(p);
  strbuf_printf(out, "%10.4f %5.1f%%  in regions and fusion groups\n", fused / 1e6 / calls, 100 * fused / whole);
  strbuf_printf(out, "%10.4f %5.1f%%  of %llu calls\n", (double)(sum + rest) / 1e6 / calls, 100.0,
                (unsigned long long)p->calls);
  if (p->dropped_rows) strbuf_printf(out, "%llu runs found no room for a row\n", (unsigned long long)p->dropped_rows);
}

/* ---- the table ---- */

static void print_line(const OpProfile *p, const OpProfileRow *row, double whole, StrBuf *out) {
  double calls = p->calls ? (double)p->calls : 1;
  strbuf_printf(out, "%10.4f %5.1f%% %7.4g %10.4f", (double)row->ns / 1e6 / calls, 100 * (double)row->ns / whole,
                (double)row->count / calls, (double)row->least_ns / 1e6);
  op_profile_print_rate(row->flops, row->ns, out);
  op_profile_print_rate(row->bytes, row->ns, out);
  strbuf_printf(out, "  " STR_FMT "%s" STR_FMT "  " STR_FMT " -> " STR_FMT "  " STR_FMT "\n", STR_ARG(row->name),
                row->overload.length ? "." : "", STR_ARG(row->overload), STR_ARG(row->inputs), STR_ARG(row->output),
                STR_ARG(row->place));
  if (row->declines)
    strbuf_printf(out, "%*s%llu times %s\n", 65, "", (unsigned long long)row->declines,
                  reason_text((Reason)row->declined));
}

static Status print_table(const OpProfile *p, StrBuf *out) {
  const OpProfileRow **rows = sort_rows(p);
  if (!rows) return status_out_of_memory();
  uint64_t sum = op_profile_sum_of_rows(p), rest = op_profile_rest(p, sum);
  double whole = (double)(sum + rest ? sum + rest : 1);
  strbuf_puts(out, "   ms/call  share  /call   least ms  GFLOP/s     GB/s  operator, tensors, source\n");
  for (size_t i = 0; i < p->rows.length; i++) print_line(p, rows[i], whole, out);
  op_profile_print_totals(p, sum, out);
  mem_free(rows);
  return OK;
}

/* ---- JSON ---- */

static void print_text(const char *key, Str text, StrBuf *out) {
  strbuf_printf(out, "\"%s\": \"", key);
  for (size_t at = 0, begin = 0; at < text.length; begin = at) {
    uint32_t code = utf8_next(text, &at);
    if (code == '"' || code == '\\')
      strbuf_printf(out, "\\%c", (int)code);
    else if (code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xFFFD)
      strbuf_printf(out, "\\u%04x", (unsigned)code);
    else
      strbuf_append(out, text.data + begin, at - begin);
  }
  strbuf_puts(out, "\"");
}
static void print_number(const char *key, double value, StrBuf *out) {
  strbuf_printf(out, "\"%s\": ", key);
  strbuf_double(out, value);
}

static void print_look(const OpProfileRow *row, StrBuf *out) {
  print_text("inputs", row->inputs, out);
  strbuf_puts(out, ", ");
  print_text("output", row->output, out);
  strbuf_puts(out, ", ");
  print_text("source", row->place, out);
  strbuf_puts(out, ", ");
  print_text("function", row->function, out);
  strbuf_puts(out, ", ");
  print_text("module", row->module, out);
}
static void print_instruction(const OpProfileRow *row, StrBuf *out) {
  strbuf_printf(out, "\"code\": %llu, \"instruction\": %u, ", (unsigned long long)row->code, row->pc);
  print_text("places", row->places, out);
}

static void print_row(const OpProfileRow *row, StrBuf *out) {
  strbuf_puts(out, "{");
  print_text("op", row->name, out);
  strbuf_puts(out, ", ");
  print_text("overload", row->overload, out);
  strbuf_puts(out, ", ");
  print_look(row, out);
  strbuf_printf(out, ", \"count\": %llu, ", (unsigned long long)row->count);
  print_instruction(row, out);
  strbuf_puts(out, ", ");
  print_number("ms", (double)row->ns / 1e6, out);
  strbuf_puts(out, ", ");
  print_number("least_ms", (double)row->least_ns / 1e6, out);
  strbuf_puts(out, ", ");
  print_number("flops", row->flops, out);
  strbuf_puts(out, ", ");
  print_number("bytes", row->bytes, out);
  if (row->is_fused) strbuf_puts(out, ", \"fused\": true");
  if (row->declines) {
    strbuf_printf(out, ", \"declines\": %llu, ", (unsigned long long)row->declines);
    print_text("declined", str_from(reason_text((Reason)row->declined)), out);
  }
  strbuf_puts(out, "}");
}

static Status print_json(const OpProfile *p, StrBuf *out) {
  const OpProfileRow **rows = sort_rows(p);
  if (!rows) return status_out_of_memory();
  strbuf_printf(out, "{\"calls\": %llu, ", (unsigned long long)p->calls);
  print_number("ms", (double)p->call_ns / 1e6, out);
  strbuf_puts(out, ", ");
  print_number("interpreter_ms", (double)op_profile_rest(p, op_profile_sum_of_rows(p)) / 1e6, out);
  strbuf_puts(out, ", \"rows\": [");
  for (size_t i = 0; i < p->rows.length; i++) {
    strbuf_puts(out, i ? ",\n" : "\n");
    print_row(rows[i], out);
  }
  strbuf_puts(out, "]}\n");
  mem_free(rows);
  return OK;
}

/* The format of Chrome's trace events: complete events ("X"), times in microseconds. */
static Status print_trace(const OpProfile *p, StrBuf *out) {
  strbuf_puts(out, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [");
  for (size_t i = 0; i < p->events.length; i++) {
    const OpProfileEvent *event = &p->events.data[i];
    const OpProfileRow *row = &p->rows.data[event->row];
    strbuf_puts(out, i ? ",\n{" : "\n{");
    print_text("name", row->name, out);
    strbuf_printf(out, ", \"cat\": \"operator\", \"ph\": \"X\", \"pid\": 1, \"tid\": %u, ", event->thread);
    print_number("ts", (double)event->start_ns / 1e3, out);
    strbuf_puts(out, ", ");
    print_number("dur", (double)event->ns / 1e3, out);
    strbuf_puts(out, ", \"args\": {");
    print_look(row, out);
    strbuf_puts(out, "}}");
  }
  strbuf_printf(out, "], \"otherData\": {\"dropped_events\": %llu}}\n", (unsigned long long)p->dropped_events);
  return OK;
}

Status op_profile_print_table(OpProfile *p, StrBuf *out) {
  lock_take(&p->lock);
  Status status = print_table(p, out);
  lock_drop(&p->lock);
  return status;
}
Status op_profile_print_json(OpProfile *p, StrBuf *out) {
  lock_take(&p->lock);
  Status status = print_json(p, out);
  lock_drop(&p->lock);
  return status;
}
Status op_profile_print_trace(OpProfile *p, StrBuf *out) {
  lock_take(&p->lock);
  Status status = print_trace(p, out);
  lock_drop(&p->lock);
  return status;
}
