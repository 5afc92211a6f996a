/* Each kind of activation; the formula is gelu's. */
#pragma once

#include "checks.h"
#include "compute/activation.h"
#include "tile/formula.h"
#include "tile/in_place.h"

static inline const TileInPlace *gelu_in_place(void) {
  static TileInPlace gelu;
  if (gelu.kernel) return &gelu;
  static const FormulaParameter self = {{"self", 4}, FORMULA_TENSOR, true};
  const TileArgument argument = {.kind = TILE_ARG_TENSOR};
  static KernelProgram *program; /* of the process: the kernel is borrowed from it */
  const TileKernel *kernel;
  check(kernel_program_new(STR("gelu(self)"), 1, &self, &program));
  check(kernel_program_kernel(program, TILE_F32, &argument, &kernel));
  assert_true(tile_in_place_begin(&gelu, kernel, &argument));
  return &gelu;
}
static inline Activation activation(uint64_t which, float low, float high) {
  Activation a = {.kind = (ActivationKind)(which % ACTIVATION_COUNT), .low = low, .high = high};
  if (a.kind == ACTIVATION_FORMULA) a.formula = gelu_in_place();
  return a;
}
