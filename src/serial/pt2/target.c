/* An operator is looked up by its name and overload in the registry, so that whatever has a row can be called. What
 * programs of torch.export call besides, or call otherwise than TorchScript does, is one row here. */
#include "serial/pt2/target.h"

#include "call/operator_library.h"
#include "serial/pt2/argument.h"
#include "serial/pt2/functionalized.h"
#include "serial/pt2/higher_order.h"
#include "serial/pt2/operator_call.h"
#include "serial/pt2/source_place.h"

enum { MAX_GRAPH_DEPTH = 50 };

static const Json *first_of(const Json *node, const char *key) {
  return json_first(json_array(node, key));
}
static void define(Pt2Builder *b, const Json *node, Value *value) {
  pt2_define_outputs(b, first_of(node, "outputs"), 1, &value);
}

/* ---- numbers ---- */

/* The arguments from that one on as values, at most `max` of them; how many. */
static uint32_t read_arguments_from(Pt2Builder *b, const Json *first, uint32_t max, Value **out) {
  uint32_t count = 0;
  for (const Json *e = first; e; e = json_next(e)) {
    if (count == max) pt2_fail(b, ERROR_DATA, "more than %u arguments", max);
    out[count++] = pt2_argument_value(b, json_get(e, "arg"), NULL);
  }
  return count;
}
static uint32_t read_arguments(Pt2Builder *b, const Json *node, uint32_t max, Value **out) {
  return read_arguments_from(b, first_of(node, "inputs"), max, out);
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

/* Another operator of the registry in the place of this one: "aten::reshape", "aten::view_copy.dtype". */
static void build_other(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  Str name = str_from(target->op), overload = STR("");
  ptrdiff_t dot = str_find_char(name, '.');
  if (dot > 0) {
    overload = str_slice(name, (size_t)dot + 1, name.length);
    name = str_slice(name, 0, (size_t)dot);
  }
  pt2_build_call(b, &(Pt2OpCall){{name, overload}, first_of(node, "inputs"), first_of(node, "outputs")});
}

static const char view_as_dtype[] = "torch.ops.aten.view.dtype";

/* print(format, values...) */
static void print_values(Pt2Builder *b, const Json *first) {
  enum { MAX_VALUES = 20 };
  Value *values[MAX_VALUES];
  IValue format;
  Str name;
  for (const Json *e = first; e; e = json_next(e))
    if (json_string(json_get(e, "name"), &name) && name.length) pt2_fail(b, ERROR_UNSUPPORTED, "values by name");
  uint32_t count = read_arguments_from(b, first, MAX_VALUES, values);
  if (!count || !value_is_constant(values[0], &format) || format.tag != TAG_STRING)
    pt2_fail(b, ERROR_DATA, "no format");
  Str text = ivalue_str(format);
  for (size_t i = 0; i < text.length; i++) {
    if (text.data[i] == '{' && i + 1 < text.length && text.data[i + 1] == '}')
      i++;
    else if (text.data[i] == '{' || text.data[i] == '}')
      pt2_fail(b, ERROR_UNSUPPORTED, "a format that is more than {}");
  }
  Value *printed = count > 1 ? pt2_emit(b, "aten::format", count, values) : values[0];
  graph_insert_node(b->graph, graph_create(b->graph, SYM_prim_Print, 1, &printed, 0));
}

static const char print_name[] = "torch.ops.higher_order.print";
static void build_print(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  (void)target;
  print_values(b, first_of(node, "inputs"));
}

/* The operator of the registry; NULL: there is none. Overloads that TorchScript has no way to call would become another
 * one in a saved program. */
static const Operator *find_operator(const Pt2Builder *b, Str target) {
  Pt2OpName name;
  const Operator *op = pt2_split_name(b, target, &name) ? operator_find_overload(name.name, name.overload) : NULL;
  return op && !operator_schema(op)->is_blocked ? op : NULL;
}

/* with_effects(token, operator, arguments...) gives a token and what the operator gives. Tokens say in which order to
 * run what has effects, which is that of the nodes: they stand for None. */
static const char effects[] = "torch.ops.higher_order.with_effects";

/* The operator that a node of a higher order calls: what its arguments name first. Empty: there is none. */
static Str operator_within(const Json *node) {
  Str name;
  for (const Json *e = first_of(node, "inputs"); e; e = json_next(e))
    if (json_string(json_get(json_get(e, "arg"), "as_operator"), &name)) return name;
  return STR("");
}
static void build_effects(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  const Json *inputs = first_of(node, "inputs"), *outputs = first_of(node, "outputs");
  const Json *second = inputs ? json_next(inputs) : NULL;
  Pt2OpName name;
  Str called;
  (void)target;
  if (!outputs || !json_string(json_get(json_get(second, "arg"), "as_operator"), &called))
    pt2_fail(b, ERROR_DATA, "no operator with effects");
  bool prints = str_is(called, print_name);
  if (!prints && (!find_operator(b, called) || !pt2_split_name(b, called, &name)))
    pt2_fail(b, ERROR_UNSUPPORTED, "what has effects is no operator");
  Value *token = pt2_argument_value(b, json_get(inputs, "arg"), NULL);
  pt2_define(b, pt2_argument_name(outputs), token);
  if (prints)
    print_values(b, json_next(second));
  else
    pt2_build_call(b, &(Pt2OpCall){name, json_next(second), json_next(outputs)});
}

/* out_dtype(operator, dtype, arguments...) is the operator of arguments that are converted to the dtype that holds them
 * and the result, then converted to that. */
static void build_out_dtype(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  enum { MAX_ARGUMENTS = 10 };
  Value *arguments[MAX_ARGUMENTS + 1];
  NamedValue positional[MAX_ARGUMENTS];
  const Json *e = first_of(node, "inputs");
  const Operator *op = find_operator(b, operator_within(node));
  CallArguments call = {.positional = positional};
  (void)target;
  if (!e || !json_get(json_get(e, "arg"), "as_operator") || !op) pt2_fail(b, ERROR_DATA, "no operator");
  uint32_t count = read_arguments_from(b, json_next(e), MAX_ARGUMENTS + 1, arguments);
  if (!count || arguments[0]->type->kind != TYPE_INT) pt2_fail(b, ERROR_DATA, "no dtype");
  Value *given = arguments[0], *dtype = given;
  for (uint32_t i = 1; i < count; i++) {
    if (arguments[i]->type->kind == TYPE_FLOAT) pt2_fail(b, ERROR_UNSUPPORTED, "a number that is no int");
    if (arguments[i]->type->kind == TYPE_TENSOR)
      dtype = PT2_EMIT(b, "aten::promote_types", dtype, PT2_EMIT(b, "prim::dtype", arguments[i]));
  }
  for (uint32_t i = 1; i < count; i++) {
    bool is_tensor = arguments[i]->type->kind == TYPE_TENSOR;
    positional[call.count++] =
        (NamedValue){.value = is_tensor ? PT2_EMIT(b, "aten::to", arguments[i], dtype) : arguments[i]};
  }
  Pt2Results results = pt2_call_operator(b, op, &call);
  if (results.count != 1) pt2_fail(b, ERROR_DATA, "an operator that gives several values");
  define(b, node, PT2_EMIT(b, "aten::to", results.values[0], given));
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
    /* TorchScript takes a dtype for a size here. Nothing writes to what is viewed so: pt2_check_targets. */
    {view_as_dtype, build_other, "aten::view_copy.dtype"},
    {"torch.ops.aten.item.default", build_item, NULL},
    {"torch.ops.aten._local_scalar_dense.default", build_item, NULL},
    {effects, build_effects, NULL},
    {"torch.ops.higher_order.auto_functionalized", pt2_build_functionalized, NULL},
    {"torch.ops.higher_order.auto_functionalized_v2", pt2_build_functionalized_views, NULL},
    {"torch._higher_order_ops.auto_functionalize.auto_functionalized", pt2_build_functionalized, NULL},
    {"torch.ops.higher_order.out_dtype", build_out_dtype, NULL},
    {print_name, build_print, NULL},
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
  Pt2OpName op;
  json_string(json_get(node, "name"), &name);
  if (!name.length) name = pt2_argument_name(json_first(json_array(node, "outputs")));
  const char *outer = b->where;
  SourceRange range = b->graph->range;
  b->graph->range = pt2_source_place(b, node);
  b->where = arena_printf(b->graph->arena, "node " STR_FMT " (" STR_FMT ")", PT2_SHORT(name), PT2_SHORT(target));
  const Pt2Target *row = find_target(target);
  if (row)
    row->build(b, row, node);
  else if (pt2_split_name(b, target, &op))
    pt2_build_call(b, &(Pt2OpCall){op, first_of(node, "inputs"), first_of(node, "outputs")});
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
  bool writes, views_dtype;
} Missing;

static void check_node(Missing *m, const Json *node) {
  Str target = pt2_text(m->b, node, "target"), within = operator_within(node);
  const Operator *op = find_operator(m->b, target);
  if (!op && !find_target(target)) map_put(&m->names, target, m);
  if (within.length && !find_operator(m->b, within) && !find_target(within)) map_put(&m->names, within, m);
  m->writes = m->writes || (op && operator_schema(op)->is_mutable);
  m->views_dtype = m->views_dtype || str_is(target, view_as_dtype);
}
static void check_nodes(Missing *m, const Json *graph, uint32_t depth) {
  if (depth > MAX_GRAPH_DEPTH) pt2_fail(m->b, ERROR_DATA, "graphs within graphs are nested too deeply");
  for (const Json *node = json_first(json_array(graph, "nodes")); node; node = json_next(node)) {
    check_node(m, node);
    for (const Json *e = json_first(json_array(node, "inputs")); e; e = json_next(e)) {
      const Json *inner = json_get(json_get(json_get(e, "arg"), "as_graph"), "graph");
      if (inner) check_nodes(m, inner, depth + 1);
    }
  }
}
static bool is_of_transform(Str target) {
  return str_starts_with(target, "torch._functorch.") || str_starts_with(target, "torch._C._functorch.");
}
void pt2_check_targets(const Pt2Builder *b, const Json *graph) {
  Missing m = {b};
  bool has_transforms = false;
  map_init(&m.names, b->graph->arena);
  check_nodes(&m, graph, 0);
  if (m.views_dtype && m.writes)
    pt2_fail(b, ERROR_UNSUPPORTED,
             "the program views a tensor as another dtype (%s) and writes to tensors in place, "
             "which TorchScript can't say together; run_decompositions() before saving it takes out what writes",
             view_as_dtype);
  if (!map_count(&m.names)) return;
  StrBuf text = {.max_length = 4000};
  for (MapEntry *e = map_next(&m.names, NULL); e; e = map_next(&m.names, e)) {
    Pt2OpName op;
    strbuf_printf(&text, "%s" STR_FMT, text.length ? ", " : "", PT2_SHORT(e->key));
    if (pt2_split_name(b, e->key, &op)) operator_library_print_reason(op.name, &text);
    has_transforms = has_transforms || is_of_transform(e->key);
  }
  if (has_transforms) strbuf_printf(&text, "; run_decompositions() before saving the program takes out vmap and jvp");
  Str names = arena_take_text(b->graph->arena, &text);
  pt2_fail(b, ERROR_UNSUPPORTED, "the program calls what wick does not have: " STR_FMT, STR_ARG(names));
}
