"""Attention of several heads."""
import math
from typing import Optional, Tuple

import wick
from wick import Tensor
from wick.nn.functional.dropout import dropout


def _project(query: Tensor, key: Tensor, value: Tensor, weight: Tensor,
             bias: Optional[Tensor]) -> Tuple[Tensor, Tensor, Tensor]:
    """Query, key and value through the three matrices that stand one below another in ``weight``."""
    width = query.size(-1)
    if key is value:
        if query is key:
            q, k, v = wick.linear(query, weight, bias).chunk(3, -1)
            return q, k, v
        q_weight, kv_weight = weight.split([width, width * 2])
        if bias is None:
            q_bias, kv_bias = None, None
        else:
            q_bias, kv_bias = bias.split([width, width * 2])
        q = wick.linear(query, q_weight, q_bias)
        k, v = wick.linear(key, kv_weight, kv_bias).chunk(2, -1)
        return q, k, v
    q_weight, k_weight, v_weight = weight.chunk(3)
    if bias is None:
        return wick.linear(query, q_weight), wick.linear(key, k_weight), wick.linear(value, v_weight)
    q_bias, k_bias, v_bias = bias.chunk(3)
    return (wick.linear(query, q_weight, q_bias), wick.linear(key, k_weight, k_bias),
            wick.linear(value, v_weight, v_bias))


def _added_mask(mask: Tensor, like: Tensor, what: str) -> Tensor:
    """A mask as what is added to the weights before softmax: -inf where a bool one is True."""
    if mask.is_floating_point():
        return mask
    assert mask.dtype == wick.bool or mask.dtype == wick.uint8, \
        'only bool and floating types of {} are supported'.format(what)
    added = wick.zeros_like(mask, dtype=like.dtype)
    return added.masked_fill_(mask.to(wick.bool), float('-inf'))


def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
        in_proj_weight: Optional[Tensor], in_proj_bias: Optional[Tensor], bias_k: Optional[Tensor],
        bias_v: Optional[Tensor], add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
        out_proj_bias: Optional[Tensor], training: bool = True, key_padding_mask: Optional[Tensor] = None,
        need_weights: bool = True, attn_mask: Optional[Tensor] = None, use_separate_proj_weight: bool = False,
        q_proj_weight: Optional[Tensor] = None, k_proj_weight: Optional[Tensor] = None,
        v_proj_weight: Optional[Tensor] = None, static_k: Optional[Tensor] = None, static_v: Optional[Tensor] = None,
        average_attn_weights: bool = True) -> Tuple[Tensor, Optional[Tensor]]:
    """Attention of many heads over (L, N, E) or (L, E) queries and (S, N, E) keys and values.

    Returns the result, (L, N, E), and with ``need_weights`` the weights, (N, L, S), or (N, heads, L, S) when they are
    not averaged. A mask is bool (True: not attended to) or floating (added); ``attn_mask`` is (L, S) or
    (N * heads, L, S), ``key_padding_mask`` (N, S).
    """
    batched = query.dim() == 3
    assert batched or query.dim() == 2, \
        'query should be unbatched 2D or batched 3D tensor but received {}-D query tensor'.format(query.dim())
    assert key.dim() == query.dim() and value.dim() == query.dim(), \
        'For {} `query`, expected `key` and `value` to be {}-D but found {}-D and {}-D tensors respectively'.format(
            'batched (3-D)' if batched else 'unbatched (2-D)', query.dim(), key.dim(), value.dim())
    if not batched:
        same_key, same_value = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same_key else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    assert width == embed_dim_to_check, \
        'was expecting embedding dimension of {}, but got {}'.format(embed_dim_to_check, width)
    if isinstance(width, Tensor):  # of a trace
        head = width.div(num_heads, rounding_mode='trunc')
    else:
        head = width // num_heads
    assert head * num_heads == width, 'embed_dim {} not divisible by num_heads {}'.format(width, num_heads)
    if use_separate_proj_weight:
        assert key.shape[:2] == value.shape[:2], \
            "key's sequence and batch dims {} do not match value's {}".format(key.shape[:2], value.shape[:2])
        assert q_proj_weight is not None and k_proj_weight is not None and v_proj_weight is not None, \
            'use_separate_proj_weight needs q_proj_weight, k_proj_weight and v_proj_weight'
        if in_proj_bias is None:
            q, k, v = (wick.linear(query, q_proj_weight), wick.linear(key, k_proj_weight),
                       wick.linear(value, v_proj_weight))
        else:
            q_bias, k_bias, v_bias = in_proj_bias.chunk(3)
            q, k, v = (wick.linear(query, q_proj_weight, q_bias), wick.linear(key, k_proj_weight, k_bias),
                       wick.linear(value, v_proj_weight, v_bias))
    else:
        assert key.shape == value.shape, 'key shape {} does not match value shape {}'.format(key.shape, value.shape)
        assert in_proj_weight is not None, 'use_separate_proj_weight is False but in_proj_weight is None'
        q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias)

    if attn_mask is not None:
        attn_mask = _added_mask(attn_mask, q, 'attn_mask')
        if attn_mask.dim() == 2:
            if attn_mask.size(0) != length or attn_mask.size(1) != key.size(0):
                raise RuntimeError('The shape of the 2D attn_mask is {}, but should be {}.'.format(
                    attn_mask.shape, (length, key.size(0))))
            attn_mask = attn_mask.unsqueeze(0)
        elif attn_mask.dim() == 3:
            if (attn_mask.size(0) != batch * num_heads or attn_mask.size(1) != length
                    or attn_mask.size(2) != key.size(0)):
                raise RuntimeError('The shape of the 3D attn_mask is {}, but should be {}.'.format(
                    attn_mask.shape, (batch * num_heads, length, key.size(0))))
        else:
            raise RuntimeError("attn_mask's dimension {} is not supported".format(attn_mask.dim()))
    added = 0
    if bias_k is not None and bias_v is not None:
        assert static_k is None and static_v is None, 'bias cannot be added to static key or value.'
        k = wick.cat([k, bias_k.repeat(1, batch, 1)])
        v = wick.cat([v, bias_v.repeat(1, batch, 1)])
        added += 1
    q = q.contiguous().view(length, batch * num_heads, head).transpose(0, 1)
    if static_k is None:
        k = k.contiguous().view(k.size(0), batch * num_heads, head).transpose(0, 1)
    else:
        k = static_k
    if static_v is None:
        v = v.contiguous().view(v.size(0), batch * num_heads, head).transpose(0, 1)
    else:
        v = static_v
    if add_zero_attn:
        k = wick.cat([k, wick.zeros(batch * num_heads, 1, head, dtype=k.dtype, device=k.device)], 1)
        v = wick.cat([v, wick.zeros(batch * num_heads, 1, head, dtype=v.dtype, device=v.device)], 1)
        added += 1
    source = k.size(1)
    if added > 0 and attn_mask is not None:
        attn_mask = wick.constant_pad_nd(attn_mask, [0, added])
    if key_padding_mask is not None:
        padding = _added_mask(key_padding_mask, q, 'key_padding_mask')
        if added > 0:
            padding = wick.constant_pad_nd(padding, [0, added])
        assert padding.dim() == 2 and padding.size(0) == batch and padding.size(1) == source, \
            'expecting key_padding_mask shape of {}, but got {}'.format((batch, source), padding.shape)
        padding = padding.view(batch, 1, 1, source).expand(-1, num_heads, -1, -1)
        padding = padding.reshape(batch * num_heads, 1, source)
        attn_mask = padding if attn_mask is None else attn_mask + padding

    q = q / math.sqrt(float(head))
    if attn_mask is None:
        weights = wick.bmm(q, k.transpose(-2, -1))
    else:
        weights = wick.baddbmm(attn_mask, q, k.transpose(-2, -1))
    weights = weights.softmax(-1)
    if training and dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    result = wick.bmm(weights, v).transpose(0, 1).contiguous().view(length * batch, width)
    result = wick.linear(result, out_proj_weight, out_proj_bias)
    result = result.view(length, batch, result.size(1))
    if not batched:
        result = result.squeeze(1)
    if not need_weights:
        return result, None
    weights = weights.view(batch, num_heads, length, source)
    if average_attn_weights:
        weights = weights.sum(dim=1) / num_heads
    if not batched:
        weights = weights.squeeze(0)
    return result, weights
