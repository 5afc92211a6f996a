/* Generator: Matsumoto and Nishimura's mt19937, drawn as PyTorch's CPU generator draws it. */
#include "tensor/random.h"

#include <math.h>

enum { STATE_WORDS = 624, STATE_SHIFT = 397 };

Status generator_new(uint64_t seed, Generator **out) {
  *out = mem_alloc(sizeof **out);
  if (!*out) return status_out_of_memory();
  ref_init(&(*out)->refs);
  generator_seed(*out, seed);
  return OK;
}

void generator_release(Generator *g) {
  if (g && ref_release(&g->refs)) generator_destroy(g);
}

void generator_destroy(Generator *g) {
  mem_free(g);
}

void generator_seed(Generator *g, uint64_t seed) {
  g->seed = seed;
  g->state[0] = (uint32_t)seed;
  for (uint32_t i = 1; i < STATE_WORDS; i++)
    g->state[i] = 1812433253u * (g->state[i - 1] ^ (g->state[i - 1] >> 30)) + i;
  g->left = 1;
  g->next = 0;
  g->has_next_normal = false;
}

static void refill(Generator *g) {
  uint32_t *s = g->state;
  for (int i = 0; i < STATE_WORDS; i++) {
    uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % STATE_WORDS] & 0x7fffffffu);
    s[i] = s[(i + STATE_SHIFT) % STATE_WORDS] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
  }
  g->left = STATE_WORDS;
  g->next = 0;
}

uint32_t generator_random32(Generator *g) {
  if (--g->left <= 0 || g->next >= STATE_WORDS) refill(g);
  uint32_t y = g->state[g->next++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

uint64_t generator_random64(Generator *g) {
  uint64_t high = generator_random32(g);
  return high << 32 | generator_random32(g);
}

float generator_uniform_float(Generator *g) {
  return (float)(generator_random32(g) & 0xffffffu) * 0x1p-24f;
}

double generator_uniform_double(Generator *g) {
  return (double)(generator_random64(g) & 0x1fffffffffffffu) * 0x1p-53;
}

/* Box and Muller give two at a time; the second waits in the generator. */
double generator_normal(Generator *g) {
  if (g->has_next_normal) {
    g->has_next_normal = false;
    return g->next_normal;
  }
  double u1 = generator_uniform_double(g), u2 = generator_uniform_double(g);
  double radius = sqrt(-2.0 * log1p(-u2)), angle = 2.0 * M_PI * u1;
  g->next_normal = radius * sin(angle);
  g->has_next_normal = true;
  return radius * cos(angle);
}
