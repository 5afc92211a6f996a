/* im2col and col2im (torch.nn.functional.unfold and fold): sliding blocks of images as columns, and back, adding up. */
#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/row.h"

typedef struct Blocks {
  int64_t batch, channels, height, width, blocks_high, blocks_wide;
  int64_t kernel[2], dilation[2], padding[2], stride[2];
} Blocks;

/* label: what PyTorch says before _height and _width */
static Status read_pair(const Call *c, uint32_t i, const char *name, const char *label, int64_t least, int64_t out[2]) {
  size_t count;
  const int64_t *values = call_ints(c, i, &count);
  if (count != 2) return status_new(ERROR_RUNTIME, "It is expected %s equals to 2, but got size %zu", name, count);
  for (int k = 0; k < 2; k++) {
    if (values[k] < least)
      return status_new(ERROR_RUNTIME, "%s should be %s, but got %s_height: %lld %s_width: %lld", name,
                        least ? "greater than zero" : "non-negative", label, (long long)values[0], label,
                        (long long)values[1]);
    if (values[k] > (1ll << 31)) return status_new(ERROR_RUNTIME, "%s is too large", name);
    out[k] = values[k];
  }
  return OK;
}

static Status read_blocks(const Call *c, uint32_t first, int64_t height, int64_t width, Blocks *b) {
  TRY(read_pair(c, first, "kernel size", "kernel", 1, b->kernel));
  TRY(read_pair(c, first + 1, "dilation", "dilation", 1, b->dilation));
  TRY(read_pair(c, first + 2, "padding", "pad", 0, b->padding));
  TRY(read_pair(c, first + 3, "stride", "stride", 1, b->stride));
  b->height = height;
  b->width = width;
  if (height > INT64_MAX / 4 || width > INT64_MAX / 4) return status_out_of_memory();
  int64_t high = height + 2 * b->padding[0] - b->dilation[0] * (b->kernel[0] - 1) - 1;
  int64_t wide = width + 2 * b->padding[1] - b->dilation[1] * (b->kernel[1] - 1) - 1;
  b->blocks_high = high < 0 ? 0 : high / b->stride[0] + 1;
  b->blocks_wide = wide < 0 ? 0 : wide / b->stride[1] + 1;
  if (b->blocks_high < 1 || b->blocks_wide < 1)
    return status_new(
        ERROR_RUNTIME,
        "Given input with spatial size (%lld, %lld), kernel_size=(%lld, %lld), dilation=(%lld, %lld), padding=(%lld, "
        "%lld), "
        "calculated shape of the array of sliding blocks as (%lld, %lld), which is too small (non-positive)",
        (long long)height, (long long)width, (long long)b->kernel[0], (long long)b->kernel[1],
        (long long)b->dilation[0], (long long)b->dilation[1], (long long)b->padding[0], (long long)b->padding[1],
        (long long)b->blocks_high, (long long)b->blocks_wide);
  return OK;
}

typedef struct Job {
  const Blocks *blocks;
  char *image, *columns; /* row-major */
  DType dtype;
} Job;

/* Of a row of blocks those that show pixels of the row with their column kx, and the pixel of the first. */
typedef struct Shown {
  int64_t first, count, pixel;
} Shown;
static Shown shown_blocks(const Blocks *b, int64_t kx) {
  int64_t offset = kx * b->dilation[1] - b->padding[1], stride = b->stride[1];
  int64_t first = offset < 0 ? (stride - 1 - offset) / stride : 0,
          limit = offset < b->width ? (b->width - offset + stride - 1) / stride : 0;
  if (limit > b->blocks_wide) limit = b->blocks_wide;
  return first < limit ? (Shown){first, limit - first, first * stride + offset} : (Shown){0};
}

/* What becomes of a row of blocks, for one element of the kernel. pixels: those of the row that it shows, from the
 * first on; count 0: it shows none. */
typedef void RowBody(const Job *job, char *columns, char *pixels, int64_t first, int64_t count);

static void for_each_row(const Job *job, int64_t begin, int64_t end, RowBody *body) {
  const Blocks *b = job->blocks;
  int64_t done = 0, item = (int64_t)dtype_size(job->dtype), row_bytes = b->blocks_wide * item;
  char *columns = job->columns + begin * b->kernel[0] * b->kernel[1] * b->blocks_high * row_bytes;
  for (int64_t plane = begin; plane < end; plane++)
    for (int64_t ky = 0; ky < b->kernel[0]; ky++)
      for (int64_t kx = 0; kx < b->kernel[1]; kx++) {
        Shown shown = shown_blocks(b, kx);
        for (int64_t y = 0; y < b->blocks_high; y++, columns += row_bytes) {
          int64_t row = y * b->stride[0] - b->padding[0] + ky * b->dilation[0];
          bool inside = row >= 0 && row < b->height && shown.count;
          if (work_is_over_after(&done, b->blocks_wide)) return;
          if (inside)
            body(job, columns, job->image + ((plane * b->height + row) * b->width + shown.pixel) * item, shown.first,
                 shown.count);
          else
            body(job, columns, job->image, 0, 0);
        }
      }
}

static void copy_row(const Job *job, char *columns, char *pixels, int64_t first, int64_t count) {
  int64_t item = (int64_t)dtype_size(job->dtype), after = first + count;
  memset(columns, 0, (size_t)(first * item));
  dtype_convert(job->dtype, columns + first * item, 1, job->dtype, pixels, job->blocks->stride[1], count);
  memset(columns + after * item, 0, (size_t)((job->blocks->blocks_wide - after) * item));
}
static void to_columns(void *argument, int64_t begin, int64_t end) {
  for_each_row(argument, begin, end, copy_row);
}

#define ADD_ROW(type)                                                                                     \
  static void add_row_##type(const Job *job, char *columns, char *pixels, int64_t first, int64_t count) { \
    type *restrict sum = (type *)pixels;                                                                  \
    const type *restrict x = (const type *)columns + first;                                               \
    int64_t stride = job->blocks->stride[1];                                                              \
    if (stride == 1)                                                                                      \
      for (int64_t i = 0; i < count; i++) sum[i] += x[i];                                                 \
    else                                                                                                  \
      for (int64_t i = 0; i < count; i++) sum[i * stride] += x[i];                                        \
  }
ADD_ROW(float)
ADD_ROW(double)
ADD_ROW(complex128)
static void to_images(void *argument, int64_t begin, int64_t end) {
  const Job *job = argument;
  RowBody *add_row = job->dtype == DTYPE_FLOAT32   ? add_row_float
                     : job->dtype == DTYPE_FLOAT64 ? add_row_double
                                                   : add_row_complex128;
  for_each_row(job, begin, end, add_row);
}

static Status im2col_blocks(const Call *c, Blocks *b) {
  const Tensor *self = call_tensor(c, 0);
  int d = self->ndim;
  bool valid = (d == 3 && self->sizes[0] && self->sizes[1] && self->sizes[2]) ||
               (d == 4 && self->sizes[1] && self->sizes[2] && self->sizes[3]);
  if (!valid)
    return status_new(ERROR_RUNTIME,
                      "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
                      "for input, but got: %s",
                      SIZES_TEXT(self->ndim, self->sizes));
  TRY(read_blocks(c, 1, self->sizes[d - 2], self->sizes[d - 1], b));
  b->batch = d == 4 ? self->sizes[0] : 1;
  b->channels = self->sizes[d - 3];
  return OK;
}

static Status shape_im2col(Call *c, TensorSpec *specs) {
  const Tensor *self = call_tensor(c, 0);
  Blocks b;
  TRY(im2col_blocks(c, &b));
  int64_t rows, columns;
  if (!int64_mul(b.channels, b.kernel[0], &rows) || !int64_mul(rows, b.kernel[1], &rows) ||
      !int64_mul(b.blocks_high, b.blocks_wide, &columns))
    return status_out_of_memory();
  if (self->ndim == 4)
    shape_set(specs, (DType)self->dtype, 3, (const int64_t[]){b.batch, rows, columns});
  else
    shape_set(specs, (DType)self->dtype, 2, (const int64_t[]){rows, columns});
  return OK;
}

static Status kernel_im2col(Call *c) {
  Tensor *out = call_out(c, 0), *self;
  Blocks b;
  TRY(im2col_blocks(c, &b));
  if (out->numel == 0) return OK;
  TRY(tensor_contiguous(call_tensor(c, 0), &self));
  Job job = {&b, tensor_data(self), tensor_data(out), (DType)out->dtype};
  parallel_for(c->exec->work.threads, b.batch * b.channels, 1, to_columns, &job);
  tensor_release(self);
  return OK;
}

static Status col2im_blocks(const Call *c, Blocks *b) {
  const Tensor *self = call_tensor(c, 0);
  int64_t size[2];
  int d = self->ndim;
  TRY(read_pair(c, 1, "output_size", "output", 1, size));
  bool valid = (d == 2 && self->sizes[0] && self->sizes[1]) || (d == 3 && self->sizes[1] && self->sizes[2]);
  if (!valid)
    return status_new(ERROR_RUNTIME,
                      "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
                      "dimensions for input, but got: %s",
                      SIZES_TEXT(self->ndim, self->sizes));
  TRY(read_blocks(c, 2, size[0], size[1], b));
  b->batch = d == 3 ? self->sizes[0] : 1;
  int64_t rows = self->sizes[d - 2], kernel = b->kernel[0] * b->kernel[1];
  if (rows % kernel)
    return status_new(ERROR_RUNTIME,
                      "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
                      "input.size(1)=%lld and "
                      "kernel_size=(%lld, %lld).",
                      (long long)rows, (long long)b->kernel[0], (long long)b->kernel[1]);
  b->channels = rows / kernel;
  if (self->sizes[d - 1] != b->blocks_high * b->blocks_wide)
    return status_new(ERROR_RUNTIME,
                      "Given output_size=(%lld, %lld), kernel_size=(%lld, %lld), dilation=(%lld, %lld), padding=(%lld, "
                      "%lld), stride=(%lld, %lld), "
                      "expected size of input's dimension 2 to match the calculated number of sliding blocks %lld * "
                      "%lld = %lld, but got input.size(2)=%lld.",
                      (long long)size[0], (long long)size[1], (long long)b->kernel[0], (long long)b->kernel[1],
                      (long long)b->dilation[0], (long long)b->dilation[1], (long long)b->padding[0],
                      (long long)b->padding[1], (long long)b->stride[0], (long long)b->stride[1],
                      (long long)b->blocks_high, (long long)b->blocks_wide,
                      (long long)(b->blocks_high * b->blocks_wide), (long long)self->sizes[d - 1]);
  return OK;
}

static Status shape_col2im(Call *c, TensorSpec *specs) {
  const Tensor *self = call_tensor(c, 0);
  Blocks b;
  TRY(col2im_blocks(c, &b));
  if (self->ndim == 3)
    shape_set(specs, (DType)self->dtype, 4, (const int64_t[]){b.batch, b.channels, b.height, b.width});
  else
    shape_set(specs, (DType)self->dtype, 3, (const int64_t[]){b.channels, b.height, b.width});
  return OK;
}

static Status kernel_col2im(Call *c) {
  Tensor *out = call_out(c, 0), *wide = NULL, *columns = NULL, *sums = NULL;
  Blocks b;
  TRY(col2im_blocks(c, &b));
  DType dtype = (DType)out->dtype;
  if (dtype != DTYPE_FLOAT32) dtype = dtype_is_complex(dtype) ? DTYPE_COMPLEX128 : DTYPE_FLOAT64;
  bool direct = dtype == out->dtype && out->contiguous && call_tensor(c, 0)->storage != out->storage;
  Status status = OK;
  if (direct)
    sums = tensor_retain(out);
  else
    TRY(tensor_empty(dtype, out->ndim, out->sizes, &sums));
  tensor_fill_zero(sums);
  TRY_GOTO(tensor_to_dtype(call_tensor(c, 0), dtype, &wide), done);
  TRY_GOTO(tensor_contiguous(wide, &columns), done);
  if (out->numel) {
    Job job = {&b, tensor_data(sums), tensor_data(columns), dtype};
    parallel_for(c->exec->work.threads, b.batch * b.channels, 1, to_images, &job);
  }
  if (!direct) status = tensor_copy(out, sums, c->exec->work.threads);
done:
  tensor_release(wide);
  tensor_release(columns);
  tensor_release(sums);
  return status;
}

#define IM2COL(kinds, ...)                                                                                      \
  {                                                                                                             \
    .schema =                                                                                                   \
        "aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> "     \
        "Tensor",                                                                                               \
    .dtypes = "im2col_out_cpu: " kinds, .kernel = kernel_im2col, .shape = shape_im2col,                         \
    .grad = "self: torch.col2im(grad, [self.size(-2), self.size(-1)], kernel_size, dilation, padding, stride)", \
    .flags = OP_OUT, __VA_ARGS__                                                                                \
  }
#define COL2IM(kinds, ...)                                                                                       \
  {                                                                                                              \
    .schema =                                                                                                    \
        "aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, " \
        "int[2] stride) -> Tensor",                                                                              \
    .dtypes = "col2im_out_cpu: " kinds, .kernel = kernel_col2im, .shape = shape_col2im,                          \
    .grad = "self: torch.im2col(grad, kernel_size, dilation, padding, stride)", .flags = OP_OUT, __VA_ARGS__     \
  }
static const OpRow rows[] = {
    IM2COL("floating complex", .torch = 0),
    IM2COL("bool floating complex", .torch = 2),
    COL2IM("floating complex", .torch = 0),
    COL2IM("bool floating complex", .torch = 2),
};
OP_TABLE(op_table_im2col, rows);
