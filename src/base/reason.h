/* Why something was not done: counted by reason and by line of source, so that a user sees what keeps his program from
 * being fast. And the executors' counters. One table for the process; every function may be called by any thread. */
#pragma once

#include "base/source.h"

/* enumerator, what is shown */
#define REASONS(X)                                                                            \
  X(NOT_FUSED_UNKNOWN_TYPE, "not fused: the operand's dtype or device is not known")          \
  X(NOT_FUSED_OPERATOR, "not fused: the operator has no formula")                             \
  X(NOT_FUSED_ALIASING, "not fused: the value may be written to or seen through an alias")    \
  X(NOT_FUSED_TOO_SMALL, "not fused: the group is too small to gain")                         \
  X(NOT_FUSED_LIMIT, "not fused: too many inputs or outputs")                                 \
  X(NOT_FUSED_AT_RUN_TIME, "not fused: the operands do not suit a kernel")                    \
  X(NOT_DIFFERENTIATED_NO_FORMULA, "not differentiated: the operator has no gradient")        \
  X(NOT_DIFFERENTIATED_EAGER_ONLY, "not differentiated: the operator's gradient is eager")    \
  X(NOT_DIFFERENTIATED_TOO_SMALL, "not differentiated: the subgraph is too small")            \
  X(NOT_DIFFERENTIATED_ALIASING, "not differentiated: the value may be written to or viewed") \
  X(NOT_MOVED_ALIASING, "not moved: another node reads or writes the same memory")            \
  X(NOT_MOVED_SIDE_EFFECTS, "not moved: the node has side effects")                           \
  X(NOT_UNROLLED_TOO_LARGE, "not unrolled: the body is too large")                            \
  X(NOT_UNROLLED_CONTROL_FLOW, "not unrolled: the body has loops or calls")                   \
  X(NOT_INLINED, "not inlined: the call is recursive, unknown or too large")                  \
  X(GUARD_FAILED, "a guard failed: the tensor is not as it was when it was profiled")         \
  X(PLAN_NOT_CACHED, "no plan: there are plans for too many kinds of arguments")              \
  X(GUARDS_WITHOUT_GAIN, "nothing assumed: guards would cost more than they gain")            \
  X(PLAN_WITHOUT_GAIN, "no plan: optimising gained nothing")                                  \
  X(PLAN_FAILED, "no plan: compiling it failed")                                              \
  X(ATTRIBUTE_NOT_ASSUMED, "an attribute is not taken for constant: the program writes to it")

typedef enum Reason {
#define X(name, text) REASON_##name,
  REASONS(X)
#undef X
      REASON_COUNT
} Reason;
const char *reason_text(Reason reason);
/* Counts it; a place without source is counted by reason only. Remembers a bounded number of places. */
void reason_add(Reason reason, SourceRange range);
uint64_t reason_count(Reason reason);
/* One line for every reason and place: "3x  file.py:12  not fused: ...". */
void reason_print(StrBuf *out);
void reason_reset(void);

#define STATISTICS(X)                                               \
  X(invocations, "calls that came to an executor")                  \
  X(plan_hits, "calls that ran in a plan")                          \
  X(plan_misses, "calls for whose arguments there was no plan yet") \
  X(compiles, "plans that were made")                               \
  X(bailouts, "calls that a failed guard sent on in the baseline")

typedef struct Statistics {
#define X(name, text) _Atomic uint64_t name;
  STATISTICS(X)
#undef X
} Statistics;
extern Statistics executor_statistics;
#define STATISTIC_ADD(name) ((void)atomic_fetch_add_explicit(&executor_statistics.name, 1, memory_order_relaxed))
#define STATISTIC_GET(name) atomic_load_explicit(&executor_statistics.name, memory_order_relaxed)
