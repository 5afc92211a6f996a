/* The inverses of views: *_scatter puts a source into a copy of a tensor at the place a view shows, *_backward into
 * zeros. */
#include "op/tensor/view.h"

#include "call/row.h"
#include "tensor/iterate.h"

/* Where to write: a view of `t`, found with the call's arguments. */
typedef Status PlaceFunction(const Call *c, const Tensor *t, Tensor **out);
typedef struct Place {
  PlaceFunction *in;
} Place;

/* Input `source` goes into output 0 at the row's place. */
static Status put(Call *c, uint32_t source) {
  const Place *place = call_with(c);
  const Tensor *from = call_tensor(c, source);
  Tensor *target;
  TRY(place->in(c, call_out(c, 0), &target));
  Status status = OK;
  if (!tensor_same_sizes(target, from))
    status = status_new(ERROR_RUNTIME,
                        "expected src to have a size equal to the slice of self. src size = %s, slice size = %s",
                        SIZES_TEXT(from->ndim, from->sizes), SIZES_TEXT(target->ndim, target->sizes));
  if (status == OK) status = tensor_copy(target, from, c->exec->work.threads);
  tensor_release(target);
  return status;
}

static Status kernel_scatter(Call *c) {
  TRY(tensor_copy(call_out(c, 0), call_tensor(c, 0), c->exec->work.threads));
  return put(c, 1);
}

static Status kernel_backward(Call *c) {
  tensor_fill_zero(call_out(c, 0));
  return put(c, 0);
}

/* Argument 1 is the sizes of the tensor the gradient is for. */
static Status shape_input_sizes(Call *c, TensorSpec *specs) {
  const int64_t *sizes;
  int ndim;
  TRY(view_ints(c, 1, &sizes, &ndim));
  shape_set(specs, (DType)call_tensor(c, 0)->dtype, ndim, sizes);
  return OK;
}

static Status place_select(const Call *c, const Tensor *t, Tensor **out) {
  return tensor_select(t, call_int(c, 2), call_int(c, 3), out);
}
static Status place_slice(const Call *c, const Tensor *t, Tensor **out) {
  return view_slice(c, 2, t, out);
}
static Status place_diagonal(const Call *c, const Tensor *t, Tensor **out) {
  return view_diagonal(t, call_int(c, 2), call_int(c, 3), call_int(c, 4), out);
}
static Status place_strided(const Call *c, const Tensor *t, Tensor **out) {
  return view_strided(c, 2, t, out);
}

/* The view's strides are those in self's memory, so the result lies as self does, gaps included. */
static Status kernel_as_strided_scatter(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  if (self->offset) return status_new(ERROR_UNSUPPORTED, "as_strided_scatter: a view of a part");
  if (!tensor_is_dense(self)) {
    Tensor *laid;
    TRY(tensor_check_writable(self));
    TRY(tensor_empty_strided((DType)self->dtype, self->ndim, self->sizes, self->strides, &laid));
    call_set_tensor(c, 0, laid);
  }
  return kernel_scatter(c);
}

/* ---- views in which an element may show several times: their gradients add up ---- */

/* to += from, elementwise over a line; both of the accumulator's dtype. */
static void add_line(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  bool complex = *(const bool *)argument;
  for (int64_t i = 0; i < n; i++) {
    char *to = data[0] + i * strides[0];
    const char *from = data[1] + i * strides[1];
    if (complex)
      *(complex128 *)to += *(const complex128 *)from;
    else
      *(double *)to += *(const double *)from;
  }
}

/* Adds `from` to what `to` shows; to may show elements several times, so one thread walks. */
static Status accumulate(Tensor *to, const Tensor *from) {
  Iterator it;
  bool complex = to->dtype == DTYPE_COMPLEX128;
  TRY(iterator_init(&it, 2, (const Tensor *const[]){to, from}));
  iterator_run(&it, 0, it.numel, add_line, &complex);
  return OK;
}

/* grad added into zeros of `sizes` at the row's place, in double precision, then converted into output 0. */
static Status add_into_zeros(Call *c, int ndim, const int64_t *sizes, Tensor **out_sums) {
  const Place *place = call_with(c);
  const Tensor *grad = call_tensor(c, 0);
  DType wide = dtype_is_complex((DType)grad->dtype) ? DTYPE_COMPLEX128 : DTYPE_FLOAT64;
  Tensor *sums = NULL, *target = NULL, *converted = NULL;
  Status status = tensor_empty(wide, ndim, sizes, &sums);
  if (status != OK) return status;
  tensor_fill_zero(sums);
  TRY_GOTO(tensor_to_dtype(grad, wide, &converted), done);
  TRY_GOTO(place->in(c, sums, &target), done);
  if (!tensor_same_sizes(target, converted)) {
    status = status_new(ERROR_RUNTIME, "the gradient's size is %s where %s was expected",
                        SIZES_TEXT(grad->ndim, grad->sizes), SIZES_TEXT(target->ndim, target->sizes));
    goto done;
  }
  TRY_GOTO(accumulate(target, converted), done);
done:
  tensor_release(converted);
  tensor_release(target);
  if (status == OK)
    *out_sums = sums;
  else
    tensor_release(sums);
  return status;
}

static Status place_unfold(const Call *c, const Tensor *zeros, Tensor **out) {
  return view_unfold(zeros, call_int(c, 2), call_int(c, 3), call_int(c, 4), out);
}

static Status kernel_unfold_backward(Call *c) {
  Tensor *out = call_out(c, 0), *sums;
  TRY(add_into_zeros(c, out->ndim, out->sizes, &sums));
  Status status = tensor_copy(out, sums, c->exec->work.threads);
  tensor_release(sums);
  return status;
}

/* _as_strided_backward(grad, self, size, stride, storage_offset): sums over the stretch of storage that self and the
 * view show. */
static Status extent(int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset, int64_t *io_end) {
  if (offset < 0) return status_new(ERROR_RUNTIME, "Tensor: invalid storage offset %lld", (long long)offset);
  for (int i = 0; i < ndim; i++) {
    int64_t reach;
    if (sizes[i] == 0) return OK;
    if (sizes[i] < 0)
      return status_new(ERROR_RUNTIME, "Trying to create tensor with negative dimension %lld: %s", (long long)sizes[i],
                        SIZES_TEXT(ndim, sizes));
    if (!int64_mul(sizes[i] - 1, strides[i], &reach) || !int64_add(offset, reach, &offset))
      return status_out_of_memory();
  }
  if (offset == INT64_MAX) return status_out_of_memory();
  if (offset + 1 > *io_end) *io_end = offset + 1;
  return OK;
}

static Status place_as_strided(const Call *c, const Tensor *zeros, Tensor **out) {
  const int64_t *sizes, *strides;
  int ndim, stride_count;
  TRY(view_ints(c, 2, &sizes, &ndim));
  TRY(view_ints(c, 3, &strides, &stride_count));
  return tensor_as_strided(zeros, ndim, sizes, strides, call_int_or(c, 4, call_tensor(c, 1)->offset), out);
}

static Status kernel_as_strided_backward(Call *c) {
  const Tensor *self = call_tensor(c, 1);
  const int64_t *sizes, *strides;
  int ndim, stride_count;
  int64_t end = 0;
  TRY(view_ints(c, 2, &sizes, &ndim));
  TRY(view_ints(c, 3, &strides, &stride_count));
  if (ndim != stride_count) return status_new(ERROR_RUNTIME, "mismatch in length of strides and shape");
  TRY(extent(self->ndim, self->sizes, self->strides, self->offset, &end));
  TRY(extent(ndim, sizes, strides, call_int_or(c, 4, self->offset), &end));
  Tensor *sums, *shown = NULL;
  TRY(add_into_zeros(c, 1, &end, &sums));
  Status status = tensor_as_strided(sums, self->ndim, self->sizes, self->strides, self->offset, &shown);
  if (status == OK) status = tensor_copy(call_out(c, 0), shown, c->exec->work.threads);
  tensor_release(shown);
  tensor_release(sums);
  return status;
}

static Status shape_as_strided_backward(Call *c, TensorSpec *specs) {
  const Tensor *self = call_tensor(c, 1);
  shape_set(specs, (DType)call_tensor(c, 0)->dtype, self->ndim, self->sizes);
  return OK;
}

#define SCATTER(text, function, place, gradient, ...)                                                                  \
  {                                                                                                                    \
    .schema = text, .kernel = function, .with = &(const Place){place}, .grad = gradient, .shape = shape_same_as_first, \
    .flags = OP_OUT, ##__VA_ARGS__                                                                                     \
  }
#define AS_STRIDED_SCATTER                                                                                             \
  "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> " \
  "Tensor"
#define BACKWARD(text, function, place, gradient)                                                                    \
  {                                                                                                                  \
    .schema = text, .kernel = function, .with = &(const Place){place}, .grad = gradient, .shape = shape_input_sizes, \
    .flags = OP_OUT                                                                                                  \
  }

static const OpRow rows[] = {
    SCATTER("aten::select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor", kernel_scatter, place_select,
            "self: torch.select_scatter(grad, torch.zeros_like(src), dim, index); src: grad.select(dim, index)"),
    SCATTER("aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
            "step=1) -> Tensor",
            kernel_scatter, place_slice,
            "self: torch.slice_scatter(grad, torch.zeros_like(src), dim, start, end, step); src: torch.slice(grad, "
            "dim, start, end, step)"),
    SCATTER("aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
            kernel_scatter, place_diagonal,
            "self: torch.diagonal_scatter(grad, torch.zeros_like(src), offset, dim1, dim2); src: grad.diagonal(offset, "
            "dim1, dim2)"),
    SCATTER(AS_STRIDED_SCATTER, kernel_as_strided_scatter, place_strided,
            "self: torch.as_strided_scatter(grad.contiguous(), torch.zeros_like(src), size, stride, storage_offset); "
            "src: torch.as_strided(grad.contiguous(), size, stride, storage_offset)"),
    /* 2.x gives self the gradient of what src replaced. */
    SCATTER(AS_STRIDED_SCATTER, kernel_as_strided_scatter, place_strided,
            "self: torch.as_strided_scatter(torch.zeros_like(grad, memory_format=torch.contiguous_format), "
            "torch.as_strided(grad.contiguous(), size, stride, storage_offset), size, stride, storage_offset); "
            "src: torch.as_strided(grad.contiguous(), size, stride, storage_offset)",
            .torch = 2),
    BACKWARD("aten::select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, int index) -> Tensor",
             kernel_backward, place_select, "grad_output: grad.select(dim, index)"),
    BACKWARD("aten::slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt "
             "step) -> Tensor",
             kernel_backward, place_slice, "grad_output: torch.slice(grad, dim, start, end, step)"),
    BACKWARD(
        "aten::diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
        kernel_backward, place_diagonal, "grad_output: grad.diagonal(offset, dim1, dim2)"),
    BACKWARD("aten::unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor",
             kernel_unfold_backward, place_unfold, "grad_in: grad.unfold(dim, size, step)"),
    {.schema = "aten::_as_strided_backward(Tensor grad_output, Tensor self, int[] size, int[] stride, int? "
               "storage_offset) -> Tensor",
     .kernel = kernel_as_strided_backward,
     .with = &(const Place){place_as_strided},
     .shape = shape_as_strided_backward,
     .grad = "grad_output: strided_of(grad, self.size(), self.stride(), self.storage_offset(), size, stride, "
             "storage_offset)"},
};
OP_TABLE(op_table_view_scatter, rows);
