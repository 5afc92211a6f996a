/* Scope: a chain of frames from variable names to something, one frame per block while a graph is walked. */
#pragma once

#include "base/map.h"

typedef struct Scope {
  struct Scope *outer;
  Map table;
} Scope;

static inline Scope *scope_push(Arena *arena, Scope *outer) {
  Scope *scope = ARENA_NEW(arena, Scope);
  scope->outer = outer;
  map_init(&scope->table, arena);
  return scope;
}
static inline void *scope_find(const Scope *scope, Str name) {
  for (; scope; scope = scope->outer) {
    void *found = map_get(&scope->table, name);
    if (found) return found;
  }
  return NULL;
}
static inline void scope_set(Scope *scope, Str name, void *value) {
  map_put(&scope->table, name, value);
}

/* The frame's own names in the order of their bytes: what is written from them does not depend on hashing. */
Str *scope_sorted_names(const Scope *scope, Arena *arena, uint32_t *out_count);
void names_sort(Str *names, uint32_t count);
