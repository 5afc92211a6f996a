#include "compute/rnn/rnn_step.h"

#include "base/parallel.h"
#include "tile/loops.h"

enum { GATES_OF_THREAD = 1 << 13 }; /* below, sharing costs more than it saves */

typedef struct Step {
  const RnnStep *of;
  TileLoop *add, *sub, *mul, *sigmoid, *tanh;
} Step;

static void lstm_row(const Step *s, int64_t n, float *gates, float *h, float *c) {
  float *input = gates, *forget = gates + n, *cell = gates + 2 * n, *output = gates + 3 * n;
  s->sigmoid(2 * n, input, input, NULL, NULL);
  s->tanh(n, cell, cell, NULL, NULL);
  s->sigmoid(n, output, output, NULL, NULL);
  s->mul(n, forget, forget, c, NULL);
  s->mul(n, input, input, cell, NULL);
  s->add(n, c, forget, input, NULL);
  s->tanh(n, cell, c, NULL, NULL);
  s->mul(n, h, output, cell, NULL);
}

/* The gates hold W_hh h + b_hh yet: the reset gate scales that of the new state. */
static void gru_row(const Step *s, int64_t n, const float *from_input, float *gates, float *h) {
  float *reset = gates, *update = gates + n, *new = gates + 2 * n;
  s->add(2 * n, reset, from_input, reset, NULL);
  s->sigmoid(2 * n, reset, reset, NULL, NULL);
  s->mul(n, new, reset, new, NULL);
  s->add(n, new, from_input + 2 * n, new, NULL);
  s->tanh(n, new, new, NULL, NULL);
  s->sub(n, h, h, new, NULL);
  s->mul(n, h, h, update, NULL);
  s->add(n, h, h, new, NULL);
}

static void relu_row(int64_t n, float *h, const float *from) {
  for (int64_t i = 0; i < n; i++) h[i] = from[i] > 0 || from[i] != from[i] ? from[i] : 0;
}

static void run_rows(void *argument, int64_t begin, int64_t end) {
  const Step *s = argument;
  const RnnStep *of = s->of;
  int64_t n = of->hidden, width = rnn_gates(of->mode) * n;
  for (int64_t row = begin; row < end; row++) {
    const float *from_input = of->from_input + row * width;
    float *gates = of->from_hidden + row * width, *h = of->h + row * n;
    if (of->mode == RNN_GRU) {
      gru_row(s, n, from_input, gates, h);
      continue;
    }
    s->add(width, gates, from_input, gates, NULL);
    if (of->mode == RNN_LSTM)
      lstm_row(s, n, gates, h, of->c + row * n);
    else if (of->mode == RNN_TANH)
      s->tanh(n, h, gates, NULL, NULL);
    else
      relu_row(n, h, gates);
  }
}

void rnn_step(int threads, const RnnStep *step) {
  Step s = {step,
            tile_loop(KERNEL_ADD, TILE_F32),
            tile_loop(KERNEL_SUB, TILE_F32),
            tile_loop(KERNEL_MUL, TILE_F32),
            tile_loop(KERNEL_SIGMOID, TILE_F32),
            tile_loop(KERNEL_TANH, TILE_F32)};
  int64_t width = rnn_gates(step->mode) * step->hidden;
  parallel_for(threads, step->rows, GATES_OF_THREAD / (width + 1) + 1, run_rows, &s);
}
