/* PYTORCH_JIT_LOG_LEVEL=graph_executor: what is optimized is first shown as Python. */
#include "ir_fixture.h"

#include "api/handles.h"
#include "executor/executor.h"
#include "frontend/frontend.h"
#include "log_fixture.h"

static const char program[] =
    "def helper(x):\n"
    "    return x.tanh()\n"
    "def f(x, n: int):\n"
    "    for i in range(n):\n"
    "        x = helper(x) * 2\n"
    "    return x\n";

static void run(ExecutorMode mode, const char *levels) {
  Exec exec;
  CompilationUnit *unit;
  Source *source;
  Tensor *x;
  IValue out;
  strbuf_dispose(&heard);
  jit_log_configure(levels, "");
  exec_init(&exec, &api_services);
  ExecutorOptions options = {.mode = mode, .compile_now = true};
  executor_options_complete(&options, &options);
  exec.executor = &options;
  assert_null(unit_new(&unit));
  assert_null(source_new(str_from(program), "dumped.py", 1, &source));
  assert_null(frontend_compile_program(unit, &exec, source, NULL));
  assert_null(tensor_from_double(0.5, &x));
  IValue arguments[] = {ivalue_tensor(x), ivalue_int(3)};
  assert_null(executor_call(&exec, unit_find_function(unit, STR("f")), arguments, 2, &out));
  ivalue_release(out);
  ivalue_release(arguments[0]);
  unit_release(unit);
  source_release(source);
  strbuf_puts(&heard, "");
}

static void assert_heard(const char *line) {
  if (!heard.data || !strstr(heard.data, line)) fail_msg("no '%s' in\n%s", line, heard.data ? heard.data : "");
}

static void test_source_is_shown(void **state) {
  (void)state;
  static const char *const lines[] = {"Optimizing the following function:\n",
                                      "def source_dump(x: Tensor,\n",
                                      "    n: int) -> Tensor:\n",
                                      "  for i in range(n):\n",
                                      "    x1 = torch.mul(__torch__.helper(x0, ), 2)\n",
                                      "    x0 = x1\n",
                                      "  return x0\n"};
  run(EXECUTOR_SPECIALIZING, "loop_unrolling:graph_executor.cpp");
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) assert_heard(lines[i]);
  assert_heard("[DUMP graph_executor.cpp:");
  run(EXECUTOR_SPECIALIZING, "loop_unrolling");
  assert_true(!heard.data || !strstr(heard.data, "source_dump"));
  run(EXECUTOR_PROFILING, "profiling_graph_executor_impl.cpp");
  assert_heard("[DUMP profiling_graph_executor_impl.cpp:");
  assert_heard("def source_dump(x: Tensor,\n");
  run(EXECUTOR_SPECIALIZING, "profiling_graph_executor_impl.cpp");
  assert_true(!heard.data || !strstr(heard.data, "source_dump"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_source_is_shown)};
  return cmocka_run_group_tests(tests, log_begin, log_end);
}
