/* Loops: for each operation and type the loop over a block that computes it. */
#pragma once

#include "tile/kernel_ir.h"

/* to and the operands are blocks of n elements, aligned or not; `to` may be one of the operands. */
typedef void TileLoop(int64_t n, void *to, const void *a, const void *b, const void *c);

typedef TileLoop *TileLoopTable[KERNEL_OP_COUNT][TILE_TYPE_COUNT];

/* The loop of this processor; NULL when the operation has no meaning in the type. */
TileLoop *tile_loop(KernelOp op, TileType type);
/* What goes into a block and out of it. */
TileLoop *tile_cast_loop(TileType from, TileType to); /* NULL when equal */
/* Contiguous elements of a dtype into a block and out of it; NULL when there is none faster than dtype_convert. */
TileLoop *tile_load_loop(DType from, TileType to);
TileLoop *tile_store_loop(TileType from, DType to);

typedef struct TileLoops {
  TileLoopTable loops;
  TileLoop *casts[TILE_TYPE_COUNT][TILE_TYPE_COUNT]; /* from, to */
  TileLoop *loads[DTYPE_COUNT][TILE_TYPE_COUNT];     /* dtypes that no register is laid out as */
  TileLoop *stores[DTYPE_COUNT][TILE_TYPE_COUNT];
} TileLoops;
/* The same text compiled for several instruction sets (loops_body.h). */
extern const TileLoops tile_loops_portable, tile_loops_avx2, tile_loops_neon;
extern const TileLoopTable tile_loops_avx512; /* only the frequent float32 ones */
/* What stays with libm, and complex numbers: one for all processors. */
extern const TileLoopTable tile_loops_libm, tile_loops_complex;
/* Python's remainder, of any two numbers. */
float tile_mod_f32(float x, float y);
extern TileLoop *const tile_complex_casts[TILE_TYPE_COUNT][TILE_TYPE_COUNT];
