#!/bin/sh
# How libraries of operators are found, opened, switched off, named and missed, by the command.
# usage: libraries.sh WICK BUILD
wick=$1 build=$2
failed=0
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
cat > sums.py <<'END'
def forward(x: Tensor, index: Tensor):
    return torch.ops.torch_scatter.scatter_sum(x, index, 0, None, None)
END
cat > missing.py <<'END'
def forward(x: Tensor):
    return torch.ops.of_nobody.nothing(x)
END

# expect STATUS TEXT WORD...: the exit status, and a text somewhere in what is printed
expect() {
  wanted=$1 text=$2
  shift 2
  "$@" > out 2>&1
  status=$?
  if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" out; then
    echo "$*: exit status $status, '$text' expected in:"; head -5 out; failed=1
  fi
}

run="sums.py ones(3) zeros(3,dtype=int64)"
expect 0 " 3" "$wick" run $run
expect 0 "library $build/libraries/torch_scatter.so" "$wick" ops sums.py
expect 0 "library   $build/libraries/torch_scatter.so" "$wick" info sums.py
expect 2 "torch.ops.torch_scatter has no attribute 'scatter_sum' (library torch_scatter: libraries are not opened by themselves)" \
  "$wick" run --no-libraries $run
expect 0 " 3" "$wick" run --no-libraries --library torch_scatter $run
expect 0 " 3" "$wick" run --library "$build/libraries/torch_scatter.so" --library torch_scatter $run
expect 2 "there is no library of_nobody in the folders" "$wick" run --library of_nobody $run
expect 2 "torch.ops.of_nobody has no attribute 'nothing' (library of_nobody: it is not installed)" "$wick" run missing.py 'ones(1)'

# An archive that needs it, with and without.
archive=$here/library/scatter_layer.pt
expect 0 "library   $build/libraries/torch_scatter.so" "$wick" info "$archive"
expect 1 "torch_scatter::scatter_max                    1  not in wick (library torch_scatter: libraries are not opened by themselves)" \
  "$wick" ops --no-libraries "$archive"
expect 0 "torch_scatter::scatter_mean (library torch_scatter: libraries are not opened by themselves)" "$wick" info --no-libraries "$archive"

# What a library does not have says so; arguments that a vocabulary does not take.
cat > parts.py <<'END'
def forward(x: Tensor):
    return torch.ops.torch_sparse.partition(x, x, None, 2, False)
def twice():
    return len(torch.classes.torchtext.Vocab(["a", "b", "a"]))
def absent():
    return torch.classes.torchtext.Vocab(["a"])["b"]
def beyond(i: int):
    return torch.classes.torchtext.Vocab(["a"], 0).lookup_tokens([0, i])
def again():
    vocab = torch.classes.torchtext.Vocab(["a"], 0)
    vocab.insert_token("a", 0)
def far(i: int):
    vocab = torch.classes.torchtext.Vocab(["a"], 0)
    vocab.insert_token("b", i)
def state(version: str, tokens: List[str], tensors: List[Tensor]):
    vocab = torch.classes.torchtext.Vocab(["z"])
    vocab.__setstate__((version, [], tensors_of(tokens), tensors))
    return len(vocab), vocab.get_default_index(), vocab.__getstate__()
def tensors_of(tokens: List[str]):
    return tokens
END
cat > sentences.py <<'END'
def forward():
    return torch.classes.torchtext.SentencePiece("x")
END
expect 1 "wick's library torch_sparse does not have partition" "$wick" run --method forward parts.py 'ones(1)'
expect 2 "torch.classes.torchtext has no attribute 'SentencePiece'" "$wick" run sentences.py
expect 1 "Duplicate token found in tokens list: a" "$wick" run --method twice parts.py
expect 1 "Token b not found and default index is not set" "$wick" run --method absent parts.py
expect 1 "Specified index 1 is out of bounds for vocab of size 1" "$wick" run --method beyond parts.py 1
expect 1 "Specified index -1 is out of bounds" "$wick" run --method beyond parts.py -- -1
expect 1 "Token a already exists in the Vocab with index: 0" "$wick" run --method again parts.py
expect 1 "Specified index 2 is out of bounds for vocab of size 1" "$wick" run --method far parts.py 2
expect 0 "(2, 1, (0.0.2, [1], [a, u], []))" "$wick" run --method state parts.py '"0.0.1"' '["a", "u", "u"]' '[]'
expect 1 "the unknown token of a Vocab is not among its tokens" "$wick" run --method state parts.py '"0.0.1"' '["a", "u"]' '[]'
expect 1 "has no unknown token" "$wick" run --method state parts.py '"0.0.1"' '[]' '[]'
expect 1 "Found unexpected version for serialized Vocab: 0.0.0" "$wick" run --method state parts.py '"0.0.0"' '[]' '[]'
expect 0 "(0, None, (0.0.2, [], [], []))" "$wick" run --method state parts.py '"0.0.2"' '[]' '[]'

# Objects of native classes are saved as the archives that they came from have them.
for module in vocab tokenizer_module; do
  "$wick" save "$here/library/$module.pt" -o saved.pt || failed=1
  expect 0 " 0 failed" "$wick" check saved.pt "$here/library/$module.io.pt"
  mkdir -p again
  "$wick" save saved.pt -o again/saved.pt && cmp saved.pt again/saved.pt || failed=1
done

# Patterns that RegexTokenizer does not take, or that others would take long for.
cat > tokens.py <<'EOF'
def forward(pattern: str, line: str, times: int):
    text = ""
    for i in range(times):
        text += line
    return torch.classes.torchtext.RegexTokenizer([pattern], ["-"], False).forward(text)
EOF
for pattern in '"(a"' '"a)"' '"*a"' '"a**"' '"[a"' '"[b-a]"' '"a{3,2}"' '"a{1001}"' '"(?i)a"' '"\\pL"' '"[[:alpha:]]"' '"((((((a{9}){9}){9}){9}){9}){9}"'; do
  expect 1 "regular expression '" "$wick" run tokens.py "$pattern" '"a"' 1
done
expect 0 "[b-]" "$wick" run tokens.py '"(a*)*$"' '"b"' 1
expect 0 "b" timeout 20 "$wick" run tokens.py '"(a|a)*(a|a)*(a|a)*c"' '"aaaaaaaaab"' 100

# A file that is there and is no library of operators; a folder of the environment goes before the others.
mkdir own && echo nothing > own/of_nobody.so && cp "$build/libraries/torch_scatter.so" own
expect 2 "own/of_nobody.so: " env WICK_LIBRARY_PATH=/nowhere:"$work/own" "$wick" run missing.py 'ones(1)'
expect 0 "library $work/own/torch_scatter.so" env WICK_LIBRARY_PATH="$work/own" "$wick" ops sums.py
# What lies in the working folder, or beside the program's text, is nothing that a name leads to.
cp own/of_nobody.so . && mkdir -p wick libraries && cp own/of_nobody.so wick && cp own/of_nobody.so libraries
expect 2 "(library of_nobody: it is not installed)" "$wick" run missing.py 'ones(1)'
exit $failed
