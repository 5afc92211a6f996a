/* tensor_print: the layout of torch's C++ printer. Lines are at most 80 columns; a matrix that is wider is cut into
 * groups of columns; a tensor of more dimensions is a sequence of matrices; the last line names type and sizes.
 * tensor_print_short leaves out the middle of large tensors, as torch's Python printer does. */
#include "tensor/quantizer.h"
#include "tensor/sparse.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>

enum { LINE_WIDTH = 80, EDGE = 3, SHORT_ABOVE = 1000 };

/* How numbers are written. Precision lasts from one matrix of a tensor to the next, as a C++ stream keeps it. */
typedef enum Notation { NOTATION_GENERAL, NOTATION_FIXED, NOTATION_SCIENTIFIC } Notation;
typedef struct Printer {
  StrBuf *out;
  Notation notation;
  int precision, width;
  double scale; /* printed once; every number is divided by it */
  bool is_short;
} Printer;

/* What is printed of a tensor: of dimensions that are cut the first and the last EDGE places. */
typedef struct Shown {
  int ndim;
  int64_t numel, sizes[TENSOR_MAX_DIMS], whole[TENSOR_MAX_DIMS];
} Shown;
static bool is_cut(const Shown *shown, int dim) {
  return shown->sizes[dim] < shown->whole[dim];
}
static bool is_gap(const Shown *shown, int dim, int64_t place) { /* what is left out stood in front of it */
  return place == EDGE && is_cut(shown, dim);
}
static int64_t whole_index(const Shown *shown, int dim, int64_t place) {
  return place < EDGE ? place : place + shown->whole[dim] - shown->sizes[dim];
}
static Shown shown_of(const Tensor *t, bool is_short) {
  Shown shown = {.ndim = t->ndim, .numel = t->numel ? 1 : 0};
  bool cuts = is_short && t->numel > SHORT_ABOVE;
  for (int i = 0; i < t->ndim; i++) {
    shown.whole[i] = t->sizes[i];
    shown.sizes[i] = cuts && t->sizes[i] > 2 * EDGE ? 2 * EDGE : t->sizes[i];
    shown.numel *= shown.sizes[i];
  }
  return shown;
}
/* Moves what is shown to the front of the values. */
static void gather(const Shown *shown, double *values) {
  int64_t at[TENSOR_MAX_DIMS] = {0};
  for (int64_t i = 0; i < shown->numel; i++) {
    int64_t from = 0;
    for (int d = 0; d < shown->ndim; d++) from = from * shown->whole[d] + whole_index(shown, d, at[d]);
    values[i] = values[from];
    for (int d = shown->ndim - 1; d >= 0 && ++at[d] == shown->sizes[d]; d--) at[d] = 0;
  }
}

static void print_number(Printer *p, int width, double value) {
  static const char *const formats[] = {"%.*g", "%.*f", "%.*e"};
  char text[400];
  snprintf(text, sizeof text, formats[p->notation], p->precision, value);
  const char *point = localeconv()->decimal_point;
  char *found = isfinite(value) && strcmp(point, ".") ? strstr(text, point) : NULL;
  if (found) {
    *found = '.';
    memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
  }
  int length = (int)strlen(text);
  if (length < width) strbuf_repeat(p->out, ' ', (size_t)(width - length));
  strbuf_puts(p->out, text);
}

/* Decimal digits before the point. */
static double magnitude(double x) {
  return x != 0 ? floor(log10(x)) + 1 : 1;
}

static void choose_notation(Printer *p, const double *values, int64_t n) {
  p->scale = 1;
  p->width = 0;
  if (n == 0) return;
  bool integers = true, any = false;
  double least = 1, greatest = 1;
  for (int64_t i = 0; i < n; i++) {
    double x = values[i];
    if (!isfinite(x)) continue;
    if (x != ceil(x)) integers = false;
    if (!any) least = greatest = fabs(x);
    any = true;
    if (fabs(x) < least) least = fabs(x);
    if (x > greatest) greatest = x; /* only the first negative number counts, as torch has it */
  }
  if (any) {
    least = magnitude(least);
    greatest = magnitude(greatest);
  }
  if (integers && greatest <= 9) {
    p->notation = NOTATION_GENERAL;
    p->width = (int)greatest + 1;
    return;
  }
  p->precision = 4;
  if (integers || greatest - least > 4) {
    p->notation = NOTATION_SCIENTIFIC;
    p->width = !integers && (fabs(greatest) > 99 || fabs(least) > 99) ? 12 : 11;
    return;
  }
  p->notation = NOTATION_FIXED;
  if (greatest > 5 || greatest < 0) {
    p->width = 7;
    p->scale = pow(10, greatest - 1);
  } else {
    p->width = greatest == 0 ? 7 : (int)greatest + 6;
  }
}

static void print_scale(const Printer *p) {
  Printer general = {.out = p->out, .notation = NOTATION_GENERAL, .precision = p->precision};
  print_number(&general, 0, p->scale);
  strbuf_puts(p->out, " *\n");
}

/* The last two dimensions that are shown. */
static void print_matrix(Printer *p, const Shown *shown, const double *values, int indent) {
  StrBuf *out = p->out;
  int64_t rows = shown->sizes[shown->ndim - 2], columns = shown->sizes[shown->ndim - 1];
  choose_notation(p, values, rows * columns);
  strbuf_repeat(out, ' ', (size_t)indent);
  int64_t per_line = is_cut(shown, shown->ndim - 1) ? columns : (LINE_WIDTH - indent) / (p->width + 1);
  for (int64_t first = 0; first < columns; first += per_line) {
    int64_t last = first + per_line <= columns ? first + per_line - 1 : columns - 1;
    if (per_line < columns) {
      if (first != 0) strbuf_char(out, '\n');
      strbuf_printf(out, "Columns %lld to %lld", (long long)first + 1, (long long)last + 1);
      strbuf_repeat(out, ' ', (size_t)indent);
    }
    if (p->scale != 1) {
      print_scale(p);
      strbuf_repeat(out, ' ', (size_t)indent);
    }
    for (int64_t r = 0; r < rows && !out->truncated && !out->failed; r++) {
      size_t margin = (size_t)indent + (p->scale != 1);
      if (is_gap(shown, shown->ndim - 2, r)) {
        strbuf_puts(out, "...\n");
        strbuf_repeat(out, ' ', margin);
      }
      for (int64_t c = first; c <= last; c++) {
        if (is_gap(shown, shown->ndim - 1, c)) strbuf_puts(out, " ... ");
        print_number(p, p->width, values[r * columns + c] / p->scale);
        strbuf_char(out, c == last ? '\n' : ' ');
      }
      if (r < rows - 1) strbuf_repeat(out, ' ', margin);
    }
  }
}

/* Matrices of the last two dimensions; the first dimension counts fastest. */
static void print_slices(Printer *p, const Shown *shown, const double *values) {
  int outer = shown->ndim - 2;
  int64_t size = shown->sizes[outer] * shown->sizes[outer + 1], slices = shown->numel / size;
  int64_t at[TENSOR_MAX_DIMS] = {0};
  for (int64_t s = 0; s < slices && !p->out->truncated && !p->out->failed; s++) {
    int first = 0; /* the dimension that stepped on to this slice */
    while (first < outer - 1 && !at[first]) first++;
    if (s > 0) strbuf_puts(p->out, is_gap(shown, first, at[first]) ? "\n...\n\n" : "\n");
    strbuf_char(p->out, '(');
    int64_t index = 0;
    for (int i = 0; i < outer; i++) {
      strbuf_printf(p->out, "%lld,", (long long)whole_index(shown, i, at[i]) + 1);
      index = index * shown->sizes[i] + at[i];
    }
    strbuf_puts(p->out, ".,.) = \n");
    print_matrix(p, shown, values + index * size, 1);
    for (int i = 0; i < outer && ++at[i] == shown->sizes[i]; i++) at[i] = 0;
  }
}

static void print_values(Printer *p, const Shown *shown, const double *values) {
  if (shown->ndim == 0) {
    print_number(p, 0, values[0]);
    strbuf_char(p->out, '\n');
  } else if (shown->numel == 0) {
    return;
  } else if (shown->ndim == 1) {
    choose_notation(p, values, shown->numel);
    if (p->scale != 1) print_scale(p);
    for (int64_t i = 0; i < shown->numel && !p->out->truncated && !p->out->failed; i++) {
      if (is_gap(shown, 0, i)) strbuf_puts(p->out, "...\n");
      print_number(p, p->width, values[i] / p->scale);
      strbuf_char(p->out, '\n');
    }
  } else if (shown->ndim == 2) {
    print_matrix(p, shown, values, 0);
  } else {
    print_slices(p, shown, values);
  }
}

static void print_quantizer(Printer *p, const Quantizer *q) {
  Printer scale = {.out = p->out, .notation = p->notation, .precision = p->precision};
  strbuf_printf(p->out, ", qscheme: %s, scale: ", qscheme_name(q->scheme));
  print_number(&scale, 0, q->scale);
  strbuf_printf(p->out, ", zero_point: %lld ]", (long long)q->zero_point);
}
static Status print_tensor(const Tensor *t, bool is_short, StrBuf *out);
static Status print_channels(const Printer *p, const Quantizer *q) {
  StrBuf *out = p->out;
  strbuf_printf(out, ", qscheme: %s, scales: ", qscheme_name(q->scheme));
  TRY(print_tensor(q->scales, p->is_short, out));
  strbuf_puts(out, ", zero_points: ");
  TRY(print_tensor(q->zero_points, p->is_short, out));
  strbuf_printf(out, ", axis: %lld ]", (long long)q->axis);
  return OK;
}

/* The numbers to print, as float64. */
static Status values_of(const Tensor *t, Tensor **out) {
  TensorSpec spec;
  Tensor *numbers = NULL;
  if (tensor_is_quantized(t)) TRY(tensor_dequantize(t, &numbers));
  tensor_spec_of(t, &spec);
  spec.dtype = DTYPE_FLOAT64;
  spec.has_strides = false;
  Status status = tensor_new(&spec, out);
  if (!status) {
    status = tensor_copy(*out, numbers ? numbers : t, 1);
    if (status) tensor_release(*out);
  }
  tensor_release(numbers);
  return status;
}

static Status print_sparse(const Tensor *t, bool is_short, StrBuf *out) {
  const SparseParts *parts = tensor_sparse_parts(t);
  if (parts->layout != LAYOUT_SPARSE_COO)
    return status_new(ERROR_UNSUPPORTED, "printing a tensor of layout %s", layout_name((Layout)parts->layout));
  strbuf_printf(out, "[ SparseCPU%sType{}\nindices:\n", dtype_scalar_name((DType)t->dtype));
  TRY(print_tensor(parts->indices, is_short, out));
  strbuf_puts(out, "\nvalues:\n");
  TRY(print_tensor(parts->values, is_short, out));
  strbuf_puts(out, "\nsize:\n[");
  for (int i = 0; i < t->ndim; i++) strbuf_printf(out, "%s%lld", i ? ", " : "", (long long)t->sizes[i]);
  strbuf_puts(out, "]\n]");
  return OK;
}

static Status print_tensor(const Tensor *t, bool is_short, StrBuf *out) {
  if (!tensor_is_defined(t)) return strbuf_puts(out, "[ Tensor (undefined) ]"), OK;
  if (t->flags & TENSOR_META)
    return status_exception("NotImplementedError", "Cannot copy out of meta tensor; no data!");
  TRY(tensor_check_host(t));
  if (tensor_is_sparse(t)) return print_sparse(t, is_short, out);
  if (t->flags & TENSOR_OPAQUE) return status_new(ERROR_UNSUPPORTED, "printing a tensor that is not strided");
  Tensor *values;
  TRY(values_of(t, &values));
  Printer printer = {.out = out, .precision = 6, .is_short = is_short};
  Shown shown = shown_of(t, is_short);
  if (shown.numel < t->numel) gather(&shown, tensor_data(values));
  print_values(&printer, &shown, tensor_data(values));
  tensor_release(values);
  strbuf_printf(out, "[ %sCPU%sType{", tensor_is_quantized(t) ? "Quantized" : "", dtype_scalar_name((DType)t->dtype));
  for (int i = 0; i < t->ndim; i++) strbuf_printf(out, "%s%lld", i ? "," : "", (long long)t->sizes[i]);
  strbuf_puts(out, tensor_is_quantized(t) ? "}" : "} ]");
  if (!tensor_is_quantized(t)) return OK;
  const Quantizer *q = tensor_quantizer(t);
  if (!quantizer_is_per_tensor(q)) return print_channels(&printer, q);
  print_quantizer(&printer, q);
  return OK;
}

Status tensor_print(const Tensor *t, StrBuf *out) {
  return print_tensor(t, false, out);
}
Status tensor_print_short(const Tensor *t, StrBuf *out) {
  return print_tensor(t, true, out);
}
