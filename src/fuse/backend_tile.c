/* The tile interpreter as a back end: kernels run as they are. */
#include "fuse/backend.h"

static Status run(const TileKernel *kernel, void *compiled, int threads, const TileArgument *arguments,
                  Tensor *const *outputs) {
  (void)compiled;
  return tile_run(kernel, threads, arguments, outputs);
}

const FuseBackend fuse_backend_tile = {.name = "tile", .device_type = DEVICE_CPU, .run = run};
