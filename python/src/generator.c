/* Generator: a sequence of random numbers, which can be seeded, put aside and taken up. */
#include "py_wick.h"

typedef struct GeneratorObject {
  PyObject_HEAD wick_value *value;
} GeneratorObject;

PyObject *generator_object(ModuleState *state, wick_value *value) {
  GeneratorObject *made = (GeneratorObject *)state->generator_type->tp_alloc(state->generator_type, 0);
  if (made)
    made->value = value;
  else
    wick_value_release(value);
  return (PyObject *)made;
}
wick_value *generator_value(ModuleState *state, PyObject *object) {
  return Py_TYPE(object) == state->generator_type ? ((GeneratorObject *)object)->value : NULL;
}

static PyObject *generator_new_object(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"device", NULL};
  PyObject *device = NULL;
  wick_value *value;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:Generator", KEYWORDS(names), &device)) return NULL;
  ModuleState *state = PyType_GetModuleState(type);
  if (device && device != Py_None) {
    PyObject *text = PyObject_Str(device);
    bool is_cpu = text && PyUnicode_CompareWithASCIIString(text, "cpu") == 0;
    Py_XDECREF(text);
    if (!is_cpu) {
      if (!PyErr_Occurred()) PyErr_Format(PyExc_RuntimeError, "generators of device %S are not here", device);
      return NULL;
    }
  }
  CHECK_WICK(state, wick_generator_new(67280421310721u, &value, &check_error));
  return generator_object(state, value);
}
static void generator_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  wick_value_release(((GeneratorObject *)self)->value);
  type->tp_free(self);
  Py_DECREF(type);
}
/* From -2^63 to 2^64 - 1. */
static int seed_of(PyObject *object, uint64_t *out) {
  PyObject *number = PyNumber_Index(object);
  int overflow = 0;
  if (!number) return -1;
  *out = (uint64_t)PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow > 0) *out = PyLong_AsUnsignedLongLong(number);
  if (overflow < 0 || PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "Overflow when unpacking long");
  Py_DECREF(number);
  return PyErr_Occurred() ? -1 : 0;
}
static PyObject *generator_manual_seed(PyObject *self, PyObject *number) {
  ModuleState *state = state_of(self);
  uint64_t seed;
  if (!state || seed_of(number, &seed)) return NULL;
  CHECK_WICK(state, wick_generator_set_seed(((GeneratorObject *)self)->value, seed, &check_error));
  Py_INCREF(self);
  return self;
}
static PyObject *generator_initial_seed(PyObject *self, PyObject *unused) {
  ModuleState *state = state_of(self);
  uint64_t seed;
  (void)unused;
  if (!state) return NULL;
  CHECK_WICK(state, wick_generator_seed(((GeneratorObject *)self)->value, &seed, &check_error));
  return PyLong_FromUnsignedLongLong(seed);
}
static PyObject *generator_seed(PyObject *self, PyObject *unused) {
  uint64_t seed;
  (void)unused;
  PyObject *secrets = PyImport_ImportModule("secrets");
  PyObject *number = secrets ? PyObject_CallMethod(secrets, "randbits", "i", 64) : NULL;
  Py_XDECREF(secrets);
  if (!number) return NULL;
  seed = PyLong_AsUnsignedLongLongMask(number);
  ModuleState *state = state_of(self);
  wick_error *error = NULL;
  wick_status status = state ? wick_generator_set_seed(((GeneratorObject *)self)->value, seed, &error) : WICK_OK;
  if (!state || status) {
    Py_DECREF(number);
    return status ? raise_wick(state, status, error) : NULL;
  }
  return number;
}

/* ---- where its sequence stands: a tensor of bytes, as PyTorch's ---- */

static PyObject *generator_get_state(PyObject *self, PyObject *unused) {
  ModuleState *state = state_of(self);
  const int64_t size = WICK_GENERATOR_STATE_BYTES;
  wick_value *bytes;
  wick_error *error = NULL;
  (void)unused;
  if (!state) return NULL;
  CHECK_WICK(state, wick_tensor_new(WICK_UINT8, 1, &size, &bytes, &check_error));
  wick_status status = wick_generator_state(((GeneratorObject *)self)->value, wick_tensor_mutable_data(bytes), &error);
  if (!status) return tensor_wrap(state, bytes);
  wick_value_release(bytes);
  return raise_wick(state, status, error);
}
static PyObject *generator_set_state(PyObject *self, PyObject *given) {
  ModuleState *state = state_of(self);
  wick_tensor_view view = {.size = sizeof view};
  if (!state) return NULL;
  if (!is_tensor(state, given))
    return PyErr_Format(PyExc_TypeError, "expected a torch.ByteTensor, but got %.200s", Py_TYPE(given)->tp_name);
  PyObject *whole = call_aten(state, "aten::contiguous", &given, 1);
  if (!whole) return NULL;
  wick_error *error = NULL;
  wick_status status = wick_tensor_view_of(tensor_value(whole), &view, &error);
  bool is_bytes = !status && view.dtype == WICK_UINT8;
  if (is_bytes)
    status = wick_generator_set_state(((GeneratorObject *)self)->value, view.data,
                                      (size_t)wick_tensor_count(tensor_value(whole)), &error);
  Py_DECREF(whole);
  if (status) return raise_wick(state, status, error);
  if (!is_bytes) return PyErr_Format(PyExc_TypeError, "RNG state must be a torch.ByteTensor");
  Py_INCREF(self);
  return self;
}

static PyObject *generator_get_device(PyObject *self, void *unused) {
  ModuleState *state = state_of(self);
  (void)unused;
  return state ? device_object(state, "cpu") : NULL;
}
static PyMethodDef generator_methods[] = {
    {"manual_seed", generator_manual_seed, METH_O, "manual_seed(seed): begins anew; gives itself."},
    {"initial_seed", generator_initial_seed, METH_NOARGS, "The seed it began with."},
    {"seed", generator_seed, METH_NOARGS, "Begins anew with a seed nobody knows, and gives it."},
    {"get_state", generator_get_state, METH_NOARGS,
     "Where its sequence stands: a tensor of 5,056 bytes, which torch's generators take up, too."},
    {"set_state", generator_set_state, METH_O, "set_state(state): goes on where get_state was; gives itself."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef generator_getters[] = {{"device", generator_get_device, NULL, NULL, NULL},
                                          {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot generator_slots[] = {{Py_tp_new, generator_new_object},
                                        {Py_tp_dealloc, generator_dealloc},
                                        {Py_tp_methods, generator_methods},
                                        {Py_tp_getset, generator_getters},
                                        {Py_tp_doc, "Generator(device='cpu'): a sequence of random numbers."},
                                        {0, NULL}};
static PyType_Spec generator_spec = {"wick.Generator", sizeof(GeneratorObject), 0, Py_TPFLAGS_DEFAULT, generator_slots};

int add_generator(PyObject *module, ModuleState *state) {
  state->generator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &generator_spec, NULL);
  return state->generator_type && PyModule_AddType(module, state->generator_type) == 0 ? 0 : -1;
}
