/* A profiler's or a debugger's way from a kernel of the program's through wick's frames back to the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <unwind.h>

#include "wick/wick.h"

static uintptr_t caller; /* where run_program returns to */
static int depth, found_at;

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *frame, void *unused) {
  (void)unused;
  if (_Unwind_GetIP(frame) == caller) found_at = depth;
  depth++;
  return _URC_NO_REASON;
}

static wick_status look_back(void *user, wick_call *call, wick_error **error) {
  (void)user, (void)error;
  depth = found_at = 0;
  _Unwind_Backtrace(look_at_frame, NULL);
  wick_value *argument = wick_call_argument(call, 0);
  wick_call_set_result(call, 0, argument);
  wick_value_release(argument);
  return WICK_OK;
}

static __attribute__((noinline)) wick_status run_program(wick_module *module, wick_value *input) {
  caller = (uintptr_t)__builtin_return_address(0);
  wick_value *output = NULL;
  wick_status status = wick_run(module, "forward", (const wick_value *const[]){input}, 1, NULL, 0, NULL, &output, NULL);
  wick_value_release(output);
  return status;
}

/* As written, and in a plan. */
static void kernels_see_their_caller(void **state) {
  (void)state;
  static const char text[] =
      "def inner(x: int) -> int:\n    return torch.ops.test_backtrace.look_back(x) + 1\n"
      "def forward(x: int) -> int:\n    return inner(x) * 2\n";
  assert_int_equal(wick_op_register("test_backtrace::look_back(int x) -> int", look_back, NULL, NULL), WICK_OK);
  wick_module *module = NULL;
  assert_int_equal(wick_compile(NULL, text, strlen(text), "backtrace.py", &module, NULL), WICK_OK);
  wick_value *input = wick_value_int(3);
  for (int call = 0; call < 4; call++) {
    assert_int_equal(run_program(module, input), WICK_OK);
    assert_true(depth > 4);
    assert_true(found_at > 2);
    wick_wait_for_plans();
  }
  wick_value_release(input);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_see_their_caller)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
