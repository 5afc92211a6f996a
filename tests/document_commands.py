"""Runs every command that README.md and docs/*.md show and compares what they say it prints.

A command is a line `$ ...` of a code block; what stands below it, up to the next command or the block's end, is what it
prints (a line `...` stands for any lines; nothing: anything). `# exit N` at its end names its status. Paragraphs that
end with a colon name what the block after them is: `NAME.c`: that file, for the commands below; [PATH](../PATH): what
the repository has there, to the letter. Before a block may stand, where no reader sees it,

  <!-- with TOOL... -->   only where these programs are; what is skipped is told
  <!-- not run -->        shown only

usage: document_commands.py WICK SOURCE [--no-compiler] [--write] [PAGE...]
  --no-compiler  skips pages that compile programs: those would need the sanitizers that WICK has
  --write        puts what commands print into the pages, but where they show parts of it
"""
import glob, os, re, shutil, subprocess, sys, tempfile

options = [word for word in sys.argv[1:] if word.startswith("--")]
words = [word for word in sys.argv[1:] if not word.startswith("--")]
wick, source = os.path.abspath(words[0]), os.path.abspath(words[1])
build = os.path.dirname(wick)

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
# Programs are compiled against the build, as they would be against what is installed.
PKG_CONFIG = f"""Name: wick
Description: the build
Version: 0
Cflags: -I{source}/include
Libs: -L{build} -lwick -Wl,-rpath,{build}
"""


class Block:
    def __init__(self, paragraph, note, indent):
        self.paragraph, self.note, self.indent, self.lines = paragraph, note, indent, []


def blocks(text):
    """The code blocks of a Markdown text, each with the paragraph and the note before it."""
    paragraph, note, block, fence, result = "", "", None, False, []
    for line in text.split("\n") + [""]:
        if line.startswith("```"):
            if fence:
                result.append(block)
                block, note, paragraph = None, "", ""
            else:
                block = Block(paragraph, note, "")
            fence = not fence
        elif fence:
            block.lines.append(line)
        elif line.startswith("    "):
            if not block:
                block = Block(paragraph, note, "    ")
            block.lines.append(line[4:])
        else:
            if block:
                result.append(block)
                block, note, paragraph = None, "", ""
            if line.startswith("<!--"):
                note = line
            elif line.strip():
                paragraph = line
    return result


def matches(expected, printed):
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"[ ]*\n"
                      for line in expected)
    return re.fullmatch(pattern, printed) is not None


def run(command, expected, folder):
    """(what is wrong or None, what it printed)."""
    status = re.search(r"#.*exit (\d+)", command)
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode != (int(status.group(1)) if status else 0):
        return f"exit status {done.returncode}: {done.stderr}{done.stdout}", None
    if expected and not matches(expected, done.stdout):
        return f"prints\n{done.stdout}", done.stdout
    return None, done.stdout


def prepare(folder):
    for name in ("tests", "examples"):
        os.symlink(os.path.join(source, name), os.path.join(folder, name))
    for name, text in FILES.items():
        open(os.path.join(folder, name), "w").write(text)
    for made in MADE:
        subprocess.run([wick] + made, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    os.mkdir(os.path.join(folder, ".packages"))
    open(os.path.join(folder, ".packages", "wick.pc"), "w").write(PKG_CONFIG)


class Page:
    def __init__(self, path):
        self.path, self.name = path, os.path.relpath(path, source)
        self.text = open(path).read()
        self.count, self.failed, self.skipped = 0, 0, []

    def complain(self, text):
        print(f"{self.name}: {text}")
        self.failed += 1

    def compiles(self):
        return any(re.match(r"\$ (cc|c\+\+|cmake|rustc|go) ", line) for b in blocks(self.text) for line in b.lines)

    def check(self, folder):
        os.environ["PKG_CONFIG_PATH"] = os.path.join(folder, ".packages")
        for block in blocks(self.text):
            if block.note == "<!-- not run -->":
                continue
            missing = [tool for tool in re.findall(r"[\w+.-]+", block.note[9:-3]) if not shutil.which(tool)] \
                if block.note.startswith("<!-- with ") else []
            if missing:
                self.skipped.append(f"what needs {', '.join(missing)}")
                continue
            if any(line.startswith("$ ") for line in block.lines):
                self.check_commands(block, folder)
            else:
                self.check_file(block, folder)

    def check_file(self, block, folder):
        text = "\n".join(block.lines).rstrip("\n") + "\n"
        same = re.search(r"\]\(([\w./]+)\)[^()\[\]`]*:$", block.paragraph)
        named = re.search(r"`([\w./]+\.\w+)`[^`]*:$", block.paragraph)
        if same:
            other = os.path.normpath(os.path.join(os.path.dirname(self.path), same.group(1)))
            if os.path.isfile(other) and open(other).read() != text:
                self.complain(f"what it shows of {same.group(1)} is not what is there")
        elif named:
            open(os.path.join(folder, os.path.basename(named.group(1))), "w").write(text)

    def check_commands(self, block, folder):
        at, lines = 0, block.lines
        while at < len(lines):
            if not lines[at].startswith("$ "):
                at += 1
                continue
            command = lines[at][2:]
            while command.endswith("\\") and at + 1 < len(lines):
                at += 1
                command = command[:-1] + lines[at]
            end = at = at + 1
            while end < len(lines) and not lines[end].startswith("$ "):
                end += 1
            while end > at and not lines[end - 1].strip():
                end -= 1
            expected = lines[at:end]
            self.count += 1
            wrong, printed = run(command, expected, folder)
            if wrong and printed and "--write" in options and "..." not in [line.strip() for line in expected]:
                end = self.write(block, at, expected, printed.rstrip("\n").split("\n"))
            elif wrong:
                self.complain(f"$ {command}\n{wrong}")
            at = end

    def write(self, block, at, expected, printed):
        """Where what is printed ends now."""
        def text(lines):
            return "".join((block.indent + line).rstrip() + "\n" for line in lines)
        above = text(block.lines[:at])
        before = above + text(expected)
        assert self.text.count(before) == 1, before
        self.text = self.text.replace(before, above + text(printed))
        block.lines[at:at + len(expected)] = printed
        open(self.path, "w").write(self.text)
        return at + len(printed)


def main():
    os.environ["PATH"] = build + os.pathsep + os.environ["PATH"]
    os.environ["LD_LIBRARY_PATH"] = build
    paths = words[2:] or [os.path.join(source, "README.md")] + sorted(glob.glob(os.path.join(source, "docs", "*.md")))
    pages = [Page(path) for path in map(os.path.abspath, paths)]
    for page in pages:
        if "--no-compiler" in options and page.compiles():
            print(f"{page.name}: skipped, it compiles programs")
            continue
        with tempfile.TemporaryDirectory() as folder:
            prepare(folder)
            page.check(folder)
        for skipped in page.skipped:
            print(f"{page.name}: skipped, {skipped}")
    count, failed = sum(page.count for page in pages), sum(page.failed for page in pages)
    print(f"{count} commands, {failed} failed")
    sys.exit(failed != 0 or not count)


main()
