/* Which register holds which value, from definition to last use, and the sites that name them. */
#include "interp/compile_internal.h"

#include <assert.h>

uint32_t take_register(Compiler *c) {
  uint32_t r = c->next_register;
  if (!(c->flags & CODE_NO_REUSE))
    while (r < c->register_state.length && c->register_state.data[r] != REGISTER_FREE)
      r += r == c->code->parameter_count && c->code->borrowed_count ? c->code->borrowed_count : 1; /* all at once */
  else
    r = (uint32_t)c->register_state.length;
  c->next_register = r + 1;
  if (r == c->register_state.length) {
    vec_arena_push(&c->scratch, &c->register_state, REGISTER_FREE);
    vec_arena_push(&c->scratch, &c->holders, NULL);
  }
  if (r >= OPERAND_MOVE - 1) compile_out(c, status_new(ERROR_UNSUPPORTED, "a graph with too many values"));
  c->register_state.data[r] = REGISTER_HELD;
  return r;
}

bool is_temporary(const Compiler *c, uint32_t r) {
  return r < c->code->parameter_count || r >= c->code->parameter_count + c->code->borrowed_count;
}

void free_register(Compiler *c, uint32_t r) {
  assert(r == NO_REGISTER || r < c->register_state.length);
  if (r == NO_REGISTER || !is_temporary(c, r)) return;
  uint8_t *state = &c->register_state.data[r];
  *state = *state == REGISTER_HELD_RESERVED || *state == REGISTER_RESERVED ? REGISTER_RESERVED : REGISTER_FREE;
  if (*state == REGISTER_FREE && r < c->next_register) c->next_register = r;
}

uint8_t reserve(Compiler *c, uint32_t r, bool held) {
  assert(r < c->register_state.length);
  uint8_t before = c->register_state.data[r];
  c->register_state.data[r] = held ? REGISTER_HELD_RESERVED : REGISTER_RESERVED;
  return before;
}

bool claim(Compiler *c, uint32_t r) {
  assert(r < c->register_state.length);
  if (c->register_state.data[r] != REGISTER_RESERVED) return false;
  c->register_state.data[r] = REGISTER_HELD_RESERVED;
  return true;
}

uint32_t use(Compiler *c, const Node *node, uint32_t input) {
  uint32_t r = c->register_of[node_input(node, input)->unique];
  if (r == NO_REGISTER) compile_out(c, status_internal("a value is used before its definition"));
  return r;
}

bool dies(Compiler *c, const Node *node, uint32_t input) {
  return liveness_dies(&c->life, node, input) && is_temporary(c, c->register_of[node_input(node, input)->unique]);
}

uint8_t moves(Compiler *c, const Node *node, uint32_t input, uint8_t flag) {
  return dies(c, node, input) && is_counted(node_input(node, input)->type) ? flag : 0;
}

void kill_inputs(Compiler *c, const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (dies(c, node, i)) free_register(c, use(c, node, i));
}

uint32_t define(Compiler *c, Value *value) {
  assert(value->unique < c->graph->next_unique);
  uint32_t hint = c->hint_of[value->unique], r;
  if (hint && claim(c, hint - 1))
    r = hint - 1;
  else
    r = take_register(c);
  c->holders.data[r] = value;
  return c->register_of[value->unique] = r;
}

static uint32_t depth_of(const Node *node) {
  uint32_t depth = 0;
  for (; node; node = node->owning_block->owning_node) depth++;
  return depth;
}

/* Whether `user` may run after `node` has: not when one contains the other or they lie in different branches. */
static bool may_follow(const Node *node, const Node *user) {
  uint32_t a = depth_of(node), b = depth_of(user);
  for (; a > b; a--) node = node->owning_block->owning_node;
  for (; b > a; b--) user = user->owning_block->owning_node;
  if (node == user) return false;
  while (node->owning_block != user->owning_block) {
    node = node->owning_block->owning_node;
    user = user->owning_block->owning_node;
    if (node == user) return false;
  }
  return user->position > node->position;
}

/* Whether a path leads from after `node` to a use of the value; what a loop around `node` takes from outside is used
 * again. */
static bool is_live_after(const Value *value, const Node *node) {
  for (const Block *b = node->owning_block; b != value->node->owning_block; b = b->owning_node->owning_block)
    if (!b->owning_node || b->owning_node->kind == SYM_prim_Loop) return true;
  for (size_t i = 0; i < value->uses.length; i++)
    if (may_follow(node, value->uses.data[i].user)) return true;
  return false;
}

/* An output of a branch that wants the register of what its loop carried so far gets it at once when both paths end
 * that value. */
bool takes_over(Compiler *c, const Node *node, const Value *output) {
  uint32_t hint = c->hint_of[output->unique];
  if (!hint || c->register_state.data[hint - 1] != REGISTER_HELD_RESERVED) return false;
  const Value *holder = c->holders.data[hint - 1];
  return holder && !is_live_after(holder, node);
}

bool is_dead(const Compiler *c, const Value *value) {
  return c->life.dead[value->unique];
}

uint32_t define_output(Compiler *c, const Node *node, uint32_t output) {
  return define(c, node_output(node, output));
}

void drop_value(Compiler *c, const Value *value) {
  assert(c->register_of[value->unique] != NO_REGISTER || !is_counted(value->type));
  uint32_t r = c->register_of[value->unique];
  if (!is_temporary(c, r)) return;
  if (is_counted(value->type)) emit(c, INST_DROP, 0, r, 0, 0);
  free_register(c, r);
}

void drop_dead(Compiler *c, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (is_dead(c, node->outputs[i]) && c->register_of[node->outputs[i]->unique] != NO_REGISTER)
      drop_value(c, node->outputs[i]);
}

void drop_list(Compiler *c, const ValueList *list) {
  for (size_t i = 0; list && i < list->length; i++)
    if (list->data[i]->node->kind != SYM_prim_Constant) drop_value(c, list->data[i]);
}

/* ---- sites ---- */

Site *new_site(Compiler *c, const Node *node, uint32_t first_input, uint32_t *out_index) {
  Site site = {.arg_begin = (uint32_t)c->operands.length, .arg_count = node->input_count - first_input};
  for (uint32_t i = first_input; i < node->input_count; i++) {
    uint32_t operand = use(c, node, i), k = i - first_input;
    if (dies(c, node, i)) {
      bool other = false;
      for (uint32_t j = first_input; j < node->input_count && !other; j++)
        other = j != i && node_input(node, j) == node_input(node, i);
      if (k < 64 && !other) site.dying |= (uint64_t)1 << k;
      if (is_counted(node_input(node, i)->type)) operand |= OPERAND_MOVE;
    }
    vec_arena_push(&c->scratch, &c->operands, operand);
  }
  kill_inputs(c, node);
  *out_index = (uint32_t)c->sites.length;
  vec_arena_push(&c->scratch, &c->sites, site);
  return &vec_last(&c->sites);
}

/* Dead outputs get no register: what arrives there is released at once. */
void site_outputs(Compiler *c, Site *site, const Node *node) {
  site->output_begin = (uint32_t)c->operands.length;
  site->output_count = node->output_count;
  for (uint32_t i = 0; i < node->output_count; i++)
    vec_arena_push(&c->scratch, &c->operands, is_dead(c, node->outputs[i]) ? NO_REGISTER : define(c, node->outputs[i]));
  uint32_t window = site->arg_count + site->output_count;
  if (window > c->code->window) c->code->window = window;
}
