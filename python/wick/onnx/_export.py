"""export(): a module or function as a model of ONNX."""
import contextlib
import inspect
import warnings

import wick

from .. import jit
from ..nn import Module as NnModule
from . import _cells, _model, _optimize, _rows, _switches, _write
from ._builder import Builder
from ._switches import OperatorExportTypes, TrainingMode
from ._walk import Walk
from .errors import OnnxExporterError

LATEST, OLDEST = 17, 13


# ---- the program ----

def _arguments(model, args):
    """The arguments by position, and by name where the last of args is a dict."""
    if isinstance(args, wick.Tensor) or not isinstance(args, (tuple, list)):
        args = (args,)
    args = tuple(args)
    if args and isinstance(args[-1], dict):
        args, named = args[:-1], args[-1]
    else:
        named = {}
    if not named:
        return args
    function = model.forward if isinstance(model, NnModule) else model
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise OnnxExporterError("the names of the arguments are not known: give them by position") from None
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    unknown = sorted(set(named) - set(names))
    if unknown:
        raise OnnxExporterError("forward has no argument named %s" % ", ".join(unknown))
    rest = [p for p in parameters if p.name in names[len(args):]]
    given = [named.get(p.name, p.default) for p in rest]
    while given and given[-1] is inspect.Parameter.empty:
        given.pop()
    missing = [p.name for p, value in zip(rest, given) if value is inspect.Parameter.empty]
    if missing:
        raise OnnxExporterError("the argument %s is missing" % missing[0])
    return args + tuple(given)


def _is_script(model):
    return isinstance(model, (jit.ScriptModule, jit.ScriptFunction))


def _program(model, args):
    """(the graph of the program, its arguments, the module's object or None)"""
    if not _is_script(model):
        if not any(_tensors(args)):
            raise OnnxExporterError("there is no tensor among the arguments to trace %s with" % type(model).__name__)
        traced = _Traced(model, args)
        model, args = jit.trace(traced.program(), traced.tensors, check_trace=False, strict=False), traced.tensors
    return model.inlined_graph, args, None if isinstance(model, jit.ScriptFunction) else model._script_handle


class _Traced:
    """A module or function as tracing takes it: called with tensors alone, giving a tuple of tensors."""

    def __init__(self, model, args):
        self.model, self.args = model, args
        self.fixed = [i for i, value in enumerate(args) if not any(_tensors(value))]
        self.tensors = tuple(value for i, value in enumerate(args) if i not in self.fixed)

    def program(self):
        """What is traced: its parameters have the names of the model's."""
        def call(*tensors):
            rest = iter(tensors)
            return tuple(_leaves(self.model(*[value if i in self.fixed else next(rest)
                                              for i, value in enumerate(self.args)])))
        own = self.model.forward if isinstance(self.model, NnModule) else self.model
        names = jit._trace.argument_names(own)[:len(self.args)]
        call.__signature__ = inspect.Signature([
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for i, name in enumerate(names) if i not in self.fixed])
        if len(call.__signature__.parameters) != len(self.tensors):
            del call.__signature__
        return _Outer(self.model, call) if isinstance(self.model, NnModule) else call


class _Outer(NnModule):
    """What holds a module that is traced."""

    def __init__(self, model, call):
        super().__init__()
        self.model, self.forward = model, call


def _leaves(thing):
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, (list, tuple)):
        return [leaf for item in thing for leaf in _leaves(item)]
    return [] if thing is None else [thing if isinstance(thing, wick.Tensor) else wick.as_tensor(thing)]


def _tensors(thing):
    if isinstance(thing, wick.Tensor):
        yield True
    elif isinstance(thing, (list, tuple)):
        for item in thing:
            yield from _tensors(item)
    elif isinstance(thing, dict):
        yield from _tensors(list(thing.values()))


# ---- inputs and outputs ----

def _axes_of(dynamic_axes, name):
    """The dimensions of an input or output that have names: dim -> name."""
    axes = dynamic_axes.get(name) or {}
    return dict(axes) if isinstance(axes, dict) else \
        {axis: "%s_dynamic_axes_%d" % (name, i + 1) for i, axis in enumerate(axes)}


class _Inputs:
    """Makes the model's inputs of the example's tensors, in order."""

    def __init__(self, walk, names, dynamic_axes):
        self.walk, self.names, self.dynamic_axes = walk, list(names or ()), dynamic_axes

    def of(self, thing, own_name):
        """What a parameter of the program is for such an argument."""
        if isinstance(thing, wick.Tensor):
            return _cells.Cell(self.walk, self._input(thing, own_name))
        if isinstance(thing, tuple):
            items = [self.of(item, own_name) for item in thing]
            return tuple(items)
        if isinstance(thing, list):
            return _cells.List([self.of(item, own_name) for item in thing], self.walk.depth)
        if isinstance(thing, dict):
            return {key: self.of(item, own_name) for key, item in thing.items()}
        return thing

    def _input(self, tensor, own_name):
        g, block = self.walk.g, self.walk.g.block
        at = len(block.inputs)
        name = self.names[at] if at < len(self.names) else own_name
        name = g.names.take(name)
        axes, shape = _axes_of(self.dynamic_axes, name), list(tensor.shape)
        for axis, size in axes.items():
            if not -len(shape) <= axis < len(shape):
                raise OnnxExporterError("dynamic_axes: %s has no dimension %d" % (name, axis))
            shape[axis] = str(size)
            g.names.sizes.add(str(size))
        block.inputs.append(_model.Value(name, tensor.dtype, shape))
        return block.inputs[-1]


def _outputs(g, things, names, dynamic_axes):
    """The model's outputs: tensors in nested containers, in order."""
    block = g.block
    for thing in _cells.flatten(things):
        if thing is None:
            continue
        if isinstance(thing, str):
            raise OnnxExporterError("the program gives a string, which can't be an output")
        value = thing if isinstance(thing, _model.Value) else g.constant(thing)
        value = value.origin
        if value.node is None or value in block.outputs:
            value = g.op("Identity", value)
        name = names[len(block.outputs)] if names and len(block.outputs) < len(names) else None
        if name is not None and name != value.name:
            value.name = g.names.take(name)
        axes = _axes_of(dynamic_axes, value.name)
        if axes and value.shape is not None:
            value.shape = tuple(str(axes.get(i, axes.get(i - len(value.shape), size))) if
                                i in axes or i - len(value.shape) in axes else size
                                for i, size in enumerate(value.shape))
        block.outputs.append(value)
    if not block.outputs:
        raise OnnxExporterError("the program gives no tensors")


# ---- the export ----

@contextlib.contextmanager
def select_model_mode_for_export(model, mode):
    """The module in the mode that is exported; in its own one afterwards."""
    if not isinstance(mode, TrainingMode):
        raise TypeError("training is one of TrainingMode, not %r" % (mode,))
    if not isinstance(model, NnModule):
        yield
        return
    states = [(module, module.training) for module in model.modules()]
    if mode is not TrainingMode.PRESERVE:
        model.train(mode is TrainingMode.TRAINING)
    try:
        yield
    finally:
        for module, state in states:
            if module.training != state:
                module.training = state


def _is_in_training(model, mode):
    if mode is TrainingMode.PRESERVE:
        return isinstance(model, NnModule) and model.training
    return mode is TrainingMode.TRAINING


def _check(opset, operator_export_type, custom_opsets, export_modules_as_functions):
    if not isinstance(opset, int) or not OLDEST <= opset <= LATEST:
        raise ValueError("opset_version %r: this export makes opsets %d to %d" % (opset, OLDEST, LATEST))
    if operator_export_type is not OperatorExportTypes.ONNX:
        raise NotImplementedError("operator_export_type: ONNX alone is there, not %s" % operator_export_type)
    if export_modules_as_functions:
        raise NotImplementedError("export_modules_as_functions is not there")
    for domain, version in custom_opsets.items():
        if not isinstance(domain, str) or not isinstance(version, int):
            raise TypeError("custom_opsets: names of domains with numbers of versions")


def _build(model, args, training, options):
    with select_model_mode_for_export(model, training), _switches.exporting():
        graph, arguments, handle = _program(model, _arguments(model, args))
        g = Builder(options["opset"], options["folds"] and not _is_in_training(model, training))
        walk = Walk(g, graph)
        inputs = _Inputs(walk, options["input_names"], options["dynamic_axes"])
        parameters = list(graph.inputs())
        if handle is not None:
            walk.name_parameters(model)
            walk.set(parameters.pop(0), _cells.Module(handle, ""))
        if len(arguments) > len(parameters):
            raise OnnxExporterError("%d arguments for %d parameters" % (len(arguments), len(parameters)))
        values = list(arguments) + _defaults(model, len(parameters), len(arguments))
        if len(values) < len(parameters):
            raise OnnxExporterError("the argument %s is missing" % parameters[len(values)].debugName())
        for value, thing in zip(parameters, values):
            walk.set(value, inputs.of(thing, value.debugName()))
        unknown = sorted(set(options["dynamic_axes"]) - {value.name for value in g.block.inputs}
                         - set(options["output_names"] or ()))
        results = walk.results(graph.block())
        g.scope = ""
        if unknown:
            warnings.warn("Provided key %s for dynamic axes is not a valid input/output name" % ", ".join(unknown))
        _outputs(g, results, options["output_names"], options["dynamic_axes"])
    _optimize.run(g)
    return g


def _defaults(model, count, given):
    """What a script's parameters are that no argument was given for."""
    if count <= given or not _is_script(model):
        return []
    schema = (model.forward if isinstance(model, jit.ScriptModule) else model).schema
    arguments = schema.arguments[-count:][given:]
    return [argument.default_value for argument in arguments if argument.has_default_value()]


def _model_of(model, args, **options):
    custom_opsets = options.pop("custom_opsets") or {}
    opset = options["opset"] = options.pop("opset_version") or LATEST
    _check(opset, options.pop("operator_export_type"), custom_opsets, options.pop("export_modules_as_functions"))
    export_params, as_inputs = options.pop("export_params"), options.pop("keep_initializers_as_inputs")
    options["folds"] = options.pop("do_constant_folding")
    options["dynamic_axes"] = options.pop("dynamic_axes") or {}
    training = options.pop("training")
    g = _build(model, args, training, options)
    domains = {node.domain: custom_opsets.get(node.domain, 1) for node in g.block.all_nodes() if node.domain}
    made = _write.Model(g.block, opset, domains)
    made.collect(g.names, export_params, as_inputs)
    return made


def export(model, args, f, export_params=True, verbose=False, training=TrainingMode.EVAL, input_names=None,
           output_names=None, operator_export_type=OperatorExportTypes.ONNX, opset_version=None,
           do_constant_folding=True, dynamic_axes=None, keep_initializers_as_inputs=None, custom_opsets=None,
           export_modules_as_functions=False):
    """Writes a model of ONNX to `f`, a path or an open file. A module or function of Python is traced with `args`; of
    a script branches and loops stay what they are."""
    made = _model_of(
        model, args, export_params=export_params, training=training, input_names=input_names,
        output_names=output_names, operator_export_type=operator_export_type, opset_version=opset_version,
        do_constant_folding=do_constant_folding, dynamic_axes=dynamic_axes,
        keep_initializers_as_inputs=keep_initializers_as_inputs, custom_opsets=custom_opsets,
        export_modules_as_functions=export_modules_as_functions)
    if verbose:
        print(_model.text(made.block))
    made.save(f)


def export_to_pretty_string(model, args, export_params=True, verbose=False, training=TrainingMode.EVAL,
                            input_names=None, output_names=None, operator_export_type=OperatorExportTypes.ONNX,
                            opset_version=None, do_constant_folding=True, dynamic_axes=None,
                            keep_initializers_as_inputs=None, custom_opsets=None,
                            export_modules_as_functions=False):
    """The text of the model that export() would write."""
    return _model.text(_model_of(
        model, args, export_params=export_params, training=training, input_names=input_names,
        output_names=output_names, operator_export_type=operator_export_type, opset_version=opset_version,
        do_constant_folding=do_constant_folding, dynamic_axes=dynamic_axes,
        keep_initializers_as_inputs=keep_initializers_as_inputs, custom_opsets=custom_opsets,
        export_modules_as_functions=export_modules_as_functions).block)


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """Says how an operator is exported from an opset on: symbolic_fn(g, *arguments) writes nodes with `g.op`."""
    if symbolic_name.count("::") != 1:
        raise ValueError("Failed to register operator %s. The symbolic name must match the format domain::name"
                         % symbolic_name)
    if not isinstance(opset_version, int):
        raise TypeError("opset_version is a number")
    name = symbolic_name.replace("aten::aten::", "aten::")
    if name.startswith("::"):
        name = "aten" + name
    _rows.CUSTOM.setdefault(name, {})[opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    """Takes back what register_custom_op_symbolic said."""
    versions = _rows.CUSTOM.get(symbolic_name, {})
    versions.pop(opset_version, None)
    if not versions:
        _rows.CUSTOM.pop(symbolic_name, None)
