/* See open_inputs.h. */
#include "call/open_inputs.h"

#include "call/call_internal.h"
#include "call/operator.h"
#include "call/convert.h"
#include "schema/bind.h"
#include "schema/open_types.h"

static bool is_of(IValue value, const Type *type) {
  if (type->kind == TYPE_TENSOR) return value.tag == TAG_TENSOR;
  return type->kind == TYPE_ANY || ivalue_is_instance(value, type);
}

/* The first open input that is not of its type; `count`: none. */
static uint32_t find_misfit(const FunctionSchema *schema, uint32_t count, const IValue *values) {
  uint32_t i = 0;
  while (i < count && (!schema_input_is_open(schema, i) || is_of(values[i], schema_input_type(schema, i, count)))) i++;
  return i;
}

bool schema_fits_open(const FunctionSchema *schema, uint32_t count, const IValue *values, StrBuf *why) {
  if (!schema_takes_count(schema, count)) {
    if (why) strbuf_printf(why, "It does not take %u arguments.\n", count);
    return false;
  }
  uint32_t i = find_misfit(schema, count, values);
  if (i == count) return true;
  if (!why) return false;
  strbuf_puts(why, "Expected a value of type '");
  type_print_annotation(schema_input_type(schema, i, count), why);
  strbuf_printf(why, "' for argument %u but instead found type '", i);
  ivalue_print_found(values[i], why);
  argument_end_mismatch(why);
  return false;
}

static Status refuse(const Call *call, const FunctionSchema *schema) {
  StrBuf why = {.max_length = 2000};
  schema_fits_open(schema, call->input_count, call->inputs, &why);
  if (why.length && why.data[why.length - 1] == '\n') strbuf_truncate(&why, why.length - 1);
  Status status = status_new(ERROR_RUNTIME, STR_FMT ": " STR_FMT, STR_ARG(call->op->name), STR_ARG(strbuf_view(&why)));
  strbuf_dispose(&why);
  return status;
}

Status call_check_open(const Call *call, const CallPlan *plan) {
  const FunctionSchema *schema = plan->schema;
  uint32_t count = call->input_count;
  if (!schema_takes_count(schema, count) || find_misfit(schema, count, call->inputs) < count)
    return refuse(call, schema);
  for (uint32_t i = 0; i < count && !(call->op->flags & OP_ACCEPT_UNDEFINED); i++) {
    if (!schema_input_is_open(schema, i) || call->inputs[i].tag != TAG_TENSOR) continue;
    if (!tensor_is_defined(call->inputs[i].tensor) && schema_input_type(schema, i, count)->kind == TYPE_TENSOR)
      return call_undefined(i, STR("tensors"));
  }
  return OK;
}

bool argument_takes_value(const Argument *argument, IValue value) {
  const Type *type = argument->type->kind == TYPE_OPTIONAL ? argument->type->elements[0] : argument->type;
  if (value.tag == TAG_NONE) return argument->type->kind == TYPE_OPTIONAL;
  return type->kind == TYPE_NUMBER ? ivalue_is_number(value) : is_of(value, type);
}
