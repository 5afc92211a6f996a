/* Where a result goes: the terminal, an object of JSON, a file of some kind, its largest elements by name. */
#pragma once

#include "cli/cli.h"

typedef struct Output {
  const char *path;   /* of -o; NULL: it is printed */
  const char *labels; /* a file with a name a line, for topk */
  long topk;          /* 0: not wanted */
  long rate;          /* of sound */
  bool full, json;    /* full: nothing is left out of what is printed */
} Output;
/* Before the run: whether options go together, a file of the kind can be written there, and can hold what the method
 * answers (NULL: not known). false: it was complained about. */
bool output_check(const Output *output, const wick_module *module, const char *method);
/* Whether it is a file of a kind that holds one tensor and nothing else. */
bool output_holds_tensor(const Output *output);
/* false: it was complained about. */
bool output_write(const Output *output, const wick_value *result);
/* The same of one of many results: in a line, as JSON, where it is printed, is of at most 64 numbers and no text. */
bool output_write_line(const Output *output, const wick_value *result);
