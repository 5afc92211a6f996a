/* Heap: where memory comes from and goes back to: malloc or functions from outside, how much may be taken, and the
 * large blocks that are kept for reuse (base/cache.h).
 *
 * A thread works in one heap at a time; what it takes comes from there. A block goes back to the heap it came from,
 * whichever thread gives it back, even when the heap's owner has let go of it: a heap lives as long as its owner or one
 * of its blocks. What belongs to the process (docs/statics.md) is made in the process's heap, NULL. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Heap Heap;
struct Heap {
  /* Thread-safe, of any alignment up to 64; free gets the bytes of alloc. NULL: malloc and free. */
  void *(*alloc)(void *user, size_t bytes, size_t align);
  void (*free)(void *user, void *p, size_t bytes);
  void *user;
  _Atomic int64_t left; /* bytes that may still be taken; looked at where there is an `alloc` */
  _Atomic int64_t refs; /* the owner, and every block that is out; of the process's nobody counts */
  struct Cache *cache;  /* base/cache.c; the process's has its own */
  /* Gives back what is kept for later calls beside freed blocks: bytes. Runs where an allocation failed. NULL: there is
   * nothing. */
  size_t (*yield)(void *kept);
  void *kept;
};

typedef struct HeapOptions {
  void *(*alloc)(void *user, size_t bytes, size_t align);
  void (*free)(void *user, void *p, size_t bytes);
  void *user;
  uint64_t max_bytes;   /* taken at a time; 0: no limit */
  uint64_t cache_bytes; /* large blocks for reuse; 0: the default */
} HeapOptions;
/* NULL: no memory. */
Heap *heap_new(const HeapOptions *options);
/* The owner's reference; what the cache holds goes. */
void heap_release(Heap *heap);

/* From now on the thread works in `heap` (NULL: the process's); gives the one before. */
Heap *heap_enter(Heap *heap);
Heap *heap_current(void);
void heap_leave(Heap *const *before); /* for HEAP_SCOPE */
/* To the end of the block; a throw out of it is as good (Catch). */
#define HEAP_SCOPE(heap) __attribute__((cleanup(heap_leave), unused)) Heap *const heap_before = heap_enter(heap)

/* ---- for those who make blocks: memory.c, cache.c ---- */
/* Whether blocks of this heap (NULL: the process's) come from functions of its own. */
static inline bool heap_is_foreign(const Heap *heap) {
  return __builtin_expect(heap != NULL, 0) && heap->alloc;
}
/* Of a heap that is: counts the block; where there is none, what is kept for later calls goes first. NULL: refused. */
void *heap_take(Heap *heap, size_t bytes, size_t align);
void heap_give(Heap *heap, void *p, size_t bytes);
/* Gives back what is kept for later calls; whether that was something. */
bool heap_yields(Heap *heap);
/* One more block is out, or one less; the last one frees the heap. heap may be NULL. */
void heap_hold(Heap *heap);
void heap_drop(Heap *heap);
