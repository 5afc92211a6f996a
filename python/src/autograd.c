/* Gradients: the grad mode of a thread, backward and grad, what tensors know of their gradients, hooks. */
#include <stdlib.h>
#include <string.h>

#include "py_wick.h"

/* ---- grad mode: of each thread, on at first ---- */

static _Thread_local struct { bool grad_off, inference; } mode;

bool grad_set_enabled(bool on) {
  bool before = !mode.grad_off;
  mode.grad_off = !on;
  return before;
}
bool grad_is_enabled(void) {
  return !mode.grad_off;
}

void call_options(wick_run_options *options) {
  limits_fill(options);
  options->grad = mode.grad_off ? WICK_GRAD_OFF : WICK_GRAD_ON;
  if (!options->profile) options->profile = profile_of_thread();
}

static PyObject *set_grad_enabled(PyObject *module, PyObject *wanted) {
  int on = PyObject_IsTrue(wanted);
  (void)module;
  if (on < 0) return NULL;
  mode.grad_off = !on;
  Py_RETURN_NONE;
}
static PyObject *is_grad_enabled(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyBool_FromLong(!mode.grad_off);
}
static PyObject *set_inference_mode(PyObject *module, PyObject *wanted) {
  int on = PyObject_IsTrue(wanted);
  (void)module;
  if (on < 0) return NULL;
  mode.inference = on;
  Py_RETURN_NONE;
}
static PyObject *is_inference_mode(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyBool_FromLong(mode.inference);
}

/* ---- backward and grad ---- */

/* Tensors of a tuple, each retained; None is NULL where that is allowed. NULL with an error. */
static wick_value **take_tensors(ModuleState *state, PyObject *tuple, bool may_lack, const char *what) {
  Py_ssize_t count = PyTuple_GET_SIZE(tuple);
  wick_value **values = PyMem_Calloc((size_t)count + 1, sizeof *values);
  if (!values) return (wick_value **)PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *item = PyTuple_GET_ITEM(tuple, i);
    if (item == Py_None && may_lack) continue;
    if (is_tensor(state, item)) {
      values[i] = wick_value_retain(tensor_value(item));
      continue;
    }
    PyErr_Format(PyExc_TypeError, "%s must be tensors, not %.200s", what, Py_TYPE(item)->tp_name);
    while (i-- > 0) wick_value_release(values[i]);
    PyMem_Free(values);
    return NULL;
  }
  return values;
}
static void release_all(wick_value **values, Py_ssize_t count) {
  for (Py_ssize_t i = 0; values && i < count; i++) wick_value_release(values[i]);
  PyMem_Free(values);
}

typedef struct Walk {
  wick_value **outputs, **grads, **inputs, **results;
  Py_ssize_t count, input_count;
  uint32_t flags;
} Walk;

static wick_status run_walk(Walk *w, wick_error **error) {
  const wick_value *const *outputs = (const wick_value *const *)w->outputs;
  const wick_value *const *grads = (const wick_value *const *)w->grads;
  if (!w->inputs) return wick_backward(NULL, outputs, grads, (size_t)w->count, w->flags, error);
  return wick_grad(NULL, outputs, grads, (size_t)w->count, (const wick_value *const *)w->inputs, (size_t)w->input_count,
                   w->flags, w->results, error);
}

/* _run_backward(outputs, grads, retain_graph, create_graph, inputs, allow_unused): inputs None: into the leaves. */
static PyObject *run_backward(PyObject *module, PyObject *args) {
  ModuleState *state = state_of_module(module);
  PyObject *outputs, *grads, *inputs;
  int retain, create, unused;
  if (!PyArg_ParseTuple(args, "O!O!ppOp", &PyTuple_Type, &outputs, &PyTuple_Type, &grads, &retain, &create, &inputs,
                        &unused))
    return NULL;
  bool wants = inputs != Py_None;
  if (PyTuple_GET_SIZE(grads) != PyTuple_GET_SIZE(outputs) || (wants && !PyTuple_Check(inputs)))
    return PyErr_Format(PyExc_RuntimeError, "%zd gradients for %zd outputs", PyTuple_GET_SIZE(grads),
                        PyTuple_GET_SIZE(outputs));
  Walk w = {.count = PyTuple_GET_SIZE(outputs),
            .input_count = wants ? PyTuple_GET_SIZE(inputs) : 0,
            .flags = (retain ? WICK_RETAIN_GRAPH : 0u) | (create ? WICK_CREATE_GRAPH : 0u) |
                     (unused ? WICK_ALLOW_UNUSED : 0u)};
  PyObject *made = NULL;
  wick_error *error = NULL;
  wick_status status = WICK_OK;
  if (!(w.outputs = take_tensors(state, outputs, false, "outputs"))) goto done;
  if (!(w.grads = take_tensors(state, grads, true, "gradients"))) goto done;
  if (wants && !(w.inputs = take_tensors(state, inputs, false, "inputs"))) goto done;
  if (wants && !(w.results = PyMem_Calloc((size_t)w.input_count + 1, sizeof *w.results))) {
    PyErr_NoMemory();
    goto done;
  }
  Away away;
  python_away(&away);
  status = run_walk(&w, &error);
  python_back(&away);
  if (status) {
    raise_wick(state, status, error);
    goto done;
  }
  made = PyTuple_New(w.input_count);
  for (Py_ssize_t i = 0; made && i < w.input_count; i++) {
    PyObject *grad = value_to_python(state, w.results[i]);
    w.results[i] = NULL;
    if (!grad) Py_CLEAR(made);
    if (made) PyTuple_SET_ITEM(made, i, grad);
  }
done:
  release_all(w.outputs, w.count);
  release_all(w.grads, w.count);
  release_all(w.inputs, w.input_count);
  release_all(w.results, w.input_count);
  return made;
}

/* ---- what a tensor knows of its gradient ---- */

static ModuleState *state_of_tensor(PyObject *self) {
  return ((TensorObject *)self)->state;
}

static PyObject *get_requires_grad(PyObject *self, void *unused) {
  wick_tensor_info info;
  (void)unused;
  return tensor_info(self, &info) ? NULL : PyBool_FromLong((info.flags & WICK_INFO_REQUIRES_GRAD) != 0);
}

static int set_requires_grad(PyObject *self, PyObject *wanted, void *unused) {
  wick_tensor_info info;
  wick_error *error = NULL;
  int on = wanted ? PyObject_IsTrue(wanted) : -1;
  (void)unused;
  if (on < 0 || tensor_info(self, &info)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "requires_grad can't be deleted");
    return -1;
  }
  bool is_number = (info.dtype >= WICK_FLOAT16 && info.dtype <= WICK_COMPLEX128) || info.dtype == WICK_BFLOAT16;
  if (!(info.flags & WICK_INFO_LEAF)) {
    PyErr_SetString(PyExc_RuntimeError,
                    on ? "you can only change requires_grad flags of leaf variables."
                       : "you can only change requires_grad flags of leaf variables. If you want to use a computed "
                         "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().");
    if (!on) return -1;
    PyErr_Clear(); /* it does already */
    return 0;
  }
  if (on && !is_number) {
    PyErr_SetString(PyExc_RuntimeError, "only Tensors of floating point and complex dtype can require gradients");
    return -1;
  }
  wick_status status = wick_tensor_set_requires_grad(tensor_value(self), on, &error);
  if (!status) return 0;
  raise_wick(state_of_tensor(self), status, error);
  return -1;
}

static PyObject *call_requires_grad_(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"requires_grad", NULL};
  PyObject *wanted = Py_True;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:requires_grad_", KEYWORDS(names), &wanted) ||
      set_requires_grad(self, wanted, NULL))
    return NULL;
  Py_INCREF(self);
  return self;
}

/* One object for one gradient: kept beside the tensor while it is the same. */
static PyObject *get_grad(PyObject *self, void *unused) {
  TensorObject *tensor = (TensorObject *)self;
  wick_value *grad = NULL;
  (void)unused;
  CHECK_WICK(tensor->state, wick_tensor_grad(tensor->value, &grad, &check_error));
  if (!grad) {
    Py_CLEAR(tensor->grad);
    Py_RETURN_NONE;
  }
  if (tensor->grad && wick_value_identity(tensor_value(tensor->grad)) == wick_value_identity(grad)) {
    wick_value_release(grad);
  } else {
    PyObject *made = tensor_wrap(tensor->state, grad);
    if (!made) return NULL;
    Py_XSETREF(tensor->grad, made);
  }
  Py_INCREF(tensor->grad);
  return tensor->grad;
}

static int set_grad(PyObject *self, PyObject *grad, void *unused) {
  TensorObject *tensor = (TensorObject *)self;
  wick_error *error = NULL;
  (void)unused;
  bool none = !grad || grad == Py_None;
  if (!none && !is_tensor(tensor->state, grad)) {
    PyErr_Format(PyExc_TypeError, "assigned grad expected to be a Tensor or None but got grad of type '%.200s'",
                 Py_TYPE(grad)->tp_name);
    return -1;
  }
  if (grad == self) {
    PyErr_SetString(PyExc_RuntimeError, "can't assign Variable as its own grad");
    return -1;
  }
  wick_status status = wick_tensor_set_grad(tensor->value, none ? NULL : tensor_value(grad), &error);
  if (status) {
    raise_wick(tensor->state, status, error);
    return -1;
  }
  PyObject *kept = none ? NULL : grad;
  Py_XINCREF(kept);
  Py_XSETREF(tensor->grad, kept);
  return 0;
}

/* The name of the call that made it, as text; None for leaves. */
static PyObject *get_history(PyObject *self, void *unused) {
  char *text;
  (void)unused;
  CHECK_WICK(state_of_tensor(self), wick_tensor_history(tensor_value(self), &text, &check_error));
  PyObject *made = *text ? PyUnicode_FromString(text) : (Py_INCREF(Py_None), Py_None);
  wick_text_free(text);
  return made;
}

/* ---- hooks: one of wick's for each tensor, which calls the functions of a dict of Python's ---- */

typedef struct Hook {
  ModuleState *state;
  PyInterpreterState *interpreter;
  PyObject *function;
} Hook;

static wick_status call_hook(void *user, const wick_value *grad, wick_value **out_replacement, wick_error **error) {
  Hook *hook = user;
  wick_status status = WICK_OK;
  Entered entered;
  if (!python_enter(hook->state->interpreter, &entered)) return WICK_CANCELLED;
  PyObject *given = tensor_wrap(hook->state, wick_value_retain((wick_value *)(uintptr_t)grad));
  PyObject *answer = given ? PyObject_CallOneArg(hook->function, given) : NULL;
  if (!answer) {
    status = WICK_RUNTIME;
    *error = wick_error_new(status, "a hook raised an exception");
  } else if (answer != Py_None && is_tensor(hook->state, answer)) {
    *out_replacement = wick_value_retain(tensor_value(answer));
  } else if (answer != Py_None) {
    status = WICK_RUNTIME;
    *error = wick_error_new(status, "a hook gives a tensor, or None");
  }
  Py_XDECREF(given);
  Py_XDECREF(answer);
  python_leave(&entered);
  return status;
}

static void drop_hook(void *user) {
  Hook *hook = user;
  Entered entered;
  if (python_enter(hook->interpreter, &entered)) {
    Py_DECREF(hook->function);
    python_leave(&entered);
  }
  free(hook);
}

/* _set_hook(function): called with each gradient of the tensor. None: no more. */
static PyObject *set_hook(PyObject *self, PyObject *function) {
  ModuleState *state = state_of_tensor(self);
  CHECK_WICK(state, wick_tensor_clear_hooks(tensor_value(self), &check_error));
  if (function == Py_None) Py_RETURN_NONE;
  Hook *hook = malloc(sizeof *hook);
  if (!hook) return PyErr_NoMemory();
  Py_INCREF(function);
  *hook = (Hook){state, state->interpreter, function};
  CHECK_WICK(state, wick_tensor_add_hook(tensor_value(self), call_hook, drop_hook, hook, &check_error));
  Py_RETURN_NONE;
}

/* ---- functions with a backward in Python ---- */

/* One argument for the callable: a tuple of the gradients of the outputs, None where none reached one. It gives a tuple
 * with one for each input, or None. */
static PyObject *call_backward(Hook *backward, const wick_value *const *grads, size_t count) {
  PyObject *given = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; given && i < count; i++) {
    wick_value *grad = grads[i] ? wick_value_retain((wick_value *)(uintptr_t)grads[i]) : NULL;
    PyObject *item = value_to_python(backward->state, grad);
    if (!item) Py_CLEAR(given);
    if (given) PyTuple_SET_ITEM(given, (Py_ssize_t)i, item);
  }
  PyObject *answer = given ? PyObject_CallOneArg(backward->function, given) : NULL;
  Py_XDECREF(given);
  return answer;
}

static int take_answer(Hook *backward, PyObject *answer, wick_value **out_grads, size_t count) {
  if (!PyTuple_Check(answer) || PyTuple_GET_SIZE(answer) != (Py_ssize_t)count) {
    PyErr_Format(PyExc_RuntimeError, "a backward gives a tuple of %zu gradients", count);
    return -1;
  }
  for (size_t i = 0; i < count; i++) {
    PyObject *grad = PyTuple_GET_ITEM(answer, (Py_ssize_t)i);
    if (grad == Py_None) continue;
    if (!is_tensor(backward->state, grad)) {
      PyErr_Format(PyExc_TypeError, "a gradient is a Tensor or None, not %.200s", Py_TYPE(grad)->tp_name);
      return -1;
    }
    out_grads[i] = wick_value_retain(tensor_value(grad));
  }
  return 0;
}

static wick_status run_python_backward(void *user, int create_graph, const wick_value *const *grads, size_t grad_count,
                                       wick_value **out_grads, size_t input_count, wick_error **error) {
  Hook *backward = user;
  Entered entered;
  if (!python_enter(backward->interpreter, &entered)) return WICK_CANCELLED;
  bool before = mode.grad_off;
  mode.grad_off = !create_graph;
  PyObject *answer = call_backward(backward, grads, grad_count);
  int failed = answer ? take_answer(backward, answer, out_grads, input_count) : -1;
  mode.grad_off = before;
  Py_XDECREF(answer);
  if (failed) *error = wick_error_new(WICK_RUNTIME, "a backward raised an exception");
  python_leave(&entered);
  return failed ? WICK_RUNTIME : WICK_OK;
}

/* _record(name, backward, inputs, outputs, not_differentiable) */
static PyObject *record(PyObject *module, PyObject *args) {
  ModuleState *state = state_of_module(module);
  const char *name;
  PyObject *backward, *inputs, *outputs;
  unsigned long long not_differentiable;
  if (!PyArg_ParseTuple(args, "sOO!O!K", &name, &backward, &PyTuple_Type, &inputs, &PyTuple_Type, &outputs,
                        &not_differentiable))
    return NULL;
  wick_value **from = take_tensors(state, inputs, false, "inputs"), **to = NULL;
  Hook *hook = NULL;
  wick_error *error = NULL;
  wick_status status = WICK_RUNTIME;
  if (from && (to = take_tensors(state, outputs, false, "outputs")) && (hook = malloc(sizeof *hook))) {
    Py_INCREF(backward);
    *hook = (Hook){state, state->interpreter, backward};
    status = wick_record(name, run_python_backward, drop_hook, hook, (const wick_value *const *)from,
                         (size_t)PyTuple_GET_SIZE(inputs), (const wick_value *const *)to,
                         (size_t)PyTuple_GET_SIZE(outputs), not_differentiable, &error);
  } else if (!PyErr_Occurred()) {
    PyErr_NoMemory();
  }
  if (from) release_all(from, PyTuple_GET_SIZE(inputs));
  if (to) release_all(to, PyTuple_GET_SIZE(outputs));
  if (status) return raise_wick(state, status, error);
  Py_RETURN_NONE;
}

PyGetSetDef tensor_autograd_getters[] = {
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether gradients of it are wanted.", NULL},
    {"grad", get_grad, set_grad, "The gradient that backward added up, or None.", NULL},
    {"_history", get_history, NULL, "The name of the recorded call that made it, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
PyMethodDef tensor_autograd_methods[] = {
    {"requires_grad_", (PyCFunction)(void (*)(void))call_requires_grad_, METH_VARARGS | METH_KEYWORDS,
     "requires_grad_(requires_grad=True): sets it and gives the tensor."},
    {"_set_hook", set_hook, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyMethodDef functions[] = {
    {"_set_grad_enabled", set_grad_enabled, METH_O, "Switches this thread's grad mode."},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "Whether this thread records calls for gradients."},
    {"_set_inference_mode", set_inference_mode, METH_O, NULL},
    {"is_inference_mode_enabled", is_inference_mode, METH_NOARGS, "Whether this thread is in inference mode."},
    {"_run_backward", run_backward, METH_VARARGS, NULL},
    {"_record", record, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

int add_autograd(PyObject *module, ModuleState *state) {
  (void)state;
  return PyModule_AddFunctions(module, functions);
}
