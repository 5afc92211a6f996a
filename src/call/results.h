/* Setting results of kernels that compute no tensors. */
#pragma once

#include "call/call.h"
#include "call/operator.h"

static inline Status result_int(Call *c, uint32_t i, int64_t value) {
  call_set(c, i, ivalue_int(value));
  return OK;
}
static inline Status result_double(Call *c, uint32_t i, double value) {
  call_set(c, i, ivalue_float(value));
  return OK;
}
static inline Status result_bool(Call *c, uint32_t i, bool value) {
  call_set(c, i, ivalue_bool(value));
  return OK;
}
static inline Status result_value(Call *c, uint32_t i, IValue value) {
  call_set(c, i, ivalue_retain(value));
  return OK;
}
static inline Status result_complex(Call *c, uint32_t i, complex128 value) {
  IValue boxed;
  TRY(ivalue_from_complex(value, &boxed));
  call_set(c, i, boxed);
  return OK;
}
static inline Status result_str(Call *c, uint32_t i, Str text) {
  IValue string;
  TRY(ivalue_from_str(text, &string));
  call_set(c, i, string);
  return OK;
}
/* The buffer's text; disposes it. */
static inline Status result_strbuf(Call *c, uint32_t i, StrBuf *text) {
  Status status = text->failed ? status_out_of_memory() : result_str(c, i, strbuf_view(text));
  strbuf_dispose(text);
  return status;
}

/* Python's slice over `length` items: how many there are and where the first is; step is not 0. */
static inline Status slice_bounds(const Call *c, int64_t length, int64_t *out_start, int64_t *out_step,
                                  int64_t *out_count) {
  int64_t step = call_int(c, 3);
  if (step == 0) return status_exception("ValueError", "slice step cannot be zero");
  if (step == INT64_MIN) step++; /* so that it can be negated */
  int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
  int64_t start = call_int_or(c, 1, step < 0 ? high : low), end = call_int_or(c, 2, step < 0 ? low - length : high);
  if (start < 0 && !call_is_none(c, 1)) start = start < -length ? low : start + length;
  if (end < 0) end = end < -length ? low : end + length;
  if (start > high) start = high;
  if (end > high) end = high;
  *out_start = start;
  *out_step = step;
  *out_count = 0;
  if (step > 0 && start < end) *out_count = (end - start - 1) / step + 1;
  if (step < 0 && start > end) *out_count = (start - end - 1) / -step + 1;
  return OK;
}

/* Rows of operators on containers: they look at tensors only as values. */
enum { OP_CONTAINER = OP_COMPOSITE | OP_ACCEPT_ANY };
#define ROW(text, ...) \
  { .schema = text, .kernel = __VA_ARGS__ }
#define ROW_ANY(text, ...) \
  { .schema = text, .flags = OP_CONTAINER, .kernel = __VA_ARGS__ }
