"""Graph: Nodes in the order in which they run, and the code of a `forward` that does what they say."""
import builtins
import contextlib
import keyword
import re

from .node import Node, map_arg, qualified_name

_INFIX = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "mod": "%", "pow": "**", "and_": "&",
          "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "eq": "==", "ne": "!=",
          "gt": ">", "ge": ">=", "matmul": "@"}
_PREFIX = {"neg": "-", "invert": "~", "pos": "+"}


class PythonCode:
    """The text of a `forward`, and the global names that it needs."""

    def __init__(self, src, globals):
        self.src, self.globals = src, globals


class CodeGen:
    """Writes the code of a Graph."""

    def __init__(self):
        self.globals = {}

    def name_of(self, thing):
        """The global name of a function or value."""
        path = qualified_name(thing)
        if path.partition(".")[0] == "torch" and _reached(path) is thing:
            import wick
            self.globals["torch"] = wick
            return path
        if getattr(builtins, path, None) is thing:
            return path
        name = re.sub(r"\W", "_", path)
        while self.globals.get(name, thing) is not thing:
            name += "_1"
        self.globals[name] = thing
        return name

    def text(self, value):
        """An argument as code."""
        if isinstance(value, Node):
            return value.name
        if isinstance(value, tuple):
            items = ", ".join(map(self.text, value)) + ("," if len(value) == 1 else "")
            return "%s(%s)" % (self.name_of(type(value)), items) if hasattr(value, "_fields") else "(%s)" % items
        if isinstance(value, list):
            return "[%s]" % ", ".join(map(self.text, value))
        if isinstance(value, dict):
            return "{%s}" % ", ".join("%r: %s" % (key, self.text(item)) for key, item in value.items())
        if isinstance(value, slice):
            return "slice(%s)" % ", ".join(map(self.text, (value.start, value.stop, value.step)))
        if value is None or value is Ellipsis or isinstance(value, (bool, int, str)):
            return "..." if value is Ellipsis else repr(value)
        if isinstance(value, (float, complex)):
            return repr(value) if value == value and abs(value) != float("inf") else "float('%r')" % value
        text = repr(value)
        if text.startswith("torch.") and _reached(text) is value or type(value).__name__ in ("device", "Size"):
            import wick
            self.globals["torch"] = wick
            return text if text.startswith("torch.") else "torch." + text
        if isinstance(value, type):
            return self.name_of(value)
        raise NotImplementedError("an argument that is a %s has no code" % type(value).__name__)

    def call(self, node):
        """The expression of a call."""
        args = [self.text(arg) for arg in node.args]
        args += ["%s = %s" % (name, self.text(value)) for name, value in node.kwargs.items()]
        if node.op == "call_module":
            return "%s(%s)" % (_attribute("self", node.target), ", ".join(args))
        if node.op == "call_method":
            return "%s.%s(%s)" % (args[0], node.target, ", ".join(args[1:]))
        name = getattr(node.target, "__name__", "")
        if getattr(node.target, "__module__", None) == "_operator" and not node.kwargs:
            if name in _INFIX and len(args) == 2:
                return "%s %s %s" % (args[0], _INFIX[name], args[1])
            if name in _PREFIX and len(args) == 1:
                return _PREFIX[name] + args[0]
            if name == "getitem":
                return "%s[%s]" % (args[0], args[1])
        if node.target is getattr and len(args) == 2 and str(node.args[1]).isidentifier():
            return "%s.%s" % (args[0], node.args[1])
        return "%s(%s)" % (self.name_of(node.target), ", ".join(args))


def _reached(path):
    import wick
    found = wick
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def _attribute(base, path):
    for part in path.split("."):
        base = "%s.%s" % (base, part) if part.isidentifier() else 'getattr(%s, "%s")' % (base, part)
    return base


class Graph:
    """What a traced function or module does; Nodes are added where the insert point is, at the end at first."""

    def __init__(self, owning_module=None, tracer_cls=None):
        self.owning_module, self._tracer_cls = owning_module, tracer_cls
        self._root = Node(self, "", "root", "", (), {})
        self._point = self._root
        self._names = {}

    @property
    def nodes(self):
        """The Nodes in order."""
        return _Nodes(self._root)

    # ---- adding ----

    def _name(self, wanted):
        base = re.sub(r"\W", "_", wanted) or "_"
        base = "_" + base if base[0].isdigit() else base
        if keyword.iskeyword(base) or base in ("self", "torch") or hasattr(builtins, base) and base != "input":
            base += "_1"
        name, found = base, re.fullmatch(r"(.*)_(\d+)", base)
        stem, count = (found.group(1), int(found.group(2))) if found else (base, 0)
        while name in self._names:
            count += 1
            name = "%s_%d" % (stem, count)
        self._names[name] = None
        return name

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """A Node at the insert point."""
        if name is None:
            name = target if isinstance(target, str) else getattr(target, "__name__", "call")
            name = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower() if op != "placeholder" else name
        made = Node(self, self._name(name.lstrip("*")), op, target, args or (), kwargs or {}, type_expr)
        self._point.prepend(made)
        return made

    def placeholder(self, name, type_expr=None, default_value=Node):
        """A parameter."""
        args = () if default_value is Node else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """An attribute of the module, by its path."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """A call of a submodule, by its path."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None):
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, type_expr=type_expr)

    def output(self, result, type_expr=None):
        """What the graph gives."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda node: node):
        """A copy of a Node, of another graph perhaps; arg_transform says what stands for the Nodes that it takes."""
        made = self.create_node(node.op, node.target, map_arg(node.args, arg_transform),
                                map_arg(node.kwargs, arg_transform), node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copies of another graph's Nodes, without the output; what the output would give. val_map: their Nodes and
        what stands for them here."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda used: val_map[used])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda used: val_map[used])
        return None

    @contextlib.contextmanager
    def _inserting(self, point):
        before, self._point = self._point, point
        try:
            yield
        finally:
            self._point = before

    def inserting_before(self, n=None):
        """A context in which Nodes are added before `n`; None: at the beginning."""
        return self._inserting(self._root.next if n is None else n)

    def inserting_after(self, n=None):
        """A context in which Nodes are added after `n`; None: at the end."""
        return self._inserting(self._root if n is None else n.next)

    # ---- removing ----

    def erase_node(self, to_erase):
        """Takes out a Node that nothing uses."""
        if to_erase.users:
            raise RuntimeError("Tried to erase Node %s but it still had %d users in the graph: %s!"
                               % (to_erase, len(to_erase.users), dict.fromkeys(to_erase.users)))
        to_erase._unlink()
        to_erase._erased = True
        to_erase._set((), {})

    def eliminate_dead_code(self):
        """Takes out what nothing uses; whether there was any."""
        self.lint()
        changed = False
        for node in reversed(list(self.nodes)):
            if not node.users and not node.is_impure():
                self.erase_node(node)
                changed = True
        return changed

    def lint(self):
        """Raises where a Node takes what comes after it, is of another graph, or has another's name."""
        seen, names = set(), set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError("Node '%s' does not belong to this Graph!" % node.name)
            for used in node.all_input_nodes:
                if used not in seen:
                    raise RuntimeError("Argument '%s' of Node '%s' was used before it has been defined!"
                                       % (used, node))
            if node.name in names:
                raise RuntimeError("Node redefined name %s!" % node.name)
            seen.add(node)
            names.add(node.name)

    # ---- as text ----

    def python_code(self, root_module="self"):
        """The code of a `forward`."""
        writer, parameters, lines, result = CodeGen(), [], [], ""
        last = {}
        for node in self.nodes:
            for used in node.all_input_nodes:
                last[used] = node
        for node in self.nodes:
            dead = [used.name for used in node.all_input_nodes if last[used] is node]
            tail = ";  %s = None" % " = ".join(dead) if dead else ""
            if node.op == "placeholder":
                default = " = %s" % writer.text(node.args[0]) if node.args else ""
                parameters.append(node.target + default)
                if node.target != node.name:
                    lines.append("%s = %s" % (node.name, node.target.lstrip("*")))
            elif node.op == "get_attr":
                lines.append("%s = %s" % (node.name, _attribute(root_module, node.target)))
            elif node.op == "output":
                result = writer.text(node.args[0])
            else:
                lines.append("%s = %s%s" % (node.name, writer.call(node), tail))
        lines.append("return " + (result or "None"))
        head = "def forward(%s):\n" % ", ".join([root_module] + parameters)
        return PythonCode("\n\n\n" + head + "".join("    %s\n" % line for line in lines) + "    ", writer.globals)

    def __str__(self):
        return "graph():" + "".join("\n    " + node.format_node() for node in self.nodes)

    def print_tabular(self):
        """Prints the Nodes as a table."""
        rows = [("opcode", "name", "target", "args", "kwargs")]
        rows += [(n.op, n.name, str(n.target), str(n.args), str(n.kwargs)) for n in self.nodes]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        for row in rows[:1] + [tuple("-" * width for width in widths)] + rows[1:]:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


class _Nodes:
    def __init__(self, root, backwards=False):
        self._root, self._backwards = root, backwards

    def _step(self, node):
        return node.prev if self._backwards else node.next

    def __iter__(self):
        node = self._step(self._root)
        while node is not self._root:
            following = self._step(node)
            if not node._erased:
                yield node
            node = following if node._erased else self._step(node)

    def __reversed__(self):
        return iter(_Nodes(self._root, not self._backwards))

    def __len__(self):
        return sum(1 for _ in self)
