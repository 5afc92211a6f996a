/* What depends on what in a differentiable graph: outputs on inputs, gradients on captures, captures on gradients. Sets
 * are bits, `words` of 64 each. */
#include "autodiff/differentiate_internal.h"
#include "call/call_plan.h"

/* ---- which inputs an output depends on ---- */

/* The arguments of the node that its results' gradients reach: not running statistics, nor what lends its sizes. */
static uint64_t reached_arguments(const Differ *d, const Node *node) {
  const Formula *formula = node_formula(node);
  uint32_t statements;
  return formula ? wanted_arguments(d, node, formula, &statements) : UINT64_MAX;
}

void differ_find_dependence(const Differ *d, Gradient *g) {
  uint32_t count = graph_input_count(d->forward), words = g->words;
  PtrMap sets;
  ptrmap_init(&sets, d->arena);
  for (uint32_t i = 0; i < count; i++) {
    if (!differ_requires(d, graph_input(d->forward, i))) continue;
    uint64_t *set = ARENA_ARRAY(d->arena, uint64_t, words);
    set[i / 64] |= (uint64_t)1 << (i % 64);
    ptrmap_put(&sets, graph_input(d->forward, i), set);
  }
  BLOCK_EACH(node, d->forward->block) {
    if (!node_requires(d, node)) continue;
    uint64_t *set = ARENA_ARRAY(d->arena, uint64_t, words), reached = reached_arguments(d, node);
    for (uint32_t i = 0; i < node->input_count; i++) {
      if (i < CALL_MAX_INPUTS && !(reached >> i & 1)) continue;
      const uint64_t *other = ptrmap_get(&sets, node_input(node, i));
      for (uint32_t k = 0; other && k < words; k++) set[k] |= other[k];
    }
    for (uint32_t i = 0; i < node->output_count; i++)
      if (differ_requires(d, node_output(node, i))) ptrmap_put(&sets, node_output(node, i), set);
  }
  g->dependence = ARENA_ARRAY(d->arena, uint64_t, (size_t)words * graph_output_count(d->forward) + 1);
  for (uint32_t i = 0; i < graph_output_count(d->forward); i++) {
    const uint64_t *set = ptrmap_get(&sets, graph_output(d->forward, i));
    if (set) memcpy(g->dependence + (size_t)i * words, set, words * sizeof *set);
  }
}

/* ---- which gradients read a capture ---- */

typedef struct Readers {
  Arena *arena;
  PtrMap sets; /* value of the backward graph -> the inputs of forward whose gradients it is read for */
  uint32_t words;
} Readers;

static void readers_add(Readers *r, const Value *value, const uint64_t *more) {
  uint64_t *set = ptrmap_get(&r->sets, value);
  if (!set) ptrmap_put(&r->sets, value, set = ARENA_ARRAY(r->arena, uint64_t, r->words));
  for (uint32_t i = 0; i < r->words; i++) set[i] |= more[i];
}

static void readers_of_node(Readers *r, const Node *node);

/* `outer`: what all that goes in may be read for besides. */
static void readers_of_block(Readers *r, const Block *block, const uint64_t *outer) {
  if (outer)
    for (uint32_t i = 0; i < block_output_count(block); i++) readers_add(r, block_output(block, i), outer);
  BLOCK_EACH_REVERSE(node, block) readers_of_node(r, node);
}

/* All that a node gives comes from all that goes in, but the results of prim::GradOf and prim::If from their own. */
static void readers_of_node(Readers *r, const Node *node) {
  bool by_result = node->kind == SYM_prim_GradOf || node->kind == SYM_prim_If;
  uint64_t *all = ARENA_ARRAY(r->arena, uint64_t, r->words);
  for (uint32_t i = 0; i < node->output_count; i++) {
    const uint64_t *set = ptrmap_get(&r->sets, node_output(node, i));
    for (uint32_t k = 0; set && k < r->words; k++) all[k] |= set[k];
    for (uint32_t b = 0; set && by_result && b < node->block_count; b++)
      readers_add(r, block_output(node->blocks[b], i), set);
  }
  for (uint32_t i = 0; i < node->block_count; i++) readers_of_block(r, node->blocks[i], by_result ? NULL : all);
  for (uint32_t i = 0; i < node->input_count; i++)
    if (reads_values(node, i)) readers_add(r, node_input(node, i), all);
}

void differ_find_readers(const Differ *d, Gradient *g) {
  Readers r = {.arena = d->arena, .words = g->words};
  const Graph *backward = g->backward;
  uint32_t captures = g->captured_input_count + g->captured_output_count;
  ptrmap_init(&r.sets, d->arena);
  for (uint32_t i = 0; i < g->output_vjp_count; i++) {
    uint64_t *one = ARENA_ARRAY(d->arena, uint64_t, g->words);
    one[g->output_vjps[i] / 64] = (uint64_t)1 << (g->output_vjps[i] % 64);
    readers_add(&r, graph_output(backward, i), one);
  }
  readers_of_block(&r, backward->block, NULL);
  g->readers = ARENA_ARRAY(d->arena, uint64_t, (size_t)captures * g->words + 1);
  for (uint32_t i = 0; i < captures; i++) {
    const uint64_t *set = ptrmap_get(&r.sets, graph_input(backward, g->input_vjp_count + i));
    if (set) memcpy(g->readers + (size_t)i * g->words, set, g->words * sizeof *set);
  }
}

/* ---- with which gradients a capture is read ---- */

/* Marks what the node, or one in its blocks, reads. */
static void carry_to(PtrMap *sets, uint32_t words, const Node *node, const uint64_t *all) {
  for (uint32_t i = 0; i < node->input_count; i++) {
    uint64_t *set = ptrmap_get(sets, node_input(node, i));
    for (uint32_t k = 0; set && reads_values(node, i) && k < words; k++) set[k] |= all[k];
  }
  for (uint32_t b = 0; b < node->block_count; b++)
    for (const Node *inner = node->blocks[b]->param->next;; inner = inner->next) {
      carry_to(sets, words, inner, all);
      if (inner == node->blocks[b]->ret) break;
    }
}

/* A prim::GradOf whose gradients are all undefined does not run, so it does not read its captures. */
void differ_find_carriers(const Differ *d, Gradient *g) {
  const Graph *backward = g->backward;
  uint32_t captures = g->captured_input_count + g->captured_output_count, words = g->vjp_words;
  PtrMap gradients, read; /* value -> gradients of outputs that it comes from; capture -> those with which it is read */
  ptrmap_init(&gradients, d->arena);
  ptrmap_init(&read, d->arena);
  g->carriers = ARENA_ARRAY(d->arena, uint64_t, (size_t)captures * words + 1);
  for (uint32_t i = 0; i < captures; i++)
    ptrmap_put(&read, graph_input(backward, g->input_vjp_count + i), g->carriers + (size_t)i * words);
  for (uint32_t i = 0; i < g->input_vjp_count; i++) {
    uint64_t *one = ARENA_ARRAY(d->arena, uint64_t, words);
    one[i / 64] = (uint64_t)1 << (i % 64);
    ptrmap_put(&gradients, graph_input(backward, i), one);
  }
  BLOCK_EACH(node, backward->block) {
    uint64_t *all = ARENA_ARRAY(d->arena, uint64_t, words);
    for (uint32_t i = 0; i < node->input_count; i++) {
      const uint64_t *set = ptrmap_get(&gradients, node_input(node, i));
      for (uint32_t k = 0; set && k < words; k++) all[k] |= set[k];
    }
    if (node->kind != SYM_prim_GradOf && node->kind != SYM_prim_AutogradAdd)
      memset(all, 0xff, words * sizeof *all); /* it always runs */
    carry_to(&read, words, node, all);
    for (uint32_t i = 0; i < node->output_count; i++) ptrmap_put(&gradients, node_output(node, i), all);
  }
}
