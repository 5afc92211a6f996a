/* Printing the plans that an executor has. */
#include "executor/variant.h"
#include "fuse/group.h"

typedef enum Shown { SHOWN_GRAPHS, SHOWN_SOURCES, SHOWN_KERNELS } Shown;

static void print_variant(Variant *v, Shown shown, StrBuf *out) {
  Plan *plan = v ? variant_acquire(v) : NULL;
  if (!plan) return;
  strbuf_printf(out, "# %s%s, bailout depth %u", plan_kind_name(plan->kind), v->is_generic ? ", any arguments" : "",
                v->depth);
  if (plan->cost.work_count || plan->cost.unsized) strbuf_puts(out, "; ");
  plan_cost_print(&plan->cost, out);
  strbuf_char(out, '\n');
  if (shown == SHOWN_KERNELS)
    status_free(fuse_print_kernels(plan->graph, out)); /* short of memory it prints less */
  else
    graph_print(plan->graph, shown == SHOWN_SOURCES, out);
  plan_release(plan);
}

static void print_variants(GraphExecutor *e, Shown shown, StrBuf *out) {
  for (int mode = 0; mode < EXECUTOR_MODE_COUNT; mode++) {
    VariantList *list = &e->lists[mode];
    for (uint32_t i = atomic_load(&list->count); i-- > 0;) print_variant(atomic_load(&list->items[i]), shown, out);
    for (int i = 0; i < CALL_TERMS; i++) print_variant(atomic_load(&list->generic[i]), shown, out);
  }
}

/* Of the modes, one is in use as a rule. */
Plan *graph_executor_newest_plan(GraphExecutor *e) {
  for (int mode = 0; mode < EXECUTOR_MODE_COUNT; mode++) {
    VariantList *list = &e->lists[mode];
    for (uint32_t i = atomic_load(&list->count) + CALL_TERMS; i-- > 0;) {
      Variant *v = i < CALL_TERMS ? atomic_load(&list->generic[i]) : atomic_load(&list->items[i - CALL_TERMS]);
      Plan *plan = v ? variant_acquire(v) : NULL;
      if (plan) return plan;
    }
  }
  return NULL;
}

void graph_executor_print_plans(GraphExecutor *e, bool with_source, StrBuf *out) {
  print_variants(e, with_source ? SHOWN_SOURCES : SHOWN_GRAPHS, out);
}
void graph_executor_print_kernels(GraphExecutor *e, StrBuf *out) {
  print_variants(e, SHOWN_KERNELS, out);
}
