/* requires_grad of every tensor, as far as the inputs' types tell. What is unknown stays unknown. */
#include "pass/tensor_facts.h"
#include "type/tensor_type.h"

static void propagate_block(Graph *graph, Block *block);

static int of_value(const Value *v) {
  return v->type->kind == TYPE_TENSOR && v->type->tensor ? v->type->tensor->requires_grad : -1;
}

/* True: the type changed. */
static bool set(Graph *graph, Value *v, int requires_grad) {
  if (v->type->kind != TYPE_TENSOR || of_value(v) == requires_grad) return false;
  const TensorInfo *info = v->type->tensor;
  bool never =
      info && info->dtype >= 0 && !dtype_is_floating((DType)info->dtype) && !dtype_is_complex((DType)info->dtype);
  if (never && requires_grad == 1) requires_grad = 0;
  const Type *type = type_with_requires_grad(graph->store, v->type, requires_grad);
  bool changed = type != v->type;
  v->type = type;
  return changed;
}

static int join(int a, int b) {
  return a == b ? a : -1;
}

static void propagate_loop(Graph *graph, Node *node) {
  Block *body = node->blocks[0];
  for (uint32_t i = 0; i < node->output_count; i++)
    set(graph, block_input(body, i + 1), of_value(node_input(node, i + 2)));
  for (bool again = true; again;) { /* facts only get fewer, so at most as many turns as carried values, and one */
    again = false;
    propagate_block(graph, body);
    for (uint32_t i = 0; i < node->output_count; i++) {
      Value *carried = block_input(body, i + 1);
      again |= set(graph, carried, join(of_value(carried), of_value(block_output(body, i + 1))));
    }
  }
  for (uint32_t i = 0; i < node->output_count; i++)
    set(graph, node_output(node, i), of_value(block_input(body, i + 1)));
}

static void propagate_block(Graph *graph, Block *block) {
  BLOCK_EACH(node, block) {
    switch (node->kind) {
      case SYM_prim_Constant:
      case SYM_prim_Guard:
      case SYM_prim_BailOut:
        continue; /* they know */
      case SYM_prim_profile:
        if (node->output_count) set(graph, node_output(node, 0), of_value(node_input(node, 0)));
        continue;
      case SYM_prim_Loop:
        propagate_loop(graph, node);
        continue;
      case SYM_prim_If:
        for (int b = 0; b < 2; b++) propagate_block(graph, node->blocks[b]);
        for (uint32_t i = 0; i < node->output_count; i++)
          set(graph, node_output(node, i),
              join(of_value(block_output(node->blocks[0], i)), of_value(block_output(node->blocks[1], i))));
        continue;
      case SYM_prim_TupleUnpack: {
        const Node *made = node_input(node, 0)->node;
        for (uint32_t i = 0; i < node->output_count && made->kind == SYM_prim_TupleConstruct; i++)
          set(graph, node_output(node, i), of_value(node_input(made, i)));
        continue;
      }
      default:
        break;
    }
    for (uint32_t i = 0; i < node->block_count; i++) propagate_block(graph, node->blocks[i]);
    int requires_grad = node_results_require_grad(node);
    for (uint32_t i = 0; i < node->output_count; i++) set(graph, node_output(node, i), requires_grad);
  }
}

void propagate_requires_grad(Graph *graph) {
  propagate_block(graph, graph->block);
}
