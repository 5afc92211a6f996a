/* Finding a method or function by the name a caller gives. */
#pragma once

#include "api/handles.h"

/* ERROR_NOT_FOUND lists what there is. */
Status module_find(const wick_module *module, const char *name, Function **out) MUST_CHECK;
