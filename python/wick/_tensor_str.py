"""How tensors are printed: columns of one width, few digits, the middle of large tensors left out.

A tensor becomes nested lists of numbers (with GAP where elements are left out), the numbers become texts of one
width, and these are joined, a row to a line. Everything about a tensor that its elements don't tell follows them:
dtype, device, how it came to be.
"""
import math

from . import _C

GAP = "..."  # stands in lists for what is left out


class _Options:
    precision = 4
    threshold = 1000  # elements from which on the middle is left out
    edgeitems = 3
    linewidth = 80
    sci_mode = None  # None: where numbers are far apart


_PROFILES = {
    "default": dict(precision=4, threshold=1000, edgeitems=3, linewidth=80),
    "short": dict(precision=2, threshold=1000, edgeitems=2, linewidth=80),
    "full": dict(precision=4, threshold=math.inf, edgeitems=3, linewidth=80),
}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Sets how tensors are printed: digits after the point, from how many elements on the middle is left out, how
    many stay at each edge, the width of lines, and whether powers of ten are shown (None: where numbers are far
    apart)."""
    if profile is not None:
        for name, value in _PROFILES[profile].items():
            setattr(_Options, name, value)
    for name, value in (("precision", precision), ("threshold", threshold), ("edgeitems", edgeitems),
                        ("linewidth", linewidth)):
        if value is not None:
            setattr(_Options, name, value)
    _Options.sci_mode = sci_mode


# ---- numbers ----

def _flat(values):
    if not isinstance(values, list):
        return [values]
    found = []
    for value in values:
        if value is not GAP:
            found.extend(_flat(value) if isinstance(value, list) else (value,))
    return found


class _Column:
    """Texts of one width for the numbers of a tensor."""

    def __init__(self, numbers, floating):
        self.floating = floating
        self.scientific = False
        self.whole = True  # all finite numbers are whole
        self.width = 1
        if not floating:
            self.width = max([1] + [len(str(number)) for number in numbers])
            return
        telling = [number for number in numbers if number and math.isfinite(number)]
        if not telling:
            return
        largest, smallest = max(map(abs, telling)), min(map(abs, telling))
        self.whole = all(number == math.floor(number) for number in telling)
        self.scientific = (largest / smallest > 1000.0 or largest > 1.0e8
                           or (not self.whole and smallest < 1.0e-4))
        self.width = max([1] + [len(self._digits(number)) + (self.whole and not self.scientific)
                                for number in telling])
        if _Options.sci_mode is not None:
            self.scientific = _Options.sci_mode

    def _digits(self, number):
        if self.scientific:
            return "%.*e" % (_Options.precision, number)
        return "%.*f" % (0 if self.whole else _Options.precision, number)

    def text(self, number):
        """The number, blanks before it."""
        if not self.floating:
            shown = str(number)
        else:
            shown = self._digits(number)
            if self.whole and not self.scientific and math.isfinite(number):
                shown += "."
        return shown.rjust(self.width)


class _RealFormat:
    def __init__(self, values, floating):
        self._column = _Column(_flat(values), floating)
        self.width = self._column.width

    def text(self, number):
        return self._column.text(number)


class _ComplexFormat:
    def __init__(self, values):
        numbers = _flat(values)
        self._real = _Column([number.real for number in numbers], True)
        self._imaginary = _Column([number.imag for number in numbers], True)
        self.width = self._real.width + self._imaginary.width + 1

    def text(self, number):
        imaginary = self._imaginary.text(number.imag).lstrip() + "j"
        return self._real.text(number.real) + ("" if imaginary[0] in "+-" else "+") + imaginary


# ---- rows ----

def _row(values, indent, form):
    per_line = max(1, (_Options.linewidth - indent) // (form.width + 2))
    texts = [" ..." if value is GAP else form.text(value) for value in values]
    lines = [", ".join(texts[i:i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _rows(values, dims, indent, form):
    if dims == 0:
        return form.text(values)
    if dims == 1:
        return _row(values, indent, form)
    parts = [GAP if value is GAP else _rows(value, dims - 1, indent + 1, form) for value in values]
    return "[" + ("," + "\n" * (dims - 1) + " " * (indent + 1)).join(parts) + "]"


def _edges(tensor):
    """The elements as nested lists, without the middle of each dimension."""
    count = _Options.edgeitems
    if tensor.dim() == 0:
        return tensor.item()
    size = tensor.size(0)
    if tensor.dim() == 1:
        if size <= 2 * count:
            return tensor.tolist()
        return tensor[:count].tolist() + [GAP] + (tensor[size - count:].tolist() if count else [])
    if size <= 2 * count:
        return [_edges(tensor[i]) for i in range(size)]
    return ([_edges(tensor[i]) for i in range(count)] + [GAP]
            + [_edges(tensor[i]) for i in range(size - count, size)])


def _elements_text(tensor, indent):
    if tensor.numel() == 0:
        return "[]"
    if tensor.dtype in (_C.float16, _C.bfloat16):
        tensor = tensor.float()
    values = _edges(tensor) if tensor.numel() > _Options.threshold else tensor.tolist()
    form = _ComplexFormat(values) if tensor.dtype.is_complex else _RealFormat(values, tensor.dtype.is_floating_point)
    return _rows(values, tensor.dim(), indent, form)


# ---- what follows the elements ----

def _join(text, facts, indent, first_on_new_line):
    width = len(text) - text.rfind("\n") + 1
    new_line = first_on_new_line
    for fact in facts:
        if new_line or width + len(fact) + 2 > _Options.linewidth:
            text += ",\n" + " " * indent + fact
            width = indent + len(fact)
            new_line = False
        else:
            text += ", " + fact
            width += len(fact) + 2
    return text + ")"


def _dtype_is_expected(dtype):
    default = _C.get_default_dtype()
    default_complex = _C.complex128 if default is _C.float64 else _C.complex64
    return dtype in (default, default_complex, _C.int64, _C.bool)


def _history_facts(tensor):
    name = tensor._history
    if name is not None:
        return ["grad_fn=<%s>" % name.rsplit("::", 1)[-1]]
    return ["requires_grad=True"] if tensor.requires_grad else []


def _part_text(name, part, indent):
    prefix = name + "=tensor("
    text = _elements_text(part, indent + len(prefix))
    return prefix + text + (", size=" + str(tuple(part.shape)) if part.numel() == 0 else "") + ")"


def _compressed_text(tensor, indent):
    by_rows = tensor.layout is _C.sparse_csr
    names = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
    facts = ["size=" + str(tuple(tensor.shape)), "nnz=" + str(tensor._nnz())]
    if not _dtype_is_expected(tensor.dtype):
        facts.append("dtype=" + str(tensor.dtype))
    parts = [(name, getattr(tensor, name)()) for name in names] + [("values", tensor.values())]
    text = (",\n" + " " * indent).join(_part_text(name, part.detach(), indent) for name, part in parts)
    return text, facts + ["layout=%s" % tensor.layout]


def _sparse_text(tensor, indent):
    facts = ["size=" + str(tuple(tensor.shape)), "nnz=" + str(tensor._nnz())]
    if not _dtype_is_expected(tensor.dtype):
        facts.append("dtype=" + str(tensor.dtype))
    parts = (("indices", tensor._indices()), ("values", tensor._values()))
    text = (",\n" + " " * indent).join(_part_text(name, part.detach(), indent) for name, part in parts)
    return text, facts + ["layout=torch.sparse_coo"]


def _quantized_text(tensor, indent):
    scheme = tensor.qscheme()
    facts = ["size=" + str(tuple(tensor.shape)), "dtype=" + str(tensor.dtype), "quantization_scheme=%s" % scheme]
    if "per_tensor" in str(scheme):
        facts += ["scale=" + str(tensor.q_scale()), "zero_point=" + str(tensor.q_zero_point())]
    else:
        facts += ["scale=" + str(tensor.q_per_channel_scales()),
            "zero_point=" + str(tensor.q_per_channel_zero_points()),
                  "axis=" + str(tensor.q_per_channel_axis())]
    return _elements_text(tensor.dequantize(), indent), facts


def tensor_text(tensor):
    """The tensor as repr() shows it; no part of a trace that is on."""
    _C._trace_pause()
    try:
        return _text(tensor)
    finally:
        _C._trace_resume()


def _is_plain(tensor):
    return type(tensor) is _C.Tensor or "_is_param" in vars(type(tensor))  # Parameter itself has it


def _text(tensor):
    prefix = "tensor(" if _is_plain(tensor) else type(tensor).__name__ + "("
    if prefix != "tensor(" and getattr(tensor, "_is_param", False):
        prefix = "Parameter(" + prefix
    plain = tensor.detach().as_subclass(_C.Tensor)
    facts = [] if tensor.device.type == "cpu" else ["device='%s'" % tensor.device]
    new_line = False
    if tensor.layout in (_C.sparse_csr, _C.sparse_csc):
        text, more = _compressed_text(plain, len(prefix))
    elif tensor.is_sparse:
        text, more = _sparse_text(plain, len(prefix))
        new_line = True
    elif tensor.is_quantized:
        text, more = _quantized_text(plain, len(prefix))
    elif tensor.is_meta:
        text, more = GAP, ["size=" + str(tuple(tensor.shape))]
        if tensor.dtype is not _C.get_default_dtype():
            more.append("dtype=" + str(tensor.dtype))
    elif tensor.numel() == 0:
        text, more = "[]", []
        if tensor.dim() != 1:
            more.append("size=" + str(tuple(tensor.shape)))
        if tensor.dtype is not _C.get_default_dtype():
            more.append("dtype=" + str(tensor.dtype))
    else:
        text = _elements_text(plain.resolve_conj().resolve_neg(), len(prefix))
        more = [] if _dtype_is_expected(tensor.dtype) else ["dtype=" + str(tensor.dtype)]
    made = _join(prefix + text, facts + more + _history_facts(tensor), len(prefix), new_line)
    return made + ")" if prefix.startswith("Parameter(") else made
