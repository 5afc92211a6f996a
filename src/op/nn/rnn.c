/* Rows of the recurrent layers and cells. The layers are loops in prelude/operators.py over the operators of one step;
 * rnn_layers.c has kernels beside both. */
#include "call/row_extras.h"
#include "compute/rnn/rnn_step.h"
#include "op/nn/rnn_layers.h"

#define LAYER_ARGUMENTS \
  "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"
#define LAYER_VALUES "params, has_biases, num_layers, dropout, train, bidirectional"
#define RNN(name, number, mode)                                                                                     \
  {.schema =                                                                                                        \
       "aten::" name ".input(Tensor input, Tensor hx, " LAYER_ARGUMENTS ", bool batch_first) -> (Tensor, Tensor)",  \
   .body = "out, h, c = rnn_sequence(" number ", input, hx, hx, " LAYER_VALUES ", batch_first)\nreturn out, h",     \
   .param = mode,                                                                                                   \
   BESIDE(kernel_rnn_sequence)},                                                                                    \
  {                                                                                                                 \
    .schema =                                                                                                       \
        "aten::" name ".data(Tensor data, Tensor batch_sizes, Tensor hx, " LAYER_ARGUMENTS ") -> (Tensor, Tensor)", \
    .body = "out, h, c = rnn_packed(" number ", data, batch_sizes, hx, hx, " LAYER_VALUES ")\nreturn out, h",       \
    .param = mode, BESIDE(kernel_rnn_packed)                                                                        \
  }
#define CELL_ARGUMENTS "Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None"
#define SIMPLE_CELL(name, mode)                                                               \
  {                                                                                           \
    .schema = "aten::rnn_" name "_cell(" CELL_ARGUMENTS ") -> Tensor", .cast = CAST_REDUCED,  \
    .body =                                                                                   \
        "check_dim(1, input.dim())\n"                                                         \
        "return (torch.linear(input, w_ih, b_ih) + torch.linear(hx, w_hh, b_hh))." name "()", \
    .param = mode, BESIDE(kernel_rnn_cell)                                                    \
  }

static const OpRow rows[] = {
    {.schema = "aten::lstm.input(Tensor input, Tensor[] hx, " LAYER_ARGUMENTS
               ", bool batch_first) -> (Tensor, Tensor, Tensor)",
     .body = "if len(hx) != 2:\n"
             "    raise RuntimeError('lstm expects two hidden states')\n"
             "return rnn_sequence(0, input, hx[0], hx[1], " LAYER_VALUES ", batch_first)",
     .param = RNN_LSTM,
     BESIDE(kernel_rnn_sequence)},
    {.schema = "aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, " LAYER_ARGUMENTS
               ") -> (Tensor, Tensor, Tensor)",
     .body = "if len(hx) != 2:\n"
             "    raise RuntimeError('lstm expects two hidden states')\n"
             "return rnn_packed(0, data, batch_sizes, hx[0], hx[1], " LAYER_VALUES ")",
     .param = RNN_LSTM,
     BESIDE(kernel_rnn_packed)},
    RNN("gru", "1", RNN_GRU),
    RNN("rnn_tanh", "2", RNN_TANH),
    RNN("rnn_relu", "3", RNN_RELU),
    {.schema = "aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
               "b_hh=None) -> (Tensor, Tensor)",
     .cast = CAST_REDUCED,
     .body = "if len(hx) != 2:\n"
             "    raise RuntimeError('lstm_cell expects two hidden states')\n"
             "gates = (torch.linear(input, w_ih, b_ih) + torch.linear(hx[0], w_hh, b_hh)).chunk(4, 1)\n"
             "c = gates[1].sigmoid() * hx[1] + gates[0].sigmoid() * gates[2].tanh()\n"
             "return gates[3].sigmoid() * c.tanh(), c",
     .param = RNN_LSTM,
     BESIDE(kernel_rnn_cell)},
    {.schema = "aten::gru_cell(" CELL_ARGUMENTS ") -> Tensor",
     .cast = CAST_REDUCED,
     .body = "i = torch.linear(input, w_ih, b_ih).chunk(3, 1)\n"
             "g = torch.linear(hx, w_hh, b_hh).chunk(3, 1)\n"
             "reset = (i[0] + g[0]).sigmoid()\n"
             "update = (i[1] + g[1]).sigmoid()\n"
             "new = (i[2] + reset * g[2]).tanh()\n"
             "return (hx - new) * update + new",
     .param = RNN_GRU,
     BESIDE(kernel_rnn_cell)},
    SIMPLE_CELL("tanh", RNN_TANH),
    SIMPLE_CELL("relu", RNN_RELU),
    {.schema = "aten::_thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? "
               "input_bias=None, Tensor? hidden_bias=None) -> (Tensor, Tensor, Tensor)",
     .cast = CAST_REDUCED,
     .body = "total = input_gates + hidden_gates\n"
             "if input_bias is not None:\n"
             "    total = total + input_bias\n"
             "if hidden_bias is not None:\n"
             "    total = total + hidden_bias\n"
             "gates = total.chunk(4, 1)\n"
             "i = gates[0].sigmoid()\n"
             "f = gates[1].sigmoid()\n"
             "g = gates[2].tanh()\n"
             "o = gates[3].sigmoid()\n"
             "c = f * cx + i * g\n"
             "return o * c.tanh(), c, torch.cat([i, f, g, o], 1)"},
    {.schema = "aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
     .body = "x = input.transpose(0, 1) if batch_first else input\n"
             "sizes: List[int] = lengths.tolist()\n"
             "if len(sizes) != x.size(1):\n"
             "    raise RuntimeError('Expected `len(lengths)` to be equal to batch_size, but got {} "
             "(batch_size={})'.format(len(sizes), x.size(1)))\n"
             "if len(sizes) == 0 or sizes[-1] <= 0:\n"
             "    raise RuntimeError('Length of all samples has to be greater than 0, but found an element in "
             "\\'lengths\\' that is <= 0')\n"
             "for k in range(1, len(sizes)):\n"
             "    if sizes[k] > sizes[k - 1]:\n"
             "        raise RuntimeError('`lengths` array must be sorted in decreasing order when `enforce_sorted` is "
             "True. You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
             "requirement if you do not need ONNX exportability.')\n"
             "pieces: List[Tensor] = []\n"
             "batches: List[int] = []\n"
             "live = len(sizes)\n"
             "for t in range(sizes[0]):\n"
             "    while live > 0 and sizes[live - 1] <= t:\n"
             "        live = live - 1\n"
             "    pieces.append(x[t].narrow(0, 0, live))\n"
             "    batches.append(live)\n"
             "return torch.cat(pieces, 0), torch.tensor(batches)"},
    {.schema = "aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, "
               "int total_length) -> (Tensor, Tensor)",
     .body = "sizes: List[int] = batch_sizes.tolist()\n"
             "batch = sizes[0]\n"
             "steps = len(sizes)\n"
             "if total_length > 0:\n"
             "    if total_length < steps:\n"
             "        raise RuntimeError('Expected total_length to be at least the length of the longest sequence in "
             "input, but got total_length={} and max sequence length being {}'.format(total_length, steps))\n"
             "    steps = total_length\n"
             "shape = list(data.size())\n"
             "rows: List[Tensor] = []\n"
             "lengths = [0 for _ in range(batch)]\n"
             "at = 0\n"
             "for t in range(steps):\n"
             "    now = sizes[t] if t < len(sizes) else 0\n"
             "    piece = data.narrow(0, at, now)\n"
             "    at = at + now\n"
             "    for k in range(now):\n"
             "        lengths[k] = t + 1\n"
             "    if now < batch:\n"
             "        shape[0] = batch - now\n"
             "        piece = torch.cat([piece, torch.full(shape, padding_value, dtype=data.dtype, "
             "device=data.device)], 0)\n"
             "    rows.append(piece)\n"
             "return torch.stack(rows, 1 if batch_first else 0), torch.tensor(lengths)"},
    {.schema = "aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., str "
               "padding_side=\"right\") -> Tensor",
     .body = "if padding_side != 'left' and padding_side != 'right':\n"
             "    raise RuntimeError('Expected padding_side to be one of left or right, but got "
             "{}.'.format(padding_side))\n"
             "longest = 0\n"
             "for s in sequences:\n"
             "    longest = max(longest, s.size(0))\n"
             "rows: List[Tensor] = []\n"
             "for s in sequences:\n"
             "    shape = list(s.size())\n"
             "    shape[0] = longest - s.size(0)\n"
             "    padding = torch.full(shape, padding_value, dtype=s.dtype, device=s.device)\n"
             "    rows.append(torch.cat([padding, s] if padding_side == 'left' else [s, padding], 0))\n"
             "return torch.stack(rows, 0 if batch_first else 1)"},
};
OP_TABLE(op_table_rnn, rows);
