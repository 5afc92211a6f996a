/* Calls of a few operators without Python's matching, for what is called often: by overload, found once. */
#ifndef DIRECT_H
#define DIRECT_H

#include "py_wick.h"

enum Direct {
  DIRECT_SELECT,
  DIRECT_SLICE,
  DIRECT_UNSQUEEZE,
  DIRECT_ALIAS,
  DIRECT_INDEX,
  DIRECT_INDEX_PUT,
  DIRECT_FILL_NUMBER,
  DIRECT_COPY,
  DIRECT_COUNT
};

/* The first of its parameters are given, the others take their defaults. Owned; NULL with an error. */
wick_value *direct_call(ModuleState *state, enum Direct what, const wick_value *const *arguments, size_t count);
/* The same of a tensor and ints. */
wick_value *direct_ints(ModuleState *state, enum Direct what, const wick_value *tensor, const int64_t *numbers,
                        size_t count);

#endif
