/* Operators whose result is the host's, a number or a truth: tensors are fetched, which waits for the card, and the
 * host's own kernel runs. */
#include <stdio.h>
#include <string.h>

#include "cuda/operators.h"

static wick_value *fetched(Work *w, wick_value *value) {
  if (!value || wick_value_kind(value) != WICK_TENSOR) return value;
  return work_call(w, "aten::cpu", NULL, (const wick_value *const[]){value}, 1);
}

static void fetch(Work *w, int variant) {
  (void)variant;
  enum { MOST = 8 };
  char name[64];
  const wick_value *arguments[MOST];
  size_t count = work_argument_count(w);
  const char *overload = strchr(w->name, '.');
  snprintf(name, sizeof name, "%.*s", overload ? (int)(overload - w->name) : (int)strlen(w->name), w->name);
  for (size_t i = 0; i < count && i < MOST; i++) arguments[i] = fetched(w, work_argument(w, i));
  wick_value *result = work_call(w, name, overload ? overload + 1 : "", arguments, count < MOST ? count : MOST);
  if (result) wick_call_set_result(w->call, 0, result);
}

const OperatorKernel fetching_kernels[] = {
    {"aten::item", fetch, 0, false},
    {"aten::_local_scalar_dense", fetch, 0, false},
    {"aten::is_nonzero", fetch, 0, false},
    {"aten::equal", fetch, 0, false},
    {"aten::Bool.Tensor", fetch, 0, false},
    {"aten::Int.Tensor", fetch, 0, false},
    {"aten::Float.Tensor", fetch, 0, false},
    {"aten::ScalarImplicit", fetch, 0, false},
    {"aten::IntImplicit", fetch, 0, false},
    {"aten::FloatImplicit", fetch, 0, false},
    {0},
};
