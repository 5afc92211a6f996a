/* AliasDb: making one, questions, changes. alias_analysis.c reads nodes, memory_dag.c finds locations, alias_effects.c
 * what nodes read and write, alias_move.c changes their order, alias_print.c prints. */
#include "ir/alias_internal.h"
#include "report/jit_log.h"

AliasDb *alias_db_new(Graph *graph, Arena *arena) {
  AliasDb *db = ARENA_NEW(arena, AliasDb);
  *db = (AliasDb){.graph = graph, .arena = arena};
  return db;
}

void alias_analyze(AliasDb *db) {
  Graph *graph = db->graph;
  Arena *arena = db->arena;
  db->is_analyzed = true;
  db->unique_capacity = graph->next_unique + graph->next_unique / 8 + 16;
  db->by_unique = ARENA_ARRAY(arena, ElementId, db->unique_capacity);
  memory_dag_init(&db->dag, arena, graph->store);
  vec_arena_reserve(arena, &db->dag.elements, graph->next_unique + 16);
  ptrmap_init(&db->others, arena);
  ptrmap_init(&db->writers, arena);
  ptrmap_init(&db->effects, arena);
  ptrmap_init(&db->calls, arena);
  for (uint32_t i = 0; i < graph_input_count(graph); i++) alias_wildcard_value(db, graph_input(graph, i));
  alias_analyze_block(db, graph->block);
  memory_dag_solve(&db->dag);
  if (jit_log_enabled("alias_analysis", JIT_DEBUG)) {
    StrBuf text = {0};
    alias_print(db, &text);
    jit_log_write("alias_analysis", __LINE__, JIT_DEBUG, strbuf_view(&text));
    strbuf_dispose(&text);
  }
}

/* ---- values ---- */

/* A value that was not there when the db was made may be anything. */
static ElementId known_element(AliasDb *db, const Value *value) {
  ElementId element = alias_find(db, value);
  return element == ELEMENT_NONE ? ELEMENT_ANY : element;
}

const MemorySet *alias_locations(AliasDb *db, const Value *value) {
  alias_require(db);
  if (!alias_type_is_mutable(value->type)) return db->dag.empty;
  return memory_dag_locations(&db->dag, known_element(db, value));
}

const MemorySet *alias_reachable(AliasDb *db, const Value *value) {
  alias_require(db);
  if (!alias_type_is_mutable(value->type)) return db->dag.empty;
  return memory_dag_reachable(&db->dag, known_element(db, value));
}

bool alias_may_alias(AliasDb *db, const Value *a, const Value *b) {
  if (!alias_type_is_mutable(a->type) || !alias_type_is_mutable(b->type)) return false;
  return memory_set_intersects(alias_locations(db, a), alias_locations(db, b));
}

bool alias_may_contain_alias(AliasDb *db, const Value *a, const Value *b) {
  if (!alias_type_is_mutable(a->type) || !alias_type_is_mutable(b->type)) return false;
  return memory_set_intersects(alias_reachable(db, a), alias_reachable(db, b));
}

bool alias_is_wildcard(AliasDb *db, const Value *value) {
  return alias_reachable(db, value)->has_wildcard;
}

bool alias_is_fresh(AliasDb *db, const Value *value) {
  alias_require(db);
  ElementId element = alias_find(db, value);
  if (element == ELEMENT_NONE) return false;
  const MemorySet *set = memory_dag_locations(&db->dag, element);
  return set->count == 1 && set->ids[0] == element && !set->has_wildcard;
}

static bool leaves_graph(AliasDb *db, const Value *value) {
  if (alias_is_wildcard(db, value)) return true;
  for (uint32_t i = 0; i < graph_output_count(db->graph); i++)
    if (alias_may_contain_alias(db, value, graph_output(db->graph, i))) return true;
  return false;
}

bool alias_safe_to_change(AliasDb *db, const Value *a, const Value *b) {
  if (alias_has_writers(db, a) || alias_has_writers(db, b)) return false;
  return !leaves_graph(db, a) || !leaves_graph(db, b);
}

/* ---- writes ---- */

static const MemorySet *written(AliasDb *db) {
  alias_require(db);
  if (db->written && db->written_count == db->writes.length)
    return db->written = memory_set_current(&db->dag, db->written);
  VEC(ElementId) ids = {0};
  for (size_t i = 0; i < db->writes.length; i++) {
    const AliasWrite *w = &db->writes.data[i];
    const MemorySet *set = w->reach == WRITE_SELF        ? memory_dag_locations(&db->dag, w->element)
                           : w->reach == WRITE_CONTAINED ? memory_dag_contained(&db->dag, w->element)
                                                         : memory_dag_reachable(&db->dag, w->element);
    for (uint32_t k = 0; k < set->count; k++) vec_arena_push(db->arena, &ids, set->ids[k]);
  }
  db->written_count = db->writes.length;
  return db->written = memory_dag_set(&db->dag, ids.length, ids.data);
}

bool alias_has_writers(AliasDb *db, const Value *value) {
  return alias_type_is_mutable(value->type) && memory_set_intersects(alias_reachable(db, value), written(db));
}

bool alias_node_has_input_writers(AliasDb *db, const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (alias_has_writers(db, node_input(node, i))) return true;
  return false;
}

bool alias_node_has_output_writers(AliasDb *db, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (alias_has_writers(db, node_output(node, i))) return true;
  return false;
}

bool alias_node_has_writers(AliasDb *db, const Node *node) {
  return alias_node_has_input_writers(db, node) || alias_node_has_output_writers(db, node);
}

bool alias_node_writes(AliasDb *db, const Node *node) {
  return alias_effects(db, node)->writes->count != 0;
}

const MemorySet *alias_written_by(AliasDb *db, size_t count, const Node *const *nodes) {
  alias_require(db);
  VEC(ElementId) ids = {0};
  for (size_t i = 0; i < count; i++) {
    const MemorySet *set = alias_effects(db, nodes[i])->writes;
    for (uint32_t k = 0; k < set->count; k++) vec_arena_push(db->arena, &ids, set->ids[k]);
  }
  return memory_dag_set(&db->dag, ids.length, ids.data);
}

bool alias_may_reach(AliasDb *db, const Value *value, const MemorySet *memory) {
  const MemorySet *reached = alias_reachable(db, value); /* which may make locations one */
  return memory_set_intersects(memory_set_current(&db->dag, reached), memory_set_current(&db->dag, memory));
}

struct AliasMarks {
  AliasDb *db;
  size_t count;
  bool *marked; /* by location */
};

AliasMarks *alias_marks_new(AliasDb *db) {
  alias_require(db);
  AliasMarks *marks = ARENA_NEW(db->arena, AliasMarks);
  *marks = (AliasMarks){.db = db, .count = db->dag.elements.length + 1};
  marks->marked = ARENA_ARRAY(db->arena, bool, marks->count);
  return marks;
}

bool alias_mark(AliasMarks *marks, const Value *value) {
  const MemorySet *set = alias_reachable(marks->db, value);
  bool news = false;
  for (uint32_t i = 0; i < set->count; i++) {
    if (set->ids[i] >= marks->count || marks->marked[set->ids[i]]) continue;
    news = marks->marked[set->ids[i]] = true;
  }
  return news;
}

bool alias_node_writes_marked(const AliasMarks *marks, const Node *node) {
  const MemorySet *set = alias_effects(marks->db, node)->writes;
  if (set->has_wildcard) return true;
  for (uint32_t i = 0; i < set->count; i++)
    if (set->ids[i] >= marks->count || marks->marked[set->ids[i]]) return true;
  return false;
}

/* ---- changes ---- */

void alias_replace_value(AliasDb *db, const Value *from, const Value *to) {
  if (!db->is_analyzed || !alias_type_is_mutable(from->type) || !alias_type_is_mutable(to->type)) return;
  if (alias_find(db, to) == ELEMENT_NONE) alias_declare(db, to);
  memory_dag_point(&db->dag, alias_find(db, to), known_element(db, from));
}

void alias_add_node(AliasDb *db, Node *node) {
  if (db->is_analyzed) alias_analyze_node(db, node);
}
