/* Whole programs: calls, exceptions through `with`, tasks, traces, and tensors that die early. */
#include <stdio.h>
#include <sys/resource.h>

#include "ir_fixture.h"

#include "api/handles.h"
#include "frontend/frontend.h"
#include "ivalue/future.h"

typedef struct Program {
  CompilationUnit *unit;
  Exec exec;
  Source *source;
} Program;

static void compile(Program *p, const char *text) {
  exec_init(&p->exec, &api_services);
  assert_null(unit_new(&p->unit));
  assert_null(source_new(str_from(text), "program.py", 1, &p->source));
  Status status = frontend_compile_program(p->unit, &p->exec, p->source, NULL);
  if (status) print_error("%s\n", status->message);
  assert_null(status);
}

static void dispose(Program *p) {
  unit_release(p->unit);
  source_release(p->source);
}

static Status call(Program *p, const char *name, uint32_t count, const IValue *arguments, IValue *out) {
  Function *f = unit_find_function(p->unit, str_from(name));
  assert_non_null(f);
  return interp_call(&p->exec, f, arguments, count, out);
}

static void test_with(void **state) {
  (void)state;
  Program p;
  compile(&p,
          "class Log:\n"
          "    def __init__(self, entries: List[str]):\n"
          "        self.entries = entries\n"
          "    def __enter__(self) -> int:\n"
          "        self.entries.append('enter')\n"
          "        return 7\n"
          "    def __exit__(self, a: Any, b: Any, c: Any) -> None:\n"
          "        self.entries.append('exit')\n"
          "def f(entries: List[str], bad: bool) -> int:\n"
          "    with Log(entries) as n:\n"
          "        if bad:\n"
          "            raise ValueError('no')\n"
          "        k = n\n"
          "    return k\n");
  List *l;
  assert_null(list_new(TYPE(STRING), 0, &l));
  IValue out, arguments[2] = {ivalue_list(l), ivalue_bool(false)};
  assert_null(call(&p, "f", 2, arguments, &out));
  assert_int_equal(out.i, 7);
  assert_int_equal(l->length, 2);
  arguments[1] = ivalue_bool(true);
  Status status = call(&p, "f", 2, arguments, &out);
  assert_non_null(status);
  assert_int_equal(status->code, ERROR_RAISED);
  status_free(status);
  assert_int_equal(l->length, 4);
  assert_true(str_is(ivalue_str(l->values[3]), "exit"));
  ivalue_release(arguments[0]);
  dispose(&p);
}

static void test_trace(void **state) {
  (void)state;
  Program p;
  compile(&p,
          "def g(k: int) -> int:\n"
          "    if k > 3:\n"
          "        raise ValueError('bad')\n"
          "    return k\n"
          "def f(k: int) -> int:\n"
          "    return g(k) + 1\n");
  IValue out, k = ivalue_int(4);
  Status status = call(&p, "f", 1, &k, &out);
  assert_non_null(status);
  assert_string_equal(status->message, "bad");
  assert_string_equal(status->exception, "ValueError");
  assert_string_equal(status->trace,
                      "Traceback of TorchScript (most recent call last):\n"
                      "  File \"program.py\", line 6, in f\n"
                      "    return k\n"
                      "def f(k: int) -> int:\n"
                      "    return g(k) + 1\n"
                      "           ~ <--- HERE\n"
                      "  File \"program.py\", line 3, in g\n"
                      "def g(k: int) -> int:\n"
                      "    if k > 3:\n"
                      "        raise ValueError('bad')\n"
                      "        ~~~~~~~~~~~~~~~~~~~~~~ <--- HERE\n"
                      "    return k\n"
                      "def f(k: int) -> int:\n");
  status_free(status);
  dispose(&p);
}

/* An error crosses wait, and tasks wait for tasks. */
static void test_tasks(void **state) {
  (void)state;
  Program p;
  compile(&p,
          "def leaf(k: int) -> int:\n"
          "    if k == 13:\n"
          "        raise ValueError('thirteen')\n"
          "    return k\n"
          "def middle(k: int) -> int:\n"
          "    a = torch.jit.fork(leaf, k)\n"
          "    b = torch.jit.fork(leaf, k + 1)\n"
          "    return torch.jit.wait(a) + torch.jit.wait(b)\n"
          "def f(n: int, first: int) -> int:\n"
          "    futures: List[Future[int]] = []\n"
          "    for i in range(n):\n"
          "        futures.append(torch.jit.fork(middle, first + i))\n"
          "    total = 0\n"
          "    for future in futures:\n"
          "        total += torch.jit.wait(future)\n"
          "    return total\n");
  IValue out, arguments[2] = {ivalue_int(500), ivalue_int(100)};
  assert_null(call(&p, "f", 2, arguments, &out));
  assert_int_equal(out.i, 350000);
  arguments[1] = ivalue_int(0);
  Status status = call(&p, "f", 2, arguments, &out);
  assert_non_null(status);
  assert_string_equal(status->message, "thirteen");
  status_free(status);
  Future *future;
  arguments[1] = ivalue_int(100);
  Function *function = unit_find_function(p.unit, STR("f"));
  const Code *code;
  assert_null(function_code(&p.exec, function, &code));
  assert_null(interp_start(&p.exec, function, code, arguments, 2, NULL, &future));
  future_wait(future);
  assert_null(future_result(future, &out));
  assert_int_equal(out.i, 350000);
  ivalue_release(ivalue_future(future));
  dispose(&p);
}

static long peak_kilobytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* Every step's input is gone when the next result is made: 50 steps of 4 MiB need room for a few tensors. */
static void test_early_release(void **state) {
  (void)state;
  Program p;
  compile(&p,
          "def f(x: Tensor) -> int:\n"
          "    y = x.reshape(-1).clone()\n"
          "    for i in range(50):\n"
          "        y = y.clone()\n"
          "    z = y.clone()\n"
          "    return z.numel()\n");
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT32, 1, (int64_t[]){1 << 20}, &t));
  tensor_fill_zero(t);
  IValue out, x = ivalue_tensor(t);
  long before = peak_kilobytes();
  assert_null(call(&p, "f", 1, &x, &out));
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  (void)before; /* they keep freed memory */
#else
  assert_true(peak_kilobytes() - before < 40 << 10);
#endif
  assert_int_equal(out.i, 1 << 20);
  assert_true(ref_is_unique(&t->refs));
  ivalue_release(x);
  dispose(&p);
}

/* Counted values that change places and one that nobody wants any more: none is dropped after the moves. */
/* An operator may write over a dying argument only where it has read it: of these, over the first. */
static void test_dying_arguments(void **state) {
  (void)state;
  Program p;
  compile(&p,
          "def f(n: int) -> List[int]:\n"
          "    x = (torch.arange(n * n).reshape(n, n) % 5).to(torch.float32)\n"
          "    r = x + 1\n"
          "    y = x * 1\n"
          "    zero = torch.zeros(n, dtype=torch.int64)\n"
          "    one = torch.ones(n)\n"
          "    good = [torch.equal(torch.addmm(x, x + 1, x), torch.mm(r, x) + x),\n"
          "            torch.equal(torch.addmm(x, x, x + 1), torch.mm(x, r) + x),\n"
          "            torch.equal(torch.baddbmm(x[None], x[None] + 1, x[None]), (torch.mm(r, x) + x)[None]),\n"
          "            torch.equal(y.addmm_(y, x), torch.mm(x, x) + x),\n"
          "            torch.equal(torch.addmm(x, x, r, out=r), torch.mm(x, x + 1) + x),\n"
          "            int(one.put(zero, torch.zeros(n)).sum()) == n - 1,\n"
          "            int(one.index_put([zero], torch.zeros(n)).sum()) == n - 1,\n"
          "            int(one.scatter(0, zero, torch.zeros(n)).sum()) == n - 1,\n"
          "            int(one.masked_scatter(one > 0, torch.zeros(n)).sum()) == 0,\n"
          "            int(one.where(one > 0, torch.zeros(n)).sum()) == n]\n"
          "    return [i for i in range(len(good)) if not good[i]]\n");
  const int64_t sizes[] = {1, 3, 150};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    IValue out, n = ivalue_int(sizes[i]);
    Status status = call(&p, "f", 1, &n, &out);
    if (status) print_error("%s\n", status->message);
    assert_null(status);
    if (out.list->length) print_error("size %d: item %d differs\n", (int)n.i, (int)out.list->ints[0]);
    assert_int_equal(out.list->length, 0);
    ivalue_release(out);
  }
  dispose(&p);
}

static void test_swap_in_branch(void **state) {
  (void)state;
  Program p;
  compile(&p,
          "def f(swaps: bool, n: int) -> str:\n"
          "    a = 'a' + str(n)\n"
          "    b = 'b' + str(n)\n"
          "    c = 'c' + str(n)\n"
          "    for i in range(3):\n"
          "        if swaps:\n"
          "            a, b = b, a\n"
          "        if i > 0:\n"
          "            a, b, c = b, c, a\n"
          "        if i > 1:\n"
          "            c = a + b\n"
          "            a = b\n"
          "    return a + b + c\n");
  static const char *const expected[] = {"a2a2c2a2", "a2a2b2a2"};
  for (int swaps = 0; swaps < 2; swaps++) {
    IValue out, arguments[2] = {ivalue_bool(swaps), ivalue_int(2)};
    assert_null(call(&p, "f", 2, arguments, &out));
    assert_true(str_is(ivalue_str(out), expected[swaps]));
    ivalue_release(out);
  }
  dispose(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_with),          cmocka_unit_test(test_trace),
      cmocka_unit_test(test_tasks),         cmocka_unit_test(test_dying_arguments),
      cmocka_unit_test(test_early_release), cmocka_unit_test(test_swap_in_branch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
