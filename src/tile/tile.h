/* tile: pointwise computation. A formula is lowered once to kernel IR, which says what is computed; the tile
 * interpreter's kernel is made of it and runs block by block in L1 cache over any number of strided operands. Eager
 * pointwise operators and fusion groups both start from kernel IR, so fusing does not change bits.
 *
 *   tile/kernel_ir.h           KernelIr: values, operations, text form; the builder
 *   tile/formula.h             formula text (`1 / (1 + exp(-self))`) -> kernel IR; KernelProgram, what rows carry
 *   tile/tile_kernel.h         kernel IR -> TileKernel: registers, buffers, loops
 *   tile/run.h                 the tile interpreter; run_parts.h
 *   tile/in_place.h            a kernel over short runs of float32 that somebody else makes
 *   tile/line.h                line functions: sums, extremes, softmax and normalization along the last dimension
 *   tile/line_sum.h            sums of a line; line_sum_body.h
 *   tile/line_normal.h         its moments and normalization; line_normal_body.h
 *   tile/softmax_line.h        the softmax of a line; softmax_line_body.h
 *   tile/loops.h               for each operation, type and instruction set the loop over a block
 *   tile/loops_body.h          the source of those loops, compiled for each instruction set
 *   tile/loops_float32_body.h  the float32 ones of them
 *   tile/vector_math_numbers.h their polynomials, for the next and for native code
 *   tile/vector_math_body.h    float32 elementary functions, at most 2 ulp, for those loops
 *   tile/special.h             special functions, an element at a time */
#pragma once

#include "tile/formula.h"
#include "tile/kernel_ir.h"
#include "tile/run.h"
