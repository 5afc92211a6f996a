/* Forks of lifted closures: the context's values become the fork's inputs and its Subgraph's. */
#include "pass/pass.h"

static _Noreturn void fail(Graph *graph) {
  catch_throw(graph->arena->catch_point, status_new(ERROR_COMPILE, "Cannot fork this value"));
}

static void inline_one(Node *fork_closure, void (*clean_up)(Graph *graph, void *argument), void *argument) {
  Graph *graph = fork_closure->graph;
  Node *pair = node_input(fork_closure, 0)->node;
  if (pair->kind != SYM_prim_TupleConstruct || pair->input_count != 2) fail(graph);
  Node *closure = node_input(pair, 0)->node, *context = node_input(pair, 1)->node;
  if (closure->kind != SYM_prim_Closure || context->kind != SYM_prim_TupleConstruct) fail(graph);
  const NodeAttribute *attribute = node_attribute(closure, SYM_attr_Subgraph);
  if (!attribute) fail(graph);
  Node *fork = graph_create(graph, SYM_prim_fork, 0, NULL, 1);
  Graph *subgraph = graph_copy(attribute->g, graph->arena, graph->store);
  node_set_graph(fork, SYM_attr_Subgraph, subgraph);
  Value *packed = graph_input(subgraph, 0);
  Node *unpack = NULL;
  for (size_t i = 0; i < packed->uses.length; i++)
    if (packed->uses.data[i].user->kind == SYM_prim_TupleUnpack) unpack = packed->uses.data[i].user;
  node_insert_after(fork, fork_closure);
  node_copy_metadata(fork, fork_closure);
  for (uint32_t i = 0; i < context->input_count; i++) {
    Value *value = node_input(context, i);
    node_add_input(fork, value);
    Value *input = block_insert_input(subgraph->block, i, value->name, value->type);
    if (unpack) value_replace_all_uses_with(node_output(unpack, i), input);
  }
  if (unpack) node_destroy(unpack);
  block_erase_input(subgraph->block, context->input_count);
  Value *old = node_output(fork_closure, 0), *result = node_output(fork, 0);
  result->type = old->type;
  Str name = old->name;
  value_replace_all_uses_with(old, result);
  node_destroy(fork_closure);
  if (name.length) value_set_name(result, name);
  clean_up(subgraph, argument);
}

static void inline_in(Block *block, void (*clean_up)(Graph *graph, void *argument), void *argument) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) inline_in(node->blocks[i], clean_up, argument);
    if (node->kind == SYM_prim_forkClosure) inline_one(node, clean_up, argument);
  }
}

void inline_forked_closures(Graph *graph, void (*clean_up)(Graph *graph, void *argument), void *argument) {
  inline_in(graph->block, clean_up, argument);
}
