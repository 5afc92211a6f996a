/* The walk that applies peephole rules: peephole_rule.h has what it promises. Texts are read when a table is first
 * used; by the kind of node at their ends the rules are found. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fork.h"
#include "pass/pass.h"
#include "pass/rewrite/peephole_pattern.h"
#include "pass/rewrite/rewrite.h"
#include "pass/types/tensor_facts.h"

const PeepholeTable *const peephole_tables[PEEPHOLE_TABLES] = {
    [PEEPHOLE_TYPES] = &peephole_types,     [PEEPHOLE_LISTS] = &peephole_lists,     [PEEPHOLE_DICTS] = &peephole_dicts,
    [PEEPHOLE_ALIASES] = &peephole_aliases, [PEEPHOLE_NUMBERS] = &peephole_numbers,
};

/* ---- tables as they are used ---- */

enum { MOST_RULES = 32, MOST_ENDS = 64 };
typedef struct RuleTexts {
  Pattern pattern, replacement;
} RuleTexts;
typedef struct RuleEnd {
  Symbol kind; /* SYMBOL_NONE: any */
  uint32_t rule;
} RuleEnd;
typedef struct ReadTable {
  RuleTexts rules[MOST_RULES];
  RuleEnd ends[MOST_ENDS]; /* by kind, then in the table's order */
  uint32_t end_count;
} ReadTable;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ReadTable read_tables[PEEPHOLE_TABLES];
static _Atomic bool is_read[PEEPHOLE_TABLES];

static int compare_ends(const void *left, const void *right) {
  const RuleEnd *a = left, *b = right;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return a->rule < b->rule ? -1 : a->rule > b->rule;
}

static bool read_rule(ReadTable *to, const PeepholeTable *table, uint32_t i) {
  const PeepholeRule *rule = &table->rules[i];
  RuleTexts *texts = &to->rules[i];
  assert(!rule->replacement != !rule->make);
  if (!pattern_parse(rule->pattern, &texts->pattern)) return false;
  if (rule->replacement && !pattern_parse(rule->replacement, &texts->replacement)) return false;
  const Term *end = &texts->pattern.terms[0];
  assert(to->end_count + end->kind_count + 1 <= MOST_ENDS);
  if (end->any_kind) to->ends[to->end_count++] = (RuleEnd){SYMBOL_NONE, i};
  for (uint32_t k = 0; k < end->kind_count; k++) to->ends[to->end_count++] = (RuleEnd){end->kinds[k], i};
  return true;
}

/* The lock is held. */
static bool read_rules(ReadTable *to, const PeepholeTable *table) {
  assert(table->count <= MOST_RULES);
  to->end_count = 0;
  for (uint32_t i = 0; i < table->count; i++)
    if (!read_rule(to, table, i)) return false;
  qsort(to->ends, to->end_count, sizeof *to->ends, compare_ends);
  atomic_store_explicit(&is_read[table->id], true, memory_order_release);
  return true;
}

/* NULL: no memory. The texts themselves are wick's own, and right (test_peephole_rules). */
static const ReadTable *read_table(const PeepholeTable *table) {
  ReadTable *to = &read_tables[table->id];
  if (atomic_load_explicit(&is_read[table->id], memory_order_acquire)) return to;
  lock_take(&lock);
  bool done = atomic_load(&is_read[table->id]) || read_rules(to, table);
  lock_drop(&lock);
  return done ? to : NULL;
}

/* The first end of the kind, or the place where it would be. */
static uint32_t first_end(const ReadTable *table, Symbol kind) {
  uint32_t low = 0, high = table->end_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (table->ends[middle].kind < kind)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- what the walk knows ---- */

static bool block_writes(const Block *block) {
  BLOCK_EACH(node, block) {
    if (node_schema(node) ? node_writes(node) : node_has_side_effects(node)) return true;
    for (uint32_t i = 0; i < node->block_count; i++)
      if (block_writes(node->blocks[i])) return true;
  }
  return false;
}

bool peephole_graph_writes(PeepholeRun *run) {
  if (!run->writes.is_known) run->writes.yes = block_writes(run->graph->block);
  run->writes.is_known = true;
  return run->writes.yes;
}
bool peephole_graph_changes_tensors(PeepholeRun *run) {
  if (!run->changes_tensors.is_known) run->changes_tensors.yes = graph_changes_tensors(run->graph);
  run->changes_tensors.is_known = true;
  return run->changes_tensors.yes;
}
bool peephole_graph_changes_grad_mode(PeepholeRun *run) {
  if (!run->changes_grad_mode.is_known) run->changes_grad_mode.yes = graph_changes_grad_mode(run->graph);
  run->changes_grad_mode.is_known = true;
  return run->changes_grad_mode.yes;
}
AliasDb *peephole_alias_db(PeepholeRun *run) {
  if (!run->aliases) run->aliases = alias_db_new(run->graph, run->scratch);
  return run->aliases;
}

/* ---- applying ---- */

static void tell(const PeepholeMatch *m, const PeepholeRule *rule, const Value *with) {
  JIT_LOG_UPDATE(m->run->table->file, "%s: %%%u of " STR_FMT " becomes %%%u", rule->name, replaced(m)->unique,
                 STR_ARG(symbol_name(m->node->kind)), with->unique);
}

static void replace(const PeepholeMatch *m, const PeepholeRule *rule, Value *with) {
  Value *output = replaced(m);
  tell(m, rule, with);
  value_replace_all_uses_with(output, with);
  if (m->run->aliases && output->type->kind == TYPE_TENSOR) alias_replace_value(m->run->aliases, output, with);
  m->run->changed = true;
}

static void give_inputs(const PeepholeMatch *m, const PeepholeRule *rule, const Pattern *to) {
  const Term *itself = &to->terms[0];
  tell(m, rule, replaced(m));
  for (uint32_t i = 0; i < itself->input_count; i++)
    node_replace_input(m->node, i, bound(m, to->terms[itself->inputs[i]].letter));
  m->run->changed = true;
}

static Value *replacement_value(const PeepholeMatch *m, const Term *term) {
  switch ((TermForm)term->form) {
    case TERM_VALUE:
      return bound(m, term->letter);
    case TERM_BOOL:
      return insert_constant_before(m->node, ivalue_bool(term->number != 0), NULL);
    default:
      assert(term->form == TERM_NONE);
      return insert_constant_before(m->node, IVALUE_NONE, NULL);
  }
}

static bool fits(const PeepholeRule *rule, const PeepholeMatch *m) {
  if (rule->shapes && !m->run->shapes) return false;
  for (int i = 0; i < PEEPHOLE_CONDITIONS && rule->when[i]; i++)
    if (!rule->when[i](m)) return false;
  return true;
}

/* Whether the rule was applied. */
static bool apply(PeepholeRun *run, const PeepholeRule *rule, const RuleTexts *texts, Node *node, uint32_t output) {
  PeepholeMatch m = {.run = run};
  if (!pattern_match(&texts->pattern, node, output, &m) || !fits(rule, &m)) return false;
  Value *made = rule->make ? rule->make(&m) : NULL;
  if (rule->make && (!made || made == replaced(&m))) return false;
  if (!jit_opt_limit_rule(run->table->file, rule->name)) return false;
  if (!made && texts->replacement.terms[0].form == TERM_ITSELF)
    give_inputs(&m, rule, &texts->replacement);
  else
    replace(&m, rule, made ? made : replacement_value(&m, &texts->replacement.terms[0]));
  return true;
}

static bool apply_one(PeepholeRun *run, const ReadTable *table, Node *node, uint32_t output) {
  const Symbol kinds[] = {SYMBOL_NONE, node->kind};
  for (size_t k = 0; k < 2; k++)
    for (uint32_t i = first_end(table, kinds[k]); i < table->end_count && table->ends[i].kind == kinds[k]; i++) {
      uint32_t rule = table->ends[i].rule;
      if (apply(run, &run->table->rules[rule], &table->rules[rule], node, output)) return true;
    }
  return false;
}

static void walk(PeepholeRun *run, const ReadTable *table, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) walk(run, table, node->blocks[i]);
    for (uint32_t i = 0; i < node->output_count; i++)
      if (value_has_uses(node_output(node, i))) (void)apply_one(run, table, node, i);
  }
}

static void begin(Arena *scratch, void *argument) {
  PeepholeRun *run = argument;
  run->scratch = scratch;
  ptrmap_init(&run->asked, scratch);
  const ReadTable *table = read_table(run->table);
  if (!table) catch_throw(scratch->catch_point, status_out_of_memory());
  walk(run, table, run->graph->block);
}

bool peephole_run(const PeepholeTable *table, Graph *graph, bool shapes) {
  PeepholeRun run = {.table = table, .graph = graph, .shapes = shapes};
  graph_with_scratch(graph, begin, &run);
  return run.changed;
}
