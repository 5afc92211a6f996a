/* Types lose what is known of tensors, also inside of lists, tuples and optionals. Tensors that are constants of the
 * graph are what they are. */
#include "pass/pass.h"

#define FILE_NAME "erase_shape_information"

static void erase(Graph *graph, Block *block) {
  for (Node *node = block->param; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->output_count && node->kind != SYM_prim_Constant; i++) {
      Value *v = node_output(node, i);
      v->type = type_without_refinement(graph->store, v->type);
    }
    for (uint32_t i = 0; i < node->block_count; i++) erase(graph, node->blocks[i]);
    for (uint32_t i = 0; i < node->attribute_count; i++)
      if (node->attributes[i].tag == ATTR_GRAPH) erase_shape_information(node->attributes[i].g);
  }
}

void erase_shape_information(Graph *graph) {
  erase(graph, graph->block);
}

PASS(erase_shape_information, GRADIENTS, erase_shape_information(graph), "types of tensors say nothing but Tensor");
