/* Hands to the folders what later ones bring, before anything of the library can be called: so each of them links with
 * those before it alone (tests/link_folders.py). */
#include "api/start.h"
#include "call/built_in.h"
#include "executor/graph_executor.h"
#include "fuse/device_formula.h"
#include "interp/interp.h"
#include "ir/graph_log.h"
#include "ir/unit.h"
#include "serial/python/graph_source.h"

static const BuiltIn calls = {
    .operators = op_tables,
    .quantized_forms = quantized_form_tables,
    .sparse_forms = sparse_form_tables,
    .native_classes = native_classes,
    .device_runs_formulas = device_runs_formulas,
    .device_formula = device_formula_run,
};
static const FunctionSlots slots = {function_graph_to_run, code_free, graph_executor_free};

/* The number: before constructors of programs, which may call the library where it is a part of them. */
__attribute__((constructor(101))) static void hand_over(void) {
  built_in_set(&calls);
  device_opener_set(device_library_open);
  function_slots_set(&slots);
  graph_source_printer_set(graph_source_print);
  pass_tables_set(pass_tables);
}
