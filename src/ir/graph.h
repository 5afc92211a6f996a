/* Graph: a program in SSA with structured control flow. A Graph has a Block, a Block a list of Nodes between a Param
 * and a Return sentinel, a Node inputs, outputs, attributes and nested Blocks, a Value its uses.
 *
 * Everything lives in the graph's arena and dies with it; making things throws to arena->catch_point (set it, or use
 * arena_protect). References that constants hold are kept by the Graph and dropped by graph_dispose. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "ivalue/ivalue.h"
#include "report/source.h"
#include "report/symbol.h"

typedef struct Exec Exec;                     /* call/exec.h */
typedef struct FunctionSchema FunctionSchema; /* schema/schema.h */
typedef struct Operator Operator;             /* call/operator.h */

typedef struct Graph Graph;
typedef struct Block Block;
typedef struct Node Node;
typedef struct Value Value;

typedef struct Use {
  Node *user;
  uint32_t offset; /* which input of user */
} Use;

struct Value {
  Node *node;      /* that defines it; a Param sentinel for block inputs */
  uint32_t offset; /* which output */
  uint32_t unique; /* number in the graph */
  uint32_t mark;   /* of the last walk that came by: graph_new_mark */
  const Type *type;
  Str name;             /* debug name without %, empty: the number */
  VEC(Use) uses;        /* in no particular order after removals */
  const char *inferred; /* while emitting: the parameter without annotation that this Tensor is; for errors */
};

typedef enum AttributeTag {
  ATTR_INT,
  ATTR_FLOAT,
  ATTR_COMPLEX,
  ATTR_STRING,
  ATTR_TENSOR,
  ATTR_GRAPH,
  ATTR_TYPE,
  ATTR_IVALUE,
  ATTR_INTS,
  ATTR_FLOATS,
  ATTR_COMPLEXES,
  ATTR_STRINGS,
  ATTR_TENSORS,
  ATTR_GRAPHS,
  ATTR_TYPES
} AttributeTag;
typedef struct NodeAttribute {
  Symbol name; /* attr::... */
  uint8_t tag;
  uint32_t count; /* of the list forms */
  IValue
      boxed; /* a constant's attr::value in string or complex form: the same as a value, held by the graph; else None */
  union {
    int64_t i;
    double f;
    complex128 c;
    Str s;
    Tensor *t; /* held by the graph */
    Graph *g;
    const Type *ty;
    IValue value; /* held by the graph */
    const int64_t *ints;
    const double *floats;
    const complex128 *complexes;
    const Str *strings;
    Tensor *const *tensors;
    Graph *const *graphs;
    const Type *const *types;
  };
} NodeAttribute;

typedef struct NodeInput {
  Value *value;
  uint32_t use_index; /* its place in value->uses, so that removal takes constant time */
} NodeInput;

/* How a node came here by inlining: the innermost call first. */
typedef struct InlinedCall {
  const struct Function *function;
  SourceRange range; /* of the call */
  Str instance;      /* "layer1.0": of a method, the path of its object from the graph's self; empty: not known, none */
  const struct InlinedCall *caller;
} InlinedCall;

struct Node {
  Symbol kind;
  Graph *graph;
  Block *owning_block; /* NULL until inserted */
  Node *prev, *next;
  int64_t position; /* order within the block; node_is_before compares */
  SourceRange range;
  Symbol scope; /* scope::__module.fc/__module.fc.0: the submodules at work when it was traced; SYMBOL_NONE: none */
  const InlinedCall *inlined;
  const Operator *op; /* the resolved overload, cached; NULL: not resolved or not an operator */
  uint32_t input_count, input_capacity, output_count, output_capacity, block_count, attribute_count;
  uint32_t mark; /* of the last walk that came by: graph_new_mark */
  bool destroyed;
  NodeInput *inputs;
  Value **outputs;
  Block **blocks;
  NodeAttribute *attributes;
  struct Callable *callable; /* prim::FusionGroup, prim::DifferentiableGraph: counted, held by the graph */
};

struct Block {
  Graph *graph;
  Node *owning_node; /* NULL for the graph's own block */
  Node *param;       /* sentinel: its outputs are the block's inputs; param->next is the first node */
  Node *ret;         /* sentinel: its inputs are the block's outputs; ret->prev is the last node */
};

struct Graph {
  Arena *arena;
  TypeStore *store; /* new types go here */
  Block *block;
  Node *insert_before; /* insertion point */
  SourceRange range;   /* given to new nodes */
  Symbol scope;        /* the same */
  uint32_t next_unique, marks;
  Map names;                        /* debug names in use -> Value */
  Map name_suffixes;                /* "x" -> last suffix given to an "x.N", as an integer in the pointer */
  VEC(Value *) copies;              /* room for graph_copy and graph_inline: by number, what was copied into this one */
  VEC(IValue) held;                 /* references of constants */
  VEC(struct Callable *) callables; /* held */
  VEC(struct Graph *) subgraphs;    /* of attributes: disposed with this one */
  uint8_t torch_version;            /* TorchVersion of the program it is of; TORCH_DEFAULT: nobody says */
  bool is_sealed;                   /* graph_seal: it does not change any more, and any number of threads may read it */
  bool is_compact;                  /* graph_compact: its names are not among `names` */
  bool numbers_erased; /* tensors stand for numbers: operators need not fit, and the graph can't become Code */
};

/* Throws at the graph's catch point: "message:" and the highlighted range. */
_Noreturn void graph_fail(Graph *graph, ErrorCode code, SourceRange range, const char *format, ...) PRINTF_LIKE(4, 5);

/* Something executable that a node carries: the interpreter calls it without knowing what it is. */
typedef struct Callable {
  RefCount refs;
  Status (*run)(struct Callable *callable, Exec *exec, const IValue *inputs, uint32_t input_count, IValue *outputs,
                uint32_t output_count);
  void (*release)(struct Callable *callable);
} Callable;

/* ---- graphs ---- */
Graph *graph_new(Arena *arena, TypeStore *store);
void graph_dispose(Graph *graph); /* drops held references; the memory goes with the arena */
Graph *graph_copy(const Graph *graph, Arena *arena, TypeStore *store);
/* A copy of a finished graph for who keeps it: in little more memory than its nodes need, whatever was done to the
 * graph before. Values keep their names and, if asked to, their numbers. It is to be read, copied and sealed; only
 * unsealing makes it a graph that can be changed. */
Graph *graph_compact(const Graph *graph, Arena *arena, TypeStore *store, bool keeps_numbers);
/* Finds every node's operator, those of Subgraphs too: from here on asking for one writes nothing. For graphs that are
 * finished and that several threads are to read; copies are not sealed. */
void graph_seal(Graph *graph);
void graph_unseal(Graph *graph); /* for who changes it after all, while nobody else looks at it */
Value *graph_add_input(Graph *graph, Str name, const Type *type);
uint32_t graph_register_output(Graph *graph, Value *value);
static inline uint32_t graph_input_count(const Graph *g) {
  return g->block->param->output_count;
}
static inline Value *graph_input(const Graph *g, uint32_t i) {
  return g->block->param->outputs[i];
}
static inline uint32_t graph_output_count(const Graph *g) {
  return g->block->ret->input_count;
}
static inline Value *graph_output(const Graph *g, uint32_t i) {
  return g->block->ret->inputs[i].value;
}
/* A mark that no node and no value bears yet, for a walk to remember where it has been. */
static inline uint32_t graph_new_mark(Graph *graph) {
  return ++graph->marks;
}
void graph_hold(Graph *graph, IValue value); /* takes over a reference until graph_dispose, also when it throws */

/* ---- insertion ---- */
Node *graph_create(Graph *graph, Symbol kind, uint32_t input_count, Value *const *inputs,
                   uint32_t output_count);         /* outputs of type Tensor; not inserted */
Node *graph_insert_node(Graph *graph, Node *node); /* at the insertion point; returns node */
void graph_set_insert_point(Graph *graph, Node *before);
void graph_set_insert_block(Graph *graph, Block *block); /* at its end */
Value *graph_insert_constant(Graph *graph, IValue value,
                             const Type *type_or_null); /* borrows value; what can't be a constant and is no
                                                           object is the caller's fault (asserted) */
bool constant_is_possible(IValue value);
/* Sets attr::value of a prim::Constant in the form that belongs to the value, and the type of its output. */
void constant_set(Node *constant, IValue value, const Type *type_or_null);
/* An argument as operator_emit takes it: a value, or a constant that it inserts. */
typedef struct NamedValue {
  Str name;
  Value *value;
  IValue constant;
  bool is_constant;
  SourceRange range;
} NamedValue;
/* Copies the body of `callee` in front of the insertion point, its inputs standing for `arguments`; outputs go to
 * out_values (graph_output_count). */
void graph_inline(Graph *graph, const Graph *callee, Value *const *arguments, Value **out_values);
/* The same for a call's node: `call` (in the graph's arena, may be NULL) is put below the inlined calls of every copied
 * node. */
void graph_inline_call(Graph *graph, const Graph *callee, Value *const *arguments, const InlinedCall *call,
                       Value **out_values);
Node *graph_create_if(Graph *graph, Value *condition); /* two empty blocks, no outputs */
Node *graph_create_loop(Graph *graph, Value *trip_count,
                        Value *condition); /* for tests; one block with the trip index as input */

/* ---- blocks ---- */
Block *node_add_block(Node *node);
Value *block_add_input(Block *block, Str name, const Type *type);
Value *block_insert_input(Block *block, uint32_t at, Str name, const Type *type);
void block_erase_input(Block *block, uint32_t i); /* must be unused */
uint32_t block_register_output(Block *block, Value *value);
void block_insert_output(Block *block, uint32_t at, Value *value);
void block_replace_output(Block *block, uint32_t i, Value *value);
void block_erase_output(Block *block, uint32_t i);
static inline uint32_t block_input_count(const Block *b) {
  return b->param->output_count;
}
static inline Value *block_input(const Block *b, uint32_t i) {
  return b->param->outputs[i];
}
static inline uint32_t block_output_count(const Block *b) {
  return b->ret->input_count;
}
static inline Value *block_output(const Block *b, uint32_t i) {
  return b->ret->inputs[i].value;
}
/* Gives empty `to` the inputs, copies of the nodes and the outputs of `from`; map answers for values from outside. */
void block_clone_into(Block *to, const Block *from, Value *(*map)(Value *value, void *argument), void *argument);
/* Iteration that allows destroying the current node: BLOCK_EACH(node, block) { ... } */
#define BLOCK_EACH(node, block_)                                                                            \
  for (Node *node = (block_)->param->next, *node##_next; (node##_next = node->next), node != (block_)->ret; \
       node = node##_next)
#define BLOCK_EACH_REVERSE(node, block_)                                                                    \
  for (Node *node = (block_)->ret->prev, *node##_prev; (node##_prev = node->prev), node != (block_)->param; \
       node = node##_prev)

/* ---- nodes ---- */
static inline Value *node_input(const Node *n, uint32_t i) {
  return n->inputs[i].value;
}
static inline Value *node_output(const Node *n, uint32_t i) {
  return n->outputs[i];
}
Value *node_named_input(const Node *node, const char *name); /* by the schema's argument name; NULL: no such */
uint32_t node_add_input(Node *node, Value *value);
/* The place in the source, and the scope. */
void node_copy_metadata(Node *to, const Node *from);
void node_insert_input(Node *node, uint32_t at, Value *value);
void node_replace_input(Node *node, uint32_t i, Value *value);
void node_remove_input(Node *node, uint32_t i);
void node_remove_all_inputs(Node *node);
Value *node_add_output(Node *node, const Type *type);
Value *node_insert_output(Node *node, uint32_t at, const Type *type);
void node_erase_output(Node *node, uint32_t i); /* must be unused */
void node_erase_block(Node *node, uint32_t i);
void node_insert_before(Node *node, Node *before);
void node_insert_after(Node *node, Node *after);
void node_move_before(Node *node, Node *before);
void node_move_after(Node *node, Node *after);
void node_replace_all_uses_with(Node *node, Node *with); /* output by output */
void node_destroy(Node *node);                           /* outputs must be unused; poisoned for the sanitizers */
bool node_is_before(const Node *a, const Node *b); /* constant time within a block; across blocks by their ancestors */
bool node_is_in_block(const Node *node, const Block *block); /* itself or nested */
const FunctionSchema *node_schema(const Node *node); /* resolved from kind and operand types, cached; NULL: none fits */
/* NULL: it is no operator, or none fits. Short of memory both throw, where the graph's arena has a catch point; without
 * one node_resolve says so. */
const Operator *node_operator(const Node *node);
/* The same, but tells no memory from no operator. */
Status node_resolve(const Node *node, const Operator **out) MUST_CHECK;
bool node_has_side_effects(const Node *node);
/* Whether something asks if it is the same list, or tensor, as another: then one can't take another's place. */
bool value_is_told_apart(const Value *value);
bool node_is_nondeterministic(const Node *node);
bool node_writes_to(const Node *node, uint32_t i); /* to its i-th input: its schema or its row (OpRow.writes) says so */
bool node_writes(const Node *node);                /* to some input, or to what one holds */
/* Nobody can do without it, though nobody needs its results: it has side effects or draws random numbers. */
bool node_acts(const Node *node);
/* Somebody outside may notice it, though the call fails later: it acts, without leaving, or writes. */
bool node_may_be_seen(const Node *node);
bool node_is_in_eval(const Node *node); /* its argument `train` or `training` is there and known to be false */
bool node_reads_metadata(const Node *node, uint32_t i); /* of its i-th input: operator_reads_metadata */
bool node_may_change_grad_mode(const Node *node);       /* calls set it back */
Node *node_copy(Node *node, Graph *into, Value *(*map)(Value *value, void *argument),
                void *argument); /* with its blocks; not inserted */

/* ---- attributes; setters replace ---- */
const NodeAttribute *node_attribute(const Node *node, Symbol name); /* NULL: absent */
void node_set_int(Node *node, Symbol name, int64_t value);
void node_set_float(Node *node, Symbol name, double value);
void node_set_complex(Node *node, Symbol name, complex128 value);
void node_set_string(Node *node, Symbol name, Str value);   /* copied */
void node_set_graph(Node *node, Symbol name, Graph *value); /* takes it over, also when it throws */
void node_set_type(Node *node, Symbol name, const Type *value);
void node_set_tensor(Node *node, Symbol name, Tensor *value); /* retains */
void node_set_ivalue(Node *node, Symbol name, IValue value);  /* retains */
void node_set_ints(Node *node, Symbol name, uint32_t count, const int64_t *values);
void node_set_floats(Node *node, Symbol name, uint32_t count, const double *values);
void node_set_types(Node *node, Symbol name, uint32_t count, const Type *const *values);
void node_set_strings(Node *node, Symbol name, uint32_t count, const Str *values);
void node_remove_attribute(Node *node, Symbol name);
void node_copy_attributes(Node *to,
                          const Node *from); /* from may be of another graph: references are retained, graphs copied */
void node_set_callable(Node *node, Callable *callable); /* retains */
int64_t node_int(const Node *node, Symbol name);        /* asserts presence */
Str node_string(const Node *node, Symbol name);

/* ---- values ---- */
void value_set_name(Value *value, Str name); /* made unique as PyTorch does: x.1, x.2 */
void value_replace_all_uses_with(Value *value, Value *with);
void value_replace_all_uses_after(Value *value, Node *after, Value *with); /* users after node `after` */
static inline bool value_has_uses(const Value *v) {
  return v->uses.length != 0;
}
bool value_is_constant(const Value *value, IValue *out_or_null); /* prim::Constant; *out is borrowed */

/* ---- text: as PyTorch 1.13 prints it; parsed back by the same rules ---- */
void graph_print(const Graph *graph, bool with_source, StrBuf *out);
void node_print(const Node *node, StrBuf *out);
/* Throws ERROR_SYNTAX. Class types are looked up by name through resolve (may be NULL). */
Graph *graph_parse(Arena *arena, TypeStore *store, Str text, const Type *(*resolve)(void *argument, Str name),
                   void *argument);
/* Whether what recurses over the graph's blocks has the native stack for it, here on this thread. Who starts such a
 * walk asks this first: code with many early returns makes blocks within blocks. */
bool graph_fits_stack(const Graph *graph);
/* Runs body with an arena that goes when it returns, or when it or the graph's types throw; what is thrown goes on to
 * the graph's catch point. */
void graph_with_scratch(Graph *graph, void (*body)(Arena *scratch, void *argument), void *argument);
/* The error of a graph that doesn't; graph_require_stack throws it. */
Status graph_too_deep(void) MUST_CHECK NEVER_NULL;
void graph_require_stack(const Graph *graph);
/* Order, block scope, use lists, owning graph, forms of nodes: OK or ERROR_INTERNAL saying what is broken. */
Status graph_lint(const Graph *graph) MUST_CHECK;
/* The same for a graph from outside: there it is ERROR_INVALID_ARGUMENT. */
Status graph_check(const Graph *graph) MUST_CHECK;
