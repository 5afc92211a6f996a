/* Limits and manners of calls: what wick/run.h and wick/runtime.h have beside values. A thread's calls are under the
 * Limits that it entered last; a Cancel is what they may name, and a Profile (profile.c). */
#include <stddef.h>

#include "program.h"

typedef struct CancelObject {
  PyObject_HEAD wick_cancel *cancel;
} CancelObject;
typedef struct LimitsObject {
  PyObject_HEAD wick_run_options options;
  PyObject *cancel, *profile; /* held */
} LimitsObject;

/* The thread's; a reference of its own. */
static _Thread_local LimitsObject *entered;

void limits_fill(wick_run_options *options) {
  if (entered)
    *options = entered->options;
  else
    *options = (wick_run_options){.size = sizeof *options};
}
bool limits_cancel(void) {
  return entered && entered->options.cancel;
}

/* ---- Cancel ---- */

static void plain_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *cancel_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  (void)args, (void)keywords;
  CancelObject *made = (CancelObject *)type->tp_alloc(type, 0);
  if (!made || (made->cancel = wick_cancel_new())) return (PyObject *)made;
  Py_DECREF(made);
  return PyErr_NoMemory();
}
static void cancel_dealloc(PyObject *self) {
  if (((CancelObject *)self)->cancel) wick_cancel_release(((CancelObject *)self)->cancel);
  plain_free(self);
}
static PyObject *cancel_fire(PyObject *self, PyObject *unused) {
  (void)unused;
  wick_cancel_fire(((CancelObject *)self)->cancel);
  Py_RETURN_NONE;
}
static PyMethodDef cancel_methods[] = {
    {"fire", cancel_fire, METH_NOARGS, "Ends the calls that run under it, and those to come; from any thread."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot cancel_slots[] = {{Py_tp_new, cancel_new},
                                     {Py_tp_dealloc, cancel_dealloc},
                                     {Py_tp_methods, cancel_methods},
                                     {Py_tp_doc, "Cancel(): ends calls from another thread."},
                                     {0, NULL}};
static PyType_Spec cancel_spec = {"wick.runtime.Cancel", sizeof(CancelObject), 0, Py_TPFLAGS_DEFAULT, cancel_slots};

/* ---- Limits ---- */

static int read_manners(LimitsObject *made, ModuleState *state, const char *executor, const char *backend) {
  wick_error *error = NULL;
  wick_status status = executor ? wick_executor_named(executor, &made->options.executor, &error) : WICK_OK;
  if (!status && backend) status = wick_backend_named(backend, &made->options.backend, &error);
  if (status) raise_wick(state, status, error);
  return status ? -1 : 0;
}
static int read_parts(LimitsObject *made, ModuleState *state, PyObject *cancel, PyObject *profile) {
  if (cancel != Py_None && Py_TYPE(cancel) != programs_of(state)->cancel_type)
    return PyErr_Format(PyExc_TypeError, "cancel: a Cancel is expected, not %R", cancel), -1;
  wick_profile *handle = profile_handle(state, profile);
  if (profile != Py_None && !handle)
    return PyErr_Format(PyExc_TypeError, "profile: a Profile is expected, not %R", profile), -1;
  Py_INCREF(cancel);
  Py_INCREF(profile);
  made->cancel = cancel;
  made->profile = profile;
  if (cancel != Py_None) made->options.cancel = ((CancelObject *)cancel)->cancel;
  made->options.profile = handle;
  return 0;
}

static PyObject *limits_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"deadline_ns", "steps",   "bytes",  "threads", "deterministic",
                                      "executor",    "backend", "cancel", "profile", NULL};
  ModuleState *state = PyType_GetModuleState(type);
  unsigned long long deadline = 0, steps = 0, bytes = 0;
  unsigned threads = 0;
  int deterministic = 0;
  const char *executor = NULL, *backend = NULL;
  PyObject *cancel = Py_None, *profile = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|KKKIpzzOO:Limits", KEYWORDS(names), &deadline, &steps, &bytes,
                                   &threads, &deterministic, &executor, &backend, &cancel, &profile))
    return NULL;
  LimitsObject *made = (LimitsObject *)type->tp_alloc(type, 0);
  if (!made) return NULL;
  made->options = (wick_run_options){.size = sizeof made->options,
                                     .deadline_ns = deadline,
                                     .max_steps = steps,
                                     .max_bytes = bytes,
                                     .threads = threads,
                                     .deterministic = (uint32_t)deterministic};
  if (!read_manners(made, state, executor, backend) && !read_parts(made, state, cancel, profile))
    return (PyObject *)made;
  Py_DECREF(made);
  return NULL;
}
static void limits_dealloc(PyObject *self) {
  Py_XDECREF(((LimitsObject *)self)->cancel);
  Py_XDECREF(((LimitsObject *)self)->profile);
  plain_free(self);
}
static PyType_Slot limits_slots[] = {
    {Py_tp_new, limits_new}, {Py_tp_dealloc, limits_dealloc}, {Py_tp_doc, "What calls are bound to."}, {0, NULL}};
static PyType_Spec limits_spec = {"wick._C.Limits", sizeof(LimitsObject), 0, Py_TPFLAGS_DEFAULT, limits_slots};

static PyObject *set_limits(PyObject *self, PyObject *object) {
  ProgramState *programs = programs_of(state_of_module(self));
  if (object != Py_None && Py_TYPE(object) != programs->limits_type)
    return PyErr_Format(PyExc_TypeError, "Limits are expected, not %R", object);
  PyObject *before = entered ? (PyObject *)entered : Py_None;
  if (!entered) Py_INCREF(before);
  entered = object == Py_None ? NULL : (LimitsObject *)object;
  Py_XINCREF((PyObject *)entered);
  return before;
}

/* ---- of the process ---- */

static PyObject *set_executor(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {
      "name", "synchronous", "profiled_runs", "bailout_depth", "max_plans", "small_derivatives", NULL};
  const char *name;
  int synchronous = 0, small = 0;
  wick_executor_options options = {.size = sizeof options};
  ModuleState *state = state_of_module(self);
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|pIIIp:set_executor", KEYWORDS(names), &name, &synchronous,
                                   &options.profiled_runs, &options.bailout_depth, &options.max_plans, &small))
    return NULL;
  options.synchronous = (uint32_t)synchronous;
  options.small_derivatives = (uint32_t)small;
  CHECK_WICK(state, wick_executor_named(name, &options.executor, &check_error));
  CHECK_WICK(state, wick_runtime_set_executor(NULL, &options, &check_error));
  Py_RETURN_NONE;
}
static PyObject *executor_in_use(PyObject *self, PyObject *unused) {
  static const char *const names[] = {"default", "simple", "specializing", "profiling"};
  uint32_t number = wick_runtime_executor(NULL);
  (void)self, (void)unused;
  return PyUnicode_FromString(number < sizeof names / sizeof *names ? names[number] : "other");
}
static PyObject *set_backend(PyObject *self, PyObject *args) {
  const char *device, *name;
  uint32_t backend = WICK_BACKEND_DEFAULT;
  ModuleState *state = state_of_module(self);
  if (!PyArg_ParseTuple(args, "sz:set_backend", &device, &name)) return NULL;
  if (name) CHECK_WICK(state, wick_backend_named(name, &backend, &check_error));
  CHECK_WICK(state, wick_runtime_set_backend(NULL, device, backend, &check_error));
  Py_RETURN_NONE;
}
static PyObject *set_optimize(PyObject *self, PyObject *wanted) {
  int on = PyObject_IsTrue(wanted);
  (void)self;
  if (on < 0) return NULL;
  wick_runtime_set_optimize(NULL, on);
  Py_RETURN_NONE;
}
static PyObject *wait_for_plans(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  Away away;
  python_away(&away);
  wick_wait_for_plans();
  python_back(&away);
  Py_RETURN_NONE;
}
static PyObject *explain(PyObject *self, PyObject *unused) {
  char *text;
  (void)unused;
  CHECK_WICK(state_of_module(self), wick_explain(&text, &check_error));
  return text_take(text);
}

typedef struct Count {
  const char *name;
  size_t at;
} Count;
static PyObject *counts_dict(const void *from, const Count *counts, size_t count) {
  PyObject *made = PyDict_New();
  for (size_t i = 0; made && i < count; i++) {
    uint64_t value = *(const uint64_t *)((const char *)from + counts[i].at);
    PyObject *number = PyLong_FromUnsignedLongLong(value);
    if (!number || PyDict_SetItemString(made, counts[i].name, number)) Py_CLEAR(made);
    Py_XDECREF(number);
  }
  return made;
}
#define COUNT(kind, name) \
  { #name, offsetof(kind, name) }
static PyObject *stats(PyObject *self, PyObject *unused) {
  static const Count counts[] = {
      COUNT(wick_stats, cache_bytes),         COUNT(wick_stats, invocations),      COUNT(wick_stats, plan_hits),
      COUNT(wick_stats, plan_misses),         COUNT(wick_stats, compiles),         COUNT(wick_stats, bailouts),
      COUNT(wick_stats, packed_weights),      COUNT(wick_stats, state_reads),      COUNT(wick_stats, state_guards),
      COUNT(wick_stats, packed_weight_bytes), COUNT(wick_stats, plan_bytes),       COUNT(wick_stats, stack_bytes),
      COUNT(wick_stats, compiled_bytes),      COUNT(wick_stats, small_block_bytes)};
  wick_stats now = {.size = sizeof now};
  (void)self, (void)unused;
  wick_stats_get(&now);
  return counts_dict(&now, counts, sizeof counts / sizeof *counts);
}
PyObject *memory_dict(const wick_memory *memory) {
  static const Count counts[] = {COUNT(wick_memory, weights),       COUNT(wick_memory, shared),
                                 COUNT(wick_memory, freed_storage), COUNT(wick_memory, packed_weights),
                                 COUNT(wick_memory, plans),         COUNT(wick_memory, stacks)};
  return counts_dict(memory, counts, sizeof counts / sizeof *counts);
}
static PyObject *memory(PyObject *self, PyObject *unused) {
  wick_memory now = {.size = sizeof now};
  (void)unused;
  CHECK_WICK(state_of_module(self), wick_runtime_memory(NULL, &now, &check_error));
  return memory_dict(&now);
}

static PyMethodDef functions[] = {
    {"set_limits", set_limits, METH_O, "set_limits(limits or None): of this thread's calls from now on; those before."},
    {"set_executor", (PyCFunction)(void (*)(void))set_executor, METH_VARARGS | METH_KEYWORDS,
     "set_executor(name, synchronous=False, profiled_runs=0, bailout_depth=0, max_plans=0, small_derivatives=False)"},
    {"executor_in_use", executor_in_use, METH_NOARGS, "The name of the executor that calls run in."},
    {"set_backend", set_backend, METH_VARARGS,
     "set_backend(device, name): what runs groups of operators; None: the default."},
    {"set_optimize", set_optimize, METH_O, "set_optimize(on): whether plans are optimized."},
    {"wait_for_plans", wait_for_plans, METH_NOARGS, "Returns when no plan is being made."},
    {"explain", explain, METH_NOARGS, "What was left undone and why, and what the executors did, as text."},
    {"stats", stats, METH_NOARGS, "Counts since the process started, and bytes that are kept."},
    {"memory", memory, METH_NOARGS, "Bytes that are kept for programs."},
    {NULL, NULL, 0, NULL}};

int add_limits(PyObject *module, ModuleState *state) {
  ProgramState *programs = programs_of(state);
  return program_add_type(module, &cancel_spec, &programs->cancel_type) ||
                 program_add_type(module, &limits_spec, &programs->limits_type) ||
                 PyModule_AddFunctions(module, functions)
             ? -1
             : 0;
}
