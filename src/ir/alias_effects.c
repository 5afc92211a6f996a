/* What a node with its blocks reads and writes, computed once for each node that is asked about. */
#include "call/operator.h"
#include "ir/alias_internal.h"
#include "ir/node_kind.h"
#include "ir/subgraph.h"
#include "schema/schema.h"

typedef struct Gathering {
  VEC(ElementId) reads, writes;
  Effects effects;
} Gathering;

static void push_set(AliasDb *db, Gathering *g, bool write, const MemorySet *set) {
  if (!set->count) return;
  if (write) {
    vec_arena_reserve(db->arena, &g->writes, g->writes.length + set->count);
    memcpy(g->writes.data + g->writes.length, set->ids, set->count * sizeof *set->ids);
    g->writes.length += set->count;
  } else {
    vec_arena_reserve(db->arena, &g->reads, g->reads.length + set->count);
    memcpy(g->reads.data + g->reads.length, set->ids, set->count * sizeof *set->ids);
    g->reads.length += set->count;
  }
}

static void gather_reads(AliasDb *db, Gathering *g, const Node *node) {
  switch ((NodeReading)node_kind(node->kind)->reading) {
    case READS_NONE:
      return;
    case READS_FIRST:
      push_set(db, g, false, alias_locations(db, node_input(node, 0)));
      return;
    case READS_ALL:
      for (uint32_t i = 0; i < node->input_count; i++) push_set(db, g, false, alias_reachable(db, node_input(node, i)));
      return;
  }
}

static void gather(AliasDb *db, Gathering *g, const Node *node);

static void gather_block(AliasDb *db, Gathering *g, const Block *block) {
  BLOCK_EACH(inner, block) {
    if (inner->kind == SYM_prim_Constant) continue;
    if (!inner->block_count) {
      gather(db, g, inner);
      continue;
    }
    const Effects *effects = alias_effects(db, inner);
    push_set(db, g, false, effects->reads);
    push_set(db, g, true, effects->writes);
    g->effects.is_ordered |= effects->is_ordered;
    g->effects.is_barrier |= effects->is_barrier;
    g->effects.is_drawing |= effects->is_drawing;
    g->effects.is_seen |= effects->is_seen;
    g->effects.may_raise |= effects->may_raise;
    g->effects.sets_mode |= effects->sets_mode;
    g->effects.records |= effects->records;
  }
}

static const Graph *subgraph_of(const Node *node) {
  return node->kind == SYM_prim_fork ? NULL : node_acting_subgraph(node);
}

/* Subgraphs grow while passes work, so they are looked through each time: what they reach comes from the node's inputs.
 * Whether something in the block writes. */
static bool gather_subgraph(Effects *effects, const Block *block) {
  bool writes = false;
  BLOCK_EACH(node, block) {
    const Graph *subgraph = subgraph_of(node);
    writes |= node_writes(node) || node_kind(node->kind)->effect == EFFECT_WRITES;
    effects->is_ordered |= node_has_side_effects(node);
    effects->is_drawing |= node_is_nondeterministic(node);
    effects->is_seen |= node_acts(node) && node_kind(node->kind)->effect != EFFECT_LEAVES;
    for (uint32_t b = 0; b < node->block_count; b++) writes |= gather_subgraph(effects, node->blocks[b]);
    if (subgraph) writes |= gather_subgraph(effects, subgraph->block);
  }
  return writes;
}

/* Whether it may fail: an operator, unless its row says otherwise, and what takes a list apart. */
static bool may_raise(const Node *node) {
  if (node->block_count) return false; /* what is in them may */
  if (node->kind == SYM_prim_RaiseException || node->kind == SYM_prim_ListUnpack || subgraph_of(node)) return true;
  const NodeKind *kind = node_kind(node->kind);
  if (kind->has_form && kind->effect != EFFECT_BY_ROW) return false;
  const Operator *op = node_operator(node);
  return !op || !(op->flags & OP_NEVER_RAISES);
}

static bool may_return(const Node *node) {
  const Operator *op = node_operator(node);
  return op && operator_may_return_argument(op);
}

/* Whether what the user is given may be found elsewhere from then on. */
static bool passes_on(const Use *use) {
  const Node *user = use->user;
  const FunctionSchema *schema = user->block_count ? NULL : node_schema(user);
  if (!schema || use->offset >= schema->argument_count) return true;
  const AliasInfo *alias = schema->arguments[use->offset].alias;
  if (!alias) return may_return(user);
  if ((alias->before | alias->after | alias->contained) & ALIAS_WILDCARD) return true;
  for (uint32_t i = 0; i < user->output_count; i++)
    if (value_has_uses(node_output(user, i))) return true;
  return false;
}

/* Memory that was made in the block, and that nobody else was given before the write: though it leaves the graph later,
 * whoever calls does not see it if the call fails. */
static bool is_kept_back(const Value *value, const Node *write) {
  const Node *maker = value->node;
  if (maker->owning_block != write->owning_block || maker->block_count || maker->kind == SYM_prim_Param) return false;
  const FunctionSchema *schema = node_schema(maker);
  bool is_new =
      node_kind(maker->kind)->aliasing == ALIASES_CONTAINS || maker->kind == SYM_prim_CreateObject ||
      (schema && !may_return(maker) && value->offset < schema->return_count && !schema->returns[value->offset].alias);
  if (!is_new) return false;
  for (size_t i = 0; i < value->uses.length; i++) {
    const Use *use = &value->uses.data[i];
    if (use->user == write) continue;
    if (use->user->owning_block != write->owning_block) return false;
    if (node_is_before(use->user, write) && passes_on(use)) return false;
  }
  return true;
}

/* Of a node that writes to what may be visible outside. */
static bool writes_visibly(const Node *node) {
  if (node_kind(node->kind)->effect == EFFECT_WRITES || node->block_count || !node_schema(node)) return true;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node_writes_to(node, i) && !is_kept_back(node_input(node, i), node)) return true;
  return false;
}

static void gather(AliasDb *db, Gathering *g, const Node *node) {
  gather_reads(db, g, node);
  uintptr_t write = (uintptr_t)ptrmap_get(&db->writers, node);
  for (; write; write = db->writes.data[write - 1].next) {
    const AliasWrite *w = &db->writes.data[write - 1];
    const MemorySet *set = w->reach == WRITE_SELF        ? memory_dag_locations(&db->dag, w->element)
                           : w->reach == WRITE_CONTAINED ? memory_dag_contained(&db->dag, w->element)
                                                         : memory_dag_reachable(&db->dag, w->element);
    push_set(db, g, true, set);
    g->effects.is_seen |= (set->has_any || set->has_wildcard) && (w->reach != WRITE_SELF || writes_visibly(node));
  }
  uint8_t effect = node_kind(node->kind)->effect;
  if (effect == EFFECT_GUARDS) {
    g->effects.is_barrier = true;
  } else if (effect != EFFECT_WRITES && node_has_side_effects(node)) {
    g->effects.is_ordered = true;
    g->effects.is_seen |= effect != EFFECT_LEAVES;
    vec_arena_push(db->arena, &g->reads, ELEMENT_ANY);
  }
  g->effects.may_raise |= db->may_be_seen && may_raise(node);
  g->effects.is_drawing |= node_is_nondeterministic(node);
  g->effects.is_seen |= g->effects.is_drawing;
  g->effects.sets_mode |= node_may_change_grad_mode(node);
  for (uint32_t i = 0; i < node->output_count; i++) {
    TypeKind kind = (TypeKind)node_output(node, i)->type->kind;
    g->effects.records |= kind == TYPE_TENSOR || kind == TYPE_LIST;
  }
  for (uint32_t b = 0; b < node->block_count; b++) gather_block(db, g, node->blocks[b]);
  const Graph *subgraph = subgraph_of(node);
  if (!subgraph || !gather_subgraph(&g->effects, subgraph->block)) return;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const MemorySet *set = alias_reachable(db, node_input(node, i));
    push_set(db, g, true, set);
    g->effects.is_seen |= set->has_any || set->has_wildcard;
  }
}

const Effects *alias_effects(AliasDb *db, const Node *node) {
  alias_require(db);
  if (db->effects_version != db->dag.version) {
    ptrmap_init(&db->effects, db->arena);
    db->effects_version = db->dag.version;
  }
  Effects *known = ptrmap_get(&db->effects, node);
  if (known) return known;
  Gathering g = {0};
  gather(db, &g, node);
  known = ARENA_NEW(db->arena, Effects);
  *known = g.effects;
  known->reads = memory_dag_set(&db->dag, g.reads.length, g.reads.data);
  known->writes = memory_dag_set(&db->dag, g.writes.length, g.writes.data);
  if (db->effects_version == db->dag.version && !subgraph_of(node)) ptrmap_put(&db->effects, node, known);
  return known;
}

static bool block_may_be_seen(const Block *block);
static bool may_be_seen(const Node *node) {
  const Graph *subgraph = subgraph_of(node);
  if (node_may_be_seen(node) || (subgraph && block_may_be_seen(subgraph->block))) return true;
  for (uint32_t b = 0; b < node->block_count; b++)
    if (block_may_be_seen(node->blocks[b])) return true;
  return false;
}
static bool block_may_be_seen(const Block *block) {
  BLOCK_EACH(node, block) {
    if (may_be_seen(node)) return true;
  }
  return false;
}

const Node *alias_first_effect(const Graph *graph, Arena *arena) {
  AliasDb *db = NULL; /* most graphs need none */
  BLOCK_EACH(node, graph->block) {
    if (!may_be_seen(node)) continue;
    if (!db) db = alias_db_new((Graph *)graph, arena);
    if (alias_effects(db, node)->is_seen) return node;
  }
  return NULL;
}
