#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "log_fixture.h"
#include "report/jit_log.h"

static void test_levels(void **state) {
  (void)state;
  jit_log_configure("peephole:>loop_unrolling.cpp:>>guards", "");
  assert_true(jit_log_enabled("peephole", JIT_DUMP));
  assert_false(jit_log_enabled("peephole", JIT_UPDATE));
  assert_true(jit_log_enabled("loop_unrolling", JIT_UPDATE));
  assert_false(jit_log_enabled("loop_unrolling", JIT_DEBUG));
  assert_true(jit_log_enabled("guards", JIT_DEBUG));
  assert_false(jit_log_enabled("guard", JIT_DUMP));
  jit_log_configure("", "");
  assert_false(jit_log_enabled("peephole", JIT_DUMP));
}

static void test_every_line_has_its_prefix(void **state) {
  (void)state;
  jit_log_configure(">peephole", "");
  jit_log_write("peephole", 7, JIT_UPDATE, STR("one\ntwo\n"));
  assert_string_equal(heard.data, "[UPDATE peephole.cpp:007] one\n[UPDATE peephole.cpp:007] two\n");
}

static void test_opt_limit(void **state) {
  (void)state;
  jit_log_configure("", "peephole=2:cse.cpp=0:nonsense:x=y");
  assert_true(jit_opt_limit("peephole"));
  assert_true(jit_opt_limit("peephole"));
  assert_false(jit_opt_limit("peephole"));
  assert_false(jit_opt_limit("cse"));
  for (int i = 0; i < 10; i++) assert_true(jit_opt_limit("inliner"));
  jit_log_configure("", "peephole=1");
  assert_true(jit_opt_limit("peephole"));
  assert_false(jit_opt_limit("peephole"));
}

static void test_one_refusal(void **state) {
  (void)state;
  jit_opt_refuse(3);
  assert_true(jit_opt_limit("peephole"));
  assert_int_equal(jit_opt_refuse_left(), 2);
  assert_true(jit_opt_limit("cse"));
  assert_false(jit_opt_limit("peephole"));
  for (int i = 0; i < 10; i++) assert_true(jit_opt_limit("peephole"));
  jit_opt_refuse(0);
  assert_true(jit_opt_limit("peephole"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_levels, log_begin, log_end),
      cmocka_unit_test_setup_teardown(test_every_line_has_its_prefix, log_begin, log_end),
      cmocka_unit_test_setup_teardown(test_opt_limit, log_begin, log_end),
      cmocka_unit_test_setup_teardown(test_one_refusal, log_begin, log_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
