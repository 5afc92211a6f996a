/* One backward walk with a set of live values. */
#include "interp/last_use.h"

#include <assert.h>

#include "ir/node_kind.h"

typedef struct Walk {
  Arena *arena;
  Liveness *out;
  size_t words;
  uint32_t *stamps; /* by unique: the loop in whose body the value is defined, while that body is scanned */
  uint32_t stamp;
  Value **by_unique;
  VEC(uint64_t *) spare; /* sets that nobody needs any more */
} Walk;

static bool has(const uint64_t *set, const Value *v) {
  return set[v->unique / 64] >> (v->unique % 64) & 1;
}
static void add(uint64_t *set, const Value *v) {
  set[v->unique / 64] |= (uint64_t)1 << (v->unique % 64);
}
static void take(uint64_t *set, const Value *v) {
  set[v->unique / 64] &= ~((uint64_t)1 << (v->unique % 64));
}

static uint64_t *copy_set(Walk *w, const uint64_t *set) {
  uint64_t *copy = w->spare.length ? vec_pop(&w->spare) : ARENA_ARRAY(w->arena, uint64_t, w->words);
  memcpy(copy, set, w->words * sizeof *set);
  return copy;
}

static void give_back(Walk *w, uint64_t *set) {
  vec_arena_push(w->arena, &w->spare, set);
}

static NodeLife *life_of(Walk *w, const Node *node) {
  NodeLife *life = ptrmap_get(&w->out->nodes, node);
  if (life) return life;
  life = ARENA_NEW(w->arena, NodeLife);
  if (node->input_count) life->dies = ARENA_ARRAY(w->arena, uint8_t, node->input_count);
  ptrmap_put(&w->out->nodes, node, life);
  return life;
}

static void drop_at_start(Walk *w, const Block *block, Value *v) {
  ValueList *list = ptrmap_get(&w->out->block_starts, block);
  if (!list) {
    list = ARENA_NEW(w->arena, ValueList);
    ptrmap_put(&w->out->block_starts, block, list);
  }
  vec_arena_push(w->arena, list, v);
}

static void use_inputs(Walk *w, const Node *node, uint64_t *live) {
  if (!node->input_count) return;
  NodeLife *life = life_of(w, node);
  for (uint32_t i = node->input_count; i-- > 0;) {
    const Value *v = node_input(node, i);
    if (!node_has_flag(v->node, KIND_LASTS) && !has(live, v)) life->dies[i] = 1;
    add(live, v);
  }
}

static void walk_block(Walk *w, const Block *block, uint64_t *live);

/* Values that a loop's body takes from outside. */
static void scan_outer(Walk *w, const Block *body, ValueList *outer, uint64_t *seen) {
  for (uint32_t i = 0; i < block_input_count(body); i++) w->stamps[block_input(body, i)->unique] = w->stamp;
  for (const Node *node = body->param->next;; node = node->next) {
    for (uint32_t i = 0; i < node->input_count; i++) {
      Value *v = node_input(node, i);
      if (w->stamps[v->unique] == w->stamp || node_has_flag(v->node, KIND_LASTS) || has(seen, v)) continue;
      add(seen, v);
      vec_arena_push(w->arena, outer, v);
    }
    if (node == body->ret) return;
    for (uint32_t i = 0; i < node->block_count; i++) scan_outer(w, node->blocks[i], outer, seen);
    for (uint32_t i = 0; i < node->output_count; i++) w->stamps[node->outputs[i]->unique] = w->stamp;
  }
}

static void walk_loop(Walk *w, const Node *node, uint64_t *live) {
  const Block *body = node->blocks[0];
  ValueList outer = {0};
  w->stamp++;
  uint64_t *seen = ARENA_ARRAY(w->arena, uint64_t, w->words);
  scan_outer(w, body, &outer, seen);
  Value *limit = node_input(node, 0);
  if (!node_has_flag(limit->node, KIND_LASTS) && !has(seen, limit)) vec_arena_push(w->arena, &outer, limit);
  NodeLife *life = life_of(w, node);
  for (size_t i = 0; i < outer.length; i++)
    if (!has(live, outer.data[i])) {
      vec_arena_push(w->arena, &life->drop_after, outer.data[i]);
      add(live, outer.data[i]);
    }
  uint64_t *inside = copy_set(w, live);
  add(inside, block_input(body, 0)); /* the trip index lives as long as the loop */
  walk_block(w, body, inside);
  give_back(w, inside);
  use_inputs(w, node, live);
  life->dies[0] = 0; /* the limit is read at every turn */
}

static void walk_if(Walk *w, const Node *node, uint64_t *live) {
  uint64_t *taken = copy_set(w, live), *other = copy_set(w, live);
  walk_block(w, node->blocks[0], taken);
  walk_block(w, node->blocks[1], other);
  for (size_t i = 0; i < w->words; i++) {
    for (int side = 0; side < 2; side++) {
      uint64_t only = side ? taken[i] & ~other[i] : other[i] & ~taken[i];
      for (; only; only &= only - 1) {
        Value *v = w->by_unique[i * 64 + (size_t)__builtin_ctzll(only)];
        if (v && !node_has_flag(v->node, KIND_LASTS)) drop_at_start(w, node->blocks[side], v);
      }
    }
    live[i] = taken[i] | other[i];
  }
  give_back(w, taken);
  give_back(w, other);
  use_inputs(w, node, live);
}

static void define(Walk *w, const Node *node, uint64_t *live) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *v = node->outputs[i];
    if (!has(live, v)) w->out->dead[v->unique] = 1;
    take(live, v);
  }
}

/* A run that enters the Code at the marker has the inputs only. */
static void list_missing(Walk *w, const Node *marker, const uint64_t *live) {
  ValueList *list = NULL;
  for (size_t i = 0; i < w->words; i++)
    for (uint64_t left = live[i]; left; left &= left - 1) {
      Value *v = w->by_unique[i * 64 + (size_t)__builtin_ctzll(left)];
      bool listed = !v || node_has_flag(v->node, KIND_LASTS);
      for (uint32_t k = 0; k < marker->input_count && !listed; k++) listed = node_input(marker, k) == v;
      if (listed) continue;
      if (!list) ptrmap_put(&w->out->unlisted, marker, list = ARENA_NEW(w->arena, ValueList));
      vec_arena_push(w->arena, list, v);
    }
}

/* live: what is needed after the block; becomes what is needed before it. */
static void walk_block(Walk *w, const Block *block, uint64_t *live) {
  use_inputs(w, block->ret, live);
  for (const Node *node = block->ret->prev; node != block->param; node = node->prev) {
    if (node_has_flag(node, KIND_LASTS)) continue;
    define(w, node, live);
    if (node->kind == SYM_prim_BailOut) list_missing(w, node, live);
    if (node->kind == SYM_prim_If)
      walk_if(w, node, live);
    else if (node->kind == SYM_prim_Loop)
      walk_loop(w, node, live);
    else
      use_inputs(w, node, live);
  }
  for (uint32_t i = 0; i < block_input_count(block); i++)
    if (!has(live, block_input(block, i))) drop_at_start(w, block, block_input(block, i));
  define(w, block->param, live);
}

static void number_values(Walk *w, const Block *block) {
  for (const Node *node = block->param; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->output_count; i++) w->by_unique[node->outputs[i]->unique] = node->outputs[i];
    for (uint32_t i = 0; i < node->block_count; i++) number_values(w, node->blocks[i]);
  }
}

void liveness_compute(const Graph *graph, Arena *scratch, Liveness *out) {
  size_t count = graph->next_unique;
  Walk w = {.arena = scratch, .out = out, .words = count / 64 + 1};
  ptrmap_init(&out->nodes, scratch);
  ptrmap_init(&out->block_starts, scratch);
  ptrmap_init(&out->unlisted, scratch);
  out->dead = ARENA_ARRAY(scratch, uint8_t, count + 1);
  w.stamps = ARENA_ARRAY(scratch, uint32_t, count + 1);
  w.by_unique = ARENA_ARRAY(scratch, Value *, w.words * 64);
  number_values(&w, graph->block);
  walk_block(&w, graph->block, ARENA_ARRAY(scratch, uint64_t, w.words));
}

bool liveness_dies(const Liveness *l, const Node *node, uint32_t input) {
  assert(input < node->input_count);
  const NodeLife *life = ptrmap_get(&l->nodes, node);
  return life && life->dies && life->dies[input];
}
