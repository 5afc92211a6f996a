/* Fuzz target: a text parsed as IR. What parses and passes lint prints as a text that parses to the same text, becomes
 * Code, and goes through every pass without losing its order. */
#include "fuzz.h"

#include "api/handles.h"
#include "interp/interp.h"
#include "pass/pass.h"

typedef struct Text {
  Catch catch_point;
  Arena arena;
  TypeStore store;
  Graph *graph;
} Text;

static __attribute__((noinline)) Status parse_caught(Text *t, Str text) {
  if (catch_enter(&t->catch_point)) {
    t->graph = graph_parse(&t->arena, &t->store, text, NULL, NULL);
    return OK;
  }
  return t->catch_point.status;
}

static Status text_parse(Text *t, Str text) {
  *t = (Text){0};
  must_hold(type_store_init(&t->store, NULL));
  arena_init(&t->arena, &t->catch_point);
  t->store.arena.catch_point = &t->catch_point;
  return parse_caught(t, text);
}
static void text_dispose(Text *t) {
  if (t->graph) graph_dispose(t->graph);
  arena_dispose(&t->arena);
  type_store_dispose(&t->store);
}

static void check_fixpoint(const StrBuf *printed) {
  Text again;
  StrBuf text = {0};
  must_hold(text_parse(&again, strbuf_view(printed)));
  graph_print(again.graph, false, &text);
  if (!str_equal(strbuf_view(&text), strbuf_view(printed))) {
    fprintf(stderr, "printed:\n%s\nprinted again:\n%s\n", printed->data, text.data);
    abort();
  }
  strbuf_dispose(&text);
  text_dispose(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Text t;
  Exec exec;
  Code *code;
  Status status = text_parse(&t, (Str){(const char *)data, size});
  if (!status) status = graph_lint(t.graph);
  if (!status) {
    StrBuf printed = {.max_length = 1 << 20};
    api_exec_init(&exec, NULL);
    exec.work.threads = 1;
    graph_print(t.graph, false, &printed);
    if (!printed.truncated && printed.data) check_fixpoint(&printed);
    strbuf_dispose(&printed);
    status = code_compile(t.graph, STR("fuzz"), &code);
    if (!status) code_free(code);
    for (const Pass *pass = pass_next(NULL); pass && !status; pass = pass_next(pass)) {
      status = pass_run(pass, t.graph, &exec);
      if (!status) must_hold(graph_lint(t.graph));
    }
  }
  may_fail(status);
  text_dispose(&t);
  return 0;
}
