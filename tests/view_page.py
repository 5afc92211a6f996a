"""What `wick view` writes and serves, without a browser: one file that needs no other, whose script and style are those
that it allows, in which nothing from a program can end an element; and a server that answers its own address alone.

usage: view_page.py WICK SOURCE
"""
import base64, hashlib, html.parser, http.client, io, json, os, re, signal, socket, subprocess, sys, tempfile, time, urllib.parse, zipfile

wick, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
reader, digits = source + "/examples/digits/reader.pt", source + "/examples/digits/digits.npy"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


class Parts(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.policy, self.is_inside = [], [], None, False

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.texts.append("")
        self.is_inside = True
        if tag == "meta" and dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attributes)["content"]

    def handle_data(self, data):
        if self.is_inside:
            self.texts[-1] += data

    def handle_endtag(self, tag):
        self.is_inside = False


def parse(page):
    """The data of a page, after what holds for every page was checked."""
    parts = Parts()
    parts.feed(page)
    scripts = [i for i, (tag, _) in enumerate(parts.tags) if tag == "script"]
    styles = [i for i, (tag, _) in enumerate(parts.tags) if tag == "style"]
    assert len(scripts) == 2 and len(styles) == 1, parts.tags
    hash_of = lambda text: "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"script-src '{hash_of(parts.texts[scripts[1]])}'" in parts.policy, parts.policy
    assert f"style-src '{hash_of(parts.texts[styles[0]])}'" in parts.policy, parts.policy
    assert "default-src 'none'" in parts.policy
    for tag, attributes in parts.tags:
        assert tag not in ("img", "iframe", "object", "link", "base"), tag
        for name, value in attributes.items():
            assert not name.startswith("on") and name not in ("src", "href", "style"), (tag, attributes)
    assert parts.tags[scripts[0]][1] == {"type": "application/json", "id": "data"}
    return json.loads(parts.texts[scripts[0]])


def view(*words):
    done = subprocess.run([wick, "view", *words, "-o", "page.html"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open("page.html", encoding="utf-8") as file:
        return file.read()


def records(flat):
    out, i = [], 0
    while i < len(flat):
        count, record = flat[i], []
        i += 1
        while len(record) < count:
            word = flat[i]
            i += 1
            if i < len(flat) and flat[i] < 0 and len(record) < count:
                record += range(word, word - flat[i])
                i += 1
            else:
                record.append(word)
        out.append(record)
    return out


def kinds(data, block):
    nodes, blocks, found = records(data["nodes"]), records(data["blocks"]), []

    def walk(number):
        words = blocks[number]
        at = 1 + 2 * words[0]
        for node in words[at + 1 + words[at]:]:
            record = nodes[node]
            found.append(data["texts"][record[0]])
            at_outputs = 6 + record[5]
            for inner in record[at_outputs + 2 + 2 * record[at_outputs]:]:
                walk(inner)

    walk(block)
    return found


def test_contents():
    data = parse(view(reader, digits))
    paths = {entry[0]: entry for entry in data["modules"]}
    weight = paths["classifier.conv1.weight"]
    assert weight[2:6] == ["p", "float32", [16, 1, 3, 3], 576], weight
    least, most, mean, deviation, zeros, others, bins = weight[6]
    assert least < mean < most and deviation > 0 and others == 0 and sum(bins) == 144 and len(bins) == 32
    assert "def forward" in data["sources"]["__torch__.DigitsCNN"]["forward"]
    forward = next(f for f in data["functions"] if f["name"] == "forward")
    steps = [stage[0] for stage in forward["stages"]]
    assert "emit" in steps and "inlined" in steps and "graph_fuser" in steps, steps
    inlined = next(stage for stage in forward["stages"] if stage[0] == "inlined")
    assert kinds(data, inlined[3]).count("aten::conv2d") == 2 and "prim::CallMethod" not in kinds(data, inlined[3])
    instances = {data["texts"][call[1]] for call in records(data["calls"])}
    assert {"classifier", "classifier.conv1", "classifier.fc2"} <= instances, instances
    run = data["run"]
    for key in ("written", "planned"):
        convolutions = [row for row in run[key]["rows"] if row["op"].startswith(("aten::conv2d", "wick::conv"))]
        assert len(convolutions) == 2 and all(row["ms"] > 0 and row["places"] for row in convolutions), run[key]
    assert "calls that came to an executor" in run["reasons"] and run["inputs"][0].startswith("float32["), run["inputs"]
    # a pass that leaves a graph alone leaves its number
    blocks = [stage[3] for stage in forward["stages"]]
    assert len(set(blocks)) < len(blocks)
    # without inputs nothing runs
    data = parse(view(reader))
    assert "run" not in data and not any(stage[1] == 2 for f in data["functions"] for stage in f["stages"])


def hostile_archive(path):
    """The reader with a text of its code, and the names in its places, made by somebody who means harm."""
    with zipfile.ZipFile(reader) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("debug_pkl"):
                continue
            if name.endswith("code/__torch__.py"):
                data = data.replace(b'"{}: {}, {}% sure"', json.dumps(HOSTILE + "{}{}{}\u2028").encode())
            new.writestr(zipfile.ZipInfo(name.replace("reader/", "hostile/", 1)), data)


def test_hostile():
    with open("<img src=x onerror=alert(3)>.py", "w") as file:
        file.write(f'def forward(x: Tensor):\n    print("{HOSTILE}")\n    # {HOSTILE}\n    return x\n')
    page = view("<img src=x onerror=alert(3)>.py", "ones(2)")
    data = parse(page)
    assert data["file"] == "<img src=x onerror=alert(3)>.py"
    assert any(HOSTILE in text for text in data["texts"])
    hostile_archive("hostile.pt")
    page = view("hostile.pt", digits)
    assert any(HOSTILE in text for text in parse(page)["texts"])
    assert HOSTILE not in page and "<img" not in page


def test_refusals():
    for words, status in ((["missing.pt"], 2), ([reader, "ones(2)", "-o", "none.html"], 1), ([reader, "-o", "none/page.html"], 1),
                          ([reader, "--serve", "-o", "none.html"], 2), ([reader, "--serve", "65536"], 2), ([reader, "--serve=x"], 2), ([], 2)):
        done = subprocess.run([wick, "view", *words], capture_output=True, text=True)
        assert done.returncode == status and done.stderr, (words, done)
    assert not os.path.exists("none.html")


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen([wick, "view", "--serve", "0", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", self.address)
        assert found, self.address
        self.port, self.path = int(found[1]), found[2]

    def get(self, path=None, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, self.path if path is None else path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def send(self, data):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            got = b""
            while part := s.recv(65536):
                got += part
        return got

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, (self.process.returncode, err)


def test_server():
    with open("twice.py", "w") as file:
        file.write("def forward(x: Tensor):\n    return x * 2\n\ndef other(x: Tensor):\n    return torch.cat([x, x])\n")
    server = Server("twice.py", "ones(2)")
    try:
        status, page = server.get()
        assert status == 200 and parse(page)["run"]["result"] == "float32[2]" and parse(page)["live"]
        # other inputs, none, and some that are no use
        query = urllib.parse.urlencode({"input": "ones(3, 4)"})
        assert parse(server.get(server.path + "?" + query)[1])["run"]["result"] == "float32[3, 4]"
        assert "run" not in parse(server.get(server.path + "?none")[1])
        failed = parse(server.get(server.path + "?input=nonsense(")[1])
        assert failed["failures"] and failed["words"] == ["nonsense("], failed
        # another method, with its inputs, with the command line's, and one that is not there
        query = urllib.parse.urlencode({"method": "other", "input": "ones(5)"})
        run = parse(server.get(server.path + "?" + query)[1])["run"]
        assert run["method"] == "other" and run["result"] == "float32[10]", run
        assert parse(server.get(server.path + "?method=other")[1])["run"]["result"] == "float32[4]"
        data = parse(server.get(server.path + "?method=other&none")[1])
        assert "run" not in data and data["method"] == "other", data
        failed = parse(server.get(server.path + "?method=third")[1])
        assert failed["failures"] and failed["method"] == "third", failed
        # the file as it is now
        with open("twice.py", "w") as file:
            file.write("def forward(x: Tensor):\n    return torch.stack([x, x])\n")
        assert parse(server.get()[1])["run"]["result"] == "float32[2, 2]"
        # nobody else's address, no other method, no file
        for path in ("/", "/twice.py", "/../twice.py", server.path + "twice.py", server.path + "../../etc/passwd", server.path[:-1]):
            assert server.get(path)[0] == 404, path
        assert server.get(Host="elsewhere.example")[0] == 421
        assert server.get(Host=f"127.0.0.1.elsewhere.example:{server.port}")[0] == 421
        assert server.get(Host=f"localhost:{server.port}")[0] == 200
        for method in ("POST", "PUT", "DELETE", "HEAD"):
            assert server.get(method=method)[0] == 405
        for query in ("?input=%zz", "?input=%00", "?input=-", "?file=x", "?method", "?method=%zz", "?method=other&file=x", "?" + "&".join(["input=1"] * 65)):
            assert server.get(server.path + query)[0] == 400, query
        # what is no request, and what never ends
        for data in (b"", b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n", b"\0" * 100, b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                     b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n"):
            got = server.send(data)
            assert got == b"" or got.startswith(b"HTTP/1.1 400 "), (data[:40], got)
        assert server.get()[0] == 200
        # who sends nothing, or not all, keeps nobody out
        idle = []
        for i in range(100):
            s = socket.create_connection(("127.0.0.1", server.port), timeout=60)
            if i % 2:
                s.sendall(b"GET / HTTP/1.1\r\nHost: ")
            idle.append(s)
            if i % 20 == 0:
                start = time.monotonic()
                assert server.get()[0] == 200 and server.get("/")[0] == 404
                assert time.monotonic() - start < 8, (i, time.monotonic() - start)
        for s in idle[:30]:  # the oldest made room
            s.settimeout(60)
            assert s.recv(100) == b""
        idle[-1].sendall(b"localhost\r\n\r\n")  # the youngest is waited for
        assert idle[-1].recv(100).startswith(b"HTTP/1.1 421 ")
        for s in idle:
            s.close()
        # the policy stands in the answer, too, and nobody frames it
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for path in (server.path, "/"):
            connection.request("GET", path)
            answer = connection.getresponse()
            parts, policy = Parts(), answer.headers["Content-Security-Policy"]
            parts.feed(answer.read().decode())
            assert policy.endswith("; frame-ancestors 'none'") and "default-src 'none'" in policy, policy
            assert path == "/" or policy == parts.policy + "; frame-ancestors 'none'", (policy, parts.policy)
            connection.close()
    finally:
        server.stop()
    with socket.socket() as s:
        assert s.connect_ex(("127.0.0.1", server.port)) != 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (test_contents, test_hostile, test_refusals, test_server):
            test()
        os.chdir("/")
