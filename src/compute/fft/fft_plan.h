/* What transforms of one length have in common: factors and roots of unity. Private to compute/fft. */
#pragma once

#include "base/memory.h"
#include "compute/fft/fft.h"

enum { FFT_FACTORS = 64, FFT_LARGEST_FACTOR = 41, FFT_VECTOR_BYTES = 32, FFT_MOST_LANES = 8 };

typedef struct FftFactors {
  int count, of[FFT_FACTORS];
} FftFactors;
typedef struct FftPlan {
  int64_t points; /* of the complex transform */
  bool is_double;
  int lanes;              /* numbers in a vector */
  FftFactors whole, part; /* of points; of points / split */
  /* A line alone goes as so many transforms of every split-th point, each in a lane, joined by one more; 0: it can't. */
  int split;
  /* exp(-2 pi i k / (points * step)) as pairs, for k below points * step; float or double */
  void *roots;
  int64_t step;
  void *twists;              /* exp(-2 pi i c k / points) for c below split, all real parts and all imaginary ones */
  struct FftPlan *convolved; /* Bluestein: the plan of the convolution's length; NULL: by factors */
  void *chirp;               /* exp(-pi i j^2 / points), pairs */
  void *kernel;              /* the transform of the conjugate chirp, divided by the convolution's length; pairs */
  RefCount refs;             /* of fft_plan_take, and of what is kept */
  uint64_t taken_at;
  bool is_shared; /* of the process's heap, beyond any budget */
} FftPlan;
/* `step`: 2 where the roots of twice the length are wanted, too. */
Status fft_plan_new(int64_t points, int64_t step, bool is_double, FftPlan **out) MUST_CHECK;
void fft_plan_free(FftPlan *plan); /* NULL is allowed */

/* One that is kept for the next call, or a new one (fft_kept.c). Thread-safe. */
Status fft_plan_take(int64_t points, int64_t step, bool is_double, FftPlan **out) MUST_CHECK;
void fft_plan_give(FftPlan *plan);

/* One group of lines. */
typedef struct FftLines {
  const FftAxis *axis;
  const FftPlan *plan;
  bool is_single;           /* it has one line, which is split */
  int count;                /* up to plan->lanes */
  const int64_t *from, *to; /* where each begins, in elements of its side */
} FftLines;
/* Numbers of a part that holds a group: of one line alone, or of as many as there are lanes. */
int64_t fft_room(const FftPlan *plan, bool is_single);
/* Numbers of workspace that a group needs. */
int64_t fft_lines_workspace(const FftPlan *plan, bool is_single);
typedef void FftRun(const FftLines *lines, void *workspace);
/* A transform in place of split parts re and im, of one line that splits; for plans. */
typedef void FftSingle(const FftPlan *plan, void *parts);
extern FftRun fft_lines_float_portable, fft_lines_double_portable, fft_lines_float_avx2, fft_lines_double_avx2,
    fft_lines_float_neon, fft_lines_double_neon;
extern FftSingle fft_single_float_portable, fft_single_double_portable, fft_single_float_avx2, fft_single_double_avx2,
    fft_single_float_neon, fft_single_double_neon;
