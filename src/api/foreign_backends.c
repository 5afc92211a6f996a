/* Fusion back ends from outside: kernel IR as they see it, and the row that calls them. */
#include <assert.h>
#include <ctype.h>

#include "api/handles.h"
#include "fuse/backend.h"
#include "tile/line.h"
#include "tile/special.h"
#include "wick/backend.h"

typedef struct ForeignBackend {
  FuseBackend row; /* first: the row leads here */
  wick_backend given;
} ForeignBackend;

/* ---- a kernel as it is shown ---- */

_Static_assert((int)TILE_BOOL == WICK_KERNEL_BOOL && (int)TILE_I64 == WICK_KERNEL_INT64 &&
                   (int)TILE_F32 == WICK_KERNEL_FLOAT32 && (int)TILE_F64 == WICK_KERNEL_FLOAT64 &&
                   (int)TILE_C128 == WICK_KERNEL_COMPLEX128,
               "ORDER tile type");
_Static_assert((int)FUSE_LAYOUT_UNUSED == WICK_OPERAND_UNUSED && (int)FUSE_LAYOUT_NUMBER == WICK_OPERAND_NUMBER &&
                   (int)FUSE_LAYOUT_ELEMENT == WICK_OPERAND_ELEMENT &&
                   (int)FUSE_LAYOUT_CONTIGUOUS == WICK_OPERAND_CONTIGUOUS &&
                   (int)FUSE_LAYOUT_DENSE == WICK_OPERAND_DENSE && (int)FUSE_LAYOUT_STRIDED == WICK_OPERAND_STRIDED,
               "ORDER fuse form");

typedef char OperationName[24];
typedef struct Shown {
  wick_kernel_ir view;
  OperationName *names; /* of the operations */
  uint32_t outputs[KERNEL_MAX_OUTPUTS];
  wick_kernel_operand operands[FUSE_MAX_OPERANDS];
  wick_kernel_constant *constants;
  wick_kernel_operation *operations;
} Shown;

/* As the IR's text has it. */
static void set_name(OperationName to, KernelOp op) {
  const char *name = kernel_op_name(op);
  size_t length = strlen(name);
  assert(length < sizeof(OperationName));
  for (size_t i = 0; i <= length; i++) to[i] = (char)tolower((unsigned char)name[i]);
}

static void show_operation(const KernelIr *ir, int i, Shown *shown) {
  const KernelIns *ins = &ir->ins[i];
  const KernelValue operands[3] = {ins->a, ins->b, ins->c};
  wick_kernel_operation *to = &shown->operations[i];
  set_name(shown->names[i], (KernelOp)ins->op);
  *to = (wick_kernel_operation){.name = shown->names[i],
                                .type = ins->op == KERNEL_CAST ? ins->immediate : ins->type,
                                .result_type = ir->types[ir->argument_count + ir->constant_count + i]};
  if (ins->op == KERNEL_ROUND_TO) to->dtype = ins->immediate;
  if (ins->op == KERNEL_SPECIAL) to->function = special_name(ins->immediate);
  if (ins->op == KERNEL_LINE) to->function = line_name((LineFunction)ins->immediate);
  for (int k = 0; k < 3; k++)
    if (operands[k] != KERNEL_NO_VALUE) to->operands[to->operand_count++] = operands[k];
}

static void show_operands(const FuseSignature *signature, Shown *shown) {
  int count = signature->argument_count + signature->output_count;
  for (int i = 0; i < count; i++) {
    const FuseOperandSignature *from = &signature->operands[i];
    bool is_tensor = from->layout != FUSE_LAYOUT_UNUSED && from->layout != FUSE_LAYOUT_NUMBER;
    shown->operands[i] = (wick_kernel_operand){from->layout, is_tensor ? from->type : 0, from->repeats};
  }
}

static void hide(Shown *shown) {
  mem_free(shown->constants);
  mem_free(shown->operations);
  mem_free(shown->names);
}

static Status show(const KernelIr *ir, const FuseSignature *signature, Shown *shown) {
  shown->constants = mem_calloc((size_t)ir->constant_count + 1, sizeof *shown->constants);
  shown->operations = mem_calloc((size_t)ir->ins_count + 1, sizeof *shown->operations);
  shown->names = mem_calloc((size_t)ir->ins_count + 1, sizeof *shown->names);
  if (!shown->constants || !shown->operations || !shown->names) {
    hide(shown);
    return status_out_of_memory();
  }
  const uint8_t *constant_types = ir->types + ir->argument_count;
  for (int i = 0; i < ir->constant_count; i++) {
    const KernelConstant *from = &ir->constants[i];
    bool is_whole = constant_types[i] <= TILE_I64;
    shown->constants[i] = (wick_kernel_constant){is_whole ? 0 : __real__ from->value,
                                                 is_whole ? 0 : __imag__ from->value, is_whole ? from->integer : 0};
  }
  for (int i = 0; i < ir->ins_count; i++) show_operation(ir, i, shown);
  for (int i = 0; i < ir->output_count; i++) shown->outputs[i] = ir->outputs[i];
  show_operands(signature, shown);
  shown->view = (wick_kernel_ir){.size = sizeof shown->view,
                                 .rank = signature->rank,
                                 .argument_count = (uint32_t)ir->argument_count,
                                 .constant_count = (uint32_t)ir->constant_count,
                                 .operation_count = (uint32_t)ir->ins_count,
                                 .output_count = (uint32_t)ir->output_count,
                                 .types = ir->types,
                                 .constant_types = constant_types,
                                 .constants = shown->constants,
                                 .operations = shown->operations,
                                 .outputs = shown->outputs,
                                 .operands = shown->operands};
  return OK;
}

/* ---- the row ---- */

static Reason supports(const FuseBackend *self, const KernelIr *ir, const FuseSignature *signature) {
  const ForeignBackend *f = (const ForeignBackend *)self;
  Shown shown;
  if (!f->given.supports) return REASON_COUNT;
  Status status = show(ir, signature, &shown);
  bool fits = !status && f->given.supports(f->given.user, &shown.view);
  if (!status) hide(&shown);
  status_free(status);
  return fits ? REASON_COUNT : REASON_NOT_COMPILED_OPERATION;
}

/* What it made, with whose it is: the functions that get the code get no row. */
typedef struct ForeignCode {
  const ForeignBackend *of;
  void *code;
} ForeignCode;

static Status compile(const FuseBackend *self, KernelIr *ir, const FuseSignature *signature, void **out) {
  const ForeignBackend *f = (const ForeignBackend *)self;
  ForeignCode *made = mem_calloc(1, sizeof *made);
  Shown shown;
  Status status = made ? show(ir, signature, &shown) : status_out_of_memory();
  if (!status) {
    wick_error *error = NULL;
    wick_status given = f->given.compile(f->given.user, &shown.view, &made->code, &error);
    hide(&shown);
    if (given)
      status = foreign_status(given, error, f->row.name);
    else
      wick_error_free(error);
  }
  if (status) {
    mem_free(made);
    return status;
  }
  made->of = f;
  *out = made;
  return OK;
}

static int64_t whole(double value) {
  return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

static void set_number(wick_kernel_argument *to, double real, double imag, int64_t integer, bool is_bool) {
  to->kind = WICK_ARGUMENT_NUMBER;
  to->real = real;
  to->imag = imag;
  to->integer = is_bool ? real != 0 || imag != 0 : integer;
}

static void show_argument(const TileArgument *from, bool is_bool, wick_kernel_argument *to) {
  to->kind = WICK_ARGUMENT_NONE;
  switch (from->kind) {
    case TILE_ARG_TENSOR:
      to->kind = WICK_ARGUMENT_TENSOR;
      api_view_tensor(from->tensor, &to->tensor);
      break;
    case TILE_ARG_INT:
      set_number(to, (double)from->i, 0, from->i, is_bool);
      break;
    case TILE_ARG_BOOL:
      set_number(to, from->b, 0, from->b, is_bool);
      break;
    case TILE_ARG_FLOAT:
      set_number(to, from->f, 0, whole(from->f), is_bool);
      break;
    case TILE_ARG_COMPLEX:
      set_number(to, __real__ from->c, __imag__ from->c, whole(__real__ from->c), is_bool);
      break;
    default:
      break;
  }
}

static Status run(const KernelIr *ir, void *compiled, int threads, const TileArgument *arguments,
                  Tensor *const *outputs) {
  (void)threads;
  const ForeignCode *made = compiled;
  wick_kernel_argument shown[KERNEL_MAX_ARGUMENTS];
  wick_tensor_view results[KERNEL_MAX_OUTPUTS];
  wick_error *error = NULL;
  for (int i = 0; i < ir->argument_count; i++) show_argument(&arguments[i], ir->types[i] == TILE_BOOL, &shown[i]);
  for (int i = 0; i < ir->output_count; i++) api_view_tensor(outputs[i], &results[i]);
  wick_status status = made->of->given.run(made->of->given.user, made->code, shown, results, &error);
  if (status) return foreign_status(status, error, made->of->row.name);
  wick_error_free(error);
  return OK;
}

static size_t bytes(const void *compiled) {
  const ForeignCode *made = compiled;
  return sizeof *made + made->of->given.bytes(made->of->given.user, made->code);
}

static void free_code(void *compiled) {
  ForeignCode *made = compiled;
  made->of->given.free(made->of->given.user, made->code);
  mem_free(made);
}

/* Rows live as long as the process. */
static Status add_backend(const wick_backend *given) {
  HEAP_SCOPE(NULL);
  BackendNumber number;
  if (!given->name || !given->name[0] || given->device_type < 0 || !given->compile || !given->run || !given->bytes ||
      !given->free)
    return status_new(ERROR_INVALID_ARGUMENT, "wick_backend: a name, a device's type and the functions are needed");
  ForeignBackend *f = mem_calloc(1, sizeof *f);
  char *name = f ? mem_strdup(given->name) : NULL;
  if (!name) {
    mem_free(f);
    return status_out_of_memory();
  }
  f->given = *given;
  f->row = (FuseBackend){.name = name,
                         .device_type = given->device_type,
                         .supports = supports,
                         .compile = compile,
                         .run = run,
                         .bytes = bytes,
                         .free = free_code};
  if (fuse_backend_register(&f->row, &number)) return OK;
  mem_free(name);
  mem_free(f);
  return status_new(ERROR_INVALID_ARGUMENT, "wick_backend: there is no device type %d, or there are too many back ends",
                    given->device_type);
}

wick_status wick_backend_register(const wick_backend *backend, wick_error **error) {
  wick_backend given;
  API_NEED(backend);
  API_TRY(api_copy_options("wick_backend", backend, sizeof given, &given));
  return api_status(add_backend(&given), error);
}
