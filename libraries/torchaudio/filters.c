/* Filters whose output feeds back: y[n] = x[n] - a[1] y[n - 1] - a[2] y[n - 2] ..., and the loops that torchaudio runs
 * for lfilter and overdrive, which write into tensors that the program gives. */
#include "torchaudio/operators.h"

/* ---- tensors where they lie ---- */

typedef struct Strided {
  wick_tensor_view view;
  bool wide; /* float64 */
} Strided;

static wick_status take(wick_call *call, size_t index, int ndim, const Strided *like, Strided *out,
                        wick_error **error) {
  out->view = (wick_tensor_view){.size = sizeof out->view};
  TRY(wick_call_tensor(call, index, &out->view, error));
  if (out->view.dtype != WICK_FLOAT32 && out->view.dtype != WICK_FLOAT64)
    return fail(error, WICK_INVALID_ARGUMENT, "not implemented for tensors of %s", wick_dtype_name(out->view.dtype));
  out->wide = out->view.dtype == WICK_FLOAT64;
  if (like && like->wide != out->wide)
    return fail(error, WICK_INVALID_ARGUMENT, "argument %zu has another dtype than the first", index + 1);
  if (out->view.ndim != ndim)
    return fail(error, WICK_INVALID_ARGUMENT, "argument %zu should have %d dimensions, has %d", index + 1, ndim,
                out->view.ndim);
  return WICK_OK;
}

/* What is written must not be one number in many places. */
static wick_status take_written(wick_call *call, size_t index, int ndim, const Strided *like, Strided *out,
                                wick_error **error) {
  TRY(take(call, index, ndim, like, out, error));
  for (int i = 0; i < ndim; i++)
    if (out->view.strides[i] == 0 && out->view.sizes[i] > 1)
      return fail(error, WICK_INVALID_ARGUMENT, "argument %zu is written and has one number in many places", index + 1);
  return WICK_OK;
}

/* Asks now and then whether the call is over. */
static wick_status count_work(wick_call *call, uint32_t *work, wick_error **error) {
  return ++*work % 65536 ? WICK_OK : wick_call_poll(call, error);
}

static double get(const Strided *t, int64_t at) {
  return t->wide ? ((const double *)t->view.data)[at] : ((const float *)t->view.data)[at];
}
static void set(const Strided *t, int64_t at, double value) {
  if (t->wide)
    ((double *)t->view.data)[at] = value;
  else
    ((float *)t->view.data)[at] = (float)value;
}
static double rounded(const Strided *t, double value) {
  return t->wide ? value : (float)value;
}

/* ---- _lfilter_core_loop ---- */

typedef struct Line { /* where a line of each tensor begins */
  int64_t from, to, weights;
} Line;

static wick_status filter_line(wick_call *call, const Strided *from, const Strided *a, const Strided *to, Line line,
                               uint32_t *work, wick_error **error) {
  int last = from->view.ndim - 1;
  int64_t order = a->view.sizes[a->view.ndim - 1], step = to->view.strides[last];
  int64_t a_step = a->view.strides[a->view.ndim - 1];
  for (int64_t i = 0; i < from->view.sizes[last]; i++) {
    double sum = get(from, line.from + i * from->view.strides[last]);
    for (int64_t k = 0; k < order; k++) {
      sum = rounded(to, sum - rounded(to, get(to, line.to + (i + k) * step) * get(a, line.weights + k * a_step)));
      TRY(count_work(call, work, error));
    }
    set(to, line.to + (i + order - 1) * step, sum);
  }
  return WICK_OK;
}

/* (input_signal_windows [(batch,) channel, n], a_coeff_flipped [(channel,) order], padded_output_waveform! [(batch,)
 * channel, n + order - 1]) */
wick_status kernel_lfilter_core_loop(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_tensor_view first = {.size = sizeof first};
  Strided from, a, to;
  TRY(wick_call_tensor(call, 0, &first, error));
  bool batched = first.ndim == 3;
  TRY(take(call, 0, batched ? 3 : 2, NULL, &from, error));
  TRY(take(call, 1, batched ? 2 : 1, &from, &a, error));
  TRY(take_written(call, 2, from.view.ndim, &from, &to, error));
  const int64_t *in = from.view.sizes, *out = to.view.sizes, *coefficients = a.view.sizes;
  int last = from.view.ndim - 1;
  int64_t order = coefficients[a.view.ndim - 1];
  if (order < 1) return fail(error, WICK_INVALID_ARGUMENT, "there are no coefficients");
  if (memcmp(in, out, (size_t)last * sizeof *in) || out[last] - in[last] != order - 1 ||
      (batched && coefficients[0] != in[1]))
    return fail(error, WICK_INVALID_ARGUMENT, "the sizes of signal, coefficients and output don't belong together");
  int64_t channels = in[last - 1], lines = channels * (batched ? in[0] : 1);
  uint32_t work = 0;
  for (int64_t i = 0; i < lines; i++) {
    int64_t batch = batched ? i / channels : 0, channel = i % channels;
    Line line = {channel * from.view.strides[last - 1], channel * to.view.strides[last - 1],
                 batched ? channel * a.view.strides[0] : 0};
    if (batched) {
      line.from += batch * from.view.strides[0];
      line.to += batch * to.view.strides[0];
    }
    TRY(filter_line(call, &from, &a, &to, line, &work, error));
    TRY(wick_call_poll(call, error));
  }
  return WICK_OK;
}

/* ---- _overdrive_core_loop ---- */

/* (waveform [channel, n], temp [channel, n], last_in! [channel], last_out! [channel], output_waveform! [channel, n]) */
wick_status kernel_overdrive_core_loop(void *user, wick_call *call, wick_error **error) {
  (void)user;
  Strided t[5];
  uint32_t work = 0;
  for (size_t i = 0; i < COUNT(t); i++) {
    TRY((i < 2 ? take : take_written)(call, i, i == 2 || i == 3 ? 1 : 2, i ? &t[0] : NULL, &t[i], error));
    if (memcmp(t[i].view.sizes, t[0].view.sizes, (size_t)t[i].view.ndim * sizeof(int64_t)))
      return fail(error, WICK_INVALID_ARGUMENT, "argument %zu has other sizes than the waveform", i + 1);
  }
  for (int64_t channel = 0; channel < t[0].view.sizes[0]; channel++) {
    int64_t in_at = channel * t[2].view.strides[0], out_at = channel * t[3].view.strides[0], at[5];
    for (int64_t i = 0; i < t[0].view.sizes[1]; i++) {
      for (int k = 0; k < 5; k += k == 1 ? 3 : 1) at[k] = channel * t[k].view.strides[0] + i * t[k].view.strides[1];
      double temp = get(&t[1], at[1]), before = rounded(&t[0], temp - get(&t[2], in_at));
      set(&t[3], out_at, before + 0.995 * get(&t[3], out_at));
      set(&t[2], in_at, temp);
      set(&t[4], at[4], get(&t[0], at[0]) * 0.5 + get(&t[3], out_at) * 0.75);
      TRY(count_work(call, &work, error));
    }
  }
  return WICK_OK;
}

/* ---- _iir_forward ---- */

#define FILTER(REAL)                                                                                               \
  static wick_status filter_##REAL(wick_call *call, const REAL *from, const REAL *a, int64_t order, int64_t count, \
                                   REAL *to, wick_error **error) {                                                 \
    int64_t work = 0;                                                                                              \
    for (int64_t i = 0; i < count; i++) {                                                                          \
      REAL sum = from[i];                                                                                          \
      for (int64_t k = 1; k < order && k <= i; k++) sum -= a[k] * to[i - k];                                       \
      to[i] = sum;                                                                                                 \
      work += order;                                                                                               \
      if (work >= 65536) TRY(wick_call_poll(call, error));                                                         \
      work %= 65536;                                                                                               \
    }                                                                                                              \
    return WICK_OK;                                                                                                \
  }
FILTER(float)
FILTER(double)

/* (waveform [batch, channel, n], a_coeffs_normalized [channel, order], whose first is 1) -> as waveform */
wick_status kernel_iir(void *user, wick_call *call, wick_error **error) {
  (void)user;
  Dense from = {0}, a = {0}, to = {0};
  wick_tensor_view view = {.size = sizeof view};
  TRY(wick_call_tensor(call, 0, &view, error));
  if (!dtype_is_floating(view.dtype))
    return fail(error, WICK_INVALID_ARGUMENT, "not implemented for tensors of %s", wick_dtype_name(view.dtype));
  uint32_t dtype = dtype_compute(view.dtype), given = view.dtype;
  wick_status status;
  TRY_GOTO(dense_argument(call, 0, dtype, &from, error), done);
  TRY_GOTO(dense_argument(call, 1, dtype, &a, error), done);
  if (from.ndim != 3 || a.ndim != 2 || a.sizes[0] != from.sizes[1] || a.sizes[1] < 1) {
    status = fail(error, WICK_INVALID_ARGUMENT,
                  "the waveform should be [batch, channel, time], the coefficients [channel, order]");
    goto done;
  }
  TRY_GOTO(dense_new(dtype, 3, from.sizes, false, &to, error), done);
  int64_t count = from.sizes[2], order = a.sizes[1], lines = from.sizes[0] * from.sizes[1];
  for (int64_t i = 0; to.numel && i < lines; i++) {
    int64_t weights = i % a.sizes[0] * order;
    if (dtype == WICK_FLOAT64)
      status = filter_double(call, (const double *)from.data + i * count, (const double *)a.data + weights, order,
                             count, (double *)to.data + i * count, error);
    else
      status = filter_float(call, (const float *)from.data + i * count, (const float *)a.data + weights, order, count,
                            (float *)to.data + i * count, error);
    if (status) goto done;
    TRY_GOTO(wick_call_poll(call, error), done);
  }
  status = dense_give(call, 0, &to, given, error);
done:
  dense_dispose(&from);
  dense_dispose(&a);
  dense_dispose(&to);
  return status;
}
