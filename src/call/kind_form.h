/* Operators on tensors of another kind than plain ones on the CPU. An operator whose row is written for those may have
 * a form for quantized, one for sparse tensors, and one for each class of devices, as PyTorch has kernels by backend:
 * it runs in place of the row's kernel when an input is of that kind. In-place and .out forms derive from it as from
 * the row. What runs a call is chosen in one place (call/chooser.c). */
#pragma once

#include "call/call.h"

typedef struct KindForm {
  const char *name; /* "aten::add.Tensor" */
  Kernel *kernel;   /* NULL: the row's own kernel takes such tensors */
  bool composite;   /* only calls other operators: autograd records those, not this */
  bool fills;       /* outputs made as the row's shape function says; else it makes its results itself (call_set) */
} KindForm;
typedef struct KindForms {
  const KindForm *rows;
  size_t count;
} KindForms;
#define KIND_FORMS(name, array) const KindForms name = {array, sizeof(array) / sizeof *(array)}
/* NULL: there is none. */
const KindForm *kind_form_find(const KindForms *const *tables, Str name, Str overload);
