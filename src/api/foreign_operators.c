/* Operators from outside, and the libraries that bring them. */
#include <assert.h>

#include "api/arguments.h"
#include "api/handles.h"
#include "call/operator_library.h"
#include "call/row.h"
#include "wick/library.h"

typedef struct ForeignRow {
  OpRow row; /* first: a call's row leads here */
  OpTable table;
  wick_kernel *kernel;
  wick_shape *shape;
  void *user;
  char *schema, *gradient, *body; /* owned; the latter two may be NULL */
} ForeignRow;

Status foreign_status(wick_status status, wick_error *error, const char *what) {
  return error ? (Status)error : status_new(ERROR_RUNTIME, "%s failed with status %d", what, status);
}

Status foreign_run(wick_kernel *kernel, void *user, Call *call) {
  assert(kernel && call->output_count <= CALL_MAX_OUTPUTS);
  wick_call border = {call};
  wick_error *error = NULL;
  wick_status status = kernel(user, &border, &error);
  if (status == WICK_OK) {
    wick_error_free(error);
    return OK;
  }
  return foreign_status(status, error, "the kernel");
}

static const ForeignRow *row_of(const Call *call) {
  return (const ForeignRow *)call->op->row;
}

static bool is_plainly(IValue value, const Type *type) {
  switch (value.tag) {
    case TAG_TENSOR:
      return type->kind == TYPE_TENSOR;
    case TAG_INT:
      return type->kind == TYPE_INT;
    case TAG_FLOAT:
      return type->kind == TYPE_FLOAT;
    case TAG_BOOL:
      return type->kind == TYPE_BOOL;
    default:
      return false;
  }
}

/* The schema's types are what the program counts on. Lists and dicts get them: an empty one does not know its own. */
static Status type_results(Call *call) {
  const FunctionSchema *schema = operator_schema(call->op);
  for (uint32_t i = 0; i < call->output_count && i < schema->return_count; i++) {
    IValue given = call->outputs[i], typed;
    if (is_plainly(given, schema->returns[i].type)) continue;
    TRY(argument_convert(given, schema->returns[i].type, "the kernel's result", &typed));
    call_set(call, i, typed);
  }
  return OK;
}

static Status run_foreign(Call *call) {
  TRY(foreign_run(row_of(call)->kernel, row_of(call)->user, call));
  return type_results(call);
}

/* ---- shapes ---- */

static Status take_spec(const wick_tensor_spec *from, TensorSpec *to) {
  if (!dtype_is_valid(from->dtype) || dtype_is_quantized((DType)from->dtype) || from->dtype == DTYPE_COMPLEX32)
    return status_new(ERROR_INVALID_ARGUMENT, "the shape function gave %u, which is no dtype of tensors", from->dtype);
  if (from->ndim < 0 || from->ndim > TENSOR_MAX_DIMS)
    return status_new(ERROR_INVALID_ARGUMENT, "the shape function gave %d dimensions", from->ndim);
  to->dtype = (DType)from->dtype;
  to->ndim = from->ndim;
  memcpy(to->sizes, from->sizes, (size_t)from->ndim * sizeof *to->sizes);
  return OK;
}

static Status shape_foreign(Call *call, TensorSpec *specs) {
  assert(row_of(call)->shape);
  _Static_assert(sizeof((wick_tensor_spec *)0)->sizes == sizeof((TensorSpec *)0)->sizes, "dimensions of a tensor");
  wick_tensor_spec given[CALL_MAX_OUTPUTS] = {0};
  wick_call border = {call};
  wick_error *error = NULL;
  wick_status status = row_of(call)->shape(row_of(call)->user, &border, given, &error);
  if (status != WICK_OK) return foreign_status(status, error, "the shape function");
  wick_error_free(error);
  for (uint32_t i = 0; i < call->output_count; i++) TRY(take_spec(&given[i], &specs[i]));
  return OK;
}

/* ---- registration ---- */

typedef struct Parse {
  Arena arena;
  Str text;
  bool only_tensors; /* among the results */
} Parse;
static void parse_schema(void *argument) {
  Parse *parse = argument;
  const FunctionSchema *schema = schema_parse(&parse->arena, type_store_process(), parse->text);
  parse->only_tensors = schema->return_count > 0 && schema->return_count <= CALL_MAX_OUTPUTS;
  for (uint32_t i = 0; i < schema->return_count; i++)
    parse->only_tensors &= schema->returns[i].type->kind == TYPE_TENSOR;
}

static Status read_schema(const char *text, Parse *parse) {
  *parse = (Parse){.text = str_from(text)};
  arena_init(&parse->arena, NULL);
  Status status = arena_protect(&parse->arena, parse_schema, parse);
  arena_dispose(&parse->arena);
  return status;
}

/* operator_register trusts its rows. */
Status foreign_check_schema(const char *schema) {
  Parse parse;
  return read_schema(schema, &parse);
}

static Status check_operator(const wick_operator *op) {
  Parse parse;
  if (!op->schema) return status_new(ERROR_INVALID_ARGUMENT, "a wick_operator has no schema");
  if (!op->kernel == !op->body)
    return status_new(ERROR_INVALID_ARGUMENT, "%s: a wick_operator has either a kernel or a body", op->schema);
  TRY(read_schema(op->schema, &parse));
  if (op->shape && (op->body || !parse.only_tensors))
    return status_new(ERROR_INVALID_ARGUMENT, "%s: a shape function is for kernels whose results are tensors",
                      op->schema);
  return OK;
}

static uint32_t row_flags(uint32_t flags) {
  static const struct {
    uint32_t given, row;
  } pairs[] = {
      {WICK_OPERATOR_NOT_DIFFERENTIABLE, OP_NOT_DIFFERENTIABLE},
      {WICK_OPERATOR_NONDETERMINISTIC, OP_NONDETERMINISTIC},
      {WICK_OPERATOR_SIDE_EFFECTS, OP_SIDE_EFFECTS},
      {WICK_OPERATOR_COMPOSITE, OP_COMPOSITE},
      {WICK_OPERATOR_TAKES_UNDEFINED, OP_ACCEPT_UNDEFINED},
      {WICK_OPERATOR_RETURNS_ARGUMENT, OP_RETURNS_ARGUMENT},
  };
  uint32_t result = 0;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (flags & pairs[i].given) result |= pairs[i].row;
  return result;
}

static void row_free(ForeignRow *foreign) {
  mem_free(foreign->schema);
  mem_free(foreign->gradient);
  mem_free(foreign->body);
  mem_free(foreign);
}

static char *copy_or_null(const char *text, bool *is_whole) {
  char *copy = text ? mem_strdup(text) : NULL;
  *is_whole &= !text || copy;
  return copy;
}

/* Rows live as long as the process: values and graphs may refer to them at any time. */
static Status add_operator(const wick_operator *op) {
  TRY(check_operator(op));
  ForeignRow *foreign = mem_calloc(1, sizeof *foreign);
  if (!foreign) return status_out_of_memory();
  bool is_whole = true;
  foreign->kernel = op->kernel;
  foreign->shape = op->shape;
  foreign->user = op->user;
  foreign->schema = copy_or_null(op->schema, &is_whole);
  foreign->gradient = copy_or_null(op->gradient, &is_whole);
  foreign->body = copy_or_null(op->body, &is_whole);
  foreign->row = (OpRow){.schema = foreign->schema,
                         .kernel = op->kernel ? run_foreign : NULL,
                         .shape = op->shape ? shape_foreign : NULL,
                         .grad = foreign->gradient,
                         .body = foreign->body,
                         .flags = row_flags(op->flags)};
  foreign->table = (OpTable){"foreign", &foreign->row, 1};
  Status status = is_whole ? operator_register(&foreign->table, foreign) : status_out_of_memory();
  if (status) row_free(foreign);
  return status;
}

wick_status wick_op_register(const char *schema, wick_kernel *kernel, void *user, wick_error **error) {
  API_NEED(schema);
  API_NEED(kernel);
  const wick_operator op = {.schema = schema, .kernel = kernel, .user = user, .flags = WICK_OPERATOR_TAKES_UNDEFINED};
  return api_status(add_operator(&op), error);
}

wick_status wick_operators_register(const wick_operator *operators, size_t count, wick_error **error) {
  if (count) API_NEED(operators);
  const char *at = (const char *)operators;
  for (size_t i = 0; i < count; i++) {
    wick_operator op = {0};
    uint32_t size;
    memcpy(&size, at, sizeof size); /* an array of structs as the caller knows them */
    API_TRY(api_copy_options("wick_operator", at, sizeof op, &op));
    API_TRY(add_operator(&op));
    at += size;
  }
  return api_status(OK, error);
}

/* ---- libraries ---- */

wick_status wick_load_library(const char *path, wick_error **error) {
  API_NEED(path);
  return api_status(operator_library_open(path), error);
}

const char *wick_library_path(size_t index) {
  return operator_library_path(index);
}

const char *wick_op_missing(const char *name) {
  return name ? operator_library_explain(str_from(name)) : "";
}

void wick_set_automatic_libraries(int on) {
  operator_library_set_automatic(on);
}

wick_status wick_library_find(const char *name, char **out_path, wick_error **error) {
  char path[LIBRARY_PATH_MAX];
  API_OUT(out_path);
  API_NEED(name);
  if (!operator_library_find(str_from(name), path))
    return api_status(status_new(ERROR_NOT_FOUND, "there is no library %s in the folders of wick's libraries", name),
                      error);
  *out_path = mem_strdup(path);
  return api_status(*out_path ? OK : status_out_of_memory(), error);
}
