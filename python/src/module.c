/* The module wick._C and its state. */
#include <string.h>

#include "py_wick.h"
#include "trace.h"

/* ---- the state ---- */

static struct PyModuleDef definition;

ModuleState *state_of_module(PyObject *module) {
  return PyModule_GetState(module);
}

ModuleState *state_of(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  PyObject *mro = type->tp_mro;
  for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
    PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
    if (!(base->tp_flags & Py_TPFLAGS_HEAPTYPE)) continue;
    PyObject *module = PyType_GetModule(base);
    if (module && PyModule_GetDef(module) == &definition) return PyModule_GetState(module);
    PyErr_Clear();
  }
  PyErr_Format(PyExc_TypeError, "an object of wick's is expected, not %.200s", type->tp_name);
  return NULL;
}

static int intern_names(ModuleState *state) {
  const struct {
    PyObject **name;
    const char *text;
  } all[] = {{&state->name_self, "self"},
             {&state->name_input, "input"},
             {&state->name_out, "out"},
             {&state->name_dim, "dim"},
             {&state->name_axis, "axis"},
             {&state->name_keepdim, "keepdim"},
             {&state->name_keepdims, "keepdims"},
             {&state->name_other, "other"},
             {&state->name_x, "x"},
             {&state->name_x1, "x1"},
             {&state->name_x2, "x2"},
             {&state->name_a, "a"},
             {&state->name_requires_grad, "requires_grad"},
             {&state->name_names, "names"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!(*all[i].name = PyUnicode_InternFromString(all[i].text))) return -1;
  return 0;
}

/* Every object that the state holds besides the numbered ones: where its pointer stands. */
static const size_t objects[] = {
    offsetof(ModuleState, operators),
    offsetof(ModuleState, whole_operators),
    offsetof(ModuleState, autocast_call),
    offsetof(ModuleState, program_error),
    offsetof(ModuleState, program_errors),
    offsetof(ModuleState, cancelled),
    offsetof(ModuleState, cpu),
    offsetof(ModuleState, tensor_type),
    offsetof(ModuleState, dtype_type),
    offsetof(ModuleState, device_type),
    offsetof(ModuleState, layout_type),
    offsetof(ModuleState, memory_format_type),
    offsetof(ModuleState, size_type),
    offsetof(ModuleState, generator_type),
    offsetof(ModuleState, operator_type),
    offsetof(ModuleState, profile_type),
    offsetof(ModuleState, name_self),
    offsetof(ModuleState, name_input),
    offsetof(ModuleState, name_out),
    offsetof(ModuleState, name_dim),
    offsetof(ModuleState, name_axis),
    offsetof(ModuleState, name_keepdim),
    offsetof(ModuleState, name_keepdims),
    offsetof(ModuleState, name_other),
    offsetof(ModuleState, name_x),
    offsetof(ModuleState, name_x1),
    offsetof(ModuleState, name_x2),
    offsetof(ModuleState, name_a),
    offsetof(ModuleState, name_requires_grad),
    offsetof(ModuleState, name_names),
    offsetof(ModuleState, name_torch_function),
    offsetof(ModuleState, no_override),
    offsetof(ModuleState, asking_type),
};
static PyObject **object_at(ModuleState *state, size_t i) {
  return (PyObject **)((char *)state + objects[i]);
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
  ModuleState *state = state_of_module(module);
  for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) Py_VISIT(*object_at(state, i));
  for (int i = 0; i < ARITHMETIC_COUNT; i++) Py_VISIT(state->arithmetic[i]);
  for (int i = 0; i < DTYPE_COUNT; i++) Py_VISIT(state->dtypes[i]);
  for (int i = 0; i < LAYOUT_COUNT; i++) Py_VISIT(state->layouts[i]);
  for (int i = 0; i < MEMORY_FORMAT_COUNT; i++) Py_VISIT(state->memory_formats[i]);
  return traverse_programs(state, visit, arg);
}

static int clear(PyObject *module) {
  ModuleState *state = state_of_module(module);
  for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) Py_CLEAR(*object_at(state, i));
  for (int i = 0; i < ARITHMETIC_COUNT; i++) Py_CLEAR(state->arithmetic[i]);
  for (int i = 0; i < DTYPE_COUNT; i++) Py_CLEAR(state->dtypes[i]);
  for (int i = 0; i < LAYOUT_COUNT; i++) Py_CLEAR(state->layouts[i]);
  for (int i = 0; i < MEMORY_FORMAT_COUNT; i++) Py_CLEAR(state->memory_formats[i]);
  clear_programs(state);
  return 0;
}

static void free_module(void *module) {
  clear(module);
  for (int i = 0; i < KEPT_INTS; i++) wick_value_release(state_of_module(module)->ints[i]);
  PyMem_Free(state_of_module(module)->program_state);
}

/* ---- the module ---- */

static PyObject *get_threads(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyLong_FromLong((long)wick_runtime_threads(NULL));
}
static PyObject *set_threads(PyObject *module, PyObject *number) {
  (void)module;
  long count = PyLong_AsLong(number);
  if (count == -1 && PyErr_Occurred()) return NULL;
  if (count <= 0) return PyErr_Format(PyExc_RuntimeError, "set_num_threads expects a positive integer");
  wick_runtime_set_threads(NULL, (uint32_t)(count > 1024 ? 1024 : count));
  Py_RETURN_NONE;
}
static PyObject *trim(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyLong_FromUnsignedLongLong(wick_trim());
}
static PyObject *default_generator(PyObject *module, PyObject *unused) {
  ModuleState *state = state_of_module(module);
  wick_value *value;
  (void)unused;
  CHECK_WICK(state, wick_generator_default(&value, &check_error));
  return generator_object(state, value);
}
static PyObject *load_value(PyObject *module, PyObject *args) {
  ModuleState *state = state_of_module(module);
  PyObject *bytes;
  wick_load_options options = {.size = sizeof options};
  wick_value *value = NULL;
  wick_error *error = NULL;
  wick_status status;
  if (!PyArg_ParseTuple(args, "O&z", PyUnicode_FSConverter, &bytes, &options.device_map)) return NULL;
  Away away;
  python_away(&away);
  status = wick_load_value(NULL, PyBytes_AS_STRING(bytes), &options, &value, &error);
  python_back(&away);
  Py_DECREF(bytes);
  return status ? raise_wick(state, status, error) : value_to_python(state, value);
}
static PyObject *load_value_memory(PyObject *module, PyObject *args) {
  ModuleState *state = state_of_module(module);
  Py_buffer buffer;
  wick_load_options options = {.size = sizeof options};
  wick_value *value = NULL;
  wick_error *error = NULL;
  if (!PyArg_ParseTuple(args, "y*z", &buffer, &options.device_map)) return NULL;
  wick_status status = wick_load_value_memory(NULL, buffer.buf, (size_t)buffer.len, &options, &value, &error);
  PyBuffer_Release(&buffer);
  return status ? raise_wick(state, status, error) : value_to_python(state, value);
}
static PyObject *save_value(PyObject *module, PyObject *args) {
  ModuleState *state = state_of_module(module);
  PyObject *object, *bytes;
  wick_error *error = NULL;
  wick_status status;
  if (!PyArg_ParseTuple(args, "OO&", &object, PyUnicode_FSConverter, &bytes)) return NULL;
  wick_value *value = value_from_python(state, object);
  if (!value) {
    Py_DECREF(bytes);
    return NULL;
  }
  Away away;
  python_away(&away);
  status = wick_save_value(NULL, value, PyBytes_AS_STRING(bytes), &error);
  python_back(&away);
  wick_value_release(value);
  Py_DECREF(bytes);
  if (status) return raise_wick(state, status, error);
  Py_RETURN_NONE;
}

static PyObject *quantized_engine(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyUnicode_FromString(wick_runtime_quantized_engine(NULL));
}
static PyObject *set_quantized_engine(PyObject *module, PyObject *name) {
  ModuleState *state = state_of_module(module);
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  CHECK_WICK(state, wick_runtime_set_quantized_engine(NULL, text, &check_error));
  Py_RETURN_NONE;
}

static PyObject *torch_version(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyUnicode_FromString(wick_runtime_torch_version(NULL) == WICK_TORCH_2 ? "2" : "1.13");
}
static PyObject *set_torch_version(PyObject *module, PyObject *version) {
  ModuleState *state = state_of_module(module);
  uint32_t number;
  const char *text = PyUnicode_AsUTF8(version);
  if (!text) return NULL;
  CHECK_WICK(state, wick_torch_version_named(text, &number, &check_error));
  CHECK_WICK(state, wick_runtime_set_torch_version(NULL, number, &check_error));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"get_num_threads", get_threads, METH_NOARGS, "How many threads work on one call."},
    {"set_num_threads", set_threads, METH_O, "How many threads work on one call from now on."},
    {"trim", trim, METH_NOARGS, "Gives memory back that is kept for later calls; how many bytes."},
    {"torch_version", torch_version, METH_NOARGS,
     "Whose operators programs and calls mean that do not say: '1.13' or '2' (docs/torch2.md)."},
    {"set_torch_version", set_torch_version, METH_O,
     "Sets torch_version() for later programs and calls: '1.13', '2', '2.14'. Archives say it themselves."},
    {"_default_generator", default_generator, METH_NOARGS, NULL},
    {"_quantized_engine", quantized_engine, METH_NOARGS, NULL},
    {"_set_quantized_engine", set_quantized_engine, METH_O, NULL},
    {"_load_value", load_value, METH_VARARGS, NULL},
    {"_load_value_memory", load_value_memory, METH_VARARGS, NULL},
    {"_save_value", save_value, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

typedef int Adder(PyObject *module, ModuleState *state);
static Adder *const adders[] = {add_errors,   add_values,   add_generator, add_operators, add_tensor,   add_making,
                                add_override, add_autocast, add_profile,   add_autograd,  add_programs, add_trace};

static int execute(PyObject *module) {
  ModuleState *state = state_of_module(module);
  state->interpreter = PyInterpreterState_Get();
  if (intern_names(state)) return -1;
  for (size_t i = 0; i < sizeof adders / sizeof *adders; i++)
    if (adders[i](module, state)) return -1;
  return PyModule_AddStringConstant(module, "__version__", wick_version());
}

/* Interpreters share one GIL: what is the process's (docs/statics.md) has locks of its own, but the thread's grad mode
 * and SIGINT know no interpreter. Without a GIL the module asks for one. */
static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute},
#if PY_VERSION_HEX >= 0x030c0000
                                   {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030d0000
                                   {Py_mod_gil, Py_MOD_GIL_USED},
#endif
                                   {0, NULL}};
static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "wick._C",
    .m_doc = "wick's C API for Python. What is public of it is in the package wick.",
    .m_size = sizeof(ModuleState),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__C(void) {
  return PyModuleDef_Init(&definition);
}
