/* What a node with its blocks reads and writes, computed once for each node that is asked about. */
#include "ir/alias_internal.h"

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
    g->effects.sets_mode |= effects->sets_mode;
    g->effects.records |= effects->records;
  }
}

static const Graph *subgraph_of(const Node *node) {
  const NodeAttribute *attribute = node->kind == SYM_prim_fork ? NULL : node_attribute(node, SYM_attr_Subgraph);
  return attribute && attribute->tag == ATTR_GRAPH ? attribute->g : NULL;
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
    for (uint32_t b = 0; b < node->block_count; b++) writes |= gather_subgraph(effects, node->blocks[b]);
    if (subgraph) writes |= gather_subgraph(effects, subgraph->block);
  }
  return writes;
}

static void gather(AliasDb *db, Gathering *g, const Node *node) {
  gather_reads(db, g, node);
  uintptr_t write = (uintptr_t)ptrmap_get(&db->writers, node);
  for (; write; write = db->writes.data[write - 1].next) {
    const AliasWrite *w = &db->writes.data[write - 1];
    push_set(db, g, true,
             w->reach == WRITE_SELF        ? memory_dag_locations(&db->dag, w->element)
             : w->reach == WRITE_CONTAINED ? memory_dag_contained(&db->dag, w->element)
                                           : memory_dag_reachable(&db->dag, w->element));
  }
  uint8_t effect = node_kind(node->kind)->effect;
  if (effect == EFFECT_GUARDS) {
    g->effects.is_barrier = true;
  } else if (effect != EFFECT_WRITES && node_has_side_effects(node)) {
    g->effects.is_ordered = true;
    vec_arena_push(db->arena, &g->reads, ELEMENT_ANY);
  }
  g->effects.is_drawing |= node_is_nondeterministic(node);
  g->effects.sets_mode |= node_may_change_grad_mode(node);
  for (uint32_t i = 0; i < node->output_count; i++) {
    TypeKind kind = (TypeKind)node_output(node, i)->type->kind;
    g->effects.records |= kind == TYPE_TENSOR || kind == TYPE_LIST;
  }
  for (uint32_t b = 0; b < node->block_count; b++) gather_block(db, g, node->blocks[b]);
  const Graph *subgraph = subgraph_of(node);
  if (subgraph && gather_subgraph(&g->effects, subgraph->block))
    for (uint32_t i = 0; i < node->input_count; i++) push_set(db, g, true, alias_reachable(db, node_input(node, i)));
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
