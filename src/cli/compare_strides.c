/* Whether the tensors of a value have the strides that were recorded: a list of numbers for each tensor, a list for
 * each list, tuple and dict (of its values), None for what is not to be compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "wick/tensor.h"

enum { MAX_NESTING = 500, STRIDES_BYTES = 200 };

static void strides_text(const wick_tensor_view *view, char *out) {
  size_t n = (size_t)snprintf(out, STRIDES_BYTES, "[");
  for (int d = 0; d < view->ndim && n + 24 < STRIDES_BYTES; d++)
    n += (size_t)snprintf(out + n, STRIDES_BYTES - n, "%s%lld", d ? ", " : "", (long long)view->strides[d]);
  snprintf(out + n, STRIDES_BYTES - n, "]");
}

/* -1: there is no such number. */
static int64_t number_at(const wick_value *list, size_t i) {
  wick_value *item = wick_value_item(list, i);
  int64_t number = item && wick_value_kind(item) == WICK_INT ? wick_value_to_int(item) : -1;
  wick_value_release(item);
  return number;
}

static bool tensor_agrees(const wick_value *got, const wick_value *want, const char *where, char *difference) {
  wick_tensor_view view = {.size = sizeof view};
  char text[STRIDES_BYTES];
  if (wick_tensor_view_of(got, &view, NULL) || view.flags & WICK_TENSOR_UNDEFINED) {
    snprintf(difference, DIFFERENCE_BYTES, "%s: a tensor without strides", where);
    return false;
  }
  bool same = wick_value_length(want) == (size_t)view.ndim;
  for (int d = 0; same && d < view.ndim; d++) same = number_at(want, (size_t)d) == view.strides[d];
  if (same) return true;
  int n = snprintf(difference, DIFFERENCE_BYTES, "%s: ", where);
  strides_text(&view, text);
  n += snprintf(difference + n, (size_t)(DIFFERENCE_BYTES - n), "strides %s, not [", text);
  for (size_t d = 0; d < wick_value_length(want) && n + 24 < DIFFERENCE_BYTES; d++)
    n += snprintf(difference + n, (size_t)(DIFFERENCE_BYTES - n), "%s%lld", d ? ", " : "",
                  (long long)number_at(want, d));
  if (n < DIFFERENCE_BYTES) snprintf(difference + n, (size_t)(DIFFERENCE_BYTES - n), "]");
  return false;
}

static bool agree(const wick_value *got, const wick_value *want, const char *where, int nesting, char *difference) {
  uint32_t kind = wick_value_kind(got);
  char inner_where[120];
  if (wick_value_kind(want) == WICK_NONE) return true;
  if (nesting > MAX_NESTING || (wick_value_kind(want) != WICK_LIST && wick_value_kind(want) != WICK_TUPLE)) {
    snprintf(difference, DIFFERENCE_BYTES, "%s: the recorded strides are malformed", where);
    return false;
  }
  if (kind == WICK_TENSOR) return tensor_agrees(got, want, where, difference);
  if ((kind != WICK_LIST && kind != WICK_TUPLE && kind != WICK_DICT) ||
      wick_value_length(got) != wick_value_length(want)) {
    snprintf(difference, DIFFERENCE_BYTES, "%s: strides are recorded for another structure", where);
    return false;
  }
  bool same = true;
  for (size_t i = 0; same && i < wick_value_length(got); i++) {
    wick_value *inner = wick_value_item(got, i), *inner_want = wick_value_item(want, i);
    snprintf(inner_where, sizeof inner_where, "%.80s[%zu]", where, i);
    if (inner && inner_want) {
      same = agree(inner, inner_want, inner_where, nesting + 1, difference);
    } else {
      snprintf(difference, DIFFERENCE_BYTES, "%s: memory ran out", where);
      same = false;
    }
    wick_value_release(inner);
    wick_value_release(inner_want);
  }
  return same;
}

bool strides_agree(const wick_value *got, const wick_value *want, const char *where, char *difference) {
  return agree(got, want, where, 0, difference);
}
