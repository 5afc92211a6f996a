/* Reads a weight once, from its begin to its end, to put it in order: in place, or a part at a time out of the file
 * that it lies in. Pages of a mapped file that only packing looks at would stay in memory for nothing. */
#pragma once

#include "tensor/tensor.h"

typedef struct WeightReader {
  const Tensor *weight; /* contiguous, of float32 */
  float *room;          /* NULL: it is read in place */
  int64_t room_size, first, count;
} WeightReader;

/* most: elements of one part that is asked for. */
void weight_reader_begin(WeightReader *reader, const Tensor *weight, int64_t most);
/* `count` elements from `first` on, until the next are asked for. */
const float *weight_reader_at(WeightReader *reader, int64_t first, int64_t count);
void weight_reader_end(WeightReader *reader);
