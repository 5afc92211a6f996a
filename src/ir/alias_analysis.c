/* From nodes to elements, edges and writes. What an operator does to its arguments stands in its schema's alias
 * annotations; other nodes have their rule in the table of kinds (node_kind.h). What goes into a container that is more
 * than looked at goes to the wildcards; what comes out of one comes from there. */
#include "call/operator.h"
#include "ir/alias_internal.h"
#include "ir/node_kind.h"
#include "ir/subgraph.h"
#include "ir/unit.h"

enum { CALL_DEPTH_LIMIT = 32 };

/* ---- elements ---- */

ElementId alias_find(const AliasDb *db, const Value *value) {
  if (!alias_type_is_mutable(value->type)) return ELEMENT_NONE;
  uintptr_t known = 0;
  if (value->node->graph == db->graph)
    known = value->unique < db->unique_capacity ? db->by_unique[value->unique] : 0;
  else
    known = (uintptr_t)ptrmap_get(&db->others, value);
  return known ? (ElementId)(known - 1) : ELEMENT_NONE;
}

static void set_element(AliasDb *db, const Value *value, ElementId element) {
  if (value->node->graph != db->graph) {
    ptrmap_put(&db->others, value, (void *)(uintptr_t)(element + 1));
    return;
  }
  if (value->unique >= db->unique_capacity) {
    size_t capacity = (size_t)value->unique + value->unique / 2 + 16;
    ElementId *grown = ARENA_ARRAY(db->arena, ElementId, capacity);
    memcpy(grown, db->by_unique, db->unique_capacity * sizeof *grown);
    db->by_unique = grown;
    db->unique_capacity = capacity;
  }
  db->by_unique[value->unique] = element + 1;
}

/* A location at first. */
ElementId alias_declare(AliasDb *db, const Value *value) {
  ElementId element = alias_find(db, value);
  if (element != ELEMENT_NONE || !alias_type_is_mutable(value->type)) return element;
  element = memory_dag_new_element(&db->dag, value, value->type);
  set_element(db, value, element);
  return element;
}

ElementId alias_wildcard_value(AliasDb *db, const Value *value) {
  ElementId element = alias_declare(db, value);
  if (element != ELEMENT_NONE) memory_dag_point(&db->dag, element, memory_dag_wildcard(&db->dag, value->type));
  return element;
}

static void point(AliasDb *db, const Value *from, const Value *to) {
  ElementId a = alias_declare(db, from);
  if (a == ELEMENT_NONE) return;
  ElementId b = alias_declare(db, to);
  if (b == ELEMENT_NONE)
    alias_wildcard_value(db, from);
  else
    memory_dag_point(&db->dag, a, b);
}

static bool is_location_type(AliasDb *db, const Type *type) {
  ElementId wildcard = memory_dag_wildcard(&db->dag, type);
  return wildcard != ELEMENT_ANY && wildcard != ELEMENT_NONE && db->dag.elements.data[wildcard].is_wildcard;
}

/* Memory that nobody else has; of a container, what it holds comes from anywhere. */
static void give_fresh(AliasDb *db, const Value *value) {
  if (!alias_type_is_mutable(value->type)) return;
  if (!is_location_type(db, value->type)) {
    alias_wildcard_value(db, value);
    return;
  }
  ElementId element = alias_declare(db, value);
  const Type *type = db->dag.elements.data[element].type;
  if (type->kind == TYPE_TENSOR) return;
  if (!type->count) {
    memory_dag_contain(&db->dag, element, ELEMENT_ANY);
    return;
  }
  for (uint32_t i = 0; i < type->count; i++)
    memory_dag_contain(&db->dag, element, memory_dag_wildcard(&db->dag, type->elements[i]));
}

static void escape(AliasDb *db, const Value *value) {
  memory_dag_escape(&db->dag, alias_declare(db, value));
}

static void add_write(AliasDb *db, const Node *node, ElementId element, WriteReach reach) {
  if (element == ELEMENT_NONE) return;
  uintptr_t first = (uintptr_t)ptrmap_get(&db->writers, node);
  vec_arena_push(db->arena, &db->writes, ((AliasWrite){node, element, reach, (uint32_t)first}));
  ptrmap_put(&db->writers, node, (void *)(uintptr_t)db->writes.length);
}

/* ---- operators ---- */

static bool may_return_argument(const Node *node) {
  const Operator *op = node_operator(node);
  return op && operator_may_return_argument(op);
}

static bool is_plain_result(const Type *type) {
  return type->kind == TYPE_TENSOR || !type_may_be_mutable(type);
}

/* The container is only looked at: nothing that the user gives can be one of its elements. */
static bool is_harmless_use(const AliasDb *db, const Use *use) {
  const Node *user = use->user;
  if (user->kind == SYM_prim_Return) return user->owning_block == db->graph->block;
  if (user->block_count || !str_is(symbol_space(user->kind), "aten")) return false;
  const FunctionSchema *schema = node_schema(user);
  if (!schema || use->offset >= schema->argument_count || schema->arguments[use->offset].alias ||
      schema->arguments[use->offset].type->has_var || may_return_argument(user))
    return false;
  for (uint32_t i = 0; i < schema->return_count; i++)
    if (!is_plain_result(schema->returns[i].type)) return false;
  return true;
}

static void analyze_container(AliasDb *db, const Node *node) {
  const Value *container = node_output(node, 0);
  if (!alias_type_is_mutable(container->type)) return;
  bool harmless = is_location_type(db, container->type);
  for (size_t i = 0; i < container->uses.length && harmless; i++)
    harmless = is_harmless_use(db, &container->uses.data[i]);
  if (!harmless) {
    give_fresh(db, container);
    for (uint32_t i = 0; i < node->input_count; i++) escape(db, node_input(node, i));
    return;
  }
  ElementId element = alias_declare(db, container);
  for (uint32_t i = 0; i < node->input_count; i++)
    memory_dag_contain(&db->dag, element, alias_declare(db, node_input(node, i)));
}

static const Argument *find_letters(const FunctionSchema *schema, uint32_t letters, uint32_t from, uint32_t *at) {
  for (uint32_t i = from; i < schema->argument_count; i++)
    if (schema->arguments[i].alias && schema->arguments[i].alias->before & letters & ~ALIAS_WILDCARD) {
      *at = i;
      return &schema->arguments[i];
    }
  return NULL;
}

static void analyze_return(AliasDb *db, const Node *node, const FunctionSchema *schema, uint32_t at) {
  const Value *output = node_output(node, at);
  if (!alias_type_is_mutable(output->type)) return;
  const AliasInfo *alias = at < schema->return_count ? schema->returns[at].alias : NULL;
  uint32_t letters = alias ? alias->before : 0, from = 0;
  if (letters & ALIAS_WILDCARD || (alias && alias->after & ALIAS_WILDCARD)) {
    alias_wildcard_value(db, output);
    return;
  }
  bool points = false;
  for (uint32_t i; letters && find_letters(schema, letters, from, &i); from = i + 1) {
    if (i >= node->input_count || !alias_type_is_mutable(node_input(node, i)->type)) continue;
    point(db, output, node_input(node, i));
    points = true;
  }
  if (points) return;
  give_fresh(db, output);
  if (!alias || !alias->contained) return;
  for (uint32_t i = 0; i < node->input_count && i < schema->argument_count; i++) {
    const AliasInfo *of = schema->arguments[i].alias;
    if (of && (of->before | of->contained) & alias->contained) escape(db, node_input(node, i));
  }
}

static void analyze_operator(AliasDb *db, const Node *node, const FunctionSchema *schema) {
  for (uint32_t i = 0; i < node->input_count && i < schema->argument_count; i++) {
    const AliasInfo *alias = schema->arguments[i].alias;
    bool is_write = node_writes_to(node, i);
    if (!alias && !is_write) continue;
    ElementId element = alias_declare(db, node_input(node, i));
    if (element == ELEMENT_NONE) continue;
    if (is_write) add_write(db, node, element, WRITE_SELF);
    if (!alias) continue;
    if (alias->contained_write) add_write(db, node, element, WRITE_CONTAINED);
    if ((alias->before | alias->after | alias->contained) & ALIAS_WILDCARD) memory_dag_escape(&db->dag, element);
  }
  for (uint32_t i = 0; i < node->output_count; i++) analyze_return(db, node, schema, i);
  if (!node->output_count || schema->is_mutable || !may_return_argument(node)) return;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const Value *input = node_input(node, i);
    if (!alias_type_is_mutable(input->type)) continue;
    if (input->type->kind == TYPE_TENSOR && node_output(node, 0)->type->kind == TYPE_TENSOR) {
      point(db, node_output(node, 0), input);
    } else {
      escape(db, input);
      for (uint32_t o = 0; o < node->output_count; o++)
        if (node_output(node, o)->type->kind == TYPE_TENSOR) alias_wildcard_value(db, node_output(node, o));
    }
  }
}

/* ---- calls ---- */

/* Nothing is known: all that can be reached is written to and may come out again. */
static void analyze_unknown(AliasDb *db, const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++) {
    ElementId element = alias_declare(db, node_input(node, i));
    if (element == ELEMENT_NONE) continue;
    add_write(db, node, element, WRITE_REACHABLE);
    memory_dag_escape(&db->dag, element);
  }
  add_write(db, node, ELEMENT_ANY, WRITE_SELF);
  for (uint32_t i = 0; i < node->output_count; i++) alias_wildcard_value(db, node_output(node, i));
}

/* Reads at most: what goes in may come out. */
static void analyze_reader(AliasDb *db, const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++) escape(db, node_input(node, i));
  for (uint32_t i = 0; i < node->output_count; i++) alias_wildcard_value(db, node_output(node, i));
}

static const Graph *called_graph(const Node *node) {
  if (!node->input_count) return NULL;
  const Type *type = node_input(node, 0)->type;
  if (node->kind == SYM_prim_CallFunction) return type->kind == TYPE_FUNCTION ? type->function->graph : NULL;
  if (node->kind != SYM_prim_CallMethod || type->kind != TYPE_CLASS || !node_attribute(node, SYM_attr_name))
    return NULL;
  const Function *method = class_type_find_method(type->class_type, node_string(node, SYM_attr_name));
  return method ? method->graph : NULL;
}

static bool graph_only_reads(AliasDb *db, const Graph *graph, int depth);
static bool block_only_reads(AliasDb *db, const Block *block, int depth) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++)
      if (!block_only_reads(db, node->blocks[i], depth)) return false;
    const NodeKind *kind = node_kind(node->kind);
    if (kind->effect == EFFECT_CALLS) {
      if (!graph_only_reads(db, called_graph(node), depth + 1)) return false;
      continue;
    }
    if (kind->effect == EFFECT_WRITES || kind->effect == EFFECT_RUNS) return false;
    const Graph *subgraph = node_acting_subgraph(node);
    if (subgraph && !graph_only_reads(db, subgraph, depth + 1)) return false;
    if (node_writes(node)) return false;
  }
  return true;
}

static bool graph_only_reads(AliasDb *db, const Graph *graph, int depth) {
  static const char reads, writes;
  if (!graph || depth > CALL_DEPTH_LIMIT) return false;
  const void *known = ptrmap_get(&db->calls, graph);
  if (known) return known == &reads;
  ptrmap_put(&db->calls, graph, (void *)&writes); /* while it is being looked at: recursion */
  bool result = block_only_reads(db, graph->block, depth);
  ptrmap_put(&db->calls, graph, (void *)(result ? &reads : &writes));
  return result;
}

/* ---- control flow ---- */

static void analyze_if(AliasDb *db, const Node *node) {
  for (uint32_t b = 0; b < node->block_count; b++) alias_analyze_block(db, node->blocks[b]);
  for (uint32_t i = 0; i < node->output_count; i++)
    for (uint32_t b = 0; b < node->block_count; b++) point(db, node_output(node, i), block_output(node->blocks[b], i));
}

static void analyze_loop(AliasDb *db, const Node *node) {
  const Block *body = node->blocks[0];
  for (uint32_t i = 1; i < block_input_count(body); i++) point(db, block_input(body, i), node_input(node, i + 1));
  alias_analyze_block(db, body);
  for (uint32_t i = 0; i < node->output_count; i++) {
    point(db, block_input(body, i + 1), block_output(body, i + 1));
    point(db, node_output(node, i), block_output(body, i + 1));
    point(db, node_output(node, i), node_input(node, i + 2));
  }
}

/* What the graph gives beyond the node's results, a differentiable one keeps for its gradient. */
static void analyze_subgraph(AliasDb *db, const Node *node, const Graph *graph) {
  if (graph_input_count(graph) != node->input_count || graph_output_count(graph) < node->output_count) {
    analyze_unknown(db, node);
    return;
  }
  for (uint32_t i = 0; i < node->input_count; i++) point(db, graph_input(graph, i), node_input(node, i));
  alias_analyze_block(db, graph->block);
  for (uint32_t i = 0; i < node->output_count; i++) point(db, node_output(node, i), graph_output(graph, i));
}

static void analyze_fork(AliasDb *db, const Node *node) {
  const NodeAttribute *subgraph = node_attribute(node, SYM_attr_Subgraph);
  for (uint32_t i = 0; i < node->input_count; i++) escape(db, node_input(node, i));
  if (!subgraph || !graph_only_reads(db, subgraph->g, 0)) add_write(db, node, ELEMENT_ANY, WRITE_SELF);
  for (uint32_t i = 0; i < node->output_count; i++) give_fresh(db, node_output(node, i));
}

/* Blocks of other nodes: what comes in is unknown. */
static void analyze_blocks(AliasDb *db, const Node *node) {
  for (uint32_t b = 0; b < node->block_count; b++) {
    for (uint32_t i = 0; i < block_input_count(node->blocks[b]); i++)
      alias_wildcard_value(db, block_input(node->blocks[b], i));
    alias_analyze_block(db, node->blocks[b]);
    for (uint32_t i = 0; i < block_output_count(node->blocks[b]); i++) escape(db, block_output(node->blocks[b], i));
  }
  for (uint32_t i = 0; i < node->input_count; i++) escape(db, node_input(node, i));
  for (uint32_t i = 0; i < node->output_count; i++) alias_wildcard_value(db, node_output(node, i));
}

/* Without a rule of its own. */
static void analyze_by_schema(AliasDb *db, const Node *node) {
  const Graph *subgraph = node_acting_subgraph(node);
  const FunctionSchema *schema;
  if (subgraph)
    analyze_subgraph(db, node, subgraph);
  else if (node->block_count)
    analyze_blocks(db, node);
  else if ((schema = node_schema(node)))
    analyze_operator(db, node, schema);
  else
    analyze_unknown(db, node);
}

void alias_analyze_node(AliasDb *db, const Node *node) {
  const NodeKind *kind = node_kind(node->kind);
  db->sets_mode |= (kind->flags & KIND_SETS_MODE) != 0;
  db->may_be_seen |= node_may_be_seen(node);
  switch ((NodeAliasing)kind->aliasing) {
    case ALIASES_BY_SCHEMA:
      analyze_by_schema(db, node);
      return;
    case ALIASES_NOTHING:
      for (uint32_t i = 0; i < node->output_count; i++) give_fresh(db, node_output(node, i));
      return;
    case ALIASES_FIRST:
      for (uint32_t i = 0; i < node->output_count; i++) point(db, node_output(node, i), node_input(node, 0));
      return;
    case ALIASES_OUTSIDE:
      for (uint32_t i = 0; i < node->output_count; i++) alias_wildcard_value(db, node_output(node, i));
      return;
    case ALIASES_INPUTS:
      analyze_reader(db, node);
      return;
    case ALIASES_CONTAINS:
      analyze_container(db, node);
      return;
    case ALIASES_STORES:
      add_write(db, node, alias_declare(db, node_input(node, 0)), WRITE_SELF);
      escape(db, node_input(node, 1));
      return;
    case ALIASES_BRANCHES:
      analyze_if(db, node);
      return;
    case ALIASES_ITERATES:
      analyze_loop(db, node);
      return;
    case ALIASES_FORKS:
      analyze_fork(db, node);
      return;
    case ALIASES_WAITS:
      add_write(db, node, ELEMENT_ANY, WRITE_SELF);
      analyze_reader(db, node);
      return;
    case ALIASES_CALLS:
      if (graph_only_reads(db, called_graph(node), 0))
        analyze_reader(db, node);
      else
        analyze_unknown(db, node);
      return;
  }
}

void alias_analyze_block(AliasDb *db, const Block *block) {
  BLOCK_EACH(node, block) alias_analyze_node(db, node);
}
