/* Rewrites of lists that are made in the graph and never written: len, indexing, slicing, unpacking and adding are
 * known from prim::ListConstruct. With `refine` the branches of a test for the length of a list know it too. */
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "peephole_list_idioms"

typedef struct Rewriter {
  Graph *graph;
  Arena *arena;
  PtrMap asked;   /* list -> whether it is never written, as 2 or 1 */
  PtrMap lengths; /* list -> its length + 1, where a test told it */
  bool refine, changed;
} Rewriter;

static bool is_never_written(Rewriter *r, const Value *list) {
  intptr_t answer = (intptr_t)ptrmap_get(&r->asked, list);
  if (!answer) {
    answer = value_is_never_written(list) ? 2 : 1;
    ptrmap_put(&r->asked, list, (void *)answer);
  }
  return answer == 2;
}

/* The ListConstruct behind a list that nobody writes to. */
static const Node *construction(Rewriter *r, const Value *list) {
  const Node *made = list->node;
  return made->kind == SYM_prim_ListConstruct && is_never_written(r, list) ? made : NULL;
}

static bool give(Rewriter *r, Node *node, Value *with) {
  if (!jit_opt_limit(FILE_NAME)) return false;
  JIT_LOG_UPDATE(FILE_NAME, "%%%u of " STR_FMT " becomes %%%u", node_output(node, 0)->unique,
                 STR_ARG(symbol_name(node->kind)), with->unique);
  value_replace_all_uses_with(node_output(node, 0), with);
  return r->changed = true;
}

static void rewrite_len(Rewriter *r, Node *node) {
  const Node *made = construction(r, node_input(node, 0));
  if (made) give(r, node, insert_constant_before(node, ivalue_int(made->input_count), NULL));
}

static void rewrite_index(Rewriter *r, Node *node) {
  int64_t at;
  if (node->input_count != 2 || !constant_int(node_input(node, 1), &at)) return;
  const Node *made = construction(r, node_input(node, 0));
  if (!made) return;
  if (at < 0) at += made->input_count;
  if (at >= 0 && at < made->input_count) give(r, node, node_input(made, (uint32_t)at));
}

static void rewrite_unpack(Rewriter *r, Node *node) {
  const Node *made = construction(r, node_input(node, 0));
  if (!made || made->input_count != node->output_count || !jit_opt_limit(FILE_NAME)) return;
  for (uint32_t i = 0; i < node->output_count; i++) {
    value_replace_all_uses_with(node_output(node, i), node_input(made, i));
  }
  r->changed = true;
}

static void give_list(Rewriter *r, Node *node, uint32_t count, Value *const *items) {
  Value *list = insert_call_before(node, SYM_prim_ListConstruct, node_output(node, 0)->type, count, items);
  give(r, node, list);
}

/* The result is a new list either way: what happens to it later does not matter. */
static void rewrite_add(Rewriter *r, Node *node) {
  if (node->input_count != 2 || node_output(node, 0)->type->kind != TYPE_LIST) return;
  const Node *a = construction(r, node_input(node, 0)), *b = a ? construction(r, node_input(node, 1)) : NULL;
  if (!b) return;
  uint32_t count = a->input_count + b->input_count;
  Value **items = ARENA_ARRAY(r->arena, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    items[i] = i < a->input_count ? node_input(a, i) : node_input(b, i - a->input_count);
  give_list(r, node, count, items);
}

static bool bound_or(const Value *value, int64_t fallback, int64_t *out) {
  *out = fallback;
  return value_is_none(value) || constant_int(value, out);
}

static int64_t clip(int64_t at, int64_t length) {
  if (at < 0) at += length;
  return at < 0 ? 0 : at > length ? length : at;
}

static void rewrite_slice(Rewriter *r, Node *node) {
  int64_t start, end, step;
  if (node->input_count != 4 || node_output(node, 0)->type->kind != TYPE_LIST) return;
  if (!constant_int(node_input(node, 3), &step) || step < 1 || !bound_or(node_input(node, 1), 0, &start) ||
      !bound_or(node_input(node, 2), INT64_MAX, &end))
    return;
  const Node *made = construction(r, node_input(node, 0));
  if (!made) return;
  int64_t length = made->input_count;
  start = clip(start, length);
  end = clip(end, length);
  Value **items = ARENA_ARRAY(r->arena, Value *, (size_t)length + 1);
  uint32_t count = 0;
  for (int64_t i = start; i < end; i += step < length ? step : length) items[count++] = node_input(made, (uint32_t)i);
  give_list(r, node, count, items);
}

static void rewrite_node(Rewriter *r, Node *node) {
  if (!node->input_count || node_input(node, 0)->type->kind != TYPE_LIST) return;
  switch (node->kind) {
    case SYM_aten_len:
      rewrite_len(r, node);
      break;
    case SYM_aten___getitem__:
      rewrite_index(r, node);
      break;
    case SYM_prim_ListUnpack:
      rewrite_unpack(r, node);
      break;
    case SYM_aten_add:
      rewrite_add(r, node);
      break;
    case SYM_aten_slice:
      rewrite_slice(r, node);
      break;
    default:
      break;
  }
}

/* ---- what tests tell of lengths ---- */

typedef struct Fact {
  Value *list;
  int64_t length;
  bool when; /* known in the branch that this answer leads to */
} Fact;

static bool fact_of(Rewriter *r, const Value *condition, Fact *out) {
  const Node *test = condition->node;
  if ((test->kind != SYM_aten_eq && test->kind != SYM_aten_ne) || test->input_count != 2) return false;
  for (uint32_t side = 0; side < 2; side++) {
    const Node *len = node_input(test, side)->node;
    if (len->kind != SYM_aten_len || node_input(len, 0)->type->kind != TYPE_LIST ||
        !constant_int(node_input(test, 1 - side), &out->length))
      continue;
    out->list = node_input(len, 0);
    out->when = test->kind == SYM_aten_eq;
    return is_never_written(r, out->list);
  }
  return false;
}

static bool always_raises(const Block *block) {
  BLOCK_EACH(node, block) if (node->kind == SYM_prim_RaiseException) return true;
  return false;
}

static void refine_block(Rewriter *r, const Block *block) {
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
    if (known) give(r, node, insert_constant_before(node, ivalue_int(known - 1), NULL));
  }
  for (size_t i = 0; i < learnt.length; i++) ptrmap_put(&r->lengths, learnt.data[i], NULL);
}

static void rewrite_block(Rewriter *r, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) rewrite_block(r, node->blocks[i]);
    bool used = false;
    for (uint32_t i = 0; i < node->output_count && !used; i++) used = value_has_uses(node_output(node, i));
    if (used) rewrite_node(r, node);
  }
}

static void run(Arena *scratch, void *argument) {
  Rewriter *r = argument;
  r->arena = scratch;
  ptrmap_init(&r->lengths, scratch);
  ptrmap_init(&r->asked, scratch);
  rewrite_block(r, r->graph->block);
  if (r->refine) refine_block(r, r->graph->block);
}

static bool rewrite_lists(Graph *graph, bool refine) {
  Rewriter r = {.graph = graph, .refine = refine};
  graph_with_scratch(graph, run, &r);
  return r.changed;
}

bool peephole_list_idioms(Graph *graph) {
  return rewrite_lists(graph, false);
}

bool peephole_list_idioms_refine(Graph *graph) {
  return rewrite_lists(graph, true);
}

PASS(peephole_list_idioms, GRADIENTS, peephole_list_idioms(graph), "looks into lists that are made here");
PASS(peephole_list_idioms_refine, GRADIENTS, peephole_list_idioms_refine(graph),
     "the same, with tests for their length");
