/* The table of this folder's passes; all passes by name. */
#include "call/exec.h"
#include "pass/pass.h"

static const Pass *const passes[] = {
#define X(name) &pass_##name,
    PASSES(X)
#undef X
};
const PassTable pass_table_pass = {passes, sizeof passes / sizeof *passes};

static const PassTable *const *pass_tables;

void pass_tables_set(const PassTable *const *tables) {
  pass_tables = tables;
}

const Pass *pass_find(Str name) {
  for (const Pass *pass = pass_next(NULL); pass; pass = pass_next(pass))
    if (str_is(name, pass->name) || (pass->also && str_is(name, pass->also))) return pass;
  return NULL;
}

const Pass *pass_next(const Pass *after) {
  bool is_next = !after;
  for (const PassTable *const *table = pass_tables; table && *table; table++)
    for (size_t i = 0; i < (*table)->count; i++) {
      const Pass *pass = (*table)->passes[i];
      if (is_next) return pass;
      is_next = pass == after;
    }
  return NULL;
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
  if (!graph_fits_stack(graph)) return graph_too_deep();
  Status status = arena_protect(graph->arena, run, &r);
#ifndef NDEBUG
  if (!status) status = graph_lint(graph);
#endif
  return status ? status_context(status, "pass %s", pass->name) : OK;
}
