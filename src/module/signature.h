/* What a method takes and gives, as far as its program says: schema, demands of its operators on the inputs
 * (pass/types/input_demands.h), and the sizes and dtypes that follow for the results. */
#pragma once

#include "ir/unit.h"

typedef struct Exec Exec; /* call/exec.h */

/* Of a tensor: -1 is not known. */
typedef struct Port {
  Str name; /* of a parameter, a field or a key; empty: none */
  const Type *type;
  bool has_default;
  int dtype, ndim;
  int64_t last, below;
  int64_t sizes[TENSOR_MAX_DIMS];
} Port;
typedef struct Signature {
  Port *inputs, *outputs; /* in the arena of `prepared` */
  uint32_t input_count, output_count;
  PreparedGraph *prepared; /* owned: what types and names lie in, besides the function's unit */
} Signature;

/* self (NULL: of a function) is what the method would be called on: its weights tell what fits. Nothing of it is
 * changed, and nothing is kept from later calls. */
Status signature_find(const Function *function, Object *self, Exec *exec, Signature *out) MUST_CHECK;
void signature_dispose(Signature *signature);
