/* Random networks: layers of convolutions, normalizations, sums, joins, gates and products, with writes in place, state
 * that a call changes, random numbers, layouts of all kinds and dimensions of one element, among them calls that fail.
 * As tests/unit/as_written.h wants programs. */
#pragma once

#include "base/str.h"

/* The same seed gives the same text. Whether calls may do something that can be noticed if they fail. */
bool network_text(uint64_t seed, StrBuf *out);
