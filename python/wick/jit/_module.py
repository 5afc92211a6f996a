"""ScriptModule: a module of Python that stands for one of a program, with the same tensors."""

import functools
import inspect
import io
import textwrap
import types
from collections import OrderedDict

from .. import _C
from .. import nn
from . import _arguments, _from_torch, _later, _modifiers, _program, _recursive
from ._script import ScriptFunction, save_program

def _compiling(init):
    """An __init__ after whose end, the outermost one's, the module is compiled."""
    @functools.wraps(init)
    def compiling(self, *args, **kwargs):
        depth = self.__dict__.get("_depth", 0)
        self.__dict__["_depth"] = depth + 1
        try:
            init(self, *args, **kwargs)
        finally:
            self.__dict__["_depth"] = depth
        if depth == 0:
            self.__dict__.pop("_depth", None)
            _compile_in_place(self)
    return compiling


class _ScriptMethod:
    """A method marked `script_method`, until its class is made: objects have the compiled one."""

    def __init__(self, function):
        self.function = function


class ScriptModule(nn.Module):
    """A module whose methods are compiled.

    What `script` gives is a RecursiveScriptModule. Derived by hand, a class's methods that are marked `script_method`
    are compiled when its __init__ has ended, with those that `define` added; the others are Python's.
    """

    _script_handle = None  # the module of a program
    _script_methods = {}  # of a class and its bases: name -> function

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        methods = {}
        for base in reversed(cls.__bases__):
            methods.update(getattr(base, "_script_methods", {}))
        for name, member in list(vars(cls).items()):
            if isinstance(member, _ScriptMethod):
                methods[name] = member.function
                delattr(cls, name)
        cls._script_methods = methods
        if "__init__" in vars(cls) and cls.__name__ != "RecursiveScriptModule":
            cls.__init__ = _compiling(vars(cls)["__init__"])

    @_compiling
    def __init__(self):
        nn.Module.__init__(self)

    def __call__(self, *args, **kwargs):
        call = self.__dict__.get("_call")
        if call is None or type(self).forward is not ScriptModule.forward:
            return super().__call__(*args, **kwargs)
        return call(*args, **kwargs)

    def _is_compiled(self):
        return "_script_handle" in self.__dict__

    @property
    def _c(self):
        """The module of the program alone."""
        if not self._is_compiled():
            raise AttributeError("_c")
        return _later.ScriptObject(self._script_handle)

    @_c.setter
    def _c(self, module):
        handle, fields = module._script_handle, self.__dict__
        fields["_modules"] = OrderedDict()
        _become(self, handle, None, _children_of(handle), None)

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
                raise AttributeError("'%s' is no attribute of the compiled module: %s" % (name, kind.failed[name][1]))
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
        if handle is None or name == "_c":
            super().__setattr__(name, value)
            return
        if name in fields["_attribute_names"]:
            try:
                handle.set(name, value)
            except RuntimeError as error:
                raise RuntimeError("Could not cast attribute '%s' to type %s" % (name, str(error).partition(
                    "should be of type ")[2] or error)) from None
            if name == "training":
                fields["training"] = bool(value)
        elif isinstance(value, nn.Module):
            self.add_module(name, value)
        elif name in fields["_modules"]:
            _refuse_module(name, value)
        elif "__%s_setter" % name in handle.names():
            handle.function("__%s_setter" % name)(value)
        elif isinstance(value, nn.Parameter):
            _refuse_tensor(name)
        elif fields["_kind"] is not None and name in fields["_kind"].constants:
            raise AttributeError("Cannot mutate TorchScript constant value: '%s'. Value: '%s'" % (name, value))
        else:  # Python's alone
            fields[name] = value

    def __delattr__(self, name):
        if self._is_compiled() and (name in self._attribute_names or name in self._script_handle.names()
                                    or name in self._modules):
            raise RuntimeError("cannot delete methods or parameters of a script module")
        super().__delattr__(name)

    def register_parameter(self, name, param):
        """Of a module that is not compiled yet."""
        if self._is_compiled() and name not in self._parameters:
            _refuse_tensor(name)
        super().register_parameter(name, param)

    def register_buffer(self, name, tensor, persistent=True):
        """Of a module that is not compiled yet."""
        if self._is_compiled() and name not in self._buffers:
            _refuse_tensor(name)
        super().register_buffer(name, tensor, persistent)

    def add_module(self, name, module):
        """A compiled module in the place of one that is there."""
        if not self._is_compiled():
            super().add_module(name, module)
            return
        if not isinstance(module, ScriptModule) or name not in self._modules:
            _refuse_module(name, module)
        self._script_handle.set(name, module._script_handle)
        self._modules[name] = module

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
        if self._is_compiled() and "forward" not in self._script_handle.names():
            raise AttributeError("'RecursiveScriptModule' object has no attribute 'forward'")
        return self._method("forward")

    def _method(self, name):
        if not self._is_compiled():
            raise AttributeError(name)
        method = self._methods.get(name)
        if method is None:
            method = self._methods[name] = ScriptFunction(self._script_handle, name)
            method.is_overridable = True
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

    def _repr_html_(self):
        from .. import _html
        return _html.module(self)

    def get_debug_state(self):
        """What forward's executor has made."""
        return self._method("forward").get_debug_state()

    def graph_for(self, *args, **kwargs):
        """The graphs that run for such arguments."""
        return self._method("forward").graph_for(*args, **kwargs)

    def define(self, src):
        """Adds the methods of a text of TorchScript; their first parameter is self."""
        frame = inspect.currentframe().f_back
        names = {**frame.f_globals, **frame.f_locals}
        if not self._is_compiled():
            self.__dict__.setdefault("_defined", []).append((textwrap.dedent(src), names))
            return
        builder = _program.Builder()
        builder.things.update(names)
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
        return type(self).__name__

    def extra_repr(self):
        """The class that it was made of."""
        return "original_name=%s" % self.original_name if isinstance(self, RecursiveScriptModule) else ""

    def _own(self, name):
        """The method of that name which the class of a container defines itself; None: it does not."""
        if self._is_compiled() and name in self._script_handle.names():
            return self._method(name)
        kind = self.__dict__.get("_kind")
        member = _recursive._members(kind.python_class).get(name) if kind is not None else None
        return types.MethodType(member, self) if isinstance(member, types.FunctionType) else None

    def __len__(self):
        own = self._own("__len__")
        return len(self._modules) if own is None else own()

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
        own = self._own("__contains__")
        return name in self._modules if own is None else own(name)

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
        nn.Module.__init__(self)
        _become(self, handle, None, {}, None)

    def __call__(self, *args, **kwargs):
        return self.__dict__["_call"](*args, **kwargs)

    @classmethod
    def _of(cls, handle, original, children, kind):
        made = cls.__new__(cls)
        nn.Module.__init__(made)
        _become(made, handle, original, children, kind)
        return made


class _Tensors(OrderedDict):
    """The parameters or the buffers of a compiled module, as its program has them now."""

    def __init__(self, handle, names):
        super().__init__()
        self._handle = handle
        for name in names:
            OrderedDict.__setitem__(self, name, None)
            self[name]

    def __getitem__(self, name):
        known = OrderedDict.__getitem__(self, name)
        value = self._handle.get(name)
        if value is not known:  # held, for what Python keeps with it
            OrderedDict.__setitem__(self, name, value)
        return value

    def get(self, name, default=None):
        return self[name] if name in self else default

    def __setitem__(self, name, value):
        if name not in self:
            _refuse_tensor(name)
        self._handle.set(name, value)
        OrderedDict.__setitem__(self, name, value)

    def __delitem__(self, name):
        raise RuntimeError("cannot delete methods or parameters of a script module")

    def values(self):
        return [self[name] for name in self]

    def items(self):
        return [(name, self[name]) for name in self]


def _refuse_tensor(name):
    raise RuntimeError("Can't add a new parameter after ScriptModule construction. Tried to add '%s'" % name)


def _refuse_module(name, module):
    raise RuntimeError("Cannot re-assign modules in a ScriptModule with non-scripted module, tried to replace "
                       "existing module '%s': %s" % (name, module))


def _become(module, handle, original, children, kind):
    """Makes a new ScriptModule stand for a module of a program, whose tensors are those of `original`, if any."""
    fields = module.__dict__
    names, tables = [], ([], [], [])
    for name, which, text in handle.attributes():
        names.append(name)
        tables[which].append(name)
    fields["_parameters"], fields["_buffers"] = _Tensors(handle, tables[1]), _Tensors(handle, tables[2])
    if original is None:
        for value in fields["_parameters"].values():
            if type(value) is _C.Tensor:
                value.__class__ = nn.Parameter
    else:
        fields["_non_persistent_buffers_set"] = set(original._non_persistent_buffers_set)
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
        forward.is_overridable = True
        fields["_methods"]["forward"] = forward
        fields["_call"] = handle.call if handle.hook_count() else forward
    elif "forward__0" in methods:
        overloads = [ScriptFunction(handle, name) for name in methods if name.startswith("forward__")]
        fields["_methods"]["forward"] = fields["_call"] = functools.partial(_call_overloaded, overloads)
    else:
        fields["_call"] = functools.partial(_no_forward, fields["original_name"])


def _call_overloaded(methods, *args, **kwargs):
    return _arguments.call_overloaded(methods, args, kwargs)


def _no_forward(name, *args, **kwargs):
    raise AttributeError("'RecursiveScriptModule' object has no attribute 'forward': %s has no such method" % name)


def _children_of(handle):
    children = {}
    for name, which, text in handle.attributes():
        if which == 0 and text.startswith("__torch__."):
            try:
                inner = handle.submodule(name)
            except (RuntimeError, ValueError):
                continue
            children[name] = wrap_module(inner)
    return children


def wrap_module(handle, is_frozen=False):
    """A RecursiveScriptModule of a program's module, with those it holds; nothing of a frozen one is Python's."""
    children = _children_of(handle)
    kind = None if is_frozen else _recursive.kinds.get(handle.class_name)
    return RecursiveScriptModule._of(handle, None, children, kind)


def _from_bytes(data):
    return wrap_module(_C.load_program(data))


def _compile_in_place(module):
    scripted = _recursive.create(module)
    children = dict(scripted._modules)
    handle, kind = scripted._script_handle, scripted._kind
    kept = {name: value for name, value in vars(module).items() if name in kind.failed}
    module.__dict__.clear()
    nn.Module.__init__(module)
    module.__dict__.update(kept)
    _become(module, handle, scripted, children, kind)


def script_method(fn):
    """A method of a class that derives from ScriptModule; it is compiled when an object is made."""
    return _ScriptMethod(fn)
