/* Branches and loops: what they carry stands in registers of its own, into which the values of the next turn are
 * computed where the old ones are gone by then. */
#include "interp/compile_internal.h"

/* ---- moves at joins ---- */

typedef struct PendingMove {
  uint32_t to, from;
  bool done;
} PendingMove;

/* Moves the inputs [first, ...) of a Return sentinel to the registers `to`, as if all at once; to[i] NO_REGISTER: not
 * wanted. */
static void join(Compiler *c, const Node *ret, uint32_t first, const uint32_t *to) {
  uint32_t count = ret->input_count - first, left = 0;
  PendingMove *pending = ARENA_ARRAY(&c->scratch, PendingMove, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t from = use(c, ret, first + i);
    if (to[i] != NO_REGISTER && to[i] != from) pending[left++] = (PendingMove){to[i], from, false};
  }
  /* who may be moved out of its register: values that die here and do not stay in place */
  PtrMap owned;
  ptrmap_init(&owned, &c->scratch);
  for (uint32_t i = first; i < ret->input_count; i++)
    if (dies(c, ret, i)) ptrmap_put(&owned, (void *)(uintptr_t)(use(c, ret, i) + 1), (void *)1);
  for (uint32_t i = 0; i < count; i++)
    if (to[i] == use(c, ret, first + i)) ptrmap_put(&owned, (void *)(uintptr_t)(to[i] + 1), NULL);

  uint32_t remaining = left;
  while (remaining) {
    bool progressed = false;
    for (uint32_t i = 0; i < left; i++) {
      if (pending[i].done) continue;
      bool blocked = false, again = false;
      for (uint32_t j = 0; j < left; j++) {
        if (j == i || pending[j].done) continue;
        blocked |= pending[j].from == pending[i].to;
        again |= pending[j].from == pending[i].from;
      }
      if (blocked) continue;
      bool move = !again && ptrmap_get(&owned, (void *)(uintptr_t)(pending[i].from + 1));
      emit(c, move ? INST_MOVE : INST_LOAD, 0, pending[i].to, pending[i].from, 0);
      if (move) ptrmap_put(&owned, (void *)(uintptr_t)(pending[i].from + 1), NULL);
      pending[i].done = progressed = true;
      remaining--;
    }
    if (progressed || !remaining) continue;
    uint32_t temporary = take_register(c), from = 0; /* only cycles are left */
    for (uint32_t i = 0; i < left; i++)
      if (!pending[i].done) {
        from = pending[i].from;
        break;
      }
    emit(c, INST_MOVE, 0, temporary, from, 0);
    for (uint32_t i = 0; i < left; i++)
      if (!pending[i].done && pending[i].from == from) pending[i].from = temporary;
    ptrmap_put(&owned, (void *)(uintptr_t)(temporary + 1), (void *)1);
    free_register(c, temporary);
  }
  /* what dies here unwanted */
  for (uint32_t i = first; i < ret->input_count; i++) {
    uint32_t r = use(c, ret, i);
    if (!dies(c, ret, i)) continue;
    bool is_target = false; /* then something else is in there by now */
    for (uint32_t j = 0; j < count; j++) is_target |= to[j] == r;
    if (is_target) continue;
    if (ptrmap_get(&owned, (void *)(uintptr_t)(r + 1)) && is_counted(node_input(ret, i)->type))
      emit(c, INST_DROP, 0, r, 0, 0);
    free_register(c, r);
  }
}

/* ---- branches ---- */

/* The node before `node` in its block that is not a constant. */
static const Node *previous(const Node *node) {
  do node = node->prev;
  while (node->kind == SYM_prim_Constant);
  return node;
}

/* Whether the node makes the condition of the If or Loop turn right after it and nothing else. */
bool fuses_with_next(Compiler *c, const Node *node) {
  if (node->output_count != 1 || node->outputs[0]->uses.length != 1) return false;
  Use user = node->outputs[0]->uses.data[0];
  FusedBranch unused;
  if (user.user->kind == SYM_prim_If && user.user->owning_block == node->owning_block && previous(user.user) == node)
    return fusable_branch(c, node, &unused);
  return false;
}

/* What is in the temporaries; constants stay where they are, however many there are. */
typedef struct Registers {
  size_t count;
  uint8_t *states;
  const Value **holders;
} Registers;

static Registers save_registers(Compiler *c) {
  size_t parameters = c->code->parameter_count, constants = c->code->borrowed_count;
  Registers saved = {.count = c->register_state.length - constants};
  size_t others = saved.count - parameters;
  saved.states = ARENA_ARRAY(&c->scratch, uint8_t, saved.count + 1);
  saved.holders = ARENA_ARRAY(&c->scratch, const Value *, saved.count + 1);
  memcpy(saved.states, c->register_state.data, parameters);
  memcpy(saved.states + parameters, c->register_state.data + parameters + constants, others);
  memcpy(saved.holders, c->holders.data, parameters * sizeof *saved.holders);
  memcpy(saved.holders + parameters, c->holders.data + parameters + constants, others * sizeof *saved.holders);
  return saved;
}

static uint32_t saved_register(const Compiler *c, size_t i) {
  return (uint32_t)(i < c->code->parameter_count ? i : i + c->code->borrowed_count);
}

/* Registers that came later are free again. */
static void free_since(Compiler *c, const Registers *saved) {
  size_t old = saved->count + c->code->borrowed_count;
  memset(c->register_state.data + old, REGISTER_FREE, c->register_state.length - old);
  c->next_register = 0;
}

static void restore_registers(Compiler *c, const Registers *saved) {
  for (size_t i = 0; i < saved->count; i++) {
    uint32_t r = saved_register(c, i);
    c->register_state.data[r] = saved->states[i];
    c->holders.data[r] = saved->holders[i];
  }
  free_since(c, saved);
}

void compile_if(Compiler *c, const Node *node) {
  const Node *condition = node_input(node, 0)->node;
  uint32_t branch;
  FusedBranch fused;
  if (condition->kind != SYM_prim_Constant && condition->owning_block == node->owning_block &&
      previous(node) == condition && fuses_with_next(c, condition) && fusable_branch(c, condition, &fused)) {
    branch = emit(c, fused.branch, 0, 0, fused.left, fused.right);
    kill_inputs(c, condition);
  } else {
    branch = emit(c, INST_JF, 0, 0, use(c, node, 0), 0);
    kill_inputs(c, node);
  }
  uint32_t count = node->output_count;
  uint32_t *to = ARENA_ARRAY(&c->scratch, uint32_t, count + 1);
  uint8_t *before = ARENA_ARRAY(&c->scratch, uint8_t, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    if (is_dead(c, node->outputs[i])) {
      to[i] = NO_REGISTER;
    } else if (takes_over(c, node, node->outputs[i])) {
      to[i] = c->register_of[node->outputs[i]->unique] = c->hint_of[node->outputs[i]->unique] - 1;
      before[i] = REGISTER_HELD_RESERVED;
    } else {
      to[i] = define(c, node->outputs[i]);
      before[i] = reserve(c, to[i], false);
    }
  }
  const Registers start = save_registers(c);
  Registers after_first = {0};
  uint32_t skip = 0;
  for (uint32_t b = 0; b < 2; b++) {
    const Block *block = node->blocks[b];
    if (b) {
      c->node = node;
      bool empty_else = block->param->next == block->ret && !count && !ptrmap_get(&c->life.block_starts, block);
      after_first = save_registers(c);
      restore_registers(c, &start);
      if (!empty_else) skip = emit(c, INST_JMP, 0, 0, 0, 0) + 1;
      patch(c, branch);
    }
    for (uint32_t i = 0; i < count; i++)
      if (to[i] != NO_REGISTER) c->hint_of[block_output(block, i)->unique] = to[i] + 1;
    c->node = node;
    drop_list(c, ptrmap_get(&c->life.block_starts, block));
    compile_block(c, block);
    c->node = node;
    join(c, block->ret, 0, to);
    for (uint32_t i = 0; i < count; i++) c->hint_of[block_output(block, i)->unique] = 0;
  }
  if (skip && here(c) == skip) { /* nothing to do in the other branch */
    c->instructions.length = c->places.length = skip - 1;
    for (size_t i = 0; i < c->entries.length; i++)
      if (c->entries.data[i].pc == skip) c->entries.data[i].pc = skip - 1;
    patch(c, branch);
  } else if (skip) {
    patch(c, skip - 1);
  }
  /* what died in a branch is dead on both paths by now */
  for (size_t i = 0; i < start.count; i++) {
    uint8_t before_it = start.states[i], *now = &c->register_state.data[saved_register(c, i)];
    if (before_it == after_first.states[i] && before_it == *now) continue;
    *now = before_it == REGISTER_HELD            ? REGISTER_FREE
           : before_it == REGISTER_HELD_RESERVED ? REGISTER_RESERVED
                                                 : before_it;
  }
  free_since(c, &start);
  for (uint32_t i = 0; i < count; i++)
    if (to[i] != NO_REGISTER) {
      c->register_state.data[to[i]] = before[i];
      c->holders.data[to[i]] = node->outputs[i];
    }
}

/* ---- loops ---- */

static bool is_true(const Value *value) {
  IValue constant;
  return value_is_constant(value, &constant) && constant.tag == TAG_BOOL && constant.b;
}

static bool is_endless(const Value *limit) {
  IValue constant;
  return value_is_constant(limit, &constant) && constant.tag == TAG_INT && constant.i == INT64_MAX;
}

/* The registers of what the loop carries, with the first values in them. */
static void enter_loop(Compiler *c, const Node *node, uint32_t *carried, uint8_t *before) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    uint32_t input = i + 2, from = use(c, node, input);
    bool last = dies(c, node, input), twice = false;
    for (uint32_t j = 2; j < node->input_count; j++)
      twice |= j != input && node_input(node, j) == node_input(node, input);
    Value *output = node_output(node, i);
    uint32_t hint = c->hint_of[output->unique], r;
    if (hint && hint - 1 != from && claim(c, hint - 1))
      r = hint - 1;
    else if (last && !twice && is_temporary(c, from))
      r = from;
    else
      r = take_register(c);
    if (r != from) {
      emit(c, last && is_counted(output->type) ? INST_MOVE : INST_LOAD, 0, r, from, 0);
      if (last) free_register(c, from);
    }
    carried[i] = r;
    before[i] = reserve(c, r, true);
    c->register_of[block_input(node->blocks[0], i + 1)->unique] = r;
    c->holders.data[r] = block_input(node->blocks[0], i + 1);
    c->register_of[output->unique] = r;
  }
}

/* The last node of the body when it only makes the condition of the next turn and nothing has to be moved after it. */
static bool fuse_turn(Compiler *c, const Block *body, const uint32_t *carried, FusedBranch *out) {
  const Node *node = block_output(body, 0)->node;
  if (node->owning_block != body || node->kind == SYM_prim_Param || previous(body->ret) != node) return false;
  if (node->output_count != 1 || node->outputs[0]->uses.length != 1) return false;
  if (!fusable_branch(c, node, out) || !out->two || out->loop == INST_JMP) return false;
  for (uint32_t i = 1; i < block_output_count(body); i++)
    if (c->register_of[block_output(body, i)->unique] != carried[i - 1]) return false;
  return true;
}

void compile_loop(Compiler *c, const Node *node) {
  const Block *body = node->blocks[0];
  Value *limit = node_input(node, 0), *next = block_output(body, 0);
  bool endless = is_endless(limit), is_while = endless && block_input(body, 0)->uses.length == 0;
  bool starts = is_true(node_input(node, 1)), goes_on = is_true(next);
  uint32_t count = node->output_count;
  uint32_t *carried = ARENA_ARRAY(&c->scratch, uint32_t, count + 1);
  uint8_t *before = ARENA_ARRAY(&c->scratch, uint8_t, count + 1);

  enter_loop(c, node, carried, before);
  uint32_t counter = is_while ? NO_REGISTER : take_register(c);
  if (counter != NO_REGISTER) c->register_of[block_input(body, 0)->unique] = counter;
  uint32_t exits[3], exit_count = 0;
  if (!starts) exits[exit_count++] = emit(c, INST_JF, 0, 0, use(c, node, 1), 0);
  if (dies(c, node, 1)) free_register(c, use(c, node, 1)); /* kept until here: the moves must not write over it */
  if (!is_while) exits[exit_count++] = emit(c, INST_LOOP_ENTER, 0, 0, counter, use(c, node, 0));

  uint32_t top = here(c);
  drop_list(c, ptrmap_get(&c->life.block_starts, body));
  for (uint32_t i = 0; i < count; i++) {
    Value *result = block_output(body, i + 1);
    if (result->node->owning_block == body && result->node != body->param) c->hint_of[result->unique] = carried[i] + 1;
  }
  /* compile all nodes but a fusable last one, which needs to know where the carried values ended up */
  compile_block(c, body);
  c->node = node;
  FusedBranch fused;
  const Node *last = next->node;
  bool skipped = last->owning_block == body && c->register_of[next->unique] == NO_REGISTER &&
                 last->kind != SYM_prim_Param && last->kind != SYM_prim_Constant;
  bool fuse = skipped && is_while && fuse_turn(c, body, carried, &fused);
  if (skipped && !fuse) {
    c->node = last;
    bool compiled = compile_direct(c, last);
    assert(compiled);
    (void)compiled;
    c->node = node;
  }
  uint32_t turn = goes_on || fuse ? NO_REGISTER : use(c, body->ret, 0);
  if (turn != NO_REGISTER) {
    bool clobbered = false;
    for (uint32_t i = 0; i < count; i++) clobbered |= turn == carried[i];
    if (clobbered) {
      uint32_t copy = take_register(c);
      emit(c, INST_LOAD, 0, copy, turn, 0);
      turn = copy;
    }
  }
  join(c, body->ret, 1, carried);
  if (fuse) {
    emit(c, fused.loop, 0, top, fused.left, fused.right);
    kill_inputs(c, last);
  } else if (is_while) {
    if (turn == NO_REGISTER)
      emit(c, INST_LOOP_WHILE, 0, top, use(c, body->ret, 0), 0); /* `while True` without a way out */
    else
      emit(c, INST_LOOP_WHILE, 0, top, turn, 0);
  } else {
    if (turn != NO_REGISTER) exits[exit_count++] = emit(c, INST_JF, 0, 0, turn, 0);
    emit(c, INST_LOOP_NEXT, 0, top, counter, use(c, node, 0));
  }
  if (turn != NO_REGISTER) {
    bool is_carried = false;
    for (uint32_t i = 0; i < count; i++) is_carried |= turn == carried[i];
    if (!is_carried && (dies(c, body->ret, 0) || turn != c->register_of[next->unique])) free_register(c, turn);
  }
  while (exit_count) patch(c, exits[--exit_count]);

  for (uint32_t i = 0; i < count; i++) {
    Value *result = block_output(body, i + 1);
    c->hint_of[result->unique] = 0;
    bool was_reserved = before[i] == REGISTER_HELD_RESERVED || before[i] == REGISTER_RESERVED;
    c->register_state.data[carried[i]] = was_reserved ? REGISTER_HELD_RESERVED : REGISTER_HELD;
    c->holders.data[carried[i]] = node->outputs[i];
  }
  if (counter != NO_REGISTER) free_register(c, counter);
  NodeLife *life = ptrmap_get(&c->life.nodes, node);
  if (life) drop_list(c, &life->drop_after);
  drop_dead(c, node);
}

/* A comparison at the end of a while loop's body waits for the loop to place it. */
bool waits_for_loop(Compiler *c, const Node *node) {
  const Block *block = node->owning_block;
  const Node *loop = block->owning_node;
  if (!loop || loop->kind != SYM_prim_Loop || block_output(block, 0)->node != node || previous(block->ret) != node)
    return false;
  FusedBranch unused;
  return node->output_count == 1 && node->outputs[0]->uses.length == 1 && fusable_branch(c, node, &unused) &&
         unused.two;
}
