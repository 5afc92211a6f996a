/* Small subgraphs go back to where they were taken from: differentiating them costs more than it saves. */
#include "autodiff/differentiate.h"
#include "autodiff/differentiate_internal.h"
#include "ir/graph_log.h"
#include "ir/subgraph.h"

#define FILE_NAME "inline_autodiff_subgraphs"

static bool runs_with_autograd(const Graph *subgraph) {
  BLOCK_EACH(node, subgraph->block) if (node->kind == SYM_prim_FusionGroup) return false;
  return true;
}

static void inline_in(Block *block, uint32_t threshold) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) inline_in(node->blocks[i], threshold);
    const Graph *subgraph = node->kind == SYM_prim_DifferentiableGraph ? node_subgraph(node) : NULL;
    if (!subgraph || !runs_with_autograd(subgraph) || differ_count_running(subgraph) >= threshold) continue;
    if (!jit_opt_limit(FILE_NAME)) return;
    node_refused(FILE_NAME, node, REASON_NOT_DIFFERENTIATED_PUT_BACK);
    subgraph_unwrap(node, NULL);
  }
}

void inline_autodiff_subgraphs(Graph *graph, uint32_t threshold) {
  graph_require_stack(graph);
  inline_in(graph->block, threshold);
  dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After InlineAutodiffSubgraphs: ", graph);
}

PASS(inline_autodiff_subgraphs, GRADIENTS, inline_autodiff_subgraphs(graph, AUTODIFF_INLINE_THRESHOLD),
     "puts small ones back");
