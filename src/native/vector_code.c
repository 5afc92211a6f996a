/* Building vector code. */
#include "native/vector_code.h"

#include <assert.h>
#include <string.h>

typedef enum Result { RESULT_V, RESULT_M, RESULT_F32, RESULT_F64, RESULT_I64 } Result;
static const uint8_t results[VECTOR_OP_COUNT] = {
#define X(name, operands, result) [VECTOR_##name] = RESULT_##result,
    VECTOR_OPS(X)
#undef X
};

VectorKind vector_kind_of(TileType type) {
  static const VectorKind kinds[] = {
      [TILE_BOOL] = VECTOR_MASK, [TILE_I64] = VECTOR_I64, [TILE_F32] = VECTOR_F32, [TILE_F64] = VECTOR_F64};
  assert(type < TILE_C128);
  return kinds[type];
}

void vector_code_begin(VectorCode *code, int value_count, int lanes) {
  assert(value_count <= KERNEL_MAX_VALUES);
  code->count = 0;
  code->lanes = lanes;
  code->is_full = false;
  memset(code->of_values, 0xff, sizeof code->of_values[0] * (size_t)value_count);
}

VectorValue vector_add(VectorCode *code, VectorOp op, VectorKind kind, VectorValue a, VectorValue b, VectorValue c,
                       int64_t immediate) {
  if (code->count == VECTOR_MAX_CODE) {
    code->is_full = true;
    return 0;
  }
  code->ins[code->count] = (VectorIns){(uint8_t)op, (uint8_t)kind, {a, b, c}, immediate};
  return (VectorValue)code->count++;
}

VectorKind vector_result_kind(const VectorCode *code, VectorValue value) {
  assert(value < code->count);
  const VectorIns *ins = &code->ins[value];
  switch ((Result)results[ins->op]) {
    case RESULT_M:
      return VECTOR_MASK;
    case RESULT_F32:
      return VECTOR_F32;
    case RESULT_F64:
      return VECTOR_F64;
    case RESULT_I64:
      return VECTOR_I64;
    default:
      return (VectorKind)ins->kind;
  }
}

VectorValue vector_bits(VectorCode *code, VectorKind kind, int64_t bits) {
  for (int i = 0; i < code->count; i++) {
    const VectorIns *ins = &code->ins[i];
    if (ins->op == VECTOR_CONSTANT && ins->kind == kind && ins->immediate == bits) return (VectorValue)i;
  }
  return vector_add(code, VECTOR_CONSTANT, kind, VECTOR_NO_VALUE, VECTOR_NO_VALUE, VECTOR_NO_VALUE, bits);
}

VectorValue vector_constant(VectorCode *code, VectorKind kind, double number) {
  int64_t bits = (int64_t)number;
  if (kind == VECTOR_F32) {
    float narrow = (float)number;
    uint32_t narrow_bits;
    memcpy(&narrow_bits, &narrow, sizeof narrow);
    bits = narrow_bits;
  } else if (kind == VECTOR_F64) {
    memcpy(&bits, &number, sizeof bits);
  }
  return vector_bits(code, kind, bits);
}
