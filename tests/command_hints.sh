#!/bin/sh
# What a failed call says could have been typed: each suggestion is typed.
# usage: command_hints.sh WICK
wick=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
. "$here/expect.sh"
models=$here/model

# suggests TEXT WORD...: the command fails and suggests a line with the text, which runs
suggests() {
  text=$1
  shift
  "$wick" "$@" > out 2> err && { echo "$*: does not fail"; failed=1; }
  line=$(sed -n 's/^wick: this runs: wick //p' err)
  case $line in
    *"$text"*) ;;
    *) echo "$*: '$text' expected in:"; cat err; failed=1; return ;;
  esac
  eval "\"\$wick\" $line" > out 2>&1 || { echo "what is suggested fails: $line"; cat out; failed=1; }
}
suggests "randn(1,1,8,8)" run "$models/digits_cnn.pt"
suggests "randn(1,1,8,8)" bench "$models/digits_cnn.pt"
suggests "randn(1,1,8,8)" profile "$models/digits_cnn.pt"
suggests "randn(1,4,512)" run "$models/tcn.pt"
suggests '["text"]' run "$models/tokenizer.pt"

cat > net.py <<'END'
def forward(x: Tensor, times: int, name: str = "n"):
    print("not to be seen")
    return torch.conv2d(x, torch.ones(2, 3, 3, 3)) * times
def numbers(x: Tensor):
    return x + 1
def rows(x: Tensor):
    return x.size(1), x + 1
def never(x: Tensor):
    while True:
        x = x + 1
    return x
def sound(x: Tensor, sr: int) -> float:
    if x.size(-1) != 256 or sr != 16000:
        raise ValueError("256 samples")
    return float(x.sum())
END
suggests "randn(1,3,224,224)' 1" run net.py
[ "$(grep -c "not to be seen" out)" -eq 1 ] || { echo "a try prints:"; cat out; failed=1; }
suggests "tensor([1,2])" run net.py --method numbers "[1,2]"
suggests "tensor([[1,2]])" run net.py --method rows "[1,2]"
"$wick" run net.py --method sound 'zeros(1,600)' 16000 > out 2>&1
grep -q "this runs" out && { echo "nothing was missing:"; cat out; failed=1; }
# What runs for ever is left after two seconds, and nothing that ran is suggested.
expect 1 "shows what it takes" timeout 60 "$wick" run net.py --method never
expect 1 "--chunk 256,pad fills it up with zeros" "$wick" run net.py --method sound 'zeros(1,300)' 16000 --chunk 256

if "$wick" run net.py --method numbers 'rand(3,30,40)' -o cat.png 2> /dev/null; then
  suggests "image(cat.png, size=224, imagenet)" run net.py cat.png
fi
if "$wick" run net.py --method numbers 'zeros(1,600)' -o s.wav 2> /dev/null; then
  suggests "audio(s.wav, 16000)' 16000 --chunk 256,pad" run net.py --method sound s.wav
fi

expect 2 "a text stands between quotes of its own: '\"hello\"'" "$wick" run net.py hello
expect 2 "an empty text is '\"\"', an empty list []" "$wick" run net.py ""
expect 0 "12.83" "$wick" run net.py --method numbers "tensor([11.83], dtype=float64)" --json
grep -qF '[12.83]' out || { echo "float64 by way of float32:"; cat out; failed=1; }
exit $failed
