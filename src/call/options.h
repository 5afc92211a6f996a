/* What rows that make tensors share: sizes from lists, `dtype, layout, device, pin_memory` arguments, filling with a
 * number. */
#pragma once

#include "call/call.h"

/* The Device in the argument as the program's device map has it; an error where that is not there. */
Status options_device(const Call *c, uint32_t at, Device *out) MUST_CHECK;
/* spec takes the options in arguments at .. at + 3; dtype `fallback` when None. */
Status options_read(const Call *c, uint32_t at, DType fallback, TensorSpec *spec) MUST_CHECK;
/* Row-major sizes from an int[] argument. */
Status sizes_read(const Call *c, uint32_t at, TensorSpec *spec) MUST_CHECK;
/* Strides by a MemoryFormat? argument; None is `fallback`. `like`: whose strides preserve_format keeps. */
Status format_read(const Call *c, uint32_t at, MemoryFormat fallback, const Tensor *like_or_null,
                   TensorSpec *spec) MUST_CHECK;
/* The dtype a Python number has by itself: int64, float32 (the default dtype), complex64, bool. */
DType scalar_default_dtype(IValue scalar);
/* One element of the dtype; "value cannot be converted to type uint8_t without overflow". `out` has room for 16 bytes.
 */
Status scalar_to_element(IValue scalar, DType dtype, void *out) MUST_CHECK;
/* Every element; conj and neg flags respected. */
Status tensor_fill_scalar(Tensor *t, IValue scalar) MUST_CHECK;
