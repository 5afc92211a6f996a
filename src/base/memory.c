/* Blocks of heaps behind one switch that tests use to make them fail, catch points, and arenas of growing chunks. */
#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include "base/format.h"
#include "base/heap.h"
#include "base/small_blocks.h"
#include "base/work_limit.h"

/* ---- heap ---- */

static _Atomic int64_t fail_countdown;

bool mem_is_refused(void) {
  if (__builtin_expect(atomic_load_explicit(&fail_countdown, memory_order_relaxed) <= 0, 1)) return false;
  return atomic_fetch_sub_explicit(&fail_countdown, 1, memory_order_relaxed) == 1;
}

void mem_fail_after(int64_t n) {
  atomic_store(&fail_countdown, n);
}

int64_t mem_fail_left(void) {
  return atomic_load(&fail_countdown);
}

/* Read at every allocation: a place in the thread's own block, not a call, where a library that is opened late may have
 * one there. */
#ifdef __GLIBC__
__attribute__((tls_model("initial-exec")))
#endif
static _Thread_local MemBudget *budget;
#ifdef __GLIBC__
__attribute__((tls_model("initial-exec")))
#endif
static _Thread_local Heap *heap; /* NULL: the process's */

Heap *heap_enter(Heap *entered) {
  Heap *before = heap;
  heap = entered;
  return before;
}
Heap *heap_current(void) {
  return heap;
}

MemBudget *mem_budget_enter(MemBudget *entered) {
  MemBudget *before = budget;
  budget = entered;
  return before;
}

static bool take(size_t bytes) {
  int64_t amount = bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
  int64_t left = atomic_load_explicit(&budget->left, memory_order_relaxed);
  do {
    if (left < amount) return atomic_store(&budget->refused, true), false;
  } while (!atomic_compare_exchange_weak_explicit(&budget->left, &left, left - amount, memory_order_relaxed,
                                                  memory_order_relaxed));
  return true;
}

bool mem_budget_take(size_t bytes) {
  return __builtin_expect(!budget, 1) || take(bytes);
}

void mem_budget_give(size_t bytes) {
  if (__builtin_expect(budget != NULL, 0))
    atomic_fetch_add_explicit(&budget->left, (int64_t)bytes, memory_order_relaxed);
}

/* What stands before every block. */
typedef struct Header {
  size_t bytes; /* that the block serves */
  Heap *heap;   /* whose function gave it and takes it back; NULL: malloc's */
} Header;
static_assert(sizeof(Header) % 16 == 0, "what follows is aligned as malloc's blocks");
enum { LARGEST_MOVED = 1024 /* when it is resized; larger blocks may grow where they are */ };

static inline Header *header_of(void *p) {
  return (Header *)p - 1;
}
static inline void *block_begin(Header *header, size_t whole, Heap *from) {
  if (!header) return NULL;
  header->bytes = whole - sizeof *header;
  header->heap = from;
  return header + 1;
}

/* A block of the thread's heap; NULL: refused. Those of malloc are as large as their class. */
static inline void *plain_block(size_t bytes) {
  size_t whole;
  void *kept = small_block_take(BLOCK_PLAIN, bytes + sizeof(Header), &whole);
  return block_begin(kept ? kept : malloc(whole), whole, NULL);
}
static inline void *plain_block_zeroed(size_t bytes) {
  size_t whole;
  void *kept = small_block_take(BLOCK_PLAIN, bytes + sizeof(Header), &whole);
  if (!kept) return block_begin(calloc(1, whole), whole, NULL);
  return memset(block_begin(kept, whole, NULL), 0, bytes);
}
/* Neither a budget nor functions from outside. */
static inline bool is_plain(void) {
  return __builtin_expect(!budget, 1) && !heap_is_foreign(heap);
}
static size_t whole_bytes(size_t bytes) {
  bytes += sizeof(Header);
  return heap_is_foreign(heap) ? bytes : small_block_bytes(BLOCK_PLAIN, bytes);
}
static __attribute__((noinline)) void *counted_block(size_t bytes, bool zeroed) {
  size_t whole = whole_bytes(bytes), counted = whole - sizeof(Header);
  if (!mem_budget_take(counted)) return NULL;
  void *p = heap_is_foreign(heap) ? block_begin(heap_take(heap, whole, 16), whole, heap)
            : zeroed              ? plain_block_zeroed(bytes)
                                  : plain_block(bytes);
  if (!p) mem_budget_give(counted);
  return p && zeroed && heap_is_foreign(heap) ? memset(p, 0, bytes) : p;
}
static void block_end(Header *header) {
  size_t whole = header->bytes + sizeof *header;
  if (__builtin_expect(header->heap != NULL, 0))
    heap_give(header->heap, header, whole);
  else if (!small_block_keep(BLOCK_PLAIN, header, whole))
    free(header);
}

enum { BLOCK_MAX = PTRDIFF_MAX - sizeof(Header) };

void *mem_alloc(size_t bytes) {
  if (mem_is_refused() || bytes > BLOCK_MAX) return NULL;
  return is_plain() ? plain_block(bytes) : counted_block(bytes, false);
}

void *mem_calloc(size_t count, size_t bytes) {
  size_t total;
  if (mem_is_refused() || !size_mul(count, bytes, &total) || total > BLOCK_MAX) return NULL;
  return is_plain() ? plain_block_zeroed(total) : counted_block(total, true);
}

/* In the heap that the block is from. A budget counts the difference. */
static void *resize_here(Header *header, size_t bytes) {
  size_t before = header->bytes, whole = whole_bytes(bytes), after = whole - sizeof *header;
  if (after > before && !mem_budget_take(after - before)) return NULL;
  void *resized;
  if (heap_is_foreign(heap) || bytes <= LARGEST_MOVED) {
    MemBudget *counting = mem_budget_enter(NULL);
    resized = is_plain() ? plain_block(bytes) : counted_block(bytes, false);
    mem_budget_enter(counting);
    if (resized) memcpy(resized, header + 1, bytes < before ? bytes : before), block_end(header);
  } else {
    resized = block_begin(realloc(header, whole), whole, NULL);
  }
  if (!resized && after > before) mem_budget_give(after - before);
  if (resized && after < before) mem_budget_give(before - after);
  return resized;
}

static void *resize(Header *header, size_t bytes) {
  Heap *before = heap_enter(header->heap);
  void *resized = resize_here(header, bytes);
  heap_enter(before);
  return resized;
}

void *mem_realloc(void *p, size_t bytes) {
  if (!p) return mem_alloc(bytes);
  if (mem_is_refused() || bytes > BLOCK_MAX) return NULL;
  size_t has = header_of(p)->bytes;
  return bytes <= has && bytes > has / 2 ? p : resize(header_of(p), bytes);
}

void mem_free(void *p) {
  if (!p) return;
  mem_budget_give(header_of(p)->bytes);
  block_end(header_of(p));
}

char *mem_strdup(const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = mem_alloc(bytes);
  if (copy) memcpy(copy, text, bytes);
  return copy;
}

/* ---- catch points ---- */

void catch_begin(Catch *c) {
  c->status = OK;
  c->heap = heap_current();
}

_Noreturn void catch_throw(Catch *c, Status status) {
  assert(c && status);
  c->status = status;
  heap_enter(c->heap);
  longjmp(c->jump, 1);
}

/* ---- arenas ---- */

enum {
  ARENA_ALIGN = 16,
  LEAST_CHUNK = 4096,
  LEAST_SMALL_CHUNK = 512,
  LEAST_PAGES = 1 << 16,
  LAST_CHUNK = 1 << 20,
  GROWTH = 4 /* a chunk is as large as this part of the arena: of an arena that stays, little is empty */
};

struct ArenaChunk {
  ArenaChunk *next;
  size_t bytes; /* with this header */
};

/* Large chunks are pages of the system's, which go back when the arena goes. Among malloc's blocks what passes in the
 * arenas that graphs are worked on in would leave holes between what stays. The leak sanitizer looks into malloc's
 * alone. */
static bool is_of_pages(size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  return (void)bytes, false;
#else
  return bytes >= LEAST_PAGES;
#endif
}
static void *pages_new(size_t bytes) {
  void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

static ArenaChunk *chunk_new(Heap *from, size_t bytes) {
  if (mem_is_refused() || bytes > PTRDIFF_MAX) return NULL;
  if (heap_is_foreign(from)) return heap_take(from, bytes, ARENA_ALIGN);
  return is_of_pages(bytes) ? pages_new(bytes) : malloc(bytes);
}
static void chunk_free(Heap *from, ArenaChunk *chunk) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(chunk, chunk->bytes); /* destroyed nodes lie in it */
#endif
  if (heap_is_foreign(from))
    heap_give(from, chunk, chunk->bytes);
  else if (is_of_pages(chunk->bytes))
    munmap(chunk, chunk->bytes);
  else
    free(chunk);
}
static_assert(sizeof(ArenaChunk) % ARENA_ALIGN == 0, "what follows the header is aligned");

void arena_init(Arena *arena, Catch *catch_point) {
  *arena = (Arena){.catch_point = catch_point, .heap = heap, .least = LEAST_CHUNK};
  heap_hold(heap);
}
void arena_init_small(Arena *arena, Catch *catch_point) {
  arena_init(arena, catch_point);
  arena->least = LEAST_SMALL_CHUNK;
}

void arena_dispose(Arena *arena) {
  for (ArenaChunk *chunk = arena->chunks; chunk;) {
    ArenaChunk *next = chunk->next;
    chunk_free(arena->heap, chunk);
    chunk = next;
  }
  heap_drop(arena->heap);
  arena->chunks = NULL;
  arena->next = arena->end = NULL;
  arena->heap = NULL;
  arena->bytes = 0;
}

/* Blocks are cleared as they are given out: the end of a chunk that nobody asks for is never touched. */
/* A block that would waste much of a new chunk gets a chunk of its own, and the current one goes on being filled. */
/* A new chunk is also where work that allocates in arenas looks at the time: reading, compiling, rewriting. */
static void *arena_alloc_slow(Arena *arena, size_t bytes) {
  Status over = work_status();
  if (over) catch_throw(arena->catch_point, over);
  size_t usual = arena->bytes / GROWTH;
  if (usual < arena->least) usual = arena->least;
  if (usual > LAST_CHUNK) usual = LAST_CHUNK;
  bool own = bytes > usual / 2;
  size_t total = own ? bytes : usual;
  if (!size_add(total, sizeof(ArenaChunk), &total)) catch_throw(arena->catch_point, status_out_of_memory());
  size_t sum;
  if (arena->max_bytes && (!size_add(arena->bytes, total, &sum) || sum > arena->max_bytes))
    catch_throw(arena->catch_point,
                status_new(ERROR_OUT_OF_MEMORY, "more than %zu bytes are needed", arena->max_bytes));
  ArenaChunk *chunk = chunk_new(arena->heap, total);
  if (!chunk) catch_throw(arena->catch_point, status_out_of_memory());
  chunk->bytes = total;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  arena->bytes += total;
  char *start = (char *)(chunk + 1);
  if (own) return start;
  arena->next = start + bytes;
  arena->end = (char *)chunk + total;
  return start;
}

/* Whole units of ARENA_ALIGN; most blocks are a few of them, where calling memset would cost more than clearing. */
static inline void *clear(char *p, size_t bytes) {
  typedef uint64_t Unit __attribute__((vector_size(ARENA_ALIGN), may_alias));
  enum { MOST = 8 * ARENA_ALIGN };
  if (bytes > MOST) return memset(p, 0, bytes);
  for (char *at = p, *end = p + bytes; at < end; at += ARENA_ALIGN) {
    *(Unit *)at = (Unit){0};
    __asm__("" : "+r"(at)); /* or the compiler makes a call of the loop */
  }
  return p;
}

static inline size_t whole_units(const Arena *arena, size_t bytes) {
  if (bytes > PTRDIFF_MAX - ARENA_ALIGN) catch_throw(arena->catch_point, status_out_of_memory());
  return bytes ? (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1) : ARENA_ALIGN;
}
static inline char *take_units(Arena *arena, size_t bytes) {
  assert((uintptr_t)arena->next % ARENA_ALIGN == 0);
  if (__builtin_expect((size_t)(arena->end - arena->next) < bytes, 0)) return arena_alloc_slow(arena, bytes);
  char *p = arena->next;
  arena->next += bytes;
  return p;
}

void *arena_alloc(Arena *arena, size_t bytes) {
  bytes = whole_units(arena, bytes);
  return clear(take_units(arena, bytes), bytes);
}

void *arena_alloc_uncleared(Arena *arena, size_t bytes) {
  return take_units(arena, whole_units(arena, bytes));
}

void *arena_alloc_array(Arena *arena, size_t count, size_t bytes) {
  size_t total;
  if (!size_mul(count, bytes, &total)) catch_throw(arena->catch_point, status_out_of_memory());
  return arena_alloc(arena, total);
}

char *arena_strndup(Arena *arena, const char *text, size_t length) {
  char *copy = arena_alloc_uncleared(arena, length + 1);
  if (length) memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

char *arena_printf(Arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = text_format(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = arena_alloc(arena, (size_t)(length < 0 ? 0 : length) + 1);
  if (length < 0) return text;
  va_start(arguments, format);
  text_format(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  return text;
}

Status arena_protect(Arena *arena, void (*body)(void *argument), void *argument) {
  Arena *beside = arena->beside;
  Catch c, *outer = arena->catch_point, *beside_outer = beside ? beside->catch_point : NULL;
  if (catch_enter(&c)) {
    arena->catch_point = &c;
    if (beside) beside->catch_point = &c;
    body(argument);
  }
  arena->catch_point = outer;
  if (beside) beside->catch_point = beside_outer;
  return c.status;
}
