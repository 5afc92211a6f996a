/* Tensors over memory of Python's objects, and their memory as Python's: make.c and memory.c. */
#ifndef MEMORY_H
#define MEMORY_H

#include "py_wick.h"

/* A tensor of nested sequences, numbers and tensors: dtype -1: what they have. A new reference. */
PyObject *make_tensor(ModuleState *state, PyObject *data, int dtype);
/* Uninitialized, of a sequence of sizes. Owned. */
wick_value *make_empty(ModuleState *state, PyObject *sizes, uint32_t dtype);
/* Over the memory of an object with the buffer protocol, which is held as long as a tensor shows it. Owned. */
wick_value *value_from_buffer(ModuleState *state, PyObject *object);
/* An element of `dtype` at `data` as a number of Python's. */
PyObject *element_to_python(uint32_t dtype, const void *data);

extern PyType_Slot tensor_memory_slots[];
extern PyMethodDef tensor_memory_methods[], memory_functions[];

#endif
