/* What the transform of filters lacks to be the filters, bit for bit. The transform says what each element was, up to
 * its own rounding; kept is by how many floats that is beside the truth, a byte for an element, and the few that
 * are further off. So a weight whose transform is kept anyway takes a quarter of its own size beside it. */
#pragma once

#include "compute/conv/conv_weights.h"

typedef struct WinogradRest WinogradRest;
static inline bool is_winograd(const WeightLayout *layout) {
  return layout->transform == WEIGHT_WINOGRAD_2 || layout->transform == WEIGHT_WINOGRAD_4;
}
/* Of filters and what flat_winograd_pack made of them. NULL: it would be too large, or no memory. mem_free frees it. */
WinogradRest *winograd_rest_new(int threads, const WeightLayout *layout, const float *transformed,
                                const float *filters);
/* The filters. */
void winograd_rest_put_back(const WinogradRest *rest, const WeightLayout *layout, const float *transformed, float *to);
size_t winograd_rest_bytes(const WinogradRest *rest); /* NULL: 0 */
