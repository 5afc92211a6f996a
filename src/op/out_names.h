/* OutName: the overload and the arguments of an `.out` form whose names do not follow the rule. */
#pragma once

#include "base/str.h"

typedef struct OutName {
  const char *name, *overload; /* of the functional row, without "aten::" */
  const char *out_overload;
  const char *arguments; /* separated by blanks, one for each return */
} OutName;
/* NULL: the rule holds. */
const OutName *out_name_find(Str name, Str overload);
