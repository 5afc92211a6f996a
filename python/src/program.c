/* Program: what was compiled or loaded: the functions of a text, or a module; saving, freezing, changing it. */
#include <string.h>

#include "program.h"

#include <structmember.h>

int program_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out) {
  PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
  if (!type) return -1;
  *out = (PyTypeObject *)type;
  const char *dot = strrchr(spec->name, '.');
  return PyObject_SetAttrString(module, dot ? dot + 1 : spec->name, type);
}

PyObject *program_wrap(ModuleState *state, wick_module *module) {
  PyTypeObject *type = programs_of(state)->program_type;
  ProgramObject *made = (ProgramObject *)type->tp_alloc(type, 0);
  if (!made) {
    wick_module_release(module);
    return NULL;
  }
  made->module = module;
  made->state = state;
  return (PyObject *)made;
}

wick_module *program_module(ModuleState *state, PyObject *object) {
  if (Py_TYPE(object) == programs_of(state)->program_type) return ((ProgramObject *)object)->module;
  PyErr_Format(PyExc_TypeError, "a program is expected, not %.200s", Py_TYPE(object)->tp_name);
  return NULL;
}

static wick_module *module_of(PyObject *self) {
  return ((ProgramObject *)self)->module;
}
static ModuleState *own_state(PyObject *self) {
  return ((ProgramObject *)self)->state;
}

/* ---- functions ---- */

static PyObject *program_names(PyObject *self, PyObject *unused) {
  (void)unused;
  size_t count = wick_module_method_count(module_of(self));
  PyObject *names = PyList_New(0);
  for (size_t i = 0; names && i < count; i++) {
    PyObject *name = PyUnicode_FromString(wick_module_method_name(module_of(self), i));
    if (!name || PyList_Append(names, name)) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

static PyObject *program_function(PyObject *self, PyObject *name) {
  wick_function *function;
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  CHECK_WICK(own_state(self), wick_function_of(module_of(self), text, &function, &check_error));
  return method_wrap(own_state(self), function);
}

static PyObject *program_graph(PyObject *self, PyObject *args) {
  const char *name;
  int inlined = 0;
  wick_graph *graph;
  if (!PyArg_ParseTuple(args, "s|p:graph", &name, &inlined)) return NULL;
  CHECK_WICK(own_state(self), wick_graph_of_method(module_of(self), name, inlined, &graph, &check_error));
  return graph_wrap(own_state(self), graph);
}

/* With the hooks of the module around its forward. */
static PyObject *program_call(PyObject *self, PyObject *const *objects, Py_ssize_t count, PyObject *names) {
  Arguments a;
  wick_value *result = NULL;
  wick_error *error = NULL;
  wick_status status = WICK_OK;
  int failed = arguments_read(own_state(self), &a, objects, count, names);
  if (!failed) {
    wick_run_options options = {.size = sizeof options};
    LongCall call;
    call_options(&options);
    long_call_begin(&call, &options);
    status = wick_module_call(module_of(self), (const wick_value *const *)a.values, a.count, a.names, a.named, &options,
                              &result, &error);
    long_call_end(&call);
    if (status) raise_wick(own_state(self), status, error);
  }
  arguments_free(&a);
  if (failed || status) return NULL;
  programs_of(own_state(self))->last_called = self;
  if (!PyErr_Occurred()) return value_to_python(own_state(self), result);
  wick_value_release(result);
  return NULL;
}

/* ---- attributes ---- */

static PyObject *program_get(PyObject *self, PyObject *path) {
  wick_value *value;
  const char *text = PyUnicode_AsUTF8(path);
  if (!text) return NULL;
  CHECK_WICK(own_state(self), wick_module_get(module_of(self), text, &value, &check_error));
  return value_to_python(own_state(self), value);
}

static PyObject *program_set(PyObject *self, PyObject *args) {
  const char *path;
  PyObject *object;
  wick_error *error = NULL;
  if (!PyArg_ParseTuple(args, "sO:set", &path, &object)) return NULL;
  wick_value *value = value_from_python(own_state(self), object);
  if (!value) return NULL;
  wick_status status = wick_module_set(module_of(self), path, value, &error);
  wick_value_release(value);
  if (status) return raise_wick(own_state(self), status, error);
  Py_RETURN_NONE;
}

/* Whether both stand for one module. */
static PyObject *program_is_same(PyObject *self, PyObject *other) {
  wick_module *module = program_module(own_state(self), other);
  wick_value *one = module ? wick_module_object(module_of(self)) : NULL,
             *second = one ? wick_module_object(module) : NULL;
  bool is_same = second && wick_value_identity(one) == wick_value_identity(second);
  wick_value_release(one);
  wick_value_release(second);
  if (module && !second) return PyErr_NoMemory();
  return module ? PyBool_FromLong(is_same) : NULL;
}

/* A submodule as a program of its own. */
static PyObject *program_submodule(PyObject *self, PyObject *name) {
  wick_value *value;
  wick_module *module = NULL;
  wick_error *error = NULL;
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  CHECK_WICK(own_state(self), wick_module_get(module_of(self), text, &value, &check_error));
  wick_status status = wick_module_of_object(value, NULL, &module, &error);
  wick_value_release(value);
  if (status) return raise_wick(own_state(self), status, error);
  return program_wrap(own_state(self), module);
}

typedef struct Listing {
  PyObject *list;
} Listing;
static int list_attribute(void *user, const char *name, uint32_t kind, const char *type, const wick_value *value) {
  Listing *listing = user;
  (void)value;
  if (strchr(name, '.')) return 0;
  PyObject *item = Py_BuildValue("(sIs)", name, (unsigned)kind, type);
  int failed = !item || PyList_Append(listing->list, item);
  Py_XDECREF(item);
  return failed;
}
static PyObject *program_attributes(PyObject *self, PyObject *unused) {
  (void)unused;
  Listing listing = {PyList_New(0)};
  wick_error *error = NULL;
  if (!listing.list) return NULL;
  wick_status status = wick_module_each(module_of(self), list_attribute, &listing, &error);
  if (status) raise_wick(own_state(self), status, error);
  if (!PyErr_Occurred()) return listing.list;
  Py_DECREF(listing.list);
  return NULL;
}

/* An object of a class of the program, of a dict of its attributes: a Program where it is a module. */
static PyObject *program_new_object(PyObject *self, PyObject *args) {
  const char *class_name;
  PyObject *attributes, *key, *item;
  if (!PyArg_ParseTuple(args, "sO!:new_object", &class_name, &PyDict_Type, &attributes)) return NULL;
  size_t most = (size_t)PyDict_Size(attributes), count = 0;
  const char **names = PyMem_Calloc(most + 1, sizeof *names);
  wick_value **values = PyMem_Calloc(most + 1, sizeof *values), *object = NULL;
  wick_error *error = NULL;
  Py_ssize_t position = 0;
  bool failed = !names || !values;
  if (failed) PyErr_NoMemory();
  while (!failed && count < most && PyDict_Next(attributes, &position, &key, &item)) {
    failed = !(names[count] = PyUnicode_AsUTF8(key)) || !(values[count] = value_from_python(own_state(self), item));
    if (!failed) count++;
  }
  if (!failed) {
    wick_status status =
        wick_object_new(module_of(self), class_name, names, (const wick_value *const *)values, count, &object, &error);
    if (status) raise_wick(own_state(self), status, error);
  }
  for (size_t i = 0; values && i < count; i++) wick_value_release(values[i]);
  PyMem_Free(names), PyMem_Free(values);
  if (!object) return NULL;
  wick_module *module = NULL;
  if (wick_module_of_object(object, NULL, &module, NULL)) return value_to_python(own_state(self), object);
  wick_value_release(object);
  return program_wrap(own_state(self), module);
}

static PyObject *program_get_class_name(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(wick_module_class_name(module_of(self)));
}

static PyObject *program_get_class_identity(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromVoidPtr((void *)wick_module_class_identity(module_of(self)));
}

static PyObject *program_hook_count(PyObject *self, PyObject *unused) {
  (void)unused;
  size_t count = 0;
  for (uint32_t kind = WICK_FORWARD_PRE_HOOK; kind <= WICK_FORWARD_HOOK; kind++)
    count += wick_module_hook_count(module_of(self), NULL, kind);
  return PyLong_FromSize_t(count);
}

/* hook_schema(whether it runs after forward, its number). */
static PyObject *program_hook_schema(PyObject *self, PyObject *args) {
  int after;
  Py_ssize_t index;
  char *text;
  if (!PyArg_ParseTuple(args, "pn:hook_schema", &after, &index)) return NULL;
  CHECK_WICK(own_state(self),
             wick_module_hook_schema(module_of(self), NULL, after ? WICK_FORWARD_HOOK : WICK_FORWARD_PRE_HOOK,
                                     (size_t)index, &text, &check_error));
  return text_take(text);
}

/* ---- whole modules ---- */

static PyObject *program_clone(PyObject *self, PyObject *args) {
  int shares = 0;
  wick_module *module;
  if (!PyArg_ParseTuple(args, "|p:clone", &shares)) return NULL;
  CHECK_WICK(own_state(self), wick_module_clone(module_of(self), NULL, shares, &module, &check_error));
  return program_wrap(own_state(self), module);
}

static PyObject *program_freeze(PyObject *self, PyObject *args) {
  PyObject *names;
  int exact = 0, in_training = 0;
  if (!PyArg_ParseTuple(args, "O|pp:freeze", &names, &exact, &in_training)) return NULL;
  PyObject *tuple = PySequence_Tuple(names);
  if (!tuple) return NULL;
  Py_ssize_t count = PyTuple_GET_SIZE(tuple);
  const char **preserved = PyMem_Calloc((size_t)count + 1, sizeof *preserved);
  wick_module *module = NULL;
  wick_error *error = NULL;
  wick_status status = WICK_OK;
  wick_freeze_options options = {.size = sizeof options,
                                 .exact = (uint32_t)exact,
                                 .preserved = preserved,
                                 .preserved_count = (size_t)count,
                                 .in_training = (uint32_t)in_training};
  bool failed = !preserved;
  if (failed) PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count && !failed; i++)
    failed = !(preserved[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple, i)));
  if (!failed) status = wick_module_freeze_with(module_of(self), NULL, &options, &module, &error);
  if (status) raise_wick(own_state(self), status, error);
  PyMem_Free(preserved);
  Py_DECREF(tuple);
  return failed || status ? NULL : program_wrap(own_state(self), module);
}

/* prepare(name, ...): as a call of the method. */
static PyObject *program_prepare(PyObject *self, PyObject *const *objects, Py_ssize_t count, PyObject *names) {
  Arguments a;
  wick_error *error = NULL;
  wick_status status = WICK_OK;
  const char *name = count ? PyUnicode_AsUTF8(objects[0]) : NULL;
  if (!name) return count ? NULL : PyErr_Format(PyExc_TypeError, "prepare(): the name of a method is missing");
  int failed = arguments_read(own_state(self), &a, objects + 1, count - 1, names);
  if (!failed) {
    wick_run_options options;
    LongCall call;
    call_options(&options);
    long_call_begin(&call, &options);
    status = wick_prepare(module_of(self), name, (const wick_value *const *)a.values, a.count, a.names, a.named,
                          &options, &error);
    long_call_end(&call);
    if (status) raise_wick(own_state(self), status, error);
  }
  arguments_free(&a);
  if (failed || status || PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}
static PyObject *program_lower(PyObject *self, PyObject *name) {
  const char *text = PyUnicode_AsUTF8(name);
  wick_graph *graph;
  wick_value *attributes;
  if (!text) return NULL;
  CHECK_WICK(own_state(self), wick_graph_lower(module_of(self), text, &graph, &attributes, &check_error));
  PyObject *lowered = graph_wrap(own_state(self), graph), *values = value_to_python(own_state(self), attributes);
  if (lowered && values) return Py_BuildValue("(NN)", lowered, values);
  Py_XDECREF(lowered);
  Py_XDECREF(values);
  return NULL;
}
static PyObject *program_memory(PyObject *self, PyObject *unused) {
  wick_memory now = {.size = sizeof now};
  (void)unused;
  CHECK_WICK(own_state(self), wick_module_memory(module_of(self), &now, &check_error));
  return memory_dict(&now);
}

static PyObject *program_train(PyObject *self, PyObject *on) {
  int training = PyObject_IsTrue(on);
  if (training < 0) return NULL;
  CHECK_WICK(own_state(self), wick_module_train(module_of(self), training, &check_error));
  Py_RETURN_NONE;
}

static PyObject *program_save(PyObject *self, PyObject *args) {
  PyObject *path;
  const char *entry = NULL;
  wick_error *error = NULL;
  if (!PyArg_ParseTuple(args, "O&|z:save", PyUnicode_FSConverter, &path, &entry)) return NULL;
  wick_status status = wick_module_save(module_of(self), NULL, PyBytes_AS_STRING(path), entry, &error);
  Py_DECREF(path);
  if (status) return raise_wick(own_state(self), status, error);
  Py_RETURN_NONE;
}

static PyObject *program_extra_file(PyObject *self, PyObject *name) {
  size_t length;
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  const char *data = wick_module_extra_file(module_of(self), text, &length);
  if (!data) Py_RETURN_NONE;
  return PyBytes_FromStringAndSize(data, (Py_ssize_t)length);
}

static PyObject *program_set_extra_file(PyObject *self, PyObject *args) {
  const char *name, *data;
  Py_ssize_t length;
  if (!PyArg_ParseTuple(args, "ss#:set_extra_file", &name, &data, &length)) return NULL;
  CHECK_WICK(own_state(self), wick_module_set_extra_file(module_of(self), name, data, (size_t)length, &check_error));
  Py_RETURN_NONE;
}

static int note_operator(void *user, const char *name, size_t calls, int is_known) {
  PyObject *item = Py_BuildValue("(snO)", name, (Py_ssize_t)calls, is_known ? Py_True : Py_False);
  int failed = !item || PyList_Append(user, item);
  Py_XDECREF(item);
  return failed;
}
static PyObject *program_operators(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *list = PyList_New(0);
  wick_error *error = NULL;
  if (!list) return NULL;
  wick_status status = wick_module_each_operator(module_of(self), note_operator, list, &error);
  if (status) raise_wick(own_state(self), status, error);
  if (!PyErr_Occurred()) return list;
  Py_DECREF(list);
  return NULL;
}

/* ---- the class ---- */

static void program_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  ProgramState *programs = programs_of(own_state(self));
  if (programs && programs->last_called == self) programs->last_called = NULL;
  if (((ProgramObject *)self)->weak_references) PyObject_ClearWeakRefs(self);
  wick_module_release(module_of(self));
  type->tp_free(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"names", program_names, METH_NOARGS, "The names of its functions, or methods."},
    {"function", program_function, METH_O, "function(name): a Method."},
    {"prepare", (PyCFunction)(void (*)(void))program_prepare, METH_FASTCALL | METH_KEYWORDS,
     "prepare(name, ...): makes ready what calls with such arguments will want."},
    {"lower", program_lower, METH_O, "lower(name): the graph with attributes as inputs, and what these are."},
    {"memory", program_memory, METH_NOARGS, "Bytes of its weights, plans and packed weights."},
    {"graph", program_graph, METH_VARARGS, "graph(name, inlined=False): a copy of a method's Graph."},
    {"call", (PyCFunction)(void (*)(void))program_call, METH_FASTCALL | METH_KEYWORDS,
     "call(*args, **kwargs): forward, with the module's hooks around it."},
    {"get", program_get, METH_O, "get(path): an attribute."},
    {"set", program_set, METH_VARARGS, "set(path, value)"},
    {"is_same", program_is_same, METH_O, "is_same(program): whether both stand for one module."},
    {"submodule", program_submodule, METH_O, "submodule(path): a Program."},
    {"attributes", program_attributes, METH_NOARGS, "(name, kind, type) of each attribute of the module itself."},
    {"new_object", program_new_object, METH_VARARGS, "new_object(class_name, attributes): of a class of the program."},
    {"hook_count", program_hook_count, METH_NOARGS, "How many hooks run when the module is called."},
    {"hook_schema", program_hook_schema, METH_VARARGS, "hook_schema(after forward, number)"},
    {"clone", program_clone, METH_VARARGS, "clone(share_tensors=False)"},
    {"freeze", program_freeze, METH_VARARGS,
     "freeze(preserved, exact, in_training): a new module with its attributes as constants."},
    {"train", program_train, METH_O, "train(on)"},
    {"save", program_save, METH_VARARGS, "save(path, entry=None)"},
    {"extra_file", program_extra_file, METH_O, "extra_file(name): bytes, or None."},
    {"set_extra_file", program_set_extra_file, METH_VARARGS, "set_extra_file(name, data)"},
    {"operators", program_operators, METH_NOARGS, "(name, calls, is_known) of each operator that it calls."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef getters[] = {
    {"class_identity", program_get_class_identity, NULL, "A number that is the same for modules of one class.", NULL},
    {"class_name", program_get_class_name, NULL, "Of a module's class; \"\" for a compiled text.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ProgramObject, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, program_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {Py_tp_members, members},
                              {Py_tp_doc, "What was compiled or loaded: functions of a text, or a module."},
                              {0, NULL}};
static PyType_Spec spec = {"wick._C.Program", sizeof(ProgramObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

/* ---- loading ---- */

/* load(path or bytes, device_map=None, is_mapped=False) */
static PyObject *load(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"from",        "device_map", "is_mapped",     "allow_ops",     "max_bytes",
                                      "deadline_ns", "max_steps",  "share_weights", "torch_version", NULL};
  PyObject *from;
  const char *torch = NULL;
  int is_mapped = 0, share = 0;
  unsigned long long bytes = 0, deadline = 0, steps = 0;
  ModuleState *state = state_of_module(self);
  wick_module *module = NULL;
  wick_error *error = NULL;
  wick_status status;
  wick_load_options options = {.size = sizeof options};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|zpzKKKpz:load", KEYWORDS(names), &from, &options.device_map,
                                   &is_mapped, &options.allow_ops, &bytes, &deadline, &steps, &share, &torch))
    return NULL;
  if (torch) CHECK_WICK(state, wick_torch_version_named(torch, &options.torch_version, &check_error));
  options.mode = is_mapped ? WICK_LOAD_MAP : WICK_LOAD_READ;
  options.max_bytes = bytes;
  options.deadline_ns = deadline;
  options.max_steps = steps;
  options.share_weights = (uint32_t)share;
  if (PyBytes_Check(from)) {
    status = wick_load_memory(NULL, PyBytes_AS_STRING(from), (size_t)PyBytes_GET_SIZE(from), &options, &module, &error);
  } else {
    PyObject *path;
    if (!PyUnicode_FSConverter(from, &path)) return NULL;
    status = wick_load(NULL, PyBytes_AS_STRING(path), &options, &module, &error);
    Py_DECREF(path);
  }
  return status ? raise_wick(state, status, error) : program_wrap(state, module);
}

/* ---- what programs print, on any thread: to sys.stdout and to Python's warnings ---- */

static void print_text(void *user, const char *text, size_t length) {
  const ModuleState *state = user;
  Entered entered;
  PyObject *kind, *value, *place;
  if (!python_enter(state->interpreter, &entered)) return;
  PyErr_Fetch(&kind, &value, &place);
  PyObject *stream = PySys_GetObject("stdout"); /* borrowed; print() writes nowhere where it is None */
  PyObject *data =
      stream && stream != Py_None ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "surrogateescape") : NULL;
  bool failed = data && PyFile_WriteObject(data, stream, Py_PRINT_RAW);
  Py_XDECREF(data);
  if (failed && (kind || !python_goes_on(&entered))) PyErr_WriteUnraisable(stream);
  if (kind || !failed) PyErr_Restore(kind, value, place);
  python_leave(&entered);
}

/* A warning that is made an error is raised when the call returns. */
static void warn_text(void *user, const char *message) {
  const ModuleState *state = user;
  Entered entered;
  if (!python_enter(state->interpreter, &entered)) return;
  if (!PyErr_Occurred() && PyErr_WarnEx(PyExc_UserWarning, message, 1) && !python_goes_on(&entered))
    PyErr_WriteUnraisable(NULL);
  python_leave(&entered);
}

/* Programs of the process have one output: that of the interpreter that imported wick last. Under the GIL. */
static ModuleState *output_owner;

void take_output(ModuleState *state) {
  output_owner = state;
  wick_runtime_set_output(NULL, print_text, warn_text, state);
}
void leave_output(const ModuleState *state) {
  if (output_owner != state) return;
  output_owner = NULL;
  wick_runtime_set_output(NULL, NULL, NULL, NULL);
}

static PyObject *last_called(PyObject *self, PyObject *unused) {
  PyObject *last = programs_of(state_of_module(self))->last_called;
  (void)unused;
  if (!last) Py_RETURN_NONE;
  Py_INCREF(last);
  return last;
}

static PyObject *operator_exists(PyObject *self, PyObject *name) {
  (void)self;
  const char *text = PyUnicode_AsUTF8(name);
  return text ? PyBool_FromLong(wick_op_exists(text)) : NULL;
}

PyMethodDef program_functions[] = {
    {"load_program", (PyCFunction)(void (*)(void))load, METH_VARARGS | METH_KEYWORDS,
     "load_program(path or bytes, device_map=None, is_mapped=False, allow_ops=None, max_bytes=0, deadline_ns=0, "
     "max_steps=0, share_weights=False): a Program."},
    {"last_called", last_called, METH_NOARGS,
     "The Program or Method that was called last and is still there, or None."},
    {"operator_exists", operator_exists, METH_O, "operator_exists(\"aten::add\")"},
    {NULL, NULL, 0, NULL}};

int add_program_class(PyObject *module, ModuleState *state) {
  return program_add_type(module, &spec, &programs_of(state)->program_type);
}
