/* Two runtimes in a process: each has memory and limits of its own, whoever comes first, goes first, or gives back on
 * another thread what the other one made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "wick/wick.h"

/* ---- an allocator that watches ---- */

typedef struct Watch {
  _Atomic int64_t blocks, bytes, taken;
  _Atomic int64_t until_refused; /* 0: never */
} Watch;
typedef struct Block {
  Watch *watch;
  size_t bytes;
  void *raw;
  char filler[40];
} Block;
_Static_assert(sizeof(Block) == 64, "what follows is aligned");

static void *watched_alloc(void *user, size_t bytes, size_t align) {
  Watch *watch = user;
  assert_true(align && align <= 64 && !(align & (align - 1)));
  if (atomic_load(&watch->until_refused) > 0 && atomic_fetch_sub(&watch->until_refused, 1) == 1) return NULL;
  char *raw = malloc(bytes + 64 + sizeof(Block));
  if (!raw) return NULL;
  Block *block = (Block *)(((uintptr_t)raw + 63) & ~(uintptr_t)63);
  *block = (Block){watch, bytes, raw, ""};
  memset(block + 1, 0xa5, bytes);
  atomic_fetch_add(&watch->blocks, 1);
  atomic_fetch_add(&watch->taken, 1);
  atomic_fetch_add(&watch->bytes, (int64_t)bytes);
  return block + 1;
}
static void watched_free(void *user, void *p, size_t bytes) {
  Block *block = (Block *)p - 1;
  assert_ptr_equal(block->watch, user);
  assert_int_equal(block->bytes, bytes);
  Watch *watch = block->watch;
  atomic_fetch_sub(&watch->bytes, (int64_t)bytes);
  memset(p, 0x5a, bytes);
  free(block->raw);
  atomic_fetch_sub(&watch->blocks, 1); /* last: who sees the last block gone lets the watch go */
}

static wick_runtime *runtime_of(Watch *watch, uint64_t cache_bytes, uint64_t max_bytes) {
  wick_runtime_options options = {.size = sizeof options, .cache_bytes = cache_bytes, .max_bytes = max_bytes};
  wick_runtime *runtime;
  if (watch) {
    options.alloc = watched_alloc;
    options.free = watched_free;
    options.user = watch;
  }
  assert_int_equal(wick_runtime_new(&options, &runtime, NULL), WICK_OK);
  return runtime;
}

/* ---- programs ---- */

static const char source[] =
    "def step(x, w):\n"
    "    h = torch.tanh(torch.matmul(x, w)) * 2 + x\n"
    "    parts = []\n"
    "    for i in range(3):\n"
    "        h = torch.sigmoid(h + i)\n"
    "        parts.append(h.sum())\n"
    "    return torch.relu(h - 0.25), torch.stack(parts), str(h.size(0))\n"
    "def task(x):\n"
    "    return torch.exp(x).sum() * 2\n"
    "def forked(x):\n"
    "    a = torch.jit.fork(task, x)\n"
    "    b = torch.jit.fork(task, x + 1)\n"
    "    return torch.jit.wait(a) + torch.jit.wait(b)\n"
    "def image(x, k):\n"
    "    for i in range(3):\n"
    "        x = torch.relu(torch.conv2d(x, k, padding=1))\n"
    "    return x\n"
    "def big(n: int):\n"
    "    return torch.zeros([n, 1024, 256])\n";

static wick_value *ones(int32_t ndim, const int64_t *sizes) {
  wick_value *x;
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, ndim, sizes, &x, NULL), WICK_OK);
  float *data = wick_tensor_mutable_data(x);
  for (int64_t i = 0; i < wick_tensor_count(x); i++) data[i] = (float)(i % 7) * 0.1f;
  return x;
}

static wick_status call(wick_module *module, const char *name, wick_value **arguments, size_t count, bool grad,
                        wick_value **out) {
  wick_run_options options = {.size = sizeof options, .grad = grad ? WICK_GRAD_ON : WICK_GRAD_DEFAULT};
  return wick_run(module, name, (const wick_value *const *)arguments, count, NULL, 0, &options, out, NULL);
}

/* Compiles the program, runs everything in it some times, and gives a result and the module. The first status that is
 * not OK. */
static wick_status run_all(wick_runtime *runtime, wick_module **module, wick_value **kept) {
  wick_value *arguments[] = {ones(2, (int64_t[]){48, 48}), ones(2, (int64_t[]){48, 48})};
  wick_value *images[] = {ones(4, (int64_t[]){1, 8, 32, 32}), ones(4, (int64_t[]){8, 8, 3, 3})}, *out;
  *kept = NULL;
  wick_status status = wick_compile(runtime, source, strlen(source), "text.py", module, NULL);
  for (int i = 0; i < 4 && status == WICK_OK; i++) {
    wick_value_release(*kept);
    *kept = NULL;
    status = call(*module, "step", arguments, 2, false, kept);
    if (status == WICK_OK && (status = call(*module, "forked", arguments, 1, false, &out)) == WICK_OK)
      wick_value_release(out);
    if (status == WICK_OK && (status = call(*module, "image", images, 2, false, &out)) == WICK_OK)
      wick_value_release(out);
    wick_wait_for_plans();
  }
  for (int i = 0; i < 2; i++) wick_value_release(arguments[i]), wick_value_release(images[i]);
  return status;
}

static wick_status differentiate(wick_runtime *runtime, wick_module *module) {
  wick_value *x = ones(2, (int64_t[]){48, 48}), *loss = NULL;
  assert_int_equal(wick_tensor_set_requires_grad(x, 1, NULL), WICK_OK);
  wick_status status = WICK_OK;
  for (int i = 0; i < 3 && status == WICK_OK; i++) {
    status = call(module, "task", &x, 1, true, &loss);
    if (status == WICK_OK) status = wick_backward(runtime, (const wick_value *const *)&loss, NULL, 1, 0, NULL);
    wick_value_release(loss);
    loss = NULL;
  }
  wick_wait_for_plans(); /* they hold what they are made of */
  wick_value_release(x);
  return status;
}

/* ---- memory comes from the runtime's functions and goes back to them ---- */

static void test_everything_goes_back(void **state) {
  (void)state;
  Watch watch = {0}, other = {0};
  wick_runtime *runtime = runtime_of(&watch, 0, 0), *beside = runtime_of(&other, 0, 0);
  wick_module *module;
  wick_value *kept;
  assert_int_equal(run_all(runtime, &module, &kept), WICK_OK);
  assert_int_equal(differentiate(runtime, module), WICK_OK);
  assert_true(watch.blocks > 50 && watch.bytes > 100000);
  assert_int_equal(other.taken, 0);
  wick_value_release(kept);
  wick_module_release(module);
  wick_runtime_release(runtime);
  assert_int_equal(watch.blocks, 0);
  assert_int_equal(watch.bytes, 0);
  wick_runtime_release(beside);
  assert_int_equal(other.blocks, 0);
}

static void *release_value(void *value) {
  wick_value_release(value);
  return NULL;
}

static void test_values_outlive_the_runtime(void **state) {
  (void)state;
  Watch watch = {0};
  wick_runtime *runtime = runtime_of(&watch, 0, 0);
  wick_module *module;
  wick_value *kept, *item;
  assert_int_equal(run_all(runtime, &module, &kept), WICK_OK);
  wick_runtime_release(runtime);
  wick_module_release(module);
  item = wick_value_item(kept, 0);
  assert_true(((const float *)wick_tensor_data(item))[0] >= 0);
  wick_value_release(kept);
  assert_true(watch.blocks > 0);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, release_value, item), 0);
  pthread_join(thread, NULL);
  assert_int_equal(watch.blocks, 0);
}

/* Each n-th request is refused, up to the first run that needs fewer. */
static void test_refusals_are_statuses(void **state) {
  (void)state;
  int refused = 0;
  for (int64_t n = 1; n < 100000; n += 1 + n / 16) {
    Watch watch = {.until_refused = n};
    wick_runtime *runtime;
    wick_runtime_options options = {
        .size = sizeof options, .alloc = watched_alloc, .free = watched_free, .user = &watch};
    wick_module *module = NULL;
    wick_value *kept = NULL;
    assert_int_equal(wick_runtime_new(&options, &runtime, NULL), WICK_OK);
    wick_status status = run_all(runtime, &module, &kept);
    if (status == WICK_OK) status = differentiate(runtime, module);
    assert_true(status == WICK_OK || status == WICK_OUT_OF_MEMORY);
    refused += status != WICK_OK;
    bool is_enough = atomic_load(&watch.until_refused) > 0;
    wick_value_release(kept);
    wick_module_release(module);
    wick_runtime_release(runtime);
    assert_int_equal(watch.blocks, 0);
    if (is_enough) break;
  }
  assert_true(refused > 20);
}

static void test_max_bytes(void **state) {
  (void)state;
  wick_runtime *small = runtime_of(NULL, 0, 16 << 20), *large = runtime_of(NULL, 0, 0);
  wick_module *in_small, *in_large;
  wick_value *out, *size;
  wick_error *error;
  assert_int_equal(wick_compile(small, source, strlen(source), "text.py", &in_small, NULL), WICK_OK);
  assert_int_equal(wick_compile(large, source, strlen(source), "text.py", &in_large, NULL), WICK_OK);
  size = wick_value_int(32);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(wick_run(in_small, "big", (const wick_value *const *)&size, 1, NULL, 0, NULL, &out, &error),
                     WICK_OUT_OF_MEMORY);
    wick_error_free(error);
    assert_int_equal(call(in_large, "big", &size, 1, false, &out), WICK_OK);
    wick_value_release(out);
  }
  wick_value_release(size);
  size = wick_value_int(8); /* what was refused was not counted */
  for (int i = 0; i < 5; i++) {
    assert_int_equal(call(in_small, "big", &size, 1, false, &out), WICK_OK);
    wick_value_release(out);
  }
  wick_value_release(size);
  wick_module_release(in_small);
  wick_module_release(in_large);
  wick_runtime_release(small);
  wick_runtime_release(large);
}

static void test_wrong_options(void **state) {
  (void)state;
  wick_runtime *runtime;
  wick_runtime_options options = {.size = sizeof options, .alloc = watched_alloc};
  assert_int_equal(wick_runtime_new(&options, &runtime, NULL), WICK_INVALID_ARGUMENT);
  options = (wick_runtime_options){.size = sizeof options, .free = watched_free};
  assert_int_equal(wick_runtime_new(&options, &runtime, NULL), WICK_INVALID_ARGUMENT);
}

/* ---- limits and choices are each runtime's ---- */

static wick_stats stats_now(void) {
  wick_stats stats = {.size = sizeof stats};
  wick_stats_get(&stats);
  return stats;
}

static wick_module *compile(wick_runtime *runtime) {
  wick_module *module;
  assert_int_equal(wick_compile(runtime, source, strlen(source), "text.py", &module, NULL), WICK_OK);
  return module;
}

#if !defined(WICK_SANITIZED) && !defined(WICK_HOSTILE)
static void test_caches(void **state) {
  (void)state;
  wick_runtime *runtimes[2] = {runtime_of(NULL, 1 << 20, 0), runtime_of(NULL, 64 << 20, 0)};
  uint64_t kept[2];
  wick_value *size = wick_value_int(8), *out;
  wick_trim();
  wick_module *modules[2];
  for (int i = 0; i < 2; i++) {
    modules[i] = compile(runtimes[i]);
    assert_int_equal(call(modules[i], "big", &size, 1, false, &out), WICK_OK);
    wick_value_release(out); /* by a thread that is in no runtime */
  }
  wick_stats stats = stats_now();
  for (int i = 0; i < 2; i++) {
    wick_memory memory = {.size = sizeof memory};
    assert_int_equal(wick_runtime_memory(runtimes[i], &memory, NULL), WICK_OK);
    kept[i] = memory.freed_storage;
    wick_module_release(modules[i]);
  }
  assert_int_equal(stats.cache_bytes, kept[0] + kept[1]);
  assert_int_equal(stats_now().cache_bytes, 0); /* nobody is there who would want it */
  assert_true(kept[0] <= 1 << 20 && kept[1] >= 8 << 20);
  wick_value_release(size);
  for (int i = 0; i < 2; i++) wick_runtime_release(runtimes[i]);
}

static void test_packed_weights(void **state) {
  (void)state;
  wick_runtime *runtimes[2] = {runtime_of(NULL, 0, 0), runtime_of(NULL, 0, 0)};
  wick_value *images[] = {ones(4, (int64_t[]){1, 8, 32, 32}), ones(4, (int64_t[]){8, 8, 3, 3})}, *out;
  wick_module *module = compile(runtimes[0]);
  uint64_t packed[5] = {stats_now().packed_weights};
  for (int i = 1; i < 5; i++) {
    if (i == 3) wick_runtime_trim(runtimes[1]);
    if (i == 4) wick_runtime_trim(runtimes[0]);
    assert_int_equal(call(module, "image", images, 2, false, &out), WICK_OK);
    wick_wait_for_plans();
    wick_value_release(out);
    packed[i] = stats_now().packed_weights;
  }
  assert_true(packed[1] > packed[0]);
  assert_int_equal(packed[3], packed[2]); /* another one's trim takes nothing away */
  assert_true(packed[4] > packed[3]);
  wick_module_release(module);
  for (int i = 0; i < 2; i++) wick_value_release(images[i]), wick_runtime_release(runtimes[i]);
}

#endif

static void test_plans(void **state) {
  (void)state;
  enum { KINDS = 5 };
  static const uint32_t max_plans[] = {1, 8};
  uint64_t made[2];
  for (int i = 0; i < 2; i++) {
    wick_runtime *runtime = runtime_of(NULL, 0, 0);
    wick_executor_options options = {
        .size = sizeof options, .executor = WICK_EXECUTOR_SPECIALIZING, .max_plans = max_plans[i], .synchronous = 1};
    assert_int_equal(wick_runtime_set_executor(runtime, &options, NULL), WICK_OK);
    wick_module *module = compile(runtime);
    uint64_t before = stats_now().compiles;
    for (int32_t ndim = 1; ndim <= KINDS; ndim++) {
      wick_value *x = ones(ndim, (int64_t[]){2, 2, 2, 2, 2}), *out;
      assert_int_equal(call(module, "task", &x, 1, false, &out), WICK_OK);
      wick_value_release(out);
      wick_value_release(x);
    }
    made[i] = stats_now().compiles - before;
    wick_module_release(module);
    wick_runtime_release(runtime);
  }
  assert_true(made[0] < made[1] && made[1] >= KINDS);
}

static void hear(void *user, const char *text, size_t length) {
  (void)text;
  *(size_t *)user += length;
}

static void test_printing(void **state) {
  (void)state;
  static const char printing[] = "def say(x: str):\n    print(x)\n";
  size_t heard[2] = {0};
  wick_runtime *runtimes[2];
  wick_module *modules[2];
  wick_value *text = wick_value_string("four", 4), *out;
  for (int i = 0; i < 2; i++) {
    wick_runtime_options options = {.size = sizeof options, .print = hear, .user = &heard[i]};
    assert_int_equal(wick_runtime_new(&options, &runtimes[i], NULL), WICK_OK);
    assert_int_equal(wick_compile(runtimes[i], printing, strlen(printing), "say.py", &modules[i], NULL), WICK_OK);
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(call(modules[i], "say", &text, 1, false, &out), WICK_OK);
    wick_value_release(out);
    assert_true(heard[0] == 5 && heard[1] == (i ? 5 : 0));
    wick_module_release(modules[i]);
    wick_runtime_release(runtimes[i]); /* the other one goes on */
  }
  wick_value_release(text);
}

/* The call is under way when nobody has the runtime any more. */
static void test_calls_keep_their_runtime(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    Watch watch = {0};
    wick_runtime *runtime = runtime_of(&watch, 0, 0);
    wick_module *module = compile(runtime);
    wick_value *x = ones(2, (int64_t[]){64, 64}), *out;
    wick_future *future;
    assert_int_equal(wick_run_async(module, "forked", (const wick_value *const *)&x, 1, NULL, 0, NULL, &future, NULL),
                     WICK_OK);
    wick_module_release(module);
    wick_runtime_release(runtime);
    assert_int_equal(wick_future_wait(future, 0, &out, NULL), WICK_OK);
    wick_future_release(future);
    wick_value_release(out);
    wick_value_release(x);
    wick_wait_for_plans();
    while (atomic_load(&watch.blocks)) sched_yield(); /* the thread that ran it is about to let go */
  }
}

/* A module of another runtime shares what this one has compiled, and stays when it goes. */
static void test_sharing(void **state) {
  (void)state;
  static const char method[] = "def forward(self, x):\n    return torch.relu(x) + 1\n";
  for (int i = 0; i < 2; i++) {
    Watch watch = {0};
    wick_runtime *first = runtime_of(i ? &watch : NULL, 0, 0), *second = runtime_of(NULL, 0, 0);
    wick_module *module, *clone;
    wick_value *x = ones(2, (int64_t[]){8, 8}), *out;
    assert_int_equal(wick_module_new(first, "M", NULL, 0, &module, NULL), WICK_OK);
    assert_int_equal(wick_module_define(module, first, method, strlen(method), NULL, NULL), WICK_OK);
    assert_int_equal(wick_module_clone(module, second, 1, &clone, NULL), WICK_OK);
    wick_module_release(module);
    wick_runtime_release(first);
    for (int k = 0; k < 4; k++) {
      assert_int_equal(call(clone, "forward", &x, 1, false, &out), WICK_OK);
      wick_value_release(out);
      wick_wait_for_plans();
    }
    wick_module_release(clone);
    wick_runtime_release(second);
    wick_value_release(x);
    assert_int_equal(watch.blocks, 0);
  }
}

/* ---- beside each other ---- */

enum { THREADS = 4, ROUNDS = 3 };
static _Atomic(wick_value *) slots[THREADS];

static void *live(void *argument) {
  intptr_t index = (intptr_t)argument;
  for (int round = 0; round < ROUNDS; round++) {
    Watch watch = {0};
    wick_runtime *runtime = runtime_of(index % 2 ? &watch : NULL, 1 << 20, 0);
    wick_module *module;
    wick_value *kept;
    assert_int_equal(run_all(runtime, &module, &kept), WICK_OK);
    assert_int_equal(differentiate(runtime, module), WICK_OK);
    wick_module_release(module);
    if (index % 2) {
      wick_value_release(kept);
      wick_runtime_release(runtime);
      assert_int_equal(watch.blocks, 0);
      continue;
    }
    wick_runtime_release(runtime);
    wick_value_release(atomic_exchange(&slots[(index + round) % THREADS], kept)); /* another thread's, mostly */
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, live, (void *)i), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) wick_value_release(slots[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_everything_goes_back),
    cmocka_unit_test(test_values_outlive_the_runtime),
    cmocka_unit_test(test_refusals_are_statuses),
    cmocka_unit_test(test_max_bytes),
    cmocka_unit_test(test_wrong_options),
#if !defined(WICK_SANITIZED) && !defined(WICK_HOSTILE) /* there nothing much is kept */
    cmocka_unit_test(test_caches),
    cmocka_unit_test(test_packed_weights),
#endif
    cmocka_unit_test(test_plans),
    cmocka_unit_test(test_printing),
    cmocka_unit_test(test_calls_keep_their_runtime),
    cmocka_unit_test(test_sharing),
    cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
