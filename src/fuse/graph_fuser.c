/* The pass that makes prim::FusionGroup nodes. From the end of each block, a pointwise node or group takes in the
 * producers of its inputs, latest first, as long as they can be moved in front of it; what uses remain of a producer
 * are served by a further output of the group. A chunk between is moved in front of its producer first: chunk(op(x, y))
 * becomes op over the chunks of x and y, broadcast against each other, and the chunks end up as the first nodes of the
 * group. A cat of a group's results becomes its last node. Of intermediates whose size alone is used, the size is
 * computed from those of the group's inputs.
 *
 * Relies on AliasDb for moves. Keeps: every group computes pure functions of its inputs, and its Subgraph run node by
 * node does the same. */
#include "fuse/graph_fuser.h"

#include <assert.h>

#include "fuse/fuse.h"
#include "fuse/group.h"
#include "ir/graph_log.h"

enum { DEFAULT_ARGUMENT_LIMIT = 32, GROUP_NODE_LIMIT = 96 };

bool fuser_may_rewrite(GraphFuser *f, const Node *node, const char *what) {
  if (f->stopped || !jit_opt_limit(FILE_NAME)) {
    f->stopped = true;
    return false;
  }
  NODE_LOG_UPDATE(FILE_NAME, what, node);
  return true;
}

static bool is_used_once(const Value *value) {
  for (size_t i = 1; i < value->uses.length; i++)
    if (value->uses.data[i].user != value->uses.data[0].user) return false;
  return true;
}

/* Self is memory that was made in this block, and every name it had since is used by the next write alone. */
bool fuser_owns_self(const GraphFuser *f, const Node *node) {
  const Value *self = node_input(node, 0);
  for (; is_used_once(self) && self->node->owning_block == f->block; self = node_input(self->node, 0)) {
    if (is_group(self->node)) return true;
    if (is_sentinel(self->node) || self->node->block_count || self->node->kind == SYM_prim_Constant) return false;
    if (alias_is_fresh(f->alias, self)) return true;
    if (!fuse_is_write(self->node) || !value_is_tensor(node_input(self->node, 0))) return false;
  }
  return false;
}

static uint32_t node_count(const Graph *graph) {
  uint32_t count = 0;
  BLOCK_EACH(node, graph->block) count += node->kind != SYM_prim_Constant;
  return count;
}

static bool is_too_large(const GraphFuser *f, const Node *consumer, const Node *producer) {
  uint32_t arguments = consumer->input_count + consumer->output_count + producer->input_count + producer->output_count;
  if (arguments > f->argument_limit) return true;
  uint32_t nodes = (is_group(consumer) ? node_count(subgraph_of(consumer)) : 1) +
                   (is_group(producer) ? node_count(subgraph_of(producer)) : 1);
  return nodes > GROUP_NODE_LIMIT;
}

/* How many dimensions the lines of a node are along; 0: it has none. */
static int line_dims(const Node *node) {
  if (fuse_is_line(node)) return fuse_line_of(node).dim_count;
  if (!is_group(node)) return 0;
  BLOCK_EACH(inner, subgraph_of(node)->block)
  if (fuse_is_line(inner)) return fuse_line_of(inner).dim_count;
  return 0;
}

/* Whether the node makes the value by a reduction without the dimensions of a line. */
static bool makes_dropped(const Node *node, const Value *value) {
  if (is_group(node)) {
    const Value *inner = graph_output(subgraph_of(node), value->offset);
    return inner->node->owning_block == subgraph_of(node)->block && makes_dropped(inner->node, inner);
  }
  return fuse_is_line(node) && fuse_line_of(node).drops;
}
static bool takes_dropped(const Node *consumer, const Node *producer) {
  for (uint32_t i = 0; i < consumer->input_count; i++)
    if (node_input(consumer, i)->node == producer && makes_dropped(producer, node_input(consumer, i))) return true;
  return false;
}

/* Within a group, only inputs are cut, what a cat gives is used no more, and neither is what has lost its lines. */
static Reason why_not_merge(const GraphFuser *f, const Node *consumer, const Node *producer) {
  int consumer_dims = line_dims(consumer), producer_dims = line_dims(producer);
  if (takes_dropped(consumer, producer) || (consumer_dims && producer_dims && consumer_dims != producer_dims))
    return REASON_NOT_FUSED_DIMENSIONS;
  if (is_group(producer)) {
    Graph *subgraph = subgraph_of(producer);
    for (uint32_t i = 0; i < graph_output_count(subgraph); i++)
      if (graph_output(subgraph, i)->node->kind == SYM_prim_FusedConcat) return REASON_NOT_FUSED_CONCATENATION;
  }
  if (is_group(consumer))
    for (uint32_t i = 0; i < producer->output_count; i++)
      if (fuser_chunk_inside(consumer, node_output(producer, i))) return REASON_NOT_FUSED_PIECES;
  return is_too_large(f, consumer, producer) ? REASON_NOT_FUSED_LIMIT : REASON_COUNT;
}

Node *fuser_refuse(GraphFuser *f, const Node *node, Reason reason) {
  assert(reason < REASON_COUNT);
  void *mark = (void *)(uintptr_t)(reason + 1);
  if (f->stopped || ptrmap_get(&f->refused, node) == mark) return NULL;
  ptrmap_put(&f->refused, node, mark);
  node_refused(FILE_NAME, node, reason);
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

/* What makes an operand, but is no part of groups, or is after a guard. */
static Node *refuse_maker(GraphFuser *f, const Value *value) {
  const Node *node = maker_of(value);
  if (node->owning_block != f->block || is_sentinel(node)) return NULL;
  Reason reason = is_fusable(f, node)       ? REASON_NOT_FUSED_GUARD
                  : fuse_is_pointwise(node) ? REASON_NOT_FUSED_WRITES
                                            : fuse_why_not_operator(node);
  return reason == REASON_COUNT ? NULL : fuser_refuse(f, node, reason);
}

/* Takes the producer of one of consumer's inputs into its group; returns the group, or NULL where that can't be. */
static Node *try_fuse(GraphFuser *f, Node *consumer, Value *value) {
  Node *producer = value->node;
  if (!is_fusable(f, producer)) return refuse_maker(f, value);
  Reason reason = why_not_merge(f, consumer, producer);
  if (reason != REASON_COUNT) return fuser_refuse(f, producer, reason);
  if (!alias_move_before(f->alias, producer, consumer)) return fuser_refuse(f, producer, REASON_NOT_FUSED_ALIASING);
  if (!fuser_may_rewrite(f, producer, "fuses ")) return NULL;
  Node *group = is_group(consumer) ? consumer : fuser_singleton_group(f, consumer);
  if (is_group(producer)) {
    fuser_merge_groups(f, group, producer);
    return group;
  }
  Node *merged = fuser_merge_node(f, group, producer);
  if (value_has_uses(value)) fuser_add_group_output(f, group, node_output(merged, 0), value);
  node_destroy(producer);
  return group;
}

uint32_t fuser_inputs_latest_first(const GraphFuser *f, const Node *node, Value ***out) {
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

/* Looks at one node; returns the one to look at next. */
static Node *scan_node(GraphFuser *f, Node *consumer, bool *changed) {
  if (!is_fusable(f, consumer) || f->stopped) return consumer->prev;
  Value **inputs;
  uint32_t count = fuser_inputs_latest_first(f, consumer, &inputs);
  for (uint32_t i = 0; i < count; i++) {
    if (fuser_try_move_chunk(f, consumer, inputs[i])) {
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

/* ---- cat after a group ---- */

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
  if (!any || !fuser_may_rewrite(f, cat, "fuses ")) return cat->prev;
  IValue dim;
  value_is_constant(node_input(cat, 1), &dim);
  Value **parts = ARENA_ARRAY(f->scratch, Value *, list->input_count);
  for (uint32_t i = 0; i < list->input_count; i++) parts[i] = node_input(list, i);
  Node *fused = graph_create(f->graph, SYM_prim_FusedConcat, list->input_count, parts, 1);
  node_copy_metadata(fused, cat);
  node_set_int(fused, SYM_attr_dim, dim.i);
  node_insert_before(fused, cat); /* what stands between the list and it may write */
  copy_metadata(node_output(fused, 0), node_output(cat, 0));
  value_replace_all_uses_with(node_output(cat, 0), node_output(fused, 0));
  node_destroy(cat);
  node_destroy(list);
  Node *group = fuser_singleton_group(f, fused);
  for (bool merged = true; merged;) {
    merged = false;
    Value **inputs;
    uint32_t count = fuser_inputs_latest_first(f, group, &inputs);
    for (uint32_t i = 0; i < count && !merged; i++)
      merged = may_join_cat(f, inputs[i], group) && try_fuse(f, group, inputs[i]);
  }
  return group->prev;
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
static bool comes_after_guard(const GraphFuser *f, const Node *node) {
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
    if (is_fusable(f, node) && !is_group(node))
      fuser_refuse(f, node, comes_after_guard(f, node) ? REASON_NOT_FUSED_GUARD : REASON_NOT_FUSED_ALONE);
    if (is_left_cat(node)) fuser_refuse(f, node, REASON_NOT_FUSED_LIST);
  }
}

/* ---- the whole ---- */

static void clean_subgraph(Graph *subgraph) {
  dead_code_elimination(subgraph);
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
  if (node->kind == SYM_prim_BroadcastingChunk) fuser_finish_chunk(f, node);
  for (Node *node = block->ret->prev; node != block->param; node = node->prev)
    if (is_group(node)) fuser_fuse_chunks(f, node);
  for (Node *node = block->param->next; node != block->ret; node = node->next)
    if (is_group(node)) fuser_remove_outputs_used_in_size(f, node);
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

typedef struct Fusing {
  Graph *graph;
  const FuseOptions *options;
} Fusing;

static void fuse_in(Arena *scratch, void *argument) {
  Graph *graph = ((Fusing *)argument)->graph;
  const FuseOptions *options = ((Fusing *)argument)->options;
  uint32_t limit = options && options->argument_limit ? options->argument_limit : DEFAULT_ARGUMENT_LIMIT;
  GraphFuser fuser = {.graph = graph, .scratch = scratch, .argument_limit = limit};
  fuser.alias = alias_db_new(graph, scratch);
  ptrmap_init(&fuser.refused, scratch);
  fuse_block(&fuser, graph->block);
  graph_set_insert_block(graph, graph->block);
  dead_code_elimination(graph);
  fuser_simplify_sizes(graph->block);
  if (!options || !options->without_callables) fuse_make_callables(graph);
}

void graph_fuser(Graph *graph, const FuseOptions *options) {
  graph_require_stack(graph);
  graph_with_scratch(graph, fuse_in, &(Fusing){graph, options});
  GRAPH_LOG_DUMP(FILE_NAME, "After Fusion: ", graph);
}

PASS_ALSO(graph_fuser, "fuse_graph", RESULTS, graph_fuser(graph, NULL),
          "makes groups of pointwise operators that run as one");
