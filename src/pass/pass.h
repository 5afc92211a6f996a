/* pass: graph -> graph, one optimization or normalization per file, with PyTorch's names. Passes allocate from the
 * graph's arena and throw to its catch point.
 *
 *   pass/pass.h                      the passes (this file)
 *   pass/rewrite/rewrite.h           what they share: nodes made in passing, limits
 *   pass/rewrite/chain.h             nodes used by the next alone, which become one
 *   pass/rewrite/join_anchors.h      anchors of one input, for fuse_regions
 *   pass/motion/with_aliases.h       passes that ask the alias analysis
 *   pass/motion/inliner.h            inlining with a say in it
 *   pass/types/shape_analysis.h      types of all values of a graph
 *   pass/types/shape_evaluate.h      sizes and dtypes of an operator's results, by running it without data
 *   pass/types/node_work.h           how much a node has to compute and to move, by its types
 *   pass/types/tensor_facts.h        what the types of tensors tell
 *   pass/types/lasting_facts.h       and what of it no write changes
 *   pass/types/input_demands.h       what a graph wants of its inputs, for who describes it
 *   pass/motion/attribute_reads.h    reads of attributes that give the same anywhere
 *   pass/motion/attribute_writes.h   attributes that a graph may write
 *   pass/motion/liveness.h           what is needed after a node
 *   pass/rewrite/remove_mutation.h   operators in place and their functional forms
 *   pass/rewrite/rewrite_rule.h      rewrites as data: tables of rules, their protocol, the walk
 *   pass/rewrite/pattern.h           the patterns of rules: read from text or made of graphs, and matched
 *   pass/rewrite/rewrite_read.h      rules as the walk uses them
 *   pass/rewrite/user_passes.h       passes from outside
 *
 * Each pass ends with its row (PASS, below). In the order the front end runs them: */
#pragma once

#include "ir/graph.h"

typedef struct Exec Exec; /* call/exec.h */

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
void lower_tuples(Graph *graph);
/* Runs what depends on constants alone and gives values that nobody can change; takes the known branch of Ifs. exec may
 * be NULL. */
void constant_propagation(Graph *graph, Exec *exec);
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
void dead_code_elimination(Graph *graph);

/* ---- not part of the clean-up ---- */

/* What engines do at once, an anchor (a convolution, a linear layer, the softmax of attention) with what comes before
 * and after it, or several anchors of one input, is one wick::region. For plans: archives never hold it. */
void fuse_regions(Graph *graph);
/* Bodies of called functions and methods in place of the calls, and of the calls in those. What recurses, is not
 * compiled or would make the graph too large stays a call. */
void inliner(Graph *graph);
/* Casts arguments of operators in autocast regions as rows say (OpRow.cast); the regions go. Calls are inlined before.
 */
void autocast(Graph *graph);
/* What the function runs: its graph as written or, where that or what it calls has autocast regions, a copy with calls
 * inlined, after `autocast`. Made once, by any thread. exec may be NULL. */
Status function_graph_to_run(Exec *exec, struct Function *function, const Graph **out) MUST_CHECK;
/* Throws where a node from outside says that it works in place and nothing says what it writes to. */
void check_inplace(Graph *graph);
/* Puts a prim::RaiseException before strict_fusion regions in which an operator is by itself; after fusion. */
void check_strict_fusion(Graph *graph);
/* Names go, values are numbered from 0 in order of definition. */
void canonicalize_names(Graph *graph);

/* ---- local rewrites ---- */

/* All of peephole*.c: what types of tensors decide, numbers, lists and dicts that are made here, neutral operands. */
bool peephole(Graph *graph); /* whether anything changed */
/* The same, but types of tensors are not believed. */
bool peephole_no_shapes(Graph *graph);
bool peephole_non_tensor(Graph *graph);
bool peephole_alias_sensitive(Graph *graph, bool shapes);
bool peephole_list_idioms(Graph *graph);
/* The same, and tests for the length of a list tell it to their branches. */
bool peephole_list_idioms_refine(Graph *graph);
bool peephole_dict_idioms(Graph *graph);
/* Counted loops with a small body do several iterations at a time; those with few, known iterations go. */
bool loop_unrolling(Graph *graph);
/* The same of loops with a known number of iterations only, whatever their body. */
bool constant_loop_unrolling(Graph *graph);
/* The first iterations of loops (those that `wanted`, may be NULL, says) stand in front of them. */
bool loop_peeling(Graph *graph, uint32_t iterations, bool (*wanted)(const Node *loop, void *argument), void *argument);
void peel_loop(Node *loop, uint32_t iterations);
/* Numbers become tensors without dimensions; the result is for exporters and does not run. */
void erase_number_types(Graph *graph);
/* aten::chunk whose pieces are known becomes prim::ConstantChunk. */
void canonicalize_graph_fuser_ops(Graph *graph);
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
void constant_propagation_mutable(Graph *graph, Exec *exec);
/* Of nodes that compute the same one is enough. */
void common_subexpression_elimination(Graph *graph);
/* A concatenation of concatenations along one dimension is one. */
void concat_opt(Graph *graph);
/* aten::cat and aten::stack of a list that is made for them as prim::VarConcat and prim::VarStack of its elements. For
 * plans: archives never hold them. */
void use_variadic_cat(Graph *graph);
void use_variadic_stack(Graph *graph);
/* Regions of convolutions whose results are joined along the channels and go nowhere else become one region, which
 * writes them where the joined tensor has them. For plans. */
void concat_in_place(Graph *graph);
/* Attributes that the graph does not write are read at its start, once each. */
void hoist_attributes(Graph *graph);
/* What every iteration of a loop computes anew moves in front of it. */
void loop_invariant_code_motion(Graph *graph);
/* Writes to what is made in the graph become new values; whether anything changed. */
bool remove_tensor_mutation(Graph *graph);
bool remove_list_mutation(Graph *graph);
bool remove_mutation(Graph *graph); /* both */
/* Both as PyTorch has them: what was written in place takes the dtype and strides of the functional operator. For who
 * does not run the graph. */
bool remove_mutation_of_any_type(Graph *graph);
/* Operators in place become functional, and what uses self after them uses the result; those whose writes are seen
 * around a branch or loop stay. For exporters: views don't see it, results may differ. */
void remove_inplace_ops(Graph *graph);
/* Products with a transposed weight and sums with a bias become aten::linear, as PyTorch has it for quantization:
 * weights are taken for matrices, and errors may differ. */
void fuse_linear(Graph *graph);
/* Parts of layers, as torch.export's decompositions leave them, become the layers' operators: convolution, norms,
 * linear, softmax, attention, pooling. */
void recompose(Graph *graph);
/* Bodies of forks in place of the forks, results in place of waits. */
void inline_fork_wait(Graph *graph);

/* ---- types in graphs: shapes, guards, bailouts ---- */

/* Types of tensors (dtype, device, rank, sizes, strides, requires_grad) forward from the graph's inputs, as far as
 * rows' shape functions tell; through lists, tuples, joins of Ifs, Loops to their fixpoint. exec may be NULL. */
void shape_analysis(Graph *graph, Exec *exec);
/* The same with symbols for sizes that are not known: SS(-2) is the same size wherever it stands. */
void symbolic_shape_analysis(Graph *graph, Exec *exec);
/* requires_grad forward from the types of the graph's inputs. */
void requires_grad_analysis(Graph *graph);
/* Tensor types lose what is known of them; constants keep it. */
void erase_shape_information(Graph *graph);
/* prim::profile with a refined type becomes prim::Guard of what of it holds as long as the value lives; the others go.
 */
void insert_guards(Graph *graph, bool grad_enabled);
/* Guards move up to what defines their value, guards of one value become one, and those go whose type shape functions
 * prove from types that are guarded already. */
void guard_elimination(Graph *graph, Exec *exec);
/* prim::Guard becomes `%y : refined = prim::BailOut[index=n](%x, what is needed after it...)`; the live values include
 * trip count and index of every loop around. */
void bailout_graph(Graph *graph);
/* The graph that a failed guard goes on in: a copy of `graph`, as bailout_graph left it, whose prim::BailOut nodes
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
/* For dumps: attr::live of every node names what is live after it, its own outputs left out. */
void liveness(Graph *graph);

/* ---- rows: each pass stands at the end of its file ---- */

/* What is the same of the graph as it runs without an executor's help. */
typedef enum PassKeeps {
  KEEPS_NOTHING,  /* only an executor, or somebody who does not run it, makes sense of it */
  KEEPS_RESULTS,  /* and effects */
  KEEPS_GRADIENTS /* also what eager autograd makes of it */
} PassKeeps;
/* The name is that of the function too, of --pass, of steps in dumps and times, and of tests/pass/NAME.ir. The file is
 * PyTorch's name of it, and what the log and PYTORCH_JIT_OPT_LIMIT know: the pass's name as well, but where several
 * passes are variants of one. test_passes holds all of that together. */
typedef struct Pass {
  const char *name, *file, *what;
  const char *also;                      /* another name by which it is found, or NULL */
  void (*run)(Graph *graph, Exec *exec); /* exec may be NULL */
  PassKeeps keeps;
} Pass;
#define PASS_ALSO(name_, also_, keeps_, call, what_)  \
  static void run_##name_(Graph *graph, Exec *exec) { \
    (void)exec;                                       \
    call;                                             \
  }                                                   \
  const Pass pass_##name_ = {#name_, FILE_NAME, what_, also_, run_##name_, KEEPS_##keeps_}
#define PASS(name, keeps, call, what) PASS_ALSO(name, NULL, keeps, call, what)

/* clang-format off */
#define PASSES(X) \
  X(autocast) \
  X(bailout_graph) \
  X(batch_mm) \
  X(canonicalize_names) \
  X(canonicalize_graph_fuser_ops) \
  X(canonicalize_modified_loops) \
  X(canonicalize_outputs) \
  X(check_inplace) \
  X(check_strict_fusion) \
  X(clear_profiling) \
  X(clear_undefinedness) \
  X(common_subexpression_elimination) \
  X(concat_in_place) \
  X(concat_opt) \
  X(constant_loop_unrolling) \
  X(constant_pooling) \
  X(constant_propagation) \
  X(constant_propagation_mutable) \
  X(dead_code_elimination) \
  X(decompose_norms) \
  X(decompose_ops) \
  X(erase_number_types) \
  X(erase_shape_information) \
  X(fold_frozen_conv_bn) \
  X(fuse_linear) \
  X(fuse_regions) \
  X(guard_elimination) \
  X(hoist_attributes) \
  X(inline_fork_wait) \
  X(inliner) \
  X(insert_guards) \
  X(liveness) \
  X(loop_invariant_code_motion) \
  X(loop_peeling) \
  X(loop_unrolling) \
  X(lower_grad_of) \
  X(lower_tuples) \
  X(normalize_ops) \
  X(peephole) \
  X(peephole_alias_sensitive) \
  X(peephole_dict_idioms) \
  X(peephole_list_idioms) \
  X(peephole_list_idioms_refine) \
  X(peephole_no_shapes) \
  X(peephole_non_tensor) \
  X(quant_fusion) \
  X(recompose) \
  X(refine_tuple_types) \
  X(remove_dropout) \
  X(remove_expands) \
  X(remove_inplace_ops) \
  X(remove_list_mutation) \
  X(remove_mutation) \
  X(remove_mutation_of_any_type) \
  X(remove_tensor_mutation) \
  X(requires_grad_analysis) \
  X(shape_analysis) \
  X(specialize_autogradzero) \
  X(symbolic_shape_analysis) \
  X(use_variadic_cat) \
  X(use_variadic_stack)
/* clang-format on */
#define X(name) extern const Pass pass_##name;
PASSES(X)
#undef X

/* The passes of one folder: those of folders below this one have tables of their own. */
typedef struct PassTable {
  const Pass *const *passes;
  size_t count;
} PassTable;
/* Every table, ended by NULL; handed over once, before anything runs (src/api/start.c). */
void pass_tables_set(const PassTable *const *tables);
const Pass *pass_find(Str name);          /* NULL: no such pass */
const Pass *pass_next(const Pass *after); /* all in turn; NULL starts and ends */
/* Runs a pass with a catch point of its own; debug builds lint afterwards. */
Status pass_run(const Pass *pass, Graph *graph, Exec *exec) MUST_CHECK;
