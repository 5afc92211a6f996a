/* Names of a frame in a stable order. */
#include "frontend/scope.h"

#include <stdlib.h>

static int compare_names(const void *a, const void *b) {
  return str_compare(*(const Str *)a, *(const Str *)b);
}

void names_sort(Str *names, uint32_t count) {
  if (count > 1) qsort(names, count, sizeof *names, compare_names);
}

Str *scope_sorted_names(const Scope *scope, Arena *arena, uint32_t *out_count) {
  uint32_t count = 0;
  Str *names = ARENA_ARRAY(arena, Str, map_count(&scope->table) + 1);
  for (MapEntry *entry = map_next(&scope->table, NULL); entry; entry = map_next(&scope->table, entry))
    names[count++] = entry->key;
  names_sort(names, count);
  *out_count = count;
  return names;
}
