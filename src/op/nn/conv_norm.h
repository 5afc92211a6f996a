/* wick::convolution_norm's arguments, for operators that do its work and more at once. */
#pragma once

#include "op/nn/conv.h"

/* Its parameters behind the input; `mark` ends their names. */
#define CONV_NORM_PARAMETERS(mark)                                                                                \
  "Tensor weight" mark ", Tensor? bias" mark ", int[] stride" mark ", int[] padding" mark ", int[] dilation" mark \
  ", int groups" mark ", Tensor? norm_weight" mark ", Tensor? norm_bias" mark ", Tensor? running_mean" mark       \
  ", Tensor? running_var" mark ", float eps" mark ", Tensor? add" mark ", bool add_first" mark                    \
  ", str? activation" mark ", float low" mark ", float high" mark ", int dims" mark ", Tensor? gate" mark         \
  ", bool gate_first" mark
enum { CONV_NORM_INPUTS = 20 };

/* A call of it that can be done at once. */
typedef struct ConvNorm {
  ConvParams params;
  ConvEpilogue epilogue;
  Tensor *term;   /* what is added, without gaps, owned; NULL: it is as the caller has it, or nothing */
  float *numbers; /* scale and shift of a normalization, owned; NULL: none */
} ConvNorm;
/* Reads and checks the arguments, or declines. Of the input only the metadata is read. */
Status conv_norm_read(const Call *call, ConvNorm *out) MUST_CHECK;
/* Makes the numbers of the normalization and the term without gaps; conv_norm_end is called also if it fails. */
Status conv_norm_begin(const Call *call, ConvNorm *n) MUST_CHECK;
void conv_norm_end(ConvNorm *n);
