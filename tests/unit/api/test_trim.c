/* wick_trim: how much it gives back of each kind of what is kept, that a second time finds nothing, and that what a
 * call is using stays and works. Bytes are counted as a call's budget counts them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "api/find.h"
#include "api/handles.h"
#include "base/cache.h"
#include "compute/conv/conv_weights.h"
#include "executor/executor.h"
#include "interp/interp.h"
#include "report/reason.h"
#include "wick/wick.h"

static void trim_stacks_of(Runtime *runtime, void *bytes) {
  *(uint64_t *)bytes += interp_trim(runtime);
}
static void trim_weights_of(Runtime *runtime, void *bytes) {
  *(uint64_t *)bytes += packed_weights_trim(runtime->packed_weights);
}
static uint64_t trim_stacks(void) {
  uint64_t bytes = 0;
  runtime_each(trim_stacks_of, &bytes);
  return bytes;
}
static uint64_t trim_weights(void) {
  uint64_t bytes = 0;
  runtime_each(trim_weights_of, &bytes);
  return bytes;
}

/* Bytes that a function says it gives back. What it frees of the heap, which a budget counts, must be among them. */
static int64_t freed_by(uint64_t (*trim)(void)) {
  MemBudget count = {.left = 0}, *before = mem_budget_enter(&count);
  int64_t bytes = (int64_t)trim();
  mem_budget_enter(before);
  assert_true(bytes || !atomic_load(&count.left));
  return bytes;
}

/* ---- a module, its calls, and what its print does ---- */

typedef struct Net {
  wick_runtime *runtime;
  wick_module *module;
  bool trims; /* while a call prints */
  int64_t kernels_before, kernels_after, freed;
} Net;

static const char source[] =
    "def fused(x):\n"
    "    y = (x * 2 + 1) * x\n"
    "    print('between')\n"
    "    return (y * 3 - 1) * y\n"
    "def linear(x, w):\n"
    "    return torch.nn.functional.linear(x, w)\n";

/* Length of the kernels' text. */
static int64_t kernels_of(const Net *net) {
  Function *function;
  StrBuf text = {0};
  assert_null(module_find(net->module, "fused", &function));
  executor_print_kernels(function, &text);
  int64_t length = (int64_t)text.length;
  strbuf_dispose(&text);
  return length;
}

static void on_print(void *user, const char *text, size_t length) {
  Net *net = user;
  (void)text, (void)length;
  if (!net->trims) return;
  net->kernels_before = kernels_of(net);
  net->freed = freed_by(wick_trim);
  net->kernels_after = kernels_of(net);
}

static void net_init(Net *net) {
  *net = (Net){0};
  wick_runtime_options options = {.size = sizeof options, .print = on_print, .user = net};
  wick_executor_options executor = {.size = sizeof executor, .executor = WICK_EXECUTOR_PROFILING, .synchronous = 1};
  assert_int_equal(wick_runtime_new(&options, &net->runtime, NULL), WICK_OK);
  assert_int_equal(wick_runtime_set_executor(net->runtime, &executor, NULL), WICK_OK);
  assert_int_equal(wick_compile(net->runtime, source, strlen(source), "program.py", &net->module, NULL), WICK_OK);
  wick_trim();
}
static void net_dispose(Net *net) {
  wick_module_release(net->module);
  wick_runtime_release(net->runtime);
  wick_trim();
  assert_int_equal(freed_by(wick_trim), 0);
}

static wick_value *call(const Net *net, const char *name, size_t count, const wick_value *const *arguments) {
  wick_value *out;
  wick_error *error = NULL;
  wick_run(net->module, name, arguments, count, NULL, 0, NULL, &out, &error);
  if (error) print_error("%s\n", wick_error_message(error));
  assert_null(error);
  return out;
}

static wick_value *full(int64_t rows, int64_t columns, float value) {
  Tensor *t;
  wick_value *out;
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, (int64_t[]){rows, columns}, &t));
  for (int64_t i = 0; i < rows * columns; i++) ((float *)tensor_data(t))[i] = value;
  assert_null(value_box(ivalue_tensor(t), &out));
  return out;
}
static float first_of(const wick_value *value) {
  return *(const float *)tensor_data(value->value.tensor);
}

/* ---- what is kept ---- */

enum { DEPTH = 3000 };

static void call_deep(wick_module *module) {
  wick_value *n = wick_value_int(0), *out;
  wick_run_options options = {.size = sizeof options, .executor = WICK_EXECUTOR_SIMPLE};
  assert_int_equal(wick_run(module, "f0", (const wick_value *const[]){n}, 1, NULL, 0, &options, &out, NULL), WICK_OK);
  assert_int_equal(wick_value_to_int(out), DEPTH);
  wick_value_release(out);
  wick_value_release(n);
}

static void stacks(void **state) {
  (void)state;
  StrBuf text = {0};
  strbuf_printf(&text, "def f%d(n: int) -> int:\n    return n\n", DEPTH);
  for (int i = DEPTH; i-- > 0;) /* callees first: compiling them does not nest */
    strbuf_printf(&text, "def f%d(n: int) -> int:\n    return f%d(n) + 1\n", i, i + 1);
  wick_module *module;
  assert_int_equal(wick_compile(NULL, text.data, text.length, "program.py", &module, NULL), WICK_OK);
  call_deep(module);
  wick_trim();
  call_deep(module);
  int64_t freed = freed_by(trim_stacks);
  assert_true(freed > 2048);
  assert_true(freed < 128 << 10); /* the call took more */
  assert_int_equal(freed_by(trim_stacks), 0);
  call_deep(module);
  wick_module_release(module);
  strbuf_dispose(&text);
  wick_trim();
}

/* A frame larger than the usual pieces of a stack is not kept. */
static void large_frames(void **state) {
  (void)state;
  enum { VARIABLES = 20000 }; /* of 16 bytes each, all alive at the end */
  StrBuf text = {0};
  strbuf_puts(&text, "def f(x: int) -> int:\n    a0 = x\n");
  for (int i = 1; i < VARIABLES; i++) strbuf_printf(&text, "    a%d = a%d + x\n", i, i - 1);
  strbuf_puts(&text, "    y = x\n");
  for (int i = 0; i < VARIABLES; i++) strbuf_printf(&text, "    y = y + a%d\n", i);
  strbuf_puts(&text, "    return y\n");
  wick_module *module;
  wick_value *one = wick_value_int(1), *out;
  assert_int_equal(wick_compile(NULL, text.data, text.length, "program.py", &module, NULL), WICK_OK);
  wick_trim();
  wick_run_options options = {.size = sizeof options, .executor = WICK_EXECUTOR_SIMPLE};
  assert_int_equal(wick_run(module, "f", (const wick_value *const[]){one}, 1, NULL, 0, &options, &out, NULL), WICK_OK);
  assert_int_equal(wick_value_to_int(out), 1 + (int64_t)VARIABLES * (VARIABLES + 1) / 2);
  int64_t freed = freed_by(trim_stacks);
  assert_true(freed > 0 && freed < 128 << 10);
  wick_value_release(out);
  wick_value_release(one);
  wick_module_release(module);
  strbuf_dispose(&text);
  wick_trim();
}

static void weights(void **state) {
  (void)state;
  enum { N = 128 };
  Net net;
  net_init(&net);
  wick_value *x = full(N, N, 1), *w = full(N, N, 0.5f);
  uint64_t packed = STATISTIC_GET(packed_weights);
  for (int i = 0; i < 4; i++) wick_value_release(call(&net, "linear", 2, (const wick_value *const[]){x, w}));
  assert_true(STATISTIC_GET(packed_weights) > packed);
  assert_true(freed_by(trim_weights) >= N * N * 4);
  assert_int_equal(freed_by(trim_weights), 0);
  wick_value *out = call(&net, "linear", 2, (const wick_value *const[]){x, w});
  assert_true(first_of(out) == N / 2);
  wick_value_release(out);
  wick_value_release(x);
  wick_value_release(w);
  net_dispose(&net);
}

static void settle(const Net *net, const wick_value *x) {
  for (int i = 0; i < 6; i++) wick_value_release(call(net, "fused", 1, &x));
  uint64_t compiles = STATISTIC_GET(compiles), hits = STATISTIC_GET(plan_hits);
  wick_value_release(call(net, "fused", 1, &x));
  assert_true(STATISTIC_GET(compiles) == compiles && STATISTIC_GET(plan_hits) > hits);
}

/* x = 1: y = 3, and (9 - 1) * 3 */
static void call_fused(const Net *net, const wick_value *x) {
  wick_value *out = call(net, "fused", 1, &x);
  assert_true(first_of(out) == 24);
  wick_value_release(out);
}

static void plans_and_kernels(void **state) {
  (void)state;
  Net net;
  net_init(&net);
  wick_value *x = full(4, 4, 1);
  settle(&net, x);
  assert_true(kernels_of(&net) > 0);
  int64_t freed = freed_by(wick_trim);
  assert_true(freed > 0);
  assert_int_equal(kernels_of(&net), 0);
  assert_int_equal(freed_by(wick_trim), 0);
  call_fused(&net, x);
  settle(&net, x);
  assert_true(kernels_of(&net) > 0);
  wick_value_release(x);
  net_dispose(&net);
}

/* A call that is between two groups of its plan trims: the plan and its kernels stay, this call and the next are
 * right, and nothing is made anew. */
static void plans_in_use(void **state) {
  (void)state;
  Net net;
  net_init(&net);
  wick_value *x = full(4, 4, 1);
  settle(&net, x);
  uint64_t compiles = STATISTIC_GET(compiles);
  net.trims = true;
  call_fused(&net, x);
  net.trims = false;
  assert_true(net.kernels_before > 0);
  assert_int_equal(net.kernels_after, net.kernels_before);
  uint64_t hits = STATISTIC_GET(plan_hits);
  call_fused(&net, x);
  assert_int_equal(STATISTIC_GET(compiles), compiles);
  assert_true(STATISTIC_GET(plan_hits) > hits);
  assert_true(freed_by(wick_trim) > 0); /* now nobody is in it */
  assert_int_equal(kernels_of(&net), 0);
  call_fused(&net, x);
  wick_value_release(x);
  net_dispose(&net);
}

static void storage(void **state) {
  (void)state;
  wick_trim();
  wick_value *large = full(512, 512, 0);
  wick_value_release(large);
  uint64_t kept = cache_bytes(NULL);
  assert_int_equal(wick_runtime_trim(NULL), kept);
  assert_int_equal(cache_bytes(NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stacks),       cmocka_unit_test(large_frames),
                                     cmocka_unit_test(weights),      cmocka_unit_test(plans_and_kernels),
                                     cmocka_unit_test(plans_in_use), cmocka_unit_test(storage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
