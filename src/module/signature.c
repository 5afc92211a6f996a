/* On a copy of the graph, with calls inlined: attributes that the method leaves alone become constants, tensors among
 * them types, so that branches are known and operators' weights have sizes. Then backward for the inputs, and forward
 * for the outputs. */
#include "module/signature.h"

#include <assert.h>

#include "pass/pass.h"
#include "pass/types/input_demands.h"
#include "pass/types/shape_analysis.h"
#include "schema/schema.h"
#include "type/tensor_type.h"

typedef struct Finding {
  const Function *function;
  Object *self;
  Exec *exec;
  Signature *out;
  Graph *graph;
  PtrMap objects;   /* value -> the object it is */
  Map set_names;    /* attributes that the method sets, on whatever */
  const Node *dict; /* that makes the result, entry by entry; NULL: it is none */
} Finding;

static bool is_tensor(const Type *type) {
  return type->kind == TYPE_TENSOR || (type->kind == TYPE_OPTIONAL && type->elements[0]->kind == TYPE_TENSOR);
}

/* ---- the module in the graph ---- */

static void note_sets(Finding *f, const Block *block) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_SetAttr) map_put(&f->set_names, node_string(node, SYM_attr_name), node);
    for (uint32_t i = 0; i < node->block_count; i++) note_sets(f, node->blocks[i]);
  }
}

static void read_attribute(Finding *f, Node *node) {
  Graph *graph = f->graph;
  Object *object = ptrmap_get(&f->objects, node_input(node, 0));
  Str name = node_string(node, SYM_attr_name);
  ptrdiff_t at = object ? class_type_find_attribute(object->class_type, name) : -1;
  if (at < 0 || (uint32_t)at >= object->slot_count) return;
  IValue value = object_get(object, (uint32_t)at);
  graph_hold(graph, value);
  Value *result = node_output(node, 0);
  if (value.tag == TAG_OBJECT) {
    ptrmap_put(&f->objects, result, value.object);
  } else if (map_has(&f->set_names, name)) {
    return;
  } else if (value.tag == TAG_TENSOR && is_tensor(result->type)) {
    TensorInfo info;
    tensor_info_of(value.tensor, false, &info);
    result->type = type_tensor_refined(graph->store, &info);
  } else if (value.tag != TAG_TENSOR && constant_is_possible(value)) {
    graph_set_insert_point(graph, node);
    value_replace_all_uses_with(result, graph_insert_constant(graph, value, result->type));
  }
}

static void read_attributes(Finding *f, const Block *block) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_GetAttr) read_attribute(f, node);
    for (uint32_t i = 0; i < node->block_count; i++) read_attributes(f, node->blocks[i]);
  }
}

static void copy_graph(Finding *f) {
  TypeStore *store = &f->out->prepared->store;
  f->graph = f->out->prepared->graph = graph_copy(f->function->graph, &store->arena, store);
  inliner(f->graph);
  graph_require_stack(f->graph);
  erase_shape_information(f->graph); /* what a trace saw is no promise */
  if (f->self) {
    ptrmap_put(&f->objects, graph_input(f->graph, 0), f->self);
    note_sets(f, f->graph->block);
    read_attributes(f, f->graph->block);
  }
  constant_propagation(f->graph, f->exec);
  peephole_no_shapes(f->graph); /* whether something is None, which branches ask */
  constant_propagation(f->graph, f->exec);
  dead_code_elimination(f->graph);
}

/* ---- inputs and outputs ---- */

static void port_init(Port *port, Str name, const Type *type) {
  *port = (Port){.name = name, .type = type, .dtype = -1, .ndim = -1, .last = -1, .below = -1};
  for (int i = 0; i < TENSOR_MAX_DIMS; i++) port->sizes[i] = -1;
}

static int64_t known(int64_t wanted) {
  return wanted < 0 ? -1 : wanted;
}

static void describe_input(const Argument *argument, const Demand *demand, Port *port) {
  port_init(port, argument->name, argument->type);
  port->has_default = argument->has_default;
  if (!is_tensor(argument->type)) return;
  port->dtype = (int)known(demand->dtype);
  port->ndim = (int)known(demand->ndim);
  port->last = known(demand->last);
  port->below = known(demand->below);
  for (int i = 0; i < port->ndim; i++) port->sizes[i] = known(demand->sizes[i]);
}

static void describe_inputs(Finding *f) {
  const FunctionSchema *schema = f->function->schema;
  uint32_t first = f->function->class_type ? 1 : 0, count = graph_input_count(f->graph);
  Arena *arena = f->graph->arena;
  assert(count == schema->argument_count && count >= first);
  Demand *demands = ARENA_ARRAY(arena, Demand, count + 1);
  input_demands_find(f->graph, arena, demands);
  f->out->inputs = ARENA_ARRAY(arena, Port, count + 1);
  for (uint32_t i = first; i < count; i++)
    describe_input(&schema->arguments[i], &demands[i], &f->out->inputs[f->out->input_count++]);
}

/* Sets the type of an input's value; a rank that is open is taken to be `rank`. */
static void assume(Finding *f, Value *value, const Port *port, int rank) {
  TensorInfo info;
  if (value->type->kind != TYPE_TENSOR || port->dtype < 0) return;
  tensor_info_init(&info);
  info.dtype = port->dtype;
  info.ndim = port->ndim < 0 ? rank : port->ndim;
  info.undefined = 0;
  info.device_type = DEVICE_CPU;
  info.has_sizes = true;
  memcpy(info.sizes, port->sizes, sizeof info.sizes);
  if (info.ndim > 0) info.sizes[info.ndim - 1] = port->last;
  value->type = type_tensor_refined(f->graph->store, &info);
}

/* The names and declared types of what is given, and the values in the graph. The items of a tuple each, the entries of
 * a dict that is made with constant keys, else the one result. */
static void find_outputs(Finding *f) {
  const Value *value = graph_output(f->graph, 0);
  const Type *declared = f->function->schema->returns[0].type;
  const Node *made = value->node;
  IValue key;
  bool is_dict = declared->kind == TYPE_DICT && made->kind == SYM_prim_DictConstruct && value->uses.length == 1,
       is_tuple = declared->kind == TYPE_TUPLE;
  for (uint32_t i = 0; is_dict && i < made->input_count; i += 2)
    is_dict = value_is_constant(node_input(made, i), &key) && key.tag == TAG_STRING;
  f->dict = is_dict ? made : NULL;
  f->out->output_count = is_dict ? made->input_count / 2 : is_tuple ? declared->count : 1;
  f->out->outputs = ARENA_ARRAY(f->graph->arena, Port, f->out->output_count + 1);
  for (uint32_t i = 0; i < f->out->output_count; i++) {
    Str name = STR("");
    if (is_dict && value_is_constant(node_input(made, 2 * i), &key))
      name = (Str){key.string->data, key.string->length};
    else if (is_tuple && declared->field_names)
      name = declared->field_names[i];
    port_init(&f->out->outputs[i], name, is_dict ? declared->elements[1] : is_tuple ? declared->elements[i] : declared);
  }
}

static const TensorInfo *found_type(const Finding *f, uint32_t i) {
  const Value *value = graph_output(f->graph, 0);
  const Type *type = f->dict ? node_input(f->dict, 2 * i + 1)->type : value->type;
  if (!f->dict && f->function->schema->returns[0].type->kind == TYPE_TUPLE) {
    if (type->kind != TYPE_TUPLE || i >= type->count) return NULL;
    type = type->elements[i];
  }
  return type->kind == TYPE_TENSOR ? type->tensor : NULL;
}

static int64_t agreed(int64_t a, int64_t b) {
  return a == b ? a : -1;
}
/* What was found with one rank, beside what was with others: what they agree on. */
static void merge(Port *port, const TensorInfo *info) {
  bool is_first = port->dtype < 0;
  int64_t last = info->has_sizes && info->ndim > 0 ? known(info->sizes[info->ndim - 1]) : -1;
  if (!is_first && port->dtype != info->dtype) return;
  port->dtype = info->dtype;
  port->last = is_first ? last : agreed(port->last, last);
  port->ndim = is_first ? info->ndim : (int)agreed(port->ndim, info->ndim);
  for (int i = 0; i < port->ndim; i++) {
    int64_t size = info->has_sizes ? known(info->sizes[i]) : -1;
    port->sizes[i] = is_first ? size : agreed(port->sizes[i], size);
  }
}

/* Where the rank of an input is open, the usual ones are tried; one that the program can't be followed with tells
 * nothing. */
static void describe_outputs(Finding *f) {
  enum { LEAST_RANK = 1, MOST_RANK = 3 };
  uint32_t first = graph_input_count(f->graph) - f->out->input_count;
  bool is_open = false;
  find_outputs(f);
  for (uint32_t i = 0; i < f->out->input_count; i++) {
    const Port *port = &f->out->inputs[i];
    is_open |= port->dtype >= 0 && port->ndim < 0;
  }
  for (int rank = LEAST_RANK; rank <= (is_open ? MOST_RANK : LEAST_RANK); rank++) {
    for (uint32_t i = 0; i < f->out->input_count; i++)
      assume(f, graph_input(f->graph, first + i), &f->out->inputs[i], rank);
    shape_analysis_run(f->graph, f->exec, false);
    for (uint32_t i = 0; i < f->out->output_count; i++) {
      const TensorInfo *info = found_type(f, i);
      if (info && info->dtype >= 0 && is_tensor(f->out->outputs[i].type)) merge(&f->out->outputs[i], info);
    }
  }
}

static void find(void *argument) {
  Finding *f = argument;
  ptrmap_init(&f->objects, &f->out->prepared->store.arena);
  map_init(&f->set_names, &f->out->prepared->store.arena);
  copy_graph(f);
  describe_inputs(f);
  describe_outputs(f);
}

Status signature_find(const Function *function, Object *self, Exec *exec, Signature *out) {
  *out = (Signature){0};
  if (!function->graph || !function->schema)
    return status_internal("'" STR_FMT "' was not compiled", STR_ARG(function->name));
  TRY(prepared_graph_new(&function->unit->store, &out->prepared));
  Finding f = {.function = function, .self = self, .exec = exec, .out = out};
  Status status = arena_protect(&out->prepared->store.arena, find, &f);
  if (status) signature_dispose(out);
  return status;
}

void signature_dispose(Signature *signature) {
  prepared_graph_free(signature->prepared);
  *signature = (Signature){0};
}
