"""Links of a static site that lead nowhere: to files that are not there, or to anchors that no page has."""
import html.parser, os, urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.anchors, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        for name in ("id", "name"):
            if of.get(name):
                self.anchors.add(of[name])
        for name in ("href", "src"):
            if of.get(name):
                self.links.append(of[name])


def check(site):
    """What is wrong, a line for each."""
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                pages[path] = page = Page()
                with open(path) as file:
                    page.feed(file.read())
    wrong = []
    for path, page in sorted(pages.items()):
        if os.path.basename(path) == "404.html":  # its links are a server's
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            here = os.path.relpath(path, site)
            if parts.scheme in ("http", "https"):
                if not link.startswith(("https://squidfunk.github.io/", "https://www.w3.org/")):
                    wrong.append(f"{here}: {link}: not of this site")
                continue
            if parts.scheme:
                continue
            target = path
            if parts.path:
                target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path)))
            if os.path.isdir(target):
                target = os.path.join(target, "index.html")
            if not os.path.exists(target):
                wrong.append(f"{here}: {link}: no such page")
            elif parts.fragment and target in pages and not parts.fragment.startswith("__"):
                if urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                    wrong.append(f"{here}: {link}: no such place in the page")
    return sorted(set(wrong))
