/* Removes dropout that does not train: it is the identity. In-place forms go too, for they write nothing then. */
#include "pass/pass.h"
#include "pass/rewrite.h"

#define FILE_NAME "remove_dropout"

static bool is_dropout(Symbol kind) {
  switch (kind) {
    case SYM_aten_dropout:
    case SYM_aten_dropout_:
    case SYM_aten_feature_dropout:
    case SYM_aten_feature_dropout_:
    case SYM_aten_alpha_dropout:
    case SYM_aten_alpha_dropout_:
    case SYM_aten_feature_alpha_dropout:
    case SYM_aten_feature_alpha_dropout_:
      return true;
    default:
      return false;
  }
}

static void remove_in(const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) remove_in(node->blocks[i]);
    if (is_dropout(node->kind) && node->input_count == 3 && constant_is_bool(node_input(node, 2), false) &&
        jit_opt_limit(FILE_NAME))
      replace_node(node, node_input(node, 0));
  }
}

void remove_dropout(Graph *graph) {
  remove_in(graph->block);
}
