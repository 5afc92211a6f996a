/* What frees what folders below ir keep with a Function. */
#include "executor/graph_executor.h"
#include "interp/interp.h"

const FunctionSlots function_slots = {code_free, graph_executor_free};
