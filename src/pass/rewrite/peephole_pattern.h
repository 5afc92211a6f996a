/* The patterns of peephole rules, read from their texts: what they say, peephole_rule.h has. */
#pragma once

#include "pass/rewrite/peephole_rule.h"

enum { PATTERN_MOST_TERMS = 8, PATTERN_MOST_KINDS = 12, PATTERN_MOST_INPUTS = 4, PATTERN_ANY_TYPE = 255 };

typedef enum TermForm { TERM_VALUE, TERM_NODE, TERM_INT, TERM_NUMBER, TERM_BOOL, TERM_NONE, TERM_ITSELF } TermForm;
typedef struct Term {
  uint8_t form; /* TermForm */
  char letter;  /* names the value; 0: nothing does */
  uint8_t type; /* TypeKind of the value, or PATTERN_ANY_TYPE */
  uint8_t kind_count, input_count;
  bool has_rest, each_output, any_kind;
  int8_t number;                       /* of TERM_INT, TERM_NUMBER and TERM_BOOL */
  uint8_t inputs[PATTERN_MOST_INPUTS]; /* terms */
  Symbol kinds[PATTERN_MOST_KINDS];
} Term;

/* Terms by number, the end of the tree first. */
typedef struct Pattern {
  uint8_t count;
  Term terms[PATTERN_MOST_TERMS];
} Pattern;

/* false: the text is no pattern, or no memory for the name of a kind. */
bool pattern_parse(const char *text, Pattern *out);
/* Whether it fits at the node's output; values of names are written to m. */
bool pattern_match(const Pattern *pattern, Node *node, uint32_t output, PeepholeMatch *m);
