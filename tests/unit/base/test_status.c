/* Errors: codes, context, trace, and the one that needs no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/memory.h"

static void test_message_and_class(void **state) {
  (void)state;
  Status status = status_new(ERROR_COMPILE, "no %s here", "x");
  assert_int_equal(status->code, ERROR_COMPILE);
  assert_string_equal(status->message, "no x here");
  assert_string_equal(status->exception, "RuntimeError");
  status = status_context(status, "file %d", 3);
  assert_string_equal(status->message, "file 3: no x here");
  status = status_add_trace(status, "a\n");
  status = status_add_trace(status, "b\n");
  assert_string_equal(status->trace, "a\nb\n");
  status_free(status);
  status = status_exception("IndexError", "%d", 7);
  assert_int_equal(status->code, ERROR_RUNTIME);
  assert_string_equal(status->exception, "IndexError");
  status_free(status);
}

/* A mistake of wick's own names the line that noticed it, and no folder of the machine it was built on. */
static void test_internal(void **state) {
  (void)state;
  int line = __LINE__ + 1;
  Status status = status_internal("%d of %s", 2, "three");
  assert_int_equal(status->code, ERROR_INTERNAL);
  assert_string_equal(status->exception, "RuntimeError");
  char wanted[64];
  snprintf(wanted, sizeof wanted, "test_status.c:%d: 2 of three", line);
  assert_string_equal(status->message, wanted);
  status_free(status);
}

static void test_without_memory(void **state) {
  (void)state;
  for (int n = 1; n <= 2; n++) {
    mem_fail_after(n);
    Status status = status_new(ERROR_DATA, "lost");
    mem_fail_after(0);
    assert_ptr_equal(status, status_out_of_memory());
    assert_ptr_equal(status_context(status, "more"), status);
    assert_ptr_equal(status_add_trace(status, "more"), status);
    status_free(status);
  }
  Status status = status_new(ERROR_DATA, "kept");
  mem_fail_after(1);
  status = status_context(status, "lost");
  mem_fail_after(0);
  assert_string_equal(status->message, "kept");
  status_free(status);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_message_and_class), cmocka_unit_test(test_internal),
                                     cmocka_unit_test(test_without_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
