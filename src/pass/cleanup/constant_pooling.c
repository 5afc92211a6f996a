/* Constant pooling: equal constants become one, and all stand at the top of the graph. Constants are immutable, so
 * sharing them is invisible; tensors and members of enums are shared only when they are one object, as in PyTorch. */
#include "ir/graph_log.h"
#include "pass/pass.h"

#define FILE_NAME "constant_pooling"

/* Most constants are no more than a number: their keys are three words, of which the first is no text's beginning. */
static bool is_number(IValue value, uint64_t *out_bits) {
  if (value.tag == TAG_FLOAT)
    memcpy(out_bits, &value.f, sizeof *out_bits);
  else if (value.tag == TAG_INT)
    *out_bits = (uint64_t)value.i;
  else if (value.tag == TAG_BOOL || value.tag == TAG_NONE)
    *out_bits = value.tag == TAG_BOOL && value.b;
  else
    return false;
  return true;
}
static Str key_of_number(Graph *graph, const Type *type, uint32_t tag, uint64_t bits) {
  uint64_t words[] = {(uint64_t)tag << 8, (uint64_t)(uintptr_t)type, bits};
  return (Str){arena_strndup(graph->arena, (const char *)words, sizeof words), sizeof words};
}

/* A text that is equal exactly for equal constants. */
static Str key_of(Graph *graph, const Node *node) {
  const Value *output = node_output(node, 0);
  const NodeAttribute *name = node_attribute(node, SYM_attr_name);
  IValue value;
  uint64_t bits;
  bool is_constant = value_is_constant(output, &value);
  if (is_constant && !name && is_number(value, &bits)) return key_of_number(graph, output->type, value.tag, bits);
  StrBuf text = {0};
  type_print(output->type, &text);
  strbuf_char(&text, '|');
  if (name) {
    strbuf_printf(&text, "function %p", (void *)output->type->function);
  } else if (!is_constant) {
    strbuf_printf(&text, "node %p", (void *)node);
  } else if (value.tag == TAG_TENSOR || value.tag == TAG_OBJECT || value.tag == TAG_ENUM) {
    strbuf_printf(&text, "object %p", (void *)value.counted);
  } else {
    strbuf_printf(&text, "%u:", value.tag);
    Status status = ivalue_print_repr(value, &text);
    if (status) {
      status_free(status);
      strbuf_printf(&text, "node %p", (void *)node);
    }
  }
  return arena_take_text(graph->arena, &text);
}

static void pool_in(Graph *graph, Block *block, Map *seen) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) pool_in(graph, node->blocks[i], seen);
    if (node->kind != SYM_prim_Constant) continue;
    Str key = key_of(graph, node);
    Node *first = map_get(seen, key);
    if (first && !jit_opt_limit(FILE_NAME)) continue;
    if (first) {
      NODE_LOG_UPDATE(FILE_NAME, "a second one:", node);
      value_replace_all_uses_with(node_output(node, 0), node_output(first, 0));
      node_destroy(node);
      continue;
    }
    map_put(seen, key, node);
    Node *top = graph->block->param->next;
    if (node != top) node_move_before(node, top);
  }
}

void constant_pooling(Graph *graph) {
  Map seen;
  map_init(&seen, graph->arena);
  pool_in(graph, graph->block, &seen);
  GRAPH_LOG_DUMP(FILE_NAME, "After ConstantPooling: ", graph);
}

PASS(constant_pooling, GRADIENTS, constant_pooling(graph), "keeps one of equal constants, at the start of the graph");
