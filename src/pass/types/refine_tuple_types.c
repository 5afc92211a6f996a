/* The type of a tuple follows what it is made of: after inlining and propagation that is often more than its
 * declaration says. */
#include "ir/graph_log.h"
#include "pass/pass.h"

#define FILE_NAME "refine_tuple_types"

static void refine_node(Node *node) {
  Value *output = node_output(node, 0);
  const Type *declared = output->type;
  if (declared->kind != TYPE_TUPLE || declared->count != node->input_count) return;
  Graph *graph = node->graph;
  const Type **elements = ARENA_ARRAY(graph->arena, const Type *, node->input_count + 1);
  bool same = true;
  for (uint32_t i = 0; i < node->input_count; i++) {
    elements[i] = node_input(node, i)->type;
    same = same && type_equal(elements[i], declared->elements[i]);
  }
  if (same) return;
  output->type = declared->field_names ? type_named_tuple(graph->store, declared->name, node->input_count, elements,
                                                          declared->field_names)
                                       : type_tuple(graph->store, node->input_count, elements);
}

static void refine_in(const Block *block) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_TupleConstruct) refine_node(node);
    for (uint32_t i = 0; i < node->block_count; i++) refine_in(node->blocks[i]);
  }
}

void refine_tuple_types(Graph *graph) {
  refine_in(graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After RefineTupleTypes: ", graph);
}

PASS(refine_tuple_types, GRADIENTS, refine_tuple_types(graph), "tuples have the types of what they hold");
