/* requires_grad of every tensor, as far as the inputs' types tell and it lasts (lasting_facts.h). What is unknown stays
 * unknown. */
#include <assert.h>

#include "ir/graph_log.h"
#include "ir/node_kind.h"
#include "pass/pass.h"
#include "pass/types/lasting_facts.h"
#include "pass/types/tensor_facts.h"

#define FILE_NAME "requires_grad_analysis"

typedef struct Propagation {
  Graph *graph;
  LastingFacts lasting;
} Propagation;

static void propagate_block(Propagation *p, Block *block);

static int of_value(const Value *v) {
  return v->type->kind == TYPE_TENSOR && v->type->tensor ? v->type->tensor->requires_grad : -1;
}

/* True: the type changed. */
static bool set(Propagation *p, Value *v, int requires_grad) {
  assert(requires_grad >= -1 && requires_grad <= 1);
  if (v->type->kind != TYPE_TENSOR || of_value(v) == requires_grad) return false;
  const TensorInfo *info = v->type->tensor;
  bool never =
      info && info->dtype >= 0 && !dtype_is_floating((DType)info->dtype) && !dtype_is_complex((DType)info->dtype);
  TypeStore *store = p->graph->store;
  const Type *type = type_with_requires_grad(store, v->type, never ? 0 : requires_grad);
  type = lasting_type(&p->lasting, store, v, type);
  bool changed = type != v->type;
  v->type = type;
  return changed;
}

static int join(int a, int b) {
  return a == b ? a : -1;
}

static void propagate_loop(Propagation *p, Node *node) {
  Block *body = node->blocks[0];
  for (uint32_t i = 0; i < node->output_count; i++) set(p, block_input(body, i + 1), of_value(node_input(node, i + 2)));
  for (bool again = true; again;) { /* facts only get fewer, so at most as many turns as carried values, and one */
    again = false;
    propagate_block(p, body);
    for (uint32_t i = 0; i < node->output_count; i++) {
      Value *carried = block_input(body, i + 1);
      again |= set(p, carried, join(of_value(carried), of_value(block_output(body, i + 1))));
    }
  }
  for (uint32_t i = 0; i < node->output_count; i++) set(p, node_output(node, i), of_value(block_input(body, i + 1)));
}

static void propagate_block(Propagation *p, Block *block) {
  BLOCK_EACH(node, block) {
    if (node_has_flag(node, KIND_IS_TYPED)) continue;
    switch (node->kind) {
      case SYM_prim_profile:
        if (node->output_count) set(p, node_output(node, 0), of_value(node_input(node, 0)));
        continue;
      case SYM_prim_Loop:
        propagate_loop(p, node);
        continue;
      case SYM_prim_If:
        for (int b = 0; b < 2; b++) propagate_block(p, node->blocks[b]);
        for (uint32_t i = 0; i < node->output_count; i++)
          set(p, node_output(node, i),
              join(of_value(block_output(node->blocks[0], i)), of_value(block_output(node->blocks[1], i))));
        continue;
      case SYM_prim_TupleUnpack: {
        const Node *made = node_input(node, 0)->node;
        for (uint32_t i = 0; i < node->output_count && made->kind == SYM_prim_TupleConstruct; i++)
          set(p, node_output(node, i), of_value(node_input(made, i)));
        continue;
      }
      default:
        break;
    }
    for (uint32_t i = 0; i < node->block_count; i++) propagate_block(p, node->blocks[i]);
    int requires_grad = node_results_require_grad(node);
    for (uint32_t i = 0; i < node->output_count; i++) set(p, node_output(node, i), requires_grad);
  }
}

static void propagate(Arena *scratch, void *argument) {
  Graph *graph = argument;
  Propagation p = {.graph = graph};
  lasting_facts_find(&p.lasting, graph, scratch);
  for (uint32_t i = 0; i < graph_input_count(graph); i++) {
    Value *v = graph_input(graph, i);
    v->type = lasting_type(&p.lasting, graph->store, v, v->type);
  }
  propagate_block(&p, graph->block);
}

void requires_grad_analysis(Graph *graph) {
  graph_with_scratch(graph, propagate, graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After PropagateRequiresGrad: ", graph);
}

PASS(requires_grad_analysis, GRADIENTS, requires_grad_analysis(graph),
     "requires_grad of tensors, forward from the inputs");
