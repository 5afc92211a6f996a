/* Dead code elimination by marking: nodes with effects (drawing random numbers is one: what is drawn later depends on
 * it) and what the graph returns are live, and what they need. Outputs
 * of Ifs and values carried by Loops are marked one by one, so a dead one goes while the others stay. A write is live
 * when something live, or somebody outside, may see the memory. */
#include <assert.h>

#include "ir/alias_db.h"
#include "ir/graph_log.h"
#include "ir/subgraph.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "schema/schema.h"

#define FILE_NAME "dead_code_elimination"

typedef struct Marking {
  Graph *graph;
  Arena *scratch;
  uint32_t mark; /* what bears it is needed */
  VEC(Node *) node_work;
  VEC(Value *) value_work;
  VEC(Node *) writes; /* needed when something needs what they write to */
  AliasMarks *memory; /* what is needed of it; NULL: not asked yet */
} Marking;

static bool is_needed(const Marking *m, const Node *node) {
  return node->mark == m->mark;
}
static bool is_value_needed(const Marking *m, const Value *value) {
  return value->mark == m->mark;
}

static void need_node(Marking *m, Node *node) {
  if (is_needed(m, node)) return;
  node->mark = m->mark;
  vec_arena_push(m->scratch, &m->node_work, node);
}
static void need_value(Marking *m, Value *value) {
  if (is_value_needed(m, value)) return;
  if (m->memory) alias_mark(m->memory, value);
  value->mark = m->mark;
  vec_arena_push(m->scratch, &m->value_work, value);
}

static void need_carried(Marking *m, Node *loop, uint32_t i) {
  need_node(m, loop);
  need_value(m, node_input(loop, i + 2));
  need_value(m, block_output(loop->blocks[0], i + 1));
  need_value(m, block_input(loop->blocks[0], i + 1));
}

static void follow_node(Marking *m, Node *node) {
  Node *owner = node->owning_block ? node->owning_block->owning_node : NULL;
  if (owner) need_node(m, owner);
  uint32_t inputs =
      node->kind == SYM_prim_Loop ? 2 : node->input_count; /* what a Loop carries is needed only if used */
  for (uint32_t i = 0; i < inputs && i < node->input_count; i++) need_value(m, node_input(node, i));
  if (node->kind == SYM_prim_If) return;
  if (node->kind == SYM_prim_Loop) {
    need_value(m, block_output(node->blocks[0], 0));
    for (uint32_t i = 0; i < node->output_count; i++) /* what the body reads stays carried */
      if (value_has_uses(block_input(node->blocks[0], i + 1))) need_carried(m, node, i);
    return;
  }
  for (uint32_t b = 0; b < node->block_count; b++)
    for (uint32_t i = 0; i < block_output_count(node->blocks[b]); i++) need_value(m, block_output(node->blocks[b], i));
}

/* Who writes to a needed value is needed: for most writes that is answer enough. */
static void follow_uses(Marking *m, const Value *value) {
  for (size_t i = 0; i < value->uses.length; i++) {
    Use use = value->uses.data[i];
    if (!is_needed(m, use.user) && node_writes_to(use.user, use.offset)) need_node(m, use.user);
  }
}

static void follow_value(Marking *m, Value *value) {
  Node *node = value->node;
  if (m->writes.length) follow_uses(m, value);
  if (node->kind == SYM_prim_Param) {
    Node *owner = node->owning_block ? node->owning_block->owning_node : NULL;
    if (!owner) return;
    if (owner->kind == SYM_prim_Loop && value->offset > 0) need_carried(m, owner, value->offset - 1);
    need_node(m, owner);
    return;
  }
  need_node(m, node);
  if (node->kind == SYM_prim_If)
    for (int b = 0; b < 2; b++) need_value(m, block_output(node->blocks[b], value->offset));
  else if (node->kind == SYM_prim_Loop)
    need_carried(m, node, value->offset);
}

/* Of a node that runs a graph of its own: whether it is more than its results. */
static bool subgraph_acts(const Node *node);
static bool acts_or_writes(const Node *node) {
  return node_acts(node) || node_writes(node) || subgraph_acts(node);
}
static bool subgraph_acts(const Node *node) {
  const Graph *subgraph = node_acting_subgraph(node);
  return subgraph && node->kind != SYM_prim_Closure && block_any(subgraph->block, acts_or_writes);
}

static void mark_effects(Marking *m, Block *block) {
  BLOCK_EACH(node, block) {
    if (node_acts(node) || subgraph_acts(node))
      need_node(m, node);
    else if (node_writes(node))
      vec_arena_push(m->scratch, &m->writes, node);
    for (uint32_t i = 0; i < node->block_count; i++) mark_effects(m, node->blocks[i]);
  }
}

static void sweep(Marking *m, Block *block);

static void sweep_if(Marking *m, Node *node) {
  assert(node->kind == SYM_prim_If && node->block_count == 2);
  for (uint32_t i = node->output_count; i-- > 0;) {
    if (is_value_needed(m, node_output(node, i))) continue;
    for (int b = 0; b < 2; b++) block_erase_output(node->blocks[b], i);
    node_erase_output(node, i);
  }
  for (int b = 0; b < 2; b++) sweep(m, node->blocks[b]);
}

static void sweep_loop(Marking *m, Node *node) {
  assert(block_input_count(node->blocks[0]) == node->output_count + 1);
  Block *body = node->blocks[0];
  uint32_t count = node->output_count;
  for (uint32_t i = count; i-- > 0;)
    if (!is_value_needed(m, block_input(body, i + 1))) block_erase_output(body, i + 1);
  sweep(m, body);
  for (uint32_t i = count; i-- > 0;) {
    if (is_value_needed(m, block_input(body, i + 1))) continue;
    node_remove_input(node, i + 2);
    node_erase_output(node, i);
    block_erase_input(body, i + 1);
  }
}

/* From the end: the users of a dead node's outputs are gone before it. */
static void sweep(Marking *m, Block *block) {
  BLOCK_EACH_REVERSE(node, block) {
    if (!is_needed(m, node)) {
      NODE_LOG_UPDATE(FILE_NAME, "will be removed:", node);
      node_destroy(node);
    } else if (node->kind == SYM_prim_If)
      sweep_if(m, node);
    else if (node->kind == SYM_prim_Loop)
      sweep_loop(m, node);
    else
      for (uint32_t i = 0; i < node->block_count; i++) sweep(m, node->blocks[i]);
  }
}

static void follow(Marking *m) {
  while (m->node_work.length || m->value_work.length) {
    if (m->value_work.length)
      follow_value(m, vec_pop(&m->value_work));
    else
      follow_node(m, vec_pop(&m->node_work));
  }
}

/* ---- writes ---- */

static void mark_memory(const Marking *m, const Block *block) {
  for (const Node *node = block->param; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->output_count; i++)
      if (is_value_needed(m, node_output(node, i))) alias_mark(m->memory, node_output(node, i));
    for (uint32_t i = 0; i < node->block_count; i++) mark_memory(m, node->blocks[i]);
  }
}

static bool all_are_needed(const Marking *m) {
  for (size_t i = 0; i < m->writes.length; i++)
    if (!is_needed(m, m->writes.data[i])) return false;
  return true;
}

/* The value that the node's first output is, or is a view of; NULL: it is none. */
static const Value *viewed_by(const Node *node) {
  if (node->kind == SYM_prim_profile || node->kind == SYM_prim_Guard || node->kind == SYM_prim_BailOut)
    return node_input(node, 0);
  const FunctionSchema *schema = node->block_count || !node->input_count ? NULL : node_schema(node);
  if (!schema || schema->return_count != 1 || !schema->argument_count) return NULL;
  const AliasInfo *from = schema->arguments[0].alias, *to = schema->returns[0].alias;
  bool is_view = from && to && to->before && to->before == from->before && !(to->before & ALIAS_WILDCARD);
  return is_view ? node_input(node, 0) : NULL;
}

/* Whether it is an object's attribute or a view of one, which the object shows to others. */
static bool is_of_attribute(const Value *value) {
  const Value *next = value;
  do {
    value = next;
    if (value->node->kind == SYM_prim_GetAttr) return true;
  } while ((next = viewed_by(value->node)));
  return false;
}

/* What most writes write to is found without asking what all memory of the graph may be. */
static void need_writes_to_attributes(Marking *m) {
  for (size_t i = 0; i < m->writes.length; i++) {
    Node *write = m->writes.data[i];
    for (uint32_t k = 0; k < write->input_count; k++)
      if (node_writes_to(write, k) && is_of_attribute(node_input(write, k))) need_node(m, write);
  }
  follow(m);
}

/* Writes to needed memory need their operands, which makes more memory needed: that of earlier writes, mostly. */
static void follow_writes(Marking *m) {
  if (all_are_needed(m)) return;
  need_writes_to_attributes(m);
  if (all_are_needed(m)) return;
  m->memory = alias_marks_new(alias_db_new(m->graph, m->scratch));
  mark_memory(m, m->graph->block);
  bool again;
  do {
    again = false;
    for (size_t i = m->writes.length; i-- > 0;) {
      Node *write = m->writes.data[i];
      if (is_needed(m, write) || !alias_node_writes_marked(m->memory, write)) continue;
      need_node(m, write);
      follow(m);
      again = true;
    }
  } while (again);
}

static void eliminate(Arena *scratch, void *argument) {
  Graph *graph = argument;
  Marking m = {.graph = graph, .scratch = scratch, .mark = graph_new_mark(graph)};
  for (uint32_t i = 0; i < graph_output_count(graph); i++) need_value(&m, graph_output(graph, i));
  mark_effects(&m, graph->block);
  follow(&m);
  follow_writes(&m);
  sweep(&m, graph->block);
}

void dead_code_elimination(Graph *graph) {
  if (jit_opt_limit(FILE_NAME)) graph_with_scratch(graph, eliminate, graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After EliminateDeadCode: ", graph);
}

PASS(dead_code_elimination, GRADIENTS, dead_code_elimination(graph), "removes what nothing needs");
