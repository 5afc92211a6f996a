/* Attention, the transformer's encoder layer and the norm of newer ones; their work is written in
 * prelude/operators.py. */
#include "call/row.h"

#define ATTENTION_SCHEMA(name)                                                                 \
  "aten::" name                                                                                \
  "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool " \
  "need_attn_weights=False, "                                                                  \
  "bool is_causal=False) -> (Tensor, Tensor)"
#define ATTENTION(name)                                                                        \
  {                                                                                            \
    .schema = ATTENTION_SCHEMA(name),                                                          \
    .body = "return dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal)" \
  }

static const OpRow rows[] = {
    ATTENTION("_scaled_dot_product_attention"),
    ATTENTION("_scaled_dot_product_attention_forward"),
    ATTENTION("_scaled_dot_product_attention_math"),
    {.schema = "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float "
               "dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor, Tensor)",
     .body = "return flash_attention(query, key, value, dropout_p, is_causal, attn_mask, scale)"},
    {.schema = "aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     .body = "x = self if dtype is None else self.to(dtype)\n"
             "dead = (x == float('-inf')).all(dim, True)\n" /* no gradient may come from there, not even NaN */
             "return torch.softmax(x.masked_fill(dead, 0.), dim).masked_fill(dead, 0.)"},
    {.schema = "aten::rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
     .body = "return rms_normalized(input, normalized_shape, weight, eps)[0]"},
    {.schema = "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, "
               "Tensor)",
     .body = "return rms_normalized(input, normalized_shape, weight, eps)"},
    {.schema = "aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int "
               "num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, "
               "bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
     .body = "return heads_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, "
             "proj_bias, mask, need_weights, average_attn_weights)"},
    {.schema =
         "aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor "
         "qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, Tensor "
         "norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor "
         "ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
     .body = "x = src\n"
             "hidden = mask\n"
             "if src.is_nested:\n"
             "    sizes = torch._nested_tensor_size(src)\n"
             "    x = torch.to_padded_tensor(src, 0.)\n"
             "    hidden = torch.arange(x.size(1)).unsqueeze(0) >= sizes.select(1, 0).unsqueeze(1)\n"
             "first = torch.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps) if norm_first else x\n"
             "y = x + heads_attention(first, first, first, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, "
             "proj_bias, hidden, False, True)[0]\n"
             "if not norm_first:\n"
             "    y = torch.layer_norm(y, [embed_dim], norm_weight_1, norm_bias_1, eps)\n"
             "second = torch.layer_norm(y, [embed_dim], norm_weight_2, norm_bias_2, eps) if norm_first else y\n"
             "inner = torch.linear(second, ffn_weight_1, ffn_bias_1)\n"
             "inner = torch.gelu(inner) if use_gelu else torch.relu(inner)\n"
             "y = y + torch.linear(inner, ffn_weight_2, ffn_bias_2)\n"
             "if not norm_first:\n"
             "    y = torch.layer_norm(y, [embed_dim], norm_weight_2, norm_bias_2, eps)\n"
             "if src.is_nested:\n"
             "    return torch._nested_from_padded(y, torch._nested_tensor_size(src))\n"
             "return y",
     .flags = OP_ACCEPT_OPAQUE},
};
OP_TABLE(op_table_attention, rows);
