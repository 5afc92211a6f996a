"""Nothing that a terminal would obey comes from a file: every name and text that one can hold has escape sequences, a
control character of two bytes and bytes that are no UTF-8, and what the commands print of it has none. What a program
prints, or gives as one text, is its own.

usage: terminal.py WICK
"""
import io, json, os, pickle, struct, subprocess, sys, tempfile, zipfile

wick = os.path.abspath(sys.argv[1])
EVIL = "\x1b]0;title\x07\x7f\u009b2J\r\x08"  # as text
BAD = EVIL.encode() + b"\x9b31m\xff\xc3"  # as bytes
NAME = "evil" + EVIL.replace("/", "")
COMMANDS = [["info"], ["info", "--all"], ["info", "--depth", "1"], ["info", "--json"], ["ops"], ["ops", "--json"],
            ["run"], ["run", "--json"], ["bench", "--calls", "2"], ["profile", "--calls", "2"],
            ["profile", "--calls", "2", "--json"], ["save", "-o", "saved.pt"], ["check"], ["view", "-o", "page.html"]]
COMMANDS += [["dump", "--stage", stage] for stage in ("tokens", "tree", "ir", "code", "bytecode", "optimized", "kernel")]
COMMANDS += [["dump", "--source"], ["dump", "--json"], ["dump", "--dot"], ["dump", "--pass", "all"],
             ["dump", "--pass", "alias"], ["dump", "--pass", "lower_graph"]]


def check_clean(words, printed, where):
    """Text in UTF-8 without control characters but line ends and tabs."""
    try:
        text = printed.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AssertionError((words, where, str(error), printed[max(0, error.start - 40):error.end + 40]))
    for i, letter in enumerate(text):
        is_control = (letter < " " and letter not in "\n\t") or "\x7f" <= letter <= "\x9f"
        assert not is_control, (words, where, text[max(0, i - 60):i + 20])


seen = []


def call(*words, **options):
    done = subprocess.run([wick, *words], capture_output=True, timeout=100, **options)
    assert done.returncode in (0, 1, 2), (words, done.returncode)
    check_clean(words, done.stdout, "standard output")
    check_clean(words, done.stderr, "standard error")
    seen.append(done.stdout + done.stderr)
    return done


def call_all(path, *inputs):
    for words in COMMANDS:
        model = [path, "calls.pt"] if words[0] == "check" else [path]
        takes = words[0] in ("run", "bench", "profile", "view") or "optimized" in words or "kernel" in words
        call(words[0], *model, *(inputs if takes else ()), *words[1:])


def write(name, text):
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return name


# ---- archives, byte by byte ----

def pickled_text(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return b"X" + struct.pack("<I", len(data)) + data


def pickled_object(module, name, members):
    as_bytes = lambda text: text if isinstance(text, bytes) else text.encode()
    return (b"\x80\x02c" + as_bytes(module) + b"\n" + as_bytes(name) + b"\n)\x81}(" +
            b"".join(pickled_text(key) + value for key, value in members) + b"ub.")


def archive(path, code, data, more=()):
    """more: (name, contents); names may be bytes that are no UTF-8."""
    fixed = [("data.pkl", data), ("code/__torch__.py", code), ("constants.pkl", b"\x80\x02)."), ("version", b"3\n")]
    with zipfile.ZipFile(path, "w") as file:
        for name, contents in {**dict(fixed), **dict(more)}.items():
            file.writestr(zipfile.ZipInfo("evil/" + name), contents)
    return path


CODE = """class Net(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  label : str
  def forward(self: __torch__.Net, x: Tensor) -> Tensor:
    return torch.relu(x)
"""


def test_archives():
    good = [("training", b"\x89"), ("label", pickled_text(BAD))]
    assert call("run", archive("good.pt", CODE, pickled_object("__torch__", "Net", good)), "ones(2)").returncode == 0
    call_all("good.pt", "ones(2)")
    call_all(archive("attribute.pt", CODE, pickled_object("__torch__", "Net", good + [(BAD, b"K\x01")])), "ones(2)")
    call_all(archive("class.pt", CODE, pickled_object("__torch__", b"N" + BAD.replace(b"\n", b""), good)), "ones(2)")
    call_all(archive("module.pt", CODE, pickled_object(BAD, "Net", good)), "ones(2)")
    call_all(archive("type.pt", CODE, pickled_object("__torch__", "Net", [("training", pickled_text(BAD))])), "ones(2)")
    call_all(archive("code.pt", CODE + "# " + EVIL + "\n  !" + EVIL, pickled_object("__torch__", "Net", good)))
    call_all(archive("comment.pt", CODE.replace("relu(x)", "relu(x, x, x)  # " + EVIL), pickled_object("__torch__", "Net", good)))
    call_all(archive("operator.pt", CODE.replace("torch.relu", "ops.evil" + EVIL + ".op"), pickled_object("__torch__", "Net", good)))
    names = [("extra/" + NAME, b"x"), ("code/__torch__/" + NAME + ".py", "!" + EVIL), (NAME, b""), ("data/" + NAME, b"")]
    call_all(archive("records.pt", CODE, pickled_object("__torch__", "Net", good), names), "ones(2)")
    call_all(archive("version.pt", CODE, pickled_object("__torch__", "Net", good), [("version", BAD)]))
    with open("good.pt", "rb") as file:
        whole = file.read()
    call_all(write("folder.pt", whole.replace(b"evil/", b"ev\x1b\x9b/")), "ones(2)")


def test_tensors():
    write("names.py", "def forward(k: str, x: Tensor):\n    return {k: x}\n")
    done = call("run", "names.py", json.dumps(EVIL), "ones(2)", "-o", "state.pt")
    assert done.returncode == 0, done
    call_all("state.pt")
    header = json.dumps({EVIL: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    call_all(write("x.safetensors", struct.pack("<Q", len(header)) + header + bytes(4)))
    for broken in (header.replace(b"F32", b"\x1b\x9b"), header.replace(b"[0, 4]", b"[0, 9]"), BAD):
        call_all(write("bad.safetensors", struct.pack("<Q", len(broken)) + broken + bytes(4)))
    npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n" + bytes(4)
    with zipfile.ZipFile("x.npz", "w") as file:
        file.writestr(zipfile.ZipInfo(NAME + ".npy"), npy)
    write("any.py", "def forward(x: Any):\n    return [x]\n")
    call_all("x.npz")
    assert call("run", "any.py", "x.npz").returncode == 0
    call("run", "any.py", write("bad.npy", npy.replace(b"'<f4'", b"'\x1b\x9b'")))
    call("run", "any.py", write("bad.json", b'{"' + BAD))
    call("run", "any.py", write("bad.csv", b"1,2\n1," + BAD))
    call("run", "any.py", write("bad.png", b"\x89PNG\r\n\x1a\n" + BAD * 4))
    call("run", "any.py", write("bad.wav", b"RIFF" + BAD))
    call("run", "any.py", "'" + EVIL + "'")
    call("run", "any.py", EVIL)
    with open("state.pt", "rb") as file:
        whole = file.read()
    call_all(write("cut.pt", whole[:-30]))
    for protocol in (2, 4):
        call_all(write("x.pkl", pickle.dumps({EVIL: [EVIL, {EVIL: 1}]}, protocol)))
    call_all(write("legacy.pt", b"\x80\x02c" + BAD + b"\n" + BAD + b"\n)R."))


def test_programs():
    literal = EVIL.encode("unicode_escape").decode()
    for name, line in (("raise", f"raise ValueError('{literal}')"), ("assert", f"assert x.dim() == 9, '{literal}'"),
                       ("warn", f"warnings.warn('{literal}')"), ("text", f"y = '{literal}'"),
                       ("format", f"y = '{{:{literal}}}'.format(1)"), ("key", f"y = {{'a': 1}}['{literal}']"),
                       ("device", f"y = torch.device('{literal}')"), ("einsum", f"y = torch.einsum('{literal}', [x])"),
                       ("comment", f"y = x.size(9)  # {EVIL}"), ("syntax", f"y = = {EVIL}"), ("name", f"y = evil{EVIL}"),
                       ("operator", f"y = torch.ops.evil.evil{EVIL}(x)")):
        # the file's name holds them as well, and the archives that are made of it
        path = write(f"{name} {EVIL}.py", "def forward(x: Tensor):\n    y = ''\n    " + line + f"\n    return ['{literal}']\n")
        call_all(path, "ones(2)")
        if call("compile", path, "-o", f"{name} {EVIL}.pt").returncode == 0:
            call_all(f"{name} {EVIL}.pt", "ones(2)")
            os.rename(f"{name} {EVIL}.pt", "plain.pt")
            call_all("plain.pt", "ones(2)")
    write("best.py", "def forward(x: Tensor):\n    return x\n")
    call("run", "best.py", "ones(2)", "--topk", "1", "--labels", write("labels", BAD))
    call("run", "best.py", "ones(2)", "--use", EVIL + "=best.py")
    call("run", "best.py", "ones(2)", "--use", "net=" + EVIL)
    call("run", "best.py", "ones(2)", "--method", EVIL)
    call("run", "best.py", "ones(2)", EVIL + "=3")
    call("run", "best.py", "ones(2)", "--library", EVIL)
    call("run", "best.py", "ones(2)", "-o", EVIL)
    call("run", "best.py", "ones(2)", "-o", "nowhere" + EVIL + "/x.npy")
    call("run", "best.py", "ones(2)", "--" + EVIL)
    call("run", "no" + EVIL + ".pt")
    call(EVIL)
    call("help", EVIL)
    call("ops", "best.py", "--allow", write("allow", BAD))
    call("dump", "best.py", "--pass", EVIL)
    call("dump", "best.py", "--stage", EVIL)
    call("complete", "run", "state.pt", "--method", "")
    call("run", "best.py", "ones(2)", env={**os.environ, "WICK_EXECUTOR": EVIL})


def test_recordings():
    """What a recording says that a program should have raised, and what it did raise."""
    literal = EVIL.encode("unicode_escape").decode()
    write("io.py", f"""def forward(x: Tensor):
    call: Dict[str, Any] = {{'method': 'forward', 'args': (x,), 'raises': 'other {literal}'}}
    return {{'wick_io': 1, 'raising_calls': [call]}}
""")
    call("run", "io.py", "ones(2)", "-o", "calls.pt")
    write("raises.py", f"def forward(x: Tensor):\n    raise ValueError('some {literal}')\n")
    call("check", "raises.py", "calls.pt")
    call("check", "raises.py", "calls.pt", "--json")


def test_log():
    write(f"log{EVIL}.py", f"def forward(x: Tensor):\n    return [x * 2 + 1, '{EVIL.encode('unicode_escape').decode()}']\n")
    done = call("run", f"log{EVIL}.py", "ones(2)", env={**os.environ, "PYTORCH_JIT_LOG_LEVEL": ">>dead_code_elimination:>>peephole:>>graph_fuser"})
    assert done.returncode == 0, done


def test_print():
    """A program's own output stays as it is; a host sets `print`."""
    write("prints.py", "def forward(x: Tensor):\n    print('\\x1b[1m')\n    return x\n")
    done = subprocess.run([wick, "run", "prints.py", "ones(2)"], capture_output=True)
    assert done.returncode == 0 and done.stdout.startswith(b"\x1b[1m\n"), done


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    test_recordings()
    test_archives()
    test_tensors()
    test_programs()
    test_log()
    test_print()
    spelled = b"".join(seen)
    assert spelled.count(b"\\x1b]0;title\\x07") > 100, spelled.count(b"\\x1b]0;title\\x07")  # they were shown, and spelled
    assert b"\\u009b" in spelled and b"\\xff" in spelled and b"\\x7f" in spelled
