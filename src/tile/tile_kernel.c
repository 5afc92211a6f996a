/* Making the tile interpreter's kernel: buffers and loops for what a KernelIr says. */
#include "tile/tile_kernel.h"

#include <assert.h>

/* A buffer for each argument and constant that is used, and as few as the lives of the others need. */
static void choose_places(TileKernel *kernel) {
  assert(kernel->ir->value_count <= KERNEL_MAX_VALUES);
  int last_use[KERNEL_MAX_VALUES], free_places[KERNEL_MAX_VALUES], free_count = 0, next = 0;
  int first_ins = kernel->argument_count + kernel->constant_count;
  for (int i = 0; i < kernel->register_count; i++) last_use[i] = -1;
  for (int i = 0; i < kernel->ins_count; i++) {
    const uint16_t operands[3] = {kernel->ins[i].a, kernel->ins[i].b, kernel->ins[i].c};
    for (int k = 0; k < 3; k++)
      if (operands[k] != KERNEL_NO_VALUE) last_use[operands[k]] = i;
  }
  for (int i = 0; i < kernel->output_count; i++) last_use[kernel->outputs[i]] = kernel->ins_count;
  for (int i = 0; i < first_ins; i++)
    kernel->places[i] = i >= kernel->argument_count || kernel->used[i] ? (uint16_t)next++ : KERNEL_NO_VALUE;
  for (int i = 0; i < kernel->ins_count; i++) {
    kernel->places[first_ins + i] = (uint16_t)(free_count ? free_places[--free_count] : next++);
    const uint16_t operands[3] = {kernel->ins[i].a, kernel->ins[i].b, kernel->ins[i].c};
    for (int k = 0; k < 3; k++) {
      int r = operands[k];
      if (r == KERNEL_NO_VALUE || r < first_ins || last_use[r] != i) continue;
      free_places[free_count++] = kernel->places[r];
      last_use[r] = -2; /* freed once, though it may be two operands */
    }
  }
  kernel->place_count = next;
}

static bool is_integer_division(const TileIns *ins) {
  return ins->type == TILE_I64 &&
         (ins->op == KERNEL_FLOORDIV || ins->op == KERNEL_TRUNCDIV || ins->op == KERNEL_MOD || ins->op == KERNEL_FMOD);
}

static TileLoop *loop_of(const KernelIns *ins) {
  if (ins->op == KERNEL_CAST) return tile_cast_loop((TileType)ins->immediate, (TileType)ins->type);
  if (ins->op == KERNEL_ROUND_TO || ins->op == KERNEL_SPECIAL || ins->op == KERNEL_LINE) return NULL;
  TileLoop *loop = tile_loop((KernelOp)ins->op, (TileType)ins->type);
  assert(loop); /* the interpreter has all that the IR defines */
  return loop;
}

Status tile_kernel_new(KernelIr *ir, TileKernel **out) {
  size_t bytes = sizeof(TileKernel) + (size_t)ir->ins_count * sizeof(TileIns) + (size_t)ir->value_count * 2;
  TileKernel *kernel = mem_calloc(1, bytes); /* bounded by the IR's limits */
  *out = kernel;
  if (!kernel) return status_out_of_memory();
  kernel->ir = kernel_retain(ir);
  kernel->bytes = bytes;
  kernel->argument_count = ir->argument_count;
  kernel->constant_count = ir->constant_count;
  kernel->ins_count = ir->ins_count;
  kernel->output_count = ir->output_count;
  kernel->register_count = ir->value_count;
  kernel->has_lines = ir->has_lines;
  kernel->types = ir->types;
  kernel->used = ir->used;
  kernel->constants = ir->constants;
  kernel->outputs = ir->outputs;
  kernel->ins = (TileIns *)(kernel + 1);
  kernel->places = (uint16_t *)(kernel->ins + ir->ins_count);
  for (int i = 0; i < ir->ins_count; i++) {
    const KernelIns *from = &ir->ins[i];
    TileIns *to = &kernel->ins[i];
    *to = (TileIns){from->op, from->type, from->immediate, from->a, from->b, from->c, false, loop_of(from)};
    to->may_divide_by_zero = is_integer_division(to);
  }
  choose_places(kernel);
  for (int i = 0; i < ir->value_count; i++) {
    uint8_t item = (uint8_t)dtype_size(tile_type_dtype((TileType)ir->types[i]));
    if (item > kernel->widest) kernel->widest = item;
  }
  kernel->is_simple = ir->ins_count == 1 && ir->constant_count == 0 && ir->output_count == 1 && kernel->ins->loop &&
                      !kernel->ins->may_divide_by_zero && ir->outputs[0] == ir->value_count - 1;
  return OK;
}

void tile_kernel_free(TileKernel *kernel) {
  if (!kernel) return;
  kernel_release(kernel->ir);
  mem_free(kernel);
}
