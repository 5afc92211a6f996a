/* The bounds of a thread's stack are asked for once. */
#include "base/stack.h"

#include <pthread.h>
#include <stdint.h>

static _Thread_local uintptr_t lowest;

static uintptr_t find_lowest(void) {
  pthread_attr_t attributes;
  void *address = NULL;
  size_t bytes = 0, guard = 0;
  if (pthread_getattr_np(pthread_self(), &attributes)) return 1;
  pthread_attr_getstack(&attributes, &address, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  return (uintptr_t)address + guard;
}

size_t stack_left(void) {
  if (!lowest) lowest = find_lowest();
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here > lowest ? here - lowest : 0;
}
