"""Whether links of the Markdown in the repository lead somewhere: to a file, a folder, a heading; and whether
docs/index.md lists every page of docs/. usage: document_links.py SOURCE"""
import os, re, subprocess, sys

source = os.path.abspath(sys.argv[1])


def text_of(path):
    """Without code, which may look like links."""
    with open(path) as file:
        text = file.read()
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"^    .*$", "", text, flags=re.M)


def anchors(path):
    """Headings as they are linked: words in lower case with - between, what is no letter left out."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text_of(path), re.M):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-"))
    return found


def main():
    wrong, count = [], 0
    pages = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard", "*.md"],
                           capture_output=True, text=True).stdout.split()
    if not pages:  # an unpacked archive
        pages = [os.path.relpath(os.path.join(folder, name), source)
                 for folder in (source, os.path.join(source, "docs")) for name in os.listdir(folder)
                 if name.endswith(".md")]
    for page in pages:
        path = os.path.join(source, page)
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text_of(path))):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            name, _, anchor = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(to):
                wrong.append(f"{page}: {target}: no such file")
            elif anchor and to.endswith(".md") and anchor not in anchors(to):
                wrong.append(f"{page}: {target}: no such heading")
    index = set(re.findall(r"\]\(([\w.]+)\)", text_of(os.path.join(source, "docs", "index.md"))))
    kept = subprocess.run(["git", "-C", source, "ls-files", "docs/*.md"], capture_output=True, text=True).stdout.split()
    for name in map(os.path.basename, kept):  # not what `make bench` writes
        if name not in index | {"index.md"}:
            wrong.append(f"docs/index.md does not list {name}")
    print("\n".join(wrong + [f"{count} links, {len(wrong)} wrong"]))
    sys.exit(bool(wrong or not count))


main()
