/* memcpy for runs that are mostly short: a call for each would take longer than they do. */
#pragma once

#include <stdint.h>
#include <string.h>

static inline void copy_short(void *to, const void *from, size_t bytes) {
  typedef uint64_t Two __attribute__((vector_size(16), aligned(1), may_alias));
  enum { ONE = sizeof(Two), MOST = 512 };
  if (bytes == 4) { /* an element */
    memcpy(to, from, 4);
    return;
  }
  if (bytes == 8) {
    memcpy(to, from, 8);
    return;
  }
  if (bytes < ONE || bytes > MOST) {
    memcpy(to, from, bytes);
    return;
  }
  Two last = *(const Two *)((const char *)from + bytes - ONE);
  for (size_t i = 0; i < bytes - ONE; i += ONE) *(Two *)((char *)to + i) = *(const Two *)((const char *)from + i);
  *(Two *)((char *)to + bytes - ONE) = last;
}
