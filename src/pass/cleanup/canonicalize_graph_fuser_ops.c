/* What the fuser understands: aten::chunk with constant arguments whose list is only taken apart becomes
 * prim::ConstantChunk with an output for each piece, and a constant tensor without dimensions becomes a number. */
#include "ir/constant.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "canonicalize_graph_fuser_ops"

enum { MAX_CHUNKS = 1 << 10 };

/* Every use of the list takes it apart: unpacks it into so many pieces, or selects one by a constant. Some use unpacks:
 * that fails if there are fewer pieces than asked for, as prim::ConstantChunk does, a selection need not. */
static bool only_taken_apart(const Value *list, int64_t chunks) {
  bool unpacked = false;
  for (size_t i = 0; i < list->uses.length; i++) {
    const Node *user = list->uses.data[i].user;
    int64_t at;
    if (user->kind == SYM_prim_ListUnpack) {
      if (user->output_count != chunks) return false;
      unpacked = true;
    } else if (user->kind == SYM_aten_select || user->kind == SYM_aten___getitem__) {
      if (user->input_count != 2 || !constant_int(node_input(user, 1), &at) || at < -chunks || at >= chunks)
        return false;
    } else {
      return false;
    }
  }
  return unpacked;
}

/* The users' nodes stay, without uses: dead code elimination takes them, and the walk goes on safely. */
static void rewrite_chunk(Graph *graph, Node *node) {
  int64_t chunks, dim;
  Value *list = node_output(node, 0);
  if (node->input_count != 3 || !constant_int(node_input(node, 1), &chunks) ||
      !constant_int(node_input(node, 2), &dim) || chunks < 1 || chunks > MAX_CHUNKS ||
      !only_taken_apart(list, chunks) || !jit_opt_limit(FILE_NAME))
    return;
  NODE_LOG_UPDATE(FILE_NAME, "becomes prim::ConstantChunk:", node);
  Node *chunk = graph_create(graph, SYM_prim_ConstantChunk, 1, (Value *[]){node_input(node, 0)}, (uint32_t)chunks);
  node_copy_metadata(chunk, node);
  chunk->inlined = node->inlined;
  node_set_int(chunk, SYM_attr_chunks, chunks);
  node_set_int(chunk, SYM_attr_dim, dim);
  node_insert_before(chunk, node);
  for (size_t i = 0; i < list->uses.length; i++) {
    Node *user = list->uses.data[i].user;
    if (user->kind == SYM_prim_ListUnpack) {
      for (uint32_t k = 0; k < user->output_count; k++) {
        node_output(chunk, k)->type = node_output(user, k)->type;
        value_replace_all_uses_with(node_output(user, k), node_output(chunk, k));
      }
    } else {
      int64_t at = 0;
      constant_int(node_input(user, 1), &at);
      value_replace_all_uses_with(node_output(user, 0), node_output(chunk, (uint32_t)(at < 0 ? at + chunks : at)));
    }
  }
}

static bool number_of(const Tensor *t, IValue *out) {
  if (dtype_is_floating((DType)t->dtype))
    *out = ivalue_float(tensor_item_double(t));
  else if (t->dtype == DTYPE_BOOL)
    *out = ivalue_bool(tensor_item_bool(t));
  else if (!dtype_is_complex((DType)t->dtype))
    *out = ivalue_int(tensor_item_int(t));
  else
    return false;
  return true;
}

/* A tensor without dimensions takes no part in promotion within its category, a number of that category neither. */
static void rewrite_scalar(Node *node) {
  IValue other, number;
  if (node->input_count < 2 || node_input(node, 0)->type->kind != TYPE_TENSOR ||
      !value_is_constant(node_input(node, 1), &other) || other.tag != TAG_TENSOR)
    return;
  const Tensor *t = other.tensor;
  if (!tensor_is_defined(t) || t->ndim || tensor_device(t).type != DEVICE_CPU || t->flags & TENSOR_OPAQUE) return;
  const TensorInfo *self = value_tensor(node_input(node, 0)); /* a tensor without dimensions would promote otherwise */
  if (!self || self->ndim < 1 || !number_of(t, &number) || !jit_opt_limit(FILE_NAME)) return;
  node_replace_input(node, 1, insert_constant_before(node, number, NULL));
}

static void rewrite_in(Graph *graph, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) rewrite_in(graph, node->blocks[i]);
    switch (node->kind) {
      case SYM_aten_chunk:
        rewrite_chunk(graph, node);
        break;
      case SYM_aten_add:
      case SYM_aten_sub:
      case SYM_aten_mul:
      case SYM_aten_div:
        rewrite_scalar(node);
        break;
      default:
        break;
    }
  }
}

void canonicalize_graph_fuser_ops(Graph *graph) {
  rewrite_in(graph, graph->block);
  dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After CanonicalizeOps: ", graph);
}

PASS(canonicalize_graph_fuser_ops, GRADIENTS, canonicalize_graph_fuser_ops(graph),
     "makes chunks whose pieces are known single nodes");
