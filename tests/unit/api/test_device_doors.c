/* Devices and fusion back ends that a library brings, by wick/device.h and wick/backend.h: memory, kernels, formulas of
 * operators, groups, what is refused, and what a program hears where a device's library is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "wick/wick.h"

enum { TYPE = 21, COUNT = 2, OFFSET = 64 };

/* ---- a device whose addresses are not the host's ---- */

static struct {
  size_t blocks, converts, waits, products, runs, compilations;
  bool has_no_memory, refuses_convert, fails_to_compile;
  char operations[400]; /* of the kernels that were compiled */
} seen;

static char *real(const void *memory) {
  return (char *)(uintptr_t)memory - OFFSET;
}
static wick_status allocate(void *user, int32_t index, size_t bytes, void **out_memory, wick_error **error) {
  assert_ptr_equal(user, &seen);
  assert_in_range(index, 0, COUNT - 1);
  if (seen.has_no_memory) {
    *error = wick_error_new(WICK_OUT_OF_MEMORY, "the door has no memory");
    return WICK_OUT_OF_MEMORY;
  }
  char *block = malloc(bytes + OFFSET);
  assert_non_null(block);
  memset(block, 0x5a, bytes + OFFSET);
  *out_memory = block + OFFSET;
  seen.blocks++;
  return WICK_OK;
}
static void free_memory(void *user, int32_t index, void *memory, size_t bytes) {
  assert_ptr_equal(user, &seen);
  assert_in_range(index, 0, COUNT - 1);
  assert_true(bytes > 0);
  seen.blocks--;
  free(real(memory));
}
static wick_status copy(void *user, int32_t to_index, void *to, int32_t from_index, const void *from, size_t bytes,
                        wick_error **error) {
  (void)user, (void)error;
  assert_true(to_index >= 0 || from_index >= 0);
  memmove(to, from, bytes);
  return WICK_OK;
}
static wick_status fill(void *user, int32_t index, void *memory, size_t count, const void *item, size_t item_bytes,
                        wick_error **error) {
  (void)user, (void)index, (void)error;
  for (size_t i = 0; i < count; i++) memcpy((char *)memory + i * item_bytes, item, item_bytes);
  return WICK_OK;
}
static wick_status synchronize(void *user, int32_t index, wick_error **error) {
  (void)user, (void)error;
  seen.waits += index == 1;
  return WICK_OK;
}
/* float32 in two dimensions, and to float64. */
static wick_status convert(void *user, const wick_tensor_view *to, const wick_tensor_view *from, wick_error **error) {
  (void)user;
  assert_int_equal(to->device_type, TYPE);
  assert_int_equal(to->device_index, from->device_index);
  assert_int_equal(to->ndim, from->ndim);
  if (seen.refuses_convert || to->ndim != 2 || from->dtype != WICK_FLOAT32) {
    *error = wick_error_new(WICK_UNSUPPORTED, "not such");
    return WICK_UNSUPPORTED;
  }
  seen.converts++;
  for (int64_t i = 0; i < to->sizes[0]; i++)
    for (int64_t k = 0; k < to->sizes[1]; k++) {
      float value = ((const float *)from->data)[i * from->strides[0] + k * from->strides[1]];
      int64_t at = i * to->strides[0] + k * to->strides[1];
      if (to->dtype == WICK_FLOAT64)
        ((double *)to->data)[at] = value;
      else
        ((float *)to->data)[at] = value;
    }
  return WICK_OK;
}

static wick_device device = {.size = sizeof device,
                             .type = TYPE,
                             .name = "door",
                             .count = COUNT,
                             .user = &seen,
                             .allocate = allocate,
                             .free = free_memory,
                             .copy = copy,
                             .fill = fill,
                             .synchronize = synchronize,
                             .convert = convert};

/* aten::mm, over any strides. */
static wick_status multiply(void *user, wick_call *call, wick_error **error) {
  wick_tensor_view v[3];
  wick_value *values[3] = {wick_call_argument(call, 0), wick_call_argument(call, 1), wick_call_result(call, 0)};
  assert_ptr_equal(user, &seen);
  for (int i = 0; i < 3; i++) {
    v[i] = (wick_tensor_view){.size = sizeof v[i]};
    assert_int_equal(wick_device_tensor_of(values[i], &v[i], error), WICK_OK);
    assert_int_equal(v[i].device_type, TYPE);
    wick_value_release(values[i]);
  }
  seen.products++;
  for (int64_t i = 0; i < v[2].sizes[0]; i++)
    for (int64_t k = 0; k < v[2].sizes[1]; k++) {
      double sum = 0;
      for (int64_t m = 0; m < v[0].sizes[1]; m++)
        sum += (double)((float *)v[0].data)[i * v[0].strides[0] + m * v[0].strides[1]] *
               ((float *)v[1].data)[m * v[1].strides[0] + k * v[1].strides[1]];
      ((float *)v[2].data)[i * v[2].strides[0] + k * v[2].strides[1]] = (float)sum;
    }
  return WICK_OK;
}

/* ---- a back end that knows little ---- */

typedef struct Code {
  uint32_t argument_count, constant_count, operation_count, output_count, rank;
  struct {
    char name[16];
    uint32_t operands[3];
  } operations[16];
  double constants[16];
  uint32_t outputs[4];
} Code;

static int supports(void *user, const wick_kernel_ir *k) {
  assert_ptr_equal(user, &seen);
  assert_true(k->size == sizeof *k && k->rank <= 8 && k->output_count > 0);
  for (uint32_t i = 0; i < k->operation_count; i++)
    if (!strcmp(k->operations[i].name, "tan") || k->operations[i].function) return 0;
  return 1;
}
static wick_status compile(void *user, const wick_kernel_ir *k, void **out_code, wick_error **error) {
  (void)user;
  if (seen.fails_to_compile) {
    *error = wick_error_new(WICK_RUNTIME, "the compiler is on strike");
    return WICK_RUNTIME;
  }
  Code *code = calloc(1, sizeof *code);
  assert_true(code && k->operation_count <= 16 && k->constant_count <= 16 && k->output_count <= 4);
  *code = (Code){k->argument_count, k->constant_count, k->operation_count, k->output_count, k->rank, {{{0}}}, {0}, {0}};
  for (uint32_t i = 0; i < k->constant_count; i++)
    code->constants[i] =
        k->constant_types[i] <= WICK_KERNEL_INT64 ? (double)k->constants[i].integer : k->constants[i].real;
  for (uint32_t i = 0; i < k->operation_count; i++) {
    const wick_kernel_operation *op = &k->operations[i];
    assert_int_equal(op->result_type, WICK_KERNEL_FLOAT32);
    snprintf(code->operations[i].name, sizeof code->operations[i].name, "%s", op->name);
    memcpy(code->operations[i].operands, op->operands, sizeof op->operands);
    strncat(seen.operations, op->name, sizeof seen.operations - strlen(seen.operations) - 1);
    strncat(seen.operations, " ", sizeof seen.operations - strlen(seen.operations) - 1);
  }
  memcpy(code->outputs, k->outputs, k->output_count * sizeof *k->outputs);
  seen.compilations++;
  *out_code = code;
  return WICK_OK;
}

static double element(const wick_tensor_view *t, uint32_t rank, const int64_t *at) {
  int64_t offset = 0;
  for (int32_t d = 0; d < t->ndim; d++)
    if (t->sizes[d] != 1) offset += at[(int64_t)rank - t->ndim + d] * t->strides[d];
  return ((const float *)t->data)[offset];
}
static double apply(const char *name, double a, double b) {
  if (!strcmp(name, "add")) return (float)(a + b);
  if (!strcmp(name, "sub")) return (float)(a - b);
  if (!strcmp(name, "mul")) return (float)(a * b);
  if (!strcmp(name, "neg")) return -a;
  if (!strcmp(name, "max")) return a > b ? a : b;
  if (!strcmp(name, "exp")) return (float)exp(a);
  fail_msg("the operation %s", name);
  return 0;
}
static wick_status run(void *user, void *compiled, const wick_kernel_argument *arguments,
                       const wick_tensor_view *outputs, wick_error **error) {
  (void)user, (void)error;
  const Code *code = compiled;
  int64_t at[8] = {0};
  seen.runs++;
  for (;;) {
    double values[64];
    uint32_t n = 0;
    for (uint32_t i = 0; i < code->argument_count; i++, n++)
      values[n] =
          arguments[i].kind == WICK_ARGUMENT_TENSOR ? element(&arguments[i].tensor, code->rank, at) : arguments[i].real;
    for (uint32_t i = 0; i < code->constant_count; i++) values[n++] = code->constants[i];
    for (uint32_t i = 0; i < code->operation_count; i++, n++)
      values[n] = apply(code->operations[i].name, values[code->operations[i].operands[0]],
                        values[code->operations[i].operands[1]]);
    for (uint32_t i = 0; i < code->output_count; i++) {
      int64_t offset = 0;
      for (uint32_t d = 0; d < code->rank; d++) offset += at[d] * outputs[i].strides[d];
      ((float *)outputs[i].data)[offset] = (float)values[code->outputs[i]];
    }
    int32_t d = (int32_t)code->rank - 1;
    while (d >= 0 && ++at[d] == outputs[0].sizes[d]) at[d--] = 0;
    if (d < 0) return WICK_OK;
  }
}
static size_t bytes(void *user, const void *code) {
  (void)user, (void)code;
  return sizeof(Code);
}
static void free_code(void *user, void *code) {
  (void)user;
  free(code);
}
static wick_backend backend = {.size = sizeof backend,
                               .device_type = TYPE,
                               .name = "door",
                               .user = &seen,
                               .supports = supports,
                               .compile = compile,
                               .run = run,
                               .bytes = bytes,
                               .free = free_code};

/* ---- programs ---- */

static const char program[] =
    "def add(x, d: str):\n    y = x.to(d)\n    return y + y * 2, x + x * 2\n"
    "def turned(x, d: str):\n    y = x.to(d)\n    return y.t() - y, x.t() - x\n"
    "def number(x, d: str):\n    return x.to(d) - torch.tensor(3.0), x - 3\n"
    "def in_place(x, d: str):\n    y = x.to(d)\n    y.mul_(3)\n    y[:, 1].add_(y[0])\n"
    "    z = x.clone()\n    z.mul_(3)\n    z[:, 1].add_(z[0])\n    return y, z\n"
    "def mm(x, d: str):\n    y = x.to(d)\n    return torch.mm(y, y.t()), torch.mm(x, x.t())\n"
    "def dense(x, d: str):\n    return x.to(d).t().contiguous(), x.t().contiguous()\n"
    "def wide(x, d: str):\n    return x.to(d).to(torch.float64), x.to(torch.float64)\n"
    "def spread(x, d: str):\n    y = torch.zeros([3, 3], device=d).t()\n    y.copy_(x)\n    return y, x\n"
    "def tan(x, d: str):\n    return torch.tan(x.to(d)), x\n"
    "def erfinv(x, d: str):\n    return torch.erfinv(x.to(d)), x\n"
    "def sort(x, d: str):\n    return torch.sort(x.to(d))[0], x\n"
    "def exp(x, d: str):\n    return torch.exp(x.to(d)), x\n"
    "def group(x, d: str):\n    y = x.to(d)\n    z = (y * y + y).neg().relu()\n"
    "    w = (x * x + x).neg().relu()\n    return z, w\n";
static wick_module *module;
static wick_value *x;

static int setup(void **state) {
  (void)state;
  static const wick_device_kernel kernels[] = {{.size = sizeof(wick_device_kernel),
                                                .flags = WICK_DEVICE_KERNEL_FILLS,
                                                .name = "aten::mm",
                                                .kernel = multiply,
                                                .user = &seen}};
  wick_error *error = NULL;
  wick_status status = wick_device_kernels_register(TYPE, kernels, 1, &error);
  assert_int_equal(status, WICK_INVALID_ARGUMENT);
  assert_non_null(strstr(wick_error_message(error), "no device of type 21 is registered"));
  wick_error_free(error);
  assert_int_equal(wick_device_register(&device, NULL), WICK_OK);
  assert_int_equal(wick_device_kernels_register(TYPE, kernels, 1, NULL), WICK_OK);
  assert_int_equal(wick_compile(NULL, program, strlen(program), NULL, &module, NULL), WICK_OK);
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 2, (int64_t[]){3, 3}, &x, NULL), WICK_OK);
  for (int i = 0; i < 9; i++) ((float *)wick_tensor_mutable_data(x))[i] = 0.5f * (float)i - 1;
  return 0;
}
static int teardown(void **state) {
  (void)state;
  wick_value_release(x);
  wick_module_release(module);
  assert_int_equal(seen.blocks, 0);
  return 0;
}

/* The first of the two results on the device is, on the CPU, the second. */
static void check(const char *name) {
  wick_value *where = wick_value_string("door:1", 6), *out = NULL, *back = NULL, *cpu = NULL;
  wick_error *error = NULL;
  const wick_value *arguments[] = {x, where};
  if (wick_run(module, name, arguments, 2, NULL, 0, NULL, &out, &error))
    fail_msg("%s: %s", name, wick_error_message(error));
  wick_value *got = wick_value_item(out, 0), *expected = wick_value_item(out, 1);
  wick_tensor_info info = {.size = sizeof info};
  assert_int_equal(wick_tensor_info_of(got, &info, NULL), WICK_OK);
  assert_int_equal(info.device_type, TYPE);
  assert_int_equal(info.device_index, 1);
  const wick_value *argument[] = {got};
  assert_int_equal(wick_op_call(NULL, "aten::cpu", NULL, argument, 1, NULL, 0, &back, NULL), WICK_OK);
  const wick_value *both[] = {back, expected};
  assert_int_equal(wick_op_call(NULL, "aten::equal", NULL, both, 2, NULL, 0, &cpu, NULL), WICK_OK);
  if (!wick_value_to_bool(cpu)) {
    char *text;
    wick_value_print(back, &text, NULL);
    fail_msg("%s: %s", name, text);
  }
  wick_value *all[] = {where, out, back, cpu, got, expected};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_value_release(all[i]);
}

static void expect_error(const char *name, const char *where, wick_status wanted, const char *text) {
  wick_value *place = wick_value_string(where, strlen(where)), *out = NULL;
  wick_error *error = NULL;
  const wick_value *arguments[] = {x, place};
  wick_status status = wick_run(module, name, arguments, 2, NULL, 0, NULL, &out, &error);
  if (status != wanted || !strstr(wick_error_message(error), text))
    fail_msg("%s: %d, '%s' expected in '%s'", name, status, text, wick_error_message(error));
  wick_error_free(error);
  wick_value_release(place);
}

static void test_memory_and_kernels(void **state) {
  (void)state;
  check("mm");
  assert_int_equal(seen.products, 1);
  size_t before = seen.converts;
  check("dense");
  assert_int_equal(seen.converts, before + 1);
  check("wide");
  assert_int_equal(seen.converts, before + 2);
  seen.refuses_convert = true; /* then runs of bytes are copied, and dtypes don't change */
  check("dense");
  check("spread");
  expect_error("wide", "door", WICK_UNSUPPORTED, "device 'door' does not copy from float32 to float64");
  seen.refuses_convert = false;
  check("spread");
  assert_true(seen.converts > before + 2);
  seen.has_no_memory = true;
  expect_error("dense", "door", WICK_OUT_OF_MEMORY, "the door has no memory");
  seen.has_no_memory = false;
  expect_error("dense", "door:2", WICK_RUNTIME, "there is no device 'door:2' here");
  assert_int_equal(wick_device_synchronize(TYPE, 1, NULL), WICK_OK);
  assert_int_equal(seen.waits, 1);
  assert_int_equal(wick_device_synchronize(TYPE, 2, NULL), WICK_RUNTIME);
  assert_int_equal(wick_device_synchronize(-5, 0, NULL), WICK_RUNTIME);
  assert_int_equal(wick_device_synchronize(0, 0, NULL), WICK_OK);
}

/* Before there is a back end, and with it. */
static void test_formulas(void **state) {
  (void)state;
  expect_error("add", "door", WICK_UNSUPPORTED, "aten::mul.Scalar does not run on device 'door'");
  uint32_t number;
  assert_int_equal(wick_backend_named(backend.name, &number, NULL), WICK_NOT_FOUND);
  assert_int_equal(wick_backend_register(&backend, NULL), WICK_OK);
  assert_int_equal(wick_backend_named(backend.name, &number, NULL), WICK_OK);
  assert_true(number > WICK_BACKEND_TILE);
  seen.fails_to_compile = true;
  expect_error("exp", "door", WICK_RUNTIME, "the compiler is on strike");
  expect_error("exp", "door", WICK_RUNTIME, "the compiler is on strike"); /* which it is for good */
  seen.fails_to_compile = false;
  seen.operations[0] = 0;
  check("add");
  assert_string_equal(seen.operations, "mul add ");
  size_t made = seen.compilations, runs = seen.runs;
  for (int i = 0; i < 3; i++) check("add");
  assert_int_equal(seen.compilations, made);
  assert_true(seen.runs >= runs + 3);
  check("turned");
  check("number");
  check("in_place");
  expect_error("tan", "door", WICK_UNSUPPORTED, "aten::tan does not run on device 'door'");
  expect_error("erfinv", "door", WICK_UNSUPPORTED, "aten::erfinv does not run on device 'door'");
  expect_error("sort", "door", WICK_UNSUPPORTED, "aten::sort does not run on device 'door'");
}

static void test_groups(void **state) {
  (void)state;
  wick_executor_options options = {.size = sizeof options, .executor = WICK_EXECUTOR_SPECIALIZING, .synchronous = 1};
  assert_int_equal(wick_runtime_set_executor(NULL, &options, NULL), WICK_OK);
  check("group"); /* operator by operator, while the kernel is compiled */
  wick_wait_for_plans();
  for (int i = 0; i < 20 && !strstr(seen.operations, "mul add neg max "); i++) {
    check("group");
    wick_wait_for_plans();
  }
  assert_non_null(strstr(seen.operations, "mul add neg max "));
  size_t runs = seen.runs;
  check("group");
  assert_int_equal(seen.runs, runs + 1); /* one kernel for the four */
}

static void test_refusals(void **state) {
  (void)state;
  static const wick_device_kernel unknown = {
      .size = sizeof unknown, .name = "aten::no_such_operator", .kernel = multiply};
  wick_device other = device;
  wick_backend bare = backend;
  assert_int_equal(wick_device_register(&device, NULL), WICK_INVALID_ARGUMENT); /* there already */
  other.type = 22;
  assert_int_equal(wick_device_register(&other, NULL), WICK_INVALID_ARGUMENT); /* another's name */
  other.name = "gate", other.type = 0;
  assert_int_equal(wick_device_register(&other, NULL), WICK_INVALID_ARGUMENT);
  other.type = 40;
  assert_int_equal(wick_device_register(&other, NULL), WICK_INVALID_ARGUMENT);
  other.type = 22, other.count = 0;
  assert_int_equal(wick_device_register(&other, NULL), WICK_INVALID_ARGUMENT);
  other.count = 1, other.allocate = NULL;
  assert_int_equal(wick_device_register(&other, NULL), WICK_INVALID_ARGUMENT);
  other.size = 0;
  assert_int_equal(wick_device_register(&other, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_device_kernels_register(TYPE, &unknown, 1, NULL), WICK_INVALID_ARGUMENT);
  bare.run = NULL;
  assert_int_equal(wick_backend_register(&bare, NULL), WICK_INVALID_ARGUMENT);
  bare = backend, bare.device_type = 99;
  assert_int_equal(wick_backend_register(&bare, NULL), WICK_INVALID_ARGUMENT);
  wick_tensor_view view = {.size = sizeof view};
  wick_value *number = wick_value_int(1);
  assert_int_equal(wick_device_tensor_of(number, &view, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_device_tensor_of(x, &view, NULL), WICK_OK);
  assert_ptr_equal(view.data, wick_tensor_data(x));
  wick_value_release(number);
}

/* What brings the device is looked for, and what is missing said. */
static void test_missing_libraries(void **state) {
  (void)state;
  expect_error("add", "xpu", WICK_RUNTIME, "there is no device 'xpu' here");
  expect_error("add", "xpu", WICK_RUNTIME, "library libwick_xpu: it is not installed");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_and_kernels), cmocka_unit_test(test_formulas),
                                     cmocka_unit_test(test_groups), cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_missing_libraries)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
