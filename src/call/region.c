#include "call/region.h"

#include "call/call_internal.h"
#include "call/pointwise.h"
#include "call/row_dtypes.h"
#include "call/row_extras.h"
#include "report/reason.h"
#include "tile/formula.h"
#include "tile/in_place.h"

/* Between what its row says or its arguments are. */
static bool read_limits(const Operator *op, uint32_t count, const IValue *arguments, Activation *out) {
  out->low = op->row->clamp[0];
  out->high = op->row->clamp[1];
  if (out->low < out->high) return true;
  if (row_extras(op->row)->activation != ACTIVATION_LIMITS || count != 3) return false;
  out->low = (float)ivalue_to_double(arguments[1]);
  out->high = (float)ivalue_to_double(arguments[2]);
  return out->low <= out->high;
}

/* Whether it takes float32 and makes float32 of it, by its own shape function, which also complains of arguments. */
static bool gives_float32(const Operator *op, uint32_t count, const IValue *arguments) {
  Exec exec;
  TensorSpec spec;
  exec_init(&exec, NULL);
  Call call = {.exec = &exec, .op = op, .inputs = arguments, .input_count = count, .output_count = 1};
  Status status = op->row->dtypes ? call_check_dtype(&call) : OK;
  if (!status) status = call_compute_specs(&call, call_row_shape(&call), &spec);
  bool gives = !status && spec.dtype == DTYPE_FLOAT32 && spec.ndim == 1;
  status_free(status);
  return gives;
}

static void *align_up(char *memory) {
  return memory + (-(uintptr_t)memory & (_Alignof(TileInPlace) - 1));
}

static Status make_formula(const Operator *op, uint32_t count, const IValue *arguments, Arena *arena,
                           const TileInPlace **out) {
  TileArgument converted[KERNEL_MAX_ARGUMENTS];
  KernelProgram *program;
  const TileKernel *kernel;
  TileInPlace formula; /* the arena's is only as large as needed */
  for (uint32_t i = 0; i < count; i++) pointwise_set_argument(&converted[i], arguments[i]);
  TRY(operator_program(op, &program));
  TRY(kernel_program_kernel(program, TILE_F32, converted, &kernel));
  if (!tile_in_place_begin(&formula, kernel, converted)) return reason_decline(REASON_NOT_FUSED_OPERATOR);
  size_t bytes = tile_in_place_bytes(kernel);
  if (arena) *out = memcpy(align_up(arena_alloc(arena, bytes + _Alignof(TileInPlace))), &formula, bytes);
  return OK;
}

static bool is_plain(IValue v) {
  return v.tag == TAG_NONE || v.tag == TAG_BOOL || v.tag == TAG_INT || v.tag == TAG_FLOAT || v.tag == TAG_STRING;
}

bool region_activation(const Operator *op, uint32_t count, const IValue *arguments, bool knows, Arena *arena,
                       Activation *out) {
  *out = (Activation){.kind = ACTIVATION_LIMITS};
  if (!op->row->lower || op->variant == VARIANT_OUT || count > KERNEL_MAX_ARGUMENTS ||
      count != operator_schema(op)->argument_count || op->flags & (OP_SIDE_EFFECTS | OP_NONDETERMINISTIC))
    return false;
  IValue converted[KERNEL_MAX_ARGUMENTS];
  Tensor metadata = {.dtype = DTYPE_FLOAT32, .ndim = 1, .contiguous = 1, .row_major = 1, .numel = 1};
  metadata.sizes = metadata.dims;
  metadata.strides = metadata.dims + 1;
  metadata.sizes[0] = metadata.strides[0] = 1;
  converted[0] = ivalue_tensor(&metadata);
  for (uint32_t i = 1; i < count; i++) {
    if (!is_plain(arguments[i])) return false;
    converted[i] = arguments[i];
  }
  if (!gives_float32(op, count, converted)) return false;
  if (read_limits(op, count, arguments, out)) return true;
  out->kind = row_extras(op->row)->activation;
  if (knows && out->kind > ACTIVATION_LIMITS) return true;
  out->kind = ACTIVATION_FORMULA;
  Status status = make_formula(op, count, converted, arena, &out->formula);
  bool made = !status;
  status_free(status);
  return made;
}
