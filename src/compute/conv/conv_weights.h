/* Weights of convolutions and linear layers in the order in which a kernel reads them, kept by the runtime for calls to
 * come.
 *
 * A packed weight belongs to the content of a storage, which storages may share (tensor/storage_share.h), an
 * offset, a version and the calls' precision: one that was written to since is packed again, into the memory of
 * the old. It goes with the content. Of memory whose address somebody outside has (borrowed, or looked at) the
 * version tells nothing; there a sum over the content is compared. It does not depend on biases or on what
 * follows, so that all convolutions by one weight share it, as far as they are done in the same way. */
#pragma once

#include "base/heap.h"
#include "base/work.h"
#include "tensor/storage_drop.h"

enum { WEIGHT_DIMS = 6, WEIGHT_BLOCKS = 8 };

typedef enum WeightTransform {
  WEIGHT_AS_IT_IS,
  WEIGHT_WINOGRAD_2, /* flat_winograd_pack, for squares of that side */
  WEIGHT_WINOGRAD_4,
  WEIGHT_SPREAD /* conv_spread_pack */
} WeightTransform;
/* Where elements go. Each dimension's index is split by its blocks, from the innermost on; what is left moves by its
 * stride. Nothing but numbers, all that are not used zero, so layouts can be compared as bytes. */
typedef struct WeightLayout {
  int32_t ndim, block_count;
  int32_t transform; /* WeightTransform; one that is not WEIGHT_AS_IT_IS has its own order, and sizes and bytes alone
                      * count */
  int32_t channels;  /* the dimension of output channels: 0, or 1 after the groups */
  int32_t block_dims[WEIGHT_BLOCKS]; /* outermost block first */
  int64_t sizes[WEIGHT_DIMS], strides[WEIGHT_DIMS], blocks[WEIGHT_BLOCKS];
  uint64_t bytes; /* with padding, which is zero */
} WeightLayout;

typedef struct PackedWeight PackedWeight;
/* The packed weight, in use by the caller; NULL: no memory. `weight` is contiguous, of float32 and as many elements as
 * the layout. */
PackedWeight *packed_weight_take(const Work *work, const Tensor *weight, const WeightLayout *layout);
/* The same where it pays and costs others nothing: NULL at the first sight of a weight, for it may be a passing value,
 * unless a function's first call found it there; and where the store is full. */
PackedWeight *packed_weight_take_settled(const Work *work, const Tensor *weight, const WeightLayout *layout);
const float *packed_weight_data(const PackedWeight *packed);
void packed_weight_give_back(PackedWeight *packed);
/* What makes the content of a storage again from packed weights, which are as good as the weight while the source is
 * kept: counted is by what they are larger than that. false: they don't have all of it. */
bool packed_weights_source(Storage *storage, ContentSource *out);
/* Those of a runtime, in its heap. NULL: no memory. */
typedef struct PackedWeights PackedWeights;
PackedWeights *packed_weights_new(Heap *heap);
size_t packed_weights_trim(PackedWeights *weights);     /* frees what no call is using: bytes; NULL: the process's */
size_t packed_weights_bytes(PackedWeights *weights);    /* NULL: the process's */
size_t packed_weights_bytes_of(const Storage *storage); /* of its content, by all runtimes */
void packed_weights_free(PackedWeights *weights);       /* no call is using any; NULL is allowed */
