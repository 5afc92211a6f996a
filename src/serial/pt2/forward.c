#include "serial/pt2/forward.h"

#include "serial/pt2/argument.h"
#include "serial/pt2/checks.h"
#include "serial/pt2/target.h"
#include "serial/pt2/tree_spec.h"

/* One of the values that the caller's arguments are made of. */
typedef struct Leaf {
  Str name; /* in the graph; empty: nothing there uses it */
  const Type *type;
  IValue constant; /* that it must be; borrowed of the graph */
  bool is_constant;
} Leaf;

typedef struct Forward {
  Pt2Builder *b;
  Pt2Attributes *attributes;
  const Json *program, *module, *signature, *call;
  Pt2Checks checks;
  Value *self;
  const TreeSpec *in, *out;
  Leaf *leaves;
  uint32_t leaf_count;
  const Type **leaf_types;
  Node *gradients; /* a dict of them by name; NULL: there are none */
} Forward;

/* ---- what the signature says of inputs ---- */

static const Json *member_of(const Forward *f, const Json *spec) {
  const Json *member = json_first(spec);
  if (!json_is_object(spec) || !member) pt2_fail(f->b, ERROR_DATA, "the signature is malformed");
  return member;
}

static IValue read_constant(const Forward *f, const Json *value) {
  IValue constant;
  if (json_get(value, "as_none")) return IVALUE_NONE;
  Value *made = pt2_argument_value(f->b, value, NULL);
  if (!value_is_constant(made, &constant)) pt2_fail(f->b, ERROR_DATA, "a constant input is malformed");
  return constant;
}
static const Type *type_of_constant(IValue value) {
  return value.tag == TAG_NONE ? type_optional_of(TYPE_TENSOR) : ivalue_type(value, type_store_process());
}

static void read_leaf(const Forward *f, const Json *spec, Leaf *out) {
  const Json *member = member_of(f, spec);
  if (str_is(json_key(member), "constant_input")) {
    out->name = pt2_text(f->b, member, "name");
    out->constant = read_constant(f, json_get(member, "value"));
    out->is_constant = true;
    out->type = type_of_constant(out->constant);
    return;
  }
  const Json *argument = json_get(member, "arg");
  out->name = pt2_argument_name(argument);
  if (out->name.length) {
    out->type = pt2_argument_type(f->b, argument);
  } else {
    out->constant = read_constant(f, argument);
    out->is_constant = true;
    out->type = type_of_constant(out->constant);
  }
}

static void read_leaves(Forward *f) {
  const Json *specs = json_array(f->signature, "input_specs");
  Arena *arena = f->b->graph->arena;
  f->leaves = ARENA_ARRAY(arena, Leaf, json_count(specs) + 1);
  for (const Json *e = json_first(specs); e; e = json_next(e)) {
    if (pt2_input_kind(e)) continue;
    const Json *member = member_of(f, e);
    Str kind = json_key(member);
    if (str_is(kind, "token")) /* of effects' order, which is that of nodes */
      pt2_define(f->b, pt2_text(f->b, json_get(member, "arg"), "name"), pt2_constant(f->b, IVALUE_NONE));
    else if (str_is(kind, "user_input") || str_is(kind, "constant_input"))
      read_leaf(f, e, &f->leaves[f->leaf_count++]);
    else
      pt2_fail(f->b, ERROR_UNSUPPORTED, "an input of the kind '" STR_FMT "'", PT2_SHORT(kind));
  }
  f->leaf_types = ARENA_ARRAY(arena, const Type *, f->leaf_count + 1);
  for (uint32_t i = 0; i < f->leaf_count; i++) f->leaf_types[i] = f->leaves[i].type;
}

/* ---- arguments ---- */

/* Messages' formats have no braces of names. */
static const char *label(const Forward *f, const char *outer, const char *form, Str key) {
  char *text = arena_printf(f->b->graph->arena, form, outer, (int)(key.length < 60 ? key.length : 60), key.data);
  for (char *c = text; *c; c++)
    if (*c == '{' || *c == '}') *c = '?';
  return text;
}

static void take_leaf(Forward *f, const Leaf *leaf, Value *value, const char *what) {
  if (leaf->is_constant) {
    pt2_check_constant(f->b, value, leaf->constant, what);
    if (leaf->constant.tag == TAG_NONE) value = pt2_constant(f->b, IVALUE_NONE);
  } else {
    pt2_check_input(f->b, &f->checks, leaf->name, value, what, (uint32_t)(leaf - f->leaves));
  }
  if (leaf->name.length) pt2_define(f->b, leaf->name, value);
}

/* The children of a value, as values. */
static Value **take_apart(Forward *f, const TreeSpec *spec, Value *value) {
  Pt2Builder *b = f->b;
  if (spec->kind == TREE_TUPLE || spec->kind == TREE_NAMED_TUPLE) return graph_insert_tuple_unpack(b->graph, value);
  Value **children = ARENA_ARRAY(b->graph->arena, Value *, spec->count + 1);
  if (spec->kind == TREE_LIST) {
    Node *unpack = graph_create(b->graph, SYM_prim_ListUnpack, 1, &value, 0);
    for (uint32_t i = 0; i < spec->count; i++) children[i] = node_add_output(unpack, value->type->elements[0]);
    graph_insert_node(b->graph, unpack);
    return children;
  }
  for (uint32_t i = 0; i < spec->count; i++) {
    int64_t number;
    Value *key = spec->key_type->kind == TYPE_INT && str_to_int64(spec->keys[i], 10, &number)
                     ? pt2_constant(b, ivalue_int(number))
                     : pt2_string(b, spec->keys[i]);
    children[i] = PT2_EMIT(b, "aten::__getitem__", value, key);
  }
  return children;
}

/* What a list or dict of several types holds is asked for its own. */
static Value *as_type(Forward *f, Value *value, const Type *type, const char *what) {
  Pt2Builder *b = f->b;
  StrBuf text = {0};
  if (type_is_subtype(value->type, type, NULL)) return value;
  Node *test = graph_create(b->graph, SYM_prim_isinstance, 1, &value, 1);
  node_set_types(test, SYM_attr_types, 1, &type);
  test->outputs[0]->type = TYPE(BOOL);
  graph_insert_node(b->graph, test);
  type_print_annotation(type, &text);
  Str name = arena_take_text(b->graph->arena, &text);
  pt2_raise_if(b, PT2_EMIT(b, "aten::__not__", test->outputs[0]),
               str_from(arena_printf(b->graph->arena, "%s is no " STR_FMT, what, STR_ARG(name))), 0, NULL);
  Node *cast = graph_create(b->graph, SYM_prim_unchecked_cast, 1, &value, 1);
  cast->outputs[0]->type = type;
  return graph_insert_node(b->graph, cast)->outputs[0];
}

static void take_value(Forward *f, const TreeSpec *spec, const Leaf *leaves, Value *value, const char *what) {
  value = as_type(f, value, tree_spec_type(f->b->graph->store, spec, &f->leaf_types[leaves - f->leaves]), what);
  if (spec->kind == TREE_LEAF) {
    take_leaf(f, leaves, value, what);
    return;
  }
  Value **children = take_apart(f, spec, value);
  for (uint32_t i = 0; i < spec->count; i++) {
    Str number = str_from(arena_printf(f->b->graph->arena, "%u", i));
    const char *inner = spec->kind == TREE_NAMED_TUPLE ? label(f, what, "%s.%.*s", spec->keys[i])
                        : spec->kind == TREE_DICT && spec->key_type->kind != TYPE_INT
                            ? label(f, what, "%s['%.*s']", spec->keys[i])
                        : spec->kind == TREE_DICT ? label(f, what, "%s[%.*s]", spec->keys[i])
                                                  : label(f, what, "%s[%.*s]", number);
    take_value(f, &spec->children[i], leaves, children[i], inner);
    leaves += spec->children[i].leaves;
  }
}

/* What the file calls the parameter; else the name of its first value. */
static Str parameter_name(const Forward *f, const TreeSpec *spec, const Leaf *leaf, uint32_t i) {
  const Json *names = json_array(f->call, "forward_arg_names"), *e = json_first(names);
  Str name;
  for (uint32_t k = 0; e && k < i; k++) e = json_next(e);
  if (e && json_string(e, &name) && name.length) return name;
  if (spec->kind == TREE_LEAF && leaf->name.length) return leaf->name;
  return str_from(arena_printf(f->b->graph->arena, "argument_%u", i));
}

typedef struct Parameter {
  const TreeSpec *spec;
  const Leaf *leaves;
  const Type *type;
  Str name;
  Value *value;
} Parameter;

static void add_parameters(Forward *f, const TreeSpec *group, uint32_t first_leaf, uint32_t before, Parameter *out) {
  Pt2Builder *b = f->b;
  for (uint32_t i = 0; i < group->count; i++) {
    const TreeSpec *spec = &group->children[i];
    Parameter *p = &out[before + i];
    *p = (Parameter){.spec = spec, .leaves = &f->leaves[first_leaf]};
    p->type = tree_spec_type(b->graph->store, spec, &f->leaf_types[first_leaf]);
    p->name = group->kind == TREE_DICT ? group->keys[i] : parameter_name(f, spec, p->leaves, before + i);
    if (p->name.length && p->name.data[0] >= '0' && p->name.data[0] <= '9') /* graphs have numbers of their own */
      pt2_fail(b, ERROR_DATA, "an argument is called '" STR_FMT "', which is no name", PT2_SHORT(p->name));
    p->value = graph_add_input(b->graph, p->name, p->type);
    first_leaf += spec->leaves;
  }
}

/* (args, kwargs) */
static void take_arguments(Forward *f) {
  const TreeSpec *in = f->in;
  bool fits = in->kind == TREE_TUPLE && in->count == 2 && in->children[0].kind == TREE_TUPLE &&
              in->children[1].kind == TREE_DICT && in->leaves == f->leaf_count;
  if (!fits) pt2_fail(f->b, ERROR_DATA, "the nesting of arguments does not fit the program's inputs");
  const TreeSpec *args = &in->children[0], *kwargs = &in->children[1];
  uint32_t count = args->count + kwargs->count;
  Parameter *parameters = ARENA_ARRAY(f->b->graph->arena, Parameter, count + 1);
  add_parameters(f, args, 0, 0, parameters);
  add_parameters(f, kwargs, args->leaves, args->count, parameters);
  for (uint32_t i = 0; i < count; i++)
    take_value(f, parameters[i].spec, parameters[i].leaves, parameters[i].value,
               label(f, "", "%s%.*s", parameters[i].name));
  pt2_checks_finish(f->b, &f->checks);
}

static void read_attributes(Forward *f) {
  for (const Json *e = json_first(json_array(f->signature, "input_specs")); e; e = json_next(e)) {
    const Pt2InputKind *row = pt2_input_kind(e);
    if (!row) continue;
    const Json *member = json_first(e);
    Value *value = pt2_attribute_value(f->b, f->attributes, f->self, pt2_text(f->b, member, row->name));
    pt2_define(f->b, pt2_text(f->b, json_get(member, "arg"), "name"), value);
  }
}

/* ---- results ---- */

/* What an output of the graph is for. */
static const struct {
  const char *kind, *name; /* "buffer_mutation", and the member that says of what */
  bool is_attribute;
} mutations[] = {{"buffer_mutation", "buffer_name", true},
                 {"parameter_mutation", "parameter_name", true},
                 {"user_input_mutation", "user_input_name", false}};

static bool read_mutation(Forward *f, const Json *member) {
  for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++) {
    if (!str_is(json_key(member), mutations[i].kind)) continue;
    Str name = pt2_text(f->b, member, mutations[i].name);
    Value *to =
        mutations[i].is_attribute ? pt2_attribute_value(f->b, f->attributes, f->self, name) : pt2_value(f->b, name);
    const Json *argument = json_get(member, "arg"); /* of a tensor, without its kind */
    Value *from = pt2_value(f->b, pt2_text(f->b, argument, "name"));
    if (to->type->kind != TYPE_TENSOR || from->type->kind != TYPE_TENSOR)
      pt2_fail(f->b, ERROR_DATA, "what is no tensor can't be written back");
    PT2_EMIT(f->b, "aten::copy_", to, from);
    return true;
  }
  return false;
}

/* Of programs that compute gradients, too: forward gives them by the names of what they are of. */
static const char *const gradients[][2] = {{"gradient_to_parameter", "parameter_name"},
                                           {"gradient_to_user_input", "user_input_name"}};
static bool read_gradient(Forward *f, const Json *member) {
  for (size_t i = 0; i < sizeof gradients / sizeof *gradients; i++) {
    if (!str_is(json_key(member), gradients[i][0])) continue;
    Value *name = pt2_string(f->b, pt2_text(f->b, member, gradients[i][1])),
          *gradient = pt2_value(f->b, pt2_text(f->b, json_get(member, "arg"), "name"));
    if (gradient->type->kind != TYPE_TENSOR) pt2_fail(f->b, ERROR_DATA, "a gradient that is no tensor");
    if (!f->gradients) {
      f->gradients = graph_create(f->b->graph, SYM_prim_DictConstruct, 0, NULL, 1);
      f->gradients->outputs[0]->type = type_dict(f->b->graph->store, TYPE(STRING), TYPE(TENSOR));
    }
    node_add_input(f->gradients, name);
    node_add_input(f->gradients, gradient);
    return true;
  }
  return false;
}

static uint32_t read_results(Forward *f, Value **out) {
  uint32_t count = 0;
  for (const Json *e = json_first(json_array(f->signature, "output_specs")); e; e = json_next(e)) {
    const Json *member = member_of(f, e);
    if (read_mutation(f, member) || read_gradient(f, member) || str_is(json_key(member), "token")) continue;
    if (!str_is(json_key(member), "user_output") && !str_is(json_key(member), "loss_output"))
      pt2_fail(f->b, ERROR_UNSUPPORTED, "an output of the kind '" STR_FMT "'", PT2_SHORT(json_key(member)));
    const Json *argument = json_get(member, "arg");
    out[count++] = json_get(argument, "name") ? pt2_value(f->b, pt2_text(f->b, argument, "name"))
                                              : pt2_argument_value(f->b, argument, NULL);
  }
  return count;
}

static Value *make_dict(Forward *f, const TreeSpec *spec, const Type *type, Value *const *children) {
  Pt2Builder *b = f->b;
  Node *node = graph_create(b->graph, SYM_prim_DictConstruct, 0, NULL, 1);
  node->outputs[0]->type = type;
  for (uint32_t i = 0; i < spec->count; i++) {
    int64_t number;
    node_add_input(node, spec->key_type->kind == TYPE_INT && str_to_int64(spec->keys[i], 10, &number)
                             ? pt2_constant(b, ivalue_int(number))
                             : pt2_string(b, spec->keys[i]));
    node_add_input(node, children[i]);
  }
  return graph_insert_node(b->graph, node)->outputs[0];
}

static Value *put_together(Forward *f, const TreeSpec *spec, Value *const *leaves, const Type *const *types) {
  Pt2Builder *b = f->b;
  if (spec->kind == TREE_LEAF) return leaves[0];
  const Type *type = tree_spec_type(b->graph->store, spec, types);
  Value **children = ARENA_ARRAY(b->graph->arena, Value *, spec->count + 1);
  for (uint32_t i = 0; i < spec->count; i++) {
    children[i] = put_together(f, &spec->children[i], leaves, types);
    leaves += spec->children[i].leaves;
    types += spec->children[i].leaves;
  }
  if (spec->kind == TREE_DICT) return make_dict(f, spec, type, children);
  if (spec->kind == TREE_LIST) return graph_insert_list(b->graph, type->elements[0], spec->count, children);
  return graph_insert_tuple(b->graph, spec->count, children, spec->kind == TREE_NAMED_TUPLE ? type : NULL);
}

static void give_results(Forward *f) {
  Arena *arena = f->b->graph->arena;
  size_t most = json_count(json_array(f->signature, "output_specs"));
  Value **results = ARENA_ARRAY(arena, Value *, most + 1);
  const Type **types = ARENA_ARRAY(arena, const Type *, most + 1);
  uint32_t count = read_results(f, results);
  if (count != f->out->leaves) pt2_fail(f->b, ERROR_DATA, "the nesting of results does not fit the program's outputs");
  for (uint32_t i = 0; i < count; i++) types[i] = results[i]->type;
  Value *result = put_together(f, f->out, results, types);
  if (f->gradients) {
    Value *both[] = {result, graph_insert_node(f->b->graph, f->gradients)->outputs[0]};
    result = graph_insert_tuple(f->b->graph, 2, both, NULL);
  }
  graph_register_output(f->b->graph, result);
}

/* ---- the whole ---- */

/* Of the program's own call: the entry with an empty name. */
static const Json *find_call(const Json *module) {
  Str name;
  for (const Json *e = json_first(json_array(module, "module_call_graph")); e; e = json_next(e))
    if (json_string(json_get(e, "fqn"), &name) && !name.length) return json_object(e, "signature");
  return NULL;
}

void pt2_build_forward(Pt2Builder *b, Pt2Attributes *attributes, const Json *program) {
  const Json *module = json_object(program, "graph_module"), *graph = json_object(module, "graph");
  Forward f = {.b = b,
               .attributes = attributes,
               .program = program,
               .module = module,
               .signature = json_object(module, "signature"),
               .call = find_call(module)};
  Pt2Scope scope;
  if (!graph || !f.signature || !f.call) pt2_fail(b, ERROR_DATA, "the program has no graph, signature or call");
  pt2_check_targets(b, graph);
  pt2_scope_init(b, &scope);
  f.self = graph_add_input(b->graph, STR("self"), &pt2_attributes_class(attributes)->type);
  const Json *fields = json_get(module, "treespec_namedtuple_fields");
  f.in = tree_spec_read(b->graph->arena, pt2_text(b, f.call, "in_spec"), fields);
  f.out = tree_spec_read(b->graph->arena, pt2_text(b, f.call, "out_spec"), fields);
  pt2_checks_init(b, &f.checks, program);
  read_leaves(&f);
  read_attributes(&f);
  take_arguments(&f);
  pt2_build_nodes(b, graph);
  give_results(&f);
  b->scope = scope.outer;
}
