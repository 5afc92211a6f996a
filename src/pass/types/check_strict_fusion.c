/* Where an operator within `with torch.jit.strict_fusion()` stayed by itself, the run raises, and names all that did: a
 * plan that is refused would go unnoticed. What is fused is in a fusion group, is a region or another operator that
 * plans alone have; in a differentiable graph the same is asked of its operators. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "schema/schema.h"

#define FILE_NAME "check_strict_fusion"

static bool is_strict(const Node *node, Symbol kind) {
  return node->kind == kind && type_is_strict_fusion(node_input(node, 0)->type);
}

static bool gives_tensors(const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    const Type *type = node_output(node, i)->type;
    if (type->kind == TYPE_TENSOR || (type->kind == TYPE_LIST && type->elements[0]->kind == TYPE_TENSOR)) return true;
  }
  return false;
}

static void look_at_block(const Block *block, StrBuf *unfused);

static void look_at(const Node *node, StrBuf *unfused) {
  for (uint32_t i = 0; i < node->block_count; i++) look_at_block(node->blocks[i], unfused);
  if (node->kind == SYM_prim_DifferentiableGraph) {
    look_at_block(node_attribute(node, SYM_attr_Subgraph)->g->block, unfused);
    return;
  }
  const FunctionSchema *schema = node_schema(node);
  if (!schema || !gives_tensors(node) || str_starts_with(symbol_name(node->kind), "wick::")) return;
  strbuf_puts(unfused, "\n\t");
  schema_print(schema, unfused);
}

static void look_at_block(const Block *block, StrBuf *unfused) {
  BLOCK_EACH(node, block) look_at(node, unfused);
}

/* From an Enter to the Exit of the same object. */
static void look_at_region(const Node *enter, StrBuf *unfused) {
  for (const Node *node = enter->next; node; node = node->next) {
    if (is_strict(node, SYM_prim_Exit) && node_input(node, 0) == node_input(enter, 0)) return;
    look_at(node, unfused);
  }
}

/* The run raises where the region begins. */
static void raise_before(Graph *graph, Node *enter, StrBuf *unfused) {
  Str text = str_from(arena_printf(graph->arena, "\nFound unfused operators: " STR_FMT, STR_ARG(strbuf_view(unfused))));
  String *message;
  Status status = string_new(text, &message);
  if (status) catch_throw(graph->arena->catch_point, status);
  graph_set_insert_point(graph, enter);
  Value *inputs[] = {graph_insert_constant(graph, ivalue_string(message), NULL),
                     graph_insert_constant(graph, IVALUE_NONE, NULL)};
  ivalue_release(ivalue_string(message));
  Node *raise = graph_insert_node(graph, graph_create(graph, SYM_prim_RaiseException, 2, inputs, 0));
  node_copy_metadata(raise, enter);
}

static void check_region(Graph *graph, Node *enter) {
  StrBuf unfused = {0};
  look_at_region(enter, &unfused);
  if (unfused.failed) catch_throw(graph->arena->catch_point, status_out_of_memory());
  if (unfused.length) raise_before(graph, enter, &unfused);
  strbuf_dispose(&unfused);
}

static void check_in(Graph *graph, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) check_in(graph, node->blocks[i]);
    if (is_strict(node, SYM_prim_Enter)) check_region(graph, node);
  }
}

void check_strict_fusion(Graph *graph) {
  check_in(graph, graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After CheckStrictFusion: ", graph);
}

PASS(check_strict_fusion, NOTHING, check_strict_fusion(graph), "raises where strict_fusion left operators unfused");
