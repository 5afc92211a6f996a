/* The extension module wick._C, over the public headers of wick alone. In reading order:
 *
 *   py_wick.h     what the files share (this one): the module's state, values both ways, errors, long calls
 *   module.c      the module, made of what each file adds
 *   error.c       wick's errors as Python's
 *   interpreter.c entering an interpreter from a callback; calls that Ctrl-C ends
 *   value.c       Python's values as wick's and back
 *   types.c       dtype, device, layout, memory_format, Size
 *   generator.c   Generator
 *   operator.c    operator(name): a callable over all overloads
 *   choose.c      which of them a call means
 *   run.c         calling it
 *   signature.c   an overload's parameters, and which arguments fit them
 *   tensor.c      Tensor: what it tells of itself, its memory, its protocols
 *   arithmetic.c  Tensor's number protocol
 *   index.c       x[...] and x[...] = y
 *   make.c        tensor(), from_numpy() and kin
 *   override.h    __torch_function__
 *   autocast.c    regions in which operators get their tensors in another dtype
 *   autograd.c    grad mode, backward, hooks, functions with a backward in Python
 *   profile.c     where the time of calls goes
 *   program.h     programs: trees, compiling, modules, graphs, functions of Python that they call
 *
 * Everything a module needs hangs on its ModuleState: interpreters within one process share nothing of Python's. */
#ifndef PY_WICK_H
#define PY_WICK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <structmember.h>
#include <wick/wick.h>

#if PY_VERSION_HEX < 0x030a0000 /* what 3.9 lacks */
#define Py_TPFLAGS_DISALLOW_INSTANTIATION 0
static inline int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *object) {
  Py_XINCREF(object);
  if (object && PyModule_AddObject(module, name, object) == 0) return 0;
  Py_XDECREF(object);
  return -1;
}
#endif

enum { SPARSE_COO = 1 }; /* of layouts */
enum {
  DTYPE_COUNT = 45,
  LAYOUT_COUNT = 5,
  MEMORY_FORMAT_COUNT = 4,
  ARITHMETIC_COUNT = 36,
  DIRECT_CALLS = 8,
  KEPT_INTS = 17
};

/* Names of keywords, as PyArg_ParseTupleAndKeywords wants them. */
#define KEYWORDS(names) ((char **)(uintptr_t)(names))

typedef struct ModuleState ModuleState;
struct ModuleState {
  PyTypeObject *tensor_type, *dtype_type, *device_type, *layout_type, *memory_format_type, *size_type, *generator_type,
      *operator_type, *profile_type;
  PyObject *dtypes[DTYPE_COUNT], *layouts[LAYOUT_COUNT], *memory_formats[MEMORY_FORMAT_COUNT];
  PyObject *cancelled;                      /* wick.runtime.Cancelled */
  PyObject *program_error, *program_errors; /* wick.jit.Error; dict: a class -> the class that is both */
  PyObject *operators;                      /* dict: "aten::add" -> Operator */
  PyObject *whole_operators;                /* the same, of those of torch.ops */
  PyObject *no_override;                    /* override.c: the __torch_function__ of classes that override nothing */
  PyTypeObject *asking_type;                /* and methods of those that do */
  bool has_overrides;                       /* whether one has an object */
  PyObject *autocast_call;                  /* autocast.c: what calls of operators are in its regions, or NULL */
  PyObject *cpu;                            /* the device that nearly all tensors are on */
  PyObject *arithmetic[ARITHMETIC_COUNT];   /* arithmetic.c: what Python's operators call; NULL: not asked for yet */
  PyInterpreterState *interpreter;
  const wick_overload *direct[DIRECT_CALLS]; /* direct.c: NULL: not asked for yet */
  wick_value *ints[KEPT_INTS];               /* direct.c: owned; from 0 on, the last INT64_MAX; NULL: not made yet */
  /* names that calls meet often, interned */
  PyObject *name_self, *name_input, *name_out, *name_dim, *name_axis, *name_keepdim, *name_keepdims, *name_other,
      *name_x, *name_x1, *name_x2, *name_a, *name_requires_grad, *name_names, *name_torch_function;
  /* The values of programs (program.c): objects, enums, named tuples, functions, futures. from: 1 when it knows the
   * object and *out is owned, 0 when it does not, -1 with an error. to: a new reference, which takes over `value`. NULL:
   * nobody knows any. */
  int (*program_value_from)(ModuleState *state, PyObject *object, wick_value **out);
  PyObject *(*program_value_to)(ModuleState *state, wick_value *value);
  void **numpy;                      /* NumPy's table of functions; NULL: not asked for yet */
  void *program_state, *trace_state; /* of those files */
};

/* The state of the module that made the object, which is one of ours or of a class derived from ours; NULL with a
 * TypeError for others. */
ModuleState *state_of(PyObject *object);
ModuleState *state_of_module(PyObject *module);

/* ---- Tensor ---- */
typedef struct TensorObject {
  PyObject_HEAD wick_value *value; /* never NULL; a defined tensor */
  ModuleState *state;
  PyObject *dict, *weak_references;
  PyObject *grad; /* the object that was last seen as its gradient, or NULL */
} TensorObject;
static inline bool is_tensor(const ModuleState *state, PyObject *object) {
  return Py_TYPE(object) == state->tensor_type || PyObject_TypeCheck(object, state->tensor_type);
}
static inline wick_value *tensor_value(PyObject *tensor) { /* borrowed */
  return ((TensorObject *)tensor)->value;
}
/* Takes over `value`; None for an undefined tensor. */
PyObject *tensor_wrap(ModuleState *state, wick_value *value);
PyObject *tensor_wrap_as(ModuleState *state, PyTypeObject *type, wick_value *value);
/* Fills `info`; -1 with an error. */
int tensor_info(PyObject *tensor, wick_tensor_info *info);

/* ---- values both ways ---- */
/* Owned; NULL with a Python error. */
wick_value *value_from_python(ModuleState *state, PyObject *object);
/* A new reference; takes over `value`, also on failure. NULL is None. */
PyObject *value_to_python(ModuleState *state, wick_value *value);
wick_value *value_from_long(PyObject *number); /* what does not fit int64 is a RuntimeError */
wick_value *value_from_device(ModuleState *state, PyObject *device_or_text);
/* The dtype that dtype objects and Python's float, int, bool and complex name: -1 for others, without an error. */
int dtype_of_object(ModuleState *state, PyObject *object);
int layout_of_object(ModuleState *state, PyObject *object);
int memory_format_of_object(ModuleState *state, PyObject *object);
PyObject *dtype_object(ModuleState *state, uint32_t dtype); /* new references */
PyObject *layout_object(ModuleState *state, int64_t layout);
PyObject *memory_format_object(ModuleState *state, int64_t memory_format);
PyObject *device_object(ModuleState *state, const char *text);
PyObject *device_object_of(ModuleState *state, int type, int index);
PyObject *size_object(ModuleState *state, const int64_t *sizes, Py_ssize_t count);
PyObject *generator_object(ModuleState *state, wick_value *value); /* takes over */
wick_value *generator_value(ModuleState *state, PyObject *object); /* borrowed; NULL: no generator, no error */
bool is_device(ModuleState *state, PyObject *object);

/* object.name(argument), or without one where it is NULL. */
PyObject *call_method(PyObject *object, const char *name, PyObject *argument);

/* ---- errors ---- */
/* Sets the exception that PyTorch raises, with the operator's text; frees the error; gives NULL. What a callback of
 * Python's raised meanwhile stays raised. */
PyObject *raise_wick(ModuleState *state, wick_status status, wick_error *error);
/* The same without the places in TorchScript: of operators that are written in it. */
PyObject *raise_operator(ModuleState *state, wick_status status, wick_error *error);
#define CHECK_WICK(state, call)                                            \
  do {                                                                     \
    wick_error *check_error = NULL;                                        \
    wick_status check_status = (call);                                     \
    if (check_status) return raise_wick(state, check_status, check_error); \
  } while (0) /* `call` is given &check_error */

/* ---- calls ---- */
/* What the thread's calls are bound to (limits.c); whether it is something that can cancel them. */
void limits_fill(wick_run_options *options);
bool limits_cancel(void);
/* Options of a call in this thread: grad mode, limits. */
void call_options(wick_run_options *options);
bool grad_is_enabled(void);
bool grad_set_enabled(bool on); /* in this thread; how it was */
/* Around work that may last: gives the GIL away, and Ctrl-C fires the cancel token of the options, or one of its own,
 * while it runs in the main thread. Then raise_wick makes a KeyboardInterrupt of WICK_CANCELLED.
 *
 *   LongCall call;
 *   long_call_begin(&call, &options);
 *   status = wick_run(...);
 *   long_call_end(&call);                                                                                    */
typedef struct Away {
  PyThreadState *thread, *before;
} Away;
typedef struct LongCall {
  Away away;
  wick_cancel *cancel; /* its own */
  bool watches;        /* the keyboard */
} LongCall;
void long_call_begin(LongCall *call, wick_run_options *options);
void long_call_end(LongCall *call);
/* The same without Ctrl-C: gives the GIL away, and takes it back. */
void python_away(Away *away);
void python_back(Away *away);
/* Around what a callback does in Python: enters the interpreter, whichever thread calls and whatever it is in. False:
 * Python is over, or there is no memory; then nothing of Python's may be touched, and nothing is to be left. */
typedef struct Entered {
  PyThreadState *away, *own;
  Away outer;
  PyGILState_STATE gil;
  bool has_gil, has_outer, is_new;
} Entered;
bool python_enter(PyInterpreterState *interpreter, Entered *entered);
void python_leave(Entered *entered);
/* Whether an exception that stays raised goes on where Python was left: not in threads that Python knows nothing of. */
bool python_goes_on(const Entered *entered);

wick_profile *profile_of_thread(void); /* that calls are recorded in; borrowed; NULL: nowhere */
wick_profile *profile_handle(ModuleState *state, PyObject *object); /* of a Profile; NULL: it is none */
/* Now in nanoseconds, or 0 where nothing is recorded; a call of an operator that began then has ended. */
uint64_t profile_clock(void);
void profile_note(PyObject *name, uint64_t begin);
/* Whether this thread is in a region of autocast. */
bool autocast_is_on(void);

/* ---- operators ---- */
/* The callable over all overloads of "aten::add", kept; NULL with an AttributeError. A new reference. */
PyObject *operator_named(ModuleState *state, const char *qualified_name);
/* Calls aten::NAME with positional arguments. */
PyObject *call_aten(ModuleState *state, const char *name, PyObject *const *arguments, size_t count);

/* ---- what the files add to the module: -1 with an error ---- */
int add_errors(PyObject *module, ModuleState *state);
int add_values(PyObject *module, ModuleState *state); /* dtypes and so on */
int add_generator(PyObject *module, ModuleState *state);
int add_operators(PyObject *module, ModuleState *state);
int add_tensor(PyObject *module, ModuleState *state);
int add_making(PyObject *module, ModuleState *state);
int add_autograd(PyObject *module, ModuleState *state);
int add_autocast(PyObject *module, ModuleState *state);
int add_override(PyObject *module, ModuleState *state);
int add_profile(PyObject *module, ModuleState *state);
int add_programs(PyObject *module, ModuleState *state);
int traverse_programs(ModuleState *state, visitproc visit, void *arg);
void clear_programs(ModuleState *state);
/* Slots and methods of Tensor that other files define. */
extern PyType_Slot tensor_number_slots[], tensor_index_slots[];
extern PyGetSetDef tensor_autograd_getters[];
extern PyMethodDef tensor_autograd_methods[];

#endif
