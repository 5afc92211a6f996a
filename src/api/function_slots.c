/* What fills and frees what folders below ir keep with a Function. */
#include "executor/graph_executor.h"
#include "interp/interp.h"
#include "pass/pass.h"

const FunctionSlots function_slots = {function_graph_to_run, code_free, graph_executor_free};
