/* Operator: a callable over all overloads of a name. */
#ifndef OPERATOR_H
#define OPERATOR_H

#include "signature.h"

typedef struct OperatorObject {
  PyObject_HEAD vectorcallfunc call;
  ModuleState *state;
  PyObject *name;        /* "aten::add" */
  bool takes_all;        /* overloads without tensors, too */
  Signature *signatures; /* NULL: not read yet */
  uint32_t signature_count;
} OperatorObject;

/* autocast.c: what a call is in a region. */
PyObject *autocast_call(const OperatorObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names);
/* override.c: the call by an argument's __torch_function__, after no signature fits; NULL, the error that is set stays
 * where no argument has one. */
PyObject *foreign_call(const OperatorObject *self, const CallArguments *call);
/* "add": what Python calls it. */
const char *operator_short_name(const OperatorObject *self);
/* Overloads are read when they are first needed; false with an error. */
bool operator_read(OperatorObject *self);
PyObject *overload_schema_text(ModuleState *state, const wick_overload *overload);
/* choose.c: the signature that is nearest to a call; false with an error. */
bool operator_choose(const OperatorObject *self, const CallArguments *call, BoundCall *best);
/* run.c: converts the arguments, calls, and makes Python's of the results; NULL with an error. */
PyObject *operator_run_bound(const OperatorObject *self, BoundCall *bound);

#endif
