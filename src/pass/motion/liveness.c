/* The walk keeps a set of live values as bits by number. */
#include "pass/motion/liveness.h"

#include <assert.h>

#include "ir/node_kind.h"
#include "pass/pass.h"

#define FILE_NAME "liveness"

typedef struct Walk {
  Arena *arena;
  size_t words;
  Value **by_unique, **list; /* list: room for one visit */
  uint32_t *stamps;          /* by unique: the loop in whose body the value is defined, while that body is scanned */
  uint32_t stamp;
  VEC(uint64_t *) spare; /* sets that nobody needs any more */
  const AttributeReads *reads;
  bool (*wanted)(const Node *node);
  LivenessVisitor *visit;
  void *argument;
} Walk;

static void add(const Walk *w, uint64_t *live, const Value *v) {
  const Value *object = w->reads ? attribute_read_input(w->reads, v) : NULL;
  if (object) v = object;
  if (!node_has_flag(v->node, KIND_LASTS)) live[v->unique / 64] |= (uint64_t)1 << (v->unique % 64);
}
static void take(uint64_t *live, const Value *v) {
  live[v->unique / 64] &= ~((uint64_t)1 << (v->unique % 64));
}
static void add_inputs(const Walk *w, uint64_t *live, const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++) add(w, live, node_input(node, i));
}
static uint64_t *copy(Walk *w, const uint64_t *live) {
  uint64_t *set = w->spare.length ? vec_pop(&w->spare) : ARENA_ARRAY(w->arena, uint64_t, w->words);
  memcpy(set, live, w->words * sizeof *live);
  return set;
}
static void give_back(Walk *w, uint64_t *set) {
  vec_arena_push(w->arena, &w->spare, set);
}

static void visit(Walk *w, Node *node, const uint64_t *live) {
  uint32_t count = 0;
  for (size_t i = 0; i < w->words; i++)
    for (uint64_t left = live[i]; left; left &= left - 1)
      w->list[count++] = w->by_unique[i * 64 + (size_t)__builtin_ctzll(left)];
  w->visit(w->argument, node, count, w->list);
}

/* Adds what a loop's body takes from outside. */
static void add_outer(Walk *w, const Block *body, uint64_t *live) {
  for (const Node *node = body->param;; node = node->next) {
    for (uint32_t i = 0; i < node->input_count; i++)
      if (w->stamps[node_input(node, i)->unique] != w->stamp) add(w, live, node_input(node, i));
    if (node == body->ret) return;
    for (uint32_t i = 0; i < node->block_count; i++) add_outer(w, node->blocks[i], live);
    for (uint32_t i = 0; i < node->output_count; i++) w->stamps[node->outputs[i]->unique] = w->stamp;
  }
}

static void walk_block(Walk *w, Block *block, uint64_t *live);

static void walk_loop(Walk *w, Node *node, uint64_t *live) {
  assert(node->kind == SYM_prim_Loop);
  Block *body = node->blocks[0];
  w->stamp++;
  add_outer(w, body, live);
  add(w, live, node_input(node, 0));
  uint64_t *inside = copy(w, live);
  add(w, inside, block_input(body, 0));
  walk_block(w, body, inside);
  give_back(w, inside);
}

/* live: what is needed after the block; becomes what is needed before it. */
static void walk_block(Walk *w, Block *block, uint64_t *live) {
  add_inputs(w, live, block->ret);
  for (Node *node = block->ret->prev; node != block->param; node = node->prev) {
    for (uint32_t i = 0; i < node->output_count; i++) take(live, node_output(node, i));
    if (w->wanted(node)) visit(w, node, live);
    if (node->kind == SYM_prim_Loop) {
      walk_loop(w, node, live);
    } else if (node->block_count) {
      uint64_t *before = copy(w, live);
      for (uint32_t i = 0; i < node->block_count; i++) {
        uint64_t *inside = copy(w, live);
        walk_block(w, node->blocks[i], inside);
        for (size_t k = 0; k < w->words; k++) before[k] |= inside[k];
        give_back(w, inside);
      }
      memcpy(live, before, w->words * sizeof *live);
      give_back(w, before);
    }
    add_inputs(w, live, node);
  }
  /* The index is needed from its loop, not from here. */
  for (uint32_t i = 0; i < block_input_count(block); i++) take(live, block_input(block, i));
}

static void number_values(Walk *w, const Block *block) {
  for (const Node *node = block->param; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->output_count; i++) w->by_unique[node->outputs[i]->unique] = node->outputs[i];
    for (uint32_t i = 0; i < node->block_count; i++) number_values(w, node->blocks[i]);
  }
}

void liveness_visit(Graph *graph, Arena *scratch, const AttributeReads *reads, bool (*wanted)(const Node *node),
                    LivenessVisitor *visitor, void *argument) {
  size_t count = graph->next_unique;
  Walk w = {.arena = scratch,
            .words = count / 64 + 1,
            .reads = reads,
            .wanted = wanted,
            .visit = visitor,
            .argument = argument};
  w.by_unique = ARENA_ARRAY(scratch, Value *, w.words * 64);
  w.list = ARENA_ARRAY(scratch, Value *, w.words * 64);
  w.stamps = ARENA_ARRAY(scratch, uint32_t, count + 1);
  number_values(&w, graph->block);
  walk_block(&w, graph->block, ARENA_ARRAY(scratch, uint64_t, w.words));
}

/* ---- as a pass ---- */

static bool every_node(const Node *node) {
  return node->kind != SYM_prim_Constant;
}

static void annotate(void *argument, Node *node, uint32_t count, Value *const *live) {
  Arena *scratch = argument;
  Str *names = ARENA_ARRAY(scratch, Str, count ? count : 1);
  for (uint32_t i = 0; i < count; i++)
    names[i] = live[i]->name.length ? live[i]->name : str_from(arena_printf(scratch, "%u", live[i]->unique));
  node_set_strings(node, symbol_intern(STR("attr::live")), count, names);
}

void liveness(Graph *graph) {
  liveness_visit(graph, graph->arena, NULL, every_node, annotate, graph->arena);
}

PASS(liveness, GRADIENTS, liveness(graph), "writes on every node what is live after it");
