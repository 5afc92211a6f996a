/* The life of an AliasDb around a pass. */
#include "pass/with_aliases.h"

typedef struct Run {
  Graph *graph;
  Arena scratch;
  void (*body)(Graph *graph, AliasDb *db, void *argument);
  void *argument;
} Run;

static void run(void *argument) {
  Run *r = argument;
  r->scratch.catch_point = r->graph->arena->catch_point;
  r->body(r->graph, alias_db_new(r->graph, &r->scratch), r->argument);
}

void with_aliases(Graph *graph, void (*body)(Graph *graph, AliasDb *db, void *argument), void *argument) {
  Run r = {.graph = graph, .body = body, .argument = argument};
  arena_init(&r.scratch, NULL);
  Status status = arena_protect(graph->arena, run, &r);
  arena_dispose(&r.scratch);
  if (status) catch_throw(graph->arena->catch_point, status);
}
