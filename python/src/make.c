/* tensor(), as_tensor() and what they make tensors of: nested sequences, numbers, tensors, buffers. */
#include <string.h>

#include "memory.h"
#include "override.h"

enum { MOST_DIMS = 32 };

/* ---- sizes and dtype of nested sequences ---- */

typedef struct Nested {
  ModuleState *state;
  int64_t sizes[MOST_DIMS];
  int ndim;
  int dtype; /* -1: no element so far */
} Nested;

static bool is_sequence(PyObject *object) {
  return PyList_Check(object) || PyTuple_Check(object) ||
         (PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object) && !PyDict_Check(object));
}

static int dtype_of_number(PyObject *number) {
  if (PyBool_Check(number)) return WICK_BOOL8;
  if (PyLong_Check(number)) return WICK_INT64;
  if (PyFloat_Check(number)) return (int)wick_default_dtype();
  if (PyComplex_Check(number)) return wick_default_dtype() == WICK_FLOAT64 ? WICK_COMPLEX128 : WICK_COMPLEX64;
  if (!strcmp(Py_TYPE(number)->tp_name, "numpy.bool_")) return WICK_BOOL8;
  if (PyIndex_Check(number)) return WICK_INT64;
  if (Py_TYPE(number)->tp_as_number && Py_TYPE(number)->tp_as_number->nb_float) return (int)wick_default_dtype();
  return -1;
}

/* bool < int < float < complex. */
static int wider(int a, int b) {
  static const char ranks[DTYPE_COUNT] = {
      [WICK_BOOL8] = 1,      [WICK_UINT8] = 2,       [WICK_INT8] = 3,     [WICK_INT16] = 4,   [WICK_INT32] = 5,
      [WICK_INT64] = 6,      [WICK_FLOAT16] = 7,     [WICK_BFLOAT16] = 8, [WICK_FLOAT32] = 9, [WICK_FLOAT64] = 10,
      [WICK_COMPLEX64] = 11, [WICK_COMPLEX128] = 12, [WICK_UINT16] = 6,   [WICK_UINT32] = 6,  [WICK_UINT64] = 6};
  return a < 0 || ranks[b] > ranks[a] ? b : a;
}

static int note_element(Nested *n, PyObject *element) {
  int dtype = dtype_of_number(element);
  if (is_tensor(n->state, element)) {
    wick_tensor_info info;
    if (tensor_info(element, &info)) return -1;
    if (info.count != 1) {
      PyErr_SetString(PyExc_ValueError, "only one element tensors can be converted to Python scalars");
      return -1;
    }
    dtype = (int)info.dtype;
  }
  if (dtype < 0) {
    if (PyUnicode_Check(element))
      PyErr_Format(PyExc_TypeError, "new(): invalid data type '%.200s'", Py_TYPE(element)->tp_name);
    else
      PyErr_Format(PyExc_RuntimeError, "Could not infer dtype of %.200s", Py_TYPE(element)->tp_name);
    return -1;
  }
  n->dtype = wider(n->dtype, dtype);
  return 0;
}

/* Tensors of more than no dimension are sequences of their parts. */
static bool has_parts(const Nested *n, PyObject *object) {
  if (!is_tensor(n->state, object)) return is_sequence(object) && dtype_of_number(object) < 0;
  wick_tensor_info info = {.size = sizeof info};
  return !wick_tensor_info_of(tensor_value(object), &info, NULL) && info.ndim > 0;
}

static int measure(Nested *n, PyObject *object) {
  if (!has_parts(n, object)) return 0;
  Py_ssize_t length = PySequence_Size(object);
  if (length < 0) return -1;
  if (n->ndim == MOST_DIMS) {
    PyErr_Format(PyExc_ValueError, "too many dimensions '%.200s'", Py_TYPE(object)->tp_name);
    return -1;
  }
  n->sizes[n->ndim++] = length;
  PyObject *first = length ? PySequence_GetItem(object, 0) : NULL;
  if (!first) return length ? -1 : 0;
  int failed = measure(n, first); /* no deeper than MOST_DIMS */
  Py_DECREF(first);
  return failed;
}

/* ---- elements: one pass finds the dtype, a second one writes ---- */

typedef int Visitor(Nested *n, PyObject *element, void *context);

static int walk(Nested *n, PyObject *object, int dim, Visitor *visit, void *context) {
  if (dim == n->ndim) {
    if (has_parts(n, object)) {
      PyErr_Format(PyExc_ValueError, "expected a number at dim %d, not a sequence", dim);
      return -1;
    }
    return visit(n, object, context);
  }
  PyObject *fast = has_parts(n, object) ? PySequence_Tuple(object) : NULL;
  if (!fast) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "not a sequence at dim %d: '%.200s'", dim, Py_TYPE(object)->tp_name);
    return -1;
  }
  int failed = 0;
  if (PyTuple_GET_SIZE(fast) != n->sizes[dim]) {
    PyErr_Format(PyExc_ValueError, "expected sequence of length %lld at dim %d (got %zd)", (long long)n->sizes[dim],
                 dim, PyTuple_GET_SIZE(fast));
    failed = -1;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fast) && !failed; i++)
    failed = walk(n, PyTuple_GET_ITEM(fast, i), dim + 1, visit, context);
  Py_DECREF(fast);
  return failed;
}

static int visit_dtype(Nested *n, PyObject *element, void *context) {
  (void)context;
  return note_element(n, element);
}

/* Where the next element goes, as the widest of its kind: int64, double or complex. */
typedef struct Writer {
  int wide; /* WICK_INT64, WICK_FLOAT64, WICK_COMPLEX128 */
  char *at;
} Writer;

static int write_number(Writer *w, PyObject *number) {
  if (w->wide == WICK_INT64) {
    PyObject *whole = PyLong_Check(number) ? (Py_INCREF(number), number) : PyNumber_Long(number);
    int overflow = 0;
    if (!whole) return -1;
    *(int64_t *)w->at = PyLong_AsLongLongAndOverflow(whole, &overflow);
    Py_DECREF(whole);
    if (overflow) PyErr_SetString(PyExc_RuntimeError, "Overflow when unpacking long");
    w->at += sizeof(int64_t);
  } else if (w->wide == WICK_FLOAT64) {
    *(double *)w->at = PyFloat_AsDouble(number);
    w->at += sizeof(double);
  } else {
    Py_complex c = PyComplex_AsCComplex(number);
    ((double *)w->at)[0] = c.real, ((double *)w->at)[1] = c.imag;
    w->at += 2 * sizeof(double);
  }
  return PyErr_Occurred() ? -1 : 0;
}

static int visit_write(Nested *n, PyObject *element, void *context) {
  if (!is_tensor(n->state, element)) return write_number(context, element);
  PyObject *number = call_method(element, "item", NULL);
  int failed = number ? write_number(context, number) : -1;
  Py_XDECREF(number);
  return failed;
}

static int wide_of(int dtype) {
  if (dtype == WICK_COMPLEX32 || dtype == WICK_COMPLEX64 || dtype == WICK_COMPLEX128) return WICK_COMPLEX128;
  bool is_integral = dtype <= WICK_INT64 || (dtype >= WICK_UINT16 && dtype <= WICK_UINT64);
  return is_integral || dtype == WICK_BOOL8 ? WICK_INT64 : WICK_FLOAT64;
}

/* A wide tensor of the elements. */
static PyObject *fill(Nested *n, PyObject *data, int wide) {
  wick_value *value = NULL;
  wick_error *error = NULL;
  wick_status status = wick_tensor_new((uint32_t)wide, n->ndim, n->sizes, &value, &error);
  if (status) return raise_wick(n->state, status, error);
  Writer writer = {wide, wick_tensor_mutable_data(value)};
  bool empty = wick_tensor_count(value) == 0;
  if (!empty && walk(n, data, 0, visit_write, &writer)) {
    wick_value_release(value);
    return NULL;
  }
  return tensor_wrap(n->state, value);
}

static PyObject *to_dtype(ModuleState *state, PyObject *tensor, int dtype) {
  wick_tensor_info info;
  if (!tensor || tensor_info(tensor, &info)) {
    Py_XDECREF(tensor);
    return NULL;
  }
  if ((int)info.dtype == dtype) return tensor;
  PyObject *arguments[] = {tensor, state->dtypes[dtype]};
  PyObject *converted = call_aten(state, "aten::to", arguments, 2);
  Py_DECREF(tensor);
  return converted;
}

/* A copy of a buffer's elements. */
static PyObject *copy_of_buffer(ModuleState *state, PyObject *data, int dtype) {
  wick_value *value = value_from_buffer(state, data);
  PyObject *shown = value ? tensor_wrap(state, value) : NULL;
  PyObject *copy = shown ? call_aten(state, "aten::clone", &shown, 1) : NULL;
  Py_XDECREF(shown);
  return dtype < 0 ? copy : to_dtype(state, copy, dtype);
}

static bool is_array(PyObject *object) {
  return PyObject_CheckBuffer(object) && !PyBytes_Check(object) && !PyByteArray_Check(object);
}

PyObject *make_tensor(ModuleState *state, PyObject *data, int dtype) {
  Nested n = {.state = state, .dtype = -1};
  if (is_tensor(state, data)) {
    PyObject *plain = call_aten(state, "aten::detach", &data, 1);
    PyObject *copy = plain ? call_aten(state, "aten::clone", &plain, 1) : NULL;
    Py_XDECREF(plain);
    return dtype < 0 ? copy : to_dtype(state, copy, dtype);
  }
  if (is_array(data)) {
    PyObject *copy = copy_of_buffer(state, data, dtype);
    if (copy || !PyErr_ExceptionMatches(PyExc_BufferError)) return copy;
    PyErr_Clear();
  }
  if (measure(&n, data)) return NULL;
  int64_t count = 1;
  for (int i = 0; i < n.ndim; i++) count *= n.sizes[i] ? 1 : 0;
  if (count && walk(&n, data, 0, visit_dtype, NULL)) return NULL;
  int found = n.dtype < 0 ? (int)wick_default_dtype() : n.dtype;
  if (dtype < 0) dtype = found;
  /* into bools elements go by their truth, so as what they are */
  int wide = wide_of(dtype == WICK_BOOL8 ? found : dtype);
  if (wide_of(found) == WICK_COMPLEX128 && wide != WICK_COMPLEX128)
    return PyErr_Format(PyExc_TypeError, "can't convert complex to %s", wick_dtype_name((uint32_t)dtype));
  return to_dtype(state, fill(&n, data, wide), dtype);
}

wick_value *make_empty(ModuleState *state, PyObject *sizes, uint32_t dtype) {
  int64_t numbers[MOST_DIMS];
  Py_ssize_t count = PyTuple_GET_SIZE(sizes);
  wick_value *value = NULL;
  wick_error *error = NULL;
  if (count > MOST_DIMS) return (wick_value *)PyErr_Format(PyExc_ValueError, "more than %d sizes", MOST_DIMS);
  if (!count) { /* Tensor() has no elements */
    numbers[0] = 0;
    count = 1;
  } else {
    for (Py_ssize_t i = 0; i < count; i++) {
      PyObject *number = PyNumber_Index(PyTuple_GET_ITEM(sizes, i));
      numbers[i] = number ? PyLong_AsLongLong(number) : -1;
      Py_XDECREF(number);
      if (numbers[i] == -1 && PyErr_Occurred()) return NULL;
    }
  }
  wick_status status = wick_tensor_new(dtype, (int32_t)count, numbers, &value, &error);
  return status ? (wick_value *)raise_wick(state, status, error) : value;
}

/* ---- functions ---- */

static int take_dtype(ModuleState *state, PyObject *object, int *out) {
  *out = -1;
  if (object == Py_None) return 0;
  if ((*out = dtype_of_object(state, object)) >= 0) return 0;
  PyErr_Format(PyExc_TypeError, "argument 'dtype' must be torch.dtype, not %.200s", Py_TYPE(object)->tp_name);
  return -1;
}

/* Takes over `tensor`. */
static PyObject *finish(ModuleState *state, PyObject *tensor, PyObject *device, int requires_grad) {
  if (tensor && device != Py_None) {
    PyObject *arguments[] = {tensor, device};
    PyObject *moved = call_aten(state, "aten::to", arguments, 2);
    Py_DECREF(tensor);
    tensor = moved;
  }
  if (!tensor || !requires_grad) return tensor;
  wick_error *error = NULL;
  wick_status status = wick_tensor_set_requires_grad(tensor_value(tensor), 1, &error);
  if (!status) return tensor;
  Py_DECREF(tensor);
  return raise_wick(state, status, error);
}

/* To a trace what was made of Python's values is a constant, which goes to its device and dtype, and for tensor() is
 * detached. Takes over `made`. */
static PyObject *record_made(ModuleState *state, PyObject *made, bool copies, bool detaches) {
  PyObject *device = made ? PyObject_GetAttrString(made, "device") : NULL;
  PyObject *dtype = device ? PyObject_GetAttrString(made, "dtype") : NULL;
  PyObject *arguments[] = {made, device, dtype, Py_False, copies ? Py_True : Py_False};
  PyObject *moved = dtype ? call_aten(state, "aten::to", arguments, 5) : NULL;
  PyObject *result = moved && detaches ? call_aten(state, "aten::detach", &moved, 1) : moved;
  if (moved != result) Py_DECREF(moved);
  Py_XDECREF(dtype);
  Py_XDECREF(device);
  Py_XDECREF(made);
  return result;
}

static PyObject *make_recorded(ModuleState *state, PyObject *data, int dtype, bool detaches) {
  bool copies = is_tensor(state, data);
  PyObject *made = NULL;
  if (!copies) {
    wick_trace_pause();
    made = make_tensor(state, data, dtype);
    wick_trace_resume();
  } else if (dtype < 0) {
    Py_INCREF(data);
    made = data;
  } else {
    return make_tensor(state, data, dtype);
  }
  return record_made(state, made, copies && detaches, detaches);
}

static PyObject *tensor(PyObject *module, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"data", "dtype", "device", "requires_grad", "pin_memory", NULL};
  ModuleState *state = state_of_module(module);
  PyObject *data, *dtype = Py_None, *device = Py_None;
  int requires_grad = 0, pin_memory = 0, wanted;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OOpp:tensor", KEYWORDS(names), &data, &dtype, &device,
                                   &requires_grad, &pin_memory) ||
      take_dtype(state, dtype, &wanted))
    return NULL;
  bool before = override_disable(true); /* a plain tensor of whatever holds the elements */
  PyObject *made = wick_trace_is_on() ? make_recorded(state, data, wanted, true) : make_tensor(state, data, wanted);
  made = finish(state, made, device, requires_grad);
  override_disable(before);
  return made;
}

/* Shares memory where that is possible. */
static PyObject *as_tensor(PyObject *module, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"data", "dtype", "device", NULL};
  ModuleState *state = state_of_module(module);
  PyObject *data, *dtype = Py_None, *device = Py_None, *shown = NULL;
  int wanted;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:as_tensor", KEYWORDS(names), &data, &dtype, &device) ||
      take_dtype(state, dtype, &wanted))
    return NULL;
  if (is_tensor(state, data)) {
    Py_INCREF(data);
    shown = data;
  } else if (is_array(data)) {
    wick_value *value = value_from_buffer(state, data);
    if (value)
      shown = tensor_wrap(state, value);
    else
      PyErr_Clear();
  }
  if (!shown) {
    PyObject *made = wick_trace_is_on() ? make_recorded(state, data, wanted, false) : make_tensor(state, data, wanted);
    return finish(state, made, device, 0);
  }
  return finish(state, wanted < 0 ? shown : to_dtype(state, shown, wanted), device, 0);
}

static PyObject *set_default_dtype(PyObject *module, PyObject *dtype) {
  ModuleState *state = state_of_module(module);
  int number;
  if (take_dtype(state, dtype, &number)) return NULL;
  if (number != WICK_FLOAT16 && number != WICK_FLOAT32 && number != WICK_FLOAT64 && number != WICK_BFLOAT16)
    return PyErr_Format(PyExc_TypeError, "only floating-point types are supported as the default type");
  CHECK_WICK(state, wick_set_default_dtype((uint32_t)number, &check_error));
  Py_RETURN_NONE;
}
static PyObject *get_default_dtype(PyObject *module, PyObject *unused) {
  ModuleState *state = state_of_module(module);
  (void)unused;
  return dtype_object(state, wick_default_dtype());
}

static PyMethodDef functions[] = {
    {"tensor", (PyCFunction)(void (*)(void))tensor, METH_VARARGS | METH_KEYWORDS,
     "tensor(data, *, dtype=None, device=None, requires_grad=False)\n\nA new tensor of nested sequences of numbers, of "
     "a "
     "number, an array or a tensor, always a copy. Without dtype: bool, int64, or the default dtype, by what there "
     "is."},
    {"as_tensor", (PyCFunction)(void (*)(void))as_tensor, METH_VARARGS | METH_KEYWORDS,
     "as_tensor(data, dtype=None, device=None)\n\nAs tensor(), but tensors and arrays are shared, not copied, where "
     "dtype "
     "and device allow it."},
    {"set_default_dtype", set_default_dtype, METH_O, "The dtype that tensors of floats have from now on."},
    {"get_default_dtype", get_default_dtype, METH_NOARGS, "The dtype that tensors of floats have."},
    {NULL, NULL, 0, NULL}};

int add_making(PyObject *module, ModuleState *state) {
  (void)state;
  return PyModule_AddFunctions(module, functions) || PyModule_AddFunctions(module, memory_functions) ? -1 : 0;
}
