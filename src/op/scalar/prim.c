/* Rows of primitives that the interpreter runs as instructions of its own (they are here for their schemas: matching,
 * aliases, side effects), and of the silent conversions of tensors to numbers. */
#include "call/row_extras.h"

/* Only the interpreter can do it. */
static Status not_alone(Call *call) {
  return status_new(ERROR_UNSUPPORTED, STR_FMT " only runs as part of a program", STR_ARG(call->op->name));
}

static Status raise_exception(Call *call) {
  Str message = call_str(call, 0);
  return status_new(ERROR_RAISED, STR_FMT, STR_ARG(message));
}

static Status check_scalar(const Call *call, bool integral) {
  const Tensor *t = call_tensor(call, 0);
  if (t->flags & TENSOR_META)
    return status_new(ERROR_UNSUPPORTED, "a tensor without data (device 'meta') has no value");
  TRY(tensor_check_host(t));
  if (t->flags & TENSOR_RECORDS)
    return status_new(ERROR_RUNTIME, "Cannot input a tensor that requires grad as a scalar argument");
  if (t->ndim != 0)
    return status_new(ERROR_RUNTIME, "Cannot input a tensor of dimension other than 0 as a scalar argument");
  if (integral && !dtype_is_integral((DType)t->dtype))
    return status_new(ERROR_RUNTIME, "Cannot input a tensor of type %s as an integral argument",
                      dtype_scalar_name((DType)t->dtype));
  return OK;
}

static Status int_implicit(Call *call) {
  TRY(check_scalar(call, true));
  call_set(call, 0, ivalue_int(tensor_item_int(call_tensor(call, 0))));
  return OK;
}

static Status float_implicit(Call *call) {
  TRY(check_scalar(call, false));
  call_set(call, 0, ivalue_float(tensor_item_double(call_tensor(call, 0))));
  return OK;
}

static Status set_complex(Call *call) {
  IValue value;
  TRY(ivalue_from_complex(tensor_item_complex(call_tensor(call, 0)), &value));
  call_set(call, 0, value);
  return OK;
}

static Status complex_implicit(Call *call) {
  TRY(check_scalar(call, false));
  return set_complex(call);
}

static Status scalar_implicit(Call *call) {
  TRY(check_scalar(call, false));
  const Tensor *t = call_tensor(call, 0);
  DType dtype = (DType)t->dtype;
  if (dtype_is_complex(dtype)) return set_complex(call);
  if (dtype == DTYPE_BOOL)
    call_set(call, 0, ivalue_bool(tensor_item_bool(t)));
  else if (dtype_is_floating(dtype))
    call_set(call, 0, ivalue_float(tensor_item_double(t)));
  else
    call_set(call, 0, ivalue_int(tensor_item_int(t)));
  return OK;
}

static Status undefined_tensor(Call *call) {
  call_set_tensor(call, 0, tensor_undefined());
  return OK;
}

static Status autograd_add(Call *call) {
  static OpRef add = OP_REF("aten::add", "Tensor");
  const Tensor *a = call_tensor_or_null(call, 0), *b = call_tensor_or_null(call, 1);
  if (a && b) return op_call(call->exec, &add, 2, call->inputs, 1, &call->outputs[0]);
  call_set(call, 0, ivalue_retain(call->inputs[a ? 0 : 1]));
  return OK;
}

static bool is_zero(IValue v) {
  return v.tag == TAG_NONE || (v.tag == TAG_TENSOR && !tensor_is_defined(v.tensor));
}

static uint32_t count_zeros(const Call *call) {
  uint32_t zeros = 0;
  for (uint32_t i = 0; i < call->input_count; i++) zeros += is_zero(call->inputs[i]);
  return zeros;
}

static Status all_zero(Call *call) {
  call_set(call, 0, ivalue_bool(count_zeros(call) == call->input_count));
  return OK;
}

static Status all_nonzero(Call *call) {
  call_set(call, 0, ivalue_bool(count_zeros(call) == 0));
  return OK;
}

static Status any_nonzero(Call *call) {
  call_set(call, 0, ivalue_bool(count_zeros(call) != call->input_count));
  return OK;
}

/* Profiler ranges are not recorded: entering one gives a handle that says nothing. */
static Status record_function_enter(Call *call) {
  Tensor *handle;
  TRY(tensor_empty(DTYPE_FLOAT32, 1, (int64_t[]){0}, &handle));
  call_set_tensor(call, 0, handle);
  return OK;
}

static Status record_function_exit(Call *call) {
  (void)call;
  return OK;
}

static Status same_future(Call *call) {
  call_set(call, 0, ivalue_retain(call->inputs[1]));
  return OK;
}

#define OP_ANY (OP_COMPOSITE | OP_ACCEPT_ANY)
static const OpRow rows[] = {
    {.schema = "prim::RaiseException(str msg, str? cls=None) -> ()",
     .kernel = raise_exception,
     .flags = OP_SIDE_EFFECTS},
    {.schema = "aten::wait(Future(t) self) -> t", .kernel = not_alone, .flags = OP_SIDE_EFFECTS | OP_ANY},
    {.schema = "prim::tolist(...) -> ...", OPEN("Any..."), .kernel = not_alone, .flags = OP_ANY},
    {.schema = "prim::ModuleContainerIndex.dict(Any self, str ind) -> Any",
     OPEN("Any"),
     .kernel = not_alone,
     .flags = OP_ANY},
    {.schema = "prim::ModuleContainerIndex.list(Any self, int ind) -> Any",
     OPEN("Any"),
     .kernel = not_alone,
     .flags = OP_ANY},
    {.schema = "aten::IntImplicit(Tensor a) -> int", .kernel = int_implicit, .flags = OP_ELEMENT},
    {.schema = "aten::FloatImplicit(Tensor a) -> float", .kernel = float_implicit, .flags = OP_ELEMENT},
    {.schema = "aten::ComplexImplicit(Tensor a) -> complex", .kernel = complex_implicit, .flags = OP_ELEMENT},
    {.schema = "aten::ScalarImplicit(Tensor a) -> Scalar", .kernel = scalar_implicit, .flags = OP_ELEMENT},
    {.schema = "prim::AutogradZero() -> Tensor", .kernel = undefined_tensor, .flags = OP_ANY},
    {.schema = "prim::AutogradAdd(Any a, Any b) -> Any",
     OPEN("Tensor? Tensor? -> Tensor"),
     .kernel = autograd_add,
     .flags = OP_ANY | OP_OF_PLANS},
    {.schema = "prim::AutogradAllZero(...) -> bool",
     OPEN("Tensor?..."),
     .kernel = all_zero,
     .flags = OP_ANY | OP_OF_PLANS},
    {.schema = "prim::AutogradAllNonZero(...) -> bool",
     OPEN("Tensor?..."),
     .kernel = all_nonzero,
     .flags = OP_ANY | OP_OF_PLANS},
    {.schema = "prim::AutogradAnyNonZero(...) -> bool",
     OPEN("Tensor?..."),
     .kernel = any_nonzero,
     .flags = OP_ANY | OP_OF_PLANS},
    {.schema = "profiler::_record_function_enter(str name, str? args=None) -> Tensor",
     .kernel = record_function_enter,
     .flags = OP_SIDE_EFFECTS},
    {.schema = "profiler::_record_function_exit(Tensor _0) -> ()",
     .kernel = record_function_exit,
     .flags = OP_SIDE_EFFECTS | OP_ANY},
    {.schema = "profiler::_call_end_callbacks_on_jit_fut(Tensor x, Future(t) y) -> Future(t)",
     .kernel = same_future,
     .flags = OP_SIDE_EFFECTS | OP_ANY},
};
OP_TABLE(op_table_prim, rows);
