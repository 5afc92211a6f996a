/* One step of a recurrent layer of float32: what becomes of the products of its input and of its state. Each number is
 * rounded as by the operators that the layer is made of, one after the other, so the bits are theirs. */
#pragma once

#include <stdint.h>

/* Gates in PyTorch's order: input, forget, cell, output; reset, update, new; else the one. */
typedef enum RnnMode { RNN_LSTM, RNN_GRU, RNN_TANH, RNN_RELU } RnnMode;
static inline int64_t rnn_gates(RnnMode mode) {
  return mode == RNN_LSTM ? 4 : mode == RNN_GRU ? 3 : 1;
}

/* Of `rows` samples, row after row. */
typedef struct RnnStep {
  RnnMode mode;
  int64_t rows, hidden;
  const float *from_input; /* rows x gates x hidden: W_ih x + b_ih */
  float *from_hidden;      /* likewise: W_hh h + b_hh; overwritten */
  float *h, *c;            /* rows x hidden: the state, and what it becomes; c is LSTM's alone */
} RnnStep;
void rnn_step(int threads, const RnnStep *step);
