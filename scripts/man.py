#!/usr/bin/env python3
"""Writes the manual's pages: wick.1, and wick-COMMAND.1 for each command, from what `wick help` and each --help print.

usage: man.py WICK FOLDER      (the same bits each time: no page tells when it was made)
"""
import os, re, shutil, sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "docs"))
import commands

VARIABLES = os.path.join(HERE, "..", "docs", "debugging.md")


def plain(text):
    """The text as it is: no character of it commands the formatter."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti")
    return "\n".join("\\&" + line if line.startswith(".") else line for line in text.split("\n"))


def prose(text):
    """What stands in `backquotes` is bold."""
    return re.sub(r"`([^`]*)`", r"\\fB\1\\fR", plain(text))


def usage(words):
    """Words in capitals are for others to be put there, the rest is typed."""
    return re.sub(r"[A-Z]+(?![a-z])", r"\\fI\g<0>\\fR", plain(words))


def option(name):
    words = name.split(" ", 1)
    return f"\\fB{plain(words[0])}\\fR" + (f" {usage(words[1])}" if len(words) > 1 else "")


def head(name, summary, version):
    summary = re.split(r"[.:] ", summary)[0].rstrip(".")
    return (f'.TH "{plain(name.upper())}" 1 "" "wick {version}" "wick"\n'
            f".SH NAME\n{plain(name)} \\- {plain(summary[0].lower() + summary[1:])}\n")


def listed(rows):
    return "".join(f".TP\n{name}\n{what}\n" for name, what in rows)


def options(rows):
    return listed((option(name), prose(what)) for name, what in rows)


def verbatim(text):
    return ".nf\n" + plain(text) + "\n.fi\n"


def inputs(text):
    begin, *middle, end = text.strip("\n").split("\n\n")
    return prose(begin) + "\n.PP\n" + verbatim("\n\n".join(middle)) + ".PP\n" + prose(end) + "\n"


def variables():
    """The table of docs/debugging.md."""
    with open(VARIABLES) as file:
        rows = re.findall(r"^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \| (.*) \| (.*) \|$", file.read(), re.M)
    return listed((prose(names), prose(f"{values}: {what}")) for names, values, what in rows)


def page_of(command, version):
    text = head(f"wick-{command.name}", command.summary, version)
    _, name, words = command.usage.split(" ", 2)
    text += f".SH SYNOPSIS\n\\fBwick {name}\\fR {usage(words)} [\\fIOPTION\\fR...]\n"
    text += f".SH DESCRIPTION\n{prose(command.summary)}\n.SH OPTIONS\n{options(command.options)}"
    if command.opens_models:
        text += ".PP\nAnd the options of models: see\n.BR wick (1).\n"
    return text + ".SH SEE ALSO\n.BR wick (1)\n"


def first_page(all_of_them, version):
    text = head("wick", all_of_them.title.split(": ", 1)[1], version)
    text += ".SH SYNOPSIS\n\\fBwick\\fR \\fICOMMAND\\fR ...\n"
    text += ".SH DESCRIPTION\n" + prose(all_of_them.end.split(" Exit status:")[0]) + "\n.SH COMMANDS\n"
    text += listed((f"\\fBwick {c.name}\\fR", prose(c.summary)) for c in all_of_them.all)
    text += ".SH MODELS\n" + prose(all_of_them.models) + "\n" + options(all_of_them.model_options)
    text += ".SH INPUTS\n" + inputs(all_of_them.inputs)
    text += ".SH ENVIRONMENT\n" + variables()
    text += ".SH EXIT STATUS\n" + prose(all_of_them.end.split("Exit status: ")[1]) + "\n"
    pages = [f".BR wick\\-{c.name} (1)" for c in all_of_them.all]
    return text + ".SH SEE ALSO\n" + ",\n".join(pages) + "\n"


def main(wick, folder):
    all_of_them = commands.Commands(wick)
    version = all_of_them.title.split(":")[0].split()[1]
    pages = {f"wick-{c.name}": page_of(c, version) for c in all_of_them.all}
    pages["wick"] = first_page(all_of_them, version)  # the last: where it is, all are
    shutil.rmtree(folder, ignore_errors=True)  # of commands that are no more
    os.makedirs(folder)
    for name, text in pages.items():
        with open(os.path.join(folder, name + ".1"), "w") as file:
            file.write(text)


main(os.path.abspath(sys.argv[1]), sys.argv[2])
