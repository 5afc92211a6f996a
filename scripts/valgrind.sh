#!/bin/sh
# Reads a file of every kind under valgrind: nothing that was never written may decide or be computed with.
# usage: valgrind.sh BUILD    the folder of a build, such as build/release
build=$(cd "$1" && pwd)
tests=$(cd "$(dirname "$0")/../tests" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
wick=$build/wick
failed=0
count=0

# What cannot be opened in this build (no libpng, ...) is no file of the test.
under() {
  timeout 300 valgrind --quiet --error-exitcode=99 "$@" > output 2>&1
  status=$?
  grep -q "built without\|not installed\|this build has no" output && return
  count=$((count + 1))
  [ $status -eq 0 ] && return
  echo "valgrind: $*: exit $status" && tail -n 40 output && failed=1
}

# archives of programs, with source and without, old and new, and recorded values in both formats of torch.save
for model in archive/format_2x archive/lite archive/quantized archive/older_quantized_scripted archive/meta_and_sparse \
  mobile/bytecode_loop program/legacy_kinds program/legacy_parts; do
  program=$tests/$model.pt
  [ -e "$program" ] || program=$tests/$model.py
  under "$wick" check --scaled "$program" "$tests/$model.io.pt"
done
under "$wick" save "$tests/archive/meta_and_sparse.pt" -o saved.pt
for file in state_dict.pt legacy.pth checkpoint.pt module.pt legacy_module.pth; do
  under "$wick" info "$tests/files/$file"
done

# arrays, weights, pictures, sound
printf 'def forward(x: Tensor):\n    return (x * 2).sum()\n' > sum.py
printf 'def forward():\n    return {"x": torch.arange(6.0).reshape(2, 3)}\n' > values.py
printf 'def forward():\n    return torch.arange(400.0).div(400.0).unsqueeze(0)\n' > tone.py
"$wick" run values.py -o x.npz > /dev/null
printf '\066\000\000\000\000\000\000\000%s\000\000\200\077\000\000\000\100' '{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' > x.safetensors
"$wick" run tone.py -o x.npy > /dev/null
"$wick" run tone.py --sample-rate 8000 -o x.wav > /dev/null 2>&1
under "$wick" run sum.py x.npy
under "$wick" run sum.py '**x.npz'
under "$wick" run sum.py '**x.safetensors'
under "$wick" run sum.py "$tests/data/tiny.jpg"
under "$wick" run sum.py "$tests/data/tiny.png"
[ ! -e x.wav ] || under "$wick" run sum.py x.wav

# states of native classes and pickles that are damaged
for target in state bytecode pickle; do
  under "$build/fuzz_$target" "$tests/fuzz/$target"
done

echo "$count commands under valgrind, $([ $failed -eq 0 ] && echo no || echo some) failed"
exit $failed
