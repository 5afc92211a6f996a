#!/bin/sh
# What of the Python package takes minutes: random hostile calls and a million calls in flat memory, 16 threads, under
# Python's debug build and the address sanitizer; jit.script over recorded cases; wick beside PyTorch, in results and
# in figures. What needs something that is not there is skipped by name.
# usage: python_full.sh [PART...]    parts: hostile recorded beside figures; all of them without one
# Environment: what python_hostile.sh takes; WICK_RECORDED_CASES, folders of recorded cases; TORCH_PYTHON, a Python with
# PyTorch 1.13 (python3).
set -e
cd "$(dirname "$0")/.."
export PYTHONPATH="$PWD/build/release/python" PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
[ -x "$python" ] || python=python3
failed=

# runs a command; a failure is told at the end
part() { # name, command
  name=$1
  shift
  echo "== $name"
  "$@" || failed="$failed $name"
}

hostile() {
  export WICK_HOSTILE_CALLS="${WICK_HOSTILE_CALLS:-20000}" WICK_HOSTILE_FLAT_CALLS="${WICK_HOSTILE_FLAT_CALLS:-1000000}"
  part "hostile calls" "$python" python/tests/test_hostile.py
  part "references and memory" "$python" python/tests/test_balance.py
  part "hostile calls, watched" sh scripts/python_hostile.sh
}
recorded() {
  if [ -z "$WICK_RECORDED_CASES" ]; then
    echo "skipped: recorded cases (WICK_RECORDED_CASES names no folder of them)"
    return
  fi
  # shellcheck disable=SC2086 # folders, separated by blanks
  part "recorded cases" "$python" python/tests/conformance_script.py --least 97 $WICK_RECORDED_CASES
}
beside() {
  part "side by side" "$python" python/tests/side_by_side/side_by_side.py
}
figures() {
  part "figures" "$python" bench/python_figures.py --check
}

for one in ${*:-hostile recorded beside figures}; do $one; done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
echo "all of it holds"
