#include "ir_fixture.h"

#include "interp/task.h"

/* Runs IR text on arguments (released); the outputs belong to the caller. */
static Status run(const char *text, IValue *arguments, uint32_t count, IValue *outputs, uint32_t output_count) {
  IrText ir;
  ir_parse(&ir, text);
  Status status = graph_lint(ir.graph);
  Code *code = NULL;
  if (!status) status = code_compile(ir.graph, STR("test"), &code);
  Exec exec;
  exec_init(&exec, NULL);
  if (!status) status = interp_run(&exec, code, arguments, count, outputs, output_count);
  for (uint32_t i = 0; i < count; i++) ivalue_release(arguments[i]);
  code_free(code);
  ir_dispose(&ir);
  return status;
}

static int64_t run_int(const char *text, int64_t argument) {
  IValue in = ivalue_int(argument), out = IVALUE_NONE;
  Status status = run(text, &in, 1, &out, 1);
  if (status) print_error("%s\n", status->message);
  assert_null(status);
  assert_int_equal(out.tag, TAG_INT);
  return out.i;
}

static void test_branches(void **state) {
  (void)state;
  const char *text =
      "graph(%x : int):\n"
      "  %c : int = prim::Constant[value=10]()\n"
      "  %b : bool = aten::lt(%x, %c)\n"
      "  %r : int = prim::If(%b)\n"
      "    block0():\n"
      "      %s : int = aten::add(%x, %c)\n"
      "      -> (%s)\n"
      "    block1():\n"
      "      -> (%x)\n"
      "  return (%r)\n";
  assert_int_equal(run_int(text, 3), 13);
  assert_int_equal(run_int(text, 30), 30);
}

static void test_counted_loop(void **state) {
  (void)state;
  const char *text =
      "graph(%n : int):\n"
      "  %zero : int = prim::Constant[value=0]()\n"
      "  %three : int = prim::Constant[value=3]()\n"
      "  %t : bool = prim::Constant[value=1]()\n"
      "  %total : int = prim::Loop(%n, %t, %zero)\n"
      "    block0(%i : int, %sum : int):\n"
      "      %m : int = aten::remainder(%i, %three)\n"
      "      %is : bool = aten::eq(%m, %zero)\n"
      "      %next : int = prim::If(%is)\n"
      "        block0():\n"
      "          %a : int = aten::add(%sum, %i)\n"
      "          -> (%a)\n"
      "        block1():\n"
      "          -> (%sum)\n"
      "      -> (%t, %next)\n"
      "  return (%total)\n";
  assert_int_equal(run_int(text, 10), 18);
  assert_int_equal(run_int(text, 0), 0);
  assert_int_equal(run_int(text, -5), 0);
}

/* a, b = b, a + b: the carried values change places */
static void test_swapping_loop(void **state) {
  (void)state;
  const char *text =
      "graph(%n : int):\n"
      "  %0 : int = prim::Constant[value=0]()\n"
      "  %1 : int = prim::Constant[value=1]()\n"
      "  %t : bool = prim::Constant[value=1]()\n"
      "  %x : int, %y : int, %z : int = prim::Loop(%n, %t, %0, %1, %0)\n"
      "    block0(%i : int, %a : int, %b : int, %c : int):\n"
      "      %s : int = aten::add(%a, %b)\n"
      "      -> (%t, %b, %s, %b)\n"
      "  return (%x)\n";
  assert_int_equal(run_int(text, 10), 55);
  const char *rotate =
      "graph(%n : int):\n"
      "  %0 : int = prim::Constant[value=1]()\n"
      "  %1 : int = prim::Constant[value=2]()\n"
      "  %2 : int = prim::Constant[value=3]()\n"
      "  %t : bool = prim::Constant[value=1]()\n"
      "  %x : int, %y : int, %z : int = prim::Loop(%n, %t, %0, %1, %2)\n"
      "    block0(%i : int, %a : int, %b : int, %c : int):\n"
      "      -> (%t, %b, %c, %a)\n"
      "  %ten : int = prim::Constant[value=10]()\n"
      "  %p : int = aten::mul(%x, %ten)\n"
      "  %q : int = aten::add(%p, %y)\n"
      "  %r : int = aten::mul(%q, %ten)\n"
      "  %s : int = aten::add(%r, %z)\n"
      "  return (%s)\n";
  assert_int_equal(run_int(rotate, 0), 123);
  assert_int_equal(run_int(rotate, 1), 231);
  assert_int_equal(run_int(rotate, 2), 312);
  assert_int_equal(run_int(rotate, 3), 123);
}

static void test_while_loop(void **state) {
  (void)state;
  const char *text = /* collatz steps */
      "graph(%n : int):\n"
      "  %0 : int = prim::Constant[value=0]()\n"
      "  %1 : int = prim::Constant[value=1]()\n"
      "  %2 : int = prim::Constant[value=2]()\n"
      "  %3 : int = prim::Constant[value=3]()\n"
      "  %max : int = prim::Constant[value=9223372036854775807]()\n"
      "  %start : bool = aten::gt(%n, %1)\n"
      "  %last : int, %count : int = prim::Loop(%max, %start, %n, %0)\n"
      "    block0(%i : int, %x : int, %k : int):\n"
      "      %m : int = aten::remainder(%x, %2)\n"
      "      %even : bool = aten::eq(%m, %0)\n"
      "      %y : int = prim::If(%even)\n"
      "        block0():\n"
      "          %h : int = aten::floordiv(%x, %2)\n"
      "          -> (%h)\n"
      "        block1():\n"
      "          %t : int = aten::mul(%x, %3)\n"
      "          %u : int = aten::add(%t, %1)\n"
      "          -> (%u)\n"
      "      %k2 : int = aten::add(%k, %1)\n"
      "      %again : bool = aten::gt(%y, %1)\n"
      "      -> (%again, %y, %k2)\n"
      "  return (%count)\n";
  assert_int_equal(run_int(text, 27), 111);
  assert_int_equal(run_int(text, 1), 0);
}

static void test_lists_and_dicts(void **state) {
  (void)state;
  const char *text =
      "graph(%n : int):\n"
      "  %0 : int = prim::Constant[value=0]()\n"
      "  %1 : int = prim::Constant[value=1]()\n"
      "  %key : str = prim::Constant[value=\"k\\n\"]()\n"
      "  %t : bool = prim::Constant[value=1]()\n"
      "  %l : int[] = prim::ListConstruct(%n, %1)\n"
      "   = prim::Loop(%n, %t)\n"
      "    block0(%i : int):\n"
      "      %unused : int[] = aten::append(%l, %i)\n"
      "      -> (%t)\n"
      "  %minus : int = aten::neg(%1)\n"
      "  %v : int = aten::__getitem__(%l, %minus)\n"
      "  %w : int[] = aten::_set_item(%l, %0, %v)\n"
      "  %d : Dict(str, int) = prim::DictConstruct(%key, %v)\n"
      "  %x : int = aten::__getitem__(%d, %key)\n"
      "  %y : int = aten::__getitem__(%l, %0)\n"
      "  %z : int = aten::add(%x, %y)\n"
      "  %tuple : (int, str) = prim::TupleConstruct(%z, %key)\n"
      "  %a : int, %b : str = prim::TupleUnpack(%tuple)\n"
      "  return (%a)\n";
  assert_int_equal(run_int(text, 5), 8);
}

static void test_index_error(void **state) {
  (void)state;
  IValue in = ivalue_int(3), out;
  Status status =
      run("graph(%n : int):\n"
          "  %l : int[] = prim::ListConstruct(%n)\n"
          "  %v : int = aten::__getitem__(%l, %n)\n"
          "  return (%v)\n",
          &in, 1, &out, 1);
  assert_non_null(status);
  assert_string_equal(status->message, "list index out of range");
  assert_non_null(status->trace);
  status_free(status);
}

static void test_raise(void **state) {
  (void)state;
  IValue in = ivalue_int(3), out;
  Status status =
      run("graph(%n : int):\n"
          "  %m : str = prim::Constant[value=\"no\"]()\n"
          "  %c : str = prim::Constant[value=\"builtins.ValueError\"]()\n"
          "   = prim::RaiseException(%m, %c)\n"
          "  return (%n)\n",
          &in, 1, &out, 1);
  assert_non_null(status);
  assert_int_equal(status->code, ERROR_RAISED);
  assert_string_equal(status->message, "no");
  assert_string_equal(status->exception, "ValueError");
  status_free(status);
}

static void test_fork(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir,
           "graph(%n : int):\n"
           "  %t : bool = prim::Constant[value=1]()\n"
           "  %0 : int = prim::Constant[value=0]()\n"
           "  %fs : Future[int][] = prim::ListConstruct()\n"
           "   = prim::Loop(%n, %t)\n"
           "    block0(%i : int):\n"
           "      %f : Future[int] = prim::fork(%i)\n"
           "      %u : Future[int][] = aten::append(%fs, %f)\n"
           "      -> (%t)\n"
           "  %total : int = prim::Loop(%n, %t, %0)\n"
           "    block0(%i.2 : int, %sum : int):\n"
           "      %g : Future[int] = aten::__getitem__(%fs, %i.2)\n"
           "      %v : int = aten::wait(%g)\n"
           "      %next : int = aten::add(%sum, %v)\n"
           "      -> (%t, %next)\n"
           "  return (%total)\n");
  IrText child;
  ir_parse(&child,
           "graph(%n : int):\n"
           "  %t : bool = prim::Constant[value=1]()\n"
           "  %0 : int = prim::Constant[value=0]()\n"
           "  %k : int = prim::Constant[value=10]()\n"
           "  %total : int = prim::Loop(%k, %t, %n)\n"
           "    block0(%i : int, %sum : int):\n"
           "      %next : int = aten::add(%sum, %0)\n"
           "      -> (%t, %next)\n"
           "  return (%total)\n");
  Node *loop = node_output(ir.graph->block->param, 0)->uses.data[0].user;
  BLOCK_EACH(node, loop->blocks[0])
  if (node->kind == SYM_prim_fork) {
    if (catch_enter(&ir.catch_point))
      node_set_graph(node, SYM_attr_Subgraph, graph_copy(child.graph, &ir.arena, &ir.store));
  }
  Code *code;
  assert_null(code_compile(ir.graph, STR("forks"), &code));
  Exec exec;
  exec_init(&exec, NULL);
  IValue in = ivalue_int(10000), out;
  Status status = interp_run(&exec, code, &in, 1, &out, 1);
  if (status) print_error("%s\n", status->message);
  assert_null(status);
  assert_int_equal(out.i, 49995000);
  code_free(code);
  ir_dispose(&child);
  ir_dispose(&ir);
}

static void test_budget(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir,
           "graph(%n : int):\n"
           "  %t : bool = prim::Constant[value=1]()\n"
           "   = prim::Loop(%n, %t)\n"
           "    block0(%i : int):\n"
           "      -> (%t)\n"
           "  return (%n)\n");
  Code *code;
  assert_null(code_compile(ir.graph, STR("endless"), &code));
  Exec exec;
  exec_init(&exec, NULL);
  WorkBudget budget = {.steps_left = 100000};
  exec.work.budget = &budget;
  IValue in = ivalue_int(INT64_MAX), out;
  Status status = interp_run(&exec, code, &in, 1, &out, 1);
  assert_non_null(status);
  assert_int_equal(status->code, ERROR_BUDGET);
  status_free(status);
  exec_init(&exec, NULL);
  work_set_deadline(&exec.work, 1);
  status = interp_run(&exec, code, &in, 1, &out, 1);
  assert_non_null(status);
  assert_int_equal(status->code, ERROR_DEADLINE);
  status_free(status);
  code_free(code);
  ir_dispose(&ir);
}

/* The LSTM cell of the documents; constants belong to the Code, so they have no moves. */
static void test_listing(void **state) {
  (void)state;
  IrText ir;
  ir_parse(
      &ir,
      "graph(%x : Tensor,\n      %hx : Tensor,\n      %cx : Tensor,\n      %w_ih : Tensor,\n      %w_hh : Tensor,\n"
      "      %b_ih : Tensor,\n      %b_hh : Tensor):\n"
      "  %8 : int = prim::Constant[value=1]()\n"
      "  %9 : Tensor = aten::t(%w_ih)\n"
      "  %10 : Tensor = aten::mm(%x, %9)\n"
      "  %11 : Tensor = aten::t(%w_hh)\n"
      "  %12 : Tensor = aten::mm(%hx, %11)\n"
      "  %13 : Tensor = aten::add(%10, %12, %8)\n"
      "  %14 : Tensor = aten::add(%13, %b_ih, %8)\n"
      "  %gates : Tensor = aten::add(%14, %b_hh, %8)\n"
      "  %ingate.1 : Tensor, %forgetgate.1 : Tensor, %cellgate.1 : Tensor, %outgate.1 : Tensor = "
      "prim::ConstantChunk[chunks=4, dim=1](%gates)\n"
      "  %ingate : Tensor = aten::sigmoid(%ingate.1)\n"
      "  %forgetgate : Tensor = aten::sigmoid(%forgetgate.1)\n"
      "  %cellgate : Tensor = aten::tanh(%cellgate.1)\n"
      "  %outgate : Tensor = aten::sigmoid(%outgate.1)\n"
      "  %25 : Tensor = aten::mul(%forgetgate, %cx)\n"
      "  %26 : Tensor = aten::mul(%ingate, %cellgate)\n"
      "  %cy : Tensor = aten::add(%25, %26, %8)\n"
      "  %28 : Tensor = aten::tanh(%cy)\n"
      "  %hy : Tensor = aten::mul(%outgate, %28)\n"
      "  %30 : (Tensor, Tensor) = prim::TupleConstruct(%hy, %cy)\n"
      "  return (%30)\n");
  Code *code;
  assert_null(code_compile_with(ir.graph, STR("LSTMCellS"), CODE_NO_REUSE, NULL, NULL, &code));
  StrBuf text = {0};
  code_print(code, &text);
  assert_text(&text,
              "LSTMCellS: 29 registers\n"
              "0, 1, 2, 3, 4, 5, 6 = LOAD parameters\n"
              "7 = LOADC 1\n"
              "   0  OP             8 = t move(3)\n"
              "   1  OP             9 = mm move(0), move(8)\n"
              "   2  OP             10 = t move(4)\n"
              "   3  OP             11 = mm move(1), move(10)\n"
              "   4  OP             12 = add move(9), move(11), 7\n"
              "   5  OP             13 = add move(12), move(5), 7\n"
              "   6  OP             14 = add move(13), move(6), 7\n"
              "   7  OP             15, 16, 17, 18 = ConstantChunk move(14)\n"
              "   8  OP             19 = sigmoid move(15)\n"
              "   9  OP             20 = sigmoid move(16)\n"
              "  10  OP             21 = tanh move(17)\n"
              "  11  OP             22 = sigmoid move(18)\n"
              "  12  OP             23 = mul move(20), move(2)\n"
              "  13  OP             24 = mul move(19), move(21)\n"
              "  14  OP             25 = add move(23), move(24), 7\n"
              "  15  OP             26 = tanh 25\n"
              "  16  OP             27 = mul move(22), move(26)\n"
              "  17  OP             28 = tuple_construct move(27), move(25)\n"
              "  18  RET            return move(28)\n");
  code_free(code);
  ir_dispose(&ir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_branches),        cmocka_unit_test(test_counted_loop),
      cmocka_unit_test(test_swapping_loop),   cmocka_unit_test(test_while_loop),
      cmocka_unit_test(test_lists_and_dicts), cmocka_unit_test(test_index_error),
      cmocka_unit_test(test_raise),           cmocka_unit_test(test_fork),
      cmocka_unit_test(test_budget),          cmocka_unit_test(test_listing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
