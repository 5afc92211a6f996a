/* Removes dropout that does not train: it is the identity. In-place forms go too, for they write nothing then. */
#include "call/operator.h"
#include "ir/constant.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "remove_dropout"

/* A probability that is none is an error. */
static bool is_identity(const Node *node) {
  const Operator *op = node_operator(node);
  const Value *probability = node_named_input(node, "p");
  double p = 0;
  if (probability && (!constant_double(probability, &p) || !(p >= 0 && p <= 1))) return false;
  return op && op->flags & OP_EVAL_IDENTITY && node_is_in_eval(node);
}

static void remove_in(const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) remove_in(node->blocks[i]);
    if (is_identity(node) && jit_opt_limit(FILE_NAME)) replace_node(node, node_input(node, 0));
  }
}

void remove_dropout(Graph *graph) {
  remove_in(graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After RemoveDropout: ", graph);
}

PASS(remove_dropout, GRADIENTS, remove_dropout(graph), "removes dropout that does not train");
