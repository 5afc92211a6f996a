/* Unrolling of counted loops, whose conditions are constantly true: a small body with few known iterations stands there
 * as often as it runs; else the loop does UNROLL_FACTOR iterations at a time and an epilogue the rest. Peeling puts the
 * first iterations in front of the loop. The limits are in rewrite.h; beyond them loops stay as they are. */
#include <assert.h>

#include "ir/constant.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "loop_unrolling"

static bool is_counted(const Node *loop) {
  return loop->kind == SYM_prim_Loop && constant_is_bool(node_input(loop, 1), true) &&
         constant_is_bool(block_output(loop->blocks[0], 0), true);
}

/* Where copies of a body find what stands for its values: the inputs by position, what is from outside itself. */
typedef struct Iteration {
  const Block *body;
  Value *const *inputs; /* one for each input of body */
} Iteration;

static Value *map_input(Value *value, void *argument) {
  const Iteration *iteration = argument;
  return value->node == iteration->body->param ? iteration->inputs[value->offset] : value;
}

/* Copies the body in front of `before`; `values` (trip index and what is carried) go in, what the body gives comes out:
 * whether to go on, and what is carried. */
static void copy_iteration(Graph *graph, const Block *body, Node *before, Value *const *values, Value **results) {
  uint32_t count = block_input_count(body);
  Node *holder = graph_create(graph, SYM_prim_Block, 0, NULL, 0);
  Block *copy = node_add_block(holder);
  node_insert_before(holder, before);
  block_clone_into(copy, body, map_input, &(Iteration){body, values});
  for (uint32_t i = 0; i < count; i++) value_replace_all_uses_with(block_input(copy, i), values[i]);
  for (uint32_t i = 0; i < count; i++) results[i] = block_output(copy, i);
  BLOCK_EACH(node, copy) node_move_before(node, before);
  node_destroy(holder);
}

/* The counter of the loop as a value that it carries: the copies of the body and the epilogue share it. */
static void carry_counter(Graph *graph, Node *loop) {
  Block *body = loop->blocks[0];
  Value *zero = insert_constant_before(loop, ivalue_int(0), NULL);
  node_insert_input(loop, 2, zero);
  node_insert_output(loop, 0, TYPE(INT));
  Value *counter = block_insert_input(body, 1, STR(""), TYPE(INT));
  value_replace_all_uses_with(block_input(body, 0), counter);
  graph_set_insert_block(graph, body);
  Value *one = graph_insert_constant(graph, ivalue_int(1), NULL);
  block_insert_output(body, 1, insert_call(graph, SYM_aten_add, TYPE(INT), 2, (Value *[]){counter, one}));
}

static Value **carried_values(const Node *loop) {
  uint32_t count = loop->output_count + 1;
  Value **values = ARENA_ARRAY(loop->graph->arena, Value *, count);
  for (uint32_t i = 1; i < count; i++) values[i] = node_input(loop, i + 1);
  return values;
}

/* The whole loop, its iterations one after the other. */
static void replace_by_iterations(Graph *graph, Node *loop, int64_t trips) {
  assert(trips >= 0);
  Value **values = carried_values(loop);
  Value *counter = values[0] = block_input(loop->blocks[0], 0); /* unused: another one is carried */
  for (int64_t i = 0; i < trips; i++) {
    copy_iteration(graph, loop->blocks[0], loop, values, values);
    values[0] = counter;
  }
  for (uint32_t i = 0; i < loop->output_count; i++) value_replace_all_uses_with(node_output(loop, i), values[i + 1]);
  node_destroy(loop);
}

static Value *same(Value *value, void *argument) {
  (void)argument;
  return value;
}

static void repeat_body(Graph *graph, Node *loop, uint32_t times) {
  assert(times > 0);
  Block *body = loop->blocks[0], *repeated = node_add_block(loop);
  uint32_t count = block_input_count(body);
  Value **values = ARENA_ARRAY(graph->arena, Value *, count);
  for (uint32_t i = 0; i < count; i++)
    values[i] = block_add_input(repeated, block_input(body, i)->name, block_input(body, i)->type);
  for (uint32_t i = 0; i < times; i++) {
    copy_iteration(graph, body, repeated->ret, values, values);
    values[0] = block_input(repeated, 0);
  }
  block_register_output(repeated, block_output(body, 0));
  for (uint32_t i = 1; i < count; i++) block_register_output(repeated, values[i]);
  node_erase_block(loop, 0);
}

/* loop(n) becomes loop(n / 8) of eight iterations each and loop(n % 8). */
static void unroll_by_factor(Graph *graph, Node *loop) {
  Node *epilogue = node_copy(loop, graph, same, NULL);
  node_insert_after(epilogue, loop);
  for (uint32_t i = 0; i < loop->output_count; i++) {
    value_replace_all_uses_with(node_output(loop, i), node_output(epilogue, i));
    node_replace_input(epilogue, i + 2, node_output(loop, i));
  }
  repeat_body(graph, loop, UNROLL_FACTOR);
  Value *trips = node_input(loop, 0), *factor = insert_constant_before(loop, ivalue_int(UNROLL_FACTOR), NULL),
        *rounds = insert_call_before(loop, SYM_aten___round_to_zero_floordiv, TYPE(INT), 2, (Value *[]){trips, factor}),
        *done = insert_call_before(loop, SYM_aten_mul, TYPE(INT), 2, (Value *[]){rounds, factor}),
        *rest = insert_call_before(loop, SYM_aten_sub, TYPE(INT), 2, (Value *[]){trips, done});
  node_replace_input(loop, 0, rounds);
  node_replace_input(epilogue, 0, rest);
}

/* A budget for all loops of a graph: how many nodes may still come in. */
static bool take(uint32_t *budget, const Block *body, int64_t copies) {
  int64_t nodes = (int64_t)block_size(body, UNROLL_MAX_NODES) * copies;
  if (nodes > (int64_t)*budget) return false;
  *budget -= (uint32_t)nodes;
  return true;
}

static bool unroll(Graph *graph, Node *loop, bool constant_only, uint32_t *budget) {
  Block *body = loop->blocks[0];
  int64_t trips = -1;
  bool known = constant_int(node_input(loop, 0), &trips) && trips >= 0;
  if (constant_only && !known) return node_refused(FILE_NAME, loop, REASON_NOT_UNROLLED_UNKNOWN);
  if (!constant_only && block_size(body, UNROLL_MAX_BODY + 1) > UNROLL_MAX_BODY)
    return node_refused(FILE_NAME, loop, REASON_NOT_UNROLLED_TOO_LARGE);
  bool whole = known && trips < UNROLL_MAX_REPEATS;
  if (!take(budget, body, whole ? trips : UNROLL_FACTOR))
    return node_refused(FILE_NAME, loop, REASON_NOT_UNROLLED_BUDGET);
  if (!jit_opt_limit(FILE_NAME)) return false;
  JIT_LOG_UPDATE(FILE_NAME, "unrolling a loop of %lld iterations", (long long)trips);
  if (value_has_uses(block_input(body, 0))) carry_counter(graph, loop);
  if (whole)
    replace_by_iterations(graph, loop, trips);
  else
    unroll_by_factor(graph, loop);
  return true;
}

static bool unroll_in(Graph *graph, Block *block, bool constant_only, uint32_t *budget) {
  bool changed = false;
  BLOCK_EACH_REVERSE(node, block) { /* an epilogue, after its loop, is not met again */
    for (uint32_t i = 0; i < node->block_count; i++)
      changed |= unroll_in(graph, node->blocks[i], constant_only, budget);
    if (node->kind != SYM_prim_Loop) continue;
    changed |= is_counted(node) ? unroll(graph, node, constant_only, budget)
                                : node_refused(FILE_NAME, node, REASON_NOT_UNROLLED_CONDITION);
  }
  return changed;
}

static bool unroll_graph(Graph *graph, bool constant_only) {
  uint32_t budget = UNROLL_MAX_NODES;
  bool changed = unroll_in(graph, graph->block, constant_only, &budget);
  if (changed) dead_code_elimination(graph);
  graph->insert_before = graph->block->ret;
  GRAPH_LOG_DUMP(FILE_NAME, "After UnrollLoops: ", graph);
  return changed;
}

bool loop_unrolling(Graph *graph) {
  return unroll_graph(graph, false);
}

bool constant_loop_unrolling(Graph *graph) {
  return unroll_graph(graph, true);
}

/* ---- peeling ---- */

/* The first iteration in an If: its outputs are the iterations left, whether to go on (of a loop that asks), and what
 * is carried. A loop that does not run has none left. */
static void peel_iteration(Graph *graph, Node *loop) {
  Block *body = loop->blocks[0];
  uint32_t count = loop->output_count;
  bool counted = is_counted(loop);
  Value *zero = insert_constant_before(loop, ivalue_int(0), NULL),
        *one = insert_constant_before(loop, ivalue_int(1), NULL), *trips = node_input(loop, 0),
        *more = node_input(loop, 1);
  Value *condition = insert_call_before(loop, SYM_aten_lt, TYPE(BOOL), 2, (Value *[]){zero, trips});
  if (!constant_is_bool(more, true))
    condition = insert_call_before(loop, SYM_aten___and__, TYPE(BOOL), 2, (Value *[]){condition, more});
  Node *branch = graph_create_if(graph, condition);
  node_copy_metadata(branch, loop);
  node_insert_before(branch, loop);
  Block *taken = branch->blocks[0], *skipped = branch->blocks[1];
  Value **values = carried_values(loop);
  values[0] = zero;
  for (uint32_t i = 1; i <= count; i++) block_register_output(skipped, values[i]);
  Value **results = ARENA_ARRAY(graph->arena, Value *, count + 1);
  copy_iteration(graph, body, taken->ret, values, results);
  for (uint32_t i = 1; i <= count; i++) block_register_output(taken, results[i]);
  for (uint32_t i = 0; i < count; i++)
    node_replace_input(loop, i + 2, node_add_output(branch, node_output(loop, i)->type));
  if (!counted) {
    block_insert_output(taken, 0, results[0]);
    block_insert_output(skipped, 0, more);
    node_replace_input(loop, 1, node_insert_output(branch, 0, TYPE(BOOL)));
  }
  block_insert_output(taken, 0, insert_call_before(taken->ret, SYM_aten_sub, TYPE(INT), 2, (Value *[]){trips, one}));
  block_insert_output(skipped, 0, zero);
  node_replace_input(loop, 0, node_insert_output(branch, 0, TYPE(INT)));
  Value *counter = block_input(body, 0);
  if (!value_has_uses(counter)) return;
  Node *shift = graph_create(graph, SYM_aten_add, 2, (Value *[]){counter, one}, 1); /* the loop counts from 0 again */
  node_output(shift, 0)->type = TYPE(INT);
  node_insert_before(shift, body->param->next);
  value_replace_all_uses_after(counter, shift, node_output(shift, 0));
}

void peel_loop(Node *loop, uint32_t iterations) {
  for (uint32_t i = 0; i < iterations; i++) peel_iteration(loop->graph, loop);
}

static bool peel_in(Block *block, bool (*wanted)(const Node *loop, void *argument), void *argument,
                    uint32_t iterations) {
  bool changed = false;
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) changed |= peel_in(node->blocks[i], wanted, argument, iterations);
    if (node->kind != SYM_prim_Loop || (wanted && !wanted(node, argument))) continue;
    if (block_size(node->blocks[0], PEEL_MAX_BODY + 1) > PEEL_MAX_BODY) {
      node_refused(FILE_NAME, node, REASON_NOT_PEELED_TOO_LARGE);
      continue;
    }
    if (!jit_opt_limit(FILE_NAME)) continue;
    peel_loop(node, iterations);
    changed = true;
  }
  return changed;
}

bool loop_peeling(Graph *graph, uint32_t iterations, bool (*wanted)(const Node *loop, void *argument), void *argument) {
  return peel_in(graph->block, wanted, argument, iterations);
}

PASS(constant_loop_unrolling, GRADIENTS, constant_loop_unrolling(graph),
     "unrolls loops with a known number of iterations");
PASS(loop_peeling, GRADIENTS, loop_peeling(graph, 1, NULL, NULL), "puts the first iteration in front of every loop");
PASS(loop_unrolling, GRADIENTS, loop_unrolling(graph), "unrolls small counted loops");
