/* Profiles go, and with them what they said of types. */
#include "ir/graph_log.h"
#include "pass/pass.h"

#define FILE_NAME "clear_profiling"

static void remove_profiles(Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) remove_profiles(node->blocks[i]);
    if (node->kind != SYM_prim_profile) continue;
    if (node->output_count) value_replace_all_uses_with(node_output(node, 0), node_input(node, 0));
    node_destroy(node);
  }
}

void clear_profiling(Graph *graph) {
  remove_profiles(graph->block);
  erase_shape_information(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After ClearProfilingInformation: ", graph);
}

PASS(clear_profiling, GRADIENTS, clear_profiling(graph), "removes profiles and what they said");
