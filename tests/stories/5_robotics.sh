#!/bin/sh
# Someone with a robot: a policy with a hidden state at 1 kHz on one processor, its lateness, what a step allocates.
. "$(dirname "$0")/begin.sh"
needs python3
cat > policy.py <<'PY'
def step(x: Tensor, h: Tensor) -> Tuple[Tensor, Tensor]:
    h = torch.tanh(x @ torch.full([48, 64], 0.01) + h * 0.5)
    return h[:, :12].clamp(-1., 1.), h
PY
cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
says 0 "late " wick bench policy.py "rand(1,48)" "zeros(1,64)" --rate 1000 --cpu "$cpu" --threads 1 --warmup 100 --calls 300
wick bench policy.py "rand(1,48)" "zeros(1,64)" --rate 1000 --threads 1 --warmup 50 --calls 100 --memory --json > figures.json
python3 - <<'PY'
import json
figures = json.load(open("figures.json"))
assert 0 < figures["p50_ms"] <= figures["p99_ms"] <= figures["p99_9_ms"] <= figures["max_ms"]
assert 0 <= figures["late"] <= 100 and figures["rate"] == 1000
print(figures["allocations_a_call"], "blocks a step")
PY
says 0 "operator, tensors, source" wick bench policy.py "rand(1,48)" "zeros(1,64)" --profile
says 2 "the deadline has passed" wick run policy.py "rand(1,48)" "zeros(1,64)" --steps 0 --seconds 0.000001
