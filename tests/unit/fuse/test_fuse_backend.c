/* Back ends of fusion: one that compiles as slowly as a test wants, refuses some kernels, fails at others and gives the
 * tile interpreter's bits takes kernels over without a slow call; what it holds is bounded and given back. */
#include "fuse_fixture.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

#include "base/queue.h"
#include "fuse/compiled.h"

static const char text_of_all[] =
    "graph(%a : Tensor, %b : Tensor):\n  %one : int = prim::Constant[value=1]()\n"
    "  %x : Tensor = aten::mul(%a, %b)\n  %y : Tensor = aten::add(%x, %b, %one)\n"
    "  %z : Tensor = aten::tanh(%y)\n  return (%z)\n";
static const char text_of_exp[] =
    "graph(%a : Tensor, %b : Tensor):\n  %x : Tensor = aten::mul(%a, %b)\n  %y : Tensor = aten::exp(%x)\n"
    "  %z : Tensor = aten::mul(%y, %b)\n  return (%z)\n";
static const char text_of_log[] =
    "graph(%a : Tensor, %b : Tensor):\n  %x : Tensor = aten::mul(%a, %b)\n  %y : Tensor = aten::log(%x)\n"
    "  %z : Tensor = aten::relu(%y)\n  return (%z)\n";

/* ---- the back end ---- */

static const FuseHeld roomy = {1000, 1000000};

enum { BYTES = 1000 };
typedef struct Slow { /* what one of them does and did */
  sem_t gate;         /* compilations wait for it, when it is closed */
  _Atomic bool is_closed;
  _Atomic int asked, compiling, compiled, failed, freed, runs;
} Slow;
static Slow slow, medium;

typedef struct Piece {
  Slow *of;
  const KernelIr *kernel; /* for which it was compiled */
  TileKernel *code;
  FuseSignature signature;
} Piece;

static bool has_op(const KernelIr *kernel, KernelOp op) {
  for (int i = 0; i < kernel->ins_count; i++)
    if (kernel->ins[i].op == op) return true;
  return false;
}

static Reason supports_no_exp(const FuseBackend *self, const KernelIr *kernel, const FuseSignature *signature) {
  (void)self, (void)signature;
  atomic_fetch_add(&slow.asked, 1);
  return has_op(kernel, KERNEL_EXP) ? REASON_NOT_COMPILED_OPERATION : REASON_COUNT;
}

static Status compile(Slow *of, KernelIr *kernel, const FuseSignature *signature, void **out) {
  atomic_fetch_add(&of->compiling, 1);
  if (atomic_load(&of->is_closed)) {
    sem_wait(&of->gate);
    sem_post(&of->gate);
  }
  if (!queue_pause()) return status_new(ERROR_CANCELLED, "the process ends");
  if (has_op(kernel, KERNEL_LOG)) {
    atomic_fetch_add(&of->failed, 1);
    return status_new(ERROR_UNSUPPORTED, "no logarithms here");
  }
  Piece *piece = mem_calloc(1, sizeof *piece);
  if (!piece) return status_out_of_memory();
  Status status = tile_kernel_new(kernel, &piece->code);
  if (status) {
    mem_free(piece);
    return status;
  }
  piece->of = of;
  piece->kernel = kernel;
  memcpy(&piece->signature, signature, sizeof *signature);
  atomic_fetch_add(&of->compiled, 1);
  *out = piece;
  return OK;
}
static Status compile_slow(const FuseBackend *self, KernelIr *kernel, const FuseSignature *signature, void **out) {
  (void)self;
  return compile(&slow, kernel, signature, out);
}
static Status compile_medium(const FuseBackend *self, KernelIr *kernel, const FuseSignature *signature, void **out) {
  (void)self;
  return compile(&medium, kernel, signature, out);
}

static Status run_piece(const KernelIr *kernel, void *compiled, int threads, const TileArgument *arguments,
                        Tensor *const *outputs) {
  Piece *piece = compiled;
  FuseSignature signature;
  assert_ptr_equal(piece->kernel, kernel);
  fuse_signature((Precision)piece->signature.precision, kernel, arguments, piece->signature.argument_count, outputs,
                 &signature);
  assert_true(fuse_signature_equal(&signature, &piece->signature));
  atomic_fetch_add(&piece->of->runs, 1);
  return tile_run(piece->code, threads, arguments, outputs);
}

static size_t bytes_of(const void *compiled) {
  (void)compiled;
  return BYTES;
}

static void free_piece(void *compiled) {
  Piece *piece = compiled;
  atomic_fetch_add(&piece->of->freed, 1);
  tile_kernel_free(piece->code);
  mem_free(piece);
}

static const FuseBackend slow_row = {.name = "slow",
                                     .device_type = DEVICE_CPU,
                                     .supports = supports_no_exp,
                                     .compile = compile_slow,
                                     .run = run_piece,
                                     .bytes = bytes_of,
                                     .free = free_piece};
static const FuseBackend medium_row = {.name = "medium",
                                       .device_type = DEVICE_CPU,
                                       .compile = compile_medium,
                                       .run = run_piece,
                                       .bytes = bytes_of,
                                       .free = free_piece};
/* Nothing to compile, as an interpreter. */
static _Atomic int direct_runs;
static Status run_direct(const KernelIr *kernel, void *compiled, int threads, const TileArgument *arguments,
                         Tensor *const *outputs) {
  assert_null(compiled);
  atomic_fetch_add(&direct_runs, 1);
  TileKernel *code; /* as an interpreter of the IR would */
  TRY(tile_kernel_new((KernelIr *)kernel, &code));
  Status status = tile_run(code, threads, arguments, outputs);
  tile_kernel_free(code);
  return status;
}
static const FuseBackend direct_row = {.name = "direct", .device_type = DEVICE_CPU, .run = run_direct};

static void reset(Slow *of) {
  of->is_closed = false;
  of->asked = of->compiling = of->compiled = of->failed = of->freed = of->runs = 0;
  sem_init(&of->gate, 0, 0);
}
static void close_gate(Slow *of) {
  sem_init(&of->gate, 0, 0);
  atomic_store(&of->is_closed, true);
}
static void open_gate(Slow *of) {
  atomic_store(&of->is_closed, false);
  sem_post(&of->gate);
}

/* ---- a program and calls of it ---- */

typedef struct Case {
  Pair pair;
  Exec exec;
  const char *text;
  IValue a, b, column, transposed, whole;
} Case;

static void case_init(Case *c, const char *text) {
  reset(&slow);
  reset(&medium);
  atomic_store(&direct_runs, 0);
  reason_reset();
  fuse_set_max_held(roomy);
  c->text = text;
  exec_init(&c->exec, NULL);
  c->exec.work.threads = 1;
  pair_make(&c->pair, text);
  assert_non_null(c->pair.group);
  int64_t sizes[] = {6, 5}, one[] = {6, 1}, turned[] = {5, 6};
  c->a = tensor_of(DTYPE_FLOAT32, 2, sizes, 1);
  c->b = tensor_of(DTYPE_FLOAT32, 2, sizes, 2);
  c->column = tensor_of(DTYPE_FLOAT32, 2, one, 3);
  c->whole = tensor_of(DTYPE_FLOAT64, 2, sizes, 4);
  IValue before = tensor_of(DTYPE_FLOAT32, 2, turned, 5);
  assert_null(tensor_transpose(before.tensor, 0, 1, &c->transposed.tensor));
  c->transposed = ivalue_tensor(c->transposed.tensor);
  ivalue_release(before);
}

static void case_dispose(Case *c) {
  IValue all[] = {c->a, c->b, c->column, c->transposed, c->whole};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ivalue_release(all[i]);
  pair_dispose(&c->pair);
}

static void call(Case *c, IValue a, IValue b) {
  check_run(&c->pair, &c->exec, c->text, (IValue[]){a, b});
}

static BackendNumber add(const FuseBackend *row) {
  BackendNumber number;
  assert_true(fuse_backend_register(row, &number));
  assert_true(fuse_exists(number, DEVICE_CPU));
  return number;
}

/* Nothing of the back ends is left, and the tile interpreter goes on. */
static void end(Case *c, BackendNumber first, BackendNumber second) {
  fuse_backend_unregister(first);
  fuse_backend_unregister(second);
  assert_int_equal(slow.compiled, slow.freed);
  assert_int_equal(medium.compiled, medium.freed);
  assert_int_equal(fuse_held().count, 0);
  assert_int_equal(fuse_held().bytes, 0);
  int runs = slow.runs + medium.runs;
  call(c, c->a, c->b);
  assert_int_equal(slow.runs + medium.runs, runs);
  case_dispose(c);
}

/* ---- the tests ---- */

/* Calls run while the kernel compiles, and later ones in what was made. */
static void test_takeover(void **state) {
  (void)state;
  Case c;
  case_init(&c, text_of_all);
  close_gate(&slow);
  BackendNumber number = add(&slow_row);
  for (int i = 0; i < 20; i++) call(&c, c.a, c.b); /* would hang if one waited */
  assert_int_equal(slow.runs, 0);
  assert_int_equal(slow.asked, 1);
  assert_int_equal(c.pair.group->runs, 20);
  open_gate(&slow);
  queue_drain();
  assert_int_equal(slow.compiled, 1);
  assert_int_equal(fuse_held().count, 1);
  assert_int_equal(fuse_held().bytes, BYTES);
  for (int i = 0; i < 5; i++) call(&c, c.a, c.b);
  assert_int_equal(slow.runs, 5);
  assert_int_equal(slow.compiled, 1);
  end(&c, number, number);
}

static void test_signatures(void **state) {
  (void)state;
  Case c;
  case_init(&c, text_of_all);
  BackendNumber number = add(&slow_row);
  IValue pairs[][2] = {{c.a, c.b}, {c.a, c.column}, {c.column, c.a}, {c.transposed, c.b}, {c.transposed, c.transposed}};
  for (int turn = 0; turn < 3; turn++)
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
      call(&c, pairs[i][0], pairs[i][1]);
      queue_drain();
      assert_int_equal(slow.compiled, turn ? 5 : (int)i + 1);
    }
  int runs = slow.runs; /* a first call finds its kernel when the queue was quick */
  assert_true(runs >= 10);
  /* other sizes of the same signature need nothing new */
  int64_t sizes[] = {7, 3};
  IValue more = tensor_of(DTYPE_FLOAT32, 2, sizes, 9);
  call(&c, more, more);
  assert_int_equal(slow.runs, runs + 1);
  ivalue_release(more);
  end(&c, number, number);
}

/* A kernel that is refused runs in the next back end, and the reason is counted once. */
/* What was compiled for one is not run for another. */
static void test_precisions(void **state) {
  (void)state;
  Case c;
  case_init(&c, text_of_all);
  BackendNumber number = add(&slow_row);
  for (int turn = 0; turn < 3; turn++)
    for (int precision = 0; precision <= PRECISION_COUNT; precision++) {
      c.exec.work.precision = (Precision)precision;
      call(&c, c.a, c.b);
      queue_drain();
      assert_int_equal(slow.compiled, turn ? PRECISION_COUNT + 1 : precision + 1);
    }
  end(&c, number, number);
}

static void test_refusal(void **state) {
  (void)state;
  Case c;
  case_init(&c, text_of_exp);
  for (int i = 0; i < 3; i++) call(&c, c.a, c.b);
  BackendNumber below = add(&medium_row), number = add(&slow_row);
  for (int i = 0; i < 5; i++) call(&c, c.a, c.b);
  queue_drain();
  assert_int_equal(slow.asked, 1);
  assert_int_equal(slow.compiling, 0);
  assert_int_equal(medium.compiled, 1);
  assert_int_equal(reason_count(REASON_NOT_COMPILED_OPERATION), 1);
  int before = medium.runs;
  call(&c, c.a, c.b);
  assert_int_equal(medium.runs, before + 1);
  c.exec.backend = number; /* asked for by number: it and the tile interpreter */
  call(&c, c.a, c.b);
  c.exec.backend = BACKEND_TILE;
  call(&c, c.a, c.b);
  assert_int_equal(medium.runs, before + 1);
  assert_int_equal(c.pair.group->runs, 11);
  c.exec.backend = BACKEND_DEFAULT;
  end(&c, number, below);
}

static void test_failed_compile(void **state) {
  (void)state;
  Case c;
  case_init(&c, text_of_log);
  BackendNumber below = add(&medium_row), number = add(&slow_row);
  for (int i = 0; i < 6; i++) {
    call(&c, c.a, c.b);
    queue_drain();
  }
  assert_int_equal(slow.failed, 1);
  assert_int_equal(medium.failed, 1); /* asked when the first had failed */
  assert_int_equal(reason_count(REASON_NOT_COMPILED_FAILED), 2);
  assert_int_equal(c.pair.group->runs, 6);
  end(&c, number, below);
}

static void test_ready_at_once(void **state) {
  (void)state;
  Case c;
  case_init(&c, text_of_all);
  BackendNumber number = add(&direct_row);
  call(&c, c.a, c.b);
  assert_int_equal(direct_runs, 1);
  fuse_set_enabled(number, false);
  call(&c, c.a, c.b);
  assert_int_equal(direct_runs, 1);
  fuse_set_enabled(number, true);
  fuse_trim();
  call(&c, c.a, c.b);
  assert_int_equal(direct_runs, 2);
  end(&c, number, number);
}

/* Without the tile interpreter operators run until something is ready. */
static void test_no_interpreter(void **state) {
  (void)state;
  Case c;
  case_init(&c, text_of_all);
  BackendNumber number = add(&slow_row);
  fuse_set_enabled(BACKEND_TILE, false);
  close_gate(&slow);
  call(&c, c.a, c.b);
  call(&c, c.a, c.b);
  assert_int_equal(c.pair.group->refusals[FUSE_NOT_READY], 2);
  open_gate(&slow);
  queue_drain();
  call(&c, c.a, c.b);
  assert_int_equal(slow.runs, 1);
  fuse_set_enabled(BACKEND_TILE, true);
  end(&c, number, number);
}

static void test_trim(void **state) {
  (void)state;
  Case c;
  case_init(&c, text_of_all);
  BackendNumber number = add(&slow_row);
  call(&c, c.a, c.b);
  queue_drain();
  assert_int_equal(fuse_held().count, 1);
  fuse_trim();
  assert_int_equal(fuse_held().count, 0);
  assert_int_equal(slow.freed, 1);
  int runs = slow.runs;
  close_gate(&slow);
  call(&c, c.a, c.b); /* asks again */
  assert_int_equal(slow.runs, runs);
  open_gate(&slow);
  queue_drain();
  call(&c, c.a, c.b);
  assert_int_equal(slow.runs, runs + 1);
  assert_int_equal(slow.compiled, 2);
  assert_int_equal(slow.asked, 1);
  end(&c, number, number);
}

static void test_bounds(void **state) {
  (void)state;
  Case c;
  case_init(&c, text_of_all);
  BackendNumber number = add(&slow_row);
  IValue pairs[][2] = {{c.a, c.b}, {c.a, c.column}, {c.column, c.a}, {c.transposed, c.b}, {c.transposed, c.transposed}};
  for (int kind = 0; kind < 2; kind++) {
    fuse_trim();
    fuse_set_max_held(kind ? (FuseHeld){100, 2 * BYTES + 1} : (FuseHeld){2, 100 * BYTES});
    for (int turn = 0; turn < 4; turn++)
      for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        call(&c, pairs[i][0], pairs[i][1]);
        queue_drain();
        assert_true(fuse_held().count <= 2);
        assert_int_equal(fuse_held().bytes, fuse_held().count * BYTES);
      }
    assert_int_equal(fuse_held().count, 2);
  }
  assert_true(reason_count(REASON_NOT_COMPILED_LIMIT) > 0);
  int compiling = slow.compiling;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) call(&c, pairs[i][0], pairs[i][1]);
  queue_drain();
  assert_int_equal(slow.compiling, compiling); /* what found no room is not made again and again */
  fuse_set_max_held(roomy);
  fuse_trim();
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) call(&c, pairs[i][0], pairs[i][1]);
  queue_drain();
  assert_int_equal(fuse_held().count, 5);
  end(&c, number, number);
}

/* Groups and back ends that go while a job waits or runs. */
static void test_early_ends(void **state) {
  (void)state;
  Case c, other;
  BackendNumber number;
  case_init(&c, text_of_all);
  number = add(&slow_row);
  close_gate(&slow);
  call(&c, c.a, c.b);
  call(&c, c.a, c.column); /* waits in the queue */
  while (!slow.compiling) sched_yield();
  case_dispose(&c);
  open_gate(&slow);
  queue_drain();
  assert_int_equal(slow.compiled, 1);
  assert_int_equal(slow.freed, 1);
  fuse_backend_unregister(number);
  assert_int_equal(fuse_held().count, 0);

  case_init(&other, text_of_all);
  number = add(&slow_row);
  close_gate(&slow);
  call(&other, other.a, other.b);
  call(&other, other.a, other.column);
  while (!slow.compiling) sched_yield();
  open_gate(&slow);
  fuse_backend_unregister(number); /* waits for the one that runs */
  queue_drain();
  assert_true(slow.compiling <= 2);
  assert_int_equal(slow.compiled, slow.freed);
  number = add(&slow_row); /* most likely under the same number */
  int before = slow.asked;
  call(&other, other.a, other.b);
  assert_int_equal(slow.asked, before + 1);
  end(&other, number, number);
}

static void test_numbers(void **state) {
  (void)state;
  BackendNumber all[BACKEND_LIMIT], one_more;
  int count = 0;
  while (fuse_backend_register(&direct_row, &all[count])) count++;
  assert_int_equal(count, BACKEND_LIMIT - BACKEND_COUNT);
  assert_false(fuse_backend_register(&direct_row, &one_more));
  while (count) fuse_backend_unregister(all[--count]);
  assert_false(fuse_exists(BACKEND_COUNT, DEVICE_CPU));
  fuse_backend_unregister(BACKEND_COUNT); /* nobody's */
}

/* ---- threads ---- */

typedef struct Caller {
  Case *c;
  _Atomic bool *stop;
  int number;
  bool differs;
  uint64_t calls;
} Caller;

static void *call_on(void *argument) {
  Caller *me = argument;
  Exec exec;
  exec_init(&exec, NULL);
  exec.work.threads = 1;
  const Case *c = me->c;
  IValue pairs[][2] = {{c->a, c->b}, {c->a, c->column}, {c->transposed, c->b}};
  IValue expected[3], result;
  for (int i = 0; i < 3; i++)
    if (interp_run(&exec, c->pair.plain, pairs[i], 2, &expected[i], 1)) abort();
  while (!atomic_load(me->stop)) {
    int i = (int)((me->calls++ + (uint64_t)me->number) % 3);
    if (interp_run(&exec, c->pair.fused, pairs[i], 2, &result, 1)) abort();
    me->differs |= !values_equal(result, expected[i]);
    ivalue_release(result);
  }
  for (int i = 0; i < 3; i++) ivalue_release(expected[i]);
  return NULL;
}

/* Runs, compilations, trims, tight bounds and back ends that come and go, all at once. */
static void test_threads(void **state) {
  (void)state;
  enum { THREADS = 3, ROUNDS = 40 };
  Case c;
  case_init(&c, text_of_all);
  _Atomic bool stop = false;
  pthread_t threads[THREADS];
  Caller callers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    callers[i] = (Caller){.c = &c, .stop = &stop, .number = i};
    assert_int_equal(pthread_create(&threads[i], NULL, call_on, &callers[i]), 0);
  }
  BackendNumber below = add(&medium_row);
  for (int round = 0; round < ROUNDS; round++) {
    BackendNumber number = round < 4 ? add(&slow_row) : below; /* a kernel remembers a bounded number of signatures */
    fuse_set_max_held(round % 2 ? roomy : (FuseHeld){1, BYTES});
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    fuse_trim();
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (number != below) fuse_backend_unregister(number);
  }
  fuse_set_max_held(roomy);
  queue_drain();
  atomic_store(&stop, true);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_false(callers[i].differs);
    assert_true(callers[i].calls > 0);
  }
  assert_true(slow.runs + medium.runs > 0);
  end(&c, below, below);
}

/* A child goes on with what was compiled, and compiles. */
static void test_fork(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip(); /* a child that starts threads is beyond it */
#endif
  Case c;
  case_init(&c, text_of_all);
  BackendNumber number = add(&slow_row);
  call(&c, c.a, c.b);
  queue_drain();
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    call(&c, c.a, c.b);
    call(&c, c.a, c.column);
    queue_drain();
    call(&c, c.a, c.column);
    int runs = slow.runs;
    fuse_backend_unregister(number);
    _exit(runs >= 2 && slow.compiled == 2 && slow.freed == 2 ? 0 : 1);
  }
  int ended;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_int_equal(ended, 0);
  end(&c, number, number);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_takeover),      cmocka_unit_test(test_signatures),
      cmocka_unit_test(test_refusal),       cmocka_unit_test(test_failed_compile),
      cmocka_unit_test(test_ready_at_once), cmocka_unit_test(test_no_interpreter),
      cmocka_unit_test(test_trim),          cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_early_ends),    cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_threads),       cmocka_unit_test(test_fork),
      cmocka_unit_test(test_precisions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
