"""FileCheck: whether texts hold what is expected, in order. Each call adds an expectation, run() looks."""


class Unexpected(RuntimeError, AssertionError):
    """The text is other than a FileCheck expects."""


class FileCheck:
    """Expectations of a text:

        FileCheck().check("aten::mul").check_next("aten::add").check_not("aten::sub").run(graph)

    check(t): t stands somewhere after what was found last. check_next(t): in the next line. check_same(t): in the
    rest of its line. check_not(t): not between what was found before and what is found next. check_count(t, n,
    exactly): n times from there on, with `exactly` not once more. check_dag(t): expectations of this kind that
    follow one another may stand in any order. check_source_highlighted(t): t stands there underlined by tildes.
    """

    def __init__(self):
        self._steps = []

    def _add(self, kind, text, *rest):
        if not isinstance(text, str):
            raise TypeError("%s: a text is expected, not %r" % (kind, text))
        self._steps.append((kind, text) + rest)
        return self

    def check(self, text):
        """It stands somewhere after what was found last."""
        return self._add("check", text)

    def check_not(self, text):
        """It does not stand between what was found before and what is found next."""
        return self._add("check_not", text)

    def check_same(self, text):
        """It stands in the rest of the line."""
        return self._add("check_same", text)

    def check_next(self, text):
        """It stands in the next line."""
        return self._add("check_next", text)

    def check_dag(self, text):
        """It stands there, before or after others of this kind."""
        return self._add("check_dag", text)

    def check_count(self, text, count, exactly=False):
        """It stands there so often."""
        return self._add("check_count", text, count, exactly)

    def check_source_highlighted(self, text):
        """It stands there, underlined by tildes."""
        return self._add("check_source_highlighted", text)

    def check_regex(self, pattern):
        """Something stands there that the regular expression matches."""
        return self._add("check_regex", pattern)

    def run(self, text, *more):
        """Unexpected where the text, or what str() makes of an object, is other than expected. With two texts the
        first one has the expectations, in comments: `# CHECK: aten::mul`."""
        if more:
            return _from_comments(self, str(text)).run(*more)
        if not self._steps:
            raise RuntimeError("FileCheck expects something")
        _Search(str(text)).run(self._steps)

    def __str__(self):
        return "FileCheck checks:\n" + "".join("\t%s: %s\n" % step[:2] for step in self._steps)

    __repr__ = __str__


_COMMENTS = {"CHECK": "check", "CHECK-NOT": "check_not", "CHECK-SAME": "check_same", "CHECK-NEXT": "check_next",
             "CHECK-DAG": "check_dag", "CHECK-SOURCE-HIGHLIGHTED": "check_source_highlighted"}


def _from_comments(checker, text):
    import re
    for line in text.splitlines():
        found = re.match(r"\s*#\s*(CHECK[A-Z-]*?)(?:-(EXACTLY))?(?:-?(\d+))?:\s?(.*)", line)
        if found is None:
            continue
        name, exactly, count, wanted = found.groups()
        if name.startswith("CHECK-COUNT"):
            checker.check_count(wanted.strip(), int(count), exactly is not None)
        elif name in _COMMENTS:
            getattr(checker, _COMMENTS[name])(wanted.strip())
        else:
            raise RuntimeError("FileCheck: %r is no kind of expectation" % name)
    return checker


class _Search:
    def __init__(self, text):
        self.text, self.at = text, 0

    def run(self, steps):
        self.forbidden = []
        i = 0
        while i < len(steps):
            kind = steps[i][0]
            if kind == "check_not":
                self.forbidden.append(steps[i][1])
                i += 1
                continue
            if kind == "check_dag":
                end = i
                while end < len(steps) and steps[end][0] == "check_dag":
                    end += 1
                self.dag([step[1] for step in steps[i:end]])
                i = end
                continue
            getattr(self, kind)(*steps[i][1:])
            i += 1
        self.leave(len(self.text))

    def fail(self, what):
        begin = self.text.rfind("\n", 0, self.at) + 1
        shown = self.text[begin:].splitlines()[:12]
        raise Unexpected("%s\nFrom line %d on:\n%s" % (
            what, self.text.count("\n", 0, self.at) + 1, "\n".join(shown)))

    def leave(self, begin):
        """What was forbidden did not stand between the last place and this one."""
        for text in self.forbidden:
            if self.text.find(text, self.at, begin) >= 0:
                self.fail("Expected to not find %r, but found it" % text)
        self.forbidden = []

    def found(self, begin, length):
        self.leave(begin)
        self.at = begin + length

    def place(self, text, begin=None, end=None):
        at = self.text.find(text, self.at if begin is None else begin, len(self.text) if end is None else end)
        if at < 0:
            self.fail("Expected to find %r, but did not" % text)
        return at

    def line_end(self, at):
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def check(self, text):
        self.found(self.place(text), len(text))

    def check_same(self, text):
        self.found(self.place(text, end=self.line_end(self.at)), len(text))

    def check_next(self, text):
        begin = min(self.line_end(self.at) + 1, len(self.text))
        self.found(self.place(text, begin, self.line_end(begin)), len(text))

    def check_count(self, text, count, exactly):
        for i in range(count):
            at = self.text.find(text, self.at)
            if at < 0:
                self.fail("Expected to find %r %d times, but found it %d times" % (text, count, i))
            self.found(at, len(text))
        if exactly and self.text.find(text, self.at) >= 0:
            self.fail("Expected to find %r %d times, but found it once more" % (text, count))

    def dag(self, texts):
        begins = [self.place(text) for text in texts]
        self.leave(min(begins))
        self.at = max(begin + len(text) for begin, text in zip(begins, texts))

    def check_source_highlighted(self, text):
        at = self.place(text)
        while True:
            begin = self.text.rfind("\n", 0, at) + 1
            marks = self.text[self.line_end(at) + 1:]
            marks = marks[at - begin:][:len(text)] if marks else ""
            if marks == "~" * len(text):
                return self.found(at, len(text))
            at = self.place(text, at + 1)

    def check_regex(self, pattern):
        import re
        found = re.compile(pattern).search(self.text, self.at)
        if found is None:
            self.fail("Expected to match %r, but nothing did" % pattern)
        self.found(found.start(), found.end() - found.start())
