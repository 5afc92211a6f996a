/* Objects that are no tensors and stand for some: where no signature of an operator takes the arguments, one that has
 * __torch_function__ is asked to make the call. Whatever fits a signature never comes here. */
#include "operator.h"

enum { MAX_DEPTH = 8 };

/* Adds the types that override to the list, each once, and finds the first object of them (borrowed). -1: an error. */
static int find_overriding(PyObject *object, PyObject *types, PyObject **first, int depth) {
  PyTypeObject *type = Py_TYPE(object);
  if (depth < MAX_DEPTH && (PyList_CheckExact(object) || PyTuple_CheckExact(object))) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); i++)
      if (find_overriding(PySequence_Fast_GET_ITEM(object, i), types, first, depth + 1)) return -1;
    return 0;
  }
  if (!PyObject_HasAttrString((PyObject *)type, "__torch_function__")) return 0;
  int known = PySequence_Contains(types, (PyObject *)type);
  if (!*first) *first = object;
  return known ? (known < 0 ? -1 : 0) : PyList_Append(types, (PyObject *)type);
}

static PyObject *arguments_of(const CallArguments *call) {
  PyObject *tuple = PyTuple_New(call->count);
  for (Py_ssize_t i = 0; tuple && i < call->count; i++) {
    Py_INCREF(call->values[i]);
    PyTuple_SET_ITEM(tuple, i, call->values[i]);
  }
  return tuple;
}
static PyObject *keywords_of(const CallArguments *call) {
  PyObject *dict = PyDict_New();
  for (Py_ssize_t i = 0; dict && call->names && i < PyTuple_GET_SIZE(call->names); i++)
    if (PyDict_SetItem(dict, PyTuple_GET_ITEM(call->names, i), call->values[call->count + i])) Py_CLEAR(dict);
  return dict;
}

PyObject *foreign_call(const OperatorObject *self, const CallArguments *call) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
  PyObject *error[3], *first = NULL, *made = NULL, *types = NULL;
  PyErr_Fetch(&error[0], &error[1], &error[2]);
  Py_ssize_t count = call->count + (call->names ? PyTuple_GET_SIZE(call->names) : 0);
  types = PyList_New(0);
  for (Py_ssize_t i = 0; types && i < count; i++)
    if (find_overriding(call->values[i], types, &first, 0)) Py_CLEAR(types);
  if (types && !first) {
    Py_DECREF(types);
    PyErr_Restore(error[0], error[1], error[2]);
    return NULL;
  }
  for (int i = 0; i < 3; i++) Py_XDECREF(error[i]);
  PyObject *arguments = types ? arguments_of(call) : NULL, *keywords = arguments ? keywords_of(call) : NULL;
  PyObject *tuple = keywords ? PyList_AsTuple(types) : NULL;
  if (tuple)
    made = PyObject_CallMethod(first, "__torch_function__", "OOOO", (PyObject *)self, tuple, arguments, keywords);
  Py_XDECREF(tuple);
  Py_XDECREF(keywords);
  Py_XDECREF(arguments);
  Py_XDECREF(types);
  if (made == Py_NotImplemented) {
    Py_DECREF(made);
    return PyErr_Format(PyExc_TypeError, "no implementation found for '%U' on the types of its arguments", self->name);
  }
  return made;
}
