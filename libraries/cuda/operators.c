#include "cuda/operators.h"

static wick_status run(void *user, wick_call *call, wick_error **error) {
  const OperatorKernel *kernel = user;
  Work w;
  work_begin(&w, call, error);
  w.name = kernel->name;
  kernel->run(&w, kernel->variant);
  return work_end(&w);
}

static wick_status register_table(const OperatorKernel *table, wick_error **error) {
  wick_status status = WICK_OK;
  for (const OperatorKernel *k = table; k->name && !status; k++) {
    const wick_device_kernel kernel = {.size = sizeof kernel,
                                       .flags = k->fills ? WICK_DEVICE_KERNEL_FILLS : 0,
                                       .name = k->name,
                                       .kernel = run,
                                       .user = (void *)(uintptr_t)k};
    status = wick_device_kernels_register(WICK_DEVICE_CUDA, &kernel, 1, error);
  }
  return status;
}

wick_status operators_register(wick_error **error) {
  static const OperatorKernel *const tables[] = {convolution_kernels, fetching_kernels, indexing_kernels,
                                                 joining_kernels,     formula_kernels,  pooling_kernels,
                                                 product_kernels,     reduction_kernels};
  wick_status status = WICK_OK;
  for (size_t i = 0; i < sizeof tables / sizeof *tables && !status; i++) status = register_table(tables[i], error);
  return status;
}
