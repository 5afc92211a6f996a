/* Random TorchScript programs: control flow, views, in-place writes, lists, aliases. They compile, end, and never
 * raise; what they compute is anybody's guess. */
#pragma once

#include "base/str.h"

/* Writes `def f(a: Tensor, b: Tensor, n: int, flag: bool) -> ...` for tensors of sizes [2, 3]. The same seed gives the
 * same text. */
void program_text(uint64_t seed, StrBuf *out);
uint64_t random_next(uint64_t *state); /* splitmix64 */
