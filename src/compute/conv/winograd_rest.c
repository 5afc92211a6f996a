/* Guesses are made the same way when they are compared with the filters and when they become them again, in double, by
 * one function that is compiled once. */
#include "compute/conv/winograd_rest.h"

#include "base/parallel.h"
#include "compute/conv/flat_winograd.h"

enum { TAPS = 9, FAR_OFF = INT8_MIN, MOST_FAR_OFF = 8 /* one of so many elements */ };

typedef struct FarOff {
  uint32_t element;
  float value;
} FarOff;
struct WinogradRest {
  uint32_t element_count, far_count;
  FarOff far[]; /* in order; after them the steps, int8_t for each element */
};

static int8_t *steps_of(const WinogradRest *rest) {
  return (int8_t *)(rest->far + rest->far_count);
}
size_t winograd_rest_bytes(const WinogradRest *rest) {
  return rest ? sizeof *rest + rest->far_count * sizeof *rest->far + rest->element_count : 0;
}

/* ---- guesses ---- */

/* A line of a filter from its values at the points. */
static inline void guess_line(const FilterPoints *f, const double *y, double *w) {
  const PointPair *near = &f->pair[0];
  w[0] = y[0] / f->scale;
  w[1] = (y[1] - y[2]) / (2 * near->x * near->scale);
  w[2] = y[2 * f->pairs + 1];
}

/* The filter of an output and an input channel. */
static __attribute__((noinline)) void guess_filter(const FilterPoints *f, const float *transformed, int64_t stride,
                                                   float *out) {
  int length = 2 * f->pairs + 2;
  double half[MOST_POINTS][3];
  for (int i = 0; i < length; i++) {
    double line[MOST_POINTS];
    for (int j = 0; j < length; j++) line[j] = (double)transformed[(i * length + j) * stride];
    guess_line(f, line, half[i]);
  }
  for (int q = 0; q < 3; q++) {
    double line[MOST_POINTS], w[3];
    for (int i = 0; i < length; i++) line[i] = half[i][q];
    guess_line(f, line, w);
    for (int p = 0; p < 3; p++) out[3 * p + q] = (float)w[p];
  }
}

/* ---- steps from one float to another ---- */

/* Neighboring numbers have neighboring places; both zeros have that of 0. */
static int64_t place_of(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits >= 0 ? bits : (int64_t)INT32_MIN - bits;
}
static float float_at(int64_t place) {
  int32_t bits = (int32_t)(place >= 0 ? place : INT32_MIN - place);
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static bool same_bits(float a, float b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

static float step_from(float guess, int step) {
  int64_t place = place_of(guess) + step;
  return place > INT32_MAX || place < -(int64_t)INT32_MAX ? guess : float_at(place);
}
static int8_t step_between(float guess, float value) {
  int64_t step = place_of(value) - place_of(guess);
  if (step <= FAR_OFF || step > INT8_MAX || !same_bits(step_from(guess, (int)step), value)) return FAR_OFF;
  return (int8_t)step;
}

/* ---- all filters ---- */

typedef struct Filters {
  const WeightLayout *layout;
  FilterPoints points;
  const float *transformed, *filters;
  int8_t *steps;
} Filters;

static Filters filters_of(const WeightLayout *layout, const float *transformed) {
  return (Filters){layout, filter_points(layout->transform == WEIGHT_WINOGRAD_2 ? 2 : 4), transformed, NULL, NULL};
}

static void guess(const Filters *f, int64_t output, int64_t input, float *out) {
  int64_t inputs = f->layout->sizes[1], length = 2 * f->points.pairs + 2, panel = output / FLAT_ROWS;
  const float *from = f->transformed + panel * length * length * inputs * FLAT_ROWS + input * FLAT_ROWS;
  guess_filter(&f->points, from + output % FLAT_ROWS, inputs * FLAT_ROWS, out);
}

static void find_steps(void *argument, int64_t begin, int64_t end) {
  const Filters *f = argument;
  int64_t inputs = f->layout->sizes[1];
  for (int64_t i = begin * inputs; i < end * inputs; i++) {
    float guessed[TAPS];
    guess(f, i / inputs, i % inputs, guessed);
    for (int k = 0; k < TAPS; k++) f->steps[i * TAPS + k] = step_between(guessed[k], f->filters[i * TAPS + k]);
  }
}

static WinogradRest *with_far(const Filters *f, int64_t elements) {
  uint32_t far = 0, at = 0;
  for (int64_t i = 0; i < elements; i++) far += f->steps[i] == FAR_OFF;
  if (far > elements / MOST_FAR_OFF) return NULL;
  WinogradRest *rest = mem_alloc(sizeof *rest + far * sizeof *rest->far + (size_t)elements);
  if (!rest) return NULL;
  *rest = (WinogradRest){(uint32_t)elements, far};
  for (int64_t i = 0; i < elements; i++)
    if (f->steps[i] == FAR_OFF) rest->far[at++] = (FarOff){(uint32_t)i, f->filters[i]};
  memcpy(steps_of(rest), f->steps, (size_t)elements);
  return rest;
}

WinogradRest *winograd_rest_new(int threads, const WeightLayout *layout, const float *transformed,
                                const float *filters) {
  Filters f = filters_of(layout, transformed);
  int64_t elements = layout->sizes[0] * layout->sizes[1] * TAPS;
  f.filters = filters;
  f.steps = elements <= UINT32_MAX ? mem_alloc((size_t)elements) : NULL;
  if (!f.steps) return NULL;
  parallel_for(threads, layout->sizes[0], 1024 / layout->sizes[1] + 1, find_steps, &f);
  WinogradRest *rest = with_far(&f, elements);
  mem_free(f.steps);
  return rest;
}

void winograd_rest_put_back(const WinogradRest *rest, const WeightLayout *layout, const float *transformed, float *to) {
  Filters f = filters_of(layout, transformed);
  const int8_t *steps = steps_of(rest);
  for (int64_t o = 0, at = 0; o < layout->sizes[0]; o++)
    for (int64_t i = 0; i < layout->sizes[1]; i++, at += TAPS) {
      float guessed[TAPS];
      guess(&f, o, i, guessed);
      for (int k = 0; k < TAPS; k++) to[at + k] = step_from(guessed[k], steps[at + k]);
    }
  for (uint32_t i = 0; i < rest->far_count; i++) to[rest->far[i].element] = rest->far[i].value;
}
