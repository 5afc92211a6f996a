/* Operators whose graph gradient is that of another one, which also gives what the gradient needs. */
#include "autodiff/differentiate_internal.h"
#include "call/row.h"
#include "ir/constant.h"

/* Where the node might give its argument, the other operator, whose result is always new, must not stand for it.
 * Dropout that trains gives a new tensor when some elements go. */
static bool may_give_argument(const Node *node, const Operator *op) {
  double p;
  if (!(op->flags & OP_RETURNS_ARGUMENT)) return false;
  const Value *train = node_named_input(node, "train"), *probability = node_named_input(node, "p");
  return !train || !probability || !constant_is_bool(train, true) || !constant_double(probability, &p) || p == 0;
}

/* The same arguments in the same order; its first result is the node's, others follow. */
static const Operator *expansion_of(const Node *node) {
  const Operator *op = node_operator(node);
  if (!op || op->variant != VARIANT_FUNCTIONAL || op->row->grad || !op->row->same_as) return NULL;
  if (may_give_argument(node, op)) return NULL;
  const Operator *other = operator_find_overload(str_from(op->row->same_as), STR(""));
  bool more = other && operator_schema(other)->return_count > operator_schema(op)->return_count;
  return more ? other : NULL;
}

bool node_is_expanded(const Node *node) {
  const Operator *op = expansion_of(node);
  return op && node->output_count == 1 && node->input_count == operator_schema(op)->argument_count;
}

void expand_nodes(Graph *graph) {
  BLOCK_EACH(node, graph->block) {
    if (!node_is_expanded(node)) continue;
    const Operator *op = expansion_of(node);
    const FunctionSchema *schema = operator_schema(op);
    Node *expanded = graph_create(graph, symbol_intern(op->name), 0, NULL, schema->return_count);
    node_copy_metadata(expanded, node);
    expanded->inlined = node->inlined;
    for (uint32_t i = 0; i < node->input_count; i++) node_add_input(expanded, node_input(node, i));
    Value *old = node_output(node, 0), *result = node_output(expanded, 0);
    node_insert_before(expanded, node);
    result->type = old->type;
    Str name = old->name;
    value_set_name(old, STR(""));
    if (name.length) value_set_name(result, name);
    value_replace_all_uses_with(old, result);
    node_destroy(node);
  }
}
