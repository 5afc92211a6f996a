/* Blocks that outlast calls: storage of weights, and what is made of them. They are as large as was asked for, not as a
 * class of the cache, come from the system where they are large, and go back to it at once: who frees one does not want
 * the like again in the next call. */
#pragma once

#include "base/heap.h"

/* 64-byte aligned, not zeroed; NULL when refused. heap NULL: the process's. */
void *lasting_alloc(Heap *heap, size_t bytes);
void lasting_free(Heap *heap, void *p, size_t bytes); /* bytes as given to lasting_alloc */
/* Has the heap of the C library give back the pages that are free, where much went since that was done last. */
void lasting_tidy(void);
