#!/bin/sh
# PyTorch 2.14.1, CPU: the gradient of as_strided_scatter(x, source, ...) for x is swapped: ones where source replaced x,
# zeros where x went through. The same done by x.clone() and as_strided(...).copy_(source) has it right, and so has the
# gradient for source. Nothing is said; training what is scattered into follows the part that has no influence.
# Seen: [1, 1, 0, 0] for x of four, of which the first two are replaced; [0, 0, 1, 1] by clone and copy_.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.14.1
cat > "$folder/gradients.py" << 'EOF'
import torch


def gradients(scatter):
    x, source = torch.zeros(4, requires_grad=True), torch.zeros(2, requires_grad=True)
    scatter(x, source).sum().backward()
    return x.grad.tolist(), source.grad.tolist()


def by_copy(x, source):
    out = x.clone()
    out.as_strided((2,), (1,), 0).copy_(source)
    return out


scattered = gradients(lambda x, source: torch.as_strided_scatter(x, source, (2,), (1,), 0))
copied = gradients(by_copy)
print("as_strided_scatter:", scattered)
print("clone and copy_:   ", copied)
assert copied == ([0.0, 0.0, 1.0, 1.0], [1.0, 1.0]), copied
assert scattered == ([1.0, 1.0, 0.0, 0.0], [1.0, 1.0]), scattered
EOF
"$folder/venv/bin/python" "$folder/gradients.py"
