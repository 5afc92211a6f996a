/* What holds of every node of a kind. Operators say such things in their rows (call/row.h); this is the table for
 * kinds that are no operators, and for the few operators of which there is more to say than a row holds. Lint, the
 * alias analysis, liveness, passes, Code and the printers ask it, so that no list of kinds stands with them; what only
 * one algorithm does with a kind (how a Loop is unrolled) stays with the algorithm. */
#pragma once

#include "ir/graph.h"

/* What a node does beside giving its outputs. One that does nothing goes when nobody needs them. */
typedef enum NodeEffect {
  EFFECT_BY_ROW, /* what the operator's row says; nothing where there is none */
  EFFECT_NONE,   /* or what the nodes of its blocks do */
  EFFECT_WRITES, /* to memory that AliasDb knows: order matters to those only who see it */
  EFFECT_CALLS,  /* what the function does that its first input says */
  EFFECT_RUNS,   /* runs other code, now or beside this: in order with all that can be noticed */
  EFFECT_LEAVES, /* what comes after it does not run */
  EFFECT_NAMES,  /* gives a variable its value, while there are variables */
  EFFECT_GUARDS  /* what comes after it relies on it: nothing that can be noticed crosses it */
} NodeEffect;

/* What its outputs may be one with, and what becomes of its inputs. */
typedef enum NodeAliasing {
  ALIASES_BY_SCHEMA, /* its annotations; with a Subgraph or blocks, what these do; without all three, anything */
  ALIASES_NOTHING,   /* its outputs are memory of their own */
  ALIASES_FIRST,     /* its first input */
  ALIASES_OUTSIDE,   /* what a container, an object or a constant holds */
  ALIASES_INPUTS,    /* its inputs or what they hold */
  ALIASES_CONTAINS,  /* its output is new and holds the inputs */
  ALIASES_STORES,    /* from here on its first input holds the second */
  ALIASES_BRANCHES,  /* what its blocks give */
  ALIASES_ITERATES,  /* what comes in, and what its block gives */
  ALIASES_FORKS,     /* its inputs go to somebody who runs beside */
  ALIASES_WAITS,     /* what somebody gives who ran beside, and may have written to anything */
  ALIASES_CALLS      /* its inputs, and what the function reaches */
} NodeAliasing;

/* How much of the memory behind its inputs a node looks at. */
typedef enum NodeReading {
  READS_ALL,
  READS_FIRST, /* the first input itself, nothing that it holds */
  READS_NONE   /* it hands them on */
} NodeReading;

enum {
  KIND_MAY_SHARE = 1,  /* one run may stand for several on the same inputs: it is merged, and leaves loops */
  KIND_MAY_FOLD = 2,   /* may run while the graph is optimized */
  KIND_MAY_SAVE = 4,   /* printed Python can say it; the other kinds are only in plans or not for long */
  KIND_LASTS = 8,      /* its output is there before anything runs, and nobody drops it */
  KIND_IS_TYPED = 16,  /* types of its outputs stand on it; nothing tells more */
  KIND_SETS_MODE = 32, /* grad mode may be another one after it; calls set it back */
  KIND_OWN_LINE = 64,  /* printed Python does not have it within an expression */
  KIND_IS_BARE = 128   /* the text of graphs shows no attributes, for its Subgraph says it all */
};

enum { FORM_MANY = UINT16_MAX, FORM_MAX_ATTRIBUTES = 2 };

typedef struct NodeKind {
  bool has_row;                             /* false: of this kind the table knows nothing */
  bool has_form;                            /* false: a node must fit a schema, or nothing is known of it */
  uint8_t effect, aliasing, reading, flags; /* NodeEffect, NodeAliasing, NodeReading, KIND_... */
  uint16_t min_inputs, max_inputs, min_outputs, max_outputs, blocks; /* max: FORM_MANY is no limit */
  const char *(*check)(const Node *node);                            /* what else is wrong, or NULL; may be NULL */
  struct {
    Symbol name;
    uint8_t tag;
  } attributes[FORM_MAX_ATTRIBUTES]; /* that it must have */
} NodeKind;

/* The kind's row, or what holds of all kinds without one. */
const NodeKind *node_kind(Symbol kind);

static inline bool node_has_flag(const Node *node, int flag) {
  return node_kind(node->kind)->flags & flag;
}
