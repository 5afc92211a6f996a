#!/bin/sh
# PyTorch 2.14.1, CPU: a scripted module that follows its own gradient (torch.autograd.grad in a loop) is right for up to
# seven steps. From eight on every call raises, the first one too, also with optimized_execution(False), though eagerly
# and with fewer steps the same module works: the loop's body is unrolled eight times and becomes one differentiable
# graph, within which the tensor that the gradient is asked for is no longer seen. So samplers and solvers that pass a
# test of few steps fail in use.
# Seen: 7 steps [-7, 14]; 8 steps RuntimeError "... differentiated Tensors appears to not have been used in the graph".
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.14.1
cat > "$folder/walk.py" << 'EOF'
import torch


class Walk(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hill = torch.nn.Linear(2, 1)
        with torch.no_grad():
            self.hill.weight.copy_(torch.tensor([[1.0, -2.0]]))

    def slope(self, x):
        found = torch.autograd.grad([self.hill(x).sum()], [x])[0]
        assert found is not None
        return found.detach()

    def forward(self, x, steps: int):
        x = x.detach().requires_grad_(True)
        for _ in range(steps):
            x = x - self.slope(x)
        return x.detach()


def outcome(module, steps):
    try:
        return module(torch.zeros(2), steps).tolist()
    except RuntimeError as error:
        return str(error).strip().splitlines()[-1]


unused = "differentiated Tensors appears to not have been used in the graph"
scripted = torch.jit.script(Walk())
for steps in (1, 7, 8, 20, 7):
    right, got = [-1.0 * steps, 2.0 * steps], outcome(scripted, steps)
    print(steps, got)
    assert outcome(Walk(), steps) == right
    assert got == right if steps < 8 else unused in got
with torch.jit.optimized_execution(False):
    assert unused in outcome(torch.jit.script(Walk()), 8)
EOF
"$folder/venv/bin/python" -W ignore "$folder/walk.py"
