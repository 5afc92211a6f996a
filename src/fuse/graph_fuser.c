/* The pass that makes prim::FusionGroup nodes. From the end of each block, a pointwise node or group takes in the
 * producers of its inputs, latest first, as long as they can be moved in front of it; what uses remain of a producer
 * are served by a further output of the group. A chunk between is moved in front of its producer first: chunk(op(x, y))
 * becomes op over the chunks of x and y, broadcast against each other, and the chunks end up as the first nodes of the
 * group. A cat of a group's results becomes its last node. Of intermediates whose size alone is used, the size is
 * computed from those of the group's inputs.
 *
 * Relies on AliasDb for moves. Keeps: every group computes pure functions of its inputs, and its Subgraph run node by
 * node does the same. */
#include "fuse/fuse.h"

#include <assert.h>

#include "fuse/group.h"
#include "fuse/words.h"
#include "ir/alias_db.h"
#include "ir/graph_log.h"
#include "pass/pass.h"

#define LOG_NAME "graph_fuser"

enum { DEFAULT_ARGUMENT_LIMIT = 32, GROUP_NODE_LIMIT = 96 };

typedef struct GraphFuser {
  Graph *graph;
  Arena *scratch;
  AliasDb *alias;
  Block *block;
  uint32_t argument_limit;
  bool stopped;   /* the limiter of rewrites said so */
  PtrMap refused; /* node -> the Reason that was last counted for it, plus one: rounds ask again */
} GraphFuser;

static bool is_group(const Node *node) {
  return node->kind == SYM_prim_FusionGroup;
}
static Graph *subgraph_of(const Node *group) {
  return node_attribute(group, SYM_attr_Subgraph)->g;
}
static bool is_sentinel(const Node *node) {
  return node == node->owning_block->param || node == node->owning_block->ret;
}

static bool is_fusable(const GraphFuser *f, const Node *node) {
  if (node->owning_block != f->block || is_sentinel(node)) return false;
  return is_group(node) || fuse_is_pointwise(node);
}

static bool may_rewrite(GraphFuser *f, const Node *node, const char *what) {
  if (f->stopped || !jit_opt_limit(LOG_NAME)) {
    f->stopped = true;
    return false;
  }
  NODE_LOG_UPDATE(LOG_NAME, what, node);
  return true;
}

static void copy_metadata(Value *to, const Value *from) {
  to->type = from->type;
  if (from->name.length) value_set_name(to, from->name);
}

static uint32_t node_count(const Graph *graph) {
  uint32_t count = 0;
  BLOCK_EACH(node, graph->block) count += node->kind != SYM_prim_Constant;
  return count;
}

/* ---- moving nodes into groups ---- */

typedef struct InputMap {
  Node *group;
  Graph *subgraph;
} InputMap;

static Value *map_input(Value *value, void *argument) {
  InputMap *map = argument;
  for (uint32_t i = 0; i < map->group->input_count; i++)
    if (node_input(map->group, i) == value) return graph_input(map->subgraph, i);
  return NULL;
}

static Value *insert_input(Node *group, Graph *subgraph, Value *value) {
  uint32_t at = 0; /* tensors stand before numbers */
  for (uint32_t i = 0; i < group->input_count; i++)
    if (value_is_tensor(node_input(group, i))) at = i + 1;
  if (!value_is_tensor(value)) at = group->input_count;
  Value *inner = block_insert_input(subgraph->block, at, STR(""), value->type);
  node_insert_input(group, at, value);
  return inner;
}

static Value *no_outer(Value *value, void *argument) {
  (void)value, (void)argument;
  return NULL;
}

typedef struct NodeMap {
  InputMap inputs;
  Value *const *outer, *const *inner; /* constants that were copied */
  uint32_t count;
} NodeMap;
static Value *map_operand(Value *value, void *argument) {
  NodeMap *map = argument;
  for (uint32_t i = 0; i < map->count; i++)
    if (map->outer[i] == value) return map->inner[i];
  return map_input(value, &map->inputs);
}

/* A copy of `node` becomes the first node of the group's Subgraph; returns it. Where the group took `node`'s outputs as
 * inputs, it has them inside now. The node itself stays where it is. */
static Node *merge_node(GraphFuser *f, Node *group, Node *node) {
  Graph *subgraph = subgraph_of(group);
  InputMap inputs = {group, subgraph};
  Value **outer = ARENA_ARRAY(f->scratch, Value *, node->input_count + 1);
  Value **inner = ARENA_ARRAY(f->scratch, Value *, node->input_count + 1);
  uint32_t constants = 0;
  graph_set_insert_point(subgraph, subgraph->block->param->next);
  for (uint32_t i = 0; i < node->input_count; i++) {
    Value *value = node_input(node, i);
    NodeMap known = {inputs, outer, inner, constants};
    if (map_operand(value, &known)) continue;
    if (value->node->kind == SYM_prim_Constant) {
      outer[constants] = value;
      inner[constants++] =
          node_output(graph_insert_node(subgraph, node_copy(value->node, subgraph, no_outer, NULL)), 0);
    } else {
      insert_input(group, subgraph, value);
    }
  }
  NodeMap map = {inputs, outer, inner, constants};
  Node *copy = graph_insert_node(subgraph, node_copy(node, subgraph, map_operand, &map));
  for (uint32_t i = 0; i < node->output_count; i++) {
    for (uint32_t k = 0; k < group->input_count; k++) {
      if (node_input(group, k) != node_output(node, i)) continue;
      value_replace_all_uses_with(graph_input(subgraph, k), node_output(copy, i));
      node_remove_input(group, k);
      block_erase_input(subgraph->block, k);
      break;
    }
  }
  return copy;
}

static Value *add_group_output(GraphFuser *f, Node *group, Value *inner, Value *was) {
  graph_register_output(subgraph_of(group), inner);
  Value *output = node_add_output(group, was->type);
  copy_metadata(output, was);
  alias_replace_value(f->alias, was, output);
  value_replace_all_uses_with(was, output);
  return output;
}

/* A group of `node` alone in its place. */
static Node *singleton_group(GraphFuser *f, Node *node) {
  Graph *graph = f->graph;
  Node *group = graph_create(graph, SYM_prim_FusionGroup, 0, NULL, 0);
  Graph *subgraph = graph_new(graph->arena, graph->store);
  group->range = node->range;
  subgraph->range = node->range;
  node_set_graph(group, SYM_attr_Subgraph, subgraph);
  node_insert_before(group, node);
  Node *merged = merge_node(f, group, node);
  graph_register_output(subgraph, node_output(merged, 0));
  Value *output = node_add_output(group, node_output(node, 0)->type);
  copy_metadata(output, node_output(node, 0));
  alias_add_node(f->alias, group);
  alias_replace_value(f->alias, node_output(node, 0), output);
  value_replace_all_uses_with(node_output(node, 0), output);
  node_destroy(node);
  return group;
}

typedef struct OuterMap {
  PtrMap values;
} OuterMap;
static Value *map_outer(Value *value, void *argument) {
  return ptrmap_get(&((OuterMap *)argument)->values, value);
}

/* The producer's nodes are put back into the block, then taken in one by one from the last. */
static void merge_groups(GraphFuser *f, Node *consumer, Node *producer) {
  Graph *inner = subgraph_of(producer);
  VEC(Node *) nodes = {0};
  OuterMap map;
  ptrmap_init(&map.values, f->scratch);
  for (uint32_t i = 0; i < producer->input_count; i++)
    ptrmap_put(&map.values, graph_input(inner, i), node_input(producer, i));
  BLOCK_EACH(node, inner->block) {
    Node *copy = node_copy(node, f->graph, map_outer, &map);
    node_insert_before(copy, producer);
    vec_arena_push(f->scratch, &nodes, copy);
    for (uint32_t i = 0; i < node->output_count; i++)
      ptrmap_put(&map.values, node_output(node, i), node_output(copy, i));
  }
  for (uint32_t i = 0; i < producer->output_count; i++) {
    Value *output = map_outer(graph_output(inner, i), &map);
    alias_replace_value(f->alias, node_output(producer, i), output);
    value_replace_all_uses_with(node_output(producer, i), output);
  }
  node_destroy(producer);
  for (size_t i = nodes.length; i-- > 0;) {
    Node *node = nodes.data[i];
    if (node->kind == SYM_prim_Constant) {
      if (!value_has_uses(node_output(node, 0))) node_destroy(node);
      continue;
    }
    Node *merged = merge_node(f, consumer, node);
    for (uint32_t k = 0; k < node->output_count; k++)
      if (value_has_uses(node_output(node, k)))
        add_group_output(f, consumer, node_output(merged, k), node_output(node, k));
    node_destroy(node);
  }
}

static bool is_too_large(const GraphFuser *f, const Node *consumer, const Node *producer) {
  uint32_t arguments = consumer->input_count + consumer->output_count + producer->input_count + producer->output_count;
  if (arguments > f->argument_limit) return true;
  uint32_t nodes = (is_group(consumer) ? node_count(subgraph_of(consumer)) : 1) +
                   (is_group(producer) ? node_count(subgraph_of(producer)) : 1);
  return nodes > GROUP_NODE_LIMIT;
}

/* Where the group cuts this value already, the chunk there. */
static Node *chunk_inside(const Node *group, const Value *value) {
  Graph *subgraph = subgraph_of(group);
  for (uint32_t i = 0; i < group->input_count; i++) {
    if (node_input(group, i) != value) continue;
    Value *inner = graph_input(subgraph, i);
    for (size_t k = 0; k < inner->uses.length; k++)
      if (inner->uses.data[k].user->kind == SYM_prim_ConstantChunk) return inner->uses.data[k].user;
  }
  return NULL;
}

/* Within a group, only inputs are cut, and what a cat gives is used no more. */
static Reason why_not_merge(const GraphFuser *f, const Node *consumer, const Node *producer) {
  if (is_group(producer)) {
    Graph *subgraph = subgraph_of(producer);
    for (uint32_t i = 0; i < graph_output_count(subgraph); i++)
      if (graph_output(subgraph, i)->node->kind == SYM_prim_FusedConcat) return REASON_NOT_FUSED_CONCATENATION;
  }
  if (is_group(consumer))
    for (uint32_t i = 0; i < producer->output_count; i++)
      if (chunk_inside(consumer, node_output(producer, i))) return REASON_NOT_FUSED_PIECES;
  return is_too_large(f, consumer, producer) ? REASON_NOT_FUSED_LIMIT : REASON_COUNT;
}

static Node *refuse(GraphFuser *f, const Node *node, Reason reason) {
  void *mark = (void *)(uintptr_t)(reason + 1);
  if (f->stopped || ptrmap_get(&f->refused, node) == mark) return NULL;
  ptrmap_put(&f->refused, node, mark);
  node_refused(LOG_NAME, node, reason);
  return NULL;
}

static bool is_guard(const Node *node) {
  return node->kind == SYM_prim_BailOut || node->kind == SYM_prim_Guard;
}

/* What makes the value, guards left out. */
static const Node *maker_of(const Value *value) {
  while (is_guard(value->node)) value = node_input(value->node, 0);
  return value->node;
}

/* What makes an operand, but is no part of groups, or is behind a guard. */
static Node *refuse_maker(GraphFuser *f, const Value *value) {
  const Node *node = maker_of(value);
  if (node->owning_block != f->block || is_sentinel(node)) return NULL;
  Reason reason = is_fusable(f, node) ? REASON_NOT_FUSED_GUARD : fuse_why_not_pointwise(node);
  return reason == REASON_COUNT ? NULL : refuse(f, node, reason);
}

/* Takes the producer of one of consumer's inputs into its group; returns the group, or NULL where that can't be. */
static Node *try_fuse(GraphFuser *f, Node *consumer, Value *value) {
  Node *producer = value->node;
  if (!is_fusable(f, producer)) return refuse_maker(f, value);
  Reason reason = why_not_merge(f, consumer, producer);
  if (reason != REASON_COUNT) return refuse(f, producer, reason);
  if (!alias_move_before(f->alias, producer, consumer)) return refuse(f, producer, REASON_NOT_FUSED_ALIASING);
  if (!may_rewrite(f, producer, "fuses ")) return NULL;
  Node *group = is_group(consumer) ? consumer : singleton_group(f, consumer);
  if (is_group(producer)) {
    merge_groups(f, group, producer);
    return group;
  }
  Node *merged = merge_node(f, group, producer);
  if (value_has_uses(value)) add_group_output(f, group, node_output(merged, 0), value);
  node_destroy(producer);
  return group;
}

/* The inputs that are made in this block, the latest first. */
static uint32_t inputs_latest_first(const GraphFuser *f, const Node *node, Value ***out) {
  Value **values = ARENA_ARRAY(f->scratch, Value *, node->input_count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    Value *value = node_input(node, i);
    if (value->node->owning_block != f->block) continue;
    uint32_t at = count++;
    for (; at > 0 && node_is_before(values[at - 1]->node, value->node); at--) values[at] = values[at - 1];
    values[at] = value;
  }
  *out = values;
  return count;
}

/* ---- chunks in the way ---- */

static bool used_only_by(const Node *node, const Node *user) {
  for (uint32_t i = 0; i < node->output_count; i++)
    for (size_t k = 0; k < node_output(node, i)->uses.length; k++)
      if (node_output(node, i)->uses.data[k].user != user) return false;
  return true;
}

static bool is_size_of(const Node *node) {
  return node->kind == SYM_aten_size && node->input_count == 1;
}

static bool used_only_by_or_size(const Value *value, const Node *user) {
  for (size_t i = 0; i < value->uses.length; i++)
    if (value->uses.data[i].user != user && !is_size_of(value->uses.data[i].user)) return false;
  return true;
}

/* prim::ConstantChunk becomes the kind that takes several inputs. */
static Node *broadcasting_chunk(GraphFuser *f, Node *chunk) {
  if (chunk->kind == SYM_prim_BroadcastingChunk) return chunk;
  Node *wide = graph_create(f->graph, SYM_prim_BroadcastingChunk, 1, (Value *[]){node_input(chunk, 0)}, 0);
  wide->range = chunk->range;
  node_copy_attributes(wide, chunk);
  node_insert_after(wide, chunk);
  for (uint32_t i = 0; i < chunk->output_count; i++) {
    Value *was = node_output(chunk, i), *output = node_add_output(wide, was->type);
    copy_metadata(output, was);
    alias_replace_value(f->alias, was, output);
    value_replace_all_uses_with(was, output);
  }
  node_destroy(chunk);
  return wide;
}

static Value *broadcast_sizes_of(GraphFuser *f, uint32_t count, Value *const *sizes) {
  if (count == 1) return sizes[0];
  Node *node = graph_insert_node(f->graph, graph_create(f->graph, SYM_prim_BroadcastSizes, count, sizes, 1));
  node_output(node, 0)->type = type_list_of(TYPE_INT);
  alias_add_node(f->alias, node);
  return node_output(node, 0);
}

static Value *insert_size(GraphFuser *f, Value *value) {
  Node *node = graph_insert_node(f->graph, graph_create(f->graph, SYM_aten_size, 1, &value, 1));
  node_output(node, 0)->type = type_list_of(TYPE_INT);
  alias_add_node(f->alias, node);
  return node_output(node, 0);
}

/* What asks for the size of `value` gets `size`. */
static void replace_size_uses(GraphFuser *f, Value *value, Value *size) {
  while (value->uses.length) {
    Node *user = value->uses.data[0].user;
    alias_replace_value(f->alias, node_output(user, 0), size);
    value_replace_all_uses_with(node_output(user, 0), size);
    node_destroy(user);
  }
}

/* An aten::size of what is going away is that of its tensor inputs, broadcast. */
static void replace_sizes_of(GraphFuser *f, Node *producer) {
  Value *output = node_output(producer, 0);
  if (!value_has_uses(output)) return;
  graph_set_insert_point(f->graph, producer);
  Value **sizes = ARENA_ARRAY(f->scratch, Value *, producer->input_count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < producer->input_count; i++)
    if (value_is_tensor(node_input(producer, i))) sizes[count++] = insert_size(f, node_input(producer, i));
  replace_size_uses(f, output, broadcast_sizes_of(f, count, sizes));
}

/* Puts the operator that makes an input of the chunk behind it, once for each piece. */
static void move_behind_chunk(GraphFuser *f, Node *chunk, uint32_t position) {
  Node *producer = node_input(chunk, position)->node;
  uint32_t pieces = (uint32_t)node_int(chunk, SYM_attr_chunks), operands = 0;
  uint32_t *places = ARENA_ARRAY(f->scratch, uint32_t, producer->input_count); /* of operand i among chunk's inputs */
  for (uint32_t i = 0; i < producer->input_count; i++) {
    Value *operand = node_input(producer, i);
    if (!value_is_tensor(operand)) continue;
    uint32_t place = 0;
    while (place < chunk->input_count && node_input(chunk, place) != operand) place++;
    if (place == chunk->input_count) {
      node_add_input(chunk, operand);
      for (uint32_t k = 0; k < pieces; k++) {
        Value *piece = node_add_output(chunk, node_output(chunk, pieces * position + k)->type);
        alias_replace_value(f->alias, operand, piece);
      }
    }
    places[i] = place;
    operands++;
  }
  assert(operands);
  graph_set_insert_point(f->graph, chunk->next);
  for (uint32_t k = 0; k < pieces; k++) {
    Value *piece = node_output(chunk, pieces * position + k);
    Node *copy = graph_create(f->graph, producer->kind, 0, NULL, 0);
    copy->range = producer->range;
    copy->inlined = producer->inlined;
    copy->op = producer->op;
    node_copy_attributes(copy, producer);
    for (uint32_t i = 0; i < producer->input_count; i++) {
      Value *operand = node_input(producer, i);
      node_add_input(copy, value_is_tensor(operand) ? node_output(chunk, pieces * places[i] + k) : operand);
    }
    Value *output = node_add_output(copy, piece->type);
    copy_metadata(output, piece);
    graph_insert_node(f->graph, copy);
    alias_add_node(f->alias, copy);
    alias_replace_value(f->alias, piece, output);
    value_replace_all_uses_with(piece, output);
  }
  node_remove_input(chunk, position);
  for (uint32_t k = pieces; k-- > 0;) node_erase_output(chunk, pieces * position + k);
  replace_sizes_of(f, producer);
  node_destroy(producer);
}

/* Once broadcast, a tensor without dimensions counts like any other in type promotion. That changes nothing where there
 * is one tensor, or all are known to have one dtype, or to have dimensions. */
static bool may_broadcast_before(const Node *node) {
  const Value *first = NULL;
  bool one = true, same_dtype = true, dimensioned = true;
  int dtype = -1;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const Value *value = node_input(node, i);
    if (!value_is_tensor(value)) continue;
    const TensorInfo *info = value->type->tensor;
    one &= !first || first == value;
    same_dtype &= info && info->dtype >= 0 && (!first || dtype == info->dtype);
    dimensioned &= info && info->ndim > 0;
    if (info) dtype = info->dtype;
    first = value;
  }
  return one || same_dtype || dimensioned;
}

static bool try_move_chunk(GraphFuser *f, Node *consumer, Value *value) {
  Node *chunk = value->node;
  if (chunk->kind != SYM_prim_ConstantChunk && chunk->kind != SYM_prim_BroadcastingChunk) return false;
  bool is_shared = !used_only_by(chunk, consumer);
  Reason reason = REASON_COUNT;
  uint32_t i = 0;
  for (; i < chunk->input_count; i++) {
    Value *input = node_input(chunk, i);
    if (!is_fusable(f, input->node) || is_group(input->node)) continue;
    if (is_shared || !used_only_by_or_size(input, chunk))
      reason = REASON_NOT_FUSED_PIECES;
    else if (!may_broadcast_before(input->node))
      reason = REASON_NOT_FUSED_UNKNOWN_TYPE;
    else
      break;
  }
  if (i == chunk->input_count) return reason != REASON_COUNT && refuse(f, chunk, reason);
  if (!may_rewrite(f, chunk, "moves in front of what it cuts ")) return false;
  move_behind_chunk(f, broadcasting_chunk(f, chunk), i);
  return true;
}

/* Looks at one node; returns the one to look at next. */
static Node *scan_node(GraphFuser *f, Node *consumer, bool *changed) {
  if (!is_fusable(f, consumer) || f->stopped) return consumer->prev;
  Value **inputs;
  uint32_t count = inputs_latest_first(f, consumer, &inputs);
  for (uint32_t i = 0; i < count; i++) {
    if (try_move_chunk(f, consumer, inputs[i])) {
      *changed = true;
      return consumer;
    }
    Node *group = try_fuse(f, consumer, inputs[i]);
    if (group) {
      *changed = true;
      return group;
    }
  }
  return consumer->prev;
}

/* ---- cat behind a group ---- */

static bool is_fusable_cat(const GraphFuser *f, const Node *node) {
  if (node->kind != SYM_aten_cat || node->input_count != 2) return false;
  const Value *list = node_input(node, 0);
  IValue dim;
  if (!value_is_constant(node_input(node, 1), &dim) || dim.tag != TAG_INT) return false;
  if (list->node->kind != SYM_prim_ListConstruct || list->uses.length != 1 || list->node->owning_block != f->block)
    return false;
  if (list->node->input_count == 0 || list->node->input_count + 1 > f->argument_limit) return false;
  for (uint32_t i = 0; i < list->node->input_count; i++)
    if (!value_is_tensor(node_input(list->node, i))) return false;
  return true;
}

static bool may_join_cat(const GraphFuser *f, const Value *value, Node *before) {
  Node *producer = value->node;
  return is_fusable(f, producer) && why_not_merge(f, before, producer) == REASON_COUNT;
}

/* Returns the node from which to look on. */
static Node *fuse_cat(GraphFuser *f, Node *cat) {
  Node *list = node_input(cat, 0)->node;
  bool any = false;
  for (uint32_t i = 0; i < list->input_count && !any; i++) any = may_join_cat(f, node_input(list, i), cat);
  if (!any || !may_rewrite(f, cat, "fuses ")) return cat->prev;
  IValue dim;
  value_is_constant(node_input(cat, 1), &dim);
  Value **parts = ARENA_ARRAY(f->scratch, Value *, list->input_count);
  for (uint32_t i = 0; i < list->input_count; i++) parts[i] = node_input(list, i);
  Node *fused = graph_create(f->graph, SYM_prim_FusedConcat, list->input_count, parts, 1);
  fused->range = cat->range;
  node_set_int(fused, SYM_attr_dim, dim.i);
  node_insert_before(fused, cat); /* what stands between the list and it may write */
  copy_metadata(node_output(fused, 0), node_output(cat, 0));
  value_replace_all_uses_with(node_output(cat, 0), node_output(fused, 0));
  node_destroy(cat);
  node_destroy(list);
  Node *group = singleton_group(f, fused);
  for (bool merged = true; merged;) {
    merged = false;
    Value **inputs;
    uint32_t count = inputs_latest_first(f, group, &inputs);
    for (uint32_t i = 0; i < count && !merged; i++)
      merged = may_join_cat(f, inputs[i], group) && try_fuse(f, group, inputs[i]);
  }
  return group->prev;
}

/* ---- chunks at the start of a group ---- */

static void finish_chunk(GraphFuser *f, Node *chunk) {
  uint32_t count = chunk->input_count, pieces = (uint32_t)node_int(chunk, SYM_attr_chunks);
  Value **inputs = ARENA_ARRAY(f->scratch, Value *, count);
  for (uint32_t i = 0; i < count; i++) inputs[i] = node_input(chunk, i);
  graph_set_insert_point(f->graph, chunk);
  Node *list = graph_insert_node(f->graph, graph_create(f->graph, SYM_prim_ListConstruct, count, inputs, 1));
  node_output(list, 0)->type = type_list_of(TYPE_TENSOR);
  Node *broadcast = graph_insert_node(
      f->graph, graph_create(f->graph, SYM_aten_broadcast_tensors, 1, (Value *[]){node_output(list, 0)}, 1));
  node_output(broadcast, 0)->type = type_list_of(TYPE_TENSOR);
  Node *unpack = graph_insert_node(
      f->graph, graph_create(f->graph, SYM_prim_ListUnpack, 1, (Value *[]){node_output(broadcast, 0)}, count));
  list->range = broadcast->range = unpack->range = chunk->range;
  alias_add_node(f->alias, list);
  alias_add_node(f->alias, broadcast);
  graph_set_insert_point(f->graph, chunk->next);
  for (uint32_t i = 0; i < count; i++) {
    alias_replace_value(f->alias, inputs[i], node_output(unpack, i));
    Node *one = graph_insert_node(
        f->graph, graph_create(f->graph, SYM_prim_ConstantChunk, 1, (Value *[]){node_output(unpack, i)}, 0));
    one->range = chunk->range;
    node_copy_attributes(one, chunk);
    for (uint32_t k = 0; k < pieces; k++) {
      Value *was = node_output(chunk, i * pieces + k), *output = node_add_output(one, was->type);
      copy_metadata(output, was);
      alias_replace_value(f->alias, was, output);
      value_replace_all_uses_with(was, output);
    }
  }
  node_destroy(chunk);
}

/* A value is cut in one way only within a group, and only inputs are. */
static bool try_fuse_chunk(GraphFuser *f, Node *group, Node *chunk) {
  if (chunk->kind != SYM_prim_ConstantChunk || chunk->output_count < 2 || !used_only_by(chunk, group)) return false;
  Graph *subgraph = subgraph_of(group);
  Node *inside = chunk_inside(group, node_input(chunk, 0));
  if (!inside) {
    if (!alias_move_before(f->alias, chunk, group)) return refuse(f, chunk, REASON_NOT_FUSED_ALIASING) != NULL;
    merge_node(f, group, chunk);
    node_destroy(chunk);
    return true;
  }
  if (inside->output_count != chunk->output_count || node_int(inside, SYM_attr_dim) != node_int(chunk, SYM_attr_dim))
    return refuse(f, chunk, REASON_NOT_FUSED_PIECES) != NULL;
  for (uint32_t i = 0; i < chunk->output_count; i++) {
    for (uint32_t k = 0; k < group->input_count; k++) {
      if (node_input(group, k) != node_output(chunk, i)) continue;
      value_replace_all_uses_with(graph_input(subgraph, k), node_output(inside, i));
      node_remove_input(group, k);
      block_erase_input(subgraph->block, k);
      break;
    }
  }
  node_destroy(chunk);
  return true;
}

static void fuse_chunks(GraphFuser *f, Node *group) {
  for (bool changed = true; changed;) {
    changed = false;
    Value **inputs;
    uint32_t count = inputs_latest_first(f, group, &inputs);
    for (uint32_t i = 0; i < count && !changed; i++) changed = try_fuse_chunk(f, group, inputs[i]->node);
  }
}

/* ---- outputs of which only the size is used ---- */

static bool used_only_in_size(const Value *value) {
  for (size_t i = 0; i < value->uses.length; i++)
    if (!is_size_of(value->uses.data[i].user)) return false;
  return true;
}

/* Maps the Subgraph's values to the sizes they have, computed behind the group. */
static void build_sizes(GraphFuser *f, Node *group, PtrMap *sizes) {
  Graph *graph = f->graph, *subgraph = subgraph_of(group);
  graph_set_insert_point(graph, group->next);
  ptrmap_init(sizes, f->scratch);
  for (uint32_t i = 0; i < group->input_count; i++)
    if (value_is_tensor(node_input(group, i)))
      ptrmap_put(sizes, graph_input(subgraph, i), insert_size(f, node_input(group, i)));
  for (uint32_t i = 0; i < group->output_count; i++)
    if (!used_only_in_size(node_output(group, i)))
      ptrmap_put(sizes, graph_output(subgraph, i), insert_size(f, node_output(group, i)));
  BLOCK_EACH(node, subgraph->block) {
    if (node->kind == SYM_prim_FusedConcat || node->kind == SYM_prim_Constant) continue;
    if (node->kind == SYM_prim_ConstantChunk) {
      Value *whole = ptrmap_get(sizes, node_input(node, 0));
      Node *cut = graph_insert_node(graph, graph_create(graph, SYM_prim_ChunkSizes, 1, &whole, 2));
      node_set_int(cut, SYM_attr_dim, node_int(node, SYM_attr_dim));
      node_set_int(cut, SYM_attr_chunks, node_int(node, SYM_attr_chunks));
      for (uint32_t i = 0; i < 2; i++) node_output(cut, i)->type = type_list_of(TYPE_INT);
      alias_add_node(f->alias, cut);
      for (uint32_t i = 0; i < node->output_count; i++)
        if (!ptrmap_get(sizes, node_output(node, i)))
          ptrmap_put(sizes, node_output(node, i), node_output(cut, i == node->output_count - 1));
      continue;
    }
    Value **operands = ARENA_ARRAY(f->scratch, Value *, node->input_count);
    uint32_t count = 0;
    bool known = true;
    for (uint32_t i = 0; i < node->input_count; i++) {
      if (!value_is_tensor(node_input(node, i))) continue;
      operands[count] = ptrmap_get(sizes, node_input(node, i));
      known &= operands[count++] != NULL;
    }
    if (known && !ptrmap_get(sizes, node_output(node, 0)))
      ptrmap_put(sizes, node_output(node, 0), broadcast_sizes_of(f, count, operands));
  }
}

static void remove_outputs_used_in_size(GraphFuser *f, Node *group) {
  bool any = false;
  for (uint32_t i = 0; i < group->output_count; i++) any |= used_only_in_size(node_output(group, i));
  if (!any) return;
  PtrMap sizes;
  Graph *subgraph = subgraph_of(group);
  build_sizes(f, group, &sizes);
  for (uint32_t i = group->output_count; i-- > 0;) {
    Value *output = node_output(group, i), *size = ptrmap_get(&sizes, graph_output(subgraph, i));
    if (!size || !used_only_in_size(output) || group->output_count == 1) continue;
    replace_size_uses(f, output, size);
    node_erase_output(group, i);
    block_erase_output(subgraph->block, i);
  }
}

/* prim::BroadcastSizes of equal sizes, of one, or of another that nobody else uses. */
static void simplify_sizes(Block *block) {
  for (Node *node = block->param->next, *next; node != block->ret; node = next) {
    next = node->next;
    for (uint32_t i = 0; i < node->block_count; i++) simplify_sizes(node->blocks[i]);
    if (node->kind != SYM_prim_BroadcastSizes) continue;
    for (uint32_t i = 0; i < node->input_count; i++)
      for (uint32_t k = node->input_count; k-- > i + 1;)
        if (node_input(node, k) == node_input(node, i)) node_remove_input(node, k);
    Value *output = node_output(node, 0);
    if (node->input_count == 1) {
      value_replace_all_uses_with(output, node_input(node, 0));
      node_destroy(node);
    } else if (output->uses.length == 1 && output->uses.data[0].user->kind == SYM_prim_BroadcastSizes) {
      Node *user = output->uses.data[0].user;
      node_remove_input(user, output->uses.data[0].offset);
      for (uint32_t i = 0; i < node->input_count; i++) node_add_input(user, node_input(node, i));
      node_destroy(node);
    }
  }
}

/* ---- what was left ---- */

/* A concatenation of what groups gave that could not be their last node. */
static bool is_left_cat(const Node *node) {
  if (node->kind != SYM_aten_cat || node->input_count != 2) return false;
  const Node *list = node_input(node, 0)->node;
  if (list->kind != SYM_prim_ListConstruct) return false;
  for (uint32_t i = 0; i < list->input_count; i++)
    if (is_group(node_input(list, i)->node)) return true;
  return false;
}

/* There is something to fuse with, on the other side of a guard. */
static bool is_behind_guard(const GraphFuser *f, const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (is_guard(node_input(node, i)->node) && is_fusable(f, maker_of(node_input(node, i)))) return true;
  for (size_t i = 0; i < node_output(node, 0)->uses.length; i++) {
    const Use *use = &node_output(node, 0)->uses.data[i];
    if (!is_guard(use->user) || use->offset) continue;
    const Value *guarded = node_output(use->user, 0);
    for (size_t k = 0; k < guarded->uses.length; k++)
      if (is_fusable(f, guarded->uses.data[k].user)) return true;
  }
  return false;
}

static void explain(GraphFuser *f, const Block *block) {
  BLOCK_EACH(node, block) {
    if (fuse_is_pointwise(node))
      refuse(f, node, is_behind_guard(f, node) ? REASON_NOT_FUSED_GUARD : REASON_NOT_FUSED_ALONE);
    if (is_left_cat(node)) refuse(f, node, REASON_NOT_FUSED_LIST);
  }
}

/* ---- the whole ---- */

static void clean_subgraph(Graph *subgraph) {
  eliminate_dead_code(subgraph);
  constant_pooling(subgraph);
}

static void fuse_block(GraphFuser *f, Block *block) {
  f->block = block;
  /* One round may leave groups that only the next finds adjacent, because each had a use in between. */
  for (bool changed = true; changed;) {
    changed = false;
    for (Node *node = block->ret->prev; node != block->param;) node = scan_node(f, node, &changed);
  }
  for (Node *node = block->ret->prev; node != block->param;)
    node = is_fusable_cat(f, node) ? fuse_cat(f, node) : node->prev;
  BLOCK_EACH(node, block)
  if (is_group(node)) clean_subgraph(subgraph_of(node));
  BLOCK_EACH_REVERSE(node, block)
  if (node->kind == SYM_prim_BroadcastingChunk) finish_chunk(f, node);
  for (Node *node = block->ret->prev; node != block->param; node = node->prev)
    if (is_group(node)) fuse_chunks(f, node);
  for (Node *node = block->param->next; node != block->ret; node = node->next)
    if (is_group(node)) remove_outputs_used_in_size(f, node);
  explain(f, block);
  for (Node *node = block->param->next; node != block->ret; node = node->next)
    for (uint32_t i = 0; i < node->block_count; i++) fuse_block(f, node->blocks[i]);
}

static void make_callables(Graph *graph, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) make_callables(graph, node->blocks[i]);
    const NodeAttribute *subgraph = node_attribute(node, SYM_attr_Subgraph);
    if (!subgraph || subgraph->tag != ATTR_GRAPH) continue;
    if (!is_group(node)) {
      make_callables(graph, subgraph->g->block);
      continue;
    }
    if (node->callable) continue;
    Callable *callable;
    Status status = fuse_group_new(node, &callable);
    if (status) catch_throw(graph->arena->catch_point, status);
    node_set_callable(node, callable);
    if (ref_release(&callable->refs)) callable->release(callable);
  }
}

void fuse_make_callables(Graph *graph) {
  graph_require_stack(graph);
  make_callables(graph, graph->block);
}

static void fuse_in(Graph *graph, Arena *scratch, const FuseOptions *options) {
  uint32_t limit = options && options->argument_limit ? options->argument_limit : DEFAULT_ARGUMENT_LIMIT;
  GraphFuser fuser = {.graph = graph, .scratch = scratch, .argument_limit = limit};
  fuser.alias = alias_db_new(graph, scratch);
  ptrmap_init(&fuser.refused, scratch);
  fuse_block(&fuser, graph->block);
  graph_set_insert_block(graph, graph->block);
  eliminate_dead_code(graph);
  simplify_sizes(graph->block);
  if (!options || !options->without_callables) fuse_make_callables(graph);
}

void fuse_graph(Graph *graph, const FuseOptions *options) {
  Arena scratch;
  Catch here, *outer = graph->arena->catch_point;
  graph_require_stack(graph);
  arena_init(&scratch, &here);
  graph->arena->catch_point = &here;
  if (catch_enter(&here)) fuse_in(graph, &scratch, options);
  graph->arena->catch_point = outer;
  arena_dispose(&scratch);
  if (here.status) catch_throw(outer, here.status);
  GRAPH_LOG_DUMP(LOG_NAME, "After Fusion: ", graph);
}
