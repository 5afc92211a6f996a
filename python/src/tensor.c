/* Tensor: what it tells of itself, and the protocols of Python's objects and sequences. Methods that are operators come
 * from the registry; those that only rearrange calls are written in Python (wick/_tensor.py). */
#include <string.h>

#include "memory.h"
#include "override.h"
#include "trace.h"

/* ---- making ---- */

/* The tensor bears the address of its object, as long as that lives: what a program or an operator gives back is the
 * object that it got. Of several objects over one tensor that is the first. */
static PyObject *object_of(const ModuleState *state, const wick_value *value) {
  PyObject *object = wick_tensor_mark(value);
  return object && ((TensorObject *)object)->state == state ? object : NULL;
}

PyObject *tensor_wrap_as(ModuleState *state, PyTypeObject *type, wick_value *value) {
  TensorObject *made = (TensorObject *)type->tp_alloc(type, 0);
  if (!made) {
    wick_value_release(value);
    return NULL;
  }
  made->value = value;
  made->state = state;
  if (type != state->tensor_type) override_note(state, type);
  if (!wick_tensor_mark(value)) wick_tensor_set_mark(value, made);
  return (PyObject *)made;
}

PyObject *tensor_wrap(ModuleState *state, wick_value *value) {
  PyObject *known = object_of(state, value);
  if (known) {
    Py_INCREF(known);
    wick_value_release(value);
    return known;
  }
  wick_tensor_info info = {.size = sizeof info}; /* only what has no elements may be undefined */
  if (wick_tensor_count(value) > 0 ||
      (wick_tensor_info_of(value, &info, NULL) == WICK_OK && !(info.flags & WICK_INFO_UNDEFINED)))
    return tensor_wrap_as(state, state->tensor_type, value);
  wick_value_release(value);
  Py_RETURN_NONE;
}

static ModuleState *state_of_tensor(PyObject *self) {
  return ((TensorObject *)self)->state;
}

/* Of a class derived from Tensor too. */
static ModuleState *state_of_type(PyTypeObject *type) {
  PyObject *mro = type->tp_mro;
  for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
    PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
    ModuleState *state = base->tp_flags & Py_TPFLAGS_HEAPTYPE ? PyType_GetModuleState(base) : NULL;
    if (state && state->tensor_type == base) return state;
    PyErr_Clear();
  }
  PyErr_SetString(PyExc_RuntimeError,
                  "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make "
                  "sure your class inherits from Tensor.");
  return NULL;
}

/* Another tensor over the same memory, of the type, that the operator makes. */
static PyObject *seen_as(ModuleState *state, PyTypeObject *type, const char *operator, PyObject * data) {
  bool before = override_disable(true);
  PyObject *shown = call_aten(state, operator, & data, 1);
  override_disable(before);
  if (!shown || Py_TYPE(shown) == type) return shown;
  wick_value *value = wick_value_retain(tensor_value(shown));
  Py_DECREF(shown);
  return tensor_wrap_as(state, type, value);
}
static PyObject *shown_as(ModuleState *state, PyTypeObject *type, PyObject *data) { /* without history */
  return seen_as(state, type, "aten::detach", data);
}

static PyObject *make_subclass(PyObject *class, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"cls", "data", "require_grad", NULL};
  PyObject *type, *data;
  int wanted = 0;
  (void)class;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O|p:_make_subclass", KEYWORDS(names), &PyType_Type, &type, &data,
                                   &wanted))
    return NULL;
  ModuleState *state = state_of_type((PyTypeObject *)type);
  if (!state) return NULL;
  if (!is_tensor(state, data))
    return PyErr_Format(PyExc_TypeError, "_make_subclass(): argument 'data' (position 2) must be Tensor, not %.200s",
                        Py_TYPE(data)->tp_name);
  PyObject *made = shown_as(state, (PyTypeObject *)type, data);
  wick_error *error = NULL;
  wick_status status = made && wanted ? wick_tensor_set_requires_grad(tensor_value(made), 1, &error) : WICK_OK;
  if (status) {
    Py_DECREF(made);
    return raise_wick(state, status, error);
  }
  return made;
}

static PyObject *as_subclass(PyObject *self, PyObject *type) {
  ModuleState *state = PyType_Check(type) ? state_of_type((PyTypeObject *)type) : NULL;
  if (!state) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "as_subclass(): a class is expected");
  return seen_as(state, (PyTypeObject *)type, "aten::alias", self);
}

/* Tensor(2, 3), Tensor(data): of the default dtype. */
static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  ModuleState *state = state_of_type(type);
  if (!state) return NULL;
  if (keywords && PyDict_GET_SIZE(keywords)) return PyErr_Format(PyExc_TypeError, "Tensor() takes no keywords");
  Py_ssize_t count = PyTuple_GET_SIZE(args);
  PyObject *first = count ? PyTuple_GET_ITEM(args, 0) : NULL, *made;
  if (count == 1 && is_tensor(state, first)) return shown_as(state, type, first);
  if (count == 1 && !PyLong_Check(first) && Py_TYPE(first) != state->size_type) {
    made = make_tensor(state, first, (int)wick_default_dtype());
  } else {
    PyObject *sizes = count == 1 && Py_TYPE(first) == state->size_type ? first : args;
    wick_value *value = make_empty(state, sizes, wick_default_dtype());
    made = value ? tensor_wrap(state, value) : NULL;
  }
  if (!made || type == state->tensor_type) return made;
  wick_value *value = wick_value_retain(tensor_value(made));
  Py_DECREF(made);
  return tensor_wrap_as(state, type, value);
}

static int tensor_traverse(PyObject *object, visitproc visit, void *arg) {
  TensorObject *self = (TensorObject *)object;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(self->dict);
  Py_VISIT(self->grad);
  return 0;
}
static int tensor_clear(PyObject *object) {
  TensorObject *self = (TensorObject *)object;
  Py_CLEAR(self->dict);
  Py_CLEAR(self->grad);
  return 0;
}
static void tensor_dealloc(PyObject *object) {
  TensorObject *self = (TensorObject *)object;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (self->weak_references) PyObject_ClearWeakRefs(object);
  tensor_clear(object);
  if (wick_tensor_mark(self->value) == object) wick_tensor_set_mark(self->value, NULL);
  wick_value_release(self->value);
  type->tp_free(self);
  Py_DECREF(type);
}

/* ---- what it tells of itself ---- */

int tensor_info(PyObject *tensor, wick_tensor_info *info) {
  wick_error *error = NULL;
  *info = (wick_tensor_info){.size = sizeof *info};
  wick_status status = wick_tensor_info_of(tensor_value(tensor), info, &error);
  if (!status) return 0;
  raise_wick(state_of_tensor(tensor), status, error);
  return -1;
}

#define INFO(self)       \
  wick_tensor_info info; \
  if (tensor_info(self, &info)) return NULL

static PyObject *get_shape(PyObject *self, void *unused) {
  (void)unused;
  INFO(self);
  if (wick_trace_is_on()) return trace_shape_object(self, info.ndim);
  return size_object(state_of_tensor(self), info.sizes, info.ndim);
}
static PyObject *get_dtype(PyObject *self, void *unused) {
  (void)unused;
  INFO(self);
  return dtype_object(state_of_tensor(self), info.dtype);
}
static PyObject *get_device(PyObject *self, void *unused) {
  (void)unused;
  INFO(self);
  return device_object_of(state_of_tensor(self), info.device_type, info.device_index);
}
/* -1 with an error. */
static int64_t layout_of(PyObject *self) {
  const wick_value *tensor = tensor_value(self);
  wick_value *layout;
  wick_error *error = NULL;
  wick_tensor_info info = {.size = sizeof info};
  if (tensor_info(self, &info)) return -1;
  if (!(info.flags & WICK_INFO_SPARSE)) return 0;
  wick_status status = wick_op_call(NULL, "prim::layout", NULL, &tensor, 1, NULL, 0, &layout, &error);
  if (status) return raise_wick(state_of_tensor(self), status, error), -1;
  int64_t number = wick_value_to_int(layout);
  wick_value_release(layout);
  return number;
}
static PyObject *get_layout(PyObject *self, void *unused) {
  (void)unused;
  int64_t layout = layout_of(self);
  return layout < 0 ? NULL : layout_object(state_of_tensor(self), layout);
}
static PyObject *get_is_sparse(PyObject *self, void *unused) {
  (void)unused;
  int64_t layout = layout_of(self);
  return layout < 0 ? NULL : PyBool_FromLong(layout == SPARSE_COO);
}
static PyObject *get_ndim(PyObject *self, void *unused) {
  (void)unused;
  INFO(self);
  return PyLong_FromLong(info.ndim);
}
static PyObject *get_nbytes(PyObject *self, void *unused) {
  (void)unused;
  INFO(self);
  return PyLong_FromLongLong(info.count * (int64_t)wick_dtype_bytes(info.dtype));
}
static PyObject *get_itemsize(PyObject *self, void *unused) {
  (void)unused;
  INFO(self);
  return PyLong_FromSize_t(wick_dtype_bytes(info.dtype));
}
static PyObject *get_version(PyObject *self, void *unused) {
  (void)unused;
  INFO(self);
  return PyLong_FromUnsignedLong(info.version);
}
/* The flag of wick_tensor_info that is shown. */
static PyObject *get_flag(PyObject *self, void *flag) {
  INFO(self);
  return PyBool_FromLong((info.flags & (uint32_t)(uintptr_t)flag) != 0);
}
static PyObject *get_is_cuda(PyObject *self, void *unused) {
  (void)unused;
  INFO(self);
  return PyBool_FromLong(info.device_type == WICK_DEVICE_CUDA);
}

static PyObject *call_size(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"dim", NULL};
  PyObject *dim = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:size", KEYWORDS(names), &dim)) return NULL;
  if (dim == Py_None) return get_shape(self, NULL);
  Py_ssize_t i = PyNumber_AsSsize_t(dim, PyExc_IndexError); /* may change the tensor: asked first */
  if (i == -1 && PyErr_Occurred()) return NULL;
  INFO(self);
  int span = info.ndim ? info.ndim : 1;
  if (i < -span || i >= span)
    return PyErr_Format(PyExc_IndexError, "Dimension out of range (expected to be in range of [%d, %d], but got %zd)",
                        -span, span - 1, i);
  if (!info.ndim) return PyErr_Format(PyExc_IndexError, "dimension specified as %zd but tensor has no dimensions", i);
  if (wick_trace_is_on()) return trace_size_object(self, i);
  return PyLong_FromLongLong(info.sizes[i < 0 ? i + info.ndim : i]);
}
static PyObject *call_stride(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"dim", NULL};
  PyObject *dim = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:stride", KEYWORDS(names), &dim)) return NULL;
  Py_ssize_t i = dim == Py_None ? 0 : PyNumber_AsSsize_t(dim, PyExc_IndexError); /* may change the tensor */
  if (i == -1 && PyErr_Occurred()) return NULL;
  INFO(self);
  if (dim != Py_None) {
    if (i < -info.ndim || i >= info.ndim)
      return PyErr_Format(PyExc_IndexError, "Dimension out of range (expected to be in range of [%d, %d], but got %zd)",
                          -info.ndim, info.ndim - 1, i);
    return PyLong_FromLongLong(info.strides[i < 0 ? i + info.ndim : i]);
  }
  PyObject *made = PyTuple_New(info.ndim);
  for (int i = 0; made && i < info.ndim; i++) {
    PyObject *stride = PyLong_FromLongLong(info.strides[i]);
    if (!stride) Py_CLEAR(made);
    if (made) PyTuple_SET_ITEM(made, i, stride);
  }
  return made;
}
static PyObject *call_dim(PyObject *self, PyObject *unused) {
  return get_ndim(self, unused);
}
static PyObject *call_numel(PyObject *self, PyObject *unused) {
  (void)unused;
  if (wick_trace_is_on()) return trace_numel_object(self);
  return PyLong_FromLongLong(wick_tensor_count(tensor_value(self)));
}
static PyObject *call_offset(PyObject *self, PyObject *unused) {
  (void)unused;
  INFO(self);
  return PyLong_FromLongLong(info.offset);
}
/* The elements of its whole memory, one after the other. */
static PyObject *call_whole(PyObject *self, PyObject *unused) {
  (void)unused;
  INFO(self);
  int64_t count = (int64_t)(info.storage_bytes / wick_dtype_bytes(info.dtype));
  PyObject *arguments[] = {NULL, Py_BuildValue("(L)", (long long)count), Py_BuildValue("(i)", 1), PyLong_FromLong(0)};
  arguments[0] =
      arguments[1] && arguments[2] && arguments[3] ? call_aten(state_of_tensor(self), "aten::detach", &self, 1) : NULL;
  PyObject *made = arguments[0] ? call_aten(state_of_tensor(self), "aten::as_strided", arguments, 4) : NULL;
  for (int i = 0; i < 4; i++) Py_XDECREF(arguments[i]);
  return made;
}
static PyObject *call_data_ptr(PyObject *self, PyObject *unused) {
  wick_tensor_view view = {.size = sizeof view};
  (void)unused;
  CHECK_WICK(state_of_tensor(self), wick_tensor_view_of(tensor_value(self), &view, &check_error));
  return PyLong_FromVoidPtr(view.data);
}
static PyObject *call_element_size(PyObject *self, PyObject *unused) {
  return get_itemsize(self, unused);
}

/* ---- protocols ---- */

/* A number that __torch_function__ gives in place of a slot's; -1 with an error. */
static Py_ssize_t overridden_number(PyObject *self, const char *name) {
  PyObject *made = override_slot(state_of_tensor(self), name, &self, 1);
  Py_ssize_t number = made ? PyNumber_AsSsize_t(made, PyExc_OverflowError) : -1;
  Py_XDECREF(made);
  return number;
}

static Py_ssize_t tensor_length(PyObject *self) {
  if (override_applies(state_of_tensor(self), self)) return overridden_number(self, "__len__");
  wick_tensor_info info;
  if (tensor_info(self, &info)) return -1;
  if (wick_trace_is_on() && trace_warn_python("len")) return -1;
  if (info.ndim) return (Py_ssize_t)info.sizes[0];
  PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
  return -1;
}

static PyObject *tensor_iter(PyObject *self) {
  INFO(self);
  if (!info.ndim) return PyErr_Format(PyExc_TypeError, "iteration over a 0-d tensor");
  if (wick_trace_is_on() && trace_warn_python("iteration")) return NULL;
  PyObject *parts = call_aten(state_of_tensor(self), "aten::unbind", &self, 1);
  PyObject *iterator = parts ? PyObject_GetIter(parts) : NULL;
  Py_XDECREF(parts);
  return iterator;
}

static Py_hash_t tensor_hash(PyObject *self) {
  Py_hash_t hash = (Py_hash_t)((uintptr_t)self >> 4);
  return hash == -1 ? -2 : hash;
}

/* Written in Python: wick/_tensor_str.py. */
static PyObject *tensor_repr(PyObject *self) {
  if (override_applies(state_of_tensor(self), self)) return override_slot(state_of_tensor(self), "__repr__", &self, 1);
  PyObject *printer = PyImport_ImportModule("wick._tensor_str");
  PyObject *text = printer ? call_method(printer, "tensor_text", self) : NULL;
  Py_XDECREF(printer);
  return text;
}

/* ---- replacing what an object shows ---- */

static int set_data(PyObject *self, PyObject *data, void *unused) {
  ModuleState *state = state_of_tensor(self);
  (void)unused;
  if (!data || !is_tensor(state, data)) {
    PyErr_SetString(PyExc_TypeError, "data must be a Tensor");
    return -1;
  }
  wick_error *error = NULL;
  wick_status status = wick_tensor_set_data(tensor_value(self), tensor_value(data), &error);
  if (status) raise_wick(state, status, error);
  return status ? -1 : 0;
}
static PyObject *get_data(PyObject *self, void *unused) {
  ModuleState *state = state_of_tensor(self);
  (void)unused;
  return shown_as(state, state->tensor_type, self);
}

#define FLAG(flag) ((void *)(uintptr_t)(flag))
static PyGetSetDef getters[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"shape", get_shape, NULL, "The sizes of its dimensions.", NULL},
    {"dtype", get_dtype, NULL, "The type of its elements.", NULL},
    {"device", get_device, NULL, "Where its elements are.", NULL},
    {"layout", get_layout, NULL, "How its elements are laid out.", NULL},
    {"ndim", get_ndim, NULL, "How many dimensions it has.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of its elements.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of an element.", NULL},
    {"_version", get_version, NULL, "How often its memory was written to.", NULL},
    {"data", get_data, set_data, "The same elements without a history; what is assigned is shown from then on.", NULL},
    {"is_leaf", get_flag, NULL, "Whether no recorded call made it.", FLAG(WICK_INFO_LEAF)},
    {"is_sparse", get_is_sparse, NULL, "Whether it has coordinates of its elements.", NULL},
    {"is_quantized", get_flag, NULL, NULL, FLAG(WICK_INFO_QUANTIZED)},
    {"is_meta", get_flag, NULL, NULL, FLAG(WICK_INFO_META)},
    {"is_cuda", get_is_cuda, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef methods[] = {
    {"_make_subclass", (PyCFunction)(void (*)(void))make_subclass, METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "_make_subclass(cls, data, require_grad=False): an object of the class over data's memory."},
    {"as_subclass", as_subclass, METH_O, "as_subclass(cls): the same tensor as an object of the class."},
    {"size", (PyCFunction)(void (*)(void))call_size, METH_VARARGS | METH_KEYWORDS,
     "size(dim=None): all sizes, or that of a dimension."},
    {"stride", (PyCFunction)(void (*)(void))call_stride, METH_VARARGS | METH_KEYWORDS,
     "stride(dim=None): all strides in elements, or that of a dimension."},
    {"dim", call_dim, METH_NOARGS, "How many dimensions it has."},
    {"ndimension", call_dim, METH_NOARGS, "How many dimensions it has."},
    {"numel", call_numel, METH_NOARGS, "How many elements it has."},
    {"nelement", call_numel, METH_NOARGS, "How many elements it has."},
    {"storage_offset", call_offset, METH_NOARGS, "Where its first element is in its memory, in elements."},
    {"_whole", call_whole, METH_NOARGS, "The elements of all the memory that it shows a part of, without history."},
    {"data_ptr", call_data_ptr, METH_NOARGS, "The address of its first element."},
    {"element_size", call_element_size, METH_NOARGS, "Bytes of an element."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static const PyType_Slot own_slots[] = {
    {Py_tp_new, tensor_new},     {Py_tp_dealloc, tensor_dealloc}, {Py_tp_traverse, tensor_traverse},
    {Py_tp_clear, tensor_clear}, {Py_tp_repr, tensor_repr},       {Py_tp_hash, tensor_hash},
    {Py_tp_iter, tensor_iter},   {Py_tp_methods, methods},        {Py_tp_getset, getters},
    {Py_tp_members, members},    {Py_sq_length, tensor_length},   {Py_tp_doc, "An array of numbers of one type."}};

enum { MOST_SLOTS = 96 };
static size_t append_slots(PyType_Slot *to, size_t count, const PyType_Slot *from) {
  for (; from->slot && count + 1 < MOST_SLOTS; from++) to[count++] = *from;
  return count;
}

static int add_descriptors(PyTypeObject *type, PyGetSetDef *more, PyMethodDef *functions) {
  for (; more && more->name; more++) {
    PyObject *descriptor = PyDescr_NewGetSet(type, more);
    if (!descriptor || PyObject_SetAttrString((PyObject *)type, more->name, descriptor)) return -1;
    Py_DECREF(descriptor);
  }
  for (; functions && functions->ml_name; functions++) {
    PyObject *descriptor = PyDescr_NewMethod(type, functions);
    if (!descriptor || PyObject_SetAttrString((PyObject *)type, functions->ml_name, descriptor)) return -1;
    Py_DECREF(descriptor);
  }
  return 0;
}

int add_tensor(PyObject *module, ModuleState *state) {
  PyType_Slot slots[MOST_SLOTS] = {{0, NULL}};
  size_t count = 0;
  for (size_t i = 0; i < sizeof own_slots / sizeof *own_slots; i++) slots[count++] = own_slots[i];
  count = append_slots(slots, count, tensor_number_slots);
  count = append_slots(slots, count, tensor_index_slots);
  count = append_slots(slots, count, tensor_memory_slots);
  slots[count] = (PyType_Slot){0, NULL};
  PyType_Spec spec = {"wick.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  state->tensor_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
  if (!state->tensor_type || PyModule_AddType(module, state->tensor_type)) return -1;
  return add_descriptors(state->tensor_type, tensor_autograd_getters, tensor_autograd_methods) ||
                 add_descriptors(state->tensor_type, NULL, tensor_memory_methods)
             ? -1
             : 0;
}
