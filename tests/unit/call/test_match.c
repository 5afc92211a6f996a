/* Matching of values with overloads: which one is chosen, what is converted, what messages say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/arguments.h"
#include "api/handles.h"
#include "call/match.h"
#include "call/row.h"

static Status run_number(Call *c) {
  call_set(c, 0, ivalue_int(c->op->overload_name.length ? c->op->overload_name.data[0] : '-'));
  return OK;
}

static const OpRow rows[] = {
    {.schema = "match::f.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> int", .kernel = run_number},
    {.schema = "match::f.Scalar(Tensor self, Scalar other) -> int", .kernel = run_number},
    {.schema = "match::f.int(int a, float b=2.5, str? name=None) -> int", .kernel = run_number},
    {.schema = "match::sizes(Tensor self, int[] size) -> int", .kernel = run_number},
    {.schema = "match::takes_int(int a) -> int", .kernel = run_number},
    {.schema = "match::takes_float(float a) -> int", .kernel = run_number},
    {.schema = "match::takes_bool(bool a) -> int", .kernel = run_number},
    {.schema = "match::takes_complex(complex a) -> int", .kernel = run_number},
    {.schema = "match::takes_number(Scalar a) -> int", .kernel = run_number},
    {.schema = "match::takes_device(Device a) -> int", .kernel = run_number},
    {.schema = "match::window(Tensor self, int[2] size, Device? device=None) -> int", .kernel = run_number},
};
static OP_TABLE(table, rows);

static Tensor *tensor;
static int setup(void **state) {
  (void)state;
  return operator_register(&table, NULL) != OK || tensor_empty(DTYPE_FLOAT32, 2, (int64_t[]){2, 3}, &tensor) != OK;
}
static int teardown(void **state) {
  (void)state;
  tensor_release(tensor);
  return 0;
}

#define COUNT(...) (uint32_t)(sizeof((IValue[]){__VA_ARGS__}) / sizeof(IValue))
#define VALUES(...) (&(CallValues){.count = COUNT(__VA_ARGS__), .values = (IValue[]){__VA_ARGS__}})
#define NAMED(keyword, ...) \
  (&(CallValues){           \
      .count = COUNT(__VA_ARGS__), .values = (IValue[]){__VA_ARGS__}, .keyword_count = 1, .keywords = keyword})

static MatchedCall matched;
static void expect_overload(const char *overload) {
  assert_true(str_is(matched.op->overload_name, overload));
}

static void chooses_overloads(void **state) {
  (void)state;
  IValue t = ivalue_tensor(tensor);
  assert_null(operator_match_values(STR("match::f"), NULL, VALUES(t, t), &matched));
  expect_overload("Tensor");
  assert_int_equal(matched.inputs[2].i, 1); /* alpha's default */
  matched_call_dispose(&matched);
  assert_null(operator_match_values(STR("match::f"), NULL, VALUES(t, ivalue_float(2)), &matched));
  expect_overload("Scalar");
  matched_call_dispose(&matched);
  KeywordValue alpha = {STR("alpha"), ivalue_int(3)};
  assert_null(operator_match_values(STR("match::f"), NULL, NAMED(&alpha, t, ivalue_float(2)), &matched));
  expect_overload("Tensor"); /* the number becomes a tensor */
  assert_true(matched.inputs[1].tensor->flags & TENSOR_WRAPPED_NUMBER);
  matched_call_dispose(&matched);
  assert_null(operator_match_values(STR("match::f"), NULL, VALUES(ivalue_int(1), ivalue_int(7)), &matched));
  expect_overload("int");
  assert_true(matched.inputs[1].tag == TAG_FLOAT && matched.inputs[1].f == 7 && matched.inputs[2].tag == TAG_NONE);
  matched_call_dispose(&matched);
}

static void converts_lists(void **state) {
  (void)state;
  IValue t = ivalue_tensor(tensor), device;
  assert_null(operator_match_values(STR("match::sizes"), NULL, VALUES(t, ivalue_int(3), ivalue_int(2)), &matched));
  assert_true(matched.inputs[1].list->length == 2 && matched.inputs[1].list->ints[0] == 3);
  matched_call_dispose(&matched);
  Tuple *pair;
  assert_null(tuple_new(2, NULL, &pair));
  pair->values[0] = ivalue_int(6), pair->values[1] = ivalue_int(1);
  assert_null(operator_match_values(STR("match::sizes"), NULL, VALUES(t, ivalue_tuple(pair)), &matched));
  assert_true(matched.inputs[1].list->kind == LIST_INTS && matched.inputs[1].list->ints[0] == 6);
  matched_call_dispose(&matched);
  ivalue_release(ivalue_tuple(pair));
  assert_null(ivalue_from_str(STR("cpu"), &device));
  KeywordValue named = {STR("device"), device};
  assert_null(operator_match_values(STR("match::window"), NULL, NAMED(&named, t, ivalue_int(5)), &matched));
  assert_true(matched.inputs[1].list->length == 2 && matched.inputs[1].list->ints[1] == 5 &&
              matched.inputs[2].tag == TAG_DEVICE);
  matched_call_dispose(&matched);
  ivalue_release(device);
}

static void expect_message(Status status, const char *part) {
  assert_non_null(status);
  if (!strstr(status->message, part)) fail_msg("%s", status->message);
  status_free(status);
}

static void says_why_not(void **state) {
  (void)state;
  IValue t = ivalue_tensor(tensor);
  KeywordValue wrong = {STR("beta"), ivalue_int(3)};
  expect_message(operator_match_values(STR("match::f"), NULL, VALUES(t), &matched), "Argument other not provided.");
  expect_message(operator_match_values(STR("match::f"), NULL, NAMED(&wrong, t, t), &matched),
                 "Keyword argument beta unknown.");
  expect_message(operator_match_values(STR("match::f"), "Tensor", VALUES(t, IVALUE_NONE), &matched),
                 "Expected a value of type 'Tensor' for argument 'other' but instead found type 'NoneType'.");
  expect_message(operator_match_values(STR("match::f"), NULL, VALUES(t, t, t, t), &matched),
                 "Expected at most 2 arguments but found 4");
  expect_message(operator_match_values(STR("match::windov"), NULL, VALUES(t), &matched), "match::window");
  expect_message(operator_match_values(STR("match::f"), "Missing", VALUES(t), &matched), "Unknown builtin op");
}

/* Values as Python has them, and what PyTorch makes of each for int, float, bool, complex, Scalar and Device; "-": it
 * refuses. */
typedef struct Taken {
  IValue value;
  const char *as[6];
} Taken;
static IValue tensor_of(DType dtype, double value, int ndim, bool meta) {
  static const int64_t ones[] = {1, 1, 2};
  Tensor *doubles, *t;
  assert_null(tensor_empty(DTYPE_FLOAT64, ndim, ones, &doubles));
  double *data = tensor_data(doubles);
  for (int64_t i = 0; i < doubles->numel; i++) data[i] = value;
  assert_null(tensor_to_dtype(doubles, dtype, &t));
  tensor_release(doubles);
  if (meta) t->flags |= TENSOR_META;
  return ivalue_tensor(t);
}

/* Values and programs are bound to parameters by the same rules (schema/bind.h). */
static void binds(void **state) {
  (void)state;
  IValue t = ivalue_tensor(tensor), word;
  List *list;
  assert_null(ivalue_from_str(STR("word"), &word));
  assert_null(list_new(TYPE(INT), 0, &list));
  KeywordValue input = {STR("input"), t};
  CallValues call = {.keyword_count = 1, .keywords = &input};
  assert_null(operator_match_values(STR("aten::relu"), NULL, &call, &matched)); /* self, as programs call it */
  matched_call_dispose(&matched);
  assert_null(operator_match_values(STR("aten::block_diag"), NULL, VALUES(t, t, t), &matched));
  assert_int_equal(matched.inputs[0].list->length, 3);
  matched_call_dispose(&matched);
  /* type variables are the same throughout */
  assert_null(operator_match_values(STR("aten::append"), NULL, VALUES(ivalue_list(list), ivalue_int(1)), &matched));
  matched_call_dispose(&matched);
  expect_message(operator_match_values(STR("aten::append"), NULL, VALUES(ivalue_list(list), word), &matched),
                 "Expected a value of type 't' for argument 'el' but instead found type 'str'.");
  /* a float is not repeated for int[2], nor a tensor */
  expect_message(operator_match_values(STR("match::window"), NULL, VALUES(t, ivalue_float(1)), &matched),
                 "Expected a value of type 'List[int]' for argument 'size' but instead found type 'float'.");
  IValue one = tensor_of(DTYPE_INT64, 3, 0, false), out[3];
  expect_message(arguments_match(operator_schema(operator_find(STR("match::window"))), VALUES(t, one), out),
                 "window() Expected a value of type 'List[int]' for argument 'size' but instead found type 'Tensor'.");
  KeywordValue twice[] = {{STR("size"), ivalue_int(1)}, {STR("size"), ivalue_int(2)}};
  call = (CallValues){.count = 1, .values = &t, .keyword_count = 2, .keywords = twice};
  expect_message(operator_match_values(STR("match::window"), NULL, &call, &matched),
                 "Keyword argument size specified twice.");
  KeywordValue near = {STR("devise"), ivalue_int(1)};
  expect_message(operator_match_values(STR("match::window"), NULL, NAMED(&near, t, ivalue_int(1)), &matched),
                 "Keyword argument devise unknown. Did you mean 'device'?");
  ivalue_release(one);
  ivalue_release(word);
  ivalue_release(ivalue_list(list));
}

static void expect_taken(Status status, IValue got, const char *expected, const char *door, int value) {
  StrBuf text = {0};
  if (status)
    strbuf_puts(&text, "-");
  else
    assert_null(ivalue_print(got, &text));
  if (strcmp(text.data, expected)) print_error("value %d, %s: %s, expected %s\n", value, door, text.data, expected);
  assert_string_equal(text.data, expected);
  strbuf_dispose(&text);
  status_free(status);
}

static void doors_agree(void **state) {
  (void)state;
  static const char *const names[] = {"match::takes_int",     "match::takes_float",  "match::takes_bool",
                                      "match::takes_complex", "match::takes_number", "match::takes_device"};
  IValue imaginary, cpu, word;
  String *text;
  assert_null(ivalue_from_complex(2 + 1i, &imaginary));
  assert_null(string_new(STR("cpu"), &text));
  cpu = ivalue_string(text);
  assert_null(string_new(STR("word"), &text));
  word = ivalue_string(text);
  Taken taken[] = {
      {ivalue_bool(true), {"1", "1.", "True", "1.+0.j", "True", "-"}},
      {ivalue_int(3), {"3", "3.", "True", "3.+0.j", "3", "-"}},
      {ivalue_float(1.5), {"-", "1.5", "True", "1.5+0.j", "1.5", "-"}},
      {imaginary, {"-", "-", "True", "2.+1.j", "2.+1.j", "-"}},
      {IVALUE_NONE, {"-", "-", "False", "-", "-", "-"}},
      {cpu, {"-", "-", "-", "-", "-", "cpu"}},
      {word, {"-", "-", "-", "-", "-", "-"}},
      {tensor_of(DTYPE_INT64, 3, 0, false), {"3", "3.", "True", "3.+0.j", "-", "-"}},
      {tensor_of(DTYPE_INT32, 3, 2, false), {"3", "3.", "True", "3.+0.j", "-", "-"}},
      {tensor_of(DTYPE_FLOAT32, 1.5, 1, false), {"1", "1.5", "True", "1.5+0.j", "-", "-"}},
      {tensor_of(DTYPE_FLOAT64, 1e30, 0, false), {"-", "1e+30", "True", "1e+30+0.j", "-", "-"}},
      {tensor_of(DTYPE_BOOL, 0, 0, false), {"0", "0.", "False", "0.+0.j", "-", "-"}},
      {tensor_of(DTYPE_COMPLEX64, 2, 0, false), {"2", "2.", "True", "2.+0.j", "-", "-"}},
      {tensor_of(DTYPE_FLOAT32, 1, 3, false), {"-", "-", "-", "-", "-", "-"}},
      {tensor_of(DTYPE_FLOAT32, 1, 0, true), {"-", "-", "-", "-", "-", "-"}},
  };
  int count = sizeof taken / sizeof *taken;
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 6; k++) {
      const Operator *op = operator_find(str_from(names[k]));
      IValue got = IVALUE_NONE;
      Status status = operator_match_values(op->name, NULL, VALUES(taken[i].value), &matched);
      expect_taken(status, status ? got : matched.inputs[0], taken[i].as[k], names[k], i);
      if (!status) matched_call_dispose(&matched);
      status = arguments_match(operator_schema(op), VALUES(taken[i].value), &got);
      expect_taken(status, got, taken[i].as[k], "a function", i);
      if (!status) ivalue_release(got);
    }
  for (int i = 0; i < count; i++) ivalue_release(taken[i].value);
}

/* A tensor without data is no number. */
static void refuses_meta_numbers(void **state) {
  (void)state;
  Exec exec;
  IValue out, meta = tensor_of(DTYPE_FLOAT32, 1, 0, true);
  exec_init(&exec, &api_services);
  expect_message(operator_call_values(&exec, STR("aten::full_like"), NULL, VALUES(ivalue_tensor(tensor), meta), &out),
                 "Expected a value of type 'number' for argument 'fill_value' but instead found type 'Tensor'");
  ivalue_release(meta);
}

/* Tensors in their places are taken as they are, held once more; where a name is asked for, a place does not do. */
static void takes_tensors_in_place(void **state) {
  (void)state;
  IValue a = tensor_of(DTYPE_FLOAT32, 1, 1, false), b = tensor_of(DTYPE_FLOAT32, 2, 1, false), out[3];
  const FunctionSchema *product = operator_schema(operator_find_overload(STR("aten::mul"), STR("Tensor")));
  const FunctionSchema *into = operator_schema(operator_find_overload(STR("aten::mul"), STR("out")));
  assert_null(arguments_match(product, VALUES(a, b), out));
  assert_ptr_equal(out[0].tensor, a.tensor);
  assert_ptr_equal(out[1].tensor, b.tensor);
  assert_false(ref_is_unique(&a.tensor->refs));
  ivalue_release(out[0]);
  ivalue_release(out[1]);
  assert_true(ref_is_unique(&a.tensor->refs));
  expect_message(arguments_match(into, VALUES(a, b, a), out), "mul() ");
  expect_message(arguments_match(product, VALUES(a), out), "Argument other not provided");
  expect_message(arguments_match(product, VALUES(a, b, b), out), "Expected at most 2 arguments");
  expect_message(arguments_match(product, VALUES(a, IVALUE_NONE), out), "argument 'other'");
  assert_true(ref_is_unique(&a.tensor->refs) && ref_is_unique(&b.tensor->refs));
  KeywordValue keyword = {STR("out"), a};
  assert_null(arguments_match(into, NAMED(&keyword, a, b), out));
  for (int i = 0; i < 3; i++) ivalue_release(out[i]);
  ivalue_release(a);
  ivalue_release(b);
}

static void calls(void **state) {
  (void)state;
  Exec exec;
  IValue out;
  exec_init(&exec, NULL);
  assert_null(operator_call_values(&exec, STR("match::f"), NULL, VALUES(ivalue_int(1)), &out));
  assert_int_equal(out.i, 'i');
}

/* A schema is read at the operator's first use: for want of memory, that is what the error says. */
static void says_that_memory_ran_out(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int count;
  } first_used[] = {{"aten::hypot", 2}, {"aten::erfinv", 1}, {"aten::xlogy", 2}};
  MatchedCall matched;
  IValue arguments[] = {ivalue_tensor(tensor), ivalue_tensor(tensor)};
  for (size_t i = 0; i < sizeof first_used / sizeof *first_used; i++) {
    int64_t refused = 0;
    CallValues call = {.count = (uint32_t)first_used[i].count, .values = arguments};
    for (Status status = status_out_of_memory(); status; refused++) {
      mem_fail_after(refused + 1);
      status = operator_match_values(str_from(first_used[i].name), NULL, &call, &matched);
      mem_fail_after(0);
      if (!status) break;
      assert_int_equal(status->code, ERROR_OUT_OF_MEMORY);
      status_free(status);
    }
    assert_true(refused > 0);
    matched_call_dispose(&matched);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chooses_overloads),
                                     cmocka_unit_test(converts_lists),
                                     cmocka_unit_test(says_why_not),
                                     cmocka_unit_test(binds),
                                     cmocka_unit_test(doors_agree),
                                     cmocka_unit_test(refuses_meta_numbers),
                                     cmocka_unit_test(takes_tensors_in_place),
                                     cmocka_unit_test(calls),
                                     cmocka_unit_test(says_that_memory_ran_out)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
