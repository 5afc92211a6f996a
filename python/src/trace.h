/* What Tensor asks while a trace is on (wick_trace_is_on). */
#ifndef PY_WICK_TRACE_H
#define PY_WICK_TRACE_H

#include "py_wick.h"

/* Sizes as tensors that stand for them; new references. */
PyObject *trace_size_object(PyObject *tensor, int64_t dim);
PyObject *trace_numel_object(PyObject *tensor);
PyObject *trace_shape_object(PyObject *tensor, int ndim); /* a tuple */
/* Tells that a value leaves a tensor ("a Python number"); nothing when this thread does not trace. -1: the warning was
 * made an error. */
int trace_warn_python(const char *what);
int add_trace(PyObject *module, ModuleState *state);

#endif
