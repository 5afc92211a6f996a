#include "cuda/source.h"

#include "render/render.h"
#include "wick/backend.h"
#include "wick/tensor.h"

enum { DTYPE_BITS = 5, TYPE_AT = 15, WIDE_AT = 17, NUMBERS_AT = 18 };

static uint64_t pack(const SourceUse *use) {
  uint64_t variant = (uint64_t)use->type << TYPE_AT | (uint64_t)use->is_wide << WIDE_AT;
  for (int i = 0; i < SOURCE_DTYPES; i++) variant |= (uint64_t)(use->dtypes[i] & 31) << (DTYPE_BITS * i);
  for (int i = 0; i < SOURCE_NUMBERS; i++) variant |= (uint64_t)use->numbers[i] << (NUMBERS_AT + 8 * i);
  return variant;
}

void source_write(const void *source, uint64_t variant, Text *out) {
  static const char *const names[SOURCE_DTYPES] = {"A", "B", "C"};
  uint32_t type = variant >> TYPE_AT & 3;
  render_prelude(&dialect_cuda, variant >> WIDE_AT & 1 ? 64 : 32, out);
  text_print(out, "typedef %s value;\n#define GROUP %d\n", render_type(type), RENDER_GROUP);
  for (int i = 0; i < SOURCE_DTYPES; i++) render_dtype(names[i], variant >> (DTYPE_BITS * i) & 31, type, out);
  for (int i = 0; i < SOURCE_NUMBERS; i++)
    text_print(out, "#define N%d %d\n", i, (int)(variant >> (NUMBERS_AT + 8 * i) & 255));
  text_print(out, "%s", ((const Source *)source)->text);
}

wick_status source_launch(Source *source, const SourceUse *use, const Card *card, int64_t threads, void **parameters,
                          wick_error **error) {
  CUfunction function;
  if (!threads) return WICK_OK;
  wick_status status = code_for(&source->codes, card, source, pack(use), &function, error);
  return status ? status : code_launch(card, function, (threads + RENDER_GROUP - 1) / RENDER_GROUP, parameters, error);
}

uint8_t source_type_of(uint32_t dtype) {
  bool is_half = dtype == WICK_FLOAT16 || dtype == WICK_BFLOAT16;
  return dtype == WICK_FLOAT64              ? WICK_KERNEL_FLOAT64
         : is_half || dtype == WICK_FLOAT32 ? WICK_KERNEL_FLOAT32
                                            : WICK_KERNEL_INT64;
}

uint8_t source_raw_dtype(size_t bytes) {
  return bytes == 1 ? WICK_UINT8 : bytes == 2 ? WICK_INT16 : bytes == 4 ? WICK_INT32 : WICK_INT64;
}
