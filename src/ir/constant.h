/* Numbers of constants: false where the value is no constant, or one of another type. */
#pragma once

#include "ir/graph.h"

bool constant_int(const Value *value, int64_t *out);
bool constant_bool(const Value *value, bool *out);
bool constant_double(const Value *value, double *out); /* int, float or bool */
bool constant_is_bool(const Value *value, bool expected);
