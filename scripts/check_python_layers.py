#!/usr/bin/env python3
"""The modules of a package import each other in one direction, inside functions as well as at their head.

usage: check_python_layers.py python/wick/jit
LAYERS is the order of the modules: each imports those of the lines above its own alone, and what is around the package.
What they need of later ones stands in one table, that of _later.py.
"""
import ast, os, sys

LAYERS = """
_activations _containers _devices _executors _frontend _later _logging _missing _nnc _refine _registry _schema
_from_torch _frozen _hooks
_modifiers
_types
_arguments _graph_types
_function_schema _graph _symbolic annotations
_program
_builtins _classes frontend
_state
_script
_native _passes _recursive
_module
_archive _trace
_alias_check _debug _decompositions
_unit_internals
_flat_names _internals
"""


def imports(path, modules):
    """(line, module) of each import of a module of the same folder."""
    with open(path) as f:
        tree = ast.parse(f.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("wick.jit"):
            rest = node.module.split(".")[2:]
            names = rest[:1] or [alias.name for alias in node.names]
        else:
            names = []
        yield from ((node.lineno, name) for name in names if name in modules)


def main(folder):
    modules = {name[:-3] for name in os.listdir(folder) if name.endswith(".py") and name != "__init__.py"}
    rank = {name: i for i, line in enumerate(LAYERS.split("\n")) for name in line.split()}
    problems = [f"{name}: not in the order of {sys.argv[0]}" for name in sorted(modules ^ set(rank))]
    for name in sorted(modules & set(rank)):
        path = os.path.join(folder, name + ".py")
        problems += [f"{path}:{line}: imports {other}, which is not above it"
                     for line, other in imports(path, modules) if rank.get(other, -1) >= rank[name] and other != name]
    print("\n".join(problems), end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
