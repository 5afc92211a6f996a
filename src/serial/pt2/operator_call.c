#include "serial/pt2/operator_call.h"

#include "serial/pt2/argument.h"
#include "serial/pt2/autocast.h"

#define OPS "torch.ops."

bool pt2_split_name(const Pt2Builder *b, Str target, Pt2OpName *out) {
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

/* Of overloads with a number in the place of a tensor, and a bool as that number, the one with the tensor: TorchScript
 * takes no bool for a number, and an int gives ints where a bool gives bools. */
static const Operator *find_operator(const Pt2OpCall *of) {
  static const char *const tensor_overloads[] = {"Tensor", "self"};
  const Operator *op = operator_find_overload(of->name.name, of->name.overload), *other = NULL;
  bool has_bool = false;
  for (const Json *e = of->inputs; e && !has_bool; e = json_next(e))
    has_bool = json_get(json_get(e, "arg"), "as_bool") != NULL;
  if (!has_bool || !str_starts_with(of->name.overload, "Scalar")) return op;
  for (size_t i = 0; i < 2 && !other; i++) other = operator_find_overload(of->name.name, str_from(tensor_overloads[i]));
  return other ? other : op;
}

Pt2Results pt2_call_operator(Pt2Builder *b, const Operator *op, const CallArguments *call) {
  const FunctionSchema *schema = operator_schema(op);
  MatchedSchema matched;
  StrBuf why = {.max_length = 2000};
  bool fits =
      !(op->flags & OP_BUILTIN) && schema_try_match(b->graph, schema, b->graph->range, call, true, &why, &matched);
  strbuf_dispose(&why);
  if (fits) {
    Symbol kind = symbol_intern(schema->name);
    if (kind == SYMBOL_NONE) pt2_try(b, status_out_of_memory());
    pt2_autocast_inputs(b, op, &matched);
    Node *made = operator_insert_node(b->graph, op, kind, b->graph->range, &matched);
    return (Pt2Results){made->output_count, made->outputs};
  }
  /* A number in the place of a tensor, ...: another overload takes it. */
  Value **result = ARENA_NEW(b->graph->arena, Value *);
  *result = operator_emit(b->graph, b->exec, schema->name, b->graph->range, call);
  if (schema->return_count > 1) return (Pt2Results){schema->return_count, graph_insert_tuple_unpack(b->graph, *result)};
  return (Pt2Results){schema->return_count, result};
}

void pt2_build_call(Pt2Builder *b, const Pt2OpCall *of) {
  const Operator *op = find_operator(of);
  CallArguments call;
  pt2_try(b, operator_schema_status(operator_schema(op)));
  pt2_try(b, operator_check_name(op));
  read_call(b, of->inputs, operator_schema(op), &call);
  Pt2Results results = pt2_call_operator(b, op, &call);
  pt2_define_outputs(b, of->outputs, results.count, results.values);
}
