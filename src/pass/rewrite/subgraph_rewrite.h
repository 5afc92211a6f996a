/* Rewriting by pattern: graph text that is looked for, graph text that comes in its place. The two have the same inputs
 * and outputs.
 *
 *   RewritePattern p = {"graph(%x, %y): %z = aten::add(...) return (%z)", "graph(%x, %y): ... return (%z)"};
 *   rewrite_subgraphs(graph, 1, &p);                                                      */
#pragma once

#include "pass/rewrite/subgraph_matcher.h"

typedef struct RewritePattern {
  const char *pattern, *replacement; /* IR text */
  /* Whether a match is to be rewritten; NULL: always. */
  bool (*filter)(const SubgraphMatch *match, void *argument);
  void *argument;
} RewritePattern;

/* One walk for each pattern in turn; what a replacement brings is seen by later patterns only, so it ends. How often
 * something was rewritten. Throws on text that does not parse and on what is no pattern. */
uint32_t rewrite_subgraphs(Graph *graph, uint32_t count, const RewritePattern *patterns);
