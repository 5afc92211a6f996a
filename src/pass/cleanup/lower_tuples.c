/* Tuples that are taken apart where they were made are not made; empty list literals become lists; warnings are
 * numbered. */
#include "ir/graph_log.h"
#include "ir/match.h"
#include "pass/pass.h"

#define FILE_NAME "lower_tuples"

static void lower_node(Node *node) {
  Node *construct = node->input_count ? node_input(node, 0)->node : NULL;
  if (!construct || construct->kind != SYM_prim_TupleConstruct || !jit_opt_limit(FILE_NAME)) return;
  NODE_LOG_UPDATE(FILE_NAME, "reads a tuple that is made here:", node);
  if (node->kind == SYM_prim_TupleUnpack) {
    for (uint32_t i = 0; i < node->output_count && i < construct->input_count; i++)
      value_replace_all_uses_with(node_output(node, i), node_input(construct, i));
  } else if (node->kind == SYM_prim_TupleIndex) {
    IValue index;
    if (!value_is_constant(node_input(node, 1), &index) || index.tag != TAG_INT) return;
    int64_t at = index.i < 0 ? index.i + construct->input_count : index.i;
    if (at >= 0 && at < construct->input_count)
      value_replace_all_uses_with(node_output(node, 0), node_input(construct, (uint32_t)at));
  } else if (node->kind == SYM_prim_TupleSlice) {
    Graph *graph = node->graph;
    int64_t begin = node_int(node, SYM_attr_beg), end = node_int(node, SYM_attr_end);
    if (begin < 0 || end > construct->input_count || begin > end) return;
    Value **values = ARENA_ARRAY(graph->arena, Value *, (size_t)(end - begin) + 1);
    for (int64_t i = begin; i < end; i++) values[i - begin] = node_input(construct, (uint32_t)i);
    Node *before = graph->insert_before;
    graph_set_insert_point(graph, node);
    value_replace_all_uses_with(node_output(node, 0), graph_insert_tuple(graph, (uint32_t)(end - begin), values, NULL));
    graph->insert_before = before;
  }
}

static void lower_in(Block *block) {
  BLOCK_EACH(node, block) {
    lower_node(node);
    for (uint32_t i = 0; i < node->block_count; i++) lower_in(node->blocks[i]);
  }
}

void lower_tuples(Graph *graph) {
  lower_in(graph->block);
  dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After LowerSimpleTuples: ", graph);
}

static void lower_lists_in(Block *block) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_EmptyListLiteral) node->kind = SYM_prim_ListConstruct;
    for (uint32_t i = 0; i < node->block_count; i++) lower_lists_in(node->blocks[i]);
  }
}

void lower_empty_lists(Graph *graph) {
  lower_lists_in(graph->block);
}

static void annotate_in(Block *block, int64_t *next, Symbol warn_id) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_aten_warn) node_set_int(node, warn_id, (*next)++);
    for (uint32_t i = 0; i < node->block_count; i++) annotate_in(node->blocks[i], next, warn_id);
  }
}

void annotate_warns(Graph *graph) {
  int64_t next = 0;
  annotate_in(graph->block, &next, symbol_intern(STR("attr::warn_id")));
}

PASS_ALSO(lower_tuples, "lower_simple_tuples", GRADIENTS, lower_tuples(graph),
          "takes apart tuples that one graph makes and unpacks");
