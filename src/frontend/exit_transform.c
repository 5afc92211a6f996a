/* The exit transform: erases prim::LoopContinuation and prim::ReturnStmt and sets block outputs instead. Where a nested
 * block may have left, a boolean says whether it did, and what follows is put under an If. A block that always raises
 * needs neither; values that nobody will read are prim::Uninitialized. Enter ... Exit stand as one prim::With node
 * while it runs. */
#include "base/stack.h"

#include <assert.h>

#include "frontend/convert_to_ssa.h"

typedef struct Values {
  Value **data;
  uint32_t count;
} Values;

/* Whether control left the block: exited is one of the transform's three constants, or computed (it might). */
typedef struct Exit {
  Value *exited;
  Values values;
} Exit;

typedef struct Transform {
  Graph *graph;
  Arena *arena;
  Symbol kind;   /* LoopContinuation or ReturnStmt */
  Block *target; /* where exits of that kind lead from here */
  Value *yes, *no, *throws;
  PtrMap uninitialized; /* Type -> Value */
} Transform;

static Exit transform_block(Transform *t, Block *block);

static Value *uninitialized(Transform *t, const Type *type) {
  Value *value = ptrmap_get(&t->uninitialized, type);
  if (value) return value;
  Node *node = graph_create(t->graph, SYM_prim_Uninitialized, 0, NULL, 1);
  node_output(node, 0)->type = type;
  node_insert_after(node, t->graph->block->param);
  value = node_output(node, 0);
  ptrmap_put(&t->uninitialized, type, value);
  return value;
}

static Values uninitialized_like(Transform *t, Values like) {
  Values result = {ARENA_ARRAY(t->arena, Value *, like.count + 1), like.count};
  for (uint32_t i = 0; i < like.count; i++) result.data[i] = uninitialized(t, like.data[i]->type);
  return result;
}

static Values block_output_values(Transform *t, Block *block) {
  Values result = {ARENA_ARRAY(t->arena, Value *, block_output_count(block) + 1), block_output_count(block)};
  for (uint32_t i = 0; i < result.count; i++) result.data[i] = block_output(block, i);
  return result;
}

static Values last_outputs(Transform *t, Node *node, uint32_t count) {
  assert(count <= node->output_count);
  Values result = {ARENA_ARRAY(t->arena, Value *, count + 1), count};
  for (uint32_t i = 0; i < count; i++) result.data[i] = node_output(node, node->output_count - count + i);
  return result;
}

static void replace_block_outputs(Block *block, Values values) {
  while (block_output_count(block)) block_erase_output(block, block_output_count(block) - 1);
  for (uint32_t i = 0; i < values.count; i++) block_register_output(block, values.data[i]);
}

static void add_if_outputs(Transform *t, Node *node, Values then_values, Values else_values) {
  for (uint32_t i = 0; i < then_values.count && i < else_values.count; i++) {
    const Type *type = type_unify(t->graph->store, then_values.data[i]->type, else_values.data[i]->type, true);
    block_register_output(node->blocks[0], then_values.data[i]);
    block_register_output(node->blocks[1], else_values.data[i]);
    node_add_output(node, type ? type : then_values.data[i]->type);
  }
}

static Exit wont(const Transform *t) {
  return (Exit){.exited = t->no};
}

/* What leaving by either branch of the If means after it. */
static Exit join_exits(Transform *t, Node *node, Exit a, Exit b) {
  bool a_throws = a.exited == t->throws, b_throws = b.exited == t->throws;
  if (a_throws && b_throws) return a;
  if ((a_throws || a.exited == t->no) && (b_throws || b.exited == t->no)) return wont(t);
  bool a_leaves = a_throws || a.exited == t->yes, b_leaves = b_throws || b.exited == t->yes;
  if (a_throws || a.exited == t->no) a.values = uninitialized_like(t, b.values);
  if (b_throws || b.exited == t->no) b.values = uninitialized_like(t, a.values);
  Value *exited = t->yes;
  if (!a_leaves || !b_leaves) {
    /* After a throw the flag is never read; the other side decides. */
    Value *flags[2] = {a_throws ? uninitialized(t, TYPE(BOOL)) : a.exited,
                       b_throws ? uninitialized(t, TYPE(BOOL)) : b.exited};
    add_if_outputs(t, node, (Values){&flags[0], 1}, (Values){&flags[1], 1});
    exited = node_output(node, node->output_count - 1);
  }
  add_if_outputs(t, node, a.values, b.values);
  return (Exit){exited, last_outputs(t, node, a.values.count)};
}

static Exit transform_if(Transform *t, Node *node) {
  assert(node->kind == SYM_prim_If && node->block_count == 2);
  Exit a = transform_block(t, node->blocks[0]);
  return join_exits(t, node, a, transform_block(t, node->blocks[1]));
}

static Exit transform_loop(Transform *t, Node *node) {
  assert(node->kind == SYM_prim_Loop && node->block_count == 1);
  Block *body = node->blocks[0];
  Exit exit = transform_block(t, body);
  if (exit.exited == t->no || exit.exited == t->throws) return wont(t); /* the body may not run at all */

  /* The loop stops once control left through it. */
  if (exit.exited == t->yes) {
    block_replace_output(body, 0, t->no);
  } else {
    Node *check = graph_create(t->graph, SYM_prim_If, 1, &exit.exited, 0);
    node_insert_before(check, body->ret);
    node_add_block(check);
    node_add_block(check);
    Value *next = block_output(body, 0);
    add_if_outputs(t, check, (Values){&t->no, 1}, (Values){&next, 1});
    block_replace_output(body, 0, node_output(check, 0));
  }
  node_add_input(node, t->no);
  block_add_input(body, STR(""), TYPE(BOOL));
  block_register_output(body, exit.exited);
  Value *exited = node_add_output(node, TYPE(BOOL));
  for (uint32_t i = 0; i < exit.values.count; i++) {
    const Type *type = exit.values.data[i]->type;
    node_add_input(node, uninitialized(t, type));
    block_add_input(body, STR(""), type);
    block_register_output(body, exit.values.data[i]);
    node_add_output(node, type);
  }
  return (Exit){exited, last_outputs(t, node, exit.values.count)};
}

static Value *add_with_output(Node *node, Value *value) {
  block_register_output(node->blocks[0], value);
  return node_add_output(node, value->type);
}
static void add_with_outputs(Node *node, Values values) {
  for (uint32_t i = 0; i < values.count; i++) add_with_output(node, values.data[i]);
}

static Exit transform_with(Transform *t, Node *node) {
  Exit exit = transform_block(t, node->blocks[0]);
  if (exit.exited == t->throws || exit.exited == t->no) return exit;
  Value *exited = t->yes;
  if (exit.exited != t->yes) {
    add_with_outputs(node, (Values){&exit.exited, 1});
    exited = node_output(node, node->output_count - 1);
  }
  add_with_outputs(node, exit.values);
  return (Exit){exited, last_outputs(t, node, exit.values.count)};
}

/* What follows an exit never runs. Its values may still stand as outputs of the block. */
static void delete_from(Transform *t, Block *block, Node *first) {
  Node *keep = first->prev;
  while (block->ret->prev != keep) {
    Node *node = block->ret->prev;
    for (uint32_t i = 0; i < node->output_count; i++)
      if (value_has_uses(node_output(node, i)))
        value_replace_all_uses_with(node_output(node, i), uninitialized(t, node_output(node, i)->type));
    node_destroy(node);
  }
}

/* A node by which control may have left; nodes follow. */
typedef struct MayLeave {
  Node *node;
  Exit exit;
} MayLeave;

/* Puts what follows under an If of its own: it runs only when nothing left before. `rest` is how control leaves that.
 */
static Exit guard_rest(Transform *t, Block *block, const MayLeave *at, Exit rest) {
  Value *exited = at->exit.exited;
  Node *guard = graph_create(t->graph, SYM_prim_If, 1, &exited, 0);
  node_insert_after(guard, at->node);
  node_add_block(guard);
  Block *rest_block = node_add_block(guard);
  while (guard->next != block->ret) node_move_before(guard->next, rest_block->ret);
  Values outputs = block_output_values(t, block);
  add_if_outputs(t, guard, uninitialized_like(t, outputs), outputs);
  replace_block_outputs(block, last_outputs(t, guard, outputs.count));
  return join_exits(t, guard, (Exit){t->yes, at->exit.values}, rest);
}

static Exit inputs_as_exit(Transform *t, Node *node) {
  Exit exit = {t->yes, {ARENA_ARRAY(t->arena, Value *, node->input_count + 1), node->input_count}};
  for (uint32_t i = 0; i < node->input_count; i++) exit.values.data[i] = node_input(node, i);
  return exit;
}

static bool is_target(const Transform *t, const Block *block) {
  const Node *owner = block->owning_node;
  if (t->kind == SYM_prim_LoopContinuation) return owner && owner->kind == SYM_prim_Loop;
  return !owner || owner->kind == SYM_prim_Closure;
}

static Exit transform_node(Transform *t, Node *node) {
  switch (node->kind) {
    case SYM_prim_RaiseException:
      return (Exit){.exited = t->throws};
    case SYM_prim_ReturnStmt:
    case SYM_prim_LoopContinuation: {
      if (node->kind != t->kind) break;
      Exit exit = inputs_as_exit(t, node);
      node_destroy(node);
      return exit;
    }
    case SYM_prim_If:
      return transform_if(t, node);
    case SYM_prim_With:
      return transform_with(t, node);
    case SYM_prim_Loop:
      return transform_loop(t, node);
    case SYM_prim_Closure:
      transform_block(t, node->blocks[0]);
      break;
    default:
      break;
  }
  return wont(t);
}

/* Guards are made from the last to the first, so that every node moves once, however many there are. */
static Exit transform_nodes(Transform *t, Block *block) {
  VEC(MayLeave) open = {0};
  Exit exit = wont(t);
  for (Node *node = block->param->next, *next; node != block->ret; node = next) {
    next = node->next;
    exit = transform_node(t, node);
    if (exit.exited == t->no) continue;
    if (exit.exited == t->yes || exit.exited == t->throws) {
      delete_from(t, block, next);
      break;
    }
    if (next == block->ret) break;
    vec_arena_push(t->arena, &open, ((MayLeave){node, exit}));
    exit = wont(t);
  }
  for (size_t i = open.length; i-- > 0;) exit = guard_rest(t, block, &open.data[i], exit);
  return exit;
}

static Exit transform_block(Transform *t, Block *block) {
  if (STACK_IS_LOW()) catch_throw(t->graph->arena->catch_point, graph_too_deep());
  Block *outer_target = t->target;
  if (is_target(t, block)) t->target = block;
  Exit exit = transform_nodes(t, block);
  if (t->target == block) {
    if (exit.exited == t->yes) {
      replace_block_outputs(block, exit.values);
    } else if (exit.exited != t->no && exit.exited != t->throws) {
      Node *choose = graph_create(t->graph, SYM_prim_If, 1, &exit.exited, 0);
      node_insert_before(choose, block->ret);
      node_add_block(choose);
      node_add_block(choose);
      add_if_outputs(t, choose, exit.values, block_output_values(t, block));
      replace_block_outputs(block, last_outputs(t, choose, exit.values.count));
    }
    exit = wont(t); /* an exit reaches its target and no further */
  }
  t->target = outer_target;
  return exit;
}

static void transform_kind(Graph *graph, Arena *arena, Symbol kind) {
  Transform t = {.graph = graph, .arena = arena, .kind = kind};
  ptrmap_init(&t.uninitialized, arena);
  Node *saved = graph->insert_before;
  graph_set_insert_point(graph, graph->block->param->next);
  t.yes = graph_insert_constant(graph, ivalue_bool(true), NULL);
  t.no = graph_insert_constant(graph, ivalue_bool(false), NULL);
  graph->insert_before = saved;
  t.throws = uninitialized(&t, TYPE(BOOL));
  ptrmap_init(&t.uninitialized, arena); /* an ordinary placeholder must not look like a throw */
  transform_block(&t, graph->block);
}

/* ---- With blocks ---- */

/* `block` is a node's. Neighbours of that node are not in it, however deep it lies. */
static bool is_within(const Node *node, const Block *block) {
  assert(block->owning_node);
  const Block *around = block->owning_node->owning_block;
  for (const Block *b = node->owning_block; b && b != around; b = b->owning_node ? b->owning_node->owning_block : NULL)
    if (b == block) return true;
  return false;
}

typedef struct WithPairs {
  Arena *arena;
  VEC(Node *) open;
  VEC(Node *) enters, exits;
} WithPairs;

static void find_with_pairs(WithPairs *p, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) find_with_pairs(p, node->blocks[i]);
    if (node->kind == SYM_prim_Enter) vec_arena_push(p->arena, &p->open, node);
    if (node->kind == SYM_prim_Exit && p->open.length) {
      vec_arena_push(p->arena, &p->enters, vec_last(&p->open));
      vec_arena_push(p->arena, &p->exits, node);
      p->open.length--;
    }
  }
}

/* What the body computes may be read after it, also where an early exit puts the end of the body under an If. */
static void hand_out(Node *with, Value *value) {
  Value *outside = NULL;
  for (size_t u = value->uses.length; u-- > 0;) {
    Use use = value->uses.data[u];
    if (is_within(use.user, with->blocks[0])) continue;
    if (!outside) outside = add_with_output(with, value);
    node_replace_input(use.user, use.offset, outside);
  }
}

void enter_exit_to_with(Graph *graph, Arena *arena) {
  WithPairs pairs = {.arena = arena};
  find_with_pairs(&pairs, graph->block);
  for (size_t i = 0; i < pairs.enters.length; i++) {
    Node *enter = pairs.enters.data[i], *exit = pairs.exits.data[i];
    Node *with = graph_create(graph, SYM_prim_With, 0, NULL, 0);
    Block *body = node_add_block(with), *after = node_add_block(with);
    while (enter->next != exit) node_move_before(enter->next, body->ret);
    node_move_before(exit, after->ret);
    node_insert_after(with, enter);
    BLOCK_EACH(node, body) for (uint32_t k = 0; k < node->output_count; k++) hand_out(with, node_output(node, k));
  }
}

static void open_withs(Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) open_withs(node->blocks[i]);
    if (node->kind != SYM_prim_With) continue;
    for (uint32_t i = 0; i < 2; i++) BLOCK_EACH(inner, node->blocks[i]) node_move_before(inner, node);
    for (uint32_t i = 0; i < node->output_count; i++)
      value_replace_all_uses_with(node_output(node, i), block_output(node->blocks[0], i));
    node_destroy(node);
  }
}

void with_to_enter_exit(Graph *graph) {
  open_withs(graph->block);
}

/* ---- an If that tests what the If before it computed as a constant in each branch goes into it ---- */

/* Moves the nodes of `from`, a branch of the If after `first`, to the end of branch i of `first`; what they use of
 * first's outputs is known there. */
static void append_branch(Node *first, uint32_t i, Block *from) {
  assert(i < first->block_count);
  Block *to = first->blocks[i];
  for (uint32_t k = 0; k < first->output_count; k++) {
    Value *output = node_output(first, k);
    for (size_t u = output->uses.length; u-- > 0;) {
      Use use = output->uses.data[u];
      if (is_within(use.user, from)) node_replace_input(use.user, use.offset, block_output(to, k));
    }
  }
  BLOCK_EACH(node, from) node_move_before(node, to->ret);
  for (uint32_t k = 0; k < block_output_count(from); k++) block_register_output(to, block_output(from, k));
}

static bool merge_with_next_if(Node *first) {
  if (first->kind != SYM_prim_If || first->next->kind != SYM_prim_If) return false;
  Node *second = first->next;
  Value *condition = node_input(second, 0);
  if (condition->node != first) return false;
  IValue then_value, else_value;
  if (!value_is_constant(block_output(first->blocks[0], condition->offset), &then_value) ||
      !value_is_constant(block_output(first->blocks[1], condition->offset), &else_value) ||
      then_value.b == else_value.b)
    return false;
  append_branch(first, 0, second->blocks[then_value.b ? 0 : 1]);
  append_branch(first, 1, second->blocks[else_value.b ? 0 : 1]);
  for (uint32_t i = 0; i < second->output_count; i++) {
    Value *old = node_output(second, i), *merged = node_add_output(first, old->type);
    if (old->name.length) value_set_name(merged, old->name);
    value_replace_all_uses_with(old, merged);
  }
  node_destroy(second);
  return true;
}

static void merge_consecutive_ifs(Block *block) {
  for (Node *node = block->param->next; node != block->ret;) {
    for (uint32_t i = 0; i < node->block_count; i++) merge_consecutive_ifs(node->blocks[i]);
    if (!merge_with_next_if(node)) node = node->next;
  }
}

void transform_exits(Graph *graph, Arena *scratch) {
  transform_kind(graph, scratch, SYM_prim_LoopContinuation);
  transform_kind(graph, scratch, SYM_prim_ReturnStmt);
  graph_require_stack(graph);
  merge_consecutive_ifs(graph->block);
}
