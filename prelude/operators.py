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


# reduction: 0 none, 1 mean, 2 sum.
def reduce_loss(loss: Tensor, reduction: int) -> Tensor:
    if reduction == 1:
        return loss.mean()
    if reduction == 2:
        return loss.sum()
    return loss


# A tensor without dimensions has one to name.
def check_dim(dim: int, ndim: int):
    n = max(ndim, 1)
    if dim < -n or dim >= n:
        raise IndexError('Dimension out of range (expected to be in range of [{}, {}], but got {})'.format(-n, n - 1, dim))


# q of a quantile, as a tensor of self's dtype.
def quantile_place(self: Tensor, q: float) -> Tensor:
    if not (q >= 0.0 and q <= 1.0):
        raise RuntimeError('quantile() q must be in the range [0, 1] but got {}'.format(q))
    return torch.full([], q, dtype=self.dtype)


# A vector of classes, or a batch of them, which may be empty.
def check_rows(self: Tensor):
    if self.dim() > 2 or (self.dim() > 0 and self.size(-1) == 0):
        raise RuntimeError('Expected non-empty vector or matrix with optional 0-dim batch size, but got: {}'.format(self.size()))


# Losses that PyTorch computes in the memory of an argument can't take ints.
# The result of operators that PyTorch writes into a tensor of t's dtype.
def in_dtype_of(t: Tensor, result: Tensor) -> Tensor:
    if result.dtype == t.dtype:
        return result
    if not torch.can_cast(result.dtype, t.dtype):
        raise RuntimeError("result type {} can't be cast to the desired output type {}".format(scalar_type_name(result), scalar_type_name(t)))
    return result.to(t.dtype)


# Whether the call is of a program of PyTorch 2.x.
def is_torch2() -> bool:
    return torch.ops.wick.is_torch2()


# Half precision in float32.
def opmath(t: Tensor) -> Tensor:
    return t.to(torch.float32) if t.dtype == torch.float16 or t.dtype == torch.bfloat16 else t


def check_takes_float(t: Tensor):
    if not t.is_floating_point() and not t.is_complex():
        raise RuntimeError("result type Float can't be cast to the desired output type {}".format(scalar_type_name(t)))


# The negative log-likelihood of each target's class, and the sum of the weights that count. self: (N, C) or (N, C, ...).
def nll_terms(self: Tensor, target: Tensor, weight: Optional[Tensor], ignore_index: int) -> Tuple[Tensor, Tensor]:
    classes = self.size(1)
    counted = target != ignore_index
    safe = target.masked_fill(counted.logical_not(), 0)
    if safe.numel() > 0 and (int(safe.min()) < 0 or int(safe.max()) >= classes):
        bad = int(safe.min()) if int(safe.min()) < 0 else int(safe.max())
        raise IndexError('Target {} is out of bounds.'.format(bad))
    scale = counted.to(self.dtype)
    if weight is not None:
        scale = scale * weight.index_select(0, safe.reshape(-1)).view(safe.size())
    return -self.gather(1, safe.unsqueeze(1)).squeeze(1) * scale, scale


def nll_loss_any(self: Tensor, target: Tensor, weight: Optional[Tensor], reduction: int, ignore_index: int) -> Tuple[Tensor, Tensor]:
    if self.dim() == 1:
        if target.dim() > 0 and target.size(0) != self.size(0):
            raise ValueError('size mismatch (got input: {}, target: {})'.format(self.size(), target.size()))
        if self.numel() == 0:
            loss = self.sum()
            scale = self.sum()
        else:  # of several targets PyTorch reads the first
            loss, scale = nll_terms(self.unsqueeze(0), target.reshape(-1)[:1], weight, ignore_index)
            loss = loss.squeeze(0)
            scale = scale.squeeze(0)
    else:
        if self.size(0) != target.size(0):
            raise ValueError('Expected input batch_size ({}) to match target batch_size ({}).'.format(self.size(0), target.size(0)))
        if self.dim() != target.dim() + 1:
            if self.dim() == 2:
                raise RuntimeError('0D or 1D target tensor expected, multi-target not supported')
            raise RuntimeError('only batches of spatial targets supported ({}D tensors) but got targets of dimension: {}'.format(self.dim() - 1, target.dim()))
        loss, scale = nll_terms(self, target, weight, ignore_index)
    total = scale.sum()
    if reduction == 0:
        return loss, torch.zeros([], dtype=self.dtype, device=self.device)
    if reduction == 1:
        return loss.sum() / total, total
    return loss.sum(), total


# CTC: A. Graves et al., "Connectionist Temporal Classification" (2006), equations 6 to 8 in logarithms.
def ctc_terms(log_probs: Tensor, targets: Tensor, input_lengths: List[int], target_lengths: List[int], blank: int) -> Tensor:
    losses: List[Tensor] = []
    offset = 0
    for b in range(len(input_lengths)):
        length = target_lengths[b]
        steps = input_lengths[b]
        labels = targets[b].narrow(0, 0, length) if targets.dim() == 2 else targets.narrow(0, offset, length)
        offset = offset + length
        extended = torch.full([2 * length + 1], blank, dtype=torch.int64, device=targets.device)
        if length > 0:
            extended.slice(0, 1, 2 * length + 1, 2).copy_(labels)
        emit = log_probs.select(1, b).index_select(1, extended)
        states = 2 * length + 1
        if steps == 0:
            zero = torch.zeros([], dtype=log_probs.dtype, device=log_probs.device)
            losses.append(zero if length == 0 else zero + float('inf'))
            continue
        # Finite, as the gradient of logaddexp(-inf, -inf) is not a number.
        low = torch.full([states], -1e30, dtype=log_probs.dtype, device=log_probs.device)
        start = torch.arange(states, device=log_probs.device) < 2
        alpha = torch.where(start, emit[0], low)
        may_skip = torch.zeros([states], dtype=torch.bool, device=log_probs.device)
        if states > 2:
            may_skip = torch.cat([may_skip.narrow(0, 0, 2), (extended.narrow(0, 2, states - 2) != blank).logical_and(
                extended.narrow(0, 2, states - 2) != extended.narrow(0, 0, states - 2))])
        for t in range(1, steps):
            one = torch.cat([low.narrow(0, 0, 1), alpha.narrow(0, 0, states - 1)])
            total = torch.logaddexp(alpha, one)
            if states > 2:
                two = torch.cat([low.narrow(0, 0, 2), alpha.narrow(0, 0, states - 2)])
                total = torch.logaddexp(total, torch.where(may_skip, two, low))
            alpha = total + emit[t]
        last = alpha[states - 1]
        if states > 1:
            last = torch.logaddexp(last, alpha[states - 2])
        # PyTorch's gradient is that of the inputs of a log_softmax before: exp(log_probs) more, which a zero brings in.
        chances = log_probs.select(1, b).narrow(0, 0, steps).exp()
        loss = (chances - chances.detach()).sum() - last
        losses.append(torch.where(loss > 1e25, torch.full_like(loss, float('inf')), loss))
    return torch.stack(losses)


def ctc_loss_of(log_probs: Tensor, targets: Tensor, input_lengths: List[int], target_lengths: List[int], blank: int, reduction: int,
                zero_infinity: bool) -> Tensor:
    batched = log_probs.dim() == 3
    probs = log_probs if batched else log_probs.unsqueeze(1)
    loss = ctc_terms(probs, targets if batched else targets.reshape(-1), input_lengths, target_lengths, blank)
    if zero_infinity:
        loss = torch.where(loss == float('inf'), torch.zeros_like(loss), loss)
    if reduction == 1:
        lengths = torch.tensor(target_lengths, dtype=loss.dtype).clamp_min(1)
        return (loss / lengths).mean()
    if reduction == 2:
        return loss.sum()
    return loss if batched else loss.squeeze(0)


def multilabel_margin_terms(self: Tensor, target: Tensor) -> Tuple[Tensor, Tensor]:
    check_rows(self)
    x = self if self.dim() == 2 else self.reshape([1, -1])
    labels = target if target.dim() == 2 else target.reshape([1, -1])
    classes = x.size(1)
    # labels end at the first -1
    counted = (labels < 0).to(torch.int64).cumsum(1) == 0
    safe = labels.masked_fill(counted.logical_not(), 0)
    is_target = torch.zeros_like(x).scatter_add(1, safe, counted.to(x.dtype)) > 0
    chosen = x.gather(1, safe)
    margin = (1 - chosen.unsqueeze(2) + x.unsqueeze(1)).clamp_min(0)
    margin = margin * counted.unsqueeze(2).to(x.dtype) * is_target.logical_not().unsqueeze(1).to(x.dtype)
    return margin.sum([1, 2]) / classes, is_target.to(x.dtype).view(target.size())


def same_count(bins: int, n: int) -> List[int]:
    return [bins for _ in range(n)]


# Edges of equal bins for each column of a (rows, columns) table; range: low and high of each.
def histogram_edges(table: Tensor, bins: List[int], range: Optional[List[float]]) -> List[Tensor]:
    edges: List[Tensor] = []
    if len(bins) != table.size(1):
        raise RuntimeError('histogramdd: The size of bins must be equal to the innermost dimension of the input.')
    d = 0
    for count in bins:
        low = 0.0
        high = 1.0
        if range is not None:
            low = range[2 * d]
            high = range[2 * d + 1]
        elif table.size(0) > 0:
            low = float(table.select(1, d).min())
            high = float(table.select(1, d).max())
        if low == high:
            low = low - 0.5
            high = high + 0.5
        edges.append(torch.linspace(low, high, count + 1, dtype=table.dtype))
        d = d + 1
    return edges


def histogramdd_of(self: Tensor, edges: List[Tensor], weight: Optional[Tensor], density: bool) -> Tensor:
    table = self.reshape([-1, self.size(-1)])
    sizes: List[int] = []
    cells = 1
    flat = torch.zeros([table.size(0)], dtype=torch.int64)
    inside = torch.ones([table.size(0)], dtype=torch.bool)
    for d in range(len(edges)):
        count = edges[d].numel() - 1
        column = table.select(1, d).contiguous()
        at = torch.searchsorted(edges[d], column, right=True) - 1
        at = torch.where(column == edges[d][-1], torch.full_like(at, count - 1), at)
        inside = inside.logical_and(at >= 0).logical_and(at < count)
        flat = flat * count + at
        sizes.append(count)
        cells = cells * count
    scale = torch.ones([table.size(0)], dtype=self.dtype)
    if weight is not None:
        scale = weight.reshape(-1).to(self.dtype)
    flat = torch.where(inside, flat, torch.zeros_like(flat))
    scale = torch.where(inside, scale, torch.zeros_like(scale))
    hist = torch.zeros([cells], dtype=self.dtype).index_add(0, flat, scale).view(sizes)
    if density:
        hist = hist / hist.sum()
        for d in range(len(edges)):
            shape = [1 for _ in range(len(edges))]
            shape[d] = sizes[d]
            hist = hist / (edges[d].slice(0, 1) - edges[d].slice(0, 0, -1)).view(shape)
    return hist


def histogram_of(self: Tensor, edges: List[Tensor], weight: Optional[Tensor], density: bool) -> Tensor:
    return histogramdd_of(self.reshape([-1, 1]), edges, weight, density)


def quantile_of(self: Tensor, q: Tensor, dim: Optional[int], keepdim: bool, interpolation: str, ignore_nan: bool) -> Tensor:
    if interpolation not in ['linear', 'lower', 'higher', 'midpoint', 'nearest']:
        raise RuntimeError('quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {}'.format(interpolation))
    if self.numel() == 0:
        raise RuntimeError('quantile() input tensor must be non-empty')
    if q.dim() > 1:
        raise RuntimeError('quantile() q must be a scalar or 1D tensor')
    if self.dtype != torch.float32 and self.dtype != torch.float64:
        raise RuntimeError('quantile() input tensor must be either float or double dtype')
    if q.dtype != self.dtype:
        raise RuntimeError('quantile() q tensor must be same dtype as the input tensor')
    if dim is not None:
        check_dim(dim, self.dim())
    if q.numel() > 0 and (bool((q < 0).any()) or bool((q > 1).any())):
        raise RuntimeError('quantile() q values must be in the range [0, 1]')
    if dim is None:
        x = self.reshape(-1)
        shape = [1 for _ in range(self.dim())] if keepdim else torch.jit.annotate(List[int], [])
    else:
        d = dim + self.dim() if dim < 0 else dim
        shape = list(self.size())
        if self.dim() == 0:
            x = self.reshape(-1)
        else:
            x = self.movedim(d, -1)
            if keepdim:
                shape[d] = 1
            else:
                shape.pop(d)
    ordered = x.sort(-1)[0]
    n = ordered.size(-1)
    places = q.reshape(-1)
    if ignore_nan:
        count = ordered.isnan().logical_not().sum([-1], True).to(ordered.dtype)
        rank = places * (count - 1).clamp_min(0)
    else:
        rank = (places * (n - 1)).expand(ordered.size()[:-1] + [places.numel()])
        nan = ordered.isnan().any(-1, True)
        rank = torch.where(nan, torch.full_like(rank, n - 1), rank)
    if interpolation == 'lower':
        rank = rank.floor()
    elif interpolation == 'higher':
        rank = rank.ceil()
    elif interpolation == 'nearest':
        rank = rank.round()
    below = rank.to(torch.int64)
    result = ordered.gather(-1, below)
    if interpolation == 'linear' or interpolation == 'midpoint':
        share = torch.full_like(rank, 0.5) if interpolation == 'midpoint' else rank - below.to(rank.dtype)
        above = ordered.gather(-1, rank.ceil().to(torch.int64))
        result = torch.lerp(result, above, share)
    result = result.movedim(-1, 0)
    if q.dim() == 0:
        return result.reshape(shape)
    return result.reshape([q.numel()] + shape)


def same_sequence(n: int) -> List[int]:
    return [d for d in range(n)]


# The areas of the trapezoids between neighbours along dim; x of y's shape, or one-dimensional.
def trapezoid_terms(y: Tensor, x: Tensor, dim: int) -> Tensor:
    if y.dtype == torch.bool:
        raise RuntimeError('trapezoid: received a bool input for `y` or `x`, but bool is not supported')
    at = x
    if x.dim() == 1:
        if x.size(0) != y.size(dim):
            raise RuntimeError('trapezoid: There must be one `x` value for each sample point')
        shape = [1 for _ in range(y.dim())]
        shape[dim] = x.size(0)
        at = x.view(shape)
    elif x.dim() < y.dim():
        at = x.view([1 for _ in range(y.dim() - x.dim())] + x.size())
    gaps = at.slice(dim, 1) - at.slice(dim, 0, max(at.size(dim) - 1, 0))
    return gaps * (y.slice(dim, 0, max(y.size(dim) - 1, 0)) + y.slice(dim, 1)) / 2.


def gradient_check(self: Tensor, axes: List[int], spacings: int, edge_order: int):
    if self.dtype == torch.uint8:
        raise RuntimeError('torch.gradient does not support uint8 input.')
    if edge_order != 1 and edge_order != 2:
        raise RuntimeError('torch.gradient only supports edge_order=1 and edge_order=2.')
    if spacings != len(axes):
        raise RuntimeError('torch.gradient expected spacing to be unspecified, a scalar, or a list of length {}, but got a list of length {}'.format(len(axes), spacings))
    seen = [False for _ in range(self.dim())]
    for d in axes:
        at = d + self.dim() if d < 0 else d
        if at >= 0 and at < self.dim():
            if seen[at]:
                raise RuntimeError('dim {} appears multiple times in the list of dims'.format(at))
            seen[at] = True
    for d in axes:
        if self.size(d) < edge_order + 1:
            raise RuntimeError('torch.gradient expected each dimension size to be at least edge_order+1')


def gradients_even(self: Tensor, axes: List[int], spacing: List[float], edge_order: int) -> List[Tensor]:
    gradient_check(self, axes, len(spacing), edge_order)
    result: List[Tensor] = []
    for k in range(len(axes)):
        d = axes[k]
        h = spacing[k]
        n = self.size(d)
        if edge_order == 1:
            first = (self.narrow(d, 1, 1) - self.narrow(d, 0, 1)) / h
            last = (self.narrow(d, n - 1, 1) - self.narrow(d, n - 2, 1)) / h
        else:
            first = (4.0 * self.narrow(d, 1, 1) - 3.0 * self.narrow(d, 0, 1) - self.narrow(d, 2, 1)) / (2.0 * h)
            last = (self.narrow(d, n - 3, 1) - 4.0 * self.narrow(d, n - 2, 1) + 3.0 * self.narrow(d, n - 1, 1)) / (2.0 * h)
        middle = (self.narrow(d, 2, n - 2) - self.narrow(d, 0, n - 2)) / (2.0 * h)
        result.append(torch.cat([first, middle, last], d))
    return result


def gradients_uneven(self: Tensor, axes: List[int], spacing: List[Tensor], edge_order: int) -> List[Tensor]:
    gradient_check(self, axes, len(spacing), edge_order)
    for t in spacing:
        if t.device != self.device:
            raise RuntimeError('torch.gradient expected each tensor to be on the same device, but got devices {} and {}!'.format(self.device, t.device))
    result: List[Tensor] = []
    for k in range(len(axes)):
        d = axes[k]
        n = self.size(d)
        shape = [1 for _ in range(self.dim())]
        shape[d] = n - 1
        gaps = spacing[k].narrow(0, 1, n - 1) - spacing[k].narrow(0, 0, n - 1)
        g = gaps.view(shape)
        a = g.narrow(d, 0, n - 2)
        b = g.narrow(d, 1, n - 2)
        middle = (self.narrow(d, 0, n - 2) * (-b / (a * (a + b))) + self.narrow(d, 1, n - 2) * ((b - a) / (a * b))
                  + self.narrow(d, 2, n - 2) * (a / (b * (a + b))))
        if edge_order == 1:
            first = (self.narrow(d, 1, 1) - self.narrow(d, 0, 1)) / g.narrow(d, 0, 1)
            last = (self.narrow(d, n - 1, 1) - self.narrow(d, n - 2, 1)) / g.narrow(d, n - 2, 1)
        else:
            h0 = g.narrow(d, 0, 1)
            h1 = g.narrow(d, 1, 1)
            first = (self.narrow(d, 0, 1) * (-(2.0 * h0 + h1) / (h0 * (h0 + h1))) + self.narrow(d, 1, 1) * ((h0 + h1) / (h0 * h1))
                     + self.narrow(d, 2, 1) * (-h0 / (h1 * (h0 + h1))))
            h0 = g.narrow(d, n - 3, 1)
            h1 = g.narrow(d, n - 2, 1)
            last = (self.narrow(d, n - 3, 1) * (h1 / (h0 * (h0 + h1))) + self.narrow(d, n - 2, 1) * (-(h1 + h0) / (h0 * h1))
                    + self.narrow(d, n - 1, 1) * ((2.0 * h1 + h0) / (h1 * (h0 + h1))))
        result.append(torch.cat([first, middle, last], d))
    return result


# indices: places in the flattened spatial dimensions of output_size.
def unpool(self: Tensor, indices: Tensor, output_size: List[int]) -> Tensor:
    spatial = len(output_size)
    d = self.dim()
    name = 'max_unpooling{}d'.format(spatial)
    if d != spatial + 1 and d != spatial + 2:
        raise RuntimeError('Input to {} should be a {}d or {}d Tensor, but got a tensor with {} dimensions.'.format(name, spatial + 1, spatial + 2, d))
    for i in range(0 if d == spatial + 1 else 1, d):
        if self.size(i) == 0:
            raise RuntimeError('{}_forward_out_cpu(): Expected input to have non-zero size for non-batch dimensions, but got {} with dimension {} being empty.'.format(name, self.size(), i))
    if self.size() != indices.size():
        raise RuntimeError('Expected shape of indices to be same as that of the input tensor ({}) but got indices tensor with shape: {}'.format(self.size(), indices.size()))
    lead = self.size()[:self.dim() - spatial]
    cells = 1
    for n in output_size:
        cells = cells * n
    inside = 1
    for n in self.size()[self.dim() - spatial:]:
        inside = inside * n
    if indices.numel() > 0 and (int(indices.min()) < 0 or int(indices.max()) >= cells):
        raise RuntimeError('found an invalid max index: {} (output volumes are of size {})'.format(int(indices.max()), output_size))
    zeros = torch.zeros(lead + [cells], dtype=self.dtype, device=self.device)
    result = zeros.scatter(-1, indices.reshape(lead + [inside]), self.reshape(lead + [inside])).view(lead + output_size)
    return torch._contiguous_as(result, self) if spatial == 2 else result


def grid_unnormalize(x: Tensor, size: int, align_corners: bool) -> Tensor:
    if align_corners:
        return (x + 1) / 2 * (size - 1)
    return ((x + 1) * size - 1) / 2


def grid_reflect(x: Tensor, twice_low: int, twice_high: int) -> Tensor:
    if twice_low == twice_high:
        return torch.zeros_like(x)
    low = twice_low / 2
    span = (twice_high - twice_low) / 2
    distance = (x - low).abs()
    extra = torch.fmod(distance, span)
    flips = (distance / span).floor()
    return torch.where(torch.remainder(flips, 2) == 0, extra + low, span - extra + low)


# padding_mode: 0 zeros, 1 border, 2 reflection.
def grid_inside(x: Tensor, size: int, padding_mode: int, align_corners: bool) -> Tensor:
    if padding_mode == 0:
        return x
    at = x
    if padding_mode == 2:
        at = grid_reflect(x, 0, 2 * (size - 1)) if align_corners else grid_reflect(x, -1, 2 * size - 1)
    return at.clamp(0, size - 1)


# The values at whole coordinates (one tensor for each spatial dimension, slowest first), zero outside. input: (N, C, ...).
def grid_gather(input: Tensor, at: List[Tensor]) -> Tensor:
    n = input.size(0)
    channels = input.size(1)
    sizes = input.size()[2:]
    place = torch.zeros_like(at[0], dtype=torch.int64)
    inside = torch.ones_like(at[0], dtype=torch.bool)
    for d in range(len(at)):
        inside = inside.logical_and(at[d] >= 0).logical_and(at[d] <= sizes[d] - 1)
        place = place * sizes[d] + at[d].nan_to_num(0.).clamp(0, sizes[d] - 1).to(torch.int64)
    shape = [n, channels] + at[0].size()[1:]
    flat = place.flatten(1).unsqueeze(1).expand([n, channels, -1])
    values = input.flatten(2).gather(2, flat).view(shape)
    return values.masked_fill(inside.logical_not().unsqueeze(1), 0.)


def cubic_weights(t: Tensor) -> List[Tensor]:
    a = -0.75
    x = t + 1
    far0 = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    near0 = ((a + 2) * t - (a + 3)) * t * t + 1
    x = 1 - t
    near1 = ((a + 2) * x - (a + 3)) * x * x + 1
    x = 2 - t
    far1 = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return [far0, near0, near1, far1]


def scalar_type_name(t: Tensor) -> str:
    names = ['Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double', 'ComplexHalf', 'ComplexFloat', 'ComplexDouble', 'Bool']
    return names[t.dtype] if t.dtype < len(names) else 'BFloat16' if t.dtype == torch.bfloat16 else 'quantized numbers'


def check_isin(t: Tensor):
    if t.dtype == torch.bool or t.is_complex():
        raise RuntimeError('Unsupported input type encountered for isin(): {}'.format(scalar_type_name(t)))


def check_embedding_indices(indices: Tensor, name: str):
    if indices.dtype != torch.int64 and indices.dtype != torch.int32:
        raise RuntimeError("Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.{}Tensor instead (while checking arguments for {})".format(scalar_type_name(indices), name))


# interpolation_mode: 0 linear, 1 nearest, 2 cubic. grid: (N, ..., spatial), the fastest dimension first.
def sample_grid(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    spatial = input.dim() - 2
    if grid.size(0) != input.size(0):
        raise RuntimeError('grid_sampler(): expected grid and input to have same batch size, but got input with sizes {} and grid with sizes {}'.format(input.size(), grid.size()))
    if grid.size(-1) != spatial:
        raise RuntimeError('grid_sampler(): expected grid to have size {} in last dimension, but got grid with sizes {}'.format(spatial, grid.size()))
    if input.dim() < 4 or input.dim() > 5 or grid.dim() != input.dim():
        raise RuntimeError('grid_sampler(): expected {} input and grid with same number of dimensions, but got input with sizes {} and grid with sizes {}'.format('4D' if input.dim() == 4 else '5D', input.size(), grid.size()))
    for d in range(2, input.dim()):
        if input.size(d) == 0:
            raise RuntimeError('grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {} with dimension {} being empty'.format(input.size(), d))
    if grid.dtype != input.dtype:
        raise RuntimeError('expected scalar type {} but found {}'.format(scalar_type_name(input), scalar_type_name(grid)))
    if not input.is_floating_point():
        raise RuntimeError('grid_sampler_{}d_cpu not implemented for {}'.format(spatial, scalar_type_name(input)))
    if interpolation_mode == 2 and spatial != 2:
        raise RuntimeError('grid_sampler(): bicubic interpolation only supports 4D input')
    at: List[Tensor] = []
    for d in range(spatial):
        x = grid_unnormalize(grid.select(-1, spatial - 1 - d), input.size(2 + d), align_corners)
        at.append(x if interpolation_mode == 2 else grid_inside(x, input.size(2 + d), padding_mode, align_corners))
    if interpolation_mode == 1:
        return grid_gather(input, [x.round() for x in at]) + at[0].sign().mul(0).unsqueeze(1)  # a gradient of zeros for the grid
    result = torch.zeros([1], dtype=input.dtype, device=input.device)
    if interpolation_mode == 0:
        for corner in range(1 << spatial):
            places: List[Tensor] = []
            weight = torch.ones_like(at[0])
            for d in range(spatial):
                low = at[d].floor()
                up = (corner >> d) & 1
                places.append(low + up)
                weight = weight * (at[d] - low if up == 1 else low + 1 - at[d])
            result = result + grid_gather(input, places) * weight.unsqueeze(1)
        return result
    low_y = at[0].floor()
    low_x = at[1].floor()
    weights_y = cubic_weights(at[0] - low_y)
    weights_x = cubic_weights(at[1] - low_x)
    for i in range(4):
        for j in range(4):
            y = grid_inside(low_y + (i - 1), input.size(2), padding_mode, align_corners)
            x = grid_inside(low_x + (j - 1), input.size(3), padding_mode, align_corners)
            result = result + grid_gather(input, [y, x]) * (weights_y[i] * weights_x[j]).unsqueeze(1)
    return result


# mode: 0 sum, 1 mean, 2 max. Gives (bags, bag of each index, size of each bag, index of each maximum).
def bags_of(weight: Tensor, indices: Tensor, offsets: Tensor, mode: int, per_sample_weights: Optional[Tensor], include_last_offset: bool,
            padding_idx: int) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    if not weight.is_floating_point():
        raise RuntimeError("Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, Float, Double; but got torch.{}Tensor instead (while checking arguments for embedding_bag)".format(scalar_type_name(weight)))
    if per_sample_weights is not None and mode != 0:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    starts: List[int] = offsets.to(torch.int64).tolist()
    count = len(starts)
    if include_last_offset:
        count = count - 1
    if len(starts) > 0 and starts[0] != 0:
        raise RuntimeError('offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got {}'.format(starts[0]))
    bags: List[Tensor] = []
    of_each: List[int] = []
    sizes: List[int] = []
    maxima: List[Tensor] = []
    width = weight.size(1)
    for b in range(count):
        begin = starts[b]
        end = starts[b + 1] if b + 1 < len(starts) else indices.size(0)
        if end < begin or end > indices.size(0):
            raise RuntimeError('embedding_bag: offsets are out of order or out of range')
        own = indices.narrow(0, begin, end - begin)
        for _ in range(end - begin):
            of_each.append(b)
        keep = own != padding_idx
        rows = weight.index_select(0, own)
        n = int(keep.sum())
        if n < own.size(0):
            rows = rows[keep]
        sizes.append(n)
        if per_sample_weights is not None:
            scale = per_sample_weights.narrow(0, begin, end - begin)
            if n < own.size(0):
                scale = scale[keep]
            rows = rows * scale.unsqueeze(1)
        if mode == 2:
            if n == 0:
                bags.append(torch.zeros([width], dtype=weight.dtype))
                maxima.append(torch.full([width], -1, dtype=torch.int64))
            else:
                values, places = rows.max(0)
                bags.append(values)
                kept = own[keep] if n < own.size(0) else own
                maxima.append(kept.to(torch.int64).index_select(0, places))
        elif mode == 1:
            bags.append(rows.sum([0]) / max(n, 1))
        else:
            bags.append(rows.sum([0]))
    result = torch.stack(bags, 0) if count > 0 else torch.zeros([0, width], dtype=weight.dtype)
    size = torch.tensor(sizes, dtype=torch.int64)
    chosen = torch.stack(maxima, 0) if len(maxima) > 0 else torch.zeros([0], dtype=torch.int64)
    return result, torch.tensor(of_each, dtype=torch.int64), size, chosen


def segments_of(data: Tensor, reduce: str, lengths: Optional[Tensor], offsets: Optional[Tensor], axis: int, unsafe: bool,
                initial: Optional[number]) -> Tensor:
    if offsets is not None:
        counts = torch.diff(offsets, dim=-1)
    elif lengths is not None:
        counts = lengths
    else:
        raise RuntimeError('segment_reduce(): Either lengths or offsets must be defined.')
    if axis != counts.dim() - 1:
        raise RuntimeError('segment_reduce(): Expected axis to be the last dimension of lengths but got {}.'.format(axis))
    outer = 1
    for d in range(axis):
        outer = outer * data.size(d)
    rows = data.reshape([outer, data.size(axis), -1])
    table = counts.reshape([outer, -1])
    if not unsafe and table.numel() > 0 and int(table.min()) < 0:
        raise RuntimeError('lengths contains negative value!')
    groups: List[Tensor] = []
    for o in range(outer):
        at = 0
        sizes: List[int] = table[o].to(torch.int64).tolist()
        for n in sizes:
            if at + n > rows.size(1):
                raise RuntimeError('segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1)')
            part = rows[o].narrow(0, at, n)
            at = at + n
            groups.append(segment_of(part, reduce, initial))
        if not unsafe and at != rows.size(1):
            raise RuntimeError('segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1)')
    shape = data.size()[:axis] + [table.size(1)] + data.size()[axis + 1:]
    if len(groups) == 0:
        return torch.zeros(shape, dtype=data.dtype)
    return torch.stack(groups, 0).reshape(shape)


def segment_of(part: Tensor, reduce: str, initial: Optional[number]) -> Tensor:
    n = part.size(0)
    start = 0.0
    if reduce == 'prod':
        start = 1.0
    elif reduce == 'max':
        start = float('-inf')
    elif reduce == 'min':
        start = float('inf')
    if initial is not None:
        start = float(initial)
    first = torch.full([part.size(1)], start, dtype=part.dtype)
    if reduce == 'sum':
        return part.sum([0]) + first
    if reduce == 'prod':
        return part.prod(0) * first
    if reduce == 'max':
        return torch.cat([first.unsqueeze(0), part], 0).amax([0])
    if reduce == 'min':
        return torch.cat([first.unsqueeze(0), part], 0).amin([0])
    if reduce == 'mean':
        if n == 0:
            return first if initial is not None else torch.full_like(first, float('nan'))
        return (part.sum([0]) + first) / n
    raise RuntimeError('unsupported reduction: ' + reduce)


# ---- norms and what is measured by them ----

def matrix_norm_dims(a: Tensor, dim: List[int]) -> Tuple[int, int]:
    if a.dim() < 2:
        raise RuntimeError('linalg.matrix_norm: The input tensor A must have at least 2 dimensions.')
    if len(dim) != 2:
        raise RuntimeError('linalg.matrix_norm: dim must be a 2-tuple. Got {}'.format(dim))
    for d in dim:
        if d < -a.dim() or d >= a.dim():
            raise IndexError('Dimension out of range (expected to be in range of [{}, {}], but got {})'.format(-a.dim(), a.dim() - 1, d))
    rows = dim[0] if dim[0] >= 0 else dim[0] + a.dim()
    cols = dim[1] if dim[1] >= 0 else dim[1] + a.dim()
    if rows == cols:
        raise RuntimeError('linalg.matrix_norm: dims must be different. Got ({}, {})'.format(dim[0], dim[1]))
    return rows, cols


def keep_matrix_dims(x: Tensor, rows: int, cols: int, keepdim: bool) -> Tensor:
    if not keepdim:
        return x
    return x.unsqueeze(min(rows, cols)).unsqueeze(max(rows, cols))


# The largest (smallest, where ord is negative) singular value, sum of a column or sum of a row.
def matrix_norm(self: Tensor, ord: float, dim: List[int], keepdim: bool, dtype: Optional[int]) -> Tensor:
    rows, cols = matrix_norm_dims(self, dim)
    x = self
    if dtype is not None:
        x = self.to(dtype)
    size = abs(ord)
    if size == 2.0:
        s = torch.linalg_svdvals(x.movedim([rows, cols], [-2, -1]))
        return keep_matrix_dims(s.amax(-1) if ord > 0 else s.amin(-1), rows, cols, keepdim)
    if size != 1.0 and size != float('inf'):
        raise RuntimeError('linalg.matrix_norm: Order {} not supported.'.format(ord))
    along = rows if size == 1.0 else cols
    over = cols if size == 1.0 else rows
    sums = torch.linalg_vector_norm(x, 1, [along], keepdim)
    if not keepdim and along < over:
        over = over - 1
    return sums.amax(over, keepdim) if ord > 0 else sums.amin(over, keepdim)


def matrix_norm_named(self: Tensor, ord: str, dim: List[int], keepdim: bool, dtype: Optional[int]) -> Tensor:
    if ord != 'fro' and ord != 'nuc':
        raise RuntimeError('linalg.matrix_norm: Order {} not supported.'.format(ord))
    rows, cols = matrix_norm_dims(self, dim)
    x = self
    if dtype is not None:
        x = self.to(dtype)
    if ord == 'fro':
        return torch.linalg_vector_norm(x, 2, [rows, cols], keepdim)
    s = torch.linalg_svdvals(x.movedim([rows, cols], [-2, -1]))
    return keep_matrix_dims(s.sum(-1), rows, cols, keepdim)


def check_condition_input(self: Tensor, square: bool) -> Tensor:
    if self.dim() < 2:
        raise RuntimeError('linalg.cond: The input tensor must have at least 2 dimensions.')
    if square and self.size(-1) != self.size(-2):
        raise RuntimeError('linalg.cond: A must be batches of square matrices, but they are {} by {} matrices'.format(self.size(-2), self.size(-1)))
    return self


# A singular matrix has an infinite condition number.
def inverse_or_infinite(self: Tensor) -> Tensor:
    inverse, info = torch.linalg_inv_ex(self)
    return inverse.masked_fill((info > 0).unsqueeze(-1).unsqueeze(-1), float('inf'))


def condition_number(self: Tensor, p: float) -> Tensor:
    if abs(p) != 1.0 and abs(p) != 2.0 and abs(p) != float('inf'):
        raise RuntimeError('linalg.cond got an invalid norm type: {}'.format(p))
    if abs(p) == 2.0:
        check_condition_input(self, False)
        if self.numel() == 0:
            return torch.linalg_svdvals(self).sum(-1)
        s = torch.linalg_svdvals(self)
        large = s.select(-1, 0)
        small = s.select(-1, s.size(-1) - 1)
        return small / large if p < 0 else large / small
    check_condition_input(self, True)
    if self.numel() == 0:
        return torch.linalg_vector_norm(self, 1, [-2, -1])
    norm = matrix_norm(self, p, [-2, -1], False, None)
    inverse = matrix_norm(inverse_or_infinite(self), p, [-2, -1], False, None)
    return (norm * inverse).nan_to_num(float('inf'), float('inf'), -float('inf'))


def condition_number_named(self: Tensor, p: str) -> Tensor:
    if p != 'fro' and p != 'nuc':
        raise RuntimeError('linalg.cond got an invalid norm type: {}'.format(p))
    check_condition_input(self, True)
    if self.numel() == 0:
        return torch.linalg_vector_norm(self, 1, [-2, -1])
    norm = matrix_norm_named(self, p, [-2, -1], False, None)
    if p == 'nuc':
        inverse, info = torch.linalg_inv_ex(self)
        singular = info > 0
        inverse_norm = matrix_norm_named(inverse.masked_fill(singular.unsqueeze(-1).unsqueeze(-1), 0), p, [-2, -1], False, None)
        return norm * inverse_norm.masked_fill(singular, float('inf'))
    bound = matrix_norm_named(inverse_or_infinite(self), p, [-2, -1], False, None)
    return (norm * bound).nan_to_num(float('inf'), float('inf'), -float('inf'))


# ---- ranks and pseudo-inverses: singular values up to max(atol, rtol * the largest) count as zero ----

def tolerance(self: Tensor, value: Optional[float]) -> Optional[Tensor]:
    if value is None:
        return None
    return torch.full([], value, dtype=torch.float64)


# (..., 1) to compare singular values with.
def singular_threshold(a: Tensor, s: Tensor, atol: Optional[Tensor], rtol: Optional[Tensor]) -> Tensor:
    eps = 1.1920928955078125e-07 if s.dtype == torch.float32 else 2.220446049250313e-16
    absolute = torch.zeros([], dtype=s.dtype)
    relative = torch.full([], eps * max(a.size(-1), a.size(-2)), dtype=s.dtype)
    if atol is not None:
        if atol.is_complex():
            raise RuntimeError('atol tensor of complex type is not supported.')
        absolute = atol.to(s.dtype)
        relative = torch.where(absolute > 0, torch.zeros_like(absolute), relative)
    if rtol is not None:
        if rtol.is_complex():
            raise RuntimeError('rtol tensor of complex type is not supported.')
        relative = rtol.to(s.dtype)
    largest = s.amax(-1, True)
    return torch.maximum(absolute.unsqueeze(-1), relative.unsqueeze(-1) * largest)


def matrix_rank(self: Tensor, atol: Optional[Tensor], rtol: Optional[Tensor], hermitian: bool) -> Tensor:
    if self.dim() < 2:
        raise RuntimeError('torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.')
    if self.numel() == 0:
        return torch.zeros(self.size()[:-2], dtype=torch.int64)
    s = torch.linalg_eigvalsh(self).abs() if hermitian else torch.linalg_svdvals(self)
    return (s > singular_threshold(self, s, atol, rtol)).sum(-1)


def pseudo_inverse(self: Tensor, atol: Optional[Tensor], rtol: Optional[Tensor], hermitian: bool) -> Tensor:
    if self.dim() < 2:
        raise RuntimeError('linalg.pinv: The input tensor self must have at least 2 dimensions.')
    if self.numel() == 0:
        return torch.empty(self.size()[:-2] + [self.size(-1), self.size(-2)], dtype=self.dtype)
    if hermitian:
        values, vectors = torch.linalg_eigh(self)
        size = values.abs()
        inverse = torch.where(size > singular_threshold(self, size, atol, rtol), values.reciprocal(), torch.zeros_like(values))
        return torch.matmul(vectors * inverse.unsqueeze(-2), vectors.mH)
    u, s, vh = torch.linalg_svd(self, False)
    inverse = torch.where(s > singular_threshold(self, s, atol, rtol), s.reciprocal(), torch.zeros_like(s))
    return torch.matmul(vh.mH * inverse.unsqueeze(-2), u.mH)


# Scaling until the norm is small, a Taylor polynomial of degree 18, squaring: the fewer squarings, the fewer digits are lost.
def exponential_of_matrices(self: Tensor) -> Tensor:
    if self.dim() < 2:
        raise RuntimeError('linalg.matrix_exp: The input tensor A must have at least 2 dimensions.')
    if self.size(-1) != self.size(-2):
        raise RuntimeError('linalg.matrix_exp: A must be batches of square matrices, but they are {} by {} matrices'.format(self.size(-2), self.size(-1)))
    if not self.is_floating_point() and not self.is_complex():
        raise RuntimeError('linalg.matrix_exp: Expected a floating point or complex tensor as input.')
    if self.numel() == 0:
        return self.clone()
    norm = self.detach().abs().sum(-2).max().item()
    squarings = 0
    size = float(norm)
    small = 1.09 if self.dtype == torch.float64 or self.dtype == torch.complex128 else 3.0
    while size > small and squarings < 1000 and size < float('inf'):
        size = size / 2.0
        squarings = squarings + 1
    x = self * (0.5 ** squarings)
    identity = torch.eye(self.size(-1), dtype=self.dtype)
    result = identity + x / 18.0
    for k in range(17):
        result = identity + torch.matmul(x, result) / (17.0 - k)
    for k in range(squarings):
        result = torch.matmul(result, result)
    return result


def product_of(sizes: List[int]) -> int:
    product = 1
    for size in sizes:
        product = product * size
    return product


# ---- distances ----

# The derivative of a distance by each of the differences; zero where it has none.
def distance_slope(difference: Tensor, distance: Tensor, p: float) -> Tensor:
    zero = torch.zeros_like(difference)
    if p == 0.0:
        return zero
    if p == 1.0:
        return difference.sign()
    if p == float('inf'):
        return difference.sign() * (difference.abs() == distance).to(difference.dtype)
    if p == 2.0:
        return torch.where(distance == 0, zero, difference / distance)
    slope = difference.sign() * (difference.abs() / distance).pow(p - 1.0)
    return torch.where(torch.logical_or(distance == 0, difference == 0), zero, slope)


def unit_vectors(x: Tensor, dim: int, eps: float) -> Tensor:
    square = torch.real(x * x.conj()).sum([dim], True) if x.is_complex() else (x * x).sum([dim], True)
    square = square + (square.clamp_min(eps * eps) - square).detach()
    return x / square.sqrt()


def covariance(self: Tensor, correction: int, fweights: Optional[Tensor], aweights: Optional[Tensor]) -> Tensor:
    if self.dim() > 2:
        raise RuntimeError('cov(): expected input to have two or fewer dimensions but got an input with {} dimensions'.format(self.dim()))
    if self.dtype == torch.bool:
        raise RuntimeError('cov(): bool dtype is not supported for input')
    x = self.view([1, -1]) if self.dim() < 2 else self
    if not x.is_floating_point() and not x.is_complex():
        x = x.to(torch.float32)
    count = x.size(1)
    weights: Optional[Tensor] = None
    if fweights is not None:
        if fweights.dim() > 1:
            raise RuntimeError('cov(): expected fweights to have one or fewer dimensions but got fweights with {} dimensions'.format(fweights.dim()))
        if fweights.is_floating_point() or fweights.is_complex() or fweights.dtype == torch.bool:
            raise RuntimeError('cov(): expected fweights to have integral dtype but got fweights with {} dtype'.format(scalar_type_name(fweights)))
        if fweights.numel() != count:
            raise RuntimeError('cov(): expected fweights to have the same numel as there are observations in the input but got {} != {}'.format(fweights.numel(), count))
        if count > 0 and bool((fweights.min() < 0).item()):
            raise RuntimeError('cov(): fweights cannot be negative')
        weights = fweights
    if aweights is not None:
        if aweights.dim() > 1:
            raise RuntimeError('cov(): expected aweights to have one or fewer dimensions but got aweights with {} dimensions'.format(aweights.dim()))
        if not aweights.is_floating_point():
            raise RuntimeError('cov(): expected aweights to have floating point dtype but got aweights with {} dtype'.format(scalar_type_name(aweights)))
        if aweights.numel() != count:
            raise RuntimeError('cov(): expected aweights to have the same numel as there are observations in the input but got {} != {}'.format(aweights.numel(), count))
        if count > 0 and bool((aweights.min() < 0).item()):
            raise RuntimeError('cov(): aweights cannot be negative')
        weights = aweights if weights is None else weights * aweights
    total = torch.full([], float(count), dtype=torch.float64)
    if weights is not None:
        total = weights.sum()
        if total.item() == 0:
            raise ZeroDivisionError('cov(): weights sum to zero, can\'t be normalized')
    mean = x.sum(1) / count if weights is None else (x * weights).sum(1) / total
    norm = total - correction
    if weights is not None and aweights is not None and correction != 0:
        norm = total - correction * (weights * aweights).sum() / total
    if bool((norm <= 0).item()):
        norm = torch.zeros_like(norm)
    x = x - mean.unsqueeze(1)
    scaled = x if weights is None else x * weights
    return torch.true_divide(torch.mm(x, scaled.t().conj()), norm).squeeze()


# ---- short-time Fourier transforms ----

# The window in the middle of n_fft places; ones where none is given.
def centred_window(window: Optional[Tensor], length: int, n_fft: int, like: Tensor) -> Tensor:
    w = torch.ones([length], dtype=like.dtype) if window is None else window
    if length < n_fft:
        left = (n_fft - length) // 2
        w = torch.constant_pad_nd(w, [left, n_fft - length - left], 0)
    return w


def short_transform(self: Tensor, n_fft: int, hop: int, length: int, window: Optional[Tensor], normalized: bool,
                    onesided: Optional[bool], return_complex: Optional[bool]) -> Tensor:
    complex_window = False
    if window is not None:
        complex_window = window.is_complex()
    complex_input = self.is_complex() or complex_window
    as_complex = complex_input
    if return_complex is not None:
        as_complex = return_complex
    if not self.is_floating_point() and not self.is_complex():
        raise RuntimeError('stft: expected a tensor of floating point or complex values')
    if self.dim() != 1 and self.dim() != 2:
        raise RuntimeError('stft: expected a 1D or 2D tensor')
    x = self.unsqueeze(0) if self.dim() == 1 else self
    size = x.size(1)
    if n_fft <= 0 or n_fft > size:
        raise RuntimeError('stft: expected 0 < n_fft < {}, but got n_fft={}'.format(size, n_fft))
    if hop <= 0:
        raise RuntimeError('stft: expected hop_length > 0, but got hop_length={}'.format(hop))
    if length <= 0 or length > n_fft:
        raise RuntimeError('stft: expected 0 < win_length <= n_fft, but got win_length={}'.format(length))
    if window is not None:
        if window.dim() != 1 or window.size(0) != length:
            raise RuntimeError('stft: expected a 1D window tensor of size equal to win_length={}, but got window with size {}'.format(length, window.size()))
    frames = x.unfold(1, n_fft, hop)
    if window is not None or length < n_fft:
        frames = frames * centred_window(window, length, n_fft, x)
    half = not complex_input
    if onesided is not None:
        if onesided and complex_input:
            raise RuntimeError('Cannot have onesided output if window or input is complex')
        half = onesided
    norm = 'ortho' if normalized else 'backward'
    out = torch.fft_rfft(frames, None, -1, norm) if half else torch.fft_fft(frames, None, -1, norm)
    out = out.transpose(1, 2)
    if self.dim() == 1:
        out = out.squeeze(0)
    return out if as_complex else torch.view_as_real(out)


def join_frames(self: Tensor, n_fft: int, hop: int, window_length: int, window: Optional[Tensor], center: bool, normalized: bool,
                onesided: Optional[bool], length: Optional[int], return_complex: bool) -> Tensor:
    if not self.is_complex() and (self.dim() == 0 or self.size(-1) != 2):
        raise RuntimeError('istft: expected the last dimension to be 2 for the real and imaginary parts')
    x = self if self.is_complex() else torch.view_as_complex(self.contiguous())
    if self.numel() == 0:
        raise RuntimeError('istft: input tensor cannot be empty.')
    if x.dim() != 2 and x.dim() != 3:
        raise RuntimeError('istft: expected a tensor with 2 or 3 dimensions besides the complex one, but got {}'.format(x.dim()))
    single = x.dim() == 2
    if single:
        x = x.unsqueeze(0)
    n_frames = x.size(-1)
    n_freqs = x.size(-2)
    half = n_freqs != n_fft if onesided is None else onesided
    if half:
        if n_fft // 2 + 1 != n_freqs:
            raise RuntimeError('istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when onesided=True, but got {}'.format(n_freqs))
    elif n_fft != n_freqs:
        raise RuntimeError('istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when onesided=False, but got {}'.format(n_freqs))
    if hop <= 0 or hop > window_length:
        raise RuntimeError('istft: expected 0 < hop_length <= win_length')
    if window_length <= 0 or window_length > n_fft:
        raise RuntimeError('istft: expected 0 < win_length <= n_fft')
    if window is not None:
        if window.dim() != 1 or window.size(0) != window_length:
            raise RuntimeError('Invalid window shape. window has to be 1D and length of `win_length`')
    if return_complex and half:
        raise RuntimeError('Cannot have onesided output if window or input is complex')
    w = centred_window(window, window_length, n_fft, torch.view_as_real(x))
    if w.is_complex() and not return_complex:
        raise RuntimeError('Complex windows are incompatible with return_complex=False')
    frames = x.transpose(1, 2)
    norm = 'ortho' if normalized else 'backward'
    if return_complex:
        frames = torch.fft_ifft(frames, None, -1, norm)
    else:
        frames = torch.fft_irfft(frames.narrow(-1, 0, n_fft // 2 + 1), n_fft, -1, norm)
    total = n_fft + hop * (n_frames - 1)
    y = torch.unfold_backward((frames * w).contiguous(), [x.size(0), total], 1, n_fft, hop)
    envelope = torch.unfold_backward(w.pow(2).expand([1, n_frames, n_fft]).contiguous(), [1, total], 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = total
    if length is not None:
        end = start + length
    elif center:
        end = total - n_fft // 2
    stop = min(end, total)
    y = y.slice(1, start, stop, 1)
    envelope = envelope.slice(1, start, stop, 1)
    if bool((envelope.abs().min() <= 1e-11).item()):
        raise RuntimeError('window overlap add min: 1')
    y = y / envelope
    if single:
        y = y.squeeze(0)
    if end > total:
        y = torch.constant_pad_nd(y, [0, end - total], 0)
    return y


# ---- attention ----
def no_tensor() -> Tensor:
    return torch.ops.prim.AutogradZero()


def dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor], dropout_p: float,
                          is_causal: bool) -> Tuple[Tensor, Tensor]:
    if attn_mask is not None and is_causal:
        raise RuntimeError('_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True')
    scores = torch.matmul(query / math.sqrt(query.size(-1)), key.transpose(-2, -1))
    if is_causal:
        allowed = torch.ones([query.size(-2), key.size(-2)], dtype=torch.bool, device=query.device).tril()
        scores = scores.masked_fill(allowed.logical_not(), float('-inf'))
    elif attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(attn_mask.logical_not(), float('-inf'))
        else:
            scores = scores + attn_mask
    weights = scores.softmax(-1)
    if dropout_p > 0.0:
        weights = torch.dropout(weights, dropout_p, True)
    return torch.matmul(weights, value), weights


# What a query finds of each key, masked: -inf where it must not attend.
def scaled_scores(query: Tensor, key: Tensor, attn_mask: Optional[Tensor], is_causal: bool, scale: Optional[float]) -> Tensor:
    factor = 1. / math.sqrt(query.size(-1)) if scale is None else scale
    scores = torch.matmul(query * factor, key.transpose(-2, -1))
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(attn_mask.logical_not(), float('-inf'))
        else:
            scores = scores + attn_mask.to(scores.dtype)
    if is_causal:
        allowed = torch.ones([query.size(-2), key.size(-2)], dtype=torch.bool, device=query.device).tril()
        scores = scores.masked_fill(allowed.logical_not(), float('-inf'))
    return scores


# scaled_dot_product_attention as PyTorch 2.5 and later: rows that attend to nothing are zero, half precision is rounded once.
def scaled_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor], dropout_p: float,
                     is_causal: bool, scale: Optional[float], enable_gqa: bool) -> Tensor:
    if attn_mask is not None and is_causal:
        raise RuntimeError('_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True')
    if query.dim() < 2 or key.dim() < 2 or value.dim() < 2:
        raise RuntimeError('scaled_dot_product_attention: Expected query, key, value to have at least 2 dimensions')
    if query.dtype != key.dtype or query.dtype != value.dtype:
        raise RuntimeError('Expected query, key, and value to have the same dtype')
    if attn_mask is not None:
        if attn_mask.dtype != torch.bool and attn_mask.dtype != torch.float32 and attn_mask.dtype != query.dtype:
            raise RuntimeError('Expected attn_mask dtype to be bool or float or to match query dtype')
    if enable_gqa:
        if query.dim() < 3 or key.size(-3) == 0 or value.size(-3) == 0:
            raise RuntimeError('scaled_dot_product_attention: enable_gqa needs heads of query, key and value')
        heads = query.size(-3)
        if heads % key.size(-3) != 0 or heads % value.size(-3) != 0:
            raise RuntimeError('Number of heads in key and value must divide the number of heads in query')
        key = key.repeat_interleave(heads // key.size(-3), -3)
        value = value.repeat_interleave(heads // value.size(-3), -3)
    dtype = query.dtype
    half = dtype == torch.float16 or dtype == torch.bfloat16
    if half:
        query = query.to(torch.float32)
        key = key.to(torch.float32)
        value = value.to(torch.float32)
    scores = scaled_scores(query, key, attn_mask, is_causal, scale)
    weights = torch.softmax(scores, -1) if attn_mask is None else torch._safe_softmax(scores, -1)
    if dropout_p > 0.0:
        weights = torch.dropout(weights, dropout_p, True)
    result = torch.matmul(weights, value)
    return result.to(dtype) if half else result


# _scaled_dot_product_flash_attention_for_cpu: the result lies as the query does, and the logarithms of the sums by which
# the weights were divided come along, batch by position by head in memory.
def flash_attention(query: Tensor, key: Tensor, value: Tensor, dropout_p: float, is_causal: bool,
                    attn_mask: Optional[Tensor], scale: Optional[float]) -> Tuple[Tensor, Tensor]:
    if not query.is_floating_point():
        raise RuntimeError('scaled_dot_product_attention_flash_attention: Expected data type in FP32, FP64, BF16, FP16, but got another one')
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise RuntimeError('scaled_dot_product_attention_flash_attention: Accept only 4 dims inputs shape of {B, H, T, K}')
    if dropout_p != 0.0:
        raise RuntimeError('scaled_dot_product_attention_flash_attention: Currently do not support dropout > 0')
    if query.size(3) != value.size(3) or key.size(3) != value.size(3):
        raise RuntimeError('scaled_dot_product_attention_flash_attention: Q/K/V should have the same head size')
    if query.size(1) != key.size(1) or query.size(1) != value.size(1) or query.size(0) != key.size(0):
        raise RuntimeError('scaled_dot_product_attention_flash_attention: Q/K/V should have the same batch size and heads')
    if query.dtype != key.dtype or query.dtype != value.dtype:
        raise RuntimeError('Expected query, key, and value to have the same dtype')
    if attn_mask is not None:
        if attn_mask.dtype != query.dtype and attn_mask.dtype != torch.float32:
            raise RuntimeError('scaled_dot_product_attention_flash_attention: Attention mask is the same data type as query')
        if attn_mask.dim() != 2 and attn_mask.dim() != 4:
            raise RuntimeError('scaled_dot_product_attention_flash_attention: Attention mask dim in {2, 4}')
    dtype = query.dtype
    half = dtype == torch.float16 or dtype == torch.bfloat16
    wide = query.to(torch.float32) if half else query
    scores = scaled_scores(wide, key.to(wide.dtype), attn_mask, is_causal, scale)
    result = torch.matmul(torch._safe_softmax(scores, -1), value.to(wide.dtype)).to(dtype)
    if not query.is_contiguous():
        result = torch.empty_like(query).copy_(result)
    sums = scores.detach().logsumexp(-1)
    return result, sums.transpose(1, 2).contiguous().transpose(1, 2)


# Sizes that two lists of sizes broadcast to, of any length.
def broadcast_of(a: List[int], b: List[int]) -> List[int]:
    out: List[int] = []
    n = max(len(a), len(b))
    for i in range(n):
        x = a[len(a) - 1 - i] if i < len(a) else 1
        y = b[len(b) - 1 - i] if i < len(b) else 1
        if x != y and x != 1 and y != 1:
            raise RuntimeError('The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}'.format(y, x, n - 1 - i))
        out.insert(0, x if y == 1 else y)
    return out


# Each tensor in `num_chunks` equal parts along `dim`, padded with zeros, beside those of the others.
def chunks_joined(tensors: List[Tensor], dim: int, num_chunks: int) -> Tensor:
    if num_chunks < 1:
        raise RuntimeError('_chunk_cat expects positive num_chunks')
    if len(tensors) == 0:
        raise RuntimeError('_chunk_cat expects a non-empty input tensor list')
    if dim < 0:
        for t in tensors:
            if t.dim() != tensors[0].dim():
                raise RuntimeError('_chunk_cat expects non-negative dim when input tensors have different ndims')
        dim = dim + tensors[0].dim()
    parts: List[Tensor] = []
    for t in tensors:
        if t.numel() == 0:
            raise RuntimeError('_chunk_cat expects non-empty tensor')
        if dim < 0 or dim >= t.dim():
            raise RuntimeError('_chunk_cat expects dim < ndim for all input tensors')
        leading = list(t.size()[:dim])
        if leading != list(tensors[0].size()[:dim]):
            raise RuntimeError('_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors')
        missing = (num_chunks - t.size(dim) % num_chunks) % num_chunks
        flat = t.flatten(dim)
        flat = torch.constant_pad_nd(flat, [0, missing * (flat.size(-1) // t.size(dim))])
        parts.append(flat.reshape(leading + [num_chunks, -1]))
    return torch.cat(parts, dim + 1)


def rms_normalized(x: Tensor, normalized_shape: List[int], weight: Optional[Tensor], eps: Optional[float]) -> Tuple[Tensor, Tensor]:
    n = len(normalized_shape)
    if n == 0:
        raise RuntimeError('Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []')
    if x.dim() < n or x.size()[x.dim() - n:] != normalized_shape:
        sizes = ', '.join([str(size) for size in normalized_shape])
        raise RuntimeError('Given normalized_shape={}, expected input with shape [*{}], but got input of size{}'.format(normalized_shape, sizes, x.size()))
    if weight is not None and weight.size() != normalized_shape:
        raise RuntimeError('Expected weight to be of same shape as normalized_shape, but got weight of shape {} and normalized_shape = {}'.format(weight.size(), normalized_shape))
    small = 2.220446049250313e-16 if x.dtype == torch.float64 else 1.1920928955078125e-07
    wide = x.to(torch.float32) if x.dtype == torch.float16 or x.dtype == torch.bfloat16 else x
    axes = [-1 - i for i in range(n)]
    scale = torch.rsqrt((wide * wide).mean(axes, True) + (small if eps is None else eps))
    y = (wide * scale).to(x.dtype)
    if weight is not None:
        y = y * weight
    return y, scale


def split_heads(x: Tensor, heads: int) -> Tensor:
    return x.reshape([x.size(0), x.size(1), heads, x.size(2) // heads]).transpose(1, 2)


# mask: true where keys are left out; (batch, keys) or as wide as the scores.
def heads_attention(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, heads: int, qkv_weight: Tensor, qkv_bias: Tensor,
                    proj_weight: Tensor, proj_bias: Tensor, mask: Optional[Tensor], need_weights: bool,
                    average: bool) -> Tuple[Tensor, Tensor]:
    if query.dim() != 3:
        raise RuntimeError('expected 3-D `query`, got {}-D tensor'.format(query.dim()))
    if embed_dim != query.size(2) or heads < 1 or embed_dim % heads != 0:
        raise RuntimeError('passed-in embed_dim {} didn\'t match last dim of query {}'.format(embed_dim, query.size(2)))
    weights = qkv_weight.chunk(3, 0)
    biases = qkv_bias.chunk(3, 0)
    q = split_heads(torch.linear(query, weights[0], biases[0]), heads)
    k = split_heads(torch.linear(key, weights[1], biases[1]), heads)
    v = split_heads(torch.linear(value, weights[2], biases[2]), heads)
    q = q / math.sqrt(embed_dim // heads)
    k = k.transpose(-2, -1)
    hidden: Optional[Tensor] = None
    if mask is not None:
        hidden = mask.to(torch.bool)
        if hidden.dim() == 2:
            if hidden.size(0) != query.size(0) or hidden.size(1) != key.size(1):
                raise RuntimeError('Expected attn_mask->sizes()[0] == batch_size to be true, but got false.')
            hidden = hidden.view([hidden.size(0), 1, 1, hidden.size(1)])
    shown = no_tensor()
    if need_weights:
        scores = torch.matmul(q, k)
        if hidden is not None:
            scores = scores.masked_fill(hidden, float('-inf'))
        chosen = scores.softmax(-1)
        out = torch.matmul(chosen, v)
        shown = chosen.mean([1]) if average else chosen
    else:
        out = torch.ops.wick.masked_attention(q, k, v, hidden)
    out = out.transpose(1, 2).reshape(query.size())
    return torch.linear(out, proj_weight, proj_bias), shown


# The norm over all dimensions but `dim`, which keeps its place; -1: over all.
def norm_but(v: Tensor, pow: int, dim: int) -> Tensor:
    if dim == -1:
        return v.norm(pow)
    axes: List[int] = []
    for d in range(v.dim()):
        if d != dim:
            axes.append(d)
    return v.norm(pow, axes, True)


# Quantization aware training in one operator: the running range follows the input's, the scale and zero point follow the
# range, and the input is rounded to them. The buffers are written.
def moving_average_fake_quantize(self: Tensor, observer_on: Tensor, fake_quant_on: Tensor, running_min: Tensor, running_max: Tensor,
                                 scale: Tensor, zero_point: Tensor, averaging_const: float, quant_min: int, quant_max: int,
                                 ch_axis: int, per_row: bool, symmetric: bool) -> Tuple[Tensor, Tensor]:
    if int(observer_on) != 0:
        x = self.detach()
        if per_row:
            rows = x.transpose(0, ch_axis).flatten(1) if x.dim() > 1 else x.unsqueeze(1)
            least, most = torch.aminmax(rows, dim=1)
            if running_min.numel() == 0:
                running_min.resize_([rows.size(0)]).fill_(float('inf'))
                running_max.resize_([rows.size(0)]).fill_(float('-inf'))
                scale.resize_([rows.size(0)])
                zero_point.resize_([rows.size(0)])
        else:
            least, most = torch.aminmax(x)
            least = least.reshape(running_min.size())
            most = most.reshape(running_max.size())
        fresh_min = torch.isinf(running_min)
        fresh_max = torch.isinf(running_max)
        running_min.copy_(torch.where(fresh_min, least, running_min + averaging_const * (least - running_min)))
        running_max.copy_(torch.where(fresh_max, most, running_max + averaging_const * (most - running_max)))
    if int(fake_quant_on) == 0:
        return self, torch.ones_like(self, dtype=torch.bool)
    lows: List[float] = running_min.reshape(-1).tolist()
    highs: List[float] = running_max.reshape(-1).tolist()
    scales: List[float] = []
    zeros: List[int] = []
    for k in range(len(lows)):
        s, z = torch.ops.classes.quantized_parameters_of_range(lows[k], highs[k], quant_min, quant_max, symmetric)
        scales.append(s)
        zeros.append(z)
    scale.copy_(torch.tensor(scales).reshape(scale.size()))
    zero_point.copy_(torch.tensor(zeros).reshape(zero_point.size()))
    if per_row:
        return torch.fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, ch_axis, quant_min, quant_max)
    return torch._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(self, scale, zero_point, fake_quant_on, quant_min, quant_max)


# Recurrent layers with quantized weights, as rnn_layers: what comes from the input is one product for all steps.
def quantized_rnn_layers(mode: int, data: Tensor, batch_sizes: List[int], h0: Tensor, c0: Tensor,
                         params: List[__torch__.torch.classes.rnn.CellParamsBase], num_layers: int, dropout: float, train: bool,
                         bidirectional: bool) -> Tuple[Tensor, Tensor, Tensor]:
    directions = 2 if bidirectional else 1
    if len(params) != num_layers * directions:
        raise RuntimeError('got an incorrect number of quantized RNN parameters')
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
            cell = params[index]
            from_input = torch.ops.classes.CellParamsBase_linear_ih(cell, x)
            h = h0.select(0, index)
            c = c0.select(0, index)
            outputs: List[Tensor] = []
            for k in range(steps):
                t = steps - 1 - k if direction == 1 else k
                size = batch_sizes[t]
                now = from_input.narrow(0, offsets[t], size)
                h_in = h.narrow(0, 0, size)
                from_hidden = torch.ops.classes.CellParamsBase_linear_hh(cell, h_in)
                h_new = h_in
                if mode == 0:
                    gates = (now + from_hidden).chunk(4, 1)
                    c_new = gates[1].sigmoid() * c.narrow(0, 0, size) + gates[0].sigmoid() * gates[2].tanh()
                    h_new = gates[3].sigmoid() * c_new.tanh()
                    c = torch.cat([c_new, c.narrow(0, size, c.size(0) - size)])
                else:
                    i = now.chunk(3, 1)
                    g = from_hidden.chunk(3, 1)
                    reset = (i[0] + g[0]).sigmoid()
                    update = (i[1] + g[1]).sigmoid()
                    new = (i[2] + reset * g[2]).tanh()
                    h_new = (h_in - new) * update + new
                h = torch.cat([h_new, h.narrow(0, size, h.size(0) - size)])
                outputs.append(h_new)
            if direction == 1:
                outputs.reverse()
            sides.append(torch.cat(outputs))
            last_h.append(h)
            last_c.append(c)
        x = torch.cat(sides, 1) if directions == 2 else sides[0]
        if train and dropout > 0 and layer + 1 < num_layers:
            x = torch.dropout(x, dropout, True)
    return x, torch.stack(last_h), torch.stack(last_c)


def quantized_rnn_sequence(mode: int, input: Tensor, h0: Tensor, c0: Tensor,
                           params: List[__torch__.torch.classes.rnn.CellParamsBase], num_layers: int, dropout: float, train: bool,
                           bidirectional: bool, batch_first: bool) -> Tuple[Tensor, Tensor, Tensor]:
    x = input.transpose(0, 1) if batch_first else input
    steps = x.size(0)
    batch = x.size(1)
    out, h, c = quantized_rnn_layers(mode, x.reshape([steps * batch, x.size(2)]), [batch for _ in range(steps)], h0, c0, params,
                                     num_layers, dropout, train, bidirectional)
    out = out.view([steps, batch, out.size(1)])
    return out.transpose(0, 1) if batch_first else out, h, c


# Which rows of a quantized embedding are wanted: pruned ones (-1 in the mapping) stand for nothing.
def embedding_indices(indices: Tensor, pruned_weights: bool, mapping: Optional[Tensor]) -> Tuple[Tensor, Optional[Tensor]]:
    found = indices.reshape(-1)
    kept: Optional[Tensor] = None
    if pruned_weights and mapping is not None and mapping.numel() > 1:
        found = mapping.index_select(0, found)
        kept = (found >= 0).to(torch.float)
        found = found.clamp(min=0)
    return found.to(torch.long), kept


# Sums of bags of rows, one row for each index.
def embedding_bag_of_rows(rows: Tensor, kept: Optional[Tensor], indices: Tensor, offsets: Optional[Tensor],
                          per_sample_weights: Optional[Tensor], include_last_offset: bool) -> Tensor:
    if kept is not None:
        rows = rows * kept.unsqueeze(1)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape([-1, 1])
    if indices.dim() == 2:
        if offsets is not None:
            raise RuntimeError('embedding_bag: offsets are not given with two-dimensional indices')
        return rows.reshape([indices.size(0), indices.size(1), rows.size(1)]).sum(1)
    if offsets is None:
        raise RuntimeError('embedding_bag expects offsets to be set for one-dimensional indices')
    starts: List[int] = offsets.to(torch.long).tolist()
    bags = len(starts) - 1 if include_last_offset else len(starts)
    sums: List[Tensor] = []
    for k in range(bags):
        end = starts[k + 1] if k + 1 < len(starts) else rows.size(0)
        if starts[k] < 0 or end < starts[k] or end > rows.size(0):
            raise RuntimeError('embedding_bag: offsets must not decrease nor exceed the number of indices')
        sums.append(rows.narrow(0, starts[k], end - starts[k]).sum(0))
    return torch.stack(sums) if bags > 0 else torch.zeros([0, rows.size(1)])


# ---- what exported programs are decomposed into ----

# Indices that an operator without checks does not look at, moved to where self has elements.
def indices_within(self: Tensor, indices: List[Optional[Tensor]]) -> List[Optional[Tensor]]:
    kept: List[Optional[Tensor]] = []
    for d in range(len(indices)):
        index = indices[d]
        if index is None or index.dtype == torch.bool or index.dtype == torch.uint8:
            kept.append(index)
        else:
            kept.append(index.clamp(-self.size(d), self.size(d) - 1))
    return kept


def with_axes(x: Tensor, axes: List[int]) -> Tensor:
    for axis in axes:
        x = x.unsqueeze(axis)
    return x


# Of quantized_decomposed: what is quantized, as float32.
def decomposed_input(x: Tensor) -> Tensor:
    if x.dtype == torch.float16 or x.dtype == torch.bfloat16:
        return x.to(torch.float32)
    if x.dtype != torch.float32:
        raise AssertionError('Expecting input to have dtype torch.float32')
    return x


def check_decomposed_range(quant_min: int, quant_max: int, dtype: int):
    least, most = 0, 255
    if dtype == torch.int8:
        least, most = -128, 127
    elif dtype == torch.int16:
        least, most = -32768, 32767
    elif dtype == torch.int32:
        least, most = -2147483648, 2147483647
    elif dtype == torch.uint16:
        least, most = 0, 65535
    elif dtype == torch.float8_e4m3fn:
        least, most = -448, 448
    elif dtype == torch.float8_e5m2:
        least, most = -57344, 57344
    elif dtype != torch.uint8:
        raise ValueError('Unsupported dtype')
    if quant_min < least:
        raise AssertionError('quant_min out of bounds for dtype, quant_min_lower_bound: {} quant_min: {}'.format(least, quant_min))
    if quant_max > most:
        raise AssertionError('quant_max out of bounds for dtype, quant_max_upper_bound: {} quant_max: {}'.format(most, quant_max))


def check_decomposed_dtype(x: Tensor, dtype: int):
    if x.dtype != dtype:
        raise AssertionError('Expecting input to have the dtype that is given')


# A number for each place along an axis, as x broadcasts with.
def along_axis(numbers: Tensor, x: Tensor, axis: int) -> Tensor:
    if axis >= x.dim() or axis < -x.dim():
        raise AssertionError('Expecting axis to be < {}'.format(x.dim()))
    sizes = [1 for _ in range(x.dim())]
    sizes[axis] = numbers.size(0)
    return numbers.view(sizes)


def decomposed_parameters(input: Tensor, quant_min: int, quant_max: int, eps: float, dtype: int, symmetric: bool) -> Tuple[Tensor, Tensor]:
    if input.dtype != torch.float32 and input.dtype != torch.float16 and input.dtype != torch.bfloat16:
        raise AssertionError('Expecting input to have dtype torch.float32/16/b16')
    if quant_min >= quant_max:
        raise AssertionError('qmin must be less than qmax')
    least, most = torch.aminmax(input)
    least, most = least.clamp(max=0), most.clamp(min=0)
    smallest = torch.tensor([eps], dtype=torch.float32)
    if symmetric:
        scale = torch.max(torch.max(-least, most) / (float(quant_max - quant_min) / 2), smallest)
        return scale.to(torch.float64), torch.full_like(scale, 128 if dtype == torch.uint8 else 0, dtype=torch.int64)
    scale = torch.max((most - least) / float(quant_max - quant_min), smallest)
    zero_point = quant_min - torch.round(least / scale).to(torch.int32)
    return scale.to(torch.float64), zero_point.clamp(quant_min, quant_max).to(torch.int64)


def decomposed_token_parameters(input: Tensor) -> Tuple[Tensor, Tensor]:
    least = torch.amin(input, [-1], True).clamp(max=0)
    most = torch.amax(input, [-1], True).clamp(min=0)
    scale = ((most - least) / 255.).clamp(min=1.1920928955078125e-07)
    low, high = least / scale, most / scale
    zero_point = torch.where(low - 128 + (high + 127) > 0, -128 - low, 127 - high)
    return scale.to(torch.float64), zero_point.clamp(-128, 127).round().to(torch.int64)


def check_tokens(input: Tensor, scales: Tensor, zero_points: Tensor):
    tokens = 1
    for i in range(input.dim() - 1):
        tokens *= input.size(i)
    if tokens != scales.numel() or tokens != zero_points.numel():
        raise AssertionError('num_tokens: {} scales: {} zero_points: {}'.format(tokens, scales.size(), zero_points.size()))


# The rows of a matrix in groups of so many elements, each a row.
def in_groups(x: Tensor, scales: Tensor, group_size: int) -> Tensor:
    if group_size <= 1:
        raise AssertionError('group_size must be > 1')
    if x.dim() != 2:
        raise AssertionError('input must be 2-dimensional')
    if group_size > x.size(-1) and scales.size(-1) == 1:
        group_size = x.size(-1)
    if x.size(-1) % group_size != 0:
        raise AssertionError('input.shape[-1] must be divisible by group_size')
    return x.reshape(-1, group_size)


# A product with weights of four bits: (number - 8) * scale + zero, summed in float32. Scales and zeros belong to groups of columns.
def int4_product(self: Tensor, packed: Tensor, group: int, scales_and_zeros: Tensor) -> Tensor:
    if self.dtype != torch.float32 and self.dtype != torch.float16 and self.dtype != torch.bfloat16:
        raise RuntimeError('_weight_int4pack_mm_cpu : expect A to be either 32-bit or 16-bit float tensor.')
    if self.dim() != 2 or packed.dim() != 2:
        raise IndexError('Dimension out of range (expected to be in range of [-1, 0], but got 1)')
    if not self.is_contiguous():
        raise RuntimeError('_weight_int4pack_mm_cpu : expect A to be contiguous.')
    if packed.dtype != torch.uint8:
        raise RuntimeError('_weight_int4pack_mm_cpu : expect B to be uint8 tensor.')
    if packed.size(1) != self.size(1) // 2:
        raise RuntimeError('_weight_int4pack_mm_cpu : expect B.size(1) to be K/2, got {}'.format(packed.size(1)))
    if group not in [32, 64, 128, 256]:
        raise RuntimeError('_weight_int4pack_mm_cpu: expect qGroupSize to be 32, 64, 128 or 256, got {}'.format(group))
    if self.size(1) % group != 0:
        raise RuntimeError('_weight_int4pack_mm_cpu: expect K to be divisible by qGroupSize, got K:{}, qGroupSize:{}'.format(self.size(1), group))
    if scales_and_zeros.dim() != 3 or scales_and_zeros.size(1) != packed.size(0) or scales_and_zeros.size(2) != 2:
        raise RuntimeError('_weight_int4pack_mm_cpu: expect qScaleAndZeros to be 3d tensor with sizes [:, {}, 2]'.format(packed.size(0)))
    if scales_and_zeros.dtype != self.dtype:
        raise RuntimeError('expected scalar type {} but found {}'.format(scalar_type_name(self), scalar_type_name(scales_and_zeros)))
    weights = torch.ops.wick.int4_weights(packed, group, scales_and_zeros)
    return torch.mm(self.to(torch.float32), weights.t()).to(self.dtype)


# The same with weights of int8 and a scale for each row of them.
def int8_product(self: Tensor, weight: Tensor, scales: Tensor) -> Tensor:
    if self.dtype != torch.float32 and self.dtype != torch.float16 and self.dtype != torch.bfloat16:
        raise RuntimeError('_weight_int8pack_mm_cpu : expect A to be either 32-bit or 16-bit float tensor.')
    if self.dim() != 2 or weight.dim() != 2:
        raise IndexError('Dimension out of range (expected to be in range of [-1, 0], but got 1)')
    if self.stride(1) != 1 and self.size(1) != 1:
        raise RuntimeError('_weight_int8pack_mm_cpu : A must be contiguous on the last dimension.')
    if weight.dtype != torch.int8:
        raise RuntimeError('_weight_int8pack_mm_cpu : expect B to be int8 tensor.')
    if weight.size(1) != self.size(1):
        raise RuntimeError('_weight_int8pack_mm_cpu : expect B.size(1) == {}'.format(self.size(1)))
    if scales.dim() != 1 or scales.size(0) != weight.size(0):
        raise RuntimeError('_weight_int8pack_mm_cpu : expect scales to be 1d tensor with size {}'.format(weight.size(0)))
    if scales.dtype != self.dtype:
        raise RuntimeError('expected scalar type {} but found {}'.format(scalar_type_name(self), scalar_type_name(scales)))
    return (torch.mm(self.to(torch.float32), weight.to(torch.float32).t()) * scales).to(self.dtype)


# ---- lists of tensors: aten::_foreach_* ----

def check_lengths(count: int, other: int):
    if count != other:
        raise RuntimeError('Tensor lists must have the same number of tensors, got {} and {}'.format(count, other))


def one_number(t: Tensor) -> Tensor:
    if t.dim() != 0:
        raise RuntimeError('scalar tensor expected to be 0 dim but it has {} dimensions and {} elements.'.format(t.dim(), t.numel()))
    return t


def each_number(numbers: Tensor, i: int, count: int) -> number:
    if numbers.dim() != 1:
        raise RuntimeError('Expected packed scalar Tensor to be of dimension 1. Got {} instead.'.format(numbers.dim()))
    if numbers.size(0) != count:
        raise RuntimeError('Expected length of scalars to match input of length {} but got {} instead.'.format(count, numbers.size(0)))
    return numbers[i].item()


# A product of float8 with scales for each of them, or for rows of the one and columns of the other.
def scaled_product(self: Tensor, mat2: Tensor, scale_a: Tensor, scale_b: Tensor, bias: Optional[Tensor], out_dtype: Optional[int]) -> Tensor:
    if self.dim() != 2:
        raise RuntimeError('mat1 must be a matrix')
    if mat2.dim() != 2:
        raise RuntimeError('mat2 must be a matrix')
    if self.size(1) != mat2.size(0):
        raise RuntimeError('mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})'.format(self.size(0), self.size(1), mat2.size(0), mat2.size(1)))
    for t in [self, mat2]:
        if t.dtype != torch.float8_e4m3fn and t.dtype != torch.float8_e5m2:
            raise ValueError('Invalid scaling configuration.')
    whole = scale_a.numel() == 1 and scale_b.numel() == 1
    if not whole and (scale_a.size() != [self.size(0), 1] or scale_b.size() != [1, mat2.size(1)]):
        raise ValueError('Invalid scaling configuration.')
    scales = scale_a.to(torch.float32).reshape([-1, 1]) * scale_b.to(torch.float32).reshape([1, -1])
    y = torch.mm(self.to(torch.float32), mat2.to(torch.float32)) * scales
    if bias is not None:
        y = y + bias.to(torch.float32)
    return y.to(self.dtype if out_dtype is None else out_dtype)
