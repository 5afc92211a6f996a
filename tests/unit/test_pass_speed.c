/* Every pass over a straight graph of 20,000 nodes and over one of a quarter of the size: prints milliseconds, and
 * fails when the larger one takes out of proportion long whenever it is measured: a loaded machine makes some measures
 * too large and none too small. */
#include <math.h>
#include <time.h>

#include "ir_fixture.h"

#include "pass/pass.h"

enum { NODES = 20000, SLACK_MS = 200, FACTOR = 8, MEASURES = 6 };

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Tensors, views, lists, ints, products of one operand: what each pass looks for, over and over. */
static void write_graph(StrBuf *out, int nodes) {
  strbuf_puts(out,
              "graph(%x0 : Float(4, 4, strides=[4, 1], requires_grad=0, device=cpu), %n0 : int, %p : float):\n"
              "  %one : int = prim::Constant[value=1]()\n"
              "  %two : int = prim::Constant[value=2]()\n"
              "  %no : bool = prim::Constant[value=0]()\n");
  int i = 0;
  for (; i < nodes / 10; i++) {
    int next = i + 1;
    strbuf_printf(out, "  %%a%d : Tensor = aten::mul(%%x%d, %%one)\n", i, i);
    strbuf_printf(out, "  %%b%d : Tensor = aten::mm(%%x0, %%a%d)\n", i, i);
    strbuf_printf(out, "  %%n%d : int = aten::add(%%n%d, %%one)\n", next, i);
    strbuf_printf(out, "  %%l%d : int[] = prim::ListConstruct(%%n%d, %%two)\n", i, i);
    strbuf_printf(out, "  %%g%d : int = aten::len(%%l%d)\n", i, i);
    strbuf_printf(out, "  %%c%d : Tensor = aten::add(%%b%d, %%g%d, %%one)\n", i, i, i);
    strbuf_printf(out, "  %%d%d : Tensor = aten::dropout(%%c%d, %%p, %%no)\n", i, i);
    strbuf_printf(out, "  %%t%d : (Tensor, int) = prim::TupleConstruct(%%d%d, %%n%d)\n", i, i, i);
    strbuf_printf(out, "  %%u%d : Tensor, %%v%d : int = prim::TupleUnpack(%%t%d)\n", i, i, i);
    strbuf_printf(out, "  %%x%d : Tensor = aten::relu(%%u%d)\n", next, i);
  }
  strbuf_printf(out, "  %%r : (Tensor, int) = prim::TupleConstruct(%%x%d, %%n%d)\n  return (%%r)\n", i, i);
}

static double time_pass(const Pass *pass, int nodes) {
  StrBuf text = {0};
  IrText ir;
  write_graph(&text, nodes);
  ir_parse(&ir, text.data);
  strbuf_dispose(&text);
  Exec exec;
  exec_init(&exec, NULL);
  double start = now_ms();
  Status status = pass_run(pass, ir.graph, &exec);
  double took = now_ms() - start;
  if (status) print_error("%s: %s\n", pass->name, status->message);
  assert_null(status);
  ir_dispose(&ir);
  return took;
}

static void test_speed(void **state) {
  (void)state;
  for (const Pass *pass = pass_next(NULL); pass; pass = pass_next(pass)) {
    double quarter = time_pass(pass, NODES / 4), whole = time_pass(pass, NODES);
    for (int i = 1; i < MEASURES && whole > FACTOR * quarter + SLACK_MS; i++)
      quarter = fmin(quarter, time_pass(pass, NODES / 4)), whole = fmin(whole, time_pass(pass, NODES));
    print_message("%8.2f ms  %s\n", whole, pass->name);
    if (whole > FACTOR * quarter + SLACK_MS)
      fail_msg("%s: %.1f ms for %d nodes, %.1f ms for %d", pass->name, quarter, NODES / 4, whole, NODES);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_speed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
