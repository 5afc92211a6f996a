/* Local rewrites that need no analysis: tests for None that the type decides, casts and unwraps to the type a value
 * has. Every rule removes a node or replaces it by a constant, so one walk is enough to end. */
#include "pass/pass.h"

static bool is_none(const Value *v) {
  return v->type->kind == TYPE_NONE;
}

static bool is_never_none(const Type *type) {
  switch (type->kind) {
    case TYPE_ANY:
    case TYPE_NONE:
    case TYPE_OPTIONAL:
    case TYPE_UNION:
    case TYPE_VAR:
    case TYPE_ERROR:
      return false;
    case TYPE_TENSOR:
      return true;
    default:
      return true;
  }
}

static Value *known_bool(Graph *graph, Node *node, bool value) {
  graph_set_insert_point(graph, node);
  return graph_insert_constant(graph, ivalue_bool(value), NULL);
}

/* The value that node's only output is the same as; NULL: no rule fits. */
static Value *rewrite(Graph *graph, Node *node) {
  switch (node->kind) {
    case SYM_aten___is__:
    case SYM_aten___isnot__: {
      if (node->input_count != 2) return NULL;
      const Value *a = node_input(node, 0), *b = node_input(node, 1);
      bool is = node->kind == SYM_aten___is__;
      if (is_none(a) && is_none(b)) return known_bool(graph, node, is);
      if ((is_none(a) && is_never_none(b->type)) || (is_none(b) && is_never_none(a->type)))
        return known_bool(graph, node, !is);
      return NULL;
    }
    case SYM_prim_unchecked_unwrap_optional:
    case SYM_aten__unwrap_optional: {
      Value *v = node_input(node, 0);
      return is_never_none(v->type) ? v : NULL;
    }
    case SYM_prim_unchecked_cast: {
      Value *v = node_input(node, 0);
      return v->type->kind != TYPE_TENSOR && type_is_subtype(v->type, node->outputs[0]->type, NULL) ? v : NULL;
    }
    case SYM_aten_Float:
      return node_input(node, 0)->type->kind == TYPE_FLOAT ? node_input(node, 0) : NULL;
    case SYM_aten_Int:
      return node_input(node, 0)->type->kind == TYPE_INT ? node_input(node, 0) : NULL;
    case SYM_aten_Bool:
      return node_input(node, 0)->type->kind == TYPE_BOOL ? node_input(node, 0) : NULL;
    case SYM_aten___not__: {
      const Node *inner = node_input(node, 0)->node;
      return inner->kind == SYM_aten___not__ ? node_input(inner, 0) : NULL;
    }
    default:
      return NULL;
  }
}

static void rewrite_block(Graph *graph, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) rewrite_block(graph, node->blocks[i]);
    if (node->output_count != 1) continue;
    Value *with = rewrite(graph, node);
    if (!with) continue;
    value_replace_all_uses_with(node->outputs[0], with);
    node_destroy(node);
  }
}

void peephole(Graph *graph) {
  rewrite_block(graph, graph->block);
  graph->insert_before = graph->block->ret;
}
