/* The product of a linear layer, and that by panels of its weight (matmul.c), for who does it: aten::linear, regions
 * (linear_region.c) and recurrent layers (rnn_layers.c). */
#pragma once

#include "call/exec.h"
#include "compute/gemm/gemm.h"

/* The rows of an input that has dimensions. *dense: a copy that they are in, for the caller to release; or NULL. */
Status linear_rows(const Tensor *input, GemmMatrix *x, Tensor **dense) MUST_CHECK;
/* Whether `count` rows, of float32 if the weight is, are multiplied in panels: rows without gaps by a plain weight of
 * float32 (and a bias that is NULL or plain), more than a few of either. */
bool linear_is_by_panels(const Exec *exec, int64_t count, GemmMatrix x, const Tensor *weight, const Tensor *bias);
/* That product; to `out`, row after row. *out_packed: the weight's panels, to be given back when it is done; or NULL:
 * they are not kept, also on failure. */
Status linear_panels(const Exec *exec, int64_t count, GemmMatrix x, const Tensor *weight, const Tensor *bias, void *out,
                     GemmPanels *out_panels, PackedWeight **out_packed) MUST_CHECK;
/* `count` rows by the weight (rows, in) or (in) to as many rows of `out`, which is contiguous and may have more; the
 * bias, or NULL, is one that can be expanded to it. */
Status linear_product(Exec *exec, int64_t count, GemmMatrix x, const Tensor *weight, const Tensor *bias,
                      Tensor *out) MUST_CHECK;
extern const struct Anchor linear_anchor; /* linear_region.c */
