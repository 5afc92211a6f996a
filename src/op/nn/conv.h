/* A convolution's arguments, in every spelling of its schema. */
#pragma once

#include "call/call.h"
#include "compute/conv/conv.h"

/* Reads the arguments by name (input or self, weight, bias, stride, padding, dilation, transposed, output_padding,
 * groups) and checks them. */
Status conv_read(const Call *call, ConvParams *out) MUST_CHECK;
/* Where they are; -1: there is no such argument. */
typedef struct ConvPlaces {
  int input, weight, bias, stride, padding, dilation, groups, transposed, output_padding;
} ConvPlaces;
/* The same, for who knows where the arguments are. */
Status conv_read_at(const Call *call, const ConvPlaces *places, ConvParams *out) MUST_CHECK;
/* conv_region.c: those whose schema has no transposed ones; all others */
extern const struct Anchor conv_anchor, conv_general_anchor;
double conv_flops(const Call *call); /* a FlopFunction; the arguments by name, as conv_read */
