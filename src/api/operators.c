/* The eager door to operators, and operators from outside. */
#include <dlfcn.h>

#include "api/arguments.h"
#include "api/handles.h"
#include "call/match.h"

enum { MAX_ARGUMENTS = 1000 };

static Status call_operator(wick_runtime *runtime, const char *name, const char *overload,
                            const wick_value *const *arguments, size_t count, const char *const *names,
                            size_t named_count, const wick_run_options *options, IValue *out) {
  Exec exec;
  CallBudget budget;
  wick_cancel *cancel;
  wick_profile *profile;
  if (count > MAX_ARGUMENTS || named_count > count)
    return status_new(ERROR_INVALID_ARGUMENT, "%zu arguments, %zu of them named", count, named_count);
  api_exec_init(&exec, runtime);
  if (options) TRY(api_apply_run_options(&exec, options, &budget, &cancel, &profile));
  IValue *values = mem_calloc(count + 1, sizeof *values);
  KeywordValue *named = mem_calloc(named_count + 1, sizeof *named);
  Status status = values && named ? OK : status_out_of_memory();
  if (!status) {
    size_t positional = count - named_count;
    for (size_t i = 0; i < count; i++) values[i] = arguments[i] ? arguments[i]->value : IVALUE_NONE;
    for (size_t i = 0; i < named_count; i++) named[i] = (KeywordValue){str_from(names[i]), values[positional + i]};
    WorkLimit limit = {exec.stop, exec.deadline_ns}, *outer = work_limit_enter(&limit);
    MemBudget *before = exec_enter_memory(&exec);
    status = exec_attend(&exec);
    if (!status)
      status = operator_call_values(&exec, str_from(name), overload, (uint32_t)positional, values,
                                    (uint32_t)named_count, named, out);
    mem_budget_enter(before);
    work_limit_enter(outer);
    if (!status && (status = exec_attend(&exec))) ivalue_release(*out);
    status = exec_memory_error(&exec, status);
  }
  mem_free(values);
  mem_free(named);
  return status;
}

wick_status wick_op_call(wick_runtime *runtime, const char *name, const char *overload,
                         const wick_value *const *arguments, size_t count, const char *const *names, size_t named_count,
                         wick_value **out, wick_error **error) {
  return wick_op_call_with(runtime, name, overload, arguments, count, names, named_count, NULL, out, error);
}

wick_status wick_op_call_with(wick_runtime *runtime, const char *name, const char *overload,
                              const wick_value *const *arguments, size_t count, const char *const *names,
                              size_t named_count, const wick_run_options *options, wick_value **out,
                              wick_error **error) {
  IValue result = IVALUE_NONE;
  if (out) *out = NULL;
  API_NEED(name);
  if (count) API_NEED(arguments);
  API_NEED_ITEMS(names, named_count);
  Status status = call_operator(runtime, name, overload, arguments, count, names, named_count, options, &result);
  if (!status) status = value_give(result, NULL, out);
  return api_status(status, error);
}

int wick_op_exists(const char *name) {
  return name && operator_find(str_from(name)) != NULL;
}

/* ---- from outside ---- */

typedef struct ForeignRow {
  OpRow row; /* first: a call's row leads here */
  OpTable table;
  wick_kernel *kernel;
  void *user;
  char *schema; /* owned */
} ForeignRow;

Status foreign_run(wick_kernel *kernel, void *user, Call *call) {
  wick_call border = {call};
  wick_error *error = NULL;
  wick_status status = kernel(user, &border, &error);
  if (status == WICK_OK) {
    wick_error_free(error);
    return OK;
  }
  return foreign_status(status, error, "the kernel");
}

Status foreign_status(wick_status status, wick_error *error, const char *what) {
  return error ? (Status)error : status_new(ERROR_RUNTIME, "%s failed with status %d", what, status);
}

static Status run_foreign(Call *call) {
  const ForeignRow *foreign = (const ForeignRow *)call->op->row;
  return foreign_run(foreign->kernel, foreign->user, call);
}

size_t wick_call_argument_count(const wick_call *call) {
  return call ? call->call->input_count : 0;
}
wick_value *wick_call_argument(wick_call *call, size_t index) {
  return call && index < call->call->input_count ? value_box_or_null(ivalue_retain(call->call->inputs[index]), NULL)
                                                 : NULL;
}
void wick_call_set_result(wick_call *call, size_t index, const wick_value *value) {
  if (call && index < call->call->output_count)
    call_set(call->call, (uint32_t)index, value ? ivalue_retain(value->value) : IVALUE_NONE);
}

typedef struct Parse {
  Arena arena;
  Str text;
} Parse;
static void parse_schema(void *argument) {
  Parse *parse = argument;
  schema_parse(&parse->arena, type_store_process(), parse->text);
}

/* operator_register trusts its rows. */
Status foreign_check_schema(const char *schema) {
  Parse parse = {.text = str_from(schema)};
  arena_init(&parse.arena, NULL);
  Status status = arena_protect(&parse.arena, parse_schema, &parse);
  arena_dispose(&parse.arena);
  return status;
}

/* Rows live as long as the process: values and graphs may refer to them at any time. */
wick_status wick_op_register(const char *schema, wick_kernel *kernel, void *user, wick_error **error) {
  API_NEED(schema);
  API_NEED(kernel);
  Status status = foreign_check_schema(schema);
  if (status) return api_status(status, error);
  ForeignRow *foreign = mem_calloc(1, sizeof *foreign);
  if (!foreign || !(foreign->schema = mem_strdup(schema))) {
    mem_free(foreign);
    return api_status(status_out_of_memory(), error);
  }
  foreign->kernel = kernel;
  foreign->user = user;
  foreign->row = (OpRow){.schema = foreign->schema, .kernel = run_foreign, .flags = OP_ACCEPT_UNDEFINED};
  foreign->table = (OpTable){"foreign", &foreign->row, 1};
  status = operator_register(&foreign->table, foreign);
  if (status) {
    mem_free(foreign->schema);
    mem_free(foreign);
  }
  return api_status(status, error);
}

wick_status wick_load_library(const char *path, wick_error **error) {
  typedef wick_status Init(wick_error * *error);
  API_NEED(path);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return api_status(status_new(ERROR_IO, "%s", why ? why : "the library can't be opened"), error);
  }
  Init *init = NULL;
  *(void **)&init = dlsym(library, "wick_library_init");
  if (!init) {
    dlclose(library);
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "%s has no wick_library_init", path), error);
  }
  return init(error); /* stays open: its kernels are in the registry */
}
