/* dtype, layout, memory_format, device and Size: small immutable objects, and what operators' numbers for
 * them are. */
#include <string.h>

#include "py_wick.h"

/* ---- dtype, layout, memory_format: one object for each number ---- */

typedef struct NumberedObject {
  PyObject_HEAD uint32_t number;
} NumberedObject;

static const char *const layout_names[LAYOUT_COUNT] = {"strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc"};
static const char *const memory_format_names[MEMORY_FORMAT_COUNT] = {"contiguous_format", "preserve_format",
                                                                     "channels_last", "channels_last_3d"};

static uint32_t number_of(PyObject *object) {
  return ((NumberedObject *)object)->number;
}

static PyObject *named_repr(const char *name) {
  return PyUnicode_FromFormat("torch.%s", name);
}
static PyObject *dtype_repr(PyObject *self) {
  return named_repr(wick_dtype_name(number_of(self)));
}
static PyObject *layout_repr(PyObject *self) {
  return named_repr(layout_names[number_of(self)]);
}
static PyObject *memory_format_repr(PyObject *self) {
  return named_repr(memory_format_names[number_of(self)]);
}
/* Pickled by name: what wick calls the object. */
static PyObject *dtype_reduce(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyUnicode_FromString(wick_dtype_name(number_of(self)));
}
static PyObject *layout_reduce(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyUnicode_FromString(layout_names[number_of(self)]);
}
static PyObject *memory_format_reduce(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyUnicode_FromString(memory_format_names[number_of(self)]);
}

static bool dtype_is_floating(uint32_t dtype) {
  return dtype == WICK_FLOAT16 || dtype == WICK_FLOAT32 || dtype == WICK_FLOAT64 || dtype == WICK_BFLOAT16 ||
         (dtype >= WICK_FLOAT8_E5M2 && dtype <= WICK_FLOAT8_E4M3FNUZ) || dtype == WICK_FLOAT8_E8M0FNU;
}
static bool dtype_is_complex(uint32_t dtype) {
  return dtype >= WICK_COMPLEX32 && dtype <= WICK_COMPLEX128;
}
static PyObject *dtype_get_floating(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(dtype_is_floating(number_of(self)));
}
static PyObject *dtype_get_complex(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(dtype_is_complex(number_of(self)));
}
static PyObject *dtype_get_signed(PyObject *self, void *unused) {
  (void)unused;
  uint32_t dtype = number_of(self);
  return PyBool_FromLong(dtype != WICK_UINT8 && dtype != WICK_BOOL8 && dtype != WICK_QUINT8 && dtype != WICK_QUINT4X2 &&
                         dtype != WICK_QUINT2X4 && !(dtype >= WICK_UINT16 && dtype <= WICK_UINT64) &&
                         dtype != WICK_FLOAT8_E8M0FNU);
}
static PyObject *dtype_get_itemsize(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromSize_t(wick_dtype_bytes(number_of(self)));
}

/* The module holds them, and they hold it by their class: the collector sees to that. */
static int plain_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}
static void plain_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyGetSetDef dtype_getters[] = {{"is_floating_point", dtype_get_floating, NULL, NULL, NULL},
                                      {"is_complex", dtype_get_complex, NULL, NULL, NULL},
                                      {"is_signed", dtype_get_signed, NULL, NULL, NULL},
                                      {"itemsize", dtype_get_itemsize, NULL, "Bytes of an element.", NULL},
                                      {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyMethodDef layout_methods[] = {{"__reduce__", layout_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyMethodDef memory_format_methods[] = {{"__reduce__", memory_format_reduce, METH_NOARGS, NULL},
                                              {NULL, NULL, 0, NULL}};
static PyType_Slot dtype_slots[] = {{Py_tp_dealloc, plain_dealloc},
                                    {Py_tp_traverse, plain_traverse},
                                    {Py_tp_repr, dtype_repr},
                                    {Py_tp_getset, dtype_getters},
                                    {Py_tp_methods, dtype_methods},
                                    {Py_tp_doc, "The type of a tensor's elements."},
                                    {0, NULL}};
static PyType_Slot layout_slots[] = {{Py_tp_dealloc, plain_dealloc},
                                     {Py_tp_traverse, plain_traverse},
                                     {Py_tp_repr, layout_repr},
                                     {Py_tp_methods, layout_methods},
                                     {Py_tp_doc, "How a tensor's elements are laid out."},
                                     {0, NULL}};
static PyType_Slot memory_format_slots[] = {{Py_tp_dealloc, plain_dealloc},
                                            {Py_tp_traverse, plain_traverse},
                                            {Py_tp_repr, memory_format_repr},
                                            {Py_tp_methods, memory_format_methods},
                                            {Py_tp_doc, "The order of a tensor's dimensions in memory."},
                                            {0, NULL}};
/* Nobody makes one but the module. */
#define COLLECTED (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC)
static PyType_Spec dtype_spec = {"wick.dtype", sizeof(NumberedObject), 0, COLLECTED, dtype_slots};
static PyType_Spec layout_spec = {"wick.layout", sizeof(NumberedObject), 0, COLLECTED, layout_slots};
static PyType_Spec memory_format_spec = {"wick.memory_format", sizeof(NumberedObject), 0, COLLECTED,
                                         memory_format_slots};

static PyObject *numbered_new(PyTypeObject *type, uint32_t number) {
  NumberedObject *made = (NumberedObject *)type->tp_alloc(type, 0);
  if (made) made->number = number;
  return (PyObject *)made;
}

static PyObject *one_of(PyObject *const *objects, int64_t count, int64_t number, const char *what) {
  if (number < 0 || number >= count || !objects[number])
    return PyErr_Format(PyExc_RuntimeError, "there is no %s %lld", what, (long long)number);
  Py_INCREF(objects[number]);
  return objects[number];
}
PyObject *dtype_object(ModuleState *state, uint32_t dtype) {
  return one_of(state->dtypes, DTYPE_COUNT, dtype, "dtype");
}
PyObject *layout_object(ModuleState *state, int64_t layout) {
  return one_of(state->layouts, LAYOUT_COUNT, layout, "layout");
}
PyObject *memory_format_object(ModuleState *state, int64_t memory_format) {
  return one_of(state->memory_formats, MEMORY_FORMAT_COUNT, memory_format, "memory format");
}

int dtype_of_object(ModuleState *state, PyObject *object) {
  if (Py_TYPE(object) == state->dtype_type) return (int)number_of(object);
  if (object == (PyObject *)&PyFloat_Type) return (int)WICK_FLOAT64;
  if (object == (PyObject *)&PyLong_Type) return WICK_INT64;
  if (object == (PyObject *)&PyBool_Type) return WICK_BOOL8;
  if (object == (PyObject *)&PyComplex_Type) return WICK_COMPLEX128;
  return -1;
}
int layout_of_object(ModuleState *state, PyObject *object) {
  return Py_TYPE(object) == state->layout_type ? (int)number_of(object) : -1;
}
int memory_format_of_object(ModuleState *state, PyObject *object) {
  return Py_TYPE(object) == state->memory_format_type ? (int)number_of(object) : -1;
}

/* ---- device ---- */

typedef struct DeviceObject {
  PyObject_HEAD PyObject *type; /* str */
  int index;                    /* -1: none */
} DeviceObject;

bool is_device(ModuleState *state, PyObject *object) {
  return Py_TYPE(object) == state->device_type;
}

static PyObject *device_new_of(ModuleState *state, const char *type, Py_ssize_t length, int index) {
  DeviceObject *made = (DeviceObject *)state->device_type->tp_alloc(state->device_type, 0);
  if (!made) return NULL;
  made->index = index;
  made->type = PyUnicode_FromStringAndSize(type, length);
  if (made->type) return (PyObject *)made;
  Py_DECREF(made);
  return NULL;
}

/* "cuda:0", as wick prints devices. */
PyObject *device_object(ModuleState *state, const char *text) {
  const char *colon = strchr(text, ':');
  if (!colon && !strcmp(text, "cpu") && state->cpu) {
    Py_INCREF(state->cpu);
    return state->cpu;
  }
  return colon ? device_new_of(state, text, colon - text, atoi(colon + 1))
               : device_new_of(state, text, (Py_ssize_t)strlen(text), -1);
}

PyObject *device_object_of(ModuleState *state, int type, int index) {
  enum { META = 14 };
  const char *name = type == WICK_DEVICE_CPU    ? "cpu"
                     : type == WICK_DEVICE_CUDA ? "cuda"
                     : type == META             ? "meta"
                                                : "other";
  if (type == WICK_DEVICE_CPU) return device_object(state, "cpu");
  return device_new_of(state, name, (Py_ssize_t)strlen(name), index);
}

static PyObject *device_text(PyObject *self) {
  const DeviceObject *device = (const DeviceObject *)self;
  if (device->index >= 0) return PyUnicode_FromFormat("%U:%d", device->type, device->index);
  Py_INCREF(device->type);
  return device->type;
}

static wick_value *device_value_of_text(ModuleState *state, PyObject *text) {
  wick_value *value = NULL;
  wick_error *error = NULL;
  const char *data = PyUnicode_AsUTF8(text);
  if (!data) return NULL;
  wick_status status = wick_value_device(data, &value, &error);
  return status ? (wick_value *)raise_wick(state, status, error) : value;
}

wick_value *value_from_device(ModuleState *state, PyObject *device) {
  PyObject *text = NULL;
  if (is_device(state, device)) {
    text = device_text(device);
  } else if (PyUnicode_Check(device)) {
    Py_INCREF(device);
    text = device;
  } else if (PyLong_Check(device)) {
    text = PyUnicode_FromFormat("cuda:%S", device);
  } else {
    PyErr_Format(PyExc_TypeError, "device must be a device or a text, not %.200s", Py_TYPE(device)->tp_name);
  }
  wick_value *value = text ? device_value_of_text(state, text) : NULL;
  Py_XDECREF(text);
  return value;
}

static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"device", "index", NULL};
  PyObject *what;
  int index = -1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|i:device", KEYWORDS(names), &what, &index)) return NULL;
  ModuleState *state = PyType_GetModuleState(type);
  if (is_device(state, what)) {
    Py_INCREF(what);
    return what;
  }
  wick_value *value = value_from_device(state, what); /* says what is no device */
  PyObject *made = value ? value_to_python(state, value) : NULL;
  if (!made || index < 0) return made;
  DeviceObject *device = (DeviceObject *)made;
  if (device->index >= 0) {
    Py_DECREF(made);
    return PyErr_Format(PyExc_RuntimeError,
                        "type (string) must not include an index because index was passed "
                        "explicitly: %S",
                        what);
  }
  const char *name = PyUnicode_AsUTF8(device->type);
  PyObject *indexed = name ? device_new_of(state, name, (Py_ssize_t)strlen(name), index) : NULL;
  Py_DECREF(made);
  return indexed;
}

static void device_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_XDECREF(((DeviceObject *)self)->type);
  type->tp_free(self);
  Py_DECREF(type);
}
static PyObject *device_repr(PyObject *self) {
  const DeviceObject *device = (const DeviceObject *)self;
  return device->index >= 0 ? PyUnicode_FromFormat("device(type='%U', index=%d)", device->type, device->index)
                            : PyUnicode_FromFormat("device(type='%U')", device->type);
}
static Py_hash_t device_hash(PyObject *self) {
  Py_hash_t hash = PyObject_Hash(((DeviceObject *)self)->type);
  if (hash == -1) return -1;
  hash = hash * 31 + ((DeviceObject *)self)->index;
  return hash == -1 ? -2 : hash;
}
static PyObject *device_compare(PyObject *self, PyObject *other, int op) {
  if (Py_TYPE(self) != Py_TYPE(other) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  const DeviceObject *a = (const DeviceObject *)self, *b = (const DeviceObject *)other;
  int same = a->index == b->index ? PyUnicode_Compare(a->type, b->type) == 0 : 0;
  if (PyErr_Occurred()) return NULL;
  return PyBool_FromLong(same == (op == Py_EQ));
}
static PyObject *device_get_type(PyObject *self, void *unused) {
  (void)unused;
  PyObject *type = ((DeviceObject *)self)->type;
  Py_INCREF(type);
  return type;
}
static PyObject *device_get_index(PyObject *self, void *unused) {
  (void)unused;
  int index = ((DeviceObject *)self)->index;
  if (index < 0) Py_RETURN_NONE;
  return PyLong_FromLong(index);
}
static PyObject *device_reduce(PyObject *self, PyObject *unused) {
  (void)unused;
  return Py_BuildValue("(O(N))", Py_TYPE(self), device_text(self));
}
static PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyGetSetDef device_getters[] = {{"type", device_get_type, NULL, "\"cpu\", \"cuda\"", NULL},
                                       {"index", device_get_index, NULL, "Its number, or None.", NULL},
                                       {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot device_slots[] = {{Py_tp_new, device_new},
                                     {Py_tp_dealloc, device_dealloc},
                                     {Py_tp_traverse, plain_traverse},
                                     {Py_tp_repr, device_repr},
                                     {Py_tp_str, device_text},
                                     {Py_tp_hash, device_hash},
                                     {Py_tp_richcompare, device_compare},
                                     {Py_tp_getset, device_getters},
                                     {Py_tp_methods, device_methods},
                                     {Py_tp_doc, "device(type, index=None): where a tensor's elements are."},
                                     {0, NULL}};
static PyType_Spec device_spec = {"wick.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                  device_slots};

/* ---- Size: a tuple of ints ---- */

PyObject *size_object(ModuleState *state, const int64_t *sizes, Py_ssize_t count) {
  PyObject *made = state->size_type->tp_alloc(state->size_type, count);
  for (Py_ssize_t i = 0; made && i < count; i++) {
    PyObject *size = PyLong_FromLongLong(sizes[i]);
    if (!size) Py_CLEAR(made);
    if (made) PyTuple_SET_ITEM(made, i, size);
  }
  return made;
}

static PyObject *size_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  PyObject *made = PyTuple_Type.tp_new(type, args, keywords);
  for (Py_ssize_t i = 0; made && i < PyTuple_GET_SIZE(made); i++) {
    PyObject *item = PyTuple_GET_ITEM(made, i);
    if (PyLong_Check(item)) continue;
    PyObject *number = PyIndex_Check(item) ? PyNumber_Index(item) : NULL;
    if (!number) {
      if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is '%.200s')", i,
                     Py_TYPE(item)->tp_name);
      Py_DECREF(made);
      return NULL;
    }
    PyTuple_SET_ITEM(made, i, number);
    Py_DECREF(item);
  }
  return made;
}

static PyObject *size_repr(PyObject *self) {
  PyObject *list = PySequence_List(self);
  PyObject *text = list ? PyUnicode_FromFormat("torch.Size(%R)", list) : NULL;
  Py_XDECREF(list);
  return text;
}

/* What tuples give where Sizes are wanted. */
static PyObject *as_size(PyTypeObject *type, PyObject *tuple) {
  if (!tuple || !PyTuple_Check(tuple)) return tuple;
  PyObject *size = PyObject_CallOneArg((PyObject *)type, tuple);
  Py_DECREF(tuple);
  return size;
}
static PyTypeObject *size_type_of(PyObject *a, PyObject *b) {
  return PyTuple_Check(a) && !PyTuple_CheckExact(a) ? Py_TYPE(a) : Py_TYPE(b);
}
static PyObject *size_concat(PyObject *a, PyObject *b) {
  PyObject *joined = PyTuple_Type.tp_as_sequence->sq_concat(a, b);
  if (joined && joined == b) return joined; /* of an empty one */
  for (Py_ssize_t i = 0; joined && i < PyTuple_GET_SIZE(joined); i++)
    if (!PyIndex_Check(PyTuple_GET_ITEM(joined, i))) return joined;
  return as_size(size_type_of(a, b), joined);
}
static PyObject *size_repeat(PyObject *self, Py_ssize_t count) {
  return as_size(Py_TYPE(self), PyTuple_Type.tp_as_sequence->sq_repeat(self, count));
}
static PyObject *size_subscript(PyObject *self, PyObject *key) {
  PyObject *found = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  return PySlice_Check(key) ? as_size(Py_TYPE(self), found) : found;
}
static PyObject *size_numel(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *product = PyLong_FromLong(1);
  for (Py_ssize_t i = 0; product && i < PyTuple_GET_SIZE(self); i++) {
    PyObject *next = PyNumber_Multiply(product, PyTuple_GET_ITEM(self, i));
    Py_DECREF(product);
    product = next;
  }
  return product;
}
static PyObject *size_reduce(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *plain = PySequence_List(self);
  return plain ? Py_BuildValue("(O(N))", Py_TYPE(self), plain) : NULL;
}
static PyMethodDef size_methods[] = {{"numel", size_numel, METH_NOARGS, "How many elements a tensor of this size has."},
                                     {"__reduce__", size_reduce, METH_NOARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
static PyType_Slot size_slots[] = {{Py_tp_new, size_new},
                                   {Py_tp_repr, size_repr},
                                   {Py_sq_concat, size_concat},
                                   {Py_sq_repeat, size_repeat},
                                   {Py_mp_subscript, size_subscript},
                                   {Py_tp_methods, size_methods},
                                   {Py_tp_doc, "The sizes of a tensor's dimensions."},
                                   {0, NULL}};
static PyType_Spec size_spec = {"wick.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, size_slots};

/* ---- the module's ---- */

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base) {
  PyObject *bases = base ? PyTuple_Pack(1, base) : NULL;
  if (base && !bases) return NULL;
  PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, bases);
  Py_XDECREF(bases);
  if (type && PyModule_AddType(module, type)) Py_CLEAR(type);
  return type;
}

typedef struct Alias {
  const char *name;
  uint32_t dtype;
} Alias;
static const Alias aliases[] = {{"half", WICK_FLOAT16},     {"float", WICK_FLOAT32},      {"double", WICK_FLOAT64},
                                {"short", WICK_INT16},      {"int", WICK_INT32},          {"long", WICK_INT64},
                                {"cfloat", WICK_COMPLEX64}, {"cdouble", WICK_COMPLEX128}, {"chalf", WICK_COMPLEX32}};

static int add_numbered(PyObject *module, PyTypeObject *type, PyObject **objects, uint32_t count,
                        const char *(*name_of)(uint32_t)) {
  for (uint32_t i = 0; i < count; i++) {
    if (!*name_of(i)) continue; /* a number that is no dtype */
    if (!(objects[i] = numbered_new(type, i)) || PyModule_AddObjectRef(module, name_of(i), objects[i])) return -1;
  }
  return 0;
}
static const char *layout_name(uint32_t i) {
  return layout_names[i];
}
static const char *memory_format_name(uint32_t i) {
  return memory_format_names[i];
}

int add_values(PyObject *module, ModuleState *state) {
  if (!(state->dtype_type = add_type(module, &dtype_spec, NULL)) ||
      !(state->layout_type = add_type(module, &layout_spec, NULL)) ||
      !(state->memory_format_type = add_type(module, &memory_format_spec, NULL)) ||
      !(state->device_type = add_type(module, &device_spec, NULL)) ||
      !(state->size_type = add_type(module, &size_spec, &PyTuple_Type)))
    return -1;
  if (add_numbered(module, state->dtype_type, state->dtypes, DTYPE_COUNT, wick_dtype_name) ||
      add_numbered(module, state->layout_type, state->layouts, LAYOUT_COUNT, layout_name) ||
      add_numbered(module, state->memory_format_type, state->memory_formats, MEMORY_FORMAT_COUNT, memory_format_name))
    return -1;
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (PyModule_AddObjectRef(module, aliases[i].name, state->dtypes[aliases[i].dtype])) return -1;
  return (state->cpu = device_new_of(state, "cpu", 3, -1)) ? 0 : -1;
}
