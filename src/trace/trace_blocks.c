/* The blocks of submodules that were entered, and of forks, become methods and Subgraphs. Four steps, each PyTorch's:
 * placeholders of attributes become GetAttrs in the block that owns them, values that leave a block become its outputs,
 * several outputs become a tuple, and what a block still takes from outside becomes inputs. Names and order of nodes
 * are those of PyTorch 1.13, where reads of attributes stand at the top, the last one used first. */
#include <assert.h>

#include "base/stack.h"
#include "ir/match.h"
#include "pass/pass.h"
#include "trace/tracing.h"

static bool is_scope(const Node *node) {
  return node->kind == SYM_prim_TracedModuleForward;
}
static bool is_open(const Node *node) {
  return is_scope(node) || node->kind == SYM_prim_TracedFork;
}
static bool is_placeholder(const Value *value) {
  return value->node->kind == SYM_prim_TracedAttr;
}
static Str path_of(const Node *node) {
  return node_string(node, SYM_attr_name);
}

bool trace_path_within(Str path, Str prefix) {
  if (!prefix.length) return true;
  return path.length >= prefix.length && str_equal(str_slice(path, 0, prefix.length), prefix) &&
         (path.length == prefix.length || path.data[prefix.length] == '.');
}

/* ---- attributes ---- */

/* A block that belongs to the module at `path`, which is `self` in it. */
typedef struct Owner {
  TracingState *t;
  Block *block;
  Str path;
  Value *self;
  PtrMap local;              /* placeholder -> what stands for it in this block */
  VEC(Value *) from_outside; /* placeholders that are inputs of the block */
} Owner;

static Value *insert_read(Graph *graph, Value *object, Str name) {
  const ClassType *type = object->type->class_type;
  ptrdiff_t slot = class_type_find_attribute(type, name);
  assert(slot >= 0);
  Node *node = graph_create(graph, SYM_prim_GetAttr, 1, &object, 1);
  node_set_string(node, SYM_attr_name, name);
  const Type *attribute = type->attributes.data[slot].type;
  node_output(node, 0)->type = attribute;
  graph_insert_node(graph, node);
  bool is_plain = name.length && !(name.data[0] >= '0' && name.data[0] <= '9');
  value_set_name(node_output(node, 0),
                 is_plain ? name : str_from(arena_printf(graph->arena, "_" STR_FMT, STR_ARG(name))));
  if (attribute->kind != TYPE_OPTIONAL) return node_output(node, 0);
  Node *cast = graph_create(graph, SYM_prim_unchecked_cast, 1, node->outputs, 1);
  node_output(cast, 0)->type = attribute->elements[0];
  return node_output(graph_insert_node(graph, cast), 0);
}

static Value *local_value(Owner *o, Value *placeholder) {
  Graph *graph = o->t->graph;
  Value *local = ptrmap_get(&o->local, placeholder);
  Str path = path_of(placeholder->node);
  if (local) return local;
  if (trace_path_within(path, o->path)) {
    graph_set_insert_point(graph, o->block->param->next);
    local = o->self;
    for (size_t at = o->path.length ? o->path.length + 1 : 0; at < path.length;) {
      Str rest = str_slice(path, at, path.length);
      ptrdiff_t dot = str_find_char(rest, '.');
      Str name = dot < 0 ? rest : str_slice(rest, 0, (size_t)dot);
      local = insert_read(graph, local, name);
      at += name.length + 1;
    }
  } else {
    local = block_add_input(o->block, STR(""), placeholder->type);
    vec_arena_push(graph->arena, &o->from_outside, placeholder);
  }
  ptrmap_put(&o->local, placeholder, local);
  return local;
}

static void read_attributes(Owner *o);

static void read_in_block(Owner *o, Node *node) {
  TracingState *t = o->t;
  Owner inner = {.t = t, .block = node->blocks[0], .path = is_scope(node) ? path_of(node) : o->path, .self = o->self};
  ptrmap_init(&inner.local, t->graph->arena);
  if (is_scope(node)) {
    Value *module = map_get(&t->modules, path_of(node));
    inner.self = block_insert_input(inner.block, 0, STR("self"), module->type);
    node_insert_input(node, 0, module);
  }
  read_attributes(&inner);
  for (size_t i = 0; i < inner.from_outside.length; i++) node_add_input(node, inner.from_outside.data[i]);
}

static void read_attributes_of(Owner *o, Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (is_placeholder(node_input(node, i))) node_replace_input(node, i, local_value(o, node_input(node, i)));
}

static void read_attributes(Owner *o) {
  if (STACK_IS_LOW()) trace_fail(o->t, ERROR_INVALID_ARGUMENT, "submodules were entered too deeply");
  for (Node *node = o->block->param->next; node != o->block->ret; node = node->next) {
    if (is_open(node)) read_in_block(o, node);
    read_attributes_of(o, node);
  }
  read_attributes_of(o, o->block->ret);
}

static void drop_placeholders(const Graph *graph) {
  BLOCK_EACH(node, graph->block) {
    if (node->kind == SYM_prim_TracedAttr) node_destroy(node);
  }
}

/* ---- values that leave their block ---- */

typedef struct Lifting {
  TracingState *t;
  PtrMap lifted; /* value -> the output that carries it outside */
} Lifting;

static bool is_inside(const Block *block, const Block *outer) {
  for (; block; block = block->owning_node ? block->owning_node->owning_block : NULL)
    if (block == outer) return true;
  return false;
}

static void lift_inputs(Lifting *l, Node *node, const Block *block) {
  for (uint32_t i = 0; i < node->input_count; i++) {
    Value *value = node_input(node, i), *known = ptrmap_get(&l->lifted, value);
    if (is_inside(block, value->node->owning_block)) continue;
    if (known && is_inside(block, known->node->owning_block)) {
      node_replace_input(node, i, known);
      continue;
    }
    if (known) value = known; /* from there it goes further out */
    Block *at = value->node->owning_block;
    Value *outside = value;
    while (!is_inside(block, at)) {
      Node *owner = at->owning_node;
      assert(owner);
      block_register_output(at, outside);
      outside = node_add_output(owner, outside->type);
      at = owner->owning_block;
    }
    ptrmap_put(&l->lifted, node_input(node, i), outside);
    node_replace_input(node, i, outside);
  }
}

static void lift_block(Lifting *l, const Block *block) {
  for (Node *node = block->param->next; node != block->ret; node = node->next) {
    lift_inputs(l, node, block);
    if (is_open(node)) lift_block(l, node->blocks[0]);
  }
  lift_inputs(l, block->ret, block);
}

/* ---- one output each ---- */

static void join_outputs(TracingState *t, const Block *outer) {
  Graph *graph = t->graph;
  BLOCK_EACH(node, outer) {
    if (!is_open(node)) continue;
    Block *block = node->blocks[0];
    join_outputs(t, block);
    uint32_t count = block_output_count(block);
    if (count == 1) continue;
    graph_set_insert_block(graph, block);
    if (!count) {
      block_register_output(block, graph_insert_constant(graph, IVALUE_NONE, NULL));
      node_add_output(node, TYPE(NONE));
      continue;
    }
    Value **outputs = ARENA_ARRAY(graph->arena, Value *, count);
    for (uint32_t i = 0; i < count; i++) outputs[i] = block_output(block, i);
    Value *tuple = graph_insert_tuple(graph, count, outputs, NULL);
    for (uint32_t i = count; i-- > 0;) block_erase_output(block, i);
    block_register_output(block, tuple);
    Value *result = node_add_output(node, tuple->type);
    graph_set_insert_point(graph, node->next);
    Node *unpack = graph_insert_node(graph, graph_create(graph, SYM_prim_TupleUnpack, 1, &result, count));
    for (uint32_t i = 0; i < count; i++) {
      node_output(unpack, i)->type = node_output(node, i)->type;
      value_replace_all_uses_with(node_output(node, i), node_output(unpack, i));
    }
    for (uint32_t i = count; i-- > 0;) node_erase_output(node, i);
  }
}

/* ---- blocks as graphs ---- */

typedef struct Closing {
  Graph *graph;
  Node *node;
  PtrMap inputs; /* value from outside -> input */
} Closing;
static Value *close_over(Value *value, void *argument) {
  Closing *c = argument;
  Value *input = ptrmap_get(&c->inputs, value);
  if (input) return input;
  input = graph_add_input(c->graph, value->name, value->type);
  node_add_input(c->node, value);
  ptrmap_put(&c->inputs, value, input);
  return input;
}

static Graph *close_block(TracingState *t, Node *node) {
  Closing c = {.graph = graph_new(t->graph->arena, t->graph->store), .node = node};
  vec_arena_push(t->graph->arena, &t->graph->subgraphs, c.graph);
  ptrmap_init(&c.inputs, t->graph->arena);
  block_clone_into(c.graph->block, node->blocks[0], close_over, &c);
  node_erase_block(node, 0);
  lower_tuples(c.graph);
  dead_code_elimination(c.graph);
  return c.graph;
}

static Str free_method_name(TracingState *t, const ClassType *type) {
  Str name = STR("forward");
  for (int n = 1; class_type_find_method(type, name); n++)
    name = str_from(arena_printf(t->graph->arena, "forward%d", n));
  return name;
}

static void call_block(TracingState *t, Node *node, Graph *body) {
  Graph *graph = t->graph;
  ClassType *type = node_input(node, 0)->type->class_type;
  const Function *method = trace_define(t, body, type, free_method_name(t, type));
  Value **inputs = ARENA_ARRAY(graph->arena, Value *, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) inputs[i] = node_input(node, i);
  Node *call = graph_create(graph, SYM_prim_CallMethod, node->input_count, inputs, 1);
  node_set_string(call, SYM_attr_name, str_after_last(method->name, '.'));
  node_output(call, 0)->type = method->schema->returns[0].type;
  node_insert_before(call, node);
  value_replace_all_uses_with(node_output(node, 0), node_output(call, 0));
  node_destroy(node);
}

static void fork_block(TracingState *t, Node *node, const Graph *body) {
  Graph *graph = t->graph;
  Value **inputs = ARENA_ARRAY(graph->arena, Value *, node->input_count + 1);
  for (uint32_t i = 0; i < node->input_count; i++) inputs[i] = node_input(node, i);
  Node *fork = graph_create(graph, SYM_prim_fork, node->input_count, inputs, 1);
  node_set_graph(fork, SYM_attr_Subgraph, graph_copy(body, graph->arena, graph->store));
  node_output(fork, 0)->type = node_output(node, 0)->type;
  node_insert_before(fork, node);
  value_replace_all_uses_with(node_output(node, 0), node_output(fork, 0));
  node_destroy(node);
}

static void close_blocks(TracingState *t, const Block *block) {
  BLOCK_EACH(node, block) {
    if (!is_open(node)) continue;
    close_blocks(t, node->blocks[0]);
    Graph *body = close_block(t, node);
    if (is_scope(node))
      call_block(t, node, body);
    else
      fork_block(t, node, body);
  }
}

void trace_lower_blocks(TracingState *t) {
  Graph *graph = t->graph;
  if (t->self) {
    Owner root = {.t = t, .block = graph->block, .path = STR(""), .self = graph_input(graph, 0)};
    ptrmap_init(&root.local, graph->arena);
    read_attributes(&root);
    drop_placeholders(graph);
  }
  Lifting lifting = {.t = t};
  ptrmap_init(&lifting.lifted, graph->arena);
  lift_block(&lifting, graph->block);
  join_outputs(t, graph->block);
  graph_set_insert_block(graph, graph->block);
  close_blocks(t, graph->block);
}
