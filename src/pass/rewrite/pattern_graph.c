/* Patterns made of graphs: straight code of nodes with kinds, attributes and constants. Inputs are any values, outputs
 * what the pattern gives. Every output of a node is a term, the first one that of the node. */
#include <assert.h>

#include "pass/rewrite/pattern.h"
#include "pass/rewrite/rewrite.h"

enum { PATTERN_MOST_NODES = 256, PATTERN_MOST_TERMS = UINT16_MAX - 1 };

static _Noreturn void refuse(const Graph *graph, const char *why) {
  catch_throw(graph->arena->catch_point, status_new(ERROR_INVALID_ARGUMENT, "not a pattern: %s", why));
}

typedef struct Sizes {
  uint32_t nodes, terms, indices;
} Sizes;

static Sizes check(const Graph *graph) {
  Sizes sizes = {0, graph_input_count(graph), graph_input_count(graph) + graph_output_count(graph)};
  if (!graph_output_count(graph)) refuse(graph, "it has no outputs");
  if (graph_output(graph, 0)->node->kind == SYM_prim_Param) refuse(graph, "its first output is an input");
  if (block_size(graph->block, PATTERN_MOST_NODES + 1) > PATTERN_MOST_NODES) refuse(graph, "it is too large");
  BLOCK_EACH(node, graph->block) {
    if (node->block_count) refuse(graph, "it has control flow");
    if (node->kind != SYM_prim_CallMethod && node->kind != SYM_prim_CallFunction && node_has_side_effects(node))
      refuse(graph, "it has effects");
    sizes.nodes++;
    sizes.terms += node->output_count;
    sizes.indices += node->input_count;
  }
  if (sizes.terms > PATTERN_MOST_TERMS || sizes.indices > PATTERN_MOST_TERMS) refuse(graph, "it is too large");
  return sizes;
}

typedef struct Making {
  PatternRoom *room;
  Pattern *out;
  PtrMap terms; /* value -> its term + 1 */
} Making;

static Term *add_term(Making *m, const Value *value, Term term) {
  assert(m->room->term_count < m->room->term_room);
  term.type = TERM_ANY_TYPE;
  m->room->terms[m->room->term_count++] = term;
  ptrmap_put(&m->terms, value, (void *)(uintptr_t)++m->out->count);
  return &m->room->terms[m->room->term_count - 1];
}

static uint16_t term_of(const Making *m, const Value *value) {
  uintptr_t term = (uintptr_t)ptrmap_get(&m->terms, value);
  assert(term);
  return (uint16_t)(term - 1);
}

static void add_index(Making *m, const Value *value) {
  assert(m->room->index_count < m->room->index_room);
  m->room->indices[m->room->index_count++] = term_of(m, value);
}

static void add_node(Making *m, const Node *node) {
  Term term = {.form = TERM_NODE,
               .outputs = (uint16_t)node->output_count,
               .inputs = m->room->index_count,
               .input_count = (uint16_t)node->input_count,
               .kinds = m->room->kind_count,
               .kind_count = 1,
               .like = node};
  m->room->kinds[m->room->kind_count++] = node->kind;
  for (uint32_t i = 0; i < node->input_count; i++) {
    add_index(m, node_input(node, i));
    m->room->terms[term_of(m, node_input(node, i))].uses++;
  }
  if (!node->output_count) return;
  add_term(m, node_output(node, 0), term);
  uint16_t first = term_of(m, node_output(node, 0));
  for (uint32_t i = 1; i < node->output_count; i++)
    add_term(m, node_output(node, i), (Term){.form = TERM_OUTPUT, .node = first, .offset = (uint16_t)i});
}

void pattern_of_graph(const Graph *graph, Arena *arena, PatternRoom *room, Pattern *out) {
  Sizes sizes = check(graph);
  Making m = {.room = room, .out = out};
  pattern_room_init(room, arena, sizes.terms, sizes.indices, sizes.nodes);
  ptrmap_init(&m.terms, arena);
  *out = (Pattern){.terms = room->terms,
                   .indices = room->indices,
                   .kinds = room->kinds,
                   .input_count = (uint16_t)graph_input_count(graph)};
  for (int i = 0; i < 26; i++) out->letters[i] = NO_TERM;
  for (uint32_t i = 0; i < graph_input_count(graph); i++) {
    add_term(&m, graph_input(graph, i), (Term){.form = TERM_VALUE});
    add_index(&m, graph_input(graph, i));
  }
  BLOCK_EACH(node, graph->block) add_node(&m, node);
  out->end = term_of(&m, graph_output(graph, 0));
  out->outputs = room->index_count;
  out->output_count = (uint16_t)graph_output_count(graph);
  for (uint32_t i = 0; i < out->output_count; i++) {
    add_index(&m, graph_output(graph, i));
    room->terms[term_of(&m, graph_output(graph, i))].leaves = true;
  }
}
