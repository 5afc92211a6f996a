/* Collects the memory that nodes write to, by what they may change there (node_changes). */
#include "pass/types/lasting_facts.h"

#include "ir/node_kind.h"
#include "pass/types/tensor_facts.h"

typedef VEC(const Node *) NodeVec;

typedef struct Search {
  Arena *scratch;
  NodeVec resizing, regrading;
  bool changes_grad_mode;
} Search;

static void find(Search *s, const Block *block) {
  for (const Node *node = block->param->next; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->block_count; i++) find(s, node->blocks[i]);
    if (node_kind(node->kind)->effect == EFFECT_NONE) continue;
    unsigned changes = node_changes(node);
    if (changes & CHANGES_SIZES) vec_arena_push(s->scratch, &s->resizing, node);
    if (changes & CHANGES_REQUIRES_GRAD) vec_arena_push(s->scratch, &s->regrading, node);
    s->changes_grad_mode |= node_may_change_grad_mode(node);
  }
}

void lasting_facts_find(LastingFacts *facts, Graph *graph, Arena *scratch) {
  Search s = {.scratch = scratch};
  find(&s, graph->block);
  *facts = (LastingFacts){.scratch = scratch, .changes_grad_mode = s.changes_grad_mode};
  if (!s.resizing.length && !s.regrading.length) return;
  facts->db = alias_db_new(graph, scratch);
  facts->resized = alias_written_by(facts->db, s.resizing.length, s.resizing.data);
  facts->regraded = alias_written_by(facts->db, s.regrading.length, s.regrading.data);
}

static const Type *without(Arena *scratch, TypeStore *store, const Type *type, bool sizes, bool requires_grad) {
  if (type->kind == TYPE_TUPLE && type->has_refinement) {
    const Type **elements = ARENA_ARRAY(scratch, const Type *, type->count + 1);
    for (uint32_t i = 0; i < type->count; i++)
      elements[i] = without(scratch, store, type->elements[i], sizes, requires_grad);
    return type_named_tuple(store, type->name, type->count, elements, type->field_names);
  }
  if (type->kind != TYPE_TENSOR || !type->tensor) return type;
  TensorInfo info = *type->tensor;
  if (requires_grad) info.requires_grad = -1;
  if (sizes) {
    info.ndim = -1;
    info.has_sizes = info.has_strides = false;
  }
  return type_tensor_refined(store, &info);
}

const Type *lasting_type(const LastingFacts *facts, TypeStore *store, const Value *value, const Type *type) {
  if (type->kind == TYPE_TENSOR ? !type->tensor : !type->has_refinement) return type;
  bool resized = facts->db && alias_may_reach(facts->db, value, facts->resized);
  bool regraded = facts->changes_grad_mode || (facts->db && alias_may_reach(facts->db, value, facts->regraded));
  return resized || regraded ? without(facts->scratch, store, type, resized, regraded) : type;
}
