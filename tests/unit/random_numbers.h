/* Numbers that look random and are the same in every run, for tests that try many shapes. */
#pragma once

#include <stdint.h>

static uint64_t seed = 1;
static inline uint32_t next(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33);
}
/* From `least` to `most`, both among them. */
static inline int64_t pick(int64_t least, int64_t most) {
  return least + (int64_t)(next() % (uint32_t)(most - least + 1));
}
