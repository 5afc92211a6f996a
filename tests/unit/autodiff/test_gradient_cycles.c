/* What is recorded never keeps itself alive: all memory of a runtime comes back once its programs are gone, whatever
 * became of their leaves; and what backward makes of leaves that are none any more. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "wick/wick.h"

/* ---- an allocator that counts ---- */

static _Atomic int64_t blocks;

static void *counted_alloc(void *user, size_t bytes, size_t align) {
  (void)user;
  void *p;
  if (posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, bytes + 1)) return NULL;
  atomic_fetch_add(&blocks, 1);
  return p;
}
static void counted_free(void *user, void *p, size_t bytes) {
  (void)user;
  (void)bytes;
  free(p);
  atomic_fetch_sub(&blocks, 1);
}

typedef struct Program {
  wick_runtime *runtime;
  wick_module *module;
} Program;

static Program begin(const char *text) {
  wick_runtime_options options = {.size = sizeof options, .alloc = counted_alloc, .free = counted_free};
  wick_error *error = NULL;
  Program p;
  blocks = 0;
  assert_int_equal(wick_runtime_new(&options, &p.runtime, NULL), WICK_OK);
  if (wick_compile(p.runtime, text, strlen(text), "test.py", &p.module, &error))
    fail_msg("%s\n%s", wick_error_message(error), text);
  return p;
}

static void end(Program p, const char *what) {
  wick_module_release(p.module);
  wick_runtime_release(p.runtime);
  for (int i = 0; blocks && i < 1000; i++) usleep(1000); /* a thread of the runtime may still be about to end */
  if (blocks) fail_msg("%lld blocks are left of\n%s", (long long)blocks, what);
}

/* The message goes to `out_error`, which is empty when there is none. */
static wick_value *call(Program p, const char *name, const wick_value *a, const wick_value *b, char *out_error) {
  wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
  wick_error *error = NULL;
  wick_value *out = NULL;
  out_error[0] = 0;
  if (wick_run(p.module, name, (const wick_value *const[]){a, b}, !!a + !!b, NULL, 0, &options, &out, &error))
    snprintf(out_error, 2000, "%s", wick_error_message(error));
  wick_error_free(error);
  return out;
}

static wick_value *call_fine(Program p, const char *name, const wick_value *a, const wick_value *b) {
  char error[2000];
  wick_value *out = call(p, name, a, b, error);
  assert_string_equal(error, "");
  return out;
}

/* Runs f, whose x is a leaf at first and the result at last, some times; each fails with `error`, NULL: none does. */
static void run(const char *body, const char *error) {
  char text[2000], message[2000];
  snprintf(text, sizeof text, "def f():\n    x = torch.tensor([1., 2., 3.], requires_grad=True)\n%s    return x\n",
           body);
  Program p = begin(text);
  for (int i = 0; i < 4; i++) {
    wick_value_release(call(p, "f", NULL, NULL, message));
    if (error ? !strstr(message, error) : message[0]) fail_msg("'%s' of\n%s", message, text);
  }
  end(p, text);
}

#define CLOSE(a, b) "    assert torch.allclose(" a ", torch.tensor(" b "))\n"
#define MOVED "leaf variable has been moved into the graph interior"

/* ---- leaves with a history ---- */

static void test_written_leaves(void **state) {
  (void)state;
  run("    y = x[0]\n    x.detach_()\n    x[1].add_(y)\n", NULL);
  run("    y = x * 2.\n    x.detach_()\n    x.add_(y)\n", NULL);
  run("    y = x * 2.\n    x.requires_grad_(False)\n    x.add_(y)\n", NULL);
  run("    y = x * x\n    x.detach_()\n    x.add_(y)\n", NULL); /* the call keeps x itself */
  run("    y = x * x\n    x.requires_grad_(False)\n    x[1:].mul_(y[:2])\n    x.mul_(x)\n", NULL);
  run("    y = torch.cat([x, x]) * torch.stack([x, x]).view([6])\n    x.detach_()\n    x.add_(y[:3])\n", NULL);
  run("    y = x * x\n    x.detach_()\n    v = x[:2]\n    v[0].add_(y[0])\n    x[1:].add_(v * 1.)\n", NULL);
}

/* What a leaf shows comes to hold its gradient. */
static void test_leaves_that_are_views(void **state) {
  (void)state;
  run("    b = torch.zeros([3])\n    v = b[0:2]\n    v.requires_grad_(True)\n    y = v * 2.\n    b[0:2].add_(y)\n    x "
      "= b\n",
      NULL);
  run("    b = torch.zeros([3])\n    v = b[0:2]\n    v.requires_grad_(True)\n    y = v * v\n    "
      "v.requires_grad_(False)\n"
      "    v.add_(y)\n    x = b\n",
      NULL);
  run("    b = torch.zeros([3])\n    v = b[0:2]\n    v.requires_grad_(True)\n    y = (v + 1.) * 2.\n"
      "    y.sum().backward()\n" CLOSE("v.grad", "[2., 2.]"),
      NULL);
}

static void test_recorded_gradients(void **state) {
  (void)state;
  run("    (x * x * x).sum().backward(create_graph=True)\n    g = x.grad\n    assert g is not None\n" CLOSE(
          "g",
          "[3., 12., 27.]") "    h = torch.autograd.grad([g.sum()], [x])[0]\n    assert h is not None\n" CLOSE("h",
                                                                                                               "[6., "
                                                                                                               "12., "
                                                                                                               "18.]"),
      NULL);
  run("    y = x * x\n    y.retain_grad()\n    (y * y).sum().backward(create_graph=True)\n" CLOSE(
          "y.grad", "[2., 8., 18.]") "    y.mul_(y)\n    y.detach_()\n    y.add_(x)\n    x = y\n",
      NULL);
}

static void test_written_views(void **state) {
  (void)state;
  run("    y = x * 1.\n    v = y[1:]\n    y[0].mul_(y[1] * 1.)\n    v.mul_(y[:2] * 1.)\n    y.mul_(y)\n    "
      "v.sum().backward()\n",
      NULL);
  run("    y = x * 1.\n    y[0] = y[1] * y[2]\n    y[1:] = y[:2].exp()\n    x = y\n", NULL);
}

/* A graph with a backward graph of its own keeps its inputs, too. */
static void test_graphs(void **state) {
  (void)state;
  const char *text =
      "def f(x):\n    return torch.tanh(x * x * 2. + x) * x\n"
      "def g(x, y):\n    x.detach_()\n    x.add_(y)\n"
      "def leaf():\n    return torch.tensor([1., 2., 3.], requires_grad=True)\n";
  Program p = begin(text);
  for (int i = 0; i < 12; i++) {
    wick_value *x = call_fine(p, "leaf", NULL, NULL), *y = call_fine(p, "f", x, NULL);
    wick_value_release(call_fine(p, "g", x, y));
    wick_value_release(y);
    wick_value_release(x);
  }
  end(p, text);
}

/* ---- gradients that reach them, as PyTorch has it ---- */

static void test_values(void **state) {
  (void)state;
  const char *const cut[] = {"x.detach_()", "x.requires_grad_(False)"};
  for (int i = 0; i < 2; i++) {
    char body[1000];
    /* Asks for none until later. Nothing was written that a call keeps. */
    snprintf(body, sizeof body,
             "    y = x * x\n    %s\n    y.sum().backward()\n    x.requires_grad_(True)\n"
             "    (x * 5.).sum().backward()\n" CLOSE("x.grad", "[5., 5., 5.]"),
             cut[i]);
    run(body, NULL);
    /* Became the result of a call. */
    snprintf(body, sizeof body, "    y = x[0]\n    %s\n    x[1].add_(y)\n    x.sum().backward()\n", cut[i]);
    run(body, MOVED);
    snprintf(body, sizeof body, "    y = x * 2.\n    %s\n    x.add_(y)\n    x = y\n    y.sum().backward()\n", cut[i]);
    run(body, MOVED);
    snprintf(body, sizeof body,
             "    y = x * 2.\n    %s\n    x.add_(y)\n    g = torch.autograd.grad([x.sum()], [x])[0]\n"
             "    assert g is not None\n" CLOSE("g", "[1., 1., 1.]"),
             cut[i]);
    run(body, NULL);
    snprintf(body, sizeof body, "    y = x * x\n    %s\n    x.add_(y)\n    x.sum().backward()\n", cut[i]);
    run(body, "modified by an inplace operation");
    /* A leaf again. */
    snprintf(body, sizeof body,
             "    y = x * 3.\n    %s\n    x.add_(y)\n    x.detach_()\n    x.requires_grad_(True)\n"
             "    (y + x).sum().backward()\n" CLOSE("x.grad", "[4., 4., 4.]"),
             cut[i]);
    run(body, NULL);
  }
  run("    (x * 3.).sum().backward()\n    x.detach_()\n" CLOSE("x.grad", "[3., 3., 3.]"), NULL);
  /* Being asked to keep a gradient is no write either. */
  run("    y = x * 1.\n    z = y * y\n    y.retain_grad()\n    z.sum().backward()\n" CLOSE("x.grad", "[2., 4., 6.]"),
      NULL);
  /* Gradients of gradients end in the leaf that a call kept. */
  run("    y = x * x * x\n    g = torch.autograd.grad([y.sum()], [x], create_graph=True)[0]\n"
      "    assert g is not None\n    g.sum().backward()\n" CLOSE("x.grad", "[6., 12., 18.]"),
      NULL);
}

typedef struct Log {
  int calls;
} Log;
static wick_status count_call(void *user, const wick_value *grad, wick_value **out_replacement, wick_error **error) {
  (void)grad, (void)out_replacement, (void)error;
  ((Log *)user)->calls++;
  return WICK_OK;
}

/* Hooks stay with a leaf that is cut off; and a leaf lives as long as a gradient may reach it. */
static void test_hooks(void **state) {
  (void)state;
  const char *text =
      "def leaf():\n    return torch.tensor([1., 2., 3.], requires_grad=True)\n"
      "def f(x):\n    y = x * 3.\n    x.detach_()\n    x.requires_grad_(True)\n    return (x * 1. + y).sum()\n";
  Program p = begin(text);
  Log log = {0};
  wick_value *x = call_fine(p, "leaf", NULL, NULL);
  assert_int_equal(wick_tensor_add_hook(x, count_call, NULL, &log, NULL), WICK_OK);
  wick_value *y = call_fine(p, "f", x, NULL);
  wick_value_release(x);
  assert_int_equal(wick_backward(p.runtime, (const wick_value *const[]){y}, NULL, 1, 0, NULL), WICK_OK);
  assert_int_equal(log.calls, 1); /* with the whole gradient */
  wick_value_release(y);
  end(p, text);
}

/* A gradient from outside that has a history. */
static void test_given_gradient(void **state) {
  (void)state;
  const char *text =
      "def leaf():\n    return torch.tensor([1., 2., 3.], requires_grad=True)\ndef f(x):\n    return x * x\n";
  Program p = begin(text);
  wick_value *x = call_fine(p, "leaf", NULL, NULL), *y = call_fine(p, "f", x, NULL);
  assert_int_equal(wick_tensor_set_grad(x, y, NULL), WICK_OK);
  wick_value_release(y);
  wick_value_release(x);
  end(p, text);
}

/* ---- threads ---- */

enum { THREADS = 4, TURNS = 100 };
typedef struct Turn {
  wick_runtime *runtime;
  wick_value *result;
  pthread_barrier_t *start;
} Turn;

static void *run_backward(void *argument) {
  Turn *turn = argument;
  pthread_barrier_wait(turn->start);
  if (wick_backward(turn->runtime, (const wick_value *const[]){turn->result}, NULL, 1, 0, NULL)) abort();
  wick_value_release(turn->result);
  return NULL;
}

/* A leaf that is only borrowed goes while gradients reach it. */
static void test_threads(void **state) {
  (void)state;
  const char *text =
      "def leaf():\n    b = torch.zeros([3])\n    v = b[0:2]\n    v.requires_grad_(True)\n    return v\n"
      "def f(x):\n    return (x * x).sum()\n";
  Program p = begin(text);
  for (int i = 0; i < TURNS; i++) {
    pthread_t threads[THREADS];
    Turn turns[THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS + 1);
    wick_value *v = call_fine(p, "leaf", NULL, NULL);
    for (int k = 0; k < THREADS; k++) {
      turns[k] = (Turn){p.runtime, call_fine(p, "f", v, NULL), &start};
      assert_int_equal(pthread_create(&threads[k], NULL, run_backward, &turns[k]), 0);
    }
    pthread_barrier_wait(&start);
    wick_value_release(v);
    for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
    pthread_barrier_destroy(&start);
  }
  end(p, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_written_leaves),
      cmocka_unit_test(test_leaves_that_are_views),
      cmocka_unit_test(test_recorded_gradients),
      cmocka_unit_test(test_written_views),
      cmocka_unit_test(test_graphs),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_hooks),
      cmocka_unit_test(test_given_gradient),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
