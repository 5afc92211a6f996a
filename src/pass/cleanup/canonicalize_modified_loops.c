/* A prim::Loop that has both a trip count and a condition of its own is rewritten to a while loop that counts, because
 * exporters and the machine know counted loops and while loops only. */
#include "ir/graph_log.h"
#include "pass/pass.h"

#define FILE_NAME "canonicalize_modified_loops"

static bool is_modified(Node *loop) {
  IValue trips, first, next;
  bool first_true = value_is_constant(node_input(loop, 1), &first) && first.tag == TAG_BOOL && first.b;
  bool next_true = value_is_constant(block_output(loop->blocks[0], 0), &next) && next.tag == TAG_BOOL && next.b;
  if (first_true && next_true) return false;
  return !value_is_constant(node_input(loop, 0), &trips) || trips.i != INT64_MAX ||
         value_has_uses(block_input(loop->blocks[0], 0));
}

static Value *insert_call(Graph *graph, Symbol kind, Value *a, Value *b, const Type *type) {
  Node *node = graph_insert_node(graph, graph_create(graph, kind, 2, (Value *[]){a, b}, 1));
  node_output(node, 0)->type = type;
  return node_output(node, 0);
}

static void canonicalize_loop(Graph *graph, Node *loop) {
  Block *body = loop->blocks[0];
  Node *saved = graph->insert_before;
  graph_set_insert_point(graph, loop);
  Value *zero = graph_insert_constant(graph, ivalue_int(0), NULL),
        *one = graph_insert_constant(graph, ivalue_int(1), NULL);
  Value *trips = node_input(loop, 0), *condition = insert_call(graph, SYM_aten_gt, trips, zero, TYPE(BOOL));
  node_replace_input(loop, 0, graph_insert_constant(graph, ivalue_int(INT64_MAX), NULL));
  IValue first;
  if (!value_is_constant(node_input(loop, 1), &first) || first.tag != TAG_BOOL || !first.b)
    condition = insert_call(graph, SYM_aten___and__, condition, node_input(loop, 1), TYPE(BOOL));
  node_replace_input(loop, 1, condition);
  node_add_input(loop, zero);
  Value *index = block_add_input(body, STR(""), TYPE(INT));
  value_set_name(block_input(body, 0), STR(""));
  value_replace_all_uses_with(block_input(body, 0), index);

  graph_set_insert_block(graph, body);
  Value *next = insert_call(graph, SYM_aten_add, index, one, TYPE(INT));
  block_register_output(body, next);
  Value *more = insert_call(graph, SYM_aten_lt, next, trips, TYPE(BOOL));
  block_replace_output(body, 0, insert_call(graph, SYM_aten___and__, more, block_output(body, 0), TYPE(BOOL)));
  node_add_output(loop, TYPE(INT));
  graph->insert_before = saved;
}

static void canonicalize_in(Graph *graph, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) canonicalize_in(graph, node->blocks[i]);
    if (node->kind == SYM_prim_Loop && is_modified(node)) canonicalize_loop(graph, node);
  }
}

void canonicalize_modified_loops(Graph *graph) {
  canonicalize_in(graph, graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After CanonicalizeModifiedLoops: ", graph);
}

PASS(canonicalize_modified_loops, GRADIENTS, canonicalize_modified_loops(graph),
     "makes loops with trip count and condition while loops");
