/* A kernel of one tensor and numbers over short runs of float32, in place: what somebody who makes results does with
 * them while they are in cache. Loops are those of tile_run, so bits are the same. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TileArgument TileArgument; /* tile/run.h */
typedef struct TileKernel TileKernel;     /* tile/tile_kernel.h */

enum { IN_PLACE_SPAN = 256, IN_PLACE_VALUES = 16 };

/* Read by any number of threads. */
typedef struct TileInPlace {
  const TileKernel *kernel;                                   /* borrowed */
  int tensor;                                                 /* which argument stands for the elements */
  _Alignas(64) float numbers[IN_PLACE_VALUES][IN_PLACE_SPAN]; /* of the registers that hold one number */
} TileInPlace;

/* One argument for each of the kernel's; of the tensor's nothing is read. False: it is not of that kind, and tile_run
 * has to do it. */
bool tile_in_place_begin(TileInPlace *t, const TileKernel *kernel, const TileArgument *arguments);
/* How much of such a TileInPlace is in use: the rest need not be there. */
size_t tile_in_place_bytes(const TileKernel *kernel);
/* Up to IN_PLACE_SPAN elements. */
void tile_in_place(const TileInPlace *t, int64_t n, float *x);
