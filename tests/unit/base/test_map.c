/* Maps keep order, survive removal and growth, and answer false without memory. Symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/map.h"
#include "report/symbol.h"

static char names[5000][8];

static void test_order_and_removal(void **state) {
  (void)state;
  Map map;
  map_init(&map, NULL);
  for (int i = 0; i < 5000; i++) {
    snprintf(names[i], sizeof names[i], "k%d", i);
    assert_true(map_put(&map, str_from(names[i]), names[i]));
  }
  for (int i = 0; i < 5000; i += 2) assert_true(map_remove(&map, str_from(names[i])));
  assert_false(map_remove(&map, str_from(names[0])));
  assert_int_equal(map_count(&map), 2500);
  assert_true(map_put(&map, str_from(names[0]), names[1]));
  int expected = 1, seen = 0;
  for (MapEntry *e = map_next(&map, NULL); e; e = map_next(&map, e), seen++) {
    if (seen < 2500) assert_ptr_equal(e->value, names[expected]);
    expected += 2;
  }
  assert_int_equal(seen, 2501);
  assert_ptr_equal(map_get(&map, STR("k0")), names[1]);
  assert_null(map_get(&map, STR("k2")));
  assert_true(map_put(&map, (Str){NULL, 0}, names[2]));
  assert_ptr_equal(map_get(&map, STR("")), names[2]);
  map_dispose(&map);
  mem_fail_after(1);
  assert_false(map_put(&map, STR("x"), NULL));
  mem_fail_after(0);
}

static void test_churn_stays_small(void **state) {
  (void)state;
  Map map;
  map_init(&map, NULL);
  for (int i = 0; i < 100000; i++) {
    assert_true(map_put(&map, STR("one"), &map));
    assert_true(map_remove(&map, STR("one")));
  }
  assert_true(map.slot_count <= 16);
  map_dispose(&map);
}

static void test_pointers(void **state) {
  (void)state;
  PtrMap map;
  ptrmap_init(&map, NULL);
  assert_null(ptrmap_get(&map, names));
  for (int i = 0; i < 5000; i++) assert_true(ptrmap_put(&map, names[i], i % 3 ? names[i] : NULL));
  for (int i = 0; i < 5000; i++) {
    assert_true(ptrmap_has(&map, names[i]));
    assert_ptr_equal(ptrmap_get(&map, names[i]), i % 3 ? names[i] : NULL);
  }
  assert_false(ptrmap_has(&map, &map));
  assert_false(ptrmap_put(&map, NULL, names));
  ptrmap_dispose(&map);
}

static void test_symbols(void **state) {
  (void)state;
  assert_int_equal(symbol_intern(STR("aten::add")), SYM_aten_add);
  assert_true(str_is(symbol_name(SYM_prim_If), "prim::If"));
  assert_int_equal(symbol_find(STR("mine::new")), SYMBOL_NONE);
  Symbol mine = symbol_intern(STR("mine::new"));
  assert_true(mine >= SYMBOL_KNOWN_COUNT);
  assert_int_equal(symbol_intern(STR("mine::new")), mine);
  assert_true(str_is(symbol_space(mine), "mine"));
  assert_true(str_is(symbol_base(mine), "new"));
  assert_int_equal(symbol_intern(STR("bare")), SYMBOL_NONE);
  for (int i = 0; i < 3000; i++) {
    char name[32];
    snprintf(name, sizeof name, "many::s%d", i);
    Symbol symbol = symbol_intern(str_from(name));
    assert_true(str_is(symbol_name(symbol), name));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_and_removal),
      cmocka_unit_test(test_churn_stays_small),
      cmocka_unit_test(test_pointers),
      cmocka_unit_test(test_symbols),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
