/* Objects that take part in calls by __torch_function__: of classes derived from Tensor, and others that stand for
 * tensors. A process in which no such class of Tensor has an object pays nothing: has_overrides is false then. */
#ifndef OVERRIDE_H
#define OVERRIDE_H

#include "operator.h"

/* Whether the type has a __torch_function__ that asks to be called. */
bool override_has(const ModuleState *state, const PyTypeObject *type);
/* Whether calls in this thread ask for overrides at all. */
bool override_is_on(const ModuleState *state);
/* Whether one of the objects, or of what lists and tuples among them hold, has one. */
bool override_wanted(const ModuleState *state, PyObject *const *objects, Py_ssize_t count);
/* Whether this thread's calls are overridden no more; how it was. */
bool override_disable(bool on);
/* An object of a class derived from Tensor is made: from now on calls look for it. */
void override_note(ModuleState *state, PyTypeObject *type);

/* The call as __torch_function__ makes it: of the first of the relevant objects, classes before those that they derive
 * from, whose answer is not NotImplemented. `keywords` may be NULL. `name` is of the error's text. */
PyObject *override_call(ModuleState *state, PyObject *function, PyObject *const *relevant, Py_ssize_t count,
                        PyObject *args, PyObject *keywords, const char *name);
/* The same of a call as vectorcall has it, whose arguments are all relevant. */
PyObject *override_vector(ModuleState *state, PyObject *function, PyObject *const *values, Py_ssize_t count,
                          PyObject *names, const char *name);
PyObject *override_operator(const OperatorObject *self, const CallArguments *call);
/* The same for Tensor's method of that name, as a slot of Python's calls it. */
PyObject *override_slot(ModuleState *state, const char *name, PyObject *const *objects, Py_ssize_t count);

/* Whether the slots of `self` are to be overridden. */
static inline bool override_applies(const ModuleState *state, PyObject *self) {
  return state->has_overrides && Py_TYPE(self) != state->tensor_type && override_is_on(state) &&
         override_has(state, Py_TYPE(self));
}

#endif
