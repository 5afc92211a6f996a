/* Memory: checked sizes, the allocator that everything uses (tests make it fail), reference counts, and arenas. */
#pragma once

#include <assert.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/status.h"

typedef struct Heap Heap; /* base/heap.h */

/* ---- checked arithmetic: false on overflow ---- */
static inline bool size_mul(size_t a, size_t b, size_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}
static inline bool size_add(size_t a, size_t b, size_t *out) {
  return !__builtin_add_overflow(a, b, out);
}
static inline bool int64_mul(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}
static inline bool int64_add(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_add_overflow(a, b, out);
}

/* ---- blocks of the heap that the thread works in; NULL when refused ---- */
void *mem_alloc(size_t bytes);                /* not zeroed */
void *mem_calloc(size_t count, size_t bytes); /* zeroed, the product checked */
void *mem_realloc(void *p, size_t bytes);
void mem_free(void *p);
char *mem_strdup(const char *text);

/* ---- what a call may take ----
 * While a thread works within a budget, what it takes from the heap and from the cache of blocks counts there, less
 * what it gives back; beyond it allocations are refused. Arenas don't count: they hold programs. Shared by several
 * threads. */
typedef struct MemBudget {
  _Atomic int64_t left;
  _Atomic bool refused; /* something was: an out-of-memory error is the budget's */
} MemBudget;
/* From now on this thread works within it (NULL: within none); gives the one before. */
MemBudget *mem_budget_enter(MemBudget *budget);
bool mem_budget_take(size_t bytes); /* false: refused */
void mem_budget_give(size_t bytes);
bool mem_is_refused(void); /* counts an allocation for the test hook below; true: it fails */
/* Test hook: the n-th allocation from now on fails (0: never). */
void mem_fail_after(int64_t n);
int64_t mem_fail_left(void); /* test hook: how many are still to come until one fails */

/* ---- reference counts ---- */
typedef struct RefCount {
  _Atomic int32_t count;
} RefCount;
static inline void ref_init(RefCount *r) {
  atomic_store_explicit(&r->count, 1, memory_order_relaxed);
}
static inline void ref_retain(RefCount *r) {
  int32_t before = atomic_fetch_add_explicit(&r->count, 1, memory_order_relaxed);
  assert(before > 0);
  (void)before;
}
/* Of what is only borrowed, which stays in memory meanwhile. false: the last reference went, it is being freed. */
static inline bool ref_retain_live(RefCount *r) {
  int32_t count = atomic_load_explicit(&r->count, memory_order_relaxed);
  while (count > 0)
    if (atomic_compare_exchange_weak_explicit(&r->count, &count, count + 1, memory_order_relaxed, memory_order_relaxed))
      return true;
  return false;
}
/* true when this was the last reference: the caller frees. */
static inline bool ref_release(RefCount *r) {
  int32_t before = atomic_fetch_sub_explicit(&r->count, 1, memory_order_acq_rel);
  assert(before > 0);
  return before == 1;
}
static inline bool ref_count_is(const RefCount *r, int32_t count) {
  return atomic_load_explicit(&r->count, memory_order_acquire) == count;
}
static inline bool ref_is_unique(const RefCount *r) {
  return ref_count_is(r, 1);
}

/* ---- catch points: how syntax, frontend, IR building and import fail ----
 *
 *   Catch c;
 *   if (catch_enter(&c)) { ... catch_throw(&c, status_new(...)); ... return OK; }
 *   return c.status;      // arrived here by a throw; owns the error
 *
 * A Catch lives on one thread's stack; never throw across a lock, a callback or a foreign frame. */
typedef struct Catch {
  jmp_buf jump;
  Status status;
  Heap *heap; /* that the thread works in, also after a throw */
} Catch;
void catch_begin(Catch *c);
#define catch_enter(c) (catch_begin(c), setjmp((c)->jump) == 0)
_Noreturn void catch_throw(Catch *c, Status status);

/* ---- arena: many small allocations, freed at once ----
 * An allocation that fails throws out-of-memory to `catch_point`, which must be set while allocating
 * (arena_alloc asserts it), so callers never test for NULL. Memory is aligned to 16 and zeroed. */
typedef struct ArenaChunk ArenaChunk;
typedef struct Arena {
  ArenaChunk *chunks;
  char *next, *end;
  size_t bytes;     /* taken from the heap */
  size_t least;     /* bytes of a chunk */
  size_t max_bytes; /* 0: no limit; beyond it out-of-memory is thrown */
  Heap *heap;       /* the thread's when it was initialized, held: chunks come from there */
  Catch *catch_point;
  struct Arena *beside; /* NULL, or one that is filled along with this one: what protects this one protects it, too */
} Arena;
void arena_init(Arena *arena, Catch *catch_point);
void arena_init_small(Arena *arena, Catch *catch_point); /* of which there are many that stay small */
void arena_dispose(Arena *arena);
void *arena_alloc(Arena *arena, size_t bytes);
void *arena_alloc_uncleared(Arena *arena, size_t bytes);            /* for who writes all of it, or what is read */
void *arena_alloc_array(Arena *arena, size_t count, size_t bytes);  /* product checked */
char *arena_strndup(Arena *arena, const char *text, size_t length); /* adds a NUL */
char *arena_printf(Arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, count) ((T *)arena_alloc_array((arena), (count), sizeof(T)))
/* Runs body(argument) with the arena's catch point set to one of this call's own; restores it after. */
Status arena_protect(Arena *arena, void (*body)(void *argument), void *argument) MUST_CHECK;
