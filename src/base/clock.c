#include "base/clock.h"

enum { NS_OF_SECOND = 1000000000 };

uint64_t clock_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * NS_OF_SECOND + (uint64_t)now.tv_nsec;
}

struct timespec clock_at(uint64_t ns) {
  uint64_t seconds = ns / NS_OF_SECOND;
  return (struct timespec){(time_t)(seconds > INT32_MAX ? INT32_MAX : seconds), (long)(ns % NS_OF_SECOND)};
}

struct timespec clock_after(uint64_t ns) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  uint64_t seconds = ns / NS_OF_SECOND, rest = (uint64_t)until.tv_nsec + ns % NS_OF_SECOND;
  if (seconds > INT32_MAX) seconds = INT32_MAX;
  until.tv_sec += (time_t)(seconds + rest / NS_OF_SECOND);
  until.tv_nsec = (long)(rest % NS_OF_SECOND);
  return until;
}

void clock_condition_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}
