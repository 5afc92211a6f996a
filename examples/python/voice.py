"""Finds speech in a recording, 512 samples at a time as they would come from a microphone.

    python3 voice.py MODEL.pt SPEECH.wav [THRESHOLD]

The model is like silero_vad.pt (github.com/snakers4/silero-vad): forward(samples (1, 512), rate) gives the chance
of speech and keeps its state from call to call; reset_states() forgets it. The recording has 16 bits, 16 kHz.
"""
import sys
import wave

import wick

RATE, CHUNK = 16000, 512
PATIENCE = 10  # so many chunks (0.3 s) of silence end a segment


def chunks(path):
    """Tensors of (1, 512) between -1 and 1, channels mixed; the last one is filled up with silence."""
    with wave.open(path) as file:
        if file.getsampwidth() != 2 or file.getframerate() != RATE:
            sys.exit(f"{path}: {8 * file.getsampwidth()} bits at {file.getframerate()} Hz; not 16 bits at {RATE} Hz")
        while data := file.readframes(CHUNK):
            samples = wick.frombuffer(bytearray(data), dtype=wick.int16).view(-1, file.getnchannels())
            samples = samples.float().mean(1).div(32768)
            yield wick.nn.functional.pad(samples, (0, CHUNK - len(samples))).unsqueeze(0)


def segments(model, path, threshold):
    """(begin, end) in seconds of each stretch of speech."""
    begin = end = None
    for index, samples in enumerate(chunks(path)):
        if model(samples, RATE).item() >= threshold:
            begin, end = (index if begin is None else begin), index + 1
        elif begin is not None and index - end >= PATIENCE:
            yield begin * CHUNK / RATE, end * CHUNK / RATE
            begin = None
    if begin is not None:
        yield begin * CHUNK / RATE, end * CHUNK / RATE


def main(*arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    model = wick.jit.load(arguments[0]).eval()
    if hasattr(model, "reset_states"):
        model.reset_states()
    threshold = float(arguments[2]) if len(arguments) == 3 else 0.5
    with wick.no_grad():
        for begin, end in segments(model, arguments[1], threshold):
            print(f"{begin:8.2f} s to {end:8.2f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
