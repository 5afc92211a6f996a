/* What a schema gives as a tensor of its own shares no memory with an argument, whatever the arguments are: n of 0 and
 * 1, dimensions of one element, empty tensors, the dtype that is there already. Calls are made from the schemas in the
 * registry. Rows that may give an argument say so (OP_RETURNS_ARGUMENT), and then passes know it.
 *
 * WICK_FRESH_ATTEMPTS is how many calls are tried of each operator. */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/checks.h"
#include "api/handles.h"
#include "call/row.h"

enum { ATTEMPTS = 240, MAX_ARGUMENTS = 40 };

/* ---- arguments ---- */

typedef struct Chance {
  uint64_t state;
} Chance;
static uint32_t below(Chance *c, uint32_t n) {
  c->state = c->state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(((c->state >> 32) * n) >> 32);
}

typedef struct Shape {
  int ndim;
  int64_t sizes[4];
} Shape;
static const Shape shapes[] = {{2, {3, 3}}, {2, {1, 1}},    {1, {1}},          {0, {0}},
                               {1, {3}},    {2, {1, 3}},    {4, {1, 1, 4, 4}}, {4, {1, 4, 1, 1}},
                               {1, {0}},    {3, {1, 3, 3}}, {3, {2, 1, 4}},    {2, {0, 3}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static Tensor *make_tensor(DType dtype, const Shape *shape) {
  Tensor *doubles, *t;
  assert_null(tensor_empty(DTYPE_FLOAT64, shape->ndim, shape->sizes, &doubles));
  double *data = tensor_data(doubles);
  for (int64_t i = 0; i < doubles->numel; i++) data[i] = (double)((i * 5 + 1) % 3);
  assert_null(tensor_to_dtype(doubles, dtype, &t));
  tensor_release(doubles);
  return t;
}

typedef struct Making {
  Chance chance;
  DType dtype; /* of most tensors of the call */
  const Shape *shape;
} Making;

static IValue make_list(Making *m, const Argument *argument, const Type *element, bool *known);

static IValue make_value(Making *m, const Argument *argument, const Type *type, bool *known) {
  Chance *c = &m->chance;
  switch (type->kind) {
    case TYPE_OPTIONAL:
      if (below(c, 3) == 0) return IVALUE_NONE;
      return make_value(m, argument, type->elements[0], known);
    case TYPE_TENSOR: {
      bool index = str_starts_with(argument->name, "ind");
      bool condition = str_is(argument->name, "mask") || str_is(argument->name, "condition");
      DType dtype = index ? DTYPE_INT64 : condition ? DTYPE_BOOL : below(c, 12) ? m->dtype : DTYPE_FLOAT64;
      return ivalue_tensor(make_tensor(dtype, below(c, 4) ? m->shape : &shapes[below(c, SHAPES)]));
    }
    case TYPE_NUMBER:
      return below(c, 2) ? ivalue_int(below(c, 3)) : ivalue_float(below(c, 3) * 0.5);
    case TYPE_FLOAT:
      return ivalue_float(below(c, 3) * 0.5);
    case TYPE_INT:
      if (argument->int_kind == INT_SCALAR_TYPE) return ivalue_int(m->dtype);
      if (argument->int_kind == INT_LAYOUT || argument->int_kind == INT_MEMORY_FORMAT) return ivalue_int(0);
      return ivalue_int((int64_t)below(c, 4) - 1);
    case TYPE_BOOL:
      return ivalue_bool(below(c, 2));
    case TYPE_STRING:
      return text_value(below(c, 2) ? "none" : "mean");
    case TYPE_DEVICE:
      return ivalue_device(DEVICE_CPU_0);
    case TYPE_LIST:
      return make_list(m, argument, type->elements[0], known);
    default:
      *known = false;
      return IVALUE_NONE;
  }
}

/* Often as many numbers as the tensors have dimensions, often their sizes. */
static IValue make_list(Making *m, const Argument *argument, const Type *element, bool *known) {
  List *list;
  size_t count = argument->broadcast_n > 0 ? (size_t)argument->broadcast_n
                 : below(&m->chance, 2)    ? (size_t)m->shape->ndim
                                           : below(&m->chance, 3);
  bool sizes = element->kind == TYPE_INT && argument->int_kind == INT_SYM && below(&m->chance, 2);
  if (element->kind == TYPE_TENSOR) count = 1 + below(&m->chance, 2);
  assert_null(list_new(element, count, &list));
  for (size_t i = 0; i < count && *known; i++) {
    IValue item =
        sizes && i < (size_t)m->shape->ndim ? ivalue_int(m->shape->sizes[i]) : make_value(m, argument, element, known);
    assert_null(list_append(list, item));
  }
  return ivalue_list(list);
}

/* ---- who shares memory ---- */

static bool value_shows(IValue v, const Storage *storage) {
  if (v.tag == TAG_TENSOR) return tensor_is_defined(v.tensor) && v.tensor->storage == storage && v.tensor->numel;
  if (v.tag != TAG_LIST || v.list->kind != LIST_VALUES) return false;
  for (size_t i = 0; i < v.list->length; i++)
    if (value_shows(v.list->values[i], storage)) return true;
  return false;
}

static bool shares(IValue result, uint32_t count, const IValue *inputs) {
  if (result.tag == TAG_LIST && result.list->kind == LIST_VALUES) {
    for (size_t i = 0; i < result.list->length; i++)
      if (shares(result.list->values[i], count, inputs)) return true;
    return false;
  }
  if (result.tag != TAG_TENSOR || !tensor_is_defined(result.tensor) || !result.tensor->numel) return false;
  for (uint32_t i = 0; i < count; i++)
    if (value_shows(inputs[i], result.tensor->storage)) return true;
  return false;
}

/* ---- calls ---- */

typedef struct Tried {
  uint32_t succeeded;
  bool shared;
  StrBuf call; /* that gave an argument */
} Tried;

static void describe(const Operator *op, const IValue *inputs, uint32_t count, StrBuf *out) {
  strbuf_printf(out, STR_FMT "." STR_FMT "(", STR_ARG(op->name), STR_ARG(op->overload_name));
  for (uint32_t i = 0; i < count; i++) {
    if (i) strbuf_puts(out, ", ");
    if (inputs[i].tag == TAG_TENSOR)
      strbuf_printf(out, "%s%s", dtype_name((DType)inputs[i].tensor->dtype),
                    SIZES_TEXT(inputs[i].tensor->ndim, inputs[i].tensor->sizes));
    else
      assert_null(ivalue_print(inputs[i], out));
  }
  strbuf_puts(out, ")");
}

static void try_call(const Operator *op, uint32_t attempt, Tried *tried) {
  static const DType dtypes[] = {DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_INT64, DTYPE_FLOAT64, DTYPE_BOOL};
  const FunctionSchema *schema = operator_schema(op);
  Making m = {.chance = {(uint64_t)attempt * 0x9e3779b97f4a7c15u + 1}};
  IValue inputs[MAX_ARGUMENTS], outputs[CALL_MAX_OUTPUTS] = {IVALUE_NONE};
  bool known = true;
  below(&m.chance, 2);
  m.dtype = dtypes[below(&m.chance, sizeof dtypes / sizeof *dtypes)];
  m.shape = &shapes[below(&m.chance, SHAPES)];
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    const Argument *argument = &schema->arguments[i];
    bool defaulted = argument->has_default && below(&m.chance, 2);
    inputs[i] = !known      ? IVALUE_NONE
                : defaulted ? ivalue_retain(argument->default_value)
                            : make_value(&m, argument, argument->type, &known);
  }
  Exec exec;
  exec_init(&exec, &api_services);
  Call call = {.inputs = inputs,
               .input_count = schema->argument_count,
               .outputs = outputs,
               .output_count = schema->return_count};
  Status status = known ? operator_call(&exec, op, &call) : OK;
  if (known && !status) {
    tried->succeeded++;
    for (uint32_t i = 0; i < schema->return_count && !tried->shared; i++) {
      tried->shared = shares(outputs[i], schema->argument_count, inputs);
      if (tried->shared) describe(op, inputs, schema->argument_count, &tried->call);
    }
  }
  status_free(status);
  for (uint32_t i = 0; i < schema->return_count; i++) ivalue_release(outputs[i]);
  for (uint32_t i = 0; i < schema->argument_count; i++) ivalue_release(inputs[i]);
}

static bool gives_fresh_tensors(const Operator *op) {
  const FunctionSchema *schema = operator_schema(op);
  if (!str_starts_with(op->name, "aten::") || op->variant != VARIANT_FUNCTIONAL || op->row->factory || op->library ||
      schema->is_mutable || schema->is_vararg || schema->argument_count > MAX_ARGUMENTS ||
      schema->return_count > CALL_MAX_OUTPUTS)
    return false;
  bool tensors = false;
  for (uint32_t i = 0; i < schema->argument_count; i++)
    if (schema->arguments[i].alias) return false;
  for (uint32_t i = 0; i < schema->return_count; i++) {
    const Argument *result = &schema->returns[i];
    if (result->alias) return false;
    tensors |= result->type->kind == TYPE_TENSOR ||
               (result->type->kind == TYPE_LIST && result->type->elements[0]->kind == TYPE_TENSOR);
  }
  return tensors;
}

static void test_fresh_results(void **state) {
  (void)state;
  const char *wanted = getenv("WICK_FRESH_ATTEMPTS");
  uint32_t attempts = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : ATTEMPTS, count = 0, called = 0, calls = 0;
  uint32_t wrong = 0;
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    if (!gives_fresh_tensors(op)) continue;
    Tried tried = {0};
    for (uint32_t i = 0; i < attempts && !tried.shared; i++) try_call(op, i, &tried);
    count++;
    calls += tried.succeeded;
    called += tried.succeeded > 0;
    if (tried.shared && !(op->flags & OP_RETURNS_ARGUMENT)) {
      wrong++;
      print_message("gives an argument: %s\n", tried.call.data);
    }
    strbuf_dispose(&tried.call);
  }
  print_message("%u operators, %u of them called, %u calls\n", count, called, calls);
  assert_int_equal(wrong, 0);
  assert_true(called * 10 > count * 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fresh_results)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
