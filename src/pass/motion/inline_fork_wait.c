/* Forks run where they stand and waits take their results, where a fork's Future goes to waits alone. */
#include "ir/graph_log.h"

#include <assert.h>

#include "pass/pass.h"
#include "report/jit_log.h"

#define FILE_NAME "inline_fork_wait"

static bool is_only_awaited(const Value *future) {
  for (size_t i = 0; i < future->uses.length; i++)
    if (future->uses.data[i].user->kind != SYM_aten_wait) return false;
  return true;
}

static void inline_fork(Graph *graph, Node *fork) {
  assert(fork->kind == SYM_prim_fork);
  const NodeAttribute *attribute = node_attribute(fork, SYM_attr_Subgraph);
  if (!attribute || fork->output_count != 1 || !is_only_awaited(node_output(fork, 0))) return;
  const Graph *body = attribute->g;
  if (graph_output_count(body) != 1 || graph_input_count(body) != fork->input_count || !jit_opt_limit(FILE_NAME))
    return;
  Value **inputs = ARENA_ARRAY(graph->arena, Value *, fork->input_count + 1), *result;
  for (uint32_t i = 0; i < fork->input_count; i++) inputs[i] = node_input(fork, i);
  Node *saved = graph->insert_before;
  graph_set_insert_point(graph, fork);
  graph_inline(graph, body, inputs, &result);
  graph->insert_before = saved;
  Value *future = node_output(fork, 0);
  while (future->uses.length) {
    Node *wait = future->uses.data[0].user;
    value_replace_all_uses_with(node_output(wait, 0), result);
    node_destroy(wait);
  }
  JIT_LOG_UPDATE(FILE_NAME, "a fork runs where it stands");
  node_destroy(fork);
}

static void inline_in(Graph *graph, Block *block) {
  for (Node *node = block->ret->prev, *before; node != block->param; node = before) {
    before = node->prev;
    for (uint32_t i = 0; i < node->block_count; i++) inline_in(graph, node->blocks[i]);
    if (node->kind == SYM_prim_fork) inline_fork(graph, node);
  }
}

void inline_fork_wait(Graph *graph) {
  inline_in(graph, graph->block);
  graph->insert_before = graph->block->ret;
  GRAPH_LOG_DUMP(FILE_NAME, "After InlineForkWait: ", graph);
}

PASS(inline_fork_wait, GRADIENTS, inline_fork_wait(graph), "runs forks where they stand");
