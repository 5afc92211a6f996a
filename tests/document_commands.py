"""Runs every command that README.md and docs/*.md show and compares what they say it prints.

A command is a line `$ wick ...` of a code block; what stands below it, up to the next command or the block's end, is
what it prints (a line `...` stands for any lines; nothing: anything). `# exit N` behind it names its status. A block
after a paragraph that ends with `NAME.py`: is that file, for the commands below. usage: document_commands.py WICK SOURCE
"""
import glob, os, re, subprocess, sys, tempfile

wick, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])

# Files that the documents name without showing them.
FILES = {
    "net.py": "def forward(x: Tensor) -> Tensor:\n    return torch.relu(x).mean((2, 3))\n",
    "same.py": "def forward(x: Tensor) -> Tensor:\n    return x\n",
    "allowed.txt": "aten::relu\n",
}
MADE = [
    ["compile", "net.py", "-o", "model.pt"],
    ["run", "same.py", "ones(1, 3, 8, 8)", "-o", "image.npy"],
]


def blocks(text):
    """The code blocks of a Markdown text, each with the paragraph before it: (paragraph, lines)."""
    paragraph, lines, fence, result = "", None, False, []
    for line in text.split("\n") + [""]:
        if line.startswith("```"):
            if fence:
                result.append((paragraph, lines))
                lines = None
            else:
                lines = []
            fence = not fence
        elif fence:
            lines.append(line)
        elif line.startswith("    ") and lines is not None:
            lines.append(line[4:])
        elif line.startswith("    "):
            lines = [line[4:]]
        else:
            if lines is not None:
                result.append((paragraph, lines))
                lines = None
            if line.strip():
                paragraph = line
    return result


def matches(expected, printed):
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"[ ]*\n"
                      for line in expected)
    return re.fullmatch(pattern, printed) is not None


def run(command, expected, folder):
    """What is wrong, or None."""
    status = re.search(r"#.*exit (\d+)", command)
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode != (int(status.group(1)) if status else 0):
        return f"exit status {done.returncode}: {done.stderr}"
    while expected and not expected[-1].strip():
        expected = expected[:-1]
    if expected and not matches(expected, done.stdout):
        return f"prints\n{done.stdout}"
    return None


def main():
    failed = count = 0
    os.environ["PATH"] = os.path.dirname(wick) + os.pathsep + os.environ["PATH"]
    for page in [os.path.join(source, "README.md")] + sorted(glob.glob(os.path.join(source, "docs", "*.md"))):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("tests", "examples"):
                os.symlink(os.path.join(source, name), os.path.join(folder, name))
            for name, text in FILES.items():
                open(os.path.join(folder, name), "w").write(text)
            for words in MADE:
                subprocess.run([wick] + words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            for paragraph, lines in blocks(open(page).read()):
                named = re.search(r"`([\w./]+\.py)`[^`]*:$", paragraph)
                if named and not any(line.startswith("$ ") for line in lines):
                    open(os.path.join(folder, os.path.basename(named.group(1))), "w").write("\n".join(lines) + "\n")
                starts = [i for i, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
                for start, end in zip(starts, starts[1:]):
                    command = lines[start][2:]
                    if not re.match(r"(\w+=\S+ )*wick ", command):
                        continue
                    count += 1
                    wrong = run(command, lines[start + 1:end], folder)
                    if wrong:
                        print(f"{os.path.basename(page)}: $ {command}\n{wrong}")
                        failed += 1
    print(f"{count} commands, {failed} failed")
    sys.exit(failed != 0 or not count)


main()
