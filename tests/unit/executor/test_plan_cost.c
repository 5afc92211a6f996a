/* What plans cost: flops and bytes by hand, and which of two graphs is said to do less. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "executor/plan_cost.h"
#include "ir_fixture.h"
#include "tensor/tensor.h"

typedef struct Case {
  const char *text;
  const char *printed; /* what the cost says of work */
} Case;

#define CONV                                                                     \
  "  %n : NoneType = prim::Constant()\n  %1 : int = prim::Constant[value=1]()\n" \
  "  %two : int[] = prim::Constant[value=[2, 2]]()\n  %one : int[] = prim::Constant[value=[1, 1]]()\n"

static const Case cases[] = {
    {"graph(%x : Float(4, 8, strides=[8, 1], device=cpu), %y : Float(8, 5, strides=[5, 1], device=cpu)):\n"
     "  %z : Float(4, 5, strides=[5, 1], device=cpu) = aten::mm(%x, %y)\n  return (%z)\n",
     "320 FLOP and 368 B of float32"},
    /* an argument is not known */
    {"graph(%x : Float(2, 4, 6, 4, device=cpu), %w : Float(6, 2, 2, 2, device=cpu), %padding : int[]):\n" CONV
     "  %z : Float(2, 6, 3, 2, device=cpu) = aten::conv2d(%x, %w, %n, %two, %padding, %one, %1)\n  return (%z)\n",
     "1 operator of unknown sizes"},
    /* 2 x 6 x 3 x 2 results, each of 2 x 2 x 2 products: its group has half of the channels */
    {"graph(%x : Float(2, 4, 6, 4, device=cpu), %w : Float(6, 2, 2, 2, device=cpu)):\n" CONV
     "  %g : int = prim::Constant[value=2]()\n  %zero : int[] = prim::Constant[value=[0, 0]]()\n"
     "  %z : Float(2, 6, 3, 2, device=cpu) = aten::conv2d(%x, %w, %n, %two, %zero, %one, %g)\n  return (%z)\n",
     "1.15 KFLOP and 1.25 KB of float32"},
    /* views move nothing */
    {"graph(%x : Float(4, 8, device=cpu)):\n  %z : Float(8, 4, device=cpu) = aten::t(%x)\n  return (%z)\n", ""},
    /* 8 turns */
    {"graph(%x : Double(10, device=cpu), %n : int):\n  %t : bool = prim::Constant[value=1]()\n"
     "  %z : Double(10, device=cpu) = prim::Loop(%n, %t, %x)\n    block0(%i : int, %v : Double(10, device=cpu)):\n"
     "      %e : Double(10, device=cpu) = aten::exp(%v)\n      -> (%t, %e)\n  return (%z)\n",
     "1.28 KB of float64"},
    /* what raises is not run */
    {"graph(%x : Float(10, device=cpu), %b : bool):\n  %s : str = prim::Constant[value=\"no\"]()\n"
     "  %n : NoneType = prim::Constant()\n"
     "  %z : Float(10, device=cpu) = prim::If(%b)\n    block0():\n      %e : Float(10, device=cpu) = aten::exp(%x)\n"
     "      -> (%e)\n    block1():\n      %f : Float(10, device=cpu) = aten::exp(%x)\n"
     "       = prim::RaiseException(%s, %n)\n      -> (%f)\n  return (%z)\n",
     "80 B of float32"},
    /* several dtypes and devices */
    {"graph(%x : Float(10, device=cpu), %y : Half(10, device=cuda:0)):\n  %a : Float(10, device=cpu) = aten::exp(%x)\n"
     "  %b : Half(10, device=cuda:0) = aten::exp(%y)\n  %c : Tensor = aten::exp(%b)\n  return (%a, %c)\n",
     "80 B of float32, 40 B of float16 on cuda, 1 operator of unknown sizes"},
    /* what lies between the operators of a group stays in cache */
    {"graph(%x : Float(10, device=cpu)):\n  %z : Float(10, device=cpu) = prim::FusionGroup_0(%x)\n  return (%z)\n"
     "with prim::FusionGroup_0 = graph(%x : Float(10, device=cpu)):\n  %a : Float(10, device=cpu) = aten::exp(%x)\n"
     "  %b : Float(10, device=cpu) = aten::sin(%a)\n  return (%b)\n",
     "80 B of float32"},
    /* a graph with gradients is its operators */
    {"graph(%x : Float(10, device=cpu)):\n  %z : Float(10, device=cpu) = prim::DifferentiableGraph_0(%x)\n"
     "  return (%z)\n"
     "with prim::DifferentiableGraph_0 = graph(%x : Float(10, device=cpu)):\n"
     "  %a : Float(10, device=cpu) = aten::exp(%x)\n  %b : Float(10, device=cpu) = aten::sin(%a)\n  return (%b)\n",
     "160 B of float32"},
};

static PlanCost cost_of(const char *text) {
  IrText ir;
  ir_parse(&ir, text);
  PlanCost cost = plan_cost(ir.graph);
  ir_dispose(&ir);
  return cost;
}

static void test_sums(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    PlanCost cost = cost_of(cases[i].text);
    StrBuf out = {0};
    plan_cost_print(&cost, &out);
    Str text = strbuf_view(&out);
    if (!str_equal(text, str_from(cases[i].printed))) fail_msg("%zu: " STR_FMT, i, STR_ARG(text));
    strbuf_dispose(&out);
  }
}

#define SIZED "Float(1000, device=cpu)"
static const char *exp_twice = "graph(%x : " SIZED "):\n  %a : " SIZED
                               " = aten::exp(%x)\n"
                               "  %b : " SIZED " = aten::exp(%a)\n  return (%b)\n",
                  *exp_of_unknown = "graph(%x : Tensor):\n  %a : Tensor = aten::exp(%x)\n  return (%a)\n",
                  *exp_and_product =
                      "graph(%x : Tensor, %w : Tensor):\n  %a : Tensor = aten::exp(%x)\n"
                      "  %b : Tensor = aten::mm(%a, %w)\n  return (%b)\n",
                  *exp_large =
                      "graph(%x : Float(1000000, device=cpu)):\n"
                      "  %a : Float(1000000, device=cpu) = aten::exp(%x)\n  return (%a)\n";

static void test_comparison(void **state) {
  (void)state;
  PlanCost twice = cost_of(exp_twice), unknown = cost_of(exp_of_unknown), product = cost_of(exp_and_product),
           large = cost_of(exp_large);
  assert_true(plan_cost_gain(&large, &twice) < 0);    /* all sizes are known: one large operator is more than two */
  assert_true(plan_cost_gain(&unknown, &large) == 0); /* one does not know them: one operator is one operator, */
  assert_true(plan_cost_gain(&unknown, &twice) > 0);  /* and less than two */
  assert_true(plan_cost_gain(&twice, &product) > 0);  /* though not with a product */
  assert_true(plan_cost_gain(&product, &twice) < 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_comparison)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
