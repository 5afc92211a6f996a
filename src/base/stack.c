/* The bounds of a thread's stack are asked for once. */
#include "base/stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

static _Thread_local uintptr_t lowest, highest;

/* The process's first stack ends where the kernel put the program's name and grows down to its limit. glibc would read
 * all of /proc/self/maps to say so; musl tells only of what is mapped of it by now. false: `here` is on another stack,
 * or the limit is larger than the room that the kernel always leaves below. */
static bool find_bounds_by_limit(uintptr_t here) {
  enum { LARGEST = 64 << 20, GUARD = 64 << 10 };
  struct rlimit limit;
  const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
  if (!name || here > (uintptr_t)name || getrlimit(RLIMIT_STACK, &limit)) return false;
  uintptr_t end = (uintptr_t)name + strlen(name);
  if (limit.rlim_cur > LARGEST || limit.rlim_cur < 2 * GUARD || end - here > limit.rlim_cur - GUARD) return false;
  lowest = end - limit.rlim_cur + GUARD;
  highest = end;
  return true;
}

static void find_bounds(uintptr_t here) {
  pthread_attr_t attributes;
  void *address = NULL;
  size_t bytes = 0, guard = 0;
  if (find_bounds_by_limit(here)) return;
  highest = 1;
  if (pthread_getattr_np(pthread_self(), &attributes)) return;
  pthread_attr_getstack(&attributes, &address, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  lowest = (uintptr_t)address + guard;
  highest = (uintptr_t)address + bytes;
}

size_t stack_left(void) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (!highest) find_bounds(here);
  return here > lowest && here <= highest ? here - lowest : STACK_UNKNOWN;
}
