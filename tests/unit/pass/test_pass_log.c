/* PYTORCH_JIT_LOG_LEVEL with the name of a pass's file: the graph after it, what it rewrites, and the alias analysis.
 */
#include "ir_fixture.h"
#include "log_fixture.h"
#include "pass/pass.h"

static const char graph[] =
    "graph(%x : Tensor, %y : Tensor, %n : int):\n"
    "  %none : NoneType = prim::Constant()\n"
    "  %false : bool = prim::Constant[value=0]()\n"
    "  %one : int = prim::Constant[value=1]()\n"
    "  %two : int = prim::Constant[value=2]()\n"
    "  %uno : int = prim::Constant[value=1]()\n"
    "  %three : int = aten::add(%one, %two)\n"
    "  %t : (Tensor, Tensor) = prim::TupleConstruct(%x, %y)\n"
    "  %a : Tensor, %b : Tensor = prim::TupleUnpack(%t)\n"
    "  %dead : Tensor = aten::neg(%a)\n"
    "  %sum : Tensor = aten::add(%a, %b, %uno)\n"
    "  %again : Tensor = aten::add(%a, %b, %uno)\n"
    "  %w : Tensor = aten::mul_(%again, %three)\n"
    "  %l : Tensor[] = aten::chunk(%sum, %two, %one)\n"
    "  %p : Tensor, %q : Tensor = prim::ListUnpack(%l)\n"
    "  return (%p, %q, %w)\n";

/* Runs the pass on the graph and gives what was logged. */
static const char *logged(const char *pass, const char *levels) {
  IrText ir;
  ir_parse(&ir, graph);
  Exec exec;
  exec_init(&exec, NULL);
  strbuf_clear(&heard);
  jit_log_configure(levels, "");
  assert_null(pass_run(pass_find(str_from(pass)), ir.graph, &exec));
  jit_log_configure("", "");
  ir_dispose(&ir);
  return heard.data ? heard.data : "";
}

static void test_graphs_behind_passes(void **state) {
  (void)state;
  static const char *const cases[][3] = {
      {"dead_code_elimination", "dead_code_elimination", "After EliminateDeadCode: "},
      {"constant_propagation", "constant_propagation.cpp", "After ConstantPropagationImmutableTypes: "},
      {"constant_pooling", "constant_pooling", "After ConstantPooling: "},
      {"common_subexpression_elimination", "common_subexpression_elimination", "After EliminateCommonSubexpression: "},
      {"lower_tuples", "lower_tuples", "After LowerSimpleTuples: "},
      {"peephole", "peephole", "After PeepholeOptimize: "},
      {"remove_expands", "remove_expands", "After RemoveExpands: "},
      {"decompose_ops", "decompose_ops", "After DecomposeOps: "},
      {"loop_unrolling", "loop_unrolling", "After UnrollLoops: "},
      {"canonicalize_graph_fuser_ops", "canonicalize_graph_fuser_ops", "After CanonicalizeOps: "},
      {"remove_tensor_mutation", "remove_mutation", "After RemoveMutation: "},
      {"inliner", "inliner", "After Inlining: "},
      {"graph_fuser", "graph_fuser", "After Fusion: "},
      {"create_autodiff_subgraphs", "create_autodiff_subgraphs", "After CreateAutodiffSubgraphs: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = logged(cases[i][0], cases[i][1]);
    if (!strstr(text, cases[i][2])) fail_msg("%s logs '%s'", cases[i][0], text);
    assert_non_null(strstr(text, "[DUMP "));
    assert_non_null(strstr(text, "return ("));
    assert_null(strstr(text, "[UPDATE "));
    assert_string_equal(logged(cases[i][0], "another_file"), "");
  }
}

static void test_rewrites(void **state) {
  (void)state;
  static const char *const cases[][3] = {
      {"dead_code_elimination", ">dead_code_elimination", "will be removed: %dead : Tensor = aten::neg(%a)"},
      {"constant_propagation", ">constant_propagation", "is constant: %three : int = aten::add(%one, %two)"},
      {"constant_pooling", ">constant_pooling", "a second one: %uno"},
      {"lower_tuples", ">lower_tuples", "%a : Tensor, %b : Tensor = prim::TupleUnpack(%t)"},
      {"canonicalize_graph_fuser_ops", ">canonicalize_graph_fuser_ops", "becomes prim::ConstantChunk: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = logged(cases[i][0], cases[i][1]);
    if (!strstr(text, cases[i][2])) fail_msg("%s logs '%s'", cases[i][0], text);
    assert_non_null(strstr(text, "[UPDATE "));
  }
}

static void test_aliases(void **state) {
  (void)state;
  assert_non_null(strstr(logged("common_subexpression_elimination", ">>alias_analysis"), "%w points to: %again"));
  assert_string_equal(logged("common_subexpression_elimination", ">alias_analysis"), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_graphs_behind_passes),
      cmocka_unit_test(test_rewrites),
      cmocka_unit_test(test_aliases),
  };
  return cmocka_run_group_tests(tests, log_begin, log_end);
}
