#!/bin/sh
# A machine learning engineer gets a file and looks, tries, compares, mistypes, and reads what to do about it.
. "$(dirname "$0")/begin.sh"
files=$source/tests/files model=$examples/digits/reader.pt
says 0 "total     10 parameters and 6 buffers, 13852 elements" wick info "$model"
says 0 "operators, all there" wick ops "$model"
says 0 "2 passed, 0 failed" wick check "$source/tests/program/linear.pt" "$source/tests/program/linear.io.pt"
says 0 "tensors" wick info "$files/state_dict.pt"
says 2 "torch.jit.script" wick run "$files/state_dict.pt" 1
says 0 "" wick info "$files/module.pt"
says 1 "strange::plus" wick ops "$files/missing_operator.pt"
says 2 "Did you mean 'info'?" wick inof "$model"
says 2 "Did you mean '--method'?" wick run "$model" --metod forward
says 2 "Did you mean 'forward'?" wick run "$model" --method froward "$examples/digits/digits.npy"
says 1 'images' wick run "$model" "ones(2)" 2
wick save "$model" --freeze -o frozen.pt
says 0 "14: six, 100% sure" wick run frozen.pt "$examples/digits/digits.npy"
says 0 "second / first" wick bench "$model" "$examples/digits/digits.npy" --against frozen.pt
says 0 '"result": "1: zero' wick run "$model" "$examples/digits/digits.npy" --json
