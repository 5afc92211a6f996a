#!/bin/sh
# What the hostile build runs beyond the tests: all recorded programs and gradients, each allocation of them refused in
# turn (of programs with very many, some thousands evenly picked), random programs and networks, operators whose schemas
# leave inputs open, and all rows with tensors and numbers that nothing gets through. Processes share each of them, four
# for a processor, since each waits much of its time for plans that the background makes.
set -e
processors=$(nproc)
shares=$((4 * processors))
random=$((20000 / shares))
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export WICK_HARD_SHARES=$shares WICK_HARD_PROGRAMS=1000 WICK_RANDOM_PROGRAMS=$random
# of what no schema types
export WICK_OPEN_CALLS=200
logs=$PWD/build/hard/logs
mkdir -p "$logs"
cd tests
for share in $(seq 0 $((shares - 1))); do echo "$share"; done | LOGS=$logs SHARES=$shares xargs -P "$processors" -n 1 sh -c '
  log=$LOGS/test_rows.$0
  WICK_ROW_PART=$(($0 + 1))/$SHARES WICK_ROW_EXPANSIONS=all ../build/hard/test_rows > "$log" 2>&1 || {
    echo "test_rows, share $0 of $SHARES, failed:"
    tail -n 50 "$log"
    exit 1
  }
  echo "test_rows, share $0 of $SHARES: passed"'
for share in $(seq 0 $((shares - 1))); do
  echo "test_hard_plans $share 100000"
  echo "test_hard_gradients $share 20"
  echo "test_hard $share 4000"
  echo "test_random_programs $share 0"
  echo "test_open_inputs $share 0"
  echo "test_random_networks $share 0"
done | LOGS=$logs xargs -P "$shares" -n 3 sh -c '
  log=$LOGS/$0.$1
  WICK_HARD_SHARE=$1 WICK_HARD_STEPS=$2 WICK_OPEN_SEED=$((1 + $1)) WICK_RANDOM_SEED=$((1 + $1 * WICK_RANDOM_PROGRAMS)) "../build/hard/$0" > "$log" 2>&1 || {
    echo "$0, share $1 of $WICK_HARD_SHARES, failed:"
    tail -n 50 "$log"
    exit 1
  }
  echo "$0, share $1 of $WICK_HARD_SHARES: passed"'
