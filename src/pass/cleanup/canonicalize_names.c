/* Canonical names: none, and values numbered in the order of the text. */
#include "pass/pass.h"

#define FILE_NAME "canonicalize_names"

static void number_outputs(Graph *graph, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    value_set_name(node->outputs[i], STR(""));
    node->outputs[i]->unique = graph->next_unique++;
  }
}

static void number_block(Graph *graph, const Block *block) {
  number_outputs(graph, block->param);
  BLOCK_EACH(node, block) {
    number_outputs(graph, node); /* before what its blocks hold, as PyTorch does */
    for (uint32_t i = 0; i < node->block_count; i++) number_block(graph, node->blocks[i]);
  }
}

void canonicalize_names(Graph *graph) {
  graph->next_unique = 0;
  number_block(graph, graph->block);
}

PASS_ALSO(canonicalize_names, "canonicalize", GRADIENTS, canonicalize_names(graph),
          "drops names and numbers values from 0 in order of definition");
