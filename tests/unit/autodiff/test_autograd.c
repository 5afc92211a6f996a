/* Eager gradients, through programs: accumulation, views, writes, versions, modes, gradients of gradients, long chains.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

/* Runs f() of the text; the program asserts what should hold. *out_error holds the message of a failure, or is empty.
 */
static void run_text(const char *text, char *out_error, size_t capacity) {
  wick_module *module;
  wick_error *error = NULL;
  wick_value *result = NULL;
  wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
  out_error[0] = 0;
  if (!wick_compile(NULL, text, strlen(text), "test.py", &module, &error)) {
    wick_run(module, "f", NULL, 0, NULL, 0, &options, &result, &error);
    wick_module_release(module);
  }
  if (error) {
    strncpy(out_error, wick_error_message(error), capacity - 1);
    out_error[capacity - 1] = 0;
  }
  wick_value_release(result);
  wick_error_free(error);
}

#define LEAF "x = torch.tensor([1., 2., 3.], requires_grad=True)\n"
static void expect_fine(const char *body) {
  char text[4000], error[2000];
  snprintf(text, sizeof text, "def f():\n    " LEAF "%s", body);
  run_text(text, error, sizeof error);
  assert_string_equal(error, "");
}
static void expect_error(const char *body, const char *part) {
  char text[4000], error[2000];
  snprintf(text, sizeof text, "def f():\n    " LEAF "%s", body);
  run_text(text, error, sizeof error);
  if (!strstr(error, part)) fail_msg("expected '%s' in '%s'", part, error);
}
#define CLOSE(a, b) "    assert torch.allclose(" a ", torch.tensor(" b "))\n"

static void test_accumulation(void **state) {
  (void)state;
  expect_fine("    (x * x).sum().backward()\n" CLOSE("x.grad", "[2., 4., 6.]") "    (x * 3.).sum().backward()\n" CLOSE(
      "x.grad", "[5., 7., 9.]"));
  expect_fine("    y = x * x\n    (y + y * y).sum().backward()\n" CLOSE("x.grad", "[6., 36., 114.]"));
  expect_fine("    y = x * 2.\n    y.retain_grad()\n    (y * y).sum().backward()\n" CLOSE("y.grad", "[4., 8., 12.]"));
}

static void test_broadcasting_and_dtypes(void **state) {
  (void)state;
  expect_fine("    y = torch.ones([2, 3], dtype=torch.float64)\n    (x * y).sum().backward()\n" CLOSE(
      "x.grad", "[2., 2., 2.]") "    assert x.grad.dtype == torch.float32\n");
}

static void test_views_and_writes(void **state) {
  (void)state;
  expect_fine(
      "    z = torch.zeros([2, 3])\n    z[0] = x * x\n    z[1] = x\n    z.mul_(2.)\n    z.sum().backward()\n" CLOSE(
          "x.grad", "[6., 10., 14.]"));
  /* A view made before its base was written knows of the write. */
  expect_fine(
      "    y = x * 1.\n    v = y[1:]\n    y.mul_(3.)\n    v.sum().backward()\n" CLOSE("x.grad", "[0., 3., 3.]"));
  /* What an in-place operator overwrites is kept where its gradient reads it. */
  expect_fine("    y = x * 1.\n    y.mul_(y)\n    y.sum().backward()\n" CLOSE("x.grad", "[2., 4., 6.]"));
  expect_error("    x.add_(1.)\n    x.sum().backward()\n",
               "a leaf Variable that requires grad is being used in an in-place operation");
  expect_error("    x[0].add_(1.)\n    x.sum().backward()\n", "a view of a leaf Variable that requires grad");
}

static void test_versions(void **state) {
  (void)state;
  expect_error("    y = x.exp()\n    z = y * y\n    y.add_(1.)\n    z.sum().backward()\n",
               "modified by an inplace operation");
  expect_fine("    y = x * 2.\n    z = y.sum()\n    y.add_(1.)\n    z.backward()\n");
}

static void test_freed_and_retained(void **state) {
  (void)state;
  expect_error("    y = (x * x).sum()\n    y.backward()\n    y.backward()\n", "a second time");
  expect_fine(
      "    y = (x * x).sum()\n    y.backward(retain_graph=True)\n    y.backward()\n" CLOSE("x.grad", "[4., 8., 12.]"));
}

static void test_roots(void **state) {
  (void)state;
  expect_error("    (x * x).backward()\n", "grad can be implicitly created only for scalar outputs");
  expect_error("    x.detach().sum().backward()\n", "does not require grad");
  expect_error("    with torch.no_grad():\n        y = x.sum()\n    y.backward()\n", "does not require grad");
  expect_fine("    (x * x).backward(torch.tensor([1., 0., 2.]))\n" CLOSE("x.grad", "[2., 0., 12.]"));
}

static void test_second_order(void **state) {
  (void)state;
  expect_fine(
      "    g = torch.autograd.grad([(x * x * x).sum()], [x], create_graph=True)[0]\n    assert g is not None\n"
      "    h = torch.autograd.grad([g.sum()], [x])[0]\n    assert h is not None\n" CLOSE("h", "[6., 12., 18.]"));
  expect_fine(
      "    y = torch.ones([3], dtype=torch.float32)\n    y = y * 1.\n"
      "    g = torch.autograd.grad([x.sum()], [x, x], allow_unused=True)\n    assert g[0] is not None and g[1] is not "
      "None\n");
  expect_error("    z = x * 2.\n    g = torch.autograd.grad([x.sum()], [z])\n", "appears to not have been used");
}

static void test_lists(void **state) {
  (void)state;
  expect_fine(
      "    a, b = x.split([1, 2])\n    torch.cat([b, a * 2., b]).sum().backward()\n" CLOSE("x.grad", "[2., 2., 2.]"));
}

/* Neither the walk nor the release recurses. */
static void test_long_chain(void **state) {
  (void)state;
  expect_fine("    y = x\n    for i in range(20000):\n        y = y + 1.\n    y.sum().backward()\n" CLOSE(
      "x.grad", "[1., 1., 1.]"));
  expect_fine("    y = x\n    for i in range(20000):\n        y = y + 1.\n");
}

static void test_api(void **state) {
  (void)state;
  float data[] = {1, 2};
  wick_value *x, *product = NULL, *grad = NULL, *grads[1] = {NULL};
  wick_error *error = NULL;
  const char *text = "def f(x):\n    return (x * x).sum()\n";
  wick_module *module;
  wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
  assert_int_equal(wick_tensor_borrow(data, WICK_FLOAT32, 1, (int64_t[]){2}, NULL, NULL, NULL, &x, NULL), WICK_OK);
  assert_int_equal(wick_tensor_set_requires_grad(x, 1, NULL), WICK_OK);
  assert_int_equal(wick_compile(NULL, text, strlen(text), NULL, &module, NULL), WICK_OK);
  const wick_value *inputs[] = {x};
  assert_int_equal(wick_run(module, "f", inputs, 1, NULL, 0, &options, &product, NULL), WICK_OK);
  const wick_value *outputs[] = {product};
  assert_int_equal(wick_grad(NULL, outputs, NULL, 1, inputs, 1, WICK_RETAIN_GRAPH, grads, NULL), WICK_OK);
  assert_int_equal(wick_tensor_grad(x, &grad, NULL), WICK_OK);
  assert_null(grad);
  assert_int_equal(wick_backward(NULL, outputs, NULL, 1, 0, NULL), WICK_OK);
  assert_int_equal(wick_tensor_grad(x, &grad, NULL), WICK_OK);
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(grad, &view, NULL), WICK_OK);
  assert_true(((float *)view.data)[1] == 4.0f);
  assert_int_not_equal(wick_backward(NULL, outputs, NULL, 1, 0, &error), WICK_OK);
  assert_int_equal(wick_tensor_clear_grad(x, NULL), WICK_OK);
  wick_error_free(error);
  wick_value_release(grads[0]);
  wick_value_release(grad);
  wick_value_release(product);
  wick_value_release(x);
  wick_module_release(module);
}

/* ---- hooks and threads ---- */

static wick_value *vector(float first, int requires_grad) {
  wick_value *t;
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, (int64_t[]){3}, &t, NULL), 0);
  assert_int_equal(wick_tensor_view_of(t, &view, NULL), 0);
  for (int i = 0; i < 3; i++) ((float *)view.data)[i] = first + (float)i;
  assert_int_equal(wick_tensor_set_requires_grad(t, requires_grad, NULL), 0);
  return t;
}

static wick_module *compile(const char *text) {
  wick_module *module;
  assert_int_equal(wick_compile(NULL, text, strlen(text), "test.py", &module, NULL), 0);
  return module;
}

static wick_value *run_with_grad(wick_module *module, const wick_value *x) {
  wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
  wick_value *out;
  assert_int_equal(wick_run(module, "f", &x, 1, NULL, 0, &options, &out, NULL), 0);
  return out;
}

static void assert_grad(const wick_value *x, float a, float b, float c) {
  wick_value *grad;
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_grad(x, &grad, NULL), 0);
  assert_non_null(grad);
  assert_int_equal(wick_tensor_view_of(grad, &view, NULL), 0);
  const float *g = view.data, expected[] = {a, b, c};
  for (int i = 0; i < 3; i++)
    if (g[i] != expected[i]) fail_msg("%d is %g, not %g", i, (double)g[i], (double)expected[i]);
  wick_value_release(grad);
}

typedef struct Log {
  int calls, drops;
  float factor;
  bool fails;
} Log;

static wick_status hook(void *user, const wick_value *grad, wick_value **out_replacement, wick_error **error) {
  Log *log = user;
  log->calls++;
  if (log->fails) {
    *error = wick_error_new(WICK_RAISED, "no more of this");
    return WICK_RAISED;
  }
  if (log->factor == 0) return WICK_OK;
  wick_value *factor = wick_value_double(log->factor);
  wick_status status = wick_op_call(NULL, "aten::mul", "Scalar", (const wick_value *const[]){grad, factor}, 2, NULL, 0,
                                    out_replacement, error);
  wick_value_release(factor);
  return status;
}

static void drop(void *user) {
  ((Log *)user)->drops++;
}

static void test_hooks(void **state) {
  (void)state;
  wick_module *module = compile("def f(x):\n    return (x * x).sum() + x.sum()\n");
  wick_value *x = vector(1, 1), *plain = vector(1, 0), *loss = run_with_grad(module, x);
  Log looks = {0}, doubles = {.factor = 2}, refuses = {.fails = true};
  wick_error *error = NULL;
  assert_int_equal(wick_tensor_add_hook(x, hook, drop, &looks, NULL), 0);
  assert_int_equal(wick_tensor_add_hook(x, hook, drop, &doubles, NULL), 0);
  assert_int_equal(wick_backward(NULL, (const wick_value *const[]){loss}, NULL, 1, WICK_RETAIN_GRAPH, NULL), 0);
  assert_grad(x, 6, 10, 14); /* once, with the whole gradient */
  assert_int_equal(looks.calls, 1);
  assert_int_equal(doubles.calls, 1);
  assert_int_equal(wick_tensor_clear_hooks(x, NULL), 0);
  assert_int_equal(looks.drops + doubles.drops, 2);

  assert_int_equal(wick_tensor_add_hook(x, hook, drop, &refuses, NULL), 0);
  assert_int_equal(wick_backward(NULL, (const wick_value *const[]){loss}, NULL, 1, 0, &error), WICK_RAISED);
  assert_string_equal(wick_error_message(error), "no more of this");
  wick_error_free(error);
  assert_int_not_equal(wick_tensor_add_hook(plain, hook, drop, &looks, &error), 0);
  assert_string_equal(wick_error_message(error), "cannot register a hook on a tensor that doesn't require gradient");
  wick_error_free(error);
  assert_int_equal(looks.drops, 2);
  wick_value_release(loss);
  wick_value_release(plain);
  wick_value_release(x);
  assert_int_equal(refuses.drops, 1);
  wick_module_release(module);
}

enum { THREADS = 8, TURNS = 50 };
typedef struct Shared {
  wick_module *module;
  wick_value *leaf;
} Shared;

/* Graphs of its own, from a leaf that all share and one of its own. */
static void *run_backward(void *argument) {
  Shared *shared = argument;
  wick_value *own = vector(1, 1);
  for (int i = 0; i < TURNS; i++) {
    wick_value *a = run_with_grad(shared->module, own), *b = run_with_grad(shared->module, shared->leaf);
    if (wick_backward(NULL, (const wick_value *const[]){a, b}, NULL, 2, 0, NULL)) abort();
    wick_value_release(a);
    wick_value_release(b);
  }
  assert_grad(own, 2 * TURNS, 4 * TURNS, 6 * TURNS);
  wick_value_release(own);
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  Shared shared = {compile("def f(x):\n    y = x.view([3, 1])\n    y = y * x.unsqueeze(1)\n    return y.sum()\n"),
                   vector(1, 1)};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_backward, &shared), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  assert_grad(shared.leaf, 2 * TURNS * THREADS, 4 * TURNS * THREADS, 6 * TURNS * THREADS);
  wick_value_release(shared.leaf);
  wick_module_release(shared.module);
}

/* Modes, and what leaves may become. */
static void test_modes(void **state) {
  (void)state;
  expect_fine(
      "    with torch.no_grad():\n        y = x * 2.\n    assert not y.requires_grad\n"
      "    with torch.enable_grad():\n        z = x * 2.\n    assert z.requires_grad\n"
      "    assert not z.detach().requires_grad\n    assert z.detach().is_leaf\n");
  expect_fine("    y = torch.ones([3])\n    y.requires_grad_()\n    (y * x).sum().backward()\n" CLOSE("y.grad",
                                                                                                      "[1., 2., 3.]"));
  expect_fine("    y = x.detach()\n    z = (x * y).sum()\n    z.backward()\n" CLOSE("x.grad", "[1., 2., 3.]"));
  expect_error("    y = x * 2.\n    y.requires_grad_(False)\n    y.sum().backward()\n",
               "you can only change requires_grad flags of leaf");
  /* In-place on what a view shows, after a detached alias was made: the alias shares memory, not history. */
  expect_fine(
      "    y = x * 1.\n    d = y.detach()\n    y.mul_(2.)\n    assert torch.equal(d, y)\n"
      "    y.sum().backward()\n" CLOSE("x.grad", "[2., 2., 2.]"));
  expect_error("    y = x.exp()\n    y.detach().add_(1.)\n    y.sum().backward()\n",
               "modified by an inplace operation");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accumulation),
      cmocka_unit_test(test_broadcasting_and_dtypes),
      cmocka_unit_test(test_views_and_writes),
      cmocka_unit_test(test_versions),
      cmocka_unit_test(test_freed_and_retained),
      cmocka_unit_test(test_roots),
      cmocka_unit_test(test_second_order),
      cmocka_unit_test(test_lists),
      cmocka_unit_test(test_long_chain),
      cmocka_unit_test(test_api),
      cmocka_unit_test(test_hooks),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_modes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
