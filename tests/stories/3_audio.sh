#!/bin/sh
# An audio engineer finds speech in a recording: by a driver with state and a threshold, piece by piece, and as raw
# samples from a pipe.
. "$(dirname "$0")/begin.sh"
cat > driver.py <<'PY'
def forward(wave: Tensor, threshold: float = 0.5) -> List[float]:
    vad.reset_states()
    seconds: List[float] = []
    for i in range(wave.size(1) // 512):
        if float(vad.forward(wave[:, i * 512:(i + 1) * 512], 16000)) > threshold:
            seconds.append(i * 512 / 16000)
    return [seconds[0], seconds[-1], float(len(seconds))]
PY
printf 'def raw(wave: Tensor):\n    return wave[0]\n' > raw.py
vad=$examples/speech/silero_vad.pt speech="audio($examples/speech/speech.wav, 16000)"
says 0 "[1.792, 8." wick run driver.py --use vad="$vad" "$speech" threshold=0.6
says 0 "[[0.99" wick run "$vad" "$speech" 16000 --chunk 512,pad
wick run "$vad" "$speech" 16000 --chunk 512,pad -o chances.npy
wick run raw.py "$speech" -o floats.npy
tail -c +129 floats.npy > floats.raw
says 0 "[[0.99" sh -c "wick run '$vad' - 16000 --chunk 512,pad < floats.raw"
wick run raw.py "audio($examples/speech/speech.wav, 8000)" -o half.wav --sample-rate 8000
says 0 "[1.79" wick run driver.py --use vad="$vad" "audio(half.wav, 16000)"
