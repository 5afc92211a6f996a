/* What is known of tensors: learning, merging, comparing. */
#include "type/tensor_type.h"

void tensor_info_of(const Tensor *t, bool grad_enabled, TensorInfo *out) {
  tensor_info_init(out);
  if (!tensor_is_defined(t)) {
    out->undefined = 1;
    return;
  }
  if (t->flags & TENSOR_NOT_DESCRIBED) return;
  out->dtype = t->dtype;
  Device device = tensor_device(t);
  out->device_type = device.type;
  out->device_index = device.index;
  out->ndim = t->ndim;
  out->has_sizes = out->has_strides = true;
  out->requires_grad = grad_enabled && tensor_records(t);
  memcpy(out->sizes, t->sizes, t->ndim * sizeof *t->sizes);
  memcpy(out->strides, t->strides, t->ndim * sizeof *t->strides);
}

void tensor_info_of_spec(const TensorSpec *spec, TensorInfo *out) {
  tensor_info_init(out);
  if (spec->flags & TENSOR_UNDEFINED) {
    out->undefined = 1;
    return;
  }
  if (spec->flags & TENSOR_WRAPPED_NUMBER) return;
  out->dtype = spec->dtype == DTYPE_NONE ? -1 : (int)spec->dtype;
  out->device_type = spec->device.type;
  out->device_index = spec->device.index;
  out->ndim = spec->ndim;
  out->has_sizes = out->has_strides = true;
  memcpy(out->sizes, spec->sizes, (size_t)spec->ndim * sizeof *spec->sizes);
  if (spec->has_strides)
    memcpy(out->strides, spec->strides, (size_t)spec->ndim * sizeof *spec->strides);
  else
    strides_contiguous(spec->ndim, spec->sizes, out->strides);
}

void tensor_info_to_spec(const TensorInfo *info, TensorSpec *out) {
  out->dtype = (DType)info->dtype;
  out->device =
      info->device_type >= 0 ? (Device){(int16_t)info->device_type, (int16_t)info->device_index} : DEVICE_CPU_0;
  out->flags = 0;
  out->ndim = info->ndim;
  out->has_strides = info->has_strides;
  memcpy(out->sizes, info->sizes, (size_t)info->ndim * sizeof *info->sizes);
  for (int i = 0; i < info->ndim && out->has_strides; i++) {
    out->strides[i] = info->strides[i];
    if (info->strides[i] < 0) out->has_strides = false;
  }
}

static int common(int a, int b) {
  return a == b ? a : -1;
}

void tensor_info_merge(TensorInfo *info, const TensorInfo *other) {
  info->undefined = common(info->undefined, other->undefined);
  info->dtype = common(info->dtype, other->dtype);
  if (info->device_type != other->device_type || info->device_index != other->device_index)
    info->device_type = info->device_index = -1;
  info->requires_grad = common(info->requires_grad, other->requires_grad);
  info->ndim = common(info->ndim, other->ndim);
  info->has_sizes = info->ndim >= 0 && info->has_sizes && other->has_sizes;
  info->has_strides = info->ndim >= 0 && info->has_strides && other->has_strides;
  for (int i = 0; i < info->ndim; i++) {
    if (info->has_sizes && info->sizes[i] != other->sizes[i]) info->sizes[i] = -1;
    if (info->has_strides && info->strides[i] != other->strides[i]) info->strides[i] = -1;
  }
}

bool tensor_info_is_known(const TensorInfo *info) {
  return info->dtype >= 0 || info->device_type >= 0 || info->ndim >= 0 || info->requires_grad >= 0 ||
         info->undefined >= 0;
}

static bool join(int *a, int b) {
  if (*a < 0) *a = b;
  return b < 0 || *a == b;
}

static bool join_dims(int ndim, bool *has, int64_t *dims, bool other_has, const int64_t *other) {
  if (ndim < 0 || !other_has) return true;
  for (int i = 0; i < ndim; i++) {
    if (!*has || dims[i] < 0)
      dims[i] = other[i];
    else if (other[i] >= 0 && other[i] != dims[i])
      return false;
  }
  *has = true;
  return true;
}

bool tensor_info_intersect(TensorInfo *info, const TensorInfo *other) {
  if ((info->undefined == 1) != (other->undefined == 1) && tensor_info_is_known(info) && tensor_info_is_known(other))
    return false;
  return join(&info->undefined, other->undefined) && join(&info->dtype, other->dtype) &&
         join(&info->device_type, other->device_type) && join(&info->device_index, other->device_index) &&
         join(&info->requires_grad, other->requires_grad) && join(&info->ndim, other->ndim) &&
         join_dims(info->ndim, &info->has_sizes, info->sizes, other->has_sizes, other->sizes) &&
         join_dims(info->ndim, &info->has_strides, info->strides, other->has_strides, other->strides);
}

static bool implied(int strong, int weak) {
  return weak < 0 || strong == weak;
}

static bool dims_implied(int ndim, bool has_strong, const int64_t *strong, bool has_weak, const int64_t *weak) {
  for (int i = 0; i < ndim && has_weak; i++)
    if (weak[i] >= 0 && (!has_strong || strong[i] != weak[i])) return false;
  return true;
}

bool tensor_info_implies(const TensorInfo *strong, const TensorInfo *weak) {
  return implied(strong->undefined, weak->undefined) && implied(strong->dtype, weak->dtype) &&
         implied(strong->device_type, weak->device_type) && implied(strong->requires_grad, weak->requires_grad) &&
         implied(strong->ndim, weak->ndim) &&
         dims_implied(weak->ndim, strong->has_sizes, strong->sizes, weak->has_sizes, weak->sizes) &&
         dims_implied(weak->ndim, strong->has_strides, strong->strides, weak->has_strides, weak->strides);
}

bool tensor_info_equal(const TensorInfo *a, const TensorInfo *b) {
  return tensor_info_implies(a, b) && tensor_info_implies(b, a);
}

bool tensor_info_has_sizes(const TensorInfo *info) {
  if (info->ndim < 0 || (info->ndim && !info->has_sizes)) return false;
  for (int i = 0; i < info->ndim; i++)
    if (info->sizes[i] < 0) return false;
  return true;
}

bool tensor_info_is_complete(const TensorInfo *info) {
  if (info->dtype < 0 || info->device_type < 0 || !tensor_info_has_sizes(info)) return false;
  for (int i = 0; i < info->ndim; i++)
    if (!info->has_strides || info->strides[i] < 0) return false;
  return true;
}

const Type *type_merge_tensor(TypeStore *store, const Type *a, const Type *b) {
  if (a == b) return a;
  if (!a->tensor || !b->tensor) return TYPE(TENSOR);
  TensorInfo merged = *a->tensor;
  tensor_info_merge(&merged, b->tensor);
  return type_tensor_refined(store, &merged);
}
