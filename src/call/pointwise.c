/* Rows with a `.lower` formula: their program (parsed on first use), the type they compute in, their run by the tile
 * interpreter, and the shape functions of pointwise operators. */
#include "call/pointwise.h"

#include "base/heap.h"
#include "call/row_dtypes.h"
#include "schema/schema.h"
#include "tensor/promote.h"
#include "tile/formula.h"

static FormulaKind formula_kind(const Type *type) {
  if (type->kind == TYPE_OPTIONAL) type = type->elements[0];
  switch (type->kind) {
    case TYPE_TENSOR:
      return FORMULA_TENSOR;
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX:
    case TYPE_NUMBER:
      return FORMULA_NUMBER;
    case TYPE_BOOL:
      return FORMULA_BOOL;
    case TYPE_STRING:
      return FORMULA_TEXT;
    default:
      return FORMULA_OTHER;
  }
}

static bool number_promotes(const OpRow *row, Str name) {
  return str_is_listed(row->promote ? row->promote : "self other", name);
}

Status operator_program(const Operator *op, KernelProgram **out) {
  *out = NULL;
  if (!op->row->lower) return OK;
  KernelProgram *program = atomic_load_explicit(&op->program, memory_order_acquire);
  if (!program) {
    HEAP_SCOPE(NULL);
    const FunctionSchema *schema = operator_schema(op);
    FormulaParameter parameters[FORMULA_MAX_PARAMETERS];
    int count = 0;
    for (uint32_t i = 0; i < schema->argument_count; i++) {
      const Argument *argument = &schema->arguments[i];
      if (argument->is_out) break;
      if (count == FORMULA_MAX_PARAMETERS)
        return status_internal("%s: too many parameters for a formula", op->row->schema);
      FormulaKind kind = formula_kind(argument->type);
      bool promotes = kind == FORMULA_NUMBER && number_promotes(op->row, argument->name);
      parameters[count++] = (FormulaParameter){argument->name, kind, promotes};
    }
    Status status = kernel_program_new(str_from(op->row->lower), count, parameters, &program);
    if (status) return status_context(status, "formula of %s", op->row->schema);
    KernelProgram *expected = NULL;
    if (!atomic_compare_exchange_strong(&((Operator *)op)->program, &expected, program)) {
      kernel_program_free(program);
      program = expected;
    }
  }
  *out = program;
  return OK;
}

static void promote_value(Promotion *promotion, IValue value) {
  switch (value.tag) {
    case TAG_TENSOR:
      if (tensor_is_defined(value.tensor)) promotion_add(promotion, value.tensor);
      break;
    case TAG_INT:
      promotion_add_scalar(promotion, DTYPE_INT64);
      break;
    case TAG_FLOAT:
      promotion_add_scalar(promotion, DTYPE_FLOAT64);
      break;
    case TAG_BOOL:
      promotion_add_scalar(promotion, DTYPE_BOOL);
      break;
    case TAG_COMPLEX:
      promotion_add_scalar(promotion, DTYPE_COMPLEX128);
      break;
    default:
      break;
  }
}

/* The frequent case: tensors of one dtype, none of them zero-dimensional. */
static bool promote_equal(const Call *call, uint64_t promoting, DType *out) {
  DType dtype = DTYPE_NONE;
  for (uint32_t i = 0; promoting >> i; i++) {
    if (!(promoting >> i & 1)) continue;
    IValue value = call->inputs[i];
    if (value.tag != TAG_TENSOR || value.tensor->ndim == 0 || !tensor_is_defined(value.tensor)) return false;
    if (dtype != DTYPE_NONE && value.tensor->dtype != dtype) return false;
    dtype = (DType)value.tensor->dtype;
  }
  *out = dtype;
  return dtype != DTYPE_NONE;
}

Status pointwise_promote(const Call *call, DType *out) {
  KernelProgram *program;
  TRY(operator_program(call->op, &program));
  Promotion promotion = PROMOTION_EMPTY;
  if (program) {
    uint64_t promoting = formula_promoting(kernel_program_formula(program));
    if (promote_equal(call, promoting, out)) return OK;
    for (uint32_t i = 0; promoting >> i; i++)
      if (promoting >> i & 1) promote_value(&promotion, call->inputs[i]);
  } else {
    const FunctionSchema *schema = operator_schema(call->op);
    for (uint32_t i = 0; i < call->input_count && i < schema->argument_count && !schema->arguments[i].is_out; i++) {
      FormulaKind kind = formula_kind(schema->arguments[i].type);
      if (kind == FORMULA_TENSOR ||
          (kind == FORMULA_NUMBER && number_promotes(call->op->row, schema->arguments[i].name)))
        promote_value(&promotion, call->inputs[i]);
    }
  }
  return promotion_finish(&promotion, out);
}

void pointwise_set_argument(TileArgument *to, IValue from) {
  switch (from.tag) {
    case TAG_TENSOR:
      to->kind = tensor_is_defined(from.tensor) ? TILE_ARG_TENSOR : TILE_ARG_NONE;
      to->tensor = from.tensor;
      break;
    case TAG_INT:
      to->kind = TILE_ARG_INT, to->i = from.i;
      break;
    case TAG_FLOAT:
      to->kind = TILE_ARG_FLOAT, to->f = from.f;
      break;
    case TAG_BOOL:
      to->kind = TILE_ARG_BOOL, to->b = from.b;
      break;
    case TAG_COMPLEX:
      to->kind = TILE_ARG_COMPLEX, to->c = ivalue_complex(from);
      break;
    case TAG_STRING:
      to->kind = TILE_ARG_TEXT, to->text = ivalue_str(from);
      break;
    default:
      to->kind = TILE_ARG_NONE;
      break;
  }
}

bool pointwise_wraps_numbers(DType promoted) {
  return dtype_is_integral(promoted) && promoted != DTYPE_INT64;
}

void pointwise_wrap_number(TileArgument *number, DType dtype) {
  if (number->kind != TILE_ARG_INT) return;
  int64_t narrow;
  dtype_convert(dtype, &narrow, 1, DTYPE_INT64, &number->i, 1, 1);
  dtype_convert(DTYPE_INT64, &number->i, 1, dtype, &narrow, 1, 1);
}

Status pointwise_types(const Call *call, DType result, DType *out_promoted, TileType *out_compute) {
  ShapeFunction *shape = call->op->row->shape;
  bool plain = !shape || shape == shape_pointwise;
  *out_promoted = result; /* the shape function promoted already */
  if (!plain) TRY(pointwise_promote(call, out_promoted));
  *out_compute = tile_type_of(*out_promoted);
  if (!plain && *out_compute <= TILE_I64 && (dtype_is_floating(result) || dtype_is_complex(result)))
    *out_compute = TILE_F32;
  return OK;
}

Status pointwise_prepare(Call *call, PointwiseRun *out) {
  KernelProgram *program;
  TRY(operator_program(call->op, &program));
  DType promoted;
  TileType compute;
  TRY(pointwise_types(call, (DType)call_out(call, 0)->dtype, &promoted, &compute));
  TRY(call_check_computed_dtype(call, promoted));
  TileArgument *arguments = out->arguments;
  for (uint32_t i = 0; i < call->input_count && i < FORMULA_MAX_PARAMETERS; i++)
    pointwise_set_argument(&arguments[i], call->inputs[i]);
  if (pointwise_wraps_numbers(promoted)) {
    uint64_t promoting = formula_promoting(kernel_program_formula(program));
    for (int i = 0; promoting >> i; i++)
      if (promoting >> i & 1) pointwise_wrap_number(&arguments[i], promoted);
  }
  Status status = kernel_program_kernel(program, compute, arguments, &out->kernel);
  if (status) {
    if (status->code != ERROR_UNSUPPORTED) return status;
    status_free(status);
    return call_unsupported_dtype(call, promoted);
  }
  for (uint32_t i = 0; i < call->output_count; i++) out->outputs[i] = call_out(call, i);
  return OK;
}

Status pointwise_run(Call *call) {
  PointwiseRun run;
  TRY(pointwise_prepare(call, &run));
  return tile_run(run.kernel, call->exec->work.threads, run.arguments, run.outputs);
}
