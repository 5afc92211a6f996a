/* Memory that a routine needs for itself: on the stack where it is little. Private to compute/linalg. */
#pragma once

#include "base/memory.h"

typedef struct Workspace {
  void *heap; /* NULL: `small` is enough */
  _Alignas(32) char small[4096];
} Workspace;
/* NULL when refused. To be ended in any case. */
static inline void *workspace_begin(Workspace *w, size_t count, size_t bytes) {
  size_t all;
  w->heap = NULL;
  if (!size_mul(count, bytes, &all)) return NULL;
  if (all <= sizeof w->small) return w->small;
  return w->heap = mem_alloc(all);
}
static inline void workspace_end(Workspace *w) {
  mem_free(w->heap);
}
