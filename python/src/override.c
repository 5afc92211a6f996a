/* __torch_function__: calls that have an object which overrides them. Operators ask for it here before they choose an
 * overload, slots of Python's where they begin, and attributes and methods of Tensor where an object of a derived class
 * is asked for them. */
#include "override.h"

#include <string.h>

enum { MAX_DEPTH = 8 };

static _Thread_local bool is_disabled;

bool override_has(const ModuleState *state, const PyTypeObject *type) {
  if (type == state->tensor_type || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) return false;
  PyObject *found = _PyType_Lookup((PyTypeObject *)(uintptr_t)type, state->name_torch_function);
  return found && found != state->no_override;
}

bool override_disable(bool on) {
  bool before = is_disabled;
  is_disabled = on;
  return before;
}

bool override_is_on(const ModuleState *state) {
  return state->has_overrides && !is_disabled;
}

static bool wants(const ModuleState *state, PyObject *object, int depth) {
  if (!PyList_Check(object) && !PyTuple_Check(object)) return override_has(state, Py_TYPE(object));
  for (Py_ssize_t i = 0; depth < MAX_DEPTH && i < PySequence_Fast_GET_SIZE(object); i++)
    if (wants(state, PySequence_Fast_GET_ITEM(object, i), depth + 1)) return true;
  return false;
}
bool override_wanted(const ModuleState *state, PyObject *const *objects, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; i++)
    if (wants(state, objects[i], 0)) return true;
  return false;
}

/* ---- who is asked ---- */

/* Where an object of the type is asked: before the first whose class it derives from; -1: its class is there. */
static Py_ssize_t place_of(PyObject *asked, const PyTypeObject *type) {
  Py_ssize_t count = PyList_GET_SIZE(asked), place = count;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyTypeObject *other = Py_TYPE(PyList_GET_ITEM(asked, i));
    if (other == type) return -1;
    if (place == count && PyType_IsSubtype((PyTypeObject *)(uintptr_t)type, other)) place = i;
  }
  return place;
}

static int ask(const ModuleState *state, PyObject *asked, PyObject *object, int depth) {
  if (PyList_Check(object) || PyTuple_Check(object)) {
    for (Py_ssize_t i = 0; depth < MAX_DEPTH && i < PySequence_Fast_GET_SIZE(object); i++)
      if (ask(state, asked, PySequence_Fast_GET_ITEM(object, i), depth + 1)) return -1;
    return 0;
  }
  if (!override_has(state, Py_TYPE(object))) return 0;
  Py_ssize_t place = place_of(asked, Py_TYPE(object));
  return place < 0 ? 0 : PyList_Insert(asked, place, object);
}

/* The objects that are asked, in order; empty where there is none. */
static PyObject *list_asked(const ModuleState *state, PyObject *const *relevant, Py_ssize_t count) {
  PyObject *asked = PyList_New(0);
  for (Py_ssize_t i = 0; asked && i < count; i++)
    if (ask(state, asked, relevant[i], 0)) Py_CLEAR(asked);
  return asked;
}

static PyObject *types_of(PyObject *asked) {
  PyObject *types = PyTuple_New(PyList_GET_SIZE(asked));
  for (Py_ssize_t i = 0; types && i < PyList_GET_SIZE(asked); i++) {
    PyObject *type = (PyObject *)Py_TYPE(PyList_GET_ITEM(asked, i));
    Py_INCREF(type);
    PyTuple_SET_ITEM(types, i, type);
  }
  return types;
}

/* ---- asking ---- */

static int warn_of_plain_method(PyObject *method, PyObject *object) {
  if (!PyMethod_Check(method) || PyMethod_GET_SELF(method) != object) return 0;
  return PyErr_WarnEx(PyExc_UserWarning,
                      "Defining your `__torch_function__` as a plain method is deprecated and will be an error in "
                      "future, please define it as a classmethod.",
                      1);
}

static PyObject *ask_one(const ModuleState *state, PyObject *object, PyObject *function, PyObject *types,
                         PyObject *args, PyObject *keywords) {
  PyObject *method = PyObject_GetAttr(object, state->name_torch_function), *answer = NULL;
  if (method && !warn_of_plain_method(method, object))
    answer = PyObject_CallFunctionObjArgs(method, function, types, args, keywords ? keywords : Py_None, NULL);
  Py_XDECREF(method);
  return answer;
}

static PyObject *ask_all(const ModuleState *state, PyObject *asked, PyObject *function, PyObject *args,
                         PyObject *keywords, const char *name) {
  PyObject *types = types_of(asked), *answer = NULL;
  for (Py_ssize_t i = 0; types && i < PyList_GET_SIZE(asked); i++) {
    answer = ask_one(state, PyList_GET_ITEM(asked, i), function, types, args, keywords);
    if (answer != Py_NotImplemented) break;
    Py_CLEAR(answer);
  }
  if (types && !answer && !PyErr_Occurred()) {
    PyObject *list = PySequence_List(types);
    if (list)
      PyErr_Format(PyExc_TypeError,
                   "no implementation found for 'torch.%s' on types that implement __torch_function__: %R", name, list);
    Py_XDECREF(list);
  }
  Py_XDECREF(types);
  return answer;
}

PyObject *override_call(ModuleState *state, PyObject *function, PyObject *const *relevant, Py_ssize_t count,
                        PyObject *args, PyObject *keywords, const char *name) {
  PyObject *asked = list_asked(state, relevant, count);
  PyObject *answer = asked ? ask_all(state, asked, function, args, keywords, name) : NULL;
  Py_XDECREF(asked);
  return answer;
}

static PyObject *tuple_of(PyObject *const *objects, Py_ssize_t count) {
  PyObject *tuple = PyTuple_New(count);
  for (Py_ssize_t i = 0; tuple && i < count; i++) {
    Py_INCREF(objects[i]);
    PyTuple_SET_ITEM(tuple, i, objects[i]);
  }
  return tuple;
}

PyObject *override_vector(ModuleState *state, PyObject *function, PyObject *const *values, Py_ssize_t count,
                          PyObject *names, const char *name) {
  Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  PyObject *args = tuple_of(values, count), *keywords = named ? PyDict_New() : NULL, *made = NULL;
  bool failed = !args || (named && !keywords);
  for (Py_ssize_t i = 0; !failed && i < named; i++)
    failed = PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), values[count + i]);
  if (!failed) made = override_call(state, function, values, count + named, args, keywords, name);
  Py_XDECREF(args), Py_XDECREF(keywords);
  return made;
}

/* ---- operators ---- */

PyObject *override_operator(const OperatorObject *self, const CallArguments *call) {
  return override_vector(self->state, (PyObject *)(uintptr_t)self, call->values, call->count, call->names,
                         operator_short_name(self));
}

/* Where no signature fits: objects that are no tensors are asked then, whether or not Tensor has derived classes. */
PyObject *foreign_call(const OperatorObject *self, const CallArguments *call) {
  PyObject *error[3];
  Py_ssize_t count = call->count + (call->names ? PyTuple_GET_SIZE(call->names) : 0);
  if (is_disabled || !PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
  PyErr_Fetch(&error[0], &error[1], &error[2]);
  if (!override_wanted(self->state, call->values, count)) {
    PyErr_Restore(error[0], error[1], error[2]);
    return NULL;
  }
  for (int i = 0; i < 3; i++) Py_XDECREF(error[i]);
  return override_operator(self, call);
}

PyObject *override_slot(ModuleState *state, const char *name, PyObject *const *objects, Py_ssize_t count) {
  char text[64];
  PyObject *function = PyObject_GetAttrString((PyObject *)state->tensor_type, name);
  snprintf(text, sizeof text, "Tensor.%s", name);
  PyObject *made = function ? override_vector(state, function, objects, count, NULL, text) : NULL;
  Py_XDECREF(function);
  return made;
}

/* ---- attributes and methods of Tensor, asked of an object of a derived class ---- */

/* A method of Tensor that asks before it is called. */
typedef struct AskingObject {
  PyObject_HEAD vectorcallfunc call;
  ModuleState *state;
  PyObject *function, *name;
} AskingObject;

static PyObject *call_asking(PyObject *object, PyObject *const *values, size_t count_and_flag, PyObject *names) {
  AskingObject *self = (AskingObject *)object;
  Py_ssize_t count = PyVectorcall_NARGS(count_and_flag), named = names ? PyTuple_GET_SIZE(names) : 0;
  if (!override_is_on(self->state) || !override_wanted(self->state, values, count + named))
    return PyObject_Vectorcall(self->function, values, count_and_flag, names);
  PyObject *text = PyUnicode_FromFormat("Tensor.%U", self->name);
  const char *name = text ? PyUnicode_AsUTF8(text) : NULL;
  PyObject *made = name ? override_vector(self->state, self->function, values, count, names, name) : NULL;
  Py_XDECREF(text);
  return made;
}

static PyObject *asking_attribute(PyObject *object, PyObject *name) { /* what it does not have is the method's */
  PyObject *found = PyObject_GenericGetAttr(object, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_GetAttr(((AskingObject *)object)->function, name);
}
static int asking_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(((AskingObject *)object)->function);
  return 0;
}
static void asking_dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  Py_XDECREF(((AskingObject *)object)->function);
  Py_XDECREF(((AskingObject *)object)->name);
  type->tp_free(object);
  Py_DECREF(type);
}
static PyMemberDef asking_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(AskingObject, call), READONLY, NULL}, {NULL, 0, 0, 0, NULL}};
static PyType_Slot asking_slots[] = {{Py_tp_dealloc, asking_dealloc},    {Py_tp_traverse, asking_traverse},
                                     {Py_tp_call, PyVectorcall_Call},    {Py_tp_members, asking_members},
                                     {Py_tp_getattro, asking_attribute}, {0, NULL}};
static PyType_Spec asking_spec = {
    "wick._C.OverridableMethod", sizeof(AskingObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    asking_slots};

static PyObject *asking_method(ModuleState *state, PyObject *self, PyObject *function, PyObject *name) {
  AskingObject *made = (AskingObject *)state->asking_type->tp_alloc(state->asking_type, 0);
  if (!made) return NULL;
  made->call = call_asking;
  made->state = state;
  Py_INCREF(function), Py_INCREF(name);
  made->function = function;
  made->name = name;
  PyObject *bound = PyMethod_New((PyObject *)made, self);
  Py_DECREF(made);
  return bound;
}

static PyObject *asked_attribute(ModuleState *state, PyObject *self, PyObject *descriptor, PyObject *name) {
  PyObject *getter = PyObject_GetAttrString(descriptor, "__get__"), *made = NULL;
  PyObject *text = getter ? PyUnicode_FromFormat("Tensor.%U.__get__", name) : NULL;
  const char *told = text ? PyUnicode_AsUTF8(text) : NULL;
  if (told) made = override_vector(state, getter, &self, 1, NULL, told);
  Py_XDECREF(text), Py_XDECREF(getter);
  return made;
}

/* Whether the name is one of Python's protocols, or of wick's own. */
static bool is_reserved(PyObject *name) {
  return !PyUnicode_GET_LENGTH(name) || PyUnicode_READ_CHAR(name, 0) == '_';
}

/* Tensor's own, which the derived class has not replaced (borrowed), or NULL. Of reserved names only functions are
 * overridden, of others everything but what changes the class. */
static PyObject *own_of_tensor(const ModuleState *state, PyTypeObject *type, PyObject *name) {
  if (!PyUnicode_Check(name) || !PyUnicode_CompareWithASCIIString(name, "as_subclass")) return NULL;
  PyObject *found = _PyType_Lookup(type, name);
  if (!found || found != _PyType_Lookup(state->tensor_type, name)) return NULL;
  return !is_reserved(name) || PyFunction_Check(found) ? found : NULL;
}

static PyObject *get_attribute(PyObject *self, PyObject *name) {
  ModuleState *state = ((TensorObject *)self)->state;
  PyObject *own =
      override_is_on(state) && override_has(state, Py_TYPE(self)) ? own_of_tensor(state, Py_TYPE(self), name) : NULL;
  if (!own) return PyObject_GenericGetAttr(self, name);
  if (Py_TYPE(own) == &PyGetSetDescr_Type || Py_TYPE(own) == &PyProperty_Type)
    return asked_attribute(state, self, own, name);
  if (Py_TYPE(own) != &PyMethodDescr_Type && !PyFunction_Check(own)) return PyObject_GenericGetAttr(self, name);
  PyObject *attributes = ((TensorObject *)self)->dict;
  if (attributes && PyDict_GetItemWithError(attributes, name)) return PyObject_GenericGetAttr(self, name);
  return PyErr_Occurred() ? NULL : asking_method(state, self, own, name);
}

void override_note(ModuleState *state, PyTypeObject *type) {
  if (!override_has(state, type)) return;
  state->has_overrides = true;
  if (type->tp_getattro != PyObject_GenericGetAttr) return; /* known already, or the class has a __getattr__ */
  type->tp_getattro = get_attribute;
  PyType_Modified(type);
}

/* ---- the module's ---- */

static PyObject *disable(PyObject *module, PyObject *wanted) {
  int on = PyObject_IsTrue(wanted);
  (void)module;
  return on < 0 ? NULL : PyBool_FromLong(override_disable(on));
}

static PyObject *is_enabled(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyBool_FromLong(!is_disabled);
}

static PyObject *call_without(PyObject *module, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"func", "types", "args", "kwargs", NULL};
  PyObject *function, *types, *values = NULL, *named = Py_None;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|OO:_disabled_torch_function_impl", KEYWORDS(names), &function,
                                   &types, &values, &named))
    return NULL;
  PyObject *tuple = values ? PySequence_Tuple(values) : PyTuple_New(0);
  bool before = override_disable(true);
  PyObject *made = tuple ? PyObject_Call(function, tuple, named == Py_None ? NULL : named) : NULL;
  override_disable(before);
  Py_XDECREF(tuple);
  return made;
}

static PyObject *has_torch_function(PyObject *module, PyObject *objects) {
  ModuleState *state = state_of_module(module);
  PyObject *tuple = PySequence_Tuple(objects);
  if (!tuple) return NULL;
  bool has = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
    has = has || override_has(state, Py_TYPE(PyTuple_GET_ITEM(tuple, i)));
  Py_DECREF(tuple);
  return PyBool_FromLong(has && !is_disabled);
}

static PyObject *handle_torch_function(PyObject *module, PyObject *values) {
  PyObject *function, *relevant, *args, *keywords;
  const char *name;
  if (!PyArg_ParseTuple(values, "OOO!O!s:_handle_torch_function", &function, &relevant, &PyTuple_Type, &args,
                        &PyDict_Type, &keywords, &name))
    return NULL;
  PyObject *list = PySequence_List(relevant);
  PyObject *made = list ? override_call(state_of_module(module), function, &PyList_GET_ITEM(list, 0),
                                        PyList_GET_SIZE(list), args, keywords, name)
                        : NULL;
  Py_XDECREF(list);
  return made;
}

static PyMethodDef functions[] = {
    {"_disable_torch_function", disable, METH_O, "Whether this thread's calls are overridden no more; how it was."},
    {"_is_torch_function_enabled", is_enabled, METH_NOARGS, "Whether this thread's calls are overridden."},
    {"_disabled_torch_function_impl", (PyCFunction)(void (*)(void))call_without, METH_VARARGS | METH_KEYWORDS,
     "The __torch_function__ of classes that override nothing: it calls the function."},
    {"_has_torch_function", has_torch_function, METH_O, "Whether one of the objects overrides calls."},
    {"_handle_torch_function", handle_torch_function, METH_VARARGS,
     "_handle_torch_function(func, relevant, args, kwargs, name): the call as the relevant objects make it."},
    {NULL, NULL, 0, NULL}};

int add_override(PyObject *module, ModuleState *state) {
  state->name_torch_function = PyUnicode_InternFromString("__torch_function__");
  state->asking_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &asking_spec, NULL);
  if (!state->name_torch_function || !state->asking_type || PyModule_AddFunctions(module, functions)) return -1;
  state->no_override = PyObject_GetAttrString(module, "_disabled_torch_function_impl");
  return state->no_override ? 0 : -1;
}
