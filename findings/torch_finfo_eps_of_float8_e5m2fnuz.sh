#!/bin/sh
# PyTorch 2.14.1: torch.finfo(torch.float8_e5m2fnuz).eps is 0.125. The dtype has two bits of fraction, so the next number
# after 1 is 1.25, and eps 0.25, as that of float8_e5m2 is. Tolerances made of eps are half as wide as one step there.
# Of the other dtypes of eight and sixteen bits eps is the step after 1.
# Seen: float8_e5m2fnuz: eps 0.125, step 0.25.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.14.1
cat > "$folder/steps.py" << 'EOF'
import torch

BITS = {1: torch.uint8, 2: torch.int16}
wrong = []
for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float16", "bfloat16"):
    dtype = getattr(torch, name)
    one = torch.ones(1).to(dtype)
    step = ((one.view(BITS[one.element_size()]) + 1).view(dtype).float() - 1).item()
    print("%s: eps %g, step %g" % (name, torch.finfo(dtype).eps, step))
    if torch.finfo(dtype).eps != step:
        wrong.append((name, torch.finfo(dtype).eps, step))
assert wrong == [("float8_e5m2fnuz", 0.125, 0.25)], wrong
EOF
"$folder/venv/bin/python" "$folder/steps.py"
