"""Traces a module, shows what was recorded, and saves it frozen.

    python3 trace.py [SAVE_AS.pt]

A trace holds the operators of one call. Sizes stay variable, decisions of Python do not: script.py is for those.
"""
import sys

import wick
from wick import nn


class Mixer(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.conv = nn.Conv2d(channels, 2 * channels, 3, padding=1)

    def forward(self, image):
        values, gate = self.conv(self.norm(image)).chunk(2, 1)
        mixed = values * gate.sigmoid()
        return mixed.flatten(2).mean(2)


def main(save_as=None):
    wick.manual_seed(1)
    mixer = Mixer(3).eval()
    traced = wick.jit.trace(mixer, wick.randn(1, 3, 8, 8))
    print(traced.inlined_graph)

    other = wick.randn(5, 3, 20, 12)  # of other sizes than the traced one
    frozen = wick.jit.freeze(traced)
    with wick.no_grad():
        wanted = mixer(other)
        wick.testing.assert_close(traced(other), wanted)
        wick.testing.assert_close(frozen(other), wanted)
    print("the same for an input of", list(other.shape))
    if save_as:
        frozen.save(save_as)
        print("saved as", save_as)


if __name__ == "__main__":
    main(*sys.argv[1:])
