/* Operators on tensors of another kind than plain ones. An operator whose row is written for plain tensors may have a
 * form for quantized and one for sparse tensors, as PyTorch has kernels by backend: it runs in place of the row's
 * kernel when an input is of that kind, and makes its results itself (call_set). In-place and .out forms derive from it
 * as from the row. */
#pragma once

#include "call/operator.h"

typedef struct KindForm {
  const char *name; /* "aten::add.Tensor" */
  Kernel *kernel;   /* NULL: the row's own kernel takes such tensors */
  bool composite;   /* only calls other operators: autograd records those, not this */
} KindForm;
typedef struct KindForms {
  const KindForm *rows;
  size_t count;
} KindForms;
#define KIND_FORMS(name, array) const KindForms name = {array, sizeof(array) / sizeof *(array)}
/* Every table of forms for a kind, ended by NULL: src/api/op_tables.c. */
extern const KindForms *const quantized_form_tables[], *const sparse_form_tables[];
/* NULL: there is none. */
const KindForm *kind_form_find(const KindForms *const *tables, Str name, Str overload);
