/* Guards in place of profiles. They promise what lasts (lasting_facts.h); where grad mode is off, nothing about
 * requires_grad, which nobody asks for then. Between prim::Enter and prim::Exit there are none: a bailout could not
 * take the open `with` along. */
#include <assert.h>

#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/types/lasting_facts.h"
#include "pass/types/tensor_facts.h"
#include "type/tensor_type.h"

#define FILE_NAME "insert_guards"

typedef struct Inserter {
  Graph *graph;
  LastingFacts facts;
  bool grad_enabled;
} Inserter;

static const Type *guarded_type(const Inserter *s, const Node *profile) {
  assert(profile->kind == SYM_prim_profile);
  TypeStore *store = s->graph->store;
  const Type *type = lasting_type(&s->facts, store, node_input(profile, 0), node_output(profile, 0)->type);
  if (type->kind != TYPE_TENSOR || !type->tensor) return NULL;
  if (!s->grad_enabled) type = type_with_requires_grad(store, type, -1);
  return type->tensor && tensor_info_is_known(type->tensor) ? type : NULL;
}

static void walk(Inserter *s, Block *block, int open) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_Enter) open++;
    if (node->kind == SYM_prim_Exit) open--;
    for (uint32_t i = 0; i < node->block_count; i++) walk(s, node->blocks[i], open);
    if (node->kind != SYM_prim_profile) continue;
    const Type *type = open == 0 && node->output_count ? guarded_type(s, node) : NULL;
    Value *input = node->input_count ? node_input(node, 0) : NULL;
    if (type && jit_opt_limit(FILE_NAME)) {
      NODE_LOG_UPDATE(FILE_NAME, "becomes a guard:", node);
      Node *guard = graph_create(s->graph, SYM_prim_Guard, 1, &input, 1);
      node_copy_metadata(guard, node);
      node_output(guard, 0)->type = type;
      node_insert_before(guard, node);
      if (s->facts.db) alias_replace_value(s->facts.db, input, node_output(guard, 0));
      value_replace_all_uses_with(node_output(node, 0), node_output(guard, 0));
    } else if (node->output_count) {
      value_replace_all_uses_with(node_output(node, 0), input);
    }
    node_destroy(node);
  }
}

static void insert(Arena *scratch, void *argument) {
  Inserter *s = argument;
  lasting_facts_find(&s->facts, s->graph, scratch);
  walk(s, s->graph->block, 0);
}

void insert_guards(Graph *graph, bool grad_enabled) {
  Inserter s = {.graph = graph, .grad_enabled = grad_enabled};
  graph_with_scratch(graph, insert, &s);
  GRAPH_LOG_DUMP(FILE_NAME, "After InsertGuards: ", graph);
}

PASS(insert_guards, NOTHING, insert_guards(graph, true), "makes profiles guards");
