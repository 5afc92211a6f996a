/* Processor time that compiling took, by what was made and by step of it; one table for the process. */
#pragma once

#include "base/str.h"

typedef struct CompileClock {
  const char *work; /* what is made: a static string, as the steps' names */
  uint64_t last;    /* this thread's processor time in ns when the last step ended */
} CompileClock;

void compile_clock_start(CompileClock *clock, const char *work);
/* What this thread did since the last step, or the start, was `step`. */
void compile_clock_step(CompileClock *clock, const char *step);

/* "    12.34 ms     7x  optimized plan: shape_analysis", what took longest first, the sum of each work above. */
void compile_times_print(StrBuf *out);
