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

static inline uint32_t twist(uint32_t upper, uint32_t lower) {
  uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);
  return (y >> 1) ^ (-(y & 1) & 0x9908b0dfu);
}

/* In parts without a turn around the end, so that vectors compute them. */
static void refill(Generator *g) {
  enum { TURN = STATE_WORDS - STATE_SHIFT };
  uint32_t *s = g->state;
  for (int i = 0; i < TURN; i++) s[i] = s[i + STATE_SHIFT] ^ twist(s[i], s[i + 1]);
  for (int i = TURN; i < STATE_WORDS - 1; i++) s[i] = s[i - TURN] ^ twist(s[i], s[i + 1]);
  s[STATE_WORDS - 1] = s[STATE_SHIFT - 1] ^ twist(s[STATE_WORDS - 1], s[0]);
  g->left = STATE_WORDS;
  g->next = 0;
}

static inline uint32_t tempered(uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

uint32_t generator_random32(Generator *g) {
  if (--g->left <= 0 || g->next >= STATE_WORDS) refill(g);
  return tempered(g->state[g->next++]);
}

/* The state's next words, up to `most` of them; they count as drawn. */
static const uint32_t *take_words(Generator *g, int64_t most, int *out_count) {
  int left = g->left - 1 < STATE_WORDS - g->next ? g->left - 1 : STATE_WORDS - g->next;
  if (left <= 0) {
    refill(g);
    g->left++; /* the first word of a new state is not counted */
    left = STATE_WORDS;
  }
  *out_count = most < left ? (int)most : left;
  g->left -= *out_count;
  g->next += *out_count;
  return g->state + g->next - *out_count;
}

static void random32s(Generator *g, int64_t count, uint32_t *out) {
  for (int taken; count > 0; count -= taken, out += taken) {
    const uint32_t *words = take_words(g, count, &taken);
    for (int i = 0; i < taken; i++) out[i] = tempered(words[i]);
  }
}

uint64_t generator_random64(Generator *g) {
  uint64_t high = generator_random32(g);
  return high << 32 | generator_random32(g);
}

float generator_uniform_float(Generator *g) {
  return (float)(generator_random32(g) & 0xffffffu) * 0x1p-24f;
}

void generator_uniform_floats(Generator *g, int64_t count, float *out) {
  for (int taken; count > 0; count -= taken, out += taken) {
    const uint32_t *words = take_words(g, count, &taken);
    for (int i = 0; i < taken; i++) out[i] = (float)(int32_t)(tempered(words[i]) & 0xffffffu) * 0x1p-24f;
  }
}

static double double_of_bits(uint64_t bits) {
  return (double)(int64_t)(bits & 0x1fffffffffffffu) * 0x1p-53;
}

void generator_uniform_doubles(Generator *g, int64_t count, double *out) {
  enum { BLOCK = 128 };
  uint32_t words[2 * BLOCK];
  for (int64_t begin = 0; begin < count; begin += BLOCK) {
    int64_t n = count - begin < BLOCK ? count - begin : BLOCK;
    random32s(g, 2 * n, words);
    for (int64_t i = 0; i < n; i++) out[begin + i] = double_of_bits((uint64_t)words[2 * i] << 32 | words[2 * i + 1]);
  }
}

double generator_uniform_double(Generator *g) {
  return double_of_bits(generator_random64(g));
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
