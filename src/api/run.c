/* wick_run: options to an Exec, arguments to the schema's types, then the interpreter. */
#include <time.h>

#include "api/arguments.h"
#include "api/find.h"

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static Status apply_options(Exec *exec, const wick_run_options *options) {
  wick_run_options o;
  TRY(api_copy_options("wick_run_options", options, sizeof o, &o));
  if (o.grad > WICK_GRAD_OFF) return status_new(ERROR_INVALID_ARGUMENT, "wick_run_options: grad %u", o.grad);
  if (o.threads) exec->threads = o.threads > 1024 ? 1024 : (int)o.threads;
  exec->grad_enabled = o.grad == WICK_GRAD_ON;
  exec->deterministic = o.deterministic != 0;
  if (o.deadline_ns) {
    uint64_t now = now_ns();
    exec->deadline_ns = o.deadline_ns > UINT64_MAX - now ? UINT64_MAX : now + o.deadline_ns;
  }
  if (o.max_steps) atomic_store(&exec->steps_left, o.max_steps > INT64_MAX ? INT64_MAX : (int64_t)o.max_steps);
  if (o.max_bytes) exec->bytes_left = o.max_bytes > INT64_MAX ? INT64_MAX : (int64_t)o.max_bytes;
  if (o.cancel) exec->stop = &o.cancel->fired;
  return OK;
}

static Status run(Exec *exec, const wick_module *module, Function *function, const wick_value *const *arguments,
                  size_t count, const char *const *names, size_t named_count, IValue *out) {
  const FunctionSchema *schema = function->schema;
  if (!schema) return status_new(ERROR_INTERNAL, "the function was not compiled");
  if (count > 100000 || named_count > count)
    return status_new(ERROR_INVALID_ARGUMENT, "%zu arguments, %zu of them named", count, named_count);
  uint32_t slots = schema->argument_count;
  IValue *values = mem_calloc(count + slots + 1, sizeof *values);
  if (!values) return status_out_of_memory();
  for (size_t i = 0; i < count; i++) values[i] = arguments[i] ? arguments[i]->value : IVALUE_NONE;
  IValue self = module->module ? ivalue_object(module->module->object) : IVALUE_NONE;
  Status status = arguments_match(schema, self, (uint32_t)count, values, (uint32_t)named_count, names, values + count);
  if (!status) {
    status = interp_call(exec, function, values + count, slots, out);
    for (uint32_t i = 0; i < slots; i++) ivalue_release(values[count + i]);
  }
  mem_free(values);
  return status;
}

wick_status wick_run(const wick_module *module, const char *method, const wick_value *const *arguments, size_t count,
                     const char *const *names, size_t named_count, const wick_run_options *options, wick_value **out,
                     wick_error **error) {
  Exec exec;
  Function *function;
  IValue result;
  *out = NULL;
  api_exec_init(&exec, module->runtime);
  API_TRY(apply_options(&exec, options));
  API_TRY(module_find(module, method, &function));
  API_TRY(run(&exec, module, function, arguments, count, names, named_count, &result));
  return api_status(value_box_of(result, module->unit, out), error);
}
