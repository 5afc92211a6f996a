/* In-place operators on memory that is made here become functional ones, appending to a list that is made here becomes
 * part of making it. Only where making and writing can stand side by side, so that nobody sees the value between. Of
 * operators, only where types tell that the functional one gives what self is: dtype, sizes and strides. Others stay,
 * and their results stand for self after them. */
#include "pass/rewrite/remove_mutation.h"

#include <assert.h>

#include "call/operator.h"
#include "ir/graph_log.h"
#include "pass/motion/with_aliases.h"
#include "pass/pass.h"
#include "pass/types/shape_evaluate.h"
#include "schema/schema.h"

#define FILE_NAME "remove_mutation"

typedef struct Removal {
  AliasDb *db;
  PtrMap made; /* results of functional operators that took the place of writes to fresh memory */
  bool tensors, lists, changed;
  bool any_type; /* what the functional operator gives may have another dtype, or other strides */
} Removal;

Symbol write_functional_kind(const Node *node) {
  Str name = symbol_name(node->kind);
  const FunctionSchema *schema = node_schema(node);
  if (!schema || !schema->is_mutable || schema->has_out || node->output_count != 1 || !node->input_count)
    return SYMBOL_NONE;
  if (node_output(node, 0)->type->kind != TYPE_TENSOR || node_input(node, 0)->type->kind != TYPE_TENSOR ||
      !str_ends_with(name, "_") || str_ends_with(name, "__"))
    return SYMBOL_NONE;
  for (uint32_t i = 0; i < schema->argument_count; i++)
    if (schema->arguments[i].alias && schema->arguments[i].alias->is_write != (i == 0)) return SYMBOL_NONE;
  Str plain = str_slice(name, 0, name.length - 1);
  return operator_find(plain) ? symbol_intern(plain) : SYMBOL_NONE;
}

Node *write_insert_functional(Node *node, Symbol kind) {
  assert(kind != SYMBOL_NONE);
  Graph *graph = node->graph;
  Value **inputs = ARENA_ARRAY(graph->arena, Value *, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) inputs[i] = node_input(node, i);
  Node *plain = graph_create(graph, kind, node->input_count, inputs, 1);
  node_copy_metadata(plain, node);
  plain->inlined = node->inlined;
  node_output(plain, 0)->type = node_output(node, 0)->type;
  node_insert_before(plain, node);
  const FunctionSchema *schema = node_schema(plain);
  if (schema && !schema->is_mutable && !schema->has_out && schema->return_count == 1) return plain;
  node_destroy(plain);
  return NULL;
}

/* Making the value and `write` to it become neighbours. */
static bool brings_together(Removal *r, Value *value, Node *write) {
  Node *maker = value->node;
  switch (maker->kind) {
    case SYM_prim_Param:
    case SYM_prim_If:
    case SYM_prim_Loop:
    case SYM_prim_Constant:
      return false;
    default:
      if ((!alias_is_fresh(r->db, value) && !ptrmap_has(&r->made, value)) || maker->block_count) return false;
      return alias_move_before(r->db, maker, write) || node_refused(FILE_NAME, maker, REASON_NOT_MOVED_ALIASING);
  }
}

/* A leaf that asks for gradients must not be written to. */
static bool may_make_leaves(const Node *node) {
  const FunctionSchema *schema = node_schema(node);
  return !schema || schema_find_argument(schema, STR("requires_grad")) >= 0;
}

static bool remove_tensor_write(Removal *r, Node *node, Symbol kind) {
  Value *self = node_input(node, 0);
  Node *plain = may_make_leaves(self->node) ? NULL : write_insert_functional(node, kind);
  if (!plain) return false;
  node_move_after(plain, node); /* out of the way between the neighbours */
  /* What gives as it is what self is, fails where the write does. */
  if ((!r->any_type && !shape_keeps_first_input(node->graph->arena, plain)) || !brings_together(r, self, node) ||
      !jit_opt_limit(FILE_NAME)) {
    node_destroy(plain);
    return false;
  }
  node_move_before(plain, node);
  JIT_LOG_UPDATE(FILE_NAME, STR_FMT " is functional now", STR_ARG(symbol_name(node->kind)));
  alias_add_node(r->db, plain);
  /* The writes after are known as writes to the value that was there before. */
  alias_replace_value(r->db, self, node_output(plain, 0));
  ptrmap_put(&r->made, node_output(plain, 0), plain);
  value_replace_all_uses_after(self, node, node_output(plain, 0));
  value_replace_all_uses_with(node_output(node, 0), node_output(plain, 0));
  node_destroy(node);
  return true;
}

static bool is_made_here(Removal *r, const Value *value) {
  while (write_functional_kind(value->node) != SYMBOL_NONE) value = node_input(value->node, 0);
  return alias_is_fresh(r->db, value) || ptrmap_has(&r->made, value);
}

/* Of memory that is made here, what is after the write sees its result, which is self. */
static bool use_result(Removal *r, Node *node) {
  Value *self = node_input(node, 0), *result = node_output(node, 0);
  bool any = false;
  for (size_t i = 0; i < self->uses.length && !any; i++)
    any = self->uses.data[i].user != node && node_is_before(node, self->uses.data[i].user);
  if (!any || !is_made_here(r, self) || !jit_opt_limit(FILE_NAME)) return false;
  alias_replace_value(r->db, self, result);
  value_replace_all_uses_after(self, node, result);
  return true;
}

static bool replace_tensor_write(Removal *r, Node *node) {
  Symbol kind = write_functional_kind(node);
  if (kind == SYMBOL_NONE || node_input(node, 0)->node->owning_block != node->owning_block) return false;
  return remove_tensor_write(r, node, kind) || use_result(r, node);
}

static bool remove_append(Removal *r, Node *node) {
  if (node->kind != SYM_aten_append || node->input_count != 2) return false;
  Value *list = node_input(node, 0);
  if (list->node->kind != SYM_prim_ListConstruct || list->node->owning_block != node->owning_block) return false;
  if (!brings_together(r, list, node) || !jit_opt_limit(FILE_NAME)) return false;
  JIT_LOG_UPDATE(FILE_NAME, "a list is made with what was appended");
  node_add_input(list->node, node_input(node, 1));
  value_replace_all_uses_with(node_output(node, 0), list);
  node_destroy(node);
  return true;
}

static void remove_in(Removal *r, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) remove_in(r, node->blocks[i]);
    if ((r->tensors && replace_tensor_write(r, node)) || (r->lists && remove_append(r, node))) r->changed = true;
  }
}

static void remove_writes(Graph *graph, AliasDb *db, void *argument) {
  Removal *r = argument;
  r->db = db;
  ptrmap_init(&r->made, graph->arena);
  remove_in(r, graph->block);
}

bool remove_tensor_mutation(Graph *graph) {
  Removal r = {.tensors = true};
  with_aliases(graph, remove_writes, &r);
  GRAPH_LOG_DUMP(FILE_NAME, "After RemoveMutation: ", graph);
  return r.changed;
}

bool remove_mutation_of_any_type(Graph *graph) {
  Removal r = {.tensors = true, .any_type = true};
  bool changed = remove_list_mutation(graph);
  with_aliases(graph, remove_writes, &r);
  return r.changed || changed;
}

bool remove_list_mutation(Graph *graph) {
  Removal r = {.lists = true};
  with_aliases(graph, remove_writes, &r);
  GRAPH_LOG_DUMP(FILE_NAME, "After RemoveMutation: ", graph);
  return r.changed;
}

bool remove_mutation(Graph *graph) {
  bool changed = remove_list_mutation(graph);
  return remove_tensor_mutation(graph) || changed;
}

PASS(remove_list_mutation, GRADIENTS, remove_list_mutation(graph), "makes lists with what is appended to them");
PASS(remove_mutation, GRADIENTS, remove_mutation(graph), "makes writes to new memory new values");
PASS(remove_mutation_of_any_type, NOTHING, remove_mutation_of_any_type(graph),
     "the same where dtypes and strides may become others, as PyTorch does");
PASS(remove_tensor_mutation, GRADIENTS, remove_tensor_mutation(graph),
     "makes operators in place on new memory functional");
