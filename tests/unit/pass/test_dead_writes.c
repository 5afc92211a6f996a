/* Which writes dead code elimination keeps: those to what an object shows to others, by whatever view. */
#include "ir_fixture.h"

#include "ir/unit.h"
#include "pass/pass.h"

static void make_type(void *argument) {
  CompilationUnit *unit = argument;
  ClassType *model = class_type_new(&unit->store, STR("__torch__.Model"), true);
  class_type_add_attribute(model, STR("state"), TYPE(TENSOR), ATTRIBUTE_PLAIN);
  class_type_add_attribute(model, STR("states"), type_list(&unit->store, TYPE(TENSOR)), ATTRIBUTE_PLAIN);
  unit_add_type(unit, &model->type);
}

static const Type *find_type(void *argument, Str name) {
  return unit_find_type(argument, name);
}

typedef struct Run {
  CompilationUnit *unit;
  const char *text;
  Graph *graph;
} Run;
static void run(void *argument) {
  Run *r = argument;
  TypeStore *store = &r->unit->store;
  r->graph = graph_parse(&store->arena, store, str_from(r->text), find_type, r->unit);
  dead_code_elimination(r->graph);
}

#define BEGIN                                                                          \
  "graph(%self : __torch__.Model, %x : Tensor):\n"                                     \
  "  %no : bool = prim::Constant[value=0]()\n  %0 : int = prim::Constant[value=0]()\n" \
  "  %1 : int = prim::Constant[value=1]()\n  %none : NoneType = prim::Constant()\n"    \
  "  %s : Tensor = prim::GetAttr[name=\"state\"](%self)\n"                             \
  "  %l : Tensor[] = prim::GetAttr[name=\"states\"](%self)\n"
#define END "  return (%x)\n"

static void expect(const char *text, bool is_kept) {
  Run r = {.text = text};
  assert_null(unit_new(&r.unit));
  assert_null(arena_protect(&r.unit->store.arena, make_type, r.unit));
  assert_null(arena_protect(&r.unit->store.arena, run, &r));
  assert_null(graph_lint(r.graph));
  StrBuf printed = {0};
  graph_print(r.graph, false, &printed);
  bool found = strstr(printed.data, "aten::copy_(") != NULL;
  if (found != is_kept) fail_msg("%s\nbecame\n%s", text, printed.data);
  strbuf_dispose(&printed);
  unit_release(r.unit);
}

static void test_attributes(void **state) {
  (void)state;
  expect(BEGIN "  %w : Tensor = aten::copy_(%s, %x, %no)\n" END, true);
  expect(BEGIN
         "  %v : Tensor = aten::slice(%s, %0, %none, %none, %1)\n"
         "  %u : Tensor = aten::select(%v, %0, %0)\n  %w : Tensor = aten::copy_(%u, %x, %no)\n" END,
         true);
  expect(BEGIN "  %a : Tensor = aten::add_(%s, %x, %1)\n  %w : Tensor = aten::copy_(%a, %x, %no)\n" END, true);
  expect(BEGIN "  %i : Tensor = aten::__getitem__(%l, %0)\n  %w : Tensor = aten::copy_(%i, %x, %no)\n" END, true);
  expect(BEGIN
         "  %i : Tensor[] = aten::split(%s, %1, %0)\n  %p : Tensor = aten::__getitem__(%i, %0)\n"
         "  %w : Tensor = aten::copy_(%p, %x, %no)\n" END,
         true);
}

static void test_copies(void **state) {
  (void)state;
  expect(BEGIN "  %c : Tensor = aten::clone(%s, %none)\n  %w : Tensor = aten::copy_(%c, %x, %no)\n" END, false);
  expect(BEGIN
         "  %c : Tensor = aten::add(%s, %x, %1)\n  %v : Tensor = aten::slice(%c, %0, %none, %none, %1)\n"
         "  %w : Tensor = aten::copy_(%v, %s, %no)\n" END,
         false);
}

/* A write to a copy is needed where a write to an attribute reads it, whichever comes first. */
static void test_copies_that_attributes_read(void **state) {
  (void)state;
  expect(BEGIN
         "  %c : Tensor = aten::clone(%x, %none)\n  %v : Tensor = aten::select(%c, %0, %0)\n"
         "  %w : Tensor = aten::copy_(%v, %x, %no)\n  %a : Tensor = aten::add_(%s, %c, %1)\n" END,
         true);
  expect(BEGIN
         "  %c : Tensor = aten::clone(%x, %none)\n  %v : Tensor = aten::select(%c, %0, %0)\n"
         "  %w : Tensor = aten::copy_(%v, %x, %no)\n  %a : Tensor = aten::add_(%x, %c, %1)\n" END,
         true);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_attributes), cmocka_unit_test(test_copies),
                                     cmocka_unit_test(test_copies_that_attributes_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
