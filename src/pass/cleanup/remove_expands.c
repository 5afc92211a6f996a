/* Removes the expansions that autograd's formulas and the tracer write before pointwise operators, which broadcast by
 * themselves: aten::expand with implicit=True. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite_rule.h"

#define FILE_NAME "remove_expands"

static const RewriteRule rules[] = {{"implicit_expand", "aten::expand(%x, %s, True)", GIVES("%x")}};
const RewriteTable rewrite_expands = {REWRITE_EXPANDS, FILE_NAME, rules, sizeof rules / sizeof *rules};

void remove_expands(Graph *graph) {
  rewrite_graph(&rewrite_expands, graph, true, NULL);
  dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After RemoveExpands: ", graph);
}

PASS(remove_expands, GRADIENTS, remove_expands(graph), "removes expansions that broadcasting makes again");
