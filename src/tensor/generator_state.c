/* A generator's state as the bytes of torch.get_rng_state: where a sequence stands, taken up by PyTorch and by wick. */
#include <math.h>
#include <string.h>

#include "tensor/random.h"

enum { STATE_WORDS = 624, LEGACY_BYTES = 5048 };

/* The layout of PyTorch's CPU generator. What it wrote before it had floats of its own ends before `next_float`. */
typedef struct Layout {
  uint64_t seed;
  int32_t left, is_seeded;
  uint64_t next;
  uint64_t words[STATE_WORDS];
  double normal_x, normal_y, normal_rho;
  int32_t has_normal;
  int32_t padding;
  float next_float;
  uint8_t has_next_float, padding_end[3];
} Layout;
_Static_assert(sizeof(Layout) == GENERATOR_STATE_BYTES, "the size that PyTorch has");
_Static_assert(offsetof(Layout, next_float) == LEGACY_BYTES, "the size that it had");

void generator_state_get(const Generator *g, void *bytes) {
  Layout layout = {.seed = g->seed, .left = g->left, .is_seeded = 1, .next = (uint64_t)g->next};
  for (int i = 0; i < STATE_WORDS; i++) layout.words[i] = g->state[i];
  if (g->has_next_normal) {
    layout.has_normal = 1;
    layout.normal_y = g->next_normal;
  }
  memcpy(bytes, &layout, sizeof layout);
}

Status generator_state_set(Generator *g, const void *bytes, size_t count) {
  Layout layout = {0};
  if (count != sizeof layout && count != LEGACY_BYTES)
    return status_new(ERROR_RUNTIME,
                      "Expected either a CPUGeneratorImplStateLegacy of size %d or a CPUGeneratorImplState of size %zu "
                      "but found the input RNG state size to be %zu",
                      LEGACY_BYTES, sizeof layout, count);
  memcpy(&layout, bytes, count);
  if (!layout.is_seeded || layout.left <= 0 || layout.left > STATE_WORDS || layout.next > STATE_WORDS)
    return status_new(ERROR_RUNTIME, "Invalid mt19937 state");
  g->seed = layout.seed;
  g->left = layout.left;
  g->next = (int)layout.next;
  for (int i = 0; i < STATE_WORDS; i++) g->state[i] = (uint32_t)layout.words[i];
  g->has_next_normal = layout.has_normal != 0;
  g->next_normal = count == LEGACY_BYTES ? layout.normal_rho * sin(2.0 * M_PI * layout.normal_x) : layout.normal_y;
  return OK;
}
