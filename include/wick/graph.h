/* wick/graph: graphs seen from outside. For passes, for compilers that take parts of graphs over, and for tools that
 * look at programs. This header promises less than wick.h: kinds of nodes and what passes make of graphs change between
 * versions; the functions here are meant to stay.
 *
 * A graph has a block, a block nodes in order, inputs and outputs; a node has a kind ("aten::add"), inputs, outputs,
 * attributes and nested blocks (prim::If, prim::Loop); a wick_ir_value is what a node or block gives, with its type and
 * its uses. Blocks, nodes and values are borrowed: they live as long as their graph, or until they are destroyed.
 * One graph must not be used from several threads at once. `wick dump` shows graphs as text, wick_graph_parse reads it.
 *
 *   static wick_status my_pass(void *user, wick_graph *graph, wick_error **error) {
 *     size_t count;
 *     return wick_graph_rewrite(graph, "graph(%x):\n ... return (%y)", "graph(%x):\n ... return (%y)", &count, error);
 *   }
 *   wick_pass_register("my_pass", my_pass, NULL, &error);                                      */
#ifndef WICK_GRAPH_H
#define WICK_GRAPH_H

#include "wick/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wick_graph wick_graph;
typedef struct wick_block wick_block;
typedef struct wick_node wick_node;
typedef struct wick_ir_value wick_ir_value;
typedef struct wick_alias wick_alias; /* what may share memory in a graph; used by one thread at a time */

/* ---- graphs ---- */
/* IR text, as wick_graph_print gives it, with the graphs of groups after it (constants that are tensors of several
 * elements can't be read back); fails as wick_graph_check does. Released with wick_graph_release. */
WICK_API wick_status wick_graph_parse(const char *text, size_t length, wick_graph **out, wick_error **error);
/* A copy of a method's graph as it was compiled; with `inlined` nonzero, calls are replaced by what they call. */
WICK_API wick_status wick_graph_of_method(const wick_module *module, const char *method, int inlined, wick_graph **out,
                                          wick_error **error);
/* A copy of a module's method in which each attribute that it reads is an input; self is gone and calls are inlined.
 * The last inputs are the attributes; *out_attributes is a tuple of what they are now. WICK_UNSUPPORTED: the method
 * sets attributes of the module, or gives it away. */
WICK_API wick_status wick_graph_lower(const wick_module *module, const char *method, wick_graph **out,
                                      wick_value **WICK_NULLABLE out_attributes, wick_error **error);
/* Reverse mode: *out_forward is a copy of the graph that also gives what the gradient needs, *out_backward computes the
 * gradient:
 *   forward(inputs) -> the graph's outputs, then temporaries
 *   backward(gradients of outputs of forward, captured inputs, captured outputs) -> gradients of inputs
 * *out_ends is a tuple of the number of the graph's own outputs and four lists of numbers: the outputs of forward whose
 * gradients backward takes first, the inputs and the outputs of forward that it takes then, and the inputs of forward
 * whose gradients it gives. A gradient that is not there may be an undefined tensor. WICK_UNSUPPORTED: the graph has
 * control flow, writes, or operators without a formula. Graphs are released with wick_graph_release, the tuple with
 * wick_value_release. */
WICK_API wick_status wick_graph_differentiate(const wick_graph *graph, wick_graph **out_forward,
                                              wick_graph **out_backward, wick_value **out_ends, wick_error **error);
/* A copy of a node's Subgraph. Of a graph that a pass was given it must go before the program of that graph does. */
WICK_API wick_status wick_graph_of_node(const wick_node *node, wick_graph **out, wick_error **error);
/* The graph that is an attribute of a node ("Subgraph"), or one of a list of graphs, itself: changes are the node's. It
 * is released before the node's graph goes, and is of no use after the attribute was set anew. */
WICK_API wick_status wick_graph_of_attribute(const wick_node *node, const char *name, size_t index, wick_graph **out,
                                             wick_error **error);
/* A copy of the graph of the plan that was made last of those that calls run in. WICK_NOT_FOUND: there is none, since
 * nothing called the function, or optimizing it gains nothing. */
WICK_API wick_status wick_graph_of_plan(const wick_function *function, wick_graph **out, wick_error **error);
/* Fails as wick_graph_check does; so does what puts a graph into another one. */
WICK_API wick_status wick_graph_copy(const wick_graph *graph, wick_graph **out, wick_error **error);
/* A program whose function `name` is a copy of the graph; its parameters are called as the graph's inputs are. Fails as
 * wick_graph_check and wick_graph_run do. */
WICK_API wick_status wick_graph_compile(const wick_graph *graph, wick_runtime *WICK_NULLABLE runtime, const char *name,
                                        wick_module **out, wick_error **error);
/* Not for the graph that a pass is given. NULL is allowed. */
WICK_API void wick_graph_release(wick_graph *graph);
/* As PyTorch prints graphs. Freed with wick_text_free. */
WICK_API wick_status wick_graph_print(const wick_graph *graph, char **out_text, wick_error **error);
/* The same with the place in the source after every node. */
WICK_API wick_status wick_graph_print_places(const wick_graph *graph, char **out_text, wick_error **error);
/* The kernels of the graph's fusion groups (pass "graph_fuser"), group by group: those that runs have used, else those
 * that are expected. Freed with wick_text_free. */
WICK_API wick_status wick_graph_print_kernels(const wick_graph *graph, char **out_text, wick_error **error);
/* Fails when the graph is broken: order and scope; operators whose schemas do not fit; control flow, constants and
 * containers whose inputs, outputs, attributes and types do not belong together. Of kinds that are no operators nothing
 * is asked. Operators that only passes make (wick::region, prim::VarConcat) may stand in a graph, wherever it is from,
 * and fit as others do: what their schemas leave open has types, too. Runs before wick's passes and the first run, and
 * after every pass from outside. */
WICK_API wick_status wick_graph_check(const wick_graph *graph, wick_error **error);
/* One of wick's passes, or one from outside, by name ("dead_code_elimination"; wick_pass_name lists them). */
WICK_API wick_status wick_graph_run_pass(wick_graph *graph, const char *pass, wick_error **error);
WICK_API wick_block *wick_graph_block(const wick_graph *graph);
/* Runs the graph as it is. arguments: one for each input, of its type. `results` gets one value for each output, to be
 * released. Inside a kernel `call` is the call it serves: settings, gradients and budgets are that call's; else NULL.
 * The first run compiles: the graph must not be changed after it. Then any thread may run it. WICK_UNSUPPORTED: it is a
 * copy of a plan's, with guards or profiles, which only run there. */
WICK_API wick_status wick_graph_run(wick_graph *graph, wick_call *WICK_NULLABLE call,
                                    const wick_value *const *arguments, size_t count, wick_value **results,
                                    size_t result_count, wick_error **error);

/* ---- blocks ---- */
WICK_API wick_node *wick_block_first(const wick_block *block); /* NULL: it has no nodes */
WICK_API wick_node *wick_block_last(const wick_block *block);
WICK_API wick_node *wick_block_owner(const wick_block *block); /* NULL: the graph's own block */
WICK_API size_t wick_block_input_count(const wick_block *block);
WICK_API wick_ir_value *wick_block_input(const wick_block *block, size_t index); /* NULL: no such index */
WICK_API size_t wick_block_output_count(const wick_block *block);
WICK_API wick_ir_value *wick_block_output(const wick_block *block, size_t index);
WICK_API wick_status wick_block_add_input(wick_block *block, const char *type, wick_ir_value **out, wick_error **error);
WICK_API wick_status wick_block_add_output(wick_block *block, wick_ir_value *value, wick_error **error);

/* ---- nodes ---- */
WICK_API wick_node *wick_node_next(const wick_node *node); /* NULL: the last one */
WICK_API wick_node *wick_node_previous(const wick_node *node);
WICK_API wick_block *wick_node_owner(const wick_node *node);
WICK_API const char *wick_node_kind(const wick_node *node); /* static */
/* "__module.fc/__module.fc.0": the submodules that were at work when the node was traced; "": none. Static. */
WICK_API const char *wick_node_scope(const wick_node *node);
/* The schema that the node's kind and operands resolve to; "" when there is none. Freed with wick_text_free. */
WICK_API wick_status wick_node_schema(const wick_node *node, char **out_text, wick_error **error);
WICK_API size_t wick_node_input_count(const wick_node *node);
WICK_API wick_ir_value *wick_node_input(const wick_node *node, size_t index); /* NULL: no such index */
/* The input that stands for the operator's argument of that name ("dim"); NULL: there is no schema, or none such. */
WICK_API wick_ir_value *wick_node_named_input(const wick_node *node, const char *name);
WICK_API size_t wick_node_output_count(const wick_node *node);
WICK_API wick_ir_value *wick_node_output(const wick_node *node, size_t index);
WICK_API size_t wick_node_block_count(const wick_node *node);
WICK_API wick_block *wick_node_block(const wick_node *node, size_t index);
/* The block of the node's Subgraph; NULL: it has none. */
WICK_API wick_block *wick_node_subgraph(const wick_node *node);
/* Whether the node only computes its outputs: no writes, no effects, no random numbers, no control flow. */
WICK_API int wick_node_is_pure(const wick_node *node);
typedef struct wick_source_place {
  uint32_t size;   /* sizeof(wick_source_place), set by the caller */
  uint32_t line;   /* from 1; 0: not known, as for nodes that passes made of nothing in the program */
  uint32_t column; /* from 0, in bytes */
  uint32_t reserved;
  const char *file; /* "" where the text had no name; as long as the graph lives */
} wick_source_place;
/* Where the node comes from: the place in the source that the program was written in, where the archive tells. */
WICK_API wick_status wick_node_place(const wick_node *node, wick_source_place *out, wick_error **error);
typedef struct wick_inlined_call {
  uint32_t size; /* sizeof(wick_inlined_call), set by the caller */
  uint32_t line; /* of the call, as in wick_source_place */
  uint32_t column;
  uint32_t reserved;
  const char *file;
  const char *function; /* what was called: "__torch__.Net.forward" */
  const char *instance; /* the path from self of the object whose method it is: "layer1.0"; "": not known, or none */
} wick_inlined_call;
/* A call that the node was inlined by: number 0 is the innermost, whose caller is number 1. Texts live as long as the
 * graph. WICK_NOT_FOUND: there is no such. */
WICK_API wick_status wick_node_inlined_call(const wick_node *node, size_t index, wick_inlined_call *out,
                                            wick_error **error);
/* The lines around it, marked, as messages show them; "" where the place is not known. Freed with wick_text_free. */
WICK_API wick_status wick_node_excerpt(const wick_node *node, char **out_text, wick_error **error);
/* Inserted in front of `before`, or at the end of `block` when that is NULL. Outputs are of type Tensor. */
WICK_API wick_status wick_node_new(wick_block *block, wick_node *WICK_NULLABLE before, const char *kind,
                                   wick_ir_value *const *inputs, size_t input_count, size_t output_count,
                                   wick_node **out, wick_error **error);
/* A call of the operator `name` ("aten::sum"), as a program's: the overload is chosen by the inputs, the last
 * `named_count` of them named by `names`; what is left out gets its default, what TorchScript converts is converted.
 * *out: its result, several packed in a tuple. WICK_COMPILE tells of every overload why it does not fit; operators that
 * only passes make are refused (wick_node_new makes nodes of any kind). */
WICK_API wick_status wick_node_insert(wick_block *block, wick_node *WICK_NULLABLE before, const char *name,
                                      wick_ir_value *const *inputs, size_t count, const char *const *names,
                                      size_t named_count, wick_ir_value **out, wick_error **error);
/* As wick_node_insert_constant, at the end of `block` when `before` is NULL. */
WICK_API wick_status wick_block_insert_constant(wick_block *block, wick_node *WICK_NULLABLE before,
                                                const wick_value *value, wick_ir_value **out, wick_error **error);
/* prim::Constant of a value that can be one (no tensors that record, no modules), in front of `before`. */
WICK_API wick_status wick_node_insert_constant(wick_node *before, const wick_value *value, wick_ir_value **out,
                                               wick_error **error);
/* Replaces an input; index may be the count: then it is added. */
WICK_API wick_status wick_node_set_input(wick_node *node, size_t index, wick_ir_value *value, wick_error **error);
WICK_API wick_status wick_node_move_before(wick_node *node, wick_node *before, wick_error **error);
/* Refused while an output has users. */
WICK_API wick_status wick_node_destroy(wick_node *node, wick_error **error);
/* Moves nodes of one block into the Subgraph of a new node, which stands where the last of them stood. Constants that
 * they use are copied into it; its inputs are what they use from outside, its outputs what others use of theirs. In
 * block order `nodes`; refused when a node between them needs what they give, or when one of them has an effect. */
WICK_API wick_status wick_node_group(wick_node *const *nodes, size_t count, const char *kind, wick_node **out,
                                     wick_error **error);

/* ---- writing graphs beyond what a pass needs ---- */
/* Blocks, nodes and values that are no longer in their graph may be held as long as the graph lives, but these two are
 * all that may be asked of them: 0: it was destroyed, or erased. */
WICK_API int wick_node_exists(const wick_node *node);
WICK_API int wick_ir_value_exists(const wick_ir_value *value);
/* The ends of a block: prim::Param gives its inputs, prim::Return takes its outputs. They stay where they are. */
WICK_API wick_node *wick_block_param(const wick_block *block);
WICK_API wick_node *wick_block_return(const wick_block *block);
/* Its line, with nested blocks, as in the text of the graph, and the place in the source after it. Freed with
 * wick_text_free. */
WICK_API wick_status wick_node_print(const wick_node *node, char **out_text, wick_error **error);
/* Whether it stands in front of the other one; of nodes in different blocks, what holds them decides. */
WICK_API int wick_node_is_before(const wick_node *node, const wick_node *other);
/* A node that stands nowhere yet. Outputs are of type Tensor. */
WICK_API wick_status wick_node_create(wick_graph *graph, const char *kind, wick_ir_value *const *inputs,
                                      size_t input_count, size_t output_count, wick_node **out, wick_error **error);
/* Puts or moves it in front of `before`, or to the end of `block` when that is NULL. */
WICK_API wick_status wick_node_place_in(wick_node *node, wick_block *block, wick_node *WICK_NULLABLE before,
                                        wick_error **error);
/* Gives the node the other's place in the source and scope. */
WICK_API wick_status wick_node_copy_metadata(wick_node *node, const wick_node *from, wick_error **error);
/* Empty, after the blocks that it has. */
WICK_API wick_status wick_node_add_block(wick_node *node, wick_block **out, wick_error **error);
WICK_API wick_status wick_node_erase_block(wick_node *node, size_t index, wick_error **error);
/* In front of the one with that index; the count: after the last. Of a block's ends, they change the inputs and
 * outputs of the block. */
WICK_API wick_status wick_node_insert_input(wick_node *node, size_t index, wick_ir_value *value, wick_error **error);
WICK_API wick_status wick_node_insert_output(wick_node *node, size_t index, wick_ir_value **out, wick_error **error);
WICK_API wick_status wick_node_remove_input(wick_node *node, size_t index, wick_error **error);
/* Refused while it has users. */
WICK_API wick_status wick_node_erase_output(wick_node *node, size_t index, wick_error **error);
/* As wick_ir_value_node, but for an input of a block its wick_block_param. */
WICK_API wick_node *wick_ir_value_giver(const wick_ir_value *value);
/* As wick_ir_value_user, but for an output of a block its wick_block_return; NULL: no such index. */
WICK_API wick_node *wick_ir_value_taker(const wick_ir_value *value, size_t index, size_t *WICK_NULLABLE out_input);
WICK_API size_t wick_ir_value_offset(const wick_ir_value *value); /* which output of its node */
WICK_API size_t wick_ir_value_unique(const wick_ir_value *value); /* its number in the graph */
/* Made unique, as PyTorch does: "x.1". "": none. Numbers are refused. */
WICK_API wick_status wick_ir_value_set_name(wick_ir_value *value, const char *name, wick_error **error);
/* The type of another value of the graph. */
WICK_API wick_status wick_ir_value_copy_type(wick_ir_value *value, const wick_ir_value *from, wick_error **error);
/* Users that stand after `after` use `with` from now on. */
WICK_API wick_status wick_ir_value_replace_after(wick_ir_value *value, wick_node *after, wick_ir_value *with,
                                                 wick_error **error);
/* Puts a copy of the nodes of another graph in front of `before`, or at the end of `block`: its inputs stand for
 * `inputs`, and `outputs` gets what its outputs are here. */
WICK_API wick_status wick_graph_insert_graph(wick_block *block, wick_node *WICK_NULLABLE before,
                                             const wick_graph *graph, wick_ir_value *const *inputs, size_t count,
                                             wick_ir_value **outputs, size_t output_count, wick_error **error);
/* Whether whatever is of the one type is of the other, both as wick_ir_value_type gives them. */
WICK_API wick_status wick_type_is_subtype(const char *type, const char *of, int *out_is, wick_error **error);

/* ---- attributes: set replaces; a name is given without "attr::" ---- */
WICK_API size_t wick_node_attribute_count(const wick_node *node);
WICK_API const char *wick_node_attribute_name(const wick_node *node, size_t index); /* static; NULL: no such index */
/* *out is NULL when there is no such attribute, or when it is a graph or a type. */
WICK_API wick_status wick_node_attribute(const wick_node *node, const char *name, wick_value **out, wick_error **error);
WICK_API wick_status wick_node_set_attribute(wick_node *node, const char *name, const wick_value *value,
                                             wick_error **error);

/* "i", "f", "c", "s", "t", "g", "ty", "is", "fs", "cs", "ss", "ts", "gs", "tys" or "ival", as PyTorch calls the kinds
 * of attributes. Static; NULL: no such attribute. */
WICK_API const char *wick_node_attribute_kind(const wick_node *node, const char *name);
/* One that is a type, as wick_ir_value_type gives it. Freed with wick_text_free. */
WICK_API wick_status wick_node_attribute_type(const wick_node *node, const char *name, char **out_text,
                                              wick_error **error);
/* A copy of the graph. */
WICK_API wick_status wick_node_set_graph(wick_node *node, const char *name, const wick_graph *graph,
                                         wick_error **error);
WICK_API wick_status wick_node_set_type(wick_node *node, const char *name, const char *type, wick_error **error);
WICK_API wick_status wick_node_remove_attribute(wick_node *node, const char *name, wick_error **error);

/* ---- values ---- */
WICK_API wick_node *wick_ir_value_node(const wick_ir_value *value); /* NULL: an input of a block */
/* The text after %: a name, or a number. Freed with wick_text_free. */
WICK_API wick_status wick_ir_value_name(const wick_ir_value *value, char **out_text, wick_error **error);
/* "Tensor", "int[]", "Float(2, 3, strides=[3, 1], device=cpu)". Freed with wick_text_free. */
WICK_API wick_status wick_ir_value_type(const wick_ir_value *value, char **out_text, wick_error **error);
WICK_API wick_status wick_ir_value_set_type(wick_ir_value *value, const char *type, wick_error **error);
/* The kind that values of the type have: WICK_TENSOR, WICK_LIST ...; WICK_OTHER where they may have several (Optional,
 * Union, Any) or none of these. */
WICK_API uint32_t wick_ir_value_kind(const wick_ir_value *value);
typedef struct wick_tensor_facts { /* -1 is not known */
  uint32_t size;                   /* sizeof(wick_tensor_facts), set by the caller */
  int32_t dtype;                   /* WICK_FLOAT32 ... */
  int32_t ndim;
  int32_t requires_grad;
  int64_t sizes[32]; /* each; all -1 where only the rank is known */
} wick_tensor_facts;
/* What the type of a Tensor says. Fails for values of other types. */
WICK_API wick_status wick_ir_value_tensor(const wick_ir_value *value, wick_tensor_facts *out, wick_error **error);
/* One size that the type of a Tensor says. -1: it is not known; less: a symbol, the same number wherever in the graph
 * the size is the same. The text of the type has no symbols. */
WICK_API wick_status wick_ir_value_size(const wick_ir_value *value, size_t dim, int64_t *out, wick_error **error);
WICK_API size_t wick_ir_value_use_count(const wick_ir_value *value);
/* A user and which of its inputs it is; NULL: no such index, or a block's output. In no particular order. */
WICK_API wick_node *wick_ir_value_user(const wick_ir_value *value, size_t index, size_t *WICK_NULLABLE out_input);
/* Every user of `value` uses `with` from now on. */
WICK_API wick_status wick_ir_value_replace(wick_ir_value *value, wick_ir_value *with, wick_error **error);
/* What a constant is; *out is NULL for other values. */
WICK_API wick_status wick_ir_value_constant(const wick_ir_value *value, wick_value **out, wick_error **error);

/* ---- what may share memory, and which nodes may change places ---- */
/* Of the graph as it stands now: it stays right for moves made with it, and is of no use after other changes. Every
 * answer errs on the side of "may". Released before the graph. Fails as wick_graph_check does. */
WICK_API wick_status wick_alias_new(wick_graph *graph, wick_alias **out, wick_error **error);
WICK_API void wick_alias_release(wick_alias *alias); /* NULL is allowed */
/* Whether something that one value is or holds may be something that the other is or holds. */
WICK_API int wick_alias_may_share(wick_alias *alias, const wick_ir_value *a, const wick_ir_value *b);
/* Whether some node of the graph may write to what the value is or holds. */
WICK_API int wick_alias_has_writers(wick_alias *alias, const wick_ir_value *value);
/* What points to what, and which nodes write to what: as text, or with `as_dot` nonzero as a graph for Graphviz. Freed
 * with wick_text_free. */
WICK_API wick_status wick_alias_print(wick_alias *alias, int as_dot, char **out_text, wick_error **error);
/* Moves the node in front of another of its block, with what stands between and depends on it, when that changes
 * nothing: reads and writes of one memory, effects and random numbers stay in order. *out_moved 0: it would. */
WICK_API wick_status wick_alias_move_before(wick_alias *alias, wick_node *node, wick_node *before, int *out_moved,
                                            wick_error **error);

/* The same to after another node, with what stands between and it depends on. */
WICK_API wick_status wick_alias_move_after(wick_alias *alias, wick_node *node, wick_node *after, int *out_moved,
                                           wick_error **error);

/* ---- rewriting by pattern ---- */
/* Puts `replacement` where the graph does what `pattern` does, both IR text with the same inputs and outputs. A pattern
 * is straight code whose inner values nobody else uses; constants in it must be equal. Each time asks
 * PYTORCH_JIT_OPT_LIMIT for the pass that it is called by. *out_count (may be NULL): how often. */
WICK_API wick_status wick_graph_rewrite(wick_graph *graph, const char *pattern, const char *replacement,
                                        size_t *WICK_NULLABLE out_count, wick_error **error);

/* ---- how programs become what runs ---- */
/* Steps of compiling in order, from "emit" on, and passes over whole graphs, those from outside last; some names are
 * both. Of the process; NULL: no such index. */
WICK_API const char *wick_compile_step(size_t index);
WICK_API const char *wick_pass_name(size_t index);
/* Whether wick_graph_run_pass knows the name. */
WICK_API int wick_pass_exists(const char *name);
/* Shown a function's graph after each step of its compiling, and after each pass of a plan that is made by the call
 * that wants it (wick_executor_options.synchronous). `function`: as wick_function_qualified_name; name and graph are
 * borrowed for the call, in which the graph may be printed and read; `step` is static. On the thread that compiles. */
typedef void wick_graph_observer(void *user, const char *function, const char *step, const wick_graph *graph);
/* For what this runtime compiles from now on; one observer, NULL: none. Not for NULL, the process's runtime. */
WICK_API void wick_runtime_observe(wick_runtime *runtime, wick_graph_observer *WICK_NULLABLE observer, void *user);
/* "__torch__.Net.forward"; of a compiled text "f". Borrowed from the function. */
WICK_API const char *wick_function_qualified_name(const wick_function *function);
enum {
  WICK_PRINT_GRAPH = 0,       /* as it was compiled */
  WICK_PRINT_PLACES = 1,      /* the same with places in the source */
  WICK_PRINT_CODE = 2,        /* as Python, the way archives have it, but for the type of a method's self */
  WICK_PRINT_BYTECODE = 3,    /* instructions */
  WICK_PRINT_PLANS = 4,       /* the graphs of the plans that calls led to, the newest first */
  WICK_PRINT_PLAN_PLACES = 5, /* the same with places in the source */
  WICK_PRINT_KERNELS = 6      /* the kernels of the plans' fusion groups */
};
/* Freed with wick_text_free. */
WICK_API wick_status wick_function_print(const wick_function *function, uint32_t what, char **out_text,
                                         wick_error **error);
/* Puts the graph of every function of the module's program through passes, in order, checking it after each; what has
 * run already (__setstate__) stays. For tests of passes: not while the module runs elsewhere, and a program that a pass
 * broke or that failed is not to be used. */
WICK_API wick_status wick_module_run_passes(wick_module *module, const char *const *passes, size_t count,
                                            wick_error **error);
/* Prints every function as archives have it, compiles that text again and compares the graphs: *out_differences is ""
 * where they are the same. Freed with wick_text_free. */
WICK_API wick_status wick_module_check_code(const wick_module *module, char **out_differences, wick_error **error);

/* ---- passes ---- */
/* Runs on every graph that is optimized from now on, on any thread, after wick's own passes: on code for which
 * derivatives are there already. `graph` is borrowed for the call. What it fails with, or a graph that it breaks, makes
 * the program run without that optimization. Names are unique in the process. */
typedef wick_status wick_pass(void *user, wick_graph *graph, wick_error **error);
WICK_API wick_status wick_pass_register(const char *name, wick_pass *pass, void *user, wick_error **error);
/* For graphs that are optimized later. Not found: WICK_NOT_FOUND. */
WICK_API wick_status wick_pass_remove(const char *name, wick_error **error);
/* 0: enough rewrites. PYTORCH_JIT_OPT_LIMIT=my_pass=5 lets a pass make five in this process, so that the wrong one of
 * many is found by bisection. Counts: ask right before each rewrite that could as well be left out. */
WICK_API int wick_pass_may_rewrite(const char *name);

/* ---- operations for kinds of nodes ---- */
/* Makes what runs a node when its graph is compiled: a kernel and its own state (the kernel's `user`), dropped with the
 * code. The node is borrowed for the call. */
typedef wick_status wick_operation_factory(void *user, const wick_node *node, wick_kernel **out_kernel,
                                           void **out_state, void (**out_drop)(void *state), wick_error **error);
/* For the rest of the process: "mine::group(...) -> ...". Kernels are called without autograd: a pass that takes over
 * differentiable code asks wick_call_records and runs the Subgraph then. */
WICK_API wick_status wick_operation_register(const char *schema, wick_operation_factory *factory, void *user,
                                             wick_error **error);
/* Whether gradients are recorded and an argument requires one. */
WICK_API int wick_call_records(const wick_call *call);

#ifdef __cplusplus
}
#endif
#endif
