# Draws images of 8 x 8 pixels, eight in a row, with what `reader` reads in them.
#
#     wick run examples/demo/digits.py --use reader=examples/digits/reader.pt examples/digits/digits.npy style=blocks


def gray(pixel: float, layer: str) -> str:
    return "\033[{};5;{}m".format(layer, 232 + int(pixel * 23))


# Two pixels, one above the other.
def cell(top: float, bottom: float, style: str) -> str:
    if style == "color":
        return gray(top, "38") + gray(bottom, "48") + "▀"
    if style == "blocks":
        if top > 0.4:
            return "█" if bottom > 0.4 else "▀"
        return "▄" if bottom > 0.4 else " "
    mean = (top + bottom) / 2
    return "#" if mean > 0.6 else "+" if mean > 0.35 else "." if mean > 0.12 else " "


def forward(images: Tensor, style: str = "blocks") -> str:
    answers = reader.forward(images).split("\n")
    lines: List[str] = []
    for first in range(0, images.size(0), 8):
        shown = range(first, min(first + 8, images.size(0)))
        for row in range(0, 8, 2):
            line = " "
            for i in shown:
                for column in range(8):
                    line += cell(float(images[i, 0, row, column]), float(images[i, 0, row + 1, column]), style)
                line += ("\033[0m" if style == "color" else "") + " "
            lines.append(line.rstrip())
        line = " "
        for i in shown:
            line += answers[i].split(": ")[1].split(",")[0].ljust(9)
        lines.append(line.rstrip())
        lines.append("")
    return "\n".join(lines)
