/* Whether a value agrees with a recorded one: structure, types, dtypes, shapes and numbers. A dtype is recorded as
 * {"__dtype__": name}, a device as {"__device__": name}, a NamedTuple as a tuple. */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "wick/tensor.h"

enum { MAX_NESTING = 500, WHERE_BYTES = 200 };

typedef struct Comparison {
  const Tolerance *tolerance;
  char *difference;
  int nesting;
} Comparison;

__attribute__((format(printf, 3, 4))) static bool differ(Comparison *c, const char *where, const char *format, ...) {
  va_list arguments;
  int n = snprintf(c->difference, DIFFERENCE_BYTES, "%s: ", where);
  va_start(arguments, format);
  if (n >= 0 && n < DIFFERENCE_BYTES) vsnprintf(c->difference + n, (size_t)(DIFFERENCE_BYTES - n), format, arguments);
  va_end(arguments);
  for (char *p = c->difference; *p; p++)
    if (*p == '\n') *p = ' ';
  return false;
}

static const char *kind_name(uint32_t kind) {
  static const char *const names[] = {"None",    "int",      "float",  "bool",      "device", "Tensor",
                                      "complex", "str",      "list",   "dict",      "tuple",  "object",
                                      "enum",    "function", "future", "generator", "other"};
  return kind < sizeof names / sizeof *names ? names[kind] : "other";
}

/* ---- numbers ---- */

typedef struct Number {
  double re, im;
} Number;

static float half_bits(uint16_t h) {
  int exponent = h >> 10 & 31, mantissa = h & 1023;
  double value = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                 : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                : ldexp(mantissa, -24);
  return (float)(h & 0x8000 ? -value : value);
}

static Number load_number(const wick_tensor_view *v, int64_t at) {
  switch (v->dtype) {
    case WICK_FLOAT16:
      return (Number){half_bits(((const uint16_t *)v->data)[at]), 0};
    case WICK_BFLOAT16: {
      uint32_t bits = (uint32_t)((const uint16_t *)v->data)[at] << 16;
      float f;
      memcpy(&f, &bits, sizeof f);
      return (Number){f, 0};
    }
    case WICK_FLOAT32:
      return (Number){((const float *)v->data)[at], 0};
    case WICK_FLOAT64:
      return (Number){((const double *)v->data)[at], 0};
    case WICK_COMPLEX64:
      return (Number){((const float *)v->data)[2 * at], ((const float *)v->data)[2 * at + 1]};
    case WICK_COMPLEX128:
      return (Number){((const double *)v->data)[2 * at], ((const double *)v->data)[2 * at + 1]};
    default:
      return (Number){0, 0};
  }
}
static int64_t load_integer(const wick_tensor_view *v, int64_t at) {
  switch (v->dtype) {
    case WICK_UINT8:
    case WICK_QUINT8:
    case WICK_QUINT4X2:
    case WICK_QUINT2X4:
    case WICK_FLOAT8_E5M2: /* those of eight bits have to be the same */
    case WICK_FLOAT8_E4M3FN:
    case WICK_FLOAT8_E5M2FNUZ:
    case WICK_FLOAT8_E4M3FNUZ:
    case WICK_FLOAT8_E8M0FNU:
      return ((const uint8_t *)v->data)[at];
    case WICK_UINT16:
      return ((const uint16_t *)v->data)[at];
    case WICK_UINT32:
      return ((const uint32_t *)v->data)[at];
    case WICK_BOOL8:
      return ((const uint8_t *)v->data)[at] != 0;
    case WICK_INT8:
    case WICK_QINT8:
      return ((const int8_t *)v->data)[at];
    case WICK_INT16:
      return ((const int16_t *)v->data)[at];
    case WICK_INT32:
    case WICK_QINT32:
      return ((const int32_t *)v->data)[at];
    default:
      return ((const int64_t *)v->data)[at];
  }
}
static bool is_floating(uint32_t dtype) {
  return (dtype >= WICK_FLOAT16 && dtype <= WICK_FLOAT64) || dtype == WICK_COMPLEX64 || dtype == WICK_COMPLEX128 ||
         dtype == WICK_BFLOAT16;
}

static bool parts_equal(double got, double want) {
  return got == want || (isnan(got) && isnan(want));
}
/* scale: the magnitude that rtol is relative to. */
static bool near(Number got, Number want, double rtol, double atol, double scale) {
  if (parts_equal(got.re, want.re) && parts_equal(got.im, want.im)) return true;
  double re = parts_equal(got.re, want.re) ? 0 : got.re - want.re,
         im = parts_equal(got.im, want.im) ? 0 : got.im - want.im;
  double distance = hypot(re, im);
  return isfinite(distance) && distance <= atol + rtol * scale;
}

/* ---- tensors ---- */

static int64_t offset_at(const wick_tensor_view *v, const int64_t *index) {
  assert(v->ndim <= 64);
  int64_t offset = 0;
  for (int i = 0; i < v->ndim; i++) offset += index[i] * v->strides[i];
  return offset;
}
static bool next_index(const wick_tensor_view *v, int64_t *index) {
  assert(v->ndim <= 64);
  for (int i = v->ndim - 1; i >= 0; i--) {
    if (++index[i] < v->sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}
static void shape_text(const wick_tensor_view *v, char *out, size_t bytes) {
  size_t n = (size_t)snprintf(out, bytes, "[");
  for (int i = 0; i < v->ndim && n + 24 < bytes; i++)
    n += (size_t)snprintf(out + n, bytes - n, "%s%lld", i ? ", " : "", (long long)v->sizes[i]);
  snprintf(out + n, bytes - n, "]");
}
static void index_text(const int64_t *index, int ndim, char *out, size_t bytes) {
  size_t n = 0;
  *out = 0;
  for (int i = 0; i < ndim && n + 24 < bytes; i++)
    n += (size_t)snprintf(out + n, bytes - n, "%s%lld", i ? ", " : "", (long long)index[i]);
}
static double largest(const wick_tensor_view *v) {
  assert(v->ndim <= 64);
  int64_t index[64] = {0};
  double most = 0;
  do {
    Number n = load_number(v, offset_at(v, index));
    double magnitude = hypot(n.re, n.im);
    if (isfinite(magnitude) && magnitude > most) most = magnitude;
  } while (next_index(v, index));
  return most;
}

static bool elements_agree(Comparison *c, const char *where, const wick_tensor_view *got,
                           const wick_tensor_view *want) {
  assert(got->ndim <= 64 && got->ndim == want->ndim);
  int64_t index[64] = {0}, wrong = 0, total = 0;
  bool floating = is_floating(want->dtype), coarse = want->dtype == WICK_FLOAT16 || want->dtype == WICK_BFLOAT16;
  double rtol = coarse ? fmax(1e-2, c->tolerance->rtol) : c->tolerance->rtol,
         atol = coarse ? fmax(1e-3, c->tolerance->atol) : c->tolerance->atol;
  double scale = floating && c->tolerance->scaled ? largest(want) : 0, worst = -1;
  char at[120] = "", shown[120] = "";
  do {
    int64_t i = offset_at(got, index), k = offset_at(want, index);
    bool fine;
    double distance = 0;
    Number a = {0, 0}, b = {0, 0};
    if (floating) {
      a = load_number(got, i);
      b = load_number(want, k);
      if (got->flags & WICK_TENSOR_CONJ) a.im = -a.im;
      if (want->flags & WICK_TENSOR_CONJ) b.im = -b.im;
      fine = near(a, b, rtol, atol, c->tolerance->scaled ? scale : hypot(b.re, b.im));
      distance = fine ? 0 : hypot(a.re - b.re, a.im - b.im);
      if (!fine && !isfinite(distance)) distance = INFINITY;
    } else {
      fine = load_integer(got, i) == load_integer(want, k);
    }
    total++;
    if (fine) continue;
    wrong++;
    if (distance <= worst) continue;
    worst = distance;
    index_text(index, want->ndim, at, sizeof at);
    if (!floating) {
      snprintf(shown, sizeof shown, "%lld, not %lld", (long long)load_integer(got, i),
               (long long)load_integer(want, k));
    } else if (want->dtype == WICK_COMPLEX64 || want->dtype == WICK_COMPLEX128) {
      snprintf(shown, sizeof shown, "%.9g%+.9gj, not %.9g%+.9gj", a.re, a.im, b.re, b.im);
    } else {
      snprintf(shown, sizeof shown, "%.9g, not %.9g", a.re, b.re);
    }
  } while (next_index(want, index));
  return !wrong ||
         differ(c, where, "%lld of %lld elements differ; at [%s] %s", (long long)wrong, (long long)total, at, shown);
}

static bool close_to(double got, double want) {
  return fabs(got - want) <= 1e-6 * fabs(want);
}
static bool quantizers_agree(Comparison *c, const char *where, const wick_value *got, const wick_value *want) {
  wick_quantizer g = {.size = sizeof g}, w = {.size = sizeof w};
  if (wick_tensor_quantizer_of(got, &g, NULL) || wick_tensor_quantizer_of(want, &w, NULL))
    return differ(c, where, "one is not quantized");
  if (g.scheme != w.scheme || g.axis != w.axis || g.channels != w.channels)
    return differ(c, where, "quantization scheme %u, not %u, or other channels", g.scheme, w.scheme);
  bool same = close_to(g.scale, w.scale) && g.zero_point == w.zero_point;
  for (int64_t i = 0; same && i < w.channels; i++)
    same = w.scales ? close_to(g.scales[i], w.scales[i]) && g.zero_points[i] == w.zero_points[i]
                    : close_to(g.float_scales[i], w.float_scales[i]) &&
                          fabs(g.float_zero_points[i] - w.float_zero_points[i]) < 1e-4;
  return same || differ(c, where, "scale %g and zero point %lld, not %g and %lld (or those of a channel)", g.scale,
                        (long long)g.zero_point, w.scale, (long long)w.zero_point);
}

static bool is_quantized(uint32_t dtype) {
  return (dtype >= WICK_QINT8 && dtype <= WICK_QINT32) || dtype == WICK_QUINT4X2 || dtype == WICK_QUINT2X4;
}

/* 0: strided. */
static int64_t layout_of(const wick_value *tensor) {
  wick_value *layout = NULL;
  if (wick_op_call(NULL, "prim::layout", NULL, &tensor, 1, NULL, 0, &layout, NULL)) return 0;
  int64_t number = wick_value_to_int(layout);
  wick_value_release(layout);
  return number;
}

static bool strided_agree(Comparison *c, const char *where, const wick_value *got, const wick_value *want);

/* Of the same layout, and the same when they are dense. */
static bool sparse_agree(Comparison *c, const char *where, const wick_value *got, const wick_value *want) {
  if (layout_of(got) != layout_of(want))
    return differ(c, where, "layout %lld, not %lld", (long long)layout_of(got), (long long)layout_of(want));
  wick_value *dense[2] = {NULL, NULL};
  wick_error *error = NULL;
  bool same = !wick_op_call(NULL, "aten::to_dense", NULL, &got, 1, NULL, 0, &dense[0], &error) &&
              !wick_op_call(NULL, "aten::to_dense", NULL, &want, 1, NULL, 0, &dense[1], &error);
  same = same ? strided_agree(c, where, dense[0], dense[1]) : differ(c, where, "%s", wick_error_message(error));
  wick_error_free(error);
  wick_value_release(dense[0]);
  wick_value_release(dense[1]);
  return same;
}

static bool tensors_agree(Comparison *c, const char *where, const wick_value *got, const wick_value *want) {
  wick_tensor_info info = {.size = sizeof info};
  if (!wick_tensor_info_of(got, &info, NULL) && info.device_type != WICK_DEVICE_CPU) {
    wick_error *error = NULL;
    wick_value *here = value_on_device(got, "cpu", &error);
    bool same = here ? tensors_agree(c, where, here, want) : differ(c, where, "%s", wick_error_message(error));
    wick_error_free(error);
    wick_value_release(here);
    return same;
  }
  bool sparse = layout_of(got) || layout_of(want);
  return sparse ? sparse_agree(c, where, got, want) : strided_agree(c, where, got, want);
}

static bool strided_agree(Comparison *c, const char *where, const wick_value *got, const wick_value *want) {
  wick_tensor_view g = {.size = sizeof g}, w = {.size = sizeof w};
  wick_error *error = NULL;
  if (wick_tensor_view_of(got, &g, &error) || wick_tensor_view_of(want, &w, &error)) {
    differ(c, where, "%s", wick_error_message(error));
    wick_error_free(error);
    return false;
  }
  if ((g.flags ^ w.flags) & WICK_TENSOR_UNDEFINED)
    return differ(c, where, "an undefined tensor %s", g.flags & WICK_TENSOR_UNDEFINED ? "came" : "is missing");
  if (g.flags & WICK_TENSOR_UNDEFINED) return true;
  if (g.dtype != w.dtype)
    return differ(c, where, "dtype %s, not %s", wick_dtype_name(g.dtype), wick_dtype_name(w.dtype));
  bool same = g.ndim == w.ndim, empty = false;
  for (int i = 0; same && i < g.ndim; i++) {
    same = g.sizes[i] == w.sizes[i];
    empty |= g.sizes[i] == 0;
  }
  if (!same) {
    char got_shape[120], want_shape[120];
    shape_text(&g, got_shape, sizeof got_shape);
    shape_text(&w, want_shape, sizeof want_shape);
    return differ(c, where, "shape %s, not %s", got_shape, want_shape);
  }
  if (is_quantized(w.dtype) && !quantizers_agree(c, where, got, want)) return false;
  return empty || elements_agree(c, where, &g, &w);
}

/* ---- structures ---- */

static bool agree(Comparison *c, const char *where, const wick_value *got, const wick_value *want);

/* The text under `mark` of a dict with that one key; NULL: it is another dict. */
static char *marked_text(const wick_value *dict, const char *mark) {
  if (wick_value_kind(dict) != WICK_DICT || wick_value_length(dict) != 1) return NULL;
  wick_value *value = wick_value_get_text(dict, mark);
  size_t length;
  char *text = value && wick_value_kind(value) == WICK_STRING ? strdup(wick_value_to_string(value, &length)) : NULL;
  wick_value_release(value);
  return text;
}
static bool marks_agree(Comparison *c, const char *where, const wick_value *got, const char *mark, const char *text) {
  if (!strcmp(mark, "__dtype__")) {
    const char *name = wick_value_kind(got) == WICK_INT ? wick_dtype_name((uint32_t)wick_value_to_int(got))
                                                        : kind_name(wick_value_kind(got));
    return !strcmp(name, text) || differ(c, where, "dtype %s, not %s", name, text);
  }
  char *printed = NULL;
  wick_value_print(got, &printed, NULL);
  bool same = wick_value_kind(got) == WICK_DEVICE && printed && !strcmp(printed, text);
  if (!same) differ(c, where, "device %s, not %s", printed ? printed : "?", text);
  wick_text_free(printed);
  return same;
}

static bool items_agree(Comparison *c, const char *where, const wick_value *got, const wick_value *want) {
  size_t count = wick_value_length(want);
  if (wick_value_length(got) != count) return differ(c, where, "%zu items, not %zu", wick_value_length(got), count);
  bool same = true;
  for (size_t i = 0; i < count && same; i++) {
    char name[WHERE_BYTES];
    snprintf(name, sizeof name, "%s[%zu]", where, i);
    wick_value *g = wick_value_item(got, i), *w = wick_value_item(want, i);
    same = g && w ? agree(c, name, g, w) : differ(c, name, "out of memory");
    wick_value_release(g);
    wick_value_release(w);
  }
  return same;
}

static bool dicts_agree(Comparison *c, const char *where, const wick_value *got, const wick_value *want) {
  size_t count = wick_value_length(want);
  if (wick_value_length(got) != count) return differ(c, where, "%zu entries, not %zu", wick_value_length(got), count);
  bool same = true;
  for (size_t i = 0; i < count && same; i++) {
    char name[WHERE_BYTES], *printed = NULL;
    wick_value *key = wick_value_key(want, i), *w = wick_value_item(want, i), *g = wick_value_get(got, key);
    if (wick_value_kind(key) == WICK_TENSOR) { /* keys by identity: compared in order */
      wick_value *got_key = wick_value_key(got, i);
      wick_value_release(g);
      same = agree(c, where, got_key, key);
      wick_value_release(got_key);
      g = wick_value_item(got, i);
    }
    wick_value_print(key, &printed, NULL);
    snprintf(name, sizeof name, "%s[%s]", where, printed ? printed : "?");
    if (same) same = g ? agree(c, name, g, w) : differ(c, name, "is missing");
    wick_text_free(printed);
    wick_value_release(key);
    wick_value_release(w);
    wick_value_release(g);
  }
  return same;
}

/* What has no number and no text of its own, as devices: by what is printed of it. */
static bool print_the_same(const wick_value *a, const wick_value *b) {
  char *a_text = NULL, *b_text = NULL;
  wick_value_print(a, &a_text, NULL);
  wick_value_print(b, &b_text, NULL);
  bool same = a_text && b_text && !strcmp(a_text, b_text);
  wick_text_free(a_text);
  wick_text_free(b_text);
  return same;
}

static bool scalars_agree(Comparison *c, const char *where, const wick_value *got, const wick_value *want) {
  char *got_text = NULL, *want_text = NULL;
  bool same = false;
  Number g = {0, 0}, w = {0, 0};
  wick_value_to_complex(got, &g.re, &g.im);
  wick_value_to_complex(want, &w.re, &w.im);
  switch (wick_value_kind(want)) {
    case WICK_NONE:
      same = true;
      break;
    case WICK_INT:
    case WICK_BOOL:
      same = wick_value_to_int(got) == wick_value_to_int(want);
      break;
    case WICK_DOUBLE:
    case WICK_COMPLEX:
      same = near(g, w, c->tolerance->rtol, c->tolerance->atol, hypot(w.re, w.im));
      break;
    case WICK_DEVICE:
      same = print_the_same(got, want);
      break;
    default: {
      size_t n, m;
      const char *a = wick_value_to_string(got, &n), *b = wick_value_to_string(want, &m);
      same = wick_value_kind(want) == WICK_STRING && n == m && !memcmp(a, b, n);
    }
  }
  if (same) return true;
  wick_value_print(got, &got_text, NULL);
  wick_value_print(want, &want_text, NULL);
  differ(c, where, "%.200s, not %.200s", got_text ? got_text : "?", want_text ? want_text : "?");
  wick_text_free(got_text);
  wick_text_free(want_text);
  return false;
}

static bool undefined(const wick_value *value) {
  wick_tensor_view v = {.size = sizeof v};
  return !wick_tensor_view_of(value, &v, NULL) && (v.flags & WICK_TENSOR_UNDEFINED);
}

static bool agree(Comparison *c, const char *where, const wick_value *got, const wick_value *want) {
  static const char *const marks[] = {"__dtype__", "__device__"};
  if (c->nesting == MAX_NESTING) return differ(c, where, "nested too deeply to compare");
  for (int i = 0; i < 2; i++) {
    char *text = marked_text(want, marks[i]);
    if (!text) continue;
    bool same = marks_agree(c, where, got, marks[i], text);
    free(text);
    return same;
  }
  uint32_t g = wick_value_kind(got), w = wick_value_kind(want);
  if (w == WICK_NONE && g == WICK_TENSOR && undefined(got)) return true;
  if (g != w) {
    char *type = NULL;
    wick_value_type(got, &type, NULL);
    differ(c, where, "%s (%.100s), not %s", kind_name(g), type ? type : "?", kind_name(w));
    wick_text_free(type);
    return false;
  }
  c->nesting++;
  bool same = w == WICK_TENSOR                    ? tensors_agree(c, where, got, want)
              : w == WICK_LIST || w == WICK_TUPLE ? items_agree(c, where, got, want)
              : w == WICK_DICT                    ? dicts_agree(c, where, got, want)
                                                  : scalars_agree(c, where, got, want);
  c->nesting--;
  return same;
}

bool values_agree(const wick_value *got, const wick_value *want, const Tolerance *tolerance, const char *where,
                  char *difference) {
  Comparison c = {.tolerance = tolerance, .difference = difference};
  return agree(&c, where, got, want);
}
