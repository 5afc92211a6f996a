/* One name for each operation: synonyms are rewritten, `rsub` is `sub` with its operands turned, `is` of bools is ==.
 */
#include <stdio.h>

#include "call/row.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "schema/schema.h"

#define FILE_NAME "normalize_ops"

/* The row says what it is another name of; its in-place form is one of that one's. What has more results is not the
 * same. */
static Symbol synonym_of(const Node *node) {
  const Operator *op = node_operator(node);
  if (!op || !op->row->same_as) return node->kind;
  const Operator *same = operator_find(str_from(op->row->same_as));
  if (!same || operator_schema(same)->return_count != operator_schema(op)->return_count) return node->kind;
  char name[64];
  snprintf(name, sizeof name, "%s%s", op->row->same_as, op->variant == VARIANT_INPLACE ? "_" : "");
  return symbol_intern(str_from(name));
}

static void rename_node(Node *node, Symbol kind) {
  node->kind = kind;
  node->op = NULL; /* resolved again */
}

static void normalize_in(Block *block, Symbol rsub) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) normalize_in(node->blocks[i], rsub);
    if (node->kind == rsub && node->input_count == 3 && node_input(node, 1)->type->kind == TYPE_TENSOR) {
      Value *self = node_input(node, 0), *other = node_input(node, 1);
      node_replace_input(node, 0, other);
      node_replace_input(node, 1, self);
      rename_node(node, SYM_aten_sub);
    } else if ((node->kind == SYM_aten___is__ || node->kind == SYM_aten___isnot__) && node->input_count == 2 &&
               node_input(node, 0)->type->kind == TYPE_BOOL && node_input(node, 1)->type->kind == TYPE_BOOL) {
      rename_node(node, node->kind == SYM_aten___is__ ? SYM_aten_eq : SYM_aten_ne);
    } else {
      Symbol kind = synonym_of(node);
      if (kind != node->kind) rename_node(node, kind);
    }
  }
}

void normalize_ops(Graph *graph) {
  normalize_in(graph->block, symbol_intern(STR("aten::rsub")));
  GRAPH_LOG_DUMP(FILE_NAME, "After NormalizeOps: ", graph);
}

PASS(normalize_ops, GRADIENTS, normalize_ops(graph), "gives synonyms one name");
