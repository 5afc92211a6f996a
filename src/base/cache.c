/* Smaller blocks are each thread's own (base/small_blocks.h). Blocks of at least 64 KiB fall in size classes, eight
 * to each power of two; a freed block is kept in its class's list, which runs through the blocks themselves, while
 * the sum stays below the limit. Where a class has none, a block up to four times as large serves: the pages of a new
 * one cost more than those that lie idle, and a program's first calls want now this size, now that. */
#include "base/cache.h"

#include <assert.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/fork.h"
#include "base/hostile.h"
#include "base/memory.h"
#include "base/small_blocks.h"

enum { BLOCK_ALIGN = 64, LEAST_LOG2 = 16, STEPS_LOG2 = 3, MAX_LOG2 = 47 };
enum { HUGE_PAGE = 2 << 20, HUGE_FROM = 8 << 20 };
enum { CLASS_COUNT = (MAX_LOG2 - LEAST_LOG2) << STEPS_LOG2, LARGER_CLASSES = 2 << STEPS_LOG2 /* that may serve */ };

typedef struct FreeBlock {
  struct FreeBlock *next;
  pthread_t thread; /* that had it last */
} FreeBlock;

/* The sanitizer can only see a use after free in memory that was really freed. */
#if defined(__SANITIZE_ADDRESS__) && !defined(WICK_HOSTILE)
#define DEFAULT_LIMIT 0
#else
#define DEFAULT_LIMIT ((size_t)256 << 20)
#endif
#define DEFAULT_BOUND ((size_t)768 << 20)

typedef struct Cache {
  pthread_mutex_t lock;
  FreeBlock *kept[CLASS_COUNT]; /* guarded, as the rest */
  size_t bytes, count, limit;
  _Atomic size_t others; /* bytes of what else is kept */
  size_t bound;          /* what both may be; never changes */
} Cache;
static Cache of_process = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = DEFAULT_LIMIT, .bound = DEFAULT_BOUND};

static Cache *cache_of(Heap *heap) {
  return heap ? heap->cache : &of_process;
}

Cache *cache_new(uint64_t bytes) {
  Cache *cache = mem_calloc(1, sizeof *cache);
  if (!cache) return NULL;
  cache->limit = !bytes ? DEFAULT_LIMIT : bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
  cache->bound = !bytes ? DEFAULT_BOUND : cache->limit;
  pthread_mutex_init(&cache->lock, NULL);
  return cache;
}

void cache_delete(Cache *cache) {
  pthread_mutex_destroy(&cache->lock);
  mem_free(cache);
}

/* The class of a size and the bytes of its blocks; -1: not kept. */
static int size_class(size_t bytes, size_t *out_block_bytes) {
  size_t rounded;
  if (bytes < (size_t)1 << LEAST_LOG2 || bytes > (size_t)1 << (MAX_LOG2 - 1)) {
    bytes = small_block_bytes(BLOCK_ALIGNED, bytes);
    *out_block_bytes = size_add(bytes, BLOCK_ALIGN - 1, &rounded) ? rounded & ~(size_t)(BLOCK_ALIGN - 1) : 0;
    if (!bytes) *out_block_bytes = BLOCK_ALIGN;
    return -1;
  }
  int log2 = 63 - __builtin_clzll((unsigned long long)bytes);
  int shift = log2 - STEPS_LOG2;
  size_t steps = (bytes + ((size_t)1 << shift) - 1) >> shift; /* 8 to 16 */
  *out_block_bytes = steps << shift;
  return ((log2 - LEAST_LOG2) << STEPS_LOG2) + (int)(steps - (1 << STEPS_LOG2));
}

/* Of a block that was made for a class: its own, whatever it was given out for. */
static int class_of_block(void *p, size_t *out_block_bytes) {
  size_t usable = malloc_usable_size(p);
  int log2 = 63 - __builtin_clzll((unsigned long long)usable), shift = log2 - STEPS_LOG2;
  size_t steps = usable >> shift; /* 8 to 15 */
  *out_block_bytes = steps << shift;
  return ((log2 - LEAST_LOG2) << STEPS_LOG2) + (int)(steps - (1 << STEPS_LOG2));
}

/* Of a class's blocks one that this thread had last, whose lines its processor's caches hold, as far as a look at the
 * first ones shows; else the first. Takes it out of the list. */
static FreeBlock *take_near(FreeBlock **list) {
  enum { LOOKS = 4 };
  FreeBlock **at = list;
  for (int i = 0; i < LOOKS && *at; i++, at = &(*at)->next)
    if (pthread_equal((*at)->thread, pthread_self())) break;
  if (!*at || !pthread_equal((*at)->thread, pthread_self())) at = list;
  FreeBlock *block = *at;
  if (block) *at = block->next;
  return block;
}

/* Of a heap with functions of its own blocks are as large as their class: nothing else knows their size. */
static void *take_kept(Heap *heap, int class_index, size_t wanted_bytes) {
  Cache *cache = cache_of(heap);
  int last = heap_is_foreign(heap) ? class_index : class_index + LARGER_CLASSES;
  lock_take(&cache->lock);
  FreeBlock *block = NULL;
  for (int i = class_index; !block && i <= last && i < CLASS_COUNT; i++) {
    if (!(block = take_near(&cache->kept[i]))) continue;
    size_t block_bytes = wanted_bytes;
    if (!heap_is_foreign(heap)) class_of_block(block, &block_bytes);
    cache->bytes -= block_bytes;
    cache->count--;
  }
  lock_drop(&cache->lock);
  return block;
}

static void *fresh_block(Heap *heap, size_t block_bytes) {
  if (!block_bytes || block_bytes > PTRDIFF_MAX) return NULL;
  if (heap_is_foreign(heap)) return heap_take(heap, block_bytes, BLOCK_ALIGN);
  if (block_bytes < HUGE_FROM) return aligned_alloc(BLOCK_ALIGN, block_bytes);
  void *block = NULL;
  if (posix_memalign(&block, HUGE_PAGE, block_bytes)) return NULL;       /* of any size, unlike aligned_alloc */
  madvise(block, block_bytes & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE); /* a wish: fewer page faults */
  return block;
}
static void free_block(Heap *heap, void *p, size_t block_bytes) {
  if (heap_is_foreign(heap))
    heap_give(heap, p, block_bytes);
  else
    free(p);
}

void *cache_alloc_in(Heap *heap, size_t bytes) {
  size_t block_bytes;
  int class_index = size_class(bytes, &block_bytes);
  if (!mem_budget_take(block_bytes)) return NULL;
  void *p = class_index >= 0 ? take_kept(heap, class_index, block_bytes) : NULL;
  if (!p && !mem_is_refused()) {
    if (class_index < 0 && !heap_is_foreign(heap)) p = small_block_take(BLOCK_ALIGNED, bytes, &(size_t){0});
    if (!p) p = fresh_block(heap, block_bytes);
    if (!p && block_bytes && heap_yields(heap)) p = fresh_block(heap, block_bytes);
  }
  if (p)
    heap_hold(heap);
  else
    mem_budget_give(block_bytes);
  return p;
}

/* Whether so much more may be kept. */
static bool has_room(const Cache *cache, size_t kept, size_t bytes) {
  return kept <= cache->bound && bytes <= cache->bound - kept;
}

static bool keep(Heap *heap, void *p, int class_index, size_t block_bytes) {
  Cache *cache = cache_of(heap);
  lock_take(&cache->lock);
  size_t limit = cache->limit;
  bool keeps = block_bytes <= limit && cache->bytes <= limit - block_bytes && cache->count < CACHE_ENTRIES(SIZE_MAX) &&
               has_room(cache, cache->bytes + cache->others, block_bytes);
  if (keeps) {
    *(FreeBlock *)p = (FreeBlock){cache->kept[class_index], pthread_self()};
    cache->kept[class_index] = p;
    cache->bytes += block_bytes;
    cache->count++;
  }
  lock_drop(&cache->lock);
  return keeps;
}

void cache_free_in(Heap *heap, void *p, size_t bytes) {
  if (!p) return;
  size_t block_bytes;
  int class_index = size_class(bytes, &block_bytes);
  bool is_kept = false;
  mem_budget_give(block_bytes);
  if (class_index >= 0) {
    if (!heap_is_foreign(heap)) class_index = class_of_block(p, &block_bytes);
    is_kept = keep(heap, p, class_index, block_bytes);
  } else if (!heap_is_foreign(heap)) {
    is_kept = small_block_keep(BLOCK_ALIGNED, p, block_bytes);
  }
  if (!is_kept) free_block(heap, p, block_bytes);
  heap_drop(heap);
}

void *cache_alloc(size_t bytes) {
  return cache_alloc_in(heap_current(), bytes);
}
void cache_free(void *p, size_t bytes) {
  cache_free_in(heap_current(), p, bytes);
}

void cache_set_limit(Heap *heap, size_t bytes) {
  Cache *cache = cache_of(heap);
  lock_take(&cache->lock);
  cache->limit = bytes;
  bool over = cache->bytes > bytes;
  lock_drop(&cache->lock);
  if (over) cache_trim(heap);
}

/* Of the blocks of a class that a heap with functions of its own has. */
static size_t class_bytes(int class_index) {
  int log2 = class_index >> STEPS_LOG2, step = class_index & ((1 << STEPS_LOG2) - 1);
  return (size_t)((1 << STEPS_LOG2) + step) << (log2 + LEAST_LOG2 - STEPS_LOG2);
}

size_t cache_trim(Heap *heap) {
  Cache *cache = cache_of(heap);
  FreeBlock *taken[CLASS_COUNT];
  lock_take(&cache->lock);
  memcpy(taken, cache->kept, sizeof taken);
  memset(cache->kept, 0, sizeof cache->kept);
  size_t bytes = cache->bytes;
  cache->bytes = cache->count = 0;
  lock_drop(&cache->lock);
  for (int i = 0; i < CLASS_COUNT; i++) {
    for (FreeBlock *block = taken[i]; block;) {
      FreeBlock *next = block->next;
      free_block(heap, block, class_bytes(i));
      block = next;
    }
  }
  return bytes;
}

size_t cache_bytes(Heap *heap) {
  Cache *cache = cache_of(heap);
  lock_take(&cache->lock);
  size_t bytes = cache->bytes;
  lock_drop(&cache->lock);
  return bytes;
}

/* ---- what else is kept ---- */

void cache_count(Heap *heap, int64_t bytes) {
  Cache *cache = cache_of(heap);
  lock_take(&cache->lock);
  assert(bytes >= 0 || (size_t)-bytes <= cache->others);
  size_t others = atomic_fetch_add_explicit(&cache->others, (size_t)bytes, memory_order_relaxed) + (size_t)bytes;
  bool is_over = cache->bytes && !has_room(cache, others, cache->bytes);
  lock_drop(&cache->lock);
  if (is_over) cache_trim(heap);
}

bool cache_has_room(Heap *heap, size_t bytes) {
  const Cache *cache = cache_of(heap);
  return has_room(cache, atomic_load_explicit(&cache->others, memory_order_relaxed), bytes);
}

bool cache_is_over(Heap *heap) {
  return !cache_has_room(heap, 0);
}

size_t cache_others(Heap *heap) {
  return atomic_load_explicit(&cache_of(heap)->others, memory_order_relaxed);
}
