/* Functions of Python as operators, which programs call with the GIL taken. */
#include <string.h>

#include "program.h"

typedef struct ForeignFunction { /* of the process, as operators are; the interpreter may end before it */
  ModuleState *state;            /* NULL: it is over */
  PyObject *callable;
  size_t results;
  struct ForeignFunction *next; /* of the same module */
} ForeignFunction;

/* In a thread of Python's the exception stays raised, and goes on where the program was called. */
static wick_status fail(bool is_pythons, wick_error **error) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject *text = value ? PyUnicode_FromFormat("%s: %S", Py_TYPE(value)->tp_name, value) : NULL;
  const char *message = text ? PyUnicode_AsUTF8(text) : NULL;
  *error = wick_error_new(WICK_RUNTIME, message ? message : "a function of Python failed");
  Py_XDECREF(text);
  if (is_pythons) {
    PyErr_Restore(type, value, trace);
  } else {
    Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
    PyErr_Clear();
  }
  return WICK_RUNTIME;
}

static int set_result(const ForeignFunction *f, wick_call *call, size_t index, PyObject *object) {
  wick_value *value = value_from_python(f->state, object);
  if (!value) return -1;
  wick_call_set_result(call, index, value);
  wick_value_release(value);
  return 0;
}

static int call_function(const ForeignFunction *f, wick_call *call) {
  size_t count = wick_call_argument_count(call);
  PyObject *arguments = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; arguments && i < count; i++) {
    PyObject *argument = value_to_python(f->state, wick_call_argument(call, i));
    if (!argument)
      Py_CLEAR(arguments);
    else
      PyTuple_SET_ITEM(arguments, (Py_ssize_t)i, argument);
  }
  PyObject *result = arguments ? PyObject_Call(f->callable, arguments, NULL) : NULL;
  int failed = !result || (f->results && set_result(f, call, 0, result));
  Py_XDECREF(arguments);
  Py_XDECREF(result);
  return failed;
}

static wick_status run(void *user, wick_call *call, wick_error **error) {
  ForeignFunction *f = user;
  Entered entered;
  if (!f->state || !python_enter(f->state->interpreter, &entered)) {
    *error = wick_error_new(WICK_RUNTIME, "the interpreter that has the function is over");
    return WICK_RUNTIME;
  }
  bool grad = grad_set_enabled(wick_call_grad_is_enabled(call));
  wick_status status = call_function(f, call) ? fail(python_goes_on(&entered), error) : WICK_OK;
  grad_set_enabled(grad);
  python_leave(&entered);
  return status;
}

void clear_foreign_functions(ProgramState *programs) {
  for (ForeignFunction *f = programs->functions; f; f = f->next) {
    f->state = NULL;
    Py_CLEAR(f->callable);
  }
  programs->functions = NULL;
}

static PyObject *register_operator(PyObject *self, PyObject *args) {
  const char *schema;
  PyObject *callable;
  int results;
  ModuleState *state = state_of_module(self);
  if (!PyArg_ParseTuple(args, "sOp:register_operator", &schema, &callable, &results)) return NULL;
  ForeignFunction *f = PyMem_Malloc(sizeof *f);
  if (!f) return PyErr_NoMemory();
  Py_INCREF(callable);
  *f = (ForeignFunction){state, callable, (size_t)results, NULL};
  wick_operator operator= {.size = sizeof operator,
                           .flags = WICK_OPERATOR_NONDETERMINISTIC | WICK_OPERATOR_SIDE_EFFECTS |
                           WICK_OPERATOR_COMPOSITE | WICK_OPERATOR_TAKES_UNDEFINED | WICK_OPERATOR_RETURNS_ARGUMENT,
                           .schema = schema,
                           .kernel = run,
                           .user = f};
  wick_error *error = NULL;
  wick_status status = wick_operators_register(&operator, 1, &error);
  if (!status) {
    f->next = programs_of(state)->functions;
    programs_of(state)->functions = f;
    Py_RETURN_NONE;
  }
  Py_DECREF(callable);
  PyMem_Free(f);
  return raise_wick(state, status, error);
}

PyMethodDef foreign_methods[] = {
    {"register_operator", register_operator, METH_VARARGS,
     "register_operator(schema, callable, has_result): an operator for the rest of the process that calls it."},
    {NULL, NULL, 0, NULL}};
