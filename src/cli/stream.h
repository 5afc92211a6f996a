/* Calls of a method: one, or one for each piece of an input. */
#pragma once

#include "cli/output.h"

typedef struct Call {
  wick_module *module;
  const char *path, *method; /* method NULL: the module, with its hooks */
  const wick_run_options *options;
} Call;
/* false: it was complained about. */
bool call_once(const Call *call, const Inputs *inputs, wick_value **out);

typedef struct Chunks {
  long size; /* 0: no streaming */
  bool pads; /* the last one with zeros */
  bool live; /* the first input is raw float32 numbers of standard input, called with as they come */
} Chunks;
/* From "512" or "512,pad" (NULL: none). false: it was complained about. */
bool chunks_parse(const char *text, Chunks *out);
/* A call for each `size` of the last dimension of the first input, a tensor. Results are printed as they come; into a
 * file go all of them: a list, or one tensor along the last dimension where the kind of file holds one. false: it was
 * complained about. */
bool stream(const Call *call, const Chunks *chunks, Inputs *inputs, const Output *output);
