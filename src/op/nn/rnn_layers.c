#include "op/nn/rnn_layers.h"

#include "call/row.h"
#include "compute/rnn/rnn_step.h"
#include "op/nn/fused.h"
#include "op/nn/linear.h"

/* The weights of one layer in one direction; biases may be NULL. */
typedef struct Weights {
  const Tensor *of_input, *of_hidden, *input_bias, *hidden_bias;
} Weights;

static bool are_weights(const Weights *w, RnnMode mode, int64_t in, int64_t hidden) {
  int64_t width = rnn_gates(mode) * hidden;
  const Tensor *a = w->of_input, *b = w->of_hidden;
  return fused_is_plain(a) && a->ndim == 2 && a->sizes[0] == width && a->sizes[1] == in && in > 0 &&
         fused_is_plain(b) && b->ndim == 2 && b->sizes[0] == width && b->sizes[1] == hidden && hidden > 0 &&
         fused_is_vector(w->input_bias, width) && fused_is_vector(w->hidden_bias, width);
}

static Status new_matrix(int64_t rows, int64_t columns, Tensor **out) {
  return tensor_empty(DTYPE_FLOAT32, 2, (const int64_t[]){rows, columns}, out);
}

static float *floats(const Tensor *t) {
  return tensor_data(t);
}

/* ---- layers ---- */

typedef struct Layers {
  Exec *exec;
  RnnMode mode;
  const List *params;
  bool has_biases;
  int64_t count, directions, steps, batch, hidden;
  const int64_t *sizes; /* samples of each step, which never grow: the first has `batch`; NULL: all have */
  Tensor *h, *c;        /* (count * directions, batch, hidden): the state; c of LSTM alone */
} Layers;

static int64_t rows_of_step(const Layers *l, int64_t step) {
  return l->sizes ? l->sizes[step] : l->batch;
}

static Weights weights_of(const Layers *l, int64_t index) {
  size_t per = l->has_biases ? 4 : 2, at = (size_t)index * per;
  return (Weights){list_tensor(l->params, at), list_tensor(l->params, at + 1),
                   l->has_biases ? list_tensor(l->params, at + 2) : NULL,
                   l->has_biases ? list_tensor(l->params, at + 3) : NULL};
}

static bool are_layers(const Layers *l, int64_t in) {
  size_t per = l->has_biases ? 4 : 2;
  if (l->count < 1 || l->steps < 1 || l->batch < 1 || l->params->kind != LIST_VALUES ||
      l->params->length != per * (size_t)(l->count * l->directions))
    return false;
  for (int64_t i = 0; i < l->count * l->directions; i++) {
    Weights w = weights_of(l, i);
    if (!are_weights(&w, l->mode, i < l->directions ? in : l->hidden * l->directions, l->hidden)) return false;
  }
  return true;
}

static bool is_state(const Tensor *t, int64_t count, int64_t batch, int64_t hidden) {
  return t->dtype == DTYPE_FLOAT32 && t->ndim == 3 && t->sizes[0] == count && t->sizes[1] == batch &&
         t->sizes[2] == hidden;
}

/* One direction over all steps; x and out: all rows, out's `pitch` apart. */
static Status run_direction(const Layers *l, int64_t index, bool backwards, GemmMatrix x, int64_t rows, float *out,
                            int64_t pitch) {
  Weights w = weights_of(l, index);
  int64_t n = l->hidden, width = rnn_gates(l->mode) * n, at = backwards ? rows : 0;
  size_t state = (size_t)(index * l->batch * n);
  RnnStep step = {.mode = l->mode, .hidden = n, .h = floats(l->h) + state, .c = l->c ? floats(l->c) + state : NULL};
  Tensor *from_input = NULL, *from_hidden = NULL;
  Status status;
  TRY_GOTO(new_matrix(rows, width, &from_input), done);
  TRY_GOTO(new_matrix(l->batch, width, &from_hidden), done);
  TRY_GOTO(linear_product(l->exec, rows, x, w.of_input, w.input_bias, from_input, NULL), done);
  step.from_hidden = floats(from_hidden);
  for (int64_t k = 0; k < l->steps; k++) {
    step.rows = rows_of_step(l, backwards ? l->steps - 1 - k : k);
    if (backwards) at -= step.rows;
    step.from_input = floats(from_input) + at * width;
    TRY_GOTO(
        linear_product(l->exec, step.rows, (GemmMatrix){step.h, n, 1}, w.of_hidden, w.hidden_bias, from_hidden, NULL),
        done);
    rnn_step(l->exec->work.threads, &step);
    for (int64_t i = 0; i < step.rows; i++) memcpy(out + (at + i) * pitch, step.h + i * n, (size_t)n * sizeof(float));
    if (!backwards) at += step.rows;
    TRY_GOTO(work_check(&l->exec->work), done);
  }
done:
  tensor_release(from_input);
  tensor_release(from_hidden);
  return status;
}

/* `out`, row after row, is what the last layer gives. */
static Status run_layers(const Layers *l, GemmMatrix x, int64_t rows, float *out) {
  int64_t width = l->directions * l->hidden;
  Tensor *before = NULL, *now = NULL;
  Status status = OK;
  for (int64_t layer = 0; layer < l->count; layer++) {
    float *to = out;
    if (layer + 1 < l->count) {
      TRY_GOTO(new_matrix(rows, width, &now), done);
      to = floats(now);
    }
    for (int64_t d = 0; d < l->directions; d++)
      TRY_GOTO(run_direction(l, layer * l->directions + d, d == 1, x, rows, to + d * l->hidden, width), done);
    tensor_release(before);
    before = now;
    now = NULL;
    x = (GemmMatrix){to, width, 1};
  }
done:
  tensor_release(before);
  tensor_release(now);
  return status;
}

static Status copy_of(const Tensor *t, int threads, Tensor **out) {
  TRY(tensor_empty(DTYPE_FLOAT32, t->ndim, t->sizes, out));
  Status status = tensor_copy(*out, t, threads);
  if (status) {
    tensor_release(*out);
    *out = NULL;
  }
  return status;
}

/* The arguments from `hx` on, `at` being its place. */
static Status read_layers(const Call *call, uint32_t at, Layers *l, const Tensor **h0, const Tensor **c0) {
  if (l->mode == RNN_LSTM) {
    const List *hx = call_list(call, at);
    if (hx->kind != LIST_VALUES || hx->length != 2) return reason_decline(REASON_NOT_FUSED_ARGUMENT);
    *h0 = list_tensor(hx, 0);
    *c0 = list_tensor(hx, 1);
  } else {
    *h0 = call_tensor(call, at);
    *c0 = NULL;
  }
  l->exec = call->exec;
  l->params = call_list(call, at + 1);
  l->has_biases = call_bool(call, at + 2);
  l->count = call_int(call, at + 3);
  l->directions = call_bool(call, at + 6) ? 2 : 1;
  bool drops = call_bool(call, at + 5) && call_double(call, at + 4) > 0 && l->count > 1;
  if (drops) return reason_decline(REASON_NOT_FUSED_RANDOM);
  if (l->count < 1 || (*h0)->ndim != 3) return reason_decline(REASON_NOT_FUSED_SHAPE);
  l->hidden = (*h0)->sizes[2];
  bool are_states = is_state(*h0, l->count * l->directions, l->batch, l->hidden) &&
                    (!*c0 || is_state(*c0, l->count * l->directions, l->batch, l->hidden));
  return are_states ? OK : reason_decline(REASON_NOT_FUSED_SHAPE);
}

/* The results in their places: out, h and, of LSTM, c. */
static Status run_call(Call *call, Layers *l, const Tensor *h0, const Tensor *c0, GemmMatrix x, int64_t rows,
                       Tensor *out) {
  Status status;
  TRY_GOTO(copy_of(h0, l->exec->work.threads, &l->h), done);
  if (c0) TRY_GOTO(copy_of(c0, l->exec->work.threads, &l->c), done);
  TRY_GOTO(run_layers(l, x, rows, floats(out)), done);
  call_set_tensor(call, 0, tensor_retain(out));
  call_set_tensor(call, 1, tensor_retain(l->h));
  if (c0) call_set_tensor(call, 2, tensor_retain(l->c));
done:
  tensor_release(l->h);
  tensor_release(l->c);
  return status;
}

static bool is_data(const Tensor *t, int ndim) {
  return t->dtype == DTYPE_FLOAT32 && t->ndim == ndim && t->numel > 0;
}

/* What there is against a tensor that is_data refuses. */
static Status decline_data(const Tensor *t) {
  return reason_decline(t->dtype != DTYPE_FLOAT32 ? REASON_NOT_FUSED_DTYPE : REASON_NOT_FUSED_SHAPE);
}

Status kernel_rnn_sequence(Call *call) {
  const Tensor *input = call_tensor(call, 0), *h0, *c0;
  if (!is_data(input, 3)) return decline_data(input);
  bool batch_first = call_bool(call, 8);
  Layers l = {
      .mode = (RnnMode)call_param(call), .steps = input->sizes[batch_first], .batch = input->sizes[!batch_first]};
  int64_t in = input->sizes[2];
  TRY(read_layers(call, 1, &l, &h0, &c0));
  if (!are_layers(&l, in)) return reason_decline(REASON_NOT_FUSED_WEIGHTS);
  int64_t width = l.directions * l.hidden;
  TensorSpec spec = {.dtype = DTYPE_FLOAT32,
                     .device = DEVICE_CPU_0,
                     .ndim = 3,
                     .has_strides = true,
                     .sizes = {input->sizes[0], input->sizes[1], width},
                     .strides = {batch_first ? width : l.batch * width, batch_first ? l.batch * width : width, 1}};
  Tensor *turned = NULL, *dense = NULL, *out = NULL;
  Status status;
  TRY_GOTO(batch_first ? tensor_transpose(input, 0, 1, &turned) : (turned = tensor_retain(input), OK), done);
  TRY_GOTO(tensor_contiguous(turned, &dense), done);
  TRY_GOTO(tensor_new(&spec, &out), done);
  TRY_GOTO(run_call(call, &l, h0, c0, (GemmMatrix){tensor_data(dense), in, 1}, l.steps * l.batch, out), done);
done:
  tensor_release(turned);
  tensor_release(dense);
  tensor_release(out);
  return status;
}

/* Whether they are the sizes of steps that make up all rows. */
static bool are_batch_sizes(const Tensor *t, int64_t rows) {
  if (t->dtype != DTYPE_INT64 || t->ndim != 1 || !tensor_is_contiguous(t) || !t->numel) return false;
  const int64_t *sizes = tensor_data(t);
  for (int64_t i = 0; i < t->numel; i++) {
    if (sizes[i] < 1 || sizes[i] > rows || (i && sizes[i] > sizes[i - 1])) return false;
    rows -= sizes[i];
  }
  return rows == 0;
}

Status kernel_rnn_packed(Call *call) {
  const Tensor *data = call_tensor(call, 0), *sizes = call_tensor(call, 1), *h0, *c0;
  if (!is_data(data, 2)) return decline_data(data);
  if (!are_batch_sizes(sizes, data->sizes[0])) return reason_decline(REASON_NOT_FUSED_ARGUMENT);
  Layers l = {.mode = (RnnMode)call_param(call),
              .steps = sizes->numel,
              .sizes = tensor_data(sizes),
              .batch = *(int64_t *)tensor_data(sizes)};
  TRY(read_layers(call, 2, &l, &h0, &c0));
  if (!are_layers(&l, data->sizes[1])) return reason_decline(REASON_NOT_FUSED_WEIGHTS);
  Tensor *dense = NULL, *out = NULL;
  Status status;
  TRY_GOTO(tensor_contiguous(data, &dense), done);
  TRY_GOTO(new_matrix(data->sizes[0], l.directions * l.hidden, &out), done);
  TRY_GOTO(run_call(call, &l, h0, c0, (GemmMatrix){tensor_data(dense), data->sizes[1], 1}, data->sizes[0], out), done);
done:
  tensor_release(dense);
  tensor_release(out);
  return status;
}

/* ---- cells ---- */

Status kernel_rnn_cell(Call *call) {
  RnnMode mode = (RnnMode)call_param(call);
  const Tensor *input = call_tensor(call, 0), *h0, *c0 = NULL;
  if (mode == RNN_LSTM) {
    const List *hx = call_list(call, 1);
    if (hx->kind != LIST_VALUES || hx->length != 2) return reason_decline(REASON_NOT_FUSED_ARGUMENT);
    h0 = list_tensor(hx, 0);
    c0 = list_tensor(hx, 1);
  } else {
    h0 = call_tensor(call, 1);
  }
  Weights w = {call_tensor(call, 2), call_tensor(call, 3), call_tensor_or_null(call, 4), call_tensor_or_null(call, 5)};
  if (!is_data(input, 2) || !is_data(h0, 2)) return decline_data(is_data(input, 2) ? h0 : input);
  if (!fused_is_plain(input) || !fused_is_plain(h0)) return reason_decline(REASON_NOT_FUSED_LAYOUT);
  int64_t rows = input->sizes[0], n = h0->sizes[1], width = rnn_gates(mode) * n;
  if (h0->sizes[0] != rows || (c0 && (!is_data(c0, 2) || c0->sizes[0] != rows || c0->sizes[1] != n)))
    return reason_decline(REASON_NOT_FUSED_SHAPE);
  if (!are_weights(&w, mode, input->sizes[1], n)) return reason_decline(REASON_NOT_FUSED_WEIGHTS);
  Tensor *from_input = NULL, *from_hidden = NULL, *h = NULL, *c = NULL;
  Status status;
  TRY_GOTO(new_matrix(rows, width, &from_input), done);
  TRY_GOTO(new_matrix(rows, width, &from_hidden), done);
  TRY_GOTO(copy_of(h0, call->exec->work.threads, &h), done);
  if (c0) TRY_GOTO(copy_of(c0, call->exec->work.threads, &c), done);
  TRY_GOTO(linear_product(call->exec, rows, (GemmMatrix){tensor_data(input), input->sizes[1], 1}, w.of_input,
                          w.input_bias, from_input, NULL),
           done);
  TRY_GOTO(linear_product(call->exec, rows, (GemmMatrix){tensor_data(h0), n, 1}, w.of_hidden, w.hidden_bias,
                          from_hidden, NULL),
           done);
  rnn_step(call->exec->work.threads, &(RnnStep){.mode = mode,
                                                .rows = rows,
                                                .hidden = n,
                                                .from_input = floats(from_input),
                                                .from_hidden = floats(from_hidden),
                                                .h = floats(h),
                                                .c = c ? floats(c) : NULL});
  call_set_tensor(call, 0, tensor_retain(h));
  if (c) call_set_tensor(call, 1, tensor_retain(c));
done:
  tensor_release(from_input);
  tensor_release(from_hidden);
  tensor_release(h);
  tensor_release(c);
  return status;
}
