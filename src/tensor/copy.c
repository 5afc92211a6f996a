/* Copying tensors: any strides, any dtypes; straight runs by memmove, transposed planes in blocks that fit in cache. */
#include <assert.h>

#include "base/copy_short.h"
#include "base/parallel.h"
#include "base/work_limit.h"
#include "tensor/device_class.h"
#include "tensor/iterate.h"
#include "tensor/layout.h"
#include "tensor/quantizer.h"
#include "tensor/sparse.h"
#include "tensor/storage_share.h"

enum { COPY_GRAIN = 32768, TRANSPOSE_BLOCK = 32 };

typedef struct Pair {
  DType to, from;
  int64_t to_item, from_item;
} Pair;

static void convert_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Pair *pair = argument;
  dtype_convert(pair->to, data[0], strides[0] / pair->to_item, pair->from, data[1], strides[1] / pair->from_item, n);
}

/* ---- transposed copies: the target runs along dimension 0, the source along dimension `d` ---- */
typedef struct Transpose {
  Iterator it;
  int d;
  int64_t item;
} Transpose;

#define TRANSPOSE_BLOCK_OF(type)                                                                                       \
  static void transpose_block_##type(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t rows, \
                                     int64_t columns) {                                                                \
    for (int64_t r = 0; r < rows; r++) {                                                                               \
      type *out = (type *)(to + r * to_stride);                                                                        \
      const char *in = from + r * (int64_t)sizeof(type);                                                               \
      for (int64_t c = 0; c < columns; c++) out[c] = *(const type *)(in + c * from_stride);                            \
    }                                                                                                                  \
  }
TRANSPOSE_BLOCK_OF(uint8_t)
TRANSPOSE_BLOCK_OF(uint16_t)
TRANSPOSE_BLOCK_OF(uint32_t)
TRANSPOSE_BLOCK_OF(uint64_t)
TRANSPOSE_BLOCK_OF(complex128)

/* Four by four elements of 4 bytes: rows become columns by two rounds of interleaving. */
typedef uint32_t Four __attribute__((vector_size(16), aligned(4), may_alias));
static inline Four low_halves(Four x, Four y) {
  return (Four){x[0], y[0], x[1], y[1]};
}
static inline Four high_halves(Four x, Four y) {
  return (Four){x[2], y[2], x[3], y[3]};
}
static void transpose_fours(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t rows,
                            int64_t columns) {
  assert(rows % 4 == 0 && columns % 4 == 0);
  for (int64_t r = 0; r < rows; r += 4)
    for (int64_t c = 0; c < columns; c += 4) {
      const char *in = from + c * from_stride + r * 4;
      char *out = to + r * to_stride + c * 4;
      Four x = *(const Four *)in, y = *(const Four *)(in + from_stride), z = *(const Four *)(in + 2 * from_stride),
           w = *(const Four *)(in + 3 * from_stride);
      Four even_low = low_halves(x, z), odd_low = low_halves(y, w), even_high = high_halves(x, z),
           odd_high = high_halves(y, w);
      *(Four *)out = low_halves(even_low, odd_low);
      *(Four *)(out + to_stride) = high_halves(even_low, odd_low);
      *(Four *)(out + 2 * to_stride) = low_halves(even_high, odd_high);
      *(Four *)(out + 3 * to_stride) = high_halves(even_high, odd_high);
    }
}
static void transpose_words(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t rows,
                            int64_t columns) {
  int64_t r = rows & ~3, c = columns & ~3;
  transpose_fours(to, to_stride, from, from_stride, r, c);
  transpose_block_uint32_t(to + c * 4, to_stride, from + c * from_stride, from_stride, r, columns - c);
  transpose_block_uint32_t(to + r * to_stride, to_stride, from + r * 4, from_stride, rows - r, columns);
}

static void transpose_block(int64_t item, char *to, int64_t to_stride, const char *from, int64_t from_stride,
                            int64_t rows, int64_t columns) {
  switch (item) {
    case 1:
      transpose_block_uint8_t(to, to_stride, from, from_stride, rows, columns);
      break;
    case 2:
      transpose_block_uint16_t(to, to_stride, from, from_stride, rows, columns);
      break;
    case 4:
      transpose_words(to, to_stride, from, from_stride, rows, columns);
      break;
    case 8:
      transpose_block_uint64_t(to, to_stride, from, from_stride, rows, columns);
      break;
    default:
      transpose_block_complex128(to, to_stride, from, from_stride, rows, columns);
      break;
  }
}

static int64_t minimum(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Rows that a band has: of few columns each, more of them, which lie side by side where they are read. */
static int64_t band_rows(int64_t columns) {
  return columns < TRANSPOSE_BLOCK ? TRANSPOSE_BLOCK * TRANSPOSE_BLOCK / columns : TRANSPOSE_BLOCK;
}

/* Bands [begin, end): a band is band_rows rows of one plane; planes are the dimensions other than 0 and d. */
static void transpose_bands(void *argument, int64_t begin, int64_t end) {
  const Transpose *transpose = argument;
  const Iterator *it = &transpose->it;
  int d = transpose->d;
  int64_t rows = it->sizes[d], columns = it->sizes[0], height = band_rows(columns),
          bands = (rows + height - 1) / height;
  for (int64_t b = begin; b < end; b++) {
    int64_t plane = b / bands, row = b % bands * height;
    char *to = it->data[0] + row * it->strides[0][d];
    const char *from = it->data[1] + row * it->strides[1][d];
    for (int i = 1; i < it->ndim; i++) {
      if (i == d) continue;
      int64_t at = plane % it->sizes[i];
      plane /= it->sizes[i];
      to += at * it->strides[0][i];
      from += at * it->strides[1][i];
    }
    for (int64_t c = 0; c < columns; c += TRANSPOSE_BLOCK)
      transpose_block(transpose->item, to + c * it->strides[0][0], it->strides[0][d], from + c * it->strides[1][0],
                      it->strides[1][0], minimum(height, rows - row), minimum(TRANSPOSE_BLOCK, columns - c));
  }
}

static bool copy_transposed(const Iterator *it, int64_t item, int threads) {
  if (it->strides[0][0] != item || it->strides[1][0] == item || it->strides[1][0] == 0) return false;
  int d = 1;
  while (d < it->ndim && it->strides[1][d] != item) d++;
  if (d == it->ndim || it->sizes[d] < 4) return false;
  int64_t height = band_rows(it->sizes[0]);
  int64_t bands = (it->sizes[d] + height - 1) / height * (it->numel / it->sizes[0] / it->sizes[d]);
  int64_t grain = COPY_GRAIN / (height * minimum(it->sizes[0], COPY_GRAIN / height));
  Transpose transpose = {*it, d, item};
  parallel_for(threads, bands, grain < 1 ? 1 : grain, transpose_bands, &transpose);
  return true;
}

/* ---- runs: the innermost elements lie side by side in both, as in the heads of attention ---- */
typedef struct Runs {
  Iterator it;
  int64_t bytes; /* of a run */
} Runs;

/* Runs [begin, end), line by line along dimension 1. */
static void copy_some_runs(void *argument, int64_t begin, int64_t end) {
  const Runs *runs = argument;
  const Iterator *it = &runs->it;
  int64_t to_step = it->strides[0][1], from_step = it->strides[1][1], count, done = 0;
  for (int64_t run = begin; run < end; run += count) {
    char *to = it->data[0];
    const char *from = it->data[1];
    int64_t rest = run;
    for (int i = 1; i < it->ndim; i++) {
      int64_t at = rest % it->sizes[i];
      rest /= it->sizes[i];
      to += at * it->strides[0][i];
      from += at * it->strides[1][i];
    }
    count = minimum(it->sizes[1] - run % it->sizes[1], end - run);
    if (work_is_over_after(&done, count * it->sizes[0])) return;
    for (int64_t k = 0; k < count; k++) copy_short(to + k * to_step, from + k * from_step, (size_t)runs->bytes);
  }
}

/* Long runs are left to what splits them. */
static bool copy_runs(const Iterator *it, int64_t item, int threads) {
  enum { MOST = 4096 };
  if (it->ndim < 2 || it->strides[0][0] != item || it->strides[1][0] != item || it->sizes[0] * item > MOST)
    return false;
  Runs runs = {*it, it->sizes[0] * item};
  parallel_for(threads, it->numel / it->sizes[0], COPY_GRAIN / it->sizes[0] + 1, copy_some_runs, &runs);
  return true;
}

/* ---- lazy conjugation and negation ---- */
typedef struct Resolve {
  DType dtype;
  bool conj, neg;
} Resolve;

static void resolve_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Resolve *resolve = argument;
  complex128 values[64];
  int64_t item = (int64_t)dtype_size(resolve->dtype);
  for (int64_t i = 0; i < n; i += 64) {
    int64_t count = minimum(64, n - i);
    char *at = data[0] + i * strides[0];
    dtype_convert(DTYPE_COMPLEX128, values, 1, resolve->dtype, at, strides[0] / item, count);
    for (int64_t j = 0; j < count; j++) {
      if (resolve->conj) values[j] = __builtin_conj(values[j]);
      if (resolve->neg) values[j] = -values[j];
    }
    dtype_convert(resolve->dtype, at, strides[0] / item, DTYPE_COMPLEX128, values, 1, count);
  }
}

/* Conjugates and negates the stored elements of t in place. */
static Status resolve_in_place(Tensor *t, bool conj, bool neg) {
  Iterator it;
  TRY(iterator_init(&it, 1, (const Tensor *const[]){t}));
  iterator_run(&it, 0, it.numel, resolve_run, &(Resolve){(DType)t->dtype, conj, neg});
  return OK;
}

static void copy_bytes(void *argument, int64_t begin, int64_t end) {
  char *const *data = argument;
  memmove(data[0] + begin, data[1] + begin, (size_t)(end - begin));
}

static Status copy_elements(Tensor *to, const Tensor *from, int threads) {
  assert(tensor_data(to) && tensor_data(from));
  Pair pair = {(DType)to->dtype, (DType)from->dtype, (int64_t)dtype_size((DType)to->dtype),
               (int64_t)dtype_size((DType)from->dtype)};
  Iterator it;
  TRY(iterator_init(&it, 2, (const Tensor *const[]){to, from}));
  if (pair.to == pair.from) {
    if (it.data[0] == it.data[1] && memcmp(it.strides[0], it.strides[1], (size_t)it.ndim * sizeof **it.strides) == 0)
      return OK;
    if (it.ndim == 1 && it.strides[0][0] == pair.to_item && it.strides[1][0] == pair.to_item) {
      bool apart =
          it.data[0] + it.numel * pair.to_item <= it.data[1] || it.data[1] + it.numel * pair.to_item <= it.data[0];
      if (apart)
        parallel_for(threads, it.numel * pair.to_item, COPY_GRAIN * 8, copy_bytes, it.data);
      else
        copy_bytes(it.data, 0, it.numel * pair.to_item);
      return OK;
    }
    if (copy_transposed(&it, pair.to_item, threads) || copy_runs(&it, pair.to_item, threads)) return OK;
  }
  iterator_run_parallel(&it, threads, COPY_GRAIN, convert_run, &pair);
  return OK;
}

/* Between quantized tensors the integers and their quantizer go over; numbers are quantized as the target says. */
static Status copy_quantized(Tensor *to, const Tensor *from, int threads) {
  if (to->dtype == from->dtype) {
    if (tensor_is_quantized(from)) {
      const Quantizer *q = tensor_quantizer(from);
      TRY(quantizer_check_fits(q, (DType)to->dtype, to->ndim, to->sizes));
      tensor_set_quantizer(to, quantizer_retain(q));
    }
    return to->numel ? copy_elements(to, from, threads) : OK;
  }
  if (dtype_is_quantized((DType)from->dtype))
    return status_new(ERROR_RUNTIME,
                      "Copying from quantized Tensor to non-quantized Tensor is not allowed, please use "
                      "dequantize to get a float Tensor from a quantized Tensor");
  if (!tensor_is_quantized(to)) return status_new(ERROR_RUNTIME, "the target of a copy has no quantizer");
  return tensor_quantize_into(to, from);
}

/* A copy of the values, with the indices of `from`. */
static Status clone_sparse(const Tensor *from, DType dtype, Tensor **out) {
  const Tensor *old = tensor_sparse_parts(from)->values;
  Tensor *values;
  TRY(tensor_empty(dtype, old->ndim, old->sizes, &values));
  Status status = tensor_copy(values, old, 1);
  if (!status) status = tensor_with_values(from, values, out);
  tensor_release(values);
  return status;
}

static Status copy_sparse(Tensor *to, const Tensor *from) {
  Tensor *copy;
  if (!tensor_same_sizes(to, from))
    return status_new(ERROR_RUNTIME, "a sparse tensor of sizes %s can't take those of %s",
                      SIZES_TEXT(to->ndim, to->sizes), SIZES_TEXT(from->ndim, from->sizes));
  if (to == from) return OK;
  TRY(clone_sparse(from, (DType)to->dtype, &copy));
  tensor_set_sparse_parts(to, copy);
  tensor_release(copy);
  return OK;
}

Status tensor_copy(Tensor *to, const Tensor *from, int threads) {
  if (!tensor_is_defined(to) || !tensor_is_defined(from))
    return status_new(ERROR_RUNTIME, "can't copy an undefined tensor");
  if (tensor_is_sparse(to) && tensor_is_sparse(from)) return copy_sparse(to, from);
  if ((to->flags | from->flags) & (TENSOR_SPARSE | TENSOR_OPAQUE))
    return status_new(ERROR_UNSUPPORTED, "copying between strided and other layouts");
  if (!tensor_same_sizes(to, from)) {
    int ndim;
    int64_t sizes[TENSOR_MAX_DIMS];
    TRY(sizes_broadcast(to->ndim, to->sizes, from->ndim, from->sizes, &ndim, sizes));
    if (ndim != to->ndim || memcmp(sizes, to->sizes, (size_t)ndim * sizeof *sizes) != 0)
      return status_new(ERROR_RUNTIME, "output with shape %s doesn't match the broadcast shape %s",
                        SIZES_TEXT(to->ndim, to->sizes), SIZES_TEXT(ndim, sizes));
  }
  TRY(tensor_check_writable(to));
  TRY(tensor_check_overlap(to, from));
  TRY(storage_own(to->storage));
  TRY(tensor_restore(from));
  if (dtype_is_quantized((DType)to->dtype) || dtype_is_quantized((DType)from->dtype))
    return copy_quantized(to, from, threads);
  if (to->numel == 0 || ((to->flags | from->flags) & TENSOR_META)) return OK;
  if ((to->flags | from->flags) & TENSOR_NOT_CPU) return device_copy(to, from, threads);
  TRY(copy_elements(to, from, threads));
  bool from_conj = (from->flags & TENSOR_CONJ) && dtype_is_complex((DType)from->dtype);
  bool conj = dtype_is_complex((DType)to->dtype) && from_conj != !!(to->flags & TENSOR_CONJ);
  bool neg = !(from->flags & TENSOR_NEG) != !(to->flags & TENSOR_NEG);
  return conj || neg ? resolve_in_place(to, conj, neg) : OK;
}

static Status copy_into(const Tensor *from, Tensor *fresh, Tensor **out) {
  Status status = tensor_copy(fresh, from, 1);
  if (status) {
    tensor_release(fresh);
    return status;
  }
  *out = fresh;
  return OK;
}

Status tensor_contiguous(const Tensor *t, Tensor **out) {
  *out = NULL;
  if (t->contiguous && !(t->flags & (TENSOR_CONJ | TENSOR_NEG))) return *out = tensor_retain(t), OK;
  TensorSpec spec;
  Tensor *fresh;
  tensor_spec_of(t, &spec);
  spec.has_strides = false;
  TRY(tensor_new(&spec, &fresh));
  return copy_into(t, fresh, out);
}

Status tensor_clone(const Tensor *t, Tensor **out) {
  *out = NULL;
  if (!tensor_is_defined(t)) return *out = tensor_retain(t), OK;
  if (tensor_is_sparse(t)) return clone_sparse(t, (DType)t->dtype, out);
  Tensor *fresh;
  TRY(tensor_empty_like(t, &fresh));
  return copy_into(t, fresh, out);
}

Status tensor_to_dtype(const Tensor *t, DType dtype, Tensor **out) {
  *out = NULL;
  if (t->dtype == dtype) return *out = tensor_retain(t), OK;
  if (tensor_is_sparse(t)) return clone_sparse(t, dtype, out);
  TensorSpec spec;
  Tensor *fresh;
  tensor_spec_of(t, &spec);
  spec.dtype = dtype;
  layout_preserve(t, &spec);
  TRY(tensor_new(&spec, &fresh));
  return copy_into(t, fresh, out);
}

static void zero_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  size_t item = *(const size_t *)argument;
  if (strides[0] == (int64_t)item) {
    memset(data[0], 0, (size_t)n * item);
    return;
  }
  for (int64_t i = 0; i < n; i++) memset(data[0] + i * strides[0], 0, item);
}

void tensor_fill_zero(Tensor *t) {
  if (t->numel == 0 || !t->storage) return;
  Iterator it;
  size_t item = dtype_size((DType)t->dtype);
  status_free(iterator_init(&it, 1, (const Tensor *const[]){t})); /* one operand always fits */
  iterator_run(&it, 0, it.numel, zero_run, &item);
}

Status tensor_zero(Tensor *t) {
  static const complex128 zero;
  TRY(storage_own(t->storage));
  if (t->flags & TENSOR_NOT_CPU) return device_fill(t, &zero);
  tensor_fill_zero(t);
  return OK;
}
