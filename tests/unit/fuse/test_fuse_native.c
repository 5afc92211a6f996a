/* Groups by machine code: it takes a group over when it is made, gives the operators' bits, and goes with what back
 * ends hold; where the system refuses executable memory, the reason is counted and the interpreter goes on. */
#include "fuse_fixture.h"

#include "base/machine_code.h"
#include "base/queue.h"
#include "fuse/compiled.h"
#include "native/native_kernel.h"

static const char text[] =
    "graph(%a : Tensor, %b : Tensor):\n  %one : int = prim::Constant[value=1]()\n"
    "  %x : Tensor = aten::mul(%a, %b)\n  %y : Tensor = aten::add(%x, %b, %one)\n"
    "  %z : Tensor = aten::tanh(%y)\n  %w : Tensor = aten::sub(%z, %a, %one)\n  return (%w)\n";

static const DType floats[] = {DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_FLOAT16, DTYPE_BFLOAT16};
enum { DTYPES = sizeof floats / sizeof *floats };

typedef struct Case {
  Pair pair;
  Exec exec;
  IValue inputs[DTYPES][2];
} Case;

static void begin(Case *c) {
  Random random = {1};
  if (!native_is_there()) {
    print_message("this processor has no native code\n");
    skip();
  }
  pair_make(&c->pair, text);
  exec_init(&c->exec, NULL);
  c->exec.backend = BACKEND_NATIVE;
  for (int i = 0; i < DTYPES; i++) {
    c->inputs[i][0] = ivalue_tensor(dense(floats[i], 2, (int64_t[]){9, 131}, &random));
    c->inputs[i][1] = ivalue_tensor(dense(floats[i], 2, (int64_t[]){i % 2 ? 9 : 1, i % 2 ? 1 : 131}, &random));
  }
}

static void call_all(Case *c) {
  for (int i = 0; i < DTYPES; i++) check_run(&c->pair, &c->exec, text, c->inputs[i]);
}

static void end(Case *c) {
  for (int i = 0; i < DTYPES; i++)
    for (int k = 0; k < 2; k++) ivalue_release(c->inputs[i][k]);
  pair_dispose(&c->pair);
  assert_int_equal(fuse_held().count, 0);
  assert_int_equal(machine_code_held(), 0);
}

static void test_code_takes_over_and_goes(void **state) {
  (void)state;
  Case c;
  nans_are_equal = true;
  begin(&c);
  call_all(&c);
  queue_drain();
  assert_int_equal(fuse_held().count, DTYPES);
  assert_true(machine_code_held() > 0);
  call_all(&c);
  assert_int_equal(c.pair.group->runs, 2 * DTYPES);
  assert_true(fuse_trim() > 0);
  assert_int_equal(fuse_held().count, 0);
  assert_int_equal(machine_code_held(), 0);
  call_all(&c);
  queue_drain();
  assert_int_equal(fuse_held().count, DTYPES);
  call_all(&c);
  end(&c);
}

/* What was asked for until the first was refused failed; nobody asks for more then. */
static uint64_t refusals(void) {
  return reason_count(REASON_NOT_COMPILED_FAILED) + reason_count(REASON_NOT_COMPILED_MACHINE);
}

static void test_a_refusal_leaves_the_interpreter(void **state) {
  (void)state;
  Case c;
  begin(&c);
  uint64_t before = refusals();
  machine_code_refuse(MACHINE_CODE_REFUSE_MEMFD | MACHINE_CODE_REFUSE_PROTECT);
  call_all(&c);
  queue_drain();
  assert_int_equal(fuse_held().count, 0);
  assert_false(native_is_there());
  assert_int_equal(refusals(), before + DTYPES);
  call_all(&c);
  assert_int_equal(c.pair.group->runs, 2 * DTYPES);
  machine_code_refuse(0);
  assert_true(native_is_there());
  end(&c);
}

/* Without a memfd each kernel has pages of its own. */
static void test_code_without_memfd(void **state) {
  (void)state;
  Case c;
  begin(&c);
  machine_code_refuse(MACHINE_CODE_REFUSE_MEMFD);
  call_all(&c);
  queue_drain();
  assert_int_equal(fuse_held().count, DTYPES);
  call_all(&c);
  machine_code_refuse(0);
  end(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_code_takes_over_and_goes),
      cmocka_unit_test(test_a_refusal_leaves_the_interpreter),
      cmocka_unit_test(test_code_without_memfd),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
