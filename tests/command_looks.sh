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

# ---- bench ----
expect 0 "(30 calls, after 5 of warm-up)" "$wick" bench chain.py 'ones(2)' 'ones(2)' --calls 30 --warmup 5
expect 0 "(10 calls, after 10 of warm-up)" "$wick" bench chain.py 'ones(2)' 'ones(2)'
expect 0 "p99.9 " "$wick" bench chain.py 'ones(2)' w='ones(2)'
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
expect 2 "--threads takes numbers such as 2 or 1,2 (at most 4), not '1,'" "$wick" bench chain.py 'ones(2)' 'ones(2)' --threads 1,
expect 2 "--rate takes calls a second" "$wick" bench chain.py 'ones(2)' 'ones(2)' --rate -3
expect 2 "Did you mean 'forward'?" "$wick" bench chain.py --method foward
exit $failed
