#include "serial/pt2/higher_order.h"

#include "serial/pt2/argument.h"
#include "serial/pt2/weights.h"

enum { MAX_OPERANDS = 4096, MAX_CONDITION_DEPTH = 4 };

typedef struct Values {
  uint32_t count;
  Value **items;
} Values;

/* ---- a node's arguments, by position ---- */

static const Json *argument_at(const Pt2Builder *b, const Json *node, uint32_t i) {
  const Json *e = json_first(json_array(node, "inputs"));
  for (uint32_t k = 0; e && k < i; k++) e = json_next(e);
  const Json *argument = json_get(e, "arg");
  if (!argument) pt2_fail(b, ERROR_DATA, "argument %u is missing", i);
  return argument;
}
static const Json *graph_at(const Pt2Builder *b, const Json *node, uint32_t i) {
  const Json *graph = json_object(json_get(argument_at(b, node, i), "as_graph"), "graph");
  if (!graph) pt2_fail(b, ERROR_DATA, "argument %u is no graph", i);
  return graph;
}
static Values new_values(const Pt2Builder *b, size_t most) {
  if (most > MAX_OPERANDS) pt2_fail(b, ERROR_DATA, "too many operands");
  return (Values){.items = ARENA_ARRAY(b->graph->arena, Value *, most + 1)};
}
static Values join(const Pt2Builder *b, const Values *first, const Values *second) {
  Values all = new_values(b, (size_t)first->count + second->count);
  for (uint32_t i = 0; i < first->count; i++) all.items[all.count++] = first->items[i];
  for (uint32_t i = 0; i < second->count; i++) all.items[all.count++] = second->items[i];
  return all;
}
/* The argument is a list, of tensors or of numbers. */
static Values list_at(Pt2Builder *b, const Json *node, uint32_t i) {
  const Json *list = json_first(argument_at(b, node, i));
  Values values = new_values(b, json_count(list));
  int64_t number;
  if (!json_is_array(list)) pt2_fail(b, ERROR_DATA, "argument %u is no list", i);
  for (const Json *e = json_first(list); e; e = json_next(e))
    values.items[values.count++] = json_get(e, "name")    ? pt2_value(b, pt2_text(b, e, "name"))
                                   : json_int(e, &number) ? pt2_constant(b, ivalue_int(number))
                                                          : pt2_argument_value(b, e, NULL);
  return values;
}
static int64_t number_of(const Pt2Builder *b, const Json *argument, const char *kind) {
  int64_t number = 0;
  bool is = false;
  if (json_bool(json_get(argument, kind), &is)) return is;
  if (!json_int(json_get(argument, kind), &number)) pt2_fail(b, ERROR_DATA, "an argument is malformed");
  return number;
}
/* All arguments from that one on. */
static Values rest_from(Pt2Builder *b, const Json *node, uint32_t first) {
  const Json *inputs = json_array(node, "inputs");
  Values values = new_values(b, json_count(inputs));
  uint32_t i = 0;
  for (const Json *e = json_first(inputs); e; e = json_next(e), i++)
    if (i >= first) values.items[values.count++] = pt2_argument_value(b, json_get(e, "arg"), NULL);
  return values;
}

/* ---- a graph in the place where it is called ---- */

static Values insert_graph(Pt2Builder *b, const Json *graph, const Values *arguments) {
  const Json *inputs = json_array(graph, "inputs"), *outputs = json_array(graph, "outputs");
  Pt2Scope scope, *outer = b->scope;
  uint32_t i = 0;
  if (json_count(inputs) != arguments->count)
    pt2_fail(b, ERROR_DATA, "%u arguments for a graph that has %zu", arguments->count, json_count(inputs));
  pt2_scope_init(b, &scope);
  for (const Json *e = json_first(inputs); e; e = json_next(e), i++) {
    Str name = pt2_argument_name(e);
    if (name.length) pt2_define(b, name, arguments->items[i]);
  }
  pt2_build_nodes(b, graph);
  Values results = new_values(b, json_count(outputs));
  for (const Json *e = json_first(outputs); e; e = json_next(e))
    results.items[results.count++] = pt2_argument_value(b, e, NULL);
  b->scope = outer;
  return results;
}
static Value *as_condition(Pt2Builder *b, const Values *results) {
  if (results->count != 1) pt2_fail(b, ERROR_DATA, "a condition that is not one value");
  Value *value = results->items[0];
  return value->type->kind == TYPE_BOOL ? value : PT2_EMIT(b, "aten::Bool", value);
}
/* Each result is an output; older programs have one output that is the list of their names. */
static void define(Pt2Builder *b, const Json *node, const Values *values) {
  const Json *outputs = json_array(node, "outputs"), *list = json_array(json_first(outputs), "as_tensors");
  uint32_t i = 0;
  if (!list || json_count(outputs) != 1 || json_count(list) != values->count) {
    pt2_define_outputs(b, json_first(outputs), values->count, values->items);
    return;
  }
  for (const Json *e = json_first(list); e; e = json_next(e)) pt2_define(b, pt2_text(b, e, "name"), values->items[i++]);
}

/* cond(condition, graph, graph, operands) */
static void build_cond(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  (void)target;
  Value *condition = pt2_argument_value(b, argument_at(b, node, 0), NULL);
  Values operands = list_at(b, node, 3), results[2];
  Node *choice = graph_create_if(b->graph, as_condition(b, &(Values){1, &condition})),
       *before = b->graph->insert_before;
  graph_insert_node(b->graph, choice);
  for (uint32_t i = 0; i < 2; i++) {
    graph_set_insert_block(b->graph, choice->blocks[i]);
    results[i] = insert_graph(b, graph_at(b, node, 1 + i), &operands);
    for (uint32_t k = 0; k < results[i].count; k++) block_register_output(choice->blocks[i], results[i].items[k]);
  }
  graph_set_insert_point(b->graph, before);
  if (results[0].count != results[1].count) pt2_fail(b, ERROR_DATA, "branches that give different numbers of values");
  Values given = new_values(b, results[0].count);
  for (uint32_t k = 0; k < results[0].count; k++) {
    const Type *type = type_unify(b->graph->store, results[0].items[k]->type, results[1].items[k]->type, false);
    if (!type) pt2_fail(b, ERROR_DATA, "branches that give values of different types");
    given.items[given.count++] = node_add_output(choice, type);
  }
  define(b, node, &given);
}

/* ---- loops ---- */

/* A Loop of at most `trips` rounds; inside of it until loop_end. *carried become the values within. */
typedef struct LoopSite {
  Node *loop, *before;
} LoopSite;
static LoopSite loop_begin(Pt2Builder *b, Value *trips, Value *condition, Values *carried) {
  Graph *graph = b->graph;
  LoopSite site = {graph_create_loop(graph, trips, condition), graph->insert_before};
  Values inner = new_values(b, carried->count);
  for (uint32_t i = 0; i < carried->count; i++) {
    node_add_input(site.loop, carried->items[i]);
    inner.items[inner.count++] = block_add_input(site.loop->blocks[0], STR(""), carried->items[i]->type);
  }
  graph_insert_node(graph, site.loop);
  graph_set_insert_block(graph, site.loop->blocks[0]);
  *carried = inner;
  return site;
}
/* What the next round begins with; gives what the last one ended with. */
static Values loop_end(Pt2Builder *b, const LoopSite *site, Value *condition, const Values *next) {
  Block *block = site->loop->blocks[0];
  Values given = new_values(b, next->count);
  block_register_output(block, condition);
  for (uint32_t i = 0; i < next->count; i++) {
    const Type *type = block_input(block, i + 1)->type;
    if (!type_is_subtype(next->items[i]->type, type, NULL))
      pt2_fail(b, ERROR_DATA, "a loop that carries values of different types");
    block_register_output(block, next->items[i]);
    given.items[given.count++] = node_add_output(site->loop, type);
  }
  graph_set_insert_point(b->graph, site->before);
  return given;
}

/* It stands before the loop and at its end, so that conditions within conditions double what there is. */
static Values insert_condition(Pt2Builder *b, const Json *loop, const Values *arguments) {
  if (b->condition_depth == MAX_CONDITION_DEPTH)
    pt2_fail(b, ERROR_DATA, "loops within the conditions of loops are nested too deeply");
  b->condition_depth++;
  Values results = insert_graph(b, graph_at(b, loop, 0), arguments);
  b->condition_depth--;
  return results;
}
/* An empty list for each. */
static Values new_lists(Pt2Builder *b, size_t count) {
  Values lists = new_values(b, count);
  while (lists.count < count) lists.items[lists.count++] = graph_insert_list(b->graph, TYPE(TENSOR), 0, NULL);
  return lists;
}
static void append_each(Pt2Builder *b, const Values *lists, Value *const *items) {
  for (uint32_t i = 0; i < lists->count; i++) PT2_EMIT(b, "aten::append", lists->items[i], items[i]);
}
static Values stack_each(Pt2Builder *b, const Values *lists) {
  Values stacked = new_values(b, lists->count);
  Value *first_dim = pt2_constant(b, ivalue_int(0));
  for (uint32_t i = 0; i < lists->count; i++)
    stacked.items[stacked.count++] = PT2_EMIT(b, "aten::stack", lists->items[i], first_dim);
  return stacked;
}
/* while_loop(condition graph, body graph, carried, others) gives what is carried at the end; while_loop_stack_output
 * what is carried after each round, stacked. */
static void build_while(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  bool gives_all = strcmp(target->name, "while_loop") != 0;
  Values carried = list_at(b, node, 2), others = list_at(b, node, 3), all = join(b, &carried, &others);
  uint32_t count = carried.count;
  Values tested = insert_condition(b, node, &all), lists = new_lists(b, gives_all ? count : 0);
  LoopSite site = loop_begin(b, pt2_constant(b, ivalue_int(INT64_MAX)), as_condition(b, &tested), &carried);
  all = join(b, &carried, &others);
  Values next = insert_graph(b, graph_at(b, node, 1), &all);
  if (next.count != count) pt2_fail(b, ERROR_DATA, "a loop's body gives another number of values than it takes");
  append_each(b, &lists, next.items);
  all = join(b, &next, &others);
  tested = insert_condition(b, node, &all);
  Values given = loop_end(b, &site, as_condition(b, &tested), &next);
  if (gives_all) given = stack_each(b, &lists);
  define(b, node, &given);
}

/* The graph for each element along the first dimension of `xs`: its first results are carried to the next round, the
 * others stacked. */
static void build_rounds(Pt2Builder *b, const Json *node, Values carried, const Values *xs, const Values *others) {
  const Json *graph = graph_at(b, node, 0);
  size_t results = json_count(json_array(graph, "outputs"));
  uint32_t kept = carried.count;
  if (!xs->count || results < kept) pt2_fail(b, ERROR_DATA, "nothing to go over, or too few results");
  Values lists = new_lists(b, results - kept);
  Value *first_dim = pt2_constant(b, ivalue_int(0));
  Value *trips = PT2_EMIT(b, "aten::size", xs->items[0], first_dim);
  LoopSite site = loop_begin(b, trips, pt2_constant(b, ivalue_bool(true)), &carried);
  Values elements = new_values(b, xs->count);
  for (uint32_t i = 0; i < xs->count; i++)
    elements.items[elements.count++] =
        PT2_EMIT(b, "aten::select", xs->items[i], first_dim, block_input(site.loop->blocks[0], 0));
  Values inner = join(b, &carried, &elements), all = join(b, &inner, others);
  Values given = insert_graph(b, graph, &all);
  append_each(b, &lists, given.items + kept);
  given.count = kept;
  Values last = loop_end(b, &site, pt2_constant(b, ivalue_bool(true)), &given);
  Values stacked = stack_each(b, &lists);
  all = join(b, &last, &stacked);
  define(b, node, &all);
}
/* map_impl(graph, xs, others) */
static void build_map(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  (void)target;
  Values xs = list_at(b, node, 1), others = list_at(b, node, 2);
  build_rounds(b, node, new_values(b, 0), &xs, &others);
}
/* scan(graph, carried, xs, others); before the others older programs have the dimension and whether it goes
 * backwards. */
static void build_scan(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  (void)target;
  Values carried = list_at(b, node, 1), xs = list_at(b, node, 2);
  bool is_older = json_get(argument_at(b, node, 3), "as_int") != NULL;
  if (is_older && (number_of(b, argument_at(b, node, 3), "as_int") || number_of(b, argument_at(b, node, 4), "as_bool")))
    pt2_fail(b, ERROR_UNSUPPORTED, "a scan that is not along the first dimension, forwards");
  Values others = list_at(b, node, is_older ? 5 : 3);
  build_rounds(b, node, carried, &xs, &others);
}

/* ---- regions ---- */

/* wrap_with_set_grad_enabled(enabled, graph, operands...) */
static void build_grad_mode(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  (void)target;
  Values operands = rest_from(b, node, 2);
  Value *enabled = pt2_argument_value(b, argument_at(b, node, 0), NULL),
        *before = pt2_emit(b, "aten::is_grad_enabled", 0, NULL);
  PT2_EMIT(b, "aten::set_grad_enabled", enabled);
  Values results = insert_graph(b, graph_at(b, node, 1), &operands);
  PT2_EMIT(b, "aten::set_grad_enabled", before);
  define(b, node, &results);
}

/* wrap_with_autocast(device, dtype, enabled, cache enabled, graph, operands...). Only the host's matter. */
static void build_autocast(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  (void)target;
  Values operands = rest_from(b, node, 5);
  Pt2Autocast outer = b->autocast;
  if (str_is(pt2_text(b, argument_at(b, node, 0), "as_string"), "cpu")) {
    const Json *dtype = argument_at(b, node, 1);
    DType reduced = json_get(dtype, "as_none") ? DTYPE_BFLOAT16 : pt2_dtype(number_of(b, dtype, "as_scalar_type"));
    if (reduced != DTYPE_BFLOAT16 && reduced != DTYPE_FLOAT16) pt2_fail(b, ERROR_UNSUPPORTED, "autocast to this dtype");
    b->autocast =
        (Pt2Autocast){.is_on = number_of(b, argument_at(b, node, 2), "as_bool") != 0, .dtype = (uint8_t)reduced};
  }
  Values results = insert_graph(b, graph_at(b, node, 4), &operands);
  b->autocast = outer;
  define(b, node, &results);
}
/* strict_mode(graph, operands), hints_wrapper(graph, operands, named operands, hints=...) */
static void build_region(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  Values operands = list_at(b, node, 1);
  (void)target;
  const Json *third = json_next(json_next(json_first(json_array(node, "inputs"))));
  if (json_first(json_get(json_get(third, "arg"), "as_string_to_argument")) && !pt2_text(b, third, "name").length)
    pt2_fail(b, ERROR_UNSUPPORTED, "operands by name");
  Values results = insert_graph(b, graph_at(b, node, 0), &operands);
  define(b, node, &results);
}
/* foreach_map(graph, operands...) */
static void build_foreach(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  (void)target;
  Values operands = rest_from(b, node, 1), results = insert_graph(b, graph_at(b, node, 0), &operands);
  define(b, node, &results);
}
/* invoke_subgraph(graph, name, operands...) */
static void build_subgraph(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  (void)target;
  Values operands = rest_from(b, node, 2), results = insert_graph(b, graph_at(b, node, 0), &operands);
  define(b, node, &results);
}

const Pt2Target pt2_higher_order_targets[] = {
    {"cond", build_cond, NULL},
    {"while_loop", build_while, NULL},
    {"while_loop_stack_output", build_while, NULL},
    {"map_impl", build_map, NULL},
    {"scan", build_scan, NULL},
    {"wrap_with_set_grad_enabled", build_grad_mode, NULL},
    {"wrap_with_autocast", build_autocast, NULL},
    {"invoke_subgraph", build_subgraph, NULL},
    {"strict_mode", build_region, NULL},
    {"hints_wrapper", build_region, NULL},
    {"foreach_map", build_foreach, NULL},
};
const size_t pt2_higher_order_count = sizeof pt2_higher_order_targets / sizeof *pt2_higher_order_targets;
