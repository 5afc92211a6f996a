/* Kernel IR: building, finishing and printing kernels. While it is built a value's number says what it is (argument,
 * constant or operation); finishing drops the dead and numbers the rest in order. */
#include "tile/kernel_ir.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>

#include "tile/line.h"
#include "tile/special.h"

enum { FIRST_CONSTANT = 0x1000, FIRST_INS = 0x2000, MAX_CONSTANTS = 128, MAX_INS = 512 };
_Static_assert(KERNEL_MAX_ARGUMENTS + MAX_CONSTANTS + MAX_INS <= KERNEL_MAX_VALUES, "every value has a number");

typedef enum OpResult { RESULT_SAME, RESULT_BOOL, RESULT_REAL } OpResult;
enum {
  TYPES_OWN = 0,
  TYPES_INTEGER = 1 << TILE_I64,
  TYPES_LOGIC = TYPES_INTEGER | 1 << TILE_BOOL,
  TYPES_REAL = 1 << TILE_F32 | 1 << TILE_F64,
  TYPES_ORDERED = TYPES_REAL | TYPES_INTEGER,
  TYPES_FLOATING = TYPES_REAL | 1 << TILE_C128,
  TYPES_NUMBER = TYPES_FLOATING | TYPES_INTEGER,
  TYPES_ANY = TYPES_NUMBER | 1 << TILE_BOOL
};
static const struct {
  const char *name;
  uint8_t operands, result, types;
} op_rows[KERNEL_OP_COUNT] = {
#define X(name, operands, result, types) {#name, operands, RESULT_##result, TYPES_##types},
    KERNEL_OPS(X)
#undef X
};
int kernel_op_operands(KernelOp op) {
  return op_rows[op].operands;
}
const char *kernel_op_name(KernelOp op) {
  assert(op < KERNEL_OP_COUNT);
  return op_rows[op].name;
}
bool kernel_op_is_defined(KernelOp op, TileType type) {
  assert(op < KERNEL_OP_COUNT && type < TILE_TYPE_COUNT);
  return op_rows[op].types >> type & 1;
}

TileType tile_type_of(DType dtype) {
  switch (dtype) {
    case DTYPE_BOOL:
      return TILE_BOOL;
    case DTYPE_UINT8:
    case DTYPE_INT8:
    case DTYPE_INT16:
    case DTYPE_INT32:
    case DTYPE_INT64:
    case DTYPE_UINT16:
    case DTYPE_UINT32:
    case DTYPE_UINT64: /* the same bits; only rows that don't order or divide take it */
      return TILE_I64;
    case DTYPE_FLOAT64:
      return TILE_F64;
    case DTYPE_COMPLEX32:
    case DTYPE_COMPLEX64:
    case DTYPE_COMPLEX128:
      return TILE_C128;
    default:
      return TILE_F32;
  }
}
DType tile_type_dtype(TileType type) {
  static const uint8_t dtypes[TILE_TYPE_COUNT] = {DTYPE_BOOL, DTYPE_INT64, DTYPE_FLOAT32, DTYPE_FLOAT64,
                                                  DTYPE_COMPLEX128};
  return (DType)dtypes[type];
}
const char *tile_type_name(TileType type) {
  static const char *const names[TILE_TYPE_COUNT] = {"bool", "i64", "f32", "f64", "c128"};
  return names[type];
}

struct KernelBuilder {
  Status status;
  int argument_count, constant_count, ins_count;
  uint8_t argument_types[KERNEL_MAX_ARGUMENTS], constant_types[MAX_CONSTANTS], ins_types[MAX_INS];
  char *names[KERNEL_MAX_ARGUMENTS];
  KernelConstant constants[MAX_CONSTANTS];
  KernelIns ins[MAX_INS];
};

Status kernel_builder_new(int argument_count, const TileType *types, KernelBuilder **out) {
  if (argument_count > KERNEL_MAX_ARGUMENTS)
    return status_new(ERROR_UNSUPPORTED, "a kernel of %d arguments", argument_count);
  KernelBuilder *builder = mem_calloc(1, sizeof *builder);
  if (!builder) return status_out_of_memory();
  builder->argument_count = argument_count;
  for (int i = 0; i < argument_count; i++) builder->argument_types[i] = (uint8_t)types[i];
  *out = builder;
  return OK;
}

void kernel_builder_free(KernelBuilder *builder) {
  if (!builder) return;
  for (int i = 0; i < builder->argument_count; i++) mem_free(builder->names[i]);
  status_free(builder->status);
  mem_free(builder);
}

void kernel_builder_name_argument(KernelBuilder *builder, int argument, Str name) {
  assert(argument >= 0 && argument < builder->argument_count);
  mem_free(builder->names[argument]);
  char *copy = mem_alloc(name.length + 1);
  if (copy) memcpy(copy, name.data, name.length), copy[name.length] = 0;
  builder->names[argument] = copy;
}

void kernel_fail(KernelBuilder *builder, Status status) {
  if (builder->status)
    status_free(status);
  else
    builder->status = status;
}

TileType kernel_type(const KernelBuilder *builder, KernelValue value) {
  if (value == KERNEL_NO_VALUE) return TILE_BOOL;
  if (value >= FIRST_INS) return (TileType)builder->ins_types[value - FIRST_INS];
  if (value >= FIRST_CONSTANT) return (TileType)builder->constant_types[value - FIRST_CONSTANT];
  return (TileType)builder->argument_types[value];
}

KernelValue kernel_add_argument(KernelBuilder *builder, TileType type) {
  assert(builder->argument_count < KERNEL_MAX_ARGUMENTS);
  builder->argument_types[builder->argument_count] = (uint8_t)type;
  return (KernelValue)builder->argument_count++;
}

KernelValue kernel_argument(KernelBuilder *builder, int argument) {
  assert(argument >= 0 && argument < builder->argument_count);
  (void)builder;
  return (KernelValue)argument;
}

static KernelValue add_constant(KernelBuilder *builder, TileType type, KernelConstant constant) {
  for (int i = 0; i < builder->constant_count; i++)
    if (builder->constant_types[i] == type && !memcmp(&builder->constants[i], &constant, sizeof constant))
      return (KernelValue)(FIRST_CONSTANT + i);
  if (builder->constant_count == MAX_CONSTANTS) {
    kernel_fail(builder, status_new(ERROR_UNSUPPORTED, "a kernel of more than %d constants", MAX_CONSTANTS));
    return FIRST_CONSTANT;
  }
  builder->constants[builder->constant_count] = constant;
  builder->constant_types[builder->constant_count] = (uint8_t)type;
  return (KernelValue)(FIRST_CONSTANT + builder->constant_count++);
}

KernelValue kernel_constant(KernelBuilder *builder, TileType type, complex128 value) {
  double real = __real__ value;
  if (type == TILE_I64 || type == TILE_BOOL) {
    if (real != floor(real) || fabs(real) > 0x1p53 || __imag__ value != 0) {
      kernel_fail(builder, status_new(ERROR_UNSUPPORTED, "the constant %g in a computation of integers", real));
      real = 0;
    }
    return kernel_integer(builder, (int64_t)real);
  }
  KernelConstant constant;
  memset(&constant, 0, sizeof constant);
  constant.value = value;
  return add_constant(builder, type, constant);
}

KernelValue kernel_integer(KernelBuilder *builder, int64_t value) {
  KernelConstant constant;
  memset(&constant, 0, sizeof constant);
  constant.integer = value;
  return add_constant(builder, TILE_I64, constant);
}

static KernelValue add_ins(KernelBuilder *builder, KernelIns ins, TileType result) {
  for (int i = 0; i < builder->ins_count; i++) {
    const KernelIns *other = &builder->ins[i];
    if (other->op == ins.op && other->type == ins.type && other->immediate == ins.immediate && other->a == ins.a &&
        other->b == ins.b && other->c == ins.c)
      return (KernelValue)(FIRST_INS + i);
  }
  if (builder->ins_count == MAX_INS) {
    kernel_fail(builder, status_new(ERROR_UNSUPPORTED, "a kernel of more than %d instructions", MAX_INS));
    return ins.a;
  }
  builder->ins[builder->ins_count] = ins;
  builder->ins_types[builder->ins_count] = (uint8_t)result;
  return (KernelValue)(FIRST_INS + builder->ins_count++);
}

KernelValue kernel_cast(KernelBuilder *builder, KernelValue value, TileType type) {
  TileType from = kernel_type(builder, value);
  if (from == type || builder->status) return value;
  if (value >= FIRST_CONSTANT && value < FIRST_INS && type != TILE_BOOL) {
    KernelConstant constant = builder->constants[value - FIRST_CONSTANT];
    bool integral = from == TILE_I64;
    if (type != TILE_I64)
      return kernel_constant(builder, type, integral ? (complex128)(double)constant.integer : constant.value);
  }
  return add_ins(
      builder, (KernelIns){KERNEL_CAST, (uint8_t)type, (uint16_t)from, value, KERNEL_NO_VALUE, KERNEL_NO_VALUE}, type);
}

KernelValue kernel_round_to(KernelBuilder *builder, KernelValue value, DType dtype) {
  TileType type = tile_type_of(dtype);
  value = kernel_cast(builder, value, type);
  if (dtype == tile_type_dtype(type) || builder->status) return value;
  return add_ins(builder,
                 (KernelIns){KERNEL_ROUND_TO, (uint8_t)type, (uint16_t)dtype, value, KERNEL_NO_VALUE, KERNEL_NO_VALUE},
                 type);
}

static TileType result_type(KernelOp op, TileType type) {
  switch (op_rows[op].result) {
    case RESULT_BOOL:
      return TILE_BOOL;
    case RESULT_REAL:
      return type == TILE_C128 ? TILE_F64 : type;
    default:
      return type;
  }
}

KernelValue kernel_emit(KernelBuilder *builder, KernelOp op, KernelValue a, KernelValue b, KernelValue c) {
  if (builder->status) return a;
  TileType type = kernel_type(builder, a);
  if (b != KERNEL_NO_VALUE && kernel_type(builder, b) > type) type = kernel_type(builder, b);
  if (type == TILE_BOOL && !kernel_op_is_defined(op, type)) type = TILE_I64;
  if (!kernel_op_is_defined(op, type)) {
    kernel_fail(builder,
                status_new(ERROR_UNSUPPORTED, "%s is not defined for %s", op_rows[op].name, tile_type_name(type)));
    return a;
  }
  a = kernel_cast(builder, a, type);
  if (b != KERNEL_NO_VALUE) b = kernel_cast(builder, b, type);
  if (c != KERNEL_NO_VALUE) c = kernel_cast(builder, c, TILE_BOOL);
  return add_ins(builder, (KernelIns){(uint8_t)op, (uint8_t)type, 0, a, b, c}, result_type(op, type));
}

KernelValue kernel_special(KernelBuilder *builder, int function, KernelValue a, KernelValue b, KernelValue c) {
  if (builder->status) return a;
  TileType type = kernel_type(builder, a);
  if (b != KERNEL_NO_VALUE && kernel_type(builder, b) > type) type = kernel_type(builder, b);
  bool defined = special_is_integral(function) ? type <= TILE_I64 : type == TILE_F32 || type == TILE_F64;
  if (!defined) {
    kernel_fail(builder, status_new(ERROR_UNSUPPORTED, "%s is not defined for %s", special_name(function),
                                    tile_type_name(type)));
    return a;
  }
  if (type == TILE_BOOL) type = TILE_I64;
  a = kernel_cast(builder, a, type);
  if (b != KERNEL_NO_VALUE) b = kernel_cast(builder, b, type);
  if (c != KERNEL_NO_VALUE) c = kernel_cast(builder, c, type);
  return add_ins(builder, (KernelIns){KERNEL_SPECIAL, (uint8_t)type, (uint16_t)function, a, b, c}, type);
}

KernelValue kernel_line(KernelBuilder *builder, int function, KernelValue a, double eps) {
  if (builder->status) return a;
  TileType type = kernel_type(builder, a);
  if (!line_is_defined((LineFunction)function, type)) {
    kernel_fail(builder, status_new(ERROR_UNSUPPORTED, "%s is not defined for %s", line_name((LineFunction)function),
                                    tile_type_name(type)));
    return a;
  }
  KernelValue b = function == LINE_NORMALIZE ? kernel_constant(builder, TILE_F64, eps) : KERNEL_NO_VALUE;
  KernelIns ins = {KERNEL_LINE, (uint8_t)type, (uint16_t)function, a, b, KERNEL_NO_VALUE};
  return add_ins(builder, ins, line_result_type((LineFunction)function, type));
}

/* ---- finishing ---- */

static void mark_live(const KernelBuilder *builder, int output_count, const KernelValue *outputs, bool *constants,
                      bool *ins, bool *arguments) {
  KernelValue pending[4];
#define MARK(r)                                  \
  do {                                           \
    KernelValue marked = (r);                    \
    if (marked == KERNEL_NO_VALUE) break;        \
    if (marked >= FIRST_INS)                     \
      ins[marked - FIRST_INS] = true;            \
    else if (marked >= FIRST_CONSTANT)           \
      constants[marked - FIRST_CONSTANT] = true; \
    else                                         \
      arguments[marked] = true;                  \
  } while (0)
  for (int i = 0; i < output_count; i++) MARK(outputs[i]);
  for (int i = builder->ins_count - 1; i >= 0; i--) { /* operands come before their users */
    if (!ins[i]) continue;
    pending[0] = builder->ins[i].a, pending[1] = builder->ins[i].b, pending[2] = builder->ins[i].c;
    for (int k = 0; k < 3; k++) MARK(pending[k]);
  }
#undef MARK
}

Status kernel_builder_finish(KernelBuilder *builder, int output_count, const KernelValue *outputs, KernelIr **out) {
  *out = NULL;
  Status status = builder->status;
  KernelIr *kernel = NULL;
  builder->status = OK;
  if (status) goto done;
  bool constants[MAX_CONSTANTS] = {false}, ins[MAX_INS] = {false}, arguments[KERNEL_MAX_ARGUMENTS] = {false};
  mark_live(builder, output_count, outputs, constants, ins, arguments);
  int constant_count = 0, ins_count = 0;
  for (int i = 0; i < builder->constant_count; i++) constant_count += constants[i];
  for (int i = 0; i < builder->ins_count; i++) ins_count += ins[i];
  int value_count = builder->argument_count + constant_count + ins_count;
  size_t bytes = sizeof *kernel + (size_t)constant_count * sizeof(KernelConstant) +
                 (size_t)ins_count * sizeof(KernelIns) + (size_t)value_count;
  kernel = mem_calloc(1, bytes); /* bounded by the builder's arrays */
  if (!kernel) {
    status = status_out_of_memory();
    goto done;
  }
  ref_init(&kernel->refs);
  kernel->constants = (KernelConstant *)(kernel + 1);
  kernel->ins = (KernelIns *)(kernel->constants + constant_count);
  kernel->types = (uint8_t *)(kernel->ins + ins_count);
  kernel->argument_count = builder->argument_count;
  kernel->constant_count = constant_count;
  kernel->ins_count = ins_count;
  kernel->output_count = output_count;
  kernel->value_count = value_count;
  KernelValue constant_numbers[MAX_CONSTANTS], ins_numbers[MAX_INS];
  KernelValue next = (KernelValue)builder->argument_count;
  for (int i = 0; i < builder->argument_count; i++) {
    kernel->types[i] = builder->argument_types[i];
    kernel->used[i] = arguments[i];
    kernel->names[i] = builder->names[i];
    builder->names[i] = NULL;
  }
  for (int i = 0; i < builder->constant_count; i++) {
    if (!constants[i]) continue;
    kernel->constants[next - builder->argument_count] = builder->constants[i];
    kernel->types[next] = builder->constant_types[i];
    constant_numbers[i] = next++;
  }
#define NUMBER(r)                                                                        \
  ((r) == KERNEL_NO_VALUE || (r) < FIRST_CONSTANT ? (r)                                  \
   : (r) < FIRST_INS                              ? constant_numbers[(r)-FIRST_CONSTANT] \
                                                  : ins_numbers[(r)-FIRST_INS])
  for (int i = 0, at = 0; i < builder->ins_count; i++) {
    if (!ins[i]) continue;
    KernelIns *to = &kernel->ins[at++];
    *to = builder->ins[i];
    kernel->has_lines |= to->op == KERNEL_LINE;
    to->a = NUMBER(to->a), to->b = NUMBER(to->b), to->c = NUMBER(to->c);
    kernel->types[next] = builder->ins_types[i];
    ins_numbers[i] = next++;
  }
  for (int i = 0; i < output_count; i++) kernel->outputs[i] = NUMBER(outputs[i]);
#undef NUMBER
  *out = kernel;
done:
  kernel_builder_free(builder);
  return status;
}

KernelIr *kernel_retain(KernelIr *kernel) {
  ref_retain(&kernel->refs);
  return kernel;
}

void kernel_release(KernelIr *kernel) {
  if (!kernel || !ref_release(&kernel->refs)) return;
  assert(!atomic_load(&kernel->for_devices)); /* it would hold the kernel */
  for (int i = 0; i < kernel->argument_count; i++) mem_free(kernel->names[i]);
  mem_free(kernel);
}

/* ---- printing ---- */

static void print_lower(StrBuf *out, const char *name) {
  for (; *name; name++) strbuf_char(out, (char)tolower((unsigned char)*name));
}

void kernel_print(const KernelIr *kernel, StrBuf *out) {
  strbuf_puts(out, "kernel(");
  bool first = true;
  for (int i = 0; i < kernel->argument_count; i++) {
    if (!kernel->used[i]) continue;
    strbuf_printf(out, "%s%%%d: %s%s%s", first ? "" : ", ", i, tile_type_name((TileType)kernel->types[i]),
                  kernel->names[i] ? " " : "", kernel->names[i] ? kernel->names[i] : "");
    first = false;
  }
  strbuf_puts(out, ") {\n");
  int reg = kernel->argument_count;
  for (int i = 0; i < kernel->constant_count; i++, reg++) {
    const KernelConstant *constant = &kernel->constants[i];
    strbuf_printf(out, "  %%%d: %s = constant ", reg, tile_type_name((TileType)kernel->types[reg]));
    if (kernel->types[reg] == TILE_I64) {
      strbuf_printf(out, "%lld", (long long)constant->integer);
    } else {
      strbuf_double_g(out, __real__ constant->value, 17);
      if (__imag__ constant->value != 0)
        strbuf_puts(out, " + "), strbuf_double_g(out, __imag__ constant->value, 17), strbuf_char(out, 'j');
    }
    strbuf_char(out, '\n');
  }
  for (int i = 0; i < kernel->ins_count; i++, reg++) {
    const KernelIns *ins = &kernel->ins[i];
    strbuf_printf(out, "  %%%d: %s = ", reg, tile_type_name((TileType)kernel->types[reg]));
    print_lower(out, ins->op == KERNEL_SPECIAL ? special_name(ins->immediate)
                     : ins->op == KERNEL_LINE  ? line_name((LineFunction)ins->immediate)
                                               : op_rows[ins->op].name);
    if (ins->op == KERNEL_ROUND_TO) strbuf_printf(out, " %s", dtype_name((DType)ins->immediate));
    const uint16_t operands[3] = {ins->a, ins->b, ins->c};
    const char *separator = " ";
    for (int k = 0; k < 3; k++) {
      if (operands[k] == KERNEL_NO_VALUE) continue;
      strbuf_printf(out, "%s%%%d", separator, operands[k]);
      separator = ", ";
    }
    strbuf_char(out, '\n');
  }
  strbuf_puts(out, "  return ");
  for (int i = 0; i < kernel->output_count; i++) strbuf_printf(out, "%s%%%d", i ? ", " : "", kernel->outputs[i]);
  strbuf_puts(out, "\n}\n");
}
