/* Rules for lists that are made in the graph and never written: len, indexing, slicing, unpacking and adding are known
 * from prim::ListConstruct. With `refine` the branches of a test for the length of a list know it too: no rule, as it
 * looks around the node. */
#include "ir/constant.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/rewrite_rule.h"
#include "report/jit_log.h"

#define FILE_NAME "peephole_list_idioms"

/* `asked` remembers the answer by list. */
static bool is_never_written(PtrMap *asked, const Value *list) {
  enum { NO = 1, YES = 2 };
  intptr_t answer = (intptr_t)ptrmap_get(asked, list);
  if (!answer) {
    answer = value_is_never_written(list) ? YES : NO;
    ptrmap_put(asked, list, (void *)answer);
  }
  return answer == YES;
}

static bool is_only_made(const RewriteMatch *m) {
  return is_never_written(&m->run->asked, bound(m, 'l'));
}
static bool is_other_only_made(const RewriteMatch *m) {
  return is_never_written(&m->run->asked, bound(m, 'r'));
}

static Value *item_count(const RewriteMatch *m) {
  return insert_constant_before(m->node, ivalue_int(bound(m, 'l')->node->input_count), NULL);
}

static Value *item(const RewriteMatch *m) {
  const Node *made = bound(m, 'l')->node;
  int64_t at;
  if (!constant_int(bound(m, 'i'), &at)) return NULL;
  if (at < 0) at += made->input_count;
  return at >= 0 && at < made->input_count ? node_input(made, (uint32_t)at) : NULL;
}

static Value *unpacked_item(const RewriteMatch *m) {
  const Node *made = bound(m, 'l')->node;
  return made->input_count == m->node->output_count ? node_input(made, m->output) : NULL;
}

static Value *new_list(const RewriteMatch *m, uint32_t count, Value *const *items) {
  return insert_call_before(m->node, SYM_prim_ListConstruct, replaced(m)->type, count, items);
}

/* The result is a new list either way: what happens to it later does not matter. */
static Value *joined_items(const RewriteMatch *m) {
  const Node *a = bound(m, 'l')->node, *b = bound(m, 'r')->node;
  uint32_t count = a->input_count + b->input_count;
  if (replaced(m)->type->kind != TYPE_LIST) return NULL;
  Value **items = ARENA_ARRAY(m->run->scratch, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    items[i] = i < a->input_count ? node_input(a, i) : node_input(b, i - a->input_count);
  return new_list(m, count, items);
}

static bool bound_or(const Value *value, int64_t fallback, int64_t *out) {
  *out = fallback;
  return value_is_none(value) || constant_int(value, out);
}

static int64_t clip(int64_t at, int64_t length) {
  if (at < 0) at += length;
  return at < 0 ? 0 : at > length ? length : at;
}

static Value *slice_of_items(const RewriteMatch *m) {
  const Node *made = bound(m, 'l')->node;
  int64_t start, end, step, length = made->input_count;
  if (replaced(m)->type->kind != TYPE_LIST || !constant_int(bound(m, 's'), &step) || step < 1 ||
      !bound_or(bound(m, 'a'), 0, &start) || !bound_or(bound(m, 'b'), INT64_MAX, &end))
    return NULL;
  start = clip(start, length);
  end = clip(end, length);
  Value **items = ARENA_ARRAY(m->run->scratch, Value *, (size_t)length + 1);
  uint32_t count = 0;
  for (int64_t i = start; i < end; i += step < length ? step : length) items[count++] = node_input(made, (uint32_t)i);
  return new_list(m, count, items);
}

/* clang-format off */
static const RewriteRule rules[] = {
  {"len_of_items",   "aten::len(%l=prim::ListConstruct(...))",               MAKES(item_count),     WHEN(is_only_made)},
  {"known_item",     "aten::__getitem__(%l=prim::ListConstruct(...), %i)",   MAKES(item),           WHEN(is_only_made)},
  {"unpacked_item",  "prim::ListUnpack[i](%l=prim::ListConstruct(...))",     MAKES(unpacked_item),  WHEN(is_only_made)},
  {"slice_of_items", "aten::slice(%l=prim::ListConstruct(...), %a, %b, %s)", MAKES(slice_of_items), WHEN(is_only_made)},
  {"joined_items",   "aten::add(%l=prim::ListConstruct(...), %r=prim::ListConstruct(...))",
                                                          MAKES(joined_items), WHEN(is_only_made, is_other_only_made)},
};
/* clang-format on */
const RewriteTable rewrite_lists = {REWRITE_LISTS, FILE_NAME, rules, sizeof rules / sizeof *rules};

bool peephole_list_idioms(Graph *graph) {
  return rewrite_graph(&rewrite_lists, graph, true, NULL);
}

/* ---- what tests tell of lengths ---- */

typedef struct Refining {
  Graph *graph;
  Arena *arena;
  PtrMap asked;   /* of is_never_written */
  PtrMap lengths; /* list -> its length + 1, where a test told it */
  bool changed;
} Refining;

typedef struct Fact {
  Value *list;
  int64_t length;
  bool when; /* known in the branch that this answer leads to */
} Fact;

static bool fact_of(Refining *r, const Value *condition, Fact *out) {
  const Node *test = condition->node;
  if ((test->kind != SYM_aten_eq && test->kind != SYM_aten_ne) || test->input_count != 2) return false;
  for (uint32_t side = 0; side < 2; side++) {
    const Node *len = node_input(test, side)->node;
    if (len->kind != SYM_aten_len || node_input(len, 0)->type->kind != TYPE_LIST ||
        !constant_int(node_input(test, 1 - side), &out->length))
      continue;
    out->list = node_input(len, 0);
    out->when = test->kind == SYM_aten_eq;
    return is_never_written(&r->asked, out->list);
  }
  return false;
}

static bool always_raises(const Block *block) {
  BLOCK_EACH(node, block) if (node->kind == SYM_prim_RaiseException) return true;
  return false;
}

static void give_length(Refining *r, Node *len, int64_t length) {
  if (!jit_opt_limit(FILE_NAME)) return;
  Value *with = insert_constant_before(len, ivalue_int(length), NULL);
  JIT_LOG_UPDATE(FILE_NAME, "%%%u of aten::len becomes %%%u", node_output(len, 0)->unique, with->unique);
  value_replace_all_uses_with(node_output(len, 0), with);
  r->changed = true;
}

static void refine_block(Refining *r, const Block *block) {
  VEC(Value *) learnt = {0}; /* here, for the rest of the block */
  BLOCK_EACH(node, block) {
    Fact fact;
    if (node->kind == SYM_prim_If && fact_of(r, node_input(node, 0), &fact)) {
      void *before = ptrmap_get(&r->lengths, fact.list), *known = (void *)(intptr_t)(fact.length + 1);
      for (uint32_t i = 0; i < 2; i++) {
        ptrmap_put(&r->lengths, fact.list, (i == 0) == fact.when ? known : before);
        refine_block(r, node->blocks[i]);
      }
      bool stays = always_raises(node->blocks[fact.when ? 1 : 0]);
      ptrmap_put(&r->lengths, fact.list, stays ? known : before);
      if (stays && !before) vec_arena_push(r->arena, &learnt, fact.list);
      continue;
    }
    for (uint32_t i = 0; i < node->block_count; i++) refine_block(r, node->blocks[i]);
    if (node->kind != SYM_aten_len || !value_has_uses(node_output(node, 0))) continue;
    intptr_t known = (intptr_t)ptrmap_get(&r->lengths, node_input(node, 0));
    if (known) give_length(r, node, known - 1);
  }
  for (size_t i = 0; i < learnt.length; i++) ptrmap_put(&r->lengths, learnt.data[i], NULL);
}

static void refine(Arena *scratch, void *argument) {
  Refining *r = argument;
  r->arena = scratch;
  ptrmap_init(&r->lengths, scratch);
  ptrmap_init(&r->asked, scratch);
  refine_block(r, r->graph->block);
}

bool peephole_list_idioms_refine(Graph *graph) {
  Refining r = {.graph = graph};
  bool changed = peephole_list_idioms(graph);
  graph_with_scratch(graph, refine, &r);
  return changed || r.changed;
}

PASS(peephole_list_idioms, GRADIENTS, peephole_list_idioms(graph), "looks into lists that are made here");
PASS(peephole_list_idioms_refine, GRADIENTS, peephole_list_idioms_refine(graph),
     "the same, with tests for their length");
