/* Changes of JSON texts by values, one at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "../chance.h"

/* Other values, copies from elsewhere in the text, an element more or fewer, other numbers. The text ends with a zero
 * byte; so does what is given, which the caller frees. NULL: the text is no JSON. */
char *json_mutate(const char *text, size_t length, Chance *chance, size_t *out_length);
