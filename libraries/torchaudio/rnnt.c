/* The loss of transducers: minus the log probability of all ways through the lattice of frames t and labels u, by the
 * forward and backward variables of Graves, Sequence Transduction with Recurrent Neural Networks (arXiv 1211.3711),
 * section 2.4. Computes in float64. */
#include "torchaudio/operators.h"

typedef struct Rnnt {
  Dense logits, targets, frames, labels;             /* [batch, T, U + 1, classes], [batch, U], [batch], [batch] */
  int64_t batch, max_frames, places, classes, blank; /* places: U + 1 */
  double clamp;
  bool softmax;
  uint32_t dtype;
  double *log_blank, *log_label, *alpha, *beta; /* of one item, [T, U + 1] */
  double *work;
} Rnnt;

static void dispose(Rnnt *r) {
  dense_dispose(&r->logits);
  dense_dispose(&r->targets);
  dense_dispose(&r->frames);
  dense_dispose(&r->labels);
  free(r->work);
}

static const int64_t *numbers(const Dense *dense) {
  return dense->data;
}

static wick_status check_lengths(const Rnnt *r, wick_error **error) {
  int64_t most_frames = 0, most_labels = 0;
  for (int64_t i = 0; i < r->batch; i++) {
    int64_t frames = numbers(&r->frames)[i], labels = numbers(&r->labels)[i];
    if (frames < 1 || labels < 0) return fail(error, WICK_INVALID_ARGUMENT, "item %lld is empty", (long long)i);
    if (frames > most_frames) most_frames = frames;
    if (labels > most_labels) most_labels = labels;
  }
  if (most_frames != r->max_frames) return fail(error, WICK_INVALID_ARGUMENT, "input length mismatch");
  if (most_labels + 1 != r->places) return fail(error, WICK_INVALID_ARGUMENT, "output length mismatch");
  if (most_labels != r->targets.sizes[1]) return fail(error, WICK_INVALID_ARGUMENT, "target length mismatch");
  for (int64_t i = 0; i < r->batch; i++)
    for (int64_t u = 0; u < numbers(&r->labels)[i]; u++) {
      int64_t target = numbers(&r->targets)[i * (r->places - 1) + u];
      if (target < 0 || target >= r->classes)
        return fail(error, WICK_INVALID_ARGUMENT, "target %lld is not among the %lld classes", (long long)target,
                    (long long)r->classes);
    }
  return WICK_OK;
}

static wick_status check_sizes(Rnnt *r, wick_error **error) {
  const Dense *logits = &r->logits;
  if (logits->ndim != 4) return fail(error, WICK_INVALID_ARGUMENT, "logits must be 4-D (batch, time, target, class)");
  if (r->targets.ndim != 2) return fail(error, WICK_INVALID_ARGUMENT, "targets must be 2-D (batch, max target length)");
  if (r->frames.ndim != 1 || r->labels.ndim != 1)
    return fail(error, WICK_INVALID_ARGUMENT, "logit_lengths and target_lengths must be 1-D");
  r->batch = logits->sizes[0];
  r->max_frames = logits->sizes[1];
  r->places = logits->sizes[2];
  r->classes = logits->sizes[3];
  if (r->targets.sizes[0] != r->batch || r->frames.sizes[0] != r->batch || r->labels.sizes[0] != r->batch)
    return fail(error, WICK_INVALID_ARGUMENT, "batch dimension mismatch");
  if (r->batch < 1) return fail(error, WICK_INVALID_ARGUMENT, "the batch is empty");
  if (r->blank < 0 || r->blank >= r->classes)
    return fail(error, WICK_INVALID_ARGUMENT, "blank must be within [0, %lld)", (long long)r->classes);
  return check_lengths(r, error);
}

/* (logits, targets, logit_lengths, target_lengths, blank, clamp, fused_log_softmax) */
static wick_status rnnt_init(Rnnt *r, wick_call *call, wick_error **error) {
  wick_tensor_view view = {.size = sizeof view};
  TRY(wick_call_tensor(call, 0, &view, error));
  r->dtype = view.dtype;
  if (!dtype_is_floating(r->dtype))
    return fail(error, WICK_INVALID_ARGUMENT, "logits must be of a floating dtype, not %s", wick_dtype_name(r->dtype));
  Dense *whole[] = {&r->targets, &r->frames, &r->labels};
  for (size_t i = 0; i < COUNT(whole); i++) {
    TRY(wick_call_tensor(call, i + 1, &view, error));
    if (view.dtype != WICK_INT32)
      return fail(error, WICK_INVALID_ARGUMENT, "targets and lengths must be int32, not %s",
                  wick_dtype_name(view.dtype));
    TRY(dense_argument(call, i + 1, WICK_INT64, whole[i], error));
  }
  TRY(dense_argument(call, 0, WICK_FLOAT64, &r->logits, error));
  r->blank = argument_int(call, 4);
  r->clamp = argument_double(call, 5);
  r->softmax = argument_int(call, 6) != 0;
  TRY(check_sizes(r, error));
  size_t cells = (size_t)(r->max_frames * r->places); /* logits have as many and more */
  r->work = calloc(cells, 4 * sizeof *r->work);
  if (!r->work) return fail_memory(error);
  r->log_blank = r->work;
  r->log_label = r->work + cells;
  r->alpha = r->work + 2 * cells;
  r->beta = r->work + 3 * cells;
  return WICK_OK;
}

static double log_add(double a, double b) {
  double high = fmax(a, b), low = fmin(a, b);
  return low == -INFINITY ? high : high + log1p(exp(low - high));
}

static const double *logits_of(const Rnnt *r, int64_t item, int64_t cell) {
  return (const double *)r->logits.data + (item * r->max_frames * r->places + cell) * r->classes;
}

/* What the logits of a cell have to be reduced by. */
static double log_total(const Rnnt *r, const double *logits) {
  if (!r->softmax) return 0;
  double high = -INFINITY, sum = 0;
  for (int64_t v = 0; v < r->classes; v++) high = fmax(high, logits[v]);
  if (!isfinite(high)) return high;
  for (int64_t v = 0; v < r->classes; v++) sum += exp(logits[v] - high);
  return high + log(sum);
}

static int64_t target_of(const Rnnt *r, int64_t item, int64_t u) {
  return numbers(&r->targets)[item * (r->places - 1) + u];
}

/* Fills log_blank, log_label and alpha of an item; gives the log probability. */
static wick_status run_forward(const Rnnt *r, wick_call *call, int64_t item, double *out, wick_error **error) {
  int64_t frames = numbers(&r->frames)[item], labels = numbers(&r->labels)[item];
  for (int64_t t = 0; t < frames; t++) {
    TRY(wick_call_poll(call, error));
    for (int64_t u = 0; u <= labels; u++) {
      int64_t cell = t * r->places + u;
      const double *logits = logits_of(r, item, cell);
      double total = log_total(r, logits);
      r->log_blank[cell] = logits[r->blank] - total;
      r->log_label[cell] = u < labels ? logits[target_of(r, item, u)] - total : -INFINITY;
      double by_blank = t ? r->alpha[cell - r->places] + r->log_blank[cell - r->places] : -INFINITY;
      double by_label = u ? r->alpha[cell - 1] + r->log_label[cell - 1] : -INFINITY;
      r->alpha[cell] = t || u ? log_add(by_blank, by_label) : 0;
    }
  }
  int64_t last = (frames - 1) * r->places + labels;
  *out = r->alpha[last] + r->log_blank[last];
  return WICK_OK;
}

/* The gradient of a cell's logits: `blank` and `label` are the probabilities of leaving it by either. */
static void give_cell(const Rnnt *r, int64_t item, int64_t cell, bool has_label, int64_t target, double blank,
                      double label, double *to) {
  const double *logits = logits_of(r, item, cell);
  double total = r->softmax ? log_total(r, logits) : 0;
  for (int64_t v = 0; v < r->classes; v++) {
    double grad = r->softmax ? exp(logits[v] - total) * (blank + label) : 0;
    if (v == r->blank) grad -= blank;
    if (has_label && v == target) grad -= label;
    to[cell * r->classes + v] = r->clamp > 0 ? fmin(fmax(grad, -r->clamp), r->clamp) : grad;
  }
}

/* Fills beta and the gradients of an item. */
static wick_status run_backward(const Rnnt *r, wick_call *call, int64_t item, double likelihood, double *to,
                                wick_error **error) {
  int64_t frames = numbers(&r->frames)[item], labels = numbers(&r->labels)[item];
  for (int64_t t = frames - 1; t >= 0; t--) {
    TRY(wick_call_poll(call, error));
    for (int64_t u = labels; u >= 0; u--) {
      int64_t cell = t * r->places + u;
      bool ends = t == frames - 1 && u == labels;
      double by_blank = ends             ? r->log_blank[cell]
                        : t + 1 < frames ? r->log_blank[cell] + r->beta[cell + r->places]
                                         : -INFINITY;
      double by_label = u < labels ? r->log_label[cell] + r->beta[cell + 1] : -INFINITY;
      r->beta[cell] = log_add(by_blank, by_label);
      double before = r->alpha[cell] - likelihood;
      give_cell(r, item, cell, u < labels, u < labels ? target_of(r, item, u) : 0, exp(before + by_blank),
                exp(before + by_label), to);
    }
  }
  return WICK_OK;
}

/* The numbers of one item's results, which begin with 0, once its alpha is there. */
typedef wick_status ItemResult(const Rnnt *r, wick_call *call, int64_t item, double likelihood, double *to,
                               wick_error **error);
static wick_status give_cost(const Rnnt *r, wick_call *call, int64_t item, double likelihood, double *to,
                             wick_error **error) {
  (void)r, (void)call, (void)item, (void)error;
  *to = -likelihood;
  return WICK_OK;
}

/* The result has the first `ndim` sizes of the logits. */
static wick_status run_items(wick_call *call, int ndim, ItemResult *result, wick_error **error) {
  Rnnt r = {0};
  Dense out = {0};
  wick_status status;
  TRY_GOTO(rnnt_init(&r, call, error), done);
  TRY_GOTO(dense_new(WICK_FLOAT64, ndim, r.logits.sizes, true, &out, error), done);
  for (int64_t i = 0; i < r.batch; i++) {
    double likelihood, *to = (double *)out.data + i * product(r.logits.sizes, 1, ndim);
    TRY_GOTO(run_forward(&r, call, i, &likelihood, error), done);
    TRY_GOTO(result(&r, call, i, likelihood, to, error), done);
  }
  status = dense_give(call, 0, &out, r.dtype, error);
done:
  dispose(&r);
  dense_dispose(&out);
  return status;
}

/* -> costs [batch] */
wick_status kernel_rnnt_costs(void *user, wick_call *call, wick_error **error) {
  (void)user;
  return run_items(call, 1, give_cost, error);
}

/* -> the gradients of the costs, as logits; 0 beyond an item's lengths */
wick_status kernel_rnnt_gradients(void *user, wick_call *call, wick_error **error) {
  (void)user;
  return run_items(call, 4, run_backward, error);
}
