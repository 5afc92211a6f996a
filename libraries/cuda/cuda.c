/* The CUDA device: registered when the driver and its compiler are there; a context is made when a device is first
 * asked for. docs/devices.md says what runs on it. */
#include "cuda/card.h"
#include "cuda/convert.h"
#include "cuda/operators.h"
#include "cuda/program.h"
#include "wick/device.h"

static int supports(void *user, const wick_kernel_ir *kernel) {
  (void)user;
  return render_knows(kernel);
}
static wick_status compile(void *user, const wick_kernel_ir *kernel, void **out_code, wick_error **error) {
  (void)user;
  return program_new(kernel, (Program **)out_code, error);
}
static wick_status run(void *user, void *code, const wick_kernel_argument *arguments, const wick_tensor_view *outputs,
                       wick_error **error) {
  (void)user;
  return program_run(code, arguments, outputs, error);
}
static size_t bytes(void *user, const void *code) {
  (void)user;
  return program_bytes(code);
}
static void free_code(void *user, void *code) {
  (void)user;
  program_free(code);
}

WICK_API wick_status wick_library_init(wick_error **error) {
  wick_status status = driver_open(error);
  if (!status) status = compiler_open(error);
  if (status) return status;
  const wick_device device = {.size = sizeof device,
                              .type = WICK_DEVICE_CUDA,
                              .name = "cuda",
                              .count = card_count(),
                              .allocate = card_allocate,
                              .free = card_free,
                              .copy = card_copy,
                              .fill = card_fill,
                              .synchronize = card_synchronize,
                              .convert = convert};
  const wick_backend backend = {.size = sizeof backend,
                                .device_type = WICK_DEVICE_CUDA,
                                .name = "cuda",
                                .supports = supports,
                                .compile = compile,
                                .run = run,
                                .bytes = bytes,
                                .free = free_code};
  status = wick_device_register(&device, error);
  if (!status) status = wick_backend_register(&backend, error);
  return status ? status : operators_register(error);
}
