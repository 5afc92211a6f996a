"""Recurrent layers and cells."""
import copy
import math
import numbers
import warnings
from typing import Optional, Tuple

import wick
from wick import Tensor
from wick._jit_internal import _overload_method
from wick.nn import init
from wick.nn.modules.module import Module
from wick.nn.parameter import Parameter
from wick.nn.utils.rnn import PackedSequence

# Gates of each kind: rows of its matrices in multiples of the hidden size.
_GATES = {'LSTM': 4, 'GRU': 3, 'RNN_TANH': 1, 'RNN_RELU': 1}


class RNNBase(Module):
    """Layers of a recurrent network, in one direction or both.

    The parameters of layer k are ``weight_ih_lk``, ``weight_hh_lk``, ``bias_ih_lk``, ``bias_hh_lk`` and, when states
    are projected, ``weight_hr_lk``; those of the other direction end in ``_reverse``.
    """

    __constants__ = ['mode', 'input_size', 'hidden_size', 'num_layers', 'bias', 'batch_first', 'dropout',
                     'bidirectional', 'proj_size']
    __jit_unused_properties__ = ['all_weights']

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError('dropout should be a number in range [0, 1] representing the probability of an element '
                             'being zeroed')
        if dropout > 0 and num_layers == 1:
            warnings.warn('dropout option adds dropout after all but last recurrent layer, so non-zero dropout '
                          'expects num_layers greater than 1, but got dropout={} and num_layers={}'
                          .format(dropout, num_layers))
        if proj_size < 0:
            raise ValueError('proj_size should be a positive integer or zero to disable projections')
        if proj_size >= hidden_size:
            raise ValueError('proj_size has to be smaller than hidden_size')
        if mode not in _GATES:
            raise ValueError('Unrecognized RNN mode: ' + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        directions = 2 if bidirectional else 1
        rows = _GATES[mode] * hidden_size
        state = proj_size if proj_size > 0 else hidden_size
        self._flat_weights_names = []
        self._all_weights = []
        for layer in range(num_layers):
            columns = input_size if layer == 0 else state * directions
            for suffix in ('', '_reverse')[:directions]:
                sizes = {'weight_ih_l{}{}': (rows, columns), 'weight_hh_l{}{}': (rows, state)}
                if bias:
                    sizes.update({'bias_ih_l{}{}': (rows,), 'bias_hh_l{}{}': (rows,)})
                if proj_size > 0:
                    sizes['weight_hr_l{}{}'] = (proj_size, hidden_size)
                names = []
                for pattern, size in sizes.items():
                    names.append(pattern.format(layer, suffix))
                    setattr(self, names[-1], Parameter(wick.empty(size, device=device, dtype=dtype)))
                self._flat_weights_names.extend(names)
                self._all_weights.append(names)
        self._gather_weights()
        self.reset_parameters()

    def _gather_weights(self):
        self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]

    def __setattr__(self, name, value):
        fields = self.__dict__
        if '_flat_weights' in fields and name in fields['_flat_weights_names']:
            self._flat_weights[self._flat_weights_names.index(name)] = value
        super().__setattr__(name, value)

    def flatten_parameters(self):
        """Does nothing: the operators take the parameters wherever they are."""

    def _apply(self, fn):
        result = super()._apply(fn)
        self._gather_weights()
        return result

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault('proj_size', 0)
        self._gather_weights()

    def __deepcopy__(self, memo):

        result = type(self).__new__(type(self))
        memo[id(self)] = result
        result.__setstate__(copy.deepcopy(self.__dict__, memo))
        return result

    def reset_parameters(self):
        """Draws new parameters: uniform up to 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self):
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def check_input(self, input: Tensor, batch_sizes: Optional[Tensor]) -> None:
        """Raises RuntimeError unless the input has the right sizes."""
        expected_input_dim = 2 if batch_sizes is not None else 3
        if input.dim() != expected_input_dim:
            raise RuntimeError('input must have {} dimensions, got {}'.format(expected_input_dim, input.dim()))
        if self.input_size != input.size(-1):
            raise RuntimeError('input.size(-1) must be equal to input_size. Expected {}, got {}'.format(
                self.input_size, input.size(-1)))

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Optional[Tensor]) -> Tuple[int, int, int]:
        """The sizes of the hidden state for an input."""
        if batch_sizes is not None:
            mini_batch = int(batch_sizes[0])
        else:
            mini_batch = input.size(0) if self.batch_first else input.size(1)
        num_directions = 2 if self.bidirectional else 1
        if self.proj_size > 0:
            expected_hidden_size = (self.num_layers * num_directions, mini_batch, self.proj_size)
        else:
            expected_hidden_size = (self.num_layers * num_directions, mini_batch, self.hidden_size)
        return expected_hidden_size

    def check_hidden_size(self, hx: Tensor, expected_hidden_size: Tuple[int, int, int],
                          msg: str = 'Expected hidden size {}, got {}') -> None:
        """Raises RuntimeError unless a state has the right sizes."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Tensor, batch_sizes: Optional[Tensor]) -> None:
        """Raises RuntimeError unless input and state have the right sizes."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Tensor, permutation: Optional[Tensor]) -> Tensor:
        """The state with its sequences in another order."""
        if permutation is None:
            return hx
        return hx.index_select(1, permutation)

    def _zero_state(self, input: Tensor, batch: int, size: int) -> Tensor:
        num_directions = 2 if self.bidirectional else 1
        return wick.zeros(self.num_layers * num_directions, batch, size, dtype=input.dtype, device=input.device)

    def extra_repr(self):
        text = '{input_size}, {hidden_size}'
        if self.proj_size != 0:
            text += ', proj_size={proj_size}'
        if self.num_layers != 1:
            text += ', num_layers={num_layers}'
        if self.bias is not True:
            text += ', bias={bias}'
        if self.batch_first is not False:
            text += ', batch_first={batch_first}'
        if self.dropout != 0:
            text += ', dropout={dropout}'
        if self.bidirectional is not False:
            text += ', bidirectional={bidirectional}'
        return text.format(**self.__dict__)


class _SimpleState(RNNBase):
    """Networks whose state is one tensor."""

    def _forward_packed(self, input: PackedSequence, hx: Optional[Tensor]) -> Tuple[PackedSequence, Tensor]:
        data, batch_sizes, sorted_indices, unsorted_indices = input
        if hx is None:
            hx = self._zero_state(data, int(batch_sizes[0]), self.hidden_size)
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, hidden = self._run_packed(data, batch_sizes, hx)
        return (PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices),
                self.permute_hidden(hidden, unsorted_indices))

    def _forward_padded(self, input: Tensor, hx: Optional[Tensor]) -> Tuple[Tensor, Tensor]:
        is_batched = input.dim() == 3
        if not is_batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            if hx is not None:
                if hx.dim() != 2:
                    raise RuntimeError('For unbatched 2-D input, hx should also be 2-D but got {}-D tensor'.format(
                        hx.dim()))
                hx = hx.unsqueeze(1)
        elif hx is not None and hx.dim() != 3:
            raise RuntimeError('For batched 3-D input, hx should also be 3-D but got {}-D tensor'.format(hx.dim()))
        if hx is None:
            hx = self._zero_state(input, input.size(0) if self.batch_first else input.size(1), self.hidden_size)
        self.check_forward_args(input, hx, None)
        output, hidden = self._run(input, hx)
        if not is_batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden = hidden.squeeze(1)
        return output, hidden

    @_overload_method
    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        pass

    @_overload_method
    def forward(self, input: PackedSequence,  # noqa: F811
                hx: Optional[Tensor] = None) -> Tuple[PackedSequence, Tensor]:
        pass

    def forward(self, input, hx=None):  # noqa: F811
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        else:
            return self._forward_padded(input, hx)


class RNN(_SimpleState):
    """h' = nonlinearity(W_ih x + b_ih + W_hh h + b_hh); ``nonlinearity`` is 'tanh' or 'relu'."""

    def __init__(self, *args, **kwargs):
        if 'proj_size' in kwargs:
            raise ValueError('proj_size argument is only supported for LSTM, not RNN or GRU')
        self.nonlinearity = kwargs.pop('nonlinearity', 'tanh')
        if self.nonlinearity not in ('tanh', 'relu'):
            raise ValueError("Unknown nonlinearity '{}'".format(self.nonlinearity))
        super().__init__('RNN_' + self.nonlinearity.upper(), *args, **kwargs)

    def _run_packed(self, data: Tensor, batch_sizes: Tensor, hx: Tensor) -> Tuple[Tensor, Tensor]:
        if self.mode == 'RNN_TANH':
            return wick.rnn_tanh(data, batch_sizes, hx, self._flat_weights, self.bias, self.num_layers, self.dropout,
                                 self.training, self.bidirectional)
        return wick.rnn_relu(data, batch_sizes, hx, self._flat_weights, self.bias, self.num_layers, self.dropout,
                             self.training, self.bidirectional)

    def _run(self, input: Tensor, hx: Tensor) -> Tuple[Tensor, Tensor]:
        if self.mode == 'RNN_TANH':
            return wick.rnn_tanh(input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout,
                                 self.training, self.bidirectional, self.batch_first)
        return wick.rnn_relu(input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                             self.bidirectional, self.batch_first)


class GRU(_SimpleState):
    """Gated recurrent units (K. Cho et al., 2014)."""

    def __init__(self, *args, **kwargs):
        if 'proj_size' in kwargs:
            raise ValueError('proj_size argument is only supported for LSTM, not RNN or GRU')
        super().__init__('GRU', *args, **kwargs)

    def _run_packed(self, data: Tensor, batch_sizes: Tensor, hx: Tensor) -> Tuple[Tensor, Tensor]:
        return wick.gru(data, batch_sizes, hx, self._flat_weights, self.bias, self.num_layers, self.dropout,
                        self.training, self.bidirectional)

    def _run(self, input: Tensor, hx: Tensor) -> Tuple[Tensor, Tensor]:
        return wick.gru(input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                        self.bidirectional, self.batch_first)


class LSTM(RNNBase):
    """Long short-term memory (S. Hochreiter, J. Schmidhuber, 1997); ``proj_size`` projects the hidden state."""

    def __init__(self, *args, **kwargs):
        super().__init__('LSTM', *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Optional[Tensor]) -> Tuple[int, int, int]:
        """The sizes of the cell state for an input."""
        if batch_sizes is not None:
            mini_batch = int(batch_sizes[0])
        else:
            mini_batch = input.size(0) if self.batch_first else input.size(1)
        num_directions = 2 if self.bidirectional else 1
        return (self.num_layers * num_directions, mini_batch, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Tuple[Tensor, Tensor], batch_sizes: Optional[Tensor]) -> None:
        """Raises RuntimeError unless input and states have the right sizes."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes),
                               'Expected hidden[0] size {}, got {}')
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes),
                               'Expected hidden[1] size {}, got {}')

    def permute_hidden(self, hx: Tuple[Tensor, Tensor], permutation: Optional[Tensor]) -> Tuple[Tensor, Tensor]:
        """The states with their sequences in another order."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _zero_states(self, input: Tensor, batch: int) -> Tuple[Tensor, Tensor]:
        hidden = self._zero_state(input, batch, self.proj_size if self.proj_size > 0 else self.hidden_size)
        return hidden, self._zero_state(input, batch, self.hidden_size)

    def _forward_packed(self, input: PackedSequence,
                        hx: Optional[Tuple[Tensor, Tensor]]) -> Tuple[PackedSequence, Tuple[Tensor, Tensor]]:
        data, batch_sizes, sorted_indices, unsorted_indices = input
        if hx is None:
            hx = self._zero_states(data, int(batch_sizes[0]))
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, hidden, cell = wick.lstm(data, batch_sizes, hx, self._flat_weights, self.bias, self.num_layers,
                                         self.dropout, self.training, self.bidirectional)
        return (PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices),
                self.permute_hidden((hidden, cell), unsorted_indices))

    def _forward_padded(self, input: Tensor,
                        hx: Optional[Tuple[Tensor, Tensor]]) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        is_batched = input.dim() == 3
        if not is_batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if hx is None:
            hx = self._zero_states(input, input.size(0) if self.batch_first else input.size(1))
        elif is_batched:
            if hx[0].dim() != 3 or hx[1].dim() != 3:
                raise RuntimeError('For batched 3-D input, hx and cx should also be 3-D but got ({}-D, {}-D) tensors'
                                   .format(hx[0].dim(), hx[1].dim()))
        else:
            if hx[0].dim() != 2 or hx[1].dim() != 2:
                raise RuntimeError('For unbatched 2-D input, hx and cx should also be 2-D but got ({}-D, {}-D) '
                                   'tensors'.format(hx[0].dim(), hx[1].dim()))
            hx = (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
        self.check_forward_args(input, hx, None)
        output, hidden, cell = wick.lstm(input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout,
                                         self.training, self.bidirectional, self.batch_first)
        if not is_batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden, cell = hidden.squeeze(1), cell.squeeze(1)
        return output, (hidden, cell)

    @_overload_method
    def forward(self, input: Tensor,
                hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        pass

    @_overload_method
    def forward(self, input: PackedSequence,  # noqa: F811
                hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[PackedSequence, Tuple[Tensor, Tensor]]:
        pass

    def forward(self, input, hx=None):  # noqa: F811
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        else:
            return self._forward_padded(input, hx)


class RNNCellBase(Module):
    """One step of a recurrent network."""

    __constants__ = ['input_size', 'hidden_size', 'bias']

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(wick.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(wick.empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ('bias_ih', 'bias_hh'):
            self.register_parameter(name, Parameter(wick.empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws new parameters: uniform up to 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        text = '{input_size}, {hidden_size}'
        if 'bias' in self.__dict__ and self.bias is not True:
            text += ', bias={bias}'
        if 'nonlinearity' in self.__dict__ and self.nonlinearity != 'tanh':
            text += ', nonlinearity={nonlinearity}'
        return text.format(**self.__dict__)


class RNNCell(RNNCellBase):
    """One step of an RNN: (N, input_size) and (N, hidden_size) to (N, hidden_size); without N as well."""

    __constants__ = ['input_size', 'hidden_size', 'bias', 'nonlinearity']
    nonlinearity: str

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity='tanh', device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tensor:
        assert input.dim() == 1 or input.dim() == 2, \
            'RNNCell: Expected input to be 1-D or 2-D but received {}-D tensor'.format(input.dim())
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = wick.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        else:
            hx = hx.unsqueeze(0) if not is_batched else hx
        if self.nonlinearity == 'tanh':
            result = wick.rnn_tanh_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        elif self.nonlinearity == 'relu':
            result = wick.rnn_relu_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        else:
            raise RuntimeError('Unknown nonlinearity: {}'.format(self.nonlinearity))
        if not is_batched:
            result = result.squeeze(0)
        return result


class LSTMCell(RNNCellBase):
    """One step of an LSTM: the hidden and the cell state after it."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tensor]:
        assert input.dim() == 1 or input.dim() == 2, \
            'LSTMCell: Expected input to be 1-D or 2-D but received {}-D tensor'.format(input.dim())
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = wick.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        else:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0)) if not is_batched else hx
        hidden, cell = wick.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not is_batched:
            hidden, cell = hidden.squeeze(0), cell.squeeze(0)
        return hidden, cell


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tensor:
        assert input.dim() == 1 or input.dim() == 2, \
            'GRUCell: Expected input to be 1-D or 2-D but received {}-D tensor'.format(input.dim())
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = wick.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        else:
            hx = hx.unsqueeze(0) if not is_batched else hx
        result = wick.gru_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not is_batched:
            result = result.squeeze(0)
        return result
