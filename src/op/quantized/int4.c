/* Weights of four bits, two in a byte, as PyTorch packs them for its own kernels: in blocks of rows, within a block
 * column after column. A full block is of as many rows as suit the processor's vectors, and there byte i of a column
 * has the numbers of rows i and i + half; in other blocks it has those of rows 2 i and 2 i + 1. So what one kind of
 * processor packed is another matrix on another, as in PyTorch. */
#include "base/parallel.h"
#include "base/processor.h"
#include "call/row.h"
#include "tensor/iterate.h"

enum { WIDE_ROWS = 64, ROWS = 32, ROW_STEP = 16 };

typedef struct Packing {
  int64_t rows, columns, block; /* block: rows of a full one */
  bool halves;                  /* of full blocks: rows i and i + half share a byte, else 2 i and 2 i + 1 */
  uint8_t *packed;
  const int32_t *from; /* of packing */
  float *to;           /* of unpacking: numbers, scaled */
  const float *scales; /* (columns / group, rows, 2): scale and zero */
  int64_t group;
} Packing;

static Packing packing_of(int64_t rows, int64_t columns) {
  return (Packing){
      .rows = rows, .columns = columns, .block = PROCESSOR_HAS_AVX512 ? WIDE_ROWS : ROWS, .halves = PROCESSOR_HAS_AVX2};
}
static int64_t block_count(const Packing *p) {
  return (p->rows + p->block - 1) / p->block;
}

/* Byte `i` of a column of the block of n rows has these two rows of it. */
static inline void rows_of_byte(const Packing *p, int64_t n, int64_t i, int64_t *low, int64_t *high) {
  bool halves = p->halves && n == p->block;
  *low = halves ? i : 2 * i;
  *high = halves ? i + n / 2 : 2 * i + 1;
}

static void pack_blocks(void *argument, int64_t begin, int64_t end) {
  const Packing *p = argument;
  for (int64_t b = begin; b < end; b++) {
    int64_t first = b * p->block, n = p->rows - first < p->block ? p->rows - first : p->block, low, high;
    const int32_t *from = p->from + first * p->columns;
    uint8_t *to = p->packed + first * p->columns / 2;
    for (int64_t k = 0; k < p->columns; k++)
      for (int64_t i = 0; i < n / 2; i++) {
        rows_of_byte(p, n, i, &low, &high);
        *to++ = (uint8_t)((from[low * p->columns + k] & 15) | (from[high * p->columns + k] & 15) << 4);
      }
  }
}

static inline float scaled(const Packing *p, int64_t row, int64_t k, int number) {
  const float *by = p->scales + (k / p->group * p->rows + row) * 2;
  return (float)(number - 8) * by[0] + by[1];
}
static void unpack_blocks(void *argument, int64_t begin, int64_t end) {
  const Packing *p = argument;
  for (int64_t b = begin; b < end; b++) {
    int64_t first = b * p->block, n = p->rows - first < p->block ? p->rows - first : p->block, low, high;
    const uint8_t *from = p->packed + first * p->columns / 2;
    for (int64_t k = 0; k < p->columns; k++)
      for (int64_t i = 0; i < n / 2; i++, from++) {
        rows_of_byte(p, n, i, &low, &high);
        p->to[(first + low) * p->columns + k] = scaled(p, first + low, k, *from & 15);
        p->to[(first + high) * p->columns + k] = scaled(p, first + high, k, *from >> 4);
      }
  }
}

static Status shape_pack(Call *call, TensorSpec *specs) {
  const Tensor *weight = call_tensor(call, 0);
  const char *wrong = weight->ndim != 2                  ? "expect weight to be 2D tensor."
                      : weight->dtype != DTYPE_INT32     ? "expect weight to be kInt."
                      : weight->sizes[0] % ROW_STEP != 0 ? "expect N to be dividable by 16"
                      : weight->sizes[1] % 2 != 0        ? "expect K to be dividable by 2"
                                                         : NULL;
  if (wrong) return status_new(ERROR_RUNTIME, "_convert_weight_to_int4pack_cpu : %s", wrong);
  shape_set(specs, DTYPE_UINT8, 2, (const int64_t[]){weight->sizes[0], weight->sizes[1] / 2});
  return OK;
}
static Status kernel_pack(Call *call) {
  Tensor *weight, *out = call_out(call, 0);
  if (!out->numel) return OK;
  TRY(tensor_contiguous(call_tensor(call, 0), &weight));
  Packing p = packing_of(weight->sizes[0], weight->sizes[1]);
  p.from = tensor_data(weight);
  p.packed = tensor_data(out);
  parallel_for(call->exec->work.threads, block_count(&p), 1 + 16384 / (p.block * p.columns), pack_blocks, &p);
  tensor_release(weight);
  return OK;
}

/* (packed, group, scales and zeros), which the operator's text has checked. */
static Status shape_unpack(Call *call, TensorSpec *specs) {
  const Tensor *packed = call_tensor(call, 0), *scales = call_tensor(call, 2);
  int64_t group = call_int(call, 1), columns = packed->ndim == 2 ? packed->sizes[1] * 2 : 0;
  if (packed->ndim != 2 || packed->dtype != DTYPE_UINT8 || packed->sizes[0] % ROW_STEP || group <= 0 ||
      columns % group || scales->ndim != 3 || scales->sizes[0] != columns / group ||
      scales->sizes[1] != packed->sizes[0] || scales->sizes[2] != 2)
    return status_new(ERROR_RUNTIME, "_weight_int4pack_mm_cpu: weights of %s do not go with scales and zeros of %s",
                      SIZES_TEXT(packed->ndim, packed->sizes), SIZES_TEXT(scales->ndim, scales->sizes));
  shape_set(specs, DTYPE_FLOAT32, 2, (const int64_t[]){packed->sizes[0], columns});
  return OK;
}
static Status kernel_unpack(Call *call) {
  Tensor *packed = NULL, *wide = NULL, *scales = NULL, *out = call_out(call, 0);
  Status status;
  if (!out->numel) return OK;
  TRY_GOTO(tensor_contiguous(call_tensor(call, 0), &packed), done);
  TRY_GOTO(tensor_to_dtype(call_tensor(call, 2), DTYPE_FLOAT32, &wide), done);
  TRY_GOTO(tensor_contiguous(wide, &scales), done);
  Packing p = packing_of(out->sizes[0], out->sizes[1]);
  p.packed = tensor_data(packed);
  p.to = tensor_data(out);
  p.scales = tensor_data(scales);
  p.group = call_int(call, 1);
  parallel_for(call->exec->work.threads, block_count(&p), 1 + 16384 / (p.block * p.columns), unpack_blocks, &p);
done:
  tensor_release(packed);
  tensor_release(wide);
  tensor_release(scales);
  return status;
}

static const OpRow rows[] = {
    {.schema = "aten::_convert_weight_to_int4pack_for_cpu(Tensor self, int innerKTiles) -> Tensor",
     .kernel = kernel_pack,
     .shape = shape_pack,
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "wick::int4_weights(Tensor packed, int group, Tensor scales_and_zeros) -> Tensor",
     .kernel = kernel_unpack,
     .shape = shape_unpack,
     .flags = OP_NOT_DIFFERENTIABLE | OP_OF_PLANS},
    {.schema = "aten::_weight_int4pack_mm_for_cpu(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> "
               "Tensor",
     .body = "return int4_product(self, mat2, qGroupSize, qScaleAndZeros)",
     .flags = OP_NOT_DIFFERENTIABLE},
};
OP_TABLE(op_table_int4, rows);
