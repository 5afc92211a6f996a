/* Traces of the calling thread. */
#include "trace/trace.h"

#include <assert.h>

#include "api/handles.h"
#include "serial/python/python_print.h"

enum { MOST_INPUTS = 10000 };

/* What the callbacks and the result want; as long as the trace. */
typedef struct ApiTrace {
  wick_trace_options options;
  wick_runtime *runtime; /* retained, or NULL */
  wick_module *module;   /* retained, or NULL */
  CompilationUnit *unit;
} ApiTrace;

static void api_trace_free(ApiTrace *trace) {
  wick_module_release(trace->module);
  unit_release(trace->unit);
  wick_runtime_release(trace->runtime);
  mem_free(trace);
}

/* ---- callbacks ---- */

static void warn(void *user, TraceWarning kind, const char *message) {
  const wick_trace_options *options = &((ApiTrace *)user)->options;
  options->warn(options->user, (uint32_t)kind, message);
}

static bool place(void *user, TracePlace *out) {
  const wick_trace_options *options = &((ApiTrace *)user)->options;
  wick_trace_place found = {.size = sizeof found};
  if (!options->place(options->user, &found) || !found.file) return false;
  *out = (TracePlace){.file = found.file, .text = found.text, .line = found.line ? found.line : 1};
  return true;
}

static const char *name(void *user, const IValue *tensor) {
  const wick_trace_options *options = &((ApiTrace *)user)->options;
  wick_value *value = value_box_or_null(ivalue_retain(*tensor), NULL);
  const char *found = value ? options->name_of(options->user, value) : NULL;
  wick_value_release(value);
  return found;
}

/* ---- begin and end ---- */

static Status check_names(const wick_trace_options *o, size_t count) {
  if (o->name && !python_is_identifier(str_from(o->name)))
    return status_new(ERROR_INVALID_ARGUMENT, "'%s' is no name for a function", o->name);
  for (size_t i = 0; i < count && o->input_names; i++)
    if (!o->input_names[i] || !python_is_identifier(str_from(o->input_names[i])))
      return status_new(ERROR_INVALID_ARGUMENT, "input %zu: '%s' is no identifier", i,
                        o->input_names[i] ? o->input_names[i] : "");
  if (o->module && !o->module->module)
    return status_new(ERROR_INVALID_ARGUMENT, "a compiled text can't be traced as a module");
  return OK;
}

static Status begin(wick_runtime *runtime, const wick_trace_options *o, const wick_value *const *inputs, size_t count,
                    wick_value **out_inputs, ApiTrace *trace) {
  Exec exec;
  TracingState *t = NULL;
  IValue *values = mem_calloc(2 * count + 1, sizeof *values), *stand = values + count;
  Str *names = mem_calloc(count + 1, sizeof *names);
  Status status = values && names ? OK : status_out_of_memory();
  trace->options = *o;
  trace->runtime = runtime_retain(runtime);
  trace->module = wick_module_retain(o->module);
  if (!status && o->module) trace->unit = unit_retain(o->module->unit);
  if (!status && !o->module) status = unit_new(&trace->unit);
  if (!status) {
    for (size_t i = 0; i < count; i++) {
      values[i] = inputs[i]->value;
      if (o->input_names) names[i] = str_from(o->input_names[i]);
    }
    api_exec_init(&exec, runtime);
    if (trace->unit->torch_version)
      unit_enter(trace->unit, &exec);
    else
      trace->unit->torch_version = (uint8_t)exec.work.torch_version;
    TraceStart start = {.unit = trace->unit,
                        .self = o->module ? o->module->module->object : NULL,
                        .name = str_from(o->name ? o->name : "forward"),
                        .lenient = o->lenient != 0,
                        .outplace = o->outplace != 0,
                        .count = (uint32_t)count,
                        .inputs = values,
                        .names = o->input_names ? names : NULL,
                        .listener = {.user = trace,
                                     .warn = o->warn ? warn : NULL,
                                     .place = o->place ? place : NULL,
                                     .name = o->name_of ? name : NULL}};
    status = trace_begin(&exec, &start, stand, &t);
  }
  for (size_t i = 0; i < count && t; i++) {
    if (status)
      ivalue_release(stand[i]);
    else
      status = value_box(stand[i], &out_inputs[i]);
  }
  if (status && t) trace_abort(t);
  for (size_t i = 0; i < count && status; i++) {
    wick_value_release(out_inputs[i]);
    out_inputs[i] = NULL;
  }
  mem_free(values);
  mem_free(names);
  return status;
}

wick_status wick_trace_begin(wick_runtime *runtime, const wick_trace_options *options, const wick_value *const *inputs,
                             size_t count, wick_value **out_inputs, wick_error **error) {
  wick_trace_options o;
  if (count) API_NEED(out_inputs);
  for (size_t i = 0; i < count; i++) out_inputs[i] = NULL;
  API_NEED_ITEMS(inputs, count);
  HEAP_SCOPE(runtime_of(runtime)->heap);
  if (count > MOST_INPUTS) return api_status(status_new(ERROR_INVALID_ARGUMENT, "%zu inputs", count), error);
  API_TRY(api_copy_options("wick_trace_options", options, sizeof o, &o));
  API_TRY(check_names(&o, count));
  ApiTrace *trace = mem_calloc(1, sizeof *trace);
  if (!trace) return api_status(status_out_of_memory(), error);
  Status status = begin(runtime, &o, inputs, count, out_inputs, trace);
  if (status) api_trace_free(trace);
  return api_status(status, error);
}

static Status not_tracing(void) {
  return status_new(ERROR_INVALID_ARGUMENT, "this thread does not trace");
}

wick_status wick_trace_end(const wick_value *result, wick_module **out, wick_error **error) {
  TracingState *t = trace_current();
  Function *function;
  wick_module *made = NULL;
  if (out) *out = NULL;
  API_NEED(result);
  if (!t) return api_status(not_tracing(), error);
  ApiTrace *trace = trace_listener(t)->user;
  HEAP_SCOPE(runtime_of(trace->runtime)->heap);
  Status status = trace_finish(t, result->value, &function);
  if (!status && trace->module) {
    made = wick_module_retain(trace->module);
    status = module_handle_list(made);
  } else if (!status) {
    status = module_handle_new(trace->runtime, NULL, trace->unit, &made);
  }
  api_trace_free(trace);
  if (!status && out)
    *out = made;
  else
    wick_module_release(made);
  return api_status(status, error);
}

void wick_trace_abort(void) {
  TracingState *t = trace_current();
  if (!t) return;
  ApiTrace *trace = trace_listener(t)->user;
  trace_abort(t);
  api_trace_free(trace);
}

int wick_trace_is_on(void) {
  return trace_recorder() != NULL;
}
void wick_trace_pause(void) {
  if (trace_current()) trace_pause(trace_current());
}
void wick_trace_resume(void) {
  if (trace_current()) trace_resume(trace_current());
}

/* ---- while it is on ---- */

wick_status wick_trace_enter(const char *submodule, wick_error **error) {
  API_NEED(submodule);
  TracingState *t = trace_current();
  return api_status(t ? trace_enter(t, str_from(submodule)) : not_tracing(), error);
}
wick_status wick_trace_leave(wick_error **error) {
  TracingState *t = trace_current();
  return api_status(t ? trace_leave(t) : not_tracing(), error);
}

static Status give_size(const wick_value *tensor, int64_t dim, bool all, wick_value **out) {
  TracingState *t = trace_current();
  IValue number;
  if (tensor->value.tag != TAG_TENSOR) return status_new(ERROR_INVALID_ARGUMENT, "only tensors have sizes");
  if (!t) return not_tracing();
  TRY(all ? trace_numel(t, tensor->value.tensor, &number) : trace_size(t, tensor->value.tensor, dim, &number));
  return value_box(number, out);
}
wick_status wick_trace_size(const wick_value *tensor, int64_t dim, wick_value **out, wick_error **error) {
  API_OUT(out);
  API_NEED(tensor);
  return api_status(give_size(tensor, dim, false, out), error);
}
wick_status wick_trace_numel(const wick_value *tensor, wick_value **out, wick_error **error) {
  API_OUT(out);
  API_NEED(tensor);
  return api_status(give_size(tensor, 0, true, out), error);
}

wick_status wick_trace_fork(wick_error **error) {
  TracingState *t = trace_current();
  return api_status(t ? trace_fork(t) : not_tracing(), error);
}
wick_status wick_trace_join(const wick_value *result, wick_value **out, wick_error **error) {
  TracingState *t = trace_current();
  IValue future;
  API_OUT(out);
  API_NEED(result);
  API_TRY(t ? trace_join(t, result->value, &future) : not_tracing());
  return api_status(value_box(future, out), error);
}
wick_status wick_trace_wait(const wick_value *future, wick_value **out, wick_error **error) {
  TracingState *t = trace_current();
  IValue result;
  API_OUT(out);
  API_NEED(future);
  if (future->value.tag != TAG_FUTURE)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "only futures are waited for"), error);
  API_TRY(t ? trace_wait(t, future->value.future, &result) : not_tracing());
  return api_status(value_box_of(result, future->unit, out), error);
}
