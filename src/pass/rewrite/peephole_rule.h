/* Peephole rules: data of the form "where this stands, that does as well".
 *
 *   {"t_of_t", "aten::t(aten::t(%x))", GIVES("%x"), SHAPES, WHEN(is_at_most_matrix, is_like_its_base)},
 *
 * A pattern is the tree of nodes that ends in the value to be replaced:
 *
 *   kind(argument, argument)   a node of that kind with these inputs and no others
 *   kind|kind(argument)        of one of the kinds
 *   kind(argument, ...)        with whatever inputs behind these
 *   kind[i](argument)          any output of the node, PeepholeMatch.output, in place of its only one
 *   *[i]                       any output of any node
 *   %x  %x:int                 any value; one whose type is int (float, bool, Tensor). A name is one letter
 *   %x=kind(argument)          the output of an inner node, named
 *   0  1                       a constant int; 0. and 1.: a constant number of that value
 *
 * What comes in its place is a value of the pattern (`%x`), a constant (`True`, `False`, `None`), the node itself with
 * other inputs (`itself(%x, %s)`), or what the function `make` finds or makes: a value that the pattern's are made of,
 * a constant, a new node of such values.
 *
 * The protocol, on which the passes rely:
 *
 * - One walk in the order of the blocks, what a node holds before the node. A node is looked at once, its rules in the
 *   order of the table; the first that fits is applied. Rules are found by the kind of the node at the pattern's end,
 *   and a pattern is a few nodes, so a walk is linear.
 * - A rule replaces uses; it removes and moves nothing. What is left without uses is dead code.
 * - Conditions only look. They may cost what a value's uses cost, or what is found out once for the graph (AliasDb).
 *   `make` may not fit either (NULL); then it has made nothing.
 * - Rules are right by themselves, whatever their order: values, what they may be one with, dtypes, strides, errors and
 *   gradients stay. A rule with `shapes` believes types of tensors.
 * - Every application asks jit_opt_limit_rule, so that PYTORCH_JIT_OPT_LIMIT=t_of_t=0 is without the rule, and is told
 *   to the log.
 *
 * Why it ends, one walk and walks until nothing changes. The height of a value is the number of nodes on the longest
 * way to it from constants and from inputs, the graph's and those of blocks; these have height 0. Each rule puts a
 * value of less height in the place of one that has uses:
 *
 * - a value of the pattern, or one that the pattern's are made of, has less height than what is made of it;
 * - a constant has none;
 * - a new node, and the node with other inputs, reads what an inner node of the pattern reads, and so has at most that
 *   node's height.
 *
 * Values that had no uses get none by it, but for the new node; heights of what comes after fall or stay. So the sum of
 * the heights of all values with uses falls each time, and it is finite. A new rule has to be of one of these kinds;
 * tests/unit/test_peephole_rules.c wants an example of each rule in tests/data/peephole_rules.txt, applies the rule to
 * it and walks on until nothing changes. */
#pragma once

#include "ir/alias_db.h"

typedef struct PeepholeMatch {
  struct PeepholeRun *run;
  Node *node;        /* at the pattern's end */
  uint32_t output;   /* which of its outputs */
  Value *values[26]; /* by letter */
} PeepholeMatch;
static inline Value *bound(const PeepholeMatch *m, char letter) {
  return m->values[letter - 'a'];
}
static inline Value *replaced(const PeepholeMatch *m) {
  return node_output(m->node, m->output);
}

enum { PEEPHOLE_CONDITIONS = 3 };
typedef struct PeepholeRule {
  const char *name, *pattern;
  const char *replacement;                                   /* NULL: what `make` gives */
  Value *(*make)(const PeepholeMatch *m);                    /* NULL: the rule does not fit */
  bool (*when[PEEPHOLE_CONDITIONS])(const PeepholeMatch *m); /* all of them */
  bool shapes;                                               /* believes types of tensors */
} PeepholeRule;
#define GIVES(text) .replacement = (text)
#define MAKES(function) .make = (function)
#define SHAPES .shapes = true
#define WHEN(...) .when = {__VA_ARGS__}

typedef enum PeepholeTableId {
  PEEPHOLE_TYPES,
  PEEPHOLE_LISTS,
  PEEPHOLE_DICTS,
  PEEPHOLE_ALIASES,
  PEEPHOLE_NUMBERS,
  PEEPHOLE_TABLES
} PeepholeTableId;
typedef struct PeepholeTable {
  PeepholeTableId id;
  const char *file; /* for the log and the limits */
  const PeepholeRule *rules;
  uint32_t count;
} PeepholeTable;
extern const PeepholeTable peephole_types, peephole_lists, peephole_dicts, peephole_aliases, peephole_numbers;
extern const PeepholeTable *const peephole_tables[PEEPHOLE_TABLES];

/* What one walk knows of the graph, found out when a rule asks. */
typedef struct PeepholeRun {
  const PeepholeTable *table;
  Graph *graph;
  Arena *scratch;
  PtrMap asked; /* what conditions remember of values */
  bool shapes, changed;
  struct {
    bool is_known, yes;
  } writes, changes_tensors, changes_grad_mode;
  AliasDb *aliases;
} PeepholeRun;
bool peephole_graph_writes(PeepholeRun *run);          /* somewhere, or has an effect */
bool peephole_graph_changes_tensors(PeepholeRun *run); /* somewhere, what a view would keep */
bool peephole_graph_changes_grad_mode(PeepholeRun *run);
AliasDb *peephole_alias_db(PeepholeRun *run); /* kept up to date by the walk */

/* One walk with a table. `shapes`: rules that believe types of tensors too. Whether anything changed. */
bool peephole_run(const PeepholeTable *table, Graph *graph, bool shapes);
