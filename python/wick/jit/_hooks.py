"""Whether hooks take and give what the module's forward does. Asked where a module is compiled."""

from . import _schema
from .. import _C


class _Hook:
    def __init__(self, hook, schema, is_before, forward, output, module_name):
        self.name, self.is_before, self.module_name = hook.__name__, is_before, module_name
        self.schema = _schema.parse(schema)
        self.result = _schema.result(schema)
        self.is_annotated = "return" in getattr(hook, "__annotations__", {})
        self.inputs = "Tuple[%s]" % ", ".join(str(kind) for _, kind in forward.parameters[1:])
        self.forward, self.output = forward, output

    def refuse(self, what):
        """RuntimeError with the signature that is wanted."""
        word, place = ("Pre-hook", "forward pre-hook") if self.is_before else ("Hook", "forward hook")
        given = [kind for _, kind in self.forward.parameters[1:]]
        results = "'None', '%s', or '%s'" % (given[0], self.inputs) if len(given) == 1 \
            else "'None' or '%s'" % self.inputs
        wanted = "hook(self, input: %s) with a return type of either %s" % (self.inputs, results) if self.is_before \
            else "hook(self, input: %s, output: %s), where the output is what forward or the hook before it gives" % (
                self.inputs, self.output)
        raise RuntimeError("%s '%s' on module '%s' %s\nThe %s is compiled with its module; remove it from the "
                           "original module if it is not to be. The signature that is expected: %s."
                           % (word, self.name, self.module_name, what, place, wanted))

    def check(self):
        """Raises where it does not fit; gives the type of what comes out after it."""
        parameters, count = self.schema.parameters, 2 if self.is_before else 3
        if len(parameters) != count:
            self.refuse("was expected to only have exactly %d inputs but it had %d inputs."
                        % (count, len(parameters)))
        given = parameters[1][1]
        if given.name != "Tuple":
            self.refuse("expected the input argument to be typed as a Tuple but found type: '%s' instead." % given)
        self._check_items(given, "has the wrong number of contained types for the input argument's Tuple. "
                          "Received type: '%s'." % given, "has the wrong inner types for the input tuple argument. "
                          "Received type: '%s'." % given)
        if self.is_before:
            self._check_result()
            return self.output
        if str(parameters[2][1]) != str(self.output):
            self.refuse("has the wrong type for the output argument. Received type: '%s'. Expected type: '%s'."
                        % (parameters[2][1], self.output))
        return self.output if str(self.result) == "None" else self.result

    def _check_items(self, given, wrong_count, wrong_types):
        wanted = [kind for _, kind in self.forward.parameters[1:]]
        if len(given.parts) != len(wanted):
            self.refuse(wrong_count)
        if list(map(str, given.parts)) != list(map(str, wanted)):
            self.refuse(wrong_types)

    def _check_result(self):
        result, wanted = self.result, [kind for _, kind in self.forward.parameters[1:]]
        if str(result) == "None":
            return
        if not self.is_annotated:
            self.refuse("is missing a return annotation. Return annotations are required, please add one.")
        if len(wanted) == 1 and str(result) == str(wanted[0]):
            return
        text = "returned the wrong type of: '%s'." % result
        if result.name != "Tuple":
            self.refuse(text)
        self._check_items(result, text + " The returned tuple contains the wrong number of contained types.",
                          text + " The returned tuple contains the wrong inner types.")


def check(handle, module):
    """Of a module of Python that was compiled: RuntimeError where a hook of it does not fit."""
    tables = [list(getattr(module, table, {}).values()) for table in ("_forward_pre_hooks", "_forward_hooks")]
    if not any(tables) or "forward" not in handle.names():
        return
    schema = _C.Method(handle, "forward").schema
    forward, output = _schema.parse(schema), _schema.result(schema)
    for is_before, hooks in zip((True, False), tables):
        for i, hook in enumerate(hooks):
            text = handle.hook_schema(not is_before, i)
            output = _Hook(hook, text, is_before, forward, output, type(module).__name__).check()


def check_names(module):
    """RuntimeError where two hooks have one name, or a hook that of a method."""
    named = {}
    for table, word in (("_forward_pre_hooks", "Pre-hook"), ("_forward_hooks", "Hook")):
        for hook in getattr(module, table, {}).values():
            name = hook.__name__
            if named.setdefault(name, hook) is not hook:
                raise RuntimeError("%s '%s' on %s has at least two different python definitions. Please use unique "
                                   "names for all hooks." % (word, name, type(module).__name__))
