"""Types as objects, as torch._C has them: made of their text in graphs, and giving it.

`str()` of a type is its text in Python ("Optional[Tensor]"), `.str()` that in graphs ("Tensor?").
"""
import re

from .. import _C

_DTYPES = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64",
           "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool",
           "ComplexFloat": "complex64", "ComplexDouble": "complex128", "ComplexHalf": "complex32",
           "QInt8": "qint8", "QUInt8": "quint8", "QInt32": "qint32"}
_SCALARS = {name: scalar for scalar, name in _DTYPES.items()}


class Type:
    """A type of programs."""

    _text = None

    def str(self):
        """Its text in graphs."""
        return self._text

    @property
    def annotation_str(self):
        """Its text in programs."""
        return self.str()

    def __str__(self):
        return self.annotation_str

    __repr__ = __str__

    def kind(self):
        """"TensorType", "ListType" ..."""
        return type(self).__name__

    def containedTypes(self):
        """The types that it is made of."""
        return []

    def isSubtypeOf(self, other):
        """Whether whatever is of this type is of the other one."""
        return _C.type_is_subtype(self.str(), other.str())

    def is_interface_type(self):
        """Whether it is an interface."""
        return False

    def is_complete(self):
        """Whether it is a tensor of which dtype, device, sizes and strides are known."""
        return False

    def __eq__(self, other):
        return isinstance(other, Type) and self.str() == other.str()

    def __hash__(self):
        return hash(self.str())

    def _no_tensor(self, *unused):
        raise RuntimeError("%s is no type of tensors" % self)

    sizes = dim = dtype = scalarType = device = strides = requires_grad = undefined = _no_tensor
    varyingSizes = symbolic_sizes = with_dtype = with_device = with_sizes = contiguous = _no_tensor


def _plain(name, text, annotation=None):
    """A type without parts: NAME.get()."""
    class Plain(Type):
        __doc__ = "The type %s." % text
        _text = text

        @classmethod
        def get(cls):
            """The type."""
            return cls()

        @property
        def annotation_str(self):
            """Its text in programs."""
            return annotation or text
    Plain.__name__ = Plain.__qualname__ = name
    return Plain


IntType = _plain("IntType", "int")
FloatType = _plain("FloatType", "float")
ComplexType = _plain("ComplexType", "complex")
BoolType = _plain("BoolType", "bool")
StringType = _plain("StringType", "str")
NoneType = _plain("NoneType", "NoneType")
NumberType = _plain("NumberType", "Scalar", "number")
AnyType = _plain("AnyType", "Any")
DeviceObjType = _plain("DeviceObjType", "Device")
StreamObjType = _plain("StreamObjType", "Stream")
PyObjectType = _plain("PyObjectType", "PyObject")
SymIntType = _plain("SymIntType", "SymInt", "int")


class TensorType(Type):
    """A tensor, with what is known of it."""

    _fields = ("_dtype", "_sizes", "_strides", "_device", "_requires_grad", "_undefined")

    def __init__(self, **known):
        for name in self._fields:
            setattr(self, name, known.get(name[1:]))

    @classmethod
    def get(cls):
        """Of which nothing is known."""
        return cls()

    @classmethod
    def getInferred(cls):
        """That of a parameter without an annotation."""
        return cls()

    @classmethod
    def create_from_tensor(cls, tensor):
        """All that is known of a tensor."""
        strided = tensor.layout is _C.strided
        return cls(dtype=tensor.dtype, sizes=list(tensor.size()), device=tensor.device,
                   strides=list(tensor.stride()) if strided else None, requires_grad=tensor.requires_grad)

    @property
    def annotation_str(self):
        """Its text in programs."""
        return "Tensor"

    def str(self):
        """Its text in graphs."""
        return self.text("*")

    def text(self, symbol="SS(%d)"):
        """The same, with symbols of sizes."""
        name = "Tensor" if self._dtype is None else _SCALARS[repr(self._dtype).partition(".")[2]]
        if self._undefined:
            return "Tensor[Undefined]" if self._dtype is None else name + "[Undefined]"
        parts = []
        if self._sizes is not None:
            parts += ["*" if size is None else symbol.replace("%d", repr(size)) if size < 0 else "%d" % size
                      for size in self._sizes]
            if self._strides and None not in self._strides:
                parts.append("strides=[%s]" % ", ".join(map(repr, self._strides)))
        if self._requires_grad is not None:
            parts.append("requires_grad=%d" % self._requires_grad)
        if self._device is not None:
            parts.append("device=%s" % self._device)
        if not parts and self._sizes is None:
            return name if self._dtype is None else name + "Tensor"
        return "%s(%s)" % (name, ", ".join(parts))

    def _changed(self, **known):
        made = TensorType()
        made.__dict__.update(self.__dict__)
        for name, value in known.items():
            setattr(made, "_" + name, value)
        return made

    def sizes(self):
        """The size of every dimension, or None where one is not known."""
        if self._sizes is None or any(size is None or size < 0 for size in self._sizes):
            return None
        return list(self._sizes)

    def varyingSizes(self):
        """The size of every dimension, None for one that is not known; None: nor is their number."""
        return None if self._sizes is None else [None if s is None or s < 0 else s for s in self._sizes]

    def symbolic_sizes(self):
        """The same; a symbol of the graph is a number below zero."""
        return None if self._sizes is None else [next_symbol() if s is None else s for s in self._sizes]

    def dim(self):
        """How many dimensions it has, or None."""
        return None if self._sizes is None else len(self._sizes)

    def strides(self):
        """The strides, or None."""
        if self._sizes == [] and self._device is not None and self._dtype is not None:
            return []
        return None if self._strides is None else list(self._strides)

    def dtype(self):
        """The dtype, or None."""
        return self._dtype

    def scalarType(self):
        """"Float", "Long" ..., or None."""
        return None if self._dtype is None else _SCALARS[repr(self._dtype).partition(".")[2]]

    def device(self):
        """The device, or None."""
        return self._device

    def requires_grad(self):
        """False only where it is known that it needs no gradient."""
        return self._requires_grad is None or bool(self._requires_grad)

    def undefined(self):
        """True only where it is known to be undefined."""
        return bool(self._undefined)

    def is_complete(self):
        """Whether dtype, device, sizes and strides are known."""
        return None not in (self._dtype, self._device, self.sizes(), self.strides())

    def with_dtype(self, dtype):
        """The same with a dtype."""
        return self._changed(dtype=dtype)

    def with_device(self, device):
        """The same with a device."""
        return self._changed(device=_C.device(device) if device is not None else None)

    def with_sizes(self, sizes):
        """The same with sizes, None for one that is not known and gets a symbol; without strides."""
        sizes = None if sizes is None else [next_symbol() if size is None else size for size in sizes]
        return self._changed(sizes=sizes, strides=None)

    def contiguous(self):
        """The same with the strides of a tensor that is contiguous."""
        strides, step = [], 1
        for size in reversed(self.sizes() or ()):
            strides.insert(0, step)
            step *= max(size, 1)
        return self._changed(strides=strides)


_symbols = [-1]


def next_symbol():
    """A number for a size that is not known, which no other one has."""
    _symbols[0] -= 1
    return _symbols[0]


class _OfParts(Type):
    def __init__(self, *parts):
        for part in parts:
            if not isinstance(part, Type):
                raise TypeError("%s: a type is expected, not %r" % (type(self).__name__, part))
        self._parts = list(parts)

    def containedTypes(self):
        """The types that it is made of."""
        return list(self._parts)

    def _annotations(self):
        return ", ".join(part.annotation_str for part in self._parts)


class _OfOne(_OfParts):
    def __init__(self, element):
        super().__init__(element)

    def getElementType(self):
        """The type that it is made of."""
        return self._parts[0]


class ListType(_OfOne):
    """A list."""

    annotation_str = property(lambda self: "List[%s]" % self._annotations())

    def str(self):
        """Its text in graphs."""
        return self._parts[0].str() + "[]"

    @staticmethod
    def ofInts():
        """List[int]"""
        return ListType(IntType())

    @staticmethod
    def ofFloats():
        """List[float]"""
        return ListType(FloatType())

    @staticmethod
    def ofBools():
        """List[bool]"""
        return ListType(BoolType())

    @staticmethod
    def ofComplexDoubles():
        """List[complex]"""
        return ListType(ComplexType())

    @staticmethod
    def ofTensors():
        """List[Tensor]"""
        return ListType(TensorType())


class OptionalType(_OfOne):
    """Something, or None."""

    annotation_str = property(lambda self: "Optional[%s]" % self._annotations())

    def __new__(cls, element):
        if isinstance(element, OptionalType):
            return element
        return super().__new__(cls)

    def __init__(self, element):
        if element is not self:
            super().__init__(element)

    def str(self):
        """Its text in graphs."""
        return self._parts[0].str() + "?"

    @staticmethod
    def ofTensor():
        """Optional[Tensor]"""
        return OptionalType(TensorType())


class FutureType(_OfOne):
    """What is computed meanwhile."""

    annotation_str = property(lambda self: "Future[%s]" % self._annotations())

    def str(self):
        """Its text in graphs."""
        return "Future[%s]" % self._parts[0].str()


class RRefType(_OfOne):
    """A reference to what another process has."""

    annotation_str = property(lambda self: "RRef[%s]" % self._annotations())

    def str(self):
        """Its text in graphs."""
        return "RRef[%s]" % self._parts[0].str()


class DictType(_OfParts):
    """A dict."""

    annotation_str = property(lambda self: "Dict[%s]" % self._annotations())

    def __init__(self, key, value):
        super().__init__(key, value)

    def str(self):
        """Its text in graphs."""
        return "Dict(%s, %s)" % tuple(part.str() for part in self._parts)

    def getKeyType(self):
        """The type of its keys."""
        return self._parts[0]

    def getValueType(self):
        """The type of its values."""
        return self._parts[1]


class TupleType(_OfParts):
    """A tuple; of a class with names it has these."""

    def __init__(self, elements, text=None, name=None):
        super().__init__(*elements)
        self._text, self._name = text, name

    def elements(self):
        """The types of its elements."""
        return list(self._parts)

    @property
    def annotation_str(self):
        """Its text in programs."""
        return self._name or "Tuple[%s]" % (self._annotations() or "()")

    def str(self):
        """Its text in graphs."""
        return self._text or "(%s)" % ", ".join(part.str() for part in self._parts)


class UnionType(_OfParts):
    """One of several."""

    def __new__(cls, members):
        rest = [member for member in members if not isinstance(member, NoneType)]
        if len(rest) == 1 and len(members) == 2:
            return OptionalType(rest[0])
        return super().__new__(cls)

    def __init__(self, members):
        super().__init__(*members)

    annotation_str = property(lambda self: "Union[%s]" % ", ".join(sorted(
        (part.annotation_str for part in self._parts), key=lambda text: (text != "Tensor", text))))

    def str(self):
        """Its text in graphs."""
        return "Union(%s)" % ", ".join(sorted((part.str() for part in self._parts),
                                              key=lambda text: (text != "Tensor", text)))


class NamedType(Type):
    """A class of programs."""

    def __init__(self, qualified_name):
        self._name = qualified_name

    def str(self):
        """Its text in graphs."""
        return self._name

    def qualified_name(self):
        """With the module before it."""
        return self._name

    def name(self):
        """Its last part."""
        return self._name.rpartition(".")[2]


class ClassType(NamedType):
    """The class of a module or object in programs; of two that are known, archives' may have one name."""

    def __init__(self, qualified_name, identity=None):
        super().__init__(qualified_name)
        self._identity = identity

    def __eq__(self, other):
        if not super().__eq__(other):
            return False
        return None in (self._identity, getattr(other, "_identity", None)) or self._identity == other._identity

    __hash__ = NamedType.__hash__


class EnumType(_OfParts):
    """An enumeration of programs."""

    def __init__(self, qualified_name):
        super().__init__()
        self._name = qualified_name

    annotation_str = property(lambda self: self._name)

    def str(self):
        """Its text in graphs."""
        return "Enum<%s>" % self._name


class _Named(_OfParts):
    """A type that is a word: a list of anything, a function ..."""

    def __init__(self, text):
        super().__init__()
        self._text = text

    def kind(self):
        """"FunctionType" ..."""
        return self._text + "Type"


class InferredType:
    """A type that was found, or why none was."""

    def __init__(self, found):
        self._found = found

    def success(self):
        """Whether there is a type."""
        return isinstance(self._found, Type)

    def type(self):
        """The type."""
        if not self.success():
            raise RuntimeError("Tried to get the type from an InferredType but the type is null. Reason: %s"
                               % self._found)
        return self._found

    def reason(self):
        """Why there is none."""
        return "" if self.success() else self._found


# ---- from texts of graphs ----

_PLAIN = {cls._text: cls for cls in (IntType, FloatType, ComplexType, BoolType, StringType, NoneType, NumberType,
                                     AnyType, DeviceObjType, StreamObjType, PyObjectType, SymIntType)}
_PLAIN.update({"number": NumberType, "None": NoneType})
_TOKEN = re.compile(r"\s*([A-Za-z_][\w.]*(?::\d+)?|-?\d+|[()\[\]<>,?*=:])")


class _Parser:
    def __init__(self, text):
        self.text, self.tokens, at = text, [], 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if found is None:
                raise RuntimeError("unknown type specifier: %r" % text)
            self.tokens.append((found.group(1), found.start(1), found.end(1)))
            at = found.end()
        self.at = 0

    def ahead(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self, wanted=None):
        token = self.ahead()
        if not token or wanted is not None and token != wanted:
            raise RuntimeError("unknown type specifier: %r" % self.text)
        self.at += 1
        return token

    def several(self, end):
        found = []
        while self.ahead() != end:
            found.append(self.type())
            if self.ahead() == ",":
                self.take()
        self.take(end)
        return found

    def type(self):
        begin = self.tokens[self.at][1] if self.at < len(self.tokens) else 0
        made = self.one(begin)
        while self.ahead() in ("[", "?"):
            if self.take() == "?":
                made = OptionalType(made)
            else:
                self.take("]")
                made = ListType(made)
        return made

    def one(self, begin):
        if self.ahead() == "(":
            self.take()
            return TupleType(self.several(")"))
        name = self.take()
        if name in _PLAIN:
            return _PLAIN[name]()
        if name in ("Future", "RRef"):
            end = ")" if self.take() == "(" else "]"
            made = (FutureType if name == "Future" else RRefType)(self.type())
            self.take(end)
            return made
        if name == "Dict":
            self.take("(")
            return DictType(*self.several(")"))
        if name == "Union":
            self.take("(")
            return UnionType(self.several(")"))
        if name == "NamedTuple" or name.startswith("__torch__") and self.ahead() == "(":
            return self.named_tuple(name, begin)
        if name == "Enum":
            self.take("<")
            made = EnumType(self.take())
            self.take(">")
            return made
        scalar = name[:-6] if name.endswith("Tensor") and name != "Tensor" else name
        if scalar in _DTYPES or scalar == "Tensor":
            return self.tensor(scalar)
        return ClassType(name) if "." in name else _Named(name)

    def named_tuple(self, name, begin):
        self.take("(")
        found = []
        while self.ahead() != ")":
            self.take()
            self.take(":")
            found.append(self.type())
            if self.ahead() == ",":
                self.take()
        self.take(")")
        return TupleType(found, self.text[begin:self.tokens[self.at - 1][2]], name)

    def tensor(self, name):
        made = TensorType(dtype=None if name == "Tensor" else getattr(_C, _DTYPES[name]))
        if self.ahead() == "[" and self.tokens[self.at + 1][0] == "Undefined":
            self.at += 3
            made._undefined = True
            return made
        if self.ahead() != "(":
            return made
        self.take()
        sizes, has_fact, begin = [], False, self.at
        while self.ahead() != ")":
            token = self.take()
            if token in ("strides", "requires_grad", "device"):
                has_fact = True
                self.take("=")
                self.fact(made, token)
            elif token == "SS":
                self.take("(")
                sizes.append(int(self.take()))
                self.take(")")
            else:
                sizes.append(None if token == "*" else int(token))
            if self.ahead() == ",":
                self.take()
        self.take(")")
        whole = made._dtype is not None and made._device is not None
        if sizes or begin == self.at - 1 or has_fact and whole:
            made._sizes = sizes
        return made

    def fact(self, made, name):
        if name == "strides":
            self.take("[")
            made._strides = []
            while self.ahead() != "]":
                token = self.take()
                made._strides.append(None if token == "*" else int(token))
                if self.ahead() == ",":
                    self.take()
            self.take("]")
        elif name == "requires_grad":
            made._requires_grad = bool(int(self.take()))
        else:
            made._device = _C.device(self.take())


def parse(text):
    """The type of its text in graphs."""
    parser = _Parser(text)
    made = parser.type()
    if parser.ahead():
        raise RuntimeError("unknown type specifier: %r" % text)
    return made


# ---- from values ----

def try_infer(value):
    """The type of a value of Python, as an InferredType."""
    from . import _types
    if isinstance(value, _C.Tensor):
        return InferredType(TensorType())
    try:
        text = _types.value_type_text(value)
    except _types.TypeUnknown as error:
        return InferredType(str(error))
    return InferredType(of_annotation(text))


def of_annotation(text):
    """The type of its text in programs: "Optional[List[int]]"."""
    text = text.replace(" ", "")
    if "[" not in text:
        return _PLAIN[text]() if text in _PLAIN else TensorType() if text == "Tensor" else ClassType(text)
    head, _, rest = text.partition("[")
    parts = [of_annotation(part) for part in _split(rest[:-1]) if part != "()"]
    makers = {"List": lambda: ListType(parts[0]), "Optional": lambda: OptionalType(parts[0]),
              "Dict": lambda: DictType(*parts), "Tuple": lambda: TupleType(parts),
              "Union": lambda: UnionType(parts), "Future": lambda: FutureType(parts[0]),
              "RRef": lambda: RRefType(parts[0])}
    return makers[head]()


def _split(text):
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and not depth:
            parts.append(text[begin:i])
            begin = i + 1
    return parts + [text[begin:]]


NAMES = {cls.__name__: cls for cls in (
    Type, TensorType, IntType, FloatType, ComplexType, BoolType, StringType, NoneType, NumberType, AnyType,
    DeviceObjType, StreamObjType, PyObjectType, SymIntType, ListType, OptionalType, FutureType, RRefType, DictType,
    TupleType, UnionType, ClassType, EnumType, InferredType)}
