/* Lifts closures. Needs SSA. A closure's value becomes the tuple (function, context). */
#include "pass/pass.h"

#include <assert.h>

typedef struct Lift {
  Graph *outer, *subgraph;
  Node *pack, *unpack;
  PtrMap captures; /* value outside -> value inside */
  const Block *block;
} Lift;

static Value *capture(Value *value, void *argument) {
  Lift *lift = argument;
  Value *inside = ptrmap_get(&lift->captures, value);
  if (inside) return inside;
  node_add_input(lift->pack, value);
  inside = node_add_output(lift->unpack, value->type);
  if (value->name.length) value_set_name(inside, value->name);
  ptrmap_put(&lift->captures, value, inside);
  return inside;
}

static void lift_one(Node *closure, void (*clean_up)(Graph *graph, void *argument), void *argument) {
  assert(closure->block_count == 1);
  Graph *graph = closure->graph;
  Lift lift = {.outer = graph, .subgraph = graph_new(graph->arena, graph->store), .block = closure->blocks[0]};
  node_set_graph(closure, SYM_attr_Subgraph, lift.subgraph);
  ptrmap_init(&lift.captures, graph->arena);
  lift.pack = graph_create(graph, SYM_prim_TupleConstruct, 0, NULL, 1);
  node_insert_after(lift.pack, closure);
  lift.unpack = graph_create(lift.subgraph, SYM_prim_TupleUnpack, 0, NULL, 0);
  block_clone_into(lift.subgraph->block, closure->blocks[0], capture, &lift);
  Value *context = graph_add_input(lift.subgraph, STR("context"), TYPE(NONE));
  node_add_input(lift.unpack, context);
  node_insert_after(lift.unpack, lift.subgraph->block->param);
  const Type **types = ARENA_ARRAY(graph->arena, const Type *, lift.pack->input_count + 1);
  for (uint32_t i = 0; i < lift.pack->input_count; i++) types[i] = node_input(lift.pack, i)->type;
  const Type *context_type = type_tuple(graph->store, lift.pack->input_count, types);
  context->type = context_type;
  node_output(lift.pack, 0)->type = context_type;

  Value *closure_value = node_output(closure, 0);
  Node *pair = graph_create(graph, SYM_prim_TupleConstruct, 0, NULL, 1);
  node_insert_after(pair, lift.pack);
  value_replace_all_uses_with(closure_value, node_output(pair, 0));
  node_add_input(pair, closure_value);
  node_add_input(pair, node_output(lift.pack, 0));
  node_output(pair, 0)->type = type_tuple(graph->store, 2, (const Type *[]){closure_value->type, context_type});
  node_erase_block(closure, 0);
  clean_up(lift.subgraph, argument);
}

static void lift_in(Block *block, void (*clean_up)(Graph *graph, void *argument), void *argument) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_Closure && node->block_count) {
      lift_one(node, clean_up, argument);
      continue;
    }
    for (uint32_t i = 0; i < node->block_count; i++) lift_in(node->blocks[i], clean_up, argument);
  }
}

void lift_closures(Graph *graph, void (*clean_up)(Graph *graph, void *argument), void *argument) {
  lift_in(graph->block, clean_up, argument);
}
