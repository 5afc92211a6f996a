/* The one list of the tables of operator rows: sorted, those of folders after op by themselves. */
#include "api/start.h"

extern const OpTable op_table_attention;
extern const OpTable op_table_attention_fused;
extern const OpTable op_table_attribute;
extern const OpTable op_table_builtin;
extern const OpTable op_table_complex;
extern const OpTable op_table_composite;
extern const OpTable op_table_conv;
extern const OpTable op_table_conv_named;
extern const OpTable op_table_create;
extern const OpTable op_table_decomposed;
extern const OpTable op_table_dict;
extern const OpTable op_table_dropout;
extern const OpTable op_table_embedding_bag;
extern const OpTable op_table_fft;
extern const OpTable op_table_fft_ops;
extern const OpTable op_table_fft_stft;
extern const OpTable op_table_foreach;
extern const OpTable op_table_format;
extern const OpTable op_table_gather;
extern const OpTable op_table_gradient_support;
extern const OpTable op_table_grid_sample;
extern const OpTable op_table_hash;
extern const OpTable op_table_im2col;
extern const OpTable op_table_index;
extern const OpTable op_table_interpolate;
extern const OpTable op_table_join;
extern const OpTable op_table_linalg_cholesky;
extern const OpTable op_table_linalg_distance;
extern const OpTable op_table_linalg_einsum;
extern const OpTable op_table_linalg_errors;
extern const OpTable op_table_linalg_lu;
extern const OpTable op_table_linalg_ops;
extern const OpTable op_table_linalg_qr;
extern const OpTable op_table_linalg_spectral;
extern const OpTable op_table_list;
extern const OpTable op_table_list_sort;
extern const OpTable op_table_literal;
extern const OpTable op_table_loss;
extern const OpTable op_table_math;
extern const OpTable op_table_matmul;
extern const OpTable op_table_nested;
extern const OpTable op_table_norm;

extern const OpTable op_table_norm_backward;
extern const OpTable op_table_number;
extern const OpTable op_table_pad;
extern const OpTable op_table_pointwise_activation;
extern const OpTable op_table_pointwise_alias;
extern const OpTable op_table_pointwise_arithmetic;
extern const OpTable op_table_pointwise_compare;
extern const OpTable op_table_pointwise_special;
extern const OpTable op_table_pointwise_unary;
extern const OpTable op_table_pool;
extern const OpTable op_table_pool_fractional;
extern const OpTable op_table_prepacked;
extern const OpTable op_table_prim;
extern const OpTable op_table_quantize;
extern const OpTable op_table_fake_quantize;
extern const OpTable op_table_quantized_cells;
extern const OpTable op_table_quantized_embedding;
extern const OpTable op_table_quantized_pool;
extern const OpTable op_table_quantized_norm;
extern const OpTable op_table_quantized_arithmetic;
extern const OpTable op_table_quantized_conv;
extern const OpTable op_table_quantized_conv_params;
extern const OpTable op_table_quantized_forms;
extern const OpTable op_table_quantized_layers;
extern const OpTable op_table_quantized_linear;
extern const OpTable op_table_random;
extern const OpTable op_table_rearrange;
extern const OpTable op_table_reduce;
extern const OpTable op_table_region;
extern const OpTable op_table_rnn;
extern const OpTable op_table_sample;
extern const OpTable op_table_scan;
extern const OpTable op_table_search;
extern const OpTable op_table_sequence;
extern const OpTable op_table_softmax;
extern const OpTable op_table_sort;
extern const OpTable op_table_sparse_convert;
extern const OpTable op_table_sparse_parts;
extern const OpTable op_table_sparse_product;
extern const OpTable op_table_sparse_reduce;
extern const OpTable op_table_split;
extern const OpTable op_table_str;
extern const OpTable op_table_to;
extern const OpTable op_table_upsample;
extern const OpTable op_table_value;
extern const OpTable op_table_view;
extern const OpTable op_table_view_scatter;

extern const OpTable op_table_autograd;
extern const OpTable op_table_batch_mm;
extern const OpTable op_table_fuse;

const OpTable *const op_tables[] = {
    &op_table_attention,
    &op_table_attention_fused,
    &op_table_attribute,
    &op_table_builtin,
    &op_table_complex,
    &op_table_composite,
    &op_table_conv,
    &op_table_conv_named,
    &op_table_create,
    &op_table_decomposed,
    &op_table_dict,
    &op_table_dropout,
    &op_table_embedding_bag,
    &op_table_fft,
    &op_table_fft_ops,
    &op_table_fft_stft,
    &op_table_foreach,
    &op_table_format,
    &op_table_gather,
    &op_table_gradient_support,
    &op_table_grid_sample,
    &op_table_hash,
    &op_table_im2col,
    &op_table_index,
    &op_table_interpolate,
    &op_table_join,
    &op_table_linalg_cholesky,
    &op_table_linalg_distance,
    &op_table_linalg_einsum,
    &op_table_linalg_errors,
    &op_table_linalg_lu,
    &op_table_linalg_ops,
    &op_table_linalg_qr,
    &op_table_linalg_spectral,
    &op_table_list,
    &op_table_list_sort,
    &op_table_literal,
    &op_table_loss,
    &op_table_math,
    &op_table_matmul,
    &op_table_nested,
    &op_table_norm,

    &op_table_norm_backward,
    &op_table_number,
    &op_table_pad,
    &op_table_pointwise_activation,
    &op_table_pointwise_alias,
    &op_table_pointwise_arithmetic,
    &op_table_pointwise_compare,
    &op_table_pointwise_special,
    &op_table_pointwise_unary,
    &op_table_pool,
    &op_table_pool_fractional,
    &op_table_prepacked,
    &op_table_prim,
    &op_table_quantize,
    &op_table_fake_quantize,
    &op_table_quantized_cells,
    &op_table_quantized_embedding,
    &op_table_quantized_pool,
    &op_table_quantized_norm,
    &op_table_quantized_arithmetic,
    &op_table_quantized_conv,
    &op_table_quantized_conv_params,
    &op_table_quantized_forms,
    &op_table_quantized_layers,
    &op_table_quantized_linear,
    &op_table_random,
    &op_table_rearrange,
    &op_table_reduce,
    &op_table_region,
    &op_table_rnn,
    &op_table_sample,
    &op_table_scan,
    &op_table_search,
    &op_table_sequence,
    &op_table_softmax,
    &op_table_sort,
    &op_table_sparse_convert,
    &op_table_sparse_parts,
    &op_table_sparse_product,
    &op_table_sparse_reduce,
    &op_table_split,
    &op_table_str,
    &op_table_to,
    &op_table_upsample,
    &op_table_value,
    &op_table_view,
    &op_table_view_scatter,

    &op_table_autograd,
    &op_table_batch_mm,
    &op_table_fuse,
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
