/* Setting results of kernels that compute no tensors. */
#pragma once

#include "op/op.h"

static inline Status result_int(Call *c, uint32_t i, int64_t value) { call_set(c, i, ivalue_int(value)); return OK; }
static inline Status result_double(Call *c, uint32_t i, double value) { call_set(c, i, ivalue_float(value)); return OK; }
static inline Status result_bool(Call *c, uint32_t i, bool value) { call_set(c, i, ivalue_bool(value)); return OK; }
static inline Status result_value(Call *c, uint32_t i, IValue value) { call_set(c, i, ivalue_retain(value)); return OK; }
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

/* Rows of operators on containers: they look at tensors only as values. */
enum { OP_CONTAINER = OP_COMPOSITE | OP_ACCEPT_ANY };
#define ROW(text, function) {.schema = text, .kernel = function}
#define ROW_ANY(text, function) {.schema = text, .kernel = function, .flags = OP_CONTAINER}
