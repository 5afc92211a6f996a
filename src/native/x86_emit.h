/* Vector code as a function of x86-64 with 512-bit vectors (F, DQ, BW and VL): registers, spills and the loop. */
#pragma once

#include "native/vector_code.h"
#include "native/x86.h"

/* Appends a function to `code`,
 *
 *   void block(int64_t n, char *const *values)
 *
 * which runs the vector code over n elements: value v of the kernel is at values[v]. Elements beyond n are neither read
 * nor written. ERROR_UNSUPPORTED: it needs too much of the stack. */
Status x86_emit(const VectorCode *vectors, X86Code *code) MUST_CHECK;
bool x86_can_run_here(void);
