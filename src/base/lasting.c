/* Small ones are as others (base/cache.h). In a sanitized build large ones are malloc's, where the sanitizer sees what
 * is used after it was freed. */
#include "base/lasting.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/memory.h"

enum { LEAST_BYTES = 64 << 10, BLOCK_ALIGN = 64, HUGE_PAGE = 2 << 20, HUGE_FROM = 8 << 20 };
static const size_t much = (size_t)1 << 20;
static _Atomic size_t freed; /* since the C library was asked to give back what is free */

#if defined(__SANITIZE_ADDRESS__)
static void *map(size_t bytes) {
  size_t whole;
  return size_add(bytes, BLOCK_ALIGN - 1, &whole) ? aligned_alloc(BLOCK_ALIGN, whole & ~(size_t)(BLOCK_ALIGN - 1))
                                                  : NULL;
}
static void unmap(void *p, size_t bytes) {
  (void)bytes;
  free(p);
}
#else
static size_t whole_pages(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) & ~(page - 1);
}

static void *map_pages(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

/* From the begin of a huge page on: whole ones take fewer page faults and places in the processor's tables. */
static void *map_huge(size_t bytes) {
  char *p = map_pages(bytes + HUGE_PAGE);
  if (!p) return NULL;
  size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);
  if (before) munmap(p, before);
  munmap(p + before + bytes, HUGE_PAGE - before);
  madvise(p + before, bytes & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE); /* a wish */
  return p + before;
}

static void *map(size_t bytes) {
  if (bytes > PTRDIFF_MAX - 2 * (size_t)HUGE_PAGE) return NULL;
  bytes = whole_pages(bytes);
  return bytes < HUGE_FROM ? map_pages(bytes) : map_huge(bytes);
}
static void unmap(void *p, size_t bytes) {
  munmap(p, whole_pages(bytes));
}
#endif

static void *take(Heap *heap, size_t bytes) {
  return heap_is_foreign(heap) ? heap_take(heap, bytes, BLOCK_ALIGN) : map(bytes);
}

void *lasting_alloc(Heap *heap, size_t bytes) {
  if (bytes < LEAST_BYTES) return cache_alloc_in(heap, bytes);
  if (!mem_budget_take(bytes)) return NULL;
  void *p = mem_is_refused() ? NULL : take(heap, bytes);
  if (!p && !heap_is_foreign(heap) && heap_yields(heap)) p = take(heap, bytes);
  if (p)
    heap_hold(heap);
  else
    mem_budget_give(bytes);
  return p;
}

void lasting_free(Heap *heap, void *p, size_t bytes) {
  if (bytes < LEAST_BYTES) {
    cache_free_in(heap, p, bytes);
    return;
  }
  if (!p) return;
  mem_budget_give(bytes);
  if (heap_is_foreign(heap))
    heap_give(heap, p, bytes);
  else
    unmap(p, bytes);
  heap_drop(heap);
  atomic_fetch_add_explicit(&freed, bytes, memory_order_relaxed);
}

void lasting_tidy(void) {
  if (atomic_load_explicit(&freed, memory_order_relaxed) < much) return;
  atomic_store_explicit(&freed, 0, memory_order_relaxed);
#ifdef __GLIBC__ /* others give free pages back by themselves */
  malloc_trim(0);
#endif
}
