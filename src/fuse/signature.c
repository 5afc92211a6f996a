/* Describing the operands of a kernel's run. */
#include "fuse/signature.h"

#include <assert.h>

static bool is_alike(const Tensor *a, const Tensor *b) {
  size_t bytes = sizeof(int64_t) * a->ndim;
  return a->ndim == b->ndim && !memcmp(a->sizes, b->sizes, bytes) && !memcmp(a->strides, b->strides, bytes);
}

static FuseOperandSignature describe(const Tensor *t, const Tensor *like) {
  FuseOperandSignature operand = {.type = t->dtype};
  if (t->ndim == 0)
    operand.layout = FUSE_LAYOUT_ELEMENT;
  else if (tensor_is_contiguous(t))
    operand.layout = FUSE_LAYOUT_CONTIGUOUS;
  else
    operand.layout = is_alike(t, like) && tensor_is_dense(like) ? FUSE_LAYOUT_DENSE : FUSE_LAYOUT_STRIDED;
  int missing = like->ndim - t->ndim;
  for (int i = 0; i < like->ndim; i++) {
    bool repeats = like->sizes[i] != 1 && (i < missing || t->sizes[i - missing] == 1);
    operand.repeats |= (uint8_t)(repeats << i);
  }
  return operand;
}

void fuse_signature(Precision precision, const KernelIr *kernel, const TileArgument *arguments, int argument_count,
                    Tensor *const *outputs, FuseSignature *out) {
  const Tensor *like = outputs[0];
  FuseOperandSignature *operand = out->operands;
  assert(like->ndim <= 8);
  out->precision = (uint8_t)precision;
  out->rank = like->ndim;
  out->argument_count = (uint8_t)argument_count;
  out->output_count = (uint8_t)kernel->output_count;
  for (int i = 0; i < argument_count; i++, operand++) {
    if (!kernel->used[i])
      *operand = (FuseOperandSignature){.layout = FUSE_LAYOUT_UNUSED};
    else if (arguments[i].kind != TILE_ARG_TENSOR)
      *operand = (FuseOperandSignature){.layout = FUSE_LAYOUT_NUMBER, .type = (uint8_t)arguments[i].kind};
    else
      *operand = describe(arguments[i].tensor, like);
  }
  for (int i = 0; i < kernel->output_count; i++) *operand++ = describe(outputs[i], like);
}

bool fuse_signature_equal(const FuseSignature *a, const FuseSignature *b) {
  size_t operands = (size_t)a->argument_count + a->output_count;
  return !memcmp(a, b, offsetof(FuseSignature, operands) + operands * sizeof a->operands[0]);
}
