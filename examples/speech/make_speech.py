#!/usr/bin/python3
"""Makes speech.wav, two sentences with other sounds around them: make_speech.py OUT.wav    (needs espeak-ng)

What is where is fixed here, so that SOURCE.txt and tests/demo.sh can say it: a hum, a sentence, three beeps, a
sentence, and noise as of steam. 16 bits, 16,000 samples a second, one channel.
"""
import array
import math
import random
import subprocess
import sys
import wave

RATE = 16000
random.seed(1)


def silence(seconds):
    return [random.gauss(0, 20) for _ in range(int(seconds * RATE))]


def tone(hertz, seconds, peak=5000):
    n = int(seconds * RATE)
    return [peak * min(1, i / 400, (n - i) / 400) * math.sin(2 * math.pi * hertz * i / RATE) for i in range(n)]


def noise(seconds, peak=3000):
    n = int(seconds * RATE)
    return [random.gauss(0, peak / 3) * math.sin(math.pi * i / n) for i in range(n)]


def sentence(text):
    """The mean of the samples around each one of 16 kHz: espeak-ng's have 22,050 a second."""
    path = "/tmp/sentence.wav"
    subprocess.run(["espeak-ng", "-v", "en-gb", "-s", "150", "-w", path, text], check=True)
    with wave.open(path) as file:
        rate, samples = file.getframerate(), array.array("h", file.readframes(file.getnframes()))
    out = []
    for i in range(int((len(samples) - 1) * RATE / rate)):
        at, part = divmod(i * rate / RATE, 1)
        out.append(samples[int(at)] * (1 - part) + samples[int(at) + 1] * part)
    return [0.5 * x for x in out]


parts = [
    ("silence", silence(0.4)), ("hum", tone(110, 0.8)), ("silence", silence(0.5)),
    ("speech", sentence("Can a program of ten lines hear that somebody speaks?")), ("silence", silence(0.7)),
    ("beeps", (tone(880, 0.12) + silence(0.08)) * 3), ("silence", silence(0.5)),
    ("speech", sentence("It can.")), ("silence", silence(0.5)),
    ("noise", noise(0.9)), ("silence", silence(0.3)),
]
samples = []
for what, part in parts:
    if what != "silence":
        print(f"{what:8} {len(samples) / RATE:5.2f} to {(len(samples) + len(part)) / RATE:5.2f} s")
    samples += part
with wave.open(sys.argv[1], "wb") as file:
    file.setparams((1, 2, RATE, 0, "NONE", ""))
    file.writeframes(array.array("h", [max(-32767, min(32767, round(x))) for x in samples]).tobytes())
