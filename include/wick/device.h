/* wick/device: a kind of device that a library brings: its memory, and kernels of operators that compute there.
 * Fusion groups and all pointwise operators run by a back end for the device (wick/backend.h).
 *
 * A library NAME of the devices that PyTorch calls so is the file libwick_NAME.so: a program that asks for device
 * "cuda" where nobody registered it has libwick_cuda opened, as libraries of operators are (wick_library_find). Its
 * wick_library_init registers the device, or fails with what is missing here, which the program's error then says.
 *
 *   static const wick_device device = {.size = sizeof(wick_device), .type = 1, .name = "cuda", .count = 1, ...};
 *   WICK_API wick_status wick_library_init(wick_error **error) {
 *     wick_status status = wick_device_register(&device, error);
 *     return status ? status : wick_device_kernels_register(1, kernels, kernel_count, error);
 *   }                                                                                                       */
#ifndef WICK_DEVICE_H
#define WICK_DEVICE_H

#include "wick/operator.h"
#include "wick/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions are called from any thread, several at once. A device's index is 0 to count - 1; where one is asked
 * for of memory, -1 is the host. Memory is an address that wick adds to and never reads.
 *
 * Kernels may leave work to the device that is not done when they return. copy, fill and convert come after all work
 * that the device was given before, and free may be called while some of it is still under way; what was copied to
 * the host is there on return, and the host's memory that was copied from is no longer read. */
typedef struct wick_device {
  uint32_t size;    /* sizeof(wick_device) */
  int32_t type;     /* PyTorch's number of the name, 1 to 31 */
  const char *name; /* PyTorch's name of the type, where it has one */
  int32_t count;    /* how many there are, at least 1 */
  uint32_t reserved;
  void *user;
  wick_status (*allocate)(void *user, int32_t index, size_t bytes, void **out_memory, wick_error **error);
  void (*free)(void *user, int32_t index, void *memory, size_t bytes);
  /* At least one side is a device's. */
  wick_status (*copy)(void *user, int32_t to_index, void *to, int32_t from_index, const void *from, size_t bytes,
                      wick_error **error);
  /* `count` items of 1, 2, 4, 8 or 16 bytes, each as the one at `item`, which is the host's. */
  wick_status (*fill)(void *user, int32_t index, void *memory, size_t count, const void *item, size_t item_bytes,
                      wick_error **error);
  /* Waits for all that the device was given to do; what failed of it fails here. */
  wick_status (*synchronize)(void *user, int32_t index, wick_error **error);
  /* Copies elements between tensors of one size on one device, of any strides (0 where `from` repeats) and dtypes, that
   * overlap nowhere or are the same elements. WICK_UNSUPPORTED: not such ones, wick does it otherwise or says so.
   * NULL: never. */
  wick_status (*convert)(void *user, const wick_tensor_view *to, const wick_tensor_view *from, wick_error **error);
} wick_device;
/* Adds a kind of device for the rest of the process. The struct and its name are copied. Refuses what is incomplete,
 * and a type or a name that is another's. */
WICK_API wick_status wick_device_register(const wick_device *device, wick_error **error);

enum {
  WICK_DEVICE_KERNEL_FILLS = 1 /* results are there, on the device, of the size and dtype that the operator's
                                       results have (wick_call_result); else the kernel makes them */
};
typedef struct wick_device_kernel {
  uint32_t size;       /* sizeof(wick_device_kernel) */
  uint32_t flags;      /* WICK_DEVICE_KERNEL_... */
  const char *name;    /* "aten::mm", "aten::add.Tensor": of the functional form; in-place and out forms come from it */
  wick_kernel *kernel; /* sees tensors of one device alone, and numbers as tensors of the host without dimensions */
  void *user;          /* given to it */
} wick_device_kernel;
/* Adds kernels for the rest of the process: all of them, or none where one is refused. A later one for the same
 * operator goes before. */
WICK_API wick_status wick_device_kernels_register(int32_t device_type, const wick_device_kernel *kernels, size_t count,
                                                  wick_error **error);

/* What a tensor of any device looks like, as wick_tensor_view_of: `data` is the first element's address on its device
 * (device_type says which), where the host may have nothing to read. */
WICK_API wick_status wick_device_tensor_of(const wick_value *tensor, wick_tensor_view *out, wick_error **error);
/* Waits for what a device was given to do. What failed of it is the error. Nothing to wait for is fine, a device that
 * is not there is an error. */
WICK_API wick_status wick_device_synchronize(int32_t type, int32_t index, wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
