/* The table of this folder's passes; all passes by name. */
#include "pass/pass.h"

/* name, what it keeps, call, what it does */
#define PASSES(X)                                                                                                      \
  X(autocast, NOTHING, autocast(graph), "makes autocast regions casts of what operators in them take")                 \
  X(bailout_graph, NOTHING, insert_bailouts(graph), "makes guards bailouts with the values that are live there")       \
  X(batch_mm, GRADIENTS, batch_mm(graph), "makes sums and batches of matrix products one product")                     \
  X(canonicalize, GRADIENTS, canonicalize_names(graph),                                                                \
    "drops names and numbers values from 0 in order of definition")                                                    \
  X(canonicalize_graph_fuser_ops, GRADIENTS, canonicalize_ops(graph),                                                  \
    "makes chunks whose pieces are known single nodes")                                                                \
  X(canonicalize_modified_loops, GRADIENTS, canonicalize_modified_loops(graph),                                        \
    "makes loops with trip count and condition while loops")                                                           \
  X(canonicalize_outputs, GRADIENTS, canonicalize_outputs(graph), "orders outputs of branches and loops by first use") \
  X(check_inplace, GRADIENTS, check_inplace(graph), "refuses writes that no schema tells of")                          \
  X(clear_profiling, GRADIENTS, clear_profiling(graph), "removes profiles and what they said")                         \
  X(clear_undefinedness, GRADIENTS, clear_undefinedness(graph), "no type says that a tensor is undefined")             \
  X(common_subexpression_elimination, GRADIENTS, eliminate_common_subexpressions(graph),                               \
    "keeps one of nodes that compute the same")                                                                        \
  X(concat_opt, GRADIENTS, combine_concats(graph), "makes concatenations of concatenations one")                       \
  X(constant_loop_unrolling, GRADIENTS, unroll_constant_loops(graph),                                                  \
    "unrolls loops with a known number of iterations")                                                                 \
  X(constant_pooling, GRADIENTS, constant_pooling(graph), "keeps one of equal constants, at the start of the graph")   \
  X(constant_propagation, GRADIENTS, constant_propagation_immutable(graph, exec),                                      \
    "computes what depends on constants alone")                                                                        \
  X(constant_propagation_mutable, GRADIENTS, constant_propagation(graph, exec),                                        \
    "the same for tensors and lists that stay inside")                                                                 \
  X(dead_code_elimination, GRADIENTS, eliminate_dead_code(graph), "removes what nothing needs")                        \
  X(decompose_norms, GRADIENTS, decompose_norms(graph), "writes normalization as pointwise operators")                 \
  X(decompose_ops, GRADIENTS, decompose_ops(graph), "writes addmm as product and sum")                                 \
  X(erase_number_types, NOTHING, erase_number_types(graph), "makes numbers tensors without dimensions")                \
  X(erase_shape_information, GRADIENTS, erase_shape_information(graph), "types of tensors say nothing but Tensor")     \
  X(fold_frozen_conv_bn, GRADIENTS, fold_frozen_conv_bn(graph, exec),                                                  \
    "folds constant normalization into convolutions")                                                                  \
  X(guard_elimination, GRADIENTS, eliminate_redundant_guards(graph, exec),                                             \
    "moves guards to definitions, joins them, removes what shapes prove")                                              \
  X(fuse_convolution, RESULTS, fuse_convolution(graph), "makes convolution, stored normalization and clamp one node")  \
  X(inline, GRADIENTS, inline_calls(graph), "puts bodies of functions and methods in place of the calls")              \
  X(inline_fork_wait, GRADIENTS, inline_fork_wait(graph), "runs forks where they stand")                               \
  X(insert_guards, NOTHING, insert_guards(graph, true), "makes profiles guards")                                       \
  X(liveness, GRADIENTS, annotate_liveness(graph), "writes on every node what is live behind it")                      \
  X(loop_invariant_code_motion, GRADIENTS, hoist_loop_invariants(graph),                                               \
    "moves what iterations have in common out of loops")                                                               \
  X(loop_peeling, GRADIENTS, peel_loops(graph, 1, NULL, NULL), "puts the first iteration in front of every loop")      \
  X(loop_unrolling, GRADIENTS, unroll_loops(graph), "unrolls small counted loops")                                     \
  X(lower_grad_of, GRADIENTS, lower_grad_of(graph), "makes prim::GradOf tests for zero gradients")                     \
  X(lower_simple_tuples, GRADIENTS, lower_simple_tuples(graph), "takes apart tuples that one graph makes and unpacks") \
  X(normalize_ops, GRADIENTS, normalize_ops(graph), "gives synonyms one name")                                         \
  X(peephole, GRADIENTS, peephole(graph), "small local rewrites")                                                      \
  X(peephole_alias_sensitive, GRADIENTS, peephole_alias_sensitive(graph, true), "drops neutral operands")              \
  X(peephole_dict_idioms, GRADIENTS, peephole_dict_idioms(graph), "looks into dicts that are made here")               \
  X(peephole_list_idioms, GRADIENTS, peephole_list_idioms(graph, false), "looks into lists that are made here")        \
  X(peephole_list_idioms_refine, GRADIENTS, peephole_list_idioms(graph, true),                                         \
    "the same, with tests for their length")                                                                           \
  X(peephole_no_shapes, GRADIENTS, peephole_optimize(graph, false), "peephole that does not believe types of tensors") \
  X(peephole_non_tensor, GRADIENTS, peephole_non_tensor(graph),                                                        \
    "gathers constants in sums of ints, drops conversions")                                                            \
  X(quant_fusion, RESULTS, quant_fusion(graph), "makes operators between dequantize and quantize quantized ones")      \
  X(refine_tuple_types, GRADIENTS, refine_tuple_types(graph), "tuples have the types of what they hold")               \
  X(remove_dropout, GRADIENTS, remove_dropout(graph), "removes dropout that does not train")                           \
  X(remove_expands, GRADIENTS, remove_expands(graph), "removes expansions that broadcasting makes again")              \
  X(remove_inplace_ops, NOTHING, remove_inplace_ops(graph), "makes operators in place functional, for exporters")      \
  X(remove_list_mutation, GRADIENTS, remove_list_mutation(graph), "makes lists with what is appended to them")         \
  X(remove_mutation, GRADIENTS, (remove_list_mutation(graph), remove_tensor_mutation(graph)),                          \
    "makes writes to new memory new values")                                                                           \
  X(remove_tensor_mutation, GRADIENTS, remove_tensor_mutation(graph),                                                  \
    "makes operators in place on new memory functional")                                                               \
  X(requires_grad_analysis, GRADIENTS, propagate_requires_grad(graph),                                                 \
    "requires_grad of tensors, forward from the inputs")                                                               \
  X(shape_analysis, GRADIENTS, propagate_input_shapes(graph, exec),                                                    \
    "dtypes, devices and sizes of tensors, forward from the inputs")                                                   \
  X(specialize_autogradzero, GRADIENTS, specialize_autogradzero(graph),                                                \
    "removes tests for gradients that are known to be zero or not")                                                    \
  X(symbolic_shape_analysis, GRADIENTS, propagate_shapes_on_graph(graph, exec),                                        \
    "sizes of tensors, with symbols for unknown ones")                                                                 \
  X(use_variadic_cat, GRADIENTS, use_variadic_cat(graph), "lets aten::cat take its tensors without a list")            \
  X(use_variadic_stack, GRADIENTS, use_variadic_stack(graph), "lets aten::stack take its tensors without a list")

#define X(name, keeps, call, what)                   \
  static void run_##name(Graph *graph, Exec *exec) { \
    (void)exec;                                      \
    call;                                            \
  }
PASSES(X)
#undef X

static const Pass passes[] = {
#define X(name, keeps, call, what) {#name, what, run_##name, KEEPS_##keeps},
    PASSES(X)
#undef X
};
const PassTable pass_table_pass = {passes, sizeof passes / sizeof *passes};

const Pass *pass_find(Str name) {
  for (const Pass *pass = pass_next(NULL); pass; pass = pass_next(pass))
    if (str_is(name, pass->name)) return pass;
  return NULL;
}

const Pass *pass_next(const Pass *after) {
  if (!after) return pass_tables[0]->passes;
  for (const PassTable *const *table = pass_tables; *table; table++) {
    const Pass *last = (*table)->passes + (*table)->count - 1;
    if (after == last) return table[1] ? table[1]->passes : NULL;
    if (after >= (*table)->passes && after < last) break;
  }
  return after + 1;
}

typedef struct Run {
  const Pass *pass;
  Graph *graph;
  Exec *exec;
} Run;

static void run(void *argument) {
  Run *r = argument;
  r->pass->run(r->graph, r->exec);
}

Status pass_run(const Pass *pass, Graph *graph, Exec *exec) {
  Run r = {pass, graph, exec};
  if (!graph_fits_stack(graph)) return graph_too_deep();
  Status status = arena_protect(graph->arena, run, &r);
#ifndef NDEBUG
  if (!status) status = graph_lint(graph);
#endif
  return status ? status_context(status, "pass %s", pass->name) : OK;
}
