#!/bin/sh
# torchvision 0.29.1, CPU: box_iou_rotated of a very thin box and a wide one gives more than their areas allow. Two boxes
# overlap by at most the smaller area over the larger one; for a box 0.0004 wide the result is over three times that, while
# at a width of 0.4 it is right (here against clipping one rectangle by the other's sides in float64). Corners count as
# inside within a fixed tolerance, which for such a box is as large as its width. Who filters slivers by overlap keeps or
# drops the wrong ones.
# Seen: overlap 0.0034, at most possible 0.00094, by clipping 0.00061; at a width of 0.4: 0.3773, both ways.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.14.1 torchvision==0.29.1 numpy
cat > "$folder/thin.py" << 'EOF'
import math

import torch
import torchvision


def corners(x, y, w, h, degrees):
    c, s = math.cos(math.radians(degrees)) / 2, math.sin(math.radians(degrees)) / 2
    return [(x + a * w * c + b * h * s, y - a * w * s + b * h * c) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def side(p, q, r):
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def overlap(one, other):
    left, by = corners(*one), corners(*other)
    for p, q in zip(by, by[1:] + by[:1]):
        kept = []
        for a, b in zip(left, left[1:] + left[:1]):
            at, to = side(p, q, a), side(p, q, b)
            if at >= 0:
                kept.append(a)
            if (at >= 0) != (to >= 0):
                kept.append(tuple(m + at / (at - to) * (n - m) for m, n in zip(a, b)))
        left = kept
    both = sum(side(left[0], a, b) for a, b in zip(left[1:], left[2:])) / 2 if left else 0.0
    return both / (one[2] * one[3] + other[2] * other[3] - both)


def given(one, other):
    boxes = [torch.tensor([box], dtype=torch.float64) for box in (one, other)]
    return torch.ops.torchvision.box_iou_rotated(*boxes).item()


wide = (0.40, 1.36, 0.59, 1.90, 120.24)
thin, thicker = (0.81, 0.91, 0.0004, 2.63, 136.65), (0.81, 0.91, 0.4, 2.63, 136.65)
most = 0.0004 * 2.63 / (0.59 * 1.90)
print("thin:", given(thin, wide), "by clipping:", overlap(thin, wide), "at most:", most)
print("thicker:", given(thicker, wide), "by clipping:", overlap(thicker, wide))
assert overlap(thin, wide) <= most
assert abs(given(thicker, wide) - overlap(thicker, wide)) < 1e-3
assert given(thin, wide) > 2 * most
EOF
"$folder/venv/bin/python" -W ignore "$folder/thin.py"
