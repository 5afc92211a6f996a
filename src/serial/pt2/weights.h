/* The tensors of a program by the names that its signature has for them: parameters, buffers and constants. */
#pragma once

#include "serial/pt2/container.h"
#include "serial/serial.h"

typedef struct Pt2Weights {
  const Pt2Container *container;
  const LoadOptions *options;
  DeviceMap *device_map;
  Dict *state, *constants; /* str -> Tensor */
  Map storages;            /* a record's name -> owned Storage: what several tensors lie in */
  Map firsts;              /* a record's name -> the first Tensor of it, owned */
} Pt2Weights;

/* Reads all of them. pt2_weights_dispose follows in either case. */
Status pt2_weights_read(Pt2Weights *weights, const Pt2Container *container, const LoadOptions *options,
                        DeviceMap *device_map) MUST_CHECK;
void pt2_weights_dispose(Pt2Weights *weights);
/* *out is the caller's. */
Status pt2_weights_find(const Pt2Weights *weights, Str name, bool is_constant, Tensor **out) MUST_CHECK;
/* A number of the file's own list of dtypes; DTYPE_NONE: none that wick has. */
DType pt2_dtype(int64_t number);
