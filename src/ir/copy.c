/* Copying nodes, blocks and graphs; graph_inline puts a copy of one graph into another. A graph that is finished is
 * kept as a compact copy, which has nothing of what was there on the way to it: removed nodes, lists that grew, tables
 * of names. */
#include <stdio.h>

#include "call/torch_version.h"
#include "ir/ir_internal.h"

void copier_init(NodeCopier *copier, Graph *into, Value *(*map)(Value *, void *), void *argument) {
  *copier = (NodeCopier){.into = into, .map = map, .argument = argument};
  ptrmap_init(&copier->values, into->arena);
}

/* Text from outside may have larger numbers than values. */
enum { MAX_TABLE = 1 << 20 };

/* For all of `from`: a table in `into` that the next such copy takes over. */
static void copier_init_whole(NodeCopier *copier, Graph *into, const Graph *from) {
  size_t count = from->next_unique;
  copier_init(copier, into, NULL, NULL);
  if (count > MAX_TABLE) return;
  vec_arena_reserve(into->arena, &into->copies, count);
  copier->by_unique = into->copies.data;
  if (count) memset(copier->by_unique, 0, count * sizeof *copier->by_unique);
}

static void remember(NodeCopier *copier, const Value *from, Value *to) {
  if (copier->by_unique)
    copier->by_unique[from->unique] = to;
  else
    ptrmap_put(&copier->values, from, to);
}

Value *copier_value(NodeCopier *copier, Value *value) {
  Value *copy = copier->by_unique ? copier->by_unique[value->unique] : ptrmap_get(&copier->values, value);
  if (copy) return copy;
  copy = copier->map ? copier->map(value, copier->argument) : NULL;
  assert(copy);
  return copy;
}

/* `from` has its last uses and its last name. */
static void copy_compactly(const NodeCopier *copier, Value *to, const Value *from) {
  Arena *arena = copier->into->arena;
  if (copier->keeps_numbers) to->unique = from->unique;
  if (from->name.length) to->name = (Str){arena_strndup(arena, from->name.data, from->name.length), from->name.length};
  if (!from->uses.length) return;
  to->uses.data = ARENA_ARRAY(arena, Use, from->uses.length);
  to->uses.capacity = from->uses.length;
}

static void copy_metadata(const NodeCopier *copier, Value *to, const Value *from) {
  to->type = type_copy(to->node->graph->store, from->type);
  if (copier->scratch)
    copy_compactly(copier, to, from);
  else if (from->name.length)
    value_set_name(to, from->name);
}

/* In the arena, after the path of the object that what is copied is called on. */
static Str copy_instance(Arena *arena, const InlinedCall *outer, Str instance) {
  Str before = outer ? outer->instance : STR("");
  if (!before.length || !instance.length)
    return (Str){arena_strndup(arena, instance.data, instance.length), instance.length};
  size_t length = before.length + 1 + instance.length;
  char *text = arena_alloc(arena, length + 1);
  snprintf(text, length + 1, STR_FMT "." STR_FMT, STR_ARG(before), STR_ARG(instance));
  return (Str){text, length};
}

/* What a call says as bytes: every node that came by it may have a chain of its own. */
static Str key_of_call(Arena *scratch, const InlinedCall *from, const InlinedCall *caller) {
  typedef struct Begin {
    const struct Function *function;
    SourceRange range;
    const InlinedCall *caller;
  } Begin;
  static_assert(sizeof(Begin) == 2 * sizeof(void *) + sizeof(SourceRange), "compared as bytes");
  char *key = arena_alloc_uncleared(scratch, sizeof(Begin) + from->instance.length);
  *(Begin *)key = (Begin){from->function, from->range, caller};
  if (from->instance.length) memcpy(key + sizeof(Begin), from->instance.data, from->instance.length);
  return (Str){key, sizeof(Begin) + from->instance.length};
}

static const InlinedCall *copy_inlined_once(NodeCopier *copier, const InlinedCall *from) {
  if (!from) return NULL;
  InlinedCall *copy = ptrmap_get(&copier->calls, from);
  if (copy) return copy;
  const InlinedCall *caller = copy_inlined_once(copier, from->caller);
  Str key = key_of_call(copier->scratch, from, caller);
  copy = map_get(&copier->call_texts, key);
  if (!copy) {
    copy = ARENA_NEW(copier->into->arena, InlinedCall);
    *copy = *from;
    copy->instance = copy_instance(copier->into->arena, NULL, from->instance);
    copy->caller = caller;
    map_put(&copier->call_texts, key, copy);
  }
  ptrmap_put(&copier->calls, from, copy);
  return copy;
}

/* Chains are shared by neighbouring nodes: one memo entry catches almost all. Links are copied because the other
 * graph's arena may go first. */
static const InlinedCall *copy_inlined(NodeCopier *copier, const InlinedCall *from) {
  if (copier->scratch) return copy_inlined_once(copier, from);
  if (!from) return copier->outer;
  if (from == copier->last_from) return copier->last_to;
  InlinedCall *first = NULL, **link = NULL;
  for (const InlinedCall *c = from; c; c = c->caller) {
    InlinedCall *copy = ARENA_NEW(copier->into->arena, InlinedCall);
    *copy = *c;
    copy->instance = copy_instance(copier->into->arena, copier->outer, c->instance);
    copy->caller = copier->outer;
    if (link)
      *link = copy;
    else
      first = copy;
    link = (InlinedCall **)&copy->caller;
  }
  copier->last_from = from;
  return copier->last_to = first;
}

static void copy_outputs(NodeCopier *copier, Node *copy, const Node *node) {
  if (node->output_count) {
    copy->outputs = ARENA_ARRAY(copier->into->arena, Value *, node->output_count);
    copy->output_capacity = node->output_count;
  }
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *output = node_add_output(copy, node->outputs[i]->type);
    copy_metadata(copier, output, node->outputs[i]);
    remember(copier, node->outputs[i], output);
  }
}

Node *copier_node(NodeCopier *copier, const Node *node) {
  Graph *into = copier->into;
  Node *copy = graph_create(into, node->kind, 0, NULL, 0);
  node_copy_metadata(copy, node);
  copy->inlined = copy_inlined(copier, node->inlined);
  if (node->input_count) {
    copy->inputs = ARENA_ARRAY(into->arena, NodeInput, node->input_count);
    copy->input_capacity = node->input_count;
  }
  for (uint32_t i = 0; i < node->input_count; i++) node_add_input(copy, copier_value(copier, node_input(node, i)));
  copy_outputs(copier, copy, node);
  for (uint32_t i = 0; i < node->block_count; i++) copier_block(copier, node_add_block(copy), node->blocks[i]);
  node_copy_attributes_by(copier, copy, node);
  if (node->callable) node_set_callable(copy, node->callable);
  copy->op = operator_in(node->op, (TorchVersion)into->torch_version);
  return copy;
}

void copier_block(NodeCopier *copier, Block *to, const Block *from) {
  assert(to->ret->prev == to->param && !block_input_count(to) && !block_output_count(to));
  copy_outputs(copier, to->param, from->param);
  BLOCK_EACH(node, from) node_insert_before(copier_node(copier, node), to->ret);
  for (uint32_t i = 0; i < block_output_count(from); i++)
    block_register_output(to, copier_value(copier, block_output(from, i)));
}

void block_clone_into(Block *to, const Block *from, Value *(*map)(Value *, void *), void *argument) {
  NodeCopier copier;
  copier_init(&copier, to->graph, map, argument);
  copier_block(&copier, to, from);
}

Node *node_copy(Node *node, Graph *into, Value *(*map)(Value *, void *), void *argument) {
  NodeCopier copier;
  copier_init(&copier, into, map, argument);
  return copier_node(&copier, node);
}

typedef struct Copying {
  const Graph *from;
  Graph *to;
  Arena scratch; /* of a compact one */
  bool keeps_numbers;
} Copying;
static void copy_into(void *argument) {
  const Copying *c = argument;
  NodeCopier copier;
  copier_init_whole(&copier, c->to, c->from);
  copier_block(&copier, c->to->block, c->from->block);
}

static void compact_into(void *argument) {
  Copying *c = argument;
  NodeCopier copier = {.into = c->to, .scratch = &c->scratch, .keeps_numbers = c->keeps_numbers};
  c->scratch.catch_point = c->to->arena->catch_point;
  ptrmap_init(&copier.calls, &c->scratch);
  map_init(&copier.call_texts, &c->scratch);
  ptrmap_init(&copier.values, &c->scratch);
  if (c->from->next_unique <= MAX_TABLE)
    copier.by_unique = ARENA_ARRAY(&c->scratch, Value *, (size_t)c->from->next_unique + 1);
  c->to->is_compact = true;
  copier_block(&copier, c->to->block, c->from->block);
  if (c->keeps_numbers) c->to->next_unique = c->from->next_unique;
}

static Graph *copy_by(void (*body)(void *copying), Copying copying, Arena *arena, TypeStore *store) {
  if (!graph_fits_stack(copying.from)) catch_throw(arena->catch_point, graph_too_deep());
  copying.to = graph_new(arena, store);
  copying.to->numbers_erased = copying.from->numbers_erased;
  arena_init(&copying.scratch, NULL);
  Status status = arena_protect(arena, body, &copying);
  arena_dispose(&copying.scratch);
  if (!status) return copying.to;
  graph_dispose(copying.to); /* the constants that it holds already */
  catch_throw(arena->catch_point, status);
}

Graph *graph_copy(const Graph *graph, Arena *arena, TypeStore *store) {
  return copy_by(copy_into, (Copying){.from = graph}, arena, store);
}
Graph *graph_compact(const Graph *graph, Arena *arena, TypeStore *store, bool keeps_numbers) {
  return copy_by(compact_into, (Copying){.from = graph, .keeps_numbers = keeps_numbers}, arena, store);
}

void graph_inline(Graph *graph, const Graph *callee, Value *const *arguments, Value **out_values) {
  graph_inline_call(graph, callee, arguments, NULL, out_values);
}

void graph_inline_call(Graph *graph, const Graph *callee, Value *const *arguments, const InlinedCall *call,
                       Value **out_values) {
  NodeCopier copier;
  copier_init_whole(&copier, graph, callee);
  copier.outer = call;
  for (uint32_t i = 0; i < graph_input_count(callee); i++) remember(&copier, graph_input(callee, i), arguments[i]);
  BLOCK_EACH(node, callee->block) graph_insert_node(graph, copier_node(&copier, node));
  for (uint32_t i = 0; i < graph_output_count(callee); i++)
    out_values[i] = copier_value(&copier, graph_output(callee, i));
}
