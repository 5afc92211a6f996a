/* Growing arrays. VEC(T) on the heap answers false when out of memory; the ARENA forms throw instead.
 *
 *   VEC(int) v = {0};
 *   if (!vec_push(&v, 3)) return status_out_of_memory();
 *   for (size_t i = 0; i < v.length; i++) use(v.data[i]);
 *   vec_dispose(&v);                                        */
#pragma once

#include "base/memory.h"

#define VEC(T)               \
  struct {                   \
    T *data;                 \
    size_t length, capacity; \
  }
#define vec_reserve(v, count) vec_grow_((void **)&(v)->data, &(v)->capacity, (count), sizeof *(v)->data)
#define vec_push(v, item) (vec_reserve((v), (v)->length + 1) ? ((v)->data[(v)->length++] = (item), true) : false)
#define vec_pop(v) ((v)->data[--(v)->length])
#define vec_last(v) ((v)->data[(v)->length - 1])
#define vec_dispose(v) (mem_free((v)->data), (v)->data = NULL, (v)->length = (v)->capacity = 0)

#define vec_arena_reserve(arena, v, count) \
  vec_arena_grow_((arena), (void **)&(v)->data, &(v)->capacity, (v)->length, (count), sizeof *(v)->data)
#define vec_arena_push(arena, v, item)                                                              \
  ((void)((v)->length < (v)->capacity || (vec_arena_reserve((arena), (v), (v)->length + 1), true)), \
   (void)((v)->data[(v)->length++] = (item)))
/* OK, or what vec_arena_reserve would have thrown: for who has something to release first. */
#define vec_arena_try_reserve(arena, v, count) \
  vec_arena_try_grow_((arena), (void **)&(v)->data, &(v)->capacity, (v)->length, (count), sizeof *(v)->data)

bool vec_grow_(void **data, size_t *capacity, size_t count, size_t item_bytes) MUST_CHECK;
void vec_arena_grow_(Arena *arena, void **data, size_t *capacity, size_t length, size_t count, size_t item_bytes);
Status vec_arena_try_grow_(Arena *arena, void **data, size_t *capacity, size_t length, size_t count,
                           size_t item_bytes) MUST_CHECK;
