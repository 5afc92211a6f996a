/* The size-class cache for tensor storage: freed blocks of at least 64 KiB are kept for reuse, because page faults
 * cost more than a pointwise operator's arithmetic. Each heap has one: bounded, thread-safe, emptied by cache_trim.
 * NULL is the process's heap. */
#pragma once

#include "base/heap.h"
#include "base/memory.h"

/* 64-byte aligned, not zeroed; NULL when refused. From the heap that the thread works in, to which it goes back: for
 * what lasts no longer than a call of a function. */
void *cache_alloc(size_t bytes);
void cache_free(void *p, size_t bytes); /* bytes as given to cache_alloc */
/* The same of a heap that the caller remembers. */
void *cache_alloc_in(Heap *heap, size_t bytes);
/* For what outlasts the call: never a kept block, which the next call is going to want. */
void *cache_alloc_lasting_in(Heap *heap, size_t bytes);
void cache_free_in(Heap *heap, void *p, size_t bytes);
/* For heap.c: of a heap; bytes 0: the default, 256 MiB. NULL: no memory. */
struct Cache *cache_new(uint64_t bytes);
void cache_delete(struct Cache *cache);         /* nothing is kept any more */
void cache_set_limit(Heap *heap, size_t bytes); /* kept blocks at most */
size_t cache_trim(Heap *heap);                  /* bytes given back */
size_t cache_bytes(Heap *heap);
