"""Prints wick/__init__.pyi: the types of operators as functions and as methods of Tensor, from their schemas.

usage: PYTHONPATH=build/release/python python3 make_stubs.py > __init__.pyi
"""
import keyword
import os
import re
import sys

# wick is the one that was built, not the sources beside this file
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != os.path.dirname(os.path.abspath(__file__))]

from wick import _C  # noqa: E402

BASES = {
    "Tensor": "Tensor", "int": "int", "SymInt": "int", "float": "float", "bool": "bool", "str": "str",
    "complex": "complex", "Scalar": "Number", "ScalarType": "dtype", "Layout": "layout",
    "MemoryFormat": "memory_format", "Device": "Union[device, str]", "Generator": "Generator", "number": "Number",
}


def annotation(text):
    """The Python type of a schema's type: "Tensor(a!)?" and "int[2]"."""
    text = re.sub(r"\([^()]*\)", "", text)
    if text.endswith("?"):
        return "Optional[%s]" % annotation(text[:-1])
    part = re.match(r"(.*)\[(\d*)\]$", text)
    if part:
        element = annotation(part[1])
        return ("Union[{0}, Sequence[{0}]]" if part[2] else "Sequence[{0}]").format(element)
    return BASES.get(text, "Any")


def split(text):
    """The parts of a schema's list, at commas outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def signature(schema, is_method):
    """The parameters and the result of "aten::add.Tensor(Tensor self) -> Tensor"; None for any number of them."""
    begin, end = schema.index("("), schema.rindex(" -> ")
    parameters, keywords_only = [], False
    for i, part in enumerate(split(schema[begin + 1:schema.rindex(")", 0, end)])):
        if part == "...":
            return None
        if part == "*":
            keywords_only = True
            parameters.append("*")
            continue
        declared, _, default = part.partition("=")
        kind, name = declared.rsplit(" ", 1)
        if is_method and i == 0:
            parameters.append("self")
            continue
        name = "input" if name == "self" else name + "_" if keyword.iskeyword(name) else name
        parameters.append("%s: %s%s" % (name, annotation(kind), " = ..." if default else ""))
    result = schema[end + 4:].strip()
    if result == "()":
        gives = "None"
    elif result.startswith("("):
        gives = "Tuple[%s]" % ", ".join(annotation(part.split(" ")[0]) for part in split(result[1:-1]))
    else:
        gives = annotation(result.split(" ")[0]).replace("Sequence[Tensor]", "Tuple[Tensor, ...]")
    return "(%s) -> %s: ..." % (", ".join(parameters), gives)


def definitions(name, operator, is_method, indent):
    """The lines that declare an operator."""
    found = []
    for schema in operator.schemas:
        if is_method and not re.search(r"\(Tensor(\([^)]*\))? self", schema):
            continue
        line = signature(schema, is_method)
        if line and line not in found and ("Tensor" in schema or "ScalarType" in schema):
            found.append(line)
    mark = [indent + "@overload"] if len(found) > 1 else []
    return [line for body in found for line in mark + [indent + "def %s%s" % (name, body)]]


def main():
    print('"""Types of wick, made from the schemas of its operators."""')
    print("from typing import Any, Optional, Sequence, Tuple, Union, overload")
    print("from ._C import Generator, Size, device, dtype, layout, memory_format")
    print("\nNumber = Union[int, float, complex, bool]")
    for name, value in sorted(vars(_C).items()):
        if isinstance(value, (_C.dtype, _C.layout, _C.memory_format)):
            print("%s: %s" % (name, type(value).__name__))
    names = sorted(name[6:] for name in _C.operator_names()
                   if name.startswith("aten::") and name[6:].isidentifier() and not keyword.iskeyword(name[6:]))
    methods = _C.method_names()
    print("\n\nclass Tensor:")
    for line in ("shape: Size", "dtype: dtype", "device: device", "layout: layout", "ndim: int", "data: Tensor",
                 "requires_grad: bool", "grad: Optional[Tensor]", "is_leaf: bool"):
        print("    " + line)
    for name in names:
        if name in methods:
            print("\n".join(definitions(name, _C.operator("aten::" + name), True, "    ")))
    print("    def __getattr__(self, name: str) -> Any: ...\n\n")
    for name in names:
        operator = _C.operator("aten::" + name)
        if operator.is_callable:
            print("\n".join(definitions(name, operator, False, "")))
    print("\n\ndef __getattr__(name: str) -> Any: ...")


if __name__ == "__main__":
    main()
