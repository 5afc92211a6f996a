/* Lowering groups to kernels. */
#include "fuse/lower.h"

#include "call/pointwise.h"
#include "call/row_dtypes.h"
#include "fuse/lines.h"
#include "tensor/iterate.h"
#include "tile/formula.h"

Reason fuse_refusal_reason(FuseRefusal refusal) {
  static const Reason reasons[] = {REASON_COUNT,
#define X(name) REASON_NOT_FUSED_##name,
                                   FUSE_REFUSALS(X)
#undef X
  };
  return reasons[refusal];
}

void fuse_step_call(const FuseCall *call, const FuseStep *step, IValue *inputs, Call *out) {
  const FuseOperand *operands = call->group->operands + step->first_operand;
  for (uint32_t i = 0; i < step->operand_count; i++) {
    switch (operands[i].kind) {
      case FUSE_VALUE:
        inputs[i] = ivalue_tensor((Tensor *)call->values[operands[i].index]);
        break;
      case FUSE_NUMBER:
        inputs[i] = call->inputs[operands[i].index];
        break;
      default:
        inputs[i] = call->group->constants[operands[i].index];
        break;
    }
  }
  *out = (Call){
      .exec = call->exec, .op = step->op, .inputs = inputs, .input_count = step->operand_count, .output_count = 1};
}

Status fuse_step_shape(Call *call, const FuseStep *step, TensorSpec *spec) {
  spec->dtype = DTYPE_NONE;
  spec->device = DEVICE_CPU_0;
  spec->flags = 0;
  spec->ndim = 0;
  spec->has_strides = false;
  DType promoted;
  TileType compute;
  TRY(step->shape(call, spec));
  if (!call->op->row->dtypes) return OK;
  if (!call->op->row->lower) return call_check_dtype(call);
  TRY(pointwise_types(call, spec->dtype, &promoted, &compute));
  return call_check_computed_dtype(call, promoted);
}

typedef struct Lowering {
  const FuseCall *call;
  const FuseGroup *group;
  KernelBuilder *builder;
  FuseKernel *kernel;
  KernelValue *rounded, *raw; /* of every value: as its dtype holds it; as the formula left it */
  Tensor *looks;              /* of every value */
} Lowering;

static KernelValue add_argument(Lowering *l, uint16_t source, TileType type) {
  FuseKernel *kernel = l->kernel;
  for (uint16_t i = 0; i < kernel->argument_count; i++)
    if (kernel->arguments[i] == source && kernel_type(l->builder, kernel_argument(l->builder, i)) == type)
      return kernel_argument(l->builder, i);
  if (kernel->argument_count == KERNEL_MAX_ARGUMENTS) {
    kernel_fail(l->builder, status_new(ERROR_UNSUPPORTED, "a kernel of more than %d arguments", KERNEL_MAX_ARGUMENTS));
    return kernel_integer(l->builder, 0);
  }
  kernel->arguments[kernel->argument_count++] = source;
  return kernel_add_argument(l->builder, type);
}

static KernelValue value_register(Lowering *l, uint16_t value) {
  if (l->rounded[value] == KERNEL_NO_VALUE) /* an input or a piece */
    l->rounded[value] = l->raw[value] = add_argument(l, value, tile_type_of((DType)l->looks[value].dtype));
  return l->rounded[value];
}

/* A constant number as the tile interpreter would spread it. */
static KernelValue constant_register(Lowering *l, const TileArgument *number, TileType type) {
  KernelBuilder *b = l->builder;
  complex128 value = 0;
  int64_t whole = 0;
  switch (number->kind) {
    case TILE_ARG_INT:
      value = (double)number->i, whole = type == TILE_BOOL ? number->i != 0 : number->i;
      break;
    case TILE_ARG_FLOAT:
      value = number->f, whole = number->f >= -0x1p63 && number->f < 0x1p63 ? (int64_t)number->f : INT64_MIN;
      break;
    case TILE_ARG_BOOL:
      value = number->b, whole = number->b;
      break;
    case TILE_ARG_COMPLEX: {
      double real = __real__ number->c;
      value = number->c, whole = real >= -0x1p63 && real < 0x1p63 ? (int64_t)real : INT64_MIN;
      break;
    }
    default:
      return KERNEL_NO_VALUE;
  }
  if (type == TILE_I64) return kernel_integer(b, whole);
  if (type == TILE_BOOL) return kernel_cast(b, kernel_integer(b, whole), TILE_BOOL);
  return kernel_constant(b, type, value);
}

static Status lower_line_step(Lowering *l, const FuseStep *step) {
  IValue inputs[FORMULA_MAX_PARAMETERS];
  KernelValue registers[FORMULA_MAX_PARAMETERS];
  Call call;
  DType dtype = (DType)l->looks[step->result].dtype;
  const FuseOperand *operands = l->group->operands + step->first_operand;
  fuse_step_call(l->call, step, inputs, &call);
  for (uint32_t i = 0; i < step->operand_count; i++)
    registers[i] = operands[i].kind == FUSE_VALUE ? value_register(l, operands[i].index) : KERNEL_NO_VALUE;
  l->raw[step->result] = fuse_lower_line(&call, step, dtype, registers, l->builder);
  l->rounded[step->result] = kernel_round_to(l->builder, l->raw[step->result], dtype);
  return OK;
}

/* Lowers one step; the error of a formula that has no meaning in the type comes out of the builder. */
static Status lower_step(Lowering *l, const FuseStep *step) {
  if (step->line.function) return lower_line_step(l, step);
  IValue inputs[FORMULA_MAX_PARAMETERS];
  TileArgument arguments[FORMULA_MAX_PARAMETERS];
  TileType types[FORMULA_MAX_PARAMETERS], compute;
  KernelValue registers[FORMULA_MAX_PARAMETERS], results[KERNEL_MAX_OUTPUTS];
  Call call;
  DType promoted, dtype = (DType)l->looks[step->result].dtype;
  KernelProgram *program;
  FuseCall looks = *l->call;
  fuse_step_call(&looks, step, inputs, &call);
  TRY(operator_program(step->op, &program));
  const Formula *formula = kernel_program_formula(program);
  TRY(pointwise_types(&call, dtype, &promoted, &compute));
  formula_argument_types(formula, compute, types);
  const FuseOperand *operands = l->group->operands + step->first_operand;
  bool wraps = pointwise_wraps_numbers(promoted);
  for (uint32_t i = 0; i < step->operand_count; i++) {
    pointwise_set_argument(&arguments[i], inputs[i]);
    bool wrapped = wraps && formula_promoting(formula) >> i & 1 && arguments[i].kind == TILE_ARG_INT;
    if (wrapped) pointwise_wrap_number(&arguments[i], promoted);
    registers[i] = KERNEL_NO_VALUE;
    if (arguments[i].kind == TILE_ARG_NONE || arguments[i].kind == TILE_ARG_TEXT) continue;
    if (operands[i].kind == FUSE_VALUE) {
      registers[i] = kernel_cast(l->builder, value_register(l, operands[i].index), types[i]);
    } else if (operands[i].kind == FUSE_CONSTANT) {
      registers[i] = constant_register(l, &arguments[i], types[i]);
    } else {
      registers[i] = add_argument(l, (uint16_t)(FUSE_ARGUMENT_NUMBER | operands[i].index), types[i]);
      if (wrapped) registers[i] = kernel_round_to(l->builder, registers[i], promoted);
    }
  }
  formula_lower(formula, compute, formula_choices(formula, arguments), l->builder, registers, results);
  l->raw[step->result] = results[0];
  l->rounded[step->result] = kernel_round_to(l->builder, results[0], dtype);
  return OK;
}

/* Looks of everything, with sizes of one where there are dimensions: promotion asks for no more. */
static Status find_looks(Lowering *l, bool *refused) {
  const FuseGroup *g = l->group;
  FuseCall call = *l->call;
  const Tensor **values = mem_calloc(g->value_count, sizeof *values);
  Status status = OK;
  if (!values) return status_out_of_memory();
  call.values = values;
  for (uint32_t i = 0; i < g->value_count; i++) {
    Tensor *look = &l->looks[i];
    look->sizes = look->dims;
    look->strides = look->dims + 5;
    look->dims[0] = look->dims[5] = 1;
    look->numel = 1;
    look->contiguous = look->row_major = true;
    values[i] = look;
    const Tensor *like = i < g->input_count ? (g->tensor_inputs >> i & 1 ? l->call->values[i] : NULL)
                         : i < (uint32_t)g->input_count + g->piece_count
                             ? l->call->values[g->pieces[i - g->input_count].input]
                             : NULL;
    if (!like) continue;
    look->dtype = like->dtype;
    look->ndim = like->ndim > 0;
    look->flags = i < g->input_count ? like->flags & TENSOR_WRAPPED_NUMBER : 0;
  }
  for (uint32_t i = 0; i < g->step_count && status == OK && !*refused; i++) {
    IValue inputs[FORMULA_MAX_PARAMETERS];
    TensorSpec spec;
    Call one;
    fuse_step_call(&call, &g->steps[i], inputs, &one);
    if (g->steps[i].line.function) { /* its shape function wants real sizes */
      l->looks[g->steps[i].result].dtype = (uint8_t)fuse_line_dtype(&one, &g->steps[i]);
      l->looks[g->steps[i].result].ndim = 1;
      continue;
    }
    Status error = fuse_step_shape(&one, &g->steps[i], &spec);
    if (error) {
      status_free(error);
      *refused = true;
      break;
    }
    const Tensor *self = g->steps[i].is_write ? inputs[0].tensor : NULL;
    *refused = self && (spec.dtype != (DType)self->dtype || spec.ndim != self->ndim);
    l->looks[g->steps[i].result].dtype = (uint8_t)spec.dtype;
    l->looks[g->steps[i].result].ndim = (uint8_t)spec.ndim;
  }
  mem_free(values);
  return status;
}

static Status lower_class(Lowering *l, uint8_t class) {
  const FuseGroup *g = l->group;
  FuseKernel *kernel = l->kernel;
  KernelValue outputs[KERNEL_MAX_OUTPUTS];
  FuseCall call = *l->call;
  const FuseCall *was = l->call;
  const Tensor **values = mem_calloc(g->value_count, sizeof *values);
  if (!values) return status_out_of_memory();
  for (uint32_t i = 0; i < g->value_count; i++) {
    values[i] = &l->looks[i];
    l->rounded[i] = l->raw[i] = KERNEL_NO_VALUE;
  }
  call.values = values;
  l->call = &call;
  Status status = kernel_builder_new(0, NULL, &l->builder);
  for (uint32_t i = 0; i < g->step_count && status == OK; i++) status = lower_step(l, &g->steps[i]);
  for (uint32_t i = 0; i < g->store_count && status == OK; i++) {
    if (was->classes[i] != class) continue;
    uint16_t value = g->stores[i];
    value_register(l, value);
    kernel->outputs[kernel->output_count] = (uint16_t)i;
    outputs[kernel->output_count++] = l->raw[value];
  }
  if (status == OK)
    status = kernel_builder_finish(l->builder, kernel->output_count, outputs, &kernel->kernel);
  else
    kernel_builder_free(l->builder);
  l->call = was;
  mem_free(values);
  return status;
}

void fuse_entry_free(FuseEntry *entry) {
  if (!entry) return;
  for (uint32_t i = 0; i < entry->kernel_count; i++) {
    fuse_compiled_list_dispose(&entry->kernels[i].compiled);
    fuse_backend_tile.free(entry->kernels[i].interpreted);
    kernel_release(entry->kernels[i].kernel);
  }
  mem_free(entry->kernels);
  mem_free(entry->dtypes);
  mem_free(entry->key);
  mem_free(entry);
}

Status fuse_lower(const FuseCall *call, FuseEntry **out) {
  const FuseGroup *g = call->group;
  Lowering l = {.call = call, .group = g};
  uint32_t classes = 0;
  bool refused = false;
  for (uint32_t i = 0; i < g->store_count; i++)
    if (call->classes[i] >= classes) classes = call->classes[i] + 1u;
  FuseEntry *entry = mem_calloc(1, sizeof *entry);
  Status status = OK;
  l.looks = mem_calloc(g->value_count, sizeof *l.looks);
  l.rounded = mem_calloc(g->value_count, sizeof *l.rounded);
  l.raw = mem_calloc(g->value_count, sizeof *l.raw);
  if (entry) {
    entry->dtypes = mem_calloc(g->store_count, 1);
    entry->kernels = mem_calloc(classes, sizeof *entry->kernels);
  }
  if (!entry || !l.looks || !l.rounded || !l.raw || !entry->dtypes || !entry->kernels) {
    status = status_out_of_memory();
    goto done;
  }
  TRY_GOTO(find_looks(&l, &refused), done);
  for (uint32_t i = 0; i < g->store_count; i++) entry->dtypes[i] = l.looks[g->stores[i]].dtype;
  for (uint32_t i = 0; i < classes && !refused && status == OK; i++) {
    l.kernel = &entry->kernels[i];
    status = lower_class(&l, (uint8_t)i);
    if (status == OK) entry->kernel_count++;
    if (status == OK)
      status = fuse_backend_tile.compile(&fuse_backend_tile, l.kernel->kernel, NULL, &l.kernel->interpreted);
    int operands = l.kernel->argument_count + l.kernel->output_count;
    refused |= operands > ITERATE_MAX_OPERANDS;
    if (status && (status->code == ERROR_UNSUPPORTED || status->code == ERROR_INVALID_ARGUMENT)) {
      status_free(status);
      status = OK;
      refused = true;
    }
  }
  if (refused) entry->refusal = FUSE_NO_KERNEL;
done:
  mem_free(l.looks);
  mem_free(l.rounded);
  mem_free(l.raw);
  if (status) {
    fuse_entry_free(entry);
    return status;
  }
  *out = entry;
  return OK;
}
