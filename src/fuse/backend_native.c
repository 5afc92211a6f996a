/* Machine code as a back end (native/native_kernel.h), for processors it is written for. */
#include "fuse/backend.h"
#include "native/native_kernel.h"

/* Which arguments are one number for all, and which are likely to stay along the last dimension. */
typedef struct Layout {
  bool is_number[KERNEL_MAX_ARGUMENTS], stays[KERNEL_MAX_ARGUMENTS];
} Layout;

static Layout layout_of(const KernelIr *kernel, const FuseSignature *signature) {
  Layout layout = {0};
  for (int i = 0; i < kernel->argument_count; i++) {
    const FuseOperandSignature *operand = &signature->operands[i];
    bool repeats = signature->rank && operand->repeats >> (signature->rank - 1) & 1;
    layout.is_number[i] = operand->layout == FUSE_LAYOUT_NUMBER;
    layout.stays[i] = operand->layout == FUSE_LAYOUT_NUMBER || operand->layout == FUSE_LAYOUT_ELEMENT ||
                      (operand->layout != FUSE_LAYOUT_UNUSED && repeats);
  }
  return layout;
}

static Reason supports(const FuseBackend *self, const KernelIr *kernel, const FuseSignature *signature) {
  (void)self;
  if (!native_is_there()) return REASON_NOT_COMPILED_MACHINE;
  Layout layout = layout_of(kernel, signature);
  return native_suits(kernel, layout.stays) ? REASON_COUNT : REASON_NOT_COMPILED_OPERATION;
}

static Status compile(const FuseBackend *self, KernelIr *kernel, const FuseSignature *signature, void **out) {
  (void)self;
  Layout layout = layout_of(kernel, signature);
  NativeKernel *made;
  TRY(native_kernel_new(kernel, layout.is_number, layout.stays, NULL, &made));
  *out = made;
  return OK;
}

static Status run(const KernelIr *kernel, void *compiled, int threads, const TileArgument *arguments,
                  Tensor *const *outputs) {
  (void)kernel;
  return tile_run(native_kernel_tile(compiled), threads, arguments, outputs);
}

static size_t bytes(const void *compiled) {
  return native_kernel_bytes(compiled);
}

static void free_compiled(void *compiled) {
  native_kernel_free(compiled);
}

const FuseBackend fuse_backend_native = {.name = "native",
                                         .device_type = DEVICE_CPU,
                                         .supports = supports,
                                         .compile = compile,
                                         .run = run,
                                         .bytes = bytes,
                                         .free = free_compiled};
