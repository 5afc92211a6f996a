/* The forms of operators that write: `name_`, `.out`, and rows that say themselves what they write. */
#include "call/call_internal.h"
#include "call/row_extras.h"

#include <assert.h>

#include "tensor/iterate.h"
#include "tensor/storage_share.h"

/* ---- checks ---- */

/* Whether a pointwise kernel may write `target` while it reads the inputs; partial overlap is PyTorch's error, overlap
 * of tensors with gaps can't be told cheaply and takes a temporary. */
static Status check_overlap(const Call *call, uint32_t input_count, const Tensor *target, bool *out_direct) {
  assert(input_count <= call->input_count);
  uint32_t flags = call->op->flags;
  *out_direct = true;
  for (uint32_t i = 0; i < input_count; i++) {
    const Tensor *input = call_tensor_or_null(call, i);
    if (!input) {
      if (call->inputs[i].tag == TAG_LIST && call->inputs[i].list->kind == LIST_VALUES) *out_direct = false;
      continue;
    }
    TRY(tensor_check_overlap(target, input));
    bool may_be_target = flags & OP_ALIASING_OK || (i == 0 && flags & OP_ALIASING_SELF);
    TensorOverlap overlap = tensor_overlap(target, input);
    if (overlap == OVERLAP_UNKNOWN || (overlap != OVERLAP_NONE && !may_be_target)) *out_direct = false;
  }
  return OK;
}

/* The same for rows with OP_WRITES_APART, where no overlap is right. A row with `name_` writes into self. */
static Status check_apart(const Call *call, uint32_t input_count, const Tensor *target) {
  assert(input_count <= call->input_count);
  const OpRow *row = call->op->row;
  if (!(row->flags & OP_WRITES_APART)) return OK;
  for (uint32_t i = row->flags & OP_INPLACE ? 1 : 0; i < input_count; i++) {
    IValue input = call->inputs[i];
    if (input.tag == TAG_TENSOR) TRY(tensor_check_apart(target, input.tensor));
    if (input.tag != TAG_LIST || input.list->kind != LIST_VALUES) continue;
    for (size_t k = 0; k < input.list->length; k++) {
      IValue item = input.list->values[k];
      if (item.tag != TAG_TENSOR) continue;
      bool is_mask = row->flags & OP_INPLACE && item.tensor->dtype == DTYPE_BOOL; /* indices are made of it first */
      if (!is_mask) TRY(tensor_check_apart(target, item.tensor));
    }
  }
  return OK;
}

/* Before a kernel writes it. */
static Status begin_write(const Tensor *t) {
  if (t->storage && (t->storage->flags & STORAGE_READ_ONLY))
    return status_new(ERROR_RUNTIME, "a tensor in read-only memory can't be written");
  return storage_own(t->storage);
}

/* Among meta tensors nothing is computed, so nothing else can be written. */
static Status check_target_device(const Tensor *target, const Device *place) {
  if (!place || place->type != DEVICE_META || target->flags & (TENSOR_META | TENSOR_UNDEFINED)) return OK;
  return status_new(ERROR_RUNTIME,
                    "Expected all tensors to be on the same device, but found at least two devices, meta and cpu!");
}

static Status check_cast(DType from, const Tensor *to) {
  if (from == to->dtype || dtype_can_cast(from, (DType)to->dtype)) return OK;
  return status_new(ERROR_RUNTIME, "result type %s can't be cast to the desired output type %s",
                    dtype_scalar_name(from), dtype_scalar_name((DType)to->dtype));
}

/* C++'s names. */
static const char *element_name(DType dtype) {
  switch (dtype) {
    case DTYPE_UINT8:
      return "unsigned char";
    case DTYPE_INT8:
      return "signed char";
    case DTYPE_INT16:
      return "short int";
    case DTYPE_INT32:
      return "int";
    case DTYPE_INT64:
      return "long int";
    case DTYPE_BOOL:
      return "bool";
    case DTYPE_FLOAT32:
      return "float";
    case DTYPE_FLOAT64:
      return "double";
    case DTYPE_FLOAT16:
      return "c10::Half";
    case DTYPE_BFLOAT16:
      return "c10::BFloat16";
    case DTYPE_COMPLEX64:
      return "c10::complex<float>";
    case DTYPE_COMPLEX128:
      return "c10::complex<double>";
    default:
      return dtype_name(dtype);
  }
}
/* Before the result of a dtype is written to `out`. */
static Status check_out_dtype(const Call *call, DType from, const Tensor *out) {
  const char *text = row_extras(call->op->row)->exact_out;
  if (!text || from == out->dtype) return check_cast(from, out);
  if (!*text)
    return status_new(ERROR_RUNTIME, "Expected out tensor to have dtype %s, but got %s instead", element_name(from),
                      element_name((DType)out->dtype));
  StrBuf message = {.max_length = 200};
  for (const char *at = text; *at; at++) {
    bool wanted = !strncmp(at, "{wanted}", 8), given = !strncmp(at, "{given}", 7);
    if (wanted || given) {
      strbuf_puts(&message, dtype_scalar_name(wanted ? from : (DType)out->dtype));
      at += wanted ? 7 : 6;
    } else {
      strbuf_printf(&message, "%c", *at);
    }
  }
  Status status = status_new(ERROR_RUNTIME, STR_FMT, STR_ARG(strbuf_view(&message)));
  strbuf_dispose(&message);
  return status;
}

static Status check_sizes(const Tensor *target, int ndim, const int64_t *sizes) {
  if (sizes_equal(target, ndim, sizes)) return OK;
  return status_new(ERROR_RUNTIME, "output with shape %s doesn't match the broadcast shape %s",
                    SIZES_TEXT(target->ndim, target->sizes), SIZES_TEXT(ndim, sizes));
}

/* ---- writing ---- */

/* Writes `value` into `target`, with the history when there is one to write (what a composite computed). */
static Status write_back(Call *call, Tensor *target, Tensor *value) {
  Exec *exec = call->exec;
  if (target == value) return OK;
  if (exec->grad_enabled && ((target->flags | value->flags) & TENSOR_RECORDS)) {
    static OpRef copy = OP_REF("aten::copy_", "");
    IValue result = IVALUE_NONE;
    TRY(op_call(exec, &copy, 3, (IValue[]){ivalue_tensor(target), ivalue_tensor(value), ivalue_bool(false)}, 1,
                &result));
    ivalue_release(result);
    return OK;
  }
  if (!(target->flags & TENSOR_META)) TRY(tensor_copy(target, value, exec->work.threads));
  tensor_bump_version(target);
  return OK;
}

/* ---- an expanded self ---- */

/* What becomes of its elements is seen by nobody's gradient. */
static bool may_write_expanded(const Call *call, const Tensor *self) {
  return call->op->flags & OP_WRITES_EXPANDED && tensor_shows_twice(self) &&
         !(call->exec->grad_enabled && tensor_records(self));
}

static void change_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  size_t size = *(const size_t *)argument;
  for (int64_t i = 0; i < n; i++) {
    const char *value = data[1] + i * strides[1], *before = data[2] + i * strides[2];
    if (memcmp(value, before, size) != 0) memcpy(data[0] + i * strides[0], value, size);
  }
}

/* Writes the elements of `value` that are not what self showed there: the places of an element where the operator left
 * it alone don't undo the others. */
static Status write_changes(Tensor *self, const Tensor *value) {
  Tensor *before, *alike = NULL;
  size_t size = dtype_size((DType)self->dtype);
  Iterator it;
  TRY(tensor_contiguous(self, &before));
  Status status = tensor_to_dtype(value, (DType)self->dtype, &alike);
  if (status == OK) status = iterator_init(&it, 3, (const Tensor *const[]){self, alike, before});
  if (status == OK) iterator_run(&it, 0, it.numel, change_run, &size);
  tensor_release(before);
  tensor_release(alike);
  tensor_bump_version(self);
  return status;
}

static Status run_foreach_inplace(Call *call, const Device *place) {
  List *self = call->inputs[0].list;
  IValue result = IVALUE_NONE;
  Call inner = *call;
  inner.outputs = &result;
  inner.output_count = 1;
  Status status = call_run_functional(&inner, place);
  if (status == OK && (result.tag != TAG_LIST || result.list->length != self->length))
    status = status_internal(STR_FMT ": as many results as tensors expected", STR_ARG(call->op->name));
  for (size_t i = 0; status == OK && i < self->length; i++) {
    Tensor *target = self->values[i].tensor, *value = result.list->values[i].tensor;
    status = check_sizes(target, value->ndim, value->sizes);
    if (status == OK) status = check_cast((DType)value->dtype, target);
    if (status == OK) status = write_back(call, target, value);
  }
  ivalue_release(result);
  return status;
}

/* The functional form. What a composite that autograd sees through saves of self must outlive the write: it gets a
 * copy. */
static Status run_before_write(Call *call, const Device *place) {
  static OpRef clone = OP_REF("aten::clone", "");
  bool seen_through = (call->op->flags & OP_COMPOSITE || call->op->row->body) && !call->op->row->grad;
  if (!seen_through || !call->exec->grad_enabled || !(call->inputs[0].tensor->flags & TENSOR_RECORDS))
    return call_run_functional(call, place);
  IValue inputs[CALL_MAX_INPUTS], copy = IVALUE_NONE;
  Call inner = *call;
  if (call->input_count > CALL_MAX_INPUTS)
    return status_internal(STR_FMT ": too many arguments", STR_ARG(call->op->name));
  memcpy(inputs, call->inputs, call->input_count * sizeof *inputs);
  TRY(op_call(call->exec, &clone, 1, call->inputs, 1, &copy));
  inputs[0] = copy;
  inner.inputs = inputs;
  Status status = call_run_functional(&inner, place);
  ivalue_release(copy);
  return status;
}

/* `name_`: self is the output. */
Status call_run_inplace(Call *call, const Device *place) {
  if (call->inputs[0].tag == TAG_LIST) return run_foreach_inplace(call, place);
  Tensor *self = call_tensor(call, 0);
  ShapeFunction *shape = call_row_shape(call);
  IValue result = IVALUE_NONE;
  bool expanded = may_write_expanded(call, self);
  Call inner = *call;
  inner.outputs = &result;
  inner.output_count = 1;
  inner.dying = 0;
  TRY(begin_write(self));
  TRY(check_target_device(self, place));
  if (shape) {
    TensorSpec spec[CALL_MAX_OUTPUTS];
    bool direct = false;
    TRY(call_compute_specs(&inner, shape, spec));
    TRY(check_sizes(self, spec->ndim, spec->sizes));
    TRY(check_cast(spec->dtype, self));
    if (!expanded) TRY(tensor_check_writable(self));
    if (place && place->type == DEVICE_META) goto done;
    TRY(check_apart(call, call->input_count, self));
    TRY(check_overlap(call, call->input_count, self, &direct));
    if (direct && !expanded && spec->dtype == self->dtype) {
      result = ivalue_tensor(tensor_retain(self));
      Status status = call_run_row(&inner);
      ivalue_release(result);
      TRY(status);
      tensor_bump_version(self);
      goto done;
    }
  }
  TRY(check_apart(call, call->input_count, self));
  Status status = run_before_write(&inner, place);
  if (status == OK && result.tag != TAG_TENSOR)
    status = status_internal(STR_FMT ": no tensor computed", STR_ARG(call->op->name));
  if (status == OK) {
    status = check_sizes(self, result.tensor->ndim, result.tensor->sizes);
    if (status == OK) status = check_cast((DType)result.tensor->dtype, self);
    if (status == OK && !expanded) status = tensor_check_writable(self);
    if (status == OK) status = expanded ? write_changes(self, result.tensor) : write_back(call, self, result.tensor);
  }
  ivalue_release(result);
  TRY(status);
done:
  if (call->output_count) call_set_tensor(call, 0, tensor_retain(self));
  return OK;
}

/* Whether the kernel can fill `out` itself: of the metadata the shape function asked for, clear of the inputs. */
static Status may_fill(const Call *functional, const TensorSpec *spec, const Tensor *out, bool *out_direct) {
  bool takes_any_strides = functional->op->flags & (OP_ALIASING_OK | OP_ALIASING_SELF);
  *out_direct = false;
  TRY(tensor_check_writable(out));
  TRY(check_overlap(functional, functional->input_count, out, out_direct));
  if (out->dtype != spec->dtype || (out->flags & TENSOR_UNUSUAL)) *out_direct = false;
  if (takes_any_strides || !*out_direct) return OK;
  *out_direct = spec->has_strides ? memcmp(out->strides, spec->strides, (size_t)spec->ndim * sizeof *spec->strides) == 0
                                  : tensor_is_contiguous(out);
  return OK;
}

/* strides NULL: row-major. */
static Status resize_to(Tensor *out, int ndim, const int64_t *sizes, const int64_t *strides) {
  if (sizes_equal(out, ndim, sizes)) return OK;
  TRY(tensor_resize(out, ndim, sizes));
  return strides ? tensor_set_sizes(out, ndim, sizes, strides) : OK;
}

static bool stands_among(const IValue *values, uint32_t count, const Tensor *t) {
  for (uint32_t i = 0; i < count; i++) {
    if (values[i].tag == TAG_TENSOR && values[i].tensor == t) return true;
    if (values[i].tag != TAG_LIST || values[i].list->kind != LIST_VALUES) continue;
    const List *list = values[i].list;
    for (size_t k = 0; k < list->length; k++)
      if (list->values[k].tag == TAG_TENSOR && list->values[k].tensor == t) return true;
  }
  return false;
}

/* Whether the sizes of out tensor `i` are still looked at by the kernel: as an input that would be resized, or as
 * another of the results. Then it is written afterwards. */
static bool is_in_use(const Call *functional, const TensorSpec *spec, const IValue *outs, uint32_t i) {
  assert(outs[i].tag == TAG_TENSOR);
  const Tensor *out = outs[i].tensor;
  if (stands_among(outs, i, out)) return true;
  return !sizes_equal(out, spec->ndim, spec->sizes) && stands_among(functional->inputs, functional->input_count, out);
}

/* The inputs of the functional form: without the outs, with the options that the outs stand for. */
static void functional_inputs(const Call *call, const CallPlan *plan, const Tensor *out, IValue *inputs,
                              uint32_t *out_count) {
  uint32_t count = 0;
  for (uint32_t i = 0; i <= plan->first_out; i++) {
    if ((ptrdiff_t)i == plan->options_at) {
      inputs[count++] = ivalue_int(out->dtype);
      inputs[count++] = IVALUE_NONE;
      inputs[count++] = ivalue_device(tensor_device(out));
      inputs[count++] = IVALUE_NONE;
    }
    if (i < plan->first_out) inputs[count++] = call->inputs[i];
  }
  *out_count = count;
}

static Status run_list_out(Call *call, Call *inner, const Device *place, List *outs) {
  Status status = call_run_functional(inner, place);
  IValue result = inner->outputs[0];
  if (status == OK && (result.tag != TAG_LIST || result.list->length != outs->length))
    status = status_new(ERROR_RUNTIME, STR_FMT ": expected %zu out tensors but got %zu", STR_ARG(call->op->name),
                        result.tag == TAG_LIST ? result.list->length : 0, outs->length);
  for (size_t i = 0; status == OK && i < outs->length; i++) {
    Tensor *target = outs->values[i].tensor, *value = result.list->values[i].tensor;
    status = check_cast((DType)value->dtype, target);
    if (status == OK) status = resize_to(target, value->ndim, value->sizes, NULL);
    if (status == OK) status = write_back(call, target, value);
  }
  return status;
}

/* `.out` forms: the out tensors take the results' sizes and keep their dtypes. */
Status call_run_out(Call *call, const CallPlan *plan, const Device *place) {
  uint32_t out_count = plan->out_count;
  IValue inputs[CALL_MAX_INPUTS + 4], results[CALL_MAX_OUTPUTS];
  Call inner = *call;
  if (call->input_count > CALL_MAX_INPUTS || out_count > CALL_MAX_OUTPUTS)
    return status_internal(STR_FMT ": too many arguments", STR_ARG(call->op->name));
  const IValue *outs = &call->inputs[plan->first_out];
  bool list = outs[0].tag == TAG_LIST;
  if (!list)
    functional_inputs(call, plan, outs[0].tensor, inputs, &inner.input_count);
  else
    memcpy(inputs, call->inputs, (inner.input_count = plan->first_out) * sizeof *inputs);
  inner.inputs = inputs;
  inner.outputs = results;
  inner.output_count = out_count;
  inner.dying = 0;
  for (uint32_t i = 0; i < out_count; i++) results[i] = IVALUE_NONE;
  if (list) {
    Status status = run_list_out(call, &inner, place, outs[0].list);
    call_clear_outputs(&inner);
    return status;
  }

  Status status = OK;
  ShapeFunction *shape = call_row_shape(call);
  bool meta = place && place->type == DEVICE_META;
  bool filled[CALL_MAX_OUTPUTS] = {false};
  for (uint32_t i = 0; i < out_count; i++) {
    if (!tensor_is_defined(outs[i].tensor))
      return status_new(ERROR_RUNTIME, STR_FMT ": an out argument is undefined", STR_ARG(call->op->name));
    TRY(begin_write(outs[i].tensor));
    TRY(check_target_device(outs[i].tensor, place));
  }
  TensorSpec specs[CALL_MAX_OUTPUTS];
  if (shape) TRY(call_compute_specs(&inner, shape, specs));
  for (uint32_t i = 0; i < out_count; i++) TRY(check_apart(&inner, inner.input_count, outs[i].tensor));
  if (shape) {
    for (uint32_t i = 0; i < out_count; i++) {
      Tensor *out = outs[i].tensor;
      if (specs[i].flags & TENSOR_UNDEFINED) continue;
      if (place) call_place_result(&specs[i], *place);
      TRY_GOTO(check_out_dtype(call, specs[i].dtype, out), done);
      bool in_use = !meta && is_in_use(&inner, &specs[i], outs, i);
      if (!in_use)
        TRY_GOTO(resize_to(out, specs[i].ndim, specs[i].sizes, specs[i].has_strides ? specs[i].strides : NULL), done);
      if (meta) continue;
      if (!in_use) TRY_GOTO(may_fill(&inner, &specs[i], out, &filled[i]), done);
      if (filled[i])
        results[i] = ivalue_tensor(tensor_retain(out));
      else
        TRY_GOTO(call_fill_slot(&inner, i, &specs[i]), done);
    }
    if (!meta) status = call_run_row(&inner);
  } else {
    status = call_run_row(&inner);
  }
  for (uint32_t i = 0; status == OK && i < out_count; i++) {
    Tensor *out = outs[i].tensor;
    if (results[i].tag != TAG_TENSOR || !tensor_is_defined(results[i].tensor)) continue;
    if (filled[i] && results[i].tensor == out) {
      tensor_bump_version(out);
      continue;
    }
    status = check_out_dtype(call, (DType)results[i].tensor->dtype, out);
    if (status == OK) status = resize_to(out, results[i].tensor->ndim, results[i].tensor->sizes, NULL);
    if (status == OK) status = write_back(call, out, results[i].tensor);
  }
  for (uint32_t i = 0; status == OK && i < call->output_count && i < out_count; i++)
    call_set_tensor(call, i, tensor_retain(outs[i].tensor));
done:
  call_clear_outputs(&inner);
  return status;
}

static Status begin_writes(const List *list) {
  if (list->kind != LIST_VALUES) return OK;
  for (size_t k = 0; k < list->length; k++)
    if (list->values[k].tag == TAG_TENSOR) TRY(begin_write(list->values[k].tensor));
  return OK;
}

/* A row that says itself what it writes. */
Status call_run_writer(Call *call, const CallPlan *plan, const Device *place) {
  uint64_t writes = call->op->flags & OP_WRITES_NO_DATA ? 0 : plan->writes;
  for (uint64_t left = writes; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left);
    if (i < call->input_count && call->inputs[i].tag == TAG_LIST) TRY(begin_writes(call->inputs[i].list));
    if (i >= call->input_count || call->inputs[i].tag != TAG_TENSOR) continue;
    TRY(begin_write(call->inputs[i].tensor));
    TRY(check_target_device(call->inputs[i].tensor, place));
  }
  Status status = call_run_functional(call, place);
  for (uint64_t left = writes; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left);
    if (i >= call->input_count) continue;
    IValue v = call->inputs[i];
    if (v.tag == TAG_TENSOR)
      tensor_bump_version(v.tensor);
    else if (v.tag == TAG_LIST && v.list->kind == LIST_VALUES)
      for (size_t k = 0; k < v.list->length; k++)
        if (v.list->values[k].tag == TAG_TENSOR) tensor_bump_version(v.list->values[k].tensor);
  }
  return status;
}
