/* Whether a program does in every executor what the simple one, which runs it as written, does. A program has
 *
 *   def make() -> S                    its state
 *   def change(s: S, k: int) -> None   before call k
 *   def args(k: int) -> Tuple[...]     what call k is given besides the state
 *   def f(s: S, ...)                   what is called
 *
 * and each executor a copy of it. After every call results, the state, the arguments, the next random number and the
 * error, if any, are those of the program as written: values, dtypes, sizes, strides, who requires grad, which tensors
 * are one, which share memory. Also after a call that failed. */
#pragma once

#include <stdlib.h>

#include "ir_fixture.h"
#include "outcome.h"

#include "executor/executor.h"
#include "frontend/frontend.h"
#include "interp/interp.h"

enum { AS_WRITTEN_CALLS = 10, AS_WRITTEN_WAYS = 5, AS_WRITTEN_ARGUMENTS = 8 };

static const ExecutorOptions as_written_ways[AS_WRITTEN_WAYS] = {
    {.mode = EXECUTOR_SIMPLE},
    {.mode = EXECUTOR_SPECIALIZING},
    {.mode = EXECUTOR_PROFILING},
    {.mode = EXECUTOR_PROFILING, .profiled_runs = 2},
    {.mode = EXECUTOR_PROFILING, .force_guard = 2},
};

/* A copy of the program in its executor. */
typedef struct Way {
  CompilationUnit *unit;
  Source *source;
  Exec exec;
  ExecutorOptions options;
  Function *make, *change, *args, *f, *seed, *draw;
  IValue state;
  /* of the last call: */
  Status status;
  IValue given, result, drawn; /* given: the tuple that args gave */
} Way;

/* False: it does not compile, which is told. */
static inline bool way_begin(Way *w, Str text, const ExecutorOptions *options) {
  static const char more[] =
      "\ndef seed_with(k: int) -> None:\n    torch.manual_seed(k)\n"
      "def draw_one() -> float:\n    return float(torch.rand([1]))\n";
  StrBuf whole = {0};
  *w = (Way){.options = *options};
  exec_init(&w->exec, &api_services);
  w->options.compile_now = true;
  executor_options_complete(&w->options, &w->options);
  strbuf_str(&whole, text);
  strbuf_puts(&whole, more);
  assert_null(unit_new(&w->unit));
  assert_null(source_new(strbuf_view(&whole), "program.py", 1, &w->source));
  strbuf_dispose(&whole);
  Status status = frontend_compile_program(w->unit, &w->exec, w->source, NULL);
  if (status) print_error("%s\n" STR_FMT "\n", status->message, STR_ARG(text));
  bool compiles = !status;
  status_free(status);
  if (!compiles) return false;
  w->make = unit_find_function(w->unit, STR("make"));
  w->change = unit_find_function(w->unit, STR("change"));
  w->args = unit_find_function(w->unit, STR("args"));
  w->f = unit_find_function(w->unit, STR("f"));
  w->seed = unit_find_function(w->unit, STR("seed_with"));
  w->draw = unit_find_function(w->unit, STR("draw_one"));
  return true;
}
static inline void way_forget_call(Way *w) {
  status_free(w->status);
  ivalue_release(w->given);
  ivalue_release(w->result);
  w->status = OK;
  w->given = w->result = w->drawn = IVALUE_NONE;
}
static inline void way_end(Way *w) {
  way_forget_call(w);
  ivalue_release(w->state);
  unit_release(w->unit);
  source_release(w->source);
}

/* What prepares a call runs as written, whatever the executor. */
static inline void way_prepare(Way *w, Function *function, const IValue *arguments, uint32_t count, IValue *out) {
  *out = IVALUE_NONE;
  w->exec.executor = NULL;
  w->exec.grad_enabled = true;
  Status status = interp_call(&w->exec, function, arguments, count, out);
  if (status) print_error("%s: %s\n", function->name.data, status->message);
  assert_null(status);
}

static inline void way_call(Way *w, int k) {
  IValue arguments[AS_WRITTEN_ARGUMENTS] = {w->state, ivalue_int(k)}, nothing;
  uint32_t count = 1;
  way_forget_call(w);
  way_prepare(w, w->change, arguments, 2, &nothing);
  way_prepare(w, w->seed, &arguments[1], 1, &nothing);
  way_prepare(w, w->args, &arguments[1], 1, &w->given);
  assert_true(w->given.tag == TAG_TUPLE && w->given.tuple->length < AS_WRITTEN_ARGUMENTS);
  for (uint32_t i = 0; i < w->given.tuple->length; i++) arguments[count++] = w->given.tuple->values[i];
  w->exec.executor = &w->options;
  w->exec.grad_enabled = k % 5 == 3;
  w->status = executor_call(&w->exec, w->f, arguments, count, &w->result);
  way_prepare(w, w->draw, NULL, 0, &w->drawn);
}

/* Without the stack trace. Which of two errors it is may differ where the call has done something already. */
static inline const char *different_errors(Status a, Status b, bool which) {
  if (!a && !b) return NULL;
  if (!a || !b) return a ? "no error" : "an error";
  if (!which) return NULL;
  return a->code == b->code && !strcmp(a->message, b->message) ? NULL : "another error";
}

static inline const char *different_calls(const Way *a, const Way *b, double tolerance, bool which_error) {
  const Tensor *x[MAX_OUTCOME_TENSORS], *y[MAX_OUTCOME_TENSORS];
  int n = 0, m = 0;
  const char *different = different_errors(a->status, b->status, which_error);
  if (different) return different;
  if (!same_structure(a->result, b->result)) return "results of other types, numbers or lengths";
  if (!same_structure(a->state, b->state) || !same_structure(a->given, b->given)) return "another state";
  if (!same_structure(a->drawn, b->drawn)) return "other random numbers drawn";
  tensors_of(a->state, x, &n), tensors_of(b->state, y, &m);
  tensors_of(a->given, x, &n), tensors_of(b->given, y, &m);
  int arguments = n;
  tensors_of(a->result, x, &n), tensors_of(b->result, y, &m);
  if (n != m) return "other tensors undefined";
  return different_tensors(x, y, n, arguments, tolerance, true);
}

static int64_t as_written_fine, as_written_failing; /* calls, for who wants to know what was tried */

/* Says what is wrong. `tolerance`: fused layers add in another order. which_error: calls do nothing that can be noticed
 * before they fail. */
static inline bool runs_as_written(const char *name, Str text, double tolerance, bool which_error) {
  Way ways[AS_WRITTEN_WAYS];
  bool fine = true;
  int begun = 0;
  for (; begun < AS_WRITTEN_WAYS && fine; begun++) {
    fine = way_begin(&ways[begun], text, &as_written_ways[begun]);
    if (fine) way_prepare(&ways[begun], ways[begun].make, NULL, 0, &ways[begun].state);
  }
  for (int k = 0; k < AS_WRITTEN_CALLS && fine; k++)
    for (int i = 0; i < AS_WRITTEN_WAYS; i++) {
      way_call(&ways[i], k);
      if (i == 0) (*(ways[i].status ? &as_written_failing : &as_written_fine))++;
      const char *wrong = i ? different_calls(&ways[0], &ways[i], tolerance, which_error) : NULL;
      if (!wrong) continue;
      fine = false;
      if (getenv("WICK_SHOW_PLANS")) {
        StrBuf plans = {0};
        executor_print_plans(ways[i].f, false, &plans);
        fprintf(stderr, "%s\n", plans.data);
        strbuf_dispose(&plans);
      }
      print_error("%s: %s in call %d, %s %d\n--- as written: %s\n--- there: %s\n", name, wrong, k,
                  executor_mode_name(ways[i].options.mode), i, ways[0].status ? ways[0].status->message : "fine",
                  ways[i].status ? ways[i].status->message : "fine");
    }
  for (int i = 0; i < begun; i++) way_end(&ways[i]);
  if (!fine) fprintf(stderr, STR_FMT "\n", STR_ARG(text)); /* print_error cuts long texts */
  return fine;
}
