/* Random programs give the same results, the same changes of their arguments and the same sharing of memory whatever is
 * done to their graphs: every pass alone, passes in a row, every executor.
 *
 * WICK_RANDOM_PROGRAMS is how many (PROGRAMS by default), WICK_RANDOM_SEED the first one's seed. */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/ir_fixture.h"
#include "api/handles.h"
#include "executor/executor.h"
#include "frontend/frontend.h"
#include "pass/pass.h"
#include "program_text.h"

enum { ARGUMENTS = 4, MAX_TENSORS = 64 };
#ifdef __SANITIZE_THREAD__
enum { PROGRAMS = 50 }; /* one thread, which the sanitizer makes slow and has nothing to say about */
#else
enum { PROGRAMS = 300 };
#endif

typedef struct Program {
  CompilationUnit *unit;
  Source *source;
  Exec exec;
  Function *function;
  StrBuf text;
  uint64_t seed;
} Program;

static void program_compile(Program *p, uint64_t seed) {
  memset(p, 0, sizeof *p);
  p->seed = seed;
  program_text(seed, &p->text);
  exec_init(&p->exec, &api_services);
  assert_null(unit_new(&p->unit));
  assert_null(source_new(strbuf_view(&p->text), "random.py", 1, &p->source));
  Status status = frontend_compile_program(p->unit, &p->exec, p->source, NULL);
  if (status) print_error("seed %llu: %s\n%s\n", (unsigned long long)seed, status->message, p->text.data);
  assert_null(status);
  p->function = unit_find_function(p->unit, STR("f"));
}
static void program_dispose(Program *p) {
  unit_release(p->unit);
  source_release(p->source);
  strbuf_dispose(&p->text);
}

/* ---- what a run leaves ---- */

typedef struct Outcome {
  Status status;
  IValue result, arguments[ARGUMENTS];
} Outcome;

static IValue matrix(DType dtype, double first) {
  Tensor *t, *converted;
  assert_null(tensor_empty(DTYPE_FLOAT64, 2, (const int64_t[]){2, 3}, &t));
  double *data = tensor_data(t);
  for (int i = 0; i < 6; i++) data[i] = first - i * 0.75;
  assert_null(tensor_to_dtype(t, dtype, &converted));
  tensor_release(t);
  return ivalue_tensor(converted);
}
/* Two kinds of arguments, so that what was learnt of one does not hold for the other. */
static void outcome_begin(Outcome *o, int which) {
  memset(o, 0, sizeof *o);
  o->arguments[0] = matrix(which ? DTYPE_FLOAT64 : DTYPE_FLOAT32, which ? -0.5 : 2);
  o->arguments[1] = matrix(which ? DTYPE_FLOAT64 : DTYPE_FLOAT32, which ? 3 : 0.25);
  o->arguments[2] = ivalue_int(which ? 1 : 4);
  o->arguments[3] = ivalue_bool(which == 0);
}
static void outcome_dispose(Outcome *o) {
  if (o->status) status_free(o->status);
  ivalue_release(o->result);
  for (int i = 0; i < ARGUMENTS; i++) ivalue_release(o->arguments[i]);
}

/* All tensors of a value in order. */
static void collect(IValue v, const Tensor **out, int *count) {
  if (v.tag == TAG_TENSOR) {
    assert_true(*count < MAX_TENSORS);
    out[(*count)++] = v.tensor;
  } else if (v.tag == TAG_TUPLE) {
    for (uint32_t i = 0; i < v.tuple->length; i++) collect(v.tuple->values[i], out, count);
  } else if (v.tag == TAG_LIST) {
    for (size_t i = 0; i < v.list->length && *count < MAX_TENSORS; i++) collect(v.list->values[i], out, count);
  }
}

static bool same_tensor(const Tensor *a, const Tensor *b) {
  if (a->dtype != b->dtype || a->ndim != b->ndim || memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes))
    return false;
  Tensor *x, *y;
  Tensor *dense[2];
  assert_null(tensor_contiguous(a, &dense[0]));
  assert_null(tensor_contiguous(b, &dense[1]));
  assert_null(tensor_to_dtype(dense[0], DTYPE_FLOAT64, &x));
  assert_null(tensor_to_dtype(dense[1], DTYPE_FLOAT64, &y));
  for (int i = 0; i < 2; i++) tensor_release(dense[i]);
  const double *p = tensor_data(x), *q = tensor_data(y);
  bool same = true;
  for (int64_t i = 0; i < a->numel; i++) same &= p[i] == q[i] || (p[i] != p[i] && q[i] != q[i]);
  tensor_release(x);
  tensor_release(y);
  return same;
}

static bool same_shape(IValue a, IValue b) { /* of everything but tensors */
  if (a.tag != b.tag) return false;
  if (a.tag == TAG_INT) return a.i == b.i;
  if (a.tag == TAG_LIST) return a.list->length == b.list->length;
  if (a.tag != TAG_TUPLE) return true;
  for (uint32_t i = 0; i < a.tuple->length; i++)
    if (!same_shape(a.tuple->values[i], b.tuple->values[i])) return false;
  return true;
}

static const char *difference(const Outcome *a, const Outcome *b) {
  if ((a->status == NULL) != (b->status == NULL)) return "only one of them failed";
  const Tensor *x[MAX_TENSORS + 2], *y[MAX_TENSORS + 2];
  int n = 0, m = 0;
  if (!a->status && !same_shape(a->result, b->result)) return "results of other types, numbers or lengths";
  for (int i = 0; i < 2; i++) collect(a->arguments[i], x, &n), collect(b->arguments[i], y, &m);
  if (!a->status) collect(a->result, x, &n), collect(b->result, y, &m);
  if (n != m) return "another number of tensors";
  for (int i = 0; i < n; i++)
    if (!same_tensor(x[i], y[i])) return i < 2 ? "arguments changed otherwise" : "other values";
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      if ((x[i]->storage == x[k]->storage) != (y[i]->storage == y[k]->storage)) return "memory shared otherwise";
  return NULL;
}

/* ---- ways to run ---- */

static void run_function(Program *p, int which, Outcome *out) {
  outcome_begin(out, which);
  out->status = interp_call(&p->exec, p->function, out->arguments, ARGUMENTS, &out->result);
}

typedef struct Copy {
  const Graph *graph;
  Arena *arena;
  TypeStore *store;
  Graph *made;
} Copy;
static void copy_graph(void *argument) {
  Copy *c = argument;
  c->made = graph_copy(c->graph, c->arena, c->store);
}

/* The function's graph after some passes; says which did it when the graph breaks or the outcome differs. */
static bool check_passes(Program *p, const Outcome expected[2], const Pass *const *passes, int count) {
  Arena arena;
  arena_init(&arena, NULL);
  Copy copy = {p->function->graph, &arena, &p->unit->store, NULL};
  assert_null(arena_protect(&arena, copy_graph, &copy));
  Status status = OK;
  for (int i = 0; i < count && !status; i++) {
    status = pass_run(passes[i], copy.made, &p->exec);
    if (!status) status = graph_lint(copy.made);
  }
  Code *code = NULL;
  if (!status) status = pass_run(pass_find(STR("differentiate")), copy.made, &p->exec); /* what is split off can run */
  if (!status) status = code_compile(copy.made, STR("f"), &code);
  const char *wrong = status ? status->message : NULL;
  for (int which = 0; which < 2 && !wrong; which++) {
    Outcome got;
    outcome_begin(&got, which);
    got.status = interp_run(&p->exec, code, got.arguments, ARGUMENTS, &got.result, 1);
    wrong = difference(&expected[which], &got);
    outcome_dispose(&got);
  }
  if (wrong) {
    print_error("seed %llu: %s after", (unsigned long long)p->seed, wrong);
    for (int i = 0; i < count; i++) print_error(" %s", passes[i]->name);
    print_error("\n%s\n", p->text.data);
  }
  if (status) status_free(status);
  if (code) code_free(code);
  graph_dispose(copy.made);
  arena_dispose(&arena);
  return wrong == NULL;
}

/* Several calls of the function under an executor, with arguments of both kinds. */
static bool check_executor(Program *p, const Outcome expected[2], ExecutorOptions options) {
  static const int calls[] = {0, 0, 0, 1, 0, 1, 1, 0};
  Program own; /* plans belong to the function: each executor gets a fresh one */
  program_compile(&own, p->seed);
  options.compile_now = true;
  executor_options_complete(&options, &options);
  own.exec.executor = &options;
  const char *wrong = NULL;
  for (size_t i = 0; i < sizeof calls / sizeof *calls && !wrong; i++) {
    Outcome got;
    outcome_begin(&got, calls[i]);
    got.status = executor_call(&own.exec, own.function, got.arguments, ARGUMENTS, &got.result);
    wrong = difference(&expected[calls[i]], &got);
    if (wrong)
      print_error("seed %llu: %s in call %zu, %s%s%s\n%s\n", (unsigned long long)p->seed, wrong, i + 1,
                  executor_mode_name(options.mode), options.force_guard ? ", guards forced to fail" : "",
                  got.status ? got.status->message : "", p->text.data);
    outcome_dispose(&got);
  }
  program_dispose(&own);
  return wrong == NULL;
}

static bool check_executors(Program *p, const Outcome expected[2]) {
  static const ExecutorOptions ways[] = {
      {.mode = EXECUTOR_SIMPLE},
      {.mode = EXECUTOR_SPECIALISING},
      {.mode = EXECUTOR_PROFILING},
      {.mode = EXECUTOR_PROFILING, .force_guard = UINT32_MAX},
      {.mode = EXECUTOR_PROFILING, .force_guard = 2},
      {.mode = EXECUTOR_PROFILING, .no_optimize = true},
  };
  bool fine = true;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) fine = check_executor(p, expected, ways[i]) && fine;
  return fine;
}

static const Pass *runnable_pass(const Pass *after) {
  const Pass *pass = pass_next(after);
  while (pass && pass->keeps == KEEPS_NOTHING) pass = pass_next(pass);
  return pass;
}

static bool check_program(uint64_t seed) {
  Program p;
  program_compile(&p, seed);
  Outcome expected[2];
  for (int which = 0; which < 2; which++) run_function(&p, which, &expected[which]);
  bool fine = true;
  const Pass *row[64];
  int count = 0;
  for (const Pass *pass = runnable_pass(NULL); pass; pass = runnable_pass(pass)) {
    fine = check_passes(&p, expected, &pass, 1) && fine;
    if (count < 64) row[count++] = pass;
  }
  uint64_t state = seed;
  for (int i = count - 1; i > 0; i--) { /* shuffled */
    int k = (int)(random_next(&state) % (uint64_t)(i + 1));
    const Pass *swap = row[i];
    row[i] = row[k];
    row[k] = swap;
  }
  if (fine) fine = check_passes(&p, expected, row, count);
  fine = check_executors(&p, expected) && fine;
  for (int which = 0; which < 2; which++) outcome_dispose(&expected[which]);
  program_dispose(&p);
  return fine;
}

static int64_t setting(const char *name, int64_t fallback) {
  const char *text = getenv(name);
  int64_t value;
  return text && str_to_int64(str_from(text), 10, &value) ? value : fallback;
}

static void test_random_programs(void **state) {
  (void)state;
  int64_t count = setting("WICK_RANDOM_PROGRAMS", PROGRAMS), first = setting("WICK_RANDOM_SEED", 1), wrong = 0;
  for (int64_t i = 0; i < count && wrong < 5; i++) {
    wrong += !check_program((uint64_t)(first + i));
    if (i % 1000 == 999) print_message("%lld programs, %lld wrong\n", (long long)(i + 1), (long long)wrong);
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
