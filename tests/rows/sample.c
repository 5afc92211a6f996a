/* Samples as text, and their pool. */
#include "sample.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define X(name, text) text,
static const char *const fill_names[] = {FILLS(X)}, *const layout_names[] = {LAYOUTS(X)},
                         *const state_names[] = {STATES(X)};
#undef X
static const struct {
  const char *name;
  DType dtype;
} dtype_names[] = {{"f32", DTYPE_FLOAT32},   {"f64", DTYPE_FLOAT64},   {"i64", DTYPE_INT64},
                   {"i32", DTYPE_INT32},     {"i16", DTYPE_INT16},     {"i8", DTYPE_INT8},
                   {"u8", DTYPE_UINT8},      {"b", DTYPE_BOOL},        {"f16", DTYPE_FLOAT16},
                   {"bf16", DTYPE_BFLOAT16}, {"c64", DTYPE_COMPLEX64}, {"c128", DTYPE_COMPLEX128},
                   {"c32", DTYPE_COMPLEX32}, {"qi8", DTYPE_QINT8}};
enum { DTYPE_NAMES = sizeof dtype_names / sizeof *dtype_names };

/* ---- the pool ---- */
enum { POOL = 1 << 14 };
static Sample pool[POOL];
static size_t pool_used;

Sample *samples_take(size_t count) {
  assert_true(pool_used + count <= POOL);
  pool_used += count;
  return &pool[pool_used - count];
}
size_t samples_mark(void) {
  return pool_used;
}
void samples_reset(size_t mark) {
  pool_used = mark;
}
Sample sample_copy(const Sample *sample) {
  Sample copy = *sample;
  copy.items = samples_take(sample->count);
  for (size_t i = 0; i < sample->count; i++) copy.items[i] = sample_copy(&sample->items[i]);
  return copy;
}
void sample_call_copy(const SampleCall *call, SampleCall *out) {
  out->op = call->op;
  out->count = call->count;
  for (uint32_t i = 0; i < call->count; i++) out->arguments[i] = sample_copy(&call->arguments[i]);
}

Sample sample_text(const char *text) {
  Sample s = {.kind = SAMPLE_TEXT};
  snprintf(s.text, sizeof s.text, "%s", text);
  return s;
}
Sample sample_list(size_t count, const Sample *items) {
  Sample s = {.kind = SAMPLE_LIST, .count = count, .items = samples_take(count)};
  if (count) memcpy(s.items, items, count * sizeof *items);
  return s;
}
Sample sample_tensor(DType dtype, int ndim, const int64_t *sizes) {
  Sample s = {.kind = SAMPLE_TENSOR, .dtype = dtype, .ndim = ndim};
  if (ndim) memcpy(s.sizes, sizes, (size_t)ndim * sizeof *sizes);
  return s;
}

/* ---- printing ---- */
static void print_real(double x, StrBuf *out) {
  strbuf_printf(out, x == floor(x) && fabs(x) < 1e15 ? "%.1f" : "%.17g", x);
}
static void print_tensor(const Sample *s, StrBuf *out) {
  const char *dtype = dtype_name(s->dtype);
  for (size_t i = 0; i < DTYPE_NAMES; i++)
    if (dtype_names[i].dtype == s->dtype) dtype = dtype_names[i].name;
  strbuf_printf(out, "%s[", dtype);
  for (int d = 0; d < s->ndim; d++) strbuf_printf(out, "%s%" PRId64, d ? "," : "", s->sizes[d]);
  strbuf_puts(out, "]");
  if (s->fill == FILL_NUMBER)
    strbuf_printf(out, "=%" PRId64, s->number);
  else if (s->fill != FILL_SMALL)
    strbuf_printf(out, "=%s", fill_names[s->fill]);
  if (s->layout != LAYOUT_DENSE) strbuf_printf(out, "/%s", layout_names[s->layout]);
  if (s->state != STATE_PLAIN) strbuf_printf(out, "/%s", state_names[s->state]);
}
static void print_items(const Sample *s, const char *open, const char *close, StrBuf *out) {
  strbuf_puts(out, open);
  for (size_t i = 0; i < s->count; i++) {
    if (i) strbuf_puts(out, s->kind == SAMPLE_DICT && i % 2 ? ": " : ", ");
    sample_print(&s->items[i], out);
  }
  strbuf_puts(out, close);
}

void sample_print(const Sample *s, StrBuf *out) {
  static const char *const words[] = {[SAMPLE_NONE] = "None",
                                      [SAMPLE_GENERATOR] = "generator",
                                      [SAMPLE_STORAGE] = "storage",
                                      [SAMPLE_FUTURE] = "future",
                                      [SAMPLE_ENUM] = "enum"};
  switch (s->kind) {
    case SAMPLE_INT:
      strbuf_printf(out, "%" PRId64, s->number);
      break;
    case SAMPLE_FLOAT:
      print_real(s->real, out);
      break;
    case SAMPLE_BOOL:
      strbuf_puts(out, s->number ? "True" : "False");
      break;
    case SAMPLE_COMPLEX:
      strbuf_printf(out, "%gj", s->real);
      break;
    case SAMPLE_TEXT:
      strbuf_printf(out, "\"%s\"", s->text);
      break;
    case SAMPLE_DEVICE:
      strbuf_puts(out, s->text);
      break;
    case SAMPLE_TENSOR:
      print_tensor(s, out);
      break;
    case SAMPLE_LIST:
      print_items(s, "[", "]", out);
      break;
    case SAMPLE_TUPLE:
      print_items(s, "(", ")", out);
      break;
    case SAMPLE_DICT:
      print_items(s, "{", "}", out);
      break;
    default:
      strbuf_puts(out, words[s->kind]);
  }
}

void sample_call_print(const SampleCall *call, StrBuf *out) {
  strbuf_printf(out, STR_FMT "%s" STR_FMT "(", STR_ARG(call->op->name), call->op->overload_name.length ? "." : "",
                STR_ARG(call->op->overload_name));
  for (uint32_t i = 0; i < call->count; i++) {
    if (i) strbuf_puts(out, ", ");
    sample_print(&call->arguments[i], out);
  }
  strbuf_puts(out, ")");
}

/* ---- parsing ---- */
static void skip_blanks(Str *text) {
  while (text->length && (*text->data == ' ' || *text->data == ',')) *text = str_slice(*text, 1, text->length);
}
static bool take(Str *text, const char *word) {
  size_t n = strlen(word);
  if (text->length < n || memcmp(text->data, word, n) != 0) return false;
  *text = str_slice(*text, n, text->length);
  return true;
}
static bool take_number(Str *text, Sample *out) {
  char copy[64], *end;
  size_t n = text->length < sizeof copy - 1 ? text->length : sizeof copy - 1;
  memcpy(copy, text->data, n);
  copy[n] = 0;
  int64_t whole = strtoll(copy, &end, 10);
  if (end != copy && (!*end || !strchr(".ejn", *end))) {
    *out = sample_int(whole);
  } else {
    double real = strtod(copy, &end);
    if (end == copy) return false;
    *out = (Sample){.kind = *end == 'j' ? SAMPLE_COMPLEX : SAMPLE_FLOAT, .real = real};
    end += *end == 'j';
  }
  *text = str_slice(*text, (size_t)(end - copy), text->length);
  return true;
}
static bool take_name(Str *text, const char *const *names, int count, int *out) {
  int best = -1;
  for (int i = 0; i < count; i++) {
    size_t n = strlen(names[i]);
    if (n && text->length >= n && !memcmp(text->data, names[i], n) && (best < 0 || n > strlen(names[best]))) best = i;
  }
  return best >= 0 && take(text, names[best]) && (*out = best, true);
}
static bool take_tensor(Str *text, Sample *out) {
  Str rest = *text;
  size_t k = 0;
  while (k < rest.length && isalnum((unsigned char)rest.data[k])) k++;
  if (k == rest.length || rest.data[k] != '[') return false;
  *out = (Sample){.kind = SAMPLE_TENSOR};
  size_t i = 0;
  while (i < DTYPE_NAMES && !str_is(str_slice(rest, 0, k), dtype_names[i].name)) i++;
  if (i == DTYPE_NAMES) return false;
  out->dtype = dtype_names[i].dtype;
  rest = str_slice(rest, k + 1, rest.length);
  for (; !take(&rest, "]"); skip_blanks(&rest)) {
    Sample size;
    if (out->ndim == SAMPLE_MAX_DIMS || !take_number(&rest, &size)) return false;
    out->sizes[out->ndim++] = size.number;
  }
  if (take(&rest, "=")) {
    Sample number;
    int fill = FILL_NUMBER;
    if (!take_name(&rest, fill_names, FILL_KINDS, &fill)) {
      if (!take_number(&rest, &number)) return false;
      out->number = number.number;
    }
    out->fill = (Fill)fill;
  }
  while (take(&rest, "/")) {
    int which;
    if (take_name(&rest, layout_names, LAYOUT_KINDS, &which))
      out->layout = (Layout)which;
    else if (take_name(&rest, state_names, STATE_KINDS, &which))
      out->state = (State)which;
    else
      return false;
  }
  *text = rest;
  return true;
}
static bool take_items(Str *text, SampleKind kind, const char *close, Sample *out) {
  Sample items[64];
  size_t count = 0;
  for (skip_blanks(text); !take(text, close); skip_blanks(text)) {
    if (count == 64 || !sample_parse(text, &items[count++])) return false;
    take(text, ":");
  }
  *out = sample_list(count, items);
  out->kind = kind;
  return true;
}

bool sample_parse(Str *text, Sample *out) {
  static const struct {
    const char *word;
    Sample sample;
  } words[] = {{"None", {.kind = SAMPLE_NONE}},           {"True", {.kind = SAMPLE_BOOL, .number = 1}},
               {"False", {.kind = SAMPLE_BOOL}},          {"cpu", {.kind = SAMPLE_DEVICE, .text = "cpu"}},
               {"generator", {.kind = SAMPLE_GENERATOR}}, {"storage", {.kind = SAMPLE_STORAGE}},
               {"future", {.kind = SAMPLE_FUTURE}},       {"enum", {.kind = SAMPLE_ENUM}}};
  skip_blanks(text);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (take(text, words[i].word)) return *out = words[i].sample, true;
  if (take(text, "[")) return take_items(text, SAMPLE_LIST, "]", out);
  if (take(text, "(")) return take_items(text, SAMPLE_TUPLE, ")", out);
  if (take(text, "{")) return take_items(text, SAMPLE_DICT, "}", out);
  if (take(text, "\"")) {
    ptrdiff_t end = str_find_char(*text, '"');
    if (end < 0 || end >= SAMPLE_TEXT_LENGTH) return false;
    *out = (Sample){.kind = SAMPLE_TEXT};
    memcpy(out->text, text->data, (size_t)end);
    *text = str_slice(*text, (size_t)end + 1, text->length);
    return true;
  }
  return take_tensor(text, out) || take_number(text, out);
}
