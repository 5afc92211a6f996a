/* The lists of passes as the documents have them: which pass ran when, seen by an observer. What wick adds between the
 * documents' passes stands in the lists here as well. */
#include "ir_fixture.h"

#include "api/handles.h"
#include "executor/executor.h"
#include "frontend/frontend.h"

static const char program[] =
    "def f(x, y):\n"
    "    for i in range(3):\n"
    "        y = torch.tanh(x * y) + y\n"
    "    return y\n";

#define REQUIRED "remove_expands", "normalize_ops", "canonicalize_graph_fuser_ops", "dead_code_elimination"
#define OPTIMIZATION                                                                                          \
  "dead_code_elimination", "common_subexpression_elimination", "peephole", "constant_propagation_mutable",    \
      "constant_pooling", "loop_unrolling", "common_subexpression_elimination", "loop_invariant_code_motion", \
      "check_inplace"
#define NONDIFF                                                                                                 \
  "lower_tuples", "remove_list_mutation", "remove_tensor_mutation", "batch_mm", "quant_fusion", "fuse_regions", \
      "concat_opt", "graph_fuser", "use_variadic_cat", "use_variadic_stack", "concat_in_place", "user_passes"
#define INSENSITIVE                                                                                          \
  "inliner", "lower_grad_of", "clear_undefinedness", REQUIRED, "decompose_ops", "constant_propagation",      \
      "dead_code_elimination", "common_subexpression_elimination", "constant_pooling", "peephole_no_shapes", \
      "lower_tuples", "dead_code_elimination", "check_inplace"
#define SPECIALIZED                                                                                    \
  "inliner", "lower_grad_of", "specialize_autogradzero", "lower_tuples", "constant_pooling", REQUIRED, \
      "constant_propagation", "shape_analysis", "requires_grad_analysis", OPTIMIZATION
#define LAST "dead_code_elimination", "check_strict_fusion"
#define PROFILED                                                                                               \
  "insert_guards", "lower_grad_of", "guard_elimination", "bailout_graph", "specialize_autogradzero", REQUIRED, \
      "constant_propagation", OPTIMIZATION

/* In order of time; compared as the plans come. */
typedef struct Seen {
  const Function *function;
  VEC(const char *) names;
} Seen;

static void observe(void *user, const Function *function, const char *pass, const Graph *graph) {
  Seen *seen = user;
  (void)graph;
  if (function != seen->function) return; /* a formula's body */
  assert_true(vec_push(&seen->names, pass));
}

static IValue matrix(bool requires_grad) {
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, (int64_t[]){3, 3}, &t));
  float *p = tensor_data(t);
  for (int i = 0; i < 9; i++) p[i] = (float)i * 0.1f;
  if (requires_grad) t->flags |= TENSOR_REQUIRES_GRAD;
  return ivalue_tensor(t);
}

static void run(ExecutorMode mode, bool grad, bool optimize, Seen *seen) {
  Exec exec;
  CompilationUnit *unit;
  Source *source;
  *seen = (Seen){0};
  Runtime runtime;
  runtime_init(&runtime);
  exec_init_in(&exec, &runtime, &api_services);
  ExecutorOptions options = {.mode = mode, .compile_now = true, .no_optimize = !optimize};
  executor_options_complete(&options, &options);
  exec.executor = &options;
  exec.grad_enabled = grad;
  assert_null(unit_new(&unit));
  assert_null(source_new(str_from(program), "phases.py", 1, &source));
  assert_null(frontend_compile_program(unit, &exec, source, NULL));
  runtime.observe = observe;
  runtime.observe_user = seen;
  seen->function = unit_find_function(unit, STR("f"));
  IValue arguments[2] = {matrix(grad), matrix(grad)};
  for (int i = 0; i < 4; i++) {
    IValue out;
    assert_null(executor_call(&exec, unit_find_function(unit, STR("f")), arguments, 2, &out));
    ivalue_release(out);
  }
  for (int i = 0; i < 2; i++) ivalue_release(arguments[i]);
  interp_trim(&runtime);
  unit_release(unit);
  source_release(source);
}

static void expect(Seen *seen, size_t count, const char *const *names) {
  for (size_t i = 0; i < count && i < seen->names.length; i++)
    if (strcmp(seen->names.data[i], names[i]) != 0)
      fail_msg("pass %zu is %s, the list has %s", i, seen->names.data[i], names[i]);
  if (seen->names.length != count) fail_msg("%zu passes, the list has %zu", seen->names.length, count);
  vec_dispose(&seen->names);
}
#define EXPECT(seen, ...)                            \
  do {                                               \
    static const char *const list[] = {__VA_ARGS__}; \
    expect(seen, sizeof list / sizeof *list, list);  \
  } while (0)

static void test_required(void **state) {
  (void)state;
  Seen seen;
  run(EXECUTOR_SPECIALIZING, false, false, &seen);
  EXPECT(&seen, REQUIRED);
}

static void test_specialized(void **state) {
  (void)state;
  Seen seen;
  run(EXECUTOR_SPECIALIZING, false, true, &seen);
  EXPECT(&seen, SPECIALIZED, "decompose_ops", NONDIFF, LAST);
}

static void test_specialized_with_gradients(void **state) {
  (void)state;
  Seen seen;
  run(EXECUTOR_SPECIALIZING, true, true, &seen);
  EXPECT(&seen, SPECIALIZED, "remove_dropout", "create_autodiff_subgraphs", "backward", "shape_analysis", OPTIMIZATION,
         "decompose_ops", NONDIFF, "differentiate", "inline_autodiff_subgraphs", LAST);
}

static void test_profiled(void **state) {
  (void)state;
  Seen seen;
  run(EXECUTOR_PROFILING, false, true, &seen);
  EXPECT(&seen, INSENSITIVE, PROFILED, NONDIFF, LAST);
}

static void test_profiled_with_gradients(void **state) {
  (void)state;
  Seen seen;
  run(EXECUTOR_PROFILING, true, true, &seen);
  EXPECT(&seen, INSENSITIVE, PROFILED, "remove_dropout", "create_autodiff_subgraphs", "backward", OPTIMIZATION, NONDIFF,
         "differentiate", "inline_autodiff_subgraphs", LAST);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_required), cmocka_unit_test(test_specialized),
                                     cmocka_unit_test(test_specialized_with_gradients), cmocka_unit_test(test_profiled),
                                     cmocka_unit_test(test_profiled_with_gradients)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
