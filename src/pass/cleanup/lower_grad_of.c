/* prim::GradOf is a formula that need not run when every gradient it starts from is zero; here it becomes that test. */
#include "ir/graph_log.h"
#include "pass/pass.h"

#define FILE_NAME "lower_grad_of"

static void lower(Graph *graph, Node *node) {
  graph_set_insert_point(graph, node);
  Value **inputs = ARENA_ARRAY(graph->arena, Value *, node->input_count + 1);
  for (uint32_t i = 0; i < node->input_count; i++) inputs[i] = node_input(node, i);
  Symbol any = symbol_intern(STR("prim::AutogradAnyNonZero"));
  Node *test = graph_insert_node(graph, graph_create(graph, any, node->input_count, inputs, 1));
  node_output(test, 0)->type = TYPE(BOOL);
  Node *branch = graph_insert_node(graph, graph_create_if(graph, node_output(test, 0)));
  Block *formula = node->blocks[0], *taken = branch->blocks[0], *zero = branch->blocks[1];
  BLOCK_EACH(inner, formula) node_move_before(inner, taken->ret);
  graph_set_insert_block(graph, zero);
  Node *none = graph_insert_node(graph, graph_create(graph, SYM_prim_AutogradZero, 0, NULL, 1));
  for (uint32_t i = 0; i < node->output_count; i++) {
    block_register_output(taken, block_output(formula, i));
    block_register_output(zero, node_output(none, 0));
    value_replace_all_uses_with(node_output(node, i), node_add_output(branch, TYPE(TENSOR)));
  }
  node_destroy(node);
}

static void lower_block(Graph *graph, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) lower_block(graph, node->blocks[i]);
    if (node->kind == SYM_prim_GradOf) lower(graph, node);
  }
}

void lower_grad_of(Graph *graph) {
  lower_block(graph, graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After LowerGradOf: ", graph);
}

PASS(lower_grad_of, GRADIENTS, lower_grad_of(graph), "makes prim::GradOf tests for zero gradients");
