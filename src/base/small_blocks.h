/* small_blocks: small blocks of the heap that this thread gave back and will want again, at the latest in its next
 * call. A program that has settled finds all it needs here: no heap, and none of the locks that a heap takes between
 * threads. In sanitized and hostile builds nothing is kept, since only memory that was really freed is watched. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How a block is aligned: as malloc does, or to 64 bytes, for data of tensors. */
typedef enum SmallBlockKind { BLOCK_PLAIN, BLOCK_ALIGNED, BLOCK_KINDS } SmallBlockKind;
enum { PLAIN_BLOCK_MAX = (32 << 10) - 1, ALIGNED_BLOCK_MAX = (64 << 10) - 1 };

/* What the heap is to be asked for, so that the block serves its whole class; larger blocks are not rounded. */
size_t small_block_bytes(SmallBlockKind kind, size_t bytes);
/* A block of at least so many bytes, not zeroed; NULL: none is kept. *out_bytes: what small_block_bytes says. */
void *small_block_take(SmallBlockKind kind, size_t bytes, size_t *out_bytes);
/* Keeps a block that has so many bytes and came from malloc or aligned_alloc; false: the caller frees it. */
bool small_block_keep(SmallBlockKind kind, void *p, size_t bytes);
/* Frees what this thread keeps: bytes; other threads free theirs when they next give something back, or end. */
size_t small_blocks_trim(void);
size_t small_blocks_bytes(void); /* of this thread */
