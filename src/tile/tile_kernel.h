/* TileKernel: a kernel as the tile interpreter runs it, made of a KernelIr. A value becomes a register, which stands
 * for one block of elements and lives in a buffer that it shares with values whose lives don't overlap; operations have
 * the loops of this processor. */
#pragma once

#include "tile/loops.h"

typedef struct TileIns {
  uint8_t op, type;
  uint16_t immediate;
  uint16_t a, b, c;        /* registers: the values' numbers */
  bool may_divide_by_zero; /* integers: the interpreter looks before */
  TileLoop *loop;          /* NULL for ROUND_TO, SPECIAL and LINE */
} TileIns;

/* Registers that hold one number along a line. */
enum { TILE_UNIFORM = 1, TILE_SPREAD = 2 /* a whole block of it is asked for */ };

/* A block of compiled code: values[r] is register r's block of n elements, or of one element where it is uniform. */
typedef void TileBlock(int64_t n, char *const *values);
typedef struct TileStep {
  TileBlock *block; /* NULL: the loop of instruction `ins` */
  uint16_t ins;
} TileStep;

/* What is run in place of the instructions, where somebody compiled them (native/native_kernel.h): steps, of which some
 * stand for many instructions. Which registers are uniform was settled then. */
typedef struct TileCompiled {
  int step_count, uniform_count; /* the latter of instructions; they are run one by one, once for each line */
  bool has_spread;
  bool is_in_order; /* one block, which writes the last register after it has read all */
  const TileStep *steps;
  const uint8_t *uniform;         /* of each register */
  const struct TileKernel *other; /* for runs where such an argument moves; NULL: there are none */
} TileCompiled;

/* Immutable. */
typedef struct TileKernel {
  KernelIr *ir;                                                                /* held */
  int argument_count, constant_count, ins_count, output_count, register_count; /* as in `ir`, and so are the next */
  bool has_lines;
  const uint8_t *types;
  const bool *used;
  const KernelConstant *constants;
  const KernelValue *outputs;
  TileIns *ins;
  bool is_simple;   /* one instruction over arguments, and its loop can do without the interpreter */
  uint8_t widest;   /* bytes of the widest register's elements */
  int place_count;  /* buffers of temporary values that a run needs */
  uint16_t *places; /* the buffer of every register; KERNEL_NO_VALUE for unused arguments */
  size_t bytes;
  const TileCompiled *compiled; /* borrowed; NULL: instructions are run as they stand */
} TileKernel;
Status tile_kernel_new(KernelIr *ir, TileKernel **out) MUST_CHECK;
void tile_kernel_free(TileKernel *kernel); /* NULL is fine */
