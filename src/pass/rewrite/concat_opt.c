/* aten::cat of what another aten::cat along the same dimension gave takes that one's tensors itself, where nobody
 * writes to them in between: each is copied once. */
#include "ir/constant.h"
#include "ir/graph_log.h"
#include "pass/motion/with_aliases.h"
#include "pass/pass.h"
#include "report/jit_log.h"

#define FILE_NAME "concat_opt"

enum { CONCAT_MAX_INPUTS = 1 << 12 };

/* The list of a concatenation that nothing else uses; NULL: not one. */
static Node *own_list(const Node *node) {
  if (node->kind != SYM_aten_cat || node->input_count != 2) return NULL;
  Value *list = node_input(node, 0);
  return list->node->kind == SYM_prim_ListConstruct && list->uses.length == 1 ? list->node : NULL;
}

static bool same_dim(const Value *a, const Value *b) {
  int64_t x, y;
  return a == b || (constant_int(a, &x) && constant_int(b, &y) && x == y);
}

static bool is_written(AliasDb *db, const Node *list) {
  for (uint32_t i = 0; i < list->input_count; i++)
    if (alias_has_writers(db, node_input(list, i))) return true;
  return false;
}

static void combine(AliasDb *db, Node *node) {
  Node *list = own_list(node);
  if (!list) return;
  for (uint32_t i = 0; i < list->input_count;) {
    Value *piece = node_input(list, i);
    Node *inner = piece->node, *inner_list = own_list(inner);
    if (!inner_list || piece->uses.length != 1 || !same_dim(node_input(node, 1), node_input(inner, 1)) ||
        inner_list->input_count + list->input_count > CONCAT_MAX_INPUTS || is_written(db, inner_list) ||
        !jit_opt_limit(FILE_NAME)) {
      i++;
      continue;
    }
    JIT_LOG_UPDATE(FILE_NAME, "%u tensors are concatenated once", inner_list->input_count);
    node_remove_input(list, i);
    for (uint32_t k = 0; k < inner_list->input_count; k++) node_insert_input(list, i + k, node_input(inner_list, k));
    node_destroy(inner);
    node_destroy(inner_list);
  }
}

/* Inner ones come first, so their lists are whole already. */
static void combine_in(AliasDb *db, Block *block) {
  for (Node *node = block->param->next; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->block_count; i++) combine_in(db, node->blocks[i]);
    combine(db, node);
  }
}

static void combine_all(Graph *graph, AliasDb *db, void *argument) {
  (void)argument;
  combine_in(db, graph->block);
}

void concat_opt(Graph *graph) {
  with_aliases(graph, combine_all, NULL);
  GRAPH_LOG_DUMP(FILE_NAME, "After combining concats: ", graph);
}

PASS(concat_opt, GRADIENTS, concat_opt(graph), "makes concatenations of concatenations one");
