/* Rewrite rules are data: each has texts that read, a name of its own and an example in data/rewrite_rules.txt that
 * it, and no other of its table, changes to what stands there; walks over an example come to an end. */
#include <stdlib.h>
#include <string.h>

#include "ir_fixture.h"

#include "call/operator.h"
#include "call/row_extras.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/rewrite_rule.h"
#include "report/jit_log.h"

enum { MOST_WALKS = 8 };

static char *read_examples(void) {
  FILE *file = fopen("data/rewrite_rules.txt", "rb");
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
  const RewriteTable *table;
  Graph *graph;
  Exec *exec;
  bool changed;
} Walk;
static void walk(void *argument) {
  Walk *w = argument;
  w->changed = rewrite_graph(w->table, w->graph, true, w->exec);
}
static bool run(const RewriteTable *table, Graph *graph) {
  Exec exec;
  exec_init(&exec, NULL);
  Walk w = {table, graph, &exec, false};
  assert_null(arena_protect(graph->arena, walk, &w));
  assert_null(graph_lint(graph));
  return w.changed;
}

static void check_example(const RewriteTable *table, const RewriteRule *rule, const char *examples) {
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
  for (int t = 0; t < REWRITE_TABLES; t++)
    for (uint32_t i = 0; i < rewrite_tables[t]->count; i++)
      check_example(rewrite_tables[t], &rewrite_tables[t]->rules[i], examples);
  free(examples);
}

static bool has_rule(const char *name) {
  for (int t = 0; t < REWRITE_TABLES; t++)
    for (uint32_t i = 0; i < rewrite_tables[t]->count; i++)
      if (!strncmp(rewrite_tables[t]->rules[i].name, name, strlen(rewrite_tables[t]->rules[i].name)) &&
          name[strlen(rewrite_tables[t]->rules[i].name)] == '\n')
        return true;
  return false;
}

enum { ROOM = 64 };
typedef struct Room {
  PatternRoom room;
  Term terms[ROOM];
  uint16_t indices[ROOM];
  Symbol kinds[ROOM];
} Room;
static bool parse(const char *text, Room *to, Pattern *out) {
  to->room = (PatternRoom){to->terms, to->indices, to->kinds, .term_room = ROOM, .index_room = ROOM, .kind_room = ROOM};
  return pattern_parse(text, &to->room, out);
}

static void test_tables(void **state) {
  (void)state;
  const char *names[200];
  size_t count = 0;
  for (int t = 0; t < REWRITE_TABLES; t++) {
    assert_int_equal(rewrite_tables[t]->id, t);
    for (uint32_t i = 0; i < rewrite_tables[t]->count; i++) {
      const RewriteRule *rule = &rewrite_tables[t]->rules[i];
      Room room;
      Pattern pattern;
      assert_true(parse(rule->pattern, &room, &pattern));
      assert_int_equal(pattern_end(&pattern)->form, TERM_NODE);
      assert_true(!rule->replacement != !rule->make);
      if (rule->replacement) assert_true(parse(rule->replacement, &room, &pattern));
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
  static const char *const wrong[] = {"",      "aten::t",       "aten::t(",         "aten::t(%x",     "aten::t(%xy)",
                                      "t(%x)", "aten::t(%1)",   "aten::t(%x) x",    "%x:thing",       "aten::t(%x,)",
                                      "*",     "aten::t(...,)", "aten::t[x](%x)",   "aten::t[1(%x)",  "*[0]",
                                      "%x=%y", "aten::t(%x),",  "aten::t(%x):list", "aten::t(%x) %y", "..."};
  Room room;
  Pattern pattern;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (parse(wrong[i], &room, &pattern)) fail_msg("'%s' is read", wrong[i]);
  assert_true(parse("aten::add|aten::sub(%x:Tensor, 0., %y=aten::neg(%z, ...))", &room, &pattern));
  const Term *end = pattern_end(&pattern);
  assert_int_equal(pattern.count, 5);
  assert_int_equal(end->kind_count, 2);
  assert_int_equal(end->input_count, 3);
  assert_int_equal(pattern.terms[2].form, TERM_NUMBER);
  assert_true(pattern.terms[3].has_rest && pattern.terms[3].letter == 'y');
  assert_true(parse("aten::add(%x, %y=aten::neg(%x), %y), %y", &room, &pattern));
  assert_int_equal(pattern.count, 3); /* the same letter is the same value */
  assert_int_equal(pattern.output_count, 2);
  assert_int_equal(pattern.terms[pattern.letters['x' - 'a']].uses, 2);
  assert_true(pattern.terms[pattern.letters['y' - 'a']].leaves);
}

/* ---- what the tables leave open ---- */

typedef struct Made {
  Graph *graph;
  const RewriteRule *rule;
  uint32_t count;
} Made;
static void apply_made(void *argument) {
  Made *m = argument;
  m->count = rewrite_graph_by(m->graph, "test", 1, m->rule);
}
static void check_made(const RewriteRule *rule, const char *before, uint32_t count, const char *after) {
  IrText ir;
  StrBuf text = {0};
  ir_parse(&ir, before);
  Made m = {ir.graph, rule, 0};
  assert_null(arena_protect(ir.graph->arena, apply_made, &m));
  Status status = graph_lint(ir.graph);
  if (status) fail_msg("%s", status->message);
  assert_int_equal(m.count, count);
  graph_print(ir.graph, false, &text);
  assert_text(&text, after);
  ir_dispose(&ir);
}

static void test_one_letter_is_one_value(void **state) {
  (void)state;
  const RewriteRule twice = {"twice", "aten::mul(%x, %x)", GIVES("aten::square(%x)")};
  check_made(&twice,
             "graph(%a : Tensor, %b : Tensor):\n"
             "  %1 : Tensor = aten::mul(%a, %b)\n"
             "  %2 : Tensor = aten::mul(%1, %1)\n"
             "  return (%2)\n",
             1,
             "graph(%a : Tensor,\n"
             "      %b : Tensor):\n"
             "  %1 : Tensor = aten::mul(%a, %b)\n"
             "  %5 : Tensor = aten::square(%1)\n"
             "  %2 : Tensor = aten::mul(%1, %1)\n"
             "  return (%5)\n");
}

/* The outputs of one node, one of them for others too; and the same where a third one is wanted. */
static void test_several_outputs(void **state) {
  (void)state;
  const RewriteRule both = {"both", "aten::div(mine::cell[0](%x), %h=mine::cell[1](%x)), %h",
                            GIVES("aten::neg(%x):Tensor, aten::relu(%x)"), ALONE};
  check_made(&both,
             "graph(%a : Tensor):\n"
             "  %1 : Tensor, %2 : Tensor = mine::cell(%a)\n"
             "  %3 : Tensor = aten::div(%1, %2)\n"
             "  %4 : Tensor = aten::mul(%3, %2)\n"
             "  return (%4)\n",
             1,
             "graph(%a : Tensor):\n"
             "  %6 : Tensor = aten::neg(%a)\n"
             "  %7 : Tensor = aten::relu(%a)\n"
             "  %4 : Tensor = aten::mul(%6, %7)\n"
             "  return (%4)\n");
  static const char more[] =
      "graph(%a : Tensor):\n"
      "  %1 : Tensor, %2 : Tensor, %3 : Tensor = mine::cell(%a)\n"
      "  %4 : Tensor = aten::div(%1, %2)\n"
      "  %5 : Tensor = aten::mul(%4, %3)\n"
      "  return (%5)\n";
  check_made(&both, more, 0, more);
}

/* The rule's example with other words in one place is left as it is. */
static void check_stays(const char *rule, const char *from, const char *to) {
  char *examples = read_examples(), *before, *after;
  find_example(examples, rule, &before, &after);
  const char *at = strstr(before, from);
  if (!at) fail_msg("the example has no '%s'", from);
  size_t room = strlen(before) + 100;
  char *changed = calloc(1, room);
  snprintf(changed, room, "%.*s%s%s", (int)(at - before), before, to, at + strlen(from));
  IrText ir;
  ir_parse(&ir, changed);
  if (run(&rewrite_layers, ir.graph)) fail_msg("%s: '%s' is rewritten", rule, to);
  ir_dispose(&ir);
  free(changed);
  free(before);
  free(examples);
}

/* Masks that are nearly the one of is_causal stay masks. */
static void test_masks_that_are_not_causal(void **state) {
  (void)state;
  static const struct {
    const char *from, *to;
  } changes[] = {
      {"aten::le(%distance", "aten::lt(%distance"},                                  /* not itself */
      {"aten::le(%distance, %zero)", "aten::le(%distance, %one)"},                   /* one key more */
      {"aten::sub(%key, %query", "aten::sub(%query, %key"},                          /* what comes after */
      {"unsqueeze(%keys, %before)", "unsqueeze(%keys, %zero)"},                      /* the same, but not looked for */
      {"arange(%zero, %columns, %one, %n", "arange(%zero, %columns, %one, %floats"}, /* not whole numbers */
      {"arange(%zero, %columns, %one", "arange(%zero, %columns, %two"},
      {"arange(%zero, %rows", "arange(%one, %rows"},
      {"arange(%zero, %rows", "arange(%zero, %columns"},                                /* an error where both differ */
      {"%f : int[] = prim::ListConstruct(", "%f : int[] = prim::ListConstruct(%one, "}, /* a dimension more */
      {"full(%f, %one", "full(%f, %zero"},
      {"scalar_tensor(%i, %floats", "scalar_tensor(%scale, %floats"}, /* seen all the same */
      {"where(%seen, %plain, %hidden)", "where(%seen, %hidden, %plain)"},
      {"%floats : int = prim::Constant[value=6]", "%floats : int = prim::Constant[value=11]"}, /* true where hidden */
      {"ListConstruct(%zero, %one, %three, %two)", "ListConstruct(%zero, %two, %one, %three)"},
      {"  %ye", "  %w : Tensor = aten::zero_(%mask)\n  %ye"},
      {"  %distance", "  %w : Tensor = aten::zero_(%query)\n  %distance"},
  };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    check_stays("causal_attention", changes[i].from, changes[i].to);
}

/* What a rule reads later than the program did may not be written to in between. */
static void test_what_is_written_stays(void **state) {
  (void)state;
  check_stays("product_of_batches", "  %ve", "  %w : Tensor = aten::zero_(%u)\n  %ve");
  check_stays("attention", "  %qe", "  %w : Tensor = aten::zero_(%q)\n  %qe");
  check_stays("attention", "  %qe", "  %w : Tensor = aten::zero_(%k)\n  %qe");
  check_stays("masked_attention", "  %s ", "  %w : Tensor = aten::zero_(%mask)\n  %s ");
}

/* ---- rules made of rows ---- */

typedef struct Quantized {
  Graph *graph;
  const Operator *op;
  const QuantizedForm *form;
  bool in_place;
} Quantized;

static Value *call(Graph *graph, const char *kind, uint32_t count, Value *const *inputs) {
  return insert_call(graph, symbol_intern(str_from(kind)), TYPE(TENSOR), count, inputs);
}

/* dequantize, the operator with defaults, relu where it is to follow, quantize. */
static void write_and_fuse(void *argument) {
  const Quantized *q = argument;
  Graph *graph = q->graph;
  Value *inputs[16], *b = graph_input(graph, 1);
  uint32_t count = 0;
  inputs[count++] = call(graph, "aten::dequantize", 1, (Value *[]){graph_input(graph, 0)});
  if (q->form->unpack) {
    const Node *unpack =
        graph_insert_node(graph, graph_create(graph, symbol_intern(str_from(q->form->unpack)), 1, &b, 2));
    node_output(unpack, 0)->type = node_output(unpack, 1)->type = TYPE(TENSOR);
    inputs[count++] = call(graph, "aten::dequantize", 1, (Value *[]){node_output(unpack, 0)});
    inputs[count++] = node_output(unpack, 1);
  } else {
    inputs[count++] = call(graph, "aten::dequantize", 1, &b);
  }
  char name[64];
  const char *dot = strchr(q->form->of, '.');
  snprintf(name, sizeof name, "%.*s", dot ? (int)(dot - q->form->of) : 60, q->form->of);
  const Operator *of = operator_find_overload(str_from(name), str_from(dot ? dot + 1 : ""));
  const FunctionSchema *schema = operator_schema(of);
  assert_true(schema->argument_count <= 16);
  for (; count < schema->argument_count; count++)
    inputs[count] = graph_insert_constant(graph, schema->arguments[count].default_value, NULL);
  Value *result = call(graph, name, count, inputs);
  if (q->form->relu) result = call(graph, q->in_place ? "aten::relu_" : "aten::relu", 1, &result);
  Value *last[] = {result, graph_input(graph, 2), graph_input(graph, 3), graph_input(graph, 4)};
  node_replace_input(graph->block->ret, 0, call(graph, "aten::quantize_per_tensor", 4, last));
  quant_fusion(graph);
}

static void check_quantized(const Operator *op, const QuantizedForm *form, bool in_place) {
  IrText ir;
  ir_parse(&ir,
           "graph(%a : Tensor, %b : Tensor, %s : float, %z : int, %d : int):\n"
           "  return (%a)\n");
  Quantized q = {ir.graph, op, form, in_place};
  assert_null(arena_protect(ir.graph->arena, write_and_fuse, &q));
  const Node *fused = graph_output(ir.graph, 0)->node;
  if (!str_equal(symbol_name(fused->kind), op->name) || block_size(ir.graph->block, 100) != 1)
    fail_msg(STR_FMT " is not made of %s", STR_ARG(op->name), form->of);
  assert_int_equal(fused->input_count, 4);
  for (uint32_t i = 0; i < 4; i++) assert_ptr_equal(node_input(fused, i), graph_input(ir.graph, i));
  ir_dispose(&ir);
}

/* What quantized operators stand for, as their rows say. */
static void test_quantized_rules(void **state) {
  (void)state;
  int rules = 0;
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    const QuantizedForm *form = row_extras(op->row)->quantizes;
    if (!form || op->variant != VARIANT_FUNCTIONAL) continue;
    for (int in_place = 0; in_place <= form->relu; in_place++) check_quantized(op, form, in_place);
    rules++;
  }
  assert_true(rules > 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples),
                                     cmocka_unit_test(test_tables),
                                     cmocka_unit_test(test_texts),
                                     cmocka_unit_test(test_one_letter_is_one_value),
                                     cmocka_unit_test(test_several_outputs),
                                     cmocka_unit_test(test_masks_that_are_not_causal),
                                     cmocka_unit_test(test_what_is_written_stays),
                                     cmocka_unit_test(test_quantized_rules)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
