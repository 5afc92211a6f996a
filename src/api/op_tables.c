/* The one list of the tables of operator rows: sorted, those of folders after op by themselves. */
#include "api/start.h"

/* clang-format off */
#define OP_TABLES(X) \
  X(attention) \
  X(attention_fused) \
  X(attribute) \
  X(backward) \
  X(builtin) \
  X(complex) \
  X(composite) \
  X(conv) \
  X(conv_named) \
  X(create) \
  X(decomposed) \
  X(dict) \
  X(dropout) \
  X(embedding_bag) \
  X(fft) \
  X(fft_ops) \
  X(fft_stft) \
  X(foreach) \
  X(format) \
  X(gather) \
  X(gradient_support) \
  X(grid_sample) \
  X(hash) \
  X(im2col) \
  X(index) \
  X(interpolate) \
  X(join) \
  X(linalg_cholesky) \
  X(linalg_distance) \
  X(linalg_einsum) \
  X(linalg_errors) \
  X(linalg_lu) \
  X(linalg_ops) \
  X(linalg_qr) \
  X(linalg_spectral) \
  X(list) \
  X(list_sort) \
  X(literal) \
  X(loss) \
  X(math) \
  X(matmul) \
  X(nested) \
  X(norm) \
  X(norm_backward) \
  X(number) \
  X(pad) \
  X(pointwise_activation) \
  X(pointwise_alias) \
  X(pointwise_arithmetic) \
  X(pointwise_compare) \
  X(pointwise_special) \
  X(pointwise_unary) \
  X(pool) \
  X(pool_fractional) \
  X(prepacked) \
  X(prim) \
  X(quantize) \
  X(fake_quantize) \
  X(quantized_cells) \
  X(quantized_decomposed) \
  X(int4) \
  X(quantized_embedding) \
  X(quantized_pool) \
  X(quantized_norm) \
  X(quantized_arithmetic) \
  X(quantized_conv) \
  X(quantized_conv_params) \
  X(quantized_forms) \
  X(quantized_layers) \
  X(quantized_linear) \
  X(random) \
  X(rearrange) \
  X(reduce) \
  X(region) \
  X(rnn) \
  X(sample) \
  X(scan) \
  X(search) \
  X(sequence) \
  X(softmax) \
  X(sort) \
  X(sparse_convert) \
  X(sparse_parts) \
  X(sparse_product) \
  X(sparse_reduce) \
  X(split) \
  X(str) \
  X(to) \
  X(upsample) \
  X(value) \
  X(view) \
  X(view_scatter) \
  /* of folders after op */ \
  X(autograd) \
  X(batch_mm) \
  X(fuse)
/* clang-format on */

#define X(name) extern const OpTable op_table_##name;
OP_TABLES(X)
#undef X
const OpTable *const op_tables[] = {
#define X(name) &op_table_##name,
    OP_TABLES(X)
#undef X
        NULL,
};

extern const KindForms quantized_forms_pool, quantized_forms_upsample, quantized_forms_basic;
extern const KindForms sparse_forms_basic, sparse_forms_product, sparse_forms_shape;

const KindForms *const quantized_form_tables[] = {
    &quantized_forms_pool,
    &quantized_forms_upsample,
    &quantized_forms_basic,
    NULL,
};
const KindForms *const sparse_form_tables[] = {
    &sparse_forms_basic,
    &sparse_forms_product,
    &sparse_forms_shape,
    NULL,
};

extern const NativeClass native_linear_context, native_conv2d_context, native_transpose_context;
extern const NativeClass native_linear_params, native_conv2d_params, native_conv3d_params, native_embedding_params,
    native_cell_params;

const NativeClass *const native_classes[] = {
    &native_linear_params,    &native_conv2d_params,     &native_conv3d_params,
    &native_embedding_params, &native_cell_params,       &native_linear_context,
    &native_conv2d_context,   &native_transpose_context, NULL,
};
