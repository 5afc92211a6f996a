/* Products of matrices, and that of a linear layer by panels of its weight (matmul.c), for who does them: their rows,
 * regions (product_region.c) and recurrent layers (rnn_layers.c). */
#pragma once

#include "call/exec.h"
#include "compute/conv/conv_weights.h"
#include "compute/gemm/gemm.h"

typedef Status ProductInto(Exec *exec, const Tensor *a, const Tensor *b, Tensor *out, double alpha, bool accumulate,
                           const GemmEpilogue *e);
/* What the rows of products have as `with`. An epilogue is NULL, or `out` and all operands are contiguous float32. */
typedef struct Product {
  Status (*run)(Call *call, const GemmEpilogue *e);
  ProductInto *into; /* NULL: run does without */
  uint8_t right;     /* which argument is the right operand */
} Product;
/* The rows of an input that has dimensions. *dense: a copy that they are in, for the caller to release; or NULL. */
Status linear_rows(const Tensor *input, GemmMatrix *x, Tensor **dense) MUST_CHECK;
/* Whether `count` rows, of float32 if the weight is, are multiplied in panels: rows without gaps by a plain weight of
 * float32 (and a bias that is NULL or plain), more than a few of either. */
bool linear_is_by_panels(const Exec *exec, int64_t count, GemmMatrix x, const Tensor *weight, const Tensor *bias);
/* That product; to `out`, row after row. *out_packed: the weight's panels, to be given back when it is done; or NULL:
 * they are not kept, also on failure. */
Status linear_panels(const Exec *exec, int64_t count, GemmMatrix x, const Tensor *weight, const Tensor *bias, void *out,
                     const GemmEpilogue *e, GemmPanels *out_panels, PackedWeight **out_packed) MUST_CHECK;
/* `count` rows by the weight (rows, in) or (in) to as many rows of `out`, which is contiguous and may have more; the
 * bias, or NULL, is one that can be expanded to it. */
Status linear_product(Exec *exec, int64_t count, GemmMatrix x, const Tensor *weight, const Tensor *bias, Tensor *out,
                      const GemmEpilogue *e) MUST_CHECK;
extern const struct Anchor linear_anchor, product_anchor; /* product_region.c */
