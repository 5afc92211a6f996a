/* Why things were left undone: for each reason a program or graph that has it; with its line. */
#include "ir_fixture.h"

#include "api/handles.h"
#include "executor/executor.h"
#include "frontend/frontend.h"
#include "pass/pass.h"
#include "report/reason.h"

/* ---- passes over IR text ---- */

typedef struct Refusal {
  Reason reason;
  const char *pass, *text;
} Refusal;

#define X_Y "graph(%x : Tensor, %y : Tensor):\n  %one : int = prim::Constant[value=1]()\n"
#define LOOP(trips, more, body)                                                      \
  "graph(%x : Tensor, %n : int, %b : bool):\n"                                       \
  "  %t : bool = prim::Constant[value=1]()\n"                                        \
  "  %one : int = prim::Constant[value=1]()\n"                                       \
  "  %many : int = prim::Constant[value=40]()\n  %z : NoneType = prim::Constant()\n" \
  "  %r : Tensor = prim::Loop(" trips                                                \
  ", %t, %x)\n"                                                                      \
  "    block0(%i : int, %c : Tensor):\n" body "      -> (" more ", %d)\n  return (%r)\n"
#define NEG "      %d : Tensor = aten::neg(%c)\n"
#define TEN_NEGS(a)                                   \
  "      %" a "0 : Tensor = aten::neg(%c)\n      %" a \
  "1 : Tensor = aten::neg(%c)\n"                      \
  "      %" a "2 : Tensor = aten::neg(%c)\n      %" a \
  "3 : Tensor = aten::neg(%c)\n"                      \
  "      %" a "4 : Tensor = aten::neg(%c)\n      %" a \
  "5 : Tensor = aten::neg(%c)\n"                      \
  "      %" a "6 : Tensor = aten::neg(%c)\n      %" a \
  "7 : Tensor = aten::neg(%c)\n"                      \
  "      %" a "8 : Tensor = aten::neg(%c)\n      %" a "9 : Tensor = aten::neg(%c)\n"

static const Refusal refusals[] = {
    {REASON_NOT_FUSED_OPERATOR, "graph_fuser",
     X_Y "  %a : Tensor = aten::mm(%x, %y)\n  %b : Tensor = aten::relu(%a)\n  return (%b)\n"},
    {REASON_NOT_FUSED_WRITES, "graph_fuser",
     X_Y "  %a : Tensor = aten::relu_(%x)\n  %b : Tensor = aten::neg(%a)\n  return (%b)\n"},
    {REASON_NOT_FUSED_ALONE, "graph_fuser", X_Y "  %a : Tensor = aten::relu(%x)\n  return (%a)\n"},
    {REASON_NOT_FUSED_GUARD, "graph_fuser",
     X_Y "  %a : Tensor = aten::mul(%x, %y)\n  %g : Float(2, 3) = prim::Guard(%a)\n  %b : Tensor = aten::neg(%g)\n"
         "  return (%b)\n"},
    {REASON_NOT_FUSED_OPERATOR, "graph_fuser",
     X_Y "  %a : Tensor = aten::mm(%x, %y)\n  %g : Float(2, 3) = prim::Guard(%a)\n  %b : Tensor = aten::neg(%g)\n"
         "  return (%b)\n"},
    {REASON_NOT_FUSED_ALIASING, "graph_fuser",
     X_Y "  %a : Tensor = aten::neg(%x)\n  %w : Tensor = aten::relu_(%x)\n  %b : Tensor = aten::mul(%a, %w)\n"
         "  return (%b)\n"},
    {REASON_NOT_FUSED_LIST, "graph_fuser",
     X_Y "  %a : Tensor = aten::neg(%x)\n  %b : Tensor = aten::mul(%a, %y)\n"
         "  %l : Tensor[] = prim::ListConstruct(%b, %x)\n  %c : Tensor = aten::cat(%l, %one)\n"
         "  %u : Tensor[] = aten::append(%l, %c)\n  return (%l)\n"},
    {REASON_NOT_DIFFERENTIATED_NO_FORMULA, "create_autodiff_subgraphs",
     X_Y "  %a : Tensor = aten::nonzero(%x)\n  return (%a)\n"},
    {REASON_NOT_DIFFERENTIATED_WRITES, "create_autodiff_subgraphs",
     X_Y "  %a : Tensor = aten::relu_(%x)\n  return (%a)\n"},
    {REASON_NOT_DIFFERENTIATED_TOO_SMALL, "create_autodiff_subgraphs",
     X_Y "  %a : Tensor = aten::mul(%x, %y)\n  return (%a)\n"},
    {REASON_NOT_DIFFERENTIATED_PUT_BACK, "create_autodiff_subgraphs inline_autodiff_subgraphs",
     X_Y "  %a : Tensor = aten::mul(%x, %y)\n  %b : Tensor = aten::tanh(%a)\n  return (%b)\n"},
    {REASON_NOT_DIFFERENTIATED_ALIASING, "create_autodiff_subgraphs",
     X_Y "  %a : Tensor = aten::mul(%x, %y)\n  %w : Tensor = aten::relu_(%x)\n  %b : Tensor = aten::mul(%a, %w)\n"
         "  return (%b)\n"},
    {REASON_NOT_DIFFERENTIATED_CONTROL_FLOW, "create_autodiff_subgraphs", LOOP("%n", "%t", NEG)},
    {REASON_NOT_DIFFERENTIATED_LIST, "create_autodiff_subgraphs",
     "graph(%l : Tensor[]):\n  %one : int = prim::Constant[value=1]()\n"
     "  %a : Tensor = aten::cat(%l, %one)\n  return (%a)\n"},
    {REASON_NOT_DIFFERENTIATED_GRAD_MODE, "create_autodiff_subgraphs",
     X_Y "  %f : bool = prim::Constant[value=0]()\n  %a : Tensor = aten::mul(%x, %y)\n"
         "   = aten::set_grad_enabled(%f)\n  %b : Tensor = aten::tanh(%a)\n  return (%b)\n"},
    {REASON_NOT_MOVED_MAY_FAIL, "loop_invariant_code_motion",
     LOOP("%n", "%t", "      %e : Tensor = aten::tanh(%x)\n      %d : Tensor = aten::mul(%c, %e)\n")},
    {REASON_NOT_MOVED_RANDOM, "loop_invariant_code_motion",
     LOOP("%many", "%t", "      %e : Tensor = aten::bernoulli(%x, %z)\n      %d : Tensor = aten::mul(%c, %e)\n")},
    {REASON_NOT_MOVED_ALIASING, "loop_invariant_code_motion",
     LOOP("%many", "%t",
          "      %e : Tensor = aten::tanh(%x)\n      %w : Tensor = aten::relu_(%x)\n"
          "      %d : Tensor = aten::mul(%c, %e)\n")},
    {REASON_NOT_UNROLLED_CONDITION, "loop_unrolling", LOOP("%n", "%b", NEG)},
    {REASON_NOT_UNROLLED_TOO_LARGE, "loop_unrolling",
     LOOP("%n", "%t", NEG TEN_NEGS("u") TEN_NEGS("v") TEN_NEGS("w") TEN_NEGS("z"))},
    {REASON_NOT_UNROLLED_UNKNOWN, "constant_loop_unrolling", LOOP("%n", "%t", NEG)},
    {REASON_NOT_MOVED_ALIASING, "use_variadic_cat",
     X_Y "  %l : Tensor[] = prim::ListConstruct(%x)\n  %u : Tensor[] = aten::append(%l, %y)\n"
         "  %c : Tensor = aten::cat(%l, %one)\n  return (%c)\n"},
};

static void run_pass(const char *names, const char *text) {
  IrText ir;
  Exec exec;
  char copy[200];
  ir_parse(&ir, text);
  exec_init(&exec, &api_services);
  snprintf(copy, sizeof copy, "%s", names);
  for (char *name = strtok(copy, " "); name; name = strtok(NULL, " ")) {
    Status status = pass_run(pass_find(str_from(name)), ir.graph, &exec);
    if (status) fail_msg("%s: %s", name, status->message);
  }
  ir_dispose(&ir);
}

static void test_passes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const Refusal *r = &refusals[i];
    reason_reset();
    run_pass(r->pass, r->text);
    if (reason_count(r->reason) < 1 || reason_count(r->reason) > 2) /* 2: alone, and in a part of its own */
      fail_msg("%s: counted %d times: %s\n%s", r->pass, (int)reason_count(r->reason), reason_text(r->reason), r->text);
  }
  reason_reset();
}

/* ---- guards ---- */

static const char program[] =
    "def f(x):\n"
    "    y = x * 2\n"
    "    return (y + x).relu() * y\n";

static Tensor *tensor(DType dtype, int ndim, const int64_t *sizes, bool requires_grad) {
  Tensor *t;
  assert_null(tensor_empty(dtype, ndim, sizes, &t));
  tensor_fill_zero(t);
  if (requires_grad) t->flags |= TENSOR_REQUIRES_GRAD;
  return t;
}

static void call(Exec *exec, Function *function, Tensor *t) {
  IValue argument = ivalue_tensor(t), out;
  assert_null(executor_call(exec, function, &argument, 1, &out));
  ivalue_release(out);
  tensor_release(t);
}

/* A plan for float32 of 4 x 6, and then something else. */
static void expect_bailout(Reason reason, Tensor *other, uint32_t forced) {
  Exec exec;
  CompilationUnit *unit;
  Source *source;
  exec_init(&exec, &api_services);
  ExecutorOptions options = {.mode = EXECUTOR_PROFILING, .compile_now = true, .force_guard = forced};
  executor_options_complete(&options, &options);
  exec.executor = &options;
  exec.grad_enabled = true;
  assert_null(unit_new(&unit));
  assert_null(source_new(str_from(program), "guards.py", 1, &source));
  assert_null(frontend_compile_program(unit, &exec, source, NULL));
  Function *f = unit_find_function(unit, STR("f"));
  reason_reset();
  for (int i = 0; i < 3; i++) call(&exec, f, tensor(DTYPE_FLOAT32, 2, (int64_t[]){4, 6}, false));
  call(&exec, f, other);
  StrBuf text = {0};
  reason_print(&text);
  if (!reason_count(reason)) fail_msg("not counted: %s\n%s", reason_text(reason), text.data ? text.data : "");
  if (!strstr(text.data, "guards.py:")) fail_msg("no line in\n%s", text.data);
  strbuf_dispose(&text);
  unit_release(unit);
  source_release(source);
}

static void test_guards(void **state) {
  (void)state;
  const int64_t sizes[] = {4, 6}, other_sizes[] = {4, 7};
  expect_bailout(REASON_GUARD_FAILED_DTYPE, tensor(DTYPE_FLOAT64, 2, sizes, false), 0);
  expect_bailout(REASON_GUARD_FAILED_RANK, tensor(DTYPE_FLOAT32, 1, sizes, false), 0);
  expect_bailout(REASON_GUARD_FAILED_SIZES, tensor(DTYPE_FLOAT32, 2, other_sizes, false), 0);
  expect_bailout(REASON_GUARD_FAILED_REQUIRES_GRAD, tensor(DTYPE_FLOAT32, 2, sizes, true), 0);
  expect_bailout(REASON_GUARD_FAILED_FORCED, tensor(DTYPE_FLOAT32, 2, sizes, false), UINT32_MAX);
  Tensor *square = tensor(DTYPE_FLOAT32, 2, (int64_t[]){6, 4}, false), *strided;
  assert_null(tensor_transpose(square, 0, 1, &strided));
  tensor_release(square);
  expect_bailout(REASON_GUARD_FAILED_STRIDES, strided, 0);
  reason_reset();
}

/* ---- places ---- */

static Source *original; /* of all texts that count_search is asked about */
static int searches;
static bool count_search(const Source *source, uint32_t offset, SourceRange *out) {
  searches++;
  *out = (SourceRange){original, offset, offset};
  return source != NULL;
}

static Source *source_of(const char *text, const char *name) {
  Source *source;
  assert_null(source_new(str_from(text), name, 1, &source));
  return source;
}

static void expect_printed(const char *const *lines, size_t count) {
  StrBuf text = {0};
  reason_print(&text);
  for (size_t i = 0; i < count; i++)
    if (!strstr(text.data, lines[i])) fail_msg("no '%s' in\n%s", lines[i], text.data);
  strbuf_dispose(&text);
}

/* By printing, or by the end of the source; and by whoever comes first only. */
static void test_places_are_found_when_asked_for(void **state) {
  (void)state;
  static const char *const lines[] = {"2x  original.py:1 ", "1x  original.py:2 ", "a = b + c\n", "d = e\n"};
  for (int prints = 0; prints < 2; prints++) {
    reason_reset();
    searches = 0;
    original = source_of("a = b + c\nd = e\n", "original.py");
    Source *made = source_of("x = y + z\nu = v\n", "made.py");
    made->find_original = count_search;
    reason_add(REASON_NOT_FUSED_ALONE, (SourceRange){made, 4, 5});
    reason_add(REASON_NOT_FUSED_ALONE, (SourceRange){made, 8, 9});
    reason_add(REASON_NOT_FUSED_ALONE, (SourceRange){made, 10, 15});
    assert_int_equal(searches, 0);
    if (prints) expect_printed(lines, 4);
    source_release(made);
    assert_int_equal(searches, 3);
    source_release(original);
    expect_printed(lines, 4);
    assert_int_equal(searches, 3);
  }
  reason_reset();
}

/* More places than are kept, but on few lines. */
static void test_many_places_on_few_lines(void **state) {
  (void)state;
  enum { COLUMNS = 200, LINES = 3 };
  static const char *const lines[] = {"200x  wide.py:1 ", "200x  wide.py:2 ", "200x  wide.py:3 "};
  char text[LINES * (COLUMNS + 1) + 1];
  memset(text, 'x', sizeof text);
  for (int i = 0; i < LINES; i++) text[i * (COLUMNS + 1) + COLUMNS] = '\n';
  text[sizeof text - 1] = 0;
  Source *source = source_of(text, "wide.py");
  reason_reset();
  for (uint32_t i = 0; i < LINES * (COLUMNS + 1); i++)
    if (text[i] == 'x') reason_add(REASON_NOT_FUSED_ALONE, (SourceRange){source, i, i + 1});
  expect_printed(lines, LINES);
  source_release(source);
  reason_reset();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_passes), cmocka_unit_test(test_guards),
                                     cmocka_unit_test(test_places_are_found_when_asked_for),
                                     cmocka_unit_test(test_many_places_on_few_lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
