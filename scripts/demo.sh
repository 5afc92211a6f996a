#!/bin/sh
# Shows what wick does: reads bundled digits, hears where somebody speaks in a bundled recording, says what both take.
# In color on a terminal that has it; piped or without UTF-8 with plain characters.     WICK=build/release/wick
set -e
wick=${WICK:-build/release/wick}
reader=examples/digits/reader.pt vad=examples/speech/silero_vad.pt speech=examples/speech/speech.wav
case ${LC_ALL:-${LC_CTYPE:-$LANG}} in *UTF-8* | *utf8*) style=blocks ;; *) style=ascii ;; esac
[ "$style" = blocks ] && [ -t 1 ] && [ -z "$NO_COLOR" ] && [ "${TERM:-dumb}" != dumb ] && style=color

echo "16 handwritten digits, and what $reader reads in them:"
echo
"$wick" run examples/demo/digits.py --use reader=$reader examples/digits/digits.npy style="\"$style\""
echo "10 seconds of hum, beeps, noise and two sentences, and what is speech by"
echo "$vad:"
echo
"$wick" run examples/demo/speech.py --use vad=$vad "audio($speech, 16000)" style="\"$style\"" 
echo

# The last two columns were measured once, one after the other on the same machine; the first one is measured now.
"$wick" bench $vad "randn(1,512)" 16000 --calls 200 --warmup 100 --threads 1 > build/demo.bench
figure() { awk -v name="$1" 'index($0, name) == 1 { sub(name, ""); print $1 }' build/demo.bench; }
row() { printf ' %-31s%13s%16s%16s\n' "$@"; }
echo "What a piece of 32 ms takes, on one thread:"
echo
row "" "wick here" "wick, recorded" "PyTorch 1.13"
row "until the program is loaded, ms" "$(figure load)" 5.7 830
row "first call, ms" "$(figure "first call")" 7.8 57
row "a call then, ms" "$(figure median)" 0.056 0.142
row "memory, MB" "$(figure "peak memory")" 13.2 252
row "library on disk, MB" "$(du -k "$wick" | awk '{ printf "%.1f", $1 / 1024 }')" 4.5 196
echo
echo "Next:"
echo "  $wick info $reader"
echo "  $wick bench $reader examples/digits/digits.npy"
echo "  $wick dump tests/program/chain.py --pass all --diff"
