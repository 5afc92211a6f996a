/* The planes of an input as flat convolution reads them: with padding, a plane for each remainder by the strides. */
#pragma once

#include "compute/conv/conv.h"
#include "compute/conv/flat_tile.h"

/* A plane of values that are a stride apart: which of its positions lie within the input, and where there. */
typedef struct FlatPhase {
  int64_t begin[CONV_SPATIAL], end[CONV_SPATIAL], shift[CONV_SPATIAL]; /* position q is input q * stride + shift */
} FlatPhase;

typedef struct FlatPlanes {
  int64_t extent[CONV_SPATIAL]; /* of a phase's plane */
  int64_t positions;            /* from the first result to the last, with what lies between rows */
  int64_t plane, phases;        /* floats of a phase; phases that some tap reads */
  int64_t channel_stride;
  int64_t tap_count, *taps; /* where a tap reads, from its result's position in the channel on */
  FlatPhase *phase;         /* so many */
  size_t bytes;             /* of one image; 0: planes are read as they lie */
} FlatPlanes;

/* The same convolution, with strides of 1 where there is one result and dilations of 1 where the kernel has one tap:
 * the others take this. */
ConvParams flat_simplify(const ConvParams *p);
/* false: so wide a dilation or padding that planes would be mostly empty, out of all proportion. */
bool flat_planes_pay(const ConvParams *p);
Status flat_planes_init(const ConvParams *p, FlatPlanes *out) MUST_CHECK;
void flat_planes_dispose(FlatPlanes *planes);
/* Whether threads take whole images of a batch, for there are many, and each is little work to share (in products). */
bool flat_images_are_dealt(int threads, int64_t batch, double cost);
/* Depthwise convolution of planes side by side (flat_side.c), where there are enough of them. */
bool flat_side_pays(const ConvParams *p, const FlatKernels *kernels);
Status flat_side_by_side(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                         const float *weight, const ConvEpilogue *epilogue, float *out) MUST_CHECK;
/* The same of channels-last images; nothing but scale and shift follows. */
bool flat_side_last_pays(const ConvParams *p, const FlatKernels *kernels);
Status flat_side_last(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                      const float *weight, const ConvEpilogue *epilogue, float *out) MUST_CHECK;
/* The greatest of every window, where flat_side_pays: groups are planes. */
Status flat_side_maximum(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                         float *out) MUST_CHECK;
/* Depthwise convolution of planes where they lie (flat_direct.c). */
bool flat_direct_pays(const ConvParams *p, const FlatKernels *kernels);
Status flat_direct(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                   const float *weight, const ConvEpilogue *epilogue, float *out) MUST_CHECK;
/* The input rows [begin, stop) that results' rows [first, end) of a plane need, and those results, where `input` has
 * these rows and no others; out and what is added are of all planes. */
void flat_direct_inputs(const ConvParams *p, int64_t first, int64_t end, int64_t *begin, int64_t *stop);
void flat_direct_rows(const FlatKernels *kernels, const ConvParams *p, const float *weight, const ConvEpilogue *e,
                      int64_t plane, int64_t first, int64_t end, const float *input, float *out);
/* Depthwise convolution in given loops (conv_depthwise, flat_depthwise.c). */
Status conv_depthwise_by(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                         const float *weight, const ConvEpilogue *epilogue, float *out) MUST_CHECK;
/* Lays one phase of a channel out; `to` has f->plane floats. */
void flat_planes_lay_phase(const FlatPlanes *planes, const FlatKernels *kernels, const ConvParams *p, int64_t phase,
                           const float *plane, float *to);
/* Lays a channel out; `to` has channel_stride floats. */
void flat_planes_lay_channel(const FlatPlanes *planes, const FlatKernels *kernels, const ConvParams *p,
                             const float *plane, float *to);
/* Lays an image out; `to` has planes->bytes. */
void flat_planes_lay(const FlatPlanes *planes, const FlatKernels *kernels, int threads, const ConvParams *p,
                     const float *image, float *to);
