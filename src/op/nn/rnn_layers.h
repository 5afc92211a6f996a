/* Recurrent layers and cells of float32 in the place of their rows' bodies (rnn.c), where nothing is recorded: the same
 * bits, without an operator call for each gate. What is out of the ordinary they decline. */
#pragma once

#include "call/call.h"

/* (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first), hx a list of two for LSTM;
 * param: RnnMode, as of the others. */
Status kernel_rnn_sequence(Call *call) MUST_CHECK;
/* (data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional) */
Status kernel_rnn_packed(Call *call) MUST_CHECK;
/* (input, hx, w_ih, w_hh, b_ih, b_hh) */
Status kernel_rnn_cell(Call *call) MUST_CHECK;
