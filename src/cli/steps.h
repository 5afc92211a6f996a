/* A graph's text after each step of several: what changed is shown, what did not is said. */
#pragma once

#include "cli/cli.h"

typedef struct Steps {
  FILE *to;
  bool as_difference; /* the lines that came and went, in place of the whole */
  char *before;       /* owned; NULL: nothing was shown yet */
} Steps;
void steps_show(Steps *steps, const char *step, const char *text);
void steps_end(Steps *steps); /* before another graph, and at last */

/* The graph for Graphviz (graph_dot.c); nested blocks are clusters. */
void graph_dot(const wick_graph *graph, const char *name, FILE *to);
