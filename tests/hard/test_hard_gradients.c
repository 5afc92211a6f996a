/* Gradients where nothing goes to plan: functions whose results and gradients PyTorch recorded (tests/autodiff) run and
 * are differentiated, eagerly and in plans with differentiable graphs, while the n-th allocation fails, while a guard
 * fails that holds, while a rewrite is refused, for every one. Each time the recorded values come, or an error that
 * tells of memory; nothing leaks, and after an error the same module gives the recorded values.
 *
 * WICK_HARD_PROGRAMS says how many functions (20 by default), WICK_HARD_STEPS how many refusals for each (4),
 * WICK_HARD_CASE the name of the only one. */
#include "hard.h"

#include "report/jit_log.h"
#include "wick/autograd.h"

enum {
  MAX_CASES = 400,
  MAX_TENSORS = 8,
  TURNS = 4, /* watched; a plan whose backward graph is watched; a plan with one, twice */
  DEFAULT_STEPS = 4
};

typedef struct Case {
  wick_value *record, *arguments, *requires, *outputs, *seeds, *grads;
  const char *name, *text;
} Case;
static Case cases[MAX_CASES];
static size_t case_count;
static wick_value *records[3];

static wick_value *field(const wick_value *record, const char *name) {
  wick_value *value = wick_value_get_text(record, name);
  assert_non_null(value);
  return value;
}

static const char *text_field(const wick_value *record, const char *name) { /* the record keeps it */
  wick_value *value = field(record, name);
  const char *text = wick_value_to_string(value, NULL);
  wick_value_release(value);
  return text;
}

static bool is_true(const wick_value *list, size_t i) {
  wick_value *item = wick_value_item(list, i);
  bool truth = wick_value_to_bool(item);
  wick_value_release(item);
  return truth;
}

static void case_dispose(Case *c) {
  wick_value *all[] = {c->record, c->arguments, c->requires, c->outputs, c->seeds, c->grads};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_value_release(all[i]);
}

/* Takes over `record`. */
static void read_case(wick_value *record) {
  const char *only = getenv("WICK_HARD_CASE");
  wick_value *random = field(record, "random");
  Case *c = &cases[case_count];
  assert_true(case_count < MAX_CASES);
  *c = (Case){.record = record, .name = text_field(record, "name"), .text = text_field(record, "text")};
  c->arguments = field(record, "arguments");
  c->requires = field(record, "requires_grad");
  c->outputs = field(record, "outputs");
  c->seeds = field(record, "seeds");
  c->grads = field(record, "grads");
  if (wick_value_to_bool(random) || (only && strcmp(only, c->name)))
    case_dispose(c);
  else
    case_count++;
  wick_value_release(random);
}

static int read_cases(void **state) {
  static const char *const files[] = {"data/hard_gradients.pt", "data/pass_gradients.pt", "data/check_ad.pt"};
  (void)state;
  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    if (wick_load_value(NULL, files[f], NULL, &records[f], NULL)) return -1;
    for (size_t i = 0; i < wick_value_length(records[f]); i++) read_case(wick_value_item(records[f], i));
  }
  return 0;
}

/* ---- one turn: a call, the gradients of its results ---- */

typedef struct Turn {
  const Case *c;
  wick_module *module;
  char *difference;
  wick_value *arguments[MAX_TENSORS], *wanted[MAX_TENSORS]; /* all; those that require grad, borrowed */
  wick_value *roots[MAX_TENSORS], *seeds[MAX_TENSORS];
  size_t count, wanted_count, root_count;
} Turn;

static void turn_begin(Turn *t) {
  wick_value *copy = NULL;
  assert_int_equal(wick_value_copy(t->c->arguments, &copy, NULL), WICK_OK);
  t->count = wick_value_length(copy);
  assert_true(t->count <= MAX_TENSORS);
  for (size_t i = 0; i < t->count; i++) {
    t->arguments[i] = wick_value_item(copy, i);
    if (!is_true(t->c->requires, i)) continue;
    assert_int_equal(wick_tensor_set_requires_grad(t->arguments[i], 1, NULL), WICK_OK);
    t->wanted[t->wanted_count++] = t->arguments[i];
  }
  wick_value_release(copy);
}

static void turn_end(Turn *t) {
  for (size_t i = 0; i < MAX_TENSORS; i++) {
    wick_value_release(t->arguments[i]);
    wick_value_release(t->roots[i]);
    wick_value_release(t->seeds[i]);
  }
}

static bool agrees(const Turn *t, const wick_value *got, const wick_value *list, size_t i, const char *what) {
  static const Tolerance tolerance = {.rtol = 1e-5, .atol = 1e-7, .scaled = true};
  wick_value *want = wick_value_item(list, i);
  char where[40];
  snprintf(where, sizeof where, "%s %zu", what, i);
  bool fine = want && values_agree(got, want, &tolerance, where, t->difference);
  wick_value_release(want);
  return fine;
}

/* Compares the results and notes those that can be differentiated. */
static bool take_results(Turn *t, wick_value *result) {
  bool several = wick_value_kind(result) == WICK_TUPLE, fine = true;
  size_t count = several ? wick_value_length(result) : 1;
  for (size_t i = 0; i < count && fine; i++) {
    wick_value *one = several ? wick_value_item(result, i) : wick_value_retain(result);
    wick_tensor_view view = {.size = sizeof view};
    fine = agrees(t, one, t->c->outputs, i, "result") && t->root_count < MAX_TENSORS;
    if (fine && !wick_tensor_view_of(one, &view, NULL) && view.flags & WICK_TENSOR_REQUIRES_GRAD) {
      t->seeds[t->root_count] = wick_value_item(t->c->seeds, t->root_count);
      t->roots[t->root_count++] = one;
    } else {
      wick_value_release(one);
    }
  }
  if (fine && t->root_count != wick_value_length(t->c->seeds)) {
    snprintf(t->difference, DIFFERENCE_BYTES, "%zu results require grad", t->root_count);
    fine = false;
  }
  return fine;
}

static size_t element_count(const wick_value *tensor) {
  wick_tensor_view view = {.size = sizeof view};
  size_t count = 1;
  assert_int_equal(wick_tensor_view_of(tensor, &view, NULL), WICK_OK);
  for (int32_t d = 0; d < view.ndim; d++) count *= (size_t)view.sizes[d];
  return count;
}

static bool compare_gradient(const Turn *t, const wick_value *got, size_t i) {
  wick_value *want = wick_value_item(t->c->grads, i);
  bool none = element_count(want) == 0 && element_count(t->wanted[i]) != 0; /* how "none" is recorded */
  wick_value_release(want);
  if (none) return true;
  if (!got) snprintf(t->difference, DIFFERENCE_BYTES, "no gradient %zu", i);
  return got && agrees(t, got, t->c->grads, i, "gradient");
}

/* By wick_backward, or by wick_grad. */
static bool differentiate_results(Turn *t, bool accumulate, wick_error **error) {
  const wick_value *const *roots = (const wick_value *const *)t->roots, *const *seeds =
                                                                            (const wick_value *const *)t->seeds;
  wick_value *grads[MAX_TENSORS] = {NULL};
  if (accumulate) {
    WITH_FAILURES(wick_backward(NULL, roots, seeds, t->root_count, 0, error));
    for (size_t i = 0; i < t->wanted_count && !*error; i++)
      assert_int_equal(wick_tensor_grad(t->wanted[i], &grads[i], NULL), WICK_OK);
  } else {
    WITH_FAILURES(wick_grad(NULL, roots, seeds, t->root_count, (const wick_value *const *)t->wanted, t->wanted_count,
                            WICK_ALLOW_UNUSED, grads, error));
  }
  bool fine = true;
  for (size_t i = 0; i < t->wanted_count; i++) {
    fine = fine && (*error || compare_gradient(t, grads[i], i));
    wick_value_release(grads[i]);
  }
  return fine;
}

typedef enum { RIGHT, REFUSED, WRONG, LACKING /* the build has not what the function needs */ } Verdict;

static Verdict take_turn(const Case *c, wick_module *module, int number, char *difference) {
  static const wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
  Turn t = {.c = c, .module = module, .difference = difference};
  wick_value *result = NULL;
  wick_error *error = NULL;
  turn_begin(&t);
  WITH_FAILURES(
      wick_run(module, "f", (const wick_value *const *)t.arguments, t.count, NULL, 0, &options, &result, &error));
  bool fine = error || take_results(&t, result);
  if (fine && !error && t.root_count) fine = differentiate_results(&t, number % 2 == 0, &error);
  Verdict verdict = !fine ? WRONG : error ? REFUSED : RIGHT;
  if (error && strstr(wick_error_message(error), "this build has no")) {
    verdict = LACKING;
  } else if (error && !tells_of_memory(error)) {
    snprintf(difference, DIFFERENCE_BYTES, "%.400s", wick_error_message(error));
    verdict = WRONG;
  }
  wick_error_free(error);
  wick_value_release(result);
  turn_end(&t);
  return verdict;
}

static Verdict take_turns(const Case *c, wick_module *module, char *difference) {
  Verdict verdict = RIGHT;
  for (int k = 0; k < TURNS && verdict == RIGHT; k++) verdict = take_turn(c, module, k, difference);
  return verdict;
}

/* In a module of its own; `n` is the allocation that fails. */
static Verdict attempt(const Case *c, const ExecutorOptions *options, int64_t n, const char *what) {
  char difference[DIFFERENCE_BYTES] = "";
  wick_module *module;
  wick_error *error = NULL;
  assert_null(executor_choose(runtime_of_process(), options));
  if (wick_compile(NULL, c->text, strlen(c->text), "case.py", &module, &error))
    fail_msg("%s: %s", c->name, wick_error_message(error));
  countdown = n;
  Verdict verdict = take_turns(c, module, difference);
  if (verdict == REFUSED && n) {
    int64_t left = countdown;
    countdown = 0;
    Verdict again = take_turns(c, module, difference);
    verdict = again == RIGHT ? REFUSED : again == REFUSED ? WRONG : again;
    countdown = left;
  }
  wick_module_release(module);
  if (verdict == WRONG || (verdict == REFUSED && !n))
    print_error("%s, %s, %s %lld: %s\n", c->name, executor_mode_name(options->mode), what, (long long)n, difference);
  return verdict == REFUSED && !n ? WRONG : verdict;
}

/* ---- every place at which something can go wrong ---- */

static const ExecutorOptions *const ways[] = {&simple, &profiling, &specializing};
enum { WAY_COUNT = sizeof ways / sizeof *ways };

/* Every case that WICK_HARD_PROGRAMS asks for, evenly picked; `check` answers how often it went wrong. */
static void check_cases(int64_t (*check_case)(const Case *c, int64_t number)) {
  int64_t wanted = wanted_programs(case_count), wrong = 0;
  for (int64_t k = share_first(); k < wanted && wrong < MAX_WRONG; k += share_step()) {
    const Case *c = &cases[(size_t)k * case_count / (size_t)wanted];
    wrong += check_case(c, k);
    wrong += leaks(c->name);
  }
  assert_int_equal(wrong, 0);
}

static int64_t check_allocations(const Case *c, int64_t number) {
  int64_t wrong = 0, steps = setting("WICK_HARD_STEPS", DEFAULT_STEPS);
  for (int way = 0; way < WAY_COUNT; way++) {
    /* formulas, bodies and the like are compiled once, and that may fail too */
    for (int64_t n = 1 + number % 7; n < 4000 && wrong < 5; n += n / (steps < 16 ? 2 : 8) + 1)
      wrong += attempt(c, ways[way], n, "before all is compiled, refused allocation") == WRONG;
    Verdict verdict = attempt(c, ways[way], 0, "refused allocation");
    if (verdict == LACKING) return wrong;
    wrong += verdict == WRONG || attempt(c, ways[way], MANY, "allocation") != RIGHT;
    int64_t total = MANY - countdown, step = total / steps + 1;
    for (int64_t n = 1 + number % step; n <= total && wrong < 5; n += step)
      wrong += attempt(c, ways[way], n, "refused allocation") == WRONG;
  }
  return wrong;
}

static void test_refused_allocations(void **state) {
  (void)state;
  check_cases(check_allocations);
}

static uint64_t forced;

static int64_t check_guards(const Case *c, int64_t number) {
  (void)number;
  /* guards that may stand in a row where no run comes by; of all there are */
  enum { UNUSED_GUARDS = 4, MAX_GUARDS = 200 };
  ExecutorOptions options = profiling;
  int64_t wrong = 0;
  uint64_t before = bailouts();
  if (attempt(c, &options, 0, "no guard forced") == LACKING) return 0;
  uint64_t natural = bailouts() - before;
  int unused = 0;
  for (options.force_guard = 1; options.force_guard <= MAX_GUARDS && unused < UNUSED_GUARDS && wrong < 5;
       options.force_guard++) {
    before = bailouts();
    wrong += attempt(c, &options, 0, "a guard forced to fail") != RIGHT;
    bool is_used = bailouts() - before > natural;
    unused = is_used ? 0 : unused + 1;
    forced += is_used;
  }
  options.force_guard = UINT32_MAX;
  return wrong + (attempt(c, &options, 0, "all guards forced to fail") != RIGHT);
}

static void test_forced_bailouts(void **state) {
  (void)state;
  forced = 0;
  check_cases(check_guards);
  assert_true(forced > 0 || wanted_programs(case_count) < 10); /* not every function has guards */
}

static int64_t check_rewrites(const Case *c, int64_t number) {
  int64_t wrong = 0, steps = setting("WICK_HARD_STEPS", DEFAULT_STEPS);
  if (attempt(c, &simple, 0, "plain") == LACKING) return 0;
  for (int way = 1; way < WAY_COUNT; way++) {
    jit_opt_refuse(MANY);
    wrong += attempt(c, ways[way], 0, "plain") != RIGHT;
    int64_t total = MANY - jit_opt_refuse_left(), step = total / steps + 1;
    for (int64_t n = 1 + number % step; n <= total && wrong < 5; n += step) {
      jit_opt_refuse(n);
      if (attempt(c, ways[way], 0, "a rewrite refused") == RIGHT) continue;
      print_error("(rewrite %lld)\n", (long long)n);
      wrong++;
    }
  }
  jit_opt_refuse(0);
  return wrong;
}

static void test_refused_rewrites(void **state) {
  (void)state;
  check_cases(check_rewrites);
}

static int release_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < case_count; i++) case_dispose(&cases[i]);
  for (size_t f = 0; f < sizeof records / sizeof *records; f++) wick_value_release(records[f]);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_forced_bailouts), cmocka_unit_test(test_refused_rewrites),
                                     cmocka_unit_test(test_refused_allocations)};
  return cmocka_run_group_tests(tests, read_cases, release_cases);
}
