/* The documents' LSTM cell under the executors: what its graph holds after each phase. */
#include "ir_fixture.h"

#include "api/handles.h"
#include "executor/executor.h"
#include "frontend/frontend.h"
#include "pass/rewrite/rewrite.h"

static const char program[] =
    "def f(x, hx, cx, w_ih, w_hh, b_ih, b_hh):\n"
    "    gates = x.mm(w_ih.t()) + hx.mm(w_hh.t()) + b_ih + b_hh\n"
    "    ingate, forgetgate, cellgate, outgate = gates.chunk(4, 1)\n"
    "    ingate = torch.sigmoid(ingate)\n"
    "    forgetgate = torch.sigmoid(forgetgate)\n"
    "    cellgate = torch.tanh(cellgate)\n"
    "    outgate = torch.sigmoid(outgate)\n"
    "    cy = (forgetgate * cx) + (ingate * cellgate)\n"
    "    hy = outgate * torch.tanh(cy)\n"
    "    return hy, cy\n";

enum { BATCH = 2, HIDDEN = 3, ARGUMENTS = 7 };

/* What stands outside of groups after the last pass of a name, in the last plan. */
typedef struct Seen {
  bool typed;            /* after shape_analysis (or guards): a product has a dtype and a rank */
  uint32_t chunks;       /* ConstantChunks after peephole */
  uint32_t groups, adds; /* after graph_fuser; of the block and of subgraphs that are differentiated */
  uint32_t group_inputs, broadcasts, chunks_inside, chunks_outside;
  uint32_t differentiable; /* after create_autodiff_subgraphs */
  uint32_t nodes_left;     /* pointwise ones outside of it */
} Seen;

static uint32_t count_kind(const Block *block, Symbol kind) {
  uint32_t count = 0;
  BLOCK_EACH(node, block) count += node->kind == kind;
  return count;
}

static void observe(void *user, const Function *function, const char *pass, const Graph *graph) {
  Seen *seen = user;
  (void)function;
  const Block *block = graph->block;
  if (!strcmp(pass, "requires_grad_analysis") || !strcmp(pass, "guard_elimination")) {
    seen->typed = true;
    BLOCK_EACH(node, block) {
      if (node->kind != SYM_aten_mm) continue;
      const TensorInfo *info = value_tensor(node_output(node, 0));
      seen->typed &= info && info->dtype == DTYPE_FLOAT32 && info->ndim == 2;
    }
  } else if (!strcmp(pass, "peephole")) {
    seen->chunks = count_kind(block, SYM_prim_ConstantChunk);
  } else if (!strcmp(pass, "graph_fuser")) {
    seen->groups = seen->broadcasts = 0;
    seen->adds = count_kind(block, symbol_intern(STR("aten::add")));
    seen->chunks_outside = count_kind(block, SYM_prim_ConstantChunk);
    BLOCK_EACH(node, block) {
      if (node->kind != SYM_prim_FusionGroup) continue;
      seen->groups++;
      seen->group_inputs = node->input_count;
      for (uint32_t i = 0; i < node->input_count; i++) {
        const Node *maker = node_input(node, i)->node;
        seen->broadcasts += maker->kind == SYM_prim_ListUnpack &&
                            node_input(maker, 0)->node->kind == symbol_intern(STR("aten::broadcast_tensors"));
      }
      seen->chunks_inside = count_kind(node_attribute(node, SYM_attr_Subgraph)->g->block, SYM_prim_ConstantChunk);
    }
  } else if (!strcmp(pass, "create_autodiff_subgraphs")) {
    seen->differentiable = count_kind(block, SYM_prim_DifferentiableGraph);
    seen->nodes_left = count_kind(block, symbol_intern(STR("aten::add"))) +
                       count_kind(block, symbol_intern(STR("aten::mul"))) +
                       count_kind(block, symbol_intern(STR("aten::sigmoid"))) + count_kind(block, SYM_aten_mm) +
                       count_kind(block, SYM_prim_ConstantChunk);
  }
}

static IValue matrix(int64_t rows, int64_t columns, bool requires_grad) {
  Tensor *t;
  assert_null(rows ? tensor_empty(DTYPE_FLOAT32, 2, (int64_t[]){rows, columns}, &t)
                   : tensor_empty(DTYPE_FLOAT32, 1, (int64_t[]){columns}, &t));
  float *p = tensor_data(t);
  for (int64_t i = 0; i < t->numel; i++) p[i] = (float)(i % 5) * 0.25f - 0.5f;
  if (requires_grad) t->flags |= TENSOR_REQUIRES_GRAD;
  return ivalue_tensor(t);
}

static Seen run(ExecutorMode mode, bool grad) {
  Seen seen = {0};
  Exec exec;
  CompilationUnit *unit;
  Source *source;
  Runtime runtime;
  runtime_init(&runtime);
  runtime.observe = observe;
  runtime.observe_user = &seen;
  exec_init_in(&exec, &runtime, &api_services);
  ExecutorOptions options = {.mode = mode, .compile_now = true};
  executor_options_complete(&options, &options);
  exec.executor = &options;
  exec.grad_enabled = grad;
  assert_null(unit_new(&unit));
  assert_null(source_new(str_from(program), "lstm.py", 1, &source));
  assert_null(frontend_compile_program(unit, &exec, source, NULL));
  IValue arguments[ARGUMENTS] = {matrix(BATCH, HIDDEN, grad),      matrix(BATCH, HIDDEN, grad),
                                 matrix(BATCH, HIDDEN, grad),      matrix(4 * HIDDEN, HIDDEN, grad),
                                 matrix(4 * HIDDEN, HIDDEN, grad), matrix(0, 4 * HIDDEN, grad),
                                 matrix(0, 4 * HIDDEN, grad)};
  for (int i = 0; i < 4; i++) {
    IValue out;
    assert_null(executor_call(&exec, unit_find_function(unit, STR("f")), arguments, ARGUMENTS, &out));
    ivalue_release(out);
  }
  for (int i = 0; i < ARGUMENTS; i++) ivalue_release(arguments[i]);
  interp_trim(&runtime);
  unit_release(unit);
  source_release(source);
  return seen;
}

static const ExecutorMode modes[] = {EXECUTOR_SPECIALIZING, EXECUTOR_PROFILING};

static void test_one_group(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    Seen seen = run(modes[i], false);
    assert_true(seen.typed);
    assert_int_equal(seen.chunks, 1);
    assert_int_equal(seen.groups, 1);
    assert_int_equal(seen.group_inputs, 3); /* two sums are the product's */
    assert_int_equal(seen.broadcasts, 2);
    assert_int_equal(seen.adds, 0);
    assert_int_equal(seen.chunks_inside, 2);
    assert_int_equal(seen.chunks_outside, 0);
    assert_int_equal(seen.differentiable, 0);
  }
}

static void test_one_differentiable_graph(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    Seen seen = run(modes[i], true);
    assert_true(seen.typed);
    assert_int_equal(seen.chunks, 1);
    assert_int_equal(seen.differentiable, 1);
    assert_int_equal(seen.nodes_left, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_group),
      cmocka_unit_test(test_one_differentiable_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
