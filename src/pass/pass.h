/* pass: graph -> graph, one optimization or normalization per file, with PyTorch's names. Passes allocate from the
 * graph's arena and throw to its catch point.
 *
 *   pass/pass.h                      the passes (this file)
 *   pass/rewrite/rewrite.h           what they share: constants behind values, nodes made in passing, limits
 *   pass/motion/with_aliases.h       passes that ask the alias analysis
 *   pass/motion/inliner.h            inlining with a say in it
 *   pass/rewrite/subgraph_matcher.h  where a graph does what a pattern does
 *   pass/rewrite/subgraph_rewrite.h  patterns and what comes in their place
 *   pass/types/shape_analysis.h      types of all values of a graph
 *   pass/types/shape_evaluate.h      sizes and dtypes of an operator's results, by running it without data
 *   pass/types/tensor_facts.h        what the types of tensors tell
 *   pass/types/lasting_facts.h       and what of it no write changes
 *   pass/motion/attribute_reads.h    reads of attributes that give the same anywhere
 *   pass/motion/attribute_writes.h   attributes that a graph may write
 *   pass/motion/liveness.h           what is needed after a node
 *   pass/rewrite/user_passes.h       passes from outside
 *
 * In the order the front end runs them: */
#pragma once

#include "ir/ir.h"

/* prim::Closure's block becomes a Subgraph whose one input is the tuple of what it captures. */
void lift_closures(Graph *graph, void (*clean_up)(Graph *graph, void *argument), void *argument);
/* prim::forkClosure over a lifted closure becomes prim::fork with a Subgraph and the captured values as inputs. */
void inline_forked_closures(Graph *graph, void (*clean_up)(Graph *graph, void *argument), void *argument);
/* prim::EmptyListLiteral that no call gave a type is an empty list of tensors. */
void lower_empty_lists(Graph *graph);
/* Loops with a trip count and a condition (`for` with break) count by themselves and become while loops. */
void canonicalize_modified_loops(Graph *graph);
/* Synonyms get one name: absolute is abs, clip is clamp, `is` of two bools is ==. */
void normalize_ops(Graph *graph);
/* TupleUnpack, TupleIndex of a TupleConstruct are its inputs. */
void lower_simple_tuples(Graph *graph);
/* Runs what depends on constants alone and gives values that nobody can change; takes the known branch of Ifs. exec may
 * be NULL. */
void constant_propagation_immutable(Graph *graph, Exec *exec);
/* The same for one node, its blocks left out; gives what now stands in its place: the node, if nothing was to be done
 * or its outputs have no uses any more. Dead code stays. */
Node *propagate_constants_at(Graph *graph, Exec *exec, Node *node);
/* Equal constants are one, at the top of the graph. */
void constant_pooling(Graph *graph);
/* Outputs of Ifs and Loops in the order of their first use. */
void canonicalize_outputs(Graph *graph);
/* aten::warn nodes get numbers, so that each warns once. */
void annotate_warns(Graph *graph);

/* Removes what has no effect and gives nothing that is used, and dead outputs of Ifs and Loops. */
void eliminate_dead_code(Graph *graph);

/* ---- not part of the clean-up ---- */

/* aten::conv2d, batch_norm with stored statistics, the sum with a tensor and relu, hardtanh, hardswish, silu, ... are
 * one wick::convolution_norm. For plans: archives never hold it. */
void fuse_convolution(Graph *graph);
/* Bodies of called functions and methods in place of the calls, and of the calls in those. What recurses, is not
 * compiled or would make the graph too large stays a call. */
void inline_calls(Graph *graph);
/* Casts arguments of operators in autocast regions as rows say (OpRow.cast); the regions go. Calls are inlined before.
 */
void autocast(Graph *graph);
/* What the function runs: its graph as written or, where that or what it calls has autocast regions, a copy with calls
 * inlined, after `autocast`. Made once. exec may be NULL. The caller holds code_graphs_lock. */
Status function_graph_to_run(Exec *exec, struct Function *function, const Graph **out) MUST_CHECK;
/* Throws where a node from outside says that it works in place and nothing says what it writes to. */
void check_inplace(Graph *graph);
/* Names go, values are numbered from 0 in order of definition. */
void canonicalize_names(Graph *graph);

/* ---- local rewrites ---- */

/* All of peephole*.c: what types of tensors decide, numbers, lists and dicts that are made here, neutral operands. */
void peephole(Graph *graph);
/* The same; without `shapes` types of tensors are not believed. Whether anything changed. */
bool peephole_optimize(Graph *graph, bool shapes);
bool peephole_non_tensor(Graph *graph);
bool peephole_alias_sensitive(Graph *graph, bool shapes);
/* With `refine`, tests for the length of a list tell it to their branches. */
bool peephole_list_idioms(Graph *graph, bool refine);
bool peephole_dict_idioms(Graph *graph);
/* Counted loops with a small body do several iterations at a time; those with few, known iterations go. */
bool unroll_loops(Graph *graph);
/* The same of loops with a known number of iterations only, whatever their body. */
bool unroll_constant_loops(Graph *graph);
/* The first iterations of loops (those that `wanted`, may be NULL, says) stand in front of them. */
bool peel_loops(Graph *graph, uint32_t iterations, bool (*wanted)(const Node *loop, void *argument), void *argument);
void peel_loop(Node *loop, uint32_t iterations);
/* Numbers become tensors without dimensions; the result is for exporters and does not run. */
void erase_number_types(Graph *graph);
/* aten::chunk whose pieces are known becomes prim::ConstantChunk. */
void canonicalize_ops(Graph *graph);
/* addmm as mm and add. */
void decompose_ops(Graph *graph);
/* Normalization as pointwise operators, where weights and ranks are known. */
void decompose_norms(Graph *graph);
/* Sums of products and products of one operand as single products. */
void batch_mm(Graph *graph);
/* Patterns of dequantize, operator, quantize as quantized operators. */
void quant_fusion(Graph *graph);
/* Convolution and normalization with constant weights are one convolution; exec may be NULL: then nothing happens. */
void fold_frozen_conv_bn(Graph *graph, Exec *exec);
void remove_expands(Graph *graph);
void refine_tuple_types(Graph *graph);
void remove_dropout(Graph *graph);

/* ---- with the alias analysis ---- */

/* Also computes tensors and lists from constants, small ones that stay inside and that nobody writes to. */
void constant_propagation(Graph *graph, Exec *exec);
/* Of nodes that compute the same one is enough. */
void eliminate_common_subexpressions(Graph *graph);
/* A concatenation of concatenations along one dimension is one. */
void combine_concats(Graph *graph);
/* aten::cat and aten::stack of a list that is made for them as prim::VarConcat and prim::VarStack of its elements. For
 * plans: archives never hold them. */
void use_variadic_cat(Graph *graph);
void use_variadic_stack(Graph *graph);
/* What every iteration of a loop computes anew moves in front of it. */
void hoist_loop_invariants(Graph *graph);
/* Writes to what is made in the graph become new values; whether anything changed. */
bool remove_tensor_mutation(Graph *graph);
bool remove_list_mutation(Graph *graph);
/* Operators in place become functional, and what uses self behind them uses the result; those whose writes are seen
 * around a branch or loop stay. For exporters: views don't see it, results may differ. */
void remove_inplace_ops(Graph *graph);
/* Bodies of forks in place of the forks, results in place of waits. */
void inline_fork_wait(Graph *graph);

/* ---- types in graphs: shapes, guards, bailouts ---- */

/* Types of tensors (dtype, device, rank, sizes, strides, requires_grad) forward from the graph's inputs, as far as
 * rows' shape functions tell; through lists, tuples, joins of Ifs, Loops to their fixpoint. exec may be NULL. */
void propagate_input_shapes(Graph *graph, Exec *exec);
/* The same with symbols for sizes that are not known: SS(-2) is the same size wherever it stands. */
void propagate_shapes_on_graph(Graph *graph, Exec *exec);
/* requires_grad forward from the types of the graph's inputs. */
void propagate_requires_grad(Graph *graph);
/* Tensor types lose what is known of them; constants keep it. */
void erase_shape_information(Graph *graph);
/* prim::profile with a refined type becomes prim::Guard of what of it holds as long as the value lives; the others go.
 */
void insert_guards(Graph *graph, bool grad_enabled);
/* Guards move up to what defines their value, guards of one value become one, and those go whose type shape functions
 * prove from types that are guarded already. */
void eliminate_redundant_guards(Graph *graph, Exec *exec);
/* prim::Guard becomes `%y : refined = prim::BailOut[index=n](%x, what is needed after it...)`; the live values include
 * trip count and index of every loop around. */
void insert_bailouts(Graph *graph);
/* The graph that a failed guard goes on in: a copy of `graph`, as insert_bailouts left it, whose prim::BailOut nodes
 * are markers without outputs and whose types promise nothing. Throws to the arena's catch point. */
Graph *bailout_baseline(const Graph *graph, Arena *arena, TypeStore *store);
/* prim::profile nodes and what profiles said of types go. */
void clear_profiling(Graph *graph);
/* No type says of a tensor that it is undefined. */
void clear_undefinedness(Graph *graph);
/* prim::GradOf whose gradients are all zero gives prim::AutogradZero, whose gradients are all there runs without a
 * test; prim::AutogradAdd of a zero is the other one. */
void specialize_autogradzero(Graph *graph);
/* The prim::GradOf that are left become tests whether any gradient is there. */
void lower_grad_of(Graph *graph);
/* For dumps: attr::live of every node names what is live behind it, its own outputs left out. */
void annotate_liveness(Graph *graph);

/* ---- by name, for dumps and tests ---- */
/* What is the same of the graph as it runs without an executor's help. */
typedef enum PassKeeps {
  KEEPS_NOTHING,  /* only an executor, or somebody who does not run it, makes sense of it */
  KEEPS_RESULTS,  /* and effects */
  KEEPS_GRADIENTS /* also what eager autograd makes of it */
} PassKeeps;
typedef struct Pass {
  const char *name, *what;
  void (*run)(Graph *graph, Exec *exec); /* exec may be NULL */
  PassKeeps keeps;
} Pass;
/* The passes of one folder: those of folders below this one have tables of their own. */
typedef struct PassTable {
  const Pass *passes;
  size_t count;
} PassTable;
/* Every table, ended by NULL: src/api/pass_tables.c. */
extern const PassTable *const pass_tables[];
const Pass *pass_find(Str name);          /* NULL: no such pass */
const Pass *pass_next(const Pass *after); /* all in turn; NULL starts and ends */
/* Runs a pass with a catch point of its own; debug builds lint afterwards. */
Status pass_run(const Pass *pass, Graph *graph, Exec *exec) MUST_CHECK;
