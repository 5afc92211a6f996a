"""How recurrent layers and cells are exported: as RNN, GRU and LSTM of ONNX, a node for each layer with both
directions. Packed sequences are the padded ones with the lengths beside them."""
import wick

from . import _model
from ._rows import ROWS, rank_of, row
from .errors import SymbolicValueError

Value = _model.Value
# operator -> node, how many gates, their places in torch's order as ONNX orders them, attributes
_KINDS = {
    "lstm": ("LSTM", 4, (0, 3, 1, 2), {}),
    "gru": ("GRU", 3, (1, 0, 2), {"linear_before_reset_i": 1}),
    "rnn_tanh": ("RNN", 1, (0,), {}),
    "rnn_relu": ("RNN", 1, (0,), {}),
}


class Packed:
    """The data of a PackedSequence: the padded sequence [length, batch, ...], and how long each one is."""

    def __init__(self, g, value, lengths):
        self.value, self.lengths, self.dtype = value, lengths, value.dtype
        self.shape = (g.sizes.name(), value.shape[-1] if value.shape is not None else g.sizes.name())
        self.rank, self.number, self.tensor, self.parameter = 2, None, None, False


@row("_pack_padded_sequence")
def _pack(g, x, lengths, batch_first):
    if batch_first:
        x = ROWS["aten::transpose"](g, x, 0, 1)
    turns = g.op("Range", g.constant(0), g.op("ReduceMax", lengths, keepdims_i=0), g.constant(1))
    lasts = g.op("Less", g.op("Unsqueeze", turns, [1]), g.op("Unsqueeze", lengths, [0]))
    sizes = g.op("ReduceSum", g.cast(lasts, wick.int64), [1], keepdims_i=0)
    return Packed(g, x, lengths), sizes


@row("_pad_packed_sequence")
def _pad(g, data, sizes, batch_first, padding, total):
    if padding != 0:
        raise SymbolicValueError("pad_packed_sequence with a padding that is not 0")
    x = data.value
    if isinstance(total, Value) or total > 0:
        more = ROWS["aten::sub"](g, total, g.cast(g.size(x, 0), wick.int64))  # may be less than nothing
        x = g.op("Pad", x, g.ints([0, 0, 0, more, 0, 0]))
    else:
        x = g.op("Slice", x, [0], g.op("ReduceMax", data.lengths, keepdims_i=1), [0])
    return ROWS["aten::transpose"](g, x, 0, 1) if batch_first else x, data.lengths


# ---- weights ----

def _ordered(g, weight, order):
    """The gates of a weight or bias in ONNX's order."""
    if len(order) == 1:
        return weight
    if weight.tensor is not None and (g.folds_parameters or not weight.parameter):
        parts = weight.tensor.chunk(len(order), 0)
        return g.constant(wick.cat([parts[i] for i in order], 0))
    parts = ROWS["aten::chunk"](g, weight, len(order), 0)
    return g.op("Concat", *[parts[i] for i in order], axis_i=0)


def _joined(g, values, dim=0):
    """Values one after the other; a constant of constants."""
    if all(value.tensor is not None and (g.folds_parameters or not value.parameter) for value in values):
        return g.constant(wick.cat([value.tensor for value in values], dim))
    return values[0] if len(values) == 1 else g.op("Concat", *values, axis_i=dim)


def _of_directions(g, values):
    return _joined(g, [g.constant(value.tensor.unsqueeze(0))
                       if value.tensor is not None and (g.folds_parameters or not value.parameter)
                       else g.op("Unsqueeze", value, [0]) for value in values])


def _layer(g, name, x, states, weights, has_biases, ways, lengths):
    """One layer: its outputs [length, batch, ways * hidden] and last states [ways, batch, hidden]."""
    kind, gates, order, more = _KINDS[name]
    per = 4 if has_biases else 2
    groups = [weights[i * per:(i + 1) * per] for i in range(ways)]
    groups = [[_ordered(g, weight, order) for weight in group] for group in groups]
    inputs = [x, _of_directions(g, [group[0] for group in groups]), _of_directions(g, [group[1] for group in groups])]
    inputs.append(_of_directions(g, [_joined(g, group[2:]) for group in groups]) if has_biases else None)
    inputs.append(None if lengths is None else g.cast(lengths, wick.int32))
    hidden = groups[0][1].shape[1]
    attributes = {"hidden_size_i": hidden, "direction_s": "bidirectional" if ways == 2 else "forward", **more}
    if name.startswith("rnn"):
        attributes["activations_s"] = ["Relu" if name == "rnn_relu" else "Tanh"] * ways
    made = g.op(kind, *inputs, *states, outputs=1 + len(states), **attributes)
    y = g.op("Squeeze", made[0], [1]) if ways == 1 else _both_ways(g, made[0], hidden)
    return y, made[1:]


def _both_ways(g, y, hidden):
    y = g.op("Transpose", y, perm_i=[0, 2, 1, 3])
    made = g.op("Reshape", y, [0, 0, 2 * hidden])
    made.shape = y.shape[:2] + (2 * hidden,)
    return made


def _recurrent(name):
    def forward(g, x, *rest):
        packed = x if isinstance(x, Packed) else None
        if packed is not None:
            states, weights, has_biases, layers, dropout, training, both = rest[1:]
            batch_first, x = False, packed.value
        else:
            states, weights, has_biases, layers, dropout, training, both, batch_first = rest
        ways = 2 if both else 1
        if len(weights) != layers * ways * (4 if has_biases else 2):
            raise SymbolicValueError("%s with projections" % name)
        states = states if isinstance(states, list) else [states]
        if batch_first:
            x = ROWS["aten::transpose"](g, x, 0, 1)
        lasts, per = [], len(weights) // layers
        for i in range(layers):
            own = [state if layers == 1 else _layers_of(g, state, i, ways) for state in states]
            x, last = _layer(g, name, x, own, weights[i * per:(i + 1) * per], has_biases, ways,
                             packed.lengths if packed is not None else None)
            lasts.append(last)
            if training and dropout and i + 1 < layers:
                x = ROWS["aten::dropout"](g, x, dropout, True)
        ends = [_joined(g, [last[k] for last in lasts]) for k in range(len(states))]
        if batch_first:
            x = ROWS["aten::transpose"](g, x, 0, 1)
        return (Packed(g, x, packed.lengths) if packed is not None else x, *ends)
    return forward


def _layers_of(g, state, i, ways):
    if state.tensor is not None:
        return g.constant(state.tensor[i * ways:(i + 1) * ways].contiguous())
    return g.op("Slice", state, [i * ways], [(i + 1) * ways], [0])


for _name in _KINDS:
    ROWS["aten::" + _name] = _recurrent(_name)


# ---- cells: a sequence of one ----

def _cell(name, layer):
    @row(name)
    def forward(g, x, states, *weights):
        is_lstm = isinstance(states, list)
        states = states if is_lstm else [states]
        if rank_of(x, name) != 2:
            raise SymbolicValueError("%s without a batch" % name)
        weights = [weight for weight in weights if weight is not None]
        own = [g.op("Unsqueeze", state, [0]) for state in states]
        _, last = _layer(g, layer, g.op("Unsqueeze", x, [0]), own, weights, len(weights) == 4, 1, None)
        last = [g.op("Squeeze", state, [0]) for state in last]
        return tuple(last) if is_lstm else last[0]


for _name, _layer_name in (("lstm_cell", "lstm"), ("gru_cell", "gru"), ("rnn_tanh_cell", "rnn_tanh"),
                           ("rnn_relu_cell", "rnn_relu")):
    _cell(_name, _layer_name)


