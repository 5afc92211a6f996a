/* Finds where a graph does what a pattern graph does. A pattern is straight code: nodes with kinds, attributes and
 * constants; its inputs stand for any values, its outputs for what the match gives. */
#pragma once

#include "ir/graph.h"

typedef struct SubgraphMatch {
  const Graph *pattern;
  Node *anchor;  /* of the graph, for the pattern's last output's node */
  PtrMap values; /* pattern's value -> graph's value */
  PtrMap nodes;  /* pattern's node -> graph's node */
  Node *first;   /* the match's first node in the block; anchor is the last */
} SubgraphMatch;

enum { PATTERN_MAX_NODES = 256 };

/* Throws ERROR_INVALID_ARGUMENT when the graph can't be a pattern: control flow, effects, no output, too large. */
void pattern_check(const Graph *pattern);
/* Whether the pattern's end can be at `anchor`. All nodes of a match are in one block, nothing between them writes or
 * has effects (else they couldn't become one), and what only the pattern's inner nodes use is not used elsewhere. */
bool subgraph_match(const Graph *pattern, Node *anchor, Arena *arena, SubgraphMatch *out);
/* The graph's value for a named value of the pattern; NULL: no such name. */
Value *match_value(const SubgraphMatch *match, const char *name);
