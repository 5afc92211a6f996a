/* What torch.utils.mobile_optimizer leaves of convolutions and linear layers: contexts that XNNPACK would have packed
 * weights in, and operators that run them and clamp. Here a context keeps what it was made from, checked once, and the
 * work is done by the plain operators, so that plans fuse it and weights are packed where the engine wants it. Unlike
 * XNNPACK, these look at the input's channels. */
#include "call/native_class.h"
#include "call/row_extras.h"

typedef struct ClampContext {
  NativeValue base;
  IValue state; /* a tuple as __getstate__ gives it */
} ClampContext;

/* What a context of a class consists of, in this order: weight, bias, lists of two ints, groups, bounds. */
typedef struct ContextForm {
  int weight_ndim;
  uint32_t lists; /* stride, padding, (output padding,) dilation */
  bool transpose;
} ContextForm;

extern const NativeClass native_linear_context, native_conv2d_context, native_transpose_context;
static const ContextForm linear_form = {2, 0, false}, conv2d_form = {4, 3, false}, transpose_form = {4, 4, true};

static const ContextForm *form_of(const NativeClass *native) {
  return native == &native_linear_context   ? &linear_form
         : native == &native_conv2d_context ? &conv2d_form
                                            : &transpose_form;
}
static uint32_t part_count(const ContextForm *form) {
  return 2 + form->lists + (form->lists ? 1 : 0) + 2;
}

/* ---- checks ---- */

static Status bad(const NativeClass *native, const char *what) {
  return status_new(ERROR_RUNTIME, "a context of xnnpack's class %s %s", native->name, what);
}

static bool is_plain_float(IValue v, int ndim) {
  return v.tag == TAG_TENSOR && tensor_is_defined(v.tensor) && v.tensor->dtype == DTYPE_FLOAT32 &&
         v.tensor->ndim == ndim && !(v.tensor->flags & TENSOR_UNUSUAL);
}
static bool is_absent(IValue v) {
  return v.tag == TAG_NONE || (v.tag == TAG_TENSOR && !tensor_is_defined(v.tensor));
}
static bool is_bound(IValue v) {
  return v.tag == TAG_NONE || v.tag == TAG_INT || v.tag == TAG_FLOAT;
}

/* Two numbers of at least `least`; one stands for both, as in int[2]. */
static bool is_pair(IValue v, int64_t least) {
  if (v.tag != TAG_LIST || v.list->kind != LIST_INTS || (v.list->length != 1 && v.list->length != 2)) return false;
  for (size_t i = 0; i < v.list->length; i++)
    if (v.list->ints[i] < least || v.list->ints[i] > INT32_MAX) return false;
  return true;
}

static Status check_spatial(const NativeClass *native, const ContextForm *form, const IValue *parts,
                            int64_t *out_outputs) {
  const Tensor *weight = parts[0].tensor;
  for (uint32_t i = 0; i < form->lists; i++) {
    bool is_padding = i == 1 || (form->transpose && i == 2);
    if (!is_pair(parts[2 + i], is_padding ? 0 : 1))
      return bad(native, "has a stride, padding or dilation that is none");
  }
  IValue groups = parts[2 + form->lists];
  if (groups.tag != TAG_INT || groups.i < 1 || groups.i > weight->sizes[0] || weight->sizes[0] % groups.i)
    return bad(native, "has a number of groups that does not divide its weight");
  for (int i = 1; i < 4; i++)
    if (weight->sizes[i] < 1) return bad(native, "has an empty weight");
  return int64_mul(form->transpose ? weight->sizes[1] : weight->sizes[0], form->transpose ? groups.i : 1, out_outputs)
             ? OK
             : bad(native, "has too many channels");
}

static Status check_parts(const NativeClass *native, const IValue *parts) {
  const ContextForm *form = form_of(native);
  if (!is_plain_float(parts[0], form->weight_ndim)) return bad(native, "needs a float32 weight of its dimensions");
  int64_t outputs = parts[0].tensor->sizes[0];
  if (form->lists) TRY(check_spatial(native, form, parts, &outputs));
  if (!is_absent(parts[1]) && (!is_plain_float(parts[1], 1) || parts[1].tensor->numel != outputs))
    return bad(native, "has a bias that is not one number for each output");
  uint32_t count = part_count(form);
  if (!is_bound(parts[count - 2]) || !is_bound(parts[count - 1])) return bad(native, "has bounds that are no numbers");
  return OK;
}

/* ---- contexts ---- */

static void free_context(Capsule *capsule) {
  ClampContext *context = (ClampContext *)capsule;
  ivalue_release(context->state);
  mem_free(context);
}

static Status context_new(const NativeClass *native, const IValue *parts, NativeValue **out) {
  uint32_t count = part_count(form_of(native));
  Tuple *state;
  TRY(check_parts(native, parts));
  TRY(tuple_new(count, NULL, &state));
  for (uint32_t i = 0; i < count; i++) state->values[i] = is_absent(parts[i]) ? IVALUE_NONE : ivalue_retain(parts[i]);
  ClampContext *context = mem_calloc(1, sizeof *context);
  if (!context) {
    ivalue_release(ivalue_tuple(state));
    return status_out_of_memory();
  }
  ref_init(&context->base.base.refs);
  context->base.base.free = free_context;
  context->base.native = native;
  context->state = ivalue_tuple(state);
  *out = &context->base;
  return OK;
}

static Status kernel_prepack(Call *c) {
  const NativeClass *native = call_with(c);
  NativeValue *value;
  IValue object;
  TRY(context_new(native, c->inputs, &value));
  TRY(native_object_new(value, &object));
  call_set(c, 0, object);
  return OK;
}

static Status kernel_getstate(Call *c) {
  const NativeClass *native = call_with(c);
  NativeValue *value;
  TRY(native_object_get(call_value(c, 0), native, &value));
  const Tuple *state = ((const ClampContext *)value)->state.tuple;
  for (uint32_t i = 0; i < state->length; i++) call_set(c, i, ivalue_retain(state->values[i]));
  return OK;
}

/* Sizes of the weight and of the bias, where there is one, then the numbers that say how to convolve. */
static Status kernel_sizes(Call *c) {
  const NativeClass *native = call_with(c);
  NativeValue *value;
  Tuple *sizes;
  TRY(native_object_get(call_value(c, 0), native, &value));
  const Tuple *state = ((const ClampContext *)value)->state.tuple;
  uint32_t count = state->length - 2; /* without the bounds */
  TRY(tuple_new(count, NULL, &sizes));
  call_set(c, 0, ivalue_tuple(sizes));
  for (uint32_t i = 0; i < count; i++) {
    List *list;
    IValue part = state->values[i];
    if (i >= 2 || is_absent(part)) {
      if (i >= 2) sizes->values[i] = ivalue_retain(part);
      continue;
    }
    TRY(list_from_ints(part.tensor->sizes, part.tensor->ndim, &list));
    sizes->values[i] = ivalue_list(list);
  }
  return OK;
}

static Status kernel_setstate(Call *c) {
  const NativeClass *native = call_with(c);
  IValue state = call_value(c, 1);
  NativeValue *value;
  if (state.tag != TAG_TUPLE || state.tuple->length != part_count(form_of(native)))
    return bad(native, "has a state of other parts");
  TRY(context_new(native, state.tuple->values, &value));
  return native_object_set(call_value(c, 0), value);
}

/* ---- rows ---- */

#define CONTEXT(name) "__torch__.torch.classes.xnnpack." name
#define PLAIN(text, kernel_function, native, ...) \
  { .schema = text, .kernel = kernel_function, .with = &native, .flags = OP_NOT_DIFFERENTIABLE, __VA_ARGS__ }
#define CLAMPED                        \
  "if low is not None:\n"              \
  "    y = torch.clamp_min(y, low)\n"  \
  "if high is not None:\n"             \
  "    y = torch.clamp_max(y, high)\n" \
  "return y"
#define STATE_ROWS(name, state, native)                                                                         \
  PLAIN("classes::" name "_getstate(" CONTEXT(name) " self) -> " state, kernel_getstate, native),               \
      PLAIN("classes::" name "_setstate(" CONTEXT(name) "(a!) self, Any state) -> ()", kernel_setstate, native, \
            OPEN("Any"))

static const OpRow rows[] = {
    PLAIN("prepacked::linear_clamp_prepack(Tensor W, Tensor? B=None, Scalar? output_min=None, Scalar? output_max=None) "
          "-> " CONTEXT("LinearOpContext"),
          kernel_prepack, native_linear_context),
    PLAIN("prepacked::conv2d_clamp_prepack(Tensor W, Tensor? B, int[2] stride, int[2] padding, int[2] dilation, int "
          "groups, Scalar? output_min=None, Scalar? output_max=None) -> " CONTEXT("Conv2dOpContext"),
          kernel_prepack, native_conv2d_context),
    PLAIN("prepacked::conv2d_transpose_clamp_prepack(Tensor W, Tensor? B, int[2] stride, int[2] padding, int[2] "
          "output_padding, int[2] dilation, int groups, Scalar? output_min=None, Scalar? output_max=None) -> " CONTEXT(
              "TransposeConv2dOpContext"),
          kernel_prepack, native_transpose_context),
    {.schema = "prepacked::linear_clamp_run(Tensor X, " CONTEXT("LinearOpContext") " W_prepack) -> Tensor Y",
     .body = "w, b, low, high = torch.ops.classes.LinearOpContext_getstate(W_prepack)\n"
             "y = torch.linear(X, w, b)\n" CLAMPED},
    {.schema = "prepacked::conv2d_clamp_run(Tensor X, " CONTEXT("Conv2dOpContext") " W_prepack) -> Tensor Y",
     .body = "w, b, stride, padding, dilation, groups, low, high = "
             "torch.ops.classes.Conv2dOpContext_getstate(W_prepack)\n"
             "y = torch.conv2d(X, w, b, stride, padding, dilation, groups)\n" CLAMPED},
    {.schema = "prepacked::conv2d_transpose_clamp_run(Tensor X, " CONTEXT(
         "TransposeConv2dOpContext") " W_prepack) -> Tensor Y",
     .body = "w, b, stride, padding, output_padding, dilation, groups, low, high = "
             "torch.ops.classes.TransposeConv2dOpContext_getstate(W_prepack)\n"
             "y = torch.conv_transpose2d(X, w, b, stride, padding, output_padding, groups, dilation)\n" CLAMPED},
    PLAIN("prepacked::unpack_prepacked_sizes_linear(Any W_prepack) -> Any", kernel_sizes, native_linear_context,
          OPEN(CONTEXT("LinearOpContext") " -> Any")),
    PLAIN("prepacked::unpack_prepacked_sizes_conv2d(Any W_prepack) -> Any", kernel_sizes, native_conv2d_context,
          OPEN(CONTEXT("Conv2dOpContext") " -> Any")),
    STATE_ROWS("LinearOpContext", "(Tensor, Tensor?, Scalar?, Scalar?)", native_linear_context),
    STATE_ROWS("Conv2dOpContext", "(Tensor, Tensor?, int[], int[], int[], int, Scalar?, Scalar?)",
               native_conv2d_context),
    STATE_ROWS("TransposeConv2dOpContext", "(Tensor, Tensor?, int[], int[], int[], int[], int, Scalar?, Scalar?)",
               native_transpose_context),
};
OP_TABLE(op_table_prepacked, rows);

#define CLASS(symbol, class_name)                                                                        \
  static const NativeMethod symbol##_methods[] = {{"__getstate__", "classes::" class_name "_getstate"},  \
                                                  {"__setstate__", "classes::" class_name "_setstate"}}; \
  const NativeClass symbol = {"xnnpack." class_name, symbol##_methods, 2};
CLASS(native_linear_context, "LinearOpContext")
CLASS(native_conv2d_context, "Conv2dOpContext")
CLASS(native_transpose_context, "TransposeConv2dOpContext")
