/* Operators as bindings of other languages see them: a wick_overload is an Operator. */
#include "api/handles.h"
#include "call/convert.h"
#include "call/row.h"
#include "trace/trace.h"
#include "wick/overload.h"

enum { MAX_PARAMETERS = 64 };

static const Operator *operator_of(const wick_overload *overload) {
  return (const Operator *)overload;
}
/* Operators that a factory makes need a node of a graph, those of plans a pass: nobody calls them from outside. */
static const wick_overload *first_callable(const Operator *op, bool over_all) {
  while (op && (op->row->factory || operator_is_of_plans(op))) op = over_all ? operator_next(op) : op->next;
  return (const wick_overload *)op;
}

const wick_overload *wick_overload_first(const char *name) {
  return name ? first_callable(operator_find(str_from(name)), false) : NULL;
}
const wick_overload *wick_overload_next(const wick_overload *overload) {
  return overload ? first_callable(operator_of(overload)->next, false) : NULL;
}
const wick_overload *wick_overload_following(const wick_overload *overload) {
  Status status = overload ? OK : operators_prepare();
  if (status) {
    status_free(status);
    return NULL;
  }
  return first_callable(operator_next(operator_of(overload)), true);
}

const char *wick_overload_name(const wick_overload *overload, size_t *out_length) {
  if (out_length) *out_length = 0;
  if (!overload || !out_length) return "";
  *out_length = operator_of(overload)->name.length;
  return operator_of(overload)->name.data;
}

static Status schema_of(const wick_overload *overload, const FunctionSchema **out) {
  *out = operator_schema(operator_of(overload));
  return operator_schema_status(*out);
}

wick_status wick_overload_schema(const wick_overload *overload, char **out_text, wick_error **error) {
  const FunctionSchema *schema;
  StrBuf text = {0};
  API_OUT(out_text);
  API_NEED(overload);
  API_TRY(schema_of(overload, &schema));
  schema_print(schema, &text);
  return api_status(strbuf_take(&text, out_text), error);
}

/* ---- what it can do ---- */

static bool gives_tensors(const FunctionSchema *schema) {
  if (schema->is_varret) return true;
  for (uint32_t i = 0; i < schema->return_count; i++) {
    const Type *type = schema->returns[i].type;
    while (type->kind == TYPE_LIST || type->kind == TYPE_OPTIONAL) type = type->elements[0];
    if (type->kind == TYPE_TENSOR || type->kind == TYPE_VAR) return true;
  }
  return false;
}
uint32_t wick_overload_gradient(const wick_overload *overload) {
  if (!overload) return WICK_GRADIENT_NONE;
  const Operator *op = operator_of(overload);
  if (op->flags & OP_NOT_DIFFERENTIABLE || !gives_tensors(operator_schema(op))) return WICK_GRADIENT_NEVER;
  if (op->variant == VARIANT_OUT) return WICK_GRADIENT_NONE;
  if (op->row->grad) return WICK_GRADIENT_FORMULA;
  bool composed = op->flags & OP_COMPOSITE || op->row->body || op->row->factory;
  return composed ? WICK_GRADIENT_COMPOSED : WICK_GRADIENT_NONE;
}
uint32_t wick_overload_runs(const wick_overload *overload) {
  if (!overload) return WICK_RUNS_KERNEL;
  const OpRow *row = operator_of(overload)->row;
  return row->factory ? WICK_RUNS_NODE : row->lower ? WICK_RUNS_FORMULA : row->body ? WICK_RUNS_BODY : WICK_RUNS_KERNEL;
}
int wick_overload_is_fusable(const wick_overload *overload) {
  if (!overload) return 0;
  const Operator *op = operator_of(overload);
  return (op->row->lower && op->variant != VARIANT_OUT) || (op->row->line && op->variant == VARIANT_FUNCTIONAL);
}

/* ---- parameters and results ---- */

static uint32_t kind_of(const Type *type, uint8_t int_kind) {
  static const uint8_t ints[] = {[INT_SCALAR_TYPE] = WICK_TAKES_DTYPE,
                                 [INT_LAYOUT] = WICK_TAKES_LAYOUT,
                                 [INT_MEMORY_FORMAT] = WICK_TAKES_MEMORY_FORMAT};
  static const uint8_t kinds[] = {
      [TYPE_TENSOR] = WICK_TAKES_TENSOR, [TYPE_NUMBER] = WICK_TAKES_SCALAR,       [TYPE_INT] = WICK_TAKES_INT,
      [TYPE_FLOAT] = WICK_TAKES_DOUBLE,  [TYPE_BOOL] = WICK_TAKES_BOOL,           [TYPE_COMPLEX] = WICK_TAKES_COMPLEX,
      [TYPE_STRING] = WICK_TAKES_STRING, [TYPE_GENERATOR] = WICK_TAKES_GENERATOR, [TYPE_DEVICE] = WICK_TAKES_DEVICE};
  if (type->kind == TYPE_INT && int_kind < sizeof ints && ints[int_kind]) return ints[int_kind];
  return type->kind < sizeof kinds ? kinds[type->kind] : WICK_TAKES_OTHER;
}

static void describe(const Argument *argument, wick_parameter *out) {
  const Type *type = argument->type;
  const AliasInfo *alias = argument->alias;
  out->name = argument->name.length ? argument->name.data : "";
  out->name_length = argument->name.length;
  out->repeats = argument->broadcast_n;
  if (type->kind == TYPE_OPTIONAL) {
    out->flags |= WICK_PARAMETER_OPTIONAL;
    type = type->elements[0];
  }
  if (type->kind == TYPE_LIST) {
    out->flags |= WICK_PARAMETER_LIST;
    type = type->elements[0];
    if (type->kind == TYPE_OPTIONAL) {
      out->flags |= WICK_PARAMETER_OPTIONAL_ELEMENTS;
      type = type->elements[0];
    }
  }
  out->kind = kind_of(type, argument->int_kind);
  if (argument->kwarg_only) out->flags |= WICK_PARAMETER_KEYWORD_ONLY;
  if (argument->has_default) out->flags |= WICK_PARAMETER_HAS_DEFAULT;
  if (alias && (alias->is_write || alias->contained_write)) out->flags |= WICK_PARAMETER_WRITTEN;
  if (argument->is_out) out->flags |= WICK_PARAMETER_OUT;
}

static Status describe_into(const Argument *argument, wick_parameter *out) {
  uint32_t size = out->size;
  TRY(api_check_size("wick_parameter", size));
  wick_parameter found = {.size = size};
  describe(argument, &found);
  memcpy(out, &found, size < sizeof found ? size : sizeof found);
  return OK;
}

static const FunctionSchema *countable(const wick_overload *overload) {
  const FunctionSchema *schema = overload ? operator_schema(operator_of(overload)) : NULL;
  return schema && !schema->is_vararg && !schema->is_varret ? schema : NULL;
}
size_t wick_overload_parameter_count(const wick_overload *overload) {
  const FunctionSchema *schema = countable(overload);
  return schema ? schema->argument_count : 0;
}
size_t wick_overload_result_count(const wick_overload *overload) {
  const FunctionSchema *schema = countable(overload);
  return schema ? schema->return_count : 0;
}

wick_status wick_overload_parameter(const wick_overload *overload, size_t index, wick_parameter *out,
                                    wick_error **error) {
  API_NEED(overload);
  API_NEED(out);
  const FunctionSchema *schema = countable(overload);
  if (!schema || index >= schema->argument_count)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the operator has no parameter %zu", index), error);
  return api_status(describe_into(&schema->arguments[index], out), error);
}
wick_status wick_overload_result(const wick_overload *overload, size_t index, wick_parameter *out, wick_error **error) {
  API_NEED(overload);
  API_NEED(out);
  const FunctionSchema *schema = countable(overload);
  if (!schema || index >= schema->return_count)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the operator has no result %zu", index), error);
  return api_status(describe_into(&schema->returns[index], out), error);
}

/* ---- calling ---- */

static Status refuse(const FunctionSchema *schema, const Argument *argument, IValue value) {
  StrBuf text = {.max_length = 2000};
  strbuf_printf(&text, STR_FMT "(): argument '" STR_FMT "' must be ", STR_ARG(schema->name), STR_ARG(argument->name));
  type_print_annotation(argument->type, &text);
  strbuf_puts(&text, ", not ");
  ivalue_print_found(value, &text);
  Status status = status_new(ERROR_INVALID_ARGUMENT, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

static bool is_number(const Type *type) {
  return type->kind == TYPE_NUMBER || (type->kind == TYPE_OPTIONAL && type->elements[0]->kind == TYPE_NUMBER);
}

/* A tensor of one element, where a number of any kind is wanted, is one of its dtype's kind. */
static Status read_number(IValue given, IValue *out, bool *out_fits) {
  if (given.tag != TAG_TENSOR || !tensor_is_defined(given.tensor)) return OK;
  DType dtype = (DType)given.tensor->dtype;
  const Type *kind = dtype_is_complex(dtype)    ? TYPE(COMPLEX)
                     : dtype_is_floating(dtype) ? TYPE(FLOAT)
                     : dtype == DTYPE_BOOL      ? TYPE(BOOL)
                                                : TYPE(INT);
  return ivalue_convert(given, kind, &(ConvertRules){.allowed = CONVERT_ANYTHING}, out, out_fits);
}

/* Most arguments are tensors and ints, and stay what they are. */
static bool is_taken_as_given(const Type *type, IValue given) {
  if (given.tag == TAG_TENSOR) return type->kind == TYPE_TENSOR;
  if (type->kind == TYPE_OPTIONAL) type = type->elements[0];
  return given.tag == TAG_INT && type->kind == TYPE_INT;
}

/* What it becomes for the parameter: owned. */
static Status convert(const FunctionSchema *schema, const Argument *argument, const wick_value *given, IValue *out) {
  if (!given) {
    if (argument->has_default) {
      *out = ivalue_retain(argument->default_value);
      return OK;
    }
    return status_new(ERROR_INVALID_ARGUMENT, STR_FMT "() lacks a value for argument '" STR_FMT "'",
                      STR_ARG(schema->name), STR_ARG(argument->name));
  }
  const Type *type = argument->type;
  if (is_taken_as_given(type, given->value)) {
    *out = ivalue_retain(given->value);
    return OK;
  }
  bool fits;
  ConvertRules rules = {.allowed = CONVERT_ANYTHING,
                        .makes_tensors = !(argument->alias && argument->alias->contained_write),
                        .is_written = argument->alias && argument->alias->is_write};
  Status status = ivalue_convert(given->value, type, &rules, out, &fits);
  if (!status && !fits && is_number(type)) status = read_number(given->value, out, &fits);
  if (status) return status_context(status, "argument '" STR_FMT "'", STR_ARG(argument->name));
  return fits ? OK : refuse(schema, argument, given->value);
}

static Status box_results(IValue *outputs, uint32_t count, wick_value **results) {
  Status status = OK;
  for (uint32_t i = 0; i < count; i++) {
    if (status)
      ivalue_release(outputs[i]);
    else
      status = value_box(outputs[i], &results[i]);
  }
  for (uint32_t i = 0; i < count && status; i++) {
    wick_value_release(results[i]);
    results[i] = NULL;
  }
  return status;
}

static Status call_converted(Exec *exec, const Operator *op, const IValue *given, IValue *inputs, uint32_t count,
                             uint32_t result_count, wick_value **results) {
  IValue outputs[CALL_MAX_OUTPUTS] = {IVALUE_NONE};
  Call call = {
      .inputs = inputs, .input_count = count, .outputs = outputs, .output_count = result_count, .given = given};
  WorkLimit limit = {exec->work.stop, exec->work.deadline_ns}, *outer = work_limit_enter(&limit);
  ExecBefore before = exec_enter(exec);
  Status status = work_check(&exec->work);
  if (!status) status = operator_call(exec, op, &call);
  exec_leave(before);
  work_limit_enter(outer);
  if (!status) status = box_results(outputs, result_count, results);
  return exec_memory_error(exec, status);
}

static Status call_overload(wick_runtime *runtime, const Operator *op, const FunctionSchema *schema,
                            const wick_value *const *arguments, const wick_run_options *options, wick_value **results) {
  Exec exec;
  WorkBudget budget;
  wick_cancel *cancel;
  wick_profile *profile;
  IValue inputs[MAX_PARAMETERS], given[MAX_PARAMETERS];
  uint32_t count = 0;
  api_exec_init(&exec, runtime);
  exec.recorder = trace_recorder();
  for (uint32_t i = 0; exec.recorder && i < schema->argument_count; i++)
    given[i] = arguments[i] ? arguments[i]->value : IVALUE_NONE;
  if (options) TRY(api_apply_run_options(&exec, options, &budget, &cancel, &profile));
  Status status = OK;
  for (; !status && count < schema->argument_count; count += !status)
    status = convert(schema, &schema->arguments[count], arguments[count], &inputs[count]);
  if (!status)
    status = call_converted(&exec, op, exec.recorder ? given : NULL, inputs, count, schema->return_count, results);
  for (uint32_t i = 0; i < count; i++) ivalue_release(inputs[i]);
  return status;
}

wick_status wick_overload_call(wick_runtime *runtime, const wick_overload *overload, const wick_value *const *arguments,
                               size_t count, const wick_run_options *options, wick_value **results, size_t result_count,
                               wick_error **error) {
  const FunctionSchema *schema;
  if (result_count) API_NEED(results);
  for (size_t i = 0; i < result_count; i++) results[i] = NULL;
  API_NEED(overload);
  if (count) API_NEED(arguments);
  API_TRY(schema_of(overload, &schema));
  if (schema->is_vararg || schema->is_varret || schema->argument_count > MAX_PARAMETERS ||
      schema->return_count > CALL_MAX_OUTPUTS)
    return api_status(status_new(ERROR_UNSUPPORTED, STR_FMT "() is called by wick_op_call", STR_ARG(schema->name)),
                      error);
  if (count != schema->argument_count || result_count != schema->return_count)
    return api_status(
        status_new(ERROR_INVALID_ARGUMENT, STR_FMT "() has %u parameters and %u results: %zu and %zu are given",
                   STR_ARG(schema->name), schema->argument_count, schema->return_count, count, result_count),
        error);
  return api_status(call_overload(runtime, operator_of(overload), schema, arguments, options, results), error);
}
