"""Python's syntax trees as wick's.

`Source` is the text of one definition with its place in the user's file; `Translator` turns its `ast` into nested
tuples (kind, children or text, begin, end), which `_C.Program` makes trees of: kinds and children are those that
include/wick/compile.h lists, begin and end offsets in the text in bytes. A tuple with a fifth item, a `Source`, says
what the offsets in it and below it refer to. What TorchScript lacks becomes a TK_UNSUPPORTED, which is an error only
where it is compiled.
"""

import ast
import functools
import inspect
import linecache
import textwrap

NO_ITEMS = ("TK_LIST", (), 0, 0)
NOTHING = ("TK_OPTION", (), 0, 0)

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.MatMult: "@", ast.BitAnd: "&",
    ast.BitOr: "|", ast.BitXor: "^", ast.Pow: "TK_POW", ast.LShift: "TK_LSHIFT", ast.RShift: "TK_RSHIFT",
    ast.FloorDiv: "TK_FLOOR_DIV",
}
_COMPARE = {
    ast.Lt: "<", ast.Gt: ">", ast.Eq: "TK_EQ", ast.NotEq: "TK_NE", ast.LtE: "TK_LE", ast.GtE: "TK_GE",
    ast.In: "TK_IN", ast.NotIn: "TK_IN", ast.Is: "TK_IS", ast.IsNot: "TK_ISNOT",
}
_UNARY = {ast.USub: "TK_UNARY_MINUS", ast.Not: "TK_NOT", ast.Invert: "~"}
# Statements that programs lack, in the plural, with the words that they begin with.
_UNSUPPORTED = {
    ast.AsyncFunctionDef: ("async function definitions", "async def"),
    ast.AsyncFor: ("async for loops", "async for"), ast.AsyncWith: ("async with statements", "async with"),
    ast.Try: ("try blocks", "try"), ast.Global: ("global variables", "global"),
    ast.Nonlocal: ("nonlocal variables", "nonlocal"),
}
_SEVERAL_FORS = "Only a single generator is currently supported"


class FrontendError(RuntimeError):
    """The source of something can't be had, or is not what can be compiled."""


class NotSupportedError(FrontendError):
    """What programs can't have."""


class UnsupportedNodeError(NotSupportedError):
    """A statement or expression that programs can't have."""


_VARIADIC = "Compiled functions can't take variable number of arguments"


def kind_of_refusal(text, refused):
    """The class of an error of compiling with this text, where that is about what programs can't have: one of the
    messages `refused`; else None."""
    if text.startswith(_VARIADIC):
        return NotSupportedError
    if not any(text.startswith(what) for what in refused):
        return None
    return UnsupportedNodeError if "aren't supported" in text.split("\n")[0] else NotSupportedError


class Source:
    """The text of a definition as it stands in a file, and where."""

    def __init__(self, text, file_name=None, first_line=1):
        self.text = text
        self.file_name = file_name or "<unknown>"
        self.first_line = first_line
        self.data = text.encode("utf-8", "surrogateescape")
        self.starts = [0]
        for line in self.data.splitlines(True):
            self.starts.append(self.starts[-1] + len(line))

    def offset(self, line, column):
        """The offset of a place that `ast` gives, of a text that `parse` read."""
        return min(self.starts[min(line, len(self.starts) - 1)] + column, len(self.data))

    def parse(self):
        """The definition's node."""
        body = self.parse_all()
        if len(body) != 1:
            raise FrontendError("expected a single definition in the source of %s:%d" % (self.file_name,
                                                                                          self.first_line))
        return body[0]

    def parse_all(self):
        """The nodes of all definitions. The text may be indented: a block around it keeps its columns."""
        text = "if 1:\n" + self.text if self.text[:1] in " \t" else "\n" + self.text
        try:
            tree = ast.parse(text, self.file_name, type_comments=True)
        except SyntaxError:  # a comment that begins as one of types and is none
            tree = ast.parse(text, self.file_name)
        body = tree.body
        if body and isinstance(body[0], ast.If) and text.startswith("if 1:"):
            body = body[0].body
        # A line stands before the text: what `ast` calls line 2 is index 0 of `starts`.
        ast.increment_lineno(tree, -2)
        return body


def source_of(thing):
    """The `Source` of a function or class; FrontendError where there is none (the interpreter's prompt, exec)."""
    try:
        lines, first = inspect.getsourcelines(thing)
        file_name = inspect.getsourcefile(thing)
    except (OSError, TypeError) as error:
        raise FrontendError(
            "can't get the source of %s: %s. It must stand in a file; what is made by exec or typed at a prompt "
            "has none" % (getattr(thing, "__qualname__", thing), error)) from None
    return Source("".join(lines), file_name, max(first, 1))


@functools.lru_cache(maxsize=1024)
def parsed(function):
    """The `Source` of a function and the node of its definition."""
    source = source_of(function)
    return source, source.parse()


def register_source(file_name, text):
    """Makes the text of something that exec runs known to `inspect`, as if it stood in a file of that name."""
    linecache.cache[file_name] = (len(text), None, text.splitlines(True), file_name)


def text_source(text, file_name):
    """The source of a text that wick wrote itself."""
    return Source(textwrap.dedent(text), file_name)


# ---- trees of values, for what no source says ----

def var(name, begin=0, end=0):
    """A dotted name as an expression."""
    first, *rest = name.split(".")
    tree = ("TK_VAR", (("TK_IDENT", first, begin, end),), begin, end)
    for part in rest:
        tree = (".", (tree, ("TK_IDENT", part, begin, end)), begin, end)
    return tree


def items(trees):
    """A TK_LIST."""
    return ("TK_LIST", tuple(trees), 0, 0) if trees else NO_ITEMS


def option(tree):
    """A TK_OPTION of a tree or None."""
    return NOTHING if tree is None else ("TK_OPTION", (tree,), tree[2], tree[3])


def ident(name):
    """A TK_IDENT."""
    return ("TK_IDENT", name, 0, 0)


def string(text):
    """A TK_STRINGLITERAL."""
    return ("TK_STRINGLITERAL", text, 0, 0)


def assign(name, value=None, annotation=None):
    """`name: annotation = value`."""
    return ("TK_ASSIGN", (items([var(name)]), option(value), option(annotation)), 0, 0)


def apply(callee, arguments):
    """A call."""
    return ("TK_APPLY", (callee, items(arguments), NO_ITEMS), 0, 0)


def literal(value, begin=0, end=0):
    """A constant as an expression; None where the language has no literal of it."""
    if value is None or value is True or value is False:
        return ("TK_NONE" if value is None else "TK_TRUE" if value else "TK_FALSE", (), begin, end)
    if type(value) is str:
        return ("TK_STRINGLITERAL", value, begin, end)
    if type(value) in (int, float):
        if value != value or value in (float("inf"), float("-inf")):
            return apply(var("float"), [string(repr(value))])
        number = ("TK_CONST", repr(abs(value)), begin, end)
        is_negative = repr(value).startswith("-")
        return ("TK_UNARY_MINUS", (number,), begin, end) if is_negative else number
    if type(value) is complex:
        return apply(var("complex"), [literal(value.real), literal(value.imag)])
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        parts = [literal(item, begin, end) for item in value]
        if any(part is None for part in parts):
            return None
        return ("TK_LIST_LITERAL" if type(value) is list else "TK_TUPLE_LITERAL", (items(parts),), begin, end)
    return None


def definition(name, parameters, result, body, decorators=()):
    """A TK_DEF without a source: parameters are (name, annotation or None) in order."""
    params = [("TK_PARAM", (ident(n), option(a), NOTHING, ("TK_FALSE", (), 0, 0)), 0, 0) for n, a in parameters]
    return ("TK_DEF", (ident(name), ("TK_DECL", (items(params), option(result)), 0, 0), items(body),
                       items([var(d) for d in decorators])), 0, 0)


def class_definition(name, bases, body, source=None, begin=0, end=0):
    """A TK_CLASS_DEF."""
    tree = ("TK_CLASS_DEF", (ident(name), items([var(b) for b in bases]), items(body), NO_ITEMS), begin, end)
    return tree if source is None else tree + (source,)


# ---- sources ----

class Translator:
    """Turns nodes of one `Source` into trees.

    `annotation`, if given, is asked for the tree of each annotation: (node, translator) -> tree or None, which means
    the expression as it stands. `attribute` likewise of each attribute that is read: (node, translator).
    """

    def __init__(self, source, annotation=None, attribute=None):
        self.source = source
        self._annotation = annotation
        self._attribute = attribute
        self._fixed = None
        self._is_inside = False  # of a function

    # ---- places ----

    def place(self, node):
        """Where a node begins and ends."""
        if self._fixed is not None:
            return self._fixed
        offset = self.source.offset
        return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)

    def begin(self, node):
        """Where a node begins."""
        return self.place(node)[0]

    def make(self, kind, node, *children):
        """A tree in the place of a node."""
        return (kind, children) + self.place(node)

    def word(self, kind, node, word, *children):
        """A tree that begins with a word, and ends where the last of its children does."""
        begin = self.begin(node)
        return self.over(kind, begin, begin if self._fixed else begin + len(word), *children)

    def over(self, kind, begin, end, *children):
        """A tree from `begin` to `end` and over its children: what messages underline ends with the last of them,
        before brackets that close."""
        if self._fixed is not None:
            return (kind, children) + self._fixed
        for child in children:
            if len(child) == 4 and child[3]:  # not of another source, and not empty
                begin, end = min(begin, child[2]), max(end, child[3])
        return kind, children, begin, end

    def text(self, kind, node, text):
        """An atom in the place of a node."""
        return (kind, text) + self.place(node)

    def list(self, trees):
        """A TK_LIST that stands where its items do."""
        trees = tuple(trees)
        if not trees:
            return NO_ITEMS
        return self.over("TK_LIST", trees[0][2], max(trees[0][2], trees[0][3]), *trees)

    def unsupported(self, node, what, word=" "):
        """What is an error, this one, if it is compiled; it begins with a word."""
        begin, end = self.place(node)
        return ("TK_UNSUPPORTED", what, begin, end if self._fixed is not None else begin + len(word))

    # ---- definitions ----

    def function(self, node, name=None, drop_decorators=True, body=None):
        """The TK_DEF of a FunctionDef."""
        decl = self.declaration(node)
        begin = self.definition_begin(node)
        inside, self._is_inside = self._is_inside, True
        statements = self.body(node.body) if body is None else items(body)
        self._is_inside = inside
        end = max(decl[3], begin, statements[3])
        children = (("TK_IDENT", name or node.name, begin, begin), decl, statements)
        if not drop_decorators and node.decorator_list:
            children += (self.list(self.tree_of(d) for d in node.decorator_list),)
        return ("TK_DEF", children, begin, end)

    def definition_begin(self, node):
        """Where the word def or class stands, after the decorators."""
        return self.place(node)[0]

    def class_body(self, node):
        """The statements of a ClassDef."""
        return self.body(node.body)

    def declaration(self, node):
        """The TK_DECL of a FunctionDef, with what a type comment says."""
        arguments = node.args
        comment = self.signature_comment(node)
        if arguments.posonlyargs:
            raise FrontendError(self.message(arguments.posonlyargs[0],
                                             "positional-only parameters ('/') are not supported in TorchScript"))
        params = []
        defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults
        for argument, default in zip(arguments.args, defaults):
            params.append(self.param(argument, default, "TK_FALSE"))
        if arguments.vararg:
            params.append(self.param(arguments.vararg, None, "TK_STARRED"))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
            params.append(self.param(argument, default, "TK_TRUE"))
        if arguments.kwarg:
            params.append(self.param(arguments.kwarg, None, "TK_POW"))
        result = None if node.returns is None else self.annotation(node.returns)
        if comment is not None:
            params, result = self.merge_comment(node, comment, params, result)
        begin = self.place(node)[0]
        end = self.header_end(node, params, result)
        params_list = ("TK_LIST", tuple(params), params[0][2], params[-1][3]) if params else NO_ITEMS
        return ("TK_DECL", (params_list, option(result)), begin, end)

    def param(self, argument, default, marker):
        """One TK_PARAM."""
        begin, end = self.place(argument)
        annotation = argument.annotation
        kind = None if annotation is None else self.annotation(annotation)
        if kind is None and getattr(argument, "type_comment", None):
            kind = self.comment_type(argument, argument.type_comment)
        name = ("TK_IDENT", argument.arg, begin, begin + len(argument.arg.encode()))
        value = None if default is None else self.tree_of(default)
        stars = begin - (self._fixed is None and marker in ("TK_STARRED", "TK_POW"))
        return ("TK_PARAM", (name, option(kind), option(value), (marker, (), begin, end)), stars,
                end if value is None else value[3])

    def header_end(self, node, params, result):
        """After the parenthesis of a def, or after the type of its result."""
        if node.returns is not None:
            return self.place(node.returns)[1]
        data = self.source.data
        at = max([self.place(node)[0]] + [p[3] for p in params])
        body = self.place(node.body[0])[0]
        close = data.find(b")", at, body)
        return at if close < 0 else close + 1

    def signature_comment(self, node):
        """The FunctionType of a comment `# type: (int) -> Tensor`; None: there is none."""
        text = node.type_comment
        if not text:
            return None
        text = text.split("#")[0].strip()
        try:
            return ast.parse(text if "->" in text else text + " -> ...", mode="func_type")
        except SyntaxError as error:
            raise self.unreadable(node, text, error) from None

    def unreadable(self, node, text, error):
        """What a type comment that is none raises."""
        return FrontendError(self.message(node, "can't read the type comment '%s': %s" % (text, error.msg)))

    def merge_comment(self, node, comment, params, result):
        """Parameters and result with the types that a comment gives them."""
        types = comment.argtypes
        elided = len(types) == 1 and isinstance(types[0], ast.Constant) and types[0].value is Ellipsis
        place = self._fixed
        self._fixed = self.place(node)[0], self.place(node)[0]
        if not elided:
            skipped = 1 if len(params) == len(types) + 1 and params[0][1][0][1] == "self" else 0
            if len(types) + skipped != len(params):
                raise FrontendError(self.message(
                    node, "Number of type annotations (%d) did not match the number of function parameters (%d)" % (
                        len(types), len(params))))
            for i, kind in enumerate(types):
                name, old, default, marker = params[i + skipped][1]
                if not old[1]:
                    params[i + skipped] = ("TK_PARAM", (name, option(self.annotation(kind)), default, marker)
                                           ) + params[i + skipped][2:]
        says_result = not (isinstance(comment.returns, ast.Constant) and comment.returns.value is Ellipsis)
        if result is None and says_result:
            result = self.annotation(comment.returns)
        self._fixed = place
        return params, result

    def comment_type(self, node, text):
        """The type that a comment on a parameter or an assignment names."""
        text = text.split("#")[0].strip()
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise self.unreadable(node, text, error) from None
        place, self._fixed = self._fixed, self.place(node)
        try:
            return self.annotation(tree)
        finally:
            self._fixed = place

    def annotation(self, node):
        """The tree of a type."""
        made = self._annotation(node, self) if self._annotation else None
        return self.tree_of(node) if made is None else made

    def message(self, node, text):
        """A message with the place and the line of a node."""
        line = self.source.first_line + node.lineno
        lines = self.source.text.splitlines()
        shown = lines[node.lineno] if 0 <= node.lineno < len(lines) else ""
        return "%s:\n  File \"%s\", line %d\n%s\n%s~~~ <--- HERE" % (text, self.source.file_name, line, shown,
                                                                      " " * node.col_offset)

    # ---- statements ----

    def body(self, nodes):
        """A TK_LIST of statements."""
        return self.list(self.tree_of(node) for node in nodes)

    def tree_of(self, node):
        """What the method named after the node's class makes of it: one statement or one expression."""
        what = _UNSUPPORTED.get(type(node))
        if what is not None:
            return self.unsupported(node, "%s aren't supported" % what[0], what[1])
        method = getattr(self, "_" + type(node).__name__, None)
        if method is not None:
            return method(node)
        return self.unsupported(node, "%s aren't supported" % type(node).__name__)

    def _FunctionDef(self, node):
        return self.function(node, drop_decorators=False)

    def _ClassDef(self, node):
        if self._is_inside:
            return self.unsupported(node, "class definitions aren't supported", "class")
        begin = self.place(node)[0]
        bases = [self.tree_of(base) for base in node.bases]
        bases += [self.keyword(word) for word in node.keywords]
        return ("TK_CLASS_DEF", (("TK_IDENT", node.name, begin, begin), self.list(bases), self.body(node.body),
                                 self.list(self.tree_of(d) for d in node.decorator_list)), begin, begin)

    def _Return(self, node):
        if node.value is None:
            return self.make("TK_RETURN", node, self.make("TK_NONE", node))
        return self.word("TK_RETURN", node, "return", self.tree_of(node.value))

    def _Raise(self, node):
        if node.exc is None:
            return self.make("TK_RAISE", node, self.make("TK_NONE", node))
        return self.word("TK_RAISE", node, "raise", self.tree_of(node.exc))

    def _Assert(self, node):
        message = None if node.msg is None else self.tree_of(node.msg)
        return self.word("TK_ASSERT", node, "assert", self.tree_of(node.test), option(message))

    def _Delete(self, node):
        targets = node.targets
        if len(targets) == 1 and isinstance(targets[0], ast.Tuple):
            targets = targets[0].elts
        return self.word("TK_DELETE", node, "del", self.list(self.tree_of(t) for t in targets))

    def _Assign(self, node):
        kind = None
        if node.type_comment and not node.type_comment.startswith("("):
            kind = self.comment_type(node, node.type_comment)
        return self.word("TK_ASSIGN", node, "", self.list(self.tree_of(t) for t in node.targets),
                         option(self.tree_of(node.value)), option(kind))

    def _AnnAssign(self, node):
        value = None if node.value is None else self.tree_of(node.value)
        return self.word("TK_ASSIGN", node, "", self.list([self.tree_of(node.target)]), option(value),
                         option(self.annotation(node.annotation)))

    def _AugAssign(self, node):
        operator = (_BINARY[type(node.op)], (), 0, 0)
        return self.word("TK_AUG_ASSIGN", node, "", self.tree_of(node.target), operator, self.tree_of(node.value))

    def _If(self, node):
        return self.word("TK_IF", node, "if", self.tree_of(node.test), self.body(node.body), self.body(node.orelse))

    def _While(self, node):
        if node.orelse:
            return self.unsupported(node, "else branches of while loops aren't supported", "while")
        return self.word("TK_WHILE", node, "while", self.tree_of(node.test), self.body(node.body))

    def _For(self, node):
        if node.orelse:
            return self.unsupported(node, "else branches of for loops aren't supported", "for")
        return self.word("TK_FOR", node, "for", self.list([self.tree_of(node.target)]),
                         self.list([self.tree_of(node.iter)]), self.body(node.body))

    def _With(self, node):
        entries = []
        for item in node.items:
            target = None if item.optional_vars is None else self.tree_of(item.optional_vars)
            entries.append(self.word("TK_WITH_ITEM", item.context_expr, "", self.tree_of(item.context_expr),
                                     option(target)))
        return self.word("TK_WITH", node, "with", self.list(entries), self.body(node.body))

    def _Expr(self, node):
        return self.word("TK_EXPR_STMT", node, "", self.tree_of(node.value))

    def _Pass(self, node):
        return self.make("TK_PASS", node)

    def _Break(self, node):
        return self.make("TK_BREAK", node)

    def _Continue(self, node):
        return self.make("TK_CONTINUE", node)

    def _Import(self, node):
        if self._is_inside:
            return self.unsupported(node, "import statements aren't supported", "import")
        return self.make("TK_IMPORT", node, NOTHING, self.list(self.alias(node, name) for name in node.names))

    def _ImportFrom(self, node):
        if node.level or self._is_inside:
            return self.unsupported(node, "import statements aren't supported", "from")
        return self.make("TK_IMPORT", node, option(self.text("TK_IDENT", node, node.module)),
                         self.list(self.alias(node, name) for name in node.names))

    def alias(self, node, name):
        """One name of an import."""
        other = None if name.asname is None else self.text("TK_IDENT", node, name.asname)
        return self.make("TK_ALIAS", node, self.text("TK_IDENT", node, name.name), option(other))

    # ---- expressions ----

    def _Name(self, node):
        return self.make("TK_VAR", node, self.text("TK_IDENT", node, node.id))

    def _Attribute(self, node):
        if self._attribute:
            made = self._attribute(node, self)
            if made is not None:
                return made
        value = self.tree_of(node.value)
        return self.select(value, node.attr)

    def select(self, value, name):
        """`value.name`. The name is looked for after the value's end, in which no bracket that closes is."""
        if self._fixed is not None:
            return self.over(".", 0, 0, value, ("TK_IDENT", name) + self._fixed)
        data, begin = self.source.data, value[3] + 1
        while data[begin:begin + 1].isspace():
            begin += 1
        end = min(begin + len(name.encode()), len(data))
        return self.over(".", value[2], value[3], value, ("TK_IDENT", name, min(begin, end), end))

    def _Constant(self, node):
        value = node.value
        if value is Ellipsis:
            return self.make("TK_DOTS", node)
        if isinstance(value, bytes):
            return self.unsupported(node, "Unknown Constant expression type: bytes are not supported")
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                return self.unsupported(node, "a string with half of a surrogate pair")
            begin, end = self.place(node)
            return ("TK_STRINGLITERAL", value, begin, end if self._fixed else min(end, begin + len(value) + 1))
        if value is None or isinstance(value, bool):
            return literal(value, *self.place(node))
        if isinstance(value, int) and value >= 1 << 64:
            return self.unsupported(node, "an integer of more than 64 bits")
        begin, end = self.place(node)
        return ("TK_CONST", self.number(node), begin, end if self._fixed else min(end, begin + len(str(value))))

    def number(self, node):
        """A number as it is written."""
        begin, end = self.place(node)
        written = self.source.data[begin:end].decode().replace("_", "")
        try:
            if written and ast.literal_eval(written) == node.value:
                return written
        except (SyntaxError, ValueError):
            pass
        return repr(node.value)

    def _JoinedStr(self, node):
        begin, end = self.place(node)
        place, self._fixed = self._fixed, self._fixed or (begin, min(begin + 1, end))
        try:
            return self.formatted(node)
        finally:
            self._fixed = place

    def formatted(self, node):
        """An f-string: "...{}...".format(values)."""
        text, values = "", []
        for part in node.values:
            if isinstance(part, ast.Constant):
                if "{}" in part.value:  # the operator knows no other field
                    values.append(self.text("TK_STRINGLITERAL", node, part.value))
                    text += "{}"
                else:
                    text += part.value
                continue
            if part.conversion != -1:
                return self.unsupported(node, "Don't support conversion in JoinedStr")
            if part.format_spec is not None:
                return self.unsupported(node, "Don't support formatting in JoinedStr")
            values.append(self.tree_of(part.value))
            text += "{}"
        whole = self.text("TK_STRINGLITERAL", node, text)
        if not values:
            return whole
        method = self.make(".", node, whole, self.text("TK_IDENT", node, "format"))
        return self.make("TK_APPLY", node, method, self.list(values), NO_ITEMS)

    def _List(self, node):
        return self.word("TK_LIST_LITERAL", node, "[", self.list(self.tree_of(item) for item in node.elts))

    def _Tuple(self, node):
        return self.word("TK_TUPLE_LITERAL", node, "(", self.list(self.tree_of(item) for item in node.elts))

    def _Dict(self, node):
        if any(key is None for key in node.keys):
            return self.unsupported(node, "Dict expansion (e.g. `{**dict}`) is not supported")
        return self.word("TK_DICT_LITERAL", node, "{", self.list(self.tree_of(key) for key in node.keys),
                         self.list(self.tree_of(value) for value in node.values))

    def comprehension(self, kind, node, *elements):
        """A list or dict made by a loop."""
        if len(node.generators) > 1:
            return self.unsupported(node, _SEVERAL_FORS)
        clause = node.generators[0]
        if clause.is_async:
            return self.unsupported(node, "async comprehensions aren't supported")
        children = elements + (self.tree_of(clause.target), self.tree_of(clause.iter))
        if clause.ifs:
            children += (self.list(self.tree_of(test) for test in clause.ifs),)
        return self.word(kind, node, "", *children)

    def _ListComp(self, node):
        return self.comprehension("TK_LIST_COMP", node, self.tree_of(node.elt))

    _GeneratorExp = _ListComp

    def _DictComp(self, node):
        return self.comprehension("TK_DICT_COMP", node, self.tree_of(node.key), self.tree_of(node.value))

    def _Starred(self, node):
        return self.word("TK_STARRED", node, "*", self.tree_of(node.value))

    def _IfExp(self, node):
        test = self.tree_of(node.test)
        return self.over("TK_IF_EXPR", test[2], test[3], test, self.tree_of(node.body), self.tree_of(node.orelse))

    def _UnaryOp(self, node):
        kind = _UNARY.get(type(node.op))
        if kind is None:
            return self.unsupported(node, "unsupported unary operator: UAdd")
        return self.word(kind, node, "not" if kind == "TK_NOT" else "-", self.tree_of(node.operand))

    def _BinOp(self, node):
        # A chain of operators of one level is as deep as it is long: its left side is walked in a loop.
        chain = []
        while isinstance(node, ast.BinOp):
            chain.append(node)
            node = node.left
        tree = self.tree_of(node)
        for operation in reversed(chain):
            tree = self.over(_BINARY[type(operation.op)], tree[2], tree[3], tree, self.tree_of(operation.right))
        return tree

    def _BoolOp(self, node):
        kind = "TK_AND" if isinstance(node.op, ast.And) else "TK_OR"
        trees = [self.tree_of(value) for value in node.values]
        tree = trees[0]
        for other in trees[1:]:
            tree = self.over(kind, tree[2], tree[3], tree, other)
        return tree

    def _Compare(self, node):
        left, result = self.tree_of(node.left), None
        for operator, value in zip(node.ops, node.comparators):
            right = self.tree_of(value)
            tree = self.over(_COMPARE[type(operator)], left[2], left[3], left, right)
            if isinstance(operator, ast.NotIn):
                tree = ("TK_NOT", (tree,)) + tree[2:4]
            result = tree if result is None else self.over("TK_AND", result[2], result[3], result, tree)
            left = right
        return result

    def keyword(self, word):
        """A keyword argument."""
        value = self.tree_of(word.value)
        return "TK_ATTRIBUTE", (("TK_IDENT", word.arg, value[2], value[2]), value), value[2], max(value[2:4])

    def _Call(self, node):
        callee = self.tree_of(node.func)
        inputs = [self.tree_of(argument) for argument in node.args]
        inputs += [self.unsupported(word.value, "keyword-arg expansion is not supported") for word in node.keywords
                   if word.arg is None]
        words = [self.keyword(word) for word in node.keywords if word.arg is not None]
        return self.over("TK_APPLY", callee[2], callee[3], callee, self.list(inputs), self.list(words))

    def _Subscript(self, node):
        index, value = node.slice, self.tree_of(node.value)
        if isinstance(index, ast.Tuple) and index.elts:
            indices = [self.index(item, value) for item in index.elts]
        else:
            indices = [self.index(index, value)]
        end = value[3] if self._fixed or len(indices[-1]) != 4 else indices[-1][3] + 1
        return self.over("TK_SUBSCRIPT", value[2], max(value[3], end), value, self.list(indices))

    def index(self, node, value):
        """What stands between brackets after a value; a slice is taken to begin with that."""
        if not isinstance(node, ast.Slice):
            return self.tree_of(node)
        bounds = [None if bound is None else self.tree_of(bound) for bound in (node.lower, node.upper, node.step)]
        return self.over("TK_SLICE_EXPR", value[2], value[3], *[option(bound) for bound in bounds])
