"""What becomes of numbers: a line for the terminal, a page with a plot, and what got slower since the last page."""
import json, math, os

LIMIT = 1.05  # a median that grew by more is named


def ratio(row, peer):
    """The peer's time over wick's, or None."""
    other = row["peers"].get(peer)
    return other["median"] / row["peers"]["wick"]["median"] if other else None


def peers_of(rows):
    names = []
    for row in rows:
        names += [peer for peer in row["peers"] if peer != "wick" and peer not in names]
    return names


def milliseconds(value):
    return "%.3g" % value if value < 100 else "%.0f" % value


def line(row):
    text = "%-22s %d threads  wick %8s ms" % (row["name"], row["threads"], milliseconds(row["peers"]["wick"]["median"]))
    for peer in peers_of([row]):
        text += "  %s %8s ms (%.2f)" % (peer, milliseconds(row["peers"][peer]["median"]), ratio(row, peer))
    return text


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def regressions(numbers, last_path):
    """Texts of what is slower than in the last numbers, if these are of the same machine."""
    if not os.path.exists(last_path):
        return []
    with open(last_path) as file:
        last = json.load(file)
    if last["machine"]["name"] != numbers["machine"]["name"]:
        return []
    before = {(row["name"], row["threads"]): row["peers"]["wick"]["median"] for row in last["rows"]}
    texts = []
    for row in numbers["rows"]:
        was, now = before.get((row["name"], row["threads"])), row["peers"]["wick"]["median"]
        if was and now > was * LIMIT:
            texts.append("%s, %d threads: %s ms, was %s ms"
                         % (row["name"], row["threads"], milliseconds(now), milliseconds(was)))
    return texts


def table(rows, peers):
    heads = ["workload", "threads", "wick ms", "p99 ms", "load + first ms", "peak MB"]
    for peer in peers:
        heads += ["%s ms" % peer, "ratio", "its load + first", "its peak MB"]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for row in rows:
        own = row["peers"]["wick"]
        cells = [row["name"], str(row["threads"]), milliseconds(own["median"]), milliseconds(own["p99"]),
                 milliseconds(own["first"]), "%.0f" % own["memory"]]
        for peer in peers:
            other = row["peers"].get(peer)
            cells += [milliseconds(other["median"]), "%.2f" % ratio(row, peer), milliseconds(other["first"]),
                      "%.0f" % other["memory"]] if other else ["", "", "", ""]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def means(rows, peers):
    lines = []
    for peer in peers:
        for count in sorted({row["threads"] for row in rows}):
            ratios = [ratio(row, peer) for row in rows if row["threads"] == count and ratio(row, peer)]
            if ratios:
                lines.append("- %s, %d threads: geometric mean %.2f, least %.2f, most %.2f, of %d workloads"
                             % (peer, count, geometric_mean(ratios), min(ratios), max(ratios), len(ratios)))
    return lines


def plot(rows, peers):
    """Bars of ratios on a logarithmic scale, both sides of 1, as SVG."""
    colors, bar, left, width = ["#3b6ea5", "#c8743a"], 9, 190, 620
    height = 40 + len(rows) * (bar * len(peers) + 7)
    span = max([abs(math.log2(ratio(row, p))) for row in rows for p in peers if ratio(row, p)] + [1])
    scale = (width - left) / 2 / span
    middle = left + (width - left) / 2
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="10">'
           % (width + 20, height), '<rect width="100%" height="100%" fill="white"/>']
    for i, peer in enumerate(peers):
        out.append('<rect x="%d" y="6" width="10" height="10" fill="%s"/><text x="%d" y="15">%s / wick</text>'
                   % (left + 160 * i, colors[i % 2], left + 14 + 160 * i, peer))
    for power in range(-int(span), int(span) + 1):
        x = middle + power * scale
        out.append('<line x1="%.1f" y1="24" x2="%.1f" y2="%d" stroke="%s"/><text x="%.1f" y="%d" text-anchor="middle">%g</text>'
                   % (x, x, height - 14, "#000" if power == 0 else "#ddd", x, height - 3, 2.0 ** power))
    y = 28
    for row in rows:
        out.append('<text x="%d" y="%d" text-anchor="end">%s, %d</text>'
                   % (left - 6, y + bar, row["name"], row["threads"]))
        for i, peer in enumerate(peers):
            value = ratio(row, peer)
            if value:
                length = math.log2(value) * scale
                out.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>'
                           % (min(middle, middle + length), y, max(abs(length), 0.5), bar - 1, colors[i % 2]))
            y += bar
        y += 7
    return "\n".join(out + ["</svg>"]) + "\n"


def write(numbers, folder):
    rows, machine, peers = numbers["rows"], numbers["machine"], peers_of(numbers["rows"])
    limits = ["- %(threads)d threads: %(gflops).0f GFLOP/s of float32 multiply-adds, %(gbytes).1f GB/s read from memory" % l
              for l in machine["limits"]]
    text = ["# Performance", "", "Written by `make bench`; the numbers are in `performance.json`. Times are medians of settled "
            "calls in milliseconds;", "a ratio is the peer's time over wick's: above 1 wick is faster. `load + first` is what "
            "a new process needs up to the", "first result, without its own start.", "",
            "Machine: %s. Its limits, as `bench/peak.c` finds them:" % machine["name"], "", *limits, "",
            *means(rows, peers), "", "![ratios by workload](performance.svg)", "", *table(rows, peers), ""]
    with open(os.path.join(folder, "performance.md"), "w") as file:
        file.write("\n".join(text))
    with open(os.path.join(folder, "performance.svg"), "w") as file:
        file.write(plot(rows, peers))
    with open(os.path.join(folder, "performance.json"), "w") as file:
        json.dump(numbers, file, indent=1)
        file.write("\n")
