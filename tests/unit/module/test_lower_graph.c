/* Attribute chains on self become inputs. */
#include "ir_fixture.h"

#include "ir/unit.h"
#include "module/lower_graph.h"

typedef struct Fixture {
  CompilationUnit *unit;
  ClassType *inner, *outer;
  Object *leaf, *root;
} Fixture;

static void make_types(void *argument) {
  Fixture *f = argument;
  TypeStore *store = &f->unit->store;
  f->inner = class_type_new(store, STR("__torch__.Inner"), true);
  class_type_add_attribute(f->inner, STR("scale"), TYPE(INT), ATTRIBUTE_PLAIN);
  f->outer = class_type_new(store, STR("__torch__.Outer"), true);
  class_type_add_attribute(f->outer, STR("inner"), &f->inner->type, ATTRIBUTE_PLAIN);
  class_type_add_attribute(f->outer, STR("n"), TYPE(INT), ATTRIBUTE_PLAIN);
  unit_add_type(f->unit, &f->inner->type);
  unit_add_type(f->unit, &f->outer->type);
}

static const Type *find_type(void *argument, Str name) {
  return unit_find_type(argument, name);
}

typedef struct Lower {
  Fixture *f;
  const char *text;
  LoweredGraph out;
} Lower;
static void lower(void *argument) {
  Lower *l = argument;
  CompilationUnit *unit = l->f->unit;
  Function function = {.graph = graph_parse(&unit->store.arena, &unit->store, str_from(l->text), find_type, unit)};
  lower_graph(&function, l->f->root, &unit->store.arena, &unit->store, &l->out);
}

static void check(const char *text, const char *expected) {
  Fixture f = {0};
  assert_null(unit_new(&f.unit));
  assert_null(arena_protect(&f.unit->store.arena, make_types, &f));
  assert_null(object_new(f.inner, &f.leaf));
  assert_null(object_new(f.outer, &f.root));
  f.leaf->slots[0] = ivalue_int(3);
  f.root->slots[0] = ivalue_object(f.leaf);
  f.root->slots[1] = ivalue_int(7);
  Lower l = {.f = &f, .text = text};
  Status status = arena_protect(&f.unit->store.arena, lower, &l);
  if (expected) {
    assert_null(status);
    assert_null(graph_lint(l.out.graph));
    StrBuf printed = {0};
    graph_print(l.out.graph, false, &printed);
    assert_text(&printed, expected);
    assert_int_equal(l.out.slot_count, 2);
    assert_int_equal(l.out.slots[0].i, 3);
    assert_int_equal(l.out.slots[1].i, 7);
  } else {
    assert_int_equal(status->code, ERROR_UNSUPPORTED);
    status_free(status);
  }
  ivalue_release(ivalue_object(f.root));
  unit_release(f.unit);
}

static void test_reads(void **state) {
  (void)state;
  check(
      "graph(%self : __torch__.Outer, %x : int):\n"
      "  %i : __torch__.Inner = prim::GetAttr[name=\"inner\"](%self)\n"
      "  %s : int = prim::GetAttr[name=\"scale\"](%i)\n"
      "  %n : int = prim::GetAttr[name=\"n\"](%self)\n"
      "  %k : __torch__.Inner = prim::GetAttr[name=\"inner\"](%self)\n"
      "  %t : int = prim::GetAttr[name=\"scale\"](%k)\n"
      "  %a : int = aten::mul(%s, %t)\n"
      "  %b : int = aten::mul(%a, %n)\n"
      "  %c : int = aten::add(%b, %x)\n"
      "  return (%c)\n",
      "graph(%x : int,\n      %10 : int,\n      %11 : int):\n"
      "  %a : int = aten::mul(%10, %10)\n"
      "  %b : int = aten::mul(%a, %11)\n"
      "  %c : int = aten::add(%b, %x)\n"
      "  return (%c)\n");
}

static void test_refusals(void **state) {
  (void)state;
  check("graph(%self : __torch__.Outer, %x : int):\n  %n = prim::SetAttr[name=\"n\"](%self, %x)\n  return (%x)\n",
        NULL);
  check("graph(%self : __torch__.Outer):\n  return (%self)\n", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
