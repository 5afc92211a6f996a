/* Nothing may go to plan: recorded programs run while the n-th allocation fails, for every n. Each time the
 * right results come or an error that tells of memory; nothing leaks or stays broken: right after, the same program
 * gives them again.
 *
 * WICK_HARD_PROGRAMS says how many programs (20 by default), WICK_HARD_STEPS how many n for each (60). The programs are
 * the small ones of tests/program, evenly picked. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../src/cli/cli.h"
#include "base/base.h"
#include "executor/executor.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

enum { MAX_PROGRAMS = 1000, MAX_BYTES = 40000 };

typedef struct Program {
  char model[300], io[300];
} Program;
static Program programs[MAX_PROGRAMS];
static size_t program_count;

static int by_name(const void *a, const void *b) {
  return strcmp(((const Program *)a)->io, ((const Program *)b)->io);
}
static bool is_small(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && info.st_size < MAX_BYTES;
}

static int setup(void **state) {
  (void)state;
  DIR *folder = opendir("program");
  if (!folder) return -1;
  for (struct dirent *entry; (entry = readdir(folder)) && program_count < MAX_PROGRAMS;) {
    Str name = str_from(entry->d_name);
    if (!str_ends_with(name, ".io.pt") || name.length > 200) continue;
    Program *p = &programs[program_count];
    int stem = (int)name.length - 6;
    snprintf(p->io, sizeof p->io, "program/%s", entry->d_name);
    snprintf(p->model, sizeof p->model, "program/%.*s.py", stem, entry->d_name);
    if (access(p->model, R_OK)) snprintf(p->model, sizeof p->model, "program/%.*s.pt", stem, entry->d_name);
    program_count += is_small(p->model) && is_small(p->io);
  }
  closedir(folder);
  qsort(programs, program_count, sizeof *programs, by_name);
  return 0;
}

/* `wick check` of the program in this process; what it printed goes to *said. */
/* ---- one attempt: load, run every recorded call; allocations fail only within the library ---- */

static int64_t countdown; /* to the allocation that fails, while none is under way; 0: none */
#define WITH_FAILURES(call)      \
  do {                           \
    mem_fail_after(countdown);   \
    call;                        \
    executor_drain();            \
    countdown = mem_fail_left(); \
    mem_fail_after(0);           \
  } while (0)

static bool tells_of_memory(const wick_error *error) {
  return wick_error_status(error) == WICK_OUT_OF_MEMORY || strstr(wick_error_message(error), "memory");
}

/* NULL: right, or an error that may be. */
static const char *run_call(wick_module *module, const wick_value *call, char *difference, bool *failed) {
  enum { MOST = 40 };
  wick_value *args = wick_value_get_text(call, "args"), *kwargs = wick_value_get_text(call, "kwargs");
  wick_value *method = wick_value_get_text(call, "method"), *want = wick_value_get_text(call, "output");
  wick_value *copied = NULL, *values[MOST] = {0}, *keys[MOST] = {0}, *result = NULL;
  const char *names[MOST], *wrong = NULL;
  wick_error *error = NULL;
  size_t named = kwargs ? wick_value_length(kwargs) : 0, count = args ? wick_value_length(args) : 0;
  if (count + named <= MOST && wick_value_copy(args, &copied, NULL) == WICK_OK) {
    for (size_t i = 0; i < count; i++) values[i] = wick_value_item(copied, i);
    for (size_t i = 0; i < named; i++) {
      values[count + i] = wick_value_item(kwargs, i);
      names[i] = wick_value_to_string(keys[i] = wick_value_key(kwargs, i), NULL);
    }
    WITH_FAILURES(wick_run(module, wick_value_to_string(method, NULL), (const wick_value *const *)values, count + named,
                           names, named, NULL, &result, &error));
    const Tolerance tolerance = {.rtol = 1e-4, .atol = 1e-5, .scaled = true};
    if (want && result && !values_agree(result, want, &tolerance, "output", difference)) wrong = difference;
    if (want && error && !tells_of_memory(error)) wrong = strcpy(difference, "an error that doesn't tell of memory");
    *failed = want && error;
    if (want && error && wrong) print_error("%s\n", wick_error_message(error));
  }
  for (size_t i = 0; i < MOST; i++) wick_value_release(values[i]), wick_value_release(keys[i]);
  wick_error_free(error);
  wick_value *all[] = {args, kwargs, method, want, copied, result};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_value_release(all[i]);
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
    wrong = run_call(module, call, difference, &failed);
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

static int64_t setting(const char *name, int64_t fallback) {
  const char *text = getenv(name);
  int64_t value;
  return text && str_to_int64(str_from(text), 10, &value) ? value : fallback;
}

static int64_t check_program(const Program *p, int64_t first, int64_t steps) {
  wick_value *io = NULL;
  if (wick_load_value(NULL, p->io, NULL, &io, NULL)) return 1;
  wick_value *calls = wick_value_get_text(io, "calls");
  int64_t wrong = 0, many = (int64_t)1 << 30;
  char difference[DIFFERENCE_BYTES];
  countdown = 0;
  if (calls && !attempt(p, calls, difference)) { /* everything that is made once is there after this */
    wrong += !check(p, calls, many);
    int64_t total = many - countdown, step = total / steps + 1;
    for (int64_t n = 1 + first % step; n <= total && wrong < 10; n += step)
      if (!check(p, calls, n) || !check(p, calls, 0)) {
        print_error("(at allocation %lld)\n", (long long)n);
        wrong++;
      }
  }
  wick_value_release(calls);
  wick_value_release(io);
  return wrong;
}

static void test_refused_allocations(void **state) {
  (void)state;
  int64_t wanted = setting("WICK_HARD_PROGRAMS", 20), steps = setting("WICK_HARD_STEPS", 60), wrong = 0;
  if (wanted > (int64_t)program_count) wanted = (int64_t)program_count;
  for (int64_t k = 0; k < wanted && wrong < 20; k++) {
    const Program *p = &programs[(size_t)k * program_count / (size_t)wanted];
    wrong += check_program(p, k, steps);
#if defined(__SANITIZE_ADDRESS__)
    if (__lsan_do_recoverable_leak_check()) {
      print_error("%s leaks\n", p->model);
      wrong++;
    }
#endif
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused_allocations)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
