#!/bin/sh
# Runs each fuzz target for FUZZ_SECONDS (60) from FUZZ_SEED (1), starting from the seeds, from what earlier runs found
# worth keeping, and from the inputs that once failed. What fails is left in build/fuzz/found. Targets may be named:
# sh scripts/fuzz.sh ir
set -e
dir=build/fuzz
seconds=${FUZZ_SECONDS:-60}
mkdir -p $dir/found
xargs $dir/fuzz_seeds $dir/seeds < $dir/seed_files
export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=0:allocator_may_return_null=1
for target in ${@:-source ir pickle bytecode pt2 state library}; do
  mkdir -p $dir/corpus/$target
  echo "== $target, $seconds s"
  length=4096
  [ "$target" = pt2 ] && length=24576 # as fuzz_seeds.c has it
  $dir/fuzz_$target -seed="${FUZZ_SEED:-1}" -max_total_time="$seconds" -max_len=$length -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
    -dict=$dir/seeds/words -artifact_prefix=$dir/found/$target- -print_final_stats=1 -verbosity=0 -close_fd_mask=1 \
    $dir/corpus/$target $dir/seeds/$target tests/fuzz/$target > $dir/$target.log 2>&1 ||
    (tail -60 $dir/$target.log; exit 1)
  grep -E "number_of_executed_units|new_units_added|peak_rss" $dir/$target.log
done
