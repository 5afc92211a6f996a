#!/bin/sh
# Every recorded program in plans that are there before its first call: what a pass makes of it has to take what the
# operators as written take. usage: programs_in_plans.sh WICK
wick=$1
cd "$(dirname "$0")" || exit 1
failed=0
for executor in specializing profiling; do
  for io in program/*.io.pt; do
    model=${io%.io.pt}.py
    [ -e "$model" ] || model=${io%.io.pt}.pt
    said=$(WICK_COMPILE=now WICK_EXECUTOR=$executor "$wick" check --scaled --repeat 3 "$model" "$io" 2>&1) && continue
    echo "$said" | grep -qE "this build has no (LAPACK|FFTW|cJSON)" && continue
    # calls that change what the next one reads give something else with any executor
    WICK_EXECUTOR=simple "$wick" check --scaled --repeat 3 "$model" "$io" > /dev/null 2>&1 || continue
    echo "$model, $executor: $said" | tail -n 5
    failed=1
  done
done
exit $failed
