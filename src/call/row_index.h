/* RowIndex: the rows of tables by the names of the operators they give, so that operators are made only of the names
 * that somebody looks up. Names fall into buckets by a hash. */
#pragma once

#include "call/row.h"

enum { NAME_BUCKETS = 2048 };
uint32_t name_bucket(Str name);

typedef struct RowIndex {
  const OpRow **rows; /* in order of the tables */
  uint32_t count;
  uint32_t *first;                   /* entry of a bucket; 0: none */
  uint32_t *next;                    /* entry after an entry, of a later row; 0: none */
  size_t operator_count, text_bytes; /* at most, of all operators and of the names that they have in no row's text */
} RowIndex;

/* One walk over the schemas' texts up to their arguments. Lives in the arena, and throws to its catch point. */
void row_index_build(RowIndex *index, const OpTable *const *tables, Arena *arena);
/* A row has an entry for its own name and, with OP_INPLACE, one for the name of that form. */
static inline const OpRow *row_index_row(const RowIndex *index, uint32_t entry) {
  return index->rows[(entry - 1) / 2];
}
static inline bool row_index_is_inplace(uint32_t entry) {
  return !(entry % 2);
}
