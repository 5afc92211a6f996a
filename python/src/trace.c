/* Traces: the functions of wick/trace.h for wick.jit._trace, and what Tensor asks while a trace is on. */
#include <string.h>

#include "program.h"
#include "trace.h"

/* What a trace of this thread needs of Python; ended with it. */
typedef struct Trace {
  ModuleState *state;
  PyObject *warn; /* called with a kind and a message */
  PyObject *file; /* what the place points into; until the next is asked for */
  PyObject *name;
} Trace;
/* A thread has one trace at a time. */
static _Thread_local Trace *current;

/* ---- callbacks: the GIL may have been given away ---- */

static void on_warning(void *user, uint32_t kind, const char *message) {
  Trace *trace = user;
  Entered entered;
  if (!python_enter(trace->state->interpreter, &entered)) return;
  PyObject *kind_of, *value, *place;
  PyErr_Fetch(&kind_of, &value, &place);
  PyObject *done = PyObject_CallFunction(trace->warn, "Is", (unsigned)kind, message);
  if (!done) PyErr_WriteUnraisable(trace->warn);
  Py_XDECREF(done);
  PyErr_Restore(kind_of, value, place);
  python_leave(&entered);
}

/* The innermost frame of Python: a new reference, or NULL. */
static PyObject *frame_now(void) {
  PyFrameObject *frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  return (PyObject *)frame;
}

static int on_place(void *user, wick_trace_place *out) {
  Trace *trace = user;
  Entered entered;
  if (!python_enter(trace->state->interpreter, &entered)) return 0;
  PyObject *frame = frame_now();
  PyCodeObject *code = frame ? PyFrame_GetCode((PyFrameObject *)frame) : NULL;
  if (code) {
    Py_INCREF(code->co_filename);
    Py_XSETREF(trace->file, code->co_filename);
    out->file = PyUnicode_AsUTF8(trace->file);
    out->line = (uint32_t)PyFrame_GetLineNumber((PyFrameObject *)frame);
  }
  PyErr_Clear();
  Py_XDECREF(code);
  Py_XDECREF(frame);
  python_leave(&entered);
  return out->file != NULL;
}

/* The local variable of the innermost frame that holds the tensor. */
static const char *find_name(Trace *trace, PyObject *locals, const wick_value *tensor) {
  PyObject *items = locals ? PyMapping_Items(locals) : NULL;
  const void *identity = wick_value_identity(tensor);
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items); i++) {
    PyObject *pair = PyList_GET_ITEM(items, i), *name = PyTuple_GET_ITEM(pair, 0), *value = PyTuple_GET_ITEM(pair, 1);
    if (!is_tensor(trace->state, value) || wick_value_identity(tensor_value(value)) != identity) continue;
    if (!PyUnicode_Check(name) || !PyUnicode_CompareWithASCIIString(name, "self")) continue;
    Py_INCREF(name);
    Py_XSETREF(trace->name, name);
    Py_DECREF(items);
    return PyUnicode_AsUTF8(name);
  }
  Py_XDECREF(items);
  return NULL;
}

static const char *on_name(void *user, const wick_value *tensor) {
  Entered entered;
  if (!python_enter(((Trace *)user)->state->interpreter, &entered)) return NULL;
  PyObject *frame = frame_now(), *locals = frame ? PyObject_GetAttrString(frame, "f_locals") : NULL;
  const char *name = find_name(user, locals, tensor);
  PyErr_Clear();
  Py_XDECREF(locals);
  Py_XDECREF(frame);
  python_leave(&entered);
  return name;
}

/* ---- begin and end ---- */

static void trace_free(Trace *trace) {
  if (!trace) return;
  Py_XDECREF(trace->warn);
  Py_XDECREF(trace->file);
  Py_XDECREF(trace->name);
  PyMem_Free(trace);
}

static PyObject *begin_with(ModuleState *state, wick_trace_options *options, PyObject *inputs) {
  Py_ssize_t count = PyTuple_GET_SIZE(inputs);
  wick_value **values = PyMem_Calloc((size_t)count * 2 + 1, sizeof *values), **out = values + count;
  PyObject *result = NULL;
  if (!values) return PyErr_NoMemory();
  bool complete = true;
  for (Py_ssize_t i = 0; i < count && complete; i++)
    complete = (values[i] = value_from_python(state, PyTuple_GET_ITEM(inputs, i))) != NULL;
  if (complete) {
    wick_error *error = NULL;
    wick_status status = wick_trace_begin(NULL, options, (const wick_value *const *)values, (size_t)count, out, &error);
    if (status)
      raise_wick(state, status, error);
    else
      result = PyTuple_New(count);
    if (!status && !result) wick_trace_abort();
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *item = NULL;
    if (result && wick_value_kind(out[i]) == WICK_TENSOR && is_tensor(state, PyTuple_GET_ITEM(inputs, i)) &&
        wick_value_identity(out[i]) == wick_value_identity(values[i])) { /* the same object of Python's */
      item = PyTuple_GET_ITEM(inputs, i);
      Py_INCREF(item);
      wick_value_release(out[i]);
    } else if (result) {
      item = value_to_python(state, out[i]);
    } else {
      wick_value_release(out[i]);
    }
    wick_value_release(values[i]);
    if (result && !item) {
      wick_trace_abort();
      Py_CLEAR(result);
    } else if (result) {
      PyTuple_SET_ITEM(result, i, item);
    }
  }
  PyMem_Free(values);
  return result;
}

/* (inputs, name, names of inputs or None, Program or None, lenient, warn, outplace) -> what stands for the inputs */
static PyObject *begin(PyObject *module, PyObject *args) {
  ModuleState *state = state_of_module(module);
  PyObject *inputs, *names, *program, *warn;
  const char *name, *few[64], **input_names = few;
  int lenient, outplace;
  if (!PyArg_ParseTuple(args, "O!sOOpOp:_trace_begin", &PyTuple_Type, &inputs, &name, &names, &program, &lenient, &warn,
                        &outplace))
    return NULL;
  if (current) return PyErr_Format(PyExc_RuntimeError, "Tracing can't be nested");
  wick_trace_options options = {.size = sizeof options,
                                .lenient = (uint32_t)lenient,
                                .outplace = (uint32_t)outplace,
                                .name = name,
                                .warn = on_warning,
                                .place = on_place,
                                .name_of = on_name};
  if (program != Py_None && !(options.module = program_module(state, program))) return NULL;
  Py_ssize_t count = PyTuple_GET_SIZE(inputs);
  if (PyTuple_Check(names) && PyTuple_GET_SIZE(names) == count) {
    if (count > 64 && !(input_names = PyMem_Calloc((size_t)count, sizeof *input_names))) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++)
      input_names[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
    options.input_names = input_names;
  }
  Trace *trace = PyErr_Occurred() ? NULL : PyMem_Calloc(1, sizeof *trace);
  PyObject *result = NULL;
  if (trace) {
    Py_INCREF(warn);
    *trace = (Trace){.state = state, .warn = warn};
    options.user = trace;
    result = begin_with(state, &options, inputs);
  } else if (!PyErr_Occurred()) {
    PyErr_NoMemory();
  }
  if (input_names != few) PyMem_Free(input_names);
  if (result)
    current = trace;
  else
    trace_free(trace);
  return result;
}

static void finish(void) {
  Trace *trace = current;
  current = NULL;
  trace_free(trace);
}

static PyObject *end(PyObject *module, PyObject *result) {
  ModuleState *state = state_of_module(module);
  wick_module *made = NULL;
  wick_error *error = NULL;
  if (!current) return PyErr_Format(PyExc_RuntimeError, "this thread does not trace");
  wick_value *value = value_from_python(state, result);
  wick_status status = value ? wick_trace_end(value, &made, &error) : WICK_RUNTIME;
  if (!value) wick_trace_abort();
  finish();
  wick_value_release(value);
  if (!value) return NULL;
  return status ? raise_wick(state, status, error) : program_wrap(state, made);
}

static PyObject *abort_trace(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  if (current) {
    wick_trace_abort();
    finish();
  }
  Py_RETURN_NONE;
}

static PyObject *is_on(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyBool_FromLong(current != NULL);
}
static PyObject *pause_trace(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  wick_trace_pause();
  Py_RETURN_NONE;
}
static PyObject *resume_trace(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  wick_trace_resume();
  Py_RETURN_NONE;
}

/* ---- scopes and forks ---- */

static PyObject *enter(PyObject *module, PyObject *path) {
  const char *text = PyUnicode_AsUTF8(path);
  if (!text) return NULL;
  CHECK_WICK(state_of_module(module), wick_trace_enter(text, &check_error));
  Py_RETURN_NONE;
}
static PyObject *leave(PyObject *module, PyObject *unused) {
  (void)unused;
  CHECK_WICK(state_of_module(module), wick_trace_leave(&check_error));
  Py_RETURN_NONE;
}
static PyObject *begin_fork(PyObject *module, PyObject *unused) {
  (void)unused;
  CHECK_WICK(state_of_module(module), wick_trace_fork(&check_error));
  Py_RETURN_NONE;
}
static PyObject *join_fork(PyObject *module, PyObject *result) {
  ModuleState *state = state_of_module(module);
  wick_value *value = value_from_python(state, result), *future = NULL;
  wick_error *error = NULL;
  if (!value) return NULL;
  wick_status status = wick_trace_join(value, &future, &error);
  wick_value_release(value);
  return status ? raise_wick(state, status, error) : value_to_python(state, future);
}
static PyObject *wait_for(PyObject *module, PyObject *object) {
  ModuleState *state = state_of_module(module);
  wick_value *future = value_from_python(state, object), *result = NULL;
  wick_error *error = NULL;
  if (!future) return NULL;
  wick_status status = wick_trace_wait(future, &result, &error);
  wick_value_release(future);
  return status ? raise_wick(state, status, error) : value_to_python(state, result);
}

/* ---- what Tensor asks ---- */

PyObject *trace_size_object(PyObject *tensor, int64_t dim) {
  ModuleState *state = ((TensorObject *)tensor)->state;
  wick_value *size;
  CHECK_WICK(state, wick_trace_size(tensor_value(tensor), dim, &size, &check_error));
  return tensor_wrap(state, size);
}

PyObject *trace_numel_object(PyObject *tensor) {
  ModuleState *state = ((TensorObject *)tensor)->state;
  wick_value *count;
  CHECK_WICK(state, wick_trace_numel(tensor_value(tensor), &count, &check_error));
  return tensor_wrap(state, count);
}

PyObject *trace_shape_object(PyObject *tensor, int ndim) {
  PyObject *sizes = PyTuple_New(ndim);
  for (int i = 0; sizes && i < ndim; i++) {
    PyObject *size = trace_size_object(tensor, i);
    if (!size)
      Py_CLEAR(sizes);
    else
      PyTuple_SET_ITEM(sizes, i, size);
  }
  return sizes;
}

int trace_warn_python(const char *what) {
  Trace *trace = current;
  if (!trace) return 0;
  PyObject *done = PyObject_CallFunction(trace->warn, "Is", 0u, what);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

static PyMethodDef functions[] = {{"_trace_begin", begin, METH_VARARGS, NULL},
                                  {"_trace_end", end, METH_O, NULL},
                                  {"_trace_abort", abort_trace, METH_NOARGS, NULL},
                                  {"_trace_is_on", is_on, METH_NOARGS, NULL},
                                  {"_trace_pause", pause_trace, METH_NOARGS, NULL},
                                  {"_trace_resume", resume_trace, METH_NOARGS, NULL},
                                  {"_trace_enter", enter, METH_O, NULL},
                                  {"_trace_leave", leave, METH_NOARGS, NULL},
                                  {"_trace_fork", begin_fork, METH_NOARGS, NULL},
                                  {"_trace_join", join_fork, METH_O, NULL},
                                  {"_trace_wait", wait_for, METH_O, NULL},
                                  {NULL, NULL, 0, NULL}};

int add_trace(PyObject *module, ModuleState *state) {
  (void)state;
  return PyModule_AddFunctions(module, functions);
}
