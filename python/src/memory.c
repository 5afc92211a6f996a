/* A tensor's memory as Python's: numbers, lists, buffers, NumPy's arrays, DLPack; and tensors over such memory. */
#include "memory.h"
#include "trace.h"

#include <string.h>

static ModuleState *state_of_tensor(PyObject *self) {
  return ((TensorObject *)self)->state;
}

/* ---- elements ---- */

PyObject *element_to_python(uint32_t dtype, const void *data) {
  switch (dtype) {
    case WICK_UINT8:
      return PyLong_FromLong(*(const uint8_t *)data);
    case WICK_INT8:
      return PyLong_FromLong(*(const int8_t *)data);
    case WICK_INT16:
      return PyLong_FromLong(*(const int16_t *)data);
    case WICK_INT32:
      return PyLong_FromLong(*(const int32_t *)data);
    case WICK_INT64:
      return PyLong_FromLongLong(*(const int64_t *)data);
    case WICK_UINT16:
      return PyLong_FromLong(*(const uint16_t *)data);
    case WICK_UINT32:
      return PyLong_FromUnsignedLong(*(const uint32_t *)data);
    case WICK_UINT64:
      return PyLong_FromUnsignedLongLong(*(const uint64_t *)data);
    case WICK_FLOAT32:
      return PyFloat_FromDouble(*(const float *)data);
    case WICK_FLOAT64:
      return PyFloat_FromDouble(*(const double *)data);
    case WICK_COMPLEX64:
      return PyComplex_FromDoubles(((const float *)data)[0], ((const float *)data)[1]);
    case WICK_COMPLEX128:
      return PyComplex_FromDoubles(((const double *)data)[0], ((const double *)data)[1]);
    case WICK_BOOL8:
      return PyBool_FromLong(*(const uint8_t *)data);
    default:
      return NULL; /* without an error: an operator reads it */
  }
}

static bool is_plain_dtype(uint32_t dtype) {
  return dtype <= WICK_INT64 || dtype == WICK_FLOAT32 || dtype == WICK_FLOAT64 || dtype == WICK_COMPLEX64 ||
         dtype == WICK_COMPLEX128 || dtype == WICK_BOOL8 || (dtype >= WICK_UINT16 && dtype <= WICK_UINT64);
}

static PyObject *call_item(PyObject *self, PyObject *unused) {
  wick_tensor_view view = {.size = sizeof view};
  (void)unused;
  if (wick_tensor_count(tensor_value(self)) != 1)
    return PyErr_Format(PyExc_ValueError, "only one element tensors can be converted to Python scalars");
  if (wick_trace_is_on() && trace_warn_python("number")) return NULL;
  if (!wick_tensor_view_of(tensor_value(self), &view, NULL) && !(view.flags & WICK_TENSOR_CONJ) &&
      is_plain_dtype(view.dtype))
    return element_to_python(view.dtype, view.data);
  return call_aten(state_of_tensor(self), "aten::item", &self, 1);
}

static PyObject *list_of(const wick_tensor_view *view, int dim, const char *data) {
  if (dim == view->ndim) return element_to_python(view->dtype, data);
  size_t step = (size_t)view->strides[dim] * wick_dtype_bytes(view->dtype);
  PyObject *list = PyList_New((Py_ssize_t)view->sizes[dim]);
  for (int64_t i = 0; list && i < view->sizes[dim]; i++) {
    PyObject *item = list_of(view, dim + 1, data + (size_t)i * step);
    if (!item) Py_CLEAR(list);
    if (list) PyList_SET_ITEM(list, (Py_ssize_t)i, item);
  }
  return list;
}

/* A tensor whose elements are there as they stand: conjugates resolved, sparse ones made dense, half as float. */
static PyObject *readable(PyObject *self) {
  ModuleState *state = state_of_tensor(self);
  wick_tensor_info info;
  if (tensor_info(self, &info)) return NULL;
  PyObject *plain = self;
  Py_INCREF(plain);
  static const struct {
    uint32_t flag;
    const char *name;
  } steps[] = {{WICK_INFO_SPARSE, "aten::to_dense"},
               {WICK_INFO_QUANTIZED, "aten::int_repr"},
               {WICK_INFO_CONJ, "aten::resolve_conj"},
               {WICK_INFO_NEG, "aten::resolve_neg"}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps && plain; i++) {
    if (!(info.flags & steps[i].flag)) continue;
    PyObject *next = call_aten(state, steps[i].name, &plain, 1);
    Py_DECREF(plain);
    plain = next;
  }
  if (!plain || tensor_info(plain, &info)) {
    Py_XDECREF(plain);
    return NULL;
  }
  if (is_plain_dtype(info.dtype)) return plain;
  PyObject *arguments[] = {plain, state->dtypes[WICK_FLOAT32]};
  PyObject *wide = call_aten(state, "aten::to", arguments, 2);
  Py_DECREF(plain);
  return wide;
}

static PyObject *call_tolist(PyObject *self, PyObject *unused) {
  wick_tensor_view view = {.size = sizeof view};
  (void)unused;
  if (wick_trace_is_on() && trace_warn_python("list")) return NULL;
  PyObject *plain = readable(self);
  if (!plain) return NULL;
  wick_error *error = NULL;
  wick_status status = wick_tensor_view_of(tensor_value(plain), &view, &error);
  PyObject *list = status ? raise_wick(state_of_tensor(self), status, error) : list_of(&view, 0, view.data);
  Py_DECREF(plain);
  return list;
}

/* ---- the buffer protocol ---- */

_Static_assert(sizeof(long) == 8, "l is int64: NumPy's own name for it");
static const char *const formats[DTYPE_COUNT] = {
    [WICK_UINT8] = "B",   [WICK_INT8] = "b",    [WICK_INT16] = "h",   [WICK_INT32] = "i",      [WICK_INT64] = "l",
    [WICK_FLOAT16] = "e", [WICK_FLOAT32] = "f", [WICK_FLOAT64] = "d", [WICK_COMPLEX64] = "Zf", [WICK_COMPLEX128] = "Zd",
    [WICK_BOOL8] = "?",   [WICK_UINT16] = "H",  [WICK_UINT32] = "I",  [WICK_UINT64] = "L"};

/* What stands between a tensor and who only sees its memory: -1 with an error. */
static int check_bare(PyObject *self, const char *what) {
  wick_tensor_info info;
  if (tensor_info(self, &info)) return -1;
  if (info.flags & WICK_INFO_REQUIRES_GRAD)
    PyErr_Format(PyExc_RuntimeError, "Can't call %s on Tensor that requires grad. Use tensor.detach().%s instead.",
                 what, what);
  else if (info.flags & WICK_INFO_CONJ)
    PyErr_Format(PyExc_RuntimeError,
                 "Can't call %s on Tensor that has conjugate bit set. Use tensor.resolve_conj().%s instead.", what,
                 what);
  else if (info.flags & WICK_INFO_NEG)
    PyErr_Format(PyExc_RuntimeError,
                 "Can't call %s on Tensor that has negative bit set. Use tensor.resolve_neg().%s instead.", what, what);
  else if (info.flags & (WICK_INFO_SPARSE | WICK_INFO_META | WICK_INFO_OPAQUE | WICK_INFO_QUANTIZED))
    PyErr_Format(PyExc_TypeError, "%s: the tensor has no plain memory", what);
  else
    return 0;
  return -1;
}

static int plain_view(PyObject *self, const char *what, wick_tensor_view *view) {
  wick_error *error = NULL;
  *view = (wick_tensor_view){.size = sizeof *view};
  if (check_bare(self, what)) return -1;
  wick_status status = wick_tensor_view_of(tensor_value(self), view, &error);
  if (!status) return 0;
  raise_wick(state_of_tensor(self), status, error);
  return -1;
}

/* What the exporter keeps for a buffer: sizes and strides in bytes, and the tensor's value, which .data may replace. */
typedef struct Exported {
  wick_value *value;
  Py_ssize_t sizes[32], strides[32];
} Exported;

static int get_buffer(PyObject *self, Py_buffer *buffer, int flags) {
  wick_tensor_view view;
  wick_tensor_info info;
  buffer->obj = NULL;
  if (plain_view(self, "memoryview()", &view) || tensor_info(self, &info)) return -1;
  const char *format = view.dtype < DTYPE_COUNT ? formats[view.dtype] : NULL;
  if (!format) {
    PyErr_Format(PyExc_BufferError, "buffers have no elements of %s", wick_dtype_name(view.dtype));
    return -1;
  }
  bool read_only = info.flags & WICK_INFO_READ_ONLY;
  bool needs_rows = (flags & PyBUF_STRIDES) != PyBUF_STRIDES;
  if ((flags & PyBUF_WRITABLE && read_only) || (needs_rows && !(info.flags & WICK_INFO_CONTIGUOUS))) {
    PyErr_SetString(PyExc_BufferError, read_only ? "the tensor's memory is read-only" : "the tensor is not contiguous");
    return -1;
  }
  Exported *exported = PyMem_Malloc(sizeof *exported);
  if (!exported) {
    PyErr_NoMemory();
    return -1;
  }
  Py_ssize_t bytes = (Py_ssize_t)wick_dtype_bytes(view.dtype);
  exported->value = wick_value_retain(tensor_value(self));
  for (int i = 0; i < view.ndim; i++) {
    exported->sizes[i] = (Py_ssize_t)view.sizes[i];
    exported->strides[i] = (Py_ssize_t)view.strides[i] * bytes;
  }
  *buffer = (Py_buffer){.buf = view.data,
                        .len = (Py_ssize_t)wick_tensor_count(tensor_value(self)) * bytes,
                        .itemsize = bytes,
                        .readonly = read_only,
                        .ndim = view.ndim,
                        .format = flags & PyBUF_FORMAT ? (char *)format : NULL,
                        .shape = flags & PyBUF_ND ? exported->sizes : NULL,
                        .strides = needs_rows ? NULL : exported->strides,
                        .internal = exported};
  Py_INCREF(self);
  buffer->obj = self;
  return 0;
}

static void release_buffer(PyObject *self, Py_buffer *buffer) {
  Exported *exported = buffer->internal;
  (void)self;
  wick_value_release(exported->value);
  PyMem_Free(exported);
}

/* ---- memory of others ---- */

typedef struct Borrowed {
  Py_buffer buffer;
  PyInterpreterState *interpreter;
} Borrowed;

/* Called when the last tensor over a buffer goes, on any thread; after the interpreter's end nobody is there to be
 * told. */
static void drop_buffer(void *user) {
  Borrowed *borrowed = user;
  Entered entered;
  if (!python_enter(borrowed->interpreter, &entered)) return;
  PyBuffer_Release(&borrowed->buffer);
  PyMem_Free(borrowed);
  python_leave(&entered);
}

static int dtype_of_format(const char *format, Py_ssize_t bytes) {
  if (!format) return WICK_UINT8;
  if (*format == '@' || *format == '=' || *format == '<') format++;
  if (!strcmp(format, "l")) return bytes == 8 ? WICK_INT64 : WICK_INT32;
  if (!strcmp(format, "q")) return WICK_INT64;
  if (!strcmp(format, "L")) return bytes == 8 ? WICK_UINT64 : WICK_UINT32;
  if (!strcmp(format, "Q")) return WICK_UINT64;
  for (int i = 0; i < DTYPE_COUNT; i++)
    if (formats[i] && !strcmp(formats[i], format)) return i;
  return -1;
}

static int take_strides(const Py_buffer *buffer, int64_t *sizes, int64_t *strides) {
  if (buffer->ndim > 32) {
    PyErr_SetString(PyExc_ValueError, "more than 32 dimensions");
    return -1;
  }
  for (int i = 0; i < buffer->ndim; i++) {
    sizes[i] = buffer->shape[i];
    if (buffer->strides[i] < 0 && sizes[i] > 1) {
      PyErr_SetString(
          PyExc_ValueError,
          "At least one of the strides in the given array is negative, and tensors with negative strides are "
          "not currently supported. (You can probably work around this by making a copy of your array with "
          "array.copy().)");
      return -1;
    }
    if (sizes[i] > 1 && buffer->strides[i] % buffer->itemsize) {
      PyErr_SetString(PyExc_ValueError, "a stride of the array is not a multiple of its element's size");
      return -1;
    }
    strides[i] = sizes[i] > 1 ? buffer->strides[i] / buffer->itemsize : 1;
  }
  return 0;
}

wick_value *value_from_buffer(ModuleState *state, PyObject *object) {
  int64_t sizes[32], strides[32];
  wick_value *value = NULL;
  wick_error *error = NULL;
  Borrowed *borrowed = PyMem_Calloc(1, sizeof *borrowed);
  if (!borrowed) return (wick_value *)PyErr_NoMemory();
  Py_buffer *buffer = &borrowed->buffer;
  borrowed->interpreter = state->interpreter;
  if (PyObject_GetBuffer(object, buffer, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE)) {
    PyErr_Clear(); /* what can't be written to is shown all the same, as torch does */
    if (PyObject_GetBuffer(object, buffer, PyBUF_STRIDES | PyBUF_FORMAT)) {
      PyMem_Free(borrowed);
      return NULL;
    }
  }
  int dtype = dtype_of_format(buffer->format, buffer->itemsize);
  if (dtype < 0) {
    PyErr_Format(PyExc_TypeError, "there is no dtype for elements of format '%s'", buffer->format);
  } else if (take_strides(buffer, sizes, strides) == 0) {
    wick_status status = wick_tensor_borrow(buffer->buf ? buffer->buf : (void *)buffer, (uint32_t)dtype, buffer->ndim,
                                            sizes, strides, drop_buffer, borrowed, &value, &error);
    if (status) raise_wick(state, status, error);
  }
  if (value) return value;
  PyBuffer_Release(buffer);
  PyMem_Free(borrowed);
  return NULL;
}

/* ---- NumPy, through the table that its module exports ---- */

enum { NUMPY_NEW = 93, NUMPY_TYPE = 2, NUMPY_SET_BASE = 282, NUMPY_ALIGNED = 0x100, NUMPY_WRITEABLE = 0x400 };
/* NumPy's number of a type and one; 0: none. */
static const signed char numpy_types[DTYPE_COUNT] = {
    [WICK_UINT8] = 3,    [WICK_INT8] = 2,     [WICK_INT16] = 4,    [WICK_INT32] = 6,      [WICK_INT64] = 8,
    [WICK_FLOAT16] = 24, [WICK_FLOAT32] = 12, [WICK_FLOAT64] = 13, [WICK_COMPLEX64] = 15, [WICK_COMPLEX128] = 16,
    [WICK_BOOL8] = 1,    [WICK_UINT16] = 5,   [WICK_UINT32] = 7,   [WICK_UINT64] = 9};

static void **numpy_table(ModuleState *state) {
  if (state->numpy) return state->numpy;
  PyObject *module = PyImport_ImportModule("numpy.core.multiarray");
  if (!module && PyErr_ExceptionMatches(PyExc_ImportError)) {
    PyErr_Clear();
    module = PyImport_ImportModule("numpy._core.multiarray");
  }
  PyObject *capsule = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
  if (capsule) state->numpy = PyCapsule_GetPointer(capsule, NULL);
  Py_XDECREF(module);
  Py_XDECREF(capsule); /* the module keeps the table */
  return state->numpy;
}

static PyObject *array_of(PyObject *self) {
  typedef PyObject *New(PyTypeObject *, int, Py_intptr_t const *, int, Py_intptr_t const *, void *, int, int,
                        PyObject *);
  typedef int SetBase(PyObject *, PyObject *);
  Py_intptr_t sizes[32], strides[32];
  wick_tensor_view view;
  if (plain_view(self, "numpy()", &view)) return NULL;
  if (wick_trace_is_on() && trace_warn_python("NumPy array")) return NULL;
  int type = view.dtype < DTYPE_COUNT ? numpy_types[view.dtype] - 1 : -1;
  if (type < 0) return PyErr_Format(PyExc_TypeError, "Got unsupported ScalarType %s", wick_dtype_name(view.dtype));
  void **table = numpy_table(state_of_tensor(self));
  if (!table) return NULL;
  for (int i = 0; i < view.ndim; i++) {
    sizes[i] = (Py_intptr_t)view.sizes[i];
    strides[i] = (Py_intptr_t)(view.strides[i] * (int64_t)wick_dtype_bytes(view.dtype));
  }
  New *make = (New *)table[NUMPY_NEW];
  PyObject *array = make((PyTypeObject *)table[NUMPY_TYPE], view.ndim, sizes, type, strides,
                         view.data ? view.data : (void *)self, 0, NUMPY_ALIGNED | NUMPY_WRITEABLE, NULL);
  /* What holds the memory is an object of its own: .data may give the tensor another one. */
  PyObject *holder = array ? tensor_wrap_as(state_of_tensor(self), state_of_tensor(self)->tensor_type,
                                            wick_value_retain(tensor_value(self)))
                           : NULL;
  if (!array || !holder || ((SetBase *)table[NUMPY_SET_BASE])(array, holder)) Py_CLEAR(array);
  return array;
}

static PyObject *call_numpy(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"force", NULL};
  int force = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$p:numpy", KEYWORDS(names), &force)) return NULL;
  if (!force) return array_of(self);
  ModuleState *state = state_of_tensor(self);
  PyObject *plain = call_aten(state, "aten::detach", &self, 1);
  const char *const steps[] = {"aten::resolve_conj", "aten::resolve_neg"};
  for (int i = 0; i < 2 && plain; i++) {
    PyObject *next = call_aten(state, steps[i], &plain, 1);
    Py_DECREF(plain);
    plain = next;
  }
  PyObject *array = plain ? array_of(plain) : NULL;
  Py_XDECREF(plain);
  return array;
}

static PyObject *call_array(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"dtype", "copy", NULL};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:__array__", KEYWORDS(names), &dtype, &copy)) return NULL;
  PyObject *array = array_of(self);
  if (!array || dtype == Py_None) return array;
  PyObject *converted = call_method(array, "astype", dtype);
  Py_DECREF(array);
  return converted;
}

/* ---- DLPack ---- */

static const char capsule_name[] = "dltensor", used_name[] = "used_dltensor";

/* A managed tensor that nobody took goes with its capsule. */
static void free_capsule(PyObject *capsule) {
  struct DLManagedTensor *managed;
  wick_value *value = NULL;
  if (!PyCapsule_IsValid(capsule, capsule_name)) return;
  managed = PyCapsule_GetPointer(capsule, capsule_name);
  if (!wick_tensor_from_dlpack(managed, &value, NULL)) wick_value_release(value);
}

static PyObject *call_dlpack(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"stream", NULL};
  PyObject *stream = Py_None;
  struct DLManagedTensor *managed;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:__dlpack__", KEYWORDS(names), &stream)) return NULL;
  wick_tensor_info info;
  if (tensor_info(self, &info)) return NULL;
  if (info.flags & WICK_INFO_REQUIRES_GRAD)
    return PyErr_Format(PyExc_RuntimeError, "Can't export tensors that require gradient, use tensor.detach()");
  if (info.flags & WICK_INFO_CONJ)
    return PyErr_Format(PyExc_RuntimeError, "Can't export tensors with the conjugate bit set");
  CHECK_WICK(state_of_tensor(self), wick_tensor_to_dlpack(tensor_value(self), &managed, &check_error));
  PyObject *capsule = PyCapsule_New(managed, capsule_name, free_capsule);
  wick_value *value = NULL;
  if (!capsule && !wick_tensor_from_dlpack(managed, &value, NULL)) wick_value_release(value);
  return capsule;
}

static PyObject *call_dlpack_device(PyObject *self, PyObject *unused) {
  enum { DLPACK_CPU = 1 };
  (void)self, (void)unused;
  return Py_BuildValue("(ii)", DLPACK_CPU, 0);
}

static PyObject *from_dlpack(PyObject *module, PyObject *object) {
  ModuleState *state = state_of_module(module);
  PyObject *capsule =
      PyCapsule_CheckExact(object) ? (Py_INCREF(object), object) : call_method(object, "__dlpack__", NULL);
  if (!capsule) return NULL;
  struct DLManagedTensor *managed = PyCapsule_GetPointer(capsule, capsule_name);
  wick_value *value = NULL;
  wick_error *error = NULL;
  wick_status status = WICK_OK;
  if (managed && PyCapsule_SetName(capsule, used_name) == 0) status = wick_tensor_from_dlpack(managed, &value, &error);
  Py_DECREF(capsule);
  if (status) return raise_wick(state, status, error);
  return value ? tensor_wrap(state, value) : NULL;
}

static PyObject *from_buffer(PyObject *module, PyObject *object) {
  ModuleState *state = state_of_module(module);
  wick_value *value = value_from_buffer(state, object);
  return value ? tensor_wrap(state, value) : NULL;
}

PyMethodDef tensor_memory_methods[] = {
    {"item", call_item, METH_NOARGS, "The only element as a number of Python's."},
    {"tolist", call_tolist, METH_NOARGS, "The elements as nested lists, or as a number."},
    {"numpy", (PyCFunction)(void (*)(void))call_numpy, METH_VARARGS | METH_KEYWORDS,
     "numpy(*, force=False): an array of NumPy's over the same memory."},
    {"__array__", (PyCFunction)(void (*)(void))call_array, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack__", (PyCFunction)(void (*)(void))call_dlpack, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack_device__", call_dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
PyType_Slot tensor_memory_slots[] = {{Py_bf_getbuffer, get_buffer}, {Py_bf_releasebuffer, release_buffer}, {0, NULL}};

PyMethodDef memory_functions[] = {{"from_dlpack", from_dlpack, METH_O,
                                   "from_dlpack(x): a tensor over the memory of a capsule, or of an object that "
                                   "has __dlpack__."},
                                  {"from_buffer", from_buffer, METH_O,
                                   "from_buffer(x): a tensor over the memory of an object with the buffer "
                                   "protocol."},
                                  {NULL, NULL, 0, NULL}};
