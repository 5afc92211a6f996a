/* Deeply nested texts on a small stack: whatever they are, they end in a result or an error, and take memory in
 * proportion to their length. */
#include <pthread.h>
#include <sys/resource.h>

#include "ir_fixture.h"

#include "call/operator.h"
#include "schema/schema.h"
#include "wick/wick.h"

enum { STACK_BYTES = 256 << 10 };

/* head, then `open` n times, middle, `close` n times, tail; before open and close of blocks stand two spaces more each
 * time when `indents`. */
typedef struct Nest {
  const char *head, *open, *middle, *close, *tail;
  bool indents;
} Nest;

static void write_nest(const Nest *nest, int n, StrBuf *out) {
  strbuf_puts(out, nest->head);
  for (int i = 0; i < n; i++) {
    if (nest->indents) strbuf_repeat(out, ' ', (size_t)i + 1);
    strbuf_puts(out, nest->open);
  }
  if (nest->indents) strbuf_repeat(out, ' ', (size_t)n + 1);
  strbuf_puts(out, nest->middle);
  for (int i = 0; i < n; i++) strbuf_puts(out, nest->close);
  strbuf_puts(out, nest->tail);
}

static void compile_text(Str text) {
  wick_module *module;
  wick_error *error;
  if (wick_compile(NULL, text.data, text.length, NULL, &module, &error)) {
    assert_true(wick_error_message(error)[0] != 0);
    assert_int_not_equal(wick_error_status(error), WICK_INTERNAL);
    wick_error_free(error);
  } else {
    wick_module_release(module);
  }
}

static void parse_graph(Str text) {
  Arena arena;
  TypeStore store;
  Catch c;
  Graph *volatile graph = NULL;
  assert_null(type_store_init(&store, NULL));
  arena_init(&arena, &c);
  store.arena.catch_point = &c;
  if (catch_enter(&c)) {
    graph = graph_parse(&arena, &store, text, NULL, NULL);
    status_free(graph_lint(graph));
    StrBuf printed = {.max_length = 1 << 20};
    graph_print(graph, false, &printed);
    strbuf_dispose(&printed);
  } else {
    status_free(c.status);
  }
  if (graph) graph_dispose(graph);
  arena_dispose(&arena);
  type_store_dispose(&store);
}

static void parse_schema(Str text) {
  Arena arena;
  TypeStore store;
  Catch c;
  assert_null(type_store_init(&store, NULL));
  arena_init(&arena, &c);
  store.arena.catch_point = &c;
  if (catch_enter(&c))
    schema_parse(&arena, &store, text);
  else
    status_free(c.status);
  arena_dispose(&arena);
  type_store_dispose(&store);
}

static const Nest sources[] = {
    {"def f(x):\n  return ", "(", "x", ")", "\n"},
    {"def f(x):\n  return ", "(", "x", "", "\n"},
    {"def f(x):\n  return ", "[", "x", "]", "\n"},
    {"def f(x):\n  return ", "(", "x", ",)", "\n"},
    {"def f(x):\n  return ", "{1: ", "x", "}", "\n"},
    {"def f(x):\n  return ", "torch.neg(", "x", ")", "\n"},
    {"def f(x):\n  return x", "[0", "", "]", "\n"},
    {"def f(x):\n  return x", "", "", "[0]", "\n"},
    {"def f(x):\n  return x", "", "", ".t()", "\n"},
    {"def f(x):\n  return x", "", "", ".T", "\n"},
    {"def f(x):\n  return x", "", "", " + x", "\n"},
    {"def f(x):\n  return x", "", "", " ** x", "\n"},
    {"def f(x: int):\n  return x", "", "", " < x", "\n"},
    {"def f(x: int):\n  return x > 0", "", "", " and x > 0", "\n"},
    {"def f(x: int):\n  return ", "-", "x", "", "\n"},
    {"def f(x: bool):\n  return ", "not ", "x", "", "\n"},
    {"def f(x: int):\n  return ", "x if x > 0 else ", "x", "", "\n"},
    {"def f(x: int):\n  return ", "[", "x", " for y in [1]]", "\n"},
    {"def f(x: int):\n  return [x", " for x in [1]", "", "", "]\n"},
    {"def f(x: int):\n", "if x > 0:\n", "x = 1\n", "", "  return x\n", true},
    {"def f(x: int):\n", "while x > 0:\n", "x = 1\n", "", "  return x\n", true},
    {"def f(x: int):\n", "for i in range(3):\n", "x = 1\n", "", "  return x\n", true},
    {"def f(x: int):\n", "with torch.no_grad():\n", "x = 1\n", "", "  return x\n", true},
    {"def f(x: int):\n", "def g():\n", "return 1\n", "", "  return x\n", true},
    {"def f(x: int):\n  if x == 1:\n    x = 2\n", "", "", "  elif x == 3:\n    x = 4\n", "  return x\n"},
    {"def f(x: int):\n  if x == 1:\n    return 2\n", "", "", "  elif x == 3:\n    return 4\n", "  return x\n"},
    {"def f(x: int):\n", "", "", "  if x == 1:\n    return 2\n", "  return x\n"},
    {"def f(x: int):\n", "", "", "  assert x == 1\n", "  return x\n"},
    {"def f(x: ", "List[", "int", "]", "):\n  return x\n"},
    {"def f(x: ", "Optional[", "int", "]", "):\n  return x\n"},
    {"def f(x: ", "Tuple[int, ", "int", "]", "):\n  return x\n"},
    {"def f(x: ", "Dict[int, ", "int", "]", "):\n  return x\n"},
    {"def f(x: int", "", "", " | int", "):\n  return x\n"},
    {"def f(x):\n  # type: (", "List[", "int", "]", ") -> int\n  return 1\n"},
    {"def f(x: '", "List[", "int", "]", "'):\n  return x\n"},
    {"def f(x: int):\n  return f'", "{", "x", "}", "'\n"},
    {"def f(x: int):\n  return ", "f'{", "x", "}'", "\n"},
    {"def f(x: int):\n  return f\"{x", "", "", "}{x", "}\"\n"},
    {"def f(x: int):\n  ", "(", "x", ",)", " = 1\n"},
    {"def f(x: int):\n  ", "[", "x", "]", " = 1\n"},
    {"def f(x: int):\n  ", "x = ", "1", "", "\n"},
    {"def f(x: int):\n  return ", "lambda: ", "x", "", "\n"},
    {"X = ", "(", "1", ",)", "\ndef f():\n  return X\n"},
    {"", "@", "a", "", "\ndef f():\n  return 1\n"},
    {"import a", "", "", ".a", "\n"},
    {"class A(", "(", "B", ")", "):\n  pass\n"},
};

static const Nest graphs[] = {
    {"graph(%x : ", "(", "int", ")", "):\n  return (%x)\n"},
    {"graph(%x : int", "", "", "[]", "):\n  return (%x)\n"},
    {"graph(%x : int", "", "", "?", "):\n  return (%x)\n"},
    {"graph(%x : ", "Dict(int, ", "int", ")", "):\n  return (%x)\n"},
    {"graph(%x : ", "Future(", "int", ")", "):\n  return (%x)\n"},
    {"graph():\n  %x : int = prim::Constant[value=", "[", "1", "]", "]()\n  return (%x)\n"},
    {"graph():\n  %x : int = prim::Constant[value=", "(", "1", ",)", "]()\n  return (%x)\n"},
    {"graph():\n  %x : int = prim::Constant[value=", "{1: ", "1", "}", "]()\n  return (%x)\n"},
    {"graph(%c : bool):\n", " = prim::If(%c)\n block0():\n", "-> ()\n", "block1():\n-> ()\n-> ()\n", "return (%c)\n"},
    {"graph(%c : bool, %n : int):\n", " = prim::Loop(%n, %c)\nblock0(%i : int):\n", "-> (%c)\n", "-> (%c)\n",
     "return (%c)\n"},
    {"graph(%c : int):\n", " = prim::fork[Subgraph=graph(%c : int):\n", "return (%c)\n", "](%c)\n", "return (%c)\n"},
};

static const Nest schemas[] = {
    {"aten::f(", "(", "int", ")", " x) -> int"},     {"aten::f(int", "", "", "[]", " x) -> int"},
    {"aten::f(int", "", "", "?", " x) -> int"},      {"aten::f(", "Dict(int, ", "int", ")", " x) -> int"},
    {"aten::f(", "List[", "int", "]", " x) -> int"}, {"aten::f(int x=", "[", "1", "]", ") -> int"},
    {"aten::f(int x) -> ", "(", "int", ")", ""},     {"aten::f(", "Union(int, ", "int", ")", " x) -> int"},
};

static const int depths[] = {40, 199, 990, 10000};

static void *run_sources(void *argument) {
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    for (size_t k = 0; k < sizeof depths / sizeof *depths; k++) {
      StrBuf text = {0};
      int n = sources[i].indents && depths[k] > 1000 ? 1000 : depths[k]; /* the text grows with its square */
      write_nest(&sources[i], n, &text);
      compile_text(strbuf_view(&text));
      strbuf_dispose(&text);
    }
  return argument;
}

static void *run_texts(void *argument) {
  for (size_t k = 0; k < sizeof depths / sizeof *depths; k++) {
    StrBuf text = {0};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
      strbuf_clear(&text);
      write_nest(&graphs[i], depths[k], &text);
      parse_graph(strbuf_view(&text));
    }
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
      strbuf_clear(&text);
      write_nest(&schemas[i], depths[k], &text);
      parse_schema(strbuf_view(&text));
    }
    strbuf_dispose(&text);
  }
  return argument;
}

static void on_small_stack(void *(*run)(void *argument)) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  assert_int_equal(pthread_attr_setstacksize(&attributes, STACK_BYTES), 0);
  assert_int_equal(pthread_create(&thread, &attributes, run, NULL), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
}

static void test_sources(void **state) {
  (void)state;
  on_small_stack(run_sources);
  run_sources(NULL);
}
/* Each early return puts what follows into a block of its own. */
static void test_many_early_returns(void **state) {
  (void)state;
  static const Nest returns = {"def f(x: int):\n", "", "", "  if x == 1:\n    return 2\n", "  return x\n"};
  StrBuf text = {0};
  struct rusage before, after;
  write_nest(&returns, 990, &text);
  getrusage(RUSAGE_SELF, &before);
  compile_text(strbuf_view(&text));
  getrusage(RUSAGE_SELF, &after);
  assert_true(after.ru_maxrss - before.ru_maxrss < 512 << 10); /* KiB */
  strbuf_dispose(&text);
}
static void test_graphs_and_schemas(void **state) {
  (void)state;
  on_small_stack(run_texts);
  run_texts(NULL);
}

/* Types and values that hold their parts twice, sixty times over: trees of 2^60 leaves in a text of a few lines. */
static void test_doubling(void **state) {
  (void)state;
  static const char *const steps[][3] = {
      {"def f():\n  x0 = (1, 2)\n", "  x%d = (x%d, x%d)\n", "  return x60\n"},
      {"def f(x0: Tensor):\n", "  x%d = (x%d, x%d)\n", "  return x60\n"},
      {"class A0(NamedTuple):\n  a: int\n", "class A%d(NamedTuple):\n  a: A%d\n  b: A%d\n",
       "def f(x: A60):\n  return x\n"},
      {"class A0(NamedTuple):\n  a: Tensor\n", "class A%d(NamedTuple):\n  a: A%d\n  b: Optional[A%d]\n",
       "def f(x: A60):\n  return x\n"},
  };
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    StrBuf text = {0};
    strbuf_puts(&text, steps[i][0]);
    for (int k = 1; k <= 60; k++) strbuf_printf(&text, steps[i][1], k, k - 1, k - 1);
    strbuf_puts(&text, steps[i][2]);
    compile_text(strbuf_view(&text));
    strbuf_dispose(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_early_returns),
      cmocka_unit_test(test_sources),
      cmocka_unit_test(test_doubling),
      cmocka_unit_test(test_graphs_and_schemas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
