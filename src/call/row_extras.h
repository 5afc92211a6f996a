/* RowExtras: columns of rows that few rows have and few readers ask for. */
#pragma once

#include "call/row.h"

/* What a quantized operator, of (a, b, scale, zero_point), gives: this operator's result of its arguments, dequantized,
 * quantized again. */
typedef struct QuantizedForm {
  const char *of;     /* "aten::add.Tensor"; of arguments that are not among a and b the defaults */
  const char *unpack; /* b is packed, the others included: what gives weight and bias of it; NULL: b is a tensor */
  bool relu;          /* aten::relu comes after it */
} QuantizedForm;

/* Columns of a row that few have. */
typedef struct RowExtras {
  /* Archives before version `since` meant something else by the name (in one overload's row, for all of tensors), or
   * had fewer arguments. "0_3": what they meant is the function NAME_0_3 of prelude/upgraders.py; NULL: what it means
   * by default today. */
  const char *upgrader;
  /* "Tensor... int": what stands at `Any` and after `...`, as the kernel takes it (schema/open_types.h). Every row with
   * one of them has it. */
  const char *open;
  const char *blocked; /* the overload, of its own and those derived, that programs can't name, as in PyTorch */
  const QuantizedForm *quantizes;
  const char *graph_grad; /* the gradient of graphs, where it is a simpler one: the same values, laid out otherwise */
  /* Bits by argument: weights that the kernel reads in an order of its own. Their memory may have been dropped, and the
   * kernel restores them itself where it reads them as they are (tensor/storage_drop.h). */
  uint64_t restores;
  /* Its `out` must have the result's dtype. The refusal, with {wanted} and {given} for the dtypes; "": as most of
   * PyTorch's operators word it. NULL: the result is cast. */
  const char *exact_out;
  /* Runs in the place of the row's body, to the same bits, where gradients record nothing and no tensor is unusual, or
   * declines. */
  Kernel *beside;
  const struct Anchor *anchor; /* what its engine takes along of what comes before and after it (call/region.h) */
  /* ActivationKind (compute/activation.h) by which engines know it. LIMITS: the two arguments after the tensor are. */
  uint8_t activation;
} RowExtras;
#define BESIDE(kernel)           \
  .extras = &(const RowExtras) { \
    .beside = kernel             \
  }
#define OPEN(types)              \
  .extras = &(const RowExtras) { \
    .open = types                \
  }

extern const RowExtras row_without_extras;
static inline const RowExtras *row_extras(const OpRow *row) {
  return row->extras ? row->extras : &row_without_extras;
}
