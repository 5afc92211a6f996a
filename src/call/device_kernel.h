/* Kernels of operators for a class of devices (tensor/device_class.h), by the names of their functional forms. A kernel
 * of a row is the host's; where tensors are on a device, its own runs, or else the call fails and names both.
 *
 * What needs none: formulas, where the device has a fusion back end; bodies and OP_COMPOSITE, which call other
 * operators; views and what reads metadata alone; and rows with OP_ACCEPT_DEVICES, whose kernels go through the
 * device's row: empty, zeros, full, fill_, clone, copy_, to.
 *
 *   static const KindForm forms[] = {{"aten::add.Tensor", add, .fills = true}};
 *   static KIND_FORMS(kernels, forms);
 *   TRY(device_kernels_register(row.type, &kernels));
 *
 * A kernel sees tensors of one device of the class alone (inputs of it, outputs where it `fills`), and numbers as
 * tensors of the CPU without dimensions; their elements are at tensor_memory. */
#pragma once

#include "call/kind_form.h"

struct CallPlan;

typedef struct DeviceKernel {
  const KindForm *form;
  int device_type;
  struct DeviceKernel *next;
} DeviceKernel;

/* For the process, for good; forms stay the caller's. A later one for the same operator goes before. An operator that
 * is not there is an error, and then nothing is registered. Libraries come here by wick/device.h. */
Status device_kernels_register(int device_type, const KindForms *forms) MUST_CHECK;
/* Whether they can be registered. */
Status device_kernels_check(const KindForms *forms) MUST_CHECK;
/* Whether the call makes tensors out of none and is told no device: they go to Exec.default_device. */
bool call_tells_no_device(const struct Call *call, const struct CallPlan *plan);
/* NULL: there is none. */
const KindForm *device_kernel_find(const struct Operator *functional, int device_type);
