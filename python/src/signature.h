/* An overload as Python calls it: its parameters, which arguments fit them, and what those become. */
#ifndef SIGNATURE_H
#define SIGNATURE_H

#include "py_wick.h"

enum { MAX_PARAMETERS = 64, MAX_RESULTS = 9 };

typedef struct Parameter {
  uint32_t kind, flags; /* WICK_TAKES_..., WICK_PARAMETER_... */
  int32_t repeats;
  PyObject *name; /* interned */
} Parameter;

typedef struct Signature {
  const wick_overload *overload;
  uint32_t count, positional_count, out_count, result_count;
  int32_t varargs; /* the parameter that takes all positional arguments from its place on: "view(2, 3)"; -1: none */
  bool is_eager,
      is_factory; /* is_eager: takes or gives tensors or dtypes; is_factory: takes dtype, layout and device, hence requires_grad too */
  bool is_method; /* its first parameter is a tensor */
  Parameter *parameters, *results;
  PyTypeObject *result_type; /* of several results with names, made on first use; NULL */
} Signature;

/* How far a call is from what a signature asks for: overloads are chosen by the least. */
typedef enum Fit {
  FIT_EXACT,
  FIT_CONVERTED, /* a bool for an int, an int for a float, a tensor of one element for a number */
  FIT_ASKED,     /* what no kind names, for which others may be nearer: wick says whether it fits */
  FIT_WRAPPED,   /* a number for a tensor */
  FIT_NOT
} Fit;

typedef struct BoundCall {
  const Signature *signature;
  PyObject *slots[MAX_PARAMETERS]; /* borrowed; NULL: the default */
  PyObject *rest;                  /* a tuple, owned: what varargs took; NULL: none */
  PyObject *outs;                  /* a tuple, owned: several tensors of out=; NULL: none */
  PyObject *requires_grad;         /* borrowed: of a factory; NULL: not given */
  Fit fit;
} BoundCall;

/* A call's arguments as vectorcall has them. */
typedef struct CallArguments {
  PyObject *const *values;
  Py_ssize_t count; /* positional; keyword values follow them */
  PyObject *names;  /* a tuple or NULL */
  PyObject *out;    /* the keyword's value; NULL: not given, or None */
} CallArguments;

/* false with an error. A signature that Python can't call (of ints and texts alone) has is_callable false. */
bool signature_init(ModuleState *state, const wick_overload *overload, Signature *signature, bool *is_callable);
void signature_dispose(Signature *signature);
/* Binds arguments to parameters and judges them; on FIT_NOT `why` (may be NULL) gets a new text, when there is one to
 * tell. -1 with an error. What `bound` owns is given back with bound_clear. */
int signature_bind(ModuleState *state, const Signature *signature, const CallArguments *call, BoundCall *bound,
                   PyObject **why);
void bound_clear(BoundCall *bound);
/* Owned; NULL with an error. */
wick_value *parameter_convert(ModuleState *state, const Parameter *parameter, PyObject *argument);
/* "Tensor", "int[2]": as messages name what a parameter takes. A new text. */
PyObject *parameter_type_text(const Parameter *parameter);

#endif
