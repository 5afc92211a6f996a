/* Peephole rules are data: each has texts that read, a name of its own and an example in data/peephole_rules.txt that
 * it, and no other of its table, changes to what stands there; walks over an example come to an end. */
#include <stdlib.h>
#include <string.h>

#include "ir_fixture.h"

#include "pass/rewrite/peephole_pattern.h"
#include "report/jit_log.h"

enum { MOST_WALKS = 8 };

static char *read_examples(void) {
  FILE *file = fopen("data/peephole_rules.txt", "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 20);
  (void)!fread(text, 1, (1 << 20) - 1, file);
  fclose(file);
  return text;
}

/* The example's two graphs, copied; the caller frees *before. */
static void find_example(const char *examples, const char *name, char **before, char **after) {
  char head[100];
  snprintf(head, sizeof head, "# rule: %s\n", name);
  const char *at = strstr(examples, head);
  if (!at) fail_msg("rule %s has no example", name);
  *before = strdup(at + strlen(head));
  char *end = strstr(*before, "\n===\n"), *middle = strstr(*before, "\n---\n");
  if (end) end[1] = 0;
  assert_non_null(middle);
  middle[1] = 0;
  *after = middle + 5;
}

static void print_to(const Graph *graph, StrBuf *out) {
  strbuf_clear(out);
  graph_print(graph, false, out);
}

typedef struct Walk {
  const PeepholeTable *table;
  Graph *graph;
  bool changed;
} Walk;
static void walk(void *argument) {
  Walk *w = argument;
  w->changed = peephole_run(w->table, w->graph, true);
}
static bool run(const PeepholeTable *table, Graph *graph) {
  Walk w = {table, graph, false};
  assert_null(arena_protect(graph->arena, walk, &w));
  assert_null(graph_lint(graph));
  return w.changed;
}

static void check_example(const PeepholeTable *table, const PeepholeRule *rule, const char *examples) {
  char *before, *after, limit[100];
  StrBuf text = {0};
  IrText ir;
  find_example(examples, rule->name, &before, &after);
  ir_parse(&ir, before);
  assert_null(graph_lint(ir.graph));
  snprintf(limit, sizeof limit, "%s=0", rule->name);
  jit_log_configure("", limit);
  bool without = run(table, ir.graph);
  print_to(ir.graph, &text);
  jit_log_configure("", "");
  if (without) print_error("another rule than %s changes its example\n", rule->name);
  assert_false(without);
  ir_dispose(&ir);
  ir_parse(&ir, before); /* a constant may stand where the limit was asked */
  bool changed = run(table, ir.graph);
  print_to(ir.graph, &text);
  if (strcmp(text.data, after) != 0) print_error("rule %s\n", rule->name);
  assert_string_equal(text.data, after);
  assert_true(changed);
  int walks = 1;
  while (walks < MOST_WALKS && run(table, ir.graph)) walks++;
  assert_true(walks < MOST_WALKS);
  ir_dispose(&ir);
  strbuf_dispose(&text);
  free(before);
}

static void test_examples(void **state) {
  (void)state;
  char *examples = read_examples();
  for (int t = 0; t < PEEPHOLE_TABLES; t++)
    for (uint32_t i = 0; i < peephole_tables[t]->count; i++)
      check_example(peephole_tables[t], &peephole_tables[t]->rules[i], examples);
  free(examples);
}

static bool has_rule(const char *name) {
  for (int t = 0; t < PEEPHOLE_TABLES; t++)
    for (uint32_t i = 0; i < peephole_tables[t]->count; i++)
      if (!strncmp(peephole_tables[t]->rules[i].name, name, strlen(peephole_tables[t]->rules[i].name)) &&
          name[strlen(peephole_tables[t]->rules[i].name)] == '\n')
        return true;
  return false;
}

static void test_tables(void **state) {
  (void)state;
  const char *names[200];
  size_t count = 0;
  for (int t = 0; t < PEEPHOLE_TABLES; t++) {
    assert_int_equal(peephole_tables[t]->id, t);
    for (uint32_t i = 0; i < peephole_tables[t]->count; i++) {
      const PeepholeRule *rule = &peephole_tables[t]->rules[i];
      Pattern pattern;
      assert_true(pattern_parse(rule->pattern, &pattern));
      assert_int_equal(pattern.terms[0].form, TERM_NODE);
      assert_true(!rule->replacement != !rule->make);
      if (rule->replacement) assert_true(pattern_parse(rule->replacement, &pattern));
      for (size_t k = 0; k < count; k++) assert_string_not_equal(names[k], rule->name);
      names[count++] = rule->name;
    }
  }
  char *examples = read_examples();
  for (char *at = examples; (at = strstr(at, "# rule: ")); at++) assert_true(has_rule(at + strlen("# rule: ")));
  free(examples);
}

static void test_texts(void **state) {
  (void)state;
  static const char *const wrong[] = {"",      "aten::t",      "aten::t(",      "aten::t(%x", "aten::t(%xy)",
                                      "t(%x)", "aten::t(%1)",  "aten::t(%x) x", "%x:thing",   "aten::t(%x,)",
                                      "*",     "aten::t(...,)"};
  Pattern pattern;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(pattern_parse(wrong[i], &pattern));
  assert_true(pattern_parse("aten::add|aten::sub(%x:Tensor, 0., %y=aten::neg(%z, ...))", &pattern));
  assert_int_equal(pattern.count, 5);
  assert_int_equal(pattern.terms[0].kind_count, 2);
  assert_int_equal(pattern.terms[0].input_count, 3);
  assert_int_equal(pattern.terms[2].form, TERM_NUMBER);
  assert_true(pattern.terms[3].has_rest && pattern.terms[3].letter == 'y');
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples), cmocka_unit_test(test_tables),
                                     cmocka_unit_test(test_texts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
