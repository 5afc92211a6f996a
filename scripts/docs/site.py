"""Makes a site of docs/, one static folder.    usage: site.py BUILD FOLDER (a build of wick tells of commands, operators)

Pages are Markdown whose links are relative, so that they work where the repository is read, too. What they link to
outside of docs/ becomes a page of its own: other Markdown as it is, sources in colors, a folder's sources one after the
other. Pages of reference are made here: commands from their --help, the C API from the headers, operators from the
library. docs/index.md lists the pages; the navigation is read from it. mkdocs turns all into HTML.
"""
import json, os, posixpath, re, shutil, subprocess, sys

sys.dont_write_bytecode = True
import commands, headers, links, operators

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SITE = os.path.abspath(sys.argv[2])
STAGE = SITE + "_pages"
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".rs": "rust", ".go": "go",
             ".sh": "sh", ".txt": "text"}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")


def write(page, text):
    path = os.path.join(STAGE, page)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(os.path.join(ROOT, path)) as file:
        return file.read()


class Pages:
    """Pages as they are linked: paths of the repository, and the page that each becomes."""

    def __init__(self):
        self.waiting, self.known = [], {}

    def page_of(self, path):
        """The page for a path of the repository, to be written later."""
        if path not in self.known:
            if path.startswith("docs/"):
                page = path[len("docs/"):]
            elif path.endswith(".md"):
                page = "project/" + os.path.basename(path).lower()
            elif path.startswith("include/wick/") and path.endswith(".h"):
                page = "api/" + os.path.basename(path)[:-2] + ".md"
            elif os.path.exists(os.path.join(ROOT, path)):
                page = "source/" + path + ".md"
            else:
                page = None
            self.known[path] = page
            self.waiting.append(path)
        return self.known[path]

    def relink(self, text, path):
        """Links of a page at `path` as they are among the pages."""
        page = self.page_of(path)

        def link(match):
            words, target = match.groups()
            if re.match(r"[a-z]+:|#", target):
                return match.group(0)
            name, _, anchor = target.partition("#")
            inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            to = self.page_of(inside)
            if to is None:
                sys.exit(f"{path}: a link to {target}, which is not there")
            relative = posixpath.relpath(to, posixpath.dirname(page) or ".")
            return f"[{words}]({relative}{'#' + anchor if anchor else ''})"

        parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)  # not in code
        return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)

    def write(self, path):
        page = self.known[path]
        if page is None or page.startswith("api/"):
            return
        if path.endswith(".md"):
            write(page, self.relink(prompts(read(path)), path))
        else:
            write(page, source_page(path))

    def write_all(self):
        while self.waiting:
            self.write(self.waiting.pop())


def prompts(text):
    """Indented blocks as fenced ones, so that what is typed and what is printed have colors."""
    lines, result, block, fenced = text.split("\n"), [], [], False
    listed = False  # what is indented belongs to a list

    def flush():
        while block and not block[-1]:
            block.pop()
        if not block:
            return
        result.extend([f"```{language_of(block)}"] + block + ["```", ""])
        block.clear()

    for line in lines:
        if line.startswith("```"):
            flush()
            fenced = not fenced
        if re.match(r"[-*] |\d+\. ", line):
            listed = True
        elif line and not line.startswith(" "):
            listed = False
        if not fenced and not listed and (line.startswith("    ") or (block and not line)):
            block.append(line[4:])
            continue
        flush()
        result.append(line)
    flush()
    return "\n".join(result)


def language_of(lines):
    text = "\n".join(lines)
    if any(line.startswith("$ ") for line in lines):
        return "console"
    if re.search(r";$|^\s*[{}]|^typedef|^enum|^static", text, re.M):
        return "c"
    if re.search(r"^\s*(def|class|import|from) ", text, re.M):
        return "python"
    if re.match(r"\w+=\S+ \w|(wick|make|cc|c\+\+|cmake|pip|python3|sudo|arecord|export|unshare|npm|\./) ?", text):
        return "sh"
    return "text"


def source_page(path):
    full = os.path.join(ROOT, path)
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", path], capture_output=True, text=True).stdout.split()
    files = sorted(listing) if os.path.isdir(full) else [path]
    text = f"# {path}\n"
    for file in files:
        language = LANGUAGES.get(os.path.splitext(file)[1])
        if os.path.basename(file) == "CMakeLists.txt":
            language = "cmake"
        if not language:
            continue
        if len(files) > 1:
            text += f"\n## {posixpath.relpath(file, path)}\n"
        text += f"\n````{language}\n{read(file)}````\n"
    return text


def navigation(pages, index):
    """Sections and pages in the order of docs/index.md."""
    nav, section = [{"Home": "index.md"}], None
    for line in index.split("\n"):
        heading = re.match(r"## (.*)", line)
        item = re.match(r"- \[([^\]]*)\]\(([^)#]+)\)", line)
        if heading:
            section = []
            nav.append({heading.group(1): section})
        elif item and section is not None:
            section.append({item.group(1): pages.page_of(posixpath.normpath(posixpath.join("docs", item.group(2))))})
    return nav


def main():
    build = os.path.abspath(sys.argv[1])
    if not shutil.which("mkdocs"):
        print("mkdocs and its theme material are needed")
        sys.exit(77)
    shutil.rmtree(STAGE, ignore_errors=True)
    pages = Pages()
    nav = navigation(pages, read("docs/index.md"))
    pages.page_of("docs/index.md")
    for name in sorted(os.listdir(os.path.join(ROOT, "docs"))):
        if name.endswith(".md"):
            pages.page_of("docs/" + name)
    api = headers.pages(os.path.join(ROOT, "include", "wick"))
    for page, text in api:
        write(page, text)
    write("commands.md", commands.page(os.path.join(build, "wick")))
    write("operators.md", operators.page(os.path.join(build, "libwick.so")))
    pages.write_all()
    shutil.copytree(os.path.join(ROOT, "scripts", "docs", "assets"), os.path.join(STAGE, "assets"))
    for name in os.listdir(os.path.join(ROOT, "docs")):
        if not name.endswith(".md"):
            full = os.path.join(ROOT, "docs", name)
            (shutil.copytree if os.path.isdir(full) else shutil.copy)(full, os.path.join(STAGE, name))
    listed = {page for section in nav for value in section.values()
              for page in ([value] if isinstance(value, str) else [list(item.values())[0] for item in value])}
    unlisted = [name for name in sorted(os.listdir(os.path.join(ROOT, "docs")))
                if name.endswith(".md") and name not in listed]
    for name in unlisted:
        nav[-1][list(nav[-1])[0]].append({name[:-3].capitalize(): name})
    nav.append({"Reference": [{"Commands": "commands.md"}, {"Operators": "operators.md"},
                              {"C API": [{os.path.basename(page)[:-3]: page} for page, _ in api]}]})
    config = json.loads(read("scripts/docs/mkdocs.json"))
    config.update(nav=nav, docs_dir=STAGE, site_dir=SITE)
    config["theme"]["custom_dir"] = os.path.join(ROOT, "scripts", "docs", "theme")
    with open(STAGE + ".yml", "w") as file:
        json.dump(config, file, indent=1)  # JSON is YAML
    done = subprocess.run([shutil.which("mkdocs"), "build", "--quiet", "--strict", "--config-file", STAGE + ".yml"])
    if done.returncode:
        sys.exit(done.returncode)
    search_from_files()
    wrong = links.check(SITE)
    for line in wrong:
        print(line)
    count = sum(name.endswith(".html") for _, _, names in os.walk(SITE) for name in names)
    print(f"{os.path.relpath(SITE)}/index.html: {count} pages, {len(wrong)} dead links")
    sys.exit(bool(wrong))


def search_from_files():
    """Browsers let pages that are opened as files read no other files: the index is a script besides."""
    with open(os.path.join(SITE, "search", "search_index.json")) as file:
        index = file.read()
    with open(os.path.join(SITE, "search", "search_index.js"), "w") as file:
        file.write(f"var __search = {{index: Promise.resolve({index})}};\n")


main()
