/* See node_form.h: what the types of a node must say, kind by kind; counts and attributes stand in node_kind.c. Types
 * are compared whatever is known of tensors, for passes learn and forget that at every place on its own. */
#include "ir/node_form.h"

#include "call/operator.h"
#include "ir/ir_internal.h"
#include "ir/node_kind.h"
#include "schema/open_types.h"

/* ---- types ---- */

static bool is_number(const Type *type) {
  switch (type->kind) {
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX:
    case TYPE_BOOL:
    case TYPE_NUMBER:
      return true;
    case TYPE_OPTIONAL:
      return is_number(type->elements[0]);
    case TYPE_UNION:
      for (uint32_t i = 0; i < type->count; i++)
        if (is_number(type->elements[i])) return true;
      return false;
    default:
      return false;
  }
}

static bool fits(const Node *node, const Type *actual, const Type *formal) {
  if (type_is_subtype_unrefined(actual, formal)) return true;
  if (!node->graph->numbers_erased) return false;
  return (actual->kind == TYPE_TENSOR && is_number(formal)) || (formal->kind == TYPE_TENSOR && is_number(actual));
}

static const Type *input_type(const Node *node, uint32_t i) {
  return node_input(node, i)->type;
}
static const Type *output_type(const Node *node, uint32_t i) {
  return node_output(node, i)->type;
}

static bool inputs_fit(const Node *node, const Type *type) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!fits(node, input_type(node, i), type)) return false;
  return true;
}
static bool outputs_fit(const Node *node, const Type *type) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (!fits(node, type, output_type(node, i))) return false;
  return true;
}

/* Outputs [from, ...) of the block against those of the node. */
static bool gives_outputs(const Node *node, const Block *block, uint32_t from) {
  if (block_output_count(block) != node->output_count + from) return false;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (!fits(node, block_output(block, i + from)->type, output_type(node, i))) return false;
  return true;
}

/* ---- constants ---- */

const char *form_constant(const Node *node) {
  const Value *output = node_output(node, 0);
  IValue value;
  if (output->type->kind == TYPE_FUNCTION) {
    const NodeAttribute *name = node_attribute(node, SYM_attr_name);
    return name && name->tag == ATTR_STRING ? NULL : "a function needs its name";
  }
  return value_is_constant(output, &value) && ivalue_is_instance(value, output->type) ? NULL
                                                                                      : "the value is none of the type";
}

/* ---- control flow ---- */

const char *form_if(const Node *node) {
  if (!fits(node, input_type(node, 0), TYPE(BOOL))) return "the condition is no bool";
  for (int i = 0; i < 2; i++)
    if (block_input_count(node->blocks[i]) || !gives_outputs(node, node->blocks[i], 0))
      return "a block does not give the node's outputs";
  return NULL;
}

const char *form_loop(const Node *node) {
  const Block *body = node->blocks[0];
  if (!fits(node, input_type(node, 0), TYPE(INT)) || !fits(node, input_type(node, 1), TYPE(BOOL)))
    return "the trip count is no int or the condition no bool";
  if (node->output_count != node->input_count - 2 || block_input_count(body) != node->output_count + 1 ||
      !gives_outputs(node, body, 1) || !fits(node, TYPE(INT), block_input(body, 0)->type) ||
      !fits(node, block_output(body, 0)->type, TYPE(BOOL)))
    return "inputs, outputs and block do not agree";
  for (uint32_t i = 0; i < node->output_count; i++) {
    const Type *carried = block_input(body, i + 1)->type;
    if (!fits(node, input_type(node, i + 2), carried) || !fits(node, block_output(body, i + 1)->type, carried) ||
        !fits(node, input_type(node, i + 2), output_type(node, i)))
      return "what the loop carries changes its type";
  }
  return NULL;
}

const char *form_grad_of(const Node *node) {
  const Block *formula = node->blocks[0];
  if (block_input_count(formula) || !gives_outputs(node, formula, 0) || !outputs_fit(node, TYPE(TENSOR)))
    return "the block does not give the node's outputs";
  return NULL;
}

const char *form_subgraph(const Node *node) {
  const Graph *graph = node_attribute(node, SYM_attr_Subgraph)->g;
  return graph_input_count(graph) == node->input_count ? NULL : "the Subgraph takes another number of inputs";
}

/* Beside a callable the Subgraph is for people to look at. */
const char *form_group(const Node *node) {
  const Graph *graph = node_attribute(node, SYM_attr_Subgraph)->g;
  if (node->callable) return NULL;
  if (graph_output_count(graph) != node->output_count) return "the Subgraph gives another number of outputs";
  return form_subgraph(node);
}

const char *form_call(const Node *node) {
  switch (input_type(node, 0)->kind) {
    case TYPE_FUNCTION:
      return node->kind == SYM_prim_CallFunction ? NULL : "a function has no methods";
    case TYPE_CLASS:
    case TYPE_INTERFACE:
      return node->kind != SYM_prim_CallFunction ? NULL : "an object is no function";
    default:
      return "the first input can't be called";
  }
}

const char *form_call_method(const Node *node) {
  const NodeAttribute *name = node_attribute(node, SYM_attr_name);
  return name && name->tag == ATTR_STRING ? form_call(node) : "the method has no name";
}

/* ---- objects ---- */

const char *form_attribute(const Node *node) {
  const Type *type = input_type(node, 0);
  if (type->kind != TYPE_CLASS) return "the first input is no object";
  ptrdiff_t slot = class_type_find_attribute(type->class_type, node_string(node, SYM_attr_name));
  if (slot < 0) return "the class has no such attribute";
  const Type *attribute = type->class_type->attributes.data[slot].type;
  bool get = node->kind == SYM_prim_GetAttr;
  return (get ? fits(node, attribute, output_type(node, 0)) : fits(node, input_type(node, 1), attribute))
             ? NULL
             : "the attribute is of another type";
}

const char *form_create_object(const Node *node) {
  return output_type(node, 0)->kind == TYPE_CLASS ? NULL : "only objects of a class can be created";
}

const char *form_is_instance(const Node *node) {
  return fits(node, TYPE(BOOL), output_type(node, 0)) ? NULL : "the answer is a bool";
}

const char *form_enum(const Node *node) {
  return fits(node, input_type(node, 0), TYPE(ANY_ENUM)) ? NULL : "the input is no enum";
}

const char *form_annotate(const Node *node) {
  return fits(node, input_type(node, 0), output_type(node, 0)) ? NULL : "the input is none of the type";
}

const char *form_unwrap(const Node *node) {
  const Type *type = input_type(node, 0);
  if (type->kind == TYPE_OPTIONAL) type = type->elements[0];
  return type->kind == TYPE_NONE || type->kind == TYPE_UNION || fits(node, type, output_type(node, 0))
             ? NULL
             : "the input is none of the type";
}

/* ---- containers ---- */

const char *form_list(const Node *node) {
  const Type *type = output_type(node, 0);
  return type->kind == TYPE_LIST && inputs_fit(node, type->elements[0]) ? NULL : "the elements make no such list";
}

const char *form_list_unpack(const Node *node) {
  const Type *type = input_type(node, 0);
  return type->kind == TYPE_LIST && outputs_fit(node, type->elements[0]) ? NULL : "the list holds no such elements";
}

const char *form_dict(const Node *node) {
  const Type *type = output_type(node, 0);
  bool fine = type->kind == TYPE_DICT && node->input_count % 2 == 0;
  for (uint32_t i = 0; fine && i < node->input_count; i++)
    fine = fits(node, input_type(node, i), type->elements[i % 2]);
  return fine ? NULL : "keys and values make no such dict";
}

const char *form_tuple(const Node *node) {
  const Type *type = output_type(node, 0);
  bool fine = type->kind == TYPE_TUPLE && type->count == node->input_count;
  for (uint32_t i = 0; fine && i < node->input_count; i++) fine = fits(node, input_type(node, i), type->elements[i]);
  return fine ? NULL : "the elements make no such tuple";
}

const char *form_tuple_unpack(const Node *node) {
  const Type *type = input_type(node, 0);
  bool fine = type->kind == TYPE_TUPLE && type->count == node->output_count;
  for (uint32_t i = 0; fine && i < node->output_count; i++) fine = fits(node, type->elements[i], output_type(node, i));
  return fine ? NULL : "the tuple holds no such elements";
}

const char *form_tuple_index(const Node *node) {
  const Type *type = input_type(node, 0);
  IValue index;
  if (type->kind != TYPE_TUPLE || !fits(node, input_type(node, 1), TYPE(INT))) return "a tuple and an int are needed";
  if (!value_is_constant(node_input(node, 1), &index) || index.tag != TAG_INT) return NULL;
  int64_t at = index.i < 0 ? index.i + type->count : index.i;
  return at >= 0 && at < (int64_t)type->count && fits(node, type->elements[at], output_type(node, 0))
             ? NULL
             : "the tuple holds no such element";
}

const char *form_tuple_slice(const Node *node) {
  const Type *type = input_type(node, 0), *result = output_type(node, 0);
  int64_t begin = node_int(node, SYM_attr_beg), end = node_int(node, SYM_attr_end);
  bool fine = type->kind == TYPE_TUPLE && result->kind == TYPE_TUPLE && begin >= 0 && begin <= end &&
              end <= (int64_t)type->count && end - begin == (int64_t)result->count;
  for (uint32_t i = 0; fine && i < result->count; i++)
    fine = fits(node, type->elements[begin + i], result->elements[i]);
  return fine ? NULL : "the tuple holds no such slice";
}

/* ---- tensors ---- */

const char *form_tensors(const Node *node) {
  return inputs_fit(node, TYPE(TENSOR)) && outputs_fit(node, TYPE(TENSOR)) ? NULL : "it takes and gives tensors";
}

const char *form_chunk(const Node *node) {
  int64_t chunks = node_int(node, SYM_attr_chunks);
  if (chunks < 1 || chunks > UINT16_MAX || (uint64_t)chunks * node->input_count != node->output_count)
    return "there are not as many outputs as chunks";
  return form_tensors(node);
}

const char *form_chunk_sizes(const Node *node) {
  if (node_int(node, SYM_attr_chunks) < 1) return "there are no chunks";
  const Type *sizes = type_list_of(TYPE_INT);
  return inputs_fit(node, sizes) && outputs_fit(node, sizes) ? NULL : "it takes and gives sizes";
}

const char *form_pass_on(const Node *node) {
  if (node->output_count > node->input_count) return "there is nothing to pass on";
  return node->output_count ? form_annotate(node) : NULL;
}

const char *form_type_check(const Node *node) {
  const NodeAttribute *types = node_attribute(node, SYM_attr_types);
  if (types->count != node->input_count || node->output_count != node->input_count + 1)
    return "inputs, outputs and types do not agree";
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!fits(node, input_type(node, i), output_type(node, i))) return "an output is of another type";
  return fits(node, TYPE(BOOL), output_type(node, node->input_count)) ? NULL : "the answer is a bool";
}

/* ---- of all kinds ---- */

/* prim::tolist has a form because its result's type stands on the node. */
bool kind_is_of_language(Symbol kind) {
  return node_kind(kind)->has_form && kind != SYM_prim_tolist;
}

static bool is_within(uint32_t count, uint16_t min, uint16_t max) {
  return count >= min && (max == FORM_MANY || count <= max);
}

static const char *check_form(const Node *node, const NodeKind *kind) {
  if (!is_within(node->input_count, kind->min_inputs, kind->max_inputs)) return "it takes another number of inputs";
  if (!is_within(node->output_count, kind->min_outputs, kind->max_outputs)) return "it gives another number of outputs";
  if (node->block_count != kind->blocks) return "it has another number of blocks";
  for (int i = 0; i < FORM_MAX_ATTRIBUTES && kind->attributes[i].name; i++) {
    const NodeAttribute *attribute = node_attribute(node, kind->attributes[i].name);
    if (!attribute || attribute->tag != kind->attributes[i].tag) return "it lacks an attribute";
  }
  return kind->check ? kind->check(node) : NULL;
}

/* ---- operators ---- */

typedef struct OperatorCheck {
  const Node *node;
  const char *wrong;
} OperatorCheck;

/* Where the schema leaves a result open the row may say its type; who does not say it may give anything. */
static bool gives_open_type(const Node *node, const FunctionSchema *schema, uint32_t i) {
  if (!schema->open || !schema->open->outputs.count) return true;
  const Type *type = schema_output_type(schema, i, node->output_count);
  return type && fits(node, type, output_type(node, i));
}

static bool gives_returns(const Node *node, const FunctionSchema *schema, const Map *bindings) {
  if (!schema->is_varret && node->output_count != schema->return_count) return false;
  for (uint32_t i = 0; i < node->output_count; i++) {
    const Type *type = i < schema->return_count ? schema->returns[i].type : TYPE(ANY);
    if (type->kind == TYPE_ANY && !gives_open_type(node, schema, i)) return false;
    if (type->has_var) type = type_substitute(node->graph->store, type, bindings);
    if (type && !fits(node, type, output_type(node, i)) && !fits(node, output_type(node, i), type)) return false;
  }
  return true;
}

static bool stands_for(const Node *node, const Type *actual, const Type *formal) {
  return fits(node, actual, formal) || (actual->kind == TYPE_TENSOR && formal->kind == TYPE_TENSOR);
}

/* What an operator of plans leaves calls to takes the node's inputs, the first of them at least, and gives its outputs.
 */
static const char *check_body(const Node *node, const Graph *body) {
  if (graph_input_count(body) > node->input_count) return "the Subgraph takes more inputs";
  if (graph_output_count(body) != node->output_count) return "the Subgraph gives another number of outputs";
  for (uint32_t i = 0; i < graph_input_count(body); i++)
    if (!stands_for(node, input_type(node, i), graph_input(body, i)->type))
      return "the Subgraph takes another type of input";
  for (uint32_t i = 0; i < node->output_count; i++)
    if (!stands_for(node, graph_output(body, i)->type, output_type(node, i)))
      return "the Subgraph gives another type of output";
  return NULL;
}

/* The overload that was chosen, or the first that takes the inputs. */
static void check_operator(void *argument) {
  OperatorCheck *c = argument;
  const Node *node = c->node;
  bool is_operator = false;
  for (const Operator *op = operator_find_symbol(node->kind); op; op = op->next) {
    Map bindings;
    if (op->flags & OP_BUILTIN || (node->op && node->op != op)) continue;
    is_operator = true;
    map_init(&bindings, node->graph->arena);
    if (!schema_takes_inputs(node, operator_schema(op), &bindings)) continue;
    const NodeAttribute *body = operator_is_of_plans(op) ? node_attribute(node, SYM_attr_Subgraph) : NULL;
    if (!gives_returns(node, operator_schema(op), &bindings)) c->wrong = "the outputs are not those of the schema";
    if (!c->wrong && body) c->wrong = check_body(node, body->g);
    return;
  }
  if (is_operator) c->wrong = "no schema fits the node's inputs";
}

/* Binding type variables allocates, in the graph and among its types: what throws is caught here, for who asks has
 * something to release. */
static Status protect(const Graph *graph, void (*body)(void *argument), void *argument) {
  Arena *types = graph->store->is_process ? NULL : &graph->store->arena;
  Catch c, *outer = graph->arena->catch_point, *outer_of_types = types ? types->catch_point : NULL;
  if (catch_enter(&c)) {
    graph->arena->catch_point = &c;
    if (types) types->catch_point = &c;
    body(argument);
  }
  graph->arena->catch_point = outer;
  if (types) types->catch_point = outer_of_types;
  return c.status;
}

Status node_check_form(const Node *node, const char **out) {
  const NodeKind *kind = node_kind(node->kind);
  const NodeAttribute *subgraph = node_attribute(node, SYM_attr_Subgraph);
  OperatorCheck check = {.node = node};
  *out = NULL;
  if (subgraph && subgraph->tag != ATTR_GRAPH)
    *out = "its Subgraph is no graph";
  else if (kind->has_form)
    *out = check_form(node, kind);
  if (*out || kind->has_form || node->graph->numbers_erased) return OK;
  TRY(protect(node->graph, check_operator, &check));
  *out = check.wrong;
  return OK;
}
