/* Chooses an overload for values and converts them to its parameters. */
#include "call/match.h"

#include <assert.h>

#include "base/stack.h"
#include "call/convert.h"
#include "call/open_inputs.h"
#include "call/operator_library.h"
#include "call/row.h"
#include "schema/bind.h"
#include "type/class_type.h"

enum { MAX_ARGUMENTS = sizeof((MatchedCall *)0)->inputs / sizeof(IValue) };

/* ---- one argument: *out is owned where it fits ---- */

typedef struct Matcher {
  const FunctionSchema *schema;
  const CallValues *call;
  ConvertRules rules;
  Arena arena;  /* of the bindings, whose types are the process's */
  Map bindings; /* type variables */
  StrBuf *why;
} Matcher;

/* The parameter's type variables become what the value has there, or have to be that. */
typedef struct Binding {
  Matcher *matcher;
  const Type *formal, *found, *wanted;
} Binding;
static void bind(void *argument) {
  Binding *b = argument;
  b->wanted = type_match_vars(type_store_process(), b->formal, b->found, &b->matcher->bindings, NULL);
}

static Status bind_variables(Matcher *m, const Argument *argument, IValue value, bool *out_fits) {
  if (!argument->type->has_var) return OK;
  Binding binding = {m, argument->type, ivalue_type(value, type_store_process()), NULL};
  TRY(arena_protect(&m->arena, bind, &binding));
  *out_fits = binding.wanted && type_is_subtype(binding.found, binding.wanted, NULL);
  return OK;
}

/* `int[2]` from one number: Python's bools are ints. */
static bool is_repeated(const Argument *argument, IValue value) {
  bool is_int = value.tag == TAG_INT || value.tag == TAG_BOOL;
  return (is_int || value.tag == TAG_FLOAT) && argument_repeats(argument, is_int ? TYPE_INT : TYPE_FLOAT);
}

static Status repeat(const Argument *argument, IValue value, IValue *out) {
  assert(argument->broadcast_n > 0);
  Tuple *tuple;
  TRY(tuple_new((uint32_t)argument->broadcast_n, NULL, &tuple));
  for (uint32_t i = 0; i < tuple->length; i++) tuple->values[i] = value;
  *out = ivalue_tuple(tuple);
  return OK;
}

static Status match_value(Matcher *m, const Argument *argument, IValue value, IValue *out, bool *out_fits) {
  IValue repeated = IVALUE_NONE;
  ConvertRules rules = m->rules;
  rules.is_written = argument->alias && argument->alias->is_write;
  if (argument->alias && argument->alias->contained_write) rules.makes_tensors = false;
  if (is_repeated(argument, value) && !rules.is_written) TRY(repeat(argument, value, &repeated));
  Status status = ivalue_convert(ivalue_is_none(repeated) ? value : repeated, argument->type, &rules, out, out_fits);
  ivalue_release(repeated);
  if (status == OK && *out_fits) {
    status = bind_variables(m, argument, *out, out_fits);
    if (status || !*out_fits) ivalue_release(*out);
  }
  if (status) return status_context(status, "argument '" STR_FMT "'", STR_ARG(argument->name));
  if (*out_fits || !m->why) return OK;
  argument_begin_mismatch(argument, m->why);
  ivalue_print_found(value, m->why);
  argument_end_mismatch(m->why);
  return OK;
}

static uint32_t positional_count(const CallValues *call) {
  return call->count + (call->self != NULL);
}
static IValue positional_value(const CallValues *call, uint32_t i) {
  assert(i < positional_count(call));
  if (call->self) return i ? call->values[i - 1] : *call->self;
  return call->values[i];
}

/* A tuple that becomes the list, or the positional arguments from `first` on as the list's elements. */
static Status match_last_list(Matcher *m, const Argument *argument, uint32_t first, IValue *out, bool *out_fits,
                              ArgumentBinder *binder) {
  Tuple *items;
  StrBuf *why = m->why;
  m->why = NULL;
  *out_fits = false;
  Status tried = OK;
  if (positional_value(m->call, first).tag == TAG_TUPLE)
    tried = match_value(m, argument, positional_value(m->call, first), out, out_fits);
  m->why = why;
  if (tried || *out_fits) return tried;
  binder_take_remaining(binder);
  TRY(tuple_new(positional_count(m->call) - first, NULL, &items));
  for (uint32_t i = 0; i < items->length; i++) items->values[i] = ivalue_retain(positional_value(m->call, first + i));
  Status status = match_value(m, argument, ivalue_tuple(items), out, out_fits);
  ivalue_release(ivalue_tuple(items));
  return status;
}

/* ---- one schema ---- */

static IValue bound_value(const Matcher *m, const Argument *argument, Bound bound) {
  return bound.kind == BOUND_POSITION  ? positional_value(m->call, bound.index)
         : bound.kind == BOUND_KEYWORD ? m->call->keywords[bound.index].value
                                       : argument->default_value;
}

static Status match_all(Matcher *m, uint32_t capacity, IValue *out, uint32_t *out_count, bool *out_fits) {
  const FunctionSchema *schema = m->schema;
  ArgumentBinder binder = {.schema = schema,
                           .positional_count = positional_count(m->call),
                           .keyword_count = m->call->keyword_count,
                           .keywords = m->call->keyword_count ? &m->call->keywords->name : NULL,
                           .keyword_stride = sizeof *m->call->keywords};
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    const Argument *argument = &schema->arguments[i];
    Bound bound;
    *out_fits = binder_next(&binder, i, &bound, m->why);
    if (!*out_fits) return OK;
    IValue value = bound_value(m, argument, bound);
    if (bound.kind == BOUND_DEFAULT && !m->rules.copies) { /* is of the type */
      out[i] = ivalue_retain(value);
    } else if (bound.kind == BOUND_POSITION && !m->rules.one_each && value.tag != TAG_LIST &&
               argument_takes_remaining(schema, i)) {
      TRY(match_last_list(m, argument, bound.index, &out[i], out_fits, &binder));
    } else {
      TRY(match_value(m, argument, value, &out[i], out_fits));
    }
    if (!*out_fits) return OK;
    ++*out_count;
  }
  *out_fits = binder_finish(&binder, m->why);
  for (uint32_t i = binder.used_positional; i < binder.positional_count && *out_fits; i++) { /* of a vararg schema */
    *out_fits = *out_count < capacity;
    if (*out_fits) out[(*out_count)++] = ivalue_retain(positional_value(m->call, i));
  }
  if (*out_fits && schema->open) *out_fits = schema_fits_open(schema, *out_count, out, m->why);
  return OK;
}

/* The frequent call: a tensor or an object for each parameter, in their order, and of its type as it is. Nothing is
 * retained. */
static bool fits_as_it_is(const CallValues *call, const FunctionSchema *schema, IValue *out) {
  if (call->keyword_count || positional_count(call) != schema->argument_count || STACK_IS_LOW()) return false;
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    const Type *type = schema->arguments[i].type;
    if (schema->arguments[i].kwarg_only) return false;
    out[i] = positional_value(call, i);
    if (out[i].tag == TAG_TENSOR ? type != TYPE(TENSOR)
                                 : out[i].tag != TAG_OBJECT || type != &out[i].object->class_type->type)
      return false;
  }
  return true;
}

Status schema_match_values(const FunctionSchema *schema, const CallValues *call, const ConvertRules *rules,
                           uint32_t capacity, IValue *out, uint32_t *out_count, bool *out_fits, StrBuf *why) {
  assert(capacity >= schema->argument_count);
  if (fits_as_it_is(call, schema, out)) {
    for (uint32_t i = 0; i < schema->argument_count; i++) ivalue_retain(out[i]);
    *out_count = schema->argument_count;
    *out_fits = true;
    return OK;
  }
  Matcher m = {.schema = schema, .call = call, .rules = *rules, .why = why};
  arena_init(&m.arena, NULL);
  map_init(&m.bindings, &m.arena);
  uint32_t count = 0;
  Status status = match_all(&m, capacity, out, &count, out_fits);
  arena_dispose(&m.arena);
  if (status) *out_fits = false;
  for (uint32_t i = 0; i < count && !*out_fits; i++) ivalue_release(out[i]);
  *out_count = *out_fits ? count : 0;
  return status;
}

/* ---- one overload ---- */

void matched_call_dispose(MatchedCall *matched) {
  for (uint32_t i = 0; i < matched->input_count; i++) ivalue_release(matched->inputs[i]);
  matched->input_count = 0;
}

static Status try_overload(const Operator *op, const CallValues *call, Conversion allowed, MatchedCall *out,
                           bool *out_matches, StrBuf *why) {
  const FunctionSchema *schema = operator_schema(op);
  /* C has no operators of Python's, which take numbers and tensors alike: `2 * x` is aten::mul here too */
  ConvertRules rules = {.allowed = allowed, .makes_tensors = true};
  out->op = op;
  out->input_count = 0;
  *out_matches = false;
  TRY(operator_schema_status(schema));
  if (schema->argument_count > MAX_ARGUMENTS) return OK;
  return schema_match_values(schema, call, &rules, MAX_ARGUMENTS, out->inputs, &out->input_count, out_matches, why);
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

static Status report_refusals(const Operator *first, const char *overload, const CallValues *call) {
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
    status = try_overload(op, call, CONVERT_ANYTHING, &ignored, &matches, &text);
    matched_call_dispose(&ignored);
  }
  if (status == OK) status = status_new(ERROR_INVALID_ARGUMENT, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

Status operator_match_values(Str qualified_name, const char *overload_or_null, const CallValues *call,
                             MatchedCall *out) {
  out->input_count = 0;
  TRY(operators_prepare());
  const Operator *first = operator_find(qualified_name);
  if (first) TRY(operator_check_name(first));
  bool any = false;
  for (const Operator *op = first; op; op = op->next) any |= is_candidate(op, overload_or_null);
  if (!any) return report_unknown(qualified_name);
  for (int allowed = CONVERT_NOTHING; allowed <= CONVERT_ANYTHING; allowed++)
    for (const Operator *op = first; op; op = op->next) {
      if (!is_candidate(op, overload_or_null)) continue;
      bool matches;
      Status status = try_overload(op, call, (Conversion)allowed, out, &matches, NULL);
      if (status == OK && matches) return OK;
      matched_call_dispose(out);
      TRY(status);
    }
  return report_refusals(first, overload_or_null, call);
}

Status schema_given_values(const FunctionSchema *schema, const CallValues *call, IValue *out) {
  Status status = OK;
  ArgumentBinder binder = {.schema = schema,
                           .positional_count = positional_count(call),
                           .keyword_count = call->keyword_count,
                           .keywords = call->keyword_count ? &call->keywords->name : NULL,
                           .keyword_stride = sizeof *call->keywords};
  for (uint32_t i = 0; i < schema->argument_count; i++) out[i] = IVALUE_NONE;
  for (uint32_t i = 0; i < schema->argument_count && !status; i++) {
    Bound bound;
    if (!binder_next(&binder, i, &bound, NULL)) return OK;
    if (bound.kind == BOUND_KEYWORD) out[i] = ivalue_retain(call->keywords[bound.index].value);
    if (bound.kind != BOUND_POSITION) continue;
    out[i] = ivalue_retain(positional_value(call, bound.index));
    if (!argument_takes_remaining(schema, i) || out[i].tag == TAG_LIST || out[i].tag == TAG_TUPLE) continue;
    Tuple *items;
    status = tuple_new(positional_count(call) - bound.index, NULL, &items);
    for (uint32_t k = 0; !status && k < items->length; k++)
      items->values[k] = ivalue_retain(positional_value(call, bound.index + k));
    if (status) break;
    ivalue_release(out[i]);
    out[i] = ivalue_tuple(items);
    binder_take_remaining(&binder);
  }
  for (uint32_t i = 0; i < schema->argument_count && status; i++) ivalue_release(out[i]);
  return status;
}

Status operator_call_values(Exec *exec, Str qualified_name, const char *overload_or_null, const CallValues *values,
                            IValue *out) {
  MatchedCall matched;
  *out = IVALUE_NONE;
  TRY(operator_match_values(qualified_name, overload_or_null, values, &matched));
  const FunctionSchema *schema = operator_schema(matched.op);
  IValue outputs[CALL_MAX_OUTPUTS] = {IVALUE_NONE};
  uint32_t count = schema->return_count;
  Status status =
      count > CALL_MAX_OUTPUTS ? status_new(ERROR_UNSUPPORTED, "more than %d results", CALL_MAX_OUTPUTS) : OK;
  if (status == OK) {
    IValue given[MAX_ARGUMENTS];
    Call call = {
        .inputs = matched.inputs, .input_count = matched.input_count, .outputs = outputs, .output_count = count};
    if (exec->recorder) {
      status = schema_given_values(schema, values, given);
      call.given = given;
    }
    if (!status) status = operator_call(exec, matched.op, &call);
    for (uint32_t i = 0; i < schema->argument_count && call.given; i++) ivalue_release(given[i]);
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
