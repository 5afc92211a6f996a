/* wick's errors as Python's. */
#include <string.h>

#include "py_wick.h"

static PyObject *class_named(const char *name) {
  PyObject *builtins = PyEval_GetBuiltins(); /* borrowed */
  PyObject *found = builtins ? PyDict_GetItemString(builtins, name) : NULL;
  return found && PyExceptionClass_Check(found) ? found : NULL;
}

static PyObject *class_of(const ModuleState *state, wick_status status, const wick_error *error) {
  if (status == WICK_CANCELLED) return limits_cancel() ? state->cancelled : PyExc_KeyboardInterrupt;
  if (status == WICK_DEADLINE) return PyExc_TimeoutError;
  const char *named = wick_error_exception(error);
  PyObject *found = *named ? class_named(named) : NULL;
  if (found) return found;
  switch (status) {
    case WICK_OUT_OF_MEMORY:
      return PyExc_MemoryError;
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

/* What a program raises is wick.jit.Error, a RuntimeError, and what the program says, too. Borrowed. */
static PyObject *class_in_program(ModuleState *state, PyObject *class) {
  if (class == PyExc_RuntimeError) return state->program_error;
  if (!PyType_IsSubtype((PyTypeObject *)class, (PyTypeObject *)PyExc_Exception) || class == PyExc_MemoryError ||
      class == PyExc_TimeoutError || class == state->cancelled)
    return class;
  PyObject *known = PyDict_GetItemWithError(state->program_errors, class);
  if (known || PyErr_Occurred()) return known;
  PyObject *made = PyObject_CallFunction((PyObject *)&PyType_Type, "s(OO){ss}", ((PyTypeObject *)class)->tp_name,
                                         state->program_error, class, "__module__", "wick.jit");
  if (!made && PyErr_ExceptionMatches(PyExc_TypeError)) { /* memory of its own: can't be both */
    PyErr_Clear();
    Py_INCREF(class);
    made = class;
  }
  if (made && PyDict_SetItem(state->program_errors, class, made)) Py_CLEAR(made);
  Py_XDECREF(made); /* the dict holds it */
  return made;
}

/* The last line of a program's error as PyTorch has it: "builtins.ValueError: no" of what the program raised by a
 * class, "RuntimeError: no" of all else. */
static void raise_in_program(PyObject *class, wick_status status, const wick_error *error) {
  const char *message = wick_error_message(error), *trace = wick_error_trace(error),
             *named = wick_error_exception(error);
  /* an assertion names its class in the message alone */
  bool is_plain = status != WICK_RAISED || !*named || strncmp(message, "AssertionError", 14) == 0;
  const char *module = is_plain || strchr(named, '.') ? "" : "builtins.";
  const char *between = status != WICK_RAISED && strcmp(named, "KeyError") == 0 ? "KeyError: " : "";
  size_t length = strlen(trace);
  if (strncmp(trace, "Traceback", 9) != 0) { /* of compiling: where what can't be compiled is called */
    PyErr_Format(class, "%s%s%s", message, *message && message[strlen(message) - 1] == '\n' ? "" : "\n", trace);
    return;
  }
  PyErr_Format(class, "The following operation failed in the TorchScript interpreter.\n%s%s%s%s: %s%s", trace,
               length && trace[length - 1] != '\n' ? "\n" : "", module, is_plain ? "RuntimeError" : named, between,
               message);
}

static PyObject *raise_as(ModuleState *state, wick_status status, wick_error *error, bool shows_trace) {
  if (!PyErr_Occurred()) {
    PyObject *class = class_of(state, status, error);
    if (*wick_error_trace(error) && shows_trace && (class = class_in_program(state, class)))
      raise_in_program(class, status, error);
    else if (class)
      PyErr_SetString(class, without_operator(wick_error_message(error)));
  }
  wick_error_free(error);
  return NULL;
}

PyObject *raise_wick(ModuleState *state, wick_status status, wick_error *error) {
  return raise_as(state, status, error, true);
}
PyObject *raise_operator(ModuleState *state, wick_status status, wick_error *error) {
  return raise_as(state, status, error, false);
}

static PyObject *error_text(PyObject *module, PyObject *error) { /* KeyError's own would be a repr */
  (void)module;
  PyObject *arguments = PyObject_GetAttrString(error, "args"), *text = NULL;
  if (arguments && PyTuple_Check(arguments) && PyTuple_GET_SIZE(arguments) == 1)
    text = PyObject_Str(PyTuple_GET_ITEM(arguments, 0));
  else if (arguments)
    text = PyObject_Str(arguments);
  Py_XDECREF(arguments);
  return text;
}
static PyMethodDef text_method = {"__str__", error_text, METH_O, NULL};

int add_errors(PyObject *module, ModuleState *state) {
  PyObject *members = PyDict_New(), *plain = PyCFunction_New(&text_method, NULL);
  PyObject *method = plain ? PyInstanceMethod_New(plain) : NULL;
  if (members && method && !PyDict_SetItemString(members, "__str__", method))
    state->program_error = PyErr_NewExceptionWithDoc("wick.jit.Error", "What a program raised, or failed with.",
                                                     PyExc_RuntimeError, members);
  state->program_errors = PyDict_New();
  state->cancelled =
      PyErr_NewExceptionWithDoc("wick.runtime.Cancelled", "A Cancel was fired.", PyExc_RuntimeError, NULL);
  Py_XDECREF(members);
  Py_XDECREF(plain);
  Py_XDECREF(method);
  if (!state->program_error || !state->program_errors || PyModule_AddObjectRef(module, "Cancelled", state->cancelled))
    return -1;
  return PyModule_AddObjectRef(module, "JITException", state->program_error);
}
