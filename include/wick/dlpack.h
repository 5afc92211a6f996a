/* wick/dlpack: exchange of tensors with other libraries by DLPack (https://dmlc.github.io/dlpack), both ways, without
 * copying. */
#ifndef WICK_DLPACK_H
#define WICK_DLPACK_H

#include "wick/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's dlpack.h declares it; wick needs only the pointer. */
struct DLManagedTensor;

/* A managed tensor over the same memory; its deleter gives the memory back. */
WICK_API wick_status wick_tensor_to_dlpack(const wick_value *tensor, struct DLManagedTensor **out, wick_error **error);
/* Takes over `managed`, also on failure: its deleter is called when the last view of the memory is gone. */
WICK_API wick_status wick_tensor_from_dlpack(struct DLManagedTensor *managed, wick_value **out, wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
