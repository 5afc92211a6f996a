/* See match.h. The rules are those of PyTorch 1.13: one schema alone is tried with conversions at once; of several each
 * is tried without conversions first, then each with them. Programs of 2.x convert bools to numbers besides. */
#include "ir/match.h"

#include "call/exec.h"
#include "call/operator.h"
#include "call/operator_library.h"
#include "ir/node_form.h"
#include "ir/node_kind.h"
#include "ir/unit.h"
#include "schema/bind.h"
#include "schema/open_types.h"

/* ---- inserting without a source range: what the program does not spell out has none ---- */

static Node *insert_plain(Graph *graph, Symbol kind, uint32_t count, Value *const *inputs, uint32_t output_count) {
  Node *node = graph_create(graph, kind, count, inputs, output_count);
  node->range = (SourceRange){0};
  return graph_insert_node(graph, node);
}

Value *named_value(Graph *graph, const NamedValue *argument) {
  if (!argument->is_constant) return argument->value;
  SourceRange range = graph->range;
  graph->range = (SourceRange){0};
  Value *value = graph_insert_constant(graph, argument->constant, NULL);
  graph->range = range;
  return value;
}

Value *graph_insert_list(Graph *graph, const Type *element, uint32_t count, Value *const *values) {
  Value *list = node_output(insert_plain(graph, SYM_prim_ListConstruct, count, values, 1), 0);
  list->type = type_list(graph->store, element);
  return list;
}

Value *graph_insert_tuple(Graph *graph, uint32_t count, Value *const *values, const Type *named) {
  Value *tuple = node_output(insert_plain(graph, SYM_prim_TupleConstruct, count, values, 1), 0);
  if (!named) {
    const Type **types = ARENA_ARRAY(graph->arena, const Type *, count ? count : 1);
    for (uint32_t i = 0; i < count; i++) types[i] = values[i]->type;
    named = type_tuple(graph->store, count, types);
  }
  tuple->type = named;
  return tuple;
}

Value **graph_insert_tuple_unpack(Graph *graph, Value *tuple) {
  assert(tuple->type->kind == TYPE_TUPLE);
  uint32_t count = tuple->type->count;
  Value **values = ARENA_ARRAY(graph->arena, Value *, count ? count : 1);
  if (tuple->node->kind == SYM_prim_TupleConstruct) {
    for (uint32_t i = 0; i < count; i++) values[i] = node_input(tuple->node, i);
    return values;
  }
  Node *node = insert_plain(graph, SYM_prim_TupleUnpack, 1, &tuple, count);
  for (uint32_t i = 0; i < count; i++) {
    node->outputs[i]->type = tuple->type->elements[i];
    values[i] = node->outputs[i];
  }
  return values;
}

/* ---- conversions ---- */

static const Type *unwrap_optional(const Type *type) {
  return type->kind == TYPE_OPTIONAL ? type->elements[0] : type;
}

bool type_converts_to_list(const Type *type, const Type *list_type) {
  if (list_type->kind != TYPE_LIST) return false;
  if (type_is_subtype(type, list_type, NULL)) return true;
  if (type->kind != TYPE_TUPLE) return false;
  for (uint32_t i = 0; i < type->count; i++)
    if (!type_is_subtype(type->elements[i], list_type->elements[0], NULL)) return false;
  return true;
}

static Value *insert_conversion(Graph *graph, const char *name, Value *value, SourceRange range) {
  NamedValue argument = {.value = value};
  CallArguments call = {.count = 1, .positional = &argument};
  return operator_emit(graph, NULL, str_from(name), range, &call);
}

Value *value_convert(Graph *graph, const Type *type, Value *value, bool allow_conversions, SourceRange range) {
  if (type->kind == TYPE_OPTIONAL && value->type->kind != TYPE_OPTIONAL && value->type->kind != TYPE_NONE)
    return value_convert(graph, type->elements[0], value, allow_conversions, range);

  if (type->kind == TYPE_LIST && value->node->kind == SYM_prim_EmptyListLiteral)
    value = graph_insert_list(graph, type->elements[0], 0, NULL);

  if (value->type->kind == TYPE_TUPLE) {
    const Type *list = unwrap_optional(type);
    if (type_converts_to_list(value->type, list)) {
      uint32_t count = value->type->count;
      value = graph_insert_list(graph, list->elements[0], count, graph_insert_tuple_unpack(graph, value));
    }
    if (type->kind == TYPE_TUPLE && value->type->kind == TYPE_TUPLE && type->count == value->type->count &&
        !type_is_subtype(value->type, type, NULL)) {
      uint32_t count = type->count;
      Value **unpacked = graph_insert_tuple_unpack(graph, value);
      Value **converted = ARENA_ARRAY(graph->arena, Value *, count ? count : 1);
      for (uint32_t i = 0; i < count; i++)
        converted[i] = value_convert(graph, type->elements[i], unpacked[i], allow_conversions, range);
      value = graph_insert_tuple(graph, count, converted, NULL);
    }
  }

  if (!allow_conversions) return value;
  if (value->type->kind == TYPE_TENSOR) {
    switch (type->kind) {
      case TYPE_FLOAT:
        return insert_conversion(graph, "aten::FloatImplicit", value, range);
      case TYPE_COMPLEX:
        return insert_conversion(graph, "aten::ComplexImplicit", value, range);
      case TYPE_INT:
        return insert_conversion(graph, "aten::IntImplicit", value, range);
      case TYPE_NUMBER:
        return insert_conversion(graph, "aten::ScalarImplicit", value, range);
      default:
        return value;
    }
  }
  if (value->type->kind == TYPE_NUMBER) {
    switch (type->kind) {
      case TYPE_FLOAT:
        return insert_conversion(graph, "aten::Float", value, range);
      case TYPE_COMPLEX:
        return insert_conversion(graph, "aten::Complex", value, range);
      case TYPE_INT:
        return insert_conversion(graph, "aten::Int", value, range);
      default:
        return value;
    }
  }
  if (value->type->kind == TYPE_BOOL && graph->torch_version == TORCH_2) {
    if (type->kind == TYPE_INT || type->kind == TYPE_NUMBER) return insert_conversion(graph, "aten::Int", value, range);
    if (type->kind == TYPE_FLOAT) return insert_conversion(graph, "aten::Float", value, range);
  }
  if (value->type->kind == TYPE_STRING && type->kind == TYPE_DEVICE)
    return insert_conversion(graph, "aten::device", value, range);
  return value;
}

/* ---- one argument ---- */

typedef struct Matcher {
  Graph *graph;
  const FunctionSchema *schema;
  SourceRange range;
  bool allow_conversions;
  Map bindings; /* type variables */
  StrBuf *why;
} Matcher;

/* What to write so that the value would fit. */
static void explain_mismatch(Matcher *m, const Type *type, const Value *value) {
  if (value->inferred) {
    strbuf_printf(m->why, "'%s' is taken for a Tensor because it has no annotation; write '%s: ", value->inferred,
                  value->inferred);
    type_print_annotation(type, m->why);
    strbuf_puts(m->why, "' if it is one.\n");
  } else if (value->type->kind == TYPE_OPTIONAL && type_is_subtype(value->type->elements[0], type, NULL)) {
    strbuf_puts(m->why, "The value may be None: check 'is not None' before.\n");
  }
}

static Value *match_argument(Matcher *m, const Argument *argument, Value *value) {
  Graph *graph = m->graph;
  if (argument_repeats(argument, (TypeKind)value->type->kind)) {
    uint32_t n = (uint32_t)argument->broadcast_n;
    Value **repeated = ARENA_ARRAY(graph->arena, Value *, n);
    for (uint32_t i = 0; i < n; i++) repeated[i] = value;
    value = graph_insert_list(graph, value->type, n, repeated);
  }

  const Type *type = argument->type;
  if (type->has_var) {
    StrBuf text = {0};
    if (!type_match_vars(graph->store, type, value->type, &m->bindings, m->why ? &text : NULL)) {
      if (m->why) {
        strbuf_puts(m->why, "Could not match type ");
        type_print_annotation(value->type, m->why);
        strbuf_puts(m->why, " to ");
        type_print_annotation(type, m->why);
        strbuf_printf(m->why, " in argument '" STR_FMT "': " STR_FMT ".\n", STR_ARG(argument->name),
                      STR_ARG(strbuf_view(&text)));
      }
      strbuf_dispose(&text);
      return NULL;
    }
    strbuf_dispose(&text);
    type = type_substitute(graph->store, argument->type, &m->bindings);
    if (!type) {
      if (m->why) {
        strbuf_puts(m->why, "Type variables in type ");
        type_print_annotation(argument->type, m->why);
        strbuf_puts(m->why, " could not be inferred from actual type ");
        type_print_annotation(value->type, m->why);
      }
      return NULL;
    }
  }

  value = value_convert(graph, type, value, m->allow_conversions, m->range);
  if (type_is_subtype(value->type, type, NULL)) return value;
  if (m->why) {
    argument_begin_mismatch(argument, m->why);
    type_print_annotation(value->type, m->why);
    if (value->inferred) strbuf_puts(m->why, " (inferred)");
    argument_end_mismatch(m->why);
    explain_mismatch(m, type, value);
    if (value->type->kind == TYPE_LIST && value->type->elements[0]->kind == TYPE_TENSOR)
      strbuf_puts(m->why,
                  "Empty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty "
                  "list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list "
                  "for Python 2)\n");
    type_is_subtype(value->type, type, m->why);
  }
  return NULL;
}

static Value *match_remaining(Matcher *m, const Argument *argument, const CallArguments *call, uint32_t from) {
  Argument element = {.name = STR("<varargs>"), .type = argument->type->elements[0]};
  uint32_t count = call->count - from;
  Value **values = ARENA_ARRAY(m->graph->arena, Value *, count ? count : 1);
  for (uint32_t i = 0; i < count; i++) {
    values[i] = match_argument(m, &element, named_value(m->graph, &call->positional[from + i]));
    if (!values[i]) return NULL;
  }
  return graph_insert_list(m->graph, element.type, count, values);
}

/* ---- defaults ---- */

static bool has_names(const Type *type) {
  if (type->kind != TYPE_TUPLE) return false;
  for (uint32_t i = 0; i < type->count; i++)
    if (has_names(type->elements[i])) return true;
  return type->field_names != NULL;
}

/* A default that is a NamedTuple is kept without its names. */
static Value *insert_default(Graph *graph, IValue value, const Type *type) {
  type = unwrap_optional(type);
  if (value.tag != TAG_TUPLE || !has_names(type)) {
    NamedValue constant = {.constant = value, .is_constant = true};
    return named_value(graph, &constant);
  }
  Value **items = ARENA_ARRAY(graph->arena, Value *, type->count + 1);
  for (uint32_t i = 0; i < type->count; i++)
    items[i] = insert_default(graph, value.tuple->values[i], type->elements[i]);
  return graph_insert_tuple(graph, type->count, items, type->field_names ? type : NULL);
}

/* ---- one schema ---- */

static Value *bound_value(Matcher *m, const CallArguments *call, const Argument *argument, Bound bound) {
  switch (bound.kind) {
    case BOUND_SELF:
      return named_value(m->graph, call->self);
    case BOUND_POSITION:
      return named_value(m->graph, &call->positional[bound.index]);
    case BOUND_KEYWORD:
      return named_value(m->graph, &call->keywords[bound.index]);
    default:
      return insert_default(m->graph, argument->default_value, argument->type);
  }
}

/* What stands at `Any` and after `...` is of the types that the operator's row says. */
static bool fit_open_types(Matcher *m, Value *const *inputs, uint32_t count) {
  if (!m->schema->open) return true;
  if (!schema_takes_count(m->schema, count)) {
    if (m->why) strbuf_printf(m->why, "It does not take %u arguments.\n", count);
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    const Type *type = schema_input_type(m->schema, i, count);
    if (!schema_input_is_open(m->schema, i) || open_type_takes(type, inputs[i]->type)) continue;
    if (!m->why) return false;
    strbuf_puts(m->why, "Expected a value of type '");
    type_print_annotation(type, m->why);
    strbuf_printf(m->why, "' for argument %u but instead found type '", i);
    type_print_annotation(inputs[i]->type, m->why);
    argument_end_mismatch(m->why);
    return false;
  }
  return true;
}

static bool match_all(Matcher *m, const CallArguments *call, Value **inputs, uint32_t *out_count) {
  const FunctionSchema *schema = m->schema;
  ArgumentBinder binder = {.schema = schema,
                           .positional_count = call->count,
                           .keyword_count = call->keyword_count,
                           .keywords = call->keyword_count ? &call->keywords->name : NULL,
                           .keyword_stride = sizeof *call->keywords,
                           .has_self = call->self != NULL};
  uint32_t input_count = 0;
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    const Argument *argument = &schema->arguments[i];
    Bound bound;
    if (!binder_next(&binder, i, &bound, m->why)) return false;
    Value *value = bound_value(m, call, argument, bound);
    if (bound.kind == BOUND_POSITION && m->allow_conversions && argument_takes_remaining(schema, i) &&
        !type_converts_to_list(value->type, argument->type) && value->type->kind != TYPE_LIST) {
      value = match_remaining(m, argument, call, bound.index);
      binder_take_remaining(&binder);
    } else {
      value = match_argument(m, argument, value);
    }
    if (!value) return false;
    inputs[input_count++] = value;
  }
  if (!binder_finish(&binder, m->why)) return false;
  for (uint32_t i = binder.used_positional; i < call->count; i++) /* of a vararg schema */
    inputs[input_count++] = named_value(m->graph, &call->positional[i]);
  *out_count = input_count;
  return fit_open_types(m, inputs, input_count);
}

bool schema_try_match(Graph *graph, const FunctionSchema *schema, SourceRange range, const CallArguments *call,
                      bool allow_conversions, StrBuf *why, MatchedSchema *out) {
  if (schema->is_blocked) return false;
  Matcher m = {.graph = graph, .schema = schema, .range = range, .allow_conversions = allow_conversions, .why = why};
  map_init(&m.bindings, graph->arena);
  Node *before = graph->insert_before->prev; /* everything the attempt inserts comes after it */
  uint32_t extra = schema->is_vararg ? call->count : 0;
  Value **inputs = ARENA_ARRAY(graph->arena, Value *, schema->argument_count + extra + 1);
  *out = (MatchedSchema){.schema = schema, .inputs = inputs, .return_count = schema->return_count};
  size_t why_before = why ? why->length : 0;
  if (why) { /* the schema on a line of its own; of what a program defines, without the names around it */
    FunctionSchema shown = *schema;
    ptrdiff_t dot = str_rfind_char(shown.name, '.');
    if (dot >= 0 && str_find_char(shown.name, ':') < 0) shown.name = str_slice(shown.name, (size_t)dot + 1, SIZE_MAX);
    strbuf_char(why, '\n');
    schema_print(&shown, why);
    strbuf_puts(why, ":\n");
  }
  bool fits = match_all(&m, call, inputs, &out->input_count);
  if (fits) {
    out->return_types = ARENA_ARRAY(graph->arena, const Type *, schema->return_count + 1);
    for (uint32_t i = 0; i < schema->return_count && fits; i++) {
      const Type *type = schema->returns[i].type;
      if (type->has_var) type = type_substitute(graph->store, type, &m.bindings);
      if (!type) {
        fits = false;
        if (why) strbuf_puts(why, "The return type has type variables that the arguments do not determine.\n");
      }
      out->return_types[i] = type;
    }
  }
  if (fits && why) strbuf_truncate(why, why_before);
  if (!fits)
    while (graph->insert_before->prev != before) node_destroy(graph->insert_before->prev);
  return fits;
}

/* Moves the collected reasons into the arena, so that the throw leaks nothing. */
static const char *take_text(Graph *graph, StrBuf *text, const char *prefix) {
  StrBuf lines = {0};
  Str s = strbuf_view(text);
  while (s.length) {
    ptrdiff_t end = str_find_char(s, '\n');
    Str line = str_slice(s, 0, end < 0 ? s.length : (size_t)end + 1);
    strbuf_puts(&lines, prefix);
    strbuf_str(&lines, line);
    s = str_slice(s, line.length, s.length);
  }
  const char *copy = arena_strndup(graph->arena, strbuf_view(&lines).data, strbuf_view(&lines).length);
  strbuf_dispose(&lines);
  strbuf_dispose(text);
  return copy;
}

MatchedSchema schema_match(Graph *graph, const FunctionSchema *schema, SourceRange range, const CallArguments *call) {
  MatchedSchema matched;
  if (schema_try_match(graph, schema, range, call, true, NULL, &matched)) return matched;
  StrBuf why = {.max_length = 1 << 16};
  schema_try_match(graph, schema, range, call, true, &why, &matched);
  graph_fail(graph, ERROR_COMPILE, range, "%s", take_text(graph, &why, ""));
}

static bool schema_has_tensor(const FunctionSchema *schema) {
  for (uint32_t i = 0; i < schema->argument_count; i++)
    if (schema->arguments[i].type->kind == TYPE_TENSOR) return true;
  return false;
}

/* Where bools convert, too, more schemas fit, and PyTorch's order counts: those of tensors come first, those of lists
 * last. */
static unsigned schema_turn(const FunctionSchema *schema) {
  if (schema_has_tensor(schema)) return 0;
  for (uint32_t i = 0; i < schema->argument_count; i++)
    if (schema->arguments[i].type->kind == TYPE_LIST) return 2;
  return 1;
}

uint32_t schemas_match(Graph *graph, uint32_t count, const FunctionSchema *const *schemas, SourceRange range,
                       const CallArguments *call, MatchedSchema *out) {
  assert(count);
  if (count == 1) {
    *out = schema_match(graph, schemas[0], range, call);
    return 0;
  }
  for (uint32_t i = 0; i < count; i++)
    if (schema_try_match(graph, schemas[i], range, call, false, NULL, out)) return i;
  for (unsigned turn = 0; turn < (graph->torch_version == TORCH_2 ? 3 : 1); turn++)
    for (uint32_t i = 0; i < count; i++)
      if ((graph->torch_version != TORCH_2 || schema_turn(schemas[i]) == turn) &&
          schema_try_match(graph, schemas[i], range, call, true, NULL, out))
        return i;
  StrBuf why = {.max_length = 1 << 16};
  for (unsigned other = 0; other < 2; other++) /* those of tensors first: they are meant most often */
    for (uint32_t i = 0; i < count; i++)
      if (schema_has_tensor(schemas[i]) != other) schema_try_match(graph, schemas[i], range, call, true, &why, out);
  graph_fail(graph, ERROR_COMPILE, range,
             "Arguments for call are not valid.\nThe following variants are available:\n%s\nThe original call is",
             take_text(graph, &why, "  "));
}

/* ---- operators ---- */

_Noreturn static void fail_unknown(Graph *graph, Str name, SourceRange range) {
  enum { MAX_SIMILAR = 5 };
  Str similar[MAX_SIMILAR];
  size_t count = operator_similar(name, similar, MAX_SIMILAR);
  StrBuf text = {0};
  for (size_t i = 0; i < count; i++) {
    strbuf_char(&text, '\t');
    strbuf_str(&text, similar[i]);
    strbuf_char(&text, '\n');
  }
  const char *names = take_text(graph, &text, "");
  text = (StrBuf){0};
  operator_library_print_reason(name, &text);
  const char *reason = take_text(graph, &text, "");
  if (count)
    graph_fail(graph, ERROR_COMPILE, range,
               "Unknown builtin op: " STR_FMT ".\nHere are some suggestions: \n%s\nThe original call is", STR_ARG(name),
               names);
  graph_fail(graph, ERROR_COMPILE, range,
             "Unknown builtin op: " STR_FMT "%s.\nCould not find any similar ops to " STR_FMT
             ". This op may not exist or may not be currently supported in TorchScript.\n",
             STR_ARG(name), reason, STR_ARG(name));
}

static Value *pack_outputs(Graph *graph, const MatchedSchema *m, uint32_t count, Value *const *values) {
  if (count == 1) return values[0];
  if (count == 0) {
    NamedValue none = {.is_constant = true};
    return named_value(graph, &none);
  }
  Str *names = ARENA_ARRAY(graph->arena, Str, count);
  const Type **types = ARENA_ARRAY(graph->arena, const Type *, count);
  bool all_named = true;
  for (uint32_t i = 0; i < count; i++) {
    names[i] = m->schema->returns[i].name;
    types[i] = values[i]->type;
    all_named &= names[i].length != 0;
  }
  return graph_insert_tuple(graph, count, values,
                            all_named ? type_named_tuple(graph->store, STR(""), count, types, names) : NULL);
}

static Value *inline_builtin(Graph *graph, Exec *exec, const Operator *op, SourceRange range, const MatchedSchema *m) {
  if (!exec || !exec->services || !exec->services->compile_body)
    graph_fail(graph, ERROR_UNSUPPORTED, range, STR_FMT " is written in TorchScript, which can't be compiled here",
               STR_ARG(op->name));
  Function *function = atomic_load_explicit(&op->body, memory_order_acquire);
  if (!function) {
    Status status = exec->services->compile_body(exec, op, &function);
    if (status) catch_throw(graph->arena->catch_point, status);
    atomic_store_explicit(&((Operator *)op)->body, function, memory_order_release);
  }
  uint32_t count = graph_output_count(function->graph);
  Value **values = ARENA_ARRAY(graph->arena, Value *, count ? count : 1);
  graph_inline(graph, function->graph, m->inputs, values);
  return pack_outputs(graph, m, count, values);
}

/* Only wick's own text names what passes make. */
static void check_name(Graph *graph, const Operator *op, SourceRange range) {
  if (range.source && range.source->is_own) return;
  Status status = operator_check_name(op);
  if (!status) return;
  const char *text = arena_printf(graph->arena, "%s", status->message);
  status_free(status);
  graph_fail(graph, ERROR_COMPILE, range, "%s", text);
}

Node *operator_insert_node(Graph *graph, const Operator *op, Symbol kind, SourceRange range, const MatchedSchema *m) {
  const char *misfit;
  Node *node = graph_create(graph, kind, m->input_count, m->inputs, 0);
  node->range = range;
  for (uint32_t i = 0; i < m->return_count; i++) node_add_output(node, m->return_types[i]);
  node->op = op;
  graph_insert_node(graph, node);
  if (!node_kind(kind)->has_form) return node; /* it fits the schema */
  Status status = node_check_form(node, &misfit);
  if (status) catch_throw(graph->arena->catch_point, status);
  if (misfit) graph_fail(graph, ERROR_COMPILE, range, STR_FMT ": %s", STR_ARG(op->name), misfit);
  return node;
}

Value *operator_emit(Graph *graph, Exec *exec, Str name, SourceRange range, const CallArguments *call) {
  uint32_t count = 0, at = 0;
  const Operator *first = operator_find(name);
  if (!first) fail_unknown(graph, name, range);
  check_name(graph, first, range);
  for (const Operator *op = first; op; op = op->next) count++;
  const Operator **ops = ARENA_ARRAY(graph->arena, const Operator *, count);
  const FunctionSchema **schemas = ARENA_ARRAY(graph->arena, const FunctionSchema *, count);
  for (unsigned rank = 0; rank < 3; rank++) /* as 1.13: tensors' own in-place forms, the rest, TorchScript text */
    for (const Operator *op = first; op; op = op->next)
      if ((op->flags & OP_BUILTIN ? 2 : op->variant == VARIANT_INPLACE ? 0 : 1) == rank) ops[at++] = op;
  for (uint32_t i = 0; i < count; i++) {
    schemas[i] = operator_schema(ops[i]);
    Status status = operator_schema_status(schemas[i]);
    if (status) catch_throw(graph->arena->catch_point, status);
  }
  MatchedSchema m;
  const Operator *op = ops[schemas_match(graph, count, schemas, range, call, &m)];
  if (op->flags & OP_BUILTIN) return inline_builtin(graph, exec, op, range, &m);
  Symbol kind = symbol_intern(name);
  if (kind == SYMBOL_NONE) catch_throw(graph->arena->catch_point, status_out_of_memory());
  Node *node = operator_insert_node(graph, op, kind, range, &m);
  return pack_outputs(graph, &m, node->output_count, node->outputs);
}
