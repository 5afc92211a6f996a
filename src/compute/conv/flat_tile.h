/* The inner loops of flat convolution (flat_conv.h), one table for each instruction set.
 *
 * A tile is FLAT_ROWS output channels by up to FlatKernels.width neighboring positions:
 *   sums[row][i] = sum over channels c and taps t of weights[c][t][row] * input[c * channel_stride + taps[t] + i] */
#pragma once

#include "compute/activation.h"

enum { FLAT_ROWS = 8, FLAT_COLUMNS = 4, WINOGRAD_MOST = 4 /* side of a square */, DOT_COLUMNS = 3, DOT_STEP = 4 };
/* Filters that are transformed at once, so that they stay in L2, and the floats that a point has of them: no multiple
 * of a page, for a filter's points are written together. */
enum { WINOGRAD_DEPTH = 128, WINOGRAD_FILTERS = WINOGRAD_DEPTH * FLAT_ROWS + 16 };
/* The points of F(4x4, 3x3) are 0, these two, their negatives and infinity. */
#define WINOGRAD_NEAR 0.75f
#define WINOGRAD_FAR 1.5f

typedef struct FlatTile {
  const float *weights, *input;
  const float *next; /* with one tap: so many weights are fetched on the way; NULL: those that follow */
  int64_t channels, channel_stride, tap_count;
  const int64_t *taps; /* distances in floats */
  float *out;
  int64_t out_stride;         /* between rows */
  int rows;                   /* that are written, at most FLAT_ROWS; weights has all of them */
  int width;                  /* positions; nothing beyond them is read or written */
  bool accumulate;            /* on what lies in out */
  bool last;                  /* the sums are whole: the epilogue applies */
  bool is_raw;                /* of it only scale and shift: finish_rows does the rest */
  const float *scale, *shift; /* of the rows; NULL: 1, 0 */
  const float *add;           /* lies as out does; NULL: nothing */
  Activation activation;
} FlatTile;

/* Products of up to FLAT_COLUMNS patches, finished:
 *   out[row][i] = sum over k of weights[row / FLAT_ROWS][k][row % FLAT_ROWS] * patches[i * stride + k] */
typedef struct FlatFew {
  const float *weights, *patches;
  int64_t depth, stride;      /* floats of a patch; from one to the next */
  int64_t rows;               /* weights has all of the last panel */
  int count;                  /* patches */
  float *out;                 /* dense */
  const float *add;           /* lies as out does; NULL: nothing */
  const float *scale, *shift; /* of the rows; NULL: 1, 0 */
  Activation activation;
} FlatFew;

/* A plane of a depthwise convolution, finished:
 *   out[row][i] = sum over taps t of weights[t] * input[step * (row * row_stride + i) + taps[t]] */
typedef struct FlatPlane {
  const float *weights, *input;
  int64_t tap_count, rows, length, row_stride;
  int step; /* 1, or 2 where taps lie side by side in a square of 3 or 5 */
  const int64_t *taps;
  float *out;       /* dense */
  const float *add; /* lies as out does; NULL: nothing */
  float scale, shift;
  Activation activation;
} FlatPlane;

/* A plane of a depthwise convolution, finished, where it lies and without a copy of it; a square of 3, 5 or 7 taps with
 * a stride of 1, or of 3 or 5 with a stride of 2. */
typedef struct FlatDirect {
  const float *weights, *input;
  int side, stride;
  int64_t in_size[2], out_size[2], padding[2];
  float *out;
  const float *add; /* lies as out does; NULL: nothing */
  float scale, shift;
  Activation activation;
} FlatDirect;

/* A depthwise convolution or pooling of up to `vector` planes that lie side by side, a position of all of them in a
 * vector:
 *   out[row][i] = sum over taps t of weights[t] * input[row * row_step + i * column_step + taps[t]]
 * or the greatest of those inputs, NaN if one is; weights, input and out are vectors and the distances are counted in
 * those. */
typedef struct FlatLanes {
  int planes;
  const float *weights, *input; /* weights NULL: the greatest */
  int64_t tap_count, rows, length, row_step, column_step;
  const int64_t *taps;
  float *out;                 /* dense */
  const float *scale, *shift; /* of the planes; NULL: 1, 0 */
  Activation activation;
} FlatLanes;

/* Rows for planes, one after the other: zeros, values that lie `stride` apart, zeros. */
typedef struct FlatRows {
  int64_t rows, before, count, after, stride;
  const float *from;
  int64_t from_step; /* between rows */
  float *to;
} FlatRows;

typedef struct FlatKernels {
  int width, vector; /* positions of a whole tile, of a register */
  int patch;         /* positions of a product */
  void (*tile)(const FlatTile *t);
  void (*few)(const FlatFew *patches);
  /* Of a raw tile the positions [first, first + n), with `add` and the activation, to rows that are `stride` apart. */
  void (*finish_rows)(const FlatTile *t, int64_t first, int64_t n, int64_t stride, const float *add, float *out);
  void (*depthwise)(const FlatPlane *plane);
  void (*direct)(const FlatDirect *plane); /* NULL: there are no loads that leave lanes out */
  void (*lay)(const FlatRows *rows);
  /* Runs of n neighbors on each of `depth` planes, times the planes' gates, one after the other. */
  void (*lay_gated)(const float *from, int64_t stride, int64_t depth, int64_t n, const float *gates, float *to);
  /* Puts n positions of planes side by side; after each `row` of them `gap` floats of `to` are left out. */
  void (*lanes_gather)(int planes, const float *from, int64_t plane_stride, int64_t n, int64_t row, int64_t gap,
                       float *to);
  void (*lanes_join)(const FlatLanes *lanes);
  /* The way back for n positions that are `from_stride` apart, finishing them; `add` lies as out does. `from` may be read
   * up to a multiple of `vector` positions. */
  void (*lanes_scatter)(const FlatLanes *lanes, int64_t n, const float *from, int64_t from_stride, const float *add,
                        float *out, int64_t plane_stride);
  /* lanes_gather and lanes_scatter where planes lie side by side, as in channels-last images: a position of them is a
   * run, and positions are `from_step` and `out_step` apart. Of what finishes them only scale and shift. */
  void (*lanes_copy)(int planes, const float *from, int64_t from_step, int64_t n, int64_t row, int64_t gap, float *to);
  void (*lanes_finish)(const FlatLanes *lanes, int64_t n, const float *from, float *out, int64_t out_step);
  /* Sums up `depth` products for each of `places` of a patch's positions (and maybe more of them) and one or two vectors
   * of channels:
   *   out[position][channel] (+)= sum over k of patches[k][position] * weights[k][channel]
   * where weights and out have lines of two vectors; `next`, a vector for each k, is fetched on the way. */
  void (*product)(int vectors, int places, int64_t depth, const float *patches, const float *weights, bool accumulate,
                  const float *next, float *out);
  /* Patches of n neighbors on each of `depth` planes, times the planes' gates if not NULL; writes up to a vector beyond
   * the last. */
  void (*put_runs)(const float *from, int64_t stride, int64_t depth, int n, const float *gates, float *to);
  /* Patches of a plane, for each tap the values at `patch` places. */
  void (*put_places)(const float *from, int64_t tap_count, const int64_t *taps, const int64_t *places, float *to);
  /* Winograd's F(side x side, 3x3), side 2 or 4, for n neighboring squares. B' d B of inputs at
   * from[taps[(side + 2) * row + column]], to lines that are `stride` apart; of those whole vectors are written. */
  void (*winograd_input)(int side, int64_t n, const float *from, const int64_t *taps, float *to, int64_t stride);
  /* G w G' of the filters of n input channels, at most WINOGRAD_DEPTH, [input channel][tap][FLAT_ROWS], to lines that
   * are WINOGRAD_FILTERS apart. */
  void (*winograd_filters)(int side, int64_t n, const float *from, float *to);
  /* A' m A of sums in so many lines, times scale plus shift: the rows of results, `row` apart, `side` for each square.
   * false: one is not finite. */
  bool (*winograd_output)(int side, int64_t n, const float *sums, int64_t stride, float scale, float shift, float *to,
                          int64_t row);
  /* Deals a row of n values, after `before` zeros and followed by as many as it takes, out to side + 2 lines that are
   * `apart` apart: the k-th gets the values k, k + side, k + 2 side, ..., `places` of them. */
  void (*winograd_deal)(int side, const float *row, int64_t n, int64_t before, int64_t places, float *to,
                        int64_t apart);
  /* to[i] = the greatest of lines[...][i], NaN if one is; their sum, in order. `to` may be the first line. */
  void (*maximum)(int count, const float *const *lines, int64_t n, float *to);
  void (*sum)(int count, const float *const *lines, int64_t n, float *to);
  /* sums[r * stride + c] += the product of the lines row + r * row_stride and column[c], both of n floats, a multiple of
   * DOT_STEP vectors; of up to DOT_COLUMNS columns. */
  void (*dots)(int rows, int columns, int64_t n, const float *row, int64_t row_stride, const float *const *column,
               float *sums, int64_t stride);
} FlatKernels;
const FlatKernels *flat_kernels(void); /* the fastest that this processor runs */
extern const FlatKernels flat_kernels_portable, flat_kernels_avx2, flat_kernels_avx512, flat_kernels_neon;
