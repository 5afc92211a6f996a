/* tile: pointwise computation. A formula is lowered once to a Kernel, a straight list of instructions over virtual
 * registers; the tile interpreter runs it block by block in L1 cache over any number of strided operands. Eager pointwise
 * operators, fusion groups and their compiled forms all start from a Kernel, so fusing does not change bits.
 *
 *   tile/vector_math.h  elementary functions over arrays, at most 2 ulp
 *   tile/kernel_ir.h    Kernel: registers, instructions, text form
 *   tile/formula.h      formula text (`1 / (1 + exp(-self))`) -> Kernel
 *   tile/run.h          the tile interpreter */
#pragma once
