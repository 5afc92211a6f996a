/* Lists by size, of each thread: up to 512 bytes in steps of what blocks are aligned to, in eighths of a power of two
 * beyond. The lists run through the blocks themselves. */
#include "base/small_blocks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#if !defined(WICK_SANITIZED) && !defined(WICK_HOSTILE)

typedef struct Block {
  struct Block *next;
} Block;
enum { FIRST_LOG2 = 9 /* from here on steps are eighths */, STEPS_LOG2 = 3, CLASSES = 96 };
static const struct {
  size_t step, max, kept;
} kinds[BLOCK_KINDS] = {{16, PLAIN_BLOCK_MAX, 256 << 10}, {64, ALIGNED_BLOCK_MAX, 512 << 10}};

typedef struct SmallBlocks {
  unsigned trims; /* as many as it knows of */
  size_t bytes[BLOCK_KINDS];
  Block *lists[BLOCK_KINDS][CLASSES];
} SmallBlocks;

/* Read at every allocation: a place in the thread's own block, as for budgets (base/memory.c). */
#ifdef __GLIBC__
__attribute__((tls_model("initial-exec")))
#endif
static _Thread_local SmallBlocks *own;
static _Thread_local bool is_ending; /* the thread: its lists are gone */
static _Atomic unsigned trims;
static pthread_key_t key; /* whose destructor frees a thread's lists */
static bool has_key;

typedef struct Class {
  int index; /* -1: none */
  size_t bytes;
} Class;

/* Rounds up to a class for a wanted size, down for a block that is there. */
static inline Class class_of(SmallBlockKind kind, size_t bytes, bool up) {
  size_t step = kinds[kind].step;
  if (bytes > kinds[kind].max) return (Class){-1, bytes};
  if (up) bytes = bytes ? (bytes + step - 1) & ~(step - 1) : step;
  if (bytes < (size_t)1 << FIRST_LOG2) return (Class){(int)(bytes / step) - 1, bytes & ~(step - 1)};
  int log2 = 63 - __builtin_clzll((unsigned long long)bytes), shift = log2 - STEPS_LOG2;
  size_t steps = (bytes + (up ? ((size_t)1 << shift) - 1 : 0)) >> shift; /* 8 to 16 */
  int before = (int)(((size_t)1 << FIRST_LOG2) / step) - 1 + ((log2 - FIRST_LOG2) << STEPS_LOG2);
  return (Class){before + (int)steps - (1 << STEPS_LOG2), steps << shift};
}

static void free_kind(SmallBlocks *blocks, SmallBlockKind kind) {
  for (int i = 0; i < CLASSES; i++) {
    for (Block *block = blocks->lists[kind][i]; block;) {
      Block *next = block->next;
      free(block);
      block = next;
    }
    blocks->lists[kind][i] = NULL;
  }
  blocks->bytes[kind] = 0;
}
static void free_lists(SmallBlocks *blocks) {
  free_kind(blocks, BLOCK_PLAIN);
  free_kind(blocks, BLOCK_ALIGNED);
}

static void end_thread(void *lists) {
  free_lists(lists);
  free(lists);
  own = NULL;
  is_ending = true;
}
__attribute__((constructor)) static void make_key(void) {
  has_key = !pthread_key_create(&key, end_thread);
}
/* Last of all, after wick's own threads were joined: a thread that outlives a library which is closed must find no
 * destructor in it. Its lists stay behind. */
__attribute__((destructor(101))) static void drop_key(void) {
  if (has_key) pthread_key_delete(key);
  has_key = false;
}

static bool begin_thread(void) {
  if (is_ending || !has_key) return false;
  SmallBlocks *made = calloc(1, sizeof *made);
  if (!made || pthread_setspecific(key, made)) {
    free(made);
    return false;
  }
  made->trims = atomic_load_explicit(&trims, memory_order_relaxed);
  own = made;
  return true;
}

size_t small_block_bytes(SmallBlockKind kind, size_t bytes) {
  return class_of(kind, bytes, true).bytes;
}

void *small_block_take(SmallBlockKind kind, size_t bytes, size_t *out_bytes) {
  Class class = class_of(kind, bytes, true);
  *out_bytes = class.bytes;
  if (class.index < 0 || !own) return NULL;
  Block *block = own->lists[kind][class.index];
  if (!block) return NULL;
  own->lists[kind][class.index] = block->next;
  own->bytes[kind] -= class.bytes;
  return block;
}

bool small_block_keep(SmallBlockKind kind, void *p, size_t bytes) {
  Class class = class_of(kind, bytes, false);
  if (class.index < 0 || (!own && !begin_thread())) return false;
  unsigned now = atomic_load_explicit(&trims, memory_order_relaxed);
  if (__builtin_expect(own->trims != now, 0)) {
    own->trims = now;
    free_lists(own);
  }
  if (own->bytes[kind] + class.bytes > kinds[kind].kept) free_kind(own, kind); /* sizes that nobody wants any more */
  Block *block = p;
  block->next = own->lists[kind][class.index];
  own->lists[kind][class.index] = block;
  own->bytes[kind] += class.bytes;
  return true;
}

size_t small_blocks_trim(void) {
  size_t bytes = small_blocks_bytes();
  atomic_fetch_add_explicit(&trims, 1, memory_order_relaxed);
  if (own) free_lists(own);
  return bytes;
}

size_t small_blocks_bytes(void) {
  return own ? own->bytes[BLOCK_PLAIN] + own->bytes[BLOCK_ALIGNED] : 0;
}

#else

size_t small_block_bytes(SmallBlockKind kind, size_t bytes) {
  (void)kind;
  return bytes;
}
void *small_block_take(SmallBlockKind kind, size_t bytes, size_t *out_bytes) {
  (void)kind;
  *out_bytes = bytes;
  return NULL;
}
bool small_block_keep(SmallBlockKind kind, void *p, size_t bytes) {
  (void)kind, (void)p, (void)bytes;
  return false;
}
size_t small_blocks_trim(void) {
  return 0;
}
size_t small_blocks_bytes(void) {
  return 0;
}

#endif
