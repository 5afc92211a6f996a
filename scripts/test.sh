#!/bin/sh
# Runs every test of the build given (release, asan, ...), or those that ctest's options name, and closes with one line `N passed, N failed`.
build=build/$1
shift
log=$build/test.log
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
ctest --test-dir "$build" --output-on-failure -j "$(nproc)" --timeout 900 "$@" > "$log" 2>&1
status=$?
grep -E "^\s*[0-9]+/[0-9]+ Test .*(Failed|Timeout|Exception|Not Run|SEGFAULT)" "$log"
if [ $status -ne 0 ]; then
  grep -vE "^\s*[0-9]+/[0-9]+ Test .*Passed|^\s*Start " "$log" | tail -n 200
fi
total=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\)/\2 \1/p; s/.*tests passed, \([0-9]*\) tests* failed out of \([0-9]*\)/\2 \1/p' "$log" | tail -n 1)
set -- $total
[ -n "$1" ] || { echo "no test ran"; exit 1; }
skipped=$(grep -c '\*\*\*Skipped' "$log")
echo "$(($1 - $2 - skipped)) passed, $2 failed, $skipped skipped"
exit $status
