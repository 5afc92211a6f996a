/* autocast: whether this thread is in a region, and what is called in place of an operator there. */
#include "operator.h"

static _Thread_local bool is_on;

bool autocast_is_on(void) {
  return is_on;
}

static PyObject *set_autocast(PyObject *module, PyObject *wanted) {
  int on = PyObject_IsTrue(wanted);
  bool before = is_on;
  (void)module;
  if (on < 0) return NULL;
  is_on = on;
  return PyBool_FromLong(before);
}

static PyObject *autocast_state(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyBool_FromLong(is_on);
}

static PyObject *set_autocast_call(PyObject *module, PyObject *callable) {
  ModuleState *state = state_of_module(module);
  Py_INCREF(callable);
  Py_XSETREF(state->autocast_call, callable);
  Py_RETURN_NONE;
}

PyObject *autocast_call(const OperatorObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names) {
  PyObject *args = PyTuple_New(count), *keywords = PyDict_New(), *made = NULL;
  bool failed = !args || !keywords;
  for (Py_ssize_t i = 0; args && i < count; i++) {
    Py_INCREF(values[i]);
    PyTuple_SET_ITEM(args, i, values[i]);
  }
  for (Py_ssize_t i = 0; !failed && names && i < PyTuple_GET_SIZE(names); i++)
    failed = PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), values[count + i]);
  if (!failed) made = PyObject_CallFunctionObjArgs(self->state->autocast_call, (PyObject *)self, args, keywords, NULL);
  Py_XDECREF(args), Py_XDECREF(keywords);
  return made;
}

static PyMethodDef methods[] = {
    {"_set_autocast", set_autocast, METH_O, "Switches regions of this thread on or off; gives how it was."},
    {"_autocast_is_on", autocast_state, METH_NOARGS, "Whether this thread is in a region."},
    {"_set_autocast_call", set_autocast_call, METH_O, "What is called with (operator, args, kwargs) in regions."},
    {NULL, NULL, 0, NULL}};

int add_autocast(PyObject *module, ModuleState *state) {
  (void)state;
  return PyModule_AddFunctions(module, methods);
}
