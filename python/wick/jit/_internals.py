"""What torch has in torch._C of modules: ScriptModule._c, and functions that take it."""

from ..futures import Future
from . import _alias_check, _debug, _decompositions, _executors, _function_schema, _nnc, _passes, _unit_internals
from ._containers import ScriptDict, ScriptList
from ._graph_types import ClassType
from ._script import ScriptFunction


class ScriptObject:
    """A module of a program without what nn.Module is: `_c` of a ScriptModule."""

    def __init__(self, handle):
        self.__dict__["_script_handle"] = handle

    def _get_method(self, name):
        """A compiled method; RuntimeError where there is none."""
        if not self._has_method(name):
            raise RuntimeError("Method '%s' is not defined." % name)
        return ScriptFunction(self._script_handle, name)

    def _has_method(self, name):
        return name in self._script_handle.names()

    def _method_names(self):
        return self._script_handle.names()

    def _get_methods(self):
        return [self._get_method(name) for name in self._method_names()]

    def _attribute_names(self):
        return [name for name, _, _ in self._script_handle.attributes()]

    def hasattr(self, name):
        """Whether it is an attribute, or a submodule."""
        return name in self._attribute_names()

    def getattr(self, name):
        """The value of an attribute; a submodule as a ScriptObject."""
        if not self.hasattr(name):
            raise AttributeError("'%s' object has no attribute '%s'" % (self._type().name(), name))
        return _bare(self._script_handle.get(name))

    def setattr(self, name, value):
        """Writes an attribute."""
        self._script_handle.set(name, value)

    def _type(self):
        return ClassType(self._script_handle.class_name, self._script_handle.class_identity)

    @property
    def qualified_name(self):
        """The name of its class in programs."""
        return self._script_handle.class_name

    def _clone(self):
        return ScriptObject(self._script_handle.clone())

    @property
    def code(self):
        """Forward's code, as archives have it."""
        return self._get_method("forward").code

    @property
    def code_with_constants(self):
        """Forward's code and the constants that it names."""
        return self._get_method("forward").code_with_constants

    def dump_to_str(self, code=True, attrs=True, params=True):
        """Its class, attributes, the code of its methods and its submodules, as text."""
        lines = ["module %s {" % self._type().str(), "  parameters {"]
        kept = self._script_handle.attributes()
        tensors = [name for name, kind, _ in kept if kind]
        lines += ["    %s = %s" % (name, "..." if not params else self.getattr(name)) for name in tensors]
        lines += ["  }", "  attributes {"]
        others = [name for name, kind, _ in kept if not kind and not isinstance(self.getattr(name), ScriptObject)]
        lines += ["    %s = %s" % (name, "..." if not attrs else self.getattr(name)) for name in others]
        lines += ["  }", "  methods {"]
        if code:
            for method in self._get_methods():
                lines += ["    method %s {" % method.name]
                lines += ["      " + line for line in str(method.graph).rstrip().splitlines()] + ["    }"]
        lines += ["  }", "  submodules {"]
        for _, inner in _ModuleDict(self).items():
            lines += ["    " + line for line in inner.dump_to_str(code, attrs, params).splitlines()]
        return "\n".join(lines + ["  }", "}"]) + "\n"

    def dump(self, code=True, attrs=True, params=True):
        """Prints that."""
        print(self.dump_to_str(code, attrs, params), end="")

    def __getattr__(self, name):
        if name in self._script_handle.names():
            return self._get_method(name)
        if self.hasattr(name):
            return self.getattr(name)
        raise AttributeError("'torch._C.ScriptModule' object has no attribute '%s'" % name)

    def __eq__(self, other):
        if not isinstance(other, ScriptObject):
            return NotImplemented
        return self._script_handle.is_same(other._script_handle)

    def __hash__(self):
        return hash(self._script_handle.class_name)


def _bare(value):
    """What torch._C gives: modules without what nn.Module is."""
    handle = getattr(value, "__dict__", {}).get("_script_handle")
    return value if handle is None else ScriptObject(handle)


class _Dict:
    """Some of the attributes of a module of a program, by name."""

    def __init__(self, module):
        self._module = module

    def _names(self):
        return [name for name, kind, _ in self._module._script_handle.attributes() if self._is_one(name, kind)]

    def items(self):
        """Names and values."""
        return [(name, self._module.getattr(name)) for name in self._names()]

    def contains(self, name):
        """Whether there is one of that name."""
        return name in self._names()

    def getattr(self, name):
        """One of them."""
        if not self.contains(name):
            raise AttributeError(name)
        return self._module.getattr(name)

    def setattr(self, name, value):
        """Writes one of them."""
        self._module.setattr(name, value)


class _ParameterDict(_Dict):
    """The parameters."""

    def _is_one(self, name, kind):
        return kind == 1


class _BufferDict(_Dict):
    """The buffers."""

    def _is_one(self, name, kind):
        return kind == 2


class _ModuleDict(_Dict):
    """The submodules."""

    def _is_one(self, name, kind):
        return kind == 0 and isinstance(self._module.getattr(name), ScriptObject)


def _interfaces(module, path=""):
    """Attributes that are interfaces, of a module and those that it holds."""
    found = []
    for name, kind, text in module._script_handle.attributes():
        inner = None if kind else module.getattr(name)
        if isinstance(inner, ScriptObject):
            if inner.qualified_name != text:
                found.append(path + name)
            found += _interfaces(inner, path + name + ".")
    return found


def _parameters(module, path=""):
    """The names of parameters, of a module and those that it holds."""
    found = [path + name for name, _ in _ParameterDict(module).items()]
    for name, inner in _ModuleDict(module).items():
        found += _parameters(inner, path + name + ".")
    return found


def _freeze_module(module, preservedAttrs=(), freezeInterfaces=True, preserveParameters=False):
    """The module with its attributes as constants, but for those that are named and, where they are to be preserved,
    parameters."""
    if not freezeInterfaces and _interfaces(module):
        raise RuntimeError("attempted to freeze a module that uses interface attributes")
    preserved = list(preservedAttrs) + (_parameters(module) if preserveParameters else [])
    return ScriptObject(module._script_handle.freeze(preserved, True, True))


def _log_api_usage_once(event):
    """Nothing: wick tells nobody what is used."""


def _infer_size(a, b):
    """The size that tensors of two sizes have together."""
    from .. import broadcast_shapes
    return broadcast_shapes(a, b)


def _get_max_operator_version():
    """The newest version of operators in torch's archives that wick writes."""
    return 10


def _is_tracing():
    """Whether a program is being traced."""
    return _unit_internals.get_tracing_state() is not None


def _jit_has_cpp_tests():
    """False: wick's own tests in C are programs of their own."""
    return False


def _erase_non_input_shapes(graph):
    """Forgets what is known of tensors, but for those that the graph is given."""
    kept = [(value, value.type()) for value in graph.inputs()]
    graph.run_pass("erase_shape_information")
    for value, kind in kept:
        value.setType(kind)


NAMES = {
    "_get_max_operator_version": _get_max_operator_version, "_infer_size": _infer_size, "_is_tracing": _is_tracing,
    "_jit_erase_non_input_shape_information": _erase_non_input_shapes, "_jit_has_cpp_tests": _jit_has_cpp_tests,
    "BufferDict": _BufferDict, "ClassType": ClassType, "Future": Future, "ModuleDict": _ModuleDict,
    "ParameterDict": _ParameterDict, "ScriptDict": ScriptDict, "ScriptFunction": ScriptFunction,
    "ScriptList": ScriptList, "ScriptMethod": ScriptFunction, "ScriptModule": ScriptObject,
    "_freeze_module": _freeze_module, "_log_api_usage_once": _log_api_usage_once,
    **_passes.NAMES, **_executors.NAMES, **_debug.NAMES, **_function_schema.NAMES, **_unit_internals.NAMES,
    **_nnc.NAMES, **_decompositions.NAMES, **_alias_check.NAMES,
}


def find(name):
    """A name of torch._C; None: there is none here."""
    found = NAMES.get(name)
    if found is None and name.startswith("_jit_pass_"):
        found = _passes.pass_of(name[len("_jit_pass_"):])
    return found
