#!/bin/sh
# Where results of the command go: files of each kind, JSON, the largest elements; modes of modules.
# usage: command_outputs.sh WICK
wick=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
. "$here/expect.sh"
cat > out.py <<'END'
def forward(x: Tensor):
    return {"a": x, "b": (x.sum(), [x, x + 1])}
def same(x: Any):
    print(x)
def one(x: Tensor):
    return x
def mixed(x: Tensor):
    return x, "text", 3
def numbers(x: Tensor):
    return [float("nan"), float("inf"), -float("inf")], 1 / 3, 1j, {1: True}, None, "\"\n\u00e9"
def fails(x: Tensor) -> Tensor:
    print("before")
    raise ValueError("no")
END

# ---- files ----
"$wick" run out.py 'ones(2)' > printed
"$wick" run out.py 'ones(2)' -o out.pt && "$wick" run out.py --method same out.pt | head -n -1 > read
same printed read
"$wick" run out.py 'ones(2)' -o out.npz
expect 0 "b.1.1:  2" "$wick" run out.py --method same out.npz
"$wick" run out.py --method one 'ones(2)' -o one.npz
expect 0 "{arr_0:  1" "$wick" run out.py --method same one.npz
python3 -c 'import zipfile; assert zipfile.ZipFile("out.npz").testzip() is None' || failed=1
expect 1 "a .npz holds no str (1)" "$wick" run out.py --method mixed 'ones(2)' -o mixed.npz
"$wick" run out.py 'ones(2)' -o out.json
json cat out.json
grep -qx '{"a": \[1, 1\], "b": \[2, \[\[1, 1\], \[2, 2\]\]\]}' out.json || { echo "out.json:"; cat out.json; failed=1; }
# Before the run: nothing is computed.
expect 2 "x.npy: .npy holds one tensor: forward gives Dict" "$wick" run out.py 'ones(2)' -o x.npy
expect 2 "x.doc: no kind of file that results are written to (.npy" "$wick" run out.py --method fails 'ones(2)' -o x.doc
expect 2 "nowhere/x.npy: can't be written: No such file or directory" "$wick" run out.py --method fails 'ones(2)' -o nowhere/x.npy
mkdir folder.npy
expect 2 "folder.npy: is a folder" "$wick" run out.py --method fails 'ones(2)' -o folder.npy
"$wick" run out.py --method one 'rand(3,4,5)' --seed 1 -o x.png
printf 'def forward(x: Tensor, y: Tensor):\n    return float((x - y / 255).abs().max()) <= 0.5001 / 255\n' > near.py
"$wick" run out.py --method one 'rand(3,4,5)' --seed 1 -o x.npy
expect 0 "True" "$wick" run near.py x.npy x.png
head -c 60 x.png > short.png
expect 2 "short.png: " "$wick" run out.py --method one short.png
expect 1 "a picture has the sizes [1 or 3, height, width]" "$wick" run out.py --method one 'rand(2,4,5)' -o x.png

# Tables and texts: numbers come back with the same bits.
printf 'def forward(x: Tensor, y: Tensor) -> bool:\n    return bool((x == y).all()) and x.size() == y.size()\n' > equal.py
"$wick" run out.py --method one 'rand(3,4)' --seed 2 -o x.npy
"$wick" run out.py --method one x.npy -o x.csv
expect 0 "True" "$wick" run equal.py x.npy x.csv
"$wick" run out.py --method one 'tensor([[1,-2],[3,9007199254740993]])' -o x.csv
[ "$(cat x.csv)" = "1,-2
3,9007199254740993" ] || { echo "x.csv:"; cat x.csv; failed=1; }
"$wick" run out.py --method one 'tensor([0.1], dtype=float64)' -o x.csv
[ "$(cat x.csv)" = 0.10000000000000001 ] || { echo "x.csv:"; cat x.csv; failed=1; }
expect 1 "a table has the sizes [rows, columns]" "$wick" run out.py --method one 'rand(2,2,2)' -o x.csv
grep -q Traceback out && { echo "a traceback of wick's own program:"; cat out; failed=1; }
"$wick" run out.py --method mixed 'ones(2)' -o x.txt && "$wick" run out.py --method mixed 'ones(2)' --full > full
same x.txt full
if "$wick" run out.py --method one 'full([3,16,16],0.5)' -o x.jpg 2>&1 | grep -q "built without\|not installed"; then
  echo "without libjpeg-turbo"
else
  printf 'def forward(x: Tensor):\n    return x.size(), int(x.min()) >= 126, int(x.max()) <= 130\n' > gray.py
  expect 0 "([3, 16, 16], True, True)" "$wick" run gray.py x.jpg
  expect 1 "a picture has the sizes [1 or 3, height, width], not [4, 5, 5]" "$wick" run out.py --method one 'zeros(4,5,5)' -o x.jpg
  grep -q Traceback out && { echo "a traceback of wick's own program:"; cat out; failed=1; }
fi

# ---- JSON ----
json "$wick" run out.py 'ones(2)' --json
grep -qF '"result": {"a": [1, 1], "b": [2, [[1, 1], [2, 2]]]}}' out || { cat out; failed=1; }
json "$wick" run out.py --method numbers 'ones(2)' --json
grep -qF '"result": [[null, 1e999, -1e999], 0.33333333333333331, [0, 1], [[1, true]], null, "\"\né"]}' out || { cat out; failed=1; }
printf 'def forward():\n    return torch.tensor([-1, 5]).to(torch.uint64)\n' > large.py
"$wick" run large.py --json | grep -qF '[18446744073709551615, 5]' || { echo "--json of uint64"; failed=1; }
json "$wick" run out.py --method fails 'ones(2)' --json
grep -qF '{"error": "out.py: ' out && grep -q "^before$" err || { echo "--json of a failure:"; cat out err; failed=1; }
json "$wick" run missing.py --json
json "$wick" run --bogus --json
json "$wick" check "$here/program/strides.py" "$here/data/strides_wrong.io.pt" --json
grep -qF '"failed": 1, "messages": ["' out || { cat out; failed=1; }
json "$wick" compile out.py -o out.archive.pt --json
json "$wick" save out.archive.pt -o again.pt --json
grep -qE '"written": "again.pt", "bytes": [0-9]{3,}' out || { cat out; failed=1; }
# Parameters keep their names, by which callers know them, also those that the text of archives could mean otherwise.
printf 'def forward(x: Tensor, aten: int = 1, range: int = 2) -> Tensor:\n    return x + aten * range\n' > names.py
"$wick" compile names.py -o names.pt && "$wick" save names.pt -o names_again.pt
expect 0 " 16" "$wick" run names_again.pt 'ones(1)' aten=3 range=5
printf 'def forward(x: Tensor, range: int) -> Tensor:\n    for i in [1, 2]:\n        x = x + i * range\n    return x\n' > loops.py
"$wick" compile loops.py -o loops.pt
expect 0 " 16" "$wick" run loops.pt 'ones(1)' 5
json "$wick" save out.archive.pt --json

# ---- what is printed ----
[ "$("$wick" run out.py --method one 'arange(2000)' | wc -l)" -eq 8 ] || { echo "a long tensor is not elided"; failed=1; }
[ "$("$wick" run out.py --method one 'arange(2000)' --full | wc -l)" -eq 2001 ] || { echo "--full is not full"; failed=1; }
[ "$("$wick" run out.py --method one 'arange(1000)' | wc -l)" -eq 1001 ] || { echo "1,000 elements are elided"; failed=1; }
printf "one\ntwo\nthree\n" > labels
expect 0 "           4      1  two" "$wick" run out.py --method one 'tensor([3, 4, 1])' --topk 2 --labels labels
json "$wick" run out.py --method one 'tensor([[3, 4, 1], [5, 0, 6]])' --topk 1 --labels labels --json
grep -qxF '{"topk": [[{"index": 1, "value": 4, "label": "two"}], [{"index": 2, "value": 6, "label": "three"}]]}' out || { cat out; failed=1; }
expect 2 "--topk is of a tensor: forward gives Dict" "$wick" run out.py 'ones(2)' --topk 2
expect 2 "--labels is for --topk" "$wick" run out.py --method one 'ones(2)' --labels labels

# ---- modes ----
expect 0 "warning: saved in training mode, in which d (Dropout) computes something else" "$wick" run "$here/data/dropout.pt" 'ones(4)'
# an LSTM and a Dropout of nothing; a MultiheadAttention with dropout, then a Dropout in evaluation mode
"$wick" run "$here/data/dropout_of_nothing.pt" 'ones(4,3)' > first 2> warnings
[ -s warnings ] && { echo "a warning although nothing is dropped:"; cat warnings; failed=1; }
expect 0 "in which a (MultiheadAttention) computes something else" "$wick" run "$here/data/dropout_inside.pt" 'ones(2,1,4)'
expect 0 "mode      training" "$wick" info "$here/data/dropout.pt"
"$wick" run "$here/data/dropout.pt" 'ones(4)' --eval > first 2> warnings
"$wick" run out.py --method one 'ones(4)' > again && same first again
[ -s warnings ] && { echo "a warning with --eval:"; cat warnings; failed=1; }
"$wick" run "$here/data/dropout.pt" 'ones(100)' --train > first 2> warnings
grep -q " 2" first && ! [ -s warnings ] || { echo "--train:"; head -3 first; cat warnings; failed=1; }
expect 2 "--eval and --train exclude each other" "$wick" run "$here/data/dropout.pt" 'ones(4)' --eval --train
expect 2 "functions have no mode" "$wick" run out.py 'ones(4)' --eval
exit $failed
