/* The life of an AliasDb around a pass. */
#include "pass/motion/with_aliases.h"

typedef struct Run {
  Graph *graph;
  void (*body)(Graph *graph, AliasDb *db, void *argument);
  void *argument;
} Run;

static void run(Arena *scratch, void *argument) {
  Run *r = argument;
  r->body(r->graph, alias_db_new(r->graph, scratch), r->argument);
}

void with_aliases(Graph *graph, void (*body)(Graph *graph, AliasDb *db, void *argument), void *argument) {
  graph_with_scratch(graph, run, &(Run){graph, body, argument});
}
