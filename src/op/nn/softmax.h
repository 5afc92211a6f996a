/* Softmax as the anchor of a region: attention (attention_fused.c). */
#pragma once

extern const struct Anchor softmax_anchor;
