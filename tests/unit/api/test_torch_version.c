/* Whose operators a program means: by its archive, by options, by the runtime; and that it stays so when it is saved,
 * frozen and run by every executor. What each version's operators do is recorded in program/torch_versions_1 and _2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "wick/wick.h"
#include "wick/graph.h"

static const char text[] =
    "def forward(x: Tensor):\n"
    "    return torch.diff(x, -1)\n"
    "def gradient(x: Tensor):\n"
    "    x = x.detach().requires_grad_(True)\n"
    "    r = torch.nextafter(x, torch.ones_like(x))\n"
    "    if r.requires_grad:\n"
    "        r.sum().backward()\n"
    "    return x.grad\n";

static void settle(wick_status status, wick_error *error) {
  if (status) fail_msg("%s", wick_error_message(error));
}
static wick_module *compiled(wick_runtime *runtime, uint32_t version) {
  wick_module *module;
  wick_error *error = NULL;
  wick_compile_options options = {.size = sizeof options, .torch_version = version};
  settle(wick_compile_with(runtime, text, strlen(text), &options, &module, &error), error);
  return module;
}
static wick_value *numbers(void) {
  wick_value *tensor;
  wick_error *error = NULL;
  float data[3] = {1, 2, 3};
  settle(wick_tensor_new(WICK_FLOAT32, 1, (const int64_t[]){3}, &tensor, &error), error);
  settle(wick_tensor_copy_from(tensor, data, sizeof data, &error), error);
  return tensor;
}
/* diff refuses a negative order in 2.x; nextafter has a gradient there. */
static bool refuses(wick_module *module, const char *method) {
  wick_value *x = numbers(), *out = NULL;
  wick_error *error = NULL;
  wick_status status = wick_run(module, method, (const wick_value *[]){x}, 1, NULL, 0, NULL, &out, &error);
  if (status) assert_non_null(strstr(wick_error_message(error), "order must be non-negative but got -1"));
  wick_error_free(error);
  wick_value_release(out);
  wick_value_release(x);
  return status != WICK_OK;
}
static bool has_gradient(wick_module *module) {
  wick_value *x = numbers(), *out = NULL;
  wick_error *error = NULL;
  wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
  settle(wick_run(module, "gradient", (const wick_value *[]){x}, 1, NULL, 0, &options, &out, &error), error);
  wick_tensor_spec spec;
  bool has = wick_tensor_spec_of(out, &spec, NULL) == WICK_OK; /* not undefined */
  wick_value_release(out);
  wick_value_release(x);
  return has;
}
static void check(wick_module *module, uint32_t version) {
  assert_int_equal(wick_module_torch_version(module), version);
  for (int i = 0; i < 4; i++) { /* as written, then by a plan */
    assert_int_equal(refuses(module, "forward"), version == WICK_TORCH_2);
    assert_int_equal(has_gradient(module), version == WICK_TORCH_2);
  }
}

static void test_options(void **state) {
  (void)state;
  for (uint32_t executor = WICK_EXECUTOR_SIMPLE; executor <= WICK_EXECUTOR_PROFILING; executor++) {
    wick_executor_options how = {.size = sizeof how, .executor = executor, .profiled_runs = 1, .synchronous = 1};
    wick_runtime *runtime;
    wick_error *error = NULL;
    settle(wick_runtime_new(NULL, &runtime, &error), error);
    settle(wick_runtime_set_executor(runtime, &how, &error), error);
    assert_int_equal(wick_runtime_torch_version(runtime), WICK_TORCH_1);
    wick_module *first = compiled(runtime, WICK_TORCH_DEFAULT), *second = compiled(runtime, WICK_TORCH_2);
    settle(wick_runtime_set_torch_version(runtime, WICK_TORCH_2, &error), error);
    assert_int_equal(wick_runtime_torch_version(runtime), WICK_TORCH_2);
    wick_module *third = compiled(runtime, WICK_TORCH_DEFAULT), *fourth = compiled(runtime, WICK_TORCH_1);
    check(first, WICK_TORCH_1);
    check(second, WICK_TORCH_2);
    check(third, WICK_TORCH_2);
    check(fourth, WICK_TORCH_1);
    wick_module *const all[] = {first, second, third, fourth};
    for (size_t i = 0; i < 4; i++) wick_module_release(all[i]);
    wick_runtime_release(runtime);
  }
  assert_int_equal(wick_runtime_torch_version(NULL), WICK_TORCH_1);
}

static void test_refusals(void **state) {
  (void)state;
  wick_error *error = NULL;
  wick_module *module = compiled(NULL, WICK_TORCH_1), *other = NULL;
  uint32_t version = 7;
  wick_compile_options options = {.size = sizeof options, .torch_version = 3};
  wick_load_options load = {.size = sizeof load, .torch_version = 3};
  assert_int_equal(wick_compile_with(NULL, text, strlen(text), &options, &other, &error), WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  assert_int_equal(wick_load(NULL, "none.pt", &load, &other, &error), WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  assert_int_equal(wick_runtime_set_torch_version(NULL, 3, &error), WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  options.torch_version = WICK_TORCH_2; /* of what is there already */
  assert_int_equal(wick_module_define(module, NULL, "def g():\n    return 1\n", 22, &options, &error),
                   WICK_INVALID_ARGUMENT);
  assert_non_null(strstr(wick_error_message(error), "stays"));
  wick_error_free(error);
  wick_module_release(module);

  static const struct {
    const char *name;
    uint32_t version; /* 0: there is none */
  } names[] = {{"1.13", WICK_TORCH_1},
               {"1", WICK_TORCH_1},
               {"2", WICK_TORCH_2},
               {"2.14", WICK_TORCH_2},
               {"2.0", WICK_TORCH_2},
               {"3.0", 0},
               {"0.4", 0},
               {"two", 0},
               {"", 0},
               {"2.x", 0},
               {"2.-1", 0},
               {"-1", 0},
               {"2.14.1", 0}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    wick_status status = wick_torch_version_named(names[i].name, &version, NULL);
    assert_int_equal(status, names[i].version ? WICK_OK : WICK_NOT_FOUND);
    if (!status) assert_int_equal(version, names[i].version);
  }
}

/* A module of each version, saved and loaded again. */
static void test_archives(void **state) {
  (void)state;
  static const char methods[] =
      "def forward(self, x: Tensor):\n"
      "    return torch.diff(x, -1)\n"
      "def gradient(self, x: Tensor):\n"
      "    x = x.detach().requires_grad_(True)\n"
      "    r = torch.nextafter(x, torch.ones_like(x))\n"
      "    if r.requires_grad:\n"
      "        r.sum().backward()\n"
      "    return x.grad\n";
  char path[] = "/tmp/wick_torch_version_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  for (uint32_t version = WICK_TORCH_1; version <= WICK_TORCH_2; version++) {
    wick_module *module, *loaded, *frozen;
    wick_error *error = NULL;
    wick_compile_options options = {.size = sizeof options, .torch_version = version};
    wick_load_options load = {.size = sizeof load};
    settle(wick_module_new(NULL, "Net", NULL, 0, &module, &error), error);
    settle(wick_module_define(module, NULL, methods, strlen(methods), &options, &error), error);
    check(module, version);
    settle(wick_module_save(module, NULL, path, NULL, &error), error);
    settle(wick_load(NULL, path, &load, &loaded, &error), error);
    check(loaded, version);
    wick_module_release(loaded);
    load.torch_version = WICK_TORCH_1 + WICK_TORCH_2 - version; /* whatever the file says */
    settle(wick_load(NULL, path, &load, &loaded, &error), error);
    check(loaded, load.torch_version);
    wick_module_release(loaded);
    settle(wick_module_train(module, 0, &error), error);
    settle(wick_module_freeze(module, NULL, (const char *[]){"gradient"}, 1, &frozen, &error), error);
    check(frozen, version);
    wick_module_release(frozen);
    wick_module_release(module);
  }
  unlink(path);
}

/* The gradient of a product of bfloat16 is a product: 1.13 sums it in bfloat16, a program of 2.x in float32, also where
 * the caller begins the backward. */
static void test_backward(void **state) {
  (void)state;
  static const char product[] = "def forward(x: Tensor, y: Tensor):\n    return torch.mm(x, y).sum()\n";
  enum { ROWS = 3, DEPTH = 50, COLUMNS = 40 };
  uint16_t x[ROWS * DEPTH], y[DEPTH * COLUMNS], grads[3][DEPTH * COLUMNS];
  for (int i = 0; i < ROWS * DEPTH; i++) x[i] = (uint16_t)(0x3c00 + i * 37 % 512);
  for (int i = 0; i < DEPTH * COLUMNS; i++) y[i] = (uint16_t)(0x3c00 + i * 91 % 640 + (i % 3 ? 0 : 0x8000));
  for (uint32_t version = WICK_TORCH_1; version <= WICK_TORCH_2; version++) {
    wick_module *module;
    wick_value *a, *b, *loss, *grad;
    wick_error *error = NULL;
    wick_compile_options options = {.size = sizeof options, .torch_version = version};
    wick_run_options recorded = {.size = sizeof recorded, .grad = WICK_GRAD_ON};
    settle(wick_compile_with(NULL, product, strlen(product), &options, &module, &error), error);
    settle(wick_tensor_new(WICK_BFLOAT16, 2, (const int64_t[]){ROWS, DEPTH}, &a, &error), error);
    settle(wick_tensor_new(WICK_BFLOAT16, 2, (const int64_t[]){DEPTH, COLUMNS}, &b, &error), error);
    settle(wick_tensor_copy_from(a, x, sizeof x, &error), error);
    settle(wick_tensor_copy_from(b, y, sizeof y, &error), error);
    settle(wick_tensor_set_requires_grad(b, 1, &error), error);
    for (int i = 0; i < 4; i++) { /* as written, then by a plan */
      settle(wick_run(module, "forward", (const wick_value *[]){a, b}, 2, NULL, 0, &recorded, &loss, &error), error);
      settle(wick_backward(NULL, (const wick_value *[]){loss}, NULL, 1, 0, &error), error);
      settle(wick_tensor_grad(b, &grad, &error), error);
      settle(wick_tensor_copy_to(grad, i ? grads[0] : grads[version], sizeof grads[0], &error), error);
      assert_memory_equal(i ? grads[0] : grads[version], grads[version], sizeof grads[0]);
      settle(wick_tensor_clear_grad(b, &error), error);
      wick_value_release(grad);
      wick_value_release(loss);
    }
    wick_value_release(a);
    wick_value_release(b);
    wick_module_release(module);
  }
  assert_memory_not_equal(grads[WICK_TORCH_1], grads[WICK_TORCH_2], sizeof grads[0]);
}

/* What becomes of bools where numbers are wanted, as 2.14 writes it. */
static void test_language(void **state) {
  (void)state;
  static const struct {
    const char *expression, *type, *code; /* code NULL: refused by both */
  } cases[] = {{"x + 1", "int", "torch.add(int(x), 1)"},
               {"x * 1.5", "float", "torch.mul(float(x), 1.5)"},
               {"t + x", "Tensor", "torch.add(t, int(x))"},
               {"torch.full([2], x)", "Tensor", "torch.full([2], int(x))"},
               {"t.size(x)", "int", "torch.size(t, int(x))"},
               {"max(x, 3)", "int", "ops.prim.max(int(x), 3)"},
               {"x == 1", "bool", "torch.eq(int(x), 1)"},
               {"x", "float", "float(x)"},
               {"x", "Optional[int]", "int(x)"},
               {"(x, 1)", "Tuple[int, int]", "(int(x), 1)"},
               {"x", "complex", NULL},
               {"(x, 1)", "List[int]", NULL},
               {"t.sum(x)", "Tensor", NULL},
               {"t[x]", "Tensor", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint32_t version = WICK_TORCH_1; version <= WICK_TORCH_2; version++) {
      char program[200], *code = NULL;
      wick_module *module = NULL;
      wick_error *error = NULL;
      int length = snprintf(program, sizeof program, "def f(x: bool, t: Tensor) -> %s:\n    return %s\n", cases[i].type,
                            cases[i].expression);
      wick_compile_options options = {.size = sizeof options, .torch_version = version};
      wick_status status = wick_compile_with(NULL, program, (size_t)length, &options, &module, &error);
      if (!cases[i].code || version == WICK_TORCH_1) {
        assert_int_equal(status, WICK_COMPILE);
        wick_error_free(error);
        continue;
      }
      settle(status, error);
      wick_function *function;
      settle(wick_function_of(module, "f", &function, &error), error);
      settle(wick_function_print(function, WICK_PRINT_CODE, &code, &error), error);
      wick_function_release(function);
      if (!strstr(code, cases[i].code)) fail_msg("%s: %s", cases[i].code, code);
      wick_text_free(code);
      wick_module_release(module);
    }
  static const char checks[] =
      "def f(x: int) -> int:\n    torch._check(x > 0, 'too small')\n    torch._check(x < 9)\n    return x\n";
  wick_module *module;
  wick_error *error = NULL;
  settle(wick_compile(NULL, checks, strlen(checks), NULL, &module, &error), error);
  for (int64_t x = 0; x <= 9; x += 3) {
    wick_value *argument = wick_value_int(x), *out = NULL;
    wick_status status = wick_run(module, "f", (const wick_value *[]){argument}, 1, NULL, 0, NULL, &out, &error);
    assert_int_equal(status != WICK_OK, x == 0 || x == 9);
    if (x == 0) assert_non_null(strstr(wick_error_message(error), "too small"));
    wick_error_free(error);
    error = NULL;
    wick_value_release(out);
    wick_value_release(argument);
  }
  wick_module_release(module);
}

int main(void) {
  unsetenv("WICK_TORCH_VERSION");
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_options), cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_archives), cmocka_unit_test(test_language),
                                     cmocka_unit_test(test_backward)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
