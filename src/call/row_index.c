/* Buckets of rows as chains through one array of entries. */
#include "call/row_index.h"

#include "call/derive.h"

/* FNV-1a. Unseeded: what stands in the index are wick's own names. */
enum { HASH_START = 0x811c9dc5, HASH_FACTOR = 0x01000193 };

static uint32_t hash_on(uint32_t hash, char c) {
  return (hash ^ (unsigned char)c) * HASH_FACTOR;
}
static uint32_t bucket_of_hash(uint32_t hash) {
  return (hash ^ hash >> 15) % NAME_BUCKETS;
}

uint32_t name_bucket(Str name) {
  uint32_t hash = HASH_START;
  for (size_t i = 0; i < name.length; i++) hash = hash_on(hash, name.data[i]);
  return bucket_of_hash(hash);
}

/* Before later rows' entries of the bucket: rows are walked from the last to the first. */
static void enter(RowIndex *index, uint32_t bucket, uint32_t entry) {
  index->next[entry] = index->first[bucket];
  index->first[bucket] = entry;
}

/* "space::name.overload(...": the name ends at the last dot before the arguments. */
static void enter_row(RowIndex *index, uint32_t i) {
  const OpRow *row = index->rows[i];
  const char *text = row->schema;
  uint32_t hash = HASH_START, of_name = 0;
  size_t length = 0, name_length = 0;
  for (; text[length] && text[length] != '('; length++) {
    if (text[length] == '.') of_name = hash, name_length = length;
    hash = hash_on(hash, text[length]);
  }
  size_t overload_length = name_length ? length - name_length - 1 : 0;
  if (!name_length) of_name = hash, name_length = length;
  index->operator_count++;
  if (derive_has_form(row, VARIANT_OUT)) {
    index->operator_count++;
    index->text_bytes += overload_length + strlen("_out");
  }
  uint32_t own = 2 * i + 1, inplace = own + 1;
  if (derive_has_form(row, VARIANT_INPLACE)) {
    index->operator_count++;
    index->text_bytes += name_length + strlen("_");
    enter(index, bucket_of_hash(hash_on(of_name, '_')), inplace);
  }
  enter(index, bucket_of_hash(of_name), own);
}

void row_index_build(RowIndex *index, const OpTable *const *tables, Arena *arena) {
  *index = (RowIndex){0};
  size_t count = 0;
  for (const OpTable *const *t = tables; t && *t; t++) count += (*t)->count;
  index->rows = ARENA_ARRAY(arena, const OpRow *, count);
  index->first = ARENA_ARRAY(arena, uint32_t, NAME_BUCKETS);
  index->next = ARENA_ARRAY(arena, uint32_t, 2 * count + 1);
  for (const OpTable *const *t = tables; t && *t; t++)
    for (size_t i = 0; i < (*t)->count; i++) index->rows[index->count++] = &(*t)->rows[i];
  for (uint32_t i = index->count; i-- > 0;) enter_row(index, i);
}
