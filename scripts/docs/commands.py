"""The commands as `wick help` and each --help tell of them, and the site's page of them."""
import re, subprocess

OPTION = re.compile(r"  (-\S+(?: \[?[A-Z]\S*)?)\s+(.*)")


def said(wick, *words):
    return subprocess.run([wick, *words], check=True, capture_output=True, text=True).stdout


def options(text):
    """(option with its argument, what it does) of each line that tells of one."""
    return [match.groups() for match in map(OPTION.match, text.split("\n")) if match]


class Command:
    def __init__(self, wick, name):
        text = said(wick, "help", name)
        head = re.match(r"usage: (.*)\n((?:.+\n)+)\n", text)
        self.name, self.usage, self.summary = name, head.group(1), " ".join(head.group(2).split())
        self.options, self.opens_models = options(text), "wick help models" in text


class Commands:
    def __init__(self, wick):
        self.overview = said(wick, "help")
        self.title, self.end = (self.overview.strip().split("\n\n")[at].replace("\n", " ") for at in (0, -1))
        self.all = [Command(wick, name) for name in re.findall(r"^  (\w+) ", self.overview, re.M)]
        models = said(wick, "help", "models")
        self.models, self.model_options = " ".join(models.split("\n\n")[0].split()), options(models)
        self.inputs = said(wick, "help", "inputs")


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def table(rows):
    rows = [f"| `{option}` | {cell(what)} |" for option, what in rows]
    return "| Option | What it does |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else ""


def page(wick):
    commands = Commands(wick)
    text = "# Commands\n\n" + f"```text\n{commands.overview}```\n"
    for command in commands.all:
        text += f"\n## wick {command.name}\n\n```sh\n{command.usage}\n```\n\n{command.summary}\n\n{table(command.options)}"
        if command.opens_models:
            text += "\nAnd the options [of models](#models).\n"
    text += "\n## Models\n\n" + commands.models + "\n\n" + table(commands.model_options)
    text += "\n## Inputs\n\n```text\n" + commands.inputs + "```\n"
    return text
