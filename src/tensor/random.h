/* Generator: mt19937 and the distributions in the order PyTorch's CPU generator draws them, so that a seed gives
 * PyTorch's numbers. Locked by its user. */
#pragma once

#include "tensor/tensor.h"

typedef struct Generator {
  RefCount refs;
  uint64_t seed;
  uint32_t state[624];
  int left, next;
  bool has_next_normal;
  double next_normal;
} Generator;
Status generator_new(uint64_t seed, Generator **out) MUST_CHECK; /* default seed: 67280421310721 */
void generator_release(Generator *g);
void generator_destroy(Generator *g); /* for who released the last reference himself */
void generator_seed(Generator *g, uint64_t seed);
/* Where the sequence stands, in the layout of PyTorch's CPU generator; what is no state of one is an error. */
enum { GENERATOR_STATE_BYTES = 5056 };
void generator_state_get(const Generator *g, void *bytes);
Status generator_state_set(Generator *g, const void *bytes, size_t count) MUST_CHECK;
uint32_t generator_random32(Generator *g);
uint64_t generator_random64(Generator *g);
float generator_uniform_float(Generator *g);   /* [0, 1), 24 bits */
double generator_uniform_double(Generator *g); /* [0, 1), 53 bits */
/* The same, `count` at once. */
void generator_uniform_floats(Generator *g, int64_t count, float *out);
void generator_uniform_doubles(Generator *g, int64_t count, double *out);
double generator_normal(Generator *g); /* mean 0, deviation 1; keeps every second one */
/* Fill a tensor of any strides in PyTorch's order and precision. */
Status random_uniform(Generator *g, Tensor *t, double from, double to) MUST_CHECK;
Status random_normal(Generator *g, Tensor *t, double mean,
                     double std) MUST_CHECK; /* the 16-wide path for n >= 16, scalar below */
/* Each group of sixteen uniform numbers becomes normal ones: the i-th and the (i + 8)-th together. */
enum { NORMAL_GROUP = 16 };
void random_normal_groups(int64_t n, float *u, float mean, float std);
Status random_from_to(Generator *g, Tensor *t, int64_t from, uint64_t range) MUST_CHECK; /* range 0: all 64 bits */
Status random_full_range(Generator *g, Tensor *t) MUST_CHECK;                            /* random_() without bounds */
Status random_bernoulli(Generator *g, Tensor *t, double p) MUST_CHECK;
Status random_bernoulli_tensor(Generator *g, Tensor *t, const Tensor *p) MUST_CHECK;
Status random_permutation(Generator *g, Tensor *t) MUST_CHECK;
Status random_exponential(Generator *g, Tensor *t, double lambda) MUST_CHECK;
Status random_geometric(Generator *g, Tensor *t, double p) MUST_CHECK;
Status random_cauchy(Generator *g, Tensor *t, double median, double sigma) MUST_CHECK;
Status random_log_normal(Generator *g, Tensor *t, double mean, double std) MUST_CHECK;
