#!/bin/sh
# What the command says when it is asked for what is not there, and that everything it offers is reachable.
# usage: commands.sh WICK
wick=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
cat > chain.py <<'END'
def forward(x: Tensor, w: Tensor):
    y = torch.tanh(x * w) * torch.sigmoid(w + x) + torch.exp(w)
    return torch.relu(y) * y + y * w
END

. "$here/expect.sh"

# The processors that this process may use are fine, others and other texts are refused.
allowed=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)
expect 0 "1" "$wick" run chain.py --cpu "$allowed" 'ones(2)' 'ones(2)'
expect 2 "there is no processor 1023 that this process may use" "$wick" run chain.py --cpu 1023 'ones(2)' 'ones(2)'
for list in '' x 3-1 0, 0-x 99999; do
  expect 2 "--cpu takes processors such as 0,2-3, not '$list'" "$wick" run chain.py --cpu "$list" 'ones(2)' 'ones(2)'
done
expect 2 "there is no pass 'nothing' (emit, " "$wick" dump --pass nothing chain.py
expect 2 ", step:constant_propagation, " "$wick" dump --pass nothing chain.py
expect 0 "prim::Store" "$wick" dump --pass emit chain.py
expect 0 "return (%" "$wick" dump --pass step:normalize_ops chain.py
for pass in constant_propagation constant_pooling normalize_ops; do
  "$wick" dump --pass $pass,$pass chain.py > twice
  "$wick" dump --pass $pass chain.py | cmp - twice || { echo "--pass $pass is not the pass"; failed=1; }
done
expect 2 "there is no pass 'peephole,nothing'" "$wick" dump --pass peephole,nothing chain.py
expect 0 "prim::DifferentiableGraph_0" "$wick" dump --pass create_autodiff_subgraphs,differentiate chain.py
expect 2 "no pass 'nothing' ran for the plans of these calls (inliner, " "$wick" dump --stage optimized --pass nothing chain.py 'ones(2)' 'ones(2)'
expect 0 "# after insert_guards" "$wick" dump --stage optimized --pass all chain.py 'ones(2)' 'ones(2)'
expect 0 "requires_grad=1" "$wick" dump --stage optimized --grad chain.py 'ones(2)' 'ones(2)'
expect 0 'prim::GradOf[name="aten::tanh"]' "$wick" dump --stage optimized --grad --pass backward chain.py 'ones(2)' 'ones(2)'
expect 0 "f32 = tanh" "$wick" dump --stage kernel chain.py 'ones(2)' 'ones(2)'
expect 0 "not compiled: there is no native code" env WICK_NATIVE=0 WICK_BACKEND=native "$wick" dump --stage kernel chain.py 'ones(2)' 'ones(2)'
expect 2 "there is no stage 'nothing'" "$wick" dump --stage nothing chain.py
for spelling in specializing specialising; do
  expect 0 "# specialized" env WICK_EXECUTOR=$spelling "$wick" dump --stage optimized chain.py 'ones(2)' 'ones(2)'
done
expect 2 "there is no executor 'nothing' (simple, specializing, profiling)" env WICK_EXECUTOR=nothing "$wick" run chain.py 'ones(2)' 'ones(2)'
expect 2 "there is no back end 'nothing' (none, tile, native)" env WICK_BACKEND=nothing "$wick" run chain.py 'ones(2)' 'ones(2)'
expect 0 "CPUFloatType" env PYTORCH_JIT_LOG_LEVEL=:::: PYTORCH_JIT_OPT_LIMIT=a=b:=: PYTORCH_JIT_TYPE_VERBOSITY=x "$wick" run chain.py 'ones(2)' 'ones(2)'
expect 0 "[DUMP dead_code_elimination.cpp:" env PYTORCH_JIT_LOG_LEVEL=dead_code_elimination "$wick" run chain.py 'ones(2)' 'ones(2)'
expect 0 "calls that ran in a plan" "$wick" bench --explain chain.py 'ones(2)' 'ones(2)'
expect 0 "aten::sigmoid" env WICK_EXECUTOR=simple "$wick" bench --profile chain.py 'ones(2)' 'ones(2)'
expect 0 "median" "$wick" bench --trace trace.json chain.py 'ones(2)' 'ones(2)'
expect 0 '"traceEvents": [' cat trace.json
expect 0 '"profile": {"calls": 10, ' "$wick" bench --json --profile chain.py 'ones(2)' 'ones(2)'
expect 1 "No such file or directory" "$wick" bench --trace nowhere/trace.json chain.py 'ones(2)' 'ones(2)'
expect 0 "# simple: as written" env WICK_EXECUTOR=simple "$wick" dump --stage optimized chain.py 'ones(2)' 'ones(2)'
expect 2 "--steps takes a number, not '-1'" "$wick" run chain.py --steps -1
expect 0 "aten::tanh" "$wick" ops chain.py
"$wick" compile chain.py -o chain.pt
"$wick" ops chain.pt > all && awk '{ print $1 }' all > allowed
expect 0 "aten::sigmoid" "$wick" ops --allow allowed chain.pt
grep -v aten::mul allowed > fewer
expect 1 "4  Tensor  not allowed" "$wick" ops --allow fewer chain.pt
expect 1 "4  Tensor  not allowed" "$wick" ops --allow fewer chain.py
mkdir pipe && mkfifo pipe/chain.pt && { cat pipe/chain.pt > piped.pt & }
"$wick" compile chain.py -o pipe/chain.pt
wait
cmp piped.pt chain.pt || failed=1
expect 1 "output[1][0]: strides [4, 2, 1, 1], not [5, 2, 1, 1]" "$wick" check "$here/program/strides.py" "$here/data/strides_wrong.io.pt"
sed 's/x.device, \[/torch.device("meta"), [/' "$here/program/devices.py" > other_device.py
expect 1 "output[0]: meta, not cpu" "$wick" check other_device.py "$here/program/devices.io.pt"
"$wick" run chain.py 'ones(2)' 'ones(2)' -o /proc/self/fd/1 | head -c 6 > start
grep -q NUMPY start || { echo "no .npy in a pipe"; failed=1; }

# ---- what a recording says that was raised: one of the texts stands in the other ----
cat > raises.py <<'END'
def forward(x: Tensor):
    assert x.dim() == 9, "no such dim"
def silent(x: Tensor):
    assert x.dim() == 9
END
cat > recorded.py <<'END'
def forward(x: Tensor, method: str, raises: str):
    call: Dict[str, Any] = {"method": method, "args": (x,), "raises": raises}
    return {"wick_io": 1, "raising_calls": [call]}
END
check_raise() { # STATUS TEXT METHOD RECORDED
  "$wick" run recorded.py 'ones(2)' "\"$3\"" "$4" -o raises.io.pt
  expect "$1" "$2" "$wick" check raises.py raises.io.pt
}
check_raise 0 "1 passed" forward '"RuntimeError: AssertionError: no such dim"'
check_raise 0 "1 passed" forward '"no such dim"'
check_raise 0 "1 passed" forward '"Traceback\n  there\nAssertionError: no such dim \n"'
check_raise 0 "1 passed" silent '"Error: RuntimeError: AssertionError:"'
check_raise 1 "not 'no other dim'" forward '"no other dim"'
check_raise 1 "0 passed" forward '"  \n"'
exit $failed
