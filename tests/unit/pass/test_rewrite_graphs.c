/* Rewriting by graphs from outside: what matches, what does not, and what takes its place. */
#include "ir_fixture.h"

#include "pass/pass.h"
#include "pass/rewrite/rewrite_rule.h"
#include "pass/rewrite/user_passes.h"

typedef struct GraphRule {
  const char *pattern, *replacement;
} GraphRule;
static const GraphRule add_relu = {
    "graph(%x, %y, %a):\n"
    "  %s : Tensor = aten::add(%x, %y, %a)\n"
    "  %r : Tensor = aten::relu(%s)\n"
    "  return (%r)",
    "graph(%x, %y, %a):\n"
    "  %r : Tensor = mine::add_relu(%x, %y, %a)\n"
    "  return (%r)"};

typedef struct Rewrite {
  Graph *graph;
  const GraphRule *pattern;
  uint32_t count;
} Rewrite;
static void rewrite(void *argument) {
  Rewrite *r = argument;
  r->count = rewrite_by_graphs(r->graph, "test", r->pattern->pattern, r->pattern->replacement);
}

static uint32_t rewrites(const char *text, const GraphRule *pattern, Status *out_status, StrBuf *out) {
  IrText ir;
  ir_parse(&ir, text);
  Rewrite r = {ir.graph, pattern, 0};
  Status status = arena_protect(&ir.arena, rewrite, &r);
  if (out_status)
    *out_status = status;
  else
    assert_null(status);
  assert_null(graph_lint(ir.graph));
  if (out) graph_print(ir.graph, false, out);
  ir_dispose(&ir);
  return r.count;
}

static void test_rewrites(void **state) {
  (void)state;
  StrBuf out = {0};
  assert_int_equal(rewrites("graph(%p : Tensor, %c : bool):\n"
                            "  %one : int = prim::Constant[value=1]()\n"
                            "  %1 : Tensor = aten::add(%p, %p, %one)\n"
                            "  %2 : Tensor = aten::relu(%1)\n"
                            "  %3 : Tensor = prim::If(%c)\n"
                            "    block0():\n"
                            "      %4 : Tensor = aten::add(%2, %p, %one)\n"
                            "      %5 : Tensor = aten::relu(%4)\n"
                            "      -> (%5)\n"
                            "    block1():\n"
                            "      -> (%2)\n"
                            "  return (%3)\n",
                            &add_relu, NULL, &out),
                   2);
  assert_text(&out,
              "graph(%p : Tensor,\n"
              "      %c : bool):\n"
              "  %one : int = prim::Constant[value=1]()\n"
              "  %r.1 : Tensor = mine::add_relu(%p, %p, %one)\n"
              "  %3 : Tensor = prim::If(%c)\n"
              "    block0():\n"
              "      %r : Tensor = mine::add_relu(%r.1, %p, %one)\n"
              "      -> (%r)\n"
              "    block1():\n"
              "      -> (%r.1)\n"
              "  return (%3)\n");
}

/* The sum has another user; something is written in between; the sum stands in another block. */
static void test_refusals(void **state) {
  (void)state;
  static const char *const texts[] = {
      "graph(%p : Tensor):\n"
      "  %one : int = prim::Constant[value=1]()\n"
      "  %1 : Tensor = aten::add(%p, %p, %one)\n"
      "  %2 : Tensor = aten::relu(%1)\n"
      "  %3 : Tensor = aten::mul(%2, %1)\n"
      "  return (%3)\n",
      "graph(%p : Tensor):\n"
      "  %one : int = prim::Constant[value=1]()\n"
      "  %1 : Tensor = aten::add(%p, %p, %one)\n"
      "  %2 : Tensor = aten::add_(%p, %one, %one)\n"
      "  %3 : Tensor = aten::relu(%1)\n"
      "  return (%3)\n",
      "graph(%p : Tensor, %c : bool):\n"
      "  %one : int = prim::Constant[value=1]()\n"
      "  %1 : Tensor = aten::add(%p, %p, %one)\n"
      "  %2 : Tensor = prim::If(%c)\n"
      "    block0():\n"
      "      %3 : Tensor = aten::relu(%1)\n"
      "      -> (%3)\n"
      "    block1():\n"
      "      -> (%p)\n"
      "  return (%2)\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_int_equal(rewrites(texts[i], &add_relu, NULL, NULL), 0);
}

static void test_constants(void **state) {
  (void)state;
  const char *text =
      "graph(%p : Tensor):\n"
      "  %one : int = prim::Constant[value=1]()\n"
      "  %two : int = prim::Constant[value=2]()\n"
      "  %1 : Tensor = aten::add(%p, %p, %one)\n"
      "  %2 : Tensor = aten::add(%1, %1, %two)\n"
      "  return (%2)\n";
  GraphRule by_constant = {
      "graph(%x, %y):\n  %a : int = prim::Constant[value=1]()\n  %s : Tensor = aten::add(%x, %y, %a)\n  return (%s)",
      "graph(%x, %y):\n  %s : Tensor = aten::mul(%x, %y)\n  return (%s)"};
  assert_int_equal(rewrites(text, &by_constant, NULL, NULL), 1);
}

static void test_bad_patterns(void **state) {
  (void)state;
  static const GraphRule bad[] = {
      {"graph(%x):\n  return (%x)", "graph(%x):\n  return (%x)"},
      {"graph(%x):\n  %y = aten::relu(%x)\n  return (%y)", "graph(%x, %z):\n  return (%x)"},
      {"graph(%x):\n  %y = aten::relu(%q)\n  return (%y)", "graph(%x):\n  return (%x)"},
      {"no graph", "graph(%x):\n  return (%x)"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Status status;
    rewrites("graph(%p : Tensor):\n  %1 : Tensor = aten::relu(%p)\n  return (%1)\n", &bad[i], &status, NULL);
    assert_non_null(status);
    status_free(status);
  }
}

/* ---- passes from outside ---- */

static Status count_runs(void *user, const char *name, Graph *graph) {
  assert_string_equal(name, "count");
  ++*(int *)user;
  return graph_input_count(graph) == 2 ? status_new(ERROR_UNSUPPORTED, "two inputs") : OK;
}
static void run_user(void *argument) {
  pass_run_user(argument, NULL, NULL);
}

static void test_user_passes(void **state) {
  (void)state;
  int runs = 0;
  assert_null(user_pass_add("count", count_runs, &runs));
  Status status = user_pass_add("count", count_runs, &runs);
  assert_non_null(status);
  status_free(status);
  for (int inputs = 1; inputs < 3; inputs++) {
    IrText ir;
    ir_parse(&ir,
             inputs == 1 ? "graph(%a : Tensor):\n  return (%a)\n" : "graph(%a : Tensor, %b : int):\n  return (%a)\n");
    status = arena_protect(&ir.arena, run_user, ir.graph);
    if (inputs == 1) {
      assert_null(status);
    } else {
      assert_string_equal(status->message, "pass count: two inputs");
      status_free(status);
    }
    ir_dispose(&ir);
  }
  assert_int_equal(runs, 2);
  assert_true(user_pass_remove("count"));
  assert_false(user_pass_remove("count"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rewrites),     cmocka_unit_test(test_refusals),    cmocka_unit_test(test_constants),
      cmocka_unit_test(test_bad_patterns), cmocka_unit_test(test_user_passes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
