/* Rewrite rules: data of the form "where this stands, that does as well".
 *
 *   {"t_of_t", "aten::t(aten::t(%x))", GIVES("%x"), SHAPES, WHEN(is_at_most_matrix, is_like_its_base)},
 *
 * A pattern is the tree of nodes that ends in the value to be replaced:
 *
 *   kind(argument, argument)   a node of that kind with these inputs and no others, and one output
 *   kind|kind(argument)        of one of the kinds
 *   kind(argument, ...)        with whatever inputs after these
 *   kind[i](argument)          any output of the node, RewriteMatch.output, in place of its only one; kind[1] is the
 *                              second
 *   *[i]                       any output of any node
 *   %x  %x:int                 any value; one whose type is int (float, bool, Tensor). A name is one letter, and the
 *                              same letter is the same value
 *   %x=kind(argument)          the output of an inner node, named
 *   0  1                       a constant int; 0. and 1.: a constant number of that value
 *   True  False                a constant bool
 *
 * A list of them, `kind(%y=...), %y`, replaces several values: the first is the end of the tree.
 *
 * What comes in its place is
 *
 *   %x  1  1.  True  None      a value of the pattern, a constant
 *   kind(argument, argument)   a new node, its arguments as here. Its type is that of what it replaces;
 *                              `kind(...):Tensor` is a tensor of which nothing else is known
 *   itself(%x, %s)             the node itself with other inputs
 *
 * or what the function `make` finds or makes: a value that the pattern's are made of, a constant, a new node of such
 * values. It replaces each value of the list.
 *
 * From outside pattern and replacement are IR text, graphs with the same inputs and outputs (rewrite_by_graphs): nodes
 * with all their attributes, inputs for any values.
 *
 * The protocol, on which the passes rely:
 *
 * - One walk in the order of the blocks, what a node holds before the node. A node is looked at once, its rules in the
 *   order of the table; the first that fits is applied. Rules are found by the kind of the node at the pattern's end,
 *   and a pattern is a few nodes, so a walk is linear. What a rule brings stands before the node: the walk does not see
 *   it.
 * - A rule replaces uses; it moves nothing. What is left without uses is dead code. With `alone` the pattern's nodes
 *   become what replaces them: they are in one block, nothing between them writes or has effects, what the pattern does
 *   not give is used by it alone, and they go.
 * - Conditions only look. They may cost what a value's uses cost, or what is found out once for the graph (AliasDb).
 *   `make` may not fit either (NULL); then it has made nothing that is used.
 * - Rules are right by themselves, whatever their order: values, what they may be one with, dtypes, strides, errors and
 *   gradients stay, as far as the pass says (PassKeeps). A rule with `shapes` believes types of tensors.
 * - Every application asks jit_opt_limit_rule, so that PYTORCH_JIT_OPT_LIMIT=t_of_t=0 is without the rule, and is told
 *   to the log.
 *
 * Why it ends. One walk does: it sees each node once. Tables that are walked until nothing changes, those of peephole,
 * have rules that lower a sum. The height of a value is the number of nodes on the longest way to it from constants and
 * from inputs, the graph's and those of blocks; these have height 0. Each rule puts a value of less height in the place
 * of one that has uses:
 *
 * - a value of the pattern, or one that the pattern's are made of, has less height than what is made of it;
 * - a constant has none;
 * - a new node, and the node with other inputs, reads what an inner node of the pattern reads, and so has at most that
 *   node's height.
 *
 * Values that had no uses get none by it, but for the new node; heights of what comes after fall or stay. So the sum of
 * the heights of all values with uses falls each time, and it is finite. A new rule of these tables has to be of one of
 * these kinds. tests/unit/pass/test_rewrite_rules.c wants an example of each rule in tests/data/rewrite_rules.txt,
 * applies the rule to it and walks on until nothing changes. */
#pragma once

#include <assert.h>

#include "call/exec.h"
#include "ir/alias_db.h"
#include "pass/rewrite/pattern.h"

struct RewriteRule;
typedef struct RewriteMatch {
  struct RewriteRun *run;
  const struct RewriteRule *rule;
  PatternMatch at;
  Node *node;      /* at the pattern's end */
  uint32_t output; /* which of its outputs */
} RewriteMatch;
static inline Value *bound(const RewriteMatch *m, char letter) {
  assert(m->at.pattern->letters[letter - 'a'] != NO_TERM);
  return m->at.values[m->at.pattern->letters[letter - 'a']];
}
static inline Value *replaced(const RewriteMatch *m) {
  return node_output(m->node, m->output);
}

enum { REWRITE_CONDITIONS = 3 };
typedef struct RewriteRule {
  const char *name, *pattern;
  const char *replacement;                                 /* NULL: what `make` gives */
  Value *(*make)(const RewriteMatch *m);                   /* NULL: the rule does not fit */
  bool (*when[REWRITE_CONDITIONS])(const RewriteMatch *m); /* all of them */
  const void *argument;                                    /* of rules that are made of rows: for their conditions */
  bool shapes;                                             /* believes types of tensors */
  bool alone;                                              /* the pattern's nodes go */
} RewriteRule;
#define GIVES(text) .replacement = (text)
#define MAKES(function) .make = (function)
#define SHAPES .shapes = true
#define ALONE .alone = true
#define WHEN(...) .when = {__VA_ARGS__}

/* Tables whose texts are read once and kept. */
typedef enum RewriteTableId {
  REWRITE_TYPES,
  REWRITE_LISTS,
  REWRITE_DICTS,
  REWRITE_ALIASES,
  REWRITE_NUMBERS,
  REWRITE_PRODUCTS,
  REWRITE_NORMS,
  REWRITE_FROZEN,
  REWRITE_EXPANDS,
  REWRITE_LINEARS,
  REWRITE_LAYERS,
  REWRITE_TABLES
} RewriteTableId;
typedef struct RewriteTable {
  RewriteTableId id;
  const char *file; /* for the log and the limits */
  const RewriteRule *rules;
  uint32_t count;
} RewriteTable;
extern const RewriteTable rewrite_types, rewrite_lists, rewrite_dicts, rewrite_aliases, rewrite_numbers,
    rewrite_products, rewrite_norms, rewrite_frozen, rewrite_expands, rewrite_linears, rewrite_layers;
extern const RewriteTable *const rewrite_tables[REWRITE_TABLES];

/* What one walk knows of the graph, found out when a rule asks. */
typedef struct RewriteRun {
  const char *file;
  Graph *graph;
  Exec *exec; /* may be NULL */
  Arena *scratch;
  PtrMap asked; /* what conditions remember of values */
  bool shapes;
  uint32_t applied; /* rules */
  struct {
    bool is_known, yes;
  } writes, changes_tensors, changes_grad_mode;
  AliasDb *aliases;
} RewriteRun;
bool rewrite_graph_writes(RewriteRun *run);          /* somewhere, or has an effect */
bool rewrite_graph_changes_tensors(RewriteRun *run); /* somewhere, what a view would keep */
bool rewrite_graph_changes_grad_mode(RewriteRun *run);
AliasDb *rewrite_alias_db(RewriteRun *run); /* kept up to date by the walk */

/* One walk with a table. `shapes`: rules that believe types of tensors too; exec, for rules that compute, may be NULL.
 * Whether anything changed. */
bool rewrite_graph(const RewriteTable *table, Graph *graph, bool shapes, Exec *exec);
/* One walk with rules that are made for it; how many were applied. */
uint32_t rewrite_graph_by(Graph *graph, const char *file, uint32_t count, const RewriteRule *rules);
/* One walk that puts `replacement` where the graph does what `pattern` does, both IR text; `name` is that of the rule,
 * for limits and the log. How often. Throws on text that does not parse and on what is no pattern. */
uint32_t rewrite_by_graphs(Graph *graph, const char *name, const char *pattern, const char *replacement);
