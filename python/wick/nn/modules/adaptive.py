"""Softmax over many classes, most of them rare."""
from collections import namedtuple

import wick
from wick import Tensor
from wick.nn import functional as F
from wick.nn.modules.container import ModuleList, Sequential
from wick.nn.modules.linear import Linear
from wick.nn.modules.module import Module

_ASMoutput = namedtuple('_ASMoutput', ['output', 'loss'])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of ``n_classes`` classes in clusters that ``cutoffs`` divide (E. Grave et al., 2017)."""

    def __init__(self, in_features, n_classes, cutoffs, div_value=4., head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if (cutoffs != sorted(cutoffs) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1
                or len(set(cutoffs)) != len(cutoffs) or any(int(cutoff) != cutoff for cutoff in cutoffs)):
            raise ValueError('cutoffs should be a sequence of unique, positive integers sorted in an increasing '
                             'order, where each value is between 1 and n_classes-1')
        made = {'device': device, 'dtype': dtype}
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = cutoffs + [n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // (div_value ** (i + 1)))
            self.tail.append(Sequential(Linear(in_features, width, bias=False, **made),
                                        Linear(width, self.cutoffs[i + 1] - self.cutoffs[i], bias=False, **made)))

    def reset_parameters(self):
        """Draws new parameters."""
        for linear in [self.head, *(each for pair in self.tail for each in pair)]:
            linear.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor):
        """The log-probability of each row's target, and the mean loss."""
        batched = target_.dim() > 0
        if batched:
            if input_.shape[0] != target_.shape[0]:
                raise RuntimeError('Input and target should have the same size in the batch dimension.')
            if target_.dim() != 1:
                raise RuntimeError('0D or 1D target tensor expected, multi-target not supported')
        elif input_.dim() != 1:
            raise RuntimeError('0D target tensor expects 1D input, but found inputs with size {}'
                               .format(input_.size()))
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        output = input.new_zeros(target.size(0))
        in_head = target.clone()
        used = 0
        for i, low in enumerate([0, *self.cutoffs[:-1]]):
            rows = ((target >= low) & (target < self.cutoffs[i])).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            used += rows.numel()
            if i > 0:
                log_prob = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
                in_head[rows] = self.shortlist_size + i - 1
                output = output.index_copy(0, rows, log_prob.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1))
        if used != target.size(0):
            raise RuntimeError('Target values should be in [0, {}], but values in range [{}, {}] were found. '.format(
                self.n_classes - 1, target.min().item(), target.max().item()))
        head_log_prob = F.log_softmax(self.head(input), dim=1)
        output = output + head_log_prob.gather(1, in_head.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """Log-probabilities of all classes."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, :self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            parts.append(F.log_softmax(cluster(input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return wick.cat(parts, dim=1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row."""
        return wick.argmax(self.log_prob(input), dim=1)
