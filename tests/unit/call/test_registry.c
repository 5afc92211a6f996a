/* The registry: built-in tables are sound, forms are derived by PyTorch's naming, registration refuses what it must. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "call/derive.h"
#include "call/operator.h"
#include "schema/open_types.h"

/* By the built-in row of that schema, which may say other names than the rule; by the rule where there is none. */
static void expect_derived(const char *functional, OpVariant variant, const char *expected) {
  StrBuf text = {0};
  Str name, overload;
  assert_true(schema_text_split(str_from(functional), &name, &overload));
  const Operator *op = operator_find_overload(name, overload);
  const OpRow by_rule = {.schema = functional};
  bool built_in = op && !strcmp(op->row->schema, functional);
  bool derived = derive_schema(built_in ? op->row : &by_rule, variant, &text);
  assert_int_equal(derived, expected != NULL);
  if (expected) assert_string_equal(text.data, expected);
  strbuf_dispose(&text);
}

/* data/autocast.txt: what PyTorch's pass does to the arguments of each of its operators. */
static void casts_are_recorded(void **state) {
  static const char *const names[] = {[CAST_NONE] = "none",     [CAST_REDUCED] = "reduced",
                                      [CAST_FULL] = "full",     [CAST_FULL_UNLESS_DTYPE] = "full_unless_dtype",
                                      [CAST_WIDEST] = "widest", [CAST_REFUSED] = "refused"};
  (void)state;
  FILE *file = fopen("data/autocast.txt", "r");
  assert_non_null(file);
  char line[200], name[100], cast[40];
  size_t known = 0, marked = 0;
  while (fgets(line, sizeof line, file)) {
    assert_int_equal(sscanf(line, "%99s %39s", name, cast), 2);
    ptrdiff_t dot = str_rfind_char(str_from(name), '.');
    Str whole = str_from(name), overload = dot < 0 ? STR("") : str_slice(whole, (size_t)dot + 1, whole.length);
    const Operator *op = operator_find_overload(dot < 0 ? whole : str_slice(whole, 0, (size_t)dot), overload);
    if (!op) continue;
    if (strcmp(names[op->row->cast], cast)) fail_msg("%s: %s, recorded %s", name, names[op->row->cast], cast);
    known += op->variant == VARIANT_FUNCTIONAL;
  }
  fclose(file);
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op))
    marked += op->variant == VARIANT_FUNCTIONAL && op->row->cast;
  assert_int_equal(marked, known);
  assert_true(known > 80);
}

static void derives_schemas(void **state) {
  (void)state;
  expect_derived("aten::abs(Tensor self) -> Tensor", VARIANT_INPLACE, "aten::abs_(Tensor(a!) self) -> Tensor(a!)");
  expect_derived("aten::abs(Tensor self) -> Tensor", VARIANT_OUT,
                 "aten::abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  expect_derived("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", VARIANT_OUT,
                 "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)");
  expect_derived("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", VARIANT_INPLACE,
                 "aten::add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)");
  expect_derived(
      "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
      "indices)",
      VARIANT_OUT,
      "aten::sort.values_stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False, Tensor(a!) values, "
      "Tensor(b!) indices)"
      " -> (Tensor(a!) values, Tensor(b!) indices)");
  expect_derived(
      "aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? "
      "layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor",
      VARIANT_OUT, "aten::arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)");
  expect_derived("aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", VARIANT_OUT,
                 "aten::frexp.Tensor_out(Tensor self, *, Tensor(a!) mantissa, Tensor(b!) exponent) -> (Tensor(a!) "
                 "mantissa, Tensor(b!) exponent)");
  expect_derived("aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", VARIANT_INPLACE,
                 "aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)");
  expect_derived("aten::_foreach_neg(Tensor[] self) -> Tensor[]", VARIANT_INPLACE,
                 "aten::_foreach_neg_(Tensor(a!)[] self) -> ()");
  expect_derived("aten::_foreach_neg(Tensor[] self) -> Tensor[]", VARIANT_OUT,
                 "aten::_foreach_neg.out(Tensor[] self, *, Tensor(a!)[] out) -> ()");
  expect_derived("aten::is_floating_point(Tensor self) -> bool", VARIANT_OUT, NULL);
  expect_derived("aten::zeros(int[] size) -> Tensor", VARIANT_INPLACE, NULL);
}

static void built_in_tables_are_sound(void **state) {
  (void)state;
  StrBuf problems = {0};
  operator_check_tables(&problems);
  if (problems.length) fail_msg("%s", problems.data);
  strbuf_dispose(&problems);
}

/* What a schema leaves open the row says; the operators of a name are all of plans or none is. */
static void open_inputs_have_types(void **state) {
  (void)state;
  size_t open = 0, of_plans = 0;
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    const FunctionSchema *schema = operator_schema(op);
    bool is_open = schema->is_vararg;
    for (uint32_t i = 0; i < schema->argument_count; i++) is_open |= schema->arguments[i].type->kind == TYPE_ANY;
    if (is_open != (schema->open != NULL))
      fail_msg("%s: what stands at Any and ... is its row's to say", op->row->schema);
    if (op->next && operator_is_of_plans(op) != operator_is_of_plans(op->next))
      fail_msg("%s is of plans, or another of its name is", op->row->schema);
    Status status = operator_check_name(op);
    bool is_wicks = str_starts_with(op->name, "wick::");
    if (!status && is_wicks) fail_msg("%s can be named", op->row->schema);
    status_free(status);
    open += is_open;
    of_plans += operator_is_of_plans(op);
  }
  assert_true(open > 20 && of_plans > 15);
}

/* "Tensor... int" and the like: which counts they take, and what stands where. */
static void reads_open_types(void **state) {
  (void)state;
  static const struct {
    const char *schema, *open;
    uint32_t count;
    const char *types; /* of the inputs; NULL: it does not take so many */
  } cases[] = {
      {"a::b(...) -> Tensor", "Tensor... int", 0, NULL},
      {"a::b(...) -> Tensor", "Tensor... int", 1, "int "},
      {"a::b(...) -> Tensor", "Tensor... int", 3, "Tensor Tensor int "},
      {"a::b(...) -> Tensor", "Tensor {Tensor Tensor?}...", 1, "Tensor "},
      {"a::b(...) -> Tensor", "Tensor {Tensor Tensor?}...", 2, NULL},
      {"a::b(...) -> Tensor", "Tensor {Tensor Tensor?}...", 5, "Tensor Tensor Tensor? Tensor Tensor? "},
      {"a::b(str s, ...) -> Tensor", "Any...", 0, NULL},
      {"a::b(str s, ...) -> Tensor", "Any...", 2, "str Any "},
      {"a::b(bool c, Any x, int i, Any y) -> Any", "int str", 4, "bool int int str "},
      {"a::b(bool c, Any x, int i, Any y) -> Any", "int str", 5, NULL},
      {"a::b(Any x, ...) -> Any", "int str float...", 2, "int str "},
      {"a::b(Any x, ...) -> Any", "int str float...", 4, "int str float float "},
      {"a::b(...) -> Tensor", NULL, 2, "Any Any "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Arena arena;
    Catch here;
    StrBuf text = {0};
    arena_init(&arena, &here);
    if (!catch_enter(&here)) fail_msg("%s", here.status->message);
    FunctionSchema *schema = schema_parse(&arena, type_store_process(), str_from(cases[i].schema));
    if (cases[i].open) schema->open = open_types_parse(&arena, type_store_process(), schema, str_from(cases[i].open));
    bool takes = schema_takes_count(schema, cases[i].count);
    if (takes != (cases[i].types != NULL)) fail_msg("%s of %u", cases[i].open, cases[i].count);
    for (uint32_t k = 0; takes && k < cases[i].count; k++) {
      type_print_str(schema_input_type(schema, k, cases[i].count), &text);
      strbuf_char(&text, ' ');
    }
    if (takes) assert_string_equal(text.data ? text.data : "", cases[i].types);
    strbuf_dispose(&text);
    arena_dispose(&arena);
  }
}

static void refuses_open_types(void **state) {
  (void)state;
  static const char *const texts[] = {"Tensor... int...", "{Tensor int}", "{Tensor", "int int int int int int int",
                                      "-> -> int"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    Arena arena;
    Catch here;
    arena_init(&arena, &here);
    if (catch_enter(&here)) {
      FunctionSchema *schema = schema_parse(&arena, type_store_process(), STR("a::b(...) -> Tensor"));
      open_types_parse(&arena, type_store_process(), schema, str_from(texts[i]));
    }
    if (!here.status) fail_msg("%s", texts[i]);
    status_free(here.status);
    arena_dispose(&arena);
  }
}

/* Before all others. Operators are made as their names are looked up: the same, in the same order, as all of them. */
static void finds_what_lists_have(void **state) {
  (void)state;
  static const char *const names[] = {"aten::mean", "aten::add_", "aten::add",         "aten::sort",
                                      "aten::pow_", "aten::mul",  "prim::AutogradAdd", "aten::frexp"};
  enum { NAMES = sizeof names / sizeof *names };
  const Operator *found[NAMES];
  for (size_t i = 0; i < NAMES; i++) {
    found[i] = operator_find(str_from(names[i]));
    if (!found[i]) fail_msg("%s", names[i]);
  }
  for (size_t i = 0; i < NAMES; i++) {
    const Operator *next = found[i];
    for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
      if (!str_is(op->name, names[i])) continue;
      assert_ptr_equal(op, next);
      next = next->next;
    }
    assert_null(next);
  }
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    const Operator *other = operator_find(op->name);
    while (other && other != op) other = other->next;
    if (!other) fail_msg(STR_FMT "." STR_FMT, STR_ARG(op->name), STR_ARG(op->overload_name));
  }
}

static void finds_operators(void **state) {
  (void)state;
  assert_null(operator_find(STR("aten::no_such_operator")));
  const Operator *op = operator_find_overload(STR("aten::transpose"), STR("int"));
  assert_non_null(op);
  assert_int_equal(operator_schema(op)->argument_count, 3);
  assert_ptr_equal(operator_schema(op), operator_schema(op));
  const Operator *triangle = operator_find(STR("aten::tril_"));
  assert_non_null(triangle);
  assert_int_equal(triangle->variant, VARIANT_INPLACE);
  assert_true(operator_schema(triangle)->is_mutable);
  Str similar[3];
  assert_true(operator_similar(STR("aten::transposs"), similar, 3) >= 1);
  assert_true(str_is(similar[0], "aten::transpose"));
  size_t count = 0;
  for (op = operator_next(NULL); op; op = operator_next(op)) count++;
  assert_true(count > 100);
}

static Status kernel_nothing(Call *c) {
  (void)c;
  return OK;
}

static void expect_refused(const char *schema, const char *part) {
  const OpRow rows[] = {{.schema = schema, .kernel = kernel_nothing}};
  const OpTable table = {"refused", rows, 1};
  Status status = operator_register(&table, NULL);
  assert_non_null(status);
  if (!strstr(status->message, part)) fail_msg("%s", status->message);
  status_free(status);
}

static void registers_and_retires(void **state) {
  (void)state;
  static const OpRow rows[] = {
      {.schema = "library::first(Tensor self) -> Tensor", .kernel = kernel_nothing, .flags = OP_OUT},
      {.schema = "library::first.int(int self) -> int", .kernel = kernel_nothing},
      {.schema = "library::second(int a) -> int", .kernel = kernel_nothing}};
  static OP_TABLE(table, rows);
  int library;
  assert_null(operator_register(&table, &library));
  const Operator *first = operator_find(STR("library::first"));
  assert_non_null(first);
  assert_non_null(operator_find_overload(STR("library::first"), STR("out")));
  expect_refused("library::first(Tensor self) -> Tensor", "registered already");
  expect_refused("library::first.other(int self) -> str", "returns");
  expect_refused("library::third(Tensor self -> Tensor", "");
  expect_refused("nothing", "not a schema");
  const OpRow nothing[] = {{.schema = "library::third() -> ()"}};
  const OpTable empty = {"nothing", nothing, 1};
  Status status = operator_register(&empty, NULL);
  assert_non_null(status);
  status_free(status);
  assert_null(operator_find(STR("library::third")));

  operator_retire(&library);
  assert_null(operator_find(STR("library::first")));
  assert_null(operator_find(STR("library::second")));
  assert_true(str_is(first->name, "library::first")); /* whoever holds it goes on */
  assert_null(operator_register(&table, &library));
  assert_non_null(operator_find(STR("library::second")));
  operator_retire(&library);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_what_lists_have),  cmocka_unit_test(casts_are_recorded),
      cmocka_unit_test(derives_schemas),        cmocka_unit_test(built_in_tables_are_sound),
      cmocka_unit_test(open_inputs_have_types), cmocka_unit_test(reads_open_types),
      cmocka_unit_test(refuses_open_types),     cmocka_unit_test(finds_operators),
      cmocka_unit_test(registers_and_retires)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
