/* The plan that a variant's calls run in: read without a lock, replaced under the executor's. */
#include <sched.h>

#include "executor/variant.h"

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
