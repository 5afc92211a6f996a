/* Calls of whatever a mutated file became. */
#pragma once

#include <time.h>

#include "wick/wick.h"

/* Processor time that a mutated file may take to be loaded or saved, and a call after its deadline. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const double late_s = 8;
#else
static const double late_s = 2;
#endif

static inline double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Every method twice, its tensors matrices and then vectors, the rest as its schema says, within limits of time, steps
 * and memory. Gives how many calls returned; *out_longest: processor time of the longest. */
size_t call_methods(wick_module *module, double *out_longest);
