/* Calls of functions and modules: options to an Exec, arguments to the schema's types, then the interpreter. */
#include <assert.h>
#include <time.h>

#include "api/arguments.h"
#include "api/find.h"
#include "api/function.h"
#include "api/future.h"
#include "base/clock.h"
#include "executor/executor.h"
#include "fuse/backend.h"
#include "interp/op_profile.h"
#include "tensor/device_class.h"
#include "trace/trace.h"

static int64_t limit_of(uint64_t wanted) {
  return wanted && wanted < INT64_MAX ? (int64_t)wanted : INT64_MAX;
}

Status api_apply_run_options(Exec *exec, const wick_run_options *options, WorkBudget *budget, wick_cancel **out_cancel,
                             wick_profile **out_profile) {
  wick_run_options o;
  TRY(api_copy_options("wick_run_options", options, sizeof o, &o));
  if (o.executor > WICK_EXECUTOR_PROFILING)
    return status_new(ERROR_INVALID_ARGUMENT, "wick_run_options: executor %u", o.executor);
  if (o.grad > WICK_GRAD_OFF) return status_new(ERROR_INVALID_ARGUMENT, "wick_run_options: grad %u", o.grad);
  if (o.threads) exec->work.threads = o.threads > 1024 ? 1024 : (int)o.threads;
  exec->grad_enabled = o.grad == WICK_GRAD_ON;
  exec->deterministic = o.deterministic != 0;
  if (o.deadline_ns) {
    uint64_t now = clock_now_ns();
    work_set_deadline(&exec->work, o.deadline_ns > UINT64_MAX - now ? UINT64_MAX : now + o.deadline_ns);
  }
  *budget = (WorkBudget){limit_of(o.max_steps), o.max_bytes != 0, {.left = limit_of(o.max_bytes)}};
  if (o.max_steps || o.max_bytes) exec->work.budget = budget;
  exec->executor_mode = o.executor;
  if (!fuse_exists((BackendNumber)o.backend, DEVICE_CPU))
    return status_new(ERROR_INVALID_ARGUMENT, "wick_run_options: backend %u", o.backend);
  if (o.backend) exec->backend = (uint8_t)o.backend;
  if (o.default_device) {
    TRY(device_parse(str_from(o.default_device), &exec->default_device));
    TRY(device_choose(&exec->default_device));
  }
  if (o.cancel) work_set_stop(&exec->work, &o.cancel->fired);
  *out_cancel = o.cancel;
  *out_profile = o.profile;
  exec->profile = o.profile ? o.profile->profile : NULL;
  return OK;
}

enum { FEW_VALUES = 16 }; /* so many need no allocation */

/* What run_matched is to do with the arguments when they fit. */
typedef Status Runner(Exec *exec, Function *function, const IValue *arguments, uint32_t count, void *result);

static Status run_matched(Exec *exec, const wick_module *module, Function *function, const CallValues *given,
                          Runner *runner, void *result) {
  const FunctionSchema *schema = function->schema;
  if (!schema) return status_internal("the function was not compiled");
  uint32_t slots = schema->argument_count;
  IValue few[FEW_VALUES] = {0}, *values = few;
  if (slots > FEW_VALUES) values = mem_calloc(slots, sizeof *values);
  if (!values) return status_out_of_memory();
  IValue self = module->module ? ivalue_object(module->module->object) : IVALUE_NONE;
  CallValues call = *given;
  if (module->module && slots) call.self = &self;
  Status status = arguments_match(schema, &call, values);
  if (!status) {
    status = runner(exec, function, values, slots, result);
    for (uint32_t i = 0; i < slots; i++) ivalue_release(values[i]);
  }
  if (values != few) mem_free(values);
  return status;
}

/* Room for what unbox_arguments gives, where it is little. */
typedef struct FewArguments {
  IValue values[FEW_VALUES];
  KeywordValue keywords[FEW_VALUES];
} FewArguments;

static void unboxed_free(const CallValues *call, const FewArguments *few) {
  if (call->values != few->values) mem_free((void *)(uintptr_t)call->values);
  if (call->keywords != few->keywords) mem_free((void *)(uintptr_t)call->keywords);
}
/* The values and names stay the caller's; *out is given back with unboxed_free. */
static Status unbox_arguments(const wick_value *const *arguments, size_t count, const char *const *names,
                              size_t named_count, FewArguments *few, CallValues *out) {
  if (count > 100000 || named_count > count)
    return status_new(ERROR_INVALID_ARGUMENT, "%zu arguments, %zu of them named", count, named_count);
  IValue *values = count > FEW_VALUES ? mem_calloc(count, sizeof *values) : few->values;
  KeywordValue *keywords = named_count > FEW_VALUES ? mem_calloc(named_count, sizeof *keywords) : few->keywords;
  size_t positional = count - named_count;
  *out = (CallValues){(uint32_t)positional, (uint32_t)named_count, values, keywords, NULL};
  if (!values || !keywords) {
    unboxed_free(out, few);
    return status_out_of_memory();
  }
  for (size_t i = 0; i < count; i++) values[i] = arguments[i] ? arguments[i]->value : IVALUE_NONE;
  for (size_t i = 0; i < named_count; i++) keywords[i] = (KeywordValue){str_from(names[i]), values[positional + i]};
  return OK;
}
/* What it gave a device to do is done, or has failed, when it returns. */
static Status run_now(Exec *exec, Function *function, const IValue *arguments, uint32_t count, void *result) {
  IValue *out = result;
  Recorder *recorder = trace_recorder();
  if (recorder) recorder->inside++; /* a call of what is compiled is one node of a trace */
  Status status = executor_call(exec, function, arguments, count, out), late = exec_synchronize(exec);
  if (recorder) recorder->inside--;
  if (recorder && !status && !late && (status = trace_call(trace_current(), function, arguments, count, *out))) {
    ivalue_release(*out);
    *out = IVALUE_NONE;
  }
  if (!late || status) {
    status_free(late);
    return status;
  }
  ivalue_release(*out);
  *out = IVALUE_NONE;
  return late;
}
static Status run_async(Exec *exec, Function *function, const IValue *arguments, uint32_t count, void *result) {
  return executor_start(exec, function, arguments, count, result);
}

/* ---- calls between hooks, as Python's m(x) ---- */

/* What a hook answers takes the place of the positional inputs: a tuple of them, or the only one. Takes over `answer`.
 */
static Status take_inputs(IValue answer, Tuple **inputs) {
  assert(*inputs);
  Tuple *given = answer.tag == TAG_TUPLE ? answer.tuple : NULL;
  if (answer.tag == TAG_NONE) return OK;
  if (!given) {
    Status status = tuple_new(1, NULL, &given);
    if (status) {
      ivalue_release(answer);
      return status;
    }
    given->values[0] = answer;
  }
  ivalue_release(ivalue_tuple(*inputs));
  *inputs = given;
  return OK;
}

static Status run_hooks_before(Exec *exec, const wick_module *module, const ClassType *type, Tuple **inputs) {
  for (size_t i = 0; i < type->hooks[HOOK_BEFORE_FORWARD].length; i++) {
    IValue given = ivalue_tuple(*inputs), answer;
    CallValues call = {.count = 1, .values = &given};
    TRY(run_matched(exec, module, type->hooks[HOOK_BEFORE_FORWARD].data[i], &call, run_now, &answer));
    TRY(take_inputs(answer, inputs));
  }
  return OK;
}
static Status run_hooks_after(Exec *exec, const wick_module *module, const ClassType *type, Tuple *inputs,
                              IValue *result) {
  assert(inputs);
  for (size_t i = 0; i < type->hooks[HOOK_AFTER_FORWARD].length; i++) {
    IValue given[] = {ivalue_tuple(inputs), *result}, answer;
    CallValues call = {.count = 2, .values = given};
    TRY(run_matched(exec, module, type->hooks[HOOK_AFTER_FORWARD].data[i], &call, run_now, &answer));
    if (answer.tag == TAG_NONE) continue;
    ivalue_release(*result);
    *result = answer;
  }
  return OK;
}

static Status run_call(Exec *exec, const wick_module *module, Function *forward, const CallValues *given, IValue *out) {
  static const ClassType no_hooks;
  const ClassType *type = module->module ? module->module->object->class_type : &no_hooks;
  Tuple *inputs;
  TRY(tuple_new(given->count, NULL, &inputs));
  for (uint32_t i = 0; i < given->count; i++) inputs->values[i] = ivalue_retain(given->values[i]);
  Status status = run_hooks_before(exec, module, type, &inputs);
  if (!status) {
    CallValues call = *given;
    call.values = inputs->values;
    call.count = inputs->length;
    status = run_matched(exec, module, forward, &call, run_now, out);
  }
  if (!status) {
    status = run_hooks_after(exec, module, type, inputs, out);
    if (status) ivalue_release(*out);
  }
  ivalue_release(ivalue_tuple(inputs));
  return status;
}

/* ---- */

static bool shares_arguments(const wick_run_options *options) {
  return options && options->size > offsetof(wick_run_options, shares_arguments) && options->shares_arguments;
}

Status function_call(const wick_module *module, Function *function, CallManner manner,
                     const wick_value *const *arguments, size_t count, const char *const *names, size_t named_count,
                     const wick_run_options *options, IValue *out) {
  Exec exec;
  WorkBudget budget;
  wick_cancel *cancel;
  wick_profile *profile;
  FewArguments few;
  CallValues given;
  api_exec_init(&exec, module->runtime);
  HEAP_SCOPE(exec.runtime->heap);
  unit_enter(module->unit, &exec);
  TRY(api_apply_run_options(&exec, options, &budget, &cancel, &profile));
  TRY(unbox_arguments(arguments, count, names, named_count, &few, &given));
  given.shares = shares_arguments(options);
  if (manner.aside) {
    exec.generator = manner.aside;
    exec.is_silent = true;
  }
  uint64_t start = profile ? clock_now_ns() : 0;
  WorkLimit limit = {exec.work.stop, exec.work.deadline_ns},
            *outer = work_limit_enter(&limit); /* compiling takes its time, too */
  Status status = manner.hooks ? run_call(&exec, module, function, &given, out)
                               : run_matched(&exec, module, function, &given, run_now, out);
  work_limit_enter(outer);
  if (profile) op_profile_add_call(profile->profile, clock_now_ns() - start);
  unboxed_free(&given, &few);
  return status;
}

wick_status wick_run(wick_module *module, const char *method, const wick_value *const *arguments, size_t count,
                     const char *const *names, size_t named_count, const wick_run_options *options, wick_value **out,
                     wick_error **error) {
  Function *function;
  IValue result;
  if (out) *out = NULL;
  API_NEED(module);
  API_NEED(method);
  if (count) API_NEED(arguments);
  API_NEED_ITEMS(names, named_count);
  API_TRY(module_find(module, method, &function));
  API_TRY(function_call(module, function, (CallManner){0}, arguments, count, names, named_count, options, &result));
  return api_status(value_give(result, module->unit, out), error);
}
wick_status wick_forward(wick_module *module, wick_value *const *inputs, size_t count, wick_value **out,
                         wick_error **error) {
  if (out) *out = NULL;
  API_NEED(module);
  if (count) API_NEED(inputs);
  return wick_run(module, "forward", (const wick_value *const *)inputs, count, NULL, 0, NULL, out, error);
}

wick_status wick_module_call(wick_module *module, const wick_value *const *arguments, size_t count,
                             const char *const *names, size_t named_count, const wick_run_options *options,
                             wick_value **out, wick_error **error) {
  Function *function;
  IValue result;
  if (out) *out = NULL;
  API_NEED(module);
  if (count) API_NEED(arguments);
  API_NEED_ITEMS(names, named_count);
  API_TRY(module_find(module, "forward", &function));
  CallManner manner = {.hooks = true};
  API_TRY(function_call(module, function, manner, arguments, count, names, named_count, options, &result));
  return api_status(value_give(result, module->unit, out), error);
}

wick_status wick_function_run(wick_function *function, const wick_value *const *arguments, size_t count,
                              const char *const *names, size_t named_count, const wick_run_options *options,
                              wick_value **out, wick_error **error) {
  IValue result;
  if (out) *out = NULL;
  API_NEED(function);
  if (count) API_NEED(arguments);
  API_NEED_ITEMS(names, named_count);
  API_TRY(function_call(function->module, function->function, (CallManner){0}, arguments, count, names, named_count,
                        options, &result));
  return api_status(value_give(result, function->module->unit, out), error);
}

wick_status wick_function_run_into(wick_function *function, const wick_value *const *arguments, size_t count,
                                   const char *const *names, size_t named_count, const wick_run_options *options,
                                   wick_value *const *outputs, size_t output_count, wick_error **error) {
  IValue result;
  API_NEED(function);
  if (count) API_NEED(arguments);
  API_NEED_ITEMS(names, named_count);
  API_NEED_ITEMS(outputs, output_count);
  API_TRY(function_call(function->module, function->function, (CallManner){0}, arguments, count, names, named_count,
                        options, &result));
  Status status = outputs_fill(result, outputs, output_count);
  ivalue_release(result);
  return api_status(status, error);
}

wick_status wick_run_async(wick_module *module, const char *method, const wick_value *const *arguments, size_t count,
                           const char *const *names, size_t named_count, const wick_run_options *options,
                           wick_future **out, wick_error **error) {
  Exec exec;
  WorkBudget budget;
  wick_cancel *cancel;
  wick_profile *profile;
  Function *function;
  Future *future;
  API_OUT(out);
  API_NEED(module);
  API_NEED(method);
  if (count) API_NEED(arguments);
  API_NEED_ITEMS(names, named_count);
  if (trace_recorder()) return api_status(status_new(ERROR_UNSUPPORTED, "an asynchronous call can't be traced"), error);
  api_exec_init(&exec, module->runtime);
  HEAP_SCOPE(exec.runtime->heap);
  unit_enter(module->unit, &exec);
  API_TRY(api_apply_run_options(&exec, options, &budget, &cancel, &profile));
  API_TRY(module_find(module, method, &function));
  wick_future *handle;
  FewArguments few;
  CallValues given;
  API_TRY(unbox_arguments(arguments, count, names, named_count, &few, &given));
  Status made = future_handle_new(module, cancel, profile, &handle);
  if (made) unboxed_free(&given, &few);
  API_TRY(made);
  WorkLimit limit = {exec.work.stop, exec.work.deadline_ns}, *outer = work_limit_enter(&limit);
  Status status = run_matched(&exec, module, function, &given, run_async, &future);
  work_limit_enter(outer);
  unboxed_free(&given, &few);
  if (status) {
    wick_future_release(handle);
    return api_status(status, error);
  }
  *out = handle;
  return api_status(future_handle_start(handle, future), error);
}
