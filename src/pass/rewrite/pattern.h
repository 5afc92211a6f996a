/* Patterns of rewrites: a list of terms, each of which stands for a value. They are read from the text of a rule
 * (rewrite_rule.h says what it can be) or made of a graph (pattern_graph.c). The texts of what comes in a pattern's
 * place are read to terms, too. */
#pragma once

#include "ir/graph.h"

enum { TERM_ANY_TYPE = 255, NO_TERM = UINT16_MAX };

typedef enum TermForm {
  TERM_VALUE,  /* any value */
  TERM_NODE,   /* an output of a node */
  TERM_OUTPUT, /* another output of the node of term `node` */
  TERM_INT,
  TERM_NUMBER, /* int, float or bool */
  TERM_BOOL,
  TERM_NONE,  /* in replacements only, as is: */
  TERM_ITSELF /* the node at the pattern's end, with other inputs */
} TermForm;

enum { OUTPUTS_ANY = 0 };

typedef struct Term {
  uint8_t form; /* TermForm */
  uint8_t type; /* TypeKind of the value, or TERM_ANY_TYPE */
  char letter;  /* names the value; 0: nothing does */
  int8_t number;
  bool has_rest;        /* further inputs may follow */
  bool any_kind;        /* in place of `kinds` */
  bool each_output;     /* any output of the node */
  bool leaves;          /* is an output of the pattern */
  uint16_t uses;        /* in the pattern, outputs left out */
  uint16_t offset;      /* which output of the node it is */
  uint16_t outputs;     /* that the node has; OUTPUTS_ANY */
  uint16_t node;        /* of TERM_OUTPUT */
  uint16_t input_count; /* terms, in the room's indices */
  uint16_t kind_count;  /* in the room's kinds */
  uint32_t inputs, kinds;
  const Node *like; /* of patterns made of graphs: attributes, and a constant's value, are as here */
} Term;

/* Where terms are put: of a table of rules, or of one graph. */
typedef struct PatternRoom {
  Term *terms;
  uint16_t *indices; /* of terms, from the pattern's first one */
  Symbol *kinds;
  uint32_t term_count, index_count, kind_count; /* used */
  uint32_t term_room, index_room, kind_room;
} PatternRoom;
/* Throws to the arena's catch point. */
void pattern_room_init(PatternRoom *room, Arena *arena, uint32_t terms, uint32_t indices, uint32_t kinds);

typedef struct Pattern {
  const Term *terms;
  const uint16_t *indices; /* of the room; terms count from the pattern's first one */
  const Symbol *kinds;     /* of the room */
  uint16_t count, output_count, input_count;
  uint16_t end;             /* the term of its first output: there a match begins */
  uint32_t outputs, inputs; /* in indices; inputs only of patterns made of graphs */
  bool is_tree;             /* a match from its end binds all */
  uint16_t letters[26];     /* terms by letter, or NO_TERM */
} Pattern;
static inline const Term *pattern_end(const Pattern *p) {
  return &p->terms[p->end];
}

/* false: the text is no pattern, the room is full, or there is no memory for the name of a kind. */
bool pattern_parse(const char *text, PatternRoom *room, Pattern *out);
/* Throws ERROR_INVALID_ARGUMENT to the graph's catch point when it can't be a pattern: control flow, effects, no
 * output, too large. The graph outlives the pattern. */
void pattern_of_graph(const Graph *graph, Arena *arena, PatternRoom *room, Pattern *out);

/* Where a pattern was found. */
typedef struct PatternMatch {
  const Pattern *pattern;
  Node *node;      /* at the pattern's end */
  uint32_t output; /* which of its outputs */
  Value **values;  /* by term; NULL: not bound */
} PatternMatch;
/* Whether it fits at the node's output; `values`: pattern->count of them. Each term has at most one candidate, so it
 * costs no more than the pattern is large. */
bool pattern_match(const Pattern *pattern, Node *node, uint32_t output, Value **values, PatternMatch *out);
/* Whether the match's nodes can become one: all are in one block, nothing between them writes or has effects, and what
 * the pattern does not give is used by it alone. Constants may be shared, and are not among them. `nodes`: room for
 * pattern->count; each is there once. */
bool match_is_alone(const PatternMatch *m, Node **nodes, uint32_t *out_count);
