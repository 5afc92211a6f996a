"""Pictures come in with the numbers that are in the file: PNG of every form that the format has, with and without chunks
that say something of gamma, which torchvision, Pillow and OpenCV leave alone, too; of 16 bits the upper 8.

usage: pictures.py WICK
"""
import base64, json, os, random, struct, subprocess, sys, tempfile, zlib

wick = os.path.abspath(sys.argv[1])
GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
FORMS = ([(GRAY, bits) for bits in (1, 2, 4, 8, 16)] + [(PALETTE, bits) for bits in (1, 2, 4, 8)] +
         [(color, bits) for color in (RGB, GRAY_ALPHA, RGBA) for bits in (8, 16)])
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]  # x, y, dx, dy
CMYK_JPEG = """
/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwACAQEBAQECAQEBAgICAgIEAwICAgIFBAQDBAYFBgYGBQYGBgcJCAYHCQcGBggLCAkKCgoKCgYICwwLCg
wJCgoK/8AAFAgACAAIBEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIBAwMCBAMFBQQEAAABfQEC
AwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dX
Z3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA4E
QwBNAFkASwAAPwD2yvbK9sr2yv/Z
"""


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


COLOR_CHUNKS = [
    [],
    [chunk(b"gAMA", struct.pack(">I", 100000))],
    [chunk(b"gAMA", struct.pack(">I", 50000))],
    [chunk(b"sRGB", b"\0")],
    [chunk(b"gAMA", struct.pack(">I", 45455)),
     chunk(b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000))],
]


def lines(pixels, bits):
    out = b""
    for row in pixels:
        numbers = [number for pixel in row for number in pixel]
        text = "".join(format(number, f"0{bits}b") for number in numbers)
        text += "0" * (-len(text) % 8)
        out += b"\0" + bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))
    return out


def png(pixels, color, bits, interlaced=False, before=b"", after=b""):
    """A file of pixels[y][x][channel]; `before` and `after` are chunks around the palette's place."""
    height, width = len(pixels), len(pixels[0])
    parts = [pixels]
    if interlaced:
        parts = [[row[x::dx] for row in pixels[y::dy]] for x, y, dx, dy in PASSES]
        parts = [part for part in parts if part and part[0]]
    data = zlib.compress(b"".join(lines(part, bits) for part in parts))
    head = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + before + after + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def read(data, name="x.png"):
    with open(name, "wb") as file:
        file.write(data)
    return subprocess.run([wick, "run", "same.py", name, "--json"], capture_output=True, text=True)


def expected(pixels, color, bits, palette):
    if color == PALETTE:
        shown = [[palette[pixel[0]] for pixel in row] for row in pixels]
    elif bits == 16:
        shown = [[[number >> 8 for number in pixel] for pixel in row] for row in pixels]
    else:
        shown = [[[number * 255 // ((1 << bits) - 1) for number in pixel] for pixel in row] for row in pixels]
    channels = 3 if color in (RGB, RGBA, PALETTE) else 1
    return [[[pixel[c] for pixel in row] for row in shown] for c in range(channels)]


def check(color, bits, interlaced, color_chunks, transparent, number):
    draw = random.Random(number)
    most = (1 << bits) - 1
    palette = [[draw.randrange(256) for _ in range(3)] for _ in range(min(most + 1, draw.choice((2, 5, 200))))]
    if color == PALETTE:
        most = len(palette) - 1
    width, height = draw.randint(1, 19), draw.randint(1, 13)
    pixels = [[[draw.choice((0, most, draw.randint(0, most))) for _ in range(CHANNELS[color])] for _ in range(width)]
              for _ in range(height)]
    after = chunk(b"PLTE", bytes(sum(palette, []))) if color == PALETTE else b""
    if transparent:
        clear = (bytes(draw.randrange(256) for _ in palette) if color == PALETTE else
                 struct.pack(f">{CHANNELS[color]}H", *pixels[0][0]))
        after += chunk(b"tRNS", clear)
    done = read(png(pixels, color, bits, interlaced, b"".join(color_chunks), after))
    what = f"color {color}, {bits} bits, interlaced {interlaced}, transparent {transparent}, chunks {color_chunks}"
    assert done.returncode == 0, (what, done.stderr)
    assert json.loads(done.stdout)["result"] == expected(pixels, color, bits, palette), what


def test_forms():
    number = 0
    for color, bits in FORMS:
        for interlaced in (False, True):
            for transparent in (False, True):
                if transparent and color in (GRAY_ALPHA, RGBA):
                    continue
                check(color, bits, interlaced, COLOR_CHUNKS[number % len(COLOR_CHUNKS)], transparent, number)
                number += 1


def test_gamma():
    """What Pillow 9.4, OpenCV 4.6 and torchvision 0.14 give of these, of 16 bits OpenCV."""
    row = [[[10, 100, 200], [0, 128, 255]]]
    for chunks in COLOR_CHUNKS:
        done = read(png(row, RGB, 8, before=b"".join(chunks)))
        assert json.loads(done.stdout)["result"] == [[[10, 0]], [[100, 128]], [[200, 255]]], (chunks, done.stdout)
        done = read(png([[[n] for n in (0, 256, 32767, 32768, 65535)]], GRAY, 16, before=b"".join(chunks)))
        assert json.loads(done.stdout)["result"] == [[[0, 1, 127, 128, 255]]], (chunks, done.stdout)
        with open("y.png", "wb") as file:
            file.write(png(row, RGB, 8, before=b"".join(chunks)))
        done = subprocess.run([wick, "run", "same.py", "image(y.png)", "--json"], capture_output=True, text=True)
        numbers = json.loads(done.stdout)["result"][0]
        assert all(abs(numbers[c][0][x] * 255 - row[0][x][c]) < 1e-3 for c in range(3) for x in range(2)), done.stdout


def test_damaged():
    whole = png([[[i, i, 255 - i] for i in range(200)] for _ in range(20)], RGB, 8)
    for length in (9, 20, 33, 60, len(whole) // 2):
        done = read(whole[:length], "short.png")
        assert done.returncode == 2 and done.stderr.startswith("wick: short.png: "), (length, done.stderr)
    for at in (18, 30, 45):  # in a size, in a checksum, in the data
        done = read(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1:], "bad.png")
        assert done.returncode == 2 and done.stderr.startswith("wick: bad.png: "), (at, done.stderr)


def unfiltered(data, bytes_a_line, step):
    """The lines of inflated data, by the format's own definition of its filters."""
    out, above = [], bytes(bytes_a_line)
    for begin in range(0, len(data), bytes_a_line + 1):
        kind, line = data[begin], bytearray(data[begin + 1:begin + 1 + bytes_a_line])
        for i in range(bytes_a_line):
            a, b, c = (line[i - step] if i >= step else 0), above[i], (above[i - step] if i >= step else 0)
            nearest = min((a, b, c), key=lambda x: abs(a + b - c - x))  # the first of equals
            line[i] = (line[i] + (0, a, b, (a + b) // 2, nearest)[kind]) % 256
        out.append(bytes(line))
        above = line
    return out


def test_written():
    """What is written is read by zlib and the format's definition, whatever repeats in it, and comes in again as it was."""
    draw = random.Random(5)
    with open("picture.py", "w") as file:
        file.write("def forward(kind: int, channels: int, height: int, width: int):\n"
                   "    n = channels * height * width\n"
                   "    x = torch.arange(n).view(channels, height, width)\n"
                   "    if kind == 0:\n        return torch.zeros([channels, height, width], dtype=torch.uint8)\n"
                   "    if kind == 1:\n        return (x * 7919 % 65521 % 251).to(torch.uint8)\n"
                   "    if kind == 2:\n        return (x // 3 % 256).to(torch.uint8)\n"
                   "    return torch.randint(0, 256, [channels, height, width]).to(torch.uint8)\n")
    for channels, height, width in [(1, 1, 1), (3, 1, 1), (1, 5, 7), (3, 40, 33), (1, 300, 200), (3, 257, 300)]:
        for kind in range(4):
            call = [wick, "run", "picture.py", str(kind), str(channels), str(height), str(width), "--seed", "1"]
            assert subprocess.run(call + ["-o", "written.png"]).returncode == 0
            wanted = json.loads(subprocess.run(call + ["--json"], capture_output=True).stdout)["result"]
            with open("written.png", "rb") as file:
                data = file.read()
            packed, at = b"", 8
            while at < len(data):
                length, name = struct.unpack(">I4s", data[at:at + 8])
                body = data[at + 8:at + 8 + length]
                assert data[at + 8 + length:at + 12 + length] == struct.pack(">I", zlib.crc32(name + body))
                packed += body if name == b"IDAT" else b""
                at += 12 + length
            found = unfiltered(zlib.decompress(packed), width * channels, channels)
            assert found == [bytes(wanted[c][y][x] for x in range(width) for c in range(channels))
                             for y in range(height)], (channels, height, width, kind)
            if kind in (0, 2):
                assert len(packed) < max(400, height * width * channels // 20), (kind, len(packed))
            again = read(data)
            assert json.loads(again.stdout)["result"] == wanted
            for _ in range(3):  # a changed byte is seen, whatever it is
                at = draw.randrange(8, len(data))
                done = read(data[:at] + bytes([data[at] ^ draw.randrange(1, 256)]) + data[at + 1:])
                assert done.returncode == 2, (at, done.stderr)


def test_hostile():
    """Chunks with the right checksums that hold anything: a picture or an error."""
    draw = random.Random(7)
    for number in range(150):
        color, bits = FORMS[number % len(FORMS)]
        head = bytearray(struct.pack(">IIBBBBB", 13, 9, bits, color, 0, 0, number % 2))
        body = bytearray(zlib.compress(bytes(draw.randrange(6) for _ in range(draw.randrange(4000)))))
        target = draw.choice((head, body))
        for _ in range(draw.randrange(3)):
            target[draw.randrange(len(target))] = draw.randrange(256)
        done = read(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"PLTE", bytes(3 * draw.randrange(300))) +
                    chunk(b"IDAT", body[:9]) + chunk(b"teXt", b"x") + chunk(b"IDAT", body[9:]) + chunk(b"IEND", b""))
        assert done.returncode in (0, 2), (number, done.returncode, done.stderr)


def test_inks():
    done = read(base64.b64decode(CMYK_JPEG), "inks.jpg")
    assert done.returncode == 2 and ("CMYK" in done.stderr or "built without" in done.stderr or
                                     "not installed" in done.stderr), done.stderr


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("same.py", "w") as file:
        file.write("def forward(x: Tensor):\n    return x\n")
    test_inks()
    test_gamma()
    test_forms()
    test_damaged()
    test_written()
    test_hostile()
