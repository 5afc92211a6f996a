/* The size-class cache for tensor storage: freed blocks of at least 64 KiB are kept for reuse, because page faults
 * cost more than a pointwise operator's arithmetic. Bounded, thread-safe, emptied by cache_trim. */
#pragma once

#include "base/memory.h"

/* 64-byte aligned, not zeroed; NULL when refused. */
void *cache_alloc(size_t bytes);
void cache_free(void *p, size_t bytes); /* bytes as given to cache_alloc */
void cache_set_limit(size_t bytes);     /* kept blocks at most; default 256 MiB */
size_t cache_trim(void);                /* bytes given back */
size_t cache_bytes(void);
