#!/bin/sh
# python/tests/test_hostile.py and test_balance.py where mistakes show: under Python's debug build (its assertions, and sys.gettotalrefcount
# counts every reference), under the address sanitizer, and under both at once. A form whose tools are missing is
# skipped by name.
# usage: python_hostile.sh [FORM...]    forms: debug asan both; all of them without one
# Environment: WICK_HOSTILE_CALLS (20000) random calls of each kind, WICK_HOSTILE_FLAT_CALLS (1000000) in flat memory,
# WICK_HOSTILE_SEED (1); WICK_DEBUG_PYTHON (python3-dbg): the interpreter of the debug forms.
set -e
cd "$(dirname "$0")/.."
export WICK_HOSTILE_CALLS="${WICK_HOSTILE_CALLS:-20000}" WICK_HOSTILE_FLAT_CALLS="${WICK_HOSTILE_FLAT_CALLS:-1000000}"
export PYTHONDONTWRITEBYTECODE=1
debug_python="${WICK_DEBUG_PYTHON:-python3-dbg}"
libasan=$(${CC:-cc} -print-file-name=libasan.so)
asan_environment="LD_PRELOAD=$libasan ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"

# the library and the extension of a preset
build() {
  mkdir -p build
  cmake --preset "$1" > "build/$1.log" || { cat "build/$1.log"; exit 1; }
  cmake --build "build/$1" --target wick_python > "build/$1.log" || { cat "build/$1.log"; exit 1; }
}

# the extension for the debug interpreter, over the library of a preset: build/PRESET/python_debug
build_debug() { # preset, flags
  root=build/$1/python_debug
  mkdir -p "$root/wick"
  ln -sfn "$PWD"/python/wick/* "$root/wick/"
  suffix=$($debug_python -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
  include=$($debug_python -c 'import sysconfig; print(sysconfig.get_path("include"))')
  [ -f "$include/Python.h" ] || return 1
  ${CC:-cc} -shared -fPIC -g -O1 -UNDEBUG -Wall -Wextra -Wno-missing-field-initializers -Wno-cast-function-type -Werror \
    -D_GNU_SOURCE $2 -I python/src -I include -I "$include" python/src/*.c -o "$root/wick/_C$suffix" \
    "build/$1/libwick.so" -Wl,-rpath,"$PWD/build/$1"
}

run() { # the form, environment, interpreter, root of the package
  echo "== $1: $WICK_HOSTILE_CALLS calls of each kind, $WICK_HOSTILE_FLAT_CALLS in flat memory"
  for test in hostile balance; do
    env $2 PYTHONPATH="$4" "$3" -X faulthandler "python/tests/test_$test.py"
  done
}

has_debug() {
  command -v "$debug_python" > /dev/null && return
  echo "skipped: $1 ($debug_python is not there)"
  return 1
}
has_asan() {
  [ -f "$libasan" ] && return
  echo "skipped: $1 (the sanitizer's library is not there)"
  return 1
}

debug() {
  has_debug debug || return 0
  build release
  build_debug release "" || { echo "skipped: debug (the headers of $debug_python are not there)"; return 0; }
  run debug "" "$debug_python" build/release/python_debug
}
asan() {
  has_asan asan || return 0
  build asan
  run asan "$asan_environment" /usr/bin/python3 build/asan/python
}
both() {
  has_debug both && has_asan both || return 0
  build asan
  build_debug asan "-fsanitize=address -fno-omit-frame-pointer" ||
    { echo "skipped: both (the headers of $debug_python are not there)"; return 0; }
  run "debug and asan" "$asan_environment PYTHONMALLOC=malloc" "$debug_python" build/asan/python_debug
}

for form in ${*:-debug asan both}; do $form; done
