/* Small blocks that a thread gives back: it gets them again, aligned and large enough, and calls of programs that have
 * settled ask neither the heap nor a lock for anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <pthread.h>

#include "base/base.h"
#include "base/small_blocks.h"
#include "wick/wick.h"

/* ---- the heap and locks, counted; glibc alone has its own functions under second names ---- */

#if defined(__GLIBC__) && !defined(WICK_TESTS_STATIC) && !defined(WICK_SANITIZED) && !defined(WICK_HOSTILE)
#define COUNTED 1
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
static _Thread_local int64_t asked;

void *malloc(size_t bytes) {
  asked++;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  asked++;
  return __libc_calloc(count, bytes);
}
void *realloc(void *p, size_t bytes) {
  asked++;
  return __libc_realloc(p, bytes);
}
void *aligned_alloc(size_t align, size_t bytes) {
  asked++;
  return __libc_memalign(align, bytes);
}
#else
#define COUNTED 0
static int64_t asked;
#endif

static void test_sizes(void **state) {
  (void)state;
  for (size_t bytes = 0; bytes < 80000; bytes += bytes < 2000 ? 1 : 37) {
    assert_true(small_block_bytes(BLOCK_PLAIN, bytes) >= bytes);
    assert_true(small_block_bytes(BLOCK_ALIGNED, bytes) >= bytes);
    assert_true(small_block_bytes(BLOCK_PLAIN, bytes) <= bytes + bytes / 8 + 16);
    char *p = mem_alloc(bytes), *aligned = cache_alloc(bytes);
    assert_int_equal((uintptr_t)aligned % 64, 0);
    memset(p, 1, bytes);
    memset(aligned, 1, bytes);
    mem_free(p);
    cache_free(aligned, bytes);
    char *zeroed = mem_calloc(1, bytes);
    for (size_t i = 0; i < bytes && bytes < 1200; i++) assert_int_equal(zeroed[i], 0);
    mem_free(zeroed);
  }
  wick_trim();
}

static void test_blocks_come_back(void **state) {
  (void)state;
  if (!COUNTED) skip();
  enum { MOST = 30000, ROUNDS_UNTIL_SETTLED = 8 /* the heap may give a block of the next class */ };
  for (size_t bytes = 0; bytes < MOST; bytes += bytes / 7 + 1) {
    int64_t used = 0;
    for (int i = 0; i < ROUNDS_UNTIL_SETTLED; i++) {
      int64_t before = asked;
      void *p = mem_alloc(bytes), *stored = cache_alloc(bytes);
      used = asked - before;
      mem_free(p);
      cache_free(stored, bytes);
    }
    if (used) fail_msg("blocks of %zu bytes do not come back", bytes);
  }
  wick_trim();
}

static void test_resizing_keeps_what_is_there(void **state) {
  (void)state;
  unsigned char *p = NULL;
  size_t had = 0;
  for (size_t bytes = 1; bytes < 9000; bytes = bytes * 3 / 2 + 1) {
    p = mem_realloc(p, bytes);
    for (size_t i = 0; i < had; i++) assert_int_equal(p[i], (unsigned char)i);
    for (size_t i = had; i < bytes; i++) p[i] = (unsigned char)i;
    had = bytes;
  }
  for (size_t bytes = had; bytes > 1; bytes /= 3) {
    p = mem_realloc(p, bytes);
    for (size_t i = 0; i < bytes; i++) assert_int_equal(p[i], (unsigned char)i);
  }
  mem_free(p);
}

/* ---- blocks that end on another thread than they began, and threads that end ---- */

enum { THREADS = 4, ROUNDS = 2000, SHARED = 64 };
static _Atomic(void *) slots[SHARED];

static void *exchange(void *argument) {
  uint64_t random = 88172645463325252u + (uint64_t)(intptr_t)argument;
  for (int i = 0; i < ROUNDS; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    size_t bytes = (size_t)(random % 5000 + sizeof(size_t));
    size_t *made = mem_alloc(bytes);
    *made = bytes;
    size_t *got = atomic_exchange(&slots[random / 5000 % SHARED], made);
    if (got) {
      memset(got, 0x5a, *got);
      mem_free(got);
    }
    if (i % 500 == 0) wick_trim();
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, exchange, (void *)i), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < SHARED; i++) mem_free(slots[i]);
}

/* ---- programs ---- */

/* A policy as robots have them: a recurrent cell and layers, with state; and convolutional nets with what those that
 * classify pictures have: residual sums, normalization, depthwise kernels, shuffled channels, squeezed scales. */
static const char source[] =
    "def policy(x, h, c, w, u, b, v):\n"
    "    gates = torch.matmul(x, w) + torch.matmul(h, u) + b\n"
    "    i, f, g, o = gates.chunk(4, 1)\n"
    "    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)\n"
    "    h = torch.sigmoid(o) * torch.tanh(c)\n"
    "    y = torch.nn.functional.elu(torch.nn.functional.linear(torch.cat([h, x], 1), v))\n"
    "    return y, (h, c)\n"
    "def net(x, k, v):\n"
    "    for i in range(3):\n"
    "        x = torch.relu(torch.conv2d(x, k, padding=1))\n"
    "    x = torch.nn.functional.max_pool2d(x, 2)\n"
    "    return torch.softmax(torch.nn.functional.linear(x.flatten(1), v), 1)\n"
    "def norm(x, m):\n"
    "    return torch.batch_norm(x, m, m, m, m, False, 0.1, 1e-5, False)\n"
    "def residual(x, k, m, v):\n"
    "    y = torch.relu(norm(torch.conv2d(x, k, padding=1), m))\n"
    "    x = torch.relu(norm(torch.conv2d(y, k, padding=1), m) + x)\n"
    "    x = torch.nn.functional.adaptive_avg_pool2d(x, [1, 1])\n"
    "    return torch.nn.functional.linear(x.flatten(1), v)\n"
    "def shuffled(x, d, p, m):\n"
    "    a, b = x.chunk(2, 1)\n"
    "    b = torch.relu(norm(torch.conv2d(b, p), m))\n"
    "    b = norm(torch.conv2d(b, d, padding=1, groups=16), m)\n"
    "    y = torch.cat([a, b], 1)\n"
    "    n, c, h, w = y.size()\n"
    "    return y.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w)\n"
    "def squeezed(x, d, p, q):\n"
    "    y = torch.nn.functional.hardswish(torch.conv2d(x, d, padding=1, groups=16))\n"
    "    s = torch.nn.functional.adaptive_avg_pool2d(y, 1)\n"
    "    s = torch.nn.functional.hardsigmoid(torch.conv2d(torch.relu(torch.conv2d(s, p)), q))\n"
    "    return y * s + x\n";

static wick_value *ones(const char *sizes) {
  wick_value *x = NULL;
  int64_t of[4];
  int32_t count = 0;
  for (char *end; *sizes; sizes = *end ? end + 1 : end) of[count++] = strtoll(sizes, &end, 10);
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, count, of, &x, NULL), WICK_OK);
  float *data = wick_tensor_mutable_data(x);
  for (int64_t i = 0; i < wick_tensor_count(x); i++) data[i] = (float)(i % 7) * 0.1f;
  return x;
}

static void expect_no_heap(const wick_module *module, const char *name, const char *const *shapes, size_t count) {
  wick_function *function;
  wick_value *arguments[8];
  wick_run_options options = {.size = sizeof options, .threads = 1};
  assert_int_equal(wick_function_of((wick_module *)module, name, &function, NULL), WICK_OK);
  for (size_t i = 0; i < count; i++) arguments[i] = ones(shapes[i]);
  int64_t used = 0;
  for (int i = 0; i < 60; i++) { /* the first ones are watched, planned, and fill the thread's lists */
    wick_value *out;
    int64_t before = asked;
    assert_int_equal(
        wick_function_run(function, (const wick_value *const *)arguments, count, NULL, 0, &options, &out, NULL),
        WICK_OK);
    wick_value_release(out);
    used = asked - before;
    if (i < 50)
      wick_wait_for_plans();
    else
      assert_int_equal(used, 0);
  }
  for (size_t i = 0; i < count; i++) wick_value_release(arguments[i]);
  wick_function_release(function);
}

static void test_settled_calls_ask_for_nothing(void **state) {
  (void)state;
  if (!COUNTED) skip();
  wick_module *module;
  assert_int_equal(wick_compile(NULL, source, strlen(source), "text.py", &module, NULL), WICK_OK);
  static const char *const policy[] = {"1 48", "1 64", "1 64", "48 256", "64 256", "256", "12 112"};
  static const char *const net[] = {"1 8 12 12", "8 8 3 3", "10 288"};
  expect_no_heap(module, "policy", policy, sizeof policy / sizeof *policy);
  static const char *const residual[] = {"1 16 14 14", "16 16 3 3", "16", "10 16"};
  static const char *const shuffled[] = {"1 32 14 14", "16 1 3 3", "16 16 1 1", "16"};
  static const char *const squeezed[] = {"1 16 14 14", "16 1 3 3", "8 16 1 1", "16 8 1 1"};
  expect_no_heap(module, "net", net, sizeof net / sizeof *net);
  expect_no_heap(module, "residual", residual, sizeof residual / sizeof *residual);
  expect_no_heap(module, "shuffled", shuffled, sizeof shuffled / sizeof *shuffled);
  expect_no_heap(module, "squeezed", squeezed, sizeof squeezed / sizeof *squeezed);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_blocks_come_back),
      cmocka_unit_test(test_resizing_keeps_what_is_there),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_settled_calls_ask_for_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
