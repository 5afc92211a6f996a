/* wick_function: a method or function that was looked up once. */
#pragma once

#include "api/handles.h"
#include "tensor/random.h"

struct wick_function {
  RefCount refs;
  wick_module *module; /* retained: keeps the function */
  Function *function;
  char *name; /* owned */
};
typedef struct CallManner {
  bool hooks;       /* of the module, around the function: as Python's m(x) */
  Generator *aside; /* draws random numbers from it and prints nothing; NULL: as any call */
} CallManner;
/* A call under its options, from the arguments as given to the result. */
Status function_call(const wick_module *module, Function *function, CallManner manner,
                     const wick_value *const *arguments, size_t count, const char *const *names, size_t named_count,
                     const wick_run_options *options, IValue *out) MUST_CHECK;
/* Copies the tensors of a result, a tensor or a tuple or list of them, into those of the caller. Sizes must be equal;
 * dtypes are converted. When one does not fit, nothing is written. */
Status outputs_fill(IValue result, wick_value *const *outputs, size_t output_count) MUST_CHECK;
