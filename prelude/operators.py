# Helpers that the bodies of operator rows call by their bare names.


# Recurrent layers over packed data. mode: 0 LSTM, 1 GRU, 2 tanh, 3 relu. data: (rows of all steps, features), the rows of step t
# being batch_sizes[t], which never grow. h0, c0: (layers * directions, batch, hidden); c0 is used by LSTM alone.
# Gates in PyTorch's order: input, forget, cell, output; reset, update, new.
def rnn_layers(mode: int, data: Tensor, batch_sizes: List[int], h0: Tensor, c0: Tensor, params: List[Tensor], has_biases: bool,
               num_layers: int, dropout: float, train: bool, bidirectional: bool) -> Tuple[Tensor, Tensor, Tensor]:
    directions = 2 if bidirectional else 1
    projected = mode == 0 and h0.size(2) != c0.size(2)
    per = 2 + (2 if has_biases else 0) + (1 if projected else 0)
    if len(params) != per * num_layers * directions:
        raise RuntimeError('got an incorrect number of RNN parameters')
    steps = len(batch_sizes)
    offsets: List[int] = []
    rows = 0
    for size in batch_sizes:
        offsets.append(rows)
        rows = rows + size
    x = data
    last_h: List[Tensor] = []
    last_c: List[Tensor] = []
    for layer in range(num_layers):
        sides: List[Tensor] = []
        for direction in range(directions):
            index = layer * directions + direction
            w_ih = params[index * per]
            w_hh = params[index * per + 1]
            b_ih: Optional[Tensor] = None
            b_hh: Optional[Tensor] = None
            if has_biases:
                b_ih = params[index * per + 2]
                b_hh = params[index * per + 3]
            from_input = torch.linear(x, w_ih, b_ih)
            h = h0.select(0, index)
            c = c0.select(0, index)
            outputs: List[Tensor] = []
            for k in range(steps):
                t = steps - 1 - k if direction == 1 else k
                size = batch_sizes[t]
                now = from_input.narrow(0, offsets[t], size)
                whole = size == h.size(0)
                h_in = h if whole else h.narrow(0, 0, size)
                from_hidden = torch.linear(h_in, w_hh, b_hh)
                h_new = h_in
                if mode == 0:
                    c_in = c if whole else c.narrow(0, 0, size)
                    gates = (now + from_hidden).chunk(4, 1)
                    c_new = gates[1].sigmoid() * c_in + gates[0].sigmoid() * gates[2].tanh()
                    h_new = gates[3].sigmoid() * c_new.tanh()
                    if projected:
                        h_new = torch.linear(h_new, params[index * per + per - 1])
                    c = c_new if whole else torch.cat([c_new, c.narrow(0, size, c.size(0) - size)])
                elif mode == 1:
                    i = now.chunk(3, 1)
                    g = from_hidden.chunk(3, 1)
                    reset = (i[0] + g[0]).sigmoid()
                    update = (i[1] + g[1]).sigmoid()
                    new = (i[2] + reset * g[2]).tanh()
                    h_new = (h_in - new) * update + new
                elif mode == 2:
                    h_new = (now + from_hidden).tanh()
                else:
                    h_new = (now + from_hidden).relu()
                h = h_new if whole else torch.cat([h_new, h.narrow(0, size, h.size(0) - size)])
                outputs.append(h_new)
            if direction == 1:
                outputs.reverse()
            sides.append(torch.cat(outputs, 0))
            last_h.append(h)
            last_c.append(c)
        x = torch.cat(sides, 1) if directions == 2 else sides[0]
        if train and dropout > 0.0 and layer < num_layers - 1:
            x = torch.dropout(x, dropout, train)
    return x, torch.stack(last_h, 0), torch.stack(last_c, 0)


# The same over an input of (steps, batch, features), or (batch, steps, features) with batch_first.
def rnn_sequence(mode: int, input: Tensor, h0: Tensor, c0: Tensor, params: List[Tensor], has_biases: bool, num_layers: int,
                 dropout: float, train: bool, bidirectional: bool, batch_first: bool) -> Tuple[Tensor, Tensor, Tensor]:
    x = input.transpose(0, 1) if batch_first else input
    steps = x.size(0)
    batch = x.size(1)
    out, h, c = rnn_layers(mode, x.reshape([steps * batch, x.size(2)]), [batch for _ in range(steps)], h0, c0, params, has_biases,
                           num_layers, dropout, train, bidirectional)
    out = out.view([steps, batch, out.size(1)])
    return out.transpose(0, 1) if batch_first else out, h, c


def rnn_packed(mode: int, data: Tensor, batch_sizes: Tensor, h0: Tensor, c0: Tensor, params: List[Tensor], has_biases: bool,
               num_layers: int, dropout: float, train: bool, bidirectional: bool) -> Tuple[Tensor, Tensor, Tensor]:
    sizes: List[int] = batch_sizes.tolist()
    return rnn_layers(mode, data, sizes, h0, c0, params, has_biases, num_layers, dropout, train, bidirectional)
