#include "interp/node_body.h"

#include "call/call_body.h"
#include "call/row_extras.h"
#include "interp/region_read.h"
#include "ir/subgraph.h"

/* Threads that come at once may make it twice: the first one's is kept. */
static Status make_code(NodeBody *b, const Code **out) {
  HEAP_SCOPE(b->graph->arena->heap); /* not the caller's, who may go first */
  Code *code, *other = NULL;
  TRY(code_compile(b->graph, STR("body"), &code));
  bool is_first = atomic_compare_exchange_strong(&b->code, &other, code);
  if (!is_first) code_free(code);
  *out = is_first ? code : other;
  return OK;
}

static Status run(const CallBody *body, Call *call) {
  NodeBody *b = (NodeBody *)body;
  const Code *code = atomic_load_explicit(&b->code, memory_order_acquire);
  if (!code) TRY(make_code(b, &code));
  return interp_run(call->exec, code, call->inputs, graph_input_count(b->graph), call->outputs, call->output_count);
}

NodeBody *node_body_new(const Node *node, const Operator *op, Arena *arena, bool outlived) {
  Graph *subgraph = operator_is_of_plans(op) ? node_subgraph(node) : NULL;
  if (!subgraph && !row_extras(op->row)->beside) return NULL;
  NodeBody *b = ARENA_NEW(arena, NodeBody);
  *b = (NodeBody){.body = {.name = op->name, .range = node->range, .run = subgraph ? run : NULL}, .graph = subgraph};
  if (subgraph && !outlived) {
    b->graph = b->own = graph_compact(subgraph, arena, subgraph->store, false);
    graph_seal(b->own); /* any thread may compile it */
  }
  if (node->kind == SYM_wick_region && subgraph && (b->body.region = region_read(b->graph, arena)))
    b->body.name = b->body.region->name;
  return b;
}

void node_body_free(void *body) {
  NodeBody *b = body;
  reason_counter_end(&b->body.declined);
  code_free(b->code);
  graph_dispose(b->own);
}
