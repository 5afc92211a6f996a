/* Windows along a row side by side where rows are long, else one after the other. */
#include "compute/pool/pool_indices.h"

#include <assert.h>
#include <math.h>

#include "base/parallel.h"
#include "base/work_limit.h"

enum { ONE_THREAD_STEPS = 32768, LONG_ROW = 16, LONG_LINE = 4 };

typedef struct Search {
  const Work *work;
  const PoolPlanes *p;
  const float *in;
  float *out;
  int64_t *indices;
} Search;

/* For which results of a row a tap does. */
static PoolTaps results_of(const PoolPlanes *p, int64_t tap) {
  int64_t first = tap * p->dilation[2] - p->padding[2], step = p->stride[2], begin = 0, end = p->out[2];
  if (first < 0) begin = (-first + step - 1) / step;
  if (first + (end - 1) * step >= p->in[2]) end = p->in[2] > first ? (p->in[2] - 1 - first) / step + 1 : 0;
  return (PoolTaps){begin, end};
}

static inline __attribute__((always_inline)) void take_line(int64_t n, const float *x, int64_t step, int64_t place,
                                                            float *best, int64_t *where) {
  for (int64_t i = 0; i < n; i++) {
    float v = x[i * step];
    bool take = v > best[i] || v != v;
    best[i] = take ? v : best[i];
    where[i] = take ? place + i * step : where[i];
  }
}

/* A row of results, tap by tap. */
static void search_long_row(const PoolPlanes *p, const float *plane, int64_t o0, int64_t o1, int64_t *done, float *out,
                            int64_t *indices) {
  PoolTaps a = pool_taps(p, 0, o0), b = pool_taps(p, 1, o1);
  int64_t z = o0 * p->stride[0] - p->padding[0], y = o1 * p->stride[1] - p->padding[1];
  int64_t line = ((z + a.begin * p->dilation[0]) * p->in[1] + y + b.begin * p->dilation[1]) * p->in[2];
  for (int64_t o2 = 0; o2 < p->out[2]; o2++) {
    out[o2] = -INFINITY;
    indices[o2] = line + o2 * p->stride[2] - p->padding[2] + pool_taps(p, 2, o2).begin * p->dilation[2];
  }
  for (int64_t k0 = a.begin; k0 < a.end; k0++)
    for (int64_t k1 = b.begin; k1 < b.end; k1++)
      for (int64_t k2 = 0; k2 < p->kernel[2]; k2++) {
        PoolTaps r = results_of(p, k2);
        if (work_is_over_after(done, p->out[2] / 4 + 8)) return;
        int64_t place = ((z + k0 * p->dilation[0]) * p->in[1] + y + k1 * p->dilation[1]) * p->in[2] +
                        r.begin * p->stride[2] - p->padding[2] + k2 * p->dilation[2];
        if (r.begin >= r.end) continue;
        if (p->stride[2] == 1)
          take_line(r.end - r.begin, plane + place, 1, place, out + r.begin, indices + r.begin);
        else if (p->stride[2] == 2)
          take_line(r.end - r.begin, plane + place, 2, place, out + r.begin, indices + r.begin);
        else
          take_line(r.end - r.begin, plane + place, p->stride[2], place, out + r.begin, indices + r.begin);
      }
}

/* The next window's search does not wait for this one's, nor do branches depend on what is found, but for whether
 * anything is in a long line of a window. */
static void search_short_row(const PoolPlanes *p, const float *plane, int64_t o0, int64_t o1, int64_t *done, float *out,
                             int64_t *indices) {
  PoolTaps a = pool_taps(p, 0, o0), b = pool_taps(p, 1, o1);
  int64_t z = o0 * p->stride[0] - p->padding[0], y = o1 * p->stride[1] - p->padding[1];
  for (int64_t o2 = 0; o2 < p->out[2]; o2++) {
    PoolTaps c = pool_taps(p, 2, o2);
    int64_t x = o2 * p->stride[2] - p->padding[2], step = p->dilation[2];
    int64_t at =
        ((z + a.begin * p->dilation[0]) * p->in[1] + y + b.begin * p->dilation[1]) * p->in[2] + x + c.begin * step;
    float best = -INFINITY;
    for (int64_t k0 = a.begin; k0 < a.end; k0++)
      for (int64_t k1 = b.begin; k1 < b.end; k1++) {
        int64_t line = ((z + k0 * p->dilation[0]) * p->in[1] + y + k1 * p->dilation[1]) * p->in[2] + x;
        bool any = c.end - c.begin < LONG_LINE;
        if (work_is_over_after(done, c.end - c.begin + 4)) return;
        for (int64_t k2 = c.begin; k2 < c.end && c.end - c.begin >= LONG_LINE; k2++)
          any |= !(plane[line + k2 * step] <= best);
        for (int64_t k2 = c.begin; k2 < c.end && any; k2++) {
          int64_t here = line + k2 * step;
          float v = plane[here];
          bool take = (v > best) | (v != v);
          at = take ? here : at;
          best = take ? v : best;
        }
      }
    out[o2] = best;
    indices[o2] = at;
  }
}

static void search_planes(void *argument, int64_t begin, int64_t end) {
  const Search *s = argument;
  const PoolPlanes *p = s->p;
  int64_t in = p->in[0] * p->in[1] * p->in[2], done = 0;
  for (int64_t plane = begin; plane < end; plane++)
    for (int64_t o0 = 0; o0 < p->out[0]; o0++)
      for (int64_t o1 = 0; o1 < p->out[1]; o1++) {
        int64_t at = ((plane * p->out[0] + o0) * p->out[1] + o1) * p->out[2];
        if (work_has_to_end(s->work)) return;
        (p->out[2] >= LONG_ROW ? search_long_row : search_short_row)(p, s->in + plane * in, o0, o1, &done, s->out + at,
                                                                     s->indices + at);
      }
}

Status pool_indices_run(const Work *work, const PoolPlanes *p, const float *in, float *out, int64_t *indices) {
  assert(!p->averages);
  Search s = {work, p, in, out, indices};
  int64_t steps = p->out[0] * p->out[1] * p->out[2] * p->kernel[0] * p->kernel[1] * p->kernel[2];
  parallel_for(work->threads, p->planes, 1 + ONE_THREAD_STEPS / (steps + 1), search_planes, &s);
  return work_check(work);
}

typedef struct Spread {
  DType dtype;
  int64_t size, count;
  const void *grad;
  const int64_t *indices;
  void *to;
  _Atomic bool is_outside;
} Spread;

#define SPREAD_PLANE(T)                                                                                     \
  static bool spread_plane_##T(int64_t size, int64_t count, const T *grad, const int64_t *indices, T *to) { \
    bool is_inside = true;                                                                                  \
    memset(to, 0, (size_t)size * sizeof *to);                                                               \
    for (int64_t i = 0; i < count; i++) {                                                                   \
      bool is_there = indices[i] >= 0 && indices[i] < size;                                                 \
      if (is_there) to[indices[i]] += grad[i];                                                              \
      is_inside &= is_there;                                                                                \
    }                                                                                                       \
    return is_inside;                                                                                       \
  }
SPREAD_PLANE(float)
SPREAD_PLANE(double)
#undef SPREAD_PLANE

static void spread_planes(void *argument, int64_t begin, int64_t end) {
  Spread *s = argument;
  for (int64_t plane = begin; plane < end; plane++) {
    const int64_t *indices = s->indices + plane * s->count;
    int64_t from = plane * s->count, to = plane * s->size;
    bool is_inside =
        s->dtype == DTYPE_FLOAT64
            ? spread_plane_double(s->size, s->count, (const double *)s->grad + from, indices, (double *)s->to + to)
            : spread_plane_float(s->size, s->count, (const float *)s->grad + from, indices, (float *)s->to + to);
    if (!is_inside) atomic_store(&s->is_outside, true);
  }
}

bool pool_spread(int threads, DType dtype, int64_t planes, int64_t size, int64_t count, const void *grad,
                 const int64_t *indices, void *to) {
  assert(dtype == DTYPE_FLOAT32 || dtype == DTYPE_FLOAT64);
  Spread s = {.dtype = dtype, .size = size, .count = count, .grad = grad, .indices = indices, .to = to};
  parallel_for(threads, planes, 1 + ONE_THREAD_STEPS / (size + count + 1), spread_planes, &s);
  return !atomic_load(&s.is_outside);
}
