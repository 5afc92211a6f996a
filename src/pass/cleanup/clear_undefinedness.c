/* Forgets which tensors are undefined: graphs of second derivatives inherit it from graphs that were profiled, and it
 * need not hold for them. */
#include "ir/graph_log.h"
#include "pass/pass.h"

#define FILE_NAME "clear_undefinedness"

static const Type *cleared(TypeStore *store, const Type *type) {
  if (!type->has_refinement) return type;
  if (type->kind == TYPE_TENSOR) {
    if (type->tensor->undefined < 0) return type;
    TensorInfo info = *type->tensor;
    info.undefined = -1;
    return type_tensor_refined(store, &info);
  }
  return type->kind == TYPE_LIST || type->kind == TYPE_OPTIONAL
             ? type_wrapped(store, (TypeKind)type->kind, cleared(store, type->elements[0]))
             : type_without_refinement(store, type);
}

static void clear(Graph *graph, Block *block) {
  for (Node *node = block->param; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->output_count && node->kind != SYM_prim_Constant; i++) {
      Value *v = node_output(node, i);
      v->type = cleared(graph->store, v->type);
    }
    for (uint32_t i = 0; i < node->block_count; i++) clear(graph, node->blocks[i]);
  }
}

void clear_undefinedness(Graph *graph) {
  clear(graph, graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After removeUndefinedness: ", graph);
}

PASS(clear_undefinedness, GRADIENTS, clear_undefinedness(graph), "no type says that a tensor is undefined");
