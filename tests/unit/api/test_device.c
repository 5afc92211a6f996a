/* Devices: one table of programs for "cpu" and for a device whose memory faults where the host reads it. What runs on
 * it gives what the CPU gives, on the device; what does not says so by name. tests/rows/test_row_devices.c asks every
 * operator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../fake_device.h"
#include "checks.h"
#include "outcome.h"
#include "wick/dlpack.h"
#include "wick/wick.h"

static const char program[] =
    "def sent(x, d: str):\n    return x.to(d)\n"
    "def sent_as(x, d: str):\n    return x.to(torch.device(d), 7), x.to(device=d, dtype=3)\n"
    "def sent_and_back(x, d: str):\n    return x.to(d).cpu(), x.to(d).to('cpu', 6)\n"
    "def sent_transposed(x, d: str):\n    return x.t().to(d), x.t().to(d).contiguous()\n"
    "def sent_again(x, d: str):\n    y = x.to(d)\n    return y.to(d), y.to(d, copy=True), x.to(y)\n"
    "def empty(x, d: str):\n    y = torch.empty([3, 2], device=d)\n    y.copy_(x.t())\n    return y\n"
    "def zeros(x, d: str):\n    return torch.zeros([2, 3], device=d), torch.zeros_like(x.to(d))\n"
    "def ones(x, d: str):\n    return torch.ones([5], device=d, dtype=3), x.to(d).new_ones([2])\n"
    "def full(x, d: str):\n    return torch.full([3], 2.5, device=d), torch.full_like(x, 4, device=d)\n"
    "def large(x, d: str):\n    return torch.full([300, 400], 7, device=d)\n"
    "def nothing(x, d: str):\n    return torch.zeros([0, 3], device=d), x[:0].to(d)\n"
    "def numbers(x, d: str):\n    return torch.tensor([[1, 2], [3, 4]], device=d), torch.tensor(3.5, device=d)\n"
    "def filled(x, d: str):\n    y = x.to(d)\n    y.fill_(3)\n    y[:, 1].zero_()\n    return y\n"
    "def written_view(x, d: str):\n    y = torch.zeros([4, 3], device=d)\n    y[1:3].copy_(x)\n    y[:, 2].fill_(9)\n"
    "    y.t()[1] = 4\n    return y\n"
    "def views(x, d: str):\n    y = x.to(d)\n"
    "    return [y.t(), y[1], y[:, 1:], y.unsqueeze(0), y.expand([2, 2, 3]), y.reshape([3, 2]), y.flatten(),\n"
    "            y.as_strided([2], [2], 1), y.select(1, 0), y.narrow(1, 1, 2), y.diagonal(), y.permute([1, 0])]\n"
    "def parts(x, d: str):\n    return x.to(d).chunk(2), x.to(d).unbind(1), x.to(d).split(1)\n"
    "def cloned(x, d: str):\n    y = x.to(d)\n    return y.clone(), y.t().clone(), y.detach(), y.t().contiguous()\n"
    "def reshaped(x, d: str):\n    return x.to(d).t().reshape([6]), x.to(d).t().flatten()\n"
    "def between(x, d: str):\n    y = torch.zeros([2, 3], device=d)\n    y.copy_(x.to(d))\n    x.copy_(y + y)\n"
    "    return y, x\n"
    "def add(x, d: str):\n    y = x.to(d)\n    return y + y, y + 1, 2 + y, torch.add(y, y, alpha=3), y + y[0]\n"
    "def mul(x, d: str):\n    y = x.to(d)\n    return y * y, y * 0.5, y * torch.tensor(2.0), y.t() * y.t()\n"
    "def relu(x, d: str):\n    return torch.relu(x.to(d) + -2)\n"
    "def mm(x, d: str):\n    y = x.to(d)\n    return torch.mm(y, y.t()), torch.mm(y.t(), y)\n"
    "def in_place(x, d: str):\n    y = x.to(d)\n    y += y\n    y.mul_(3).relu_()\n    y[0].add_(1)\n    return y\n"
    "def into_out(x, d: str):\n    y = x.to(d)\n    z = torch.empty([0], device=d)\n    torch.add(y, y, out=z)\n"
    "    w = torch.zeros([2, 2], device=d)\n    torch.mm(y, y.t(), out=w)\n    return z, w\n"
    "def bodies(x, d: str):\n    y = x.to(d)\n    return torch.broadcast_to(y, [2, 2, 3]), y.view_as(y), y.type_as(y)\n"
    "def layer(x, w, b, d: str):\n    y = torch.mm(x.to(d), w.to(d)) + b.to(d)\n    return torch.relu(y) * y\n"
    "def gradient(x, d: str):\n    y = x.to(d).requires_grad_()\n    z = y * y + y * 3\n"
    "    z.backward(torch.ones_like(z))\n    g = y.grad\n    return z.detach(), torch.jit._unwrap_optional(g)\n"
    "def of_metadata(x, d: str):\n    y = x.to(d)\n"
    "    return [y.size(0), y.dim(), y.numel(), y.stride(1), int(y.is_contiguous()), y.storage_offset(), len(y),\n"
    "            int(y.t().is_contiguous()), y.element_size(), int(y.is_floating_point()), y.dtype]\n"
    "def kept(x, d: str):\n    l = [x.to(d)]\n    l.append(l[0] + 1)\n    m = {'a': l[1]}\n"
    "    if l[0] is l[1]:\n        l.clear()\n    return l, m['a'], (l[0], x)\n";

static const char *const devices[] = {"cpu", "fake", "fake:0", "fake:1"};
enum { DEVICES = sizeof devices / sizeof *devices };

static wick_module *module;

static int setup(void **state) {
  (void)state;
  wick_error *error = NULL;
  fake_register();
  if (wick_compile(NULL, program, strlen(program), NULL, &module, &error))
    print_error("%s\n", wick_error_message(error));
  return module == NULL;
}
static int teardown(void **state) {
  (void)state;
  wick_module_release(module);
  return 0;
}

/* ---- values ---- */

static wick_value *matrix(float first) {
  wick_value *v;
  assert_int_equal(wick_tensor_new(DTYPE_FLOAT32, 2, (int64_t[]){2, 3}, &v, NULL), WICK_OK);
  float *data = wick_tensor_mutable_data(v);
  for (int i = 0; i < 6; i++) data[i] = first + (float)i;
  return v;
}
static wick_value *square(void) {
  wick_value *v;
  assert_int_equal(wick_tensor_new(DTYPE_FLOAT32, 2, (int64_t[]){3, 3}, &v, NULL), WICK_OK);
  for (int i = 0; i < 9; i++) ((float *)wick_tensor_mutable_data(v))[i] = (float)(i % 4) - 1;
  return v;
}

static wick_value *run_in(wick_module *in, const char *function, const char *device, wick_error **error) {
  bool is_layer = strcmp(function, "layer") == 0;
  wick_value *arguments[4] = {matrix(1)}, *result = NULL;
  size_t count = 1;
  if (is_layer) arguments[count++] = square(), arguments[count++] = matrix(-3);
  arguments[count++] = wick_value_string(device, strlen(device));
  wick_run_options options = {.size = sizeof options, .grad = strcmp(function, "gradient") ? 0 : WICK_GRAD_ON};
  wick_run(in, function, (const wick_value *const *)arguments, count, NULL, 0, &options, &result, error);
  for (size_t i = 0; i < count; i++) wick_value_release(arguments[i]);
  return result;
}

static void expect_same(const char *function, const char *device, const wick_value *expected, const wick_value *got) {
  const Tensor *a[MAX_OUTCOME_TENSORS], *b[MAX_OUTCOME_TENSORS];
  int a_count = 0, b_count = 0;
  tensors_of(expected->value, a, &a_count);
  tensors_of(got->value, b, &b_count);
  assert_int_equal(a_count, b_count);
  for (int i = 0; i < a_count; i++) {
    if (!same_values(a[i], b[i], 0)) fail_msg("%s on %s: result %d has other values", function, device, i);
    if (memcmp(a[i]->strides, b[i]->strides, a[i]->ndim * sizeof *a[i]->strides) != 0)
      fail_msg("%s on %s: result %d has other strides", function, device, i);
  }
  if (!a_count) assert_string_equal(wick_value_to_string(expected, NULL), wick_value_to_string(got, NULL));
}

static void expect_device(const char *function, const char *device, const wick_value *got) {
  const Tensor *tensors[MAX_OUTCOME_TENSORS];
  bool comes_back = !strcmp(function, "sent_and_back");
  int count = 0;
  Device wanted;
  assert_null(device_parse(str_from(device), &wanted));
  if (wanted.type == FAKE && wanted.index < 0) wanted.index = 0;
  tensors_of(got->value, tensors, &count);
  for (int i = 0; i < count; i++) {
    Device is = tensor_device(tensors[i]);
    bool last_stays = (!strcmp(function, "between") || !strcmp(function, "kept")) && i == count - 1;
    if (!device_equal(is, comes_back || last_stays ? DEVICE_CPU_0 : wanted))
      fail_msg("%s on %s: result %d is on %s:%d", function, device, i, device_type_name(is.type), is.index);
  }
}

/* ---- what runs ---- */

static void test_programs(void **state) {
  (void)state;
  char name[64];
  for (const char *at = program; (at = strstr(at, "def ")); at += 4) {
    size_t length = strcspn(at + 4, "(");
    snprintf(name, sizeof name, "%.*s", (int)length, at + 4);
    wick_error *error = NULL;
    wick_value *expected = run_in(module, name, "cpu", &error);
    if (!expected) fail_msg("%s: %s", name, wick_error_message(error));
    for (int d = 0; d < DEVICES; d++)
      for (int again = 0; again < 3; again++) { /* plans come with the third run */
        wick_value *got = run_in(module, name, devices[d], &error);
        if (!got) fail_msg("%s on %s: %s", name, devices[d], wick_error_message(error));
        expect_same(name, devices[d], expected, got);
        expect_device(name, devices[d], got);
        wick_value_release(got);
      }
    wick_value_release(expected);
  }
  assert_true(fake.copies && fake.fills && fake.kernels);
  assert_int_equal(fake_block_count(), 0);
}

/* ---- what does not ---- */

static const char refusals[] =
    "def sine(x):\n    return x.sin()\n"
    "def arange():\n    return torch.arange(3, device='fake')\n"
    "def eye():\n    return torch.eye(3, device='fake')\n"
    "def random():\n    return torch.rand([3], device='fake')\n"
    "def random_like(x):\n    return torch.rand_like(x)\n"
    "def item(x):\n    return x[0][0].item()\n"
    "def number(x):\n    return float(x[0][0])\n"
    "def truth(x):\n    if bool(x[0][0]):\n        return 1\n    return 2\n"
    "def compare(x):\n    return x == x\n"
    "def equal(x):\n    return torch.equal(x, x)\n"
    "def index(x):\n    return x[torch.tensor([0, 1])]\n"
    "def resize(x):\n    return x.resize_([7])\n"
    "def set_it(x):\n    return torch.zeros([2]).set_(x)\n"
    "def text(x):\n    return str(x)\n"
    "def printed(x):\n    print(x)\n"
    "def mixed(x):\n    return x + torch.ones([2, 3])\n"
    "def mixed_devices(x):\n    return x + x.to('fake:1')\n"
    "def mixed_with_meta(x):\n    return x + torch.ones([2, 3], device='meta')\n"
    "def half(x):\n    return x.half()\n"
    "def third():\n    return torch.zeros([1], device='fake:2')\n"
    "def convolution(x):\n    return torch.conv1d(x.unsqueeze(0), x.unsqueeze(0))\n"
    "def mean(x):\n    return x.mean()\n"
    "def sine_in_place(x):\n    return x.sin_()\n"
    "def sine_out(x):\n    return torch.sin(torch.ones([2]), out=x)\n"
    "def stacked(x):\n    return torch.stack([x, x])\n"
    "def quantized(x):\n    return torch.quantize_per_tensor(x, 0.1, 0, 13)\n"
    "def sparse(x):\n    return x.to_sparse()\n";
static const struct {
  const char *function, *error;
} refused[] = {
    {"sine", "aten::sin does not run on device 'fake'"},
    {"arange", "aten::arange does not run on device 'fake'"},
    {"eye", "aten::eye does not run on device 'fake'"},
    {"random", "aten::rand does not run on device 'fake'"},
    {"random_like", "aten::rand_like does not run on device 'fake'"},
    {"item", "device 'fake"},
    {"number", "device 'fake"},
    {"truth", "device 'fake"},
    {"compare", "aten::eq.Tensor does not run on device 'fake'"},
    {"equal", "device 'fake"},
    {"index", "aten::index.Tensor does not run on device 'fake'"},
    {"resize", "aten::resize_ does not run on device 'fake'"},
    {"set_it", "aten::set_.source_Tensor does not run on device 'fake'"},
    {"text", "device 'fake"},
    {"printed", "device 'fake"},
    {"mixed", "at least two devices, fake:0 and cpu!"},
    {"mixed_devices", "at least two devices, fake:0 and fake:1!"},
    {"mixed_with_meta", "at least two devices, fake:0 and meta!"},
    {"half", "device 'fake' does not copy from float32 to float16"},
    {"third", "there is no device 'fake:2' here"},
    {"convolution", "does not run on device 'fake'"},
    {"mean", "does not run on device 'fake'"},
    {"sine_in_place", "aten::sin_ does not run on device 'fake'"},
    {"sine_out", "aten::sin.out does not run on device 'fake'"},
    {"stacked", "does not run on device 'fake'"},
    {"quantized", "aten::quantize_per_tensor does not run on device 'fake'"},
    {"sparse", "aten::to_sparse does not run on device 'fake'"},
};

static void expect_text(wick_error *error, const char *what, const char *text) {
  if (!error || !strstr(wick_error_message(error), text))
    fail_msg("%s: '%s' expected in '%s'", what, text, error ? wick_error_message(error) : "(no error)");
  wick_error_free(error);
}

static wick_value *on_fake(void) {
  wick_value *v = run_in(module, "sent", "fake", NULL);
  assert_non_null(v);
  return v;
}

static void test_refusals(void **state) {
  (void)state;
  wick_module *refusing;
  wick_error *error = NULL;
  if (wick_compile(NULL, refusals, strlen(refusals), NULL, &refusing, &error))
    fail_msg("%s", wick_error_message(error));
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    wick_value *x = on_fake(), *result = NULL;
    const char *at = strstr(refusals, refused[i].function);
    size_t count = at[strlen(refused[i].function) + 1] == 'x';
    wick_run(refusing, refused[i].function, (const wick_value *const *)&x, count, NULL, 0, NULL, &result, &error);
    expect_text(error, refused[i].function, refused[i].error);
    error = NULL;
    wick_value_release(x);
  }
  wick_module_release(refusing);
  assert_int_equal(fake_block_count(), 0);
}

/* ---- where a call makes tensors that are told no device ---- */

static const char makers[] =
    "def made(n: int):\n    return torch.zeros([n]), torch.full([2], 3), torch.tensor([1.5])\n"
    "def told(n: int):\n    return (torch.zeros([n], device='cpu'),)\n"
    "def like(x):\n    return torch.zeros_like(x), torch.full([1], 2)\n"
    "def listed(n: int):\n    l: List[float] = torch.full([n], 2.5).tolist()\n    return l\n";

static int32_t device_type_of(const wick_value *tuple, size_t index) {
  wick_value *item = wick_value_item(tuple, index);
  wick_tensor_info info = {.size = sizeof info, .device_type = -1};
  wick_tensor_info_of(item, &info, NULL);
  wick_value_release(item);
  return info.device_type;
}

static void test_default_device(void **state) {
  (void)state;
  enum { CALLS = 6 }; /* plans are among them */
  wick_module *making;
  wick_value *n = wick_value_int(3), *out;
  const wick_run_options there = {.size = sizeof there, .default_device = "fake:0"},
                         nowhere = {.size = sizeof nowhere, .default_device = "fake:7"};
  wick_error *error = NULL;
  assert_int_equal(wick_compile(NULL, makers, strlen(makers), NULL, &making, NULL), WICK_OK);
  for (int i = 0; i < CALLS; i++) {
    bool is_there = i % 2 == 0;
    const wick_run_options *options = is_there ? &there : NULL;
    const wick_value *const arguments[] = {n};
    if (wick_run(making, "made", arguments, 1, NULL, 0, options, &out, &error))
      fail_msg("%s", wick_error_message(error));
    for (size_t k = 0; k < 3; k++) assert_int_equal(device_type_of(out, k), is_there ? FAKE : WICK_DEVICE_CPU);
    wick_value_release(out);
    assert_int_equal(wick_run(making, "told", arguments, 1, NULL, 0, options, &out, NULL), WICK_OK);
    assert_int_equal(device_type_of(out, 0), WICK_DEVICE_CPU);
    wick_value_release(out);
    assert_int_equal(wick_run(making, "listed", arguments, 1, NULL, 0, options, &out, NULL), WICK_OK);
    assert_int_equal(wick_value_length(out), 3);
    wick_value *item = wick_value_item(out, 2);
    assert_true(wick_value_to_double(item) == 2.5);
    wick_value_release(item);
    wick_value_release(out);
    wick_wait_for_plans();
  }
  wick_value *x = matrix(1);
  const wick_value *const arguments[] = {x};
  assert_int_equal(wick_run(making, "like", arguments, 1, NULL, 0, &there, &out, NULL), WICK_OK);
  assert_int_equal(device_type_of(out, 0), WICK_DEVICE_CPU); /* as x is */
  assert_int_equal(device_type_of(out, 1), FAKE);
  wick_value_release(out);
  wick_run(making, "like", arguments, 1, NULL, 0, &nowhere, NULL, &error);
  expect_text(error, "fake:7", "there is no device 'fake:7' here");
  wick_value_release(x);
  wick_value_release(n);
  wick_module_release(making);
  assert_int_equal(fake_block_count(), 0);
}

/* What reads a tensor from outside. */
static void test_outside(void **state) {
  (void)state;
  wick_value *x = on_fake(), *back;
  wick_error *error = NULL;
  wick_tensor_view view = {.size = sizeof view};
  struct DLManagedTensor *managed;
  char *bytes;
  size_t length;
  void *data = &view;
  assert_null(wick_tensor_data(x));
  assert_int_equal(wick_tensor_view_of(x, &view, &error), WICK_UNSUPPORTED);
  expect_text(error, "view", "a tensor on device 'fake:0' can't be read here");
  error = NULL;
  assert_int_equal(wick_tensor_to_dlpack(x, &managed, &error), WICK_UNSUPPORTED);
  expect_text(error, "dlpack", "a tensor on device 'fake:0' can't be read here");
  error = NULL;
  assert_int_equal(wick_tensor_to_npy(x, &bytes, &length, &error), WICK_UNSUPPORTED);
  expect_text(error, "npy", "a tensor on device 'fake:0' can't be read here: copy it to the cpu first");
  error = NULL;
  float numbers[6] = {6, 5, 4, 3, 2, 1}, read[6];
  assert_int_equal(wick_tensor_copy_from(x, numbers, sizeof numbers, NULL), WICK_OK);
  assert_int_equal(wick_tensor_copy_to(x, read, sizeof read, NULL), WICK_OK);
  assert_memory_equal(read, numbers, sizeof read);
  assert_int_equal(wick_save_value(NULL, x, "/dev/null", &error), WICK_UNSUPPORTED);
  expect_text(error, "save", "a tensor on device 'fake:0' can't be read here");
  error = NULL;
  check_error(tensor_host(x->value.tensor, &data), "a tensor on device 'fake:0' can't be read here");
  assert_null(data);
  assert_null(x->value.tensor->storage->data);
  assert_ptr_equal(tensor_memory(x->value.tensor), x->value.tensor->storage->memory);
  assert_int_equal(wick_tensor_contiguous(x, &back, NULL), WICK_OK);
  assert_ptr_equal(back->value.tensor, x->value.tensor);
  wick_value_release(back);
  wick_value_release(x);
}

/* Nothing of a tensor that could not be made is left. */
static void test_no_memory(void **state) {
  (void)state;
  wick_error *error = NULL;
  fake.has_no_memory = true;
  assert_null(run_in(module, "sent", "fake:1", &error));
  fake.has_no_memory = false;
  expect_text(error, "sent", "fake:1 has no 24 bytes");
  assert_int_equal(fake_block_count(), 0);
}

/* ---- the table ---- */

static void test_rows(void **state) {
  (void)state;
  Device device;
  DeviceClass other = fake_class;
  assert_string_equal(device_class(DEVICE_CPU)->name, "cpu");
  assert_ptr_equal(device_class(FAKE), &fake_class);
  assert_ptr_equal(device_class_at(1), &fake_class);
  assert_null(device_class_at(2));
  assert_null(device_class(DEVICE_CUDA));
  assert_null(device_parse(STR("fake:1"), &device));
  assert_true(device.type == FAKE && device.index == 1);
  check_error(device_parse(STR("fak"), &device), "at start of device string: fak");
  check_error(device_register(&fake_class), "device class 'fake' is there already");
  other.type = 21;
  check_error(device_register(&other), "the name or the type is another's");
  other.name = "cuda";
  check_error(device_register(&other), "the name or the type is another's");
  other.type = DEVICE_CUDA;
  other.name = "rocm";
  check_error(device_register(&other), "the name or the type is another's");
  other.name = "cuda";
  other.fill = NULL;
  check_error(device_register(&other), "a device class without a name, a type below 32 or a function");
  static const KindForm unknown[] = {{"aten::relu", fake_kernel, .fills = true}, {"aten::nonsense", fake_kernel}};
  static KIND_FORMS(unknown_kernels, unknown);
  check_error(device_kernels_register(FAKE, &unknown_kernels), "there is no operator aten::nonsense");
  static const KindForm empty[] = {{"aten::relu", NULL}};
  static KIND_FORMS(empty_kernels, empty);
  check_error(device_kernels_register(FAKE, &empty_kernels), "aten::relu: a form for a device without a kernel");
}

static void test_storages(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    Device device = d ? (Device){FAKE, 1} : DEVICE_CPU_0;
    int64_t data[3] = {1, 2, 3}, read[6] = {0};
    Storage *s;
    check(storage_new_on(device, sizeof data, &s));
    assert_true(device_equal(s->device, device));
    const DeviceClass *class = device_class(device.type);
    void *memory = s->data ? s->data : s->memory;
    check(class->copy(device, memory, DEVICE_CPU_0, data, sizeof data));
    check(storage_resize(s, sizeof read));
    memory = s->data ? s->data : s->memory;
    check(class->fill(device, (char *)memory + sizeof data, 3, &data[1], sizeof *data));
    check(class->copy(DEVICE_CPU_0, read, device, memory, sizeof read));
    assert_memory_equal(read, ((int64_t[]){1, 2, 3, 2, 2, 2}), sizeof read);
    storage_release(s);
  }
  Storage *s;
  check_error(storage_new_on((Device){DEVICE_CUDA, 0}, 8, &s), "there is no device 'cuda:0' here");
  assert_int_equal(fake_block_count(), 0);
}

/* What kernels gave to a device's queue is waited for where a call ends. */
static void test_queue(void **state) {
  (void)state;
  Exec exec;
  exec_init(&exec, NULL);
  check(exec_synchronize(&exec));
  exec.queue = &fake_queue;
  size_t before = fake.waits;
  check(exec_synchronize(&exec));
  assert_int_equal(fake.waits, before + 1);
  fake.loses_work = true;
  check_error(exec_synchronize(&exec), "fake:0 lost its work");
  fake.loses_work = false;
}

/* A write into a view is seen in what it shows; a copy is not. */
static void test_shared_memory(void **state) {
  (void)state;
  wick_value *x = on_fake();
  Tensor *t = x->value.tensor, *row, *clone, *host;
  check(tensor_select(t, 0, 1, &row));
  assert_true(row->flags & TENSOR_NOT_CPU);
  assert_int_equal(tensor_overlap(t, row), OVERLAP_PARTIAL);
  check(tensor_clone(t, &clone));
  assert_false(tensor_shares_storage(t, clone));
  assert_int_equal(tensor_overlap(t, clone), OVERLAP_NONE);
  float nine = 9;
  check(device_fill(row, &nine));
  check(tensor_empty(DTYPE_FLOAT32, 2, (int64_t[]){2, 3}, &host));
  check(tensor_copy(host, t, 1));
  assert_memory_equal(tensor_data(host), ((float[]){1, 2, 3, 9, 9, 9}), 6 * sizeof(float));
  check(tensor_copy(host, clone, 1));
  assert_memory_equal(tensor_data(host), ((float[]){1, 2, 3, 4, 5, 6}), 6 * sizeof(float));
  tensor_release(host);
  tensor_release(clone);
  tensor_release(row);
  wick_value_release(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_programs),       cmocka_unit_test(test_refusals),  cmocka_unit_test(test_outside),
      cmocka_unit_test(test_default_device), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_rows),
      cmocka_unit_test(test_storages),       cmocka_unit_test(test_queue),     cmocka_unit_test(test_shared_memory),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
