#!/bin/sh
# What runs on a CUDA card, for who has one: builds wick (in build/release, or takes the build that BUILD names), checks
# what the card computes against the CPU, operators and nets, prints figures beside PyTorch where python3 has it, which
# makes the nets. Under 8 minutes.
# usage: scripts/cuda_check.sh [LOG]
cd "$(dirname "$0")/.." || exit 1
log=${1:-build/cuda_check.log}
mkdir -p "$(dirname "$log")"
failed=0

find_compiler() {
  for folder in /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib \
    $(python3 -c 'import sys; print(*[p + "/nvidia/cu13/lib " + p + "/nvidia/cuda_nvrtc/lib" for p in sys.path if p])' 2>/dev/null); do
    for file in "$folder"/libnvrtc.so.1[0-9]; do
      [ -e "$file" ] && echo "$file" && return
    done
  done
}
# The file of a library of NVIDIA's Python packages, where they are.
find_package() {
  for folder in $(python3 -c 'import sys; print(*[p + "/nvidia/" for p in sys.path if p])' 2>/dev/null); do
    for file in "$folder"*/lib/"$1".so.[0-9]*; do
      [ -e "$file" ] && echo "$file" && return
    done
  done
}
build() {
  if [ -n "$BUILD" ]; then return; fi
  BUILD=build/release
  command -v ninja > /dev/null && generator=Ninja || generator='Unix Makefiles'
  cmake -S . -B $BUILD -G "$generator" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build $BUILD --target product -j "$(nproc)" &&
    cc -std=gnu17 -O2 -Iinclude tests/device/device_check.c -o $BUILD/device_check -L$BUILD -lwick \
      -Wl,-rpath,"$PWD/$BUILD" -lm -lpthread
}
# check NAME COMMAND...: seconds and what came of it
check() {
  name=$1
  shift
  begin=$(date +%s)
  "$@" 2>&1
  status=$?
  [ $status -eq 0 ] || failed=1
  echo "$name: $([ $status -eq 0 ] && echo passed || echo "FAILED with $status") after $(($(date +%s) - begin)) s"
}

all() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
  date
  if ! build > "$log.build" 2>&1; then
    tail -20 "$log.build"
    echo "wick can't be built here"
    return 1
  fi
  WICK_NVRTC=${WICK_NVRTC:-$(find_compiler)}
  export WICK_NVRTC
  echo "NVRTC: ${WICK_NVRTC:-as the loader finds it}"
  ldconfig -p 2> /dev/null | grep -q libcudnn.so || WICK_CUDNN=${WICK_CUDNN-$(find_package libcudnn)}
  [ -z "${WICK_CUDNN-}" ] || export WICK_CUDNN
  echo "cuDNN: ${WICK_CUDNN-as the loader finds it}"
  program=$BUILD/device_check
  check operators "$program" cuda
  check large "$program" cuda large
  check speed "$program" cuda speed
  if python3 -c 'import torch; assert torch.cuda.is_available()' 2> /dev/null; then
    check PyTorch python3 scripts/cuda_torch.py
    mkdir -p $BUILD/nets
    [ -e $BUILD/nets/encoder.pt ] || check 'making nets' python3 scripts/cuda_nets.py $BUILD/nets
    for inputs in "$BUILD"/nets/*.inputs; do
      net=${inputs%.inputs}
      check "net $(basename "$net")" "$program" cuda net "$net.pt" "$inputs"
    done
    check 'nets by PyTorch' python3 scripts/cuda_nets.py --time $BUILD/nets
  fi
  return $failed
}

all > "$log" 2>&1
status=$?
cat "$log"
exit $status
