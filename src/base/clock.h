/* The monotonic clock. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <time.h>

uint64_t clock_now_ns(void);
struct timespec clock_at(uint64_t ns); /* what clock_now_ns gives, for waiting until then */
/* For waiting `ns` from now at a condition of clock_condition_init; a time beyond some 68 years is that. */
struct timespec clock_after(uint64_t ns);
/* A condition whose timed waits go by this clock. */
void clock_condition_init(pthread_cond_t *condition);
