"""The page of `wick view` in Chromium: stages changed and compared, nodes found, modules opened and closed, by mouse and
by keys; what a program may have in its texts; the live page; a graph of 10,000 nodes.

usage: view_browser.py WICK SOURCE [--images FOLDER --models FOLDER]
With the options it also makes the pictures of docs/view.md, of resnet18.pt, gpt_tiny.pt and silero_vad.pt from the folder.
"""
import argparse, os, subprocess, sys, tempfile

import browser
from view_page import HOSTILE, Server, hostile_archive

arguments = argparse.ArgumentParser()
arguments.add_argument("wick")
arguments.add_argument("source")
arguments.add_argument("--images")
arguments.add_argument("--models")
a = arguments.parse_args()
wick, source = os.path.abspath(a.wick), os.path.abspath(a.source)
reader, digits = source + "/examples/digits/reader.pt", source + "/examples/digits/digits.npy"
if not browser.find():
    print("skipped: chromium and its driver are not installed (Debian: chromium chromium-driver)")
    sys.exit(77)


def make(name, *words):
    subprocess.run([wick, "view", *words, "-o", name], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return "file://" + os.path.abspath(name)


def kinds(b):
    return b.run("return page.panes[1].graph.items.map((item) => item.node.kind)")


def boxes(b):
    return b.run("return page.panes[1].at.size")


def drawn(b):
    """How many colors the canvas shows; the drawing comes with the next frame."""
    return b.wait("""const pane = page.panes[1]; if (pane.pending || !pane.canvas.width) return 0;
        const {data} = pane.context.getImageData(0, 0, pane.canvas.width, pane.canvas.height), colors = new Set();
        for (let i = 0; i < data.length; i += 4) colors.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
        return colors.size > 3 && colors.size""")


def stage(b, name):
    number = b.run("return page.stages.findLastIndex((s) => s.step === arguments[0] && !s.same)", name)
    assert number >= 0, name
    b.wait("return page.counted === page.stages")  # the buttons grow no more
    b.run("page.stages[arguments[0]].button.scrollIntoView({inline: 'center'}); page.stages[arguments[0]].button.id = 'wanted'", number)
    b.click("#wanted")
    b.run("document.getElementById('wanted').id = ''")
    assert b.run("return page.stage.index") == number


def center(b, test):
    """Where in the canvas the item lies of which the test is true."""
    return b.run(f"""const pane = page.panes[1];
        for (const [item, box] of pane.at) if ({test}) return [(box.left + Math.min(box.width / 2, 40)) * pane.scale + pane.x, (box.top + 10) * pane.scale + pane.y];
        return null""")


def test_what_is_returned(b):
    """Arrows out of a group are those of what it gives back, though blocks inside hand outer values on."""
    with open("returns.py", "w") as file:
        file.write("def grow(x: Tensor, n: int) -> Tensor:\n    y = x + 1\n    if n > 2:\n        z = y * 2\n    else:\n"
                   "        z = y\n    return z.exp()\ndef forward(x: Tensor, n: int) -> Tensor:\n    return grow(x, n).sum()\n")
    b.open(make("returns.html", "returns.py", "ones(2)", "3"))
    assert b.run("""let found = null;
        const walk = (item) => { if (item.label === "grow") found = item; else if (item.children) item.children.forEach(walk); };
        walk(page.panes[1].graph.root);
        return [...found.outgoing.keys()].map((item) => item.label)""") == ["exp"]


def test_time_by(b):
    """Times summed by operator, module and line; the scale of time as color."""
    b.open(make("times.html", reader, digits))
    b.click("#tab-time")
    for by, text in (("operator", "wick::"), ("module", "classifier"), ("source", ".py:")):
        b.run("const s = document.querySelector('#view-time select'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", by)
        rows = b.run("return [...document.querySelectorAll('#view-time tbody tr')].map((row) => row.innerText)")
        assert rows and (by == "operator" or any(text in row for row in rows)), (by, rows)
        assert len(set(row.split("\t")[0] for row in rows)) == len(rows), rows
    b.click("#tab-graph")
    assert "a call" not in b.run("return document.getElementById('legend').innerText")
    b.click("#heat")
    assert "a call" in b.run("return document.getElementById('legend').innerText")


def test_narrow(b):
    """On a phone: one column, nothing beside the screen, the graph to be read."""
    b.call("/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride",
                                 "params": {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}})
    b.open(make("narrow.html", reader, digits))
    assert b.run("return document.documentElement.scrollWidth") <= 400
    assert b.run("return document.getElementById('panes').clientWidth") > 380
    b.call("/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})


def test_walk(b):
    b.open(make("reader.html", reader, digits))
    assert drawn(b) > 8
    assert b.run("return page.panes[1].scale >= READABLE && READABLE * 11.5 >= 11")  # to be read at once
    # a node found by name, from the keyboard
    b.press("/")
    b.press(*"aten::conv2d")
    assert b.run("return document.getElementById('found').children.length") == 2
    b.press("ArrowDown", "Enter")
    assert b.run("return page.panes[1].selected.node.kind") == "aten::conv2d"
    assert b.run("return document.querySelector('#details h2').textContent") == "aten::conv2d"
    details = b.run("return document.getElementById('details').innerText")
    for text in ("Tensor weight", "classifier.conv2", "float32", "conv.py"):
        assert text in details, (text, details)
    assert b.run("return document.activeElement === page.panes[1].canvas")
    # from node to node, and out
    selected = "return page.panes[1].selected && page.panes[1].selected.number"
    first = b.run(selected)
    b.press("Escape")
    outer = b.run(selected)
    assert outer and outer != first and b.run("return page.panes[1].selected.isGroup")
    b.press("ArrowDown")
    assert b.run("return page.panes[1].selected.parent.number") == outer
    b.press("ArrowDown")
    assert b.run("return page.panes[1].selected.parent.number") == outer
    # a module closed and opened: by Enter, by a double click
    b.press("Escape")
    open_boxes = boxes(b)
    b.press("Enter")
    assert boxes(b) < open_boxes
    b.press("Enter")
    assert boxes(b) == open_boxes
    b.click("#fit")
    place = center(b, "item.isGroup && pane.isOpen(item) && item.type !== 'node'")
    b.mouse("#panes canvas", *place, clicks=2)
    assert boxes(b) < open_boxes
    b.click("#collapse-all")
    closed = boxes(b)
    b.click("#expand-all")
    assert boxes(b) > closed
    # what the status tells those who do not see
    assert b.run("return document.getElementById('status').textContent")


def test_stages(b):
    written = kinds(b)
    assert "prim::BailOut" not in written and written.count("aten::batch_norm") == 2
    stage(b, "emit")
    assert "prim::CallMethod" in kinds(b)
    stage(b, "insert_guards")
    assert "prim::BailOut" in kinds(b) or "prim::Guard" in kinds(b)
    stage(b, "fuse_regions")
    assert "aten::conv2d" not in b.run("return [...page.panes[1].at.keys()].filter((item) => item.node).map((item) => item.node.kind)"), kinds(b)
    # beside the stage before, with what changed
    b.click("#compare")
    assert b.run("return document.querySelectorAll('#panes canvas').length") == 2
    changes = b.run("const d = page.difference; return [d.added, d.removed, d.changed].map((list) => list.length)")
    assert changes[0] and changes[1], changes
    assert b.run("return page.difference.removed.some((item) => item.node.kind === 'aten::batch_norm')")
    assert b.run("return [...page.panes[0].states.values()].includes('removed') && [...page.panes[1].states.values()].includes('added')")
    listed = b.run("return document.getElementById('details').innerText")
    assert "aten::batch_norm" in listed and "removed" in listed, listed
    # a changed node is selected in both
    b.run("document.querySelector('#details .values button').id = 'change'")
    b.click("#change")
    assert b.run("return page.panes.some((pane) => pane.selected && pane.states.get(pane.selected))")
    # another stage by key: what is compared follows
    b.press("[")
    assert b.run("return page.stage.step") != "fuse_regions"
    b.press("c")
    assert b.run("return document.querySelectorAll('#panes canvas').length") == 1
    # constants and guards on request
    few = boxes(b)
    b.click("#show-constants")
    assert boxes(b) > few and b.run("return [...page.panes[1].at.keys()].some((item) => item.isConstant)")
    b.click("#show-constants")
    b.click("#heat")
    assert b.run("return page.panes[1].graph.items.some((item) => page.heatOf(item, page.panes[1]) > 0.5)")
    b.click("#heat")
    # the last stage is what ran: every operator's time is some node's
    b.run("page.chooseStage(page.stages[page.stages.length - 1])")
    total = b.run("const t = page.timesNow; return [page.panes[1].graph.root.ms, t.total / t.calls]")
    assert abs(total[0] - total[1]) < 1e-6 * total[1] and total[1] > 0, total


def test_tabs(b):
    b.run("page.tree.choose(page.tree.root, true)")
    b.click("#tab-weights")
    assert b.run("return document.querySelectorAll('#view-weights tbody tr').length") == b.run("return page.tree.tensors().length") > 10
    assert b.run("return document.querySelectorAll('#view-weights svg.spread rect').length") > 50
    b.run("document.querySelector('#view-weights tbody tr').id = 'row'")
    b.click("#row")
    assert "deviation" in b.run("return document.getElementById('details').innerText")
    b.click("#tab-time")
    assert "aten::linear" in b.run("return document.getElementById('view-time').innerText")
    b.run("document.querySelector('#view-time tbody tr').id = 'row'")
    b.click("#row")
    assert b.run("return page.tab") == "graph" and "time a call" in b.run("return document.getElementById('details').innerText")
    b.click("#tab-reasons")
    assert "calls that came to an executor" in b.run("return document.getElementById('view-reasons').innerText")
    b.click("#tab-source")
    assert "def forward" in b.run("return document.querySelector('#view-source pre').textContent")
    # the tree of modules, by keys
    b.run("document.getElementById('tree').focus()")
    b.press("Home", "ArrowDown", "ArrowRight", "ArrowDown")
    assert b.run("return page.tree.chosen.path").startswith("classifier.")
    b.click("#tab-graph")


def test_looks(b):
    unnamed = b.run("""return [...document.querySelectorAll("button, select, input, canvas, [role]")].filter((e) => !(e.getAttribute("aria-label") ||
        e.getAttribute("aria-labelledby") || e.textContent.trim() || e.title || (e.labels && e.labels.length) || e.closest("ul"))).map((e) => e.outerHTML.slice(0, 99))""")
    assert not unnamed, unnamed
    corner = "const p = page.panes[1]; p.paint(); return [...p.context.getImageData(2, 2, 1, 1).data].slice(0, 3)"
    seen = []
    for _ in range(2):
        seen.append(b.run(corner))
        low = b.run("""const probe = document.createElement("span"), style = getComputedStyle(document.documentElement); document.body.append(probe);
            const light = (name) => { probe.style.color = style.getPropertyValue(name);
              const [r, g, b] = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
              return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
            const out = [];
            for (const ink of ["--ink", "--dim", "--accent", "--added", "--removed", "--changed"])
              for (const ground of ["--panel", "--canvas", "--bg"]) {
                const [a, b] = [light(ink), light(ground)], contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                if (contrast < 4.5) out.push([ink, ground, contrast]);
              }
            probe.remove();
            return out""")
        assert not low, low
        b.click("#theme")
    assert seen[0] != seen[1], seen


def test_hostile(b):
    hostile_archive("hostile.pt")
    with open("hostile.py", "w") as file:
        file.write(f'def forward(x: Tensor):\n    print("{HOSTILE}")\n    # {HOSTILE}\n    return x\n')
    for words in (("hostile.pt", digits), ("hostile.py", "ones(2)")):
        b.open(make("hostile.html", *words))
        b.click("#show-constants")
        b.run("page.panes[1].openLevel(); page.panes[1].openLevel(); page.jump(page.panes[1], page.panes[1].graph.items.find((item) => item.node.attributes.includes('<script>')))")
        for tab in ("source", "time", "reasons", "weights", "graph"):
            b.click(f"#tab-{tab}")
        shown = b.run("return document.getElementById('details').innerText")
        assert "<script>alert(1)" in shown, shown
        assert b.run("return [document.scripts.length, document.images.length]") == [2, 0]
        drawn(b)


def test_large(b):
    with open("large.py", "w") as file:
        file.write("def forward(x: Tensor):\n    y = x\n" + "    y = torch.relu(y) + x\n" * 5000 + "    return y\n")
    b.open(make("large.html", "large.py"))
    assert len(kinds(b)) >= 10000
    drawn(b)
    assert 1 < boxes(b) < 200
    b.press("/")
    b.press(*"large.py:4321")
    b.press("Enter")
    assert b.run("return page.panes[1].selected.node.place.line") == 4321
    assert boxes(b) < 600
    b.press("Escape", "Enter", "ArrowDown")
    drawn(b)


def test_live(b):
    with open("twice.py", "w") as file:
        file.write("def forward(x: Tensor):\n    return x * 2\n\ndef other(x: Tensor):\n    return torch.cat([x, x])\n")
    server = Server("twice.py", "ones(2)")
    try:
        b.open(server.address)
        assert b.run("return data.run.result") == "float32[2]"
        assert b.run("const box = document.getElementById('live-inputs'), value = box.value; box.value = ''; return value") == "ones(2)"
        b.type("#live-inputs", "randn(3, 5)")
        b.click("#live button")
        b.wait("return document.readyState === 'complete' && data.run && data.run.result === 'float32[3, 5]'")
        # the method that is chosen is the one that is called
        b.run("const select = document.getElementById('function'); select.selectedIndex = 1; select.dispatchEvent(new Event('change'))")
        assert b.run("return document.getElementById('live-run').textContent") == "Run other"
        b.click("#live-run")
        b.wait("return document.readyState === 'complete' && data.run && data.run.result === 'float32[6, 5]'")
        assert b.run("return page.function.name") == "other"
        b.run("document.getElementById('live-inputs').value = ''")
        b.type("#live-inputs", "nonsense(")
        b.click("#live button")
        b.wait("return document.readyState === 'complete' && document.querySelector('[role=alert]') !== null")
    finally:
        server.stop()


def pictures(folder, models):
    """Of three models, each another side of the page."""
    os.makedirs(folder, exist_ok=True)

    def page(b, name, *inputs):
        b.open(make(name + ".html", f"{models}/{name}.pt", *inputs))

    def picture(b, name):
        b.run("document.activeElement.blur()")
        drawn(b)
        b.screenshot(f"{folder}/{name}.webp")

    with browser.Browser(1280, 800) as b:
        page(b, "resnet18", "randn(1,3,224,224)")
        b.run("page.jump(page.panes[1], page.panes[1].graph.items.find((item) => item.path === 'layer1.0.conv1' && item.node.kind === 'aten::conv2d'))")
        picture(b, "view_resnet18")
        page(b, "gpt_tiny", "randint(0,45,[1,24])")
        stage(b, "graph_fuser")
        b.click("#compare")
        picture(b, "view_gpt_tiny")
        assert not b.complaints()
    with browser.Browser(1280, 800, dark=True) as b:
        page(b, "silero_vad", "randn(1,512)", "16000")
        b.run("""page.chooseStage(page.stages[page.stages.length - 1]);
            byId("heat").click();
            page.jumpModule("_model.encoder");
            page.panes[1].toggle(page.panes[1].selected);
            const group = page.panes[1].graph.items.find((item) => item.category === "fusion" && item.path === "_model.stft");
            page.jump(page.panes[1], group);
            page.panes[1].toggle(group)""")
        picture(b, "view_silero_vad")
        assert not b.complaints()


if a.images:
    a.images, a.models = os.path.abspath(a.images), os.path.abspath(a.models)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with browser.Browser() as b:
        for test in (test_walk, test_stages, test_tabs, test_looks, test_hostile, test_large, test_what_is_returned, test_time_by,
                     test_narrow, test_live):
            test(b)
            complaints = [text for text in b.complaints() if "favicon" not in text]
            assert not complaints, (test.__name__, complaints)
    if a.images:
        pictures(a.images, a.models)
    os.chdir("/")
