/* What the files of the tile interpreter share: a run, its operands, and what one thread works with. */
#pragma once

#include "tensor/iterate.h"
#include "tile/run.h"

enum {
  BUFFER_BYTES = 48 << 10,
  MAX_BLOCK = 1024,
  SPREAD_BLOCK = 256,
  GRAIN = 12288,
  HEAVY_GRAIN = 8192,
  SHORT_LINE = 128,
  MAX_PLACES = 96,
  MAX_GATHERED = 64
};

/* A tensor of the run: the outputs first, then the arguments that are not one number for all elements. */
typedef struct Operand {
  DType dtype;
  uint16_t reg;
  int64_t size;      /* of an element, in bytes */
  bool same_layout;  /* the register's type is the tensor's */
  bool is_target;    /* an output that the instruction which computes it may write itself */
  TileLoop *convert; /* for contiguous elements, when there is one faster than dtype_convert */
} Operand;

typedef struct Number { /* a register that holds one number for all elements */
  uint16_t reg;
  KernelConstant value;
} Number;

typedef struct Run {
  const TileKernel *kernel;
  int uniform_count;      /* of instructions */
  int own_places;         /* that their values live in, after the kernel's; 0: in the kernel's */
  const uint8_t *uniform; /* of each register: TILE_UNIFORM, TILE_SPREAD; NULL: none is */
  uint8_t found_uniform[KERNEL_MAX_VALUES];
  int operand_count, number_count;
  int64_t block, place_bytes;
  _Atomic bool divided_by_zero;
  Operand operands[ITERATE_MAX_OPERANDS];
  const Tensor *tensors[ITERATE_MAX_OPERANDS];
  Number numbers[KERNEL_MAX_ARGUMENTS];
} Run;

/* What one thread works with. */
typedef struct Worker {
  Run *run;
  char *buffer;
  char *values[KERNEL_MAX_VALUES]; /* the block of every register; whose memory is not a buffer's is set per line */
} Worker;

/* Operands: the outputs, then what arguments are no numbers, for a computation of numel elements. */
Status tile_run_begin(Run *run, const TileKernel *kernel, int64_t numel, const TileArgument *arguments,
                      Tensor *const *outputs) MUST_CHECK;
/* Fills what constants and numbers of a block of at most n elements are; gives every register its place. */
void tile_start_worker(Worker *worker, Run *run, char *buffer, int64_t n);
/* Not for LINE. */
void tile_run_instruction(Run *run, const TileIns *ins, int64_t n, void *to, char *const *values);
/* n elements between an operand's memory, at a stride of bytes, and a register's block. */
void tile_load(const Run *run, const Operand *operand, char *to, const char *from, int64_t stride, int64_t n);
void tile_store(const Run *run, const Operand *operand, char *to, int64_t stride, const char *from, int64_t n);
/* n times the element of `size` bytes at `from`, which may be to[0]. */
void tile_repeat(int64_t size, char *to, const char *from, int64_t n);

/* tile_run for kernels with line functions (run_lines.c). */
Status tile_run_lines(const TileKernel *kernel, int threads, const TileArgument *arguments,
                      Tensor *const *outputs) MUST_CHECK;
