"""Annotations of Python as types of programs, under torch's names."""

import ast
import inspect
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401

from . import _graph_types, _types
from ._types import (BroadcastingList1, BroadcastingList2, BroadcastingList3, BroadcastingList4,  # noqa: F401
                     BroadcastingList5, BroadcastingList6)


def ann_to_type(ann, loc=None, rcb=None):
    """The type that an annotation stands for; ValueError where it stands for none."""
    found = try_ann_to_type(ann, loc, rcb)
    if found is None:
        raise ValueError("Unknown type annotation: '%s'" % (ann if isinstance(ann, str)
                                                            else getattr(ann, "__name__", ann)))
    return found


def try_ann_to_type(ann, loc=None, rcb=None):
    """The same; None where it stands for none."""
    if ann is inspect.Signature.empty:
        return _graph_types.TensorType.getInferred()
    try:
        return _graph_types.of_annotation(_types.type_text(ann))
    except (RuntimeError, TypeError, KeyError, ValueError):
        return None


def get_num_params(fn, loc=None):
    """How many parameters a function has; None: its source can't be had."""
    try:
        code = fn.__code__
    except AttributeError:
        return None
    count = code.co_argcount + code.co_kwonlyargcount
    return count - 1 if inspect.ismethod(fn) else count


def get_param_names(fn, n_args):
    """The names of a function's parameters."""
    if isinstance(fn, (type,)) or not callable(fn):
        return [str(i) for i in range(n_args)]
    try:
        return list(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return [str(i) for i in range(n_args)]


def is_vararg(the_callable):
    """Whether it takes any number of arguments."""
    function = the_callable if inspect.isfunction(the_callable) or inspect.ismethod(the_callable) \
        else getattr(the_callable, "__call__", None)
    try:
        return inspect.getfullargspec(function).varargs is not None
    except TypeError:
        return False


def split_type_line(type_line):
    """The halves of `# type: (PARAMETERS) -> RESULT`."""
    try:
        arrow = type_line.index("->")
    except ValueError:
        raise RuntimeError("Syntax error in type annotation (couldn't find `->`)") from None
    return type_line[type_line.index("(", type_line.index(":")):arrow].strip(), type_line[arrow + 2:].strip()


def parse_type_line(type_line, rcb=None, loc=None):
    """The parameters' types and the result's of such a comment."""
    parameters, result = split_type_line(type_line)
    try:
        read = [ast.parse(text, mode="eval").body for text in (parameters, result)]
    except SyntaxError as error:
        raise RuntimeError("Failed to parse the argument list of a type annotation") from error
    parts = read[0].elts if isinstance(read[0], ast.Tuple) else [read[0]]
    made = [_graph_types.of_annotation(ast.unparse(part)) for part in parts]
    return made, _graph_types.of_annotation(ast.unparse(read[1]))


def get_signature(fn, rcb=None, loc=None, is_method=False):
    """The parameters' types and the result's of a function that has annotations; None: it has none."""
    signature = inspect.signature(fn)
    parameters = list(signature.parameters.values())[1 if is_method and not inspect.ismethod(fn) else 0:]
    empty = inspect.Signature.empty
    if signature.return_annotation is empty and all(one.annotation is empty for one in parameters):
        return None
    result = signature.return_annotation
    return ([ann_to_type(one.annotation) for one in parameters],
            ann_to_type(None if result is empty else result))
