"""Pictures for notebooks: graphs as boxes in layers with lines between them, compiled modules as trees that unfold.

Text and SVG alone: nothing is loaded from anywhere.
"""
from html import escape

_MOST_NODES = 300
_ROW, _HEIGHT, _GAP, _LETTER = 46, 24, 14, 6.6
_STYLE = ("<style>.wick-graph{font:11px monospace} .wick-graph rect{fill:#eef3fb;stroke:#7a93bd} "
          ".wick-graph .end{fill:#f6f1e4;stroke:#b9a15e} .wick-graph path{fill:none;stroke:#888}</style>")


def graph(shown):
    """A graph as a picture; one that is too large as text."""
    nodes = [node for node in shown.nodes() if node.kind() != "prim::Constant"]
    if len(nodes) > _MOST_NODES:
        return "<pre>%s</pre>" % escape(str(shown))
    boxes, places = _boxes(shown, nodes)
    rows = _rows(boxes)
    width = _place(rows)
    return _svg(boxes, places, width, len(rows))


class _Box:
    def __init__(self, text, title, is_end, inputs):
        self.text, self.title, self.is_end, self.inputs = text, title, is_end, inputs
        self.row = self.x = 0
        self.width = max(40, len(text) * _LETTER + 16)


def _boxes(shown, nodes):
    """A box for each node and each end, and which box gives which value."""
    boxes, giver = [], {}
    for value in shown.inputs():
        giver[value] = len(boxes)
        boxes.append(_Box("%%%s" % value.debugName(), "%s" % value.type().str(), True, []))
    for node in nodes:
        inputs = sorted({giver[value] for value in _taken(node) if value in giver})
        for value in node.outputs():
            giver[value] = len(boxes)
        boxes.append(_Box(node.kind().replace("aten::", ""), repr(node).strip(), False, inputs))
    for value in shown.outputs():
        boxes.append(_Box("return", "%s" % value.type().str(), True, [giver[value]] if value in giver else []))
    return boxes, giver


def _taken(node):
    """What it and its nested nodes take."""
    yield from node.inputs()
    for block in node.blocks():
        for inner in block.nodes():
            yield from _taken(inner)
        yield from block.outputs()


def _rows(boxes):
    """Every box below all that it takes something from; within a row in the order of where that is."""
    for box in boxes:
        box.row = 1 + max((boxes[i].row for i in box.inputs), default=-1)
    rows = [[] for _ in range(1 + max((box.row for box in boxes), default=0))]
    for box in boxes:
        rows[box.row].append(box)
    for row in rows:
        for i, box in enumerate(row):
            box.x = i
        row.sort(key=lambda box: sum(boxes[i].x for i in box.inputs) / len(box.inputs) if box.inputs else box.x)
        for i, box in enumerate(row):
            box.x = i
    return rows


def _place(rows):
    widths = [sum(box.width + _GAP for box in row) for row in rows]
    whole = max(widths, default=0) + _GAP
    for row, width in zip(rows, widths):
        at = (whole - width) / 2 + _GAP / 2
        for box in row:
            box.x = at
            at += box.width + _GAP
    return whole


def _svg(boxes, places, width, rows):
    parts = ["<svg class='wick-graph' xmlns='http://www.w3.org/2000/svg' width='%d' height='%d'>"
             % (width, rows * _ROW), _STYLE]
    for box in boxes:
        for i in box.inputs:
            above = boxes[i]
            x, y = above.x + above.width / 2, above.row * _ROW + _HEIGHT + 4
            to_x, to_y = box.x + box.width / 2, box.row * _ROW + 4
            parts.append("<path d='M%.0f %.0f C%.0f %.0f %.0f %.0f %.0f %.0f'/>"
                         % (x, y, x, y + 16, to_x, to_y - 16, to_x, to_y))
    for box in boxes:
        parts.append("<g><title>%s</title><rect x='%.0f' y='%d' width='%.0f' height='%d' rx='4'%s/>"
                     "<text x='%.0f' y='%d' text-anchor='middle'>%s</text></g>"
                     % (escape(box.title), box.x, box.row * _ROW + 4, box.width, _HEIGHT,
                        " class='end'" if box.is_end else "", box.x + box.width / 2, box.row * _ROW + 20,
                        escape(box.text)))
    return "".join(parts) + "</svg>"


def module(shown):
    """A compiled module: its submodules as a tree, with parameters, and the graph of its forward."""
    made = _tree("", shown)
    if "forward" in shown._script_handle.names():
        made += "<details><summary>graph</summary>%s</details>" % graph(shown.inlined_graph)
    return "<div style='font:12px monospace'>%s</div>" % made


def _tree(name, shown):
    kind = escape(getattr(shown, "original_name", type(shown).__name__))
    title = "%s: %s" % (escape(name), kind) if name else kind
    lines = ["<div>%s: Tensor%s</div>" % (escape(key), list(value.shape))
             for key, value in list(shown.named_parameters(recurse=False)) + list(shown.named_buffers(recurse=False))]
    lines += [_tree(key, child) for key, child in shown.named_children()]
    return "<details%s><summary>%s</summary><div style='margin-left:1.5em'>%s</div></details>" % (
        "" if name else " open", title, "".join(lines))
