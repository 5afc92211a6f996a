/* The graph fuser and chunks: those in the way of fusion move in front of what they cut, and become the first nodes of
 * groups. */
#include <assert.h>

#include "fuse/graph_fuser.h"

/* ---- chunks in the way ---- */

static bool used_only_by(const Node *node, const Node *user) {
  for (uint32_t i = 0; i < node->output_count; i++)
    for (size_t k = 0; k < node_output(node, i)->uses.length; k++)
      if (node_output(node, i)->uses.data[k].user != user) return false;
  return true;
}

static bool used_only_by_or_size(const Value *value, const Node *user) {
  for (size_t i = 0; i < value->uses.length; i++)
    if (value->uses.data[i].user != user && !fuser_is_size_of(value->uses.data[i].user)) return false;
  return true;
}

/* prim::ConstantChunk becomes the kind that takes several inputs. */
static Node *broadcasting_chunk(GraphFuser *f, Node *chunk) {
  if (chunk->kind == SYM_prim_BroadcastingChunk) return chunk;
  Node *wide = graph_create(f->graph, SYM_prim_BroadcastingChunk, 1, (Value *[]){node_input(chunk, 0)}, 0);
  node_copy_metadata(wide, chunk);
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

/* An aten::size of what is going away is that of its tensor inputs, broadcast. */
static void replace_sizes_of(GraphFuser *f, Node *producer) {
  Value *output = node_output(producer, 0);
  if (!value_has_uses(output)) return;
  graph_set_insert_point(f->graph, producer);
  Value **sizes = ARENA_ARRAY(f->scratch, Value *, producer->input_count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < producer->input_count; i++)
    if (value_is_tensor(node_input(producer, i))) sizes[count++] = fuser_insert_size(f, node_input(producer, i));
  fuser_replace_size_uses(f, output, fuser_broadcast_sizes_of(f, count, sizes));
}

/* Puts the operator that makes an input of the chunk after it, once for each piece. */
static void move_after_chunk(GraphFuser *f, Node *chunk, uint32_t position) {
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
    node_copy_metadata(copy, producer);
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

bool fuser_try_move_chunk(GraphFuser *f, Node *consumer, Value *value) {
  Node *chunk = value->node;
  if (chunk->kind != SYM_prim_ConstantChunk && chunk->kind != SYM_prim_BroadcastingChunk) return false;
  bool is_shared = !used_only_by(chunk, consumer);
  Reason reason = REASON_COUNT;
  uint32_t i = 0;
  for (; i < chunk->input_count; i++) {
    Value *input = node_input(chunk, i);
    if (!is_fusable(f, input->node) || is_group(input->node) || fuse_is_line(input->node) || fuse_is_write(input->node))
      continue;
    if (is_shared || !used_only_by_or_size(input, chunk))
      reason = REASON_NOT_FUSED_PIECES;
    else if (!may_broadcast_before(input->node))
      reason = REASON_NOT_FUSED_UNKNOWN_TYPE;
    else if (!alias_move_before(f->alias, input->node, chunk)) /* what it reads may be written in between */
      reason = REASON_NOT_FUSED_ALIASING;
    else
      break;
  }
  if (i == chunk->input_count) return reason != REASON_COUNT && fuser_refuse(f, chunk, reason);
  if (!fuser_may_rewrite(f, chunk, "moves in front of what it cuts ")) return false;
  move_after_chunk(f, broadcasting_chunk(f, chunk), i);
  return true;
}

Node *fuser_chunk_inside(const Node *group, const Value *value) {
  Graph *subgraph = subgraph_of(group);
  for (uint32_t i = 0; i < group->input_count; i++) {
    if (node_input(group, i) != value) continue;
    Value *inner = graph_input(subgraph, i);
    for (size_t k = 0; k < inner->uses.length; k++)
      if (inner->uses.data[k].user->kind == SYM_prim_ConstantChunk) return inner->uses.data[k].user;
  }
  return NULL;
}

/* ---- chunks at the start of a group ---- */

void fuser_finish_chunk(GraphFuser *f, Node *chunk) {
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
  node_copy_metadata(list, chunk);
  node_copy_metadata(broadcast, chunk);
  node_copy_metadata(unpack, chunk);
  alias_add_node(f->alias, list);
  alias_add_node(f->alias, broadcast);
  graph_set_insert_point(f->graph, chunk->next);
  for (uint32_t i = 0; i < count; i++) {
    alias_replace_value(f->alias, inputs[i], node_output(unpack, i));
    Node *one = graph_insert_node(
        f->graph, graph_create(f->graph, SYM_prim_ConstantChunk, 1, (Value *[]){node_output(unpack, i)}, 0));
    node_copy_metadata(one, chunk);
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
  Node *inside = fuser_chunk_inside(group, node_input(chunk, 0));
  if (!inside) {
    if (!alias_move_before(f->alias, chunk, group)) return fuser_refuse(f, chunk, REASON_NOT_FUSED_ALIASING) != NULL;
    fuser_merge_node(f, group, chunk);
    node_destroy(chunk);
    return true;
  }
  if (inside->output_count != chunk->output_count || node_int(inside, SYM_attr_dim) != node_int(chunk, SYM_attr_dim))
    return fuser_refuse(f, chunk, REASON_NOT_FUSED_PIECES) != NULL;
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

void fuser_fuse_chunks(GraphFuser *f, Node *group) {
  for (bool changed = true; changed;) {
    changed = false;
    Value **inputs;
    uint32_t count = fuser_inputs_latest_first(f, group, &inputs);
    for (uint32_t i = 0; i < count && !changed; i++) changed = try_fuse_chunk(f, group, inputs[i]->node);
  }
}
