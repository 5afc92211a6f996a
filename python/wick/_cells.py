"""One step of recurrent layers: operators, or, while a trace is on, what they consist of, as in torch."""
from . import _C

_aten = _C.operator
_linear = _aten("aten::linear")


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """(h, c) after a step of an LSTM from hx, (h, c)."""
    if not _C._trace_is_on():
        return _aten("aten::lstm_cell")(input, hx, w_ih, w_hh, b_ih, b_hh)
    hidden, cell = hx
    gates = _linear(hidden, w_hh, b_hh).add_(_linear(input, w_ih, b_ih))
    enters, stays, new, leaves = gates.unsafe_chunk(4, 1)
    enters, stays, new, leaves = enters.sigmoid_(), stays.sigmoid_(), new.tanh_(), leaves.sigmoid_()
    cell = (stays * cell).add_(enters * new)
    return leaves * cell.tanh(), cell


def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """h after a step of a GRU from h."""
    if not _C._trace_is_on():
        return _aten("aten::gru_cell")(input, hx, w_ih, w_hh, b_ih, b_hh)
    input_reset, input_update, input_new = _linear(input, w_ih, b_ih).unsafe_chunk(3, 1)
    reset, update, new = _linear(hx, w_hh, b_hh).unsafe_chunk(3, 1)
    reset = reset.add_(input_reset).sigmoid_()
    update = update.add_(input_update).sigmoid_()
    new = input_new.add(new.mul_(reset)).tanh_()
    return (hx - new).mul_(update).add_(new)


def _simple_cell(name):
    def cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        if not _C._trace_is_on():
            return _aten("aten::rnn_%s_cell" % name)(input, hx, w_ih, w_hh, b_ih, b_hh)
        total = _linear(hx, w_hh, b_hh).add_(_linear(input, w_ih, b_ih))
        return getattr(total, name)()
    cell.__name__ = cell.__qualname__ = "rnn_%s_cell" % name
    cell.__doc__ = "h after a step of a recurrent layer with %s from h." % name
    return cell


rnn_tanh_cell, rnn_relu_cell = _simple_cell("tanh"), _simple_cell("relu")
