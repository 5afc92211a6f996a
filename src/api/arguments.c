/* Values from outside as a type or a schema wants them, by the rules of call/convert.h; errors name the argument. */
#include "api/arguments.h"

#include <assert.h>

static const ConvertRules rules = {.allowed = CONVERT_ANYTHING, .copies = true, .one_each = true};

Status argument_convert(IValue value, const Type *type, const char *what, IValue *out) {
  bool fits;
  Status status = ivalue_convert(value, type, &rules, out, &fits);
  if (status) return status_context(status, "%s", what);
  if (fits) return OK;
  StrBuf text = {.max_length = 1000};
  strbuf_printf(&text, "%s should be of type ", what);
  type_print_annotation(type, &text);
  strbuf_puts(&text, ", got ");
  ivalue_print_found(value, &text);
  status = status_new(ERROR_INVALID_ARGUMENT, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

Status arguments_match(const FunctionSchema *schema, const CallValues *call, IValue *out) {
  StrBuf text = {.max_length = 2000};
  uint32_t count;
  bool fits;
  ConvertRules own = rules;
  own.copies = !call->shares;
  Status status = schema_match_values(schema, call, &own, schema->argument_count, out, &count, &fits, NULL);
  if (status || fits) return status;
  strbuf_printf(&text, STR_FMT "() ", STR_ARG(schema->name));
  status = schema_match_values(schema, call, &own, schema->argument_count, out, &count, &fits, &text);
  assert(status || !fits);
  strbuf_puts(&text, "Declaration: ");
  schema_print(schema, &text);
  if (!status) status = status_new(ERROR_INVALID_ARGUMENT, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}
