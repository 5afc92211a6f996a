/* The table of node kinds: nothing that the language or a pass makes is missing, and columns do not contradict each
 * other, nor the rows of operators. */
#include "checks.h"
#include "ir_fixture.h"

#include "call/operator.h"
#include "ir/node_kind.h"
#include "serial/python/python_print.h"

#define EACH_KIND(kind) for (Symbol kind = SYMBOL_NONE + 1; kind < SYMBOL_KNOWN_COUNT; kind++)
#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) fail_msg(STR_FMT ": not so: %s", STR_ARG(symbol_name(kind)), #condition); \
  } while (0)

static bool has_effect(const NodeKind *row) {
  return row->effect != EFFECT_NONE && row->effect != EFFECT_BY_ROW;
}

/* Every kind of prim's that the sources name has a row here or one as an operator; attributes have neither. */
static void test_is_complete(void **state) {
  (void)state;
  EACH_KIND(kind) {
    if (str_is(symbol_space(kind), "attr")) CHECK(!node_kind(kind)->has_row);
    if (str_is(symbol_space(kind), "prim")) CHECK(node_kind(kind)->has_row || operator_find_symbol(kind));
  }
  assert_false(node_kind(SYMBOL_NONE)->has_row);
  assert_false(node_kind(symbol_intern(STR("nobody::knows")))->has_row);
}

/* Asking the operator is for kinds that are one; where the table answers, operators say the same. */
static void test_agrees_with_operators(void **state) {
  (void)state;
  EACH_KIND(kind) {
    const NodeKind *row = node_kind(kind);
    if (!row->has_row) continue;
    const Operator *op = operator_find_symbol(kind);
    if (row->effect == EFFECT_BY_ROW && kind != SYM_prim_HasAttr) CHECK(op);
    for (; op; op = op->next)
      if (row->effect != EFFECT_BY_ROW) CHECK(has_effect(row) == !!(op->flags & OP_SIDE_EFFECTS));
  }
}

static void test_columns_agree(void **state) {
  (void)state;
  EACH_KIND(kind) {
    const NodeKind *row = node_kind(kind);
    if (!row->has_row) continue;
    if (row->flags & (KIND_MAY_SHARE | KIND_MAY_FOLD)) CHECK(!has_effect(row));
    if (row->flags & KIND_LASTS) CHECK(row->has_form && row->max_inputs == 0 && row->effect == EFFECT_NONE);
    if (row->flags & KIND_SETS_MODE) CHECK(row->effect != EFFECT_NONE);
    if (row->reading == READS_FIRST) CHECK(row->has_form && row->min_inputs >= 1);
    if (row->aliasing == ALIASES_STORES) CHECK(row->effect == EFFECT_WRITES && row->min_inputs == 2);
    if (row->aliasing == ALIASES_CALLS) CHECK(row->effect == EFFECT_CALLS);
    if (row->aliasing == ALIASES_FORKS || row->aliasing == ALIASES_WAITS) CHECK(row->effect == EFFECT_RUNS);
    if (row->aliasing == ALIASES_CONTAINS) CHECK(row->reading == READS_NONE && row->max_outputs == 1);
    if (row->aliasing == ALIASES_BRANCHES || row->aliasing == ALIASES_ITERATES) CHECK(row->blocks > 0);
    if (row->effect == EFFECT_GUARDS) CHECK(row->flags & KIND_IS_TYPED && row->aliasing == ALIASES_FIRST);
    if (row->has_form) CHECK(row->min_inputs <= row->max_inputs && row->min_outputs <= row->max_outputs);
    if (!row->has_form) CHECK(!row->check && !row->attributes[0].name);
  }
}

/* An operator's kind whose attributes no call could say. */
static void test_says_what_it_can_not_print(void **state) {
  (void)state;
  static const char text[] =
      "graph(%x : Tensor):\n"
      "  %a : Tensor = prim::FusedConcat[dim=0](%x, %x)\n"
      "  return (%a)\n";
  IrText ir;
  PythonPrinter printer;
  StrBuf out = {0};
  ir_parse(&ir, text);
  python_printer_init(&printer);
  Function f = {.name = STR("f"), .graph = ir.graph};
  if (catch_enter(&ir.catch_point)) f.schema = schema_parse(&ir.arena, &ir.store, STR("f(Tensor x) -> Tensor"));
  Status status = python_print_function(&printer, &f, 0, STR(""), &out);
  assert_non_null(status);
  assert_non_null(strstr(status->message, "a prim::FusedConcat can't be printed"));
  status_free(status);
  strbuf_dispose(&out);
  python_printer_dispose(&printer);
  ir_dispose(&ir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_is_complete),
      cmocka_unit_test(test_agrees_with_operators),
      cmocka_unit_test(test_columns_agree),
      cmocka_unit_test(test_says_what_it_can_not_print),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
