#!/bin/sh
# What the command shows of programs without running them, and what it measures: info, ops, dump, bench.
# usage: command_looks.sh WICK
wick=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
. "$here/expect.sh"
cat > loop.py <<'END'
def forward(x: Tensor, n: int = 2) -> Tensor:
    total = torch.zeros_like(x)
    for i in range(n):
        if i > 1:
            total = total + x ** i
    return total
def other(x: Tensor):
    return x
END
cat > chain.py <<'END'
def forward(x: Tensor, w: Tensor):
    y = torch.tanh(x * w) * torch.sigmoid(w + x) + torch.exp(w)
    return torch.relu(y) * y + y * w
END
model=$here/../examples/digits/reader.pt

# ---- info ----
"$wick" info "$model" > whole && "$wick" info --depth 1 "$model" > short
json "$wick" info "$model" --json
python3 - <<'END' || failed=1
import json, re
found = json.load(open("out"))
entries = found["contents"]
stored = [e for e in entries if e["kind"] in ("parameter", "buffer")]
assert found["parameters"] + found["buffers"] == len(stored) > 0, found
assert found["elements"] == sum(e["elements"] for e in stored)
assert found["bytes"] == sum(e["bytes"] for e in stored)
modules = [e for e in entries if e["kind"] == "module"]
for module in modules:  # sums by submodule
    inside = [e for e in stored if e["name"].startswith(module["name"] + ".")]
    assert module["elements"] == sum(e["elements"] for e in inside), module
whole, short = open("whole").read(), open("short").read()
assert f'total     {found["parameters"]} parameters' in whole and whole.splitlines()[-1] == short.splitlines()[-1]
assert not re.search(r"^  \w+ +\w+\.\w+ ", short, re.M), short
END
for file in "$here"/files/*.pt "$here"/files/*.pth "$here"/program/strides.py; do
  case $file in */package.pt) continue ;; esac
  json "$wick" info "$file" --json
  grep -q '"error"' out && { echo "$file:"; cat out; failed=1; }
done
json "$wick" info nothing.pt --json
grep -q '"error"' out || failed=1
# Names as their authors wrote them, sizes of quantized weights, what is needed.
"$wick" info "$here/model/digits_cnn.pt" > out
grep -qx "class     DigitsCNN" out && grep -qx "method    forward(Tensor x) -> Tensor" out || { cat out; failed=1; }
grep -qE "^  module    conv1 +Conv2d  " out && ! grep -q "__torch__\|mangle" out || { cat out; failed=1; }
grep -qE "^needs     [0-9]+ operators, all there$" out && grep -qx "          dtypes: int64, float32" out || { cat out; failed=1; }
"$wick" info "$here/program/quantized_qat_cat_trace__qnnpack.pt" > out
grep -qE "^  packed +[a-z0-9_.]+ +qint8\[" out && grep -q "packed weights, [1-9]" out || { cat out; failed=1; }
json "$wick" info "$here/model/digits_cnn.pt" --json
python3 - <<'END' || failed=1
import json
needs = json.load(open("out"))["needs"]
assert needs["operators"] > 5 and needs["missing"] == [] and needs["dtypes"] == ["int64", "float32"], needs
assert needs["devices"] == [] and needs["libraries"] == [], needs
END
printf 'def forward(x: Tensor) -> Tensor:\n    return torch._add_relu(x, x)\n' > add_relu.py
expect 0 "gradients: all but of aten::_add_relu" "$wick" info add_relu.py

# ---- ops ----
"$wick" ops chain.py > listed
expect 0 "operators, all there" "$wick" ops loop.py
grep -v "operators, \|^library" listed | awk '{ print $1 }' > names
sort -c names || { echo "operators are not sorted"; failed=1; }
expect 1 "1 of them not in wick" "$wick" ops "$here/files/missing_operator.pt"
expect 1 "strange::plus                                 1  not in wick" "$wick" ops "$here/files/missing_operator.pt"
printf 'def forward(x: Tensor, n: int):\n    return torch._add_relu(x * x, x) * (n * 2)\n' > add_relu.py
expect 0 "aten::mul                                     3  Scalar, Tensor, int" "$wick" ops add_relu.py
expect 1 "2 operators, all there, 1 without a gradient" "$wick" ops add_relu.py --grad
expect 1 "aten::_add_relu                               1  Tensor (no gradient)" "$wick" ops add_relu.py --grad
expect 0 "all there, 0 without a gradient" "$wick" ops chain.py --grad
expect 0 "aten::tanh.default                                   formula   formula  yes" "$wick" ops
tail -n 1 out | grep -qE '^[0-9]{4} overloads of [0-9]{4} operators: [0-9]{3} can be in groups' || { tail -n 1 out; failed=1; }
json "$wick" ops --grad --json
python3 - <<'END' || failed=1
import json
found = json.load(open("out"))
names = [(o["name"], o["overload"]) for o in found["operators"]]
assert names == sorted(names) and ("aten::_add_relu", "Tensor") in names and ("aten::tanh", "default") not in names
assert all(o["gradient"] == "none" for o in found["operators"])
END
json "$wick" ops "$here/files/missing_operator.pt" --json
grep -qF '"name": "strange::plus", "places": 1, "known": false}' out && grep -qF '"missing": 1' out || { cat out; failed=1; }

# ---- dump ----
"$wick" dump loop.py --method forward --pass all > all
grep -q "(unchanged)" all || { echo "no step is (unchanged)"; failed=1; }
"$wick" dump loop.py --method forward --pass all --diff > differences
[ "$(wc -l < differences)" -lt "$(wc -l < all)" ] && grep -q "^-.*prim::Store" differences && grep -q "^+" differences ||
  { echo "--diff:"; head -20 differences; failed=1; }
# What comes and goes makes of each graph the next one.
python3 - <<'END' || failed=1
import re
def parts(name):
    return [(m[1], m[2]) for m in re.finditer(r"# after ([^\n]*)\n((?:(?!# after).*\n)*)", open(name).read())]
text = None
for (step, whole), (again, change) in zip(parts("all"), parts("differences")):
    assert step == again
    if step.endswith("(unchanged)"):
        assert not whole and not change
        continue
    if text is not None and whole != change:
        lines = change.splitlines()
        old = [l[1:] for l in lines if l[0] in " -"]
        new = [l[1:] for l in lines if l[0] in " +"]
        assert "\n".join(old) in text, step
        assert text.replace("\n".join(old), "\n".join(new), 1).rstrip() == whole.rstrip(), step
    text = whole
assert text
END
expect 2 "--diff is for --pass all" "$wick" dump loop.py --diff
"$wick" dump loop.py --dot > graph.dot
[ "$(grep -c '^digraph' graph.dot)" -eq 2 ] && grep -q 'aten::pow' graph.dot && grep -q 'subgraph cluster' graph.dot || failed=1
if command -v dot > /dev/null; then
  dot -Tsvg graph.dot > graph.svg || failed=1
fi
expect 0 'label="aten::tanh' "$wick" dump chain.py --pass inliner,graph_fuser --dot
expect 2 "--dot shows graphs" "$wick" dump loop.py --stage bytecode --dot
expect 0 "# after insert_guards" "$wick" dump chain.py --stage optimised --pass all --diff 'ones(2)' 'ones(2)'
json "$wick" dump chain.py --json
json "$wick" dump chain.py --stage optimized 'ones(2)' 'ones(2)' --json
grep -qF '"stage": "optimized", "pass": null, "text": "# ' out || { cat out; failed=1; }
json "$wick" dump chain.py --stage nothing --json

# ---- profile ----
expect 0 "GFLOP/s     GB/s  operator" "$wick" profile chain.py 'ones(2)' 'ones(2)' --flame f.svg --folded f.txt --trace f.json
expect 0 "operator, tensors, source" "$wick" profile chain.py 'ones(2)' 'ones(2)' --by node
expect 0 "chain.py:" "$wick" profile chain.py 'ones(2)' 'ones(2)' --by source
expect 2 "--by takes operator, module, source or node, not 'line'" "$wick" profile chain.py 'ones(2)' 'ones(2)' --by line
for by in operator module source node; do
  expect 0 "of 3 calls" "$wick" profile "$model" "$here/../examples/digits/digits.npy" --calls 3 --by $by
  awk 'length > 100 && !/^wick: / { exit 1 }' out || { echo "--by $by: wider than 100 columns:"; cat out; failed=1; }
done
"$wick" profile "$here/model/digits_cnn.pt" 'randn(1,1,8,8)' --calls 3 --by module > out 2> err
grep -q " conv2$" out && grep -q " fc1$" out || { echo "--by module:"; cat out; failed=1; }
json "$wick" profile "$model" "$here/../examples/digits/digits.npy" --calls 7 --folded digits.txt --flame digits.svg --json
python3 - <<'END' || failed=1
import json
import xml.etree.ElementTree as xml

found = json.load(open("out"))
assert found["calls"] == 7 and found["rows"]
assert json.load(open("f.json"))["traceEvents"]
lines = [line.rsplit(" ", 1) for line in open("digits.txt")]
stacks = {stack for stack, _ in lines}
nanoseconds = sum(int(time) for _, time in lines)
assert abs(nanoseconds / 1e6 - found["ms"]) < 0.01 * found["ms"], (nanoseconds, found["ms"])
assert all(stack.startswith("__torch__.") for stack in stacks if stack != "interpreter"), stacks
row = max(found["rows"], key=lambda row: row["ms"])
places = ";".join(reversed(row["source"].split(" < ")))
assert any(places in stack and row["op"] in stack for stack in stacks), (places, stacks)
# in the picture a frame lies within the one above it, and the widths are the times
space = "{http://www.w3.org/2000/svg}"
rows = {}
for frame in xml.parse("digits.svg").getroot().iter(space + "g"):
    box = frame.find(space + "rect")
    rows.setdefault(int(box.get("y")), []).append((float(box.get("x")), float(box.get("width")), frame.find(space + "title").text))
heights = sorted(rows)
assert len(heights) == 1 + max(stack.count(";") for stack in stacks)
top = [width for _, width, _ in rows[heights[0]]] # several, where calls ran before a plan was made; each ends early
assert 1180 - 0.31 * len(top) - 0.1 <= sum(top) <= 1180.1 + 0.01 * len(top), top
for above, below in zip(heights, heights[1:]):
    for x, width, title in rows[below]:
        assert any(a - 0.1 <= x and x + width <= a + w + 0.5 for a, w, _ in rows[above]), title
END
expect 1 "No such file or directory" "$wick" profile chain.py 'ones(2)' 'ones(2)' --flame nowhere/f.svg
expect 2 "--calls and --warmup: at most a million" "$wick" profile chain.py 'ones(2)' 'ones(2)' --calls 0

# ---- bench ----
mkdir -p power/intel-rapl:0 power/intel-rapl:1 # counters of two packages, one of which begins anew
(for i in $(seq 4000); do echo $((i * 1000000)) > power/intel-rapl:0/new; mv power/intel-rapl:0/new power/intel-rapl:0/energy_uj; sleep 0.01; done) &
counter=$! # 4,000 joules in all, so less than 134 for each of 30 calls
echo 5000000 > power/intel-rapl:1/energy_uj
echo 9000000 > power/intel-rapl:1/max_energy_range_uj
while [ ! -e power/intel-rapl:0/energy_uj ]; do sleep 0.01; done
for try in 1 2 3 4 5 6 7 8 9 10; do # until the counter had its turn meanwhile
  json env WICK_POWERCAP=power "$wick" bench chain.py 'ones(2)' 'ones(2)' --rate 100 --warmup 1 --calls 30 --json
  joules=$(sed -n 's/.*"joules_a_call": \([0-9.e-]*\).*/\1/p' out)
  [ "$joules" = 0 ] || break
done
kill $counter
awk -v joules="$joules" 'BEGIN { exit !(joules > 0 && joules < 134) }' || { echo "'$joules' joules a call"; failed=1; }
expect 0 "energy          0.0000 J a call" env WICK_POWERCAP=power "$wick" bench chain.py 'ones(2)' 'ones(2)' --calls 2
expect 0 "energy      not told by this machine" env WICK_POWERCAP=nowhere "$wick" bench chain.py 'ones(2)' 'ones(2)' --calls 2
expect 0 "(30 calls, after 5 of warm-up)" "$wick" bench chain.py 'ones(2)' 'ones(2)' --calls 30 --warmup 5
expect 0 "(10 calls, after 10 of warm-up)" "$wick" bench chain.py 'ones(2)' 'ones(2)'
expect 0 "max " "$wick" bench chain.py 'ones(2)' w='ones(2)'
json "$wick" bench chain.py 'ones(2)' 'ones(2)' --calls 40 --warmup 8 --rate 2000 --memory --explain --profile --json
python3 - <<'END' || failed=1
import json
found = json.load(open("out"))
calls = sorted(found["calls_ms"][8:])
assert len(calls) == 40 and found["warmup"] == 8 and found["max_ms"] == calls[-1]
assert found["p90_ms"] == calls[35] and found["p50_ms"] == calls[19] and found["median_ms"] == (calls[19] + calls[20]) / 2
assert 0 <= found["late"] <= 40 and found["rate"] == 2000 and found["bytes_a_call"] >= 0
assert found["profile"]["calls"] == 40 and "calls that ran in a plan" in found["explain"]
END
# At a rate that no call keeps up with, every one but the first is late.
printf 'def forward(n: int):\n    s = 0\n    for i in range(n):\n        s += i %% 3\n    return s\n' > slow.py
json "$wick" bench slow.py 200000 --calls 5 --warmup 1 --rate 100000 --json
python3 -c 'import json; f = json.load(open("out")); assert f["late"] == 5 and f["latest_start_ms"] > 0, f' || failed=1
json "$wick" bench chain.py 'ones(2)' 'ones(2)' --against loop.py --method forward --json
grep -qF '"error"' out || { echo "a model that fails beside another:"; cat out; failed=1; }
json "$wick" bench chain.py 'ones(2)' 'ones(2)' --against chain.py --threads 1,2 --json
python3 -c 'import json; r = json.load(open("out"))["runs"]; assert [x["threads"] for x in r] == [1, 2, 1, 2], r' || failed=1
expect 0 "second / first" "$wick" bench chain.py 'ones(2)' 'ones(2)' --threads 1,2
# Percentiles only of enough calls; the ratio of two models with its limits; names that are too long for a column.
"$wick" bench chain.py 'ones(2)' 'ones(2)' --calls 99 --warmup 1 > out 2> err
grep -q "^p90" out && ! grep -q "^p99" out || { echo "percentiles of 99 calls:"; cat out; failed=1; }
"$wick" bench chain.py 'ones(2)' 'ones(2)' --calls 1000 --warmup 1 > out 2> err
grep -q "^p99 " out && grep -q "^p99.9" out || { echo "percentiles of 1000 calls:"; cat out; failed=1; }
cp chain.py a_chain_of_pointwise_operators.py
expect 0 "(2)  a_chain_of_pointwise_operators.py" "$wick" bench chain.py 'ones(2)' 'ones(2)' --against a_chain_of_pointwise_operators.py
expect 0 "95% of draws from these calls" "$wick" bench chain.py 'ones(2)' 'ones(2)' --against chain.py
json "$wick" bench chain.py 'ones(2)' 'ones(2)' --against chain.py --calls 50 --json
python3 -c 'import json; m, a, b = json.load(open("out"))["second_over_first"]; assert 0 < a <= m <= b, (a, m, b)' || failed=1
printf 'def forward(x: Tensor) -> Tensor:\n    y = x.clone().requires_grad_()\n    (y * y).sum().backward()\n    return torch.jit.annotate(Optional[Tensor], y.grad)\n' > back.py
expect 2 "--threads takes numbers such as 2 or 1,2 (at most 4), not '1,'" "$wick" bench chain.py 'ones(2)' 'ones(2)' --threads 1,
expect 2 "--rate takes calls a second" "$wick" bench chain.py 'ones(2)' 'ones(2)' --rate -3
expect 2 "Did you mean 'forward'?" "$wick" bench chain.py --method foward

# ---- what takes long says so on a terminal, and there alone: whoever reads the pipe is late ----
mkfifo late.pt
late() { { sleep 2.2; timeout 30 cat late.pt > read.pt; } & }
if command -v script > /dev/null; then
  late
  script -qec "'$wick' save '$model' -o late.pt" /dev/null > terminal 2>&1
  wait
  grep -qF "saving, 1 s" terminal || { echo "no progress on a terminal:"; cat terminal; failed=1; }
fi
late
"$wick" save "$model" -o late.pt > piped 2>&1
wait
[ ! -s piped ] && [ -s read.pt ] || { echo "progress in a pipe:"; cat piped; failed=1; }
exit $failed
