#include "ir/graph_log.h"

static GraphSourcePrinter *source_printer;

void graph_source_printer_set(GraphSourcePrinter *printer) {
  source_printer = printer;
}

void graph_log_at(const char *file, int line, JitLogLevel level, const char *title, const Graph *graph) {
  if (!jit_log_enabled(file, level)) return;
  StrBuf text = {0};
  strbuf_printf(&text, "%s\n", title);
  graph_print(graph, false, &text);
  jit_log_write(file, line, level, strbuf_view(&text));
  strbuf_dispose(&text);
}

void source_log_at(const char *file, int line, JitLogLevel level, const char *title, const Graph *graph) {
  StrBuf text = {0};
  strbuf_printf(&text, "%s\n", title);
  Status status = source_printer ? source_printer(graph, &text) : OK;
  if (status) strbuf_printf(&text, "# it can't be written as Python: %s\n", status->message);
  status_free(status);
  jit_log_write(file, line, level, strbuf_view(&text));
  strbuf_dispose(&text);
}

void node_log_at(const char *file, int line, JitLogLevel level, const char *text, const Node *node) {
  if (!jit_log_enabled(file, level)) return;
  StrBuf printed = {0};
  node_print(node, &printed);
  Str first = strbuf_view(&printed);
  ptrdiff_t end = str_find_char(first, '\n');
  if (end >= 0) first.length = (size_t)end;
  while (first.length && first.data[0] == ' ') first = str_slice(first, 1, first.length);
  jit_log_printf(file, line, level, "%s " STR_FMT, text, STR_ARG(first));
  strbuf_dispose(&printed);
}

bool node_refused(const char *file, const Node *node, Reason reason) {
  node_log_at(file, __LINE__, JIT_DEBUG, reason_text(reason), node);
  reason_add_of(reason, symbol_name(node->kind), node->range);
  return false;
}
