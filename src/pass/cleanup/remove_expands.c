/* Removes the expansions that autograd's formulas and the tracer write before pointwise operators, which broadcast by
 * themselves: aten::expand with implicit=True. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "remove_expands"

static void remove_in(const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) remove_in(node->blocks[i]);
    if (node->kind == SYM_aten_expand && node->input_count == 3 && constant_is_bool(node_input(node, 2), true) &&
        jit_opt_limit(FILE_NAME)) {
      NODE_LOG_UPDATE(FILE_NAME, "will be removed:", node);
      replace_node(node, node_input(node, 0));
    }
  }
}

void remove_expands(Graph *graph) {
  remove_in(graph->block);
  dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After RemoveExpands: ", graph);
}

PASS(remove_expands, GRADIENTS, remove_expands(graph), "removes expansions that broadcasting makes again");
