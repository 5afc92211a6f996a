/* Texts of tables are read when a table is first used, those of other rules for each walk. */
#include "pass/rewrite/rewrite_read.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fork.h"

const RewriteTable *const rewrite_tables[REWRITE_TABLES] = {
    [REWRITE_TYPES] = &rewrite_types,     [REWRITE_LISTS] = &rewrite_lists,     [REWRITE_DICTS] = &rewrite_dicts,
    [REWRITE_ALIASES] = &rewrite_aliases, [REWRITE_NUMBERS] = &rewrite_numbers, [REWRITE_PRODUCTS] = &rewrite_products,
    [REWRITE_NORMS] = &rewrite_norms,     [REWRITE_FROZEN] = &rewrite_frozen,   [REWRITE_EXPANDS] = &rewrite_expands,
    [REWRITE_LINEARS] = &rewrite_linears, [REWRITE_LAYERS] = &rewrite_layers,
};

static int compare_ends(const void *left, const void *right) {
  const RuleEnd *a = left, *b = right;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return a->rule < b->rule ? -1 : a->rule > b->rule;
}

static void add_ends(ReadRules *to, uint32_t i) {
  const Pattern *pattern = &to->rules[i].pattern;
  const Term *end = pattern_end(pattern);
  assert(to->end_count + end->kind_count + 1 <= to->end_room);
  if (end->any_kind) to->ends[to->end_count++] = (RuleEnd){SYMBOL_NONE, i};
  for (uint32_t k = 0; k < end->kind_count; k++)
    to->ends[to->end_count++] = (RuleEnd){pattern->kinds[end->kinds + k], i};
}

bool rules_read(ReadRules *to, PatternRoom *room, const RewriteRule *rules, uint32_t count) {
  to->count = count;
  to->end_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    ReadRule *read = &to->rules[i];
    read->rule = &rules[i];
    assert(!rules[i].replacement != !rules[i].make);
    if (!pattern_parse(rules[i].pattern, room, &read->pattern)) return false;
    if (rules[i].replacement && !pattern_parse(rules[i].replacement, room, &read->replacement)) return false;
    add_ends(to, i);
  }
  qsort(to->ends, to->end_count, sizeof *to->ends, compare_ends);
  return true;
}

/* ---- tables ---- */

enum { MOST_RULES = 32, MOST_ENDS = 64, MOST_TERMS = 320, MOST_INDICES = 448, MOST_KINDS = 96 };
typedef struct KeptTable {
  ReadRule rules[MOST_RULES];
  RuleEnd ends[MOST_ENDS];
  Term terms[MOST_TERMS];
  uint16_t indices[MOST_INDICES];
  Symbol kinds[MOST_KINDS];
  PatternRoom room;
  ReadRules read;
} KeptTable;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static KeptTable kept_tables[REWRITE_TABLES];
static _Atomic bool is_kept[REWRITE_TABLES];

/* The lock is held. */
static bool keep_table(const RewriteTable *table, KeptTable *to) {
  assert(table->count <= MOST_RULES);
  to->room = (PatternRoom){.terms = to->terms,
                           .indices = to->indices,
                           .kinds = to->kinds,
                           .term_room = MOST_TERMS,
                           .index_room = MOST_INDICES,
                           .kind_room = MOST_KINDS};
  to->read = (ReadRules){.rules = to->rules, .ends = to->ends, .end_room = MOST_ENDS};
  if (!rules_read(&to->read, &to->room, table->rules, table->count)) return false;
  atomic_store_explicit(&is_kept[table->id], true, memory_order_release);
  return true;
}

const ReadRules *rules_of_table(const RewriteTable *table) {
  KeptTable *kept = &kept_tables[table->id];
  if (atomic_load_explicit(&is_kept[table->id], memory_order_acquire)) return &kept->read;
  lock_take(&lock);
  bool done = atomic_load(&is_kept[table->id]) || keep_table(table, kept);
  lock_drop(&lock);
  return done ? &kept->read : NULL;
}

uint32_t rules_first_end(const ReadRules *rules, Symbol kind) {
  uint32_t low = 0, high = rules->end_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (rules->ends[middle].kind < kind)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
