"""The reference of the C API: a page for each header, an entry for each declaration with the comment above it."""
import os, re

NAME = re.compile(r"\bwick_\w+|\bWICK_\w+")


def tokens(text):
    """Comments and declarations in order: ("comment", text) and ("code", text)."""
    at, result = 0, []
    text = re.sub(r'#ifdef __cplusplus\n.*?#endif\n', "", text, flags=re.S)
    text = re.sub(r"#if defined\(__GNUC__\)\n.*?#endif\n", "#define WICK_API\n", text, flags=re.S)
    while at < len(text):
        if text.startswith("/*", at):
            end = text.index("*/", at) + 2
            result.append(("comment", text[at:end]))
        elif text[at] == "#":
            end = text.index("\n", at) + 1
            if re.match(r"#define WICK_\w+ ", text[at:end]):
                result.append(("code", text[at:end].rstrip()))
        elif text[at].isspace():
            end = at + 1
        else:
            end, depth = at, 0
            while text[end] != ";" or depth:
                if text.startswith("/*", end):
                    end = text.index("*/", end) + 1
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            end += 1
            line = text[end:text.index("\n", end)]
            if line.strip().startswith("/*") and "*/" in line:  # on the same line
                end += len(line)
            result.append(("code", text[at:end]))
        at = end
    return result


def words(comment):
    """The text of a comment: its paragraphs, with what is indented as code."""
    body = comment[2:-2].strip()
    lines = [re.sub(r"^ \* ?", "", line).rstrip() if i else line.rstrip() for i, line in enumerate(body.split("\n"))]
    return [line if line != " *" else "" for line in lines]


def markdown(lines, known):
    result, code = [], []
    for line in lines + [""]:
        if line.startswith("  "):
            code.append(line[2:])
            continue
        if code:
            result += ["", "```c"] + [part.rstrip() for part in code] + ["```", ""]
            code = []
        line = line.replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[")
        result.append(NAME.sub(lambda match: linked(match.group(0), known), line))
    return "\n".join(result).strip() + "\n"


def linked(name, known):
    return f"[`{name}`]({known[name]})" if name in known else f"`{name}`"


def name_of(code):
    """What a declaration declares: its heading."""
    bare = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    define = re.match(r"#define (\w+)", bare)
    if define:
        return define.group(1)
    if re.match(r"(typedef )?enum", bare):
        names = re.findall(r"^\s*(?:enum \{)?\s*(WICK_\w+)", bare.replace("{", "{\n").replace(",", ",\n"), re.M)
        prefix = os.path.commonprefix(names)
        if len(names) == 1:
            return names[0]
        return prefix[:prefix.rindex("_") + 1] + "..." if prefix.count("_") > 1 else f"{names[0]} to {names[-1]}"
    struct = re.search(r"\}\s*(\w+);", bare)
    if struct:
        return struct.group(1)
    pointer = re.search(r"\(\*(\w+)\)\(", bare)
    if bare.startswith("typedef") and pointer:
        return pointer.group(1)
    function = re.search(r"(\w+)\(", bare)
    if function:
        return function.group(1)
    return re.search(r"(\w+);", bare).group(1)


def entries(text):
    """(intro, [(section, [(name, comment or None, code)])])"""
    intro, sections, waiting = [], [(None, [])], None
    for kind, part in tokens(text):
        if kind == "comment":
            section = re.match(r"/\* ---- (.*?)(?:: (.*?))? ---- \*/$", part, re.S)
            if section:
                heading, rest = section.groups()
                sections.append((heading[0].upper() + heading[1:], []))
                waiting = [" ".join(re.sub(r"^ \*", "", line).strip() for line in rest.split("\n")).capitalize()] \
                    if rest else None
            elif not intro:
                intro = words(part)
            else:
                waiting = words(part)
        else:
            sections[-1][1].append((name_of(part), waiting, part))
            waiting = None
    return intro, [section for section in sections if section[1]]


def anchor(name):
    return re.sub(r"[^\w-]", "", name.lower())


def pages(folder):
    """(page, text) for each header, wick.h first."""
    names = re.findall(r'#include "wick/(\w+)\.h"', open(os.path.join(folder, "wick.h")).read())
    parsed = {name: entries(open(os.path.join(folder, name + ".h")).read()) for name in names}
    where = {}
    for header, (_, sections) in parsed.items():
        for _, items in sections:
            for name, _, code in items:
                for declared in [name] + (re.findall(r"\bWICK_\w+", code) if "enum" in code.split("{")[0] else []):
                    if declared != "WICK_API":
                        where.setdefault(declared, (header, anchor(name)))
    result = []
    for header, (intro, sections) in parsed.items():
        known = {name: (f"#{at}" if page == header else f"{page}.md#{at}") for name, (page, at) in where.items()}
        first = re.sub(r"^wick/\w+: ", "", intro[0])
        text = f"# wick/{header}.h\n\n" + markdown([first[0].upper() + first[1:]] + intro[1:], known)
        for heading, items in sections:
            text += f"\n## {heading or 'Declarations'}\n"
            for name, comment, code in items:
                code = re.sub(r"\bWICK_API ", "", code)
                text += f"\n### {name} {{: #{anchor(name)} }}\n\n```c\n{code}\n```\n"
                if comment:
                    text += "\n" + markdown(comment, known)
        result.append((f"api/{header}.md", text))
    overview = words(open(os.path.join(folder, "wick.h")).read().split("*/")[0] + "*/")
    known = {name: f"{page}.md#{at}" for name, (page, at) in where.items()}
    first = re.sub(r"^wick: ", "", overview[0])
    text = "# wick/wick.h\n\n" + markdown([first[0].upper() + first[1:]] + overview[1:], known) + "\nIt includes\n\n"
    text += "".join(f"- [wick/{header}.h]({header}.md): {re.sub('^wick/[^:]*: ', '', parsed[header][0][0])}\n"
                    for header in names)
    return [("api/wick.md", text)] + result
