/* Numbers that look like chance: the same seed gives the same ones. */
#pragma once

#include <stdint.h>

typedef struct Chance {
  uint64_t state;
} Chance;

static inline uint64_t chance_next(Chance *chance) { /* splitmix64 */
  uint64_t z = chance->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
/* 0 where n is 0. */
static inline uint64_t chance_below(Chance *chance, uint64_t n) {
  return n ? chance_next(chance) % n : 0;
}
