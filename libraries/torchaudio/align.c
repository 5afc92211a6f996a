/* forced_align: which label each frame has on the likeliest way through a sequence of labels with blanks between them
 * (Viterbi's algorithm on the lattice of Graves et al., Connectionist Temporal Classification, ICML 2006, section 4.1).
 * Sums are rounded to float32, or kept in float64 where the probabilities are, as torchaudio's. */
#include "torchaudio/operators.h"

typedef struct Alignment {
  Dense scores, targets, frames_of, labels_of; /* [1, T, classes], [1, L], [1], [1] */
  uint32_t dtype, target_dtype;
  int64_t frames, classes, labels, states, blank; /* states: 2 L + 1, every other one is the blank */
  double *best, *before;                          /* of each state, at this frame and the one before */
  uint8_t *back;                                  /* [T, states]: how many states each came forward */
} Alignment;

static void dispose(Alignment *a) {
  dense_dispose(&a->scores);
  dense_dispose(&a->targets);
  dense_dispose(&a->frames_of);
  dense_dispose(&a->labels_of);
  free(a->best);
  free(a->before);
  free(a->back);
}

static int64_t label_of(const Alignment *a, int64_t state) {
  return state % 2 ? ((const int64_t *)a->targets.data)[state / 2] : a->blank;
}

static wick_status check_lengths(const Alignment *a, wick_error **error) {
  if (*(const int64_t *)a->frames_of.data != a->frames)
    return fail(error, WICK_INVALID_ARGUMENT, "input length mismatch");
  if (*(const int64_t *)a->labels_of.data != a->labels)
    return fail(error, WICK_INVALID_ARGUMENT, "target length mismatch");
  int64_t repeats = 0;
  for (int64_t s = 1; s < a->states; s += 2) {
    if (label_of(a, s) < 0 || label_of(a, s) >= a->classes)
      return fail(error, WICK_INVALID_ARGUMENT, "target %lld is not among the %lld classes", (long long)label_of(a, s),
                  (long long)a->classes);
    repeats += s > 1 && label_of(a, s) == label_of(a, s - 2);
  }
  if (a->frames < a->labels + repeats)
    return fail(error, WICK_INVALID_ARGUMENT,
                "targets length is too long for CTC. Found log_probs length: %lld, targets length: %lld, and number of "
                "repeats: %lld",
                (long long)a->frames, (long long)a->labels, (long long)repeats);
  return WICK_OK;
}

static wick_status check_sizes(const Alignment *a, wick_error **error) {
  if (a->scores.ndim != 3) return fail(error, WICK_INVALID_ARGUMENT, "log_probs must be 3-D (batch, time, class)");
  if (a->targets.ndim != 2) return fail(error, WICK_INVALID_ARGUMENT, "targets must be 2-D (batch, target length)");
  if (a->scores.sizes[0] != 1 || a->targets.sizes[0] != 1)
    return fail(error, WICK_INVALID_ARGUMENT, "only a batch of 1 is supported");
  if (a->frames_of.ndim != 1 || a->labels_of.ndim != 1 || a->frames_of.sizes[0] != 1 || a->labels_of.sizes[0] != 1)
    return fail(error, WICK_INVALID_ARGUMENT, "input_lengths and target_lengths must be 1-D, of one number");
  if (a->blank < 0 || a->blank >= a->scores.sizes[2])
    return fail(error, WICK_INVALID_ARGUMENT, "blank must be within [0, num classes)");
  return WICK_OK;
}

/* (log_probs, targets, input_lengths, target_lengths, blank) */
static wick_status align_init(Alignment *a, wick_call *call, wick_error **error) {
  wick_tensor_view view = {.size = sizeof view};
  TRY(wick_call_tensor(call, 0, &view, error));
  a->dtype = view.dtype;
  if (a->dtype != WICK_FLOAT16 && a->dtype != WICK_FLOAT32 && a->dtype != WICK_FLOAT64)
    return fail(error, WICK_INVALID_ARGUMENT, "log_probs must be float64, float32 or float16 (half) type");
  Dense *whole[] = {&a->targets, &a->frames_of, &a->labels_of};
  for (size_t i = 0; i < COUNT(whole); i++) {
    TRY(wick_call_tensor(call, i + 1, &view, error));
    if (view.dtype != WICK_INT32 && view.dtype != WICK_INT64)
      return fail(error, WICK_INVALID_ARGUMENT, "targets and lengths must be int32 or int64, not %s",
                  wick_dtype_name(view.dtype));
    if (i == 0) a->target_dtype = view.dtype;
    TRY(dense_argument(call, i + 1, WICK_INT64, whole[i], error));
  }
  TRY(dense_argument(call, 0, WICK_FLOAT64, &a->scores, error));
  a->blank = argument_int(call, 4);
  TRY(check_sizes(a, error));
  a->frames = a->scores.sizes[1];
  a->classes = a->scores.sizes[2];
  a->labels = a->targets.sizes[1];
  a->states = 2 * a->labels + 1;
  TRY(check_lengths(a, error));
  a->best = malloc((size_t)a->states * sizeof *a->best);
  a->before = malloc((size_t)a->states * sizeof *a->before);
  a->back = calloc((size_t)a->frames + 1, (size_t)a->states);
  return a->best && a->before && a->back ? WICK_OK : fail_memory(error);
}

/* A state is reached from itself, the one before, and over a blank from another label; of equals the first. */
static uint8_t step_of(const Alignment *a, int64_t state) {
  double stay = a->before[state], one = state ? a->before[state - 1] : -INFINITY, two = -INFINITY;
  if (state % 2 && state > 1 && label_of(a, state) != label_of(a, state - 2)) two = a->before[state - 2];
  return two > one && two > stay ? 2 : one > stay && one > two ? 1 : 0;
}

static wick_status run(Alignment *a, wick_call *call, wick_error **error) {
  for (int64_t t = 0; t < a->frames; t++) {
    const double *scores = (const double *)a->scores.data + t * a->classes;
    double *swapped = a->before;
    a->before = a->best;
    a->best = swapped;
    TRY(wick_call_poll(call, error));
    for (int64_t s = 0; s < a->states; s++) {
      uint8_t step = t ? step_of(a, s) : 0;
      double sum = scores[label_of(a, s)] + (t ? a->before[s - step] : s < 2 ? 0 : -INFINITY);
      a->best[s] = a->dtype == WICK_FLOAT64 ? sum : (float)sum;
      a->back[t * a->states + s] = step;
    }
  }
  return WICK_OK;
}

/* -> (paths [1, T] of the targets' dtype, log_probs) */
wick_status kernel_forced_align(void *user, wick_call *call, wick_error **error) {
  (void)user;
  Alignment a = {0};
  Dense path = {0};
  wick_status status;
  TRY_GOTO(align_init(&a, call, error), done);
  TRY_GOTO(run(&a, call, error), done);
  TRY_GOTO(dense_new(WICK_INT64, 2, a.scores.sizes, true, &path, error), done);
  int64_t state = a.states - 1;
  if (state && !(a.frames && a.best[state] > a.best[state - 1])) state--; /* it ends in the last label or a blank */
  for (int64_t t = a.frames - 1; t >= 0; t--) {
    ((int64_t *)path.data)[t] = label_of(&a, state);
    state -= a.back[t * a.states + state];
  }
  TRY_GOTO(dense_give(call, 0, &path, a.target_dtype, error), done);
  status = dense_give(call, 1, &a.scores, a.dtype, error);
done:
  dispose(&a);
  dense_dispose(&path);
  return status;
}
