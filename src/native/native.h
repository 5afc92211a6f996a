/* native: machine code for kernels, made where it runs. A kernel's operations are cut into segments that become one
 * loop each, in which values stay in vector registers; what has no vector code, functions above all, the tile
 * interpreter's loops compute in between. So results have the interpreter's bits.
 *
 *   native/native_kernel.h  kernel IR -> a TileKernel whose steps are machine code
 *   native/vector_code.h    what a segment does with vectors; expand.c: kernel operations as such
 *   native/functions.h      exp, tanh and their like as vector code
 *   native/x86_emit.h       vector code -> a function of x86-64: registers, spills, the loop
 *   native/x86.h            the assembler; x86_rows.h: its table of instruction forms */
#pragma once

#include "native/native_kernel.h"
