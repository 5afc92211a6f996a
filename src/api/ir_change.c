/* Graphs written from outside beyond what a pass needs: blocks, inputs and outputs put in and taken out, nodes that
 * stand nowhere yet, names, graphs within graphs. Each runs with a catch point of its own. */
#include <assert.h>

#include "api/handles.h"
#include "api/ir_handles.h"

typedef struct Edit {
  Graph *graph;
  Block *block;
  Node *node;
  Value *value;
  Symbol symbol;
  uint32_t index;
  Value *const *inputs;
  uint32_t input_count, output_count;
  const Graph *from;
  Value **values;
  const char *text;
  Node *made;
  Block *made_block;
  Value *made_value;
} Edit;

static Status no_such(const char *what, size_t index) {
  return status_new(ERROR_INVALID_ARGUMENT, "there is no %s %zu", what, index);
}
static Status check_same_graph(const Graph *graph, const Value *value) {
  return value->node->graph == graph ? OK : status_new(ERROR_INVALID_ARGUMENT, "the value is of another graph");
}
static Status check_unused(const Value *value) {
  return value_has_uses(value) ? status_new(ERROR_INVALID_ARGUMENT, "the value is used") : OK;
}

/* ---- what is there ---- */

int wick_node_exists(const wick_node *node) {
  return node && !node_of(node)->destroyed;
}
int wick_ir_value_exists(const wick_ir_value *value) {
  return value && value_of(value)->node;
}
wick_node *wick_block_param(const wick_block *block) {
  return block ? (wick_node *)block_of(block)->param : NULL;
}
wick_node *wick_block_return(const wick_block *block) {
  return block ? (wick_node *)block_of(block)->ret : NULL;
}
wick_node *wick_ir_value_giver(const wick_ir_value *value) {
  return value ? (wick_node *)value_of(value)->node : NULL;
}
wick_node *wick_ir_value_taker(const wick_ir_value *value, size_t i, size_t *out_input) {
  bool is_there = value && i < value_of(value)->uses.length;
  if (out_input) *out_input = is_there ? value_of(value)->uses.data[i].offset : 0;
  return is_there ? (wick_node *)value_of(value)->uses.data[i].user : NULL;
}
size_t wick_ir_value_offset(const wick_ir_value *value) {
  return value ? value_of(value)->offset : 0;
}
size_t wick_ir_value_unique(const wick_ir_value *value) {
  return value ? value_of(value)->unique : 0;
}

wick_status wick_node_print(const wick_node *node, char **out_text, wick_error **error) {
  StrBuf text = {0};
  API_OUT(out_text);
  API_NEED(node);
  node_print(node_of(node), &text);
  return api_status(strbuf_take(&text, out_text), error);
}

/* In the graph itself, not in a node that stands nowhere yet. */
static bool is_attached(const Node *node) {
  while (node && node->owning_block) node = node->owning_block->owning_node;
  return !node;
}

int wick_node_is_before(const wick_node *node, const wick_node *other) {
  if (!node || !other || node_of(node)->graph != node_of(other)->graph) return 0;
  if (!is_attached(node_of(node)) || !is_attached(node_of(other))) return 0;
  return node_is_before(node_of(node), node_of(other));
}

/* ---- nodes and their places ---- */

static void create(void *argument) {
  Edit *e = argument;
  assert(e->symbol != SYMBOL_NONE);
  e->made = graph_create(e->graph, e->symbol, e->input_count, e->inputs, e->output_count);
}
wick_status wick_node_create(wick_graph *graph, const char *kind, wick_ir_value *const *inputs, size_t input_count,
                             size_t output_count, wick_node **out, wick_error **error) {
  API_OUT(out);
  API_NEED(graph);
  API_NEED(kind);
  API_NEED_ITEMS(inputs, input_count);
  Edit e = {.graph = graph->graph,
            .symbol = symbol_intern(str_from(kind)),
            .inputs = (Value *const *)inputs,
            .input_count = (uint32_t)input_count,
            .output_count = (uint32_t)output_count};
  if (e.symbol == SYMBOL_NONE) return api_status(status_new(ERROR_INVALID_ARGUMENT, "'%s' is no kind", kind), error);
  if (output_count > UINT16_MAX) return api_status(status_new(ERROR_INVALID_ARGUMENT, "too many outputs"), error);
  API_TRY(ir_check_inputs(e.graph, inputs, input_count));
  API_TRY(ir_protect(e.graph, create, &e));
  *out = (wick_node *)e.made;
  return WICK_OK;
}

static bool is_within(const Node *node, const Block *block) {
  for (const Node *outer = block->owning_node; outer;
       outer = outer->owning_block ? outer->owning_block->owning_node : NULL)
    if (outer == node) return true;
  return false;
}

wick_status wick_node_place_in(wick_node *node, wick_block *block, wick_node *before, wick_error **error) {
  Node *next;
  API_NEED(node);
  API_NEED(block);
  Node *n = node_of(node);
  API_TRY(ir_check_no_end(n));
  API_TRY(ir_place(block, before, &next));
  if (n->graph != block_of(block)->graph)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "nodes of two graphs"), error);
  if (is_within(n, block_of(block)))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "a node can't move into itself"), error);
  if (n->owning_block)
    node_move_before(n, next);
  else
    node_insert_before(n, next);
  return WICK_OK;
}

wick_status wick_node_copy_metadata(wick_node *node, const wick_node *from, wick_error **error) {
  API_NEED(node);
  API_NEED(from);
  if (node_of(node)->graph != node_of(from)->graph)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "nodes of two graphs"), error);
  node_copy_metadata(node_of(node), node_of(from));
  return WICK_OK;
}

/* ---- blocks of nodes ---- */

static void add_block(void *argument) {
  Edit *e = argument;
  e->made_block = node_add_block(e->node);
}
wick_status wick_node_add_block(wick_node *node, wick_block **out, wick_error **error) {
  API_OUT(out);
  API_NEED(node);
  Edit e = {.node = node_of(node)};
  API_TRY(ir_check_no_end(e.node));
  API_TRY(ir_protect(e.node->graph, add_block, &e));
  *out = (wick_block *)e.made_block;
  return WICK_OK;
}
wick_status wick_node_erase_block(wick_node *node, size_t index, wick_error **error) {
  API_NEED(node);
  if (index >= node_of(node)->block_count) return api_status(no_such("block", index), error);
  node_erase_block(node_of(node), (uint32_t)index);
  return WICK_OK;
}

/* ---- inputs and outputs ---- */

static void insert_input(void *argument) {
  Edit *e = argument;
  node_insert_input(e->node, e->index, e->value);
}
wick_status wick_node_insert_input(wick_node *node, size_t index, wick_ir_value *value, wick_error **error) {
  API_NEED(node);
  API_NEED(value);
  Edit e = {.node = node_of(node), .value = value_of(value), .index = (uint32_t)index};
  if (index > e.node->input_count) return api_status(no_such("input", index), error);
  if (e.node->kind == SYM_prim_Param) API_TRY(ir_check_no_end(e.node));
  API_TRY(check_same_graph(e.node->graph, e.value));
  return api_status(ir_protect(e.node->graph, insert_input, &e), error);
}
wick_status wick_node_remove_input(wick_node *node, size_t index, wick_error **error) {
  API_NEED(node);
  if (index >= node_of(node)->input_count) return api_status(no_such("input", index), error);
  node_remove_input(node_of(node), (uint32_t)index);
  return WICK_OK;
}

static void insert_output(void *argument) {
  Edit *e = argument;
  e->made_value = node_insert_output(e->node, e->index, TYPE(TENSOR));
}
wick_status wick_node_insert_output(wick_node *node, size_t index, wick_ir_value **out, wick_error **error) {
  API_OUT(out);
  API_NEED(node);
  Edit e = {.node = node_of(node), .index = (uint32_t)index};
  if (index > e.node->output_count || index >= UINT16_MAX) return api_status(no_such("output", index), error);
  if (e.node->kind == SYM_prim_Return) API_TRY(ir_check_no_end(e.node));
  API_TRY(ir_protect(e.node->graph, insert_output, &e));
  *out = (wick_ir_value *)e.made_value;
  return WICK_OK;
}
wick_status wick_node_erase_output(wick_node *node, size_t index, wick_error **error) {
  API_NEED(node);
  if (index >= node_of(node)->output_count) return api_status(no_such("output", index), error);
  API_TRY(check_unused(node_output(node_of(node), (uint32_t)index)));
  node_erase_output(node_of(node), (uint32_t)index);
  return WICK_OK;
}

/* ---- values ---- */

static bool is_number(const char *text) {
  for (; *text >= '0' && *text <= '9'; text++) {
  }
  return !*text;
}
static void set_name(void *argument) {
  Edit *e = argument;
  value_set_name(e->value, str_from(e->text));
}
wick_status wick_ir_value_set_name(wick_ir_value *value, const char *name, wick_error **error) {
  API_NEED(value);
  API_NEED(name);
  if (*name && is_number(name))
    return api_status(
        status_new(ERROR_INVALID_ARGUMENT, "'%s' is a number, which only values without a name have", name), error);
  Edit e = {.value = value_of(value), .text = name};
  return api_status(ir_protect(e.value->node->graph, set_name, &e), error);
}

static void replace_after(void *argument) {
  const Edit *e = argument;
  for (size_t i = e->value->uses.length; i-- > 0;) {
    Use use = e->value->uses.data[i];
    if (use.user != e->node && is_attached(use.user) && node_is_before(e->node, use.user))
      node_replace_input(use.user, use.offset, e->made_value);
  }
}
wick_status wick_ir_value_replace_after(wick_ir_value *value, wick_node *after, wick_ir_value *with,
                                        wick_error **error) {
  API_NEED(value);
  API_NEED(after);
  API_NEED(with);
  Edit e = {.value = value_of(value), .node = node_of(after), .made_value = value_of(with)};
  API_TRY(check_same_graph(e.node->graph, e.value));
  API_TRY(check_same_graph(e.node->graph, e.made_value));
  if (!e.node->owning_block) return api_status(status_new(ERROR_INVALID_ARGUMENT, "the node stands nowhere"), error);
  return api_status(ir_protect(e.node->graph, replace_after, &e), error);
}

wick_status wick_ir_value_copy_type(wick_ir_value *value, const wick_ir_value *from, wick_error **error) {
  API_NEED(value);
  API_NEED(from);
  API_TRY(check_same_graph(value_of(value)->node->graph, value_of(from)));
  value_of(value)->type = value_of(from)->type;
  return WICK_OK;
}

/* ---- types ---- */

typedef struct TypePair {
  wick_graph *box;
  const char *type, *of;
  bool is_subtype;
} TypePair;
static void compare_types(void *argument) {
  TypePair *p = argument;
  Graph *graph = p->box->graph = graph_new(&p->box->arena, graph_box_types(p->box));
  p->is_subtype = type_is_subtype(ir_parse_type(graph, p->type), ir_parse_type(graph, p->of), NULL);
}
wick_status wick_type_is_subtype(const char *type, const char *of, int *out_is, wick_error **error) {
  TypePair pair = {.type = type, .of = of};
  API_NEED(out_is);
  *out_is = 0;
  API_NEED(type);
  API_NEED(of);
  API_TRY(graph_box_new(NULL, &pair.box));
  Status status = graph_box_fill(pair.box, compare_types, &pair);
  wick_graph_release(pair.box);
  *out_is = !status && pair.is_subtype;
  return api_status(status, error);
}

/* ---- graphs within graphs ---- */

static void inline_graph(void *argument) {
  Edit *e = argument;
  graph_set_insert_point(e->graph, e->node);
  graph_inline(e->graph, e->from, e->inputs, e->values);
}
wick_status wick_graph_insert_graph(wick_block *block, wick_node *before, const wick_graph *graph,
                                    wick_ir_value *const *inputs, size_t count, wick_ir_value **outputs,
                                    size_t output_count, wick_error **error) {
  API_NEED_BYTES(outputs, output_count);
  for (size_t i = 0; i < output_count; i++) outputs[i] = NULL;
  API_NEED(block);
  API_NEED(graph);
  API_NEED_ITEMS(inputs, count);
  Edit e = {.graph = block_of(block)->graph,
            .from = graph->graph,
            .inputs = (Value *const *)inputs,
            .values = (Value **)outputs};
  if (e.graph == e.from || count != graph_input_count(e.from) || output_count != graph_output_count(e.from))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the other graph takes %u values and gives %u",
                                 graph_input_count(e.from), graph_output_count(e.from)),
                      error);
  API_TRY(graph_check(e.from));
  API_TRY(ir_place(block, before, &e.node));
  API_TRY(ir_check_inputs(e.graph, inputs, count));
  Node *const point = e.graph->insert_before;
  Status status = ir_protect(e.graph, inline_graph, &e);
  e.graph->insert_before = point;
  return api_status(status, error);
}

/* ---- attributes ---- */

static Status attribute_symbol(const char *name, Symbol *out) {
  StrBuf qualified = {.max_length = 256};
  strbuf_printf(&qualified, "attr::%s", name);
  *out = *name ? symbol_intern(strbuf_view(&qualified)) : SYMBOL_NONE;
  strbuf_dispose(&qualified);
  return *out == SYMBOL_NONE ? status_new(ERROR_INVALID_ARGUMENT, "'%s' is no name for an attribute", name) : OK;
}
static Status attribute_of(const wick_node *node, const char *name, const NodeAttribute **out) {
  Symbol symbol;
  *out = NULL;
  TRY(attribute_symbol(name, &symbol));
  *out = node_attribute(node_of(node), symbol);
  return *out ? OK : status_new(ERROR_NOT_FOUND, "%s has no attribute '%s'", wick_node_kind(node), name);
}

const char *wick_node_attribute_kind(const wick_node *node, const char *name) {
  static const char *const names[] = {
      [ATTR_INT] = "i",      [ATTR_FLOAT] = "f",   [ATTR_COMPLEX] = "c",    [ATTR_STRING] = "s",
      [ATTR_TENSOR] = "t",   [ATTR_GRAPH] = "g",   [ATTR_TYPE] = "ty",      [ATTR_IVALUE] = "ival",
      [ATTR_INTS] = "is",    [ATTR_FLOATS] = "fs", [ATTR_COMPLEXES] = "cs", [ATTR_STRINGS] = "ss",
      [ATTR_TENSORS] = "ts", [ATTR_GRAPHS] = "gs", [ATTR_TYPES] = "tys"};
  const NodeAttribute *attribute = NULL;
  if (!node || !name) return NULL;
  status_free(attribute_of(node, name, &attribute));
  return attribute ? names[attribute->tag] : NULL;
}

wick_status wick_node_remove_attribute(wick_node *node, const char *name, wick_error **error) {
  const NodeAttribute *attribute;
  API_NEED(node);
  API_NEED(name);
  API_TRY(attribute_of(node, name, &attribute));
  node_remove_attribute(node_of(node), attribute->name);
  return WICK_OK;
}

/* Types of another graph come into this one; a plan's graph is changed by passes alone. */
static void keep_types(const Graph *graph, TypeStore *other) {
  CompilationUnit *unit = unit_of_store(graph->store);
  if (unit) unit_keep_types(unit, other);
}

static void set_graph(void *argument) {
  Edit *e = argument;
  keep_types(e->node->graph, e->from->store);
  node_set_graph(e->node, e->symbol, graph_copy(e->from, e->node->graph->arena, e->node->graph->store));
}
wick_status wick_node_set_graph(wick_node *node, const char *name, const wick_graph *graph, wick_error **error) {
  API_NEED(node);
  API_NEED(name);
  API_NEED(graph);
  Edit e = {.node = node_of(node), .from = graph->graph};
  API_TRY(ir_check_no_end(e.node));
  API_TRY(graph_check(e.from));
  API_TRY(attribute_symbol(name, &e.symbol));
  return api_status(ir_protect(e.node->graph, set_graph, &e), error);
}

static void set_type(void *argument) {
  Edit *e = argument;
  node_set_type(e->node, e->symbol, ir_parse_type(e->node->graph, e->text));
}
wick_status wick_node_set_type(wick_node *node, const char *name, const char *type, wick_error **error) {
  API_NEED(node);
  API_NEED(name);
  API_NEED(type);
  Edit e = {.node = node_of(node), .text = type};
  API_TRY(attribute_symbol(name, &e.symbol));
  return api_status(ir_protect(e.node->graph, set_type, &e), error);
}

wick_status wick_node_attribute_type(const wick_node *node, const char *name, char **out_text, wick_error **error) {
  StrBuf text = {.max_length = 1 << 20};
  const NodeAttribute *attribute;
  API_OUT(out_text);
  API_NEED(node);
  API_NEED(name);
  API_TRY(attribute_of(node, name, &attribute));
  if (attribute->tag != ATTR_TYPE)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the attribute '%s' is no type", name), error);
  type_print(attribute->ty, &text);
  return api_status(strbuf_take(&text, out_text), error);
}

wick_status wick_graph_of_attribute(const wick_node *node, const char *name, size_t index, wick_graph **out,
                                    wick_error **error) {
  const NodeAttribute *attribute;
  API_OUT(out);
  API_NEED(node);
  API_NEED(name);
  API_TRY(attribute_of(node, name, &attribute));
  bool is_list = attribute->tag == ATTR_GRAPHS;
  if ((attribute->tag != ATTR_GRAPH && !is_list) || index >= (is_list ? attribute->count : 1))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the attribute '%s' has no graph %zu", name, index), error);
  wick_graph *box = mem_calloc(1, sizeof *box);
  if (!box) return api_status(status_out_of_memory(), error);
  box->graph = is_list ? (Graph *)(uintptr_t)attribute->graphs[index] : attribute->g;
  box->is_part = true;
  *out = box;
  return WICK_OK;
}
