"""ScriptModule: a module of Python that stands for one of a program, with the same tensors."""

import functools
import inspect
import io
import textwrap
import types

from .. import _C
from .. import nn
from . import _from_torch, _modifiers, _program, _recursive
from ._script import ScriptFunction, save_program

class ScriptModule(nn.Module):
    """A module whose methods are compiled.

    What `script` gives is a RecursiveScriptModule. Derived by hand, a class's methods that are marked `script_method`
    are compiled when its __init__ has ended.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        init = vars(cls).get("__init__")
        if init is None or cls.__name__ == "RecursiveScriptModule" or getattr(init, "_compiles", False):
            return

        @functools.wraps(init)
        def compiling(self, *args, **kw):
            depth = self.__dict__.get("_depth", 0)
            self.__dict__["_depth"] = depth + 1
            try:
                init(self, *args, **kw)
            finally:
                self.__dict__["_depth"] = depth
            if depth == 0:
                self.__dict__.pop("_depth", None)
                _compile_in_place(self)
        compiling._compiles = True
        cls.__init__ = compiling

    def _is_compiled(self):
        return "_script_handle" in self.__dict__

    # ---- attributes ----

    def __getattr__(self, name):
        fields = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if name in fields.get(table, ()):
                return fields[table][name]
        methods = fields.get("_methods")
        if methods is None:
            return super().__getattr__(name)
        method = methods.get(name)
        if method is not None:
            return method
        handle = fields["_script_handle"]
        if name in fields["_attribute_names"]:
            return handle.get(name)
        if name in handle.names():
            methods[name] = ScriptFunction(handle, name)
            return methods[name]
        getter = "__%s_getter" % name
        if getter in handle.names():
            return handle.function(getter)()
        kind = fields.get("_kind")
        if kind is not None:
            if name in kind.constants:
                return kind.constants[name]
            if name in kind.functions:
                return kind.functions[name]
            if name in kind.failed:
                raise AttributeError("'%s' is no attribute of the compiled module: %s" % (name, kind.failed[name]))
            member = inspect.getattr_static(kind.python_class, name, None)
            if isinstance(member, types.FunctionType):
                if _modifiers.modifier_of(member) == _modifiers.UNUSED:
                    raise AttributeError("'%s' is marked as unused and was not compiled" % name)
                return types.MethodType(member, self)
            if isinstance(member, (staticmethod, classmethod)):
                return getattr(kind.python_class, name)
            if isinstance(member, property):
                return member.fget(self)
        raise AttributeError("'%s' has no attribute '%s'" % (fields.get("original_name", type(self).__name__), name))

    def __setattr__(self, name, value):
        fields = self.__dict__
        handle = fields.get("_script_handle")
        if handle is None:
            super().__setattr__(name, value)
            return
        if name in fields["_attribute_names"]:
            handle.set(name, value)
            if name in fields["_parameters"]:
                fields["_parameters"][name] = value
            elif name in fields["_buffers"]:
                fields["_buffers"][name] = value
            elif name == "training":
                fields["training"] = bool(value)
        elif name in fields["_modules"]:
            handle.set(name, value._script_handle)
            fields["_modules"][name] = value
        elif "__%s_setter" % name in handle.names():
            handle.function("__%s_setter" % name)(value)
        elif name.startswith("_"):
            fields[name] = value
        else:
            raise AttributeError("a compiled module gets no new attribute: '%s'" % name)

    def __delattr__(self, name):
        if self._is_compiled():
            raise AttributeError("a compiled module keeps its attributes: '%s'" % name)
        super().__delattr__(name)

    def __dir__(self):
        names = list(super().__dir__())
        if self._is_compiled():
            names += self._attribute_names
            names += self._script_handle.names()
        return sorted(set(names))

    # ---- as a program ----

    @property
    def forward(self):
        """The compiled method."""
        return self._method("forward")

    def _method(self, name):
        if not self._is_compiled():
            raise AttributeError(name)
        method = self._methods.get(name)
        if method is None:
            method = self._methods[name] = ScriptFunction(self._script_handle, name)
        return method

    @property
    def graph(self):
        """That of forward, as it was compiled."""
        return self._method("forward").graph

    @property
    def inlined_graph(self):
        """That of forward with what it calls in its place."""
        return self._method("forward").inlined_graph

    @property
    def code(self):
        """That of forward, as archives have it."""
        return self._method("forward").code

    @property
    def code_with_constants(self):
        """Forward's code and the constants that it names."""
        return self._method("forward").code_with_constants

    @property
    def schema(self):
        """Forward's parameters and results."""
        return self._method("forward").schema

    def graph_for(self, *args, **kwargs):
        """The graphs that run for such arguments."""
        return self._method("forward").graph_for(*args, **kwargs)

    def define(self, src):
        """Adds the methods of a text of TorchScript; their first parameter is self."""
        frame = inspect.currentframe().f_back
        builder = _program.Builder()
        builder.things.update({**frame.f_globals, **frame.f_locals})
        _C.compile_text(textwrap.dedent(src), "<define>", builder.resolve, self._script_handle)

    def save(self, f, _extra_files=None):
        """To a file by its name, or to one that is open for bytes. PyTorch loads it."""
        save_program(self._script_handle, f, _extra_files)

    def save_to_buffer(self, _extra_files=None):
        """What save writes, as bytes."""
        buffer = io.BytesIO()
        self.save(buffer, _extra_files)
        return buffer.getvalue()

    def copy(self):
        """A copy of the module and its tensors."""
        return wrap_module(self._script_handle.clone())

    def __copy__(self):
        return wrap_module(self._script_handle.clone(True))

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return _from_bytes, (self.save_to_buffer(),)

    # ---- what nn.Module does to all tensors ----

    def _apply(self, fn, *args):
        super()._apply(fn, *args)
        if self._is_compiled():
            self._give_tensors()
        return self

    def _give_tensors(self):
        """What the tables of Python hold becomes the program's again."""
        for table in (self._parameters, self._buffers):
            for name, value in table.items():
                if value is not None:
                    self._script_handle.set(name, value)

    def train(self, mode=True):
        """As nn.Module's, in the program too."""
        if self._is_compiled():
            self._script_handle.train(mode)
        fields = self.__dict__
        fields["training"] = bool(mode)
        for child in self.children():
            child.train(mode)
        return self

    def _get_name(self):
        return self.__dict__.get("original_name", type(self).__name__)

    def extra_repr(self):
        """The class that it was made of."""
        return "original_name=%s" % self._get_name() if self._is_compiled() else ""

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        base = _recursive._container_base(self._kind.python_class) if self.__dict__.get("_kind") else ""
        return iter(self._modules.values()) if base != "ModuleDict" else iter(self._modules)

    def __bool__(self):
        return True

    def __getitem__(self, index):
        modules = self._modules
        if isinstance(index, str):
            return modules[index]
        if isinstance(index, slice):
            return nn.ModuleList(list(modules.values())[index])
        return list(modules.values())[index]

    def __contains__(self, name):
        return name in self._modules

    def keys(self):
        """Names of submodules."""
        return self._modules.keys()

    def values(self):
        """Submodules."""
        return self._modules.values()

    def items(self):
        """Names and submodules."""
        return self._modules.items()


def _refuse_hooks(name):
    def register(self, *args, **kwargs):
        if self._is_compiled():
            raise RuntimeError(name + " is not supported on ScriptModules")
        return getattr(nn.Module, name)(self, *args, **kwargs)
    register.__name__, register.__doc__ = name, "Of modules that are not compiled; hooks are compiled with them."
    setattr(ScriptModule, name, register)


for _name in ("register_forward_hook", "register_forward_pre_hook", "register_backward_hook",
              "register_full_backward_hook"):
    _refuse_hooks(_name)


class RecursiveScriptModule(ScriptModule):
    """What `script` and `load` give for a module."""

    def __init__(self, handle):
        super().__init__()
        self._become(handle, {}, None, None)

    def __call__(self, *args, **kwargs):
        return self.__dict__["_call"](*args, **kwargs)

    @classmethod
    def _of(cls, handle, original, children, kind):
        made = cls.__new__(cls)
        nn.Module.__init__(made)
        _become(made, handle, original, children, kind)
        return made


def _become(module, handle, original, children, kind):
    """Makes a new ScriptModule stand for a module of a program, with the tensors of `original` where it has any."""
    fields = module.__dict__
    names = []
    for name, which, text in handle.attributes():
        names.append(name)
        if which == 0:
            continue
        table = fields["_parameters"] if which == 1 else fields["_buffers"]
        value = None
        if original is not None:
            value = _from_torch.adopt(original._parameters.get(name, original._buffers.get(name)))
        if value is None:
            value = handle.get(name)
            if which == 1 and value is not None and not isinstance(value, nn.Parameter):
                value = nn.Parameter(value, requires_grad=value.requires_grad)
                handle.set(name, value)
        table[name] = value
    for name, child in children.items():
        fields["_modules"][name] = child
        if name in names:
            names.remove(name)
    fields["_attribute_names"] = names
    fields["original_name"] = handle.class_name.rpartition(".")[2]
    fields["_methods"] = {}
    fields["_kind"] = kind
    fields["training"] = bool(handle.get("training")) if "training" in names else True
    fields["_script_handle"] = handle
    methods = handle.names()
    if "forward" in methods:
        forward = ScriptFunction(handle, "forward")
        fields["_methods"]["forward"] = forward
        fields["_call"] = handle.call if handle.hook_count() else forward
    else:
        fields["_call"] = functools.partial(_no_forward, fields["original_name"])


def _no_forward(name, *args, **kwargs):
    raise NotImplementedError("Module [%s] is missing the required \"forward\" function" % name)


def wrap_module(handle):
    """A RecursiveScriptModule of a program's module, with those that it holds."""
    children = {}
    for name, which, text in handle.attributes():
        if which == 0 and text.startswith("__torch__."):
            try:
                inner = handle.submodule(name)
            except (RuntimeError, ValueError):
                continue
            children[name] = wrap_module(inner)
    return RecursiveScriptModule._of(handle, None, children, _recursive.kinds.get(handle.class_name))


def _from_bytes(data):
    return wrap_module(_C.load_program(data))


def _compile_in_place(module):
    scripted = _recursive.create(module)
    children = dict(scripted._modules)
    handle, kind = scripted._script_handle, scripted._kind
    original = _Tables(dict(module._parameters), dict(module._buffers))
    for name in list(vars(module)):
        if name not in _KEPT:
            del module.__dict__[name]
    nn.Module.__init__(module)
    _become(module, handle, original, children, kind)


class _Tables:
    def __init__(self, parameters, buffers):
        self._parameters, self._buffers = parameters, buffers


_KEPT = set()


def script_method(fn):
    """A method of a class that derives from ScriptModule; it is compiled when an object is made."""
    return _modifiers.export(fn)
