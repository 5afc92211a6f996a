/* Finding methods, functions and classes by the names a caller gives. */
#pragma once

#include "api/handles.h"

/* ERROR_NOT_FOUND lists what there is. */
Status module_find(const wick_module *module, const char *name, Function **out) MUST_CHECK;
/* A class of the module's program, with or without "__torch__." before its name. NULL: there is none. */
const Type *module_find_type(const wick_module *module, const char *name);
