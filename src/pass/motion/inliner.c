/* Puts the bodies of called functions and methods in place of their calls, and goes on in what was put there. Calls
 * that recurse, whose function is not compiled, or that would make the graph too large stay calls. */
#include "pass/motion/inliner.h"

#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "inliner"

const Function *inlined_callee(const Node *node) {
  const Type *type = node->input_count ? node_input(node, 0)->type : NULL;
  if (node->kind == SYM_prim_CallFunction && type && type->kind == TYPE_FUNCTION) return type->function;
  if (node->kind == SYM_prim_CallMethod && type && type->kind == TYPE_CLASS)
    return class_type_find_method(type->class_type, node_string(node, SYM_attr_name));
  return NULL;
}

static bool recurses(const Node *node, const Function *callee) {
  uint32_t depth = 0;
  for (const InlinedCall *call = node->inlined; call; call = call->caller)
    if (call->function == callee || ++depth > INLINE_MAX_DEPTH) return true;
  return false;
}

static uint32_t count_nodes(const Block *block) {
  uint32_t n = 0;
  BLOCK_EACH(node, block) {
    n++;
    for (uint32_t i = 0; i < node->block_count; i++) n += count_nodes(node->blocks[i]);
  }
  return n;
}

/* The names of the attributes that lead from the graph's self to the object whose method a node calls. */
static Str instance_of(const Node *node) {
  const Value *start = node->kind == SYM_prim_CallMethod ? node_input(node, 0) : NULL;
  const Value *value = start;
  size_t length = 0;
  for (; value && value->node->kind == SYM_prim_GetAttr; value = node_input(value->node, 0))
    length += node_string(value->node, SYM_attr_name).length + 1;
  if (!length || value->node->kind != SYM_prim_Param) return STR("");
  char *text = arena_alloc(node->graph->arena, length);
  size_t at = --length;
  text[at] = 0;
  for (value = start; value->node->kind == SYM_prim_GetAttr; value = node_input(value->node, 0)) {
    Str name = node_string(value->node, SYM_attr_name);
    at -= name.length;
    memcpy(text + at, name.data, name.length);
    if (at) text[--at] = '.';
  }
  return (Str){text, length};
}

typedef struct Inlining {
  Graph *graph;
  const InlineVisitor *visitor; /* NULL: nobody wants to see */
  uint32_t nodes;
} Inlining;

static void inline_block(Inlining *n, const Block *block) {
  Graph *graph = n->graph;
  for (Node *node = block->param->next, *next; node != block->ret; node = next) {
    next = n->visitor ? n->visitor->visit(n->visitor->argument, node) : node;
    if (next != node) continue;
    next = node->next;
    for (uint32_t i = 0; i < node->block_count; i++) inline_block(n, node->blocks[i]);
    if (node->kind != SYM_prim_CallFunction && node->kind != SYM_prim_CallMethod) continue;
    const Function *callee = inlined_callee(node);
    if (callee && callee->is_native) continue;
    if (!callee || !callee->graph) {
      node_refused(FILE_NAME, node, REASON_NOT_INLINED_UNKNOWN);
      continue;
    }
    if (callee->graph == graph || recurses(node, callee)) {
      node_refused(FILE_NAME, node, REASON_NOT_INLINED_RECURSIVE);
      continue;
    }
    uint32_t size = count_nodes(callee->graph->block);
    uint32_t first = node->kind == SYM_prim_CallFunction, count = graph_input_count(callee->graph);
    if (node->input_count - first != count || graph_output_count(callee->graph) != node->output_count) continue;
    if (size > INLINE_MAX_NODES - n->nodes) {
      node_refused(FILE_NAME, node, REASON_NOT_INLINED_TOO_LARGE);
      continue;
    }
    n->nodes += size;
    InlinedCall *call = ARENA_NEW(graph->arena, InlinedCall);
    *call = (InlinedCall){callee, node->range, instance_of(node), node->inlined};
    Value **arguments = ARENA_ARRAY(graph->arena, Value *, count + 1),
          **outputs = ARENA_ARRAY(graph->arena, Value *, node->output_count + 1);
    for (uint32_t i = 0; i < count; i++) arguments[i] = node_input(node, first + i);
    Node *before = node->prev;
    graph_set_insert_point(graph, node);
    graph_inline_call(graph, callee->graph, arguments, call, outputs);
    for (uint32_t i = 0; i < node->output_count; i++) {
      Str name = node->outputs[i]->name;
      value_set_name(node->outputs[i], STR(""));
      if (name.length && outputs[i]->node->kind != SYM_prim_Param) value_set_name(outputs[i], name);
      value_replace_all_uses_with(node->outputs[i], outputs[i]);
    }
    next = before->next; /* its body comes next */
    if (next == node) next = node->next;
    node_destroy(node);
  }
}

void inline_calls_with(Graph *graph, const InlineVisitor *visitor) {
  Inlining n = {graph, visitor, graph_fits_stack(graph) ? count_nodes(graph->block) : UINT32_MAX};
  if (n.nodes > INLINE_MAX_NODES) return;
  inline_block(&n, graph->block);
  graph->insert_before = graph->block->ret;
  GRAPH_LOG_DUMP(FILE_NAME, "After Inlining: ", graph);
}

void inliner(Graph *graph) {
  inline_calls_with(graph, NULL);
}

PASS_ALSO(inliner, "inline", GRADIENTS, inliner(graph), "puts bodies of functions and methods in place of the calls");
