/* The heap behind one switch that tests use to make it fail, catch points, and arenas of doubling chunks. */
#include "base/memory.h"

#include <assert.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

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

enum { LARGEST_MOVED = 1024 }; /* when it is resized; larger blocks may grow where they are */

static void *heap_take(size_t bytes) {
  void *kept = small_block_take(BLOCK_PLAIN, bytes);
  return kept ? kept : malloc(small_block_bytes(BLOCK_PLAIN, bytes ? bytes : 1));
}
static void *heap_take_zeroed(size_t bytes) {
  void *kept = small_block_take(BLOCK_PLAIN, bytes);
  return kept ? memset(kept, 0, bytes) : calloc(1, small_block_bytes(BLOCK_PLAIN, bytes ? bytes : 1));
}
static void heap_give(void *p, size_t usable) {
  if (!small_block_keep(BLOCK_PLAIN, p, usable)) free(p);
}
/* Of a block that serves so many bytes now. */
static void *heap_resize(void *p, size_t usable, size_t bytes) {
  if (!p) return heap_take(bytes);
  if (bytes <= usable && bytes > usable / 2) return p;
  if (bytes > LARGEST_MOVED) return realloc(p, bytes);
  void *resized = heap_take(bytes);
  if (!resized) return NULL;
  memcpy(resized, p, bytes < usable ? bytes : usable);
  heap_give(p, usable);
  return resized;
}

/* Before the heap is asked, so that a refusal costs nothing; the blocks that count are as large as the heap says. */
static void *taken(void *p, size_t bytes) {
  if (__builtin_expect(!budget, 1)) return p;
  mem_budget_give(bytes);
  if (p && !take(malloc_usable_size(p))) heap_give(p, malloc_usable_size(p)), p = NULL;
  return p;
}

void *mem_alloc(size_t bytes) {
  if (mem_is_refused() || bytes > PTRDIFF_MAX || !mem_budget_take(bytes)) return NULL;
  return taken(heap_take(bytes), bytes);
}

void *mem_calloc(size_t count, size_t bytes) {
  size_t total;
  if (mem_is_refused() || !size_mul(count, bytes, &total) || total > PTRDIFF_MAX || !mem_budget_take(total))
    return NULL;
  return taken(heap_take_zeroed(total), total);
}

void *mem_realloc(void *p, size_t bytes) {
  if (mem_is_refused() || bytes > PTRDIFF_MAX) return NULL;
  size_t before = p ? malloc_usable_size(p) : 0;
  if (__builtin_expect(!budget, 1)) return heap_resize(p, before, bytes);
  if (bytes > before && !take(bytes - before)) return NULL;
  void *grown = heap_resize(p, before, bytes);
  size_t now = grown ? malloc_usable_size(grown) : before, counted = bytes > before ? bytes : before;
  atomic_fetch_add_explicit(&budget->left, (int64_t)counted - (int64_t)now, memory_order_relaxed);
  return grown;
}

void mem_free(void *p) {
  if (!p) return;
  size_t usable = malloc_usable_size(p);
  mem_budget_give(usable);
  heap_give(p, usable);
}

char *mem_strdup(const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = mem_alloc(bytes);
  if (copy) memcpy(copy, text, bytes);
  return copy;
}

/* ---- catch points ---- */

_Noreturn void catch_throw(Catch *c, Status status) {
  assert(c && status);
  c->status = status;
  longjmp(c->jump, 1);
}

/* ---- arenas ---- */

enum { ARENA_ALIGN = 16, FIRST_CHUNK = 4096, LAST_CHUNK = 1 << 20 };

struct ArenaChunk {
  ArenaChunk *next;
  size_t bytes;
};
static_assert(sizeof(ArenaChunk) % ARENA_ALIGN == 0, "what follows the header is aligned");

void arena_init(Arena *arena, Catch *catch_point) {
  *arena = (Arena){.catch_point = catch_point};
}

void arena_dispose(Arena *arena) {
  for (ArenaChunk *chunk = arena->chunks; chunk;) {
    ArenaChunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
  arena->chunks = NULL;
  arena->next = arena->end = NULL;
  arena->bytes = 0;
}

/* Blocks are cleared as they are given out: the end of a chunk that nobody asks for is never touched. */
/* A block that would waste much of a new chunk gets a chunk of its own, and the current one goes on being filled. */
/* A new chunk is also where work that allocates in arenas looks at the time: reading, compiling, rewriting. */
static void *arena_alloc_slow(Arena *arena, size_t bytes) {
  Status over = work_status();
  if (over) catch_throw(arena->catch_point, over);
  size_t usual = arena->bytes < FIRST_CHUNK ? FIRST_CHUNK : arena->bytes;
  if (usual > LAST_CHUNK) usual = LAST_CHUNK;
  bool own = bytes > usual / 2;
  size_t total = own ? bytes : usual;
  if (!size_add(total, sizeof(ArenaChunk), &total)) catch_throw(arena->catch_point, status_out_of_memory());
  size_t sum;
  if (arena->max_bytes && (!size_add(arena->bytes, total, &sum) || sum > arena->max_bytes))
    catch_throw(arena->catch_point,
                status_new(ERROR_OUT_OF_MEMORY, "more than %zu bytes are needed", arena->max_bytes));
  ArenaChunk *chunk = mem_is_refused() || total > PTRDIFF_MAX ? NULL : malloc(total);
  if (!chunk) catch_throw(arena->catch_point, status_out_of_memory());
  chunk->bytes = total;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  arena->bytes += total;
  char *start = (char *)(chunk + 1);
  if (own) return memset(start, 0, bytes);
  arena->next = start + bytes;
  arena->end = (char *)chunk + total;
  return memset(start, 0, bytes);
}

void *arena_alloc(Arena *arena, size_t bytes) {
  assert(arena->catch_point);
  if (bytes > PTRDIFF_MAX - ARENA_ALIGN) catch_throw(arena->catch_point, status_out_of_memory());
  bytes = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
  if (!bytes) bytes = ARENA_ALIGN;
  if (__builtin_expect((size_t)(arena->end - arena->next) < bytes, 0)) return arena_alloc_slow(arena, bytes);
  void *p = arena->next;
  arena->next += bytes;
  return memset(p, 0, bytes);
}

void *arena_alloc_array(Arena *arena, size_t count, size_t bytes) {
  size_t total;
  assert(arena->catch_point);
  if (!size_mul(count, bytes, &total)) catch_throw(arena->catch_point, status_out_of_memory());
  return arena_alloc(arena, total);
}

char *arena_strndup(Arena *arena, const char *text, size_t length) {
  char *copy = arena_alloc(arena, length + 1);
  if (length) memcpy(copy, text, length);
  return copy;
}

char *arena_printf(Arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = arena_alloc(arena, (size_t)(length < 0 ? 0 : length) + 1);
  if (length < 0) return text;
  va_start(arguments, format);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  return text;
}

Status arena_protect(Arena *arena, void (*body)(void *argument), void *argument) {
  Catch c, *outer = arena->catch_point;
  if (catch_enter(&c)) {
    arena->catch_point = &c;
    body(argument);
  }
  arena->catch_point = outer;
  return c.status;
}
