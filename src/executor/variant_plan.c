/* The plan that a variant's calls run in: read without a lock, replaced under the executor's. */
#include <sched.h>

#include "base/fork.h"
#include "executor/variant.h"

void variants_each(GraphExecutor *e, void (*visit)(Variant *v, void *argument), void *argument) {
  for (int mode = 0; mode < EXECUTOR_MODE_COUNT; mode++) {
    VariantList *list = &e->lists[mode];
    for (uint32_t i = atomic_load(&list->count); i-- > 0;) visit(atomic_load(&list->items[i]), argument);
    for (int i = 0; i < CALL_TERMS; i++) {
      Variant *generic = atomic_load(&list->generic[i]);
      if (generic) visit(generic, argument);
    }
  }
}

/* A thread of the parent may have been a reader, which the child does not have: who withdraws a plan there would wait
 * for it for ever. */
static void forget_readers(Variant *v, void *unused) {
  (void)unused;
  atomic_store(&v->readers, 0);
}
static void forget_readers_of(ExecutorLink *link, void *unused) {
  variants_each((GraphExecutor *)link, forget_readers, unused);
}
static void forget_all_readers(void) {
  executor_list_each_alone(forget_readers_of, NULL);
}
__attribute__((constructor)) static void watch_forks(void) {
  static const ForkHandler handler = {.in_child = forget_all_readers};
  fork_watch(FORK_READERS, &handler);
}

Plan *variant_acquire(Variant *v) {
  if (!atomic_load_explicit(&v->plan, memory_order_relaxed)) return NULL;
  atomic_fetch_add(&v->readers, 1);
  Plan *plan = atomic_load(&v->plan);
  if (plan) plan_retain(plan);
  atomic_fetch_sub(&v->readers, 1);
  return plan;
}

/* `plan`, whose reference is taken over, in the place of the one returned, which no call acquires any more. The lock is
 * held. */
Plan *variant_withdraw(Variant *v, Plan *plan) {
  Plan *old = atomic_exchange(&v->plan, plan);
  while (atomic_load(&v->readers)) sched_yield(); /* a few instructions of theirs */
  return old;
}

void variant_publish(Variant *v, Plan *plan) {
  plan_release(variant_withdraw(v, plan));
}
