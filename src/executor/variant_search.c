/* From the arguments of a call to its variant: what the graph reads is found, taken down and looked up. The lists are
 * read without a lock and grow under the executor's. */
#include "executor/variant.h"

#include "base/fork.h"
#include "executor/compile_times.h"

static void find_paths_now(GraphExecutor *e) {
  HEAP_SCOPE(e->graph->arena->heap);
  CompileClock clock;
  compile_clock_start(&clock, "attributes");
  AttributePaths *paths = mem_calloc(1, sizeof *paths);
  lock_enter(); /* a fork waits: in the child nobody would be looking any more */
  if (paths) {
    Status status = attribute_paths_find(e->graph, paths);
    status_free(status); /* without paths nothing is assumed */
  }
  atomic_store(&e->paths, paths);
  lock_leave();
  compile_clock_step(&clock, "paths");
}

static void run_find_paths(Job *job) {
  find_paths_now((GraphExecutor *)((char *)job - offsetof(GraphExecutor, find_paths)));
}
static bool hold_for_paths(Job *job) {
  return graph_executor_hold((GraphExecutor *)((char *)job - offsetof(GraphExecutor, find_paths)));
}
static void let_paths_go(Job *job) {
  graph_executor_let_go((GraphExecutor *)((char *)job - offsetof(GraphExecutor, find_paths)));
}
Job attributes_job(void) {
  return (Job){.run = run_find_paths, .hold = hold_for_paths, .let_go = let_paths_go};
}

/* NULL: they are being looked for. */
static const AttributePaths *paths_of(GraphExecutor *e, bool now) {
  const AttributePaths *paths = atomic_load_explicit(&e->paths, memory_order_acquire);
  if (paths || atomic_exchange(&e->is_finding, true)) return paths;
  if (now)
    find_paths_now(e);
  else if (!queue_add(&e->find_paths))
    atomic_store(&e->is_finding, false);
  return atomic_load(&e->paths);
}

static bool specs_equal(const ArgumentSpec *a, const ArgumentSpec *b) {
  return a->count == b->count && !memcmp(a->words, b->words, a->count * sizeof *a->words);
}

static Variant *find(VariantList *list, const ArgumentSpec *spec) {
  uint32_t count = atomic_load_explicit(&list->count, memory_order_acquire);
  for (uint32_t i = 0; i < count; i++) {
    Variant *v = atomic_load_explicit(&list->items[i], memory_order_relaxed);
    if (specs_equal(&v->spec, spec)) return v;
  }
  return NULL;
}

void variant_free(Variant *v) {
  if (!v) return;
  queue_remove(&v->job);
  queue_remove(&v->weighing);
  plan_release(atomic_load(&v->plan));
  plan_release(v->profiling);
  profiling_record_release(v->record);
  const AttributePaths *paths = atomic_load(&v->executor->paths);
  for (size_t i = 0; v->values && paths && i < paths->leaves.length; i++) ivalue_release(v->values[i]);
  mem_free(v->values);
  argument_spec_dispose(&v->spec);
  mem_free(v);
}

/* NULL: no memory, or an attribute changed meanwhile. */
static Variant *variant_new(GraphExecutor *e, ExecutorMode mode, const ExecutorOptions *options,
                            const ArgumentSpec *spec, bool is_generic, const IValue *arguments, uint32_t count) {
  HEAP_SCOPE(e->graph->arena->heap);
  const AttributePaths *paths = atomic_load(&e->paths);
  Variant *v = mem_calloc(1, sizeof *v);
  if (!v) return NULL;
  v->job = variant_job();
  v->weighing = variant_weighing();
  v->executor = e;
  v->options = *options;
  v->options.mode = mode; /* EXECUTOR_DEFAULT: not optimized */
  v->depth = options->bailout_depth;
  v->is_generic = is_generic;
  v->spec = *spec;
  v->spec.words = v->spec.few;
  bool fine = true;
  if (spec->words != spec->few && !is_generic) {
    v->spec.capacity = spec->count;
    v->spec.words = mem_alloc(spec->count * sizeof *spec->words);
    fine = v->spec.words != NULL;
    if (fine) memcpy(v->spec.words, spec->words, spec->count * sizeof *spec->words);
  }
  if (fine && !is_generic && paths->leaves.length) {
    v->values = mem_calloc(paths->leaves.length, sizeof *v->values);
    fine = v->values && count && argument_spec_values(&v->spec, paths, arguments[0], v->values);
  }
  if (fine) return v;
  if (!v->spec.words) v->spec.words = v->spec.few;
  variant_free(v);
  return NULL;
}

static Variant *add(GraphExecutor *e, ExecutorMode mode, const ExecutorOptions *options, const ArgumentSpec *spec,
                    const IValue *arguments, uint32_t count) {
  VariantList *list = &e->lists[mode];
  lock_take(&e->lock);
  uint32_t used = atomic_load(&list->count);
  Variant *v = find(list, spec);
  if (!v && used < options->max_plans && used < MAX_VARIANTS) {
    v = variant_new(e, mode, options, spec, false, arguments, count);
    if (v) {
      atomic_store(&list->items[used], v);
      atomic_store(&list->count, used + 1);
    }
  } else if (!v) {
    v = atomic_load(&list->generic[argument_spec_terms(spec)]);
    if (!v) {
      reason_add(REASON_PLAN_NOT_CACHED, e->graph->block->ret->range);
      v = variant_new(e, mode, options, spec, true, arguments, count);
      atomic_store(&list->generic[argument_spec_terms(spec)], v);
    }
  }
  lock_drop(&e->lock);
  return v;
}

Variant *graph_executor_variant(GraphExecutor *e, Exec *exec, ExecutorMode mode, const ExecutorOptions *options,
                                const IValue *arguments, uint32_t count, CallState *state, uint64_t wait_ns) {
  const AttributePaths *paths = paths_of(e, options->compile_now || graph_executor_plans_here(e, exec));
  if (!paths && wait_ns) {
    queue_wait(&e->find_paths, wait_ns);
    paths = atomic_load(&e->paths);
  }
  if (!paths) return NULL;
  VariantList *list = &e->lists[mode];
  ArgumentSpec spec;
  argument_spec_inputs(&spec, exec, mode == EXECUTOR_SPECIALIZING, e->graph, arguments, count);
  Variant *v = call_state_variant(state, &spec);
  if (!v) {
    call_state_rely_on(state, paths);
    argument_spec_attributes(&spec, paths, arguments);
  }
  if (!v && !spec.failed) {
    v = find(list, &spec);
    if (!v && atomic_load(&list->count) >= (options->max_plans < MAX_VARIANTS ? options->max_plans : MAX_VARIANTS))
      v = atomic_load(&list->generic[argument_spec_terms(&spec)]);
    if (!v) v = add(e, mode, options, &spec, arguments, count);
  }
  argument_spec_dispose(&spec);
  return v;
}
