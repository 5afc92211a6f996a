/* Smaller blocks are each thread's own (base/small_blocks.h). Blocks of at least 64 KiB fall in size classes, eight
 * to each power of two; a freed block is kept in its class's list, which runs through the blocks themselves, while
 * the sum stays below the limit. Where a class has none, a block up to twice as large serves: the pages of a new
 * one cost more than those that lie idle, and a program's first calls want now this size, now that. */
#include "base/cache.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/fork.h"
#include "base/hostile.h"
#include "base/small_blocks.h"

enum { BLOCK_ALIGN = 64, LEAST_LOG2 = 16, STEPS_LOG2 = 3, MAX_LOG2 = 47 };
enum { HUGE_PAGE = 2 << 20, HUGE_FROM = 8 << 20 };
enum { CLASS_COUNT = (MAX_LOG2 - LEAST_LOG2) << STEPS_LOG2, LARGER_CLASSES = 1 << STEPS_LOG2 /* that may serve */ };

typedef struct FreeBlock {
  struct FreeBlock *next;
} FreeBlock;

/* The sanitizer can only see a use after free in memory that was really freed. */
#if defined(__SANITIZE_ADDRESS__) && !defined(WICK_HOSTILE)
#define DEFAULT_LIMIT 0
#else
#define DEFAULT_LIMIT ((size_t)256 << 20)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FreeBlock *kept[CLASS_COUNT]; /* guarded, as the two below */
static size_t kept_bytes, kept_count;
static size_t limit = DEFAULT_LIMIT;

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

static void *take_kept(int class_index) {
  lock_take(&lock);
  FreeBlock *block = NULL;
  for (int i = class_index; !block && i <= class_index + LARGER_CLASSES && i < CLASS_COUNT; i++) {
    if (!(block = kept[i])) continue;
    size_t block_bytes;
    class_of_block(block, &block_bytes);
    kept[i] = block->next;
    kept_bytes -= block_bytes;
    kept_count--;
  }
  lock_drop(&lock);
  return block;
}

static void *fresh_block(size_t block_bytes) {
  if (!block_bytes || block_bytes > PTRDIFF_MAX) return NULL;
  if (block_bytes < HUGE_FROM) return aligned_alloc(BLOCK_ALIGN, block_bytes);
  void *block = NULL;
  if (posix_memalign(&block, HUGE_PAGE, block_bytes)) return NULL;       /* of any size, unlike aligned_alloc */
  madvise(block, block_bytes & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE); /* a wish: fewer page faults */
  return block;
}

void *cache_alloc(size_t bytes) {
  size_t block_bytes;
  int class_index = size_class(bytes, &block_bytes);
  if (!mem_budget_take(block_bytes)) return NULL;
  void *p = class_index >= 0 ? take_kept(class_index) : NULL;
  if (!p && !mem_is_refused()) {
    p = small_block_take(BLOCK_ALIGNED, bytes);
    if (!p) p = fresh_block(block_bytes);
    if (!p && block_bytes && cache_trim()) p = fresh_block(block_bytes);
  }
  if (!p) mem_budget_give(block_bytes);
  return p;
}

void cache_free(void *p, size_t bytes) {
  if (!p) return;
  size_t block_bytes;
  int class_index = size_class(bytes, &block_bytes);
  mem_budget_give(block_bytes);
  if (class_index >= 0) {
    class_index = class_of_block(p, &block_bytes);
    lock_take(&lock);
    bool keep = block_bytes <= limit && kept_bytes <= limit - block_bytes && kept_count < CACHE_ENTRIES(SIZE_MAX);
    if (keep) {
      ((FreeBlock *)p)->next = kept[class_index];
      kept[class_index] = p;
      kept_bytes += block_bytes;
      kept_count++;
    }
    lock_drop(&lock);
    if (keep) return;
  } else if (small_block_keep(BLOCK_ALIGNED, p, block_bytes)) {
    return;
  }
  free(p);
}

void cache_set_limit(size_t bytes) {
  lock_take(&lock);
  limit = bytes;
  bool over = kept_bytes > limit;
  lock_drop(&lock);
  if (over) cache_trim();
}

size_t cache_trim(void) {
  FreeBlock *taken[CLASS_COUNT];
  lock_take(&lock);
  memcpy(taken, kept, sizeof taken);
  memset(kept, 0, sizeof kept);
  size_t bytes = kept_bytes;
  kept_bytes = kept_count = 0;
  lock_drop(&lock);
  for (int i = 0; i < CLASS_COUNT; i++) {
    for (FreeBlock *block = taken[i]; block;) {
      FreeBlock *next = block->next;
      free(block);
      block = next;
    }
  }
  return bytes;
}

size_t cache_bytes(void) {
  lock_take(&lock);
  size_t bytes = kept_bytes;
  lock_drop(&lock);
  return bytes;
}
