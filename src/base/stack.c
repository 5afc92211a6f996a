/* The bounds of a thread's stack are asked for once. */
#include "base/stack.h"

#include <pthread.h>
#include <stdint.h>

static _Thread_local uintptr_t lowest, highest;

static void find_bounds(void) {
  pthread_attr_t attributes;
  void *address = NULL;
  size_t bytes = 0, guard = 0;
  highest = 1;
  if (pthread_getattr_np(pthread_self(), &attributes)) return;
  pthread_attr_getstack(&attributes, &address, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  lowest = (uintptr_t)address + guard;
  highest = (uintptr_t)address + bytes;
}

size_t stack_left(void) {
  if (!highest) find_bounds();
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here > lowest && here <= highest ? here - lowest : STACK_UNKNOWN;
}
