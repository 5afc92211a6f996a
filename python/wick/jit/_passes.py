"""torch._C's names of passes: one door to wick's table of passes, by the name that torch has, or wick's own.

`_C._jit_pass_NAME(graph)` runs a pass; those that say whether they changed something do so here, too.
"""
import difflib
import importlib
import re

from .. import _C
from . import _graph, _graph_types

# torch's name -> wick's
SAME = {
    "autocast": "autocast", "batch_mm": "batch_mm", "canonicalize_graph_fuser_ops": "canonicalize_graph_fuser_ops",
    "constant_loop_unrolling": "constant_loop_unrolling", "constant_pooling": "constant_pooling",
    "constant_propagation": "constant_propagation_mutable",
    "constant_propagation_immutable_types": "constant_propagation", "create_autodiff_subgraphs":
    "create_autodiff_subgraphs", "cse": "common_subexpression_elimination", "dce": "dead_code_elimination",
    "decompose_ops": "decompose_ops", "erase_number_types": "erase_number_types",
    "erase_shape_information": "erase_shape_information", "fold_frozen_conv_bn": "fold_frozen_conv_bn",
    "fuse_linear": "fuse_linear", "fuse": "graph_fuser", "fuse_tensorexprs": "graph_fuser", "inline": "inliner",
    "inline_fork_wait": "inline_fork_wait", "loop_unrolling": "loop_unrolling", "lower_all_tuples": "lower_tuples",
    "quant_fusion": "quant_fusion",
    "refine_tuple_types": "refine_tuple_types", "remove_expands": "remove_expands",
    "remove_inplace_ops": "remove_inplace_ops", "remove_mutation": "remove_mutation_of_any_type",
    "specialize_autogradzero": "specialize_autogradzero",
}
# names that documents of TorchScript and its sources use -> wick's
ALIASES = {
    "eliminate_common_subexpression": "common_subexpression_elimination",
    "eliminate_dead_code": "dead_code_elimination", "unroll_loops": "loop_unrolling",
    "unroll_constant_loops": "constant_loop_unrolling", "insert_bailouts": "bailout_graph",
    "propagate_input_shapes": "shape_analysis", "propagate_requires_grad": "requires_grad_analysis",
    "lower_simple_tuples": "lower_tuples", "lower_all_tuples": "lower_tuples", "inline": "inliner",
    "fuse_graph": "graph_fuser", "peephole_optimize": "peephole", "canonicalize": "canonicalize_names",
    "peel_profiling_loops": "loop_peeling", "eliminate_redundant_guards": "guard_elimination",
    "remove_profile_nodes": "clear_profiling", "inline_autodiff_subgraphs": "inline_autodiff_subgraphs",
    "remove_tensor_mutation": "remove_tensor_mutation", "cse": "common_subexpression_elimination",
    "dce": "dead_code_elimination",
}
_IN_PYTHON = {
    "_activations": ("filter_non_tensor_arguments", "fuse_add_relu", "fuse_addmm", "functional_to_inplace_activation",
                     "inplace_to_functional_activation"),
    "_frozen": ("concat_frozen_linear", "fold_frozen_conv_add_or_sub", "fold_frozen_conv_mul_or_div",
                "fuse_frozen_conv_add_relu", "optimize_frozen_graph", "transpose_frozen_linear"),
    "_refine": ("integer_value_refinement", "refine_integer_values"),
}
_SAY_CHANGED = frozenset(("cse", "loop_unrolling", "constant_propagation", "constant_propagation_immutable_types",
                          "remove_mutation", "constant_loop_unrolling"))


def run(graph, name):
    """Runs a pass by one of its names."""
    names = _C.pass_names()
    wanted = name if name in names else ALIASES.get(name, SAME.get(name))
    if wanted is None:
        near = difflib.get_close_matches(name, names + list(ALIASES), 1)
        raise RuntimeError("there is no pass '%s'%s" % (name, "; did you mean '%s'?" % near[0] if near else ""))
    graph.run_pass(wanted)


def _changes(graph, name):
    before = graph.text(False)
    graph.run_pass(name)
    return graph.text(False) != before


def pass_of(name):
    """What `_C._jit_pass_NAME` is; None: there is none."""
    own = globals().get("_pass_" + name)
    if own is not None:
        return own
    for file, written in _IN_PYTHON.items():
        if name in written:
            return getattr(importlib.import_module("." + file, __package__), name)
    wicks = SAME.get(name) or (name if name in _C.pass_names() else None)
    if wicks is None:
        return None

    def run_it(graph, *unused):
        if unused and name not in ("fuse",):
            raise TypeError("_jit_pass_%s() takes a graph" % name)
        if name in _SAY_CHANGED:
            return _changes(graph, wicks)
        return graph.run_pass(wicks)
    run_it.__name__ = "_jit_pass_" + name
    run_it.__doc__ = "Runs the pass %s." % wicks
    return run_it


def _pass_lint(graph):
    """Raises where the graph is broken."""
    graph.lint()


def _pass_peephole(graph, disable_shape_peepholes=False):
    """Small rewrites; whether there were any."""
    return _changes(graph, "peephole_no_shapes" if disable_shape_peepholes else "peephole")


def _pass_peephole_list_idioms(graph, refine_list_len=False):
    """Small rewrites of lists; whether there were any."""
    return _changes(graph, "peephole_list_idioms_refine" if refine_list_len else "peephole_list_idioms")


def _pass_canonicalize(graph, keep_unique_names=True):
    """A copy whose values are numbered from 0 in order."""
    made = graph.copy()
    if keep_unique_names:
        names = [value for value in _values(made.block()) if not value.debugName().isdigit()]
        kept = [value.debugName() for value in names]
    made.run_pass("canonicalize_names")
    if keep_unique_names:
        for value, name in zip(names, kept):
            value.set_name(name)
    return made


def _values(block):
    yield from block.inputs()
    for node in block.nodes():
        yield from node.outputs()
        for inner in node.blocks():
            yield from _values(inner)


def _pass_create_autodiff_subgraphs(graph, threshold=None):
    """What has gradients moves into prim::DifferentiableGraph, from `threshold` nodes on."""
    if threshold is None or threshold == 2:
        graph.run_pass("create_autodiff_subgraphs")
    elif threshold == 1:
        graph.run_pass("create_autodiff_subgraphs_of_one")
    else:
        raise NotImplementedError("_jit_pass_create_autodiff_subgraphs: a threshold other than 1 and 2")


def _pass_remove_dropout(module):
    """Takes dropout out of a module's methods where it does nothing."""
    if isinstance(module, _graph.Graph):
        module.run_pass("remove_dropout")
        return
    if module.hasattr("training") and module.getattr("training"):
        raise RuntimeError("Dropout removal module in training mode is not yet supported")
    for method in module._get_methods():
        method.graph.run_pass("remove_dropout")


def _pass_optimize_for_inference(module, other_methods=()):
    """Checks that the module and its methods can be optimized for inference; RuntimeError where it is in training
    mode, or has no such method. A frozen module's plans are optimized when it is called, and nothing is left to do
    here; one that is not frozen stays as it is, as in torch, whose pass freezes a copy of it."""
    if not hasattr(module, "_script_handle"):
        raise TypeError("_jit_pass_optimize_for_inference() takes a ScriptModule, not %s" % type(module).__name__)
    if module.hasattr("training") and module.getattr("training"):
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() "
                           "before freezing")
    for name in other_methods:
        module._get_method(name)


def _pass_dce_allow_deleting_nodes_with_side_effects(graph):
    """Takes out what has no users, whatever it does besides."""
    def clean(block):
        for node in reversed(list(block.nodes())):
            for inner in node.blocks():
                clean(inner)
            if not node.hasUses():
                node.destroy()
    clean(graph.block())


def _pass_lower_graph(graph, module):
    """The graph of forward in which the attributes that it reads are inputs, and what these are."""
    handle = getattr(module, "_script_handle", module)
    lowered, attributes = handle.lower("forward")
    return lowered, list(attributes)


def _pass_custom_pattern_based_rewrite_graph(pattern, fused_node_name, g, value_name_pairs=()):
    """Puts one graph in the place of what another one, the pattern, does."""
    g.rewrite(pattern, fused_node_name)


def _pass_complete_shape_analysis(graph, inputs, with_grad=False):
    """Says of which types the inputs are, and what follows."""
    _assign(graph, inputs, with_grad)
    graph.run_pass("shape_analysis")


def _pass_propagate_shapes_on_graph(graph):
    """Sizes that follow from those of the inputs, with symbols for unknown ones."""
    from . import _symbolic
    _symbolic.propagate(graph, _values)


def _pass_propagate_dtype(graph):
    """What follows from the dtypes of the inputs; whether anything does."""
    return _changes_types(graph)


def _pass_propagate_device(graph):
    """What follows from the devices of the inputs; whether anything does."""
    from . import _devices
    return _devices.propagate(graph)


def _changes_types(graph):
    before = [value.type_text() for value in _values(graph.block())]
    graph.run_pass("shape_analysis")
    return before != [value.type_text() for value in _values(graph.block())]


def _assign(graph, inputs, with_grad):
    values = list(graph.inputs())
    inputs = list(inputs)
    if len(inputs) != len(values) and len(values) == len(inputs) + 1:
        values = values[1:]
    for value, given in zip(values, inputs):
        if isinstance(given, _C.Tensor):
            kind = _graph_types.TensorType.create_from_tensor(given)
            if not with_grad:
                kind._requires_grad = False
            value.setType(kind)


def propagate_shapes(graph, inputs, with_grad=False):
    """A copy of the graph, with what follows from its inputs being those tensors."""
    made = graph.copy()
    _assign(made, inputs, with_grad)
    made.run_pass("shape_analysis")
    return made


def propagate_and_assign_input_shapes(graph, inputs, param_count_list, with_grad=False, propagate=True):
    """The same; only `propagate` says what follows."""
    if sum(param_count_list) != len(inputs):
        raise RuntimeError("%d counts for %d inputs" % (sum(param_count_list), len(inputs)))
    made = graph.copy()
    _assign(made, inputs, with_grad)
    if propagate:
        made.run_pass("shape_analysis")
    return made


def create_function_from_graph(name, graph):
    """A ScriptFunction of that graph, which stays its `graph`."""
    from ._script import ScriptFunction
    made = ScriptFunction(graph.compile(name), name)
    made._graph = graph
    return made


def assert_is_instance(value, kind):
    """RuntimeError where a program that takes a value of that type does not take this one."""
    graph = _graph.Graph()
    taken = graph.addInput()
    taken.setType(kind)
    graph.registerOutput(taken)
    interpret_graph(graph, (value,))


def interpret_graph(graph, inputs):
    """What the graph gives for such inputs."""
    return graph.compile("graph").function("graph")(*inputs)


class Gradient:
    """What _jit_differentiate gives: `f` computes what the graph does and what `df`, its gradient, needs.

    df takes gradients of the outputs `df_input_vjps` of f, then its inputs `df_input_captured_inputs` and its outputs
    `df_input_captured_outputs`; it gives gradients of the inputs `df_output_vjps`. The first `f_real_outputs` outputs
    of f are the graph's own."""

    def __init__(self, f, df, ends):
        self.f, self.df = f, df
        (self.f_real_outputs, self.df_input_vjps, self.df_input_captured_inputs, self.df_input_captured_outputs,
         self.df_output_vjps) = ends


def differentiate(graph):
    """The Gradient of a graph of operators that have formulas, without control flow and writes."""
    return Gradient(*graph.differentiate())


_UNTOLD = re.compile(r"prim::Constant\[value=(?:<Tensor>|(?= *-?\d)[^\[\]]*\[ \w+Type\{[\d,]*\} \])\]\(\)")


def parse_ir(input, parse_tensor_constants=False):
    """The Graph of its text. Tensors of several elements don't stand in texts: with `parse_tensor_constants` they are
    zeros of the type that the text states; torch leaves open what they are."""
    if not parse_tensor_constants:
        return _C.graph_parse(input)
    graph = _C.graph_parse(_UNTOLD.sub("wick_text::tensor()", input))
    for node in graph.findAllNodes("wick_text::tensor"):
        kind = node.output().type()
        if kind.sizes() is None or kind.dtype() is None:
            raise RuntimeError("a tensor constant needs a type with dtype and sizes: %s" % node)
        with graph.insert_point_guard(node):
            constant = graph.insertConstant(_zeros(kind))
        constant.copy_type(node.output())
        name = node.output().debugName()
        node.output().replaceAllUsesWith(constant)
        node.destroy()
        constant.set_name("" if name.isdigit() else name)
    return graph


def _zeros(kind):
    import wick
    return wick.zeros(kind.sizes(), dtype=kind.dtype())


NAMES = {"Graph": _graph.Graph, "Node": _graph.Node, "Value": _graph.Value, "Block": _graph.Block, "Use": _graph.Use,
         "parse_ir": parse_ir, "_create_function_from_graph": create_function_from_graph,
         "Gradient": Gradient, "_jit_differentiate": differentiate,
         "_jit_interpret_graph": interpret_graph, "_jit_assert_is_instance": assert_is_instance,
         "_propagate_shapes": propagate_shapes,
         "_propagate_and_assign_input_shapes": propagate_and_assign_input_shapes,
         "_jit_try_infer_type": _graph_types.try_infer,
         "_new_symbolic_shape_symbol": _graph_types.next_symbol}
NAMES.update(_graph_types.NAMES)
