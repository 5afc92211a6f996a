/* The one place where it is decided what runs a call: the row's kernel, formula or body, its form for a kind of
 * tensors, a device's kernel, or a factory's operation. Kernels of rows are the host's, so what is on a device reaches
 * one only where the row says that it takes it. */
#include "call/built_in.h"
#include "call/call_internal.h"
#include "call/device_kernel.h"
#include "call/options.h"
#include "call/pointwise.h"
#include "tensor/device_class.h"

uint32_t call_list_flags(const List *list) {
  uint32_t flags = 0;
  if (list->kind != LIST_VALUES) return 0;
  for (size_t i = 0; i < list->length; i++)
    if (list->values[i].tag == TAG_TENSOR) flags |= list->values[i].tensor->flags;
  return flags;
}

Status call_undefined(uint32_t i, Str name) {
  return status_new(ERROR_RUNTIME,
                    "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #%u '" STR_FMT
                    "'",
                    i, STR_ARG(name));
}

static bool is_undefined(IValue v) {
  return v.tag == TAG_TENSOR && !tensor_is_defined(v.tensor);
}
static bool holds_undefined(IValue v) {
  for (size_t i = 0; v.tag == TAG_LIST && v.list->kind == LIST_VALUES && i < v.list->length; i++)
    if (is_undefined(v.list->values[i])) return true;
  return is_undefined(v);
}

/* ---- dtypes that few operators know ---- */

static bool accepts_dtype(const Operator *op, const CallPlan *plan, DType dtype) {
  if (op->row->body || plan->is_view || op->flags & (OP_COMPOSITE | OP_METADATA_ONLY)) return true;
  return op->flags & (dtype_is_float8(dtype) ? OP_ACCEPT_FLOAT8 : OP_ACCEPT_UNSIGNED);
}

/* What reduces or scans tensors gives none of a limited dtype: its `dtype` is what it computes in. */
static bool computes_in(const Operator *op) {
  return op->row->cast == CAST_FULL_UNLESS_DTYPE;
}

/* A formula computes in the dtype that tensors promote to, which need not be limited; of unsigned integers functions
 * that give floating numbers compute in those. */
static Status check_limited(const Call *call, const CallPlan *plan, IValue v) {
  if (v.tag != TAG_TENSOR || !(v.tensor->flags & TENSOR_LIMITED)) return OK;
  const OpRow *row = call->op->row;
  DType dtype = (DType)v.tensor->dtype;
  if (accepts_dtype(call->op, plan, dtype)) return OK;
  if (row->lower && call->op->variant != VARIANT_OUT) {
    DType computed;
    TRY(pointwise_promote(call, &computed));
    if (!dtype_is_limited(computed)) return OK;
    if (dtype_is_wide_unsigned(computed) && row->shape == shape_pointwise_float) return OK;
  }
  return call_unsupported_dtype(call, dtype);
}

static Status check_limited_inputs(const Call *call, const CallPlan *plan) {
  for (uint32_t i = 0; i < call->input_count; i++) {
    IValue v = call->inputs[i];
    TRY(check_limited(call, plan, v));
    for (size_t k = 0; v.tag == TAG_LIST && v.list->kind == LIST_VALUES && k < v.list->length; k++)
      TRY(check_limited(call, plan, v.list->values[k]));
  }
  return OK;
}

static Status check_accepted(const Call *call, const CallPlan *plan, uint32_t flags) {
  const Operator *op = call->op;
  uint32_t accept = op->flags;
  const char *what = NULL;
  if ((flags & TENSOR_SPARSE) && !(accept & OP_ACCEPT_SPARSE) && !plan->sparse && !op->row->body)
    what = "sparse tensors are";
  else if ((flags & TENSOR_QUANTIZED) && !(accept & OP_ACCEPT_QUANTIZED) && !plan->quantized && !op->row->body)
    what = "quantized tensors are";
  else if ((flags & TENSOR_OPAQUE) && !(accept & OP_ACCEPT_OPAQUE))
    what = "tensors without strides are";
  else if ((flags & TENSOR_META) && !(accept & OP_ACCEPT_META) && !op->row->shape && !op->row->lower &&
           !op->row->body && !(accept & OP_COMPOSITE))
    what = "meta tensors are";
  if (what) return status_new(ERROR_UNSUPPORTED, STR_FMT ": %s not supported", STR_ARG(op->name), what);
  if (flags & TENSOR_LIMITED) TRY(check_limited_inputs(call, plan));
  if (!(flags & TENSOR_UNDEFINED) || (accept & OP_ACCEPT_UNDEFINED)) return OK;
  for (uint32_t i = 0; i < call->input_count && i < CALL_MAX_INPUTS; i++)
    if ((plan->required >> i & 1) && holds_undefined(call->inputs[i]))
      return call_undefined(i, plan->schema->arguments[i].name);
  return OK;
}

bool call_tells_no_device(const Call *call, const CallPlan *plan) {
  bool is_told = false;
  if (!plan->devices) return false;
  for (uint32_t i = 0; i < call->input_count; i++) {
    IValue v = call->inputs[i];
    if (v.tag == TAG_TENSOR) return false;
    is_told |= i < 64 && plan->devices >> i & 1 && v.tag != TAG_NONE;
  }
  return !is_told;
}

/* Programs give dtypes as ints; no kernel looks at one that is none. */
Status call_check_settings(const Call *call, const CallPlan *plan, bool *out_elsewhere) {
  *out_elsewhere = call->exec->default_device.type != DEVICE_CPU && call_tells_no_device(call, plan);
  for (uint64_t left = plan->dtypes | plan->devices; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left);
    if (i >= call->input_count) continue;
    IValue v = call->inputs[i];
    if (v.tag == TAG_NONE) continue;
    if (v.tag == TAG_DEVICE) *out_elsewhere |= v.device.type != DEVICE_CPU && v.device.type != DEVICE_META;
    if (v.tag != TAG_INT || !(plan->dtypes >> i & 1)) continue;
    if (!dtype_is_valid(v.i))
      return status_new(ERROR_RUNTIME, "Unrecognized dtype %lld for argument '" STR_FMT "'", (long long)v.i,
                        STR_ARG(plan->schema->arguments[i].name));
    if (dtype_is_limited((DType)v.i) && (!accepts_dtype(call->op, plan, (DType)v.i) || computes_in(call->op)))
      return call_unsupported_dtype(call, (DType)v.i);
  }
  return OK;
}

/* ---- kinds of tensors ---- */

/* The form for tensors of a kind, when one of what is read is: it makes results of their kind. */
static Status choose_form(Call *call, const CallPlan *plan, uint32_t kind, const KindForm *form) {
  Call read = *call;
  if (plan->out_count) read.input_count = plan->first_out;
  if (!(call_input_flags(&read, plan) & kind))
    return status_new(ERROR_RUNTIME, STR_FMT ": the out argument is %s and no other is", STR_ARG(call->op->name),
                      kind == TENSOR_SPARSE ? "sparse" : "quantized");
  call->form = form->kernel ? form : NULL;
  return OK;
}

/* ---- devices ---- */

static bool is_elsewhere(IValue v) {
  return v.tag == TAG_TENSOR && v.tensor->flags & TENSOR_NOT_CPU;
}

/* The device that an argument names, if one with memory of its own is there; else that of the first tensor which is
 * not on the host. */
static bool find_device(const Call *call, const CallPlan *plan, Device *out) {
  for (uint64_t left = plan->devices; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left);
    if (i >= call->input_count || call->inputs[i].tag != TAG_DEVICE) continue;
    Status status = options_device(call, i, out);
    bool is_there = !status && out->type != DEVICE_CPU && device_class(out->type);
    status_free(status);
    if (is_there) return true;
  }
  for (uint32_t i = 0; i < call->input_count; i++) {
    IValue v = call->inputs[i];
    if (is_elsewhere(v)) return *out = tensor_device(v.tensor), true;
    for (size_t k = 0; v.tag == TAG_LIST && v.list->kind == LIST_VALUES && k < v.list->length; k++)
      if (is_elsewhere(v.list->values[k])) return *out = tensor_device(v.list->values[k].tensor), true;
  }
  return false;
}

/* Numbers, as tensors without dimensions, may stay on the host. */
static Status check_one_device(IValue v, Device device) {
  if (v.tag != TAG_TENSOR || !tensor_is_defined(v.tensor)) return OK;
  Device other = tensor_device(v.tensor);
  if (device_equal(other, device) || (other.type == DEVICE_CPU && v.tensor->ndim == 0)) return OK;
  StrBuf names = {.max_length = 100};
  device_print(device, &names);
  strbuf_puts(&names, " and ");
  device_print(other, &names);
  Status status = status_new(
      ERROR_RUNTIME, "Expected all tensors to be on the same device, but found at least two devices, " STR_FMT "!",
      STR_ARG(strbuf_view(&names)));
  strbuf_dispose(&names);
  return status;
}

static Status check_same_device(const Call *call, Device device) {
  for (uint32_t i = 0; i < call->input_count; i++) {
    IValue v = call->inputs[i];
    TRY(check_one_device(v, device));
    for (size_t k = 0; v.tag == TAG_LIST && v.list->kind == LIST_VALUES && k < v.list->length; k++)
      TRY(check_one_device(v.list->values[k], device));
  }
  return OK;
}

/* It calls other operators, reads metadata alone, or leaves elements to the device's row. */
static bool runs_anywhere(const Operator *op, const CallPlan *plan) {
  if (op->row->body || op->flags & (OP_COMPOSITE | OP_ACCEPT_DEVICES) || plan->is_view) return true;
  return op->flags & OP_METADATA_ONLY && plan->output_kind == OUTPUT_OTHER;
}

static Status run_device_formula(Call *call) {
  return built_in()->device_formula(call);
}

/* Its kernel for the operator, or what runs the row's formula there. */
static const KindForm *find_device_form(const Operator *op, int device_type) {
  static const KindForm formula = {.name = "formula", .kernel = run_device_formula, .fills = true};
  const KindForm *form = device_kernel_find(op, device_type);
  if (form || !op->row->lower || !built_in()->device_runs_formulas) return form;
  return built_in()->device_runs_formulas(device_type) ? &formula : NULL;
}

static Status choose_device(Call *call, const CallPlan *plan, Device *out_device) {
  Device device;
  bool has_form = call->form && !call->op->row->factory; /* of quantized or sparse tensors: the host's */
  if (!find_device(call, plan, &device)) return OK;      /* nothing is elsewhere; what is not there the row will say */
  const KindForm *form = call->form ? NULL : find_device_form(plan->functional, device.type);
  if (form) {
    TRY(check_same_device(call, device));
    call->form = form;
    *out_device = device;
    return OK;
  }
  if (!has_form && runs_anywhere(call->op, plan)) return OK;
  const Operator *op = call->op;
  return status_new(ERROR_UNSUPPORTED, STR_FMT "%s" STR_FMT " does not run on device '%s'", STR_ARG(op->name),
                    op->overload_name.length ? "." : "", STR_ARG(op->overload_name), device_type_name(device.type));
}

Status call_choose(Call *call, const CallPlan *plan, uint32_t flags, Device *out_device) {
  bool elsewhere = false;
  *out_device = DEVICE_CPU_0;
  if (flags & TENSOR_QUANTIZED && plan->quantized) TRY(choose_form(call, plan, TENSOR_QUANTIZED, plan->quantized));
  if (flags & TENSOR_SPARSE && plan->sparse) TRY(choose_form(call, plan, TENSOR_SPARSE, plan->sparse));
  if (plan->dtypes | plan->devices) TRY(call_check_settings(call, plan, &elsewhere));
  if (flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED)) TRY(check_accepted(call, plan, flags));
  if (flags & TENSOR_META) *out_device = (Device){DEVICE_META, -1};
  return flags & TENSOR_NOT_CPU || elsewhere ? choose_device(call, plan, out_device) : OK;
}
