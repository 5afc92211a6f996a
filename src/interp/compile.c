/* Graph -> Code: registers, moves and drops, control flow, calls. A value keeps its register from definition to last
 * use; loops carry theirs in registers of their own, which the values of the next turn are computed into where the old
 * ones are gone by then. */
#include "interp/compile_internal.h"

void compile_out(Compiler *c, Status status) {
  catch_throw(&c->catch_point, status);
}

bool is_counted(const Type *type) {
  switch (type->kind) {
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_BOOL:
    case TYPE_NONE:
    case TYPE_DEVICE:
      return false;
    default:
      return true;
  }
}

/* ---- emitting ---- */

static const DebugInlined *place_inlined(Compiler *c, const InlinedCall *call) {
  if (!call) return NULL;
  const DebugInlined *known = ptrmap_get(&c->inlined, call);
  if (known) return known;
  DebugInlined *made = ARENA_NEW(c->arena, DebugInlined);
  Str name = call->function ? call->function->name : STR("");
  made->name = (Str){arena_strndup(c->arena, name.data, name.length), name.length};
  made->range = call->range;
  made->caller = place_inlined(c, call->caller);
  ptrmap_put(&c->inlined, call, made);
  return made;
}

uint32_t emit(Compiler *c, Opcode op, uint8_t flags, uint32_t a, uint32_t b, uint32_t cc) {
  Instruction instruction = {(uint16_t)op, flags, a, b, cc};
  DebugPlace place = {0};
  if (c->node) place = (DebugPlace){c->node->range, place_inlined(c, c->node->inlined)};
  vec_arena_push(&c->scratch, &c->instructions, instruction);
  vec_arena_push(&c->scratch, &c->places, place);
  return (uint32_t)c->instructions.length - 1;
}

static uint32_t here(const Compiler *c) {
  return (uint32_t)c->instructions.length;
}

static void patch(Compiler *c, uint32_t instruction) {
  c->instructions.data[instruction].a = here(c);
}

/* ---- registers ---- */

uint32_t take_register(Compiler *c) {
  uint32_t r = c->next_register;
  if (!(c->flags & CODE_NO_REUSE))
    while (r < c->register_state.length && c->register_state.data[r] != REGISTER_FREE) r++;
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

static bool is_temporary(const Compiler *c, uint32_t r) {
  return r < c->code->parameter_count || r >= c->code->parameter_count + c->code->constant_count;
}

void free_register(Compiler *c, uint32_t r) {
  if (r == NO_REGISTER || !is_temporary(c, r)) return;
  uint8_t *state = &c->register_state.data[r];
  *state = *state == REGISTER_HELD_RESERVED || *state == REGISTER_RESERVED ? REGISTER_RESERVED : REGISTER_FREE;
  if (*state == REGISTER_FREE && r < c->next_register) c->next_register = r;
}

/* Keeps a register for values that want it, whether one is in it or not. */
static uint8_t reserve(Compiler *c, uint32_t r, bool held) {
  uint8_t before = c->register_state.data[r];
  c->register_state.data[r] = held ? REGISTER_HELD_RESERVED : REGISTER_RESERVED;
  return before;
}

static bool claim(Compiler *c, uint32_t r) {
  if (c->register_state.data[r] != REGISTER_RESERVED) return false;
  c->register_state.data[r] = REGISTER_HELD_RESERVED;
  return true;
}

uint32_t use(Compiler *c, const Node *node, uint32_t input) {
  uint32_t r = c->register_of[node_input(node, input)->unique];
  if (r == NO_REGISTER) compile_out(c, status_new(ERROR_INTERNAL, "a value is used before its definition"));
  return r;
}

bool dies(Compiler *c, const Node *node, uint32_t input) {
  return liveness_dies(&c->life, node, input);
}

uint8_t moves(Compiler *c, const Node *node, uint32_t input, uint8_t flag) {
  return dies(c, node, input) && is_counted(node_input(node, input)->type) ? flag : 0;
}

void kill_inputs(Compiler *c, const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (dies(c, node, i)) free_register(c, use(c, node, i));
}

uint32_t define(Compiler *c, Value *value) {
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

/* Whether a path leads from behind `node` to a use of the value; what a loop around `node` takes from outside is used
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
static bool takes_over(Compiler *c, const Node *node, const Value *output) {
  uint32_t hint = c->hint_of[output->unique];
  if (!hint || c->register_state.data[hint - 1] != REGISTER_HELD_RESERVED) return false;
  const Value *holder = c->holders.data[hint - 1];
  return holder && !is_live_after(holder, node);
}

static bool is_dead(const Compiler *c, const Value *value) {
  return c->life.dead[value->unique];
}

uint32_t define_output(Compiler *c, const Node *node, uint32_t output) {
  return define(c, node_output(node, output));
}

void drop_value(Compiler *c, const Value *value) {
  uint32_t r = c->register_of[value->unique];
  if (is_counted(value->type)) emit(c, INST_DROP, 0, r, 0, 0);
  free_register(c, r);
}

void drop_dead(Compiler *c, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (is_dead(c, node->outputs[i]) && c->register_of[node->outputs[i]->unique] != NO_REGISTER)
      drop_value(c, node->outputs[i]);
}

static void drop_list(Compiler *c, const ValueList *list) {
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

static void compile_operator(Compiler *c, const Node *node) {
  const Operator *op;
  Status failed = node_resolve(node, &op);
  if (failed) compile_out(c, failed);
  uint32_t index;
  Site *site = new_site(c, node, 0, &index);
  site->op = op;
  Opcode opcode = op ? INST_OP : INST_UNSUPPORTED;
  if (!op) site->name = symbol_name(node->kind);
  if (op && op->row->factory) {
    Status status = op->row->factory->make(node, &site->kernel, &site->state, &site->state_free);
    if (status) compile_out(c, status);
  }
  site_outputs(c, site, node);
  emit(c, opcode, 0, index, 0, 0);
}

static const Function *static_function(const Node *node) {
  const Type *type = node_input(node, 0)->type;
  if (type->kind != TYPE_FUNCTION) return NULL;
  return type->function;
}

static void compile_call(Compiler *c, const Node *node) {
  uint32_t index;
  bool is_method = node->kind == SYM_prim_CallMethod;
  Site *site;
  Opcode op = INST_CALL;
  if (is_method) {
    const Type *self = node_input(node, 0)->type;
    Str name = node_string(node, SYM_attr_name);
    site = new_site(c, node, 0, &index);
    site->name = (Str){arena_strndup(c->arena, name.data, name.length), name.length};
    if (self->kind == TYPE_CLASS) {
      site->function = class_type_find_method(self->class_type, name);
      if (!site->function)
        compile_out(c, status_new(ERROR_COMPILE, "'" STR_FMT "' has no method '" STR_FMT "'", STR_ARG(self->name),
                                  STR_ARG(name)));
    } else {
      op = INST_INTERFACE_CALL;
    }
  } else {
    const Function *function = static_function(node);
    if (!function)
      compile_out(c, status_new(ERROR_UNSUPPORTED, "a call of a function that is not known when compiling"));
    site = new_site(c, node, 1, &index);
    site->function = (Function *)function;
  }
  site_outputs(c, site, node);
  if (site->output_count != 1) compile_out(c, status_new(ERROR_INTERNAL, "a call with other than one output"));
  emit(c, op, 0, index, 0, 0);
}

static void compile_with(Compiler *c, const Node *node) {
  const Type *type = node_input(node, 0)->type;
  bool enter = node->kind == SYM_prim_Enter;
  Str name = enter ? STR("__enter__") : STR("__exit__");
  uint32_t index;
  Site *site = new_site(c, node, 0, &index);
  site->name = name;
  site->function = type->kind == TYPE_CLASS ? class_type_find_method(type->class_type, name) : NULL;
  if (!site->function)
    compile_out(
        c, status_new(ERROR_COMPILE, "an object of a `with` statement has no method '" STR_FMT "'", STR_ARG(name)));
  site_outputs(c, site, node);
  if (enter) c->code->enter_depth++;
  emit(c, enter ? INST_ENTER : INST_EXIT, 0, index, 0, 0);
}

static void compile_fork(Compiler *c, const Node *node) {
  const NodeAttribute *graph = node_attribute(node, SYM_attr_Subgraph);
  if (!graph || graph->tag != ATTR_GRAPH) compile_out(c, status_new(ERROR_INTERNAL, "prim::fork without a graph"));
  uint32_t index;
  new_site(c, node, 0, &index);
  Code *child;
  Status status = code_compile_with(graph->g, c->code->name, c->flags & CODE_NO_REUSE, NULL, &child);
  if (status) compile_out(c, status);
  Site *site = &c->sites.data[index];
  site->code = child;
  const Type *future = node_output(node, 0)->type;
  site->type = future->kind == TYPE_FUTURE ? type_for_value(future->elements[0]) : TYPE(ANY);
  site_outputs(c, site, node);
  emit(c, INST_FORK, 0, index, 0, 0);
}

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

static void compile_block(Compiler *c, const Block *block);

/* ---- branches ---- */

/* The node before `node` in its block that is not a constant. */
static const Node *previous(const Node *node) {
  do node = node->prev;
  while (node->kind == SYM_prim_Constant);
  return node;
}

/* Whether the node makes the condition of the If or Loop turn right behind it and nothing else. */
static bool fuses_with_next(Compiler *c, const Node *node) {
  if (node->output_count != 1 || node->outputs[0]->uses.length != 1) return false;
  Use user = node->outputs[0]->uses.data[0];
  FusedBranch unused;
  if (user.user->kind == SYM_prim_If && user.user->owning_block == node->owning_block && previous(user.user) == node)
    return fusable_branch(c, node, &unused);
  return false;
}

static void compile_if(Compiler *c, const Node *node) {
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
  size_t size = c->register_state.length;
  uint8_t *start = ARENA_ARRAY(&c->scratch, uint8_t, size + 1), *after_first = NULL;
  memcpy(start, c->register_state.data, size);
  const Value **holders = ARENA_ARRAY(&c->scratch, const Value *, size + 1);
  memcpy(holders, c->holders.data, size * sizeof *holders);
  uint32_t skip = 0;
  for (uint32_t b = 0; b < 2; b++) {
    const Block *block = node->blocks[b];
    if (b) {
      c->node = node;
      bool empty_else = block->param->next == block->ret && !count && !ptrmap_get(&c->life.block_starts, block);
      after_first = ARENA_ARRAY(&c->scratch, uint8_t, c->register_state.length + 1);
      size_t now = c->register_state.length;
      memcpy(after_first, c->register_state.data, now);
      memcpy(c->register_state.data, start, size);
      memcpy(c->holders.data, holders, size * sizeof *holders);
      memset(c->register_state.data + size, REGISTER_FREE, now - size);
      c->next_register = 0;
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
  for (size_t i = 0; i < size; i++) {
    bool died = start[i] != after_first[i] || start[i] != c->register_state.data[i];
    if (died)
      c->register_state.data[i] = start[i] == REGISTER_HELD            ? REGISTER_FREE
                                  : start[i] == REGISTER_HELD_RESERVED ? REGISTER_RESERVED
                                                                       : start[i];
  }
  memset(c->register_state.data + size, REGISTER_FREE, c->register_state.length - size);
  for (uint32_t i = 0; i < count; i++)
    if (to[i] != NO_REGISTER) {
      c->register_state.data[to[i]] = before[i];
      c->holders.data[to[i]] = node->outputs[i];
    }
  c->next_register = 0;
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

/* The last node of the body when it only makes the condition of the next turn and nothing has to be moved behind it. */
static bool fuse_turn(Compiler *c, const Block *body, const uint32_t *carried, FusedBranch *out) {
  const Node *node = block_output(body, 0)->node;
  if (node->owning_block != body || node->kind == SYM_prim_Param || previous(body->ret) != node) return false;
  if (node->output_count != 1 || node->outputs[0]->uses.length != 1) return false;
  if (!fusable_branch(c, node, out) || !out->two || out->loop == INST_JMP) return false;
  for (uint32_t i = 1; i < block_output_count(body); i++)
    if (c->register_of[block_output(body, i)->unique] != carried[i - 1]) return false;
  return true;
}

static void compile_loop(Compiler *c, const Node *node) {
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

/* ---- nodes ---- */

static void compile_node(Compiler *c, const Node *node) {
  c->node = node;
  if (node->callable) {
    uint32_t index;
    Site *site = new_site(c, node, 0, &index);
    ref_retain(&node->callable->refs);
    site->callable = node->callable;
    site_outputs(c, site, node);
    emit(c, INST_CALLABLE, 0, index, 0, 0);
    return;
  }
  switch (node->kind) {
    case SYM_prim_Constant:
      return;
    case SYM_prim_If:
      compile_if(c, node);
      return;
    case SYM_prim_Loop:
      compile_loop(c, node);
      return;
    case SYM_prim_CallFunction:
    case SYM_prim_CallMethod:
      compile_call(c, node);
      return;
    case SYM_prim_Enter:
    case SYM_prim_Exit:
      compile_with(c, node);
      return;
    case SYM_prim_fork:
      compile_fork(c, node);
      return;
    case SYM_prim_profile:
      compile_profile(c, node);
      return;
    case SYM_prim_BailOut:
      if (c->flags & CODE_IS_BASELINE)
        compile_marker(c, node);
      else
        compile_guard(c, node);
      return;
    default:
      if (fuses_with_next(c, node)) return; /* compiled with its branch */
      if (!compile_direct(c, node)) compile_operator(c, node);
  }
}

/* A comparison at the end of a while loop's body waits for the loop to place it. */
static bool waits_for_loop(Compiler *c, const Node *node) {
  const Block *block = node->owning_block;
  const Node *loop = block->owning_node;
  if (!loop || loop->kind != SYM_prim_Loop || block_output(block, 0)->node != node || previous(block->ret) != node)
    return false;
  FusedBranch unused;
  return node->output_count == 1 && node->outputs[0]->uses.length == 1 && fusable_branch(c, node, &unused) &&
         unused.two;
}

static void compile_block(Compiler *c, const Block *block) {
  BLOCK_EACH(node, block)
  if (!waits_for_loop(c, node)) compile_node(c, node);
}

/* ---- constants ---- */

/* Takes over the reference, also when it throws. */
static uint32_t add_constant(Compiler *c, IValue value) {
  for (size_t i = 0; i < c->constants.length && c->constants.length < 256; i++) {
    IValue known = c->constants.data[i];
    if (known.tag != value.tag) continue;
    bool same = known.i == value.i;
    if (!same && value.tag == TAG_STRING) same = str_equal(ivalue_str(known), ivalue_str(value));
    if (same) {
      ivalue_release(value);
      return (uint32_t)i;
    }
  }
  Status status = vec_arena_try_reserve(&c->scratch, &c->constants, c->constants.length + 1);
  if (status) {
    ivalue_release(value);
    compile_out(c, status);
  }
  c->constants.data[c->constants.length++] = value;
  return (uint32_t)c->constants.length - 1;
}

static void collect_constants(Compiler *c, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) collect_constants(c, node->blocks[i]);
    Value *output = node->output_count == 1 ? node->outputs[0] : NULL;
    IValue value;
    if (node->kind == SYM_prim_Uninitialized && output) {
      value = zero_of_type(c, output->type, 0);
    } else if (node->kind != SYM_prim_Constant) {
      continue;
    } else if (output->type->kind == TYPE_FUNCTION) {
      value = (IValue){.tag = TAG_FUNCTION, .function = (Function *)output->type->function};
      ref_retain(&value.function->refs);
    } else {
      if (!value_is_constant(output, &value)) compile_out(c, status_new(ERROR_INTERNAL, "a constant without a value"));
      ivalue_retain(value);
      if (value.tag >= TAG_LIST) ivalue_mark_shared(value);
    }
    c->register_of[output->unique] = c->code->parameter_count + add_constant(c, value);
  }
}

/* ---- the whole ---- */

static void compile_graph(Compiler *c) {
  const Graph *graph = c->graph;
  Code *code = c->code;
  liveness_compute(graph, &c->scratch, &c->life);
  ptrmap_init(&c->inlined, &c->scratch);
  c->register_of = ARENA_ARRAY(&c->scratch, uint32_t, graph->next_unique + 1);
  c->hint_of = ARENA_ARRAY(&c->scratch, uint32_t, graph->next_unique + 1);
  memset(c->register_of, 0xff, (graph->next_unique + 1) * sizeof *c->register_of);
  code->parameter_count = graph_input_count(graph);
  code->output_count = graph_output_count(graph);
  collect_constants(c, graph->block);
  code->constant_count = (uint32_t)c->constants.length;
  for (uint32_t i = 0; i < code->parameter_count + code->constant_count; i++) {
    vec_arena_push(&c->scratch, &c->register_state, REGISTER_HELD);
    vec_arena_push(&c->scratch, &c->holders, NULL);
  }
  for (uint32_t i = 0; i < code->parameter_count; i++) c->register_of[graph_input(graph, i)->unique] = i;
  drop_list(c, ptrmap_get(&c->life.block_starts, graph->block));
  compile_block(c, graph->block);
  c->node = graph->block->ret;
  uint32_t begin = (uint32_t)c->operands.length;
  for (uint32_t i = 0; i < code->output_count; i++) {
    uint32_t operand = use(c, graph->block->ret, i);
    if (moves(c, graph->block->ret, i, 1)) operand |= OPERAND_MOVE;
    vec_arena_push(&c->scratch, &c->operands, operand);
  }
  emit(c, INST_RET, 0, 0, begin, code->output_count);
}

static const void *keep(Compiler *c, const void *items, size_t count, size_t bytes) {
  void *kept = arena_alloc_array(c->arena, count ? count : 1, bytes);
  if (count) memcpy(kept, items, count * bytes);
  return kept;
}

static void finish(Compiler *c) {
  Code *code = c->code;
  code->instruction_count = (uint32_t)c->instructions.length;
  code->register_count = (uint32_t)c->register_state.length;
  code->instructions = keep(c, c->instructions.data, c->instructions.length, sizeof(Instruction));
  code->places = keep(c, c->places.data, c->places.length, sizeof(DebugPlace));
  code->operands = keep(c, c->operands.data, c->operands.length, sizeof(uint32_t));
  code->entries = keep(c, c->entries.data, c->entries.length, sizeof(CodeEntry));
  code->entry_count = (uint32_t)c->entries.length;
  code->sites = (Site *)keep(c, c->sites.data, c->sites.length, sizeof(Site));
  code->constants = keep(c, c->constants.data, c->constants.length, sizeof(IValue));
  code->site_count = (uint32_t)c->sites.length;
  c->sites.length = c->constants.length = 0; /* the Code owns what they hold */
}

static void site_dispose(Site *site) {
  if (site->state_free) site->state_free(site->state);
  if (site->code) code_free(site->code);
  if (site->callable && ref_release(&site->callable->refs)) site->callable->release(site->callable);
}

Status code_compile_with(const Graph *graph, Str name, uint32_t flags, const Code *baseline, Code **out) {
  *out = NULL;
  if (!graph_fits_stack(graph)) return graph_too_deep();
  if (graph->numbers_erased) return status_new(ERROR_UNSUPPORTED, "a graph whose numbers were erased does not run");
  Compiler *c = mem_calloc(1, sizeof *c);
  Code *code = mem_calloc(1, sizeof *code);
  if (!c || !code) {
    mem_free(c);
    mem_free(code);
    return status_out_of_memory();
  }
  c->graph = graph;
  c->code = code;
  c->flags = flags;
  c->baseline = code->baseline = baseline;
  arena_init(&c->scratch, &c->catch_point);
  arena_init(&code->arena, &c->catch_point);
  c->arena = &code->arena;
  if (catch_enter(&c->catch_point)) {
    code->name = (Str){arena_strndup(c->arena, name.data, name.length), name.length};
    compile_graph(c);
    finish(c);
  }
  Status status = c->catch_point.status;
  for (size_t i = 0; i < c->sites.length; i++) site_dispose(&c->sites.data[i]);
  for (size_t i = 0; i < c->constants.length; i++) ivalue_release(c->constants.data[i]);
  arena_dispose(&c->scratch);
  code->arena.catch_point = NULL;
  mem_free(c);
  if (status) {
    arena_dispose(&code->arena);
    mem_free(code);
    return status;
  }
  *out = code;
  return OK;
}

Status code_compile(const Graph *graph, Str name, Code **out) {
  return code_compile_with(graph, name, 0, NULL, out);
}

Status code_compile_baseline(const Graph *graph, Str name, Code **out) {
  return code_compile_with(graph, name, CODE_IS_BASELINE, NULL, out);
}

Status code_compile_plan(const Graph *graph, Str name, const Code *baseline, Code **out) {
  return code_compile_with(graph, name, 0, baseline, out);
}

void code_free(Code *code) {
  if (!code) return;
  for (uint32_t i = 0; i < code->site_count; i++) site_dispose(&code->sites[i]);
  for (uint32_t i = 0; i < code->constant_count; i++) ivalue_release(code->constants[i]);
  arena_dispose(&code->arena);
  mem_free(code);
}
