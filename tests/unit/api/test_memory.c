/* What belongs to a module goes with it; a weight is shared until it is written; one bound covers all that is kept.
 * Bytes are those that the functions of a runtime were asked for, or that wick_runtime_memory says. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/reason.h"
#include "wick/dlpack.h"
#include "wick/wick.h"

enum { N = 512, BYTES = N * N * (int)sizeof(float), LAYERS = 3 };

static const char methods[] =
    "def forward(self, x):\n"
    "    x = torch.nn.functional.linear(x, self.w0)\n"
    "    x = torch.nn.functional.linear(x, self.w1)\n"
    "    return torch.nn.functional.linear(x, self.w2)\n"
    "def scale(self, by: float):\n"
    "    self.w1.mul_(by)\n"
    "def grow(self):\n"
    "    self.w1.resize_([512, 600])\n"
    "def fill(self):\n"
    "    self.w1.uniform_(0.0, 1.0)\n"
    "def put(self, x):\n"
    "    torch.mul(x, 2, out=self.w1)\n"
    "def part(self):\n"
    "    self.w1[3].zero_()\n";

/* ---- a runtime that counts ---- */

static _Atomic int64_t taken;
static void *count_alloc(void *user, size_t bytes, size_t align) {
  (void)user;
  void *p = NULL;
  if (posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, bytes)) return NULL;
  atomic_fetch_add_explicit(&taken, (int64_t)bytes, memory_order_relaxed);
  return p;
}
static void count_free(void *user, void *p, size_t bytes) {
  (void)user;
  atomic_fetch_sub_explicit(&taken, (int64_t)bytes, memory_order_relaxed);
  free(p);
}

static wick_runtime *runtime_with(uint64_t cache_bytes, uint64_t max_bytes) {
  wick_runtime_options options = {.size = sizeof options,
                                  .cache_bytes = cache_bytes,
                                  .max_bytes = max_bytes,
                                  .alloc = count_alloc,
                                  .free = count_free};
  wick_executor_options executor = {.size = sizeof executor, .executor = WICK_EXECUTOR_PROFILING, .synchronous = 1};
  wick_runtime *runtime;
  assert_int_equal(wick_runtime_new(&options, &runtime, NULL), WICK_OK);
  assert_int_equal(wick_runtime_set_executor(runtime, &executor, NULL), WICK_OK);
  return runtime;
}

static wick_memory memory_of(wick_runtime *runtime) {
  wick_memory memory = {.size = sizeof memory};
  assert_int_equal(wick_runtime_memory(runtime, &memory, NULL), WICK_OK);
  return memory;
}
static wick_memory module_memory(wick_module *module) {
  wick_memory memory = {.size = sizeof memory};
  assert_int_equal(wick_module_memory(module, &memory, NULL), WICK_OK);
  return memory;
}
static uint64_t sum_of(const wick_memory *m) {
  return m->freed_storage + m->packed_weights + m->plans + m->stacks;
}

/* ---- modules ---- */

static wick_value *numbers(int64_t rows, int64_t columns, float step) {
  wick_value *value;
  float *data = malloc((size_t)(rows * columns) * sizeof *data);
  for (int64_t i = 0; i < rows * columns; i++) data[i] = step * (float)(i * 7 % 13 - 6);
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 2, (const int64_t[]){rows, columns}, &value, NULL), WICK_OK);
  assert_int_equal(wick_tensor_copy_from(value, data, (size_t)(rows * columns) * sizeof *data, NULL), WICK_OK);
  free(data);
  return value;
}

/* A module as it comes from a file, of weights that nobody has seen. */
static void save_module(const char *path) {
  wick_attribute attributes[LAYERS];
  char names[LAYERS][8];
  wick_module *module;
  for (int i = 0; i < LAYERS; i++) {
    snprintf(names[i], sizeof names[i], "w%d", i);
    attributes[i] = (wick_attribute){.size = sizeof attributes[i],
                                     .kind = WICK_BUFFER,
                                     .name = names[i],
                                     .value = numbers(N, N, 0.01f * (float)(i + 1))};
  }
  assert_int_equal(wick_module_new(NULL, "Net", attributes, LAYERS, &module, NULL), WICK_OK);
  assert_int_equal(wick_module_define(module, NULL, methods, strlen(methods), NULL, NULL), WICK_OK);
  assert_int_equal(wick_module_save(module, NULL, path, NULL, NULL), WICK_OK);
  for (int i = 0; i < LAYERS; i++) wick_value_release((wick_value *)(uintptr_t)attributes[i].value);
  wick_module_release(module);
}

static char path[] = "/tmp/wick_memory_XXXXXX";
static int make_file(void **state) {
  (void)state;
  int fd = mkstemp(path);
  if (fd < 0) return 1;
  close(fd);
  save_module(path);
  return 0;
}
static int drop_file(void **state) {
  (void)state;
  return unlink(path);
}

static wick_module *load(wick_runtime *runtime, bool shares) {
  wick_load_options options = {.size = sizeof options, .share_weights = shares};
  wick_module *module;
  assert_int_equal(wick_load(runtime, path, &options, &module, NULL), WICK_OK);
  return module;
}

static wick_value *call(wick_module *module, const char *method, const wick_value *argument) {
  wick_value *out;
  wick_error *error = NULL;
  wick_run(module, method, &argument, argument != NULL, NULL, 0, NULL, &out, &error);
  if (error) print_error("%s: %s\n", method, wick_error_message(error));
  assert_null(error);
  return out;
}
static void settle(wick_module *module) {
  wick_value *x = numbers(8, N, 1);
  for (int i = 0; i < 6; i++) wick_value_release(call(module, "forward", x));
  wick_wait_for_plans();
  wick_value_release(x);
}

static wick_value *weight_of(wick_module *module) {
  wick_value *value;
  assert_int_equal(wick_module_get(module, "w1", &value, NULL), WICK_OK);
  return value;
}
/* A copy of w1's elements; nobody gets their address. */
static float *elements_of(wick_module *module) {
  float *data = malloc(BYTES);
  wick_value *value = weight_of(module);
  assert_int_equal(wick_tensor_copy_to(value, data, BYTES, NULL), WICK_OK);
  wick_value_release(value);
  return data;
}
static float *result_of(wick_module *module) {
  float *data = malloc(8 * N * sizeof *data);
  wick_value *x = numbers(8, N, 1), *out = call(module, "forward", x);
  assert_int_equal(wick_tensor_copy_to(out, data, 8 * N * sizeof *data, NULL), WICK_OK);
  wick_value_release(x);
  wick_value_release(out);
  return data;
}
static bool same(float *a, float *b, size_t bytes) { /* frees both */
  bool is_same = memcmp(a, b, bytes) == 0;
  free(a);
  free(b);
  return is_same;
}

/* ---- what goes with a module ---- */

static void module_takes_all_with_it(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(0, 0);
  wick_module *first = load(runtime, false), *second = load(runtime, false);
  settle(first);
  settle(second);
  wick_memory both = memory_of(runtime), own = module_memory(first);
  assert_int_equal(own.weights, LAYERS * BYTES);
  assert_int_equal(own.shared, 0);
  assert_true(own.packed_weights == 0 && own.plans > 0); /* in the weights' place */
  assert_true(both.packed_weights == 0 && both.plans >= 2 * own.plans);
  assert_true(taken >= 2 * LAYERS * BYTES && taken < 3 * LAYERS * BYTES);
  int64_t before = taken;
  wick_module_release(first);
  wick_memory left = memory_of(runtime);
  assert_true(left.plans <= both.plans - own.plans);
  assert_true(before - taken >= LAYERS * BYTES);
  wick_module_release(second); /* the last one: nobody is there who would want the rest */
  left = memory_of(runtime);
  assert_int_equal(sum_of(&left), 0);
  wick_runtime_release(runtime);
  assert_int_equal(taken, 0);
}

static void weight_takes_its_forms_with_it(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(0, 0);
  wick_module *module = load(runtime, false);
  settle(module);
  wick_value *other = numbers(N, N, 1), *held = weight_of(module);
  settle(module);
  uint64_t packed = module_memory(module).packed_weights;
  assert_int_equal(packed, BYTES);
  wick_value_release(held);
  assert_int_equal(wick_module_set(module, "w1", other, NULL), WICK_OK);
  settle(module); /* nothing holds the old one any more */
  assert_int_equal(memory_of(runtime).packed_weights, packed);
  assert_int_equal(module_memory(module).packed_weights, packed);
  wick_value_release(other);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static void modules_in_turn_take_no_more(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(0, 0);
  int64_t after_first = 0;
  for (int i = 0; i < 20; i++) {
    wick_module *module = load(runtime, false);
    settle(module);
    wick_module_release(module);
    if (!i) after_first = taken;
    assert_true(taken <= after_first + after_first / 20);
  }
  wick_runtime_release(runtime);
}

/* ---- bounds ---- */

static void trim_says_what_it_frees(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(0, 0);
  wick_module *module = load(runtime, false);
  wick_value *held = weight_of(module); /* somebody could read it */
  settle(module);
  wick_memory memory = memory_of(runtime);
  assert_true(memory.packed_weights && memory.plans && memory.stacks);
  int64_t before = taken;
  assert_true(wick_runtime_trim(runtime) == sum_of(&memory));
  assert_true(before - taken >= (int64_t)(memory.packed_weights + memory.freed_storage));
  memory = memory_of(runtime);
  assert_int_equal(sum_of(&memory), 0);
  assert_int_equal(wick_runtime_trim(runtime), 0);
  wick_value_release(held);
  settle(module);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static void one_bound_for_all(void **state) {
  (void)state;
  static const uint64_t bounds[] = {1, BYTES + BYTES / 2, 2 * BYTES + BYTES / 2};
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
    wick_runtime *runtime = runtime_with(bounds[i], 0);
    wick_module *module = load(runtime, false);
    settle(module);
    wick_memory memory = memory_of(runtime);
    if (bounds[i] > 1) assert_true(memory.freed_storage + memory.packed_weights + memory.plans <= bounds[i]);
    if (bounds[i] == 1) assert_int_equal(memory.freed_storage + memory.packed_weights, 0);
    wick_module_release(module);
    wick_runtime_release(runtime);
  }
}

/* Where an allocation would fail, what is kept goes first. */
static void limit_takes_what_is_kept(void **state) {
  (void)state;
  enum { LIMIT = 10 * BYTES };
  wick_runtime *runtime = runtime_with(0, LIMIT);
  wick_module *modules[4];
  for (int i = 0; i < 3; i++) { /* 3 MiB each, and as much packed */
    modules[i] = load(runtime, false);
    settle(modules[i]);
    assert_true(taken <= LIMIT);
  }
  for (int i = 0; i < 3; i++) wick_module_release(modules[i]);
  wick_runtime_release(runtime);
}

/* ---- sharing ---- */

static void clone_shares(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(0, 0);
  wick_module *module = load(runtime, false), *clone;
  settle(module);
  int64_t before = taken;
  uint64_t packed = STATISTIC_GET(packed_weights);
  assert_int_equal(wick_module_clone(module, runtime, 0, &clone, NULL), WICK_OK);
  settle(clone);
  assert_true(taken - before <= LAYERS * BYTES / 20);
  assert_int_equal(STATISTIC_GET(packed_weights), packed);
  assert_int_equal(module_memory(clone).shared, LAYERS * BYTES);
  assert_true(same(result_of(module), result_of(clone), 8 * N * sizeof(float)));
  wick_module_release(module); /* the other one keeps what it shares */
  assert_int_equal(module_memory(clone).shared, 0);
  settle(clone);
  assert_int_equal(STATISTIC_GET(packed_weights), packed);
  wick_module_release(clone);
  wick_runtime_release(runtime);
  assert_int_equal(taken, 0);
}

static void scale(wick_module *module) {
  wick_value *two = wick_value_double(2);
  wick_value_release(call(module, "scale", two));
  wick_value_release(two);
}
static void grow(wick_module *module) {
  wick_value_release(call(module, "grow", NULL));
}
static void fill(wick_module *module) {
  wick_value_release(call(module, "fill", NULL));
}
static void part(wick_module *module) {
  wick_value_release(call(module, "part", NULL));
}
static void put(wick_module *module) {
  wick_value *x = numbers(N, N, 3);
  wick_value_release(call(module, "put", x));
  wick_value_release(x);
}
static void copy_in(wick_module *module) {
  wick_value *to = weight_of(module);
  void *zeros = calloc(1, BYTES);
  assert_int_equal(wick_tensor_copy_from(to, zeros, BYTES, NULL), WICK_OK);
  free(zeros);
  wick_value_release(to);
}
static void write_at(void *data) {
  for (int i = 0; i < N * N; i++) ((float *)data)[i] = 3;
}
static void by_view(wick_module *module) {
  wick_value *weight = weight_of(module);
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(weight, &view, NULL), WICK_OK);
  write_at(view.data);
  wick_value_release(weight);
}
static void by_data(wick_module *module) {
  wick_value *weight = weight_of(module);
  write_at(wick_tensor_mutable_data(weight));
  wick_value_release(weight);
}
static void by_dlpack(wick_module *module) {
  wick_value *weight = weight_of(module), *back;
  struct DLManagedTensor *exported;
  assert_int_equal(wick_tensor_to_dlpack(weight, &exported, NULL), WICK_OK);
  assert_int_equal(wick_tensor_from_dlpack(exported, &back, NULL), WICK_OK);
  write_at(wick_tensor_mutable_data(back));
  wick_value_release(back);
  wick_value_release(weight);
}

/* Each kind of write is seen by who wrote alone, whichever of two that was, and is in what the next call computes. */
static void writes_are_ones_own(void **state) {
  (void)state;
  static void (*const writes[])(wick_module *) = {scale, fill, put, part, copy_in, by_view, by_data, by_dlpack, grow};
  enum { COUNT = sizeof writes / sizeof *writes };
  wick_runtime *runtime = runtime_with(0, 0);
  for (int i = 0; i < 4 * COUNT; i++) {
    bool loads = i & 1, who = i & 2, grows = writes[i / 4] == grow;
    wick_module *modules[2] = {load(runtime, true), NULL};
    settle(modules[0]);
    if (loads)
      modules[1] = load(runtime, true);
    else
      assert_int_equal(wick_module_clone(modules[0], runtime, 0, &modules[1], NULL), WICK_OK);
    assert_int_equal(module_memory(modules[1]).shared, LAYERS * BYTES);
    wick_module *writer = modules[who], *other = modules[!who];
    float *elements = elements_of(other), *results = result_of(other);
    settle(writer);
    writes[i / 4](writer);
    if (!grows) assert_false(same(elements_of(writer), elements_of(other), BYTES));
    if (!grows) assert_false(same(result_of(writer), result_of(other), 8 * N * sizeof(float)));
    assert_true(same(elements, elements_of(other), BYTES));
    assert_true(same(results, result_of(other), 8 * N * sizeof(float)));
    wick_module_release(modules[0]);
    wick_module_release(modules[1]);
  }
  wick_runtime_release(runtime);
  assert_int_equal(taken, 0);
}

/* A weight that was written is packed as it is then, also by who has had it to itself since. */
static void clones_are_packed_as_they_are(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(0, 0);
  wick_module *module = load(runtime, false), *clone;
  settle(module);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(wick_module_clone(module, runtime, 0, &clone, NULL), WICK_OK);
    float *before = result_of(module);
    if (i) scale(clone);
    if (i == 2) scale(module);
    settle(clone);
    settle(module);
    float *after = result_of(module), *of_clone = result_of(clone);
    for (int k = 0; k < 8 * N; k++) {
      assert_true(after[k] == before[k] * (i == 2 ? 2 : 1));
      assert_true(of_clone[k] == before[k] * (i ? 2 : 1));
    }
    free(before);
    free(after);
    free(of_clone);
    wick_module_release(clone);
    scale(module); /* alone again */
    settle(module);
  }
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static void loads_share(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(0, 0), *other = runtime_with(0, 0);
  wick_module *first = load(runtime, true);
  settle(first);
  int64_t before = taken;
  wick_module *second = load(runtime, true);
  settle(second);
  assert_true(taken - before <= LAYERS * BYTES / 20 + (256 << 10)); /* and a program and its plans */
  assert_int_equal(module_memory(second).shared, LAYERS * BYTES);
  wick_module *apart = load(other, true); /* runtimes know nothing of each other */
  assert_int_equal(module_memory(apart).shared, 0);
  wick_module *plain = load(runtime, false);
  assert_int_equal(module_memory(plain).shared, 0);
  scale(first);
  wick_module *third = load(runtime, true); /* as the file says */
  assert_false(same(elements_of(first), elements_of(third), BYTES));
  assert_true(same(elements_of(second), elements_of(third), BYTES));
  wick_module *const all[] = {first, second, apart, plain, third};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_module_release(all[i]);
  wick_runtime_release(runtime);
  wick_runtime_release(other);
  assert_int_equal(taken, 0);
}

/* ---- programs ---- */

enum { BLOCKS = 60, SIDE = 6, OPERATORS = 4 * BLOCKS };

/* Blocks as networks have them: a method that is inlined, in which a plan fuses convolution, normalization and relu. */
static char *blocks_text(void) {
  static const char block[] =
      "def block(self, x):\n"
      "    y = torch.conv2d(x, self.filter, self.shift, [1, 1], [1, 1])\n"
      "    if self.normalizes:\n"
      "        y = torch.batch_norm(y, None, None, self.shift, self.scale, False, 0.1, 1e-5, False)\n"
      "    return torch.relu(y) + x\n"
      "def forward(self, x):\n";
  static const char line[] = "    x = self.block(x)\n";
  char *text = malloc(sizeof block + BLOCKS * sizeof line + 32);
  strcpy(text, block);
  for (int i = 0; i < BLOCKS; i++) strcat(text, line);
  return strcat(text, "    return x\n");
}

static wick_module *blocks_new(wick_runtime *runtime) {
  wick_value *filter, *shift = numbers(1, 4, 0.1f), *scale = numbers(1, 4, 0.1f), *flat[2], *yes = wick_value_bool(1);
  wick_value *x = numbers(4, 36, 0.02f), *sizes,
             *parts[4] = {wick_value_int(4), wick_value_int(4), wick_value_int(3), wick_value_int(3)};
  assert_int_equal(wick_value_list((const wick_value *const *)parts, 4, &sizes, NULL), WICK_OK);
  assert_int_equal(wick_op_call(NULL, "aten::reshape", "", (const wick_value *[]){x, sizes}, 2, NULL, 0, &filter, NULL),
                   WICK_OK);
  for (int i = 0; i < 2; i++)
    assert_int_equal(wick_op_call(NULL, "aten::flatten", "using_ints", (const wick_value *[]){i ? scale : shift}, 1,
                                  NULL, 0, &flat[i], NULL),
                     WICK_OK);
  wick_attribute attributes[] = {{.size = sizeof *attributes, .kind = WICK_BUFFER, .name = "filter", .value = filter},
                                 {.size = sizeof *attributes, .kind = WICK_BUFFER, .name = "shift", .value = flat[0]},
                                 {.size = sizeof *attributes, .kind = WICK_BUFFER, .name = "scale", .value = flat[1]},
                                 {.size = sizeof *attributes, .name = "normalizes", .value = yes}};
  wick_module *module;
  wick_error *error = NULL;
  char *text = blocks_text();
  wick_module_new(runtime, "Blocks", attributes, 4, &module, &error);
  assert_null(error);
  wick_module_define(module, runtime, text, strlen(text), NULL, &error);
  if (error) print_error("%s\n", wick_error_message(error));
  assert_null(error);
  free(text);
  wick_value *const all[] = {filter, shift, scale,    flat[0],  flat[1],  yes,
                             x,      sizes, parts[0], parts[1], parts[2], parts[3]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_value_release(all[i]);
  return module;
}

static void settle_blocks(wick_module *module, int side, uint32_t grad) {
  wick_run_options options = {.size = sizeof options, .grad = grad};
  wick_value *x, *out;
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 4, (const int64_t[]){1, 4, side, side}, &x, NULL), WICK_OK);
  for (int i = 0; i < 6; i++) {
    wick_error *error = NULL;
    wick_run(module, "forward", (const wick_value *[]){x}, 1, NULL, 0, &options, &out, &error);
    if (error) print_error("%s\n", wick_error_message(error));
    assert_null(error);
    wick_value_release(out);
  }
  wick_value_release(x);
}

/* What is kept of a program and its plans is in proportion to what they do, not to what was done to make them. Bytes
 * for an operator as written. */
static void programs_take_little(void **state) {
  (void)state;
  enum { OF_PROGRAM = 220, OF_FIRST_PLAN = 3400, OF_PLAN = 2700 };
  wick_runtime *runtime = runtime_with(0, 0);
  wick_module *module = blocks_new(runtime);
  int64_t program = taken;
  assert_true(program <= OF_PROGRAM * OPERATORS);
  settle_blocks(module, SIDE, WICK_GRAD_OFF);
  int64_t first = taken - program, plans = (int64_t)module_memory(module).plans;
  assert_true(first <= OF_FIRST_PLAN * OPERATORS); /* with Code of what ran as written and what calls keep */
  assert_true(plans <= first && plans >= first / 5 * 4);
  settle_blocks(module, SIDE, WICK_GRAD_ON);
  int64_t second = taken - program - first;
  assert_true(second <= OF_PLAN * OPERATORS);
  for (int side = SIDE + 1; side < SIDE + 4; side++) settle_blocks(module, side, WICK_GRAD_OFF); /* guards fail */
  assert_true(taken - program <= first + second + OF_PLAN * OPERATORS / 4);
  wick_module_release(module);
  wick_runtime_release(runtime);
  assert_int_equal(taken, 0);
}

/* ---- threads ---- */

typedef struct Shared {
  wick_runtime *runtime;
  wick_module *module;
  _Atomic int next;
} Shared;

/* Some call, some clone and write, some look at the weight; the module's own results stay what they are. */
static void *work(void *argument) {
  Shared *s = argument;
  int who = s->next++;
  for (int i = 0; i < 12; i++) {
    wick_module *clone;
    assert_int_equal(wick_module_clone(s->module, s->runtime, 0, &clone, NULL), WICK_OK);
    wick_value *x = numbers(8, N, 1);
    wick_value_release(call(s->module, "forward", x));
    if (who % 2) {
      scale(clone);
      free(elements_of(clone));
    }
    wick_value_release(call(clone, "forward", x));
    if (who == 7 && i == 6) {
      wick_value *weight = weight_of(s->module);
      assert_non_null(wick_tensor_data(weight));
      wick_value_release(weight);
    }
    wick_value_release(x);
    wick_module_release(clone);
    wick_module_release(load(s->runtime, true));
  }
  return NULL;
}

static void threads_share(void **state) {
  (void)state;
  enum { THREADS = 8 };
  wick_runtime *runtime = runtime_with(0, 0);
  wick_module *module = load(runtime, true);
  Shared shared = {runtime, module, 0};
  float *before = result_of(module), *elements = elements_of(module);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &shared), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  wick_wait_for_plans();
  assert_true(same(before, result_of(module), 8 * N * sizeof(float)));
  assert_true(same(elements, elements_of(module), BYTES));
  wick_module_release(module);
  wick_memory left = memory_of(runtime);
  assert_int_equal(sum_of(&left), 0);
  wick_runtime_release(runtime);
  assert_int_equal(taken, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(module_takes_all_with_it),
                                     cmocka_unit_test(weight_takes_its_forms_with_it),
                                     cmocka_unit_test(modules_in_turn_take_no_more),
                                     cmocka_unit_test(trim_says_what_it_frees),
                                     cmocka_unit_test(one_bound_for_all),
                                     cmocka_unit_test(limit_takes_what_is_kept),
                                     cmocka_unit_test(clone_shares),
                                     cmocka_unit_test(writes_are_ones_own),
                                     cmocka_unit_test(clones_are_packed_as_they_are),
                                     cmocka_unit_test(loads_share),
                                     cmocka_unit_test(programs_take_little),
                                     cmocka_unit_test(threads_share)};
  return cmocka_run_group_tests(tests, make_file, drop_file);
}
