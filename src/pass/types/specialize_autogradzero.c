/* Zero gradients, as far as they are known before anything runs: prim::AutogradZero, and tensors whose type says that
 * they are undefined. Blocks of Ifs and Loops give unknown values. */
#include <assert.h>

#include "ir/graph_log.h"
#include "pass/pass.h"

#define FILE_NAME "specialize_autogradzero"

typedef enum State { STATE_UNKNOWN, STATE_ZERO, STATE_NONZERO } State;

typedef struct Specializer {
  Graph *graph;
  uint8_t *states; /* by Value.unique of the values that were there; State */
  uint32_t count;
} Specializer;

static State state_of(const Specializer *s, const Value *v) {
  if (v->unique < s->count && s->states[v->unique]) return (State)s->states[v->unique];
  if (v->node->kind == SYM_prim_AutogradZero) return STATE_ZERO;
  if (v->type->kind != TYPE_TENSOR || !v->type->tensor) return STATE_UNKNOWN;
  return v->type->tensor->undefined == 1 ? STATE_ZERO : STATE_NONZERO;
}

static void set_state(Specializer *s, const Value *v, State state) {
  if (v->unique < s->count) s->states[v->unique] = (uint8_t)state;
}

static void move_block_out(Node *node) {
  assert(block_output_count(node->blocks[0]) == node->output_count);
  Block *block = node->blocks[0];
  BLOCK_EACH(inner, block) node_move_before(inner, node);
  for (uint32_t i = 0; i < node->output_count; i++)
    value_replace_all_uses_with(node_output(node, i), block_output(block, i));
  node_destroy(node);
}

static void specialize_grad_of(Specializer *s, Node *node) {
  assert(node->block_count == 1);
  bool all_zero = true, all_nonzero = true;
  for (uint32_t i = 0; i < node->input_count; i++) {
    State state = state_of(s, node_input(node, i));
    all_zero &= state == STATE_ZERO;
    all_nonzero &= state == STATE_NONZERO;
  }
  if (all_zero && jit_opt_limit(FILE_NAME)) {
    graph_set_insert_point(s->graph, node);
    Node *zero = graph_insert_node(s->graph, graph_create(s->graph, SYM_prim_AutogradZero, 0, NULL, 1));
    for (uint32_t i = 0; i < node->output_count; i++)
      value_replace_all_uses_with(node_output(node, i), node_output(zero, 0));
    NODE_LOG_UPDATE(FILE_NAME, "zero:", node);
    node_destroy(node);
  } else if (all_nonzero && jit_opt_limit(FILE_NAME)) {
    NODE_LOG_UPDATE(FILE_NAME, "never zero:", node);
    Block *block = node->blocks[0];
    for (uint32_t i = 0; i < node->output_count; i++) /* a formula may still give AutogradZero */
      if (state_of(s, block_output(block, i)) == STATE_UNKNOWN) set_state(s, block_output(block, i), STATE_NONZERO);
    move_block_out(node);
  }
}

/* Where one side is zero the sum is the other; where none is it is an ordinary sum. */
static void specialize_add(Specializer *s, Node *node) {
  assert(node->input_count == 2);
  Value *a = node_input(node, 0), *b = node_input(node, 1), *sum = NULL;
  State state_a = state_of(s, a), state_b = state_of(s, b);
  bool both = state_a == STATE_NONZERO && state_b == STATE_NONZERO;
  if (!both && state_a != STATE_ZERO && state_b != STATE_ZERO) return;
  if (!jit_opt_limit(FILE_NAME)) return;
  NODE_LOG_UPDATE(FILE_NAME, "add:", node);
  if (both) {
    graph_set_insert_point(s->graph, node);
    Value *one = graph_insert_constant(s->graph, ivalue_int(1), NULL);
    Value *inputs[] = {a, b, one};
    sum = node_output(graph_insert_node(s->graph, graph_create(s->graph, SYM_aten_add, 3, inputs, 1)), 0);
    set_state(s, sum, STATE_NONZERO);
  } else {
    sum = state_a == STATE_ZERO ? b : a;
  }
  value_replace_all_uses_with(node_output(node, 0), sum);
  node_destroy(node);
}

static void specialize_block(Specializer *s, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) specialize_block(s, node->blocks[i]);
    if (node->kind == SYM_prim_GradOf)
      specialize_grad_of(s, node);
    else if (node->kind == SYM_prim_AutogradAdd && node->input_count == 2)
      specialize_add(s, node);
  }
}

void specialize_autogradzero(Graph *graph) {
  Specializer s = {.graph = graph, .count = graph->next_unique};
  s.states = ARENA_ARRAY(graph->arena, uint8_t, s.count + 1);
  specialize_block(&s, graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After specializeAutogradZero: ", graph);
}

PASS(specialize_autogradzero, GRADIENTS, specialize_autogradzero(graph),
     "removes tests for gradients that are known to be zero or not");
