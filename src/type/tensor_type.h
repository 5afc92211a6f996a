/* TensorInfo: what is known of a tensor, learnt from tensors that were seen and tested against tensors that come. A
 * refined Tensor type never describes a number in a tensor's clothes (TENSOR_WRAPPED_NUMBER), nor a layout without
 * strides or a lazy conjugate: nothing is known of those. That anything but requires_grad is known implies that the
 * tensor is defined. */
#pragma once

#include "type/type.h"

/* Nothing known. */
static inline void tensor_info_init(TensorInfo *info) {
  info->dtype = info->device_type = info->device_index = info->ndim = info->requires_grad = info->undefined = -1;
  info->has_sizes = info->has_strides = false;
}
/* Tensors of which types, profiles and guards say nothing. */
enum { TENSOR_NOT_DESCRIBED = (TENSOR_UNUSUAL & ~TENSOR_NOT_CPU) | TENSOR_WRAPPED_NUMBER };
/* For tests: everything that can be said of `t`. requires_grad is what it means with this grad mode. */
void tensor_info_of(const Tensor *t, bool grad_enabled, TensorInfo *out);
/* Metadata that is known wholly; requires_grad stays unknown. */
void tensor_info_of_spec(const TensorSpec *spec, TensorInfo *out);
/* Keeps what both say: `info` then holds for every tensor that either held for. */
void tensor_info_merge(TensorInfo *info, const TensorInfo *other);
/* Both hold for the same tensor: what either says; false: they contradict each other. */
bool tensor_info_intersect(TensorInfo *info, const TensorInfo *other);
bool tensor_info_is_known(const TensorInfo *info); /* anything at all */
bool tensor_info_equal(const TensorInfo *a, const TensorInfo *b);
/* Every tensor that `strong` holds for, `weak` holds for. */
bool tensor_info_implies(const TensorInfo *strong, const TensorInfo *weak);
/* dtype, device, every size and every stride are known. */
bool tensor_info_is_complete(const TensorInfo *info);
bool tensor_info_has_sizes(const TensorInfo *info); /* rank and every size */
/* The look as a spec, row-major where strides are unknown; dtype and sizes must be known. */
void tensor_info_to_spec(const TensorInfo *info, TensorSpec *out);

/* The union of two Tensor types: what profiles and joins of control flow know. */
const Type *type_merge_tensor(TypeStore *store, const Type *a, const Type *b);
