/* wick's errors as Python's. */
#include <string.h>

#include "py_wick.h"

static PyObject *class_named(const char *name) {
  PyObject *builtins = PyEval_GetBuiltins(); /* borrowed */
  PyObject *found = builtins ? PyDict_GetItemString(builtins, name) : NULL;
  return found && PyExceptionClass_Check(found) ? found : NULL;
}

static PyObject *class_of(wick_status status, const wick_error *error) {
  const char *named = wick_error_exception(error);
  PyObject *found = *named ? class_named(named) : NULL;
  if (found) return found;
  switch (status) {
    case WICK_OUT_OF_MEMORY:
      return PyExc_MemoryError;
    case WICK_CANCELLED:
      return PyExc_KeyboardInterrupt;
    case WICK_DEADLINE:
      return PyExc_TimeoutError;
    case WICK_UNSUPPORTED:
      return PyExc_NotImplementedError;
    case WICK_IO:
      return PyExc_OSError;
    default:
      return PyExc_RuntimeError;
  }
}

/* What an operator says of itself, "aten::add: ", is not in PyTorch's messages of eager calls. */
static const char *without_operator(const char *message) {
  const char *colon = strstr(message, ": ");
  if (strncmp(message, "aten::", 6) != 0 || !colon) return message;
  for (const char *c = message; c < colon; c++)
    if (*c == ' ' || *c == '(') return message;
  return colon + 2;
}

static PyObject *raise_as(wick_status status, wick_error *error, bool shows_trace) {
  if (!PyErr_Occurred()) {
    const char *message = wick_error_message(error), *trace = wick_error_trace(error);
    if (*trace && shows_trace)
      PyErr_Format(class_of(status, error), "%s\n%s", trace, message);
    else
      PyErr_SetString(class_of(status, error), without_operator(message));
  }
  wick_error_free(error);
  return NULL;
}

PyObject *raise_wick(ModuleState *state, wick_status status, wick_error *error) {
  (void)state;
  return raise_as(status, error, true);
}
PyObject *raise_operator(ModuleState *state, wick_status status, wick_error *error) {
  (void)state;
  return raise_as(status, error, false);
}
