# Says where somebody speaks in a recording of 16,000 samples a second: on a time line of 70 columns, then in seconds.
#
#     wick run examples/demo/speech.py --use vad=examples/speech/silero_vad.pt "audio(speech.wav, 16000)"


# Begin and end in pieces of 512 samples. As short as 4 it is no speech, as short as 8 no silence.
def stretches(chances: List[float]) -> List[Tuple[int, int]]:
    found: List[Tuple[int, int]] = []
    begin, end = -1, -1
    for i in range(len(chances) + 1):
        speaks = i < len(chances) and chances[i] >= 0.5
        if speaks:
            begin, end = i if begin < 0 else begin, i + 1
        elif begin >= 0 and (i - end >= 8 or i == len(chances)):
            if end - begin > 4:
                found.append((begin, end))
            begin = -1
    return found


def seconds(pieces: int) -> str:
    tenths = int(pieces * 0.32 + 0.5)
    return "{}.{}".format(tenths // 10, tenths % 10)


def loudness(wave: Tensor, columns: int, style: str) -> str:
    steps = [" ", ".", ":", "-", "=", "+", "*", "#", "#"]
    if style != "ascii":
        steps = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    peaks = wave[0, :wave.size(1) // columns * columns].view(columns, -1).abs().amax(1)
    line = ""
    for peak in peaks / peaks.max():
        line += steps[int(8 * float(peak) + 0.5)]
    return line


def forward(wave: Tensor, style: str = "blocks", columns: int = 70) -> str:
    vad.reset_states()
    pieces = wave.size(1) // 512
    chances: List[float] = []
    for i in range(pieces):
        chances.append(float(vad.forward(wave[:, i * 512:(i + 1) * 512], 16000)))
    marks = ""
    found = stretches(chances)
    for column in range(columns):
        at = (column + 0.5) * wave.size(1) / columns / 512
        inside = False
        for begin, end in found:
            inside = inside or begin <= at and at < end
        marks += ("=" if style == "ascii" else "━") if inside else " "
    if style == "color":
        marks = "\033[32m" + marks + "\033[0m"
    axis = ""
    for second in range(int(wave.size(1) / 16000) + 1):
        axis = axis.ljust(int(second * 16000 * columns / wave.size(1))) + str(second)
    lines = [" " + loudness(wave, columns, style), " " + marks, " " + axis + " s", ""]
    for begin, end in found:
        lines.append(" somebody speaks from {} to {} s".format(seconds(begin), seconds(end)))
    return "\n".join(lines)
