/* The end of a trace: its graph becomes a function of the unit, or a method of the module's class. All that the trace
 * defines is there afterwards, or nothing. */
#include "base/queue.h"
#include "pass/pass.h"
#include "trace/tracing.h"

typedef struct Touched {
  CompilationUnit *unit;
  UnitMark mark;
} Touched;
typedef struct Finish {
  TracingState *t;
  IValue result;
  Function *function;
} Finish;

/* ---- functions ---- */

/* What is being defined, for an error: it is thrown where the trace's graph is caught. */
typedef struct Definition {
  TracingState *t;
  CompilationUnit *unit;
  ClassType *class_type;
  const Graph *graph;
  Str name;
  Function *function;
} Definition;

static void define(void *argument) {
  Definition *d = argument;
  CompilationUnit *unit = d->unit;
  for (size_t i = 0; i < d->t->used.length; i++)
    if (d->t->used.data[i] != unit) unit_use(unit, d->t->used.data[i]);
  for (size_t i = 0; i < d->t->sources.length; i++) unit_hold_source(unit, source_retain(d->t->sources.data[i]));
  d->function = unit_add_graph(unit, d->class_type, d->name, d->graph);
}

Function *trace_define(TracingState *t, Graph *graph, ClassType *class_type, Str name) {
  Definition d = {t, t->unit, class_type, graph, name, NULL};
  if (class_type) d.unit = (CompilationUnit *)class_type->type.store;
  Status status = graph_lint(graph);
  if (!status) status = arena_protect(&d.unit->store.arena, define, &d);
  if (status) catch_throw(t->graph->arena->catch_point, status);
  return d.function;
}

/* ---- the end ---- */

static void finish(void *argument) {
  Finish *f = argument;
  TracingState *t = f->t;
  Graph *graph = t->graph;
  graph_register_output(graph, trace_result(t, f->result));
  trace_lower_blocks(t);
  normalize_ops(graph);
  lower_tuples(graph);
  dead_code_elimination(graph);
  f->function = trace_define(t, graph, t->self ? t->self->class_type : NULL, t->name);
}

/* Every unit that may get methods, as it is now. */
static void mark_units(TracingState *t, Touched *touched, size_t *count) {
  touched[(*count)++] = (Touched){t->unit, unit_mark(t->unit)};
  for (MapEntry *e = map_next(&t->modules, NULL); e; e = map_next(&t->modules, e)) {
    CompilationUnit *unit = (CompilationUnit *)((const Value *)e->value)->type->store;
    bool known = false;
    for (size_t i = 0; i < *count; i++) known = known || touched[i].unit == unit;
    if (!known) touched[(*count)++] = (Touched){unit, unit_mark(unit)};
  }
}

Status trace_finish(TracingState *t, IValue result, Function **out) {
  Finish f = {t, result, NULL};
  size_t count = 0;
  Touched *touched = mem_calloc(map_count(&t->modules) + 1, sizeof *touched);
  Status status = touched ? OK : status_out_of_memory();
  if (!status && t->graph->insert_before->owning_block != t->graph->block)
    status = status_new(ERROR_INVALID_ARGUMENT, "the trace ends within a submodule that was entered, or within a fork");
  if (!status) {
    mark_units(t, touched, &count);
    queue_hold(); /* plans of what is there already are made from the units that grow here */
    status = trace_protect(t, finish, &f);
    for (size_t i = 0; i < count && status; i++) unit_roll_back(touched[i].unit, touched[i].mark);
    queue_let_go();
  }
  mem_free(touched);
  trace_abort(t);
  *out = status ? NULL : f.function;
  return status;
}
