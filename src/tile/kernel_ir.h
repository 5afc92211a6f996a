/* Kernel IR: KernelIr says what a computation computes for each element, and nothing of how: a straight list
 * of operations, each of which makes one value with a type and is never changed (static single assignment). Value
 * i < argument_count is argument i, loaded and converted to its type, or a number that is the same for all elements;
 * constants follow, then one value for each operation; values that are returned are what outputs store. Line functions
 * (tile/line.h) see all elements along the last dimension; the rest sees its own element alone. A kernel names no
 * buffers, loops or order of elements: the tile interpreter's kernel (tile/tile_kernel.h) and what fusion back ends
 * compile are made of it.
 *
 * The text form, as dumps and tests see it (`1 / (1 + exp(-self))` over float32):
 *
 *   kernel(%0: f32 self) {
 *     %1: f32 = constant 1
 *     %2: f32 = neg %0
 *     %3: f32 = exp %2
 *     %4: f32 = add %1, %3
 *     %5: f32 = div %1, %4
 *     return %5
 *   }                                                                                                              */
#pragma once

#include "base/str.h"
#include "tensor/dtype.h"

/* What a value is. ORDER tile type: tables are indexed by it; it is also the order of promotion. */
typedef enum TileType { TILE_BOOL, TILE_I64, TILE_F32, TILE_F64, TILE_C128, TILE_TYPE_COUNT } TileType;
TileType tile_type_of(DType dtype);        /* the type that computes for a dtype: half in f32, integers in i64, ... */
DType tile_type_dtype(TileType type);      /* how elements of it lie in memory */
const char *tile_type_name(TileType type); /* "f32" */

/* clang-format off */
/*  name, operands, result: SAME as the operands, BOOL, REAL (the operand's real type); types of the operands it is
 *  defined for: ANY, NUMBER (all but bool), ORDERED (i64, f32, f64), FLOATING (f32, f64, c128), REAL (f32, f64),
 *  INTEGER, LOGIC (bool, i64), OWN: as said here */
#define KERNEL_OPS(X) \
  /* one operand */ \
  X(NEG, 1, SAME, NUMBER) X(ABS, 1, REAL, NUMBER) X(SIGN, 1, SAME, NUMBER) X(SQUARE, 1, SAME, NUMBER) \
  X(RECIPROCAL, 1, SAME, FLOATING) X(EXP, 1, SAME, FLOATING) X(EXPM1, 1, SAME, FLOATING) \
  X(EXP2, 1, SAME, FLOATING) X(LOG, 1, SAME, FLOATING) X(LOG1P, 1, SAME, FLOATING) X(LOG2, 1, SAME, FLOATING) \
  X(LOG10, 1, SAME, FLOATING) X(SQRT, 1, SAME, FLOATING) X(RSQRT, 1, SAME, FLOATING) X(SIN, 1, SAME, FLOATING) \
  X(COS, 1, SAME, FLOATING) X(TAN, 1, SAME, FLOATING) X(ASIN, 1, SAME, FLOATING) X(ACOS, 1, SAME, FLOATING) \
  X(ATAN, 1, SAME, FLOATING) X(SINH, 1, SAME, FLOATING) X(COSH, 1, SAME, FLOATING) X(TANH, 1, SAME, FLOATING) \
  X(ASINH, 1, SAME, FLOATING) X(ACOSH, 1, SAME, FLOATING) X(ATANH, 1, SAME, FLOATING) \
  X(SIGMOID, 1, SAME, FLOATING) X(ERF, 1, SAME, REAL) X(ERFC, 1, SAME, REAL) X(GELU, 1, SAME, REAL) X(HARDSWISH, 1, SAME, REAL) \
  X(FLOOR, 1, SAME, ORDERED) X(CEIL, 1, SAME, ORDERED) X(ROUND, 1, SAME, ORDERED) X(TRUNC, 1, SAME, ORDERED) X(NOT, 1, SAME, LOGIC) \
  X(ISNAN, 1, BOOL, NUMBER) X(ISINF, 1, BOOL, NUMBER) X(SIGNBIT, 1, BOOL, ORDERED) X(ANGLE, 1, REAL, FLOATING) \
  X(REAL, 1, REAL, NUMBER) X(IMAG, 1, REAL, FLOATING) X(CONJ, 1, SAME, NUMBER) \
  /* two */ \
  X(ADD, 2, SAME, NUMBER) X(SUB, 2, SAME, NUMBER) X(MUL, 2, SAME, NUMBER) X(DIV, 2, SAME, FLOATING) \
  X(FLOORDIV, 2, SAME, ORDERED) X(TRUNCDIV, 2, SAME, ORDERED) X(MOD, 2, SAME, ORDERED) X(FMOD, 2, SAME, ORDERED) \
  X(POW, 2, SAME, NUMBER) X(ATAN2, 2, SAME, REAL) X(HYPOT, 2, SAME, REAL) X(COPYSIGN, 2, SAME, REAL) \
  X(NEXTAFTER, 2, SAME, REAL) X(LEAKY_RELU, 2, SAME, REAL) X(MIN, 2, SAME, ORDERED) X(MAX, 2, SAME, ORDERED) X(FMIN, 2, SAME, ORDERED) \
  X(FMAX, 2, SAME, ORDERED) X(AND, 2, SAME, LOGIC) X(OR, 2, SAME, LOGIC) X(XOR, 2, SAME, LOGIC) \
  X(SHL, 2, SAME, INTEGER) X(SHR, 2, SAME, INTEGER) X(EQ, 2, BOOL, NUMBER) X(NE, 2, BOOL, NUMBER) \
  X(LT, 2, BOOL, ORDERED) X(LE, 2, BOOL, ORDERED) X(GT, 2, BOOL, ORDERED) X(GE, 2, BOOL, ORDERED) \
  /* c is a BOOL value */ \
  X(SELECT, 3, SAME, ANY) /* c ? a : b */ \
  /* with an immediate */ \
  X(CAST, 1, SAME, OWN)     /* to the operation's type, from type `immediate` */ \
  X(ROUND_TO, 1, SAME, OWN) /* to what dtype `immediate` can hold, as if stored and loaded: between fused operators */ \
  X(SPECIAL, 3, SAME, OWN)  /* the function `immediate` of tile/special.h, of one to three operands */ \
  X(LINE, 2, SAME, OWN)     /* the function `immediate` of tile/line.h over the line of a; b: its constant */
/* clang-format on */

typedef enum KernelOp {
#define X(name, operands, result, types) KERNEL_##name,
  KERNEL_OPS(X)
#undef X
      KERNEL_OP_COUNT
} KernelOp;
const char *kernel_op_name(KernelOp op); /* "add" */
int kernel_op_operands(KernelOp op);

bool kernel_op_is_defined(KernelOp op, TileType type);

typedef uint16_t KernelValue; /* its number */
typedef struct KernelIns {
  uint8_t op;   /* KernelOp */
  uint8_t type; /* TileType of the operands a and b (of the result for CAST and ROUND_TO) */
  uint16_t immediate;
  KernelValue a, b, c; /* KERNEL_NO_VALUE where there is none */
} KernelIns;

typedef struct KernelConstant {
  complex128 value;
  int64_t integer; /* what an I64 or BOOL one holds */
} KernelConstant;

enum { KERNEL_MAX_ARGUMENTS = 32, KERNEL_MAX_OUTPUTS = 16, KERNEL_MAX_VALUES = 1024, KERNEL_NO_VALUE = 0xffff };

/* Immutable; counted. */
typedef struct KernelIr {
  RefCount refs;
  int argument_count, constant_count, ins_count, output_count, value_count;
  bool has_lines; /* a LINE among the operations */
  uint8_t *types; /* TileType of every value */
  bool used[KERNEL_MAX_ARGUMENTS];
  char *names[KERNEL_MAX_ARGUMENTS]; /* for dumps; may be NULL */
  KernelConstant *constants;         /* values argument_count .. */
  KernelIns *ins;                    /* values argument_count + constant_count ..; operands come before their users */
  KernelValue outputs[KERNEL_MAX_OUTPUTS];
  _Atomic(void *) for_devices; /* of an operator's kernel: what devices made of it (fuse/device_formula.c); or NULL */
} KernelIr;
KernelIr *kernel_retain(KernelIr *kernel);
void kernel_release(KernelIr *kernel); /* NULL is fine */
void kernel_print(const KernelIr *kernel, StrBuf *out);

/* ---- building: formulas and fusion groups append instructions, then finish ----
 * Operands may be of any types: they are cast to the widest (bool and bool to i64 for arithmetic). Equal instructions
 * are made once; operations on constants stay. A builder that failed
 * stays failed: the error comes out of kernel_builder_finish. */
typedef struct KernelBuilder KernelBuilder;
Status kernel_builder_new(int argument_count, const TileType *types, KernelBuilder **out) MUST_CHECK;
void kernel_builder_free(KernelBuilder *builder);
/* One more argument; at most KERNEL_MAX_ARGUMENTS. */
KernelValue kernel_add_argument(KernelBuilder *builder, TileType type);
void kernel_builder_name_argument(KernelBuilder *builder, int argument, Str name);
KernelValue kernel_argument(KernelBuilder *builder, int argument);
KernelValue kernel_constant(KernelBuilder *builder, TileType type, complex128 value);
KernelValue kernel_integer(KernelBuilder *builder, int64_t value);
KernelValue kernel_cast(KernelBuilder *builder, KernelValue value, TileType type);
KernelValue kernel_round_to(KernelBuilder *builder, KernelValue value, DType dtype);
/* Unused operands are KERNEL_NO_VALUE. */
KernelValue kernel_emit(KernelBuilder *builder, KernelOp op, KernelValue a, KernelValue b, KernelValue c);
KernelValue kernel_special(KernelBuilder *builder, int function, KernelValue a, KernelValue b, KernelValue c);
/* eps: what LINE_NORMALIZE adds to the variance. */
KernelValue kernel_line(KernelBuilder *builder, int function, KernelValue a, double eps);
TileType kernel_type(const KernelBuilder *builder, KernelValue value);
void kernel_fail(KernelBuilder *builder, Status status); /* takes the error over */
/* Drops what no output needs and numbers the rest. The builder is spent and freed, whatever happens. */
Status kernel_builder_finish(KernelBuilder *builder, int output_count, const KernelValue *outputs,
                             KernelIr **out) MUST_CHECK;
