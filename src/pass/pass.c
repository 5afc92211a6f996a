/* The table of passes. */
#include "pass/pass.h"

/* name, call, what it does */
#define PASSES(X)                                                                                                  \
  X(canonicalize, canonicalize_names(graph), "drops names and numbers values from 0 in order of definition")       \
  X(canonicalize_modified_loops, canonicalize_modified_loops(graph),                                               \
    "makes loops with trip count and condition while loops")                                                       \
  X(canonicalize_outputs, canonicalize_outputs(graph), "orders outputs of branches and loops by first use")        \
  X(constant_pooling, constant_pooling(graph), "keeps one of equal constants, at the start of the graph")          \
  X(constant_propagation, constant_propagation_immutable(graph, exec), "computes what depends on constants alone") \
  X(dead_code_elimination, eliminate_dead_code(graph), "removes what nothing needs")                               \
  X(inline, inline_calls(graph), "puts bodies of functions and methods in place of the calls")                     \
  X(lower_simple_tuples, lower_simple_tuples(graph), "takes apart tuples that one graph makes and unpacks")        \
  X(normalize_ops, normalize_ops(graph), "gives synonyms one name")                                                \
  X(peephole, peephole(graph), "small local rewrites")

#define X(name, call, what)                          \
  static void run_##name(Graph *graph, Exec *exec) { \
    (void)exec;                                      \
    call;                                            \
  }
PASSES(X)
#undef X

static const Pass table[] = {
#define X(name, call, what) {#name, what, run_##name},
    PASSES(X)
#undef X
};
enum { PASS_COUNT = sizeof table / sizeof *table };

const Pass *pass_find(Str name) {
  for (int i = 0; i < PASS_COUNT; i++)
    if (str_is(name, table[i].name)) return &table[i];
  return NULL;
}

const Pass *pass_next(const Pass *after) {
  const Pass *next = after ? after + 1 : table;
  return next < table + PASS_COUNT ? next : NULL;
}

typedef struct Run {
  const Pass *pass;
  Graph *graph;
  Exec *exec;
} Run;

static void run(void *argument) {
  Run *r = argument;
  r->pass->run(r->graph, r->exec);
}

Status pass_run(const Pass *pass, Graph *graph, Exec *exec) {
  Run r = {pass, graph, exec};
  Status status = arena_protect(graph->arena, run, &r);
#ifndef NDEBUG
  if (!status) status = graph_lint(graph);
#endif
  return status ? status_context(status, "pass %s", pass->name) : OK;
}
