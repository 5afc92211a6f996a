/* Work: what an engine has to know of the call that it computes for: on how many threads, until when, what it may use
 * up and what is kept for later calls. An Exec begins with one. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"

struct PackedWeights;

/* How near a call's results have to be to those of the program as written. Chosen for a runtime, and part of what
 * plans, compiled kernels and packed weights are found by: what was made for one precision is no other's. */
typedef enum Precision {
  PRECISION_EXACT, /* bit by bit, but for what docs/kernels.md lists */
  PRECISION_COUNT
} Precision;
enum { PRECISION_BITS = 2, PRECISION_LIMIT = 1 << PRECISION_BITS }; /* what keys have room for */
_Static_assert((int)PRECISION_COUNT <= (int)PRECISION_LIMIT, "each precision has its place in keys");

/* Whose operators a program means, where PyTorch 2.x corrected or changed one of 1.13. A unit's own, so that its plans
 * and kernels are of one version. */
typedef enum TorchVersion {
  TORCH_DEFAULT, /* nobody says: as the runtime's, and where that has none as the environment says */
  TORCH_1,       /* 1.13 */
  TORCH_2,       /* 2.x, as 2.14 has it */
  TORCH_COUNT
} TorchVersion;

/* What a call may still use up, shared with all it forks. */
typedef struct WorkBudget {
  _Atomic int64_t steps_left; /* back edges and calls; INT64_MAX: no limit */
  bool limits_memory;
  MemBudget memory;
} WorkBudget;

typedef struct Work {
  int threads;                /* for parallel_for */
  Precision precision;        /* the runtime's: set by exec_init_in, and for what plans compute in advance */
  TorchVersion torch_version; /* of the program that runs or is compiled; of operators called by themselves the
                               * runtime's */
  bool is_limited;            /* there is a deadline or a stop flag: asked after every operator */
  uint32_t first_epoch;       /* storage_epoch_begin() of a function's first call, while it runs; 0: of a later one */
  const _Atomic bool *stop;   /* polled by long loops; NULL: never. Set by cancel and deadline */
  uint64_t deadline_ns;       /* monotonic, 0: none */
  WorkBudget *budget;         /* NULL: none. The caller's; an asynchronous call's lies in its task */
  struct PackedWeights *packed_weights; /* compute/conv/conv_weights.h: the runtime's; NULL: the process's */
} Work;

static inline bool work_is_torch2(const Work *work) {
  return work->torch_version == TORCH_2;
}
/* Cancelled, past its deadline or out of steps: the error; else OK. Cheap. */
Status work_poll(const Work *work) MUST_CHECK;
/* Before work that may be long: OK, unless it is limited and work_poll fails. */
static inline Status work_check(const Work *work) {
  return __builtin_expect(work->is_limited, 0) ? work_poll(work) : OK;
}
/* For loops that can't return a Status, on any thread: whether work_check would fail for time or cancellation. */
bool work_has_to_end(const Work *work);
void work_set_deadline(Work *work, uint64_t monotonic_ns);
void work_set_stop(Work *work, const _Atomic bool *stop);
