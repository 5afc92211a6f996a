/* The size-class cache for tensor storage: freed blocks of at least 64 KiB are kept for reuse, because page faults
 * cost more than a pointwise operator's arithmetic. Each heap has one: bounded, thread-safe, emptied by cache_trim.
 * NULL is the process's heap.
 *
 * Its bound is the heap's for everything that is kept for later calls and can be made again: who keeps something else
 * (packed weights, plans) counts it here, and freed blocks make room for it. */
#pragma once

#include "base/heap.h"

/* 64-byte aligned, not zeroed; NULL when refused. From the heap that the thread works in, to which it goes back: for
 * what lasts no longer than a call of a function. */
void *cache_alloc(size_t bytes);
void cache_free(void *p, size_t bytes); /* bytes as given to cache_alloc */
/* The same of a heap that the caller remembers. */
void *cache_alloc_in(Heap *heap, size_t bytes);
void cache_free_in(Heap *heap, void *p, size_t bytes);

/* For heap.c: of a heap; bytes 0: the default, 768 MiB, of which freed blocks are 256 MiB. NULL: no memory. */
struct Cache *cache_new(uint64_t bytes);
void cache_delete(struct Cache *cache);         /* nothing is kept any more */
void cache_set_limit(Heap *heap, size_t bytes); /* kept blocks at most */
size_t cache_trim(Heap *heap);                  /* bytes given back */
size_t cache_bytes(Heap *heap);                 /* of freed blocks */

/* ---- what else is kept ---- */
/* More of it, or less; freed blocks that find no room beside it go. */
void cache_count(Heap *heap, int64_t bytes);
bool cache_has_room(Heap *heap, size_t bytes); /* for so much more of it, freed blocks aside */
bool cache_is_over(Heap *heap);                /* its bound */
size_t cache_others(Heap *heap);               /* what was counted */
