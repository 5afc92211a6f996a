/* wick_node_group: nodes of one block become the Subgraph of one node. */
#include <assert.h>

#include "api/handles.h"
#include "api/ir_handles.h"

typedef struct Grouping {
  Graph *graph, *subgraph;
  Node *const *nodes;
  uint32_t count;
  Symbol kind;
  PtrMap members, inner; /* nodes; value outside -> value inside */
  Node *group;
} Grouping;

static Value *value_inside(Value *value, void *argument);

static Value *copy_constant(Grouping *g, Node *constant) {
  Node *copy = node_copy(constant, g->subgraph, NULL, NULL);
  node_insert_after(copy, g->subgraph->block->param);
  return node_output(copy, 0);
}

static Value *value_inside(Value *value, void *argument) {
  Grouping *g = argument;
  Value *inside = ptrmap_get(&g->inner, value);
  if (inside) return inside;
  if (value->node->kind == SYM_prim_Constant) {
    inside = copy_constant(g, value->node);
  } else {
    node_add_input(g->group, value);
    inside = graph_add_input(g->subgraph, STR(""), value->type);
  }
  ptrmap_put(&g->inner, value, inside);
  return inside;
}

static bool used_outside(const Grouping *g, const Value *value) {
  for (size_t i = 0; i < value->uses.length; i++) {
    const Node *user = value->uses.data[i].user;
    while (user->owning_block != g->nodes[0]->owning_block) user = user->owning_block->owning_node;
    if (!ptrmap_has(&g->members, user)) return true;
  }
  return false;
}

static void move_in(Grouping *g, Node *node) {
  Node *copy = node_copy(node, g->subgraph, value_inside, g);
  node_insert_before(copy, g->subgraph->block->ret);
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *output = node_output(node, i);
    ptrmap_put(&g->inner, output, node_output(copy, i));
    if (!used_outside(g, output)) continue;
    graph_register_output(g->subgraph, node_output(copy, i));
    node_add_output(g->group, output->type);
  }
}

static _Noreturn void refuse(const Grouping *g, const Node *node, const char *why) {
  Str kind = symbol_name(node->kind);
  catch_throw(g->graph->arena->catch_point, status_new(ERROR_INVALID_ARGUMENT, STR_FMT " %s", STR_ARG(kind), why));
}

static bool only_computes(const Node *node) {
  if (node_has_side_effects(node) || node_writes(node)) return false;
  for (uint32_t b = 0; b < node->block_count; b++) {
    BLOCK_EACH(inner, node->blocks[b]) if (!only_computes(inner)) return false;
  }
  return true;
}

/* Members run where the last one stands: what lies between may neither need what they give nor write what they read. */
static void check_between(Grouping *g, const Node *last) {
  for (uint32_t i = 0; i < g->count; i++)
    for (uint32_t k = 0; k < g->nodes[i]->output_count; k++) {
      const Value *output = node_output(g->nodes[i], k);
      for (size_t u = 0; u < output->uses.length; u++) {
        const Node *user = output->uses.data[u].user;
        while (user->owning_block != last->owning_block) user = user->owning_block->owning_node;
        if (!ptrmap_has(&g->members, user) && node_is_before(user, last))
          refuse(g, user, "stands between the nodes and needs what they give");
      }
    }
  for (const Node *node = g->nodes[0]; node != last; node = node->next)
    if (!ptrmap_has(&g->members, node) && !only_computes(node))
      refuse(g, node, "stands between the nodes and has effects");
}

static void check_nodes(Grouping *g) {
  assert(g->count > 0);
  for (uint32_t i = 0; i < g->count; i++) {
    Node *node = g->nodes[i];
    if (node->graph != g->graph || node->owning_block != g->nodes[0]->owning_block)
      refuse(g, node, "stands in another block");
    if (i && !node_is_before(g->nodes[i - 1], node)) refuse(g, node, "is not in the block's order");
    if (!only_computes(node)) refuse(g, node, "has effects");
    ptrmap_put(&g->members, node, node);
  }
  check_between(g, g->nodes[g->count - 1]);
}

static void group(void *argument) {
  Grouping *g = argument;
  Arena *arena = g->graph->arena;
  ptrmap_init(&g->members, arena);
  ptrmap_init(&g->inner, arena);
  check_nodes(g);
  Node *last = g->nodes[g->count - 1];
  g->subgraph = graph_new(arena, g->graph->store);
  Node *made = g->group = graph_create(g->graph, g->kind, 0, NULL, 0);
  node_set_graph(made, SYM_attr_Subgraph, g->subgraph);
  made->range = last->range;
  made->inlined = last->inlined;
  for (uint32_t i = 0; i < g->count; i++) move_in(g, g->nodes[i]);
  node_insert_after(made, last);
  uint32_t next = 0;
  for (uint32_t i = 0; i < g->count; i++)
    for (uint32_t k = 0; k < g->nodes[i]->output_count; k++)
      if (used_outside(g, node_output(g->nodes[i], k)))
        value_replace_all_uses_with(node_output(g->nodes[i], k), node_output(made, next++));
  for (uint32_t i = g->count; i-- > 0;) node_destroy(g->nodes[i]);
}

wick_status wick_node_group(wick_node *const *nodes, size_t count, const char *kind, wick_node **out,
                            wick_error **error) {
  API_OUT(out);
  API_NEED(nodes);
  API_NEED_ITEMS(nodes, count);
  API_NEED(kind);
  if (!count || count > UINT32_MAX / 2)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "no nodes to group"), error);
  Grouping g = {.graph = node_of(nodes[0])->graph,
                .nodes = (Node *const *)nodes,
                .count = (uint32_t)count,
                .kind = symbol_intern(str_from(kind))};
  if (g.kind == SYMBOL_NONE)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "'%s' is no kind: a name like \"mine::group\" is", kind),
                      error);
  API_TRY(ir_protect(g.graph, group, &g));
  *out = (wick_node *)g.group;
  return WICK_OK;
}
