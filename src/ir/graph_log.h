/* Graphs and nodes in the optimizer's log (report/jit_log.h). */
#pragma once

#include "ir/graph.h"
#include "report/jit_log.h"
#include "report/reason.h"

void graph_log_at(const char *file, int line, JitLogLevel level, const char *title, const Graph *graph);
/* "text %3 : Tensor = aten::add(%1, %2)": the node's first line, without what its blocks hold. */
void node_log_at(const char *file, int line, JitLogLevel level, const char *text, const Node *node);

/* Counts why something was not done to the node and says it in the debug log; false, for the caller to return. */
bool node_refused(const char *file, const Node *node, Reason reason);

#define GRAPH_LOG_DUMP(file, title, graph) graph_log_at((file), __LINE__, JIT_DUMP, (title), (graph))
/* The same as Python: what a user wrote, more or less. */
void source_log_at(const char *file, int line, JitLogLevel level, const char *title, const Graph *graph);
#define SOURCE_LOG_DUMP(file, title, graph)                                                             \
  do {                                                                                                  \
    if (jit_log_enabled((file), JIT_DUMP)) source_log_at((file), __LINE__, JIT_DUMP, (title), (graph)); \
  } while (0)
/* A later folder writes graphs as Python; handed over once, before anything runs (src/api/start.c). */
typedef Status GraphSourcePrinter(const Graph *graph, StrBuf *out) MUST_CHECK;
void graph_source_printer_set(GraphSourcePrinter *printer);
#define NODE_LOG_UPDATE(file, text, node) node_log_at((file), __LINE__, JIT_UPDATE, (text), (node))
