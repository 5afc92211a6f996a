/* Why something was not done: counted by reason and by line of source, so that a user sees what keeps his program from
 * being fast. And the executors' counters. One table for the process; every function may be called by any thread. */
#pragma once

#include "base/status.h"
#include "report/source.h"

/* enumerator, what is shown */
#define REASONS(X)                                                                                               \
  X(NOT_FUSED_UNKNOWN_TYPE, "not fused: dtypes or ranks of what the chunk cuts are not known")                   \
  X(NOT_FUSED_OPERATOR, "not fused: the operator has no formula")                                                \
  X(NOT_FUSED_OPERAND, "not fused: an operand is neither a tensor nor a number, or there are too many")          \
  X(NOT_FUSED_WRITES, "not fused: the operator writes to its argument")                                          \
  X(NOT_FUSED_RANDOM, "not fused: the operator draws random numbers or has an effect")                           \
  X(NOT_FUSED_ALIASING, "not fused: the value may be written to or seen through an alias")                       \
  X(NOT_FUSED_ALONE, "not fused: there is nothing next to it to fuse with")                                      \
  X(NOT_FUSED_GUARD, "not fused: a guard stands between what makes the value and what uses it")                  \
  X(NOT_FUSED_LIMIT, "not fused: too many nodes, inputs or outputs")                                             \
  X(NOT_FUSED_CONCATENATION, "not fused: a concatenation ends its group")                                        \
  X(NOT_FUSED_LIST, "not fused: the list is used elsewhere, or dim is not constant")                             \
  X(NOT_FUSED_PIECES, "not fused: the value is cut in more than one way, or the whole of it is used too")        \
  X(NOT_FUSED_DIMENSIONS, "not fused: its dimensions are not known, or not its neighbors'")                      \
  X(NOT_FUSED_LINES, "not fused: its work is not along the last dimensions, or lines are too long or lie apart") \
  X(NOT_FUSED_SWITCHED_OFF, "not fused: fusion is switched off")                                                 \
  X(NOT_FUSED_GRADIENT, "not fused: an input records gradients")                                                 \
  X(NOT_FUSED_TRACED, "not fused: the call is traced")                                                           \
  X(NOT_FUSED_KIND, "not fused: an input is undefined, lazily conjugated, or not where the kernel computes")     \
  X(NOT_FUSED_DTYPE, "not fused: the kernel does not compute in the inputs' dtypes")                             \
  X(NOT_FUSED_LAYOUT, "not fused: an input's elements don't lie as the kernel reads them")                       \
  X(NOT_FUSED_WEIGHTS, "not fused: a weight is not of the layer's sizes, or no contiguous float32")              \
  X(NOT_FUSED_ARGUMENT, "not fused: the kernel lacks what an argument asks for")                                 \
  X(NOT_FUSED_SIZE, "not fused: at these sizes it would not pay")                                                \
  X(NOT_FUSED_DETERMINISTIC, "not fused: the call is to be deterministic")                                       \
  X(NOT_FUSED_RANK, "not fused: an input has too many dimensions")                                               \
  X(NOT_FUSED_SHAPE, "not fused: the inputs' sizes don't fit together")                                          \
  X(NOT_FUSED_NO_KERNEL, "not fused: the operators have no kernel for these dtypes")                             \
  X(NOT_FUSED_CACHE_FULL, "not fused: the group has kernels for too many kinds of inputs")                       \
  X(NOT_FUSED_NOT_READY, "not fused: no back end has compiled the kernel yet")                                   \
  X(NOT_FUSED_FORM, "not fused: the group's graph has a form that is not lowered")                               \
  X(NOT_FUSED_FAILED, "not fused: the kernel failed, and the operators tell where")                              \
  X(NOT_COMPILED_OPERATION, "not compiled: the back end lacks an operation of the kernel")                       \
  X(NOT_COMPILED_TYPE, "not compiled: the back end lacks a type that the kernel computes in")                    \
  X(NOT_COMPILED_MACHINE, "not compiled: there is no native code on this processor, or it is not allowed")       \
  X(NOT_COMPILED_SIGNATURE, "not compiled: the back end doesn't take operands that lie in memory so")            \
  X(NOT_COMPILED_FAILED, "not compiled: the back end failed")                                                    \
  X(NOT_COMPILED_LIMIT, "not compiled: back ends hold as much as they may")                                      \
  X(NOT_COMPILED_CACHE_FULL, "not compiled: the kernel has run for too many signatures")                         \
  X(NOT_DIFFERENTIATED_NO_FORMULA, "not differentiated: the operator has no gradient")                           \
  X(NOT_DIFFERENTIATED_EAGER_ONLY, "not differentiated: the operator's gradient is eager")                       \
  X(NOT_DIFFERENTIATED_TOO_SMALL, "not differentiated: the subgraph is too small")                               \
  X(NOT_DIFFERENTIATED_PUT_BACK, "not differentiated: the subgraph is too small once it is optimized")           \
  X(NOT_DIFFERENTIATED_ALIASING, "not differentiated: the value may be written to or viewed")                    \
  X(NOT_DIFFERENTIATED_WRITES, "not differentiated: the operator writes to its argument")                        \
  X(NOT_DIFFERENTIATED_EFFECTS, "not differentiated: the operator has side effects")                             \
  X(NOT_DIFFERENTIATED_LIST, "not differentiated: lists of tensors come from or go elsewhere")                   \
  X(NOT_DIFFERENTIATED_CONTROL_FLOW, "not differentiated: control flow and calls stay outside")                  \
  X(NOT_DIFFERENTIATED_GRAD_MODE, "not differentiated: grad mode may change in between")                         \
  X(NOT_DIFFERENTIATED_LIMIT, "not differentiated: the operator has too many inputs")                            \
  X(NOT_MOVED_ALIASING, "not moved: another node reads or writes the same memory")                               \
  X(NOT_MOVED_SIDE_EFFECTS, "not moved: the node has side effects")                                              \
  X(NOT_MOVED_RANDOM, "not moved: the node draws random numbers")                                                \
  X(NOT_MOVED_MAY_FAIL, "not moved: the node may fail, and is not sure to run")                                  \
  X(NOT_UNROLLED_TOO_LARGE, "not unrolled: the body is too large")                                               \
  X(NOT_UNROLLED_CONDITION, "not unrolled: the loop has a condition")                                            \
  X(NOT_UNROLLED_UNKNOWN, "not unrolled: the number of iterations is not known")                                 \
  X(NOT_UNROLLED_BUDGET, "not unrolled: the graph would become too large")                                       \
  X(NOT_PEELED_TOO_LARGE, "not peeled: the body is too large")                                                   \
  X(NOT_INLINED_RECURSIVE, "not inlined: the call is recursive or nested too deeply")                            \
  X(NOT_INLINED_UNKNOWN, "not inlined: the function is not known or not compiled")                               \
  X(NOT_INLINED_TOO_LARGE, "not inlined: the graph would become too large")                                      \
  X(GUARD_FAILED_UNDEFINED, "a guard failed: the tensor is undefined, or is no plain tensor")                    \
  X(GUARD_FAILED_DTYPE, "a guard failed: the tensor has another dtype than when it was profiled")                \
  X(GUARD_FAILED_RANK, "a guard failed: the tensor has another number of dimensions than when it was profiled")  \
  X(GUARD_FAILED_SIZES, "a guard failed: the tensor has other sizes than when it was profiled")                  \
  X(GUARD_FAILED_STRIDES, "a guard failed: the tensor has other strides than when it was profiled")              \
  X(GUARD_FAILED_REQUIRES_GRAD, "a guard failed: the tensor requires grad or not, unlike when it was profiled")  \
  X(GUARD_FAILED_DEVICE, "a guard failed: the tensor is on another device than when it was profiled")            \
  X(GUARD_FAILED_FORCED, "a guard failed: a test asked for it")                                                  \
  X(PLAN_NOT_CACHED, "no plan: there are plans for too many kinds of arguments")                                 \
  X(GUARDS_WITHOUT_GAIN, "nothing assumed: guards would cost more than they gain")                               \
  X(PLAN_WITHOUT_GAIN, "no plan: optimizing gained nothing")                                                     \
  X(PLAN_FAILED_ALONE, "a plan failed where the program as written does not")                                    \
  X(PLAN_FAILED, "no plan: compiling it failed")                                                                 \
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
/* The same, of one operator or node: "aten::cumsum". */
void reason_add_of(Reason reason, Str what, SourceRange range);
/* For a place that has something to tell at every call: counts its first reason without a lock. All zero at first. */
typedef struct ReasonCounter {
  _Atomic uint32_t known; /* the reason, + 1; 0: none so far */
  _Atomic uint64_t count; /* not yet added to what is remembered of the place */
  Str what;
  SourceRange range;
  struct ReasonCounter *next, *previous; /* of all that count something */
} ReasonCounter;
/* reason_add_of; `what` is text that stays. */
void reason_add_at(ReasonCounter *counter, Reason reason, Str what, SourceRange range);
void reason_counter_end(ReasonCounter *counter); /* before its memory goes, while nobody counts with it */
uint64_t reason_count(Reason reason);
/* What a kernel returns that leaves its call to the operator's body, having done nothing: static, one for each reason.
 * operator_call counts it and runs the body; nobody else sees it. */
Status reason_decline(Reason reason) MUST_CHECK NEVER_NULL;
bool reason_is_decline(Status status, Reason *out);
/* For every reason and place, the most frequent first: "3x  file.py:12  not fused: ... (aten::add)", and the line of
 * source below it. */
void reason_print(StrBuf *out);
void reason_keep_places(const Source *source); /* of a source that is about to go */
void reason_reset(void);                       /* test hook */

#define STATISTICS(X)                                                \
  X(invocations, "calls that came to an executor")                   \
  X(plan_hits, "calls that ran in a plan")                           \
  X(plan_misses, "calls for whose arguments there was no plan yet")  \
  X(compiles, "plans that were made")                                \
  X(bailouts, "calls that a failed guard sent on in the baseline")   \
  X(packed_weights, "weights that convolutions packed")              \
  X(state_reads, "calls that read their module's state anew")        \
  X(state_guards, "guards on their module's state that calls asked") \
  X(declines, "calls that a kernel left to its operator's body")     \
  X(dropped_weights, "weights that were kept in packed order alone") \
  X(restored_weights, "of these, put in their own order again")

typedef struct Statistics {
#define X(name, text) _Atomic uint64_t name;
  STATISTICS(X)
#undef X
} Statistics;
extern Statistics executor_statistics;
#define STATISTIC_ADD(name) ((void)atomic_fetch_add_explicit(&executor_statistics.name, 1, memory_order_relaxed))
#define STATISTIC_GET(name) atomic_load_explicit(&executor_statistics.name, memory_order_relaxed)
