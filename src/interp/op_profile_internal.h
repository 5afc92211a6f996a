/* What recording and printing of an OpProfile share. */
#pragma once

#include <pthread.h>

#include "base/vec.h"
#include "interp/op_profile.h"

enum { PROFILE_MAX_ROWS = 1 << 16, PROFILE_MAX_EVENTS = 1 << 20 };

/* Which row an instruction's run belongs to. */
typedef struct OpProfileKey {
  uint64_t code;     /* its serial number */
  uint32_t pc, next; /* the next row of the same slot, plus one */
  uint64_t shapes;   /* hash of what the tensors look like */
} OpProfileKey;

struct OpProfile {
  pthread_mutex_t lock;
  Arena arena; /* the rows' texts */
  uint64_t start_ns, calls, call_ns, dropped_events, dropped_rows;
  VEC(OpProfileRow) rows;
  VEC(OpProfileKey) keys; /* of the rows */
  VEC(OpProfileEvent) events;
  uint32_t slots[4096]; /* the first row of a hash, plus one */
};
