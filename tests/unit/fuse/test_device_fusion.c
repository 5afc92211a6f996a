/* Fusion groups on a device: a back end of its class runs their kernels on its memory, results are on the device, and
 * where there is none the operators say which of them the device lacks. */
#include "fuse_fixture.h"

#include "../../fake_device.h"
#include "tile/kernel_ir.h"
#include "tile/run.h"

static int runs;

/* An interpreter: it makes nothing beforehand. */
static Status run_on_fake(const KernelIr *kernel, void *compiled, int threads, const TileArgument *arguments,
                          Tensor *const *outputs) {
  (void)compiled;
  TileArgument here[KERNEL_MAX_ARGUMENTS];
  Tensor *results[KERNEL_MAX_OUTPUTS];
  int argument_count = kernel->argument_count, output_count = kernel->output_count;
  for (int i = 0; i < argument_count; i++) {
    here[i] = arguments[i];
    if (here[i].kind == TILE_ARG_TENSOR) here[i].tensor = fake_on_host(arguments[i].tensor);
  }
  for (int i = 0; i < output_count; i++) results[i] = fake_on_host(outputs[i]);
  TileKernel *code;
  assert_null(tile_kernel_new((KernelIr *)(uintptr_t)kernel, &code));
  fake_open();
  Status status = tile_run(code, threads, here, results);
  fake_close();
  tile_kernel_free(code);
  for (int i = 0; i < argument_count; i++)
    if (here[i].kind == TILE_ARG_TENSOR) tensor_release((Tensor *)here[i].tensor);
  for (int i = 0; i < output_count; i++) tensor_release(results[i]);
  runs++;
  return status;
}
static const FuseBackend fake_backend = {.name = "fake", .device_type = FAKE, .run = run_on_fake};

static const char *const programs[] = {
    "graph(%a : Tensor, %b : Tensor):\n"
    "  %one : int = prim::Constant[value=1]()\n"
    "  %c : Tensor = aten::mul(%a, %b)\n"
    "  %d : Tensor = aten::add(%c, %a, %one)\n"
    "  %e : Tensor = aten::tanh(%d)\n"
    "  return (%e)\n",
    "graph(%a : Tensor, %b : Tensor):\n"
    "  %one : int = prim::Constant[value=1]()\n"
    "  %p : Tensor, %q : Tensor = prim::ConstantChunk[chunks=2, dim=1](%a)\n"
    "  %c : Tensor = aten::mul(%p, %q)\n"
    "  %d : Tensor = aten::sigmoid(%c)\n"
    "  %e : Tensor = aten::add(%d, %c, %one)\n"
    "  return (%c, %e)\n",
};

static Tensor *numbers(float first) {
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, (int64_t[]){3, 4}, &t));
  for (int i = 0; i < 12; i++) ((float *)tensor_data(t))[i] = first + 0.25f * (float)i;
  return t;
}
static Tensor *on(Device device, const Tensor *t) {
  TensorSpec spec;
  Tensor *out;
  tensor_spec_of(t, &spec);
  spec.device = device;
  assert_null(tensor_new(&spec, &out));
  assert_null(tensor_copy(out, t, 1));
  return out;
}

static Status run_pair(Pair *pair, Exec *exec, bool fused, Tensor *a, Tensor *b, IValue *out) {
  IValue inputs[] = {ivalue_tensor(a), ivalue_tensor(b)};
  uint32_t count = graph_output_count(pair->ir.graph);
  for (uint32_t i = 0; i < count; i++) out[i] = IVALUE_NONE;
  return interp_run(exec, fused ? pair->fused : pair->plain, inputs, 2, out, count);
}

static void check_program(const char *text) {
  Device first = {FAKE, 0};
  Exec exec;
  Pair pair;
  Tensor *a = numbers(-1), *b = numbers(0.5), *fake_a = on(first, a), *fake_b = on(first, b),
         *other_b = on((Device){FAKE, 1}, b);
  IValue expected[2], got[2];
  exec_init(&exec, NULL);
  pair_make(&pair, text);
  assert_non_null(pair.group);
  assert_null(run_pair(&pair, &exec, false, a, b, expected));
  BackendNumber number;
  assert_true(fuse_backend_register(&fake_backend, &number));
  int before = runs;
  for (int i = 0; i < 3; i++) {
    Status status = run_pair(&pair, &exec, true, fake_a, fake_b, got);
    if (status) fail_msg("%s", status->message);
    for (uint32_t k = 0; k < graph_output_count(pair.ir.graph); k++) {
      assert_true(device_equal(tensor_device(got[k].tensor), first));
      Tensor *back = on(DEVICE_CPU_0, got[k].tensor);
      assert_true(tensors_equal(back, expected[k].tensor));
      tensor_release(back);
      ivalue_release(got[k]);
    }
  }
  assert_true(runs >= before + 3);
  /* The same group on the CPU in between. */
  before = runs;
  assert_null(run_pair(&pair, &exec, true, a, b, got));
  for (uint32_t k = 0; k < graph_output_count(pair.ir.graph); k++) {
    assert_true(tensors_equal(got[k].tensor, expected[k].tensor));
    ivalue_release(got[k]);
    ivalue_release(expected[k]);
  }
  assert_int_equal(runs, before);
  if (text == programs[0]) {
    Status status = run_pair(&pair, &exec, true, fake_a, other_b, got);
    assert_non_null(status);
    assert_non_null(strstr(status->message, "at least two devices, fake:0 and fake:1!"));
    status_free(status);
  }
  fuse_backend_unregister(number);
  Status status = run_pair(&pair, &exec, true, fake_a, fake_b, got);
  assert_non_null(status);
  assert_non_null(strstr(status->message, text == programs[0] ? "aten::tanh does not run on device 'fake'"
                                                              : "aten::sigmoid does not run on device 'fake'"));
  status_free(status);
  assert_int_equal(runs, before);
  pair_dispose(&pair);
  Tensor *all[] = {a, b, fake_a, fake_b, other_b};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tensor_release(all[i]);
}

static void test_groups(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) check_program(programs[i]);
  assert_int_equal(fake_block_count(), 0);
}

static int setup(void **state) {
  (void)state;
  fake_register();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
