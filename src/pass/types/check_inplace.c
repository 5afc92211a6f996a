/* Refuses nodes from outside that say attr::inplace and have no schema that says what they write to: the alias analysis
 * would take them for pure, so no pass that ran could be right. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "schema/schema.h"

#define FILE_NAME "check_inplace"

static bool writes_unseen(const Node *node) {
  const NodeAttribute *inplace = node_attribute(node, SYM_attr_inplace);
  if (!inplace || inplace->tag != ATTR_INT || !inplace->i) return false;
  const FunctionSchema *schema = node_schema(node);
  return !schema || !schema->is_mutable;
}

static void check_in(const Graph *graph, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) check_in(graph, node->blocks[i]);
    if (writes_unseen(node))
      catch_throw(graph->arena->catch_point,
                  source_error(ERROR_UNSUPPORTED, node->range, "inplace " STR_FMT " not supported in the JIT",
                               STR_ARG(symbol_name(node->kind))));
  }
}

void check_inplace(Graph *graph) {
  check_in(graph, graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After CheckInplace: ", graph);
}

PASS(check_inplace, GRADIENTS, check_inplace(graph), "refuses writes that no schema tells of");
