/* Kernel IR: TileKernel, a pointwise computation as a straight list of instructions over typed virtual registers. A
 * register stands for one block of elements; register i < argument_count is argument i of the formula (loaded and
 * converted to its type, or a number spread over the block), constants follow, then one register for each instruction.
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

#include "tensor/tensor.h"

/* What a register holds. ORDER tile type: tables are indexed by it; it is also the order of promotion. */
typedef enum TileType { TILE_BOOL, TILE_I64, TILE_F32, TILE_F64, TILE_C128, TILE_TYPE_COUNT } TileType;
TileType tile_type_of(DType dtype);        /* the type that computes for a dtype: half in f32, integers in i64, ... */
DType tile_type_dtype(TileType type);      /* how a register's block is laid out */
const char *tile_type_name(TileType type); /* "f32" */

/* clang-format off */
/*  name, operands, result: SAME as the operands, BOOL, REAL (the operand's real type) */
#define KERNEL_OPS(X) \
  /* one operand */ \
  X(NEG, 1, SAME) X(ABS, 1, REAL) X(SIGN, 1, SAME) X(SQUARE, 1, SAME) X(RECIPROCAL, 1, SAME) \
  X(EXP, 1, SAME) X(EXPM1, 1, SAME) X(EXP2, 1, SAME) X(LOG, 1, SAME) X(LOG1P, 1, SAME) X(LOG2, 1, SAME) \
  X(LOG10, 1, SAME) \
  X(SQRT, 1, SAME) X(RSQRT, 1, SAME) X(SIN, 1, SAME) X(COS, 1, SAME) X(TAN, 1, SAME) X(ASIN, 1, SAME) X(ACOS, 1, SAME) \
  X(ATAN, 1, SAME) X(SINH, 1, SAME) X(COSH, 1, SAME) X(TANH, 1, SAME) X(ASINH, 1, SAME) X(ACOSH, 1, SAME) \
  X(ATANH, 1, SAME) X(SIGMOID, 1, SAME) X(ERF, 1, SAME) X(ERFC, 1, SAME) \
  X(FLOOR, 1, SAME) X(CEIL, 1, SAME) X(ROUND, 1, SAME) X(TRUNC, 1, SAME) \
  X(NOT, 1, SAME) X(ISNAN, 1, BOOL) X(ISINF, 1, BOOL) X(SIGNBIT, 1, BOOL) X(ANGLE, 1, REAL) X(REAL, 1, REAL) \
  X(IMAG, 1, REAL) X(CONJ, 1, SAME) \
  /* two */ \
  X(ADD, 2, SAME) X(SUB, 2, SAME) X(MUL, 2, SAME) X(DIV, 2, SAME) X(FLOORDIV, 2, SAME) X(TRUNCDIV, 2, SAME) \
  X(MOD, 2, SAME) X(FMOD, 2, SAME) X(POW, 2, SAME) X(ATAN2, 2, SAME) X(HYPOT, 2, SAME) X(COPYSIGN, 2, SAME) \
  X(NEXTAFTER, 2, SAME) X(MIN, 2, SAME) X(MAX, 2, SAME) X(FMIN, 2, SAME) X(FMAX, 2, SAME) \
  X(AND, 2, SAME) X(OR, 2, SAME) X(XOR, 2, SAME) X(SHL, 2, SAME) X(SHR, 2, SAME) \
  X(EQ, 2, BOOL) X(NE, 2, BOOL) X(LT, 2, BOOL) X(LE, 2, BOOL) X(GT, 2, BOOL) X(GE, 2, BOOL) \
  /* c is a BOOL register */ \
  X(SELECT, 3, SAME) /* c ? a : b */ \
  /* with an immediate */ \
  X(CAST, 1, SAME)    /* to the instruction's type, from type `immediate` */ \
  X(ROUND_TO, 1, SAME) /* to what dtype `immediate` can hold, as if stored and loaded: between fused operators */ \
  X(SPECIAL, 3, SAME) /* the function `immediate` of tile/special.h, of one to three operands */
/* clang-format on */

typedef enum KernelOp {
#define X(name, operands, result) KERNEL_##name,
  KERNEL_OPS(X)
#undef X
      KERNEL_OP_COUNT
} KernelOp;
const char *kernel_op_name(KernelOp op); /* "add" */
int kernel_op_operands(KernelOp op);

/* to and the operands are blocks of n elements, aligned or not; `to` may be one of the operands. */
typedef void TileLoop(int64_t n, void *to, const void *a, const void *b, const void *c);

typedef struct KernelIns {
  uint8_t op;   /* KernelOp */
  uint8_t type; /* TileType of the operands a and b (of the result for CAST and ROUND_TO) */
  uint16_t immediate;
  uint16_t a, b, c;        /* registers */
  TileLoop *loop;          /* NULL for ROUND_TO and SPECIAL */
  bool may_divide_by_zero; /* integers: the interpreter looks before */
} KernelIns;

typedef struct KernelConstant {
  complex128 value;
  int64_t integer; /* what an I64 or BOOL one holds */
} KernelConstant;

enum { KERNEL_MAX_ARGUMENTS = 32, KERNEL_MAX_OUTPUTS = 16, KERNEL_MAX_REGISTERS = 1024, KERNEL_NO_REGISTER = 0xffff };

/* Immutable once finished; counted. */
typedef struct TileKernel {
  RefCount refs;
  int argument_count, constant_count, ins_count, output_count, register_count;
  bool is_simple;   /* one instruction over arguments, and its loop can do without the interpreter */
  uint8_t widest;   /* bytes of the widest register's elements */
  int place_count;  /* buffers of temporary values that a run needs */
  uint8_t *types;   /* TileType of every register */
  uint16_t *places; /* the buffer of every register; KERNEL_NO_REGISTER for unused arguments */
  bool used[KERNEL_MAX_ARGUMENTS];
  char *names[KERNEL_MAX_ARGUMENTS];    /* for dumps; may be NULL */
  KernelConstant *constants;            /* registers argument_count .. */
  KernelIns *ins;                       /* registers argument_count + constant_count .. */
  uint16_t outputs[KERNEL_MAX_OUTPUTS]; /* registers */
} TileKernel;
TileKernel *kernel_retain(TileKernel *kernel);
void kernel_release(TileKernel *kernel); /* NULL is fine */
void kernel_print(const TileKernel *kernel, StrBuf *out);

/* ---- building: formulas and fusion groups append instructions, then finish ----
 * Operands may be of any types: they are cast to the widest (bool and bool to i64 for arithmetic). Equal instructions
 * are made once; operations on constants stay (the first run of a block pays for them once). A builder that failed
 * stays failed: the error comes out of kernel_builder_finish. */
typedef struct KernelBuilder KernelBuilder;
typedef uint16_t KernelReg;
Status kernel_builder_new(int argument_count, const TileType *types, KernelBuilder **out) MUST_CHECK;
void kernel_builder_free(KernelBuilder *builder);
/* One more argument; at most KERNEL_MAX_ARGUMENTS. */
KernelReg kernel_add_argument(KernelBuilder *builder, TileType type);
void kernel_builder_name_argument(KernelBuilder *builder, int argument, Str name);
KernelReg kernel_argument(KernelBuilder *builder, int argument);
KernelReg kernel_constant(KernelBuilder *builder, TileType type, complex128 value);
KernelReg kernel_integer(KernelBuilder *builder, int64_t value);
KernelReg kernel_cast(KernelBuilder *builder, KernelReg value, TileType type);
KernelReg kernel_round_to(KernelBuilder *builder, KernelReg value, DType dtype);
/* Unused operands are KERNEL_NO_REGISTER. */
KernelReg kernel_emit(KernelBuilder *builder, KernelOp op, KernelReg a, KernelReg b, KernelReg c);
KernelReg kernel_special(KernelBuilder *builder, int function, KernelReg a, KernelReg b, KernelReg c);
TileType kernel_type(const KernelBuilder *builder, KernelReg value);
void kernel_fail(KernelBuilder *builder, Status status); /* takes the error over */
/* Chooses loops and buffers, drops what no output needs. The builder is spent and freed, whatever happens. */
Status kernel_builder_finish(KernelBuilder *builder, int output_count, const KernelReg *outputs,
                             TileKernel **out) MUST_CHECK;
