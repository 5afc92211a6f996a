"""What the command writes is whole or not there: on a full disk the older file stays, nothing lies beside it, and the exit
status says so; of a standard output that takes nothing, too.

usage: written_files.py WICK
"""
import os, resource, signal, subprocess, sys, tempfile

wick = os.path.abspath(sys.argv[1])
ROOM = 16  # bytes that a file may have: as on a disk that is full then
TEXT = """def forward(x: Tensor):
    return torch.relu(x) + 0
"""
WRITES = [  # each with the file that it writes
    (["run", "same.py", "rand(3, 20, 20)", "-o", "x.json"], "x.json"),
    (["run", "same.py", "rand(3, 20, 20)", "-o", "x.npy"], "x.npy"),
    (["run", "same.py", "rand(3, 20, 20)", "-o", "x.npz"], "x.npz"),
    (["run", "same.py", "rand(3, 20, 20)", "-o", "x.pt"], "x.pt"),
    (["run", "same.py", "rand(3, 20, 20)", "-o", "x.png"], "x.png"),
    (["run", "same.py", "rand(2, 400)", "-o", "x.wav"], "x.wav"),
    (["view", "same.py", "rand(2)", "-o", "x.html"], "x.html"),
    (["bench", "same.py", "rand(2)", "--calls", "3", "--trace", "x.trace"], "x.trace"),
    (["profile", "same.py", "rand(2)", "--calls", "3", "--trace", "x.trace"], "x.trace"),
    (["profile", "same.py", "rand(2)", "--calls", "9", "--folded", "x.folded"], "x.folded"),
    (["profile", "same.py", "rand(2)", "--calls", "3", "--flame", "x.svg"], "x.svg"),
    (["compile", "same.py", "-o", "x.pt"], "x.pt"),
]
SPEAKS = [
    ["run", "same.py", "ones(2)"], ["run", "same.py", "ones(2)", "--json"], ["run", "same.py", "ones(4)", "--topk", "1"],
    ["run", "same.py", "ones(4)", "--chunk", "2"], ["run", "prints.py", "ones(2)"], ["info", "same.py"],
    ["info", "same.py", "--json"], ["ops"], ["ops", "same.py"], ["bench", "same.py", "ones(2)", "--calls", "3"],
    ["bench", "same.py", "ones(2)", "--calls", "3", "--json"], ["profile", "same.py", "ones(2)", "--calls", "3"],
    ["dump", "same.py"], ["dump", "same.py", "--stage", "tree"], ["dump", "same.py", "ones(2)", "--stage", "optimized"],
    ["check", "same.pt", "calls.pt"], ["view", "same.py"], ["view", "same.py", "--serve", "0"], ["complete", ""],
    ["compile", "same.py", "-o", "y.pt", "--json"], ["--help"], ["--version"], ["help", "inputs"], ["run", "--help"],
]


def call(words, **options):
    return subprocess.run([wick, *words], stderr=subprocess.PIPE, text=True, timeout=100, **options)


def lacks(done):
    return "built without" in done.stderr or "not installed" in done.stderr


def full():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def check_full_disk(words, name):
    done = call(words, stdout=subprocess.DEVNULL)
    if lacks(done):
        print(done.stderr.strip())
        return
    assert done.returncode == 0 and os.path.getsize(name) > ROOM, (words, done.stderr)
    with open(name, "w") as file:
        file.write("the older file")
    before = sorted(os.listdir("."))
    done = call(words, stdout=subprocess.DEVNULL, preexec_fn=full)
    with open(name, errors="replace") as file:
        left = file.read()
    assert left == "the older file", (words, left)
    assert done.returncode == 1 and f"{name}: " in done.stderr, (words, done.returncode, done.stderr)
    assert sorted(os.listdir(".")) == before, (words, os.listdir("."))
    os.remove(name)
    done = call(words, stdout=subprocess.DEVNULL, preexec_fn=full)
    assert done.returncode == 1 and not os.path.exists(name), (words, done.returncode)


def check_full_device(words, name):
    """The same into a device that takes nothing, by a link with the right ending."""
    os.symlink("/dev/full", name)
    done = call(words, stdout=subprocess.DEVNULL)
    assert lacks(done) or (done.returncode == 1 and "No space left on device" in done.stderr), (words, done)
    os.remove(name)


def check_full_output(words):
    with open("/dev/full", "w") as device:
        done = call(words, stdout=device)
    assert done.returncode == 1, (words, done.returncode, done.stderr)
    assert done.stderr.count("wick: standard output: No space left on device\n") == 1, (words, done.stderr)


def check_closed_output():
    """A command that prints nothing needs none."""
    closed = lambda: os.close(1)
    done = call(["run", "same.py", "ones(2)"], preexec_fn=closed)
    assert done.returncode == 1 and "standard output" in done.stderr, done
    done = call(["run", "same.py", "ones(2)", "-o", "x.npy"], preexec_fn=closed)
    assert done.returncode == 0 and not done.stderr and os.path.getsize("x.npy") > 0, done


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("same.py", "w") as file:
        file.write(TEXT)
    with open("prints.py", "w") as file:
        file.write("def forward(x: Tensor):\n    print(x)\n    return x\n")
    with open("calls.py", "w") as file:
        file.write('def forward(x: Tensor):\n    return {"wick_io": 1}\n')
    assert call(["run", "calls.py", "ones(2)", "-o", "calls.pt"]).returncode == 0
    assert call(["compile", "same.py", "-o", "same.pt"]).returncode == 0
    for words, name in WRITES:
        check_full_disk(words, name)
        if os.path.exists("/dev/full"):
            check_full_device(words, name)
    if os.path.exists("/dev/full"):
        for words in SPEAKS:
            check_full_output(words)
    check_closed_output()
