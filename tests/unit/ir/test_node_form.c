/* What lint refuses of single nodes: texts that parse but are no graphs that passes could rely on. */
#include "ir_fixture.h"

/* Nodes over the inputs below; each has one thing wrong. */
static const char *const broken[] = {
    "%s : str = prim::Constant()",
    "%i : int = prim::Constant()",
    "%v : (int, int) = prim::Constant()",
    "%a : int, %b : int = prim::Constant[value=1]()",
    "%i : int = prim::Constant[value=1](%n)",
    "%u : int = prim::Uninitialized(%n)",
    " = prim::If(%n)\n    block0():\n      -> ()\n    block1():\n      -> ()",
    " = prim::If(%c)\n    block0():\n      -> ()",
    " = prim::If(%c)",
    "%r : int = prim::If(%c)\n    block0():\n      -> (%n)\n    block1():\n      -> (%x)",
    "%r : int = prim::If(%c)\n    block0():\n      -> (%n)\n    block1():\n      -> ()",
    "%r : int = prim::If(%c)\n    block0(%y : int):\n      -> (%n)\n    block1():\n      -> (%n)",
    " = prim::Loop(%c, %c)\n    block0(%k : int):\n      -> (%c)",
    " = prim::Loop(%n, %n)\n    block0(%k : int):\n      -> (%c)",
    " = prim::Loop(%n, %c)\n    block0(%k : int):\n      -> (%n)",
    " = prim::Loop(%n, %c)\n    block0():\n      -> (%c)",
    " = prim::Loop(%n)\n    block0(%k : int):\n      -> (%c)",
    "%r : int = prim::Loop(%n, %c, %n)\n    block0(%k : int, %v : int):\n      -> (%c, %x)",
    "%r : Tensor = prim::Loop(%n, %c, %n)\n    block0(%k : int, %v : int):\n      -> (%c, %v)",
    "%r : int = prim::Loop(%n, %c, %x)\n    block0(%k : int, %v : int):\n      -> (%c, %v)",
    "%g : Tensor = prim::GradOf(%x)\n    block0(%y : Tensor):\n      -> (%y)",
    "%g : Tensor = prim::GradOf[name=\"f\"](%x)",
    "%f : Future(int) = prim::fork(%n)",
    "%f : Future(int) = prim::fork[Subgraph=1](%n)",
    "%d : Tensor = prim::DifferentiableGraph[Subgraph=1](%x)",
    "%d : Tensor = prim::FusionGroup(%x)",
    "%d : Tensor = some::thing[Subgraph=\"f\"](%x)",
    "%d : Tensor = aten::relu[Subgraph=1](%x)",
    "%r : int = prim::CallFunction(%n)",
    "%r : int = prim::CallFunction()",
    "%r : int = prim::CallMethod[name=\"f\"](%n)",
    "%r : int = prim::CallMethod(%n)",
    "%r : int = prim::CreateObject()",
    "%r : int = prim::GetAttr[name=\"a\"](%n)",
    "%r : int = prim::GetAttr(%n)",
    " = prim::SetAttr[name=\"a\"](%n)",
    "%r : str = prim::EnumName(%n)",
    "%r : bool = prim::isinstance(%n)",
    "%r : bool = prim::isinstance[types=[1]](%n)",
    "%r : int = prim::isinstance[types=[int]](%n)",
    "%r : int = prim::annotate(%x)",
    "%r : int = prim::unchecked_cast()",
    "%r : int = prim::unchecked_unwrap_optional(%x)",
    " = prim::RaiseException()",
    "%r : int[] = prim::tolist()",
    "%r : int = prim::EmptyListLiteral()",
    "%r : int[] = prim::ListConstruct(%n, %x)",
    "%r : int = prim::ListConstruct(%n)",
    " = prim::ListConstruct(%n)",
    "%r : int = prim::ListUnpack(%n)",
    "%r : str, %s : str = prim::ListUnpack(%l)",
    "%r : Dict(int, int) = prim::DictConstruct(%n)",
    "%r : Dict(int, int) = prim::DictConstruct(%n, %x)",
    "%r : (int, int) = prim::TupleConstruct(%n)",
    "%r : (int, int) = prim::TupleConstruct(%n, %x)",
    "%r : Tensor = prim::TupleConstruct(%n)",
    "%r : int = prim::TupleUnpack(%t)",
    "%r : int, %s : int = prim::TupleUnpack(%t)",
    "%r : int = prim::TupleUnpack(%n)",
    "%k : int = prim::Constant[value=2]()\n  %r : int = prim::TupleIndex(%t, %k)",
    "%k : int = prim::Constant[value=-1]()\n  %r : int = prim::TupleIndex(%t, %k)",
    "%r : int = prim::TupleIndex(%t)",
    "%r : int = prim::TupleIndex(%n, %n)",
    "%r : (int) = prim::TupleSlice(%t)",
    "%r : (int) = prim::TupleSlice[beg=0, end=3](%t)",
    "%r : (int) = prim::TupleSlice[beg=1, end=2](%t)",
    "%r : Tensor, %s : Tensor = prim::ConstantChunk[chunks=3, dim=0](%x)",
    "%r : Tensor, %s : Tensor = prim::ConstantChunk[chunks=2](%x)",
    "%r : Tensor, %s : int = prim::ConstantChunk[chunks=2, dim=0](%x)",
    "%r : Tensor = prim::BroadcastingChunk[chunks=1, dim=0](%x, %x)",
    "%r : int[] = prim::ChunkSizes[chunks=2, dim=0](%l)",
    "%r : Tensor = prim::FusedConcat(%x)",
    "%r : Tensor = prim::FusedConcat[dim=0](%n)",
    "%r : int = prim::profile(%x)",
    "%r : Tensor = prim::profile()",
    "%r : int = prim::Guard(%n)",
    " = prim::BailOut[index=0]()",
    "%r : Tensor, %k : bool = prim::TypeCheck[types=[Tensor, Tensor]](%x)",
    "%r : Tensor, %k : bool = prim::TypeCheck(%x)",
    "%r : int = aten::len(%n)",
    "%r : Tensor = aten::len(%l)",
    "%r : int, %s : int = aten::len(%l)",
    "%r : Tensor = aten::add(%x)",
    "%r : int[] = aten::append(%l, %x)",
};

/* The same with nothing wrong. */
static const char *const whole[] = {
    "%i : int? = prim::Constant()",
    "%s : str = prim::Constant[value=\"a\"]()",
    "%d : Device = prim::Constant[value=\"cpu\"]()",
    "%r : int? = prim::If(%c)\n    block0():\n      -> (%n)\n    block1():\n      -> (%n)",
    "%r : Float(2) = prim::If(%c)\n    block0():\n      -> (%x)\n    block1():\n      -> (%x)",
    "%r : int = prim::Loop(%n, %c, %n)\n    block0(%k : int, %v : int):\n      -> (%c, %k)",
    "%r : int = prim::TupleIndex(%t, %n)",
    "%r : (Tensor) = prim::TupleSlice[beg=1, end=2](%t)",
    "%r : int[] = aten::append(%l, %n)",
    "%r : int, %s : str = some::thing(%n)",
};

static Status lint_of(const char *node) {
  char text[1024];
  IrText ir;
  snprintf(text, sizeof text,
           "graph(%%n : int, %%x : Tensor, %%c : bool, %%l : int[], %%t : (int, Tensor)):\n  %s\n  return ()\n", node);
  ir_parse(&ir, text);
  Status status = graph_lint(ir.graph);
  if (status) {
    Status outside = graph_check(ir.graph);
    assert_int_equal(status->code, ERROR_INTERNAL);
    assert_int_equal(outside->code, ERROR_INVALID_ARGUMENT);
    status_free(outside);
  }
  ir_dispose(&ir);
  return status;
}

static void test_broken(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    Status status = lint_of(broken[i]);
    if (!status) fail_msg("not refused: %s", broken[i]);
    status_free(status);
  }
}

static void test_whole(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
    Status status = lint_of(whole[i]);
    if (status) fail_msg("%s", status->message);
  }
}

/* Where tensors stand for numbers, operators need not fit, and nothing runs. */
static void test_erased_numbers(void **state) {
  (void)state;
  IrText ir;
  Code *code;
  ir_parse(&ir, "graph(%n : int, %l : int[]):\n  %r : Tensor = aten::len(%n)\n  return (%r)\n");
  Status status = graph_lint(ir.graph);
  assert_non_null(status);
  status_free(status);
  ir.graph->numbers_erased = true;
  assert_null(graph_lint(ir.graph));
  status = code_compile(ir.graph, STR("f"), &code);
  assert_int_equal(status->code, ERROR_UNSUPPORTED);
  status_free(status);
  ir_dispose(&ir);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_broken), cmocka_unit_test(test_whole),
                                     cmocka_unit_test(test_erased_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
