/* For exporters: operators in place become functional wherever they stand. Views do not see it. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/remove_mutation.h"

#define FILE_NAME "remove_inplace_ops"

/* Whether everything that sees the value after `node` stands after it in its block, so that it can be given the result
 * instead: not where the value comes from around a branch or a loop that holds the node. */
static bool is_seen_after_only(const Value *value, const Node *node) {
  const Block *block = node->owning_block;
  for (size_t i = 0; i < value->uses.length; i++)
    if (!node_is_in_block(value->uses.data[i].user, block)) return false;
  for (; block != value->node->owning_block; block = block->owning_node->owning_block)
    if (block->owning_node->kind == SYM_prim_Loop) return false; /* the next iteration sees it too */
  return true;
}

static void make_functional(Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) make_functional(node->blocks[i]);
    Symbol kind = write_functional_kind(node);
    Value *written = kind == SYMBOL_NONE ? NULL : node_input(node, 0);
    if (!written || !is_seen_after_only(written, node) || !jit_opt_limit(FILE_NAME)) continue;
    Node *plain = write_insert_functional(node, kind);
    if (!plain) continue;
    value_replace_all_uses_after(written, node, node_output(plain, 0));
    value_replace_all_uses_with(node_output(node, 0), node_output(plain, 0));
    node_destroy(node);
  }
}

void remove_inplace_ops(Graph *graph) {
  make_functional(graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After RemoveInplaceOps: ", graph);
}

PASS(remove_inplace_ops, NOTHING, remove_inplace_ops(graph), "makes operators in place functional, for exporters");
