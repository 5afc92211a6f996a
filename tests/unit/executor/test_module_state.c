/* What plans read of a module's attributes: settled calls read nothing anew, and whatever is written, in whatever way,
 * the next call sees it as the program as written does. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hostile.h"
#include "wick/wick.h"

#define FINE(call)                                   \
  do {                                               \
    wick_error *e = NULL;                            \
    if (call) fail_msg("%s", wick_error_message(e)); \
  } while (0)

static const char INNER[] =
    "def forward(self, x):\n"
    "    if self.training:\n"
    "        x = x + 100\n"
    "    return x * self.weight + self.bias * self.scale\n"
    "def double(self):\n"
    "    self.weight.mul_(2)\n";
static const char OUTER[] =
    "def forward(self, x):\n"
    "    y = torch.relu(self.inner.forward(x)) - self.bias\n"
    "    for w in self.list:\n"
    "        y = y + w\n"
    "    if self.name == 'negative':\n"
    "        y = -y\n"
    "    return y * self.factor\n"
    "def maybe(self, x, y: Optional[Tensor]):\n"
    "    z = x * self.bias + self.factor\n"
    "    if y is not None:\n"
    "        z = z + y\n"
    "    return z * 2\n"
    "def count(self, x):\n"
    "    self.calls += 1\n"
    "    return x * self.bias + self.calls\n"
    "def calls_now(self):\n"
    "    return self.bias * self.calls + self.factor\n"
    "def flows(self, x, n: int):\n"
    "    w = self.inner.weight\n"
    "    kept = [w]\n"
    "    for i in range(n):\n"
    "        if i % 3 == 1:\n"
    "            w = self.bias\n"
    "        else:\n"
    "            w = w * x + self.other.weight\n"
    "        kept.append(w)\n"
    "    chosen = self.bias if n > 4 else self.inner.bias\n"
    "    while n > 0:\n"
    "        chosen = chosen + kept[n]\n"
    "        n -= 2\n"
    "    return chosen\n"
    "def same(self, x):\n"
    "    return self.bias if x.size(0) > 2 else self.inner.weight\n"
    "def forked(self, x):\n"
    "    f = torch.jit.fork(self.inner.forward, x)\n"
    "    return torch.jit.wait(f) + self.bias + self.inner.forward(x)\n"
    "def set_factor(self, factor: float):\n"
    "    self.factor = factor\n"
    "def set_bias(self, bias):\n"
    "    self.bias = bias\n"
    "def swap(self):\n"
    "    kept = self.inner\n"
    "    self.inner = self.other\n"
    "    self.other = kept\n"
    "def append(self, x):\n"
    "    self.list.append(x)\n";

static wick_value *floats(float value) {
  wick_value *tensor;
  FINE(wick_tensor_new(WICK_FLOAT32, 1, (int64_t[]){3}, &tensor, &e));
  FINE(wick_tensor_copy_from(tensor, (float[]){value, value + 1, value + 2}, 3 * sizeof(float), &e));
  return tensor;
}

static wick_value *text(const char *words) {
  return wick_value_string(words, strlen(words));
}

typedef struct Named {
  const char *name;
  wick_value *value; /* taken over */
  uint32_t kind;
} Named;
static wick_module *module_of(const char *class_name, const Named *named, size_t count, const char *program) {
  enum { MOST = 8 };
  wick_attribute attributes[MOST];
  assert_true(count <= MOST);
  for (size_t i = 0; i < count; i++)
    attributes[i] = (wick_attribute){sizeof *attributes, named[i].kind, named[i].name, named[i].value};
  wick_module *module;
  FINE(wick_module_new(NULL, class_name, attributes, count, &module, &e));
  FINE(wick_module_define(module, NULL, program, strlen(program), NULL, &e));
  for (size_t i = 0; i < count; i++) wick_value_release(named[i].value);
  return module;
}

static wick_module *net(float weight) {
  wick_module *inner = module_of("Inner",
                                 (Named[]){{"weight", floats(weight), WICK_PARAMETER},
                                           {"bias", floats(1), WICK_BUFFER},
                                           {"scale", wick_value_double(0.5), WICK_ATTRIBUTE}},
                                 3, INNER),
              *other;
  FINE(wick_module_clone(inner, NULL, 0, &other, &e));
  wick_value *first = floats(7), *list, *tripled = floats(weight * 3);
  FINE(wick_value_list((const wick_value *const[]){first}, 1, &list, &e));
  FINE(wick_module_set(other, "weight", tripled, &e));
  wick_module *outer = module_of("Outer",
                                 (Named[]){{"inner", wick_module_object(inner), WICK_ATTRIBUTE},
                                           {"other", wick_module_object(other), WICK_ATTRIBUTE},
                                           {"bias", floats(2), WICK_BUFFER},
                                           {"factor", wick_value_double(1.5), WICK_ATTRIBUTE},
                                           {"calls", wick_value_int(0), WICK_ATTRIBUTE},
                                           {"name", text("positive"), WICK_ATTRIBUTE},
                                           {"list", list, WICK_ATTRIBUTE}},
                                 7, OUTER);
  FINE(wick_module_train(outer, 0, &e));
  wick_value_release(first);
  wick_value_release(tripled);
  wick_module_release(inner);
  wick_module_release(other);
  return outer;
}

static uint64_t state_reads(void) {
  wick_stats s = {.size = sizeof s};
  wick_stats_get(&s);
  return s.state_reads;
}

static void run_in(wick_module *module, const char *method, const wick_value *const *arguments, size_t count,
                   uint32_t executor, float out[3]) {
  wick_run_options options = {.size = sizeof options, .executor = executor};
  wick_value *result;
  FINE(wick_run(module, method, arguments, count, NULL, 0, &options, &result, &e));
  if (out) memcpy(out, wick_tensor_data(result), 3 * sizeof(float));
  wick_value_release(result);
}

/* The call in its plan gives what the program as written gives. */
static void check(wick_module *module, const char *method, const wick_value *const *arguments, size_t count) {
  float expected[3], got[3];
  run_in(module, method, arguments, count, WICK_EXECUTOR_SIMPLE, expected);
  run_in(module, method, arguments, count, WICK_EXECUTOR_PROFILING, got);
  for (int i = 0; i < 3; i++)
    if (expected[i] != got[i]) fail_msg("%s: element %d is %g, not %g", method, i, (double)got[i], (double)expected[i]);
}
static void check_forward(wick_module *module) {
  wick_value *x = floats(1);
  check(module, "forward", (const wick_value *const[]){x}, 1);
  wick_value_release(x);
}

enum { SETTLING_CALLS = 12 };
static void settle(wick_module *module) {
  for (int i = 0; i < SETTLING_CALLS; i++) {
    check_forward(module);
    wick_wait_for_plans();
  }
}
static void assert_settled(wick_module *module) {
  uint64_t before = state_reads();
  for (int i = 0; i < 5; i++) check_forward(module);
  assert_int_equal(state_reads(), before);
}

/* ---- kinds of writes ---- */

static void set(wick_module *module, const char *path, wick_value *value) {
  FINE(wick_module_set(module, path, value, &e));
  wick_value_release(value);
}
static void run_method(wick_module *module, const char *method, wick_value *argument) {
  FINE(wick_run(module, method, (const wick_value *const[]){argument}, argument ? 1 : 0, NULL, 0, NULL, NULL, &e));
  wick_value_release(argument);
}

static void set_weight(wick_module *m) {
  set(m, "inner.weight", floats(11));
}
static void set_own_tensor(wick_module *m) {
  set(m, "bias", floats(12));
}
static void set_number(wick_module *m) {
  set(m, "inner.scale", wick_value_double(4));
}
static void set_text(wick_module *m) {
  set(m, "name", text("negative"));
}
static void set_of_object(wick_module *m) {
  wick_value *object = wick_module_object(m), *value = wick_value_double(-2);
  FINE(wick_object_set(object, "factor", value, &e));
  wick_value_release(value);
  wick_value_release(object);
}
static void set_in_script(wick_module *m) {
  run_method(m, "set_factor", wick_value_double(9));
}
static void set_tensor_in_script(wick_module *m) {
  run_method(m, "set_bias", floats(10));
}
static void set_other_sizes(wick_module *m) { /* guards fail, and the call goes on */
  wick_value *longer;
  FINE(wick_tensor_new(WICK_FLOAT32, 2, (int64_t[]){1, 3}, &longer, &e));
  FINE(wick_tensor_copy_from(longer, (float[]){5, 6, 7}, 3 * sizeof(float), &e));
  set(m, "bias", longer);
}
static void set_other_dtype(wick_module *m) {
  FINE(wick_module_to(m, WICK_FLOAT64, &e));
  FINE(wick_module_to(m, WICK_FLOAT32, &e));
}
static void swap_submodules(wick_module *m) {
  run_method(m, "swap", NULL);
}
static void replace_submodule(wick_module *m) {
  wick_value *other;
  FINE(wick_module_get(m, "other", &other, &e));
  set(m, "inner", other);
}
static void train(wick_module *m) {
  FINE(wick_module_train(m, 1, &e));
}
static void eval(wick_module *m) {
  FINE(wick_module_train(m, 0, &e));
}
static void write_in_place(wick_module *m) {
  wick_value *inner;
  wick_module *submodule;
  FINE(wick_module_get(m, "inner", &inner, &e));
  FINE(wick_module_of_object(inner, NULL, &submodule, &e));
  FINE(wick_run(submodule, "double", NULL, 0, NULL, 0, NULL, NULL, &e));
  wick_module_release(submodule);
  wick_value_release(inner);
}
static void write_to_view(wick_module *m) {
  wick_value *weight, *view, *zero = wick_value_int(0), *index = wick_value_int(1);
  FINE(wick_module_get(m, "inner.weight", &weight, &e));
  FINE(wick_op_call(NULL, "aten::select", "int", (const wick_value *const[]){weight, zero, index}, 3, NULL, 0, &view,
                    &e));
  FINE(wick_op_call(NULL, "aten::zero_", NULL, (const wick_value *const[]){view}, 1, NULL, 0, NULL, &e));
  wick_value *all[] = {weight, view, zero, index};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_value_release(all[i]);
}
static void write_through_pointer(wick_module *m) {
  wick_value *weight;
  FINE(wick_module_get(m, "inner.weight", &weight, &e));
  ((float *)wick_tensor_mutable_data(weight))[2] = 33;
  wick_value_release(weight);
}
static void copy_from_memory(wick_module *m) {
  wick_value *weight;
  FINE(wick_module_get(m, "inner.weight", &weight, &e));
  FINE(wick_tensor_copy_from(weight, (float[]){3, 2, 1}, 3 * sizeof(float), &e));
  wick_value_release(weight);
}
static void resize_in_place(wick_module *m) { /* the same tensor looks different */
  wick_value *bias, *zero = wick_value_int(0);
  FINE(wick_module_get(m, "bias", &bias, &e));
  FINE(wick_op_call(NULL, "aten::unsqueeze_", NULL, (const wick_value *const[]){bias, zero}, 2, NULL, 0, NULL, &e));
  wick_value_release(zero);
  wick_value_release(bias);
}
static void load_state(wick_module *m) {
  wick_module *from = net(17);
  wick_value *dict;
  FINE(wick_module_state_dict(from, &dict, &e));
  FINE(wick_module_load_state(m, dict, &e));
  wick_value_release(dict);
  wick_module_release(from);
}
static void append_to_list(wick_module *m) {
  run_method(m, "append", floats(30));
}
static void take_steps(wick_module *m) {
  wick_value *weight, *parameters, *result, *x = floats(1), *loss;
  wick_optimizer *optimizer;
  wick_optimizer_options options = {.size = sizeof options, .algorithm = WICK_SGD, .rate = 0.1};
  wick_run_options grad = {.size = sizeof grad, .grad = WICK_GRAD_ON};
  FINE(wick_module_get(m, "inner.weight", &weight, &e));
  FINE(wick_tensor_set_requires_grad(weight, 1, &e));
  wick_value_release(weight);
  FINE(wick_module_parameters(m, &parameters, &e));
  assert_int_equal(wick_value_length(parameters), 1);
  FINE(wick_optimizer_new(parameters, &options, &optimizer, &e));
  for (int i = 0; i < 3; i++) {
    FINE(wick_run(m, "forward", (const wick_value *const[]){x}, 1, NULL, 0, &grad, &result, &e));
    FINE(wick_op_call_with(NULL, "aten::sum", NULL, (const wick_value *const[]){result}, 1, NULL, 0, &grad, &loss, &e));
    FINE(wick_backward(NULL, (const wick_value *const[]){loss}, NULL, 1, 0, &e));
    FINE(wick_optimizer_step(optimizer, &e));
    FINE(wick_optimizer_zero_grad(optimizer, &e));
    check_forward(m);
    wick_value_release(result);
    wick_value_release(loss);
  }
  wick_optimizer_release(optimizer);
  wick_value_release(parameters);
  wick_value_release(x);
}

static void test_writes_are_seen(void **state) {
  (void)state;
  static void (*const writes[])(wick_module *) = {set_weight,
                                                  set_own_tensor,
                                                  set_number,
                                                  set_text,
                                                  set_of_object,
                                                  set_in_script,
                                                  set_tensor_in_script,
                                                  set_other_dtype,
                                                  swap_submodules,
                                                  replace_submodule,
                                                  train,
                                                  eval,
                                                  write_in_place,
                                                  write_to_view,
                                                  write_through_pointer,
                                                  copy_from_memory,
                                                  load_state,
                                                  append_to_list,
                                                  take_steps,
                                                  set_other_sizes,
                                                  resize_in_place};
  enum { COUNT = sizeof writes / sizeof *writes };
  wick_module *kept = net(3); /* all of them, one after another */
  settle(kept);
  assert_settled(kept);
  for (size_t i = 0; i < COUNT; i++) {
    wick_module *module = net(3);
    settle(module);
    assert_settled(module);
    writes[i](module);
    check_forward(module);
    settle(module);
    if (i + 2 < COUNT) assert_settled(module);
    wick_module_release(module);
    writes[i](kept);
    check_forward(kept);
    check_forward(kept);
  }
  wick_module_release(kept);
}

/* ---- who else calls ---- */

static void test_instances_in_turn(void **state) {
  (void)state;
  wick_module *modules[3] = {net(3)};
  for (int i = 1; i < 3; i++) {
    FINE(wick_module_clone(modules[0], NULL, i == 1, &modules[i], &e));
    set(modules[i], "inner.weight", floats((float)(20 * i)));
  }
  for (int k = 0; k < SETTLING_CALLS; k++)
    for (int i = 0; i < 3; i++) {
      check_forward(modules[i]);
      wick_wait_for_plans();
    }
  uint64_t before = state_reads();
  for (int k = 0; k < 9; k++) check_forward(modules[k % 3]);
  assert_int_equal(state_reads(), before); /* each has its own */
  set(modules[1], "factor", wick_value_double(8));
  for (int k = 0; k < 9; k++) check_forward(modules[k % 3]);
  wick_module_release(modules[0]); /* what lies at its place next is another */
  for (int k = 0; k < 5; k++) {
    wick_module *again;
    FINE(wick_module_clone(modules[1], NULL, 0, &again, &e));
    set(again, "inner.weight", floats((float)k));
    check_forward(again);
    wick_module_release(again);
  }
  wick_module_release(modules[1]);
  wick_module_release(modules[2]);
}

/* Methods and kinds of arguments have Snapshots of their own; an attribute that one of them writes at every call does
 * not take the others' away. */
static void test_methods_in_turn(void **state) {
  (void)state;
  wick_module *module = net(3);
  wick_value *x = floats(2), *none = wick_value_none();
  uint64_t before = 0;
  for (int k = 0; k < 3 * SETTLING_CALLS; k++) {
    if (k == 2 * SETTLING_CALLS) before = state_reads();
    check_forward(module);
    check(module, "maybe", (const wick_value *const[]){x, none}, 2);
    run_in(module, "count", (const wick_value *const[]){x}, 1, WICK_EXECUTOR_PROFILING, NULL);
    wick_wait_for_plans();
  }
  if (CACHE_ENTRIES(4) == 4) assert_int_equal(state_reads(), before);
  for (int k = 0; k < SETTLING_CALLS; k++) {
    check(module, "maybe", (const wick_value *const[]){x, k % 2 ? x : none}, 2);
    run_in(module, "count", (const wick_value *const[]){x}, 1, WICK_EXECUTOR_PROFILING, NULL);
    check(module, "calls_now", NULL, 0);
    wick_wait_for_plans();
  }
  wick_value_release(none);
  wick_value_release(x);
  wick_module_release(module);
}

/* Values that come from state go where other values go. */
static void test_uses(void **state) {
  (void)state;
  wick_module *module = net(3);
  wick_value *x = floats(1), *bias, *same, *counts[4];
  wick_future *future;
  FINE(wick_module_get(module, "bias", &bias, &e));
  for (int i = 0; i < 4; i++) counts[i] = wick_value_int(2 * i);
  for (int k = 0; k < 2 * SETTLING_CALLS; k++) {
    check(module, "flows", (const wick_value *const[]){x, counts[k % 4]}, 2);
    check(module, "forked", (const wick_value *const[]){x}, 1);
    check(module, "same", (const wick_value *const[]){x}, 1);
    FINE(wick_run(module, "same", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &same, &e));
    assert_ptr_equal(wick_tensor_data(same), wick_tensor_data(bias));
    wick_value_release(same);
    FINE(wick_run_async(module, "same", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &future, &e));
    FINE(wick_future_wait(future, 0, &same, &e));
    assert_ptr_equal(wick_tensor_data(same), wick_tensor_data(bias));
    wick_value_release(same);
    wick_future_release(future);
    wick_wait_for_plans();
  }
  for (int i = 0; i < 4; i++) wick_value_release(counts[i]);
  wick_value_release(bias);
  wick_value_release(x);
  wick_module_release(module);
}

/* A plan keeps no weights of modules that are gone. */
static _Atomic int freed;
static void count_freed(void *user) {
  (void)user;
  atomic_fetch_add(&freed, 1);
}
static wick_value *watched(float *memory) {
  wick_value *tensor;
  FINE(wick_tensor_borrow(memory, WICK_FLOAT32, 1, (int64_t[]){3}, NULL, count_freed, NULL, &tensor, &e));
  return tensor;
}
static void test_weights_go(void **state) {
  (void)state;
  float memory[3] = {1, 2, 3};
  wick_module *module = net(3), *copy;
  settle(module);
  FINE(wick_module_clone(module, NULL, 1, &copy, &e));
  atomic_store(&freed, 0);
  set(copy, "inner.weight", watched(memory));
  for (int k = 0; k < 3; k++) check_forward(copy);
  assert_int_equal(atomic_load(&freed), 0);
  wick_module_release(copy);
  assert_int_equal(atomic_load(&freed), 1);
  set(module, "inner.weight", watched(memory));
  check_forward(module);
  set(module, "inner.weight", floats(1));
  check_forward(module); /* what was replaced goes with the next call at the latest */
  assert_int_equal(atomic_load(&freed), 2);
  wick_module_release(module);
}

/* ---- threads ---- */

enum { THREADS = 4, CALLS = 400 };
typedef struct Caller {
  wick_module *module;
  const _Atomic bool *stop;
  int bad;
} Caller;

/* Every result is that of one of the two states that are written in turn. */
static void *call_again(void *argument) {
  Caller *caller = argument;
  wick_value *x = floats(-3);
  for (int i = 0; i < CALLS; i++) {
    float got[3];
    run_in(caller->module, "maybe", (const wick_value *const[]){x, x}, 2, WICK_EXECUTOR_PROFILING, got);
    float first = (-3.f * 2 + 1.5f + -3) * 2, second = (-3.f * 2 + 9 + -3) * 2;
    caller->bad += got[0] != first && got[0] != second;
  }
  wick_value_release(x);
  return NULL;
}
static void *write_again(void *argument) {
  Caller *caller = argument;
  for (int i = 0; !atomic_load(caller->stop); i++) {
    wick_value *value = wick_value_double(i % 2 ? 9 : 1.5), *same = floats(2);
    wick_error *error = NULL;
    caller->bad += wick_module_set(caller->module, "factor", value, &error) != WICK_OK;
    caller->bad += wick_module_set(caller->module, "bias", same, &error) != WICK_OK;
    wick_value_release(value);
    wick_value_release(same);
  }
  return NULL;
}
static void test_threads(void **state) {
  (void)state;
  wick_module *module = net(3), *copy;
  FINE(wick_module_clone(module, NULL, 1, &copy, &e));
  wick_value *x = floats(1);
  for (int k = 0; k < SETTLING_CALLS; k++) {
    check(module, "maybe", (const wick_value *const[]){x, x}, 2);
    wick_wait_for_plans();
  }
  _Atomic bool stop = false;
  Caller callers[THREADS], writer = {module, &stop, 0};
  pthread_t threads[THREADS], writing;
  pthread_create(&writing, NULL, write_again, &writer);
  for (int i = 0; i < THREADS; i++) {
    callers[i] = (Caller){i % 2 ? copy : module, &stop, 0};
    pthread_create(&threads[i], NULL, call_again, &callers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(callers[i].bad, 0);
  }
  atomic_store(&stop, true);
  pthread_join(writing, NULL);
  assert_int_equal(writer.bad, 0);
  check(module, "maybe", (const wick_value *const[]){x, x}, 2);
  check_forward(module);
  wick_value_release(x);
  wick_module_release(module);
  wick_module_release(copy);
}

int main(void) {
  wick_executor_options options = {.size = sizeof options, .executor = WICK_EXECUTOR_PROFILING, .synchronous = 1};
  if (wick_runtime_set_executor(NULL, &options, NULL)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_writes_are_seen), cmocka_unit_test(test_instances_in_turn),
      cmocka_unit_test(test_methods_in_turn), cmocka_unit_test(test_uses),
      cmocka_unit_test(test_weights_go),      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
