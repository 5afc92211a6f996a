/* Every pass over graphs of 20,000 nodes and over such of a quarter of the size: prints milliseconds, and fails when
 * the larger one takes out of proportion long whenever it is measured: a loaded machine makes some measures too large
 * and none too small. */
#include <math.h>
#include <time.h>

#include "ir_fixture.h"

#include "pass/pass.h"

enum { NODES = 20000, SLACK_MS = 100, FACTOR = 8, MEASURES = 6 };

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Tensors, views, lists, ints, products of one operand: what each pass looks for, over and over. */
static void write_straight(StrBuf *out, int nodes) {
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

/* Views, writes, lists that grow, Ifs. */
static void write_writes(StrBuf *out, int nodes) {
  strbuf_puts(out,
              "graph(%x0 : Tensor, %s : int[], %t : bool):\n"
              "  %one : int = prim::Constant[value=1]()\n"
              "  %zero : int = prim::Constant[value=0]()\n"
              "  %h : Tensor[] = prim::ListConstruct()\n");
  int i = 0;
  for (; i < nodes / 10; i++) {
    strbuf_printf(out, "  %%a%d : Tensor = aten::mul(%%x%d, %%one)\n", i, i);
    strbuf_printf(out, "  %%v%d : Tensor = aten::view(%%a%d, %%s)\n", i, i);
    strbuf_printf(out, "  %%w%d : Tensor = aten::add_(%%v%d, %%one, %%one)\n", i, i);
    strbuf_printf(out, "  %%l%d : Tensor[] = prim::ListConstruct(%%a%d, %%w%d)\n", i, i, i);
    strbuf_printf(out, "  %%c%d : Tensor = aten::cat(%%l%d, %%zero)\n", i, i);
    strbuf_printf(out, "  %%g%d : Tensor[] = aten::append(%%h, %%c%d)\n", i, i);
    strbuf_printf(out, "  %%x%d : Tensor = prim::If(%%t)\n", i + 1);
    strbuf_printf(out, "    block0():\n      %%m%d : Tensor = aten::relu(%%c%d)\n      -> (%%m%d)\n", i, i, i);
    strbuf_printf(out, "    block1():\n      %%k%d : Tensor = aten::neg(%%c%d)\n      -> (%%k%d)\n", i, i, i);
  }
  strbuf_printf(out, "  %%r : Tensor = aten::cat(%%h, %%zero)\n  return (%%x%d, %%r)\n", i);
}

/* Lists that are used far from where they are made, in the order of their making. */
static void write_lists(StrBuf *out, int nodes) {
  strbuf_puts(out,
              "graph(%x : Tensor, %g0 : Tensor):\n"
              "  %one : int = prim::Constant[value=1]()\n"
              "  %zero : int = prim::Constant[value=0]()\n");
  int count = nodes / 8;
  for (int i = 0; i < count; i++) {
    strbuf_printf(out, "  %%a%d : Tensor = aten::mul(%%x, %%g0)\n", i);
    strbuf_printf(out, "  %%b%d : Tensor = aten::relu_(%%a%d)\n", i, i);
    strbuf_printf(out, "  %%c%d : Tensor = aten::add_(%%a%d, %%x, %%one)\n", i, i);
    strbuf_printf(out, "  %%l%d : Tensor[] = prim::ListConstruct(%%a%d, %%x)\n", i, i);
  }
  for (int i = 0; i < count; i++) {
    strbuf_printf(out, "  %%d%d : Tensor = aten::cat(%%l%d, %%zero)\n", i, i);
    strbuf_printf(out, "  %%e%d : Tensor = aten::mm(%%d%d, %%x)\n", i, i);
    strbuf_printf(out, "  %%f%d : Tensor = aten::sigmoid(%%e%d)\n", i, i);
    strbuf_printf(out, "  %%g%d : Tensor = aten::add(%%f%d, %%g%d, %%one)\n", i + 1, i, i);
  }
  strbuf_printf(out, "  return (%%g%d)\n", count);
}

typedef void WriteGraph(StrBuf *out, int nodes);

static double time_pass(const Pass *pass, WriteGraph *write_graph, int nodes) {
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

/* Not near-linear where much lives, or goes into one group: liveness writes after every node what lives there, and a
 * DifferentiableGraph with thousands of inputs is looked at anew for each node that it takes in. */
static bool takes_long_over_lists(const Pass *pass) {
  return !strcmp(pass->name, "liveness") || !strncmp(pass->name, "create_autodiff_subgraphs", 25);
}

static void check_speed(WriteGraph *write_graph) {
  for (const Pass *pass = pass_next(NULL); pass; pass = pass_next(pass)) {
    if (write_graph == write_lists && takes_long_over_lists(pass)) continue;
    double quarter = time_pass(pass, write_graph, NODES / 4), whole = time_pass(pass, write_graph, NODES);
    for (int i = 1; i < MEASURES && whole > FACTOR * quarter + SLACK_MS; i++) {
      quarter = fmin(quarter, time_pass(pass, write_graph, NODES / 4));
      whole = fmin(whole, time_pass(pass, write_graph, NODES));
    }
    print_message("%8.2f ms  %s\n", whole, pass->name);
    if (whole > FACTOR * quarter + SLACK_MS)
      fail_msg("%s: %.1f ms for %d nodes, %.1f ms for %d", pass->name, quarter, NODES / 4, whole, NODES);
  }
}

static void test_straight(void **state) {
  (void)state;
  check_speed(write_straight);
}
static void test_writes(void **state) {
  (void)state;
  check_speed(write_writes);
}
static void test_lists(void **state) {
  (void)state;
  check_speed(write_lists);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_straight), cmocka_unit_test(test_writes),
                                     cmocka_unit_test(test_lists)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
