/* torch.tensor and torch.as_tensor of Python numbers and nested lists. Values take the default dtype of their kind
 * first, then the dtype asked for, as TorchScript has it. */
#include <assert.h>

#include "call/options.h"
#include "call/row.h"

/* The kind of number at the bottom of nested lists; NULL for what is no number. */
static const Type *innermost(const List *list) {
  const Type *type = list->element;
  while (type && type->kind == TYPE_LIST) type = type->elements[0];
  return type;
}

static Status number_dtype(const Type *type, bool is_empty, DType *out) {
  switch (type ? type->kind : TYPE_NONE) {
    case TYPE_INT:
      return *out = DTYPE_INT64, OK;
    case TYPE_FLOAT:
      return *out = dtype_default(), OK;
    case TYPE_BOOL:
      return *out = DTYPE_BOOL, OK;
    case TYPE_COMPLEX:
      return *out = dtype_default_complex(), OK;
    default:
      break;
  }
  StrBuf text = {0};
  if (type) type_print_annotation(type, &text);
  bool empty_tensors = is_empty && type && type->kind == TYPE_TENSOR;
  Status status = status_new(
      ERROR_RUNTIME, "Input must be of ints, floats, or bools, got %s%s", text.data ? text.data : "None",
      empty_tensors
          ? "\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty "
            "list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list for "
            "Python 2)"
          : "");
  strbuf_dispose(&text);
  return status;
}

/* Sizes by the first element of each level. */
static Status list_sizes(const List *list, int *out_ndim, int64_t *sizes) {
  int ndim = 0;
  for (;;) {
    if (ndim == TENSOR_MAX_DIMS)
      return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
    sizes[ndim++] = (int64_t)list->length;
    if (list->length == 0 || list->kind != LIST_VALUES || list->values[0].tag != TAG_LIST) break;
    list = list->values[0].list;
  }
  *out_ndim = ndim;
  return OK;
}

static Status store_list(const List *list, int dim, const Tensor *t, char **at) {
  assert(dim >= 0 && dim < t->ndim);
  if ((int64_t)list->length != t->sizes[dim])
    return status_new(ERROR_RUNTIME, "Expected sequence of length %lld at dim %d (got %zu)", (long long)t->sizes[dim],
                      dim, list->length);
  DType dtype = (DType)t->dtype;
  size_t item = dtype_size(dtype);
  if (dim + 1 < t->ndim) {
    for (size_t i = 0; i < list->length; i++) {
      if (list->kind != LIST_VALUES || list->values[i].tag != TAG_LIST)
        return status_new(ERROR_RUNTIME, "lists of different depths");
      TRY(store_list(list->values[i].list, dim + 1, t, at));
    }
    return OK;
  }
  switch ((ListKind)list->kind) {
    case LIST_INTS:
      dtype_convert(dtype, *at, 1, DTYPE_INT64, list->ints, 1, (int64_t)list->length);
      break;
    case LIST_FLOATS:
      dtype_convert(dtype, *at, 1, DTYPE_FLOAT64, list->floats, 1, (int64_t)list->length);
      break;
    case LIST_BOOLS:
      dtype_convert(dtype, *at, 1, DTYPE_BOOL, list->bools, 1, (int64_t)list->length);
      break;
    case LIST_VALUES:
      for (size_t i = 0; i < list->length; i++) {
        if (!ivalue_is_number(list->values[i])) return status_new(ERROR_RUNTIME, "lists of different depths");
        complex128 value = ivalue_to_complex(list->values[i]);
        dtype_convert(dtype, *at + i * item, 1, DTYPE_COMPLEX128, &value, 1, 1);
      }
      break;
  }
  *at += list->length * item;
  return OK;
}

static Status from_list(const List *list, Tensor **out) {
  int64_t sizes[TENSOR_MAX_DIMS];
  int ndim = 0;
  DType dtype = DTYPE_NONE;
  TRY(list_sizes(list, &ndim, sizes));
  TRY(number_dtype(innermost(list), ndim == 1 && sizes[0] == 0, &dtype));
  TRY(tensor_empty(dtype, ndim, sizes, out));
  if ((*out)->numel == 0) return OK;
  char *at = tensor_data(*out);
  Status status = store_list(list, 0, *out, &at);
  if (status) tensor_release(*out), *out = NULL;
  return status;
}

static Status from_number(IValue number, Tensor **out) {
  TRY(tensor_empty(scalar_default_dtype(number), 0, NULL, out));
  Status status = tensor_fill_scalar(*out, number);
  if (status) tensor_release(*out), *out = NULL;
  return status;
}

/* `t`, which it takes over, as a tensor of the device. */
static Status send(Tensor *t, Device device, Tensor **out) {
  TensorSpec spec;
  tensor_spec_of(t, &spec);
  spec.device = device;
  Status status = tensor_new(&spec, out);
  if (!status && (status = tensor_copy(*out, t, 1))) {
    tensor_release(*out);
    *out = NULL;
  }
  tensor_release(t);
  return status;
}

/* (data, dtype, device[, requires_grad]) */
static Status kernel_tensor(Call *c) {
  bool requires_grad = c->input_count > 3 && call_bool(c, 3);
  IValue data = call_value(c, 0);
  Device device = DEVICE_CPU_0;
  Tensor *t, *converted;
  if (!call_is_none(c, 2)) {
    TRY(options_device(c, 2, &device));
    if (device.type == DEVICE_META)
      return status_new(ERROR_RUNTIME, "torch.tensor on device %s is not supported", device_type_name(device.type));
  }
  TRY(data.tag == TAG_LIST ? from_list(data.list, &t) : from_number(data, &t));
  DType dtype = call_dtype_or(c, 1, (DType)t->dtype);
  Status status = tensor_to_dtype(t, dtype, &converted);
  tensor_release(t);
  TRY(status);
  if (requires_grad && !dtype_is_floating(dtype) && !dtype_is_complex(dtype)) {
    tensor_release(converted);
    return status_new(ERROR_RUNTIME, "Only Tensors of floating point and complex dtype can require gradients");
  }
  if (device.type != DEVICE_CPU) TRY(send(converted, device, &converted));
  if (requires_grad) converted->flags |= TENSOR_REQUIRES_GRAD;
  call_set_tensor(c, 0, converted);
  return OK;
}

/* Of a tensor: itself, converted when asked. */
static Status kernel_as_tensor_tensor(Call *c) {
  static OpRef to = OP_REF("aten::to", "prim_Device");
  IValue out = IVALUE_NONE;
  TRY(op_call(c->exec, &to, 5,
              (IValue[]){call_value(c, 0), call_value(c, 2), call_value(c, 1), ivalue_bool(false), ivalue_bool(false)},
              1, &out));
  call_set(c, 0, out);
  return OK;
}

#define TENSOR_ROW(overload, argument)                                                                 \
  {                                                                                                    \
    .schema = "aten::tensor" overload "(" argument                                                     \
              ", *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", \
    .kernel = kernel_tensor, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_DEVICES | OP_ACCEPT_LIMITED    \
  }
#define AS_TENSOR_ROW(overload, argument)                                                                            \
  {                                                                                                                  \
    .schema = "aten::as_tensor" overload "(" argument ", *, ScalarType? dtype=None, Device? device=None) -> Tensor", \
    .kernel = kernel_tensor, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_DEVICES | OP_ACCEPT_LIMITED                  \
  }

static const OpRow rows[] = {
    TENSOR_ROW(".float", "float t"),
    TENSOR_ROW(".int", "int t"),
    TENSOR_ROW(".bool", "bool t"),
    TENSOR_ROW(".complex", "complex t"),
    TENSOR_ROW("", "t[] data"),
    {.schema = "aten::as_tensor(Tensor(a) data, *, ScalarType? dtype=None, Device? device=None) -> Tensor(b|a)",
     .kernel = kernel_as_tensor_tensor,
     .flags = OP_COMPOSITE | OP_ACCEPT_ANY},
    AS_TENSOR_ROW(".float", "float t"),
    AS_TENSOR_ROW(".int", "int t"),
    AS_TENSOR_ROW(".bool", "bool t"),
    AS_TENSOR_ROW(".complex", "complex t"),
    AS_TENSOR_ROW(".list", "t[] data"),
};

OP_TABLE(op_table_literal, rows);
