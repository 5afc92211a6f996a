/* The names a program always knows: torch and what is under it, math, cmath, warnings, typing, exceptions, operators by
 * name. */
#include <math.h>

#include "call/native_class.h"
#include "call/operator_library.h"
#include "call/quantized_engine.h"
#include "frontend/compilation.h"
#include "frontend/suggest.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static SugaredValue *space_attr(void *data, Compilation *c, Str name, SourceRange range);

/* ---- constants ---- */

static const struct {
  const char *name;
  int dtype;
} dtypes[] = {
    {"uint8", DTYPE_UINT8},
    {"int8", DTYPE_INT8},
    {"int16", DTYPE_INT16},
    {"short", DTYPE_INT16},
    {"int32", DTYPE_INT32},
    {"int", DTYPE_INT32},
    {"int64", DTYPE_INT64},
    {"long", DTYPE_INT64},
    {"float16", DTYPE_FLOAT16},
    {"half", DTYPE_FLOAT16},
    {"float32", DTYPE_FLOAT32},
    {"float", DTYPE_FLOAT32},
    {"float64", DTYPE_FLOAT64},
    {"double", DTYPE_FLOAT64},
    {"complex32", DTYPE_COMPLEX32},
    {"chalf", DTYPE_COMPLEX32},
    {"complex64", DTYPE_COMPLEX64},
    {"cfloat", DTYPE_COMPLEX64},
    {"complex128", DTYPE_COMPLEX128},
    {"cdouble", DTYPE_COMPLEX128},
    {"bool", DTYPE_BOOL},
    {"qint8", DTYPE_QINT8},
    {"quint8", DTYPE_QUINT8},
    {"qint32", DTYPE_QINT32},
    {"bfloat16", DTYPE_BFLOAT16},
    {"uint16", DTYPE_UINT16},
    {"uint32", DTYPE_UINT32},
    {"uint64", DTYPE_UINT64},
    {"float8_e5m2", DTYPE_FLOAT8_E5M2},
    {"float8_e4m3fn", DTYPE_FLOAT8_E4M3FN},
    {"float8_e5m2fnuz", DTYPE_FLOAT8_E5M2FNUZ},
    {"float8_e4m3fnuz", DTYPE_FLOAT8_E4M3FNUZ},
    {"float8_e8m0fnu", DTYPE_FLOAT8_E8M0FNU},
};
static const struct {
  const char *name;
  int64_t value;
} torch_ints[] = {
    {"strided", 0},
    {"sparse_coo", 1},
    {"sparse_csr", 2},
    {"_mkldnn", 3},
    {"sparse_csc", 4},
    {"sparse_bsr", 5},
    {"sparse_bsc", 6},
    {"contiguous_format", 0},
    {"preserve_format", 1},
    {"channels_last", 2},
    {"channels_last_3d", 3},
    {"per_tensor_affine", 0},
    {"per_channel_affine", 1},
    {"per_tensor_symmetric", 2},
    {"per_channel_symmetric", 3},
};
static const struct {
  const char *name;
  double value;
} float_constants[] = {
    {"pi", 3.14159265358979323846},
    {"e", 2.71828182845904523536},
    {"tau", 6.28318530717958647692},
    {"inf", INFINITY},
    {"nan", NAN},
};
static const struct {
  const char *name;
  DType dtype;
} legacy_tensors[] = {
    {"FloatTensor", DTYPE_FLOAT32}, {"DoubleTensor", DTYPE_FLOAT64}, {"HalfTensor", DTYPE_FLOAT16},
    {"LongTensor", DTYPE_INT64},    {"IntTensor", DTYPE_INT32},      {"ShortTensor", DTYPE_INT16},
    {"ByteTensor", DTYPE_UINT8},    {"CharTensor", DTYPE_INT8},      {"BoolTensor", DTYPE_BOOL},
};

/* ---- forms under torch and typing ---- */

static const struct {
  const char *name;
  SpecialForm form;
} jit_forms[] = {
    {"torch.jit.annotate", FORM_ANNOTATE},
    {"torch.jit._annotate", FORM_ANNOTATE},
    {"torch.jit.isinstance", FORM_ISINSTANCE},
    {"torch.jit.fork", FORM_FORK},
    {"torch.jit._fork", FORM_FORK},
    {"torch.jit.is_scripting", FORM_IS_SCRIPTING},
    {"torch.jit._script.is_scripting", FORM_IS_SCRIPTING},
    {"torch._jit_internal.is_scripting", FORM_IS_SCRIPTING},
    {"torch.jit.is_tracing", FORM_IS_TRACING},
    {"torch.jit._unwrap_optional", FORM_IDENTITY},
    {"torch.jit.uninitialized", FORM_UNINITIALIZED},
    {"typing.cast", FORM_CAST},
    {"torch.overrides.has_torch_function", FORM_IS_TRACING},
    {"torch.overrides.has_torch_function_unary", FORM_IS_TRACING},
    {"torch.overrides.has_torch_function_variadic", FORM_IS_TRACING},
};
/* Names that are other operators than the last identifier says. */
static const struct {
  const char *name, *op;
} renamed[] = {
    {"torch.jit.wait", "aten::wait"},
    {"torch.jit._wait", "aten::wait"},
    {"torch.jit._unwrap_optional", "aten::_unwrap_optional"},
    {"warnings.warn", "aten::warn"},
    {"math.remainder", "aten::mathremainder"},
    {"cmath.phase", "aten::angle"},
    {"cmath.rect", "aten::polar"},
    {"torch.autograd.grad", "aten::grad"},
    {"torch.autograd.backward", "aten::backward"},
    {"torch._C._set_grad_enabled", "aten::set_grad_enabled"},
    {"torch._C._get_tracing_state", "aten::_get_tracing_state"},
    {"torch._C._infer_size", "aten::_infer_size"},
    {"torch._infer_size", "aten::_infer_size"},
    {"torch.device", "aten::device"},
    {"torch._assert", "aten::_assert"},
    {"torch._VF.stft", "aten::stft"},
    {"torch.nn.functional.assert_int_or_pair", "aten::_assert_int_or_pair"},
    {"torch.is_grad_enabled", "aten::is_grad_enabled"},
    {"torch.manual_seed", "aten::manual_seed"},
    {"torch.random.manual_seed", "aten::manual_seed"},
    {"torch.get_device", "aten::get_device"},
    {"torch.ops.prim.NumToTensor", "prim::NumToTensor"},
};
/* Modules whose functions are operators with a prefix. */
static const struct {
  const char *name, *prefix;
} spaces[] = {
    {"torch", "aten::"},
    {"torch.nn.functional", "aten::"},
    {"torch.functional", "aten::"},
    {"torch._C._nn", "aten::"},
    {"torch._C", "aten::"},
    {"torch._VF", "aten::"},
    {"torch.special", "aten::special_"},
    {"torch.linalg", "aten::linalg_"},
    {"torch.fft", "aten::fft_"},
    {"torch._C._special", "aten::"},
    {"torch._C._linalg", "aten::"},
    {"torch._C._fft", "aten::"},
    {"torch.sparse", "aten::_sparse_"},
    {"torch.Tensor", "aten::"},
    {"math", "aten::"},
    {"cmath", "aten::"},
    {"torch.nn.init", "aten::"},
    {"torch.nn.utils.rnn", "aten::"},
    {"torch.random", "aten::"},
};
/* Modules that only lead on. */
static const char *const passages[] = {
    "torch.nn",
    "torch.jit",
    "torch.ops",
    "torch.classes",
    "torch.autograd",
    "torch.autograd.grad_mode",
    "torch.autograd.profiler",
    "torch.profiler",
    "torch.nn.modules",
    "torch.overrides",
    "torch._jit_internal",
    "torch.cuda",
    "torch.cuda.amp",
    "torch.cpu",
    "torch.cpu.amp",
    "torch.amp",
    "torch.backends",
    "torch.backends.quantized",
    "torch.nn.utils",
    "torch.jit._script",
    "torch.testing",
    "torch.utils",
    "torch.distributions",
    "torch.optim",
    "torch.optim._functional",
    "torch._lowrank",
    "torch.nn.parameter",
    "torch.version",
    "torch.nn.quantized",
    "torch.nn.quantized.functional",
    "torch.quantization",
    "torch.ao",
    "torch.types",
    "torch.torch",
};
/* Classes of the prelude that go by shorter names. */
static const struct {
  const char *name, *module, *class_name;
} prelude_names[] = {
    {"torch.no_grad", "torch.autograd.grad_mode", "no_grad"},
    {"torch.enable_grad", "torch.autograd.grad_mode", "enable_grad"},
    {"torch.inference_mode", "torch.autograd.grad_mode", "inference_mode"},
    {"torch.set_grad_enabled", "torch.autograd.grad_mode", "set_grad_enabled"},
    {"torch.autocast", "torch.amp.autocast_mode", "autocast"},
    {"torch.amp.autocast", "torch.amp.autocast_mode", "autocast"},
    {"torch.cpu.amp.autocast", "torch.cpu.amp.autocast_mode", "autocast"},
    {"torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode", "autocast"},
    {"torch.profiler.record_function", "torch.autograd.profiler", "record_function"},
    {"torch.jit.strict_fusion", "torch.jit", "strict_fusion"},
};

static Str last_part(Str path) {
  ptrdiff_t dot = str_rfind_char(path, '.');
  return str_slice(path, (size_t)(dot + 1), path.length);
}

static SugaredValue *operator_by(Compilation *c, const char *prefix, Str name) {
  Str qualified = str_from(arena_printf(&c->scratch, "%s" STR_FMT, prefix, STR_ARG(name)));
  return operator_find(qualified) ? sugared_builtin(c, symbol_intern(qualified)) : NULL;
}

static SugaredValue *make_space(Compilation *c, Str path) {
  char *text = arena_strndup(&c->scratch, path.data, path.length);
  Str *kept = ARENA_NEW(&c->scratch, Str);
  *kept = (Str){text, path.length};
  return sugared_namespace(c, *kept, space_attr, kept);
}

static bool is_space(Str path) {
  for (size_t i = 0; i < COUNT(spaces); i++)
    if (str_is(path, spaces[i].name)) return true;
  for (size_t i = 0; i < COUNT(passages); i++)
    if (str_is(path, passages[i])) return true;
  if (str_starts_with(path, "torch.classes.")) return str_find_char(str_slice(path, 14, path.length), '.') < 0;
  return str_starts_with(path, "torch.ops.") && str_find_char(str_slice(path, 10, path.length), '.') < 0;
}

static SugaredValue *torch_constant(Compilation *c, Str name) {
  for (size_t i = 0; i < COUNT(dtypes); i++)
    if (str_is(name, dtypes[i].name)) return sugared_constant(c, ivalue_int(dtypes[i].dtype));
  for (size_t i = 0; i < COUNT(torch_ints); i++)
    if (str_is(name, torch_ints[i].name)) return sugared_constant(c, ivalue_int(torch_ints[i].value));
  for (size_t i = 0; i < COUNT(legacy_tensors); i++)
    if (str_is(name, legacy_tensors[i].name)) return sugared_legacy_tensor(c, legacy_tensors[i].dtype);
  return NULL;
}

static SugaredValue *float_constant(Compilation *c, Str name) {
  for (size_t i = 0; i < COUNT(float_constants); i++)
    if (str_is(name, float_constants[i].name)) return sugared_constant(c, ivalue_float(float_constants[i].value));
  return NULL;
}

/* The engine's name when the program is compiled, a constant as in PyTorch. */
static SugaredValue *engine_constant(Compilation *c) {
  IValue name;
  Status status = ivalue_from_str(str_from(quantized_engine_name(quantized_engine(c->exec))), &name);
  if (status) catch_throw(&c->catch_point, status);
  unit_hold(c->unit, name);
  return sugared_constant(c, name);
}

/* torch.Size(x): the list itself. */
static SugaredValue *named_class(Compilation *c, Str path) {
  if (str_is(path, "torch.Size")) return sugared_special_form(c, FORM_IDENTITY);
  if (str_is(path, "torch.Tensor")) return sugared_legacy_tensor(c, DTYPE_FLOAT32);
  return NULL;
}

/* torch.classes.mine.Table; NULL: there is none. */
static SugaredValue *native_class(Compilation *c, Str path) {
  Str qualified = str_from(arena_printf(&c->scratch, "__torch__." STR_FMT, STR_ARG(path)));
  const NativeClass *native = native_class_find(qualified);
  if (!native) return NULL;
  const Type *type = native_class_type(native);
  if (type->kind != TYPE_CLASS) catch_throw(&c->catch_point, status_out_of_memory());
  return sugared_class(c, type);
}

/* "torch.nn.functional" + "relu". */
static SugaredValue *lookup(Compilation *c, Str space, Str name) {
  Str path = str_from(arena_printf(&c->scratch, STR_FMT "." STR_FMT, STR_ARG(space), STR_ARG(name)));
  if (str_starts_with(path, "torch.torch.")) return lookup(c, STR("torch"), name);
  if (str_starts_with(space, "torch.ops.")) {
    Str qualified = str_from(arena_printf(&c->scratch, STR_FMT "::" STR_FMT, STR_ARG(last_part(space)), STR_ARG(name)));
    if (str_is(qualified, "prim::NumToTensor") || operator_find(qualified))
      return sugared_builtin(c, symbol_intern(qualified));
    return NULL;
  }
  if (str_starts_with(space, "torch.classes.")) return native_class(c, path);
  for (size_t i = 0; i < COUNT(renamed); i++)
    if (str_is(path, renamed[i].name) && operator_find(str_from(renamed[i].op)))
      return sugared_builtin(c, symbol_intern(str_from(renamed[i].op)));
  for (size_t i = 0; i < COUNT(jit_forms); i++)
    if (str_is(path, jit_forms[i].name)) return sugared_special_form(c, jit_forms[i].form);
  for (size_t i = 0; i < COUNT(prelude_names); i++)
    if (str_is(path, prelude_names[i].name))
      return prelude_find(c, str_from(prelude_names[i].module), str_from(prelude_names[i].class_name));
  SugaredValue *found = NULL;
  if (str_is(space, "torch")) found = torch_constant(c, name);
  if (!found && (str_is(space, "torch") || str_is(space, "math") || str_is(space, "cmath")))
    found = float_constant(c, name);
  if (!found && str_is(space, "cmath") && (str_is(name, "infj") || str_is(name, "nanj"))) {
    IValue value;
    Status status =
        ivalue_from_complex(__builtin_complex(0.0, str_is(name, "infj") ? (double)INFINITY : (double)NAN), &value);
    if (status) catch_throw(&c->catch_point, status);
    unit_hold(c->unit, value);
    return sugared_constant(c, value);
  }
  if (str_is(path, "torch.backends.quantized.engine")) found = engine_constant(c);
  if (!found) found = named_class(c, path);
  if (!found) found = prelude_find(c, space, name);
  if (!found && str_is(space, "torch")) found = prelude_find(c, STR("torch.functional"), name);
  if (!found && is_space(path)) found = make_space(c, path);
  for (size_t i = 0; i < COUNT(spaces) && !found; i++)
    if (str_is(space, spaces[i].name)) found = operator_by(c, spaces[i].prefix, name);
  return found;
}

static bool parent_is(const char *path, Str space) {
  return !strncmp(path, space.data, space.length) && path[space.length] == '.' && !strchr(path + space.length + 1, '.');
}

/* Constants and operators with names like the one that `space` does not have. */
static const char *suggest_global(Compilation *c, Str space, const char *prefix, Str name) {
  Suggestion s;
  suggestion_start(&s, name);
  if (str_is(space, "torch")) {
    for (size_t i = 0; i < COUNT(dtypes); i++) suggestion_offer(&s, str_from(dtypes[i].name));
    for (size_t i = 0; i < COUNT(torch_ints); i++) suggestion_offer(&s, str_from(torch_ints[i].name));
    for (size_t i = 0; i < COUNT(legacy_tensors); i++) suggestion_offer(&s, str_from(legacy_tensors[i].name));
  }
  for (size_t i = 0; i < COUNT(float_constants); i++) suggestion_offer(&s, str_from(float_constants[i].name));
  for (size_t i = 0; i < COUNT(prelude_names); i++)
    if (parent_is(prelude_names[i].name, space))
      suggestion_offer(&s, str_from(prelude_names[i].name + space.length + 1));
  for (size_t i = 0; i < COUNT(renamed); i++)
    if (parent_is(renamed[i].name, space)) suggestion_offer(&s, str_from(renamed[i].name + space.length + 1));
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op))
    if (str_starts_with(op->name, prefix) && !operator_is_of_plans(op))
      suggestion_offer(&s, str_slice(op->name, strlen(prefix), op->name.length));
  return suggestion_text(&s, c);
}

/* Of torch.ops.mine or torch.classes.mine: why its library is not there, or "". */
static const char *missing_library(Compilation *c, Str space) {
  StrBuf text = {0};
  operator_library_print_reason(last_part(space), &text);
  const char *reason = arena_strndup(&c->scratch, text.data ? text.data : "", text.length);
  strbuf_dispose(&text);
  return reason;
}

/* The operator that `space.name` would be, with a similar one. */
static _Noreturn void fail_unknown(Compilation *c, Str space, Str name, SourceRange range) {
  const char *prefix = "";
  for (size_t i = 0; i < COUNT(spaces); i++)
    if (str_is(space, spaces[i].name)) prefix = spaces[i].prefix;
  Str path = str_from(arena_printf(&c->scratch, STR_FMT "." STR_FMT, STR_ARG(space), STR_ARG(name)));
  for (size_t i = 0; i < COUNT(renamed); i++)
    if (str_is(path, renamed[i].name))
      compilation_fail(c, range, STR_FMT ": unknown operator %s", STR_ARG(path), renamed[i].op);
  if (!*prefix)
    compilation_fail(c, range, STR_FMT " has no attribute '" STR_FMT "'%s", STR_ARG(space), STR_ARG(name),
                     str_starts_with(space, "torch.ops.") || str_starts_with(space, "torch.classes.")
                         ? missing_library(c, space)
                         : "");
  Str qualified = str_from(arena_printf(&c->scratch, "%s" STR_FMT, prefix, STR_ARG(name)));
  compilation_fail(c, range, "object has no attribute " STR_FMT ": unknown operator " STR_FMT ".%s", STR_ARG(name),
                   STR_ARG(qualified), suggest_global(c, space, prefix, name));
}

static SugaredValue *space_attr(void *data, Compilation *c, Str name, SourceRange range) {
  SugaredValue *found = lookup(c, *(const Str *)data, name);
  if (!found) fail_unknown(c, *(const Str *)data, name, range);
  return found;
}

/* ---- bare names ---- */

static const struct {
  const char *name;
  SpecialForm form;
} archive_forms[] = {
    {"annotate", FORM_ANNOTATE},
    {"uninitialized", FORM_UNINITIALIZED},
    {"unchecked_cast", FORM_UNCHECKED_CAST},
    {"fork", FORM_FORK},
    {"cast", FORM_CAST},
};
static const struct {
  const char *name, *op;
} bare_operators[] = {
    {"wait", "aten::wait"},
    {"unwrap_optional", "aten::_unwrap_optional"},
    {"_unwrap_optional", "aten::_unwrap_optional"},
};
static const char *const exceptions[] = {
    "Exception",      "RuntimeError",        "ValueError",      "TypeError",      "IndexError",
    "KeyError",       "NotImplementedError", "ArithmeticError", "AttributeError", "LookupError",
    "OverflowError",  "ZeroDivisionError",   "StopIteration",   "NameError",      "OSError",
    "ImportError",    "FloatingPointError",  "BaseException",   "UserWarning",    "DeprecationWarning",
    "RuntimeWarning", "FutureWarning",       "Warning",         "EOFError",       "MemoryError",
};

static SugaredValue *resolve_value(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  (void)resolver, (void)range;
  static const char *const roots[] = {"torch", "math", "cmath", "warnings", "typing"};
  for (size_t i = 0; i < COUNT(roots); i++)
    if (str_is(name, roots[i])) return make_space(c, name);
  if (str_is(name, "nn")) return make_space(c, STR("torch.nn"));
  if (str_is(name, "F")) return make_space(c, STR("torch.nn.functional"));
  if (str_is(name, "ops")) return make_space(c, STR("torch.ops"));
  for (size_t i = 0; i < COUNT(archive_forms); i++)
    if (str_is(name, archive_forms[i].name)) return sugared_special_form(c, archive_forms[i].form);
  for (size_t i = 0; i < COUNT(bare_operators); i++)
    if (str_is(name, bare_operators[i].name)) return sugared_builtin(c, symbol_intern(str_from(bare_operators[i].op)));
  for (size_t i = 0; i < COUNT(exceptions); i++)
    if (str_is(name, exceptions[i]))
      return sugared_exception(c, str_from(arena_printf(&c->scratch, "builtins.%s", exceptions[i])));
  if (str_is(name, "inf") || str_is(name, "nan")) return float_constant(c, name);
  return NULL;
}

Resolver builtin_resolver = {.resolve_value = resolve_value};

Resolver *frontend_builtin_resolver(void) {
  return &builtin_resolver;
}
