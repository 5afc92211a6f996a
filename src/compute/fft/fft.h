/* Fourier transforms of any length along one dimension, in single and double precision: mixed radices (Stockham's
 * order, which sorts itself: P. N. Swarztrauber, "FFT algorithms for vector computers", 1984), and convolution
 * with a chirp for large prime factors (L. Bluestein, 1970). Lines go through in groups, one in each lane of a
 * vector. Nothing is normalized. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/work.h"

typedef enum FftKind { FFT_C2C, FFT_R2C, FFT_C2R } FftKind;
/* All lines of an array. Strides are in elements of their side, complex or real; `out` may be `in` if both are
 * complex and have the same strides. */
typedef struct FftAxis {
  FftKind kind;
  bool is_double, is_inverse; /* R2C is forward, C2R inverse */
  int64_t points;             /* of the real side, where there is one: the other has points / 2 + 1 */
  const void *in;
  void *out;
  int64_t in_stride, out_stride; /* from point to point */
  int rank;                      /* of what is around the lines */
  const int64_t *sizes, *in_strides, *out_strides;
} FftAxis;
/* Gives back what is kept of lengths that no call is using: bytes. */
size_t fft_trim(void);
/* Fails for memory alone; what is left when the work is over is left undone: the caller asks its limit. */
Status fft_axis(const Work *work, const FftAxis *axis) MUST_CHECK;
