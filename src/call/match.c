/* Chooses an overload for values and converts them to its parameters. */
#include "call/match.h"

#include "call/convert.h"
#include "call/operator_library.h"

enum { MAX_ARGUMENTS = sizeof((MatchedCall *)0)->inputs / sizeof(IValue) };

/* ---- one value, one type: *out is owned; false: does not fit; an error only when memory is short ---- */

static Status fit(IValue v, const Type *type, int32_t broadcast_n, bool written, Conversion allowed, IValue *out,
                  bool *out_fits);

static Status number_to_tensor(IValue v, IValue *out) {
  Tensor *t;
  switch (v.tag) {
    case TAG_INT:
      TRY(tensor_from_int(v.i, &t));
      break;
    case TAG_FLOAT:
      TRY(tensor_from_double(v.f, &t));
      break;
    case TAG_BOOL:
      TRY(tensor_from_bool(v.b, &t));
      break;
    default:
      TRY(tensor_from_complex(ivalue_complex(v), &t));
      break;
  }
  *out = ivalue_tensor(t);
  return OK;
}

/* A list from a list of other kind or a tuple, element by element; or of `broadcast_n` times one number. */
static Status fit_list(IValue v, const Type *type, int32_t broadcast_n, bool written, Conversion allowed, IValue *out,
                       bool *out_fits) {
  const Type *element = type->elements[0];
  if (v.tag == TAG_LIST && (element->kind == TYPE_VAR || ivalue_is_instance(v, type))) {
    *out = ivalue_retain(v);
    *out_fits = true;
    return OK;
  }
  bool repeated = broadcast_n > 0 && (v.tag == TAG_INT || v.tag == TAG_FLOAT || v.tag == TAG_BOOL);
  if (written || (v.tag != TAG_LIST && v.tag != TAG_TUPLE && !repeated)) return OK;
  size_t count = repeated ? (size_t)broadcast_n : v.tag == TAG_LIST ? v.list->length : v.tuple->length;
  List *list;
  TRY(list_new(element, count, &list));
  Status status = OK;
  bool fits = true;
  for (size_t i = 0; i < count && fits && status == OK; i++) {
    IValue item = repeated            ? v
                  : v.tag == TAG_LIST ? list_get(v.list, i)
                                      : ivalue_retain(v.tuple->values[i]),
           converted = IVALUE_NONE;
    fits = false;
    status = fit(item, element, 0, false, allowed, &converted, &fits);
    if (!repeated) ivalue_release(item);
    if (status == OK && fits) status = list_append(list, converted);
  }
  if (status == OK && fits) {
    *out = ivalue_list(list);
    *out_fits = true;
  } else {
    ivalue_release(ivalue_list(list));
  }
  return status;
}

static Status fit(IValue v, const Type *type, int32_t broadcast_n, bool written, Conversion allowed, IValue *out,
                  bool *out_fits) {
  *out_fits = false;
  *out = IVALUE_NONE;
  if (type->kind == TYPE_OPTIONAL) {
    if (v.tag == TAG_NONE) return *out_fits = true, OK;
    type = type->elements[0];
  }
  bool number = v.tag == TAG_INT || v.tag == TAG_FLOAT || v.tag == TAG_BOOL || v.tag == TAG_COMPLEX;
  switch (type->kind) {
    case TYPE_ANY:
    case TYPE_VAR:
      break;
    case TYPE_TENSOR:
      if (v.tag == TAG_TENSOR) break;
      if (!number || allowed < CONVERT_ANYTHING || written) return OK;
      *out_fits = true;
      return number_to_tensor(v, out);
    case TYPE_NUMBER:
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_BOOL:
    case TYPE_COMPLEX:
    case TYPE_DEVICE:
      if (ivalue_is_instance(v, type)) break;
      return value_convert_number(v, type, allowed, out, out_fits);
    case TYPE_LIST:
      return fit_list(v, type, broadcast_n, written, allowed, out, out_fits);
    default:
      if (type->has_var ? v.tag != (type->kind == TYPE_DICT    ? TAG_DICT
                                    : type->kind == TYPE_TUPLE ? TAG_TUPLE
                                                               : TAG_FUTURE)
                        : !ivalue_is_instance(v, type))
        return OK;
  }
  *out = ivalue_retain(v);
  *out_fits = true;
  return OK;
}

/* ---- one overload ---- */

void matched_call_dispose(MatchedCall *matched) {
  for (uint32_t i = 0; i < matched->input_count; i++) ivalue_release(matched->inputs[i]);
  matched->input_count = 0;
}

/* As messages name what was found. */
static void print_found(IValue v, StrBuf *out) {
  static const char *const names[] = {[TAG_NONE] = "NoneType",   [TAG_INT] = "int",
                                      [TAG_FLOAT] = "float",     [TAG_BOOL] = "bool",
                                      [TAG_DEVICE] = "Device",   [TAG_TENSOR] = "Tensor",
                                      [TAG_COMPLEX] = "complex", [TAG_STRING] = "str",
                                      [TAG_TUPLE] = "Tuple",     [TAG_DICT] = "Dict",
                                      [TAG_ENUM] = "Enum",       [TAG_FUNCTION] = "Function",
                                      [TAG_FUTURE] = "Future",   [TAG_GENERATOR] = "Generator",
                                      [TAG_STORAGE] = "Storage", [TAG_CAPSULE] = "Capsule"};
  if (v.tag == TAG_LIST) {
    strbuf_puts(out, "List[");
    type_print_annotation(v.list->element, out);
    strbuf_char(out, ']');
  } else if (v.tag == TAG_OBJECT) {
    type_print_annotation(&v.object->class_type->type, out);
  } else {
    strbuf_puts(out, v.tag < sizeof names / sizeof *names && names[v.tag] ? names[v.tag] : "value");
  }
}

static bool is_written(const Argument *a) {
  return a->alias && (a->alias->is_write || a->alias->contained_write);
}

/* The rest of the positional arguments stands for a last list: `view(2, 3)`. */
static bool takes_rest(const FunctionSchema *schema, uint32_t i) {
  const Argument *a = &schema->arguments[i];
  bool last = i + 1 == schema->argument_count || schema->arguments[i + 1].kwarg_only;
  return last && a->broadcast_n == 0 && a->type->kind == TYPE_LIST && a->type->elements[0]->kind == TYPE_INT;
}

static Status try_overload(const Operator *op, uint32_t count, const IValue *arguments, uint32_t named_count,
                           const KeywordValue *named, Conversion allowed, MatchedCall *out, bool *out_matches,
                           StrBuf *why) {
  const FunctionSchema *schema = operator_schema(op);
  uint32_t used = 0, used_named = 0;
  out->op = op;
  out->input_count = 0;
  *out_matches = false;
  TRY(operator_schema_status(schema));
  if (schema->argument_count > MAX_ARGUMENTS) return OK;
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    const Argument *a = &schema->arguments[i];
    const IValue *given = NULL;
    IValue rest = IVALUE_NONE, *slot = &out->inputs[i];
    ptrdiff_t by_name = -1;
    for (uint32_t k = 0; k < named_count; k++)
      if (str_equal(named[k].name, a->name)) by_name = (ptrdiff_t)k;
    if (used < count && !a->kwarg_only) {
      if (by_name >= 0) {
        if (why) strbuf_printf(why, "Argument " STR_FMT " specified twice.\n", STR_ARG(a->name));
        return OK;
      }
      if (takes_rest(schema, i) && arguments[used].tag == TAG_INT) {
        List *list;
        TRY(list_new(TYPE(INT), count - used, &list));
        while (used < count && arguments[used].tag == TAG_INT) list->ints[list->length++] = arguments[used++].i;
        rest = ivalue_list(list);
        given = &rest;
      } else {
        given = &arguments[used++];
      }
    } else if (by_name >= 0) {
      given = &named[by_name].value;
      used_named++;
    } else if (a->has_default) {
      *slot = ivalue_retain(a->default_value);
      out->input_count++;
      continue;
    } else {
      if (why) strbuf_printf(why, "Argument " STR_FMT " not provided.\n", STR_ARG(a->name));
      return OK;
    }
    bool fits;
    Status status = fit(*given, a->type, a->broadcast_n, is_written(a), allowed, slot, &fits);
    if (status == OK && !fits && why) {
      strbuf_puts(why, "Expected a value of type '");
      type_print_annotation(a->type, why);
      strbuf_printf(why, "' for argument '" STR_FMT "' but instead found type '", STR_ARG(a->name));
      print_found(*given, why);
      strbuf_puts(why, "'.\n");
    }
    ivalue_release(rest);
    if (status != OK || !fits) return status;
    out->input_count++;
  }
  if (schema->is_vararg) {
    while (used < count && out->input_count < MAX_ARGUMENTS)
      out->inputs[out->input_count++] = ivalue_retain(arguments[used++]);
  }
  if (used < count) {
    if (why) strbuf_printf(why, "Expected at most %u arguments but found %u positional arguments.\n", used, count);
    return OK;
  }
  if (used_named < named_count) {
    for (uint32_t k = 0; k < named_count && why; k++)
      if (schema_find_argument(schema, named[k].name) < 0)
        strbuf_printf(why, "Unknown keyword argument '" STR_FMT "'.\n", STR_ARG(named[k].name));
    return OK;
  }
  *out_matches = true;
  return OK;
}

/* ---- all overloads ---- */

static Status report_unknown(Str name) {
  Str similar[5];
  size_t count = operator_similar(name, similar, 5);
  StrBuf text = {0};
  strbuf_printf(&text, "Unknown builtin op: " STR_FMT, STR_ARG(name));
  operator_library_print_reason(name, &text);
  strbuf_puts(&text, ".\n");
  if (count == 0) {
    strbuf_printf(&text,
                  "Could not find any similar ops to " STR_FMT
                  ". This op may not exist or may not be currently supported in TorchScript.\n",
                  STR_ARG(name));
  } else {
    strbuf_puts(&text, "Here are some suggestions: \n");
    for (size_t i = 0; i < count; i++) strbuf_printf(&text, "\t" STR_FMT "\n", STR_ARG(similar[i]));
  }
  Status status = status_new(ERROR_NOT_FOUND, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

static bool is_candidate(const Operator *op, const char *overload) {
  return (!overload || str_is(op->overload_name, overload)) && !op->row->factory;
}

static Status report_refusals(const Operator *first, const char *overload, uint32_t count, const IValue *arguments,
                              uint32_t named_count, const KeywordValue *named) {
  StrBuf text = {.max_length = 16384};
  strbuf_puts(&text, "Arguments for call are not valid.\nThe following variants are available:\n");
  Status status = OK;
  for (const Operator *op = first; op && status == OK; op = op->next) {
    if (!is_candidate(op, overload)) continue;
    MatchedCall ignored;
    bool matches;
    strbuf_puts(&text, "  \n  ");
    schema_print(operator_schema(op), &text);
    strbuf_puts(&text, ":\n  ");
    status = try_overload(op, count, arguments, named_count, named, CONVERT_ANYTHING, &ignored, &matches, &text);
    matched_call_dispose(&ignored);
  }
  if (status == OK) status = status_new(ERROR_INVALID_ARGUMENT, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

Status operator_match_values(Str qualified_name, const char *overload_or_null, uint32_t argument_count,
                             const IValue *arguments, uint32_t named_count, const KeywordValue *named,
                             MatchedCall *out) {
  const Operator *first = operator_find(qualified_name);
  out->input_count = 0;
  bool any = false;
  for (const Operator *op = first; op; op = op->next) any |= is_candidate(op, overload_or_null);
  if (!any) return report_unknown(qualified_name);
  for (int allowed = CONVERT_NOTHING; allowed <= CONVERT_ANYTHING; allowed++)
    for (const Operator *op = first; op; op = op->next) {
      if (!is_candidate(op, overload_or_null)) continue;
      bool matches;
      Status status =
          try_overload(op, argument_count, arguments, named_count, named, (Conversion)allowed, out, &matches, NULL);
      if (status == OK && matches) return OK;
      matched_call_dispose(out);
      TRY(status);
    }
  return report_refusals(first, overload_or_null, argument_count, arguments, named_count, named);
}

Status operator_call_values(Exec *exec, Str qualified_name, const char *overload_or_null, uint32_t argument_count,
                            const IValue *arguments, uint32_t named_count, const KeywordValue *named, IValue *out) {
  MatchedCall matched;
  *out = IVALUE_NONE;
  TRY(operator_match_values(qualified_name, overload_or_null, argument_count, arguments, named_count, named, &matched));
  const FunctionSchema *schema = operator_schema(matched.op);
  IValue outputs[CALL_MAX_OUTPUTS] = {IVALUE_NONE};
  uint32_t count = schema->return_count;
  Status status =
      count > CALL_MAX_OUTPUTS ? status_new(ERROR_UNSUPPORTED, "more than %d results", CALL_MAX_OUTPUTS) : OK;
  if (status == OK) {
    Call call = {
        .inputs = matched.inputs, .input_count = matched.input_count, .outputs = outputs, .output_count = count};
    status = operator_call(exec, matched.op, &call);
  }
  if (status == OK && count == 1) {
    *out = outputs[0];
  } else if (status == OK && count > 1) {
    Tuple *tuple;
    status = tuple_new(count, NULL, &tuple);
    for (uint32_t i = 0; i < count; i++) {
      if (status == OK)
        tuple->values[i] = outputs[i];
      else
        ivalue_release(outputs[i]);
    }
    if (status == OK) *out = ivalue_tuple(tuple);
  }
  matched_call_dispose(&matched);
  return status;
}
