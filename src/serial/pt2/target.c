/* An operator is looked up by its name and overload in the registry, so that whatever has a row can be called. What
 * programs of torch.export call besides, or call otherwise than TorchScript does, is one row here. */
#include "serial/pt2/target.h"

#include "call/operator.h"
#include "call/operator_library.h"
#include "serial/pt2/argument.h"
#include "serial/pt2/autocast.h"
#include "serial/pt2/higher_order.h"
#include "serial/pt2/source_place.h"

enum { MAX_GRAPH_DEPTH = 50 };

static const Json *first_of(const Json *node, const char *key) {
  return json_first(json_array(node, key));
}
static void define(Pt2Builder *b, const Json *node, Value *value) {
  pt2_define_outputs(b, first_of(node, "outputs"), 1, &value);
}

/* ---- numbers ---- */

/* The node's arguments as values, at most `max` of them; how many. */
static uint32_t read_arguments(Pt2Builder *b, const Json *node, uint32_t max, Value **out) {
  uint32_t count = 0;
  for (const Json *e = json_first(json_array(node, "inputs")); e; e = json_next(e)) {
    if (count == max) pt2_fail(b, ERROR_DATA, "more than %u arguments", max);
    out[count++] = pt2_argument_value(b, json_get(e, "arg"), NULL);
  }
  return count;
}
static void need(const Pt2Builder *b, uint32_t count, uint32_t wanted) {
  if (count < wanted) pt2_fail(b, ERROR_DATA, "%u arguments, not %u", count, wanted);
}

static void build_call(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  Value *arguments[4];
  uint32_t count = read_arguments(b, node, 4, arguments);
  define(b, node, pt2_emit(b, target->op, count, arguments));
}
/* Tensors' sizes and strides, of which nodes name the dimension by position. */
static void build_power(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  Value *arguments[2];
  need(b, read_arguments(b, node, 2, arguments), 2);
  Value *power = pt2_emit(b, target->op, 2, arguments);
  bool is_int = arguments[0]->type->kind == TYPE_INT && arguments[1]->type->kind == TYPE_INT;
  define(b, node, is_int && power->type->kind != TYPE_INT ? PT2_EMIT(b, "aten::Int", power) : power);
}
static void build_same(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  Value *argument;
  (void)target;
  need(b, read_arguments(b, node, 1, &argument), 1);
  define(b, node, argument);
}
/* To a number of that kind, unless it is one. */
static void build_conversion(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  Value *argument;
  need(b, read_arguments(b, node, 1, &argument), 1);
  const char *kind = argument->type->kind == TYPE_INT     ? "aten::Int"
                     : argument->type->kind == TYPE_FLOAT ? "aten::Float"
                                                          : "";
  define(b, node, strcmp(kind, target->op) == 0 ? argument : PT2_EMIT(b, target->op, argument));
}
/* sym_ite: one of two numbers. */
static void build_choice(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  Value *arguments[3];
  (void)target;
  need(b, read_arguments(b, node, 3, arguments), 3);
  if (arguments[0]->type->kind != TYPE_BOOL || arguments[1]->type != arguments[2]->type)
    pt2_fail(b, ERROR_DATA, "a choice between values of different types");
  Node *choice = graph_create_if(b->graph, arguments[0]);
  graph_insert_node(b->graph, choice);
  for (int i = 0; i < 2; i++) block_register_output(choice->blocks[i], arguments[1 + i]);
  define(b, node, node_add_output(choice, arguments[1]->type));
}
/* The number that a tensor holds: of the kind that the output has. */
static void build_item(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  static const struct {
    const char *kind, *op;
  } ops[] = {{"as_sym_int", "aten::Int"}, {"as_sym_float", "aten::Float"}, {"as_sym_bool", "aten::Bool"}};
  Value *argument;
  (void)target;
  need(b, read_arguments(b, node, 1, &argument), 1);
  const Json *kind = json_first(json_first(json_array(node, "outputs")));
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (kind && str_is(json_key(kind), ops[i].kind)) {
      define(b, node, PT2_EMIT(b, ops[i].op, argument));
      return;
    }
  pt2_fail(b, ERROR_UNSUPPORTED, "a number of this kind");
}

/* ---- assertions ---- */

/* _assert_scalar(condition, message) */
static void build_assert(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  Value *arguments[2];
  IValue message;
  (void)target;
  need(b, read_arguments(b, node, 2, arguments), 2);
  Value *condition = arguments[0];
  if (condition->type->kind != TYPE_BOOL) condition = PT2_EMIT(b, "aten::Bool", condition);
  if (!value_is_constant(arguments[1], &message) || message.tag != TAG_STRING) pt2_fail(b, ERROR_DATA, "no message");
  pt2_raise_if(b, PT2_EMIT(b, "aten::__not__", condition), STR("{}"), 1, &arguments[1]);
}

/* _assert_tensor_metadata(tensor, size, stride, dtype, *, device, layout): each may be None. */
static void build_assert_metadata(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  static const struct {
    const char *name, *op;
    Str format;
  } parts[] = {{"size", "aten::size", STR("Tensor sizes mismatch! Expected: {}, Got: {}")},
               {"stride", "aten::stride", STR("Tensor strides mismatch! Expected: {}, Got: {}")},
               {"dtype", "prim::dtype", STR("Tensor dtype mismatch! Expected: {}, Got: {}")},
               {"layout", "prim::layout", STR("Tensor layout mismatch! Expected: {}, Got: {}")}};
  Value *tensor = NULL;
  (void)target;
  for (const Json *e = json_first(json_array(node, "inputs")); e; e = json_next(e)) {
    Str name = pt2_text(b, e, "name");
    const Json *argument = json_get(e, "arg");
    if (!tensor) {
      tensor = pt2_argument_value(b, argument, TYPE(TENSOR));
      if (tensor->type->kind != TYPE_TENSOR) pt2_fail(b, ERROR_DATA, "no tensor");
      continue;
    }
    if (json_get(argument, "as_none")) continue;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
      if (!str_is(name, parts[i].name)) continue;
      Value *values[2] = {pt2_argument_value(b, argument, NULL), PT2_EMIT(b, parts[i].op, tensor)};
      pt2_raise_if(b, PT2_EMIT(b, "aten::ne", values[1], values[0]), parts[i].format, 2, values);
    }
  }
}

/* ---- operators of the registry ---- */

#define OPS "torch.ops."

/* "torch.ops.aten.add.Tensor": aten::add, Tensor. False: it is not of that form. */
typedef struct OpName {
  Str name, overload;
} OpName;
static bool split_name(const Pt2Builder *b, Str target, OpName *out) {
  if (!str_starts_with(target, OPS) || target.length > 300) return false;
  Str rest = str_slice(target, strlen(OPS), target.length);
  ptrdiff_t first = str_find_char(rest, '.'), last = str_rfind_char(rest, '.');
  if (first <= 0 || last <= first) return false;
  Str space = str_slice(rest, 0, (size_t)first), name = str_slice(rest, (size_t)first + 1, (size_t)last);
  out->name = str_from(arena_printf(b->graph->arena, STR_FMT "::" STR_FMT, STR_ARG(space), STR_ARG(name)));
  out->overload = str_slice(rest, (size_t)last + 1, rest.length);
  if (str_is(out->overload, "default")) out->overload = STR("");
  return true;
}

/* A call of an operator: what it is given and what it gives, the first of each. */
typedef struct OpCall {
  OpName name;
  const Json *inputs, *outputs;
} OpCall;

/* A bool where a tensor is wanted: the type of the result goes by it, as by a tensor without dimensions. */
static NamedValue bool_as_tensor(Pt2Builder *b, const Type *type, NamedValue value) {
  if (type && type->kind == TYPE_OPTIONAL) type = type->elements[0];
  bool is_bool = value.is_constant ? value.constant.tag == TAG_BOOL : value.value->type->kind == TYPE_BOOL;
  if (!is_bool || !type || type->kind != TYPE_TENSOR) return value;
  return (NamedValue){.value = PT2_EMIT(b, "aten::tensor", named_value(b->graph, &value))};
}
/* full of a bool gives bools: TorchScript's takes numbers, and is told the dtype. */
static bool wants_bool_dtype(const FunctionSchema *schema, const Json *inputs) {
  bool is_bool = false, has_dtype = false;
  Str name;
  for (const Json *e = inputs; e; e = json_next(e)) {
    const Json *argument = json_get(e, "arg");
    if (!json_string(json_get(e, "name"), &name)) continue;
    is_bool = is_bool || (str_is(name, "fill_value") && json_get(argument, "as_bool"));
    has_dtype = has_dtype || str_is(name, "dtype");
  }
  return is_bool && !has_dtype && str_is(schema->name, "aten::full");
}

/* The arguments as the schema names them; a number where it wants a tensor's stands for one. */
static void read_call(Pt2Builder *b, const Json *inputs, const FunctionSchema *schema, CallArguments *out) {
  uint32_t most = 0, at = 0;
  for (const Json *e = inputs; e; e = json_next(e)) most++;
  NamedValue *positional = ARENA_ARRAY(b->graph->arena, NamedValue, most + 1),
             *keywords = ARENA_ARRAY(b->graph->arena, NamedValue, most + 2);
  *out = (CallArguments){.positional = positional, .keywords = keywords};
  for (const Json *e = inputs; e; e = json_next(e), at++) {
    Str name = pt2_text(b, e, "name");
    ptrdiff_t place = schema_find_argument(schema, name);
    int64_t kind = 0;
    json_int(json_get(e, "kind"), &kind);
    bool is_positional = kind != 2 && out->keyword_count == 0 &&
                         (place < 0 || (place == (ptrdiff_t)at && !schema->arguments[place].kwarg_only));
    if (is_positional) place = (ptrdiff_t)at;
    const Type *type = place >= 0 && place < (ptrdiff_t)schema->argument_count ? schema->arguments[place].type : NULL;
    NamedValue value = bool_as_tensor(b, type, pt2_argument(b, json_get(e, "arg"), type));
    if (type && type->kind == TYPE_NUMBER && !value.is_constant && value.value->type->kind == TYPE_BOOL)
      value.value = PT2_EMIT(b, "aten::Int", value.value);
    if (is_positional) {
      positional[out->count++] = value;
    } else {
      value.name = name;
      keywords[out->keyword_count++] = value;
    }
  }
  if (wants_bool_dtype(schema, inputs))
    keywords[out->keyword_count++] =
        (NamedValue){.name = STR("dtype"), .constant = ivalue_int(DTYPE_BOOL), .is_constant = true};
}

static void define_results(Pt2Builder *b, const Json *outputs, Value *result, uint32_t returns) {
  Value **values = &result;
  if (returns > 1) values = graph_insert_tuple_unpack(b->graph, result);
  pt2_define_outputs(b, outputs, returns, values);
}

/* Of overloads with a number in the place of a tensor, and a bool as that number, the one with the tensor: TorchScript
 * takes no bool for a number, and an int gives ints where a bool gives bools. */
static const Operator *find_operator(const OpCall *of) {
  static const char *const tensor_overloads[] = {"Tensor", "self"};
  const Operator *op = operator_find_overload(of->name.name, of->name.overload), *other = NULL;
  bool has_bool = false;
  for (const Json *e = of->inputs; e && !has_bool; e = json_next(e))
    has_bool = json_get(json_get(e, "arg"), "as_bool") != NULL;
  if (!has_bool || !str_starts_with(of->name.overload, "Scalar")) return op;
  for (size_t i = 0; i < 2 && !other; i++) other = operator_find_overload(of->name.name, str_from(tensor_overloads[i]));
  return other ? other : op;
}

static void build_operator(Pt2Builder *b, const OpCall *of) {
  const OpName *name = &of->name;
  const Operator *op = find_operator(of);
  CallArguments call;
  MatchedSchema matched;
  StrBuf why = {.max_length = 2000};
  const FunctionSchema *schema = operator_schema(op);
  pt2_try(b, operator_schema_status(schema));
  pt2_try(b, operator_check_name(op));
  read_call(b, of->inputs, schema, &call);
  bool fits =
      !(op->flags & OP_BUILTIN) && schema_try_match(b->graph, schema, b->graph->range, &call, true, &why, &matched);
  if (fits) {
    strbuf_dispose(&why);
    Symbol kind = symbol_intern(name->name);
    if (kind == SYMBOL_NONE) pt2_try(b, status_out_of_memory());
    pt2_autocast_inputs(b, op, &matched);
    Node *made = operator_insert_node(b->graph, op, kind, b->graph->range, &matched);
    pt2_define_outputs(b, of->outputs, made->output_count, made->outputs);
    return;
  }
  /* A number in the place of a tensor, ...: another overload takes it. */
  strbuf_dispose(&why);
  define_results(b, of->outputs, operator_emit(b->graph, b->exec, name->name, b->graph->range, &call),
                 schema->return_count);
}

/* Another operator of the registry, without overload, in the place of this one. */
static void build_other(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  build_operator(b, &(OpCall){{str_from(target->op), STR("")}, first_of(node, "inputs"), first_of(node, "outputs")});
}

/* with_effects(token, operator, arguments...) gives a token and what the operator gives. Tokens say in which order to
 * run what has effects, which is that of the nodes: they stand for None. */
static const char effects[] = "torch.ops.higher_order.with_effects";

static Str operator_with_effects(const Json *node) {
  Str name;
  const Json *first = first_of(node, "inputs"), *second = first ? json_next(first) : NULL;
  return json_string(json_get(json_get(second, "arg"), "as_operator"), &name) ? name : STR("");
}
static void build_effects(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  const Json *inputs = first_of(node, "inputs"), *outputs = first_of(node, "outputs");
  OpName name;
  (void)target;
  if (!outputs || !split_name(b, operator_with_effects(node), &name))
    pt2_fail(b, ERROR_DATA, "no operator with effects");
  Value *token = pt2_argument_value(b, json_get(inputs, "arg"), NULL);
  pt2_define(b, pt2_argument_name(outputs), token);
  build_operator(b, &(OpCall){name, json_next(json_next(inputs)), json_next(outputs)});
}

/* ---- the table ---- */

static const Pt2Target targets[] = {
    {"_operator.add", build_call, "aten::add"},
    {"_operator.sub", build_call, "aten::sub"},
    {"_operator.mul", build_call, "aten::mul"},
    {"_operator.truediv", build_call, "aten::div"},
    {"_operator.floordiv", build_call, "aten::floordiv"},
    {"_operator.mod", build_call, "aten::remainder"},
    {"_operator.pow", build_power, "aten::pow"},
    {"_operator.neg", build_call, "aten::neg"},
    {"_operator.pos", build_same, NULL},
    {"_operator.eq", build_call, "aten::eq"},
    {"_operator.ne", build_call, "aten::ne"},
    {"_operator.lt", build_call, "aten::lt"},
    {"_operator.le", build_call, "aten::le"},
    {"_operator.gt", build_call, "aten::gt"},
    {"_operator.ge", build_call, "aten::ge"},
    {"_operator.and_", build_call, "aten::__and__"},
    {"_operator.or_", build_call, "aten::__or__"},
    {"_operator.lshift", build_call, "aten::__lshift__"},
    {"_operator.rshift", build_call, "aten::__rshift__"},
    {"math.trunc", build_conversion, "aten::Int"},
    {"math.ceil", build_call, "aten::ceil"},
    {"math.floor", build_call, "aten::floor"},
    {"math.sqrt", build_call, "aten::sqrt"},
    {"torch.sym_int", build_conversion, "aten::Int"},
    {"torch.sym_float", build_conversion, "aten::Float"},
    {"torch.sym_not", build_call, "aten::__not__"},
    {"torch.sym_max", build_call, "prim::max"},
    {"torch.sym_min", build_call, "prim::min"},
    {"torch.sym_ite", build_choice, NULL},
    {"torch.sym_sqrt", build_call, "aten::sqrt"},
    {"torch._sym_sqrt", build_call, "aten::sqrt"},
    {"torch.ops.aten.sym_size.int", build_call, "aten::size"},
    {"torch.ops.aten.sym_size.default", build_call, "aten::size"},
    {"torch.ops.aten.sym_stride.int", build_call, "aten::stride"},
    {"torch.ops.aten.sym_stride.default", build_call, "aten::stride"},
    {"torch.ops.aten.sym_numel.default", build_call, "aten::numel"},
    {"torch.ops.aten.sym_storage_offset.default", build_call, "aten::storage_offset"},
    /* Whether a view is possible depends on strides, and export relies on those that its own kernels give. */
    {"torch.ops.aten.view.default", build_other, "aten::reshape"},
    {"torch.ops.aten.item.default", build_item, NULL},
    {"torch.ops.aten._local_scalar_dense.default", build_item, NULL},
    {effects, build_effects, NULL},
    {"torch.ops.aten._assert_scalar.default", build_assert, NULL},
    {"torch.ops.aten._assert_tensor_metadata.default", build_assert_metadata, NULL},
};

static const Pt2Target *find_target(Str name) {
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (str_is(name, targets[i].name)) return &targets[i];
  bool is_higher =
      str_starts_with(name, "torch.ops.higher_order.") || str_starts_with(name, "torch._higher_order_ops.");
  for (size_t i = 0; i < pt2_higher_order_count && is_higher; i++)
    if (str_is(str_after_last(name, '.'), pt2_higher_order_targets[i].name)) return &pt2_higher_order_targets[i];
  return NULL;
}

static void build_node(Pt2Builder *b, const Json *node) {
  Str target = pt2_text(b, node, "target"), name = STR("");
  OpName op;
  json_string(json_get(node, "name"), &name);
  if (!name.length) name = pt2_argument_name(json_first(json_array(node, "outputs")));
  const char *outer = b->where;
  SourceRange range = b->graph->range;
  b->graph->range = pt2_source_place(b, node);
  b->where = arena_printf(b->graph->arena, "node " STR_FMT " (" STR_FMT ")", PT2_SHORT(name), PT2_SHORT(target));
  const Pt2Target *row = find_target(target);
  if (row)
    row->build(b, row, node);
  else if (split_name(b, target, &op))
    build_operator(b, &(OpCall){op, first_of(node, "inputs"), first_of(node, "outputs")});
  b->where = outer;
  b->graph->range = range;
}
void pt2_build_nodes(Pt2Builder *b, const Json *graph) {
  for (const Json *e = json_first(json_array(graph, "nodes")); e; e = json_next(e)) build_node(b, e);
}

/* ---- what is missing ---- */

typedef struct Missing {
  const Pt2Builder *b;
  Map names;
} Missing;

/* Overloads that TorchScript has no way to call, as view.dtype, would become another one in a saved program. */
static bool is_known(const Pt2Builder *b, Str target) {
  OpName name;
  if (find_target(target)) return true;
  const Operator *op = split_name(b, target, &name) ? operator_find_overload(name.name, name.overload) : NULL;
  return op && !operator_schema(op)->is_blocked;
}
static void check_nodes(Missing *m, const Json *graph, uint32_t depth) {
  if (depth > MAX_GRAPH_DEPTH) pt2_fail(m->b, ERROR_DATA, "graphs within graphs are nested too deeply");
  for (const Json *node = json_first(json_array(graph, "nodes")); node; node = json_next(node)) {
    Str target = pt2_text(m->b, node, "target");
    if (str_is(target, effects)) target = operator_with_effects(node);
    if (!is_known(m->b, target)) map_put(&m->names, target, m);
    for (const Json *e = json_first(json_array(node, "inputs")); e; e = json_next(e)) {
      const Json *inner = json_get(json_get(json_get(e, "arg"), "as_graph"), "graph");
      if (inner) check_nodes(m, inner, depth + 1);
    }
  }
}
void pt2_check_targets(const Pt2Builder *b, const Json *graph) {
  Missing m = {b};
  map_init(&m.names, b->graph->arena);
  check_nodes(&m, graph, 0);
  if (!map_count(&m.names)) return;
  StrBuf text = {.max_length = 4000};
  for (MapEntry *e = map_next(&m.names, NULL); e; e = map_next(&m.names, e)) {
    OpName op;
    strbuf_printf(&text, "%s" STR_FMT, text.length ? ", " : "", PT2_SHORT(e->key));
    if (split_name(b, e->key, &op)) operator_library_print_reason(op.name, &text);
  }
  Str names = arena_take_text(b->graph->arena, &text);
  pt2_fail(b, ERROR_UNSUPPORTED, "the program calls what wick does not have: " STR_FMT, STR_ARG(names));
}
