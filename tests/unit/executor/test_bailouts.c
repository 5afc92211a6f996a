/* Bailouts: whatever guard fails, the run goes on in the baseline and gives what simple execution gives. Every guard of
 * every program is made to fail in turn. */
#include "api/find.h"
#include "ivalue/print.h"
#include "plan_fixture.h"

/* Each program is a function f(x, y, n, flag); with a function make(x, y) it is f(make(x, y), y, n, flag). */
static const char *const programs[] = {
    "def f(x, y, n: int, flag: bool):\n"
    "    z = torch.relu(x) + y\n"
    "    return z * x - 1\n",
    /* a branch */
    "def f(x, y, n: int, flag: bool):\n"
    "    z = x + y\n"
    "    if flag:\n"
    "        w = z * 2\n"
    "        z = w + x\n"
    "    else:\n"
    "        z = torch.sigmoid(z) - y\n"
    "    return z.sum() + x.max()\n",
    /* carried values, the index and the trip count */
    "def f(x, y, n: int, flag: bool):\n"
    "    z = x\n"
    "    total = 0\n"
    "    for i in range(n):\n"
    "        z = torch.tanh(z + y * i)\n"
    "        total += i * n\n"
    "        z = z + x\n"
    "    return z, total, n\n",
    /* loops within loops, and branches in those */
    "def f(x, y, n: int, flag: bool):\n"
    "    z = x\n"
    "    trace: List[int] = []\n"
    "    for i in range(n):\n"
    "        u = z * 0.5\n"
    "        for j in range(i + 1):\n"
    "            u = u + y * j\n"
    "            if (i + j) % 2 == 0:\n"
    "                u = u - x\n"
    "                trace.append(i * 10 + j)\n"
    "            else:\n"
    "                for k in range(2):\n"
    "                    u = torch.relu(u) * (k + 1)\n"
    "        z = z + u * i\n"
    "    return z, trace\n",
    /* while, with a condition that tensors decide */
    "def f(x, y, n: int, flag: bool):\n"
    "    z = torch.ones_like(x)\n"
    "    k = 0\n"
    "    while float(z.sum()) < 100.0 and k < 50:\n"
    "        z = z + x.abs() + 1\n"
    "        k += 1\n"
    "        if k > 3 and flag:\n"
    "            z = z * 2\n"
    "    return z, k\n",
    /* early return, break and continue */
    "def f(x, y, n: int, flag: bool):\n"
    "    z = x - y\n"
    "    for i in range(10):\n"
    "        z = z * 1.5\n"
    "        if i == n:\n"
    "            return z + y, i\n"
    "        if i % 2 == 1:\n"
    "            continue\n"
    "        z = z - x\n"
    "        if float(z.max()) > 50.0:\n"
    "            break\n"
    "    return z.neg(), -1\n",
    /* values that only live on one path, tuples, lists, dicts */
    "def g(a, b):\n"
    "    return a + b, a * b\n"
    "def f(x, y, n: int, flag: bool):\n"
    "    p, q = g(x, y)\n"
    "    d: Dict[str, Tensor] = {'p': p}\n"
    "    l = [p, q]\n"
    "    if flag:\n"
    "        l.append(g(p, q)[0])\n"
    "        d['q'] = l[-1] * 3\n"
    "    else:\n"
    "        l = [q]\n"
    "    r = l[0]\n"
    "    for t in l:\n"
    "        r = r + t\n"
    "    for k in d.keys():\n"
    "        r = r - d[k]\n"
    "    return r, len(l), g(r, p)\n",
    /* writes in place, seen through views */
    "def f(x, y, n: int, flag: bool):\n"
    "    z = x.clone()\n"
    "    v = z[0]\n"
    "    for i in range(n):\n"
    "        v.add_(i)\n"
    "        z.mul_(2)\n"
    "        w = z + y\n"
    "        v.sub_(w[0])\n"
    "    u = z.t()\n"
    "    u[0] = 7.0\n"
    "    return z, u + 1\n",
    /* a `with` in the middle */
    "def f(x, y, n: int, flag: bool):\n"
    "    z = x + y\n"
    "    with torch.no_grad():\n"
    "        w = z * 2\n"
    "        if flag:\n"
    "            w = w + x\n"
    "    u = w - y\n"
    "    for i in range(n):\n"
    "        with torch.no_grad():\n"
    "            u = torch.relu(u)\n"
    "        u = u + z\n"
    "    return u\n",
    /* shape of its own in every turn */
    "def f(x, y, n: int, flag: bool):\n"
    "    z = x\n"
    "    for i in range(n):\n"
    "        z = torch.cat([z, y], 0)\n"
    "        y = torch.relu(y) + i\n"
    "    a, b = torch.chunk(z.t(), 2, 0)\n"
    "    return (a + 1).sum() + b.mean(), z.size(0)\n",
    /* optionals and what is refined */
    "def f(x, y, n: int, flag: bool):\n"
    "    o: Optional[Tensor] = None\n"
    "    if flag:\n"
    "        o = x * 2\n"
    "    s = y\n"
    "    for i in range(n):\n"
    "        k = o\n"
    "        if k is not None:\n"
    "            s = s + k\n"
    "            o = torch.jit.annotate(Optional[Tensor], None)\n"
    "        else:\n"
    "            o = s - 1\n"
    "    return s, o\n",
    /* attributes that are read at the start, used anywhere */
    "class Inner:\n"
    "    def __init__(self, scale):\n"
    "        self.scale = scale\n"
    "class M:\n"
    "    def __init__(self, w, b):\n"
    "        self.w = w\n"
    "        self.b = b\n"
    "        self.inner = Inner(w + b)\n"
    "def make(x, y):\n"
    "    return M(x, y)\n"
    "def f(m: M, y, n: int, flag: bool):\n"
    "    z = torch.relu(m.w) + m.b\n"
    "    for i in range(n):\n"
    "        if flag:\n"
    "            z = z * m.inner.scale + i\n"
    "        else:\n"
    "            for j in range(2):\n"
    "                z = z - m.inner.scale * m.w\n"
    "        m.b.add_(1)\n"
    "        z = torch.tanh(z + m.b) * y\n"
    "    return z + m.w, m.inner.scale - m.b\n",
    /* attributes that are written on the way: in a loop, and in an object that is reached in two ways */
    "class Inner:\n"
    "    def __init__(self, scale):\n"
    "        self.scale = scale\n"
    "class M:\n"
    "    def __init__(self, w, b):\n"
    "        self.w = w\n"
    "        self.b = b\n"
    "        self.inner = Inner(w + b)\n"
    "        self.other = self.inner\n"
    "def make(x, y):\n"
    "    return M(x, y)\n"
    "def f(m: M, y, n: int, flag: bool):\n"
    "    w = m.w\n"
    "    s = m.inner.scale\n"
    "    z = w + m.b * s\n"
    "    for i in range(n):\n"
    "        m.w = m.w * 2 + z\n"
    "        z = torch.sigmoid(m.w) - m.b\n"
    "        if flag:\n"
    "            m.other.scale = z + w\n"
    "        z = z * m.inner.scale + s\n"
    "    m.inner = Inner(z)\n"
    "    return z - w, m.w, m.inner.scale, m.other.scale + s\n",
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static IValue make_tensor(int64_t rows, int64_t columns, DType dtype, double start) {
  Tensor *t, *converted;
  int64_t sizes[] = {rows, columns};
  assert_null(tensor_empty(DTYPE_FLOAT64, 2, sizes, &t));
  for (int64_t i = 0; i < rows * columns; i++) ((double *)tensor_data(t))[i] = start + 0.25 * (double)(i % 7);
  assert_null(tensor_to_dtype(t, dtype, &converted));
  tensor_release(t);
  return ivalue_tensor(converted);
}

typedef struct Program {
  const char *text;
  Function *function, *make; /* make: NULL if there is none */
} Program;

typedef struct Arguments {
  IValue values[4];
} Arguments;

static Arguments make_arguments(int64_t rows, int64_t columns, DType dtype, int64_t n, bool flag) {
  return (Arguments){{make_tensor(rows, columns, dtype, -0.5), make_tensor(rows, columns, dtype, 0.125), ivalue_int(n),
                      ivalue_bool(flag)}};
}

static Arguments copy_arguments(const Arguments *a) {
  Arguments copy;
  for (int i = 0; i < 4; i++) assert_null(ivalue_deep_copy(a->values[i], &copy.values[i]));
  return copy;
}

static void dispose_arguments(Arguments *a) {
  for (int i = 0; i < 4; i++) ivalue_release(a->values[i]);
}

/* The result and the arguments afterwards, or the error, as text. */
static char *describe(Status status, IValue out, const Arguments *after) {
  StrBuf text = {0};
  if (status) {
    strbuf_printf(&text, "error: %s", status->message);
    status_free(status);
  } else {
    status_free(ivalue_print(out, &text));
  }
  for (int i = 0; i < 2; i++) {
    strbuf_char(&text, '\n');
    status_free(ivalue_print(after->values[i], &text));
  }
  return text.data;
}

/* The arguments of a call; the first is owned. */
static void complete(Exec *exec, const Arguments *mine, Function *make, IValue *arguments) {
  memcpy(arguments, mine->values, sizeof mine->values);
  if (make)
    assert_null(interp_call(exec, make, mine->values, 2, &arguments[0]));
  else
    ivalue_retain(arguments[0]);
}

static char *run_simple(Exec *exec, const Program *program, const Arguments *arguments) {
  Arguments mine = copy_arguments(arguments);
  IValue given[4], out = IVALUE_NONE;
  complete(exec, &mine, program->make, given);
  Status status = interp_call(exec, program->function, given, 4, &out);
  ivalue_release(given[0]);
  char *text = describe(status, out, &mine);
  ivalue_release(out);
  dispose_arguments(&mine);
  return text;
}

static char *run_plan(Planned *p, const Program *program, const Arguments *arguments, InterpRun *run) {
  Arguments mine = copy_arguments(arguments);
  IValue given[4], out = IVALUE_NONE;
  complete(p->exec, &mine, program->make, given);
  Status status = interp_run_plan(p->exec, p->plan_code, given, 4, &out, 1, run);
  ivalue_release(given[0]);
  char *text = describe(status, out, &mine);
  ivalue_release(out);
  dispose_arguments(&mine);
  return text;
}

static void check_same(const Program *program, const char *what, char *expected, char *got) {
  if (strcmp(expected, got) != 0) print_error("%s%s\n", program->text, what);
  assert_string_equal(got, expected);
  mem_free(got);
  mem_free(expected);
}

/* The first guard that is reached fails, then the second, ...: in loops every turn is another one. */
static void fail_each(Planned *p, const Program *program, const Arguments *arguments) {
  for (uint32_t reached = 0;; reached++) {
    char what[80];
    InterpRun run = {.force_guard = UINT32_MAX, .force_after = reached};
    char *got = run_plan(p, program, arguments, &run);
    snprintf(what, sizeof what, "guard %d, the one reached after %u others", (int)run.failed_guard - 1, reached);
    check_same(program, what, run_simple(p->exec, program, arguments), got);
    if (!run.failed_guard || run.force_after) return;
  }
}

static wick_module *compile(Program *program, const char *text) {
  wick_module *module = NULL;
  wick_error *error = NULL;
  if (wick_compile(NULL, text, strlen(text), "program.py", &module, &error)) fail_msg("%s", wick_error_message(error));
  *program = (Program){.text = text};
  assert_null(module_find(module, "f", &program->function));
  if (strstr(text, "def make")) assert_null(module_find(module, "make", &program->make));
  return module;
}

static void check_program(const char *text, bool eliminate, int profiled) {
  enum { COUNT = 4 };
  Arguments arguments[COUNT] = {
      make_arguments(2, 4, DTYPE_FLOAT32, 3, true), make_arguments(2, 4, DTYPE_FLOAT32, 2, false),
      make_arguments(3, 2, DTYPE_FLOAT32, 4, true), make_arguments(2, 4, DTYPE_FLOAT64, 1, true)};
  Program program;
  wick_module *module = compile(&program, text);
  Exec exec;
  api_exec_init(&exec, NULL);
  Planned p;
  planned_init(&p, &exec, program.function, (uint32_t)profiled);
  for (int i = 0; i < profiled; i++) {
    Arguments mine = copy_arguments(&arguments[i]);
    IValue given[4], out = IVALUE_NONE;
    complete(&exec, &mine, program.make, given);
    Status status = planned_profile(&p, given, 4, &out);
    ivalue_release(given[0]);
    check_same(&program, "profiled", run_simple(&exec, &program, &arguments[i]), describe(status, out, &mine));
    ivalue_release(out);
    dispose_arguments(&mine);
  }
  planned_guard(&p, eliminate);
  planned_finish(&p);
  for (int i = 0; i < COUNT; i++) {
    InterpRun run = {0};
    char *got = run_plan(&p, &program, &arguments[i], &run);
    check_same(&program, "as planned", run_simple(&exec, &program, &arguments[i]), got);
    if (i < profiled && run.failed_guard)
      fail_msg("%s\nguard %u failed for what was profiled", text, run.failed_guard - 1);
    fail_each(&p, &program, &arguments[i]);
  }
  planned_dispose(&p);
  wick_module_release(module);
  for (int i = 0; i < COUNT; i++) dispose_arguments(&arguments[i]);
}

static void test_every_guard(void **state) {
  (void)state;
  for (int i = 0; i < PROGRAMS; i++) check_program(programs[i], false, 1);
}

static void test_needed_guards(void **state) {
  (void)state;
  for (int i = 0; i < PROGRAMS; i++) check_program(programs[i], true, 1);
}

static void test_two_profiles(void **state) {
  (void)state;
  for (int i = 0; i < PROGRAMS; i++) check_program(programs[i], true, 3);
}

/* Else lists grow with the square of the number of parameters. */
static void test_attributes_are_in_no_list(void **state) {
  (void)state;
  Program program;
  wick_module *module = compile(&program,
                                "class M:\n"
                                "    def __init__(self, x, y):\n"
                                "        self.a = x\n"
                                "        self.b = y\n"
                                "        self.c = x + y\n"
                                "def make(x, y):\n"
                                "    return M(x, y)\n"
                                "def f(m: M, y, n: int, flag: bool):\n"
                                "    z = torch.cat([m.a, m.b])\n"
                                "    if flag:\n"
                                "        z = z[n:] * m.c[0]\n"
                                "    return z.sum() + (m.a * m.b * m.c).sum()\n");
  Exec exec;
  api_exec_init(&exec, NULL);
  Arguments arguments = make_arguments(2, 4, DTYPE_FLOAT32, 1, true);
  Planned p;
  planned_init(&p, &exec, program.function, 1);
  IValue given[4], out = IVALUE_NONE;
  complete(&exec, &arguments, program.make, given);
  assert_null(planned_profile(&p, given, 4, &out));
  planned_guard(&p, true);
  planned_finish(&p);
  uint32_t guards = 0;
  BLOCK_EACH(node, p.plan->block) {
    if (node->kind != SYM_prim_BailOut) continue;
    guards++;
    for (uint32_t i = 1; i < node->input_count; i++)
      if (node_input(node, i)->node->kind == SYM_prim_GetAttr || node_input(node, i)->node->kind == SYM_prim_BailOut)
        fail_msg("guard %d lists an attribute", (int)node_int(node, SYM_attr_index));
  }
  assert_true(guards >= 3);
  ivalue_release(out);
  ivalue_release(given[0]);
  dispose_arguments(&arguments);
  planned_dispose(&p);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_guard), cmocka_unit_test(test_needed_guards),
                                     cmocka_unit_test(test_two_profiles),
                                     cmocka_unit_test(test_attributes_are_in_no_list)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
