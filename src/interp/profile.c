/* Observing tensors, and testing them against what was observed. */
#include "interp/profile.h"

#include <assert.h>

#include "type/tensor_type.h"

ProfileRun *profile_run_new(uint32_t count) {
  size_t bytes;
  if (!size_mul(count, sizeof(ProfileSlot), &bytes) || !size_add(bytes, sizeof(ProfileRun), &bytes)) return NULL;
  ProfileRun *run = mem_calloc(1, bytes);
  if (run) run->count = count;
  return run;
}

void profile_run_free(ProfileRun *run) {
  mem_free(run);
}

static void observe_first(ProfileSlot *slot, const Tensor *t, int8_t grad) {
  assert(!(slot->seen & PROFILE_DEFINED));
  slot->seen |= PROFILE_DEFINED;
  slot->dtype = (int8_t)t->dtype;
  slot->grad = grad;
  slot->device = t->flags & TENSOR_NOT_CPU ? tensor_device(t) : DEVICE_CPU_0;
  slot->ndim = t->ndim <= PROFILE_MAX_DIMS ? (int8_t)t->ndim : -1;
  for (int i = 0; i < slot->ndim; i++) {
    slot->sizes[i] = t->sizes[i];
    slot->strides[i] = t->strides[i];
  }
}

void profile_observe(ProfileSlot *slot, const Tensor *t, bool grad_enabled) {
  if (t->flags & (TENSOR_NOT_DESCRIBED | TENSOR_UNDEFINED)) {
    slot->seen |= t->flags & TENSOR_UNDEFINED ? PROFILE_UNDEFINED : PROFILE_UNUSUAL;
    return;
  }
  int8_t grad = grad_enabled && tensor_records(t);
  if (!(slot->seen & PROFILE_DEFINED)) {
    observe_first(slot, t, grad);
    return;
  }
  if (slot->dtype != (int8_t)t->dtype) slot->dtype = -1;
  if (slot->grad != grad) slot->grad = -1;
  if (t->flags & TENSOR_NOT_CPU || slot->device.type != DEVICE_CPU)
    if (!device_equal(slot->device, tensor_device(t))) slot->device.type = -1;
  if (slot->ndim != t->ndim) slot->ndim = -1;
  for (int i = 0; i < slot->ndim; i++) {
    if (slot->sizes[i] != t->sizes[i]) slot->sizes[i] = -1;
    if (slot->strides[i] != t->strides[i]) slot->strides[i] = -1;
  }
}

static inline Reason compare_with_type(const TensorInfo *info, const Tensor *t, bool grad_enabled) {
  if (!info) return REASON_COUNT;
  if (__builtin_expect(t->flags & (TENSOR_NOT_DESCRIBED | TENSOR_UNDEFINED), 0))
    return t->flags & TENSOR_UNDEFINED && info->undefined == 1 ? REASON_COUNT : REASON_GUARD_FAILED_UNDEFINED;
  if (info->undefined == 1) return REASON_GUARD_FAILED_UNDEFINED;
  if (info->dtype >= 0 && info->dtype != t->dtype) return REASON_GUARD_FAILED_DTYPE;
  if (info->ndim >= 0) {
    if (info->ndim != t->ndim) return REASON_GUARD_FAILED_RANK;
    if (info->has_sizes)
      for (int i = 0; i < info->ndim; i++)
        if (info->sizes[i] >= 0 && info->sizes[i] != t->sizes[i]) return REASON_GUARD_FAILED_SIZES;
    if (info->has_strides)
      for (int i = 0; i < info->ndim; i++)
        if (info->strides[i] >= 0 && info->strides[i] != t->strides[i]) return REASON_GUARD_FAILED_STRIDES;
  }
  if (info->requires_grad >= 0 && info->requires_grad != (grad_enabled && tensor_records(t)))
    return REASON_GUARD_FAILED_REQUIRES_GRAD;
  if (info->device_type < 0 || (info->device_type == DEVICE_CPU && !(t->flags & TENSOR_NOT_CPU))) return REASON_COUNT;
  Device device = tensor_device(t);
  bool same = device.type == info->device_type &&
              (info->device_index < 0 || device.index < 0 || device.index == info->device_index);
  return same ? REASON_COUNT : REASON_GUARD_FAILED_DEVICE;
}

bool guard_holds(const TensorInfo *info, const Tensor *t, bool grad_enabled) {
  return compare_with_type(info, t, grad_enabled) == REASON_COUNT;
}

Reason guard_failure(const TensorInfo *info, const Tensor *t, bool grad_enabled) {
  return compare_with_type(info, t, grad_enabled);
}
