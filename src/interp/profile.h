/* What one run of profiling code sees: a slot for every prim::profile, written by INST_PROFILE. A run has slots of its
 * own, so that profiling takes no lock; the executor merges them when the run has returned. */
#pragma once

#include "report/reason.h"
#include "type/type.h"

enum { PROFILE_MAX_DIMS = 8 };
enum {
  PROFILE_DEFINED = 1,   /* a defined tensor was seen */
  PROFILE_UNDEFINED = 2, /* an undefined one was seen */
  PROFILE_UNUSUAL = 4    /* one that is lazily conjugated, sparse, quantized, a wrapped number, ...: expect nothing */
};
typedef struct ProfileSlot {
  uint8_t seen;  /* PROFILE_...; 0: the place was not reached */
  int8_t dtype;  /* of the defined ones; -1 here and below: they differ */
  int8_t ndim;   /* also -1 beyond PROFILE_MAX_DIMS */
  int8_t grad;   /* requires_grad, as long as grad mode is on */
  Device device; /* type -1: they differ */
  int64_t sizes[PROFILE_MAX_DIMS], strides[PROFILE_MAX_DIMS];
} ProfileSlot;

typedef struct ProfileRun {
  uint32_t count;
  ProfileSlot slots[];
} ProfileRun;
ProfileRun *profile_run_new(uint32_t count); /* NULL: no memory */
void profile_run_free(ProfileRun *run);

/* Merges one tensor into a slot. */
void profile_observe(ProfileSlot *slot, const Tensor *t, bool grad_enabled);
/* Whether the tensor is of a refined Tensor type, in every respect of which the type knows something. Anything unusual
 * (as above) never is, unless nothing is known. */
bool guard_holds(const TensorInfo *info, const Tensor *t, bool grad_enabled);
/* In which respect it is not; REASON_COUNT: in none. */
Reason guard_failure(const TensorInfo *info, const Tensor *t, bool grad_enabled);
