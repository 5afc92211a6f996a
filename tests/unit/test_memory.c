/* Checked sizes, arenas, catch points, growing arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/vec.h"

static void test_refused_sizes(void **state) {
  (void)state;
  assert_null(mem_calloc(SIZE_MAX / 2, 4));
  assert_null(mem_alloc(SIZE_MAX));
  void *empty = mem_alloc(0);
  assert_non_null(empty);
  mem_free(empty);
}

static void test_arena_is_zeroed_and_aligned(void **state) {
  (void)state;
  Catch c;
  Arena arena;
  arena_init(&arena, &c);
  if (catch_enter(&c)) {
    for (size_t bytes = 0; bytes < 3000; bytes += 37) {
      unsigned char *p = arena_alloc(&arena, bytes);
      assert_int_equal((uintptr_t)p % 16, 0);
      for (size_t i = 0; i < bytes; i++) assert_int_equal(p[i], 0);
      memset(p, 0xFF, bytes);
    }
    unsigned char *big = arena_alloc(&arena, 5 << 20);
    assert_int_equal(big[(5 << 20) - 1], 0);
    assert_string_equal(arena_printf(&arena, "%d-%s", 4, "x"), "4-x");
    assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
  } else {
    fail();
  }
  arena_dispose(&arena);
  assert_int_equal(arena.bytes, 0);
}

/* Also where chunks lie in memory that was written before. */
static void test_arena_clears_what_was_used(void **state) {
  (void)state;
  static const size_t sizes[] = {16, 100, 400, 3000, 40000, 200000};
  for (int turn = 0; turn < 4; turn++) {
    Catch c;
    Arena arena;
    arena_init(&arena, &c);
    if (catch_enter(&c)) {
      for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        unsigned char *written = arena_alloc_uncleared(&arena, sizes[k]);
        assert_int_equal((uintptr_t)written % 16, 0);
        memset(written, 0xFF, sizes[k]);
        unsigned char *cleared = arena_alloc(&arena, sizes[k]);
        assert_true(cleared >= written + sizes[k] || cleared + sizes[k] <= written);
        for (size_t i = 0; i < sizes[k]; i++) assert_int_equal(cleared[i], 0);
        memset(cleared, 0xFF, sizes[k]);
      }
    } else {
      fail();
    }
    arena_dispose(&arena);
  }
}

static void fill(void *argument) {
  for (;;) arena_alloc(argument, 1000);
}

static void test_arena_throws(void **state) {
  (void)state;
  Arena arena;
  arena_init(&arena, NULL);
  arena.max_bytes = 100000;
  Status status = arena_protect(&arena, fill, &arena);
  assert_int_equal(status->code, ERROR_OUT_OF_MEMORY);
  assert_true(arena.bytes <= 100000);
  assert_null(arena.catch_point);
  status_free(status);
  arena.max_bytes = 0;
  mem_fail_after(3);
  status = arena_protect(&arena, fill, &arena);
  mem_fail_after(0);
  assert_ptr_equal(status, status_out_of_memory());
  arena_dispose(&arena);
}

static void test_vec(void **state) {
  (void)state;
  VEC(int) v = {0};
  for (int i = 0; i < 1000; i++) assert_true(vec_push(&v, i));
  assert_int_equal(vec_last(&v), 999);
  assert_int_equal(vec_pop(&v), 999);
  assert_int_equal(v.data[500], 500);
  assert_false(vec_reserve(&v, SIZE_MAX / 2));
  assert_int_equal(v.length, 999);
  vec_dispose(&v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused_sizes),
      cmocka_unit_test(test_arena_is_zeroed_and_aligned),
      cmocka_unit_test(test_arena_clears_what_was_used),
      cmocka_unit_test(test_arena_throws),
      cmocka_unit_test(test_vec),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
