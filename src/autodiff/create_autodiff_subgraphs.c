/* Splits off the parts of a graph that can be differentiated as graphs. From the end of each block, a node that can be
 * takes its producers in, the nearest first, as long as they can be moved next to it; again until nothing changes. Then
 * small parts go back, and views of what comes in or goes out are computed outside: a write into one of two results
 * that share memory must be seen by eager gradients. */
#include <assert.h>

#include "autodiff/differentiate.h"
#include "autodiff/differentiate_internal.h"
#include "call/call_plan.h"
#include "call/row.h"
#include "ir/graph_log.h"
#include "ir/subgraph.h"

#define FILE_NAME "create_autodiff_subgraphs"

/* ---- what can be differentiated ---- */

/* Why the operator's gradient can't go into a graph, whatever its gradient; REASON_COUNT: it could. */
static Reason why_not_operator(const Node *node, const Operator *op) {
  const CallPlan *plan;
  if (op->flags & OP_SIDE_EFFECTS) return REASON_NOT_DIFFERENTIATED_EFFECTS;
  if (op->variant != VARIANT_FUNCTIONAL) return REASON_NOT_DIFFERENTIATED_WRITES;
  if (op->flags & OP_EAGER_ONLY) return REASON_NOT_DIFFERENTIATED_EAGER_ONLY;
  Status status = call_plan(op, &plan);
  if (status) {
    status_free(status);
    return REASON_NOT_DIFFERENTIATED_NO_FORMULA;
  }
  if (plan->writes) return REASON_NOT_DIFFERENTIATED_WRITES;
  return node->input_count > CALL_MAX_INPUTS ? REASON_NOT_DIFFERENTIATED_LIMIT : REASON_COUNT;
}

static const Operator *graph_operator(const Node *node) {
  if (node->block_count || node->callable) return NULL;
  const Operator *op = node_operator(node);
  return op && why_not_operator(node, op) == REASON_COUNT ? op : NULL;
}

Formula *node_formula(const Node *node) {
  const Operator *op = graph_operator(node);
  Formula *formula = NULL;
  if (op) status_free(formula_of_graphs(op, &formula));
  return formula;
}

static bool gives_tensors(const Node *node) {
  if (node->output_count == 1 && type_is_tensor_list(node_output(node, 0)->type)) {
    const Value *list = node_output(node, 0); /* taken apart at once */
    return list->uses.length == 1 && list->uses.data[0].user->kind == SYM_prim_ListUnpack;
  }
  for (uint32_t i = 0; i < node->output_count; i++)
    if (node_output(node, i)->type->kind != TYPE_TENSOR) return false;
  return node->output_count > 0;
}

/* Lists of tensors come from a node that can go along. */
static bool takes_tensors(const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++) {
    const Value *input = node_input(node, i);
    if (type_is_tensor_list(input->type) && input->node->kind != SYM_prim_ListConstruct &&
        !value_is_constant(input, NULL))
      return false;
  }
  return true;
}

/* Lists of tensors that are made for operators which can be differentiated. */
static bool is_list_for_operators(const Node *node) {
  const Value *list = node_output(node, 0);
  if (!type_is_tensor_list(list->type) || !value_has_uses(list)) return false;
  for (size_t i = 0; i < list->uses.length; i++) {
    const Node *user = list->uses.data[i].user;
    if (user->kind == SYM_prim_DifferentiableGraph || user->owning_block != node->owning_block) continue;
    if (user->kind == SYM_prim_ListUnpack || !node_is_differentiable(user)) return false;
  }
  return true;
}

/* REASON_COUNT: the node can be differentiated. */
static Reason why_not_differentiable(const Node *node) {
  if (node->kind == SYM_prim_ConstantChunk) return REASON_COUNT;
  if (node->kind == SYM_prim_ListUnpack) {
    const Value *list = node_input(node, 0);
    bool fine = type_is_tensor_list(list->type) && list->uses.length == 1 && node_formula(list->node) &&
                node_is_differentiable(list->node);
    return fine ? REASON_COUNT : REASON_NOT_DIFFERENTIATED_LIST;
  }
  if (node_is_expanded(node)) return REASON_COUNT;
  const Operator *op = node->block_count || node->callable ? NULL : node_operator(node);
  if (!op) return REASON_NOT_DIFFERENTIATED_CONTROL_FLOW;
  Reason reason = why_not_operator(node, op);
  if (reason != REASON_COUNT) return reason;
  if (!gives_tensors(node) || !takes_tensors(node)) return REASON_NOT_DIFFERENTIATED_LIST;
  bool fine = op->row->grad ? node_formula(node) != NULL : op->row->lower && op->flags & OP_NOT_DIFFERENTIABLE;
  return fine ? REASON_COUNT : REASON_NOT_DIFFERENTIATED_NO_FORMULA;
}

bool node_is_differentiable(const Node *node) {
  return why_not_differentiable(node) == REASON_COUNT;
}

static bool may_merge(const Node *node) {
  if (node->kind == SYM_prim_DifferentiableGraph) return true;
  if (node->kind == SYM_prim_Constant) return false;
  if (node->kind == SYM_prim_ListConstruct) return is_list_for_operators(node);
  return node_is_differentiable(node);
}

/* ---- merging ---- */

typedef struct Slicer {
  Graph *graph;
  Node *floor; /* nothing is taken in from before it */
  AliasDb *db;
  Arena *scratch;
  uint32_t threshold;
  PtrMap refused; /* node -> the Reason that was last counted for it, plus one: rounds ask again */
} Slicer;

/* The producers of a group's inputs in its block, the latest first. */
static uint32_t producers_of(const Node *group, Arena *scratch, Node ***out) {
  Node **nodes = ARENA_ARRAY(scratch, Node *, group->input_count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < group->input_count; i++) {
    Node *node = node_input(group, i)->node;
    if (node->owning_block != group->owning_block || node == group->owning_block->param ||
        node->kind == SYM_prim_Constant)
      continue;
    uint32_t at = count;
    while (at > 0 && nodes[at - 1]->position < node->position) at--;
    if (at > 0 && nodes[at - 1] == node) continue;
    memmove(nodes + at + 1, nodes + at, (count - at) * sizeof *nodes);
    nodes[at] = node;
    count++;
  }
  *out = nodes;
  return count;
}

static void refuse(Slicer *s, const Node *node, Reason reason) {
  assert(reason < REASON_COUNT);
  void *mark = (void *)(uintptr_t)(reason + 1);
  if (ptrmap_get(&s->refused, node) == mark) return;
  ptrmap_put(&s->refused, node, mark);
  node_refused(FILE_NAME, node, reason);
}

/* What was refused stays refused, whatever of before it is merged: `refused` is the earliest that was. */
static bool merge_producer(Slicer *s, Node *group, Node **refused) {
  Node **producers;
  uint32_t count = producers_of(group, s->scratch, &producers);
  for (uint32_t i = 0; i < count; i++) {
    Node *producer = producers[i];
    if (*refused && !node_is_before(producer, *refused)) continue;
    if (!may_merge(producer)) continue;
    if (s->floor && node_is_before(producer, s->floor)) {
      refuse(s, producer, REASON_NOT_DIFFERENTIATED_GRAD_MODE);
      *refused = producer;
      continue;
    }
    if (!alias_move_before(s->db, producer, group)) {
      refuse(s, producer, REASON_NOT_DIFFERENTIATED_ALIASING);
      *refused = producer;
      continue;
    }
    subgraph_merge(group, producer, s->db);
    return true;
  }
  return false;
}

/* Grad mode may be another one after it. */
static bool is_barrier(const Node *node) {
  if (node_may_change_grad_mode(node) || node->kind == SYM_prim_CallFunction || node->kind == SYM_prim_CallMethod)
    return true;
  for (uint32_t i = 0; i < node->block_count; i++)
    BLOCK_EACH(inner, node->blocks[i]) if (is_barrier(inner)) return true;
  return false;
}

static Node *barrier_before(const Node *node) {
  for (Node *n = node->prev; n != node->owning_block->param; n = n->prev)
    if (is_barrier(n)) return n;
  return NULL;
}

static bool slice_once(Slicer *s, Block *block) {
  bool changed = false;
  s->floor = barrier_before(block->ret);
  for (Node *node = block->ret->prev; node != block->param;) {
    if (node == s->floor) {
      s->floor = barrier_before(node);
      node = node->prev;
      continue;
    }
    if (!may_merge(node) || node->kind == SYM_prim_ListConstruct) {
      node = node->prev;
      continue;
    }
    if (node->kind != SYM_prim_DifferentiableGraph) {
      if (!jit_opt_limit(FILE_NAME)) return changed;
      node = subgraph_wrap(node, SYM_prim_DifferentiableGraph, s->db);
      alias_add_node(s->db, node);
      changed = true;
    }
    for (Node *refused = NULL; merge_producer(s, node, &refused);) changed = true;
    node = node->prev;
  }
  return changed;
}

static void slice_block(Slicer *s, Block *block) {
  BLOCK_EACH(node, block)
  for (uint32_t i = 0; i < node->block_count; i++) slice_block(s, node->blocks[i]);
  while (slice_once(s, block)) continue;
}

/* ---- afterwards ---- */

/* The input of the graph, or the node's output, whose memory the value shows, as schemas say. */
static const Value *root_of(const Value *value) {
  for (;;) {
    const Node *node = value->node;
    if (node->kind == SYM_prim_ConstantChunk) {
      value = node_input(node, 0);
      continue;
    }
    if (node->kind == SYM_prim_ListUnpack) {
      value = node_output(node_input(node, 0)->node, 0);
      node = value->node;
    }
    const Operator *op = node_operator(node);
    const CallPlan *plan;
    if (!op || node->kind == SYM_prim_Param) return value;
    Status status = call_plan(op, &plan);
    status_free(status);
    if (status || !plan->is_view || !node->input_count) return value;
    const Value *from = NULL; /* the tensor input whose alias set the outputs share: the first */
    for (uint32_t i = 0; i < node->input_count && !from; i++)
      if (type_is_tensor(node_input(node, i)->type)) from = node_input(node, i);
    if (!from) return value;
    value = from;
  }
}

static bool shares_memory(const Graph *subgraph, uint32_t output) {
  assert(output < graph_output_count(subgraph));
  const Value *value = graph_output(subgraph, output), *root = root_of(value);
  if (root->node->kind == SYM_prim_Param) return true;
  if (root == value) return false;
  for (uint32_t i = 0; i < graph_output_count(subgraph); i++)
    if (i != output && root_of(graph_output(subgraph, i)) == root) return true;
  return false;
}

/* The last of the outputs that have to go. When one goes, all that shows it has gone before and uses the one outside:
 * what may copy (reshape) is there once for all who show its result. */
static bool find_shared_output(const Graph *subgraph, uint32_t *out) {
  const Node *last = NULL;
  for (uint32_t i = 0; i < graph_output_count(subgraph); i++) {
    const Node *node = graph_output(subgraph, i)->node;
    if (!shares_memory(subgraph, i) || node->kind == SYM_prim_ListUnpack) continue;
    if (last && (node->kind == SYM_prim_Param || (last->kind != SYM_prim_Param && !node_is_before(last, node))))
      continue;
    last = node;
    *out = i;
  }
  return last != NULL;
}

static void unmerge_shared_outputs(Node *group) {
  Graph *subgraph = node_subgraph(group);
  for (uint32_t output; find_shared_output(subgraph, &output);) {
    node_refused(FILE_NAME, graph_output(subgraph, output)->node, REASON_NOT_DIFFERENTIATED_ALIASING);
    subgraph_unmerge_output(group, output);
  }
  for (uint32_t i = group->input_count; i-- > 0;)
    if (!value_has_uses(graph_input(subgraph, i))) subgraph_erase_input(group, i);
}

/* Constants and what is taken apart into them don't run. */
uint32_t differ_count_running(const Graph *subgraph) {
  uint32_t count = 0;
  BLOCK_EACH(node, subgraph->block) count += node->kind != SYM_prim_Constant && node->kind != SYM_prim_profile;
  return count;
}

static void clean_up(Slicer *s, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) clean_up(s, node->blocks[i]);
    if (node->kind != SYM_prim_DifferentiableGraph || node->callable) continue;
    if (differ_count_running(node_subgraph(node)) >= s->threshold) unmerge_shared_outputs(node);
    if (differ_count_running(node_subgraph(node)) >= s->threshold) continue;
    refuse(s, node, REASON_NOT_DIFFERENTIATED_TOO_SMALL);
    subgraph_unwrap(node, NULL);
  }
}

/* Whether a gradient could go through: tensors go in, and tensors that may require grad come out. */
static bool is_worth_a_reason(const Node *node) {
  bool takes = false, gives = false;
  if (node->kind == SYM_prim_DifferentiableGraph || node->kind == SYM_prim_Constant) return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    takes |= type_is_tensor(node_input(node, i)->type) || type_is_tensor_list(node_input(node, i)->type);
  for (uint32_t i = 0; i < node->output_count; i++) gives |= type_is_tensor(node_output(node, i)->type);
  return takes && gives && node->kind != SYM_prim_BailOut && node->kind != SYM_prim_Guard;
}

/* What stays outside because of what it is. */
static void explain(Slicer *s, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) explain(s, node->blocks[i]);
    Reason reason = is_worth_a_reason(node) ? why_not_differentiable(node) : REASON_COUNT;
    if (reason != REASON_COUNT) refuse(s, node, reason);
  }
}

typedef struct Slicing {
  Graph *graph;
  uint32_t threshold;
  Arena scratch;
} Slicing;

static void slice(void *argument) {
  Slicing *slicing = argument;
  slicing->scratch.catch_point = slicing->graph->arena->catch_point;
  Slicer s = {.graph = slicing->graph, .scratch = &slicing->scratch, .threshold = slicing->threshold};
  s.db = alias_db_new(s.graph, s.scratch);
  ptrmap_init(&s.refused, s.scratch);
  slice_block(&s, s.graph->block);
  explain(&s, s.graph->block);
  clean_up(&s, s.graph->block);
}

void create_autodiff_subgraphs(Graph *graph, uint32_t threshold) {
  Slicing slicing = {.graph = graph, .threshold = threshold};
  graph_require_stack(graph);
  arena_init(&slicing.scratch, NULL);
  Status status = arena_protect(graph->arena, slice, &slicing);
  arena_dispose(&slicing.scratch);
  if (status) catch_throw(graph->arena->catch_point, status);
  GRAPH_LOG_DUMP(FILE_NAME, "After CreateAutodiffSubgraphs: ", graph);
}

void create_autodiff_subgraphs_of_one(Graph *graph) {
  create_autodiff_subgraphs(graph, 1);
}

PASS(create_autodiff_subgraphs, NOTHING, create_autodiff_subgraphs(graph, AUTODIFF_NODE_THRESHOLD),
     "puts what can be differentiated as a graph into nodes of its own");
PASS(create_autodiff_subgraphs_of_one, NOTHING, create_autodiff_subgraphs_of_one(graph),
     "the same of single operators, too");
