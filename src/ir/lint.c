/* Lint: says what is broken in a graph. Checks rings and owners, order, block scope, use lists and inputs against each
 * other, names, and that every node has the form of its kind (node_form.h): what passes rely on without asking. */
#include "ir/node_form.h"

typedef struct Linter {
  const Graph *graph;
  PtrMap in_scope;          /* Value -> itself, of all open blocks */
  VEC(const Value *) scope; /* in order, so that a block's end closes it */
} Linter;

static Status broken(const Node *node, const char *what) {
  StrBuf text = {.max_length = 4096};
  if (node->kind != SYM_prim_Param && node->kind != SYM_prim_Return) node_print(node, &text);
  Status status = status_new(ERROR_INVALID_ARGUMENT, "broken graph: %s\n" STR_FMT, what, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

static Status check_uses(const Node *node, const Value *value) {
  for (size_t i = 0; i < value->uses.length; i++) {
    Use use = value->uses.data[i];
    if (use.user->destroyed) return broken(node, "an output is used by a destroyed node");
    if (use.offset >= use.user->input_count || node_input(use.user, use.offset) != value)
      return broken(node, "a use does not match the user's input");
    if (use.user->inputs[use.offset].use_index != i) return broken(node, "an input does not know its use");
  }
  return OK;
}

static Status define(Linter *l, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    const Value *value = node->outputs[i];
    if (value->node != node || value->offset != i) return broken(node, "an output does not know its node");
    if (!value->type) return broken(node, "an output has no type");
    if (value->name.length && !value->node->graph->is_compact && map_get(&l->graph->names, value->name) != value)
      return broken(node, "the name of an output is not in the graph's table");
    TRY(check_uses(node, value));
    if (!ptrmap_put(&l->in_scope, value, (void *)value) || !vec_push(&l->scope, value)) return status_out_of_memory();
  }
  return OK;
}

static Status check_inputs(Linter *l, const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++) {
    const Value *value = node_input(node, i);
    if (!value) return broken(node, "an input is missing");
    uint32_t use = node->inputs[i].use_index;
    if (use >= value->uses.length || value->uses.data[use].user != node || value->uses.data[use].offset != i)
      return broken(node, "an input is not among its value's uses");
    if (ptrmap_get(&l->in_scope, value) != value)
      return broken(node, "an input is used outside its block or before its definition");
  }
  return OK;
}

static Status check_block(Linter *l, const Block *block) {
  size_t outer = l->scope.length;
  if (block->graph != l->graph || block->param->owning_block != block || block->ret->owning_block != block)
    return broken(block->ret, "a block belongs to another graph");
  TRY(define(l, block->param));
  const Node *before = block->param;
  for (const Node *node = before->next;; before = node, node = node->next) {
    if (node->prev != before || node->owning_block != block || node->graph != l->graph || node->destroyed)
      return broken(node, "a node is not linked as its neighbours say");
    if (node->position <= before->position) return broken(node, "positions are out of order");
    TRY(check_inputs(l, node));
    if (node == block->ret) break;
    const char *misfit;
    TRY(node_check_form(node, &misfit));
    if (misfit) return broken(node, misfit);
    for (uint32_t i = 0; i < node->block_count; i++) {
      if (node->blocks[i]->owning_node != node) return broken(node, "a block does not know its node");
      TRY(check_block(l, node->blocks[i]));
    }
    TRY(define(l, node));
  }
  while (l->scope.length > outer)
    if (!ptrmap_put(&l->in_scope, vec_pop(&l->scope), NULL)) return status_out_of_memory();
  return OK;
}

Status graph_check(const Graph *graph) {
  if (!graph_fits_stack(graph)) return graph_too_deep();
  Linter l = {.graph = graph};
  ptrmap_init(&l.in_scope, NULL);
  Status status = check_block(&l, graph->block);
  ptrmap_dispose(&l.in_scope);
  vec_dispose(&l.scope);
  return status;
}

Status graph_lint(const Graph *graph) {
  Status broken = graph_check(graph);
  if (!broken || broken->code != ERROR_INVALID_ARGUMENT) return broken;
  Status status = status_internal("%s", broken->message);
  status_free(broken);
  return status;
}
