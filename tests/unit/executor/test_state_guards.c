/* Guards on the tensors of attributes that nobody writes: settled calls ask none, and when a tensor's metadata changes,
 * in whatever way, the next call notices and gives what the program as written gives. That every operator which changes
 * metadata tells the guards, test_rows shows. */
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

#include "wick/wick.h"

#define FINE(call)                                   \
  do {                                               \
    wick_error *e = NULL;                            \
    if (call) fail_msg("%s", wick_error_message(e)); \
  } while (0)

/* ---- a module of tensors of one row ---- */

static const char NET[] =
    "def forward(self, x):\n"
    "    y = torch.relu(x * self.weight + self.bias)\n"
    "    return y * self.scale\n"
    "def looped(self, x):\n"
    "    for i in range(3):\n"
    "        x = torch.relu(x * self.weight) - self.bias\n"
    "        if i % 2 == 0:\n"
    "            x = x + self.scale\n"
    "    return x\n";

static wick_value *row(float value) {
  wick_value *tensor;
  FINE(wick_tensor_new(WICK_FLOAT32, 2, (int64_t[]){1, 3}, &tensor, &e));
  FINE(wick_tensor_copy_from(tensor, (float[]){value, value + 1, value + 2}, 3 * sizeof(float), &e));
  return tensor;
}

/* `change` becomes the body of a method of that name. */
static wick_module *net(const char *change) {
  wick_value *values[] = {row(3), row(-1), row(2), row(7)};
  const char *const names[] = {"weight", "bias", "scale", "other"};
  wick_attribute attributes[4];
  for (int i = 0; i < 4; i++) attributes[i] = (wick_attribute){sizeof *attributes, WICK_BUFFER, names[i], values[i]};
  char program[1024];
  int length = snprintf(program, sizeof program, "%sdef change(self):\n    %s\n", NET, change);
  wick_module *module;
  FINE(wick_module_new(NULL, "Net", attributes, 4, &module, &e));
  FINE(wick_module_define(module, NULL, program, (size_t)length, NULL, &e));
  for (int i = 0; i < 4; i++) wick_value_release(values[i]);
  return module;
}

static void change(wick_module *module, uint32_t grad) {
  wick_run_options options = {.size = sizeof options, .grad = grad};
  FINE(wick_run(module, "change", NULL, 0, NULL, 0, &options, NULL, &e));
}

static wick_value *run_in(wick_module *module, const char *method, uint32_t executor, uint32_t grad) {
  wick_run_options options = {.size = sizeof options, .executor = executor, .grad = grad};
  wick_value *x = row(1), *result;
  FINE(wick_run(module, method, (const wick_value *const[]){x}, 1, NULL, 0, &options, &result, &e));
  wick_value_release(x);
  return result;
}

/* The call in its plan gives what the program as written gives. */
static void check(wick_module *module, const char *method, uint32_t grad, const char *what) {
  wick_value *expected = run_in(module, method, WICK_EXECUTOR_SIMPLE, grad),
             *got = run_in(module, method, WICK_EXECUTOR_PROFILING, grad);
  wick_tensor_view a = {.size = sizeof a}, b = {.size = sizeof b};
  FINE(wick_tensor_view_of(expected, &a, &e));
  FINE(wick_tensor_view_of(got, &b, &e));
  size_t bytes = sizeof(float);
  if (a.dtype != b.dtype || a.flags != b.flags || a.ndim != b.ndim) fail_msg("%s: another kind of tensor", what);
  for (int i = 0; i < a.ndim; i++) {
    if (a.sizes[i] != b.sizes[i] || a.strides[i] != b.strides[i]) fail_msg("%s: other sizes or strides", what);
    bytes *= (size_t)a.sizes[i];
  }
  if (memcmp(a.data, b.data, bytes) != 0) fail_msg("%s: other values", what); /* results are dense */
  wick_value_release(expected);
  wick_value_release(got);
}

/* ---- what was asked ---- */

static wick_stats stats(void) {
  wick_stats s = {.size = sizeof s};
  wick_stats_get(&s);
  return s;
}

enum { SETTLING_CALLS = 12, SETTLED_CALLS = 5 };
static void settle(wick_module *module, const char *method, uint32_t grad, const char *what) {
  for (int i = 0; i < SETTLING_CALLS; i++) {
    check(module, method, grad, what);
    wick_wait_for_plans();
  }
}
static void assert_none_asked(wick_module *module, const char *method, uint32_t grad, const char *what) {
  uint64_t before = stats().state_guards;
  for (int i = 0; i < SETTLED_CALLS; i++) check(module, method, grad, what);
  if (stats().state_guards != before) fail_msg("%s: a settled call asked guards", what);
}

static void test_settled_calls_ask_none(void **state) {
  (void)state;
  static const char *const methods[] = {"forward", "looped"};
  wick_module *module = net("pass");
  for (int i = 0; i < 4; i++) {
    const char *method = methods[i % 2];
    uint64_t before = stats().state_guards;
    settle(module, method, WICK_GRAD_OFF, method);
    if (i < 2) assert_true(stats().state_guards > before); /* there are some */
    assert_none_asked(module, method, WICK_GRAD_OFF, method);
  }
  wick_module_release(module);
}

/* ---- changes ---- */

typedef struct Change {
  const char *body;
  uint32_t grad;
  const char *before; /* what is done at first; NULL: nothing */
} Change;
static const Change changes[] = {
    {"self.weight.unsqueeze_(0)", WICK_GRAD_OFF, NULL},
    {"self.bias.squeeze_(0)", WICK_GRAD_OFF, NULL},
    {"self.scale.squeeze_()", WICK_GRAD_OFF, NULL},
    {"self.weight.t_()", WICK_GRAD_OFF, NULL},
    {"self.weight.transpose_(0, 1)", WICK_GRAD_OFF, NULL},
    {"self.weight.swapdims_(0, 1)", WICK_GRAD_OFF, NULL},
    {"self.bias.swapaxes_(0, 1)", WICK_GRAD_OFF, NULL},
    {"self.weight.as_strided_([3, 3], [0, 1])", WICK_GRAD_OFF, NULL},
    {"self.weight.resize_([3])", WICK_GRAD_OFF, NULL},
    {"self.weight.resize_([1, 1, 1, 3], memory_format=torch.channels_last)", WICK_GRAD_OFF,
     "self.weight.resize_([1, 1, 1, 3])"}, /* the same sizes */
    {"self.weight.resize_as_(self.other[0])", WICK_GRAD_OFF, NULL},
    {"self.weight.set_(self.other.t())", WICK_GRAD_OFF, NULL},
    {"torch.add(self.other.squeeze(), 1, out=self.weight)", WICK_GRAD_OFF, NULL},
    {"self.weight.requires_grad_(True)", WICK_GRAD_ON, NULL},
    {"self.weight.requires_grad_(False)", WICK_GRAD_ON, "self.weight.requires_grad_(True)"},
    {"self.weight.mul_(self.other)", WICK_GRAD_ON, "self.other.requires_grad_(True)"},
    {"self.weight[0].mul_(self.other[0])", WICK_GRAD_ON, "self.other.requires_grad_(True)"},
    {"self.weight.detach_()", WICK_GRAD_ON,
     "self.other.requires_grad_(True)\n    self.weight.mul_(self.other)\n    self.other.requires_grad_(False)"},
};
enum { CHANGES = sizeof changes / sizeof *changes };

static void begin(wick_module *module, const Change *c) {
  if (!c->before) return;
  char program[256];
  int length = snprintf(program, sizeof program, "def begin(self):\n    %s\n", c->before);
  wick_run_options options = {.size = sizeof options, .grad = c->grad};
  FINE(wick_module_define(module, NULL, program, (size_t)length, NULL, &e));
  FINE(wick_run(module, "begin", NULL, 0, NULL, 0, &options, NULL, &e));
}

static void test_changes_are_seen(void **state) {
  (void)state;
  static const char *const methods[] = {"forward", "looped"};
  for (int i = 0; i < 2 * CHANGES; i++) {
    const Change *c = &changes[i / 2];
    const char *method = methods[i % 2];
    wick_module *module = net(c->body);
    begin(module, c);
    settle(module, method, c->grad, c->body);
    assert_none_asked(module, method, c->grad, c->body);
    uint64_t bailouts = stats().bailouts;
    change(module, c->grad);
    for (int k = 0; k < 3; k++) check(module, method, c->grad, c->body);
    if (stats().bailouts == bailouts) fail_msg("%s: no guard failed", c->body);
    settle(module, method, c->grad, c->body);
    wick_module_release(module);
  }
}

/* A view comes to record when what it shows does, and no change to the view says so. */
static void test_views(void **state) {
  (void)state;
  wick_module *module = net("self.other.mul_(torch.ones([1, 3]).requires_grad_(True))");
  wick_value *base = row(5), *zero = wick_value_int(0), *view;
  wick_run_options grad = {.size = sizeof grad, .grad = WICK_GRAD_ON};
  FINE(wick_op_call_with(NULL, "aten::unsqueeze", NULL, (const wick_value *const[]){base, zero}, 2, NULL, 0, &grad,
                         &view, &e));
  FINE(wick_module_set(module, "weight", view, &e));
  FINE(wick_module_set(module, "other", base, &e));
  settle(module, "forward", WICK_GRAD_ON, "a view");
  uint64_t bailouts = stats().bailouts;
  change(module, WICK_GRAD_ON);
  check(module, "forward", WICK_GRAD_ON, "a view of what came to record");
  assert_true(stats().bailouts > bailouts);
  wick_value *all[] = {base, zero, view};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_value_release(all[i]);
  wick_module_release(module);
}

/* Instances share plans, not what was found of their tensors; one that shares tensors notices what another changes. */
static void test_instances(void **state) {
  (void)state;
  wick_module *module = net("self.weight.t_()"), *shares, *copy;
  settle(module, "forward", WICK_GRAD_OFF, "first");
  FINE(wick_module_clone(module, NULL, 1, &shares, &e));
  FINE(wick_module_clone(module, NULL, 0, &copy, &e));
  settle(shares, "forward", WICK_GRAD_OFF, "shares");
  settle(copy, "forward", WICK_GRAD_OFF, "copy");
  assert_none_asked(module, "forward", WICK_GRAD_OFF, "first");
  assert_none_asked(shares, "forward", WICK_GRAD_OFF, "shares");
  assert_none_asked(copy, "forward", WICK_GRAD_OFF, "copy");
  change(module, WICK_GRAD_OFF);
  check(copy, "forward", WICK_GRAD_OFF, "copy");
  check(shares, "forward", WICK_GRAD_OFF, "shares");
  check(module, "forward", WICK_GRAD_OFF, "first");
  wick_module_release(module);
  change(copy, WICK_GRAD_OFF);
  check(shares, "forward", WICK_GRAD_OFF, "shares");
  check(copy, "forward", WICK_GRAD_OFF, "copy");
  wick_module_release(shares);
  wick_module_release(copy);
}

/* ---- threads ---- */

enum { THREADS = 3, CALLS = 300, WRITES = 60 };
typedef struct Shared {
  wick_module *module;
  pthread_rwlock_t lock; /* what looks different may not be in use */
  int side;              /* how often it was changed: columns when odd */
  _Atomic int bad;
} Shared;

static void *call_again(void *argument) {
  Shared *shared = argument;
  for (int i = 0; i < CALLS; i++) {
    pthread_rwlock_rdlock(&shared->lock);
    wick_value *result = run_in(shared->module, "forward", WICK_EXECUTOR_PROFILING, WICK_GRAD_OFF);
    wick_tensor_view view = {.size = sizeof view};
    FINE(wick_tensor_view_of(result, &view, &e));
    const float *y = view.data; /* weight 3 4 5, bias -1 0 1, scale 2 3 4, x 1 2 3 */
    int64_t rows = shared->side % 2 ? 3 : 1;
    bool fits = view.ndim == 2 && view.sizes[0] == rows && view.sizes[1] == 3 && y[0] == 4;
    for (int64_t r = 0; fits && r < rows; r++)
      for (int64_t c = 0; c < 3; c++)
        fits = fits && y[r * 3 + c] == (float)((c + 1) * (3 + (rows == 1 ? c : r)) + c - 1) * (float)(c + 2);
    atomic_fetch_add(&shared->bad, !fits);
    pthread_rwlock_unlock(&shared->lock);
    wick_value_release(result);
  }
  return NULL;
}
static void *write_again(void *argument) {
  Shared *shared = argument;
  for (int i = 0; i < WRITES; i++) {
    pthread_rwlock_wrlock(&shared->lock);
    change(shared->module, WICK_GRAD_OFF);
    shared->side++;
    pthread_rwlock_unlock(&shared->lock);
    sched_yield();
  }
  return NULL;
}
static void test_threads(void **state) {
  (void)state;
  Shared shared = {.module = net("self.weight.t_()"), .lock = PTHREAD_RWLOCK_INITIALIZER};
  pthread_t threads[THREADS], writing;
  settle(shared.module, "forward", WICK_GRAD_OFF, "threads");
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, call_again, &shared);
  pthread_create(&writing, NULL, write_again, &shared);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pthread_join(writing, NULL);
  assert_int_equal(atomic_load(&shared.bad), 0);
  check(shared.module, "forward", WICK_GRAD_OFF, "threads");
  pthread_rwlock_destroy(&shared.lock);
  wick_module_release(shared.module);
}

int main(void) {
  wick_executor_options options = {.size = sizeof options, .executor = WICK_EXECUTOR_PROFILING, .synchronous = 1};
  if (wick_runtime_set_executor(NULL, &options, NULL)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_settled_calls_ask_none),
      cmocka_unit_test(test_changes_are_seen),
      cmocka_unit_test(test_views),
      cmocka_unit_test(test_instances),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
