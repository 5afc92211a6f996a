/* Guards in place of profiles. A guard promises for as long as its value lives, so it promises nothing that a write may
 * change: requires_grad where somebody writes or grad mode changes, sizes where somebody reshapes. Between prim::Enter
 * and prim::Exit there are none: a bailout could not take the open `with` along. */
#include "pass/tensor_facts.h"
#include "type/tensor_type.h"

typedef struct Inserter {
  Graph *graph;
  bool reshapes, writes, changes_grad_mode; /* somewhere in the graph */
} Inserter;

static void scan(Inserter *s, const Block *block) {
  for (const Node *node = block->param->next; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->block_count; i++) scan(s, node->blocks[i]);
    if (node->kind == SYM_prim_profile) continue;
    const FunctionSchema *schema = node_schema(node);
    s->writes |= schema && schema->is_mutable;
    s->reshapes |= node_may_reshape(node);
    s->changes_grad_mode |= node_may_change_grad_mode(node);
  }
}

static const Type *guarded_type(Inserter *s, const Node *profile) {
  const Type *type = node_output(profile, 0)->type;
  if (type->kind != TYPE_TENSOR || !type->tensor) return NULL;
  TensorInfo info = *type->tensor;
  if (s->writes || s->changes_grad_mode || s->reshapes) info.requires_grad = -1;
  if (s->reshapes) {
    info.ndim = -1;
    info.has_sizes = info.has_strides = false;
  }
  return tensor_info_is_known(&info) ? type_tensor_refined(s->graph->store, &info) : NULL;
}

static void walk(Inserter *s, Block *block, int open) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_Enter) open++;
    if (node->kind == SYM_prim_Exit) open--;
    for (uint32_t i = 0; i < node->block_count; i++) walk(s, node->blocks[i], open);
    if (node->kind != SYM_prim_profile) continue;
    const Type *type = open == 0 && node->output_count ? guarded_type(s, node) : NULL;
    Value *input = node->input_count ? node_input(node, 0) : NULL;
    if (type && jit_opt_limit("insert_guards")) {
      Node *guard = graph_create(s->graph, SYM_prim_Guard, 1, &input, 1);
      guard->range = node->range;
      node_output(guard, 0)->type = type;
      node_insert_before(guard, node);
      value_replace_all_uses_with(node_output(node, 0), node_output(guard, 0));
    } else if (node->output_count) {
      value_replace_all_uses_with(node_output(node, 0), input);
    }
    node_destroy(node);
  }
}

void insert_guards(Graph *graph) {
  Inserter s = {.graph = graph};
  scan(&s, graph->block);
  walk(&s, graph->block, 0);
}
