"""Channels of groups, one after another."""
from wick import Tensor
from wick.nn import functional as F
from wick.nn.modules.module import Module


class ChannelShuffle(Module):
    """Takes one channel of every group in turn."""

    __constants__ = ['groups']

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return 'groups={}'.format(self.groups)
