#include "tile/in_place.h"

#include <assert.h>

#include "tile/run.h"

static void set_number(TileInPlace *t, int reg, double value) {
  for (int i = 0; i < IN_PLACE_SPAN; i++) t->numbers[reg][i] = (float)value;
}

/* The arguments' numbers; where the tensor is. */
static bool set_arguments(TileInPlace *t, const TileArgument *arguments) {
  t->tensor = -1;
  for (int i = 0; i < t->kernel->argument_count; i++) {
    if (!t->kernel->used[i]) continue;
    if (t->kernel->types[i] != TILE_F32) return false;
    if (arguments[i].kind == TILE_ARG_INT)
      set_number(t, i, (double)arguments[i].i);
    else if (arguments[i].kind == TILE_ARG_FLOAT)
      set_number(t, i, arguments[i].f);
    else if (arguments[i].kind == TILE_ARG_TENSOR && t->tensor < 0)
      t->tensor = i;
    else
      return false;
  }
  return t->tensor >= 0;
}

bool tile_in_place_begin(TileInPlace *t, const TileKernel *kernel, const TileArgument *arguments) {
  int last = kernel->register_count - 1, first_ins = kernel->argument_count + kernel->constant_count;
  if (kernel->register_count > IN_PLACE_VALUES || !kernel->ins_count || kernel->has_lines ||
      kernel->output_count != 1 || kernel->outputs[0] != last)
    return false;
  for (int i = 0; i < kernel->ins_count; i++) {
    TileType type = (TileType)kernel->types[first_ins + i];
    if (!kernel->ins[i].loop || kernel->ins[i].may_divide_by_zero || (type != TILE_F32 && type != TILE_BOOL))
      return false;
  }
  t->kernel = kernel;
  for (int i = kernel->argument_count; i < first_ins; i++) {
    if (kernel->types[i] != TILE_F32) return false;
    set_number(t, i, __real__ kernel->constants[i - kernel->argument_count].value);
  }
  return kernel->types[last] == TILE_F32 && set_arguments(t, arguments);
}

size_t tile_in_place_bytes(const TileKernel *kernel) {
  size_t used = (size_t)(kernel->argument_count + kernel->constant_count);
  return offsetof(TileInPlace, numbers) + used * sizeof(float[IN_PLACE_SPAN]);
}

/* The last instruction alone writes to x: it is the only one that nobody reads x after. */
void tile_in_place(const TileInPlace *t, int64_t n, float *x) {
  const TileKernel *kernel = t->kernel;
  assert(n <= IN_PLACE_SPAN && kernel->register_count <= IN_PLACE_VALUES);
  int first_ins = kernel->argument_count + kernel->constant_count;
  _Alignas(64) float places[IN_PLACE_VALUES][IN_PLACE_SPAN];
  const void *values[IN_PLACE_VALUES];
  for (int i = 0; i < first_ins; i++) values[i] = i == t->tensor ? x : t->numbers[i];
  for (int i = 0; i < kernel->ins_count; i++) {
    const TileIns *ins = &kernel->ins[i];
    void *to = i + 1 < kernel->ins_count ? places[i] : x;
    const void *a = values[ins->a];
    ins->loop(n, to, a, ins->b == KERNEL_NO_VALUE ? a : values[ins->b], ins->c == KERNEL_NO_VALUE ? a : values[ins->c]);
    values[first_ins + i] = to;
  }
}
