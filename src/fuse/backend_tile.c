/* The tile interpreter as a back end. It is quick to make a kernel ready, so groups have theirs from the start
 * (fuse/lower.c), for any signature. */
#include "fuse/backend.h"

static Status compile(const FuseBackend *self, KernelIr *kernel, const FuseSignature *signature, void **out) {
  (void)self, (void)signature;
  TileKernel *made;
  TRY(tile_kernel_new(kernel, &made));
  *out = made;
  return OK;
}

static Status run(const KernelIr *kernel, void *compiled, int threads, const TileArgument *arguments,
                  Tensor *const *outputs) {
  (void)kernel;
  return tile_run(compiled, threads, arguments, outputs);
}

static size_t bytes(const void *compiled) {
  return ((const TileKernel *)compiled)->bytes;
}

static void free_compiled(void *compiled) {
  tile_kernel_free(compiled);
}

const FuseBackend fuse_backend_tile = {
    .name = "tile", .device_type = DEVICE_CPU, .compile = compile, .run = run, .bytes = bytes, .free = free_compiled};
