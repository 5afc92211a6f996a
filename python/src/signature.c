/* Which arguments of Python fit an overload's parameters, by torch's rules: numbers where tensors are wanted, trailing
 * ints for a list of sizes, one int for int[2], NumPy's names of keywords, out=. */
#include "signature.h"

#include <string.h>

/* ---- making ---- */

static bool read_parameter(const wick_parameter *from, Parameter *to) {
  *to = (Parameter){.kind = from->kind, .flags = from->flags, .repeats = from->repeats};
  to->name = PyUnicode_FromStringAndSize(from->name, (Py_ssize_t)from->name_length);
  if (!to->name) return false;
  PyUnicode_InternInPlace(&to->name);
  return true;
}

static bool read_all(ModuleState *state, Signature *s) {
  wick_error *error = NULL;
  wick_parameter p = {.size = sizeof p};
  wick_status status = WICK_OK;
  s->parameters = PyMem_Calloc(s->count + 1u, sizeof *s->parameters);
  s->results = PyMem_Calloc(s->result_count + 1u, sizeof *s->results);
  if (!s->parameters || !s->results) return PyErr_NoMemory(), false;
  for (uint32_t i = 0; i < s->count; i++) {
    if ((status = wick_overload_parameter(s->overload, i, &p, &error))) break;
    if (!read_parameter(&p, &s->parameters[i])) return false;
  }
  for (uint32_t i = 0; i < s->result_count && !status; i++) {
    if ((status = wick_overload_result(s->overload, i, &p, &error))) break;
    if (!read_parameter(&p, &s->results[i])) return false;
  }
  if (status) raise_wick(state, status, error);
  return !status;
}

static bool is_list_of_ints(const Parameter *p) {
  return p->kind == WICK_TAKES_INT && p->flags & WICK_PARAMETER_LIST;
}

static void judge(Signature *s) {
  bool has_dtype = false, has_device = false;
  for (uint32_t i = 0; i < s->count; i++) {
    const Parameter *p = &s->parameters[i];
    if (!(p->flags & WICK_PARAMETER_KEYWORD_ONLY)) s->positional_count = i + 1;
    if (p->flags & WICK_PARAMETER_OUT) s->out_count++;
    if (p->kind == WICK_TAKES_TENSOR || p->kind == WICK_TAKES_DTYPE) s->is_eager = true;
    has_dtype |= p->kind == WICK_TAKES_DTYPE;
    has_device |= p->kind == WICK_TAKES_LAYOUT;
  }
  s->is_factory = has_dtype && has_device;
  s->is_method = s->count && s->parameters[0].kind == WICK_TAKES_TENSOR &&
                 !(s->parameters[0].flags & (WICK_PARAMETER_LIST | WICK_PARAMETER_OUT));
  s->varargs = -1;
  if (s->positional_count == 1 + (uint32_t)s->is_method && is_list_of_ints(&s->parameters[s->positional_count - 1]))
    s->varargs = (int32_t)s->positional_count - 1;
}

static bool gives_tensors(const Signature *s) {
  for (uint32_t i = 0; i < s->result_count; i++)
    if (s->results[i].kind == WICK_TAKES_TENSOR || s->results[i].kind == WICK_TAKES_DTYPE) return true;
  return false;
}

bool signature_init(ModuleState *state, const wick_overload *overload, Signature *s, bool *is_callable) {
  *s = (Signature){.overload = overload,
                   .count = (uint32_t)wick_overload_parameter_count(overload),
                   .result_count = (uint32_t)wick_overload_result_count(overload)};
  *is_callable = false;
  if (s->count > MAX_PARAMETERS || s->result_count > MAX_RESULTS) return true;
  if (!read_all(state, s)) {
    signature_dispose(s);
    return false;
  }
  judge(s);
  s->is_eager = s->is_eager || gives_tensors(s);
  *is_callable = s->is_eager;
  return true;
}

void signature_dispose(Signature *s) {
  for (uint32_t i = 0; s->parameters && i < s->count; i++) Py_XDECREF(s->parameters[i].name);
  for (uint32_t i = 0; s->results && i < s->result_count; i++) Py_XDECREF(s->results[i].name);
  PyMem_Free(s->parameters);
  PyMem_Free(s->results);
  Py_XDECREF(s->result_type);
  *s = (Signature){0};
}

/* ---- whether one argument fits ---- */

static bool has_float(PyObject *object) {
  const PyNumberMethods *methods = Py_TYPE(object)->tp_as_number;
  return methods && methods->nb_float && !PyUnicode_Check(object);
}

/* A tensor that holds one number and no history. */
static bool is_number_tensor(PyObject *tensor, bool integral) {
  wick_tensor_info info = {.size = sizeof info};
  if (wick_tensor_count(tensor_value(tensor)) != 1) return false; /* nearly always, and cheaper asked */
  if (wick_tensor_info_of(tensor_value(tensor), &info, NULL) || info.count != 1 || info.ndim) return false;
  return !integral || info.dtype <= WICK_INT64 || info.dtype == WICK_BOOL8;
}

static Fit fit_int(ModuleState *state, PyObject *value) {
  if (PyBool_Check(value)) return FIT_CONVERTED;
  if (PyLong_Check(value)) return FIT_EXACT;
  if (is_tensor(state, value)) return is_number_tensor(value, true) ? FIT_CONVERTED : FIT_NOT;
  return PyIndex_Check(value) ? FIT_CONVERTED : FIT_NOT;
}
static Fit fit_double(ModuleState *state, PyObject *value) {
  if (PyFloat_Check(value)) return FIT_EXACT;
  if (PyComplex_Check(value)) return FIT_NOT;
  if (is_tensor(state, value)) return is_number_tensor(value, false) ? FIT_CONVERTED : FIT_NOT;
  return PyLong_Check(value) || PyIndex_Check(value) || has_float(value) ? FIT_CONVERTED : FIT_NOT;
}
static Fit fit_scalar(ModuleState *state, PyObject *value) {
  if (PyLong_Check(value) || PyFloat_Check(value) || PyComplex_Check(value)) return FIT_EXACT;
  if (is_tensor(state, value)) return is_number_tensor(value, false) ? FIT_CONVERTED : FIT_NOT;
  return PyIndex_Check(value) || has_float(value) ? FIT_CONVERTED : FIT_NOT;
}
static Fit fit_bool(PyObject *value) {
  if (PyBool_Check(value)) return FIT_EXACT;
  return strcmp(Py_TYPE(value)->tp_name, "numpy.bool_") == 0 ? FIT_CONVERTED : FIT_NOT;
}
static Fit fit_tensor(ModuleState *state, PyObject *value) {
  if (is_tensor(state, value)) return FIT_EXACT;
  if (PyLong_Check(value) || PyFloat_Check(value) || PyComplex_Check(value)) return FIT_WRAPPED;
  return FIT_NOT;
}

static Fit fit_element(ModuleState *state, uint32_t kind, PyObject *value) {
  switch (kind) {
    case WICK_TAKES_TENSOR:
      return fit_tensor(state, value);
    case WICK_TAKES_SCALAR:
      return fit_scalar(state, value);
    case WICK_TAKES_INT:
      return fit_int(state, value);
    case WICK_TAKES_DOUBLE:
      return fit_double(state, value);
    case WICK_TAKES_BOOL:
      return fit_bool(value);
    case WICK_TAKES_COMPLEX:
      return PyComplex_Check(value) ? FIT_EXACT : fit_double(state, value) == FIT_NOT ? FIT_NOT : FIT_CONVERTED;
    case WICK_TAKES_STRING:
      return PyUnicode_Check(value) ? FIT_EXACT : FIT_NOT;
    case WICK_TAKES_DTYPE:
      return dtype_of_object(state, value) >= 0 ? FIT_EXACT : FIT_NOT;
    case WICK_TAKES_LAYOUT:
      return layout_of_object(state, value) >= 0 ? FIT_EXACT : FIT_NOT;
    case WICK_TAKES_MEMORY_FORMAT:
      return memory_format_of_object(state, value) >= 0 ? FIT_EXACT : FIT_NOT;
    case WICK_TAKES_DEVICE:
      return is_device(state, value) || PyUnicode_Check(value) ? FIT_EXACT
             : PyLong_Check(value) && !PyBool_Check(value)     ? FIT_CONVERTED
                                                               : FIT_NOT;
    case WICK_TAKES_GENERATOR:
      return generator_value(state, value) ? FIT_EXACT : FIT_NOT;
    default: /* lists have parameters of their own, before which a type variable stands back */
      return PyList_Check(value) || PyTuple_Check(value) ? FIT_ASKED : FIT_CONVERTED;
  }
}

static Fit worse(Fit a, Fit b) {
  return a > b ? a : b;
}

static Fit fit_list(ModuleState *state, const Parameter *p, PyObject *value) {
  bool is_list = PyList_Check(value), is_tuple = PyTuple_Check(value);
  if (!is_list && !is_tuple) {
    Fit fit = p->repeats > 0 && p->kind != WICK_TAKES_TENSOR ? fit_element(state, p->kind, value) : FIT_NOT;
    return is_tensor(state, value) ? FIT_NOT : fit;
  }
  Fit fit = FIT_EXACT;
  for (Py_ssize_t i = 0; i < Py_SIZE(value) && fit != FIT_NOT; i++) {
    PyObject *item = is_list ? PyList_GET_ITEM(value, i) : PyTuple_GET_ITEM(value, i);
    if (item == Py_None && p->flags & WICK_PARAMETER_OPTIONAL_ELEMENTS) continue;
    Fit of_item = fit_element(state, p->kind, item);
    if (of_item == FIT_ASKED) of_item = FIT_CONVERTED; /* a list of lists is one all the same */
    fit = of_item == FIT_WRAPPED ? FIT_NOT : worse(fit, of_item);
  }
  return fit;
}

static Fit fit_argument(ModuleState *state, const Parameter *p, PyObject *value) {
  if (value == Py_None) {
    if (p->flags & WICK_PARAMETER_OPTIONAL || p->kind == WICK_TAKES_OTHER) return FIT_EXACT;
    return FIT_NOT;
  }
  if (p->flags & WICK_PARAMETER_LIST) return fit_list(state, p, value);
  Fit fit = fit_element(state, p->kind, value);
  return fit == FIT_WRAPPED && p->flags & WICK_PARAMETER_WRITTEN ? FIT_NOT : fit;
}

/* ---- binding ---- */

/* Names that torch and NumPy have for schemas' parameters. */
static bool is_other_name(ModuleState *state, PyObject *parameter, PyObject *given) {
  if (parameter == state->name_self)
    return given == state->name_input || given == state->name_x || given == state->name_a || given == state->name_x1;
  if (parameter == state->name_dim) return given == state->name_axis;
  if (parameter == state->name_keepdim) return given == state->name_keepdims;
  return parameter == state->name_other && given == state->name_x2;
}

static int find_parameter(ModuleState *state, const Signature *s, PyObject *name) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->parameters[i].name == name) return (int)i;
  for (uint32_t i = 0; i < s->count; i++)
    if (is_other_name(state, s->parameters[i].name, name)) return (int)i;
  for (uint32_t i = 0; i < s->count; i++) /* names that are not interned */
    if (PyUnicode_Compare(s->parameters[i].name, name) == 0) return (int)i;
  return -1;
}

static int refuse(PyObject **why, BoundCall *bound, PyObject *text) {
  bound->fit = FIT_NOT;
  if (!text) return -1;
  if (why)
    *why = text;
  else
    Py_DECREF(text);
  return 0;
}
/* Texts are made where somebody reads them. */
#define REFUSE(...)                                               \
  do {                                                            \
    bound->fit = FIT_NOT;                                         \
    if (!why) return 0;                                           \
    return refuse(why, bound, PyUnicode_FromFormat(__VA_ARGS__)); \
  } while (0)

static int bind_varargs(const Signature *s, const CallArguments *call, BoundCall *bound) {
  Py_ssize_t first = s->varargs, count = call->count - first;
  bound->rest = PyTuple_New(count);
  if (!bound->rest) return -1;
  for (Py_ssize_t i = 0; i < count; i++) {
    Py_INCREF(call->values[first + i]);
    PyTuple_SET_ITEM(bound->rest, i, call->values[first + i]);
  }
  bound->slots[first] = bound->rest;
  return 0;
}

static bool begins_varargs(const Signature *s, const CallArguments *call) {
  if (s->varargs < 0 || call->count <= s->varargs) return false;
  PyObject *first = call->values[s->varargs];
  if (call->count > s->varargs + 1) return PyLong_Check(first) || PyIndex_Check(first);
  return !(PyTuple_Check(first) || PyList_Check(first)) && PyIndex_Check(first);
}

static int bind_out(const Signature *s, PyObject *out, BoundCall *bound, PyObject **why) {
  uint32_t first = s->count - s->out_count; /* they are the last */
  if (s->out_count == 1) {
    bound->slots[first] = out;
    return 0;
  }
  bool is_sequence = PyTuple_Check(out) || PyList_Check(out);
  if (!is_sequence || Py_SIZE(out) != (Py_ssize_t)s->out_count)
    REFUSE("out must be a tuple of %u tensors", s->out_count);
  /* what converts other arguments may empty a list */
  bound->outs = PyList_Check(out) ? PyList_AsTuple(out) : (Py_INCREF(out), out);
  if (!bound->outs) return -1;
  for (uint32_t i = 0; i < s->out_count; i++) bound->slots[first + i] = PyTuple_GET_ITEM(bound->outs, i);
  return 0;
}

/* What every factory takes besides its parameters. */
static bool bind_factory_keyword(ModuleState *state, const Signature *s, PyObject *name, PyObject *value,
                                 BoundCall *bound) {
  if (!s->is_factory) return false;
  if (name == state->name_requires_grad || PyUnicode_Compare(name, state->name_requires_grad) == 0) {
    bound->requires_grad = value;
    return true;
  }
  return value == Py_None && PyUnicode_Compare(name, state->name_names) == 0;
}

static int bind_keywords(ModuleState *state, const Signature *s, const CallArguments *call, BoundCall *bound,
                         PyObject **why) {
  Py_ssize_t count = call->names ? PyTuple_GET_SIZE(call->names) : 0;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *name = PyTuple_GET_ITEM(call->names, i), *value = call->values[call->count + i];
    if (name == state->name_out || PyUnicode_Compare(name, state->name_out) == 0) continue;
    int index = find_parameter(state, s, name);
    if (PyErr_Occurred()) return -1;
    if (index < 0) {
      if (bind_factory_keyword(state, s, name, value, bound)) continue;
      REFUSE("got an unexpected keyword argument '%U'", name);
    }
    if (bound->slots[index]) REFUSE("got multiple values for argument '%U'", s->parameters[index].name);
    bound->slots[index] = value;
  }
  return 0;
}

static PyObject *refusal(const Signature *s, const BoundCall *bound, uint32_t i) {
  PyObject *type = parameter_type_text(&s->parameters[i]);
  if (!type) return NULL;
  PyObject *text = i < s->positional_count
                       ? PyUnicode_FromFormat("argument '%U' (position %u) must be %U, not %.200s",
                                              s->parameters[i].name, i + 1, type, Py_TYPE(bound->slots[i])->tp_name)
                       : PyUnicode_FromFormat("argument '%U' must be %U, not %.200s", s->parameters[i].name, type,
                                              Py_TYPE(bound->slots[i])->tp_name);
  Py_DECREF(type);
  return text;
}

static int judge_arguments(ModuleState *state, const Signature *s, BoundCall *bound, PyObject **why) {
  bool has_tensor = false;
  for (uint32_t i = 0; i < s->count; i++) {
    const Parameter *p = &s->parameters[i];
    PyObject *value = bound->slots[i];
    if (!value) {
      if (p->flags & WICK_PARAMETER_HAS_DEFAULT) continue;
      if (p->flags & WICK_PARAMETER_OUT) REFUSE("needs out=");
      REFUSE("missing argument '%U'", p->name);
    }
    Fit fit = fit_argument(state, p, value);
    if (fit == FIT_NOT) {
      bound->fit = FIT_NOT;
      return why ? refuse(why, bound, refusal(s, bound, i)) : 0;
    }
    has_tensor |= p->kind == WICK_TAKES_TENSOR && fit != FIT_WRAPPED;
    bound->fit = worse(bound->fit, fit);
  }
  if (bound->fit == FIT_WRAPPED && !has_tensor) REFUSE("needs a tensor among its arguments");
  return 0;
}

int signature_bind(ModuleState *state, const Signature *s, const CallArguments *call, BoundCall *bound,
                   PyObject **why) {
  bound->signature = s;
  bound->rest = bound->outs = bound->requires_grad = NULL;
  bound->fit = FIT_EXACT;
  memset(bound->slots, 0, s->count * sizeof *bound->slots);
  if (call->out ? !s->out_count : s->out_count) REFUSE(call->out ? "takes no out=" : "needs out=");
  if (begins_varargs(s, call)) {
    for (int32_t i = 0; i < s->varargs; i++) bound->slots[i] = call->values[i];
    if (bind_varargs(s, call, bound)) return -1;
  } else {
    if (call->count > (Py_ssize_t)s->positional_count)
      REFUSE("takes %u positional arguments but %zd were given", s->positional_count, call->count);
    for (Py_ssize_t i = 0; i < call->count; i++) bound->slots[i] = call->values[i];
  }
  if (call->out && (bind_out(s, call->out, bound, why) || bound->fit == FIT_NOT)) return PyErr_Occurred() ? -1 : 0;
  if (call->names && (bind_keywords(state, s, call, bound, why) || bound->fit == FIT_NOT))
    return PyErr_Occurred() ? -1 : 0;
  return judge_arguments(state, s, bound, why);
}

void bound_clear(BoundCall *bound) {
  Py_CLEAR(bound->rest);
  Py_CLEAR(bound->outs);
}

/* ---- what arguments become ---- */

static PyObject *index_of(ModuleState *state, PyObject *value) {
  if (!is_tensor(state, value)) return PyNumber_Index(value);
  return call_aten(state, "aten::item", &value, 1);
}

static wick_value *to_int(ModuleState *state, PyObject *value) {
  if (PyLong_Check(value)) return value_from_long(value);
  if (is_tensor(state, value) && wick_trace_is_on()) return wick_value_retain(tensor_value(value));
  PyObject *number = index_of(state, value);
  wick_value *made = number ? value_from_python(state, number) : NULL;
  Py_XDECREF(number);
  return made;
}

static wick_value *to_setting(int number) {
  wick_value *value = wick_value_int(number);
  return value ? value : (wick_value *)PyErr_NoMemory();
}

static wick_value *element_convert(ModuleState *state, uint32_t kind, PyObject *value) {
  switch (kind) {
    case WICK_TAKES_TENSOR:
      if (is_tensor(state, value)) return wick_value_retain(tensor_value(value));
      break;
    case WICK_TAKES_INT:
      return to_int(state, value);
    case WICK_TAKES_DTYPE:
      return to_setting(dtype_of_object(state, value));
    case WICK_TAKES_LAYOUT:
      return to_setting(layout_of_object(state, value));
    case WICK_TAKES_MEMORY_FORMAT:
      return to_setting(memory_format_of_object(state, value));
    case WICK_TAKES_DEVICE:
      return value_from_device(state, value);
    case WICK_TAKES_BOOL:
      value = PyObject_IsTrue(value) ? Py_True : Py_False;
      if (PyErr_Occurred()) return NULL;
      break;
    default:
      break;
  }
  return value_from_python(state, value);
}

static bool holds_traced_size(ModuleState *state, PyObject *sequence) {
  bool is_list = PyList_Check(sequence);
  for (Py_ssize_t i = 0; wick_trace_is_on() && i < Py_SIZE(sequence); i++)
    if (is_tensor(state, is_list ? PyList_GET_ITEM(sequence, i) : PyTuple_GET_ITEM(sequence, i))) return true;
  return false;
}

/* Sizes and dimensions: no box for each. */
static wick_value *ints_convert(ModuleState *state, PyObject *sequence) {
  enum { FEW = 32 };
  int64_t few[FEW], *items = few;
  PyObject *tuple = PySequence_Tuple(sequence);
  if (!tuple) return NULL;
  Py_ssize_t count = PyTuple_GET_SIZE(tuple);
  if (count > FEW && !(items = PyMem_Calloc((size_t)count, sizeof *items))) PyErr_NoMemory();
  for (Py_ssize_t i = 0; items && i < count && !PyErr_Occurred(); i++) {
    PyObject *item = PyTuple_GET_ITEM(tuple, i), *number = NULL;
    int overflow = 0;
    if (!PyLong_Check(item)) item = number = index_of(state, item);
    if (item) items[i] = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow) PyErr_SetString(PyExc_RuntimeError, "Overflow when unpacking long");
    Py_XDECREF(number);
  }
  wick_value *value = NULL;
  wick_error *error = NULL;
  if (!PyErr_Occurred()) {
    wick_status status = wick_value_ints(items, (size_t)count, &value, &error);
    if (status) raise_wick(state, status, error);
  }
  if (items != few) PyMem_Free(items);
  Py_DECREF(tuple);
  return value;
}

/* One number stands for `repeats` of them. */
static wick_value *repeated(ModuleState *state, const Parameter *p, PyObject *argument) {
  PyObject *tuple = PyTuple_New(p->repeats);
  for (int32_t i = 0; tuple && i < p->repeats; i++) {
    Py_INCREF(argument);
    PyTuple_SET_ITEM(tuple, i, argument);
  }
  wick_value *value = !tuple                      ? NULL
                      : p->kind == WICK_TAKES_INT ? ints_convert(state, tuple)
                                                  : value_from_python(state, tuple);
  Py_XDECREF(tuple);
  return value;
}

wick_value *parameter_convert(ModuleState *state, const Parameter *p, PyObject *argument) {
  bool is_sequence = PyList_Check(argument) || PyTuple_Check(argument);
  if (argument == Py_None) return value_from_python(state, argument);
  if (p->flags & WICK_PARAMETER_LIST && is_sequence)
    return p->kind == WICK_TAKES_INT && !holds_traced_size(state, argument) ? ints_convert(state, argument)
                                                                            : value_from_python(state, argument);
  if (p->flags & WICK_PARAMETER_LIST && p->repeats > 0) return repeated(state, p, argument);
  return element_convert(state, p->kind, argument);
}

PyObject *parameter_type_text(const Parameter *p) {
  static const char *const names[] = {"object",
                                      "Tensor",
                                      "Number",
                                      "int",
                                      "float",
                                      "bool",
                                      "complex",
                                      "str",
                                      "torch.dtype",
                                      "torch.layout",
                                      "torch.memory_format",
                                      "torch.device",
                                      "torch.Generator"};
  const char *name = p->kind < sizeof names / sizeof *names ? names[p->kind] : "object";
  return PyUnicode_FromFormat(p->flags & WICK_PARAMETER_LIST ? "tuple of %ss" : "%s", name);
}
