/* Flat convolution to planes of few results: the inputs that a result reads are a line, its patch, and results are the
 * products of patches with the rows of the weight (FlatKernels.few). */
#pragma once

#include "compute/conv/conv.h"

/* The patches of an image, each in the weight's order: [input channel][tap]. */
typedef struct FlatPatches {
  int64_t count, depth;         /* patches; floats of one, of a group's inputs */
  int64_t stride, group_stride; /* between patches; between the groups' parts of one */
  size_t bytes;                 /* of one image; 0: patches are read as they lie */
} FlatPatches;

/* Whether there are so few results in a plane; p as flat_simplify gives it, here and below. */
bool flat_few_takes(const ConvParams *p);
FlatPatches flat_patches(const ConvParams *p);
/* Puts an image's patches in order; `to` has patches->bytes. */
void flat_patches_put(const FlatPatches *patches, int threads, const ConvParams *p, const float *image, float *to);
