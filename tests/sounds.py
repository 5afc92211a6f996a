"""WAV files of every form that wick reads without a library: the numbers that their formats define. What is damaged is a
result or an error. usage: sounds.py WICK
"""
import json, os, random, struct, subprocess, sys, tempfile

wick = os.path.abspath(sys.argv[1])
PCM, FLOATS, A_LAW, MU_LAW = 1, 3, 6, 7


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def wav(coding, channels, size, data, extensible=False, before=b"", data_size=None):
    head = struct.pack("<HHIIHH", 0xfffe if extensible else coding, channels, 8000, 8000 * channels * size,
                       channels * size, 8 * size)
    if extensible:
        head += struct.pack("<HHIH", 22, 8 * size, 0, coding) + bytes.fromhex("000000001000800000aa00389b71")
    samples = b"data" + struct.pack("<I", len(data) if data_size is None else data_size) + data
    body = b"WAVE" + chunk(b"fmt ", head) + before + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def read(data):
    with open("x.wav", "wb") as file:
        file.write(data)
    return subprocess.run([wick, "run", "same.py", "x.wav", "--json"], capture_output=True, text=True)


def numbers(data):
    done = read(data)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["result"]


def rows(samples, channels):
    return [samples[c::channels] for c in range(channels)]


def single(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def test_forms():
    draw = random.Random(1)
    for channels in (1, 2, 5):
        for frames in (0, 1, 7, 3000):
            count = channels * frames
            for extensible in (False, True):
                before = chunk(b"LIST", b"odd") if extensible else b""
                for size in (1, 2, 3, 4):
                    most = 1 << (8 * size - 1)
                    whole = [draw.choice((-most, most - 1, draw.randrange(-most, most))) for _ in range(count)]
                    data = b"".join((x + (128 if size == 1 else 0)).to_bytes(size, "little", signed=size > 1)
                                    for x in whole)
                    found = numbers(wav(PCM, channels, size, data, extensible, before))
                    wanted = rows([single(single(x) / most) for x in whole], channels)
                    assert all(abs(a - b) <= 1e-6 * abs(b) for x, y in zip(found, wanted) for a, b in zip(x, y))
                    assert [len(x) for x in found] == [frames] * channels
                for size, letter in ((4, "f"), (8, "d")):
                    floats = [draw.uniform(-1.5, 1.5) for _ in range(count)]
                    found = numbers(wav(FLOATS, channels, size, struct.pack("<%d%s" % (count, letter), *floats), extensible))
                    assert all(abs(a - b) <= 1e-6 * abs(b) for x, y in zip(found, rows(floats, channels))
                               for a, b in zip(x, y))


def test_logarithmic():
    """G.711: segments of 16 steps, each twice as wide as the one before; the first two of A-law are alike."""
    found = [round(x * 32768) for x in numbers(wav(MU_LAW, 1, 1, bytes(range(256))))[0]]
    assert (found[0xff], found[0x7f], found[0x80], found[0]) == (0, 0, 32124, -32124)
    for code in range(256):
        size, step = abs(found[code]), 8 << (~code >> 4 & 7)
        assert size + 132 == ((~code & 15) * 2 + 33) * step / 2, code
        assert found[code] == -found[code ^ 128]
    found = [round(x * 32768) for x in numbers(wav(A_LAW, 1, 1, bytes(range(256))))[0]]
    assert (found[0xd5], found[0xaa], found[0x2a]) == (8, 32256, -32256)
    for code in range(256):
        segment, step = (code ^ 0x55) >> 4 & 7, (code ^ 0x55) & 15
        size = 8 + 16 * step if segment == 0 else (264 + 16 * step) << (segment - 1)
        assert found[code] == (size if code & 128 else -size), code


def test_written():
    with open("tone.py", "w") as file:
        file.write("def forward(channels: int, n: int):\n    return torch.arange(channels * n).view(channels, n) / 1000.0\n")
    for channels, frames in ((1, 1), (2, 500), (64, 3)):
        done = subprocess.run([wick, "run", "tone.py", str(channels), str(frames), "--sample-rate", "22050", "-o", "x.wav"])
        assert done.returncode == 0
        with open("x.wav", "rb") as file:
            data = file.read()
        assert struct.unpack("<I", data[4:8])[0] == len(data) - 8 and struct.unpack("<I", data[24:28])[0] == 22050
        wanted = [[single(single(c * frames + i) / single(1000)) for i in range(frames)] for c in range(channels)]
        found = numbers(data)
        assert all(abs(a - b) <= 1e-7 * abs(b) for x, y in zip(found, wanted) for a, b in zip(x, y))


def test_sizes():
    data = struct.pack("<4h", 1, 2, 3, 4)
    assert len(numbers(wav(PCM, 1, 2, data, data_size=0xffffffff))[0]) == 4  # a stream's, whose size nobody knew
    for bad, said in ((wav(PCM, 1, 2, data, data_size=10), "cut short: 4 of 5 frames"),
                      (wav(PCM, 0, 2, data), "0 channels"), (wav(PCM, 65, 2, data), "65 channels"),
                      (wav(PCM, 1, 5, data), "a WAV of coding 1"), (wav(FLOATS, 1, 2, data), "a WAV of coding 3"),
                      (b"RIFF" + b"\0" * 4 + b"WAVEdata" + struct.pack("<I", 8) + data, "come before their format"),
                      (wav(PCM, 1, 2, b"")[:36], "without samples")):
        done = read(bad)
        assert done.returncode == 2 and said in done.stderr, (said, done.stderr)


def test_others():
    """Of another coding, and no WAV at all: libsndfile's, or an error that names it."""
    for data in (wav(0x11, 1, 1, bytes(64)), b"fLaC" + bytes(40), b"", b"RIFF"):
        done = read(data)
        assert done.returncode == 2 and done.stderr.startswith("wick: x.wav: "), done.stderr


def test_hostile():
    draw = random.Random(2)
    for _ in range(150):
        data = bytearray(wav(draw.choice((1, 3, 6, 7)), draw.randrange(4), draw.randrange(1, 9), bytes(60), draw.random() < .5))
        for _ in range(draw.randrange(4)):
            data[draw.randrange(60)] = draw.choice((0, 1, 127, 255, draw.randrange(256)))
        done = read(bytes(data[:draw.randrange(len(data))] if draw.random() < .2 else data))
        assert done.returncode in (0, 2), (done.returncode, done.stderr, bytes(data))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("same.py", "w") as file:
        file.write("def forward(x: Tensor):\n    return x\n")
    test_forms()
    test_logarithmic()
    test_written()
    test_sizes()
    test_others()
    test_hostile()
