/* Random programs give the same results, the same changes of their arguments, the same sharing of memory and the same
 * gradients whatever is done to their graphs: every pass alone, passes in a row, every executor.
 *
 * WICK_RANDOM_PROGRAMS is how many (PROGRAMS by default), WICK_RANDOM_SEED the first one's seed. */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/ir_fixture.h"
#include "../unit/outcome.h"
#include "executor/executor.h"
#include "frontend/frontend.h"
#include "pass/pass.h"
#include "program_text.h"

enum { ARGUMENTS = 6, LEAVES = 4, KINDS = 5 };
#ifdef __SANITIZE_THREAD__
enum { PROGRAMS = 50 }; /* one thread, which the sanitizer makes slow and has nothing to say about */
#else
enum { PROGRAMS = 300 };
#endif

typedef struct Program {
  CompilationUnit *unit;
  Source *source;
  Exec exec;
  Function *function, *make; /* f, and what makes its first argument */
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
  if (status) fprintf(stderr, "seed %llu: %s\n%s\n", (unsigned long long)seed, status->message, p->text.data);
  assert_null(status);
  p->function = unit_find_function(p->unit, STR("f"));
  p->make = unit_find_function(p->unit, STR("make"));
}
static void program_dispose(Program *p) {
  unit_release(p->unit);
  source_release(p->source);
  strbuf_dispose(&p->text);
}

/* ---- what a run leaves ---- */

typedef struct Outcome {
  Status status, backward;
  IValue result, arguments[ARGUMENTS];
  Tensor *leaves[LEAVES]; /* of the arguments; owned */
} Outcome;

/* Arguments of several kinds, so that what was learnt of one does not hold for the other. */
typedef struct Kind {
  DType dtype, other_dtype;
  int shape; /* of the tensor that may have any */
  bool flag, grad_enabled, transposed;
  bool requires_grad[LEAVES]; /* a, b, c, s.m */
} Kind;
static const Kind kinds[KINDS] = {
    {DTYPE_FLOAT32, DTYPE_FLOAT32, 0, .flag = true, .grad_enabled = true},
    {DTYPE_FLOAT64, DTYPE_FLOAT64, 1, .grad_enabled = true},
    {DTYPE_FLOAT32, DTYPE_FLOAT32, 2, .flag = true, .grad_enabled = true, .requires_grad = {true, false, true, false}},
    {DTYPE_FLOAT32, DTYPE_INT64, 3, .grad_enabled = true, .transposed = true,
     .requires_grad = {false, true, false, true}},
    {DTYPE_FLOAT32, DTYPE_FLOAT32, 0, .requires_grad = {true, true, true, false}},
};

static Tensor *tensor_of(DType dtype, double first, int ndim, const int64_t *sizes) {
  Tensor *t, *converted;
  assert_null(tensor_empty(DTYPE_FLOAT64, ndim, sizes, &t));
  double *data = tensor_data(t);
  for (int i = 0; i < t->numel; i++) data[i] = first - i * 0.75;
  assert_null(tensor_to_dtype(t, dtype, &converted));
  tensor_release(t);
  return converted;
}
static Tensor *matrix(const Kind *kind, double first) {
  if (!kind->transposed) return tensor_of(kind->dtype, first, 2, (const int64_t[]){2, 3});
  Tensor *t = tensor_of(kind->dtype, first, 2, (const int64_t[]){3, 2}), *turned;
  assert_null(
      tensor_from_storage(t->storage, kind->dtype, 2, (const int64_t[]){2, 3}, (const int64_t[]){1, 2}, 0, &turned));
  tensor_release(t);
  return turned;
}

static const Kind *kind_of(const Program *p, int which) {
  return &kinds[which ? (p->seed / KINDS + 1 + p->seed % KINDS) % KINDS : p->seed % KINDS];
}

static void outcome_begin(const Program *p, int which, Outcome *o) {
  static const struct {
    int ndim;
    int64_t sizes[3];
  } shapes[] = {{1, {4}}, {2, {2, 3}}, {2, {2, 2}}, {3, {1, 2, 2}}};
  const Kind *kind = kind_of(p, which);
  memset(o, 0, sizeof *o);
  o->leaves[0] = matrix(kind, which ? -0.5 : 2);
  o->leaves[1] = matrix(kind, which ? 3 : 0.25);
  o->leaves[2] = tensor_of(kind->other_dtype, which ? -1 : 1.5, shapes[kind->shape].ndim, shapes[kind->shape].sizes);
  o->leaves[3] = matrix(kind, which ? 1 : -1.75);
  for (int i = 0; i < LEAVES; i++)
    if (kind->requires_grad[i]) o->leaves[i]->flags |= TENSOR_REQUIRES_GRAD;
  Tensor *own = matrix(kind, 0.5);
  IValue state[] = {ivalue_tensor(o->leaves[3]), ivalue_int(which ? 5 : 1), which ? ivalue_tensor(own) : IVALUE_NONE};
  Exec exec = p->exec;
  assert_null(interp_call(&exec, p->make, state, 3, &o->arguments[0]));
  tensor_release(own);
  for (int i = 0; i < 3; i++) o->arguments[1 + i] = ivalue_retain(ivalue_tensor(o->leaves[i]));
  o->arguments[4] = ivalue_int(which ? 1 : 4);
  o->arguments[5] = ivalue_bool(kind->flag);
}
static void outcome_dispose(Outcome *o) {
  status_free(o->status);
  status_free(o->backward);
  ivalue_release(o->result);
  for (int i = 0; i < ARGUMENTS; i++) ivalue_release(o->arguments[i]);
  for (int i = 0; i < LEAVES; i++) tensor_release(o->leaves[i]);
}

static const char *different_gradients(const Outcome *a, const Outcome *b) {
  if (b->backward && !a->backward) return "only one of them can be differentiated";
  if (a->backward) return NULL; /* the other may have kept something else, that was not written to */
  for (int i = 0; i < LEAVES; i++) {
    const char *different = different_gradient(gradient_of(a->leaves[i]), gradient_of(b->leaves[i]));
    if (different) return different;
  }
  return NULL;
}

static const char *difference(const Outcome *a, const Outcome *b, bool gradients) {
  if (a->status) return NULL; /* what is not needed is not computed and does not fail, what is may fail elsewhere */
  if (b->status) return "only one of them failed";
  const Tensor *x[MAX_OUTCOME_TENSORS], *y[MAX_OUTCOME_TENSORS];
  int n = 0, m = 0;
  if (!same_structure(a->result, b->result)) return "results of other types, numbers or lengths";
  for (int i = 0; i < LEAVES; i++) x[n++] = a->leaves[i], y[m++] = b->leaves[i];
  tensors_of(a->result, x, &n), tensors_of(b->result, y, &m);
  const char *different = different_tensors(x, y, n, LEAVES, 0, gradients);
  return different || !gradients ? different : different_gradients(a, b);
}

static const char *message_of(const Outcome *o) {
  return o->status ? o->status->message : o->backward ? o->backward->message : "fine";
}

/* ---- ways to run ---- */

static void run_backward(Program *p, Outcome *o) {
  if (!o->status) o->backward = backward_of_sum(&p->exec, o->result);
}

static void run_function(Program *p, int which, Outcome *out) {
  outcome_begin(p, which, out);
  p->exec.grad_enabled = kind_of(p, which)->grad_enabled;
  out->status = interp_call(&p->exec, p->function, out->arguments, ARGUMENTS, &out->result);
  run_backward(p, out);
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
  bool keeps_gradients = true;
  assert_null(arena_protect(&arena, copy_graph, &copy));
  Status status = OK;
  for (int i = 0; i < count && !status; i++) {
    keeps_gradients &= passes[i]->keeps == KEEPS_GRADIENTS;
    status = pass_run(passes[i], copy.made, &p->exec);
    if (!status) status = graph_lint(copy.made);
  }
  Code *code = NULL;
  if (!status) status = pass_run(pass_find(STR("differentiate")), copy.made, &p->exec); /* what is split off can run */
  if (!status) status = code_compile(copy.made, STR("f"), &code);
  const char *wrong = status ? status->message : NULL;
  for (int which = 0; which < 2 && !wrong; which++) {
    Outcome got;
    outcome_begin(p, which, &got);
    p->exec.grad_enabled = kind_of(p, which)->grad_enabled;
    got.status = interp_run(&p->exec, code, got.arguments, ARGUMENTS, &got.result, 1);
    run_backward(p, &got);
    wrong = difference(&expected[which], &got, keeps_gradients);
    outcome_dispose(&got);
  }
  if (wrong) {
    fprintf(stderr, "seed %llu: %s after", (unsigned long long)p->seed, wrong);
    for (int i = 0; i < count; i++) fprintf(stderr, " %s", passes[i]->name);
    fprintf(stderr, "\n%s\n", p->text.data);
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
    outcome_begin(&own, calls[i], &got);
    own.exec.grad_enabled = kind_of(&own, calls[i])->grad_enabled;
    got.status = executor_call(&own.exec, own.function, got.arguments, ARGUMENTS, &got.result);
    run_backward(&own, &got);
    wrong = difference(&expected[calls[i]], &got, true);
    if (wrong)
      fprintf(stderr, "seed %llu: %s in call %zu, %s%s\n--- got: %s\n--- expected: %s\n%s\n",
              (unsigned long long)p->seed, wrong, i + 1, executor_mode_name(options.mode),
              options.force_guard ? ", guards forced to fail" : "", message_of(&got), message_of(&expected[calls[i]]),
              p->text.data);
    outcome_dispose(&got);
  }
  program_dispose(&own);
  return wrong == NULL;
}

static bool check_executors(Program *p, const Outcome expected[2]) {
  static const ExecutorOptions ways[] = {
      {.mode = EXECUTOR_SIMPLE},
      {.mode = EXECUTOR_SPECIALIZING},
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
