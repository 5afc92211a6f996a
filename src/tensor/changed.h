/* Tensors that change while guards rely on what they were. */
#pragma once

#include "base/stamp.h"
#include "tensor/tensor.h"

/* After a change of dtype, sizes, strides, flags or device: guards look again. */
static inline void tensor_changed(Tensor *t) {
  state_changed(&t->is_relied_on);
}
/* Of a tensor that others may know. */
static inline void tensor_set_flags(Tensor *t, uint32_t flags) {
  if (t->flags == flags) return;
  t->flags = flags;
  tensor_changed(t);
}
