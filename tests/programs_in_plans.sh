#!/bin/sh
# Every recorded program in plans that are there before its first call: what a pass makes of it has to take what the
# operators as written take. usage: programs_in_plans.sh WICK
wick=$1
cd "$(dirname "$0")" || exit 1
failed=0 apart=0
"$wick" --version > /dev/null || exit 1
for executor in specializing profiling; do
  for io in program/*.io.pt; do
    model=${io%.io.pt}.py
    [ -e "$model" ] || model=${io%.io.pt}.pt
    said=$(WICK_COMPILE=now WICK_EXECUTOR=$executor "$wick" check --scaled --repeat 3 "$model" "$io" 2>&1) && continue
    echo "$said" | grep -qE "this build has no cJSON" && continue
    # calls that change what the next one reads give something else with any executor: few programs do
    if ! WICK_EXECUTOR=simple "$wick" check --scaled --repeat 3 "$model" "$io" > /dev/null 2>&1; then
      apart=$((apart + 1))
      continue
    fi
    echo "$model, $executor: $said" | tail -n 5
    failed=1
  done
done
[ $apart -le 4 ] || { echo "$apart programs do not even repeat with the simple executor"; failed=1; }
exit $failed
