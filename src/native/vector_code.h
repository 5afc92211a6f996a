/* VectorCode: what one segment of a kernel computes for a vector of elements, in operations that machines have. Values
 * are numbered and made once. A machine's emitter (x86_emit.h) gives them registers and writes the loop around. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tile/kernel_ir.h"

/* What a value is, in a register. ORDER vector kind */
typedef enum VectorKind { VECTOR_F32, VECTOR_F64, VECTOR_I64, VECTOR_MASK /* a bit for each element */ } VectorKind;
VectorKind vector_kind_of(TileType type); /* of all but complex numbers */

/* clang-format off */
/*  name, operands, result: V the operation's kind, M a mask, or a kind by its letters; what it takes where that is not
 *  clear. Bits are those of the kind's elements. */
#define VECTOR_OPS(X) \
  X(LOAD, 0, V)     /* the elements of the kernel's value `immediate` */ \
  X(STORE, 1, V)    /* no result: a to the elements of value `immediate` */ \
  X(REPEAT, 0, V)   /* value `immediate` is one number for all elements; before the loop */ \
  X(CONSTANT, 0, V) /* all elements have the bits `immediate`; before the loop */ \
  X(ADD, 2, V) X(SUB, 2, V) X(MUL, 2, V) X(DIV, 2, V) X(SQRT, 1, V) \
  X(FMA, 3, V)      /* a * b + c, rounded once */ \
  X(MIN, 2, V)      /* a < b ? a : b, and so b where one is NaN */ \
  X(MAX, 2, V)      /* a > b ? a : b */ \
  X(ROUND, 1, V)    /* to an integer as `immediate`, a VectorRounding, says */ \
  X(COMPARE, 2, M)  /* `immediate` is a VectorComparison */ \
  X(IS_NOT_ZERO, 1, M) /* of I64 */ \
  X(SIGN_BIT, 1, M) \
  X(CHOOSE, 3, V)   /* c ? a : b */ \
  X(WHERE, 2, V)    /* b ? a : 0 */ \
  X(AND, 2, V) X(OR, 2, V) X(XOR, 2, V) X(ABS, 1, V) /* of I64 */ \
  X(ADD_BITS, 2, V) X(SUB_BITS, 2, V) X(MIN_BITS, 2, V) /* of 32 */ X(SHIFT_LEFT, 1, V) X(SHIFT_RIGHT, 1, V) /* by `immediate`, zeros come in; of elements as integers */ \
  X(NOT, 1, V)      /* of a mask */ \
  X(AND_NOT, 2, V)  /* of masks: not a, and b */ \
  X(I64_TO_F32, 1, F32) X(I64_TO_F64, 1, F64) X(F32_TO_F64, 1, F64) X(F64_TO_F32, 1, F32) \
  X(F32_TO_I64, 1, I64) X(F64_TO_I64, 1, I64) /* truncated; out of range INT64_MIN */ \
  X(ROUND_TO_HALF, 1, V) /* what float16 can hold */
/* clang-format on */

typedef enum VectorOp {
#define X(name, ...) VECTOR_##name,
  VECTOR_OPS(X)
#undef X
      VECTOR_OP_COUNT
} VectorOp;

typedef enum VectorRounding { VECTOR_NEAREST, VECTOR_DOWN, VECTOR_UP, VECTOR_TOWARDS_ZERO } VectorRounding;
/* False where an operand is NaN, but for NE and UNORDERED. ORDER vector comparison */
typedef enum VectorComparison {
  VECTOR_EQ,
  VECTOR_NE,
  VECTOR_LT,
  VECTOR_LE,
  VECTOR_GT,
  VECTOR_GE,
  VECTOR_UNORDERED
} VectorComparison;

typedef uint16_t VectorValue; /* the number of the instruction that makes it */
enum { VECTOR_NO_VALUE = 0xffff, VECTOR_MAX_CODE = 4096 };
typedef struct VectorIns {
  uint8_t op, kind; /* VectorOp; VectorKind of what it works on */
  VectorValue operands[3];
  int64_t immediate;
} VectorIns;

typedef struct VectorCode {
  int count, lanes; /* instructions; elements of a vector */
  bool is_full;     /* more instructions were wanted than there may be */
  VectorIns ins[VECTOR_MAX_CODE];
  VectorValue of_values[KERNEL_MAX_VALUES]; /* of the kernel: what stands for them here; or VECTOR_NO_VALUE */
} VectorCode;

/* For a kernel of as many values; `is_wide`: some of what comes has elements of 64 bits. */
void vector_code_begin(VectorCode *code, int value_count, int lanes);
VectorValue vector_add(VectorCode *code, VectorOp op, VectorKind kind, VectorValue a, VectorValue b, VectorValue c,
                       int64_t immediate);
VectorKind vector_result_kind(const VectorCode *code, VectorValue value);
/* The number in all elements, as bits of the kind. */
VectorValue vector_constant(VectorCode *code, VectorKind kind, double number);
VectorValue vector_bits(VectorCode *code, VectorKind kind, int64_t bits);

/* ---- kernels' operations (expand.c) ---- */
/* Whether there is vector code for it. */
bool vector_has(const KernelIns *ins);
/* Appends what computes the value that `ins` makes. Its operands stand in of_values. */
VectorValue vector_expand(VectorCode *code, const KernelIns *ins);
