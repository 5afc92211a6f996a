/* Operators on values of any type: identity, hashes, optionals, tuples, enums, devices, sizes, and questions about the
 * surroundings. */
#include <assert.h>

#include "base/clock.h"
#include "call/options.h"
#include "call/results.h"
#include "call/row_extras.h"
#include "tensor/device_map.h"
#include "tensor/promote.h"
#include "tensor/random.h"
#include "type/class_type.h"

/* ---- identity ---- */

static bool is_undefined(IValue v) {
  return v.tag == TAG_TENSOR && !tensor_is_defined(v.tensor);
}

/* An undefined tensor is None. */
static Status is(Call *c) {
  IValue a = c->inputs[0], b = c->inputs[1];
  if (is_undefined(a)) a = IVALUE_NONE;
  if (is_undefined(b)) b = IVALUE_NONE;
  return result_bool(c, 0, ivalue_is(a, b) == call_param(c));
}

/* No two objects that are there have the same one. Not the address, which programs have no business with: its hash, by
 * the process's seed, which is one to one. */
static Status id(Call *c) {
  uint64_t hash = 0;
  if (!call_is_none(c, 0)) TRY(ivalue_hash(c->inputs[0], &hash));
  return result_int(c, 0, (int64_t)hash);
}

static Status same_value(Call *c) {
  return result_value(c, 0, c->inputs[0]);
}

static Status unwrap(Call *c) {
  if (call_is_none(c, 0)) return status_exception("RuntimeError", "Unwrapping null optional");
  return same_value(c);
}

static Status uninitialized(Call *c) {
  call_set(c, 0, ivalue_uninitialized());
  return OK;
}

static Status choose(Call *c) {
  return result_value(c, 0, c->inputs[call_bool(c, 0) ? 1 : 2]);
}

static Status tuple_item(Call *c) {
  const Tuple *tuple = c->inputs[0].tuple;
  if (c->inputs[0].tag != TAG_TUPLE) return status_exception("TypeError", "prim::TupleIndex: not a tuple");
  int64_t length = tuple->length, i = call_int(c, 1);
  if (i < 0) i += length;
  if (i < 0 || i >= length) return status_exception("IndexError", "tuple index out of range");
  return result_value(c, 0, tuple->values[i]);
}

static Status tuple_unpack(Call *c) {
  const Tuple *tuple = c->inputs[0].tuple;
  if (c->inputs[0].tag != TAG_TUPLE || tuple->length != c->output_count)
    return status_exception("ValueError", "prim::TupleUnpack: the tuple does not have %u values", c->output_count);
  for (uint32_t i = 0; i < c->output_count; i++) TRY(result_value(c, i, tuple->values[i]));
  return OK;
}

/* ---- bools, enums, devices ---- */

static Status equal(Call *c) {
  return result_bool(c, 0, ivalue_is(c->inputs[0], c->inputs[1]) == call_param(c));
}

static Status enum_name(Call *c) {
  assert(c->inputs[0].tag == TAG_ENUM);
  const EnumValue *e = c->inputs[0].enum_value;
  return result_str(c, 0, e->type->enum_type->names[e->index]);
}

static Status enum_value(Call *c) {
  assert(c->inputs[0].tag == TAG_ENUM);
  const EnumValue *e = c->inputs[0].enum_value;
  return result_value(c, 0, e->type->enum_type->values[e->index]);
}

static Status device_of(Call *c) {
  Device device;
  TRY(device_parse(call_str(c, 0), &device));
  call_set(c, 0, ivalue_device(device_map_apply(c->exec->device_map, device)));
  return OK;
}

static Status device_with_index(Call *c) {
  Str type = call_str(c, 0);
  int64_t index = call_int(c, 1);
  StrBuf text = {.max_length = 100};
  strbuf_printf(&text, STR_FMT ":%lld", STR_ARG(type), (long long)index);
  Device device;
  Status status = str_find_char(type, ':') < 0
                      ? device_parse(strbuf_view(&text), &device)
                      : status_new(ERROR_RUNTIME,
                                   "type (string) must not include an index because index was passed "
                                   "explicitly: " STR_FMT,
                                   STR_ARG(type));
  strbuf_dispose(&text);
  if (!status) call_set(c, 0, ivalue_device(device_map_apply(c->exec->device_map, device)));
  return status;
}

static Status device_type(Call *c) {
  assert(c->inputs[0].tag == TAG_DEVICE);
  return result_str(c, 0, str_from(device_type_name(c->inputs[0].device.type)));
}

static Status device_index(Call *c) {
  assert(c->inputs[0].tag == TAG_DEVICE);
  int index = c->inputs[0].device.index;
  call_set(c, 0, index < 0 ? IVALUE_NONE : ivalue_int(index));
  return OK;
}

/* ---- dtypes ---- */

static Status dtype_at(const Call *c, uint32_t i, DType *out) {
  int64_t number = call_int(c, i);
  if (!dtype_is_valid(number))
    return status_exception("TypeError", STR_FMT ": %lld is no dtype", STR_ARG(c->op->name), (long long)number);
  *out = (DType)number;
  return OK;
}

static Status promote_types(Call *c) {
  DType a, b;
  TRY(dtype_at(c, 0, &a));
  TRY(dtype_at(c, 1, &b));
  DType promoted = dtype_promote(a, b);
  return promoted == DTYPE_NO_PROMOTION ? promotion_is_refused(a, b) : result_int(c, 0, promoted);
}

static Status can_cast(Call *c) {
  DType from, to;
  TRY(dtype_at(c, 0, &from));
  TRY(dtype_at(c, 1, &to));
  return result_bool(c, 0, dtype_can_cast(from, to));
}

static Status result_type(Call *c) {
  return result_int(c, 0, dtype_promote(scalar_default_dtype(c->inputs[0]), scalar_default_dtype(c->inputs[1])));
}

/* ---- sizes ---- */

static Status result_sizes(Call *c, const int64_t *sizes, size_t count) {
  List *out;
  TRY(list_from_ints(sizes, count, &out));
  call_set(c, 0, ivalue_list(out));
  return OK;
}

static Status sizes_at(const Call *c, uint32_t i, const int64_t **out, size_t *out_count) {
  *out = call_ints(c, i, out_count);
  if (*out_count > TENSOR_MAX_DIMS)
    return status_new(ERROR_RUNTIME, STR_FMT ": more than %d dimensions", STR_ARG(c->op->name), TENSOR_MAX_DIMS);
  return OK;
}

static Status infer_size(Call *c) {
  const int64_t *a, *b;
  size_t count_a, count_b;
  int64_t sizes[TENSOR_MAX_DIMS];
  int ndim;
  TRY(sizes_at(c, 0, &a, &count_a));
  TRY(sizes_at(c, 1, &b, &count_b));
  TRY(sizes_broadcast((int)count_a, a, (int)count_b, b, &ndim, sizes));
  return result_sizes(c, sizes, (size_t)ndim);
}

static Status broadcast_sizes(Call *c) {
  int64_t sizes[TENSOR_MAX_DIMS];
  int ndim = 0;
  for (uint32_t i = 0; i < c->input_count; i++) {
    const int64_t *next;
    size_t count;
    int64_t joined[TENSOR_MAX_DIMS];
    TRY(sizes_at(c, i, &next, &count));
    TRY(sizes_broadcast(ndim, sizes, (int)count, next, &ndim, joined));
    memcpy(sizes, joined, sizeof sizes);
  }
  return result_sizes(c, sizes, (size_t)ndim);
}

static Status size_if_not_equal(Call *c) {
  const List *a = call_list(c, 0), *b = call_list(c, 1);
  bool same = a->length == b->length && (!a->length || !memcmp(a->ints, b->ints, a->length * sizeof *a->ints));
  if (same)
    call_set(c, 0, IVALUE_NONE);
  else
    return same_value(c);
  return OK;
}

static Status squeeze_size(Call *c) {
  const int64_t *a;
  size_t count, kept = 0;
  int64_t sizes[TENSOR_MAX_DIMS], dim = -1;
  TRY(sizes_at(c, 0, &a, &count));
  bool one_only = c->input_count > 1;
  if (one_only) TRY(dim_wrap(call_int(c, 1), (int)count, &dim));
  for (size_t i = 0; i < count; i++)
    if (a[i] != 1 || (one_only && (int64_t)i != dim)) sizes[kept++] = a[i];
  return result_sizes(c, sizes, kept);
}

static Status unsqueeze_size(Call *c) {
  const int64_t *a;
  size_t count;
  int64_t sizes[TENSOR_MAX_DIMS + 1], dim;
  TRY(sizes_at(c, 0, &a, &count));
  TRY(dim_wrap(call_int(c, 1), (int)count + 1, &dim));
  for (size_t i = 0; i <= count; i++) sizes[i] = (int64_t)i < dim ? a[i] : (int64_t)i == dim ? 1 : a[i - 1];
  return result_sizes(c, sizes, count + 1);
}

static Status reduction_sizes(Call *c) {
  const int64_t *a, *axes;
  size_t count, axis_count, kept = 0;
  int64_t sizes[TENSOR_MAX_DIMS];
  uint64_t reduced = 0;
  TRY(sizes_at(c, 0, &a, &count));
  TRY(sizes_at(c, 1, &axes, &axis_count));
  for (size_t i = 0; i < axis_count; i++) {
    int64_t dim;
    TRY(dim_wrap(axes[i], (int)count, &dim));
    reduced |= (uint64_t)1 << dim;
  }
  for (size_t i = 0; i < count; i++) {
    bool gone = reduced >> i & 1;
    if (!gone || call_bool(c, 2)) sizes[kept++] = gone ? 1 : a[i];
  }
  return result_sizes(c, sizes, kept);
}

/* ---- what tensors are ---- */

static Status tensor_length(Call *c) {
  const Tensor *t = call_tensor(c, 0);
  if (t->ndim == 0) return status_exception("TypeError", "len() of a 0-d tensor");
  return result_int(c, 0, t->sizes[0]);
}

static Status tensor_device_index(Call *c) {
  Device device = tensor_device(call_tensor(c, 0));
  return result_int(c, 0, device.type == DEVICE_CPU ? -1 : device.index);
}

static Status is_dense(Call *c) {
  return result_bool(c, 0, tensor_is_dense(call_tensor(c, 0)));
}

static Status is_set_to(Call *c) {
  const Tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
  bool same = a->storage == b->storage && a->offset == b->offset && tensor_same_sizes(a, b) &&
              (!a->ndim || !memcmp(a->strides, b->strides, a->ndim * sizeof *a->strides));
  return result_bool(c, 0, same);
}

static Status strides_have_format(Call *c) {
  const Tensor *t = call_tensor(c, 0);
  int64_t strides[TENSOR_MAX_DIMS];
  int64_t format = call_int(c, 1);
  bool fits = (format == FORMAT_CHANNELS_LAST && t->ndim == 4) || (format == FORMAT_CHANNELS_LAST_3D && t->ndim == 5);
  if (fits) strides_channels_last(t->ndim, t->sizes, strides);
  return result_bool(c, 0, fits && !memcmp(strides, t->strides, t->ndim * sizeof *strides));
}

/* ---- surroundings ---- */

static Status always(Call *c) {
  return result_bool(c, 0, call_param(c));
}
static Status is_grad_enabled(Call *c) {
  return result_bool(c, 0, c->exec->grad_enabled);
}
static Status is_tracing(Call *c) {
  return result_bool(c, 0, c->exec->recorder != NULL);
}

static Status set_grad_enabled(Call *c) {
  c->exec->grad_enabled = call_bool(c, 0);
  return OK;
}

static Status manual_seed(Call *c) {
  generator_lock();
  if (c->exec->generator) generator_seed(c->exec->generator, (uint64_t)call_int(c, 0));
  generator_unlock();
  return OK;
}

static Status time_point(Call *c) {
  return result_int(c, 0, (int64_t)clock_now_ns());
}

static Status nothing(Call *c) {
  (void)c;
  return OK;
}

#define ROW_ASK(text, function) \
  { .schema = text, .kernel = function, .flags = OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE }
#define ROW_EFFECT(text, function) \
  { .schema = text, .kernel = function, .flags = OP_SIDE_EFFECTS }
#define ROW_STATE(text, ...) \
  { .schema = text, .flags = OP_NONDETERMINISTIC, .kernel = __VA_ARGS__ }

static Status kernel_is_torch2(Call *c) {
  return result_bool(c, 0, work_is_torch2(&c->exec->work));
}

static const OpRow rows[] = {
    {.schema = "aten::__is__(t1 self, t2 obj) -> bool",
     .kernel = is,
     .param = true,
     .flags = OP_CONTAINER | OP_NEVER_RAISES},
    {.schema = "aten::__isnot__(t1 self, t2 obj) -> bool",
     .kernel = is,
     .param = false,
     .flags = OP_CONTAINER | OP_NEVER_RAISES},
    ROW_ANY("prim::id(AnyClassType? x) -> int", id),
    ROW_ANY("prim::unchecked_cast(t x) -> t", same_value),
    ROW_ANY("prim::unchecked_unwrap_optional(t(a)? optional) -> t(a)", same_value),
    ROW_ANY("aten::_unwrap_optional(t(a)? optional) -> t(a)", unwrap),
    ROW_ANY("prim::Uninitialized() -> Any", uninitialized),
    ROW_ANY("prim::IfThenElse(bool cond, Any(a) x, Any(b) y) -> Any(b|a)", choose, OPEN("Any Any")),
    ROW_ANY("prim::TupleIndex(Any tup, int i) -> Any", tuple_item, OPEN("AnyTupleType")),
    ROW_ANY("prim::TupleUnpack(Any tup) -> ...", tuple_unpack, OPEN("AnyTupleType")),
    ROW("aten::eq.enum(AnyEnumType a, AnyEnumType b) -> bool", equal, .param = true),
    ROW("aten::ne.enum(AnyEnumType a, AnyEnumType b) -> bool", equal, .param = false),
    ROW("aten::eq.device(Device a, Device b) -> bool", equal, .param = true),
    ROW("aten::ne.device(Device a, Device b) -> bool", equal, .param = false),
    ROW("prim::EnumName(AnyEnumType enum) -> str", enum_name),
    ROW("prim::EnumValue.int(AnyEnumType enum) -> int", enum_value),
    ROW("prim::EnumValue.float(AnyEnumType enum) -> float", enum_value),
    ROW("prim::EnumValue.str(AnyEnumType enum) -> str", enum_value),
    ROW("aten::device(str a) -> Device", device_of),
    ROW("aten::device.with_index(str type, int index) -> Device", device_with_index),
    ROW("prim::type(Device self) -> str", device_type),
    ROW("prim::index(Device self) -> int?", device_index),
    ROW("aten::promote_types(ScalarType type1, ScalarType type2) -> ScalarType", promote_types),
    ROW("aten::can_cast(ScalarType from, ScalarType to) -> bool", can_cast),
    ROW("aten::result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType", result_type),
    ROW("aten::_infer_size(int[] a, int[] b) -> int[]", infer_size),
    ROW("prim::BroadcastSizes(...) -> int[]", broadcast_sizes, OPEN("int[]..."), .flags = OP_OF_PLANS),
    ROW("aten::_size_if_not_equal(int[] self_size, int[] other_size) -> int[]?", size_if_not_equal),
    ROW("prim::infer_squeeze_size(int[] a) -> int[]", squeeze_size),
    ROW("prim::infer_squeeze_size.dim(int[] a, int dim) -> int[]", squeeze_size),
    ROW("prim::infer_unsqueeze_size(int[] a, int dim) -> int[]", unsqueeze_size),
    ROW("prim::ReductionSizes(int[] size, int[] red_axes, bool keepdim=False) -> int[]", reduction_sizes),
    {.schema = "aten::len.Tensor(Tensor t) -> int",
     .kernel = tensor_length,
     .flags = OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE | OP_METADATA_ONLY},
    ROW_ASK("aten::get_device(Tensor self) -> int", tensor_device_index),
    ROW_ASK("aten::is_non_overlapping_and_dense(Tensor self) -> bool", is_dense),
    ROW_ASK("aten::is_set_to(Tensor self, Tensor tensor) -> bool", is_set_to),
    ROW_ASK("aten::is_strides_like_format(Tensor self, MemoryFormat memory_format) -> bool", strides_have_format),
    {.schema = "prim::abs(Tensor x) -> Tensor", .body = "return torch.abs(x)"},
    ROW("aten::is_scripting() -> bool", always, .param = true),
    ROW_ANY("aten::has_torch_function(...) -> bool", always, .param = false, OPEN("Any...")),
    ROW_STATE("aten::is_autocast_enabled() -> bool", always, .param = false),
    ROW_STATE("aten::is_autocast_cpu_enabled() -> bool", always, .param = false),
    ROW("aten::_nnpack_available() -> bool", always, .param = false),
    /* For bodies; what it says is of the call, and not to be known when a body is compiled. */
    ROW("wick::is_torch2() -> bool", kernel_is_torch2, .flags = OP_OF_PLANS | OP_NONDETERMINISTIC),
    ROW("aten::is_vulkan_available() -> bool", always, .param = false),
    ROW_STATE("aten::_get_tracing_state() -> bool", is_tracing),
    ROW_STATE("aten::is_grad_enabled() -> bool", is_grad_enabled),
    ROW_STATE("prim::TimePoint() -> int", time_point),
    ROW_EFFECT("aten::set_grad_enabled(bool val) -> ()", set_grad_enabled),
    ROW_EFFECT("aten::manual_seed(int seed) -> ()", manual_seed),
    ROW_EFFECT("prim::AddStatValue(str key, int val) -> ()", nothing),
};
OP_TABLE(op_table_value, rows);
