/* Python's values as wick's and back. */
#include "py_wick.h"

PyObject *call_method(PyObject *object, const char *name, PyObject *argument) {
  PyObject *text = PyUnicode_InternFromString(name), *arguments[] = {object, argument}; /* one text for all calls */
  PyObject *result = text ? PyObject_VectorcallMethod(text, arguments, argument ? 2 : 1, NULL) : NULL;
  Py_XDECREF(text);
  return result;
}

/* ---- from Python ---- */

wick_value *value_from_long(PyObject *number) {
  int overflow;
  long long i = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (i == -1 && PyErr_Occurred()) return NULL;
  if (overflow) {
    PyErr_SetString(PyExc_RuntimeError, "Overflow when unpacking long");
    return NULL;
  }
  wick_value *value = wick_value_int(i);
  return value ? value : (wick_value *)PyErr_NoMemory();
}

static wick_value *from_text(PyObject *text) {
  Py_ssize_t length;
  const char *data = PyUnicode_AsUTF8AndSize(text, &length);
  if (!data) return NULL;
  wick_value *value = wick_value_string(data, (size_t)length);
  return value ? value : (wick_value *)PyErr_NoMemory();
}

static void release_all(wick_value **values, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; i++) wick_value_release(values[i]);
  PyMem_Free(values);
}

/* The items of a tuple, owned. */
static wick_value **from_items(ModuleState *state, PyObject *tuple) {
  Py_ssize_t count = PyTuple_GET_SIZE(tuple);
  wick_value **values = PyMem_Calloc((size_t)count + 1, sizeof *values);
  if (!values) return (wick_value **)PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count; i++)
    if (!(values[i] = value_from_python(state, PyTuple_GET_ITEM(tuple, i)))) {
      release_all(values, i);
      return NULL;
    }
  return values;
}

typedef wick_status Joiner(const wick_value *const *items, size_t count, wick_value **out, wick_error **error);

static wick_value *from_sequence(ModuleState *state, PyObject *sequence, Joiner *join) {
  PyObject *tuple = PySequence_Tuple(sequence); /* what converting calls can't change */
  if (!tuple) return NULL;
  Py_ssize_t count = PyTuple_GET_SIZE(tuple);
  wick_value **values = from_items(state, tuple), *joined = NULL;
  Py_DECREF(tuple);
  if (!values) return NULL;
  wick_error *error = NULL;
  wick_status status = join((const wick_value *const *)values, (size_t)count, &joined, &error);
  release_all(values, count);
  return status ? (wick_value *)raise_wick(state, status, error) : joined;
}

static wick_value *from_dict(ModuleState *state, PyObject *dict) {
  PyObject *keys = PyDict_Keys(dict), *items = keys ? PyDict_Values(dict) : NULL, *key_tuple = NULL, *item_tuple = NULL;
  wick_value **key_values = NULL, **item_values = NULL, *joined = NULL;
  Py_ssize_t count = 0;
  if (items && (key_tuple = PyList_AsTuple(keys)) && (item_tuple = PyList_AsTuple(items))) {
    count = PyTuple_GET_SIZE(key_tuple);
    if ((key_values = from_items(state, key_tuple))) item_values = from_items(state, item_tuple);
  }
  if (item_values) {
    wick_error *error = NULL;
    wick_status status = wick_value_dict((const wick_value *const *)key_values, (const wick_value *const *)item_values,
                                         (size_t)count, &joined, &error);
    if (status) raise_wick(state, status, error);
  }
  if (key_values) release_all(key_values, count);
  if (item_values) release_all(item_values, count);
  Py_XDECREF(keys), Py_XDECREF(items), Py_XDECREF(key_tuple), Py_XDECREF(item_tuple);
  return joined;
}

static wick_value *no_memory_unless(wick_value *value) {
  return value ? value : (wick_value *)PyErr_NoMemory();
}

static wick_value *from_number(PyObject *object) {
  if (PyBool_Check(object)) return no_memory_unless(wick_value_bool(object == Py_True));
  if (PyLong_Check(object)) return value_from_long(object);
  if (PyFloat_Check(object)) return no_memory_unless(wick_value_double(PyFloat_AS_DOUBLE(object)));
  Py_complex c = PyComplex_AsCComplex(object);
  return no_memory_unless(wick_value_complex(c.real, c.imag));
}

static wick_value *from_container(ModuleState *state, PyObject *object) {
  if (Py_TYPE(object) == state->size_type || PyList_Check(object)) return from_sequence(state, object, wick_value_list);
  if (PyTuple_Check(object)) return from_sequence(state, object, wick_value_tuple);
  return from_dict(state, object);
}

/* dtypes and their kin are ints to programs. */
static int from_setting(ModuleState *state, PyObject *object, wick_value **out) {
  int number = dtype_of_object(state, object);
  if (number < 0) number = layout_of_object(state, object);
  if (number < 0) number = memory_format_of_object(state, object);
  if (number < 0) return 0;
  *out = no_memory_unless(wick_value_int(number));
  return *out ? 1 : -1;
}

static wick_value *from_object(ModuleState *state, PyObject *object) {
  wick_value *value = NULL;
  int known = state->program_value_from ? state->program_value_from(state, object, &value) : 0;
  if (!known) known = from_setting(state, object, &value);
  if (known) return known > 0 ? value : NULL;
  if (is_device(state, object)) return value_from_device(state, object);
  if ((value = generator_value(state, object))) return wick_value_retain(value);
  if (PyList_Check(object) || PyTuple_Check(object) || PyDict_Check(object)) return from_container(state, object);
  if (PyIndex_Check(object)) { /* integers of NumPy */
    PyObject *number = PyNumber_Index(object);
    if (number) value = value_from_long(number);
    Py_XDECREF(number);
    return value;
  }
  if (Py_TYPE(object)->tp_as_number && Py_TYPE(object)->tp_as_number->nb_float) {
    double number = PyFloat_AsDouble(object);
    return number == -1 && PyErr_Occurred() ? NULL : no_memory_unless(wick_value_double(number));
  }
  PyErr_Format(PyExc_TypeError, "values of type %.200s can't be passed to wick", Py_TYPE(object)->tp_name);
  return NULL;
}

wick_value *value_from_python(ModuleState *state, PyObject *object) {
  wick_value *value = NULL;
  if (is_tensor(state, object)) return wick_value_retain(tensor_value(object));
  if (object == Py_None) return no_memory_unless(wick_value_none());
  if (Py_EnterRecursiveCall(" in a value for wick")) return NULL; /* lists that hold themselves */
  if (PyLong_CheckExact(object) || PyFloat_Check(object) || PyBool_Check(object) || PyComplex_Check(object))
    value = from_number(object);
  else if (PyUnicode_CheckExact(object))
    value = from_text(object);
  else
    value = from_object(state, object);
  if (!value && !PyErr_Occurred()) PyErr_NoMemory();
  Py_LeaveRecursiveCall();
  return value;
}

/* ---- to Python ---- */

static PyObject *to_text(const wick_value *value) {
  size_t length;
  const char *data = wick_value_to_string(value, &length);
  return PyUnicode_DecodeUTF8(data, (Py_ssize_t)length, "surrogateescape");
}

static PyObject *to_sequence(ModuleState *state, const wick_value *value, bool is_tuple) {
  Py_ssize_t count = (Py_ssize_t)wick_value_length(value);
  PyObject *made = is_tuple ? PyTuple_New(count) : PyList_New(count);
  for (Py_ssize_t i = 0; made && i < count; i++) {
    PyObject *item = value_to_python(state, wick_value_item(value, (size_t)i));
    if (!item) {
      Py_CLEAR(made);
    } else if (is_tuple) {
      PyTuple_SET_ITEM(made, i, item);
    } else {
      PyList_SET_ITEM(made, i, item);
    }
  }
  return made;
}

static PyObject *to_dict(ModuleState *state, const wick_value *value) {
  PyObject *made = PyDict_New();
  size_t count = wick_value_length(value);
  for (size_t i = 0; made && i < count; i++) {
    PyObject *key = value_to_python(state, wick_value_key(value, i));
    PyObject *item = key ? value_to_python(state, wick_value_item(value, i)) : NULL;
    if (!item || PyDict_SetItem(made, key, item)) Py_CLEAR(made);
    Py_XDECREF(key);
    Py_XDECREF(item);
  }
  return made;
}

static PyObject *to_device(ModuleState *state, const wick_value *value) {
  char *text;
  wick_error *error = NULL;
  wick_status status = wick_value_print(value, &text, &error);
  if (status) return raise_wick(state, status, error);
  PyObject *device = device_object(state, text);
  wick_text_free(text);
  return device;
}

static PyObject *to_complex(const wick_value *value) {
  double real, imaginary;
  wick_value_to_complex(value, &real, &imaginary);
  return PyComplex_FromDoubles(real, imaginary);
}

/* Borrows the value. */
static PyObject *to_plain(ModuleState *state, const wick_value *value) {
  switch (wick_value_kind(value)) {
    case WICK_NONE:
      Py_RETURN_NONE;
    case WICK_INT:
      return PyLong_FromLongLong(wick_value_to_int(value));
    case WICK_DOUBLE:
      return PyFloat_FromDouble(wick_value_to_double(value));
    case WICK_BOOL:
      return PyBool_FromLong(wick_value_to_bool(value));
    case WICK_COMPLEX:
      return to_complex(value);
    case WICK_STRING:
      return to_text(value);
    case WICK_LIST:
      return to_sequence(state, value, false);
    case WICK_DICT:
      return to_dict(state, value);
    case WICK_TUPLE:
      return to_sequence(state, value, true);
    case WICK_DEVICE:
      return to_device(state, value);
    default:
      PyErr_SetString(PyExc_TypeError, "a value of this kind can't be shown in Python");
      return NULL;
  }
}

static bool is_named_tuple(const wick_value *tuple) {
  wick_value *name = wick_value_key(tuple, 0);
  wick_value_release(name);
  return name != NULL;
}

/* Kinds whose Python objects program.c makes. */
static bool is_of_programs(const wick_value *value, uint32_t kind) {
  if (kind == WICK_TUPLE) return is_named_tuple(value);
  return kind == WICK_OBJECT || kind == WICK_ENUM || kind == WICK_FUNCTION || kind == WICK_FUTURE || kind == WICK_OTHER;
}

PyObject *value_to_python(ModuleState *state, wick_value *value) {
  if (!value) Py_RETURN_NONE;
  uint32_t kind = wick_value_kind(value);
  if (kind == WICK_TENSOR) return tensor_wrap(state, value);
  if (kind == WICK_GENERATOR) return generator_object(state, value);
  if (is_of_programs(value, kind) && state->program_value_to) return state->program_value_to(state, value);
  PyObject *made = NULL;
  if (!Py_EnterRecursiveCall(" in a value of wick")) {
    made = to_plain(state, value);
    Py_LeaveRecursiveCall();
  }
  wick_value_release(value);
  return made;
}
