"""The page of commands, from what `wick help` and each --help print."""
import re, subprocess

OPTION = re.compile(r"  (-\S+(?: [A-Z]\S*)?)\s+(.*)")


def said(wick, *words):
    return subprocess.run([wick, *words], check=True, capture_output=True, text=True).stdout


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def options(text):
    rows = [OPTION.match(line) for line in text.split("\n")]
    rows = [f"| `{row.group(1)}` | {cell(row.group(2))} |" for row in rows if row]
    return "| Option | What it does |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else ""


def page(wick):
    overview = said(wick, "help")
    names = re.findall(r"^  (\w+) ", overview, re.M)
    text = "# Commands\n\n" + f"```text\n{overview}```\n"
    for name in names:
        shown = said(wick, "help", name)
        usage, summary = re.match(r"usage: (.*)\n(.*)\n", shown).groups()
        text += f"\n## wick {name}\n\n```sh\n{usage}\n```\n\n{summary}\n\n{options(shown)}"
        if "wick help models" in shown:
            text += "\nAnd the options [of models](#models).\n"
    models = said(wick, "help", "models")
    text += "\n## Models\n\n" + " ".join(models.split("\n\n")[0].split()) + "\n\n" + options(models)
    text += "\n## Inputs\n\n```text\n" + said(wick, "help", "inputs") + "```\n"
    return text
