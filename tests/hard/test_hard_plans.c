/* Optimization may go wrong at any place: recorded programs run in plans of which one guard fails though it holds, for
 * every guard, and in plans for which one rewrite is refused, for every rewrite. Results, errors and changes of
 * arguments stay those of the simple executor.
 *
 * WICK_HARD_PROGRAMS says how many programs (20 by default), WICK_HARD_STEPS how many refusals for each (60). */
#include "programs.h"

#include "api/find.h"
#include "report/jit_log.h"

enum { TIMES = 3 /* a call is profiled, then runs in a plan, which a guard may leave */, MAX_OUTCOMES = 300 };

/* What a call left: a tuple of its result and its arguments; NULL: an error. */
typedef struct Outcomes {
  wick_value *values[MAX_OUTCOMES];
  size_t count;
  uint32_t guards; /* the most that a plan had */
} Outcomes;

static void outcomes_dispose(Outcomes *o) {
  for (size_t i = 0; i < o->count; i++) wick_value_release(o->values[i]);
  *o = (Outcomes){0};
}

static uint32_t count_guards(const wick_module *module, const char *method) {
  Function *function;
  StrBuf text = {0};
  uint32_t count = 0;
  Status status = module_find(module, method, &function);
  if (!status) executor_print_plans(function, false, &text);
  status_free(status);
  for (const char *at = text.length ? text.data : ""; (at = strstr(at, "prim::BailOut[")); at++) count++;
  strbuf_dispose(&text);
  return count;
}

static wick_value *outcome_of(const RecordedCall *call, wick_value *result) {
  wick_value *outcome = NULL;
  if (result)
    assert_int_equal(wick_value_tuple((const wick_value *const[]){result, call->copied}, 2, &outcome, NULL), WICK_OK);
  return outcome;
}

/* Every recorded call a few times, on arguments of its own; state carries over. False: it does not load. */
static bool run_all(const Program *p, const wick_value *calls, const ExecutorOptions *options, Outcomes *out) {
  static const ModelOptions plain = {0};
  wick_error *error = NULL;
  assert_null(executor_choose(runtime_of_process(), options));
  *out = (Outcomes){0};
  wick_module *module = model_open(p->model, &plain, &error);
  for (size_t i = 0; module && i < wick_value_length(calls); i++) {
    wick_value *recorded = wick_value_item(calls, i);
    for (int k = 0; k < TIMES && out->count < MAX_OUTCOMES; k++) {
      RecordedCall call;
      wick_value *result = NULL;
      call_begin(recorded, &call);
      if (call.copied) {
        call_make(p, module, &call, &result, NULL);
        out->values[out->count++] = outcome_of(&call, result);
        uint32_t guards = count_guards(module, wick_value_to_string(call.method, NULL));
        if (guards > out->guards) out->guards = guards;
      }
      wick_value_release(result);
      call_end(&call);
    }
    wick_value_release(recorded);
  }
  wick_error_free(error);
  wick_module_release(module);
  return module != NULL;
}

static bool same(const Program *p, const Outcomes *want, const Outcomes *got, const char *way, int64_t n) {
  static const Tolerance tolerance = {.rtol = 1e-4, .atol = 1e-5, .scaled = true};
  char difference[DIFFERENCE_BYTES] = "another number of calls";
  bool fine = want->count == got->count;
  for (size_t i = 0; i < want->count && fine; i++) {
    const wick_value *a = want->values[i], *b = got->values[i];
    snprintf(difference, sizeof difference, "call %zu fails only in one of them", i);
    fine = (a == NULL) == (b == NULL) && (!a || values_agree(b, a, &tolerance, "result and arguments", difference));
  }
  if (!fine && way) print_error("%s, %s %lld: %s\n", p->model, way, (long long)n, difference);
  return fine;
}

/* What the simple executor gives; false: nothing to compare with, since it is not the same twice. */
static bool expect(const Program *p, const wick_value *calls, Outcomes *out) {
  Outcomes again;
  if (!run_all(p, calls, &simple, out)) return false;
  run_all(p, calls, &simple, &again);
  bool fine = same(p, out, &again, NULL, 0);
  outcomes_dispose(&again);
  if (!fine) outcomes_dispose(out);
  return fine;
}

static int64_t check_way(const Program *p, const wick_value *calls, const ExecutorOptions *options,
                         const Outcomes *want, const char *way, int64_t n, uint32_t *out_guards) {
  Outcomes got;
  bool fine = run_all(p, calls, options, &got) ? same(p, want, &got, way, n) : false;
  if (out_guards) *out_guards = got.guards;
  outcomes_dispose(&got);
  return !fine;
}

/* ---- guards ---- */

static uint64_t forced;

static int64_t check_guards(const Program *p, const wick_value *calls, int64_t number) {
  (void)number;
  Outcomes want;
  uint32_t guards = 0;
  if (!expect(p, calls, &want)) return 0;
  ExecutorOptions options = profiling;
  int64_t wrong = check_way(p, calls, &options, &want, "no guard forced", 0, &guards);
  uint64_t before = bailouts();
  for (options.force_guard = 1; options.force_guard <= guards && wrong < 5; options.force_guard++)
    wrong += check_way(p, calls, &options, &want, "guard forced to fail:", options.force_guard - 1, NULL);
  options.force_guard = UINT32_MAX;
  if (guards) wrong += check_way(p, calls, &options, &want, "all guards forced to fail of", guards, NULL);
  forced += bailouts() - before;
  outcomes_dispose(&want);
  return wrong;
}

static void test_forced_bailouts(void **state) {
  (void)state;
  forced = 0;
  check_programs(check_guards);
  assert_true(forced > 0);
}

/* ---- rewrites ---- */

static int64_t refused;

static int64_t check_rewrites(const Program *p, const wick_value *calls, int64_t number) {
  static const ExecutorOptions *const ways[] = {&profiling, &specializing};
  int64_t wrong = 0, steps = setting("WICK_HARD_STEPS", 60);
  Outcomes want;
  if (!expect(p, calls, &want)) return 0;
  for (int way = 0; way < 2; way++) {
    jit_opt_refuse(MANY);
    wrong += check_way(p, calls, ways[way], &want, executor_mode_name(ways[way]->mode), 0, NULL);
    int64_t total = MANY - jit_opt_refuse_left(), step = total / steps + 1;
    for (int64_t n = 1 + number % step; n <= total && wrong < 5; n += step) {
      jit_opt_refuse(n);
      wrong +=
          check_way(p, calls, ways[way], &want, way ? "specializing, rewrite refused:" : "rewrite refused:", n, NULL);
      refused += !jit_opt_refuse_left();
    }
  }
  jit_opt_refuse(0);
  outcomes_dispose(&want);
  return wrong;
}

static void test_refused_rewrites(void **state) {
  (void)state;
  refused = 0;
  check_programs(check_rewrites);
  assert_true(refused > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_forced_bailouts), cmocka_unit_test(test_refused_rewrites)};
  return cmocka_run_group_tests(tests, find_programs, NULL);
}
