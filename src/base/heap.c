/* Blocks from functions from outside, and the life of a heap. */
#include "base/heap.h"

#include <stdlib.h>

#include "base/cache.h"
#include "base/memory.h"

static void *bounded_alloc(void *user, size_t bytes, size_t align) {
  (void)user;
  size_t whole;
  return size_add(bytes, align - 1, &whole) ? aligned_alloc(align, whole & ~(align - 1)) : NULL;
}
static void bounded_free(void *user, void *p, size_t bytes) {
  (void)user, (void)bytes;
  free(p);
}

Heap *heap_new(const HeapOptions *options) {
  HEAP_SCOPE(NULL);
  Heap *heap = mem_calloc(1, sizeof *heap);
  if (!heap) return NULL;
  heap->cache = cache_new(options->cache_bytes);
  if (!heap->cache) {
    mem_free(heap);
    return NULL;
  }
  heap->alloc = options->alloc;
  heap->free = options->free;
  heap->user = options->user;
  if (!heap->alloc && options->max_bytes) {
    heap->alloc = bounded_alloc;
    heap->free = bounded_free;
  }
  bool has_limit = options->max_bytes && options->max_bytes < INT64_MAX;
  atomic_init(&heap->left, has_limit ? (int64_t)options->max_bytes : INT64_MAX);
  atomic_init(&heap->refs, 1);
  return heap;
}

void heap_release(Heap *heap) {
  if (!heap) return;
  cache_set_limit(heap, 0);
  heap_drop(heap);
}

void heap_leave(Heap *const *before) {
  heap_enter(*before);
}

void heap_hold(Heap *heap) {
  if (heap) atomic_fetch_add_explicit(&heap->refs, 1, memory_order_relaxed);
}

void heap_drop(Heap *heap) {
  if (!heap || atomic_fetch_sub_explicit(&heap->refs, 1, memory_order_acq_rel) != 1) return;
  cache_delete(heap->cache);
  mem_free(heap);
}

bool heap_yields(Heap *heap) {
  size_t freed = cache_trim(heap);
  if (heap && heap->yield) freed += heap->yield(heap->kept);
  return freed > 0;
}

static void *take(Heap *heap, size_t bytes, size_t align) {
  int64_t left = atomic_load_explicit(&heap->left, memory_order_relaxed), amount = (int64_t)bytes;
  if (amount < 0) return NULL;
  do {
    if (left < amount) return NULL;
  } while (!atomic_compare_exchange_weak_explicit(&heap->left, &left, left - amount, memory_order_relaxed,
                                                  memory_order_relaxed));
  void *p = heap->alloc(heap->user, bytes, align);
  if (p)
    heap_hold(heap);
  else
    atomic_fetch_add_explicit(&heap->left, amount, memory_order_relaxed);
  return p;
}

void *heap_take(Heap *heap, size_t bytes, size_t align) {
  void *p = take(heap, bytes, align);
  return p || !heap_yields(heap) ? p : take(heap, bytes, align);
}

void heap_give(Heap *heap, void *p, size_t bytes) {
  heap->free(heap->user, p, bytes);
  atomic_fetch_add_explicit(&heap->left, (int64_t)bytes, memory_order_relaxed);
  heap_drop(heap);
}
