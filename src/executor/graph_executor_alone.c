/* Executors of graphs without a function: they own a copy, with the sources it mentions. */
#include "executor/variant.h"
#include "pass/pass.h"

static void destroy_store(TypeStore *store) {
  type_store_dispose(store);
  mem_free(store);
}

static void hold_source(GraphExecutor *e, Node *node) {
  const Source *source = node->range.source;
  for (size_t i = 0; i < e->sources.length; i++)
    if (!source || e->sources.data[i] == source) return;
  if (!source) return;
  if (vec_reserve(&e->sources, e->sources.length + 1))
    e->sources.data[e->sources.length++] = source_retain(source);
  else
    node->range.source = NULL;
}

/* The copy outlives the plan that it comes from: no types of its store, no calls of functions that may be gone. */
static void forget_plan(GraphExecutor *e, const Block *block) {
  for (uint32_t i = 0; i < block_input_count(block); i++)
    block_input(block, i)->type = type_for_value(block_input(block, i)->type);
  BLOCK_EACH(node, block) {
    hold_source(e, node);
    for (uint32_t i = 0; i < node->output_count; i++)
      node_output(node, i)->type = type_for_value(node_output(node, i)->type);
    node->inlined = NULL;
    for (uint32_t i = 0; i < node->block_count; i++) forget_plan(e, node->blocks[i]);
  }
}

typedef struct Copy {
  GraphExecutor *executor;
  const Graph *from;
  Graph *to, *lowered;
  Str name;
} Copy;

static void copy_body(void *argument) {
  Copy *c = argument;
  TypeStore *store = c->executor->store;
  c->to = graph_compact(c->from, &store->arena, store, false);
  forget_plan(c->executor, c->to->block);
  c->lowered = graph_copy(c->to, &store->arena, store);
  lower_grad_of(c->lowered);
  graph_seal(c->to);
  graph_seal(c->lowered);
  c->executor->name = (Str){arena_strndup(&store->arena, c->name.data, c->name.length), c->name.length};
}

Status graph_executor_new(const Graph *graph, Str name, const Services *services, GraphExecutor **out) {
  *out = NULL;
  GraphExecutor *e = graph_executor_alloc(NULL, name, services);
  TypeStore *store = mem_calloc(1, sizeof *store);
  Status status = e && store ? type_store_init(store, destroy_store) : status_out_of_memory();
  if (status) {
    if (e) executor_list_remove(&e->link), pthread_mutex_destroy(&e->lock);
    mem_free(e);
    mem_free(store);
    return status;
  }
  e->store = store;
  Copy copy = {e, graph, NULL, NULL, name};
  status = arena_protect(&store->arena, copy_body, &copy);
  e->graph = copy.to;
  e->lowered = copy.lowered;
  if (!status) {
    Code *code = NULL;
    status = code_compile(copy.lowered, e->name, &code);
    e->code = code;
  }
  if (status) {
    graph_executor_free(e);
    return status;
  }
  *out = e;
  return OK;
}

void graph_executor_release(GraphExecutor *executor) {
  if (executor && ref_release(&executor->refs)) graph_executor_free(executor);
}
