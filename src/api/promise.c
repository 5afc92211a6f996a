/* Futures of operators that finish later. Such a Future has no task that is to complete it, so nobody takes a wait for
 * it for a ring; deadlines and cancels end the wait as any other. */
#include <assert.h>

#include "api/handles.h"
#include "call/convert.h"
#include "call/operator.h"
#include "ivalue/future.h"
#include "wick/library.h"

struct wick_promise {
  Future *future;
};

static Status begin(Call *call, size_t index, wick_promise *promise) {
  const FunctionSchema *schema = operator_schema(call->op);
  if (index >= call->output_count || index >= schema->return_count)
    return status_new(ERROR_INVALID_ARGUMENT, "the operator has no result %zu", index);
  const Type *type = schema->returns[index].type;
  if (type->kind != TYPE_FUTURE)
    return status_new(ERROR_INVALID_ARGUMENT, "the schema does not say that result %zu is a Future", index);
  TRY(future_new(type->elements[0], &promise->future));
  call_set(call, (uint32_t)index, ivalue_retain(ivalue_future(promise->future)));
  return OK;
}

wick_status wick_call_promise(wick_call *call, size_t index, wick_promise **out, wick_error **error) {
  API_OUT(out);
  API_NEED(call);
  wick_promise *promise = mem_calloc(1, sizeof *promise);
  if (!promise) return api_status(status_out_of_memory(), error);
  Status status = begin(call->call, index, promise);
  if (status)
    mem_free(promise);
  else
    *out = promise;
  return api_status(status, error);
}

static void end(wick_promise *promise, IValue value, Status failure) {
  Future *future = promise->future;
  assert(future);
  mem_free(promise);
  if (failure) {
    future_fail(future, failure);
  } else {
    ivalue_mark_shared(value);
    future_complete(future, value);
  }
  ivalue_release(ivalue_future(future));
}

static Status misfit(const Type *type, IValue value) {
  StrBuf why = {.max_length = 500};
  strbuf_puts(&why, "a promise of '");
  type_print_annotation(type, &why);
  strbuf_puts(&why, "' can't be kept with '");
  ivalue_print_found(value, &why);
  Status status = status_new(ERROR_INVALID_ARGUMENT, STR_FMT "'", STR_ARG(strbuf_view(&why)));
  strbuf_dispose(&why);
  return status;
}

wick_status wick_promise_keep(wick_promise *promise, const wick_value *value, wick_error **error) {
  API_NEED(promise);
  IValue kept = value ? value->value : IVALUE_NONE;
  const Type *type = future_element_type(promise->future);
  if (ivalue_is_instance(kept, type)) {
    end(promise, ivalue_retain(kept), OK);
    return WICK_OK;
  }
  wick_status status = api_status(misfit(type, kept), error);
  end(promise, IVALUE_NONE, misfit(type, kept));
  return status;
}

void wick_promise_break(wick_promise *promise, const char *why) {
  if (promise) end(promise, IVALUE_NONE, status_new(ERROR_RUNTIME, "%s", why ? why : "a promise was broken"));
}
