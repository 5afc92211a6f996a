#!/bin/sh
# The CUDA device with a driver and a compiler that the host plays: what it computes, a bound on memory, work that fails,
# and what is said where the driver, the compiler or a device is missing.
# usage: cuda.sh DEVICE_CHECK FOLDER WICK
check=$1 folder=$2 wick=$3
failed=0
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
cat > move.py <<'END'
def forward(x):
    return (x.to('cuda') * 2 + 1).cpu()
END
cat > many.py <<'END'
def forward(n: int):
    total = torch.zeros([1], device='cuda')
    for i in range(n):
        x = torch.ones([1000 + i, 1000], device='cuda')
        total += x[0, 0]
    return total.cpu()
END
cat > keep.py <<'END'
def forward(n: int):
    kept = [torch.ones([1000, 1000], device='cuda')]
    for i in range(n):
        kept.append(kept[0] + i)
    return kept[0].cpu()
END

# expect STATUS TEXT COMMAND...: the exit status, and a text somewhere in what is printed
expect() {
  wanted=$1 text=$2
  shift 2
  "$@" > out 2>&1
  status=$?
  if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" out; then
    echo "$*: exit status $status, '$text' expected in:"; head -5 out; failed=1
  fi
}
with() { env LD_LIBRARY_PATH="$folder" "$@"; }

expect 1 "there is no device 'cuda' here" env WICK_LIBRARY_PATH=/nowhere "$wick" run --no-libraries move.py 'ones(2)'
expect 1 "library libwick_cuda: libraries are not opened by themselves" "$wick" run --no-libraries move.py 'ones(2)'
if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
  expect 1 "library libwick_cuda: NVIDIA's driver is not there: libcuda.so.1" "$wick" run move.py 'ones(2)'
fi
mkdir driver && cp "$folder/libcuda.so.1" driver
expect 1 "NVIDIA's run-time compiler is not there: /nowhere/libnvrtc.so" \
  env LD_LIBRARY_PATH="$work/driver" WICK_NVRTC=/nowhere/libnvrtc.so "$wick" run move.py 'ones(2)'
expect 1 "CUDA: looking for devices: an unknown error" env WICK_HOST_CUDA_COUNT=0 LD_LIBRARY_PATH="$folder" "$wick" run move.py 'ones(2)'
expect 0 " 3" with "$wick" run move.py 'ones(2)'
expect 0 " 3" with "$wick" run --device-map '*=cpu' move.py 'ones(2)'

# Inputs, and tensors that the program tells no device, go where --device says.
cat > made.py <<'END'
def forward(x):
    y = torch.arange(3) + torch.tensor([1, 2, 3])
    return x[:3] * y, str((x + torch.ones([4])).device)
END
expect 0 "cuda:0" with "$wick" run --device cuda made.py 'ones(4)'
expect 0 '[[1, 3, 5], "cuda:0"]' with "$wick" run --device cuda --json made.py 'ones(4)'
expect 2 "there is no device 'cuda:7' here" with "$wick" run --device cuda:7 made.py 'ones(4)'

# Memory: what is given back is used again, what is kept makes room, what does not fit is an error.
expect 0 " 50" with env WICK_HOST_CUDA_BYTES=30000000 "$wick" run many.py 50
expect 0 " 50" with env WICK_HOST_CUDA_BYTES=30000000 WICK_CUDA_CACHE=0 "$wick" run many.py 50
expect 0 " 50" with env WICK_HOST_CUDA_BYTES=30000000 WICK_CUDA_CACHE=9 "$wick" run many.py 50
expect 1 "CUDA: allocating 4000000 bytes on device 0: out of memory (CUDA_ERROR_OUT_OF_MEMORY)" \
  with env WICK_HOST_CUDA_BYTES=30000000 "$wick" run keep.py 20
# Work that fails is told when it is waited for.
expect 1 "unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)" with env WICK_HOST_CUDA_FAIL=1 "$wick" run move.py 'ones(2)'

with "$check" cuda brief || failed=1
exit $failed
