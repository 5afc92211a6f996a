/* Fuzz target: a text compiled as a program, lexer to clean-up. What compiles must pass lint, print, and become Code.
 */
#include "fuzz.h"

#include "api/handles.h"
#include "frontend/frontend.h"
#include "interp/interp.h"
#include "serial/python/python_print.h"

static void check_function(Function *function) {
  StrBuf text = {.max_length = 1 << 20}, python = {.max_length = 1 << 20};
  PythonPrinter printer;
  Code *code;
  if (!function->graph) return;
  must_hold(graph_lint(function->graph));
  graph_print(function->graph, true, &text);
  python_printer_init(&printer);
  may_fail(python_print_function(&printer, function, 0, STR(""), &python));
  python_printer_dispose(&printer);
  Status status = code_compile(function->graph, function->name, &code);
  if (!status) code_free(code);
  may_fail(status);
  strbuf_dispose(&text);
  strbuf_dispose(&python);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Exec exec;
  CompilationUnit *unit;
  Source *source;
  api_exec_init(&exec, NULL);
  exec.work.threads = 1;
  must_hold(unit_new(&unit));
  must_hold(source_new((Str){(const char *)data, size}, "fuzz.py", 1, &source));
  Status status = frontend_compile_program(unit, &exec, source, NULL);
  source_release(source);
  if (status && status->code == ERROR_INTERNAL) must_hold(status);
  for (size_t i = 0; !status && i < unit->all_functions.length; i++) check_function(unit->all_functions.data[i]);
  may_fail(status);
  unit_release(unit);
  return 0;
}
