/* DeviceClass: a kind of device, one row each: how its memory is had, given back, copied and filled. "cpu" is built in;
 * others are registered before the first tensor on them. Storages get all memory through the row of their device.
 *
 * The host reads memory of the CPU's row alone. What computes on another device are kernels, registered for it by
 * operator (call/device_kernel.h), and back ends of fusion groups.
 *
 * Kernels may give a device work that is not done when they return: to the queue of their Exec (Exec.queue). copy and
 * fill come after all work that the device was given before, and what was copied to the host is there on return. */
#pragma once

#include "tensor/tensor.h"

/* A device's own; an Exec holds one. The head of what the device knows of it. */
typedef struct DeviceQueue {
  Device device;
} DeviceQueue;

typedef struct DeviceClass {
  const char *name; /* of known types (tensor/device.c) that name */
  int16_t type;     /* DeviceType, 0 to 31 */
  int16_t count;    /* of devices: an index is below it */
  /* bytes > 0. *out_context goes to `free`, which is called once and may be called on any thread. */
  Status (*allocate)(Device device, size_t bytes, void **out_memory, void **out_context);
  void (*free)(void *context, void *memory, size_t bytes);
  /* At least one side is of this class; the other is the same device, another one of the class, or the CPU. */
  Status (*copy)(Device to_device, void *to, Device from_device, const void *from, size_t bytes);
  /* `count` items of `size` bytes (1, 2, 4, 8 or 16), each as the one at `item`, which is the host's. */
  Status (*fill)(Device device, void *memory, size_t count, const void *item, size_t size);
  /* Waits for the queue's work; what failed of it fails here. */
  Status (*synchronize)(DeviceQueue *queue);
  /* Copies elements within one device, where runs of bytes would not do or would be many: any strides, any dtypes, equal
   * lazy flags; `from` broadcasts. ERROR_UNSUPPORTED: not such ones. NULL: none. */
  Status (*convert)(Tensor *to, const Tensor *from);
} DeviceClass;

/* For the process, for good; the row stays the caller's. Refuses a type that has a row, a name that is another type's
 * and what is incomplete. Not beside running calls. Libraries come here by wick/device.h. */
Status device_register(const DeviceClass *row) MUST_CHECK;
/* Opens the library that brings a kind of device, unless it was tried before. What stands in its way, for messages; ""
 * where nothing does. */
typedef const char *DeviceOpener(int type);
/* A later folder finds libraries; handed over once, before anything runs (src/api/start.c). */
void device_opener_set(DeviceOpener *opener);
DeviceOpener device_library_try;
/* NULL: there is none. The CPU's is always there. */
const DeviceClass *device_class(int type);
/* The i-th row that is there, NULL after the last. */
const DeviceClass *device_class_at(int i);
/* A device that has memory, index 0 where it gives none (the CPU keeps none); an error where it is not there, also when
 * its library was looked for. */
Status device_choose(Device *device) MUST_CHECK;

/* What tensor_copy does where a side is not on the host: any strides; the dtype changes on the host or by the device's
 * `convert`. Sizes are equal, or from's broadcast. */
Status device_copy(Tensor *to, const Tensor *from, int threads) MUST_CHECK;
/* Every element of a tensor off the host becomes the one at `item`, which has the tensor's dtype. */
Status device_fill(Tensor *t, const void *item) MUST_CHECK;
