#!/bin/sh
# What inputs of the command can be: keywords, made tensors, files, streams, names of a source bound to files.
# usage: command_inputs.sh WICK
wick=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
. "$here/expect.sh"
cat > any.py <<'END'
def forward(x: Tensor, scale: float = 1.0, y: Optional[Tensor] = None):
    return x * scale if y is None else y
def shape(x: Tensor):
    return str(x.size()) + " " + str(x.dtype) + " " + str(float(x.double().sum()))
def show(x: Any):
    print(x)
END

# ---- keywords ----
"$wick" run any.py 'ones(2)' 2.5 > positional
"$wick" run any.py 'ones(2)' scale=2.5 > named && same positional named
"$wick" run any.py scale=2.5 'x=ones(2)' > named && same positional named
printf 'def forward():\n    return {"x": torch.ones(2), "scale": 2.5, "y": torch.ones(2) * 2.5}\n' > make.py
"$wick" run make.py -o arguments.pt && "$wick" run any.py '**arguments.pt' > named && same positional named
expect 2 "the input scale stands there twice" "$wick" run any.py 'ones(2)' scale=1.0 scale=2.0
"$wick" run any.py 'ones(2)' -o ones.npy
expect 2 "ones.npy: holds no values by name" "$wick" run any.py '**ones.npy'
expect 1 "Keyword argument zoom unknown" "$wick" run any.py 'ones(2)' zoom=2

# ---- inputs that a program of torch.export keeps ----
cp "$here/pt2/several.pt2" "$here/pt2/related.pt2" .
"$wick" run several.pt2 samples > of_model && "$wick" run several.pt2 --method forward samples > named && same of_model named
expect 0 "FloatType{2,4}" "$wick" run several.pt2 --method decode samples
expect 0 "FloatType{2}" "$wick" run several.pt2 --method scale_2 samples
expect 1 "the file holds sample inputs, which the word" "$wick" run several.pt2
expect 2 "stands for all inputs" "$wick" run several.pt2 samples 'ones(3,4)'
expect 2 "related.pt2: the file holds no sample inputs" "$wick" run related.pt2 samples
expect 2 "is for programs of torch.export" "$wick" run any.py samples
expect 0 "first call" "$wick" bench several.pt2 samples --calls 2
expect 0 "ms/call" "$wick" profile several.pt2 --method decode samples --calls 2 --warmup 0
expect 0 "input     0                                        float32[2, 3]" "$wick" info several.pt2
expect 0 '"samples": ["data/sample_inputs/model.pt"' "$wick" info --json several.pt2

# ---- made tensors ----
for case in 'full([2],0.5)|[2] 6 1' 'eye(3)|[3, 3] 6 3' 'linspace(0,1,5)|[5] 6 2.5' 'arange(2,8,2)|[3] 4 12' \
  'tensor([[1,2],[3,4]])|[2, 2] 4 10' 'tensor([True, False])|[2] 11 1' 'tensor([1,2.5],dtype=f64)|[2] 7 3.5' \
  'tensor(3)|[] 4 3' 'zeros(2,dtype=torch.int32)|[2] 3 0' 'ones(2,3,dtype=bf16)|[2, 3] 15 6'; do
  expect 0 "${case#*|}" "$wick" run any.py --method shape "${case%%|*}"
done
"$wick" run any.py 'rand(3)' --seed 7 > first && "$wick" run any.py 'rand(3)' --seed 7 > again && same first again
for bad in 'tensor([[1],[2,3]])' 'tensor(["a"])' 'ones(2' 'full()' 'image()' 'audio(a.wav, x)' 'ones(2,dtype=what)' ''; do
  expect 2 "is no input" "$wick" run any.py "$bad"
done

# ---- files ----
printf 'P6\n# comment\n2 1\n255\n\001\002\003\004\005\006' > tiny.ppm
printf 'P5 2 1 15 \001\017' > tiny.pgm
printf 'a,b\n1,2\n3,4.5\n' > table.csv
printf '1 2\n3\n' > ragged.csv
printf '{"x": [1, 2.5], "n": null, "k": [[1, 2], [3, 4]]}' > values.json
printf '[[1, 2], [3, 4.5]]' > matrix.json
expect 0 "[3, 1, 2] 0 21" "$wick" run any.py --method shape tiny.ppm
expect 0 "[1, 1, 2] 0 272" "$wick" run any.py --method shape tiny.pgm
expect 0 "[2, 2] 6 10.5" "$wick" run any.py --method shape table.csv
expect 2 "ragged.csv: line 2: 1 numbers, not 2" "$wick" run any.py ragged.csv
head -c 12 tiny.ppm > short.ppm
expect 2 "short.ppm: a damaged header" "$wick" run any.py short.ppm
expect 2 "short.pgm: cut short: 1 of 2 bytes" sh -c "head -c 11 tiny.pgm > short.pgm; '$wick' run any.py short.pgm"
echo text > some.text
expect 2 "some.text: no kind of file that can be an input (.npy .npz" "$wick" run any.py some.text
expect 2 "imag.ppm: No such file" "$wick" run any.py 'image(imag.ppm)'
expect 0 "[1, 3, 4, 8] 6" "$wick" run any.py --method shape 'image(tiny.ppm, size=4)'
expect 0 "[1, 3, 4, 4] 6" "$wick" run any.py --method shape 'image(tiny.ppm, size=4, crop=4)'
expect 2 "too small for the crop" "$wick" run any.py 'image(tiny.ppm, crop=9)'
if "$wick" run any.py values.json 2>&1 | grep -q "built without\|not installed"; then
  echo "without cJSON"
else
  expect 0 "{x: [1, 2.5], n: None, k: [[1, 2], [3, 4]]}" "$wick" run any.py --method show values.json
  expect 0 "[2, 2] 6 10.5" "$wick" run any.py --method shape 'tensor(matrix.json)'
  printf '[1,' > bad.json
  expect 2 "bad.json: damaged JSON near byte" "$wick" run any.py bad.json
fi
if "$wick" run any.py "$here/data/tiny.jpg" 2>&1 | grep -q "built without\|not installed"; then
  echo "without libjpeg-turbo"
else # as other readers of it decode it
  expect 0 "[3, 5, 7] 0 12898" "$wick" run any.py --method shape "$here/data/tiny.jpg"
  head -c 300 "$here/data/tiny.jpg" > short.jpg
  expect 2 "short.jpg: " "$wick" run any.py short.jpg
fi
# A tone keeps its pitch and its loudness at another rate.
cat > tone.py <<'END'
def forward(rate: int):
    return 0.5 * torch.sin(torch.arange(rate) * (6.283185307179586 * 440 / rate))
def distance(x: Tensor):
    want = 0.5 * torch.sin(torch.arange(16000) * (6.283185307179586 * 440 / 16000))
    return float((x[0] - want)[100:-100].abs().max()) < 1e-3
END
"$wick" run tone.py 44100 --sample-rate 44100 -o tone.wav
expect 0 "[1, 44100] 6" "$wick" run any.py --method shape tone.wav
expect 0 "[1, 16000] 6" "$wick" run any.py --method shape 'audio(tone.wav, 16000)'
expect 0 "True" "$wick" run tone.py --method distance 'audio(tone.wav, 16000)'

# ---- names of a source, and state from call to call ----
cat > counter.py <<'END'
def forward(x: Tensor) -> List[float]:
    sums: List[float] = []
    for i in range(3):
        sums.append(float(cell(x).sum()) + library.twice(1.0) + float(bias.sum()))
    return sums
END
printf 'def twice(x: float):\n    return 2 * x\n' > library.py
expect 0 "[5., 6., 7.]" "$wick" run counter.py --use cell="$here/data/counter.pt" --use library=library.py \
  --use bias=ones.npy 'ones(1)'
expect 2 "undefined value cell" "$wick" run counter.py 'ones(1)'
expect 2 "--use takes NAME=FILE, not 'cell'" "$wick" run counter.py --use cell 'ones(1)'
expect 2 "nowhere.pt: No such file" "$wick" run counter.py --use cell=nowhere.pt 'ones(1)'
expect 2 "--use binds names of a .py source" "$wick" run "$here/data/counter.pt" --use a=ones.npy 'ones(1)'

# ---- streams ----
"$wick" run any.py 'arange(5)' --chunk 2 > pieces
printf '[0, 1]\n[2, 3]\n[4]\n' > wanted # a result a line
same pieces wanted
"$wick" run any.py 'arange(5)' --chunk 2 -o joined.npy && "$wick" run any.py joined.npy > joined
"$wick" run any.py 'arange(5)' > whole && same joined whole
json "$wick" run any.py 'arange(5)' --chunk '2,pad' --json
grep -qF '"result": [[0, 1], [2, 3], [4, 0]]' out || { echo "pieces:"; cat out; failed=1; }
printf '\000\000\200\077\000\000\000\100\000\000\100\100' > floats
"$wick" run any.py - --chunk 2 < floats > pieces
printf '[1, 2]\n[3]\n' > wanted
same pieces wanted
expect 0 "[3] 6 6" sh -c "'$wick' run any.py --method shape - < floats"
json "$wick" run "$here/data/counter.pt" 'ones(1,2)' --chunk 1 --json # the state lasts
grep -qF '"result": [1, 2]' out || { cat out; failed=1; }
expect 2 "--chunk takes a size such as 512, or 512,pad, not '0'" "$wick" run any.py 'ones(2)' --chunk 0
expect 1 "--chunk cuts the first input, which is to be a tensor" "$wick" run any.py 3 --chunk 2
exit $failed
