/* Blocks, nodes, attributes and values from outside. */
#include <assert.h>
#include <stdio.h>

#include "api/handles.h"
#include "api/ir_handles.h"
#include "schema/type_parse.h"

/* ---- blocks ---- */

wick_node *wick_block_first(const wick_block *block) {
  return block ? node_shown(block_of(block)->param->next) : NULL;
}
wick_node *wick_block_last(const wick_block *block) {
  return block ? node_shown(block_of(block)->ret->prev) : NULL;
}
wick_node *wick_block_owner(const wick_block *block) {
  return block ? (wick_node *)block_of(block)->owning_node : NULL;
}
size_t wick_block_input_count(const wick_block *block) {
  return block ? block_input_count(block_of(block)) : 0;
}
wick_ir_value *wick_block_input(const wick_block *block, size_t i) {
  return i < wick_block_input_count(block) ? (wick_ir_value *)block_input(block_of(block), (uint32_t)i) : NULL;
}
size_t wick_block_output_count(const wick_block *block) {
  return block ? block_output_count(block_of(block)) : 0;
}
wick_ir_value *wick_block_output(const wick_block *block, size_t i) {
  return i < wick_block_output_count(block) ? (wick_ir_value *)block_output(block_of(block), (uint32_t)i) : NULL;
}

/* ---- nodes: looking ---- */

wick_node *wick_node_next(const wick_node *node) {
  return node ? node_shown(node_of(node)->next) : NULL;
}
wick_node *wick_node_previous(const wick_node *node) {
  return node ? node_shown(node_of(node)->prev) : NULL;
}
wick_block *wick_node_owner(const wick_node *node) {
  return node ? (wick_block *)node_of(node)->owning_block : NULL;
}
const char *wick_node_kind(const wick_node *node) {
  return node ? symbol_name(node_of(node)->kind).data : "";
}
const char *wick_node_scope(const wick_node *node) {
  Symbol scope = node ? node_of(node)->scope : SYMBOL_NONE;
  return scope == SYMBOL_NONE ? "" : symbol_base(scope).data;
}
wick_status wick_node_schema(const wick_node *node, char **out_text, wick_error **error) {
  StrBuf text = {.max_length = 1 << 20};
  API_OUT(out_text);
  API_NEED(node);
  const FunctionSchema *schema = node_schema(node_of(node));
  strbuf_puts(&text, "");
  if (schema) schema_print(schema, &text);
  return api_status(strbuf_take(&text, out_text), error);
}
size_t wick_node_input_count(const wick_node *node) {
  return node ? node_of(node)->input_count : 0;
}
wick_ir_value *wick_node_input(const wick_node *node, size_t i) {
  return i < wick_node_input_count(node) ? (wick_ir_value *)node_input(node_of(node), (uint32_t)i) : NULL;
}
wick_ir_value *wick_node_named_input(const wick_node *node, const char *name) {
  return node && name ? (wick_ir_value *)node_named_input(node_of(node), name) : NULL;
}
size_t wick_node_output_count(const wick_node *node) {
  return node ? node_of(node)->output_count : 0;
}
wick_ir_value *wick_node_output(const wick_node *node, size_t i) {
  return i < wick_node_output_count(node) ? (wick_ir_value *)node_output(node_of(node), (uint32_t)i) : NULL;
}
size_t wick_node_block_count(const wick_node *node) {
  return node ? node_of(node)->block_count : 0;
}
wick_block *wick_node_block(const wick_node *node, size_t i) {
  return i < wick_node_block_count(node) ? (wick_block *)node_of(node)->blocks[i] : NULL;
}
wick_block *wick_node_subgraph(const wick_node *node) {
  const NodeAttribute *subgraph = node ? node_attribute(node_of(node), SYM_attr_Subgraph) : NULL;
  return subgraph && subgraph->tag == ATTR_GRAPH ? (wick_block *)subgraph->g->block : NULL;
}

static bool is_pure(const Node *node) {
  return !node->block_count && !node_acts(node) && !node_writes(node);
}
int wick_node_is_pure(const wick_node *node) {
  return node && is_pure(node_of(node));
}

/* ---- changes: each runs with a catch point of its own ---- */

Status ir_check_no_end(const Node *node) {
  bool is_end = node->kind == SYM_prim_Param || node->kind == SYM_prim_Return;
  return is_end ? status_new(ERROR_INVALID_ARGUMENT, "the ends of a block stay") : OK;
}

Status ir_check_inputs(const Graph *graph, wick_ir_value *const *inputs, size_t count) {
  if (count > UINT16_MAX) return status_new(ERROR_INVALID_ARGUMENT, "too many inputs");
  for (size_t i = 0; i < count; i++)
    if (value_of(inputs[i])->node->graph != graph)
      return status_new(ERROR_INVALID_ARGUMENT, "input %zu is of another graph", i);
  return OK;
}

Status ir_place(wick_block *block, wick_node *before, Node **out) {
  *out = before ? node_of(before) : block_of(block)->ret;
  return (*out)->owning_block == block_of(block) && (*out)->kind != SYM_prim_Param
             ? OK
             : status_new(ERROR_INVALID_ARGUMENT, "`before` stands in another block");
}

typedef struct Change {
  Graph *graph;
  Block *block;
  Node *node, *before;
  Symbol kind;
  Value *const *inputs;
  Value *value;
  uint32_t input_count, output_count, index;
  IValue ivalue;
  const char *text;
  Node *made;
  Value *made_value;
} Change;

static Status name_of(const char *name, const char *space, Symbol *out) {
  char qualified[256];
  if (!name || !*name || snprintf(qualified, sizeof qualified, "%s%s", space, name) >= (int)sizeof qualified)
    return status_new(ERROR_INVALID_ARGUMENT, "a name of 1 to 200 bytes is needed");
  *out = symbol_intern(str_from(qualified));
  return *out == SYMBOL_NONE
             ? status_new(ERROR_INVALID_ARGUMENT, "'%s' is no kind: a name like \"mine::group\" is", qualified)
             : OK;
}

static void new_node(void *argument) {
  Change *c = argument;
  assert(c->before && c->kind != SYMBOL_NONE);
  c->made = graph_create(c->graph, c->kind, c->input_count, c->inputs, c->output_count);
  node_insert_before(c->made, c->before);
}

wick_status wick_node_new(wick_block *block, wick_node *before, const char *kind, wick_ir_value *const *inputs,
                          size_t input_count, size_t output_count, wick_node **out, wick_error **error) {
  API_OUT(out);
  API_NEED(block);
  API_NEED(kind);
  API_NEED_ITEMS(inputs, input_count);
  Change c = {.graph = block_of(block)->graph,
              .inputs = (Value *const *)inputs,
              .input_count = (uint32_t)input_count,
              .output_count = (uint32_t)output_count};
  if (output_count > UINT16_MAX) return api_status(status_new(ERROR_INVALID_ARGUMENT, "too many outputs"), error);
  API_TRY(ir_place(block, before, &c.before));
  API_TRY(ir_check_inputs(c.graph, inputs, input_count));
  API_TRY(name_of(kind, "", &c.kind));
  API_TRY(ir_protect(c.graph, new_node, &c));
  *out = (wick_node *)c.made;
  return WICK_OK;
}

static void insert_constant(void *argument) {
  Change *c = argument;
  assert(c->before);
  Node *constant = graph_create(c->graph, SYM_prim_Constant, 0, NULL, 1);
  constant_set(constant, c->ivalue, NULL);
  node_insert_before(constant, c->before);
  c->made_value = node_output(constant, 0);
}

wick_status wick_node_insert_constant(wick_node *before, const wick_value *value, wick_ir_value **out,
                                      wick_error **error) {
  API_OUT(out);
  API_NEED(before);
  return wick_block_insert_constant((wick_block *)node_of(before)->owning_block, before, value, out, error);
}

wick_status wick_block_insert_constant(wick_block *block, wick_node *before, const wick_value *value,
                                       wick_ir_value **out, wick_error **error) {
  API_OUT(out);
  API_NEED(block);
  API_NEED(value);
  Change c = {.graph = block_of(block)->graph, .ivalue = value->value};
  API_TRY(ir_place(block, before, &c.before));
  if (!constant_is_possible(c.ivalue))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value can't be a constant"), error);
  API_TRY(ir_protect(c.graph, insert_constant, &c));
  *out = (wick_ir_value *)c.made_value;
  return WICK_OK;
}

static void set_input(void *argument) {
  Change *c = argument;
  assert(c->index <= c->node->input_count);
  if (c->index == c->node->input_count)
    node_add_input(c->node, c->value);
  else
    node_replace_input(c->node, c->index, c->value);
}

wick_status wick_node_set_input(wick_node *node, size_t index, wick_ir_value *value, wick_error **error) {
  API_NEED(node);
  API_NEED(value);
  Change c = {.node = node_of(node), .value = value_of(value), .index = (uint32_t)index};
  if (index > c.node->input_count || c.value->node->graph != c.node->graph)
    return api_status(
        status_new(ERROR_INVALID_ARGUMENT, "there is no input %zu, or the value is of another graph", index), error);
  return api_status(ir_protect(c.node->graph, set_input, &c), error);
}

wick_status wick_node_move_before(wick_node *node, wick_node *before, wick_error **error) {
  API_NEED(node);
  API_NEED(before);
  Node *n = node_of(node), *b = node_of(before);
  for (const Node *outer = b; outer; outer = outer->owning_block->owning_node)
    if (outer == n && b != n)
      return api_status(status_new(ERROR_INVALID_ARGUMENT, "a node can't move into itself"), error);
  if (n->graph != b->graph) return api_status(status_new(ERROR_INVALID_ARGUMENT, "nodes of two graphs"), error);
  API_TRY(ir_check_no_end(n));
  node_move_before(n, b);
  return WICK_OK;
}

wick_status wick_node_destroy(wick_node *node, wick_error **error) {
  API_NEED(node);
  Node *n = node_of(node);
  API_TRY(ir_check_no_end(n));
  for (uint32_t i = 0; i < n->output_count; i++)
    if (value_has_uses(node_output(n, i)))
      return api_status(status_new(ERROR_INVALID_ARGUMENT, "output %u of %s is used", i, wick_node_kind(node)), error);
  node_destroy(n);
  return WICK_OK;
}

/* ---- types from text ---- */

const Type *ir_parse_type(Graph *graph, const char *text) {
  assert(graph->arena->catch_point);
  TypeParser parser;
  ParsedType parsed = {0};
  type_parser_init(&parser, graph->arena, graph->store, str_from(text));
  type_parse(&parser, &parsed);
  if (parser.token.kind != TK_EOF && parser.token.kind != TK_NEWLINE) type_parser_fail(&parser, "the end of the type");
  return parsed.type;
}

static void set_type(void *argument) {
  Change *c = argument;
  c->value->type = ir_parse_type(c->graph, c->text);
}
wick_status wick_ir_value_set_type(wick_ir_value *value, const char *type, wick_error **error) {
  API_NEED(value);
  API_NEED(type);
  Change c = {.graph = value_of(value)->node->graph, .value = value_of(value), .text = type};
  return api_status(ir_protect(c.graph, set_type, &c), error);
}

static void add_input(void *argument) {
  Change *c = argument;
  assert(c->block);
  c->made_value = block_add_input(c->block, STR(""), ir_parse_type(c->graph, c->text));
}
wick_status wick_block_add_input(wick_block *block, const char *type, wick_ir_value **out, wick_error **error) {
  API_OUT(out);
  API_NEED(block);
  API_NEED(type);
  Change c = {.graph = block_of(block)->graph, .block = block_of(block), .text = type};
  API_TRY(ir_protect(c.graph, add_input, &c));
  *out = (wick_ir_value *)c.made_value;
  return WICK_OK;
}

static void add_output(void *argument) {
  Change *c = argument;
  block_register_output(c->block, c->value);
}
wick_status wick_block_add_output(wick_block *block, wick_ir_value *value, wick_error **error) {
  API_NEED(block);
  API_NEED(value);
  Change c = {.graph = block_of(block)->graph, .block = block_of(block), .value = value_of(value)};
  if (c.value->node->graph != c.graph)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value is of another graph"), error);
  return api_status(ir_protect(c.graph, add_output, &c), error);
}

/* ---- attributes ---- */

size_t wick_node_attribute_count(const wick_node *node) {
  return node ? node_of(node)->attribute_count : 0;
}
const char *wick_node_attribute_name(const wick_node *node, size_t i) {
  return i < wick_node_attribute_count(node) ? symbol_base(node_of(node)->attributes[i].name).data : NULL;
}

static Status list_of_strings(const NodeAttribute *a, List **out) {
  TRY(list_new(TYPE(STRING), a->count, out));
  Status status = OK;
  for (uint32_t i = 0; i < a->count && !status; i++) {
    IValue text;
    status = ivalue_from_str(a->strings[i], &text);
    if (!status) status = list_append(*out, text);
  }
  if (status) ivalue_release(ivalue_list(*out));
  return status;
}

/* false: it has no form as a value. */
static Status attribute_value(const NodeAttribute *a, bool *out_has, IValue *out) {
  List *list;
  *out_has = true;
  switch ((AttributeTag)a->tag) {
    case ATTR_INT:
      *out = ivalue_int(a->i);
      return OK;
    case ATTR_FLOAT:
      *out = ivalue_float(a->f);
      return OK;
    case ATTR_COMPLEX:
      return ivalue_from_complex(a->c, out);
    case ATTR_STRING:
      return ivalue_from_str(a->s, out);
    case ATTR_TENSOR:
      *out = ivalue_tensor(tensor_retain(a->t));
      return OK;
    case ATTR_IVALUE:
      *out = ivalue_retain(a->value);
      return OK;
    case ATTR_INTS:
      TRY(list_from_ints(a->ints, a->count, &list));
      break;
    case ATTR_FLOATS:
      TRY(list_from_doubles(a->floats, a->count, &list));
      break;
    case ATTR_STRINGS:
      TRY(list_of_strings(a, &list));
      break;
    default:
      *out_has = false;
      return OK;
  }
  *out = ivalue_list(list);
  return OK;
}

wick_status wick_node_attribute(const wick_node *node, const char *name, wick_value **out, wick_error **error) {
  Symbol symbol;
  bool has;
  IValue value;
  API_OUT(out);
  API_NEED(node);
  API_NEED(name);
  API_TRY(name_of(name, "attr::", &symbol));
  const NodeAttribute *a = node_attribute(node_of(node), symbol);
  if (!a) return WICK_OK;
  API_TRY(attribute_value(a, &has, &value));
  return has ? api_status(value_box(value, out), error) : WICK_OK;
}

static void set_strings(Change *c, const List *list) {
  Str *texts = ARENA_ARRAY(c->node->graph->arena, Str, list->length + 1);
  for (size_t i = 0; i < list->length; i++) texts[i] = ivalue_str(list->values[i]);
  node_set_strings(c->node, c->kind, (uint32_t)list->length, texts);
}

static void set_attribute(void *argument) {
  Change *c = argument;
  IValue v = c->ivalue;
  switch ((Tag)v.tag) {
    case TAG_INT:
      node_set_int(c->node, c->kind, v.i);
      break;
    case TAG_BOOL:
      node_set_int(c->node, c->kind, v.b);
      break;
    case TAG_FLOAT:
      node_set_float(c->node, c->kind, v.f);
      break;
    case TAG_STRING:
      node_set_string(c->node, c->kind, ivalue_str(v));
      break;
    case TAG_TENSOR:
      node_set_tensor(c->node, c->kind, v.tensor);
      break;
    case TAG_LIST:
      if (v.list->kind == LIST_INTS)
        node_set_ints(c->node, c->kind, (uint32_t)v.list->length, v.list->ints);
      else if (v.list->kind == LIST_FLOATS)
        node_set_floats(c->node, c->kind, (uint32_t)v.list->length, v.list->floats);
      else if (v.list->element->kind == TYPE_STRING)
        set_strings(c, v.list);
      else
        node_set_ivalue(c->node, c->kind, v);
      break;
    default:
      node_set_ivalue(c->node, c->kind, v);
  }
}

wick_status wick_node_set_attribute(wick_node *node, const char *name, const wick_value *value, wick_error **error) {
  API_NEED(node);
  API_NEED(name);
  API_NEED(value);
  Change c = {.node = node_of(node), .ivalue = value->value};
  API_TRY(name_of(name, "attr::", &c.kind));
  if (!constant_is_possible(c.ivalue))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value can't be an attribute"), error);
  return api_status(ir_protect(c.node->graph, set_attribute, &c), error);
}

/* ---- values ---- */

wick_node *wick_ir_value_node(const wick_ir_value *value) {
  return value ? node_shown(value_of(value)->node) : NULL;
}
wick_status wick_ir_value_name(const wick_ir_value *value, char **out_text, wick_error **error) {
  StrBuf text = {0};
  API_OUT(out_text);
  API_NEED(value);
  const Value *v = value_of(value);
  if (v->name.length)
    strbuf_str(&text, v->name);
  else
    strbuf_printf(&text, "%u", v->unique);
  return api_status(strbuf_take(&text, out_text), error);
}
wick_status wick_ir_value_type(const wick_ir_value *value, char **out_text, wick_error **error) {
  StrBuf text = {.max_length = 1 << 20};
  API_OUT(out_text);
  API_NEED(value);
  type_print(value_of(value)->type, &text);
  return api_status(strbuf_take(&text, out_text), error);
}
size_t wick_ir_value_use_count(const wick_ir_value *value) {
  return value ? value_of(value)->uses.length : 0;
}
wick_node *wick_ir_value_user(const wick_ir_value *value, size_t i, size_t *out_input) {
  const Value *v = value_of(value);
  if (out_input) *out_input = 0;
  if (!value) return NULL;
  if (out_input) *out_input = i < v->uses.length ? v->uses.data[i].offset : 0;
  return i < v->uses.length ? node_shown(v->uses.data[i].user) : NULL;
}

static void replace(void *argument) {
  Change *c = argument;
  value_replace_all_uses_with(c->value, c->made_value);
}
wick_status wick_ir_value_replace(wick_ir_value *value, wick_ir_value *with, wick_error **error) {
  API_NEED(value);
  API_NEED(with);
  Change c = {.value = value_of(value), .made_value = value_of(with)};
  if (c.value->node->graph != c.made_value->node->graph)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "values of two graphs"), error);
  if (c.value == c.made_value) return WICK_OK;
  return api_status(ir_protect(c.value->node->graph, replace, &c), error);
}
wick_status wick_ir_value_constant(const wick_ir_value *value, wick_value **out, wick_error **error) {
  IValue constant;
  API_OUT(out);
  API_NEED(value);
  if (!value_is_constant(value_of(value), &constant)) return WICK_OK;
  return api_status(value_box(ivalue_retain(constant), out), error);
}
