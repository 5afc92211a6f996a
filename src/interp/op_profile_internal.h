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

/* ---- op_profile_print.c: what tables share ---- */
uint64_t op_profile_sum_of_rows(const OpProfile *p);
/* Time of the calls that no row has; 0 where tasks ran beside each other. */
uint64_t op_profile_rest(const OpProfile *p, uint64_t sum);
/* In billions a second, nine columns; "-" where there is none. */
void op_profile_print_rate(double amount, uint64_t ns, StrBuf *out);
/* The last lines: the interpreter, the calls, rows that found no room. */
void op_profile_print_totals(const OpProfile *p, uint64_t sum, StrBuf *out);
