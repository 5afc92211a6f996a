#!/bin/sh
# A student follows a function of five lines through all stages, reads what each pass changed, and loads a compiler.
. "$(dirname "$0")/begin.sh"
cat > poly.py <<'PY'
def forward(x: Tensor, n: int = 3) -> Tensor:
    total = torch.zeros_like(x)
    for i in range(n):
        total = total * x + torch.tanh(torch.abs(x))
    return total
PY
says 0 "TK_FOR" wick dump poly.py --stage tokens
says 0 "(for" wick dump poly.py --stage tree
says 0 "prim::Loop" wick dump poly.py
says 0 "for i in range(n):" wick dump poly.py --stage code
says 0 "LOOP" wick dump poly.py --stage bytecode
says 0 "prim::FusionGroup" wick dump poly.py --stage optimized "ones(4)"
says 0 "= tanh" wick dump poly.py --stage kernel "ones(4)"
says 0 "(unchanged)" wick dump poly.py --pass all --diff
says 0 "digraph" wick dump poly.py --dot
needs cc
install
cc -shared -fPIC "$examples/compiler/compiler.c" $(pkg-config --cflags wick) -lm -o compiler.so
WICK_BACKEND=none says 0 "example::chain" wick dump --library ./compiler.so --stage optimized poly.py "ones(2)"
