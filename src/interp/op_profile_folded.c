/* An OpProfile as folded stacks, one a line, which flame graphs are drawn from: the function, the places in the source
 * from the outermost call inwards, the operator with its tensors, then nanoseconds. */
#include <string.h>

#include "base/fork.h"
#include "interp/op_profile_internal.h"

/* Of a frame: what separates frames, lines and the number stands for nothing else. */
static void put_frame(Str text, StrBuf *out) {
  for (size_t i = 0; i < text.length; i++) {
    char c = text.data[i];
    strbuf_char(out, c == ';' ? ',' : (unsigned char)c < 0x20 ? ' ' : c);
  }
}

/* "inner < caller < its caller": each as a frame, the last one first. */
static void put_places(Str places, StrBuf *out) {
  static const char separator[] = " < ";
  size_t length = sizeof separator - 1, end = places.length;
  for (size_t at = places.length; end > 0; at--) {
    bool separates = at >= length && !memcmp(places.data + at - length, separator, length);
    if (!separates && at > 0) continue;
    put_frame(str_slice(places, at, end), out);
    strbuf_char(out, ';');
    if (!separates) return;
    end = at - length;
    at -= length - 1;
  }
}

static void put_row(const OpProfileRow *row, StrBuf *out) {
  put_frame(row->function, out);
  strbuf_char(out, ';');
  put_places(row->place, out);
  put_frame(row->name, out);
  if (row->inputs.length) strbuf_char(out, ' ');
  put_frame(row->inputs, out);
  strbuf_printf(out, " %llu\n", (unsigned long long)row->ns);
}

Status op_profile_print_folded(OpProfile *p, StrBuf *out) {
  uint64_t sum = 0;
  lock_take(&p->lock);
  for (size_t i = 0; i < p->rows.length; i++) {
    put_row(&p->rows.data[i], out);
    sum += p->rows.data[i].ns;
  }
  if (p->call_ns > sum) strbuf_printf(out, "interpreter %llu\n", (unsigned long long)(p->call_ns - sum));
  lock_drop(&p->lock);
  return OK;
}
