/* Nodes: inputs and outputs, place in the block, resolution of the operator. */
#include "call/row.h"
#include "call/torch_version.h"
#include "ir/ir_internal.h"
#include "ir/node_kind.h"
#include "schema/open_types.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(p, bytes) ASAN_POISON_MEMORY_REGION(p, bytes)
#else
#define POISON(p, bytes) ((void)(p), (void)(bytes))
#endif

Node *node_new(Graph *graph, Symbol kind) {
  Node *node = ARENA_NEW(graph->arena, Node);
  node->kind = kind;
  node->graph = graph;
  node->range = graph->range;
  node->scope = graph->scope;
  return node;
}
void node_copy_metadata(Node *to, const Node *from) {
  to->range = from->range;
  to->scope = from->scope;
}

/* ---- inputs ---- */

static void *grow(Arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t bytes) {
  if (count < *capacity) return items;
  uint32_t larger = *capacity ? *capacity * 2 : 4;
  assert(larger > *capacity);
  void *new = arena_alloc_array(arena, larger, bytes);
  if (count) memcpy(new, items, count * bytes);
  *capacity = larger;
  return new;
}

uint32_t node_add_input(Node *node, Value *value) {
  node_insert_input(node, node->input_count, value);
  return node->input_count - 1;
}

void node_insert_input(Node *node, uint32_t at, Value *value) {
  assert(at <= node->input_count);
  node->op = NULL;
  node->inputs = grow(node->graph->arena, node->inputs, node->input_count, &node->input_capacity, sizeof *node->inputs);
  for (uint32_t i = node->input_count; i > at; i--) {
    node->inputs[i] = node->inputs[i - 1];
    node->inputs[i].value->uses.data[node->inputs[i].use_index].offset = i;
  }
  node->input_count++;
  use_add(node, at, value);
}

void node_replace_input(Node *node, uint32_t i, Value *value) {
  assert(i < node->input_count);
  node->op = NULL;
  use_remove(node, i);
  use_add(node, i, value);
}

void node_remove_input(Node *node, uint32_t at) {
  assert(at < node->input_count);
  node->op = NULL;
  use_remove(node, at);
  for (uint32_t i = at + 1; i < node->input_count; i++) {
    node->inputs[i - 1] = node->inputs[i];
    node->inputs[i].value->uses.data[node->inputs[i].use_index].offset = i - 1;
  }
  node->input_count--;
}

void node_remove_all_inputs(Node *node) {
  node->op = NULL;
  for (uint32_t i = 0; i < node->input_count; i++) use_remove(node, i);
  node->input_count = 0;
}

Value *node_named_input(const Node *node, const char *name) {
  const FunctionSchema *schema = node_schema(node);
  if (!schema) return NULL;
  ptrdiff_t i = schema_find_argument(schema, str_from(name));
  return i < 0 || (uint32_t)i >= node->input_count ? NULL : node_input(node, (uint32_t)i);
}

/* ---- outputs ---- */

Value *node_add_output(Node *node, const Type *type) {
  return node_insert_output(node, node->output_count, type);
}

Value *node_insert_output(Node *node, uint32_t at, const Type *type) {
  assert(at <= node->output_count);
  node->op = NULL;
  Value *value = value_new(node, at, type);
  node->outputs =
      grow(node->graph->arena, node->outputs, node->output_count, &node->output_capacity, sizeof *node->outputs);
  for (uint32_t i = node->output_count; i > at; i--) {
    node->outputs[i] = node->outputs[i - 1];
    node->outputs[i]->offset = i;
  }
  node->outputs[at] = value;
  node->output_count++;
  return value;
}

void node_erase_output(Node *node, uint32_t at) {
  assert(at < node->output_count && !value_has_uses(node->outputs[at]));
  node->op = NULL;
  value_forget_name(node->outputs[at]);
  node->outputs[at]->node = NULL; /* what stays readable: handles from outside ask for it */
  POISON(&node->outputs[at]->offset, sizeof(Value) - offsetof(Value, offset));
  for (uint32_t i = at + 1; i < node->output_count; i++) {
    node->outputs[i - 1] = node->outputs[i];
    node->outputs[i - 1]->offset = i - 1;
  }
  node->output_count--;
}

void node_replace_all_uses_with(Node *node, Node *with) {
  assert(node->output_count == with->output_count);
  for (uint32_t i = 0; i < node->output_count; i++) value_replace_all_uses_with(node->outputs[i], with->outputs[i]);
}

/* ---- blocks ---- */

Block *node_add_block(Node *node) {
  Block **larger = ARENA_ARRAY(node->graph->arena, Block *, node->block_count + 1);
  if (node->block_count) memcpy(larger, node->blocks, node->block_count * sizeof *larger);
  node->blocks = larger;
  node->op = NULL;
  return larger[node->block_count++] = block_new(node->graph, node);
}

static void block_destroy(Block *block) {
  node_remove_all_inputs(block->ret);
  BLOCK_EACH_REVERSE(node, block) node_destroy(node);
  for (uint32_t i = block->param->output_count; i-- > 0;) node_erase_output(block->param, i);
}

void node_erase_block(Node *node, uint32_t at) {
  assert(at < node->block_count);
  node->op = NULL;
  block_destroy(node->blocks[at]);
  memmove(&node->blocks[at], &node->blocks[at + 1], (node->block_count - at - 1) * sizeof *node->blocks);
  node->block_count--;
}

/* ---- place ---- */

enum { POSITION_GAP = 1 << 20 };

static uint64_t label(const Node *node) { /* the position as an unsigned number: ranges are powers of two */
  return (uint64_t)node->position ^ (uint64_t)1 << 63;
}

/* Spreads the nodes around one that stands without a position after its predecessor over the smallest range of labels
 * that is sparse enough; so an insertion moves few, amortized log n (M. Bender and others, Two Simplified Algorithms
 * for Maintaining Order in a List, 2002). */
static void make_room(Node *node) {
  Block *block = node->owning_block;
  Node *first = node, *last = node;
  uint64_t at = node->prev != block->param ? label(node->prev) : label(node->next), count = 1;
  double most = 1;
  for (int bits = 1; bits < 64; bits++) {
    uint64_t low = at >> bits << bits, high = low | (((uint64_t)1 << bits) - 1);
    most *= 1.5;
    for (; first->prev != block->param && label(first->prev) >= low; count++) first = first->prev;
    for (; last->next != block->ret && label(last->next) <= high; count++) last = last->next;
    uint64_t step = (high - low) / (count + 1);
    if ((double)count > most || step < 2) continue;
    for (Node *n = first;; n = n->next) {
      n->position = (int64_t)((low += step) ^ (uint64_t)1 << 63);
      if (n == last) return;
    }
  }
  assert(!"more nodes than labels");
}

/* A node at the end stands a gap after its predecessor, one between two others midway; where there is no room some are
 * moved, so that comparing positions decides the order. */
static void assign_position(Node *node) {
  int64_t before = node->prev->position, after = node->next->position;
  const int64_t most = INT64_MAX - 2 * (int64_t)POSITION_GAP, least = -most;
  if (after == INT64_MAX && before == INT64_MIN)
    node->position = 0;
  else if (after == INT64_MAX && before < most)
    node->position = before + POSITION_GAP;
  else if (before == INT64_MIN && after > least)
    node->position = after - POSITION_GAP;
  else if (before != INT64_MIN && after != INT64_MAX && (uint64_t)after - (uint64_t)before > 1)
    node->position = before + (int64_t)(((uint64_t)after - (uint64_t)before) / 2);
  else
    make_room(node);
}

void node_insert_before(Node *node, Node *before) {
  assert(!node->graph->is_sealed);
  assert(!node->owning_block && before->owning_block && before->kind != SYM_prim_Param && node->graph == before->graph);
  node->owning_block = before->owning_block;
  node->prev = before->prev;
  node->next = before;
  before->prev->next = node;
  before->prev = node;
  assign_position(node);
}

void node_insert_after(Node *node, Node *after) {
  assert(after->kind != SYM_prim_Return);
  node_insert_before(node, after->next);
}

static void unlink_node(Node *node) {
  assert(!node->graph->is_sealed);
  if (node->graph->insert_before == node) node->graph->insert_before = node->next;
  node->prev->next = node->next;
  node->next->prev = node->prev;
  node->prev = node->next = NULL;
  node->owning_block = NULL;
}

void node_move_before(Node *node, Node *before) {
  if (node == before) return;
  unlink_node(node);
  node_insert_before(node, before);
}

void node_move_after(Node *node, Node *after) {
  if (node == after) return;
  unlink_node(node);
  node_insert_after(node, after);
}

void node_destroy(Node *node) {
  assert(!node->destroyed);
  while (node->block_count) node_erase_block(node, node->block_count - 1);
  node_remove_all_inputs(node);
  for (uint32_t i = node->output_count; i-- > 0;) node_erase_output(node, i);
  if (node->owning_block) unlink_node(node);
  if (node->inputs) POISON(node->inputs, node->input_capacity * sizeof *node->inputs);
  node->inputs = NULL;
  node->outputs = NULL;
  node->attributes = NULL;
  node->attribute_count = 0;
  node->destroyed = true;
}

static uint32_t depth(const Node *node) {
  uint32_t n = 0;
  for (; node; node = node->owning_block->owning_node) n++;
  return n;
}

bool node_is_before(const Node *a, const Node *b) {
  if (a->owning_block == b->owning_block) return a->position < b->position;
  const Node *x = a, *y = b;
  uint32_t depth_x = depth(x), depth_y = depth(y);
  for (; depth_x > depth_y; depth_x--) x = x->owning_block->owning_node;
  for (; depth_y > depth_x; depth_y--) y = y->owning_block->owning_node;
  if (x == y) return x == a; /* one lies inside the other: the outer node comes first */
  while (x->owning_block != y->owning_block) {
    const Node *outer_x = x->owning_block->owning_node, *outer_y = y->owning_block->owning_node;
    if (outer_x == outer_y) { /* different blocks of one node: in the order of the blocks */
      for (uint32_t i = 0; i < outer_x->block_count; i++) {
        if (outer_x->blocks[i] == x->owning_block) return true;
        if (outer_x->blocks[i] == y->owning_block) return false;
      }
    }
    x = outer_x;
    y = outer_y;
  }
  return x->position < y->position;
}

bool node_is_in_block(const Node *node, const Block *block) {
  for (; node; node = node->owning_block->owning_node)
    if (node->owning_block == block) return true;
  return false;
}

/* ---- operators ---- */

bool schema_takes_inputs(const Node *node, const FunctionSchema *schema, Map *bindings) {
  uint32_t n = schema->argument_count;
  if (schema->is_blocked || !schema_takes_count(schema, node->input_count)) return false;
  TypeStore *store = node->graph->store;
  for (uint32_t i = 0; i < n; i++) {
    const Type *formal = schema->arguments[i].type, *actual = node_input(node, i)->type;
    if (formal->has_var) {
      if (!type_match_vars(store, formal, actual, bindings, NULL)) return false;
      const Type *concrete = type_substitute(store, formal, bindings);
      if (concrete) formal = concrete;
    }
    if (!type_is_subtype(actual, formal, NULL)) return false;
  }
  for (uint32_t i = 0; schema->open && i < node->input_count; i++)
    if (schema_input_is_open(schema, i) &&
        !open_type_takes(schema_input_type(schema, i, node->input_count), node_input(node, i)->type))
      return false;
  return true;
}

typedef struct Resolution {
  const Node *node;
  const Operator *first, *found;
} Resolution;

static void resolve(void *argument) {
  Resolution *r = argument;
  for (const Operator *op = r->first; op && !r->found; op = op->next) {
    Map bindings;
    map_init(&bindings, r->node->graph->arena);
    if (op->flags & OP_BUILTIN) continue;
    const FunctionSchema *schema = operator_schema(op);
    Status status = operator_schema_status(schema);
    if (status) catch_throw(r->node->graph->arena->catch_point, status);
    if (schema_takes_inputs(r->node, schema, &bindings)) r->found = op;
  }
}

Status node_resolve(const Node *node, const Operator **out) {
  *out = node->op;
  if (node->op || node->graph->is_sealed) return OK;
  Resolution r = {node, operator_find_symbol(node->kind), NULL};
  if (!r.first) return OK;
  TRY(arena_protect(node->graph->arena, resolve, &r)); /* binding type variables allocates */
  *out = ((Node *)node)->op = operator_in(r.found, (TorchVersion)node->graph->torch_version);
  return OK;
}

static __attribute__((noinline)) const Operator *find_operator(const Node *node) {
  const Operator *op;
  if (node->graph->is_sealed || !operator_find_symbol(node->kind)) return NULL;
  Status status = node_resolve(node, &op);
  /* a pass that took it for a node without operator would do away with its effects */
  if (status && node->graph->arena->catch_point) catch_throw(node->graph->arena->catch_point, status);
  status_free(status);
  return op;
}

const Operator *node_operator(const Node *node) {
  return node->op ? node->op : find_operator(node);
}

const FunctionSchema *node_schema(const Node *node) {
  const Operator *op = node_operator(node);
  return op ? operator_schema(op) : NULL;
}

bool node_has_side_effects(const Node *node) {
  uint8_t effect = node_kind(node->kind)->effect;
  if (effect != EFFECT_BY_ROW) return effect != EFFECT_NONE;
  const Operator *op = node_operator(node);
  return op && op->flags & OP_SIDE_EFFECTS;
}

bool node_is_in_eval(const Node *node) {
  const FunctionSchema *schema = node_schema(node);
  if (!schema || !schema->training || schema->training > node->input_count) return false;
  IValue value;
  return value_is_constant(node_input(node, schema->training - 1), &value) && value.tag == TAG_BOOL && !value.b;
}

static bool writes_unannotated(const Node *node, uint32_t writes, uint32_t i) {
  return i < 5 && writes >> i & 1 && node_input(node, i)->type->kind != TYPE_NONE && !node_is_in_eval(node);
}

bool node_writes_to(const Node *node, uint32_t i) {
  const Operator *op = node->block_count ? NULL : node_operator(node);
  const FunctionSchema *schema = op ? operator_schema(op) : NULL;
  if (!schema || !(schema->is_mutable || op->row->writes) || i >= schema->argument_count || i >= node->input_count)
    return false;
  const AliasInfo *alias = schema->arguments[i].alias;
  return (alias && alias->is_write) || writes_unannotated(node, op->row->writes, i);
}

bool node_writes(const Node *node) {
  const Operator *op = node->block_count ? NULL : node_operator(node);
  if (!op) return false;
  if (operator_schema(op)->is_mutable) return true;
  uint32_t writes = op->row->writes;
  for (uint32_t i = 0; writes && i < node->input_count; i++)
    if (writes_unannotated(node, writes, i)) return true;
  return false;
}

bool node_acts(const Node *node) {
  enum { ACTS = OP_SIDE_EFFECTS | OP_NONDETERMINISTIC };
  uint8_t effect = node_kind(node->kind)->effect;
  if (effect != EFFECT_BY_ROW && effect != EFFECT_NONE) return true;
  const Operator *op = node_operator(node);
  return op && op->flags & ACTS && (node_has_side_effects(node) || node_is_nondeterministic(node));
}

bool node_may_be_seen(const Node *node) {
  return node_kind(node->kind)->effect != EFFECT_LEAVES && (node_acts(node) || node_writes(node));
}

bool node_reads_metadata(const Node *node, uint32_t i) {
  const Operator *op = node_operator(node);
  return op && operator_reads_metadata(op, i);
}

bool node_is_nondeterministic(const Node *node) {
  const Operator *op = node_operator(node);
  return op && op->flags & OP_NONDETERMINISTIC && !node_is_in_eval(node);
}

static bool asks_identity(const Node *node) {
  if (node->kind != SYM_aten___is__ && node->kind != SYM_aten___isnot__) return false;
  return type_may_be_mutable(node_input(node, 0)->type) && type_may_be_mutable(node_input(node, 1)->type);
}

bool value_is_told_apart(const Value *value) {
  for (size_t i = 0; i < value->uses.length; i++)
    if (asks_identity(value->uses.data[i].user)) return true;
  return false;
}

bool node_may_change_grad_mode(const Node *node) {
  return node_has_flag(node, KIND_SETS_MODE);
}
