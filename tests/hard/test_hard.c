/* Nothing may go to plan: recorded programs run while the n-th allocation fails, for every n. Each time the
 * right results come or an error that tells of memory; nothing leaks or stays broken: right after, the same program
 * gives them again.
 *
 * WICK_HARD_PROGRAMS says how many programs (20 by default), WICK_HARD_STEPS how many n for each (60). The programs are
 * the small ones of tests/program, evenly picked. */
#include "programs.h"

/* ---- one attempt: load, run every recorded call ---- */

/* NULL: right, or an error that may be. */
static const char *run_call(const Program *p, wick_module *module, const wick_value *recorded, char *difference,
                            bool *failed) {
  const Tolerance tolerance = {.rtol = 1e-4, .atol = 1e-5, .scaled = true};
  const char *wrong = NULL;
  wick_value *result = NULL;
  wick_error *error = NULL;
  RecordedCall call;
  call_begin(recorded, &call);
  if (call.copied) {
    WITH_FAILURES(call_make(p, module, &call, &result, &error));
    if (call.output && result && !values_agree(result, call.output, &tolerance, "output", difference))
      wrong = difference;
    if (call.output && error && !tells_of_memory(error))
      wrong = strcpy(difference, "an error that doesn't tell of memory");
    *failed = call.output && error;
    if (wrong && error) print_error("%s\n", wick_error_message(error));
  }
  call_end(&call);
  wick_error_free(error);
  wick_value_release(result);
  return wrong;
}

static const char *attempt(const Program *p, const wick_value *calls, char *difference) {
  static const ModelOptions plain = {0};
  wick_error *error = NULL;
  wick_module *module;
  const char *wrong = NULL;
  bool failed = false;
  WITH_FAILURES(module = model_open(p->model, &plain, &error));
  if (!module && !tells_of_memory(error)) {
    wrong = strcpy(difference, "an error at loading that doesn't tell of memory");
    print_error("%s\n", wick_error_message(error));
  }
  for (size_t i = 0; module && !wrong && !failed && i < wick_value_length(calls); i++) { /* state carries over */
    wick_value *call = wick_value_item(calls, i);
    wrong = run_call(p, module, call, difference, &failed);
    wick_value_release(call);
  }
  wick_error_free(error);
  wick_module_release(module);
  return wrong;
}

static bool check(const Program *p, const wick_value *calls, int64_t n) {
  char difference[DIFFERENCE_BYTES];
  countdown = n;
  const char *wrong = attempt(p, calls, difference);
  if (wrong) print_error("%s, allocation %lld refused: %s\n", p->model, (long long)n, wrong);
  return wrong == NULL;
}

static int64_t check_program(const Program *p, const wick_value *calls, int64_t first) {
  int64_t wrong = 0, steps = setting("WICK_HARD_STEPS", 60);
  char difference[DIFFERENCE_BYTES];
  countdown = 0;
  if (attempt(p, calls, difference)) return 0; /* everything that is made once is there after this */
  wrong += !check(p, calls, MANY);
  int64_t total = MANY - countdown, step = total / steps + 1;
  for (int64_t n = 1 + first % step; n <= total && wrong < 10; n += step)
    if (!check(p, calls, n) || !check(p, calls, 0)) {
      print_error("(at allocation %lld)\n", (long long)n);
      wrong++;
    }
  return wrong;
}

static void test_refused_allocations(void **state) {
  (void)state;
  check_programs(check_program);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused_allocations)};
  return cmocka_run_group_tests(tests, find_programs, NULL);
}
