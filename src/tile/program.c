/* KernelProgram: a formula and the kernels made of it so far, one slot for each type of computation and outcome of
 * choices. A slot is filled once: threads that race lower the same kernel and all but one discard theirs. */
#include "base/heap.h"
#include "tile/formula.h"

struct KernelProgram {
  Formula *formula;
  size_t slot_count;
  _Atomic(TileKernel *) slots[];
};

Status kernel_program_new(Str text, int count, const FormulaParameter *parameters, KernelProgram **out) {
  *out = NULL;
  Formula *formula;
  TRY(formula_parse(text, count, parameters, &formula));
  size_t slot_count = (size_t)TILE_TYPE_COUNT << formula_choice_count(formula);
  KernelProgram *program = mem_calloc(1, sizeof *program + slot_count * sizeof program->slots[0]);
  if (!program) {
    formula_free(formula);
    return status_out_of_memory();
  }
  program->formula = formula;
  program->slot_count = slot_count;
  *out = program;
  return OK;
}

void kernel_program_free(KernelProgram *program) {
  if (!program) return;
  for (size_t i = 0; i < program->slot_count; i++) tile_kernel_free(program->slots[i]);
  formula_free(program->formula);
  mem_free(program);
}

const Formula *kernel_program_formula(const KernelProgram *program) {
  return program->formula;
}

static Status lower(const Formula *formula, TileType compute, uint32_t choices, int count,
                    const TileArgument *arguments, TileKernel **out) {
  HEAP_SCOPE(NULL); /* operators carry programs */
  TileType types[FORMULA_MAX_PARAMETERS];
  KernelValue registers[FORMULA_MAX_PARAMETERS], results[KERNEL_MAX_OUTPUTS];
  formula_argument_types(formula, compute, types);
  KernelBuilder *builder;
  TRY(kernel_builder_new(count, types, &builder));
  for (int i = 0; i < count; i++) {
    registers[i] = arguments[i].kind == TILE_ARG_NONE ? KERNEL_NO_VALUE : kernel_argument(builder, i);
    kernel_builder_name_argument(builder, i, formula_parameter_name(formula, i));
  }
  formula_lower(formula, compute, choices, builder, registers, results);
  KernelIr *ir;
  TRY(kernel_builder_finish(builder, formula_result_count(formula), results, &ir));
  Status status = tile_kernel_new(ir, out);
  kernel_release(ir);
  return status;
}

Status kernel_program_kernel(KernelProgram *program, TileType compute, const TileArgument *arguments,
                             const TileKernel **out) {
  uint32_t choices = formula_choices(program->formula, arguments);
  _Atomic(TileKernel *) *slot = &program->slots[(size_t)choices * TILE_TYPE_COUNT + compute];
  TileKernel *kernel = atomic_load_explicit(slot, memory_order_acquire);
  if (!kernel) {
    TRY(lower(program->formula, compute, choices, formula_parameter_count(program->formula), arguments, &kernel));
    TileKernel *expected = NULL;
    if (!atomic_compare_exchange_strong(slot, &expected, kernel)) {
      tile_kernel_free(kernel);
      kernel = expected;
    }
  }
  *out = kernel;
  return OK;
}
