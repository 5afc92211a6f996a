/* Conversion to SSA. Needs a graph as the emitter leaves it: variables are read by prim::Load and written by
 * prim::Store, a prim::Loop has a body block and a condition block. Afterwards variables are Values, and blocks that
 * change them carry them as inputs and outputs. */
#include "frontend/convert_to_ssa.h"

#include <assert.h>

#include "frontend/emitter.h"
#include "frontend/scope.h"

static Node *create_store(Graph *graph, Str name, Value *value) {
  Node *store = graph_create(graph, SYM_prim_Store, 1, &value, 0);
  node_set_string(store, SYM_attr_name, name);
  return store;
}

static Node *create_load(Graph *graph, Str name, const Type *type) {
  Node *load = graph_create(graph, SYM_prim_Load, 0, NULL, 1);
  node_set_string(load, SYM_attr_name, name);
  node_output(load, 0)->type = type;
  return load;
}

/* ---- loads and stores around control flow ---- */

typedef struct LoadStores {
  Graph *graph;
  Arena *arena;
  Scope *scope; /* name -> Type */
} LoadStores;

static Scope *add_load_stores(LoadStores *s, Block *block);

static void add_block_input(LoadStores *s, Block *block, const Type *type, Str name) {
  bool is_temporary = name.length && name.data[0] == '$';
  Value *input = block_add_input(block, is_temporary ? STR("") : name, type); /* also _0, as in PyTorch */
  node_insert_after(create_store(s->graph, name, input), block->param);
}

static void add_block_output(LoadStores *s, Block *block, const Type *type, Str name) {
  Node *load = create_load(s->graph, name, type);
  node_insert_before(load, block->ret);
  block_register_output(block, node_output(load, 0));
}

static void add_node_output(LoadStores *s, Node *node, const Type *type, Str name) {
  Value *output = node_add_output(node, type);
  if (name_is_meaningful(name)) value_set_name(output, name);
  node_insert_after(create_store(s->graph, name, output), node);
}

static void add_if_load_stores(LoadStores *s, Node *node) {
  assert(node->block_count == 2);
  Scope *branches[2];
  uint32_t counts[2];
  Str *names[2];
  for (int i = 0; i < 2; i++) {
    branches[i] = add_load_stores(s, node->blocks[i]);
    names[i] = scope_sorted_names(branches[i], s->arena, &counts[i]);
  }
  Str *changed = ARENA_ARRAY(s->arena, Str, counts[0] + counts[1] + 1);
  uint32_t changed_count = 0;
  for (int i = 0; i < 2; i++)
    for (uint32_t k = 0; k < counts[i]; k++)
      if (scope_find(branches[1 - i], names[i][k]) && !(i == 1 && map_has(&branches[0]->table, names[i][k])))
        changed[changed_count++] = names[i][k];
  names_sort(changed, changed_count);
  for (uint32_t k = 0; k < changed_count; k++) {
    const Type *then_type = scope_find(branches[0], changed[k]), *else_type = scope_find(branches[1], changed[k]);
    const Type *unified = type_unify(s->graph->store, then_type, else_type, true);
    if (!unified) continue;
    add_block_output(s, node->blocks[0], then_type, changed[k]);
    add_block_output(s, node->blocks[1], else_type, changed[k]);
    add_node_output(s, node, unified, changed[k]);
    scope_set(s->scope, changed[k], (void *)unified);
  }
}

static void add_loop_load_stores(LoadStores *s, Node *node) {
  assert(node->kind == SYM_prim_Loop);
  Block *body = node->blocks[0];
  Scope *in_loop = add_load_stores(s, body);
  uint32_t count;
  Str *names = scope_sorted_names(in_loop, s->arena, &count);
  for (uint32_t k = 0; k < count; k++) {
    const Type *outer_type = scope_find(s->scope, names[k]);
    if (!outer_type) continue; /* local to the body */
    /* It holds what it held before the loop, or what the body has put there. */
    const Type *unified = type_unify(s->graph->store, outer_type, scope_find(in_loop, names[k]), true);
    if (!unified) unified = outer_type;
    Node *load = create_load(s->graph, names[k], outer_type);
    node_insert_before(load, node);
    node_add_input(node, node_output(load, 0));
    add_block_input(s, body, unified, names[k]);
    add_block_output(s, body, unified, names[k]);
    add_node_output(s, node, unified, names[k]);
    scope_set(s->scope, names[k], (void *)unified); /* a loop around this one carries it too */
  }
}

static Scope *add_load_stores(LoadStores *s, Block *block) {
  s->scope = scope_push(s->arena, s->scope);
  BLOCK_EACH(node, block) {
    switch (node->kind) {
      case SYM_prim_If:
        add_if_load_stores(s, node);
        break;
      case SYM_prim_Loop:
        add_loop_load_stores(s, node);
        break;
      case SYM_prim_Store:
        scope_set(s->scope, node_string(node, SYM_attr_name), (void *)node_input(node, 0)->type);
        break;
      default:
        for (uint32_t i = 0; i < node->block_count; i++) add_load_stores(s, node->blocks[i]);
    }
  }
  Scope *done = s->scope;
  s->scope = done->outer;
  return done;
}

void control_flow_load_stores(Graph *graph, Arena *scratch) {
  LoadStores s = {.graph = graph, .arena = scratch};
  add_load_stores(&s, graph->block);
}

/* ---- break and continue ---- */

typedef struct Continuations {
  Graph *graph;
  Node *loop; /* the innermost */
  Value *never;
} Continuations;

static Value *keep_value(Value *value, void *unused) {
  (void)unused;
  return value;
}

static void move_nodes_before(Block *from, Node *before) {
  BLOCK_EACH(node, from) node_move_before(node, before);
}

/* What the loop carries, as it is at this place. */
static void add_loop_carried_inputs(Continuations *s, Node *exit) {
  assert(s->loop);
  Node *ret = s->loop->blocks[0]->ret;
  for (uint32_t i = 0; i < ret->input_count; i++) {
    Value *carried = node_input(ret, i);
    Node *load = create_load(s->graph, node_string(carried->node, SYM_attr_name), carried->type);
    node_insert_before(load, exit);
    node_add_input(exit, node_output(load, 0));
  }
}

static void assign_exits(Continuations *s, Block *block);

static void assign_closure_exits(Graph *graph, Block *block) {
  Continuations s = {.graph = graph};
  Node *saved = graph->insert_before;
  graph_set_insert_point(graph, block->param->next);
  s.never = graph_insert_constant(graph, ivalue_bool(false), NULL);
  graph->insert_before = saved;
  assign_exits(&s, block);
}

static void replace_exit(Continuations *s, Node *statement) {
  Node *exit = graph_create(s->graph, SYM_prim_LoopContinuation, 0, NULL, 0);
  node_insert_after(exit, statement);
  if (statement->kind == SYM_prim_BreakStmt) {
    node_add_input(exit, s->never);
  } else {
    Block *header = node_add_block(exit);
    block_clone_into(header, s->loop->blocks[1], keep_value, NULL);
    move_nodes_before(header, exit);
    node_add_input(exit, block_output(header, 0));
    node_erase_block(exit, 0);
  }
  add_loop_carried_inputs(s, exit);
  node_destroy(statement);
}

static void assign_exits(Continuations *s, Block *block) {
  BLOCK_EACH(node, block) {
    switch (node->kind) {
      case SYM_prim_Closure:
        assign_closure_exits(s->graph, node->blocks[0]);
        break;
      case SYM_prim_Loop: {
        Node *outer = s->loop;
        s->loop = node;
        assign_exits(s, node->blocks[0]);
        s->loop = outer;
        break;
      }
      case SYM_prim_BreakStmt:
      case SYM_prim_ContinueStmt:
        replace_exit(s, node);
        break;
      default:
        for (uint32_t i = 0; i < node->block_count; i++) assign_exits(s, node->blocks[i]);
    }
  }
}

void loop_continuations(Graph *graph) {
  assign_closure_exits(graph, graph->block);
}

/* ---- loop conditions ---- */

static void inline_condition_of(Node *loop) {
  assert(loop->block_count == 2);
  Block *body = loop->blocks[0], *condition = loop->blocks[1];
  Block *before = node_add_block(loop);
  block_clone_into(before, condition, keep_value, NULL);
  move_nodes_before(before, loop);
  node_insert_input(loop, 1, block_output(before, 0));
  node_erase_block(loop, 2);
  move_nodes_before(condition, body->ret);
  block_insert_output(body, 0, block_output(condition, 0));
  node_erase_block(loop, 1);
}

static void inline_conditions_in(Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) inline_conditions_in(node->blocks[i]);
    if (node->kind == SYM_prim_Loop) inline_condition_of(node);
  }
}

void inline_loop_condition(Graph *graph) {
  inline_conditions_in(graph->block);
}

/* ---- loads and stores go ---- */

static void erase_in(Block *block, Arena *arena, Scope *outer) {
  Scope *scope = scope_push(arena, outer); /* name -> Value */
  BLOCK_EACH(node, block) {
    switch (node->kind) {
      case SYM_prim_Store:
        scope_set(scope, node_string(node, SYM_attr_name), node_input(node, 0));
        node_destroy(node);
        break;
      case SYM_prim_Load: {
        Value *value = scope_find(scope, node_string(node, SYM_attr_name));
        if (value) {
          value_replace_all_uses_with(node_output(node, 0), value);
          node_destroy(node);
        }
        break;
      }
      case SYM_prim_ComprehensionScope: /* its names do not leave it */
        erase_in(node->blocks[0], arena, scope);
        move_nodes_before(node->blocks[0], node);
        node_destroy(node);
        break;
      default:
        for (uint32_t i = 0; i < node->block_count; i++) erase_in(node->blocks[i], arena, scope);
    }
  }
}

void erase_load_stores(Graph *graph, Arena *scratch) {
  erase_in(graph->block, scratch, NULL);
}
