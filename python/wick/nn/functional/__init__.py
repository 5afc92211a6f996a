"""The functions behind the layers: operators under their own names, and what is made of several of them.

Every function takes and returns what torch.nn.functional's of that name does.
"""
import wick
from wick.nn.functional.activation import (  # noqa: F401
    celu, elu, glu, gumbel_softmax, hardsigmoid, hardswish, hardtanh, leaky_relu, log_softmax, mish, relu, relu6,
    rrelu, selu, sigmoid, silu, softmax, softmin, softsign, tanh, tanhshrink, threshold)
from wick.nn.functional.attention import (  # noqa: F401
    multi_head_attention_forward)
from wick.nn.functional.dropout import (  # noqa: F401
    alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout)
from wick.nn.functional.embedding import (  # noqa: F401
    embedding, embedding_bag)
from wick.nn.functional.image import (  # noqa: F401
    affine_grid, fold, grid_sample, interpolate, unfold, upsample, upsample_bilinear, upsample_nearest)
from wick.nn.functional.loss import (  # noqa: F401
    binary_cross_entropy, binary_cross_entropy_with_logits, cosine_embedding_loss, cross_entropy, ctc_loss,
    gaussian_nll_loss, hinge_embedding_loss, huber_loss, kl_div, l1_loss, margin_ranking_loss, mse_loss,
    multi_margin_loss, multilabel_margin_loss, multilabel_soft_margin_loss, nll_loss, poisson_nll_loss,
    smooth_l1_loss, soft_margin_loss, triplet_margin_loss, triplet_margin_with_distance_loss)
from wick.nn.functional.normalization import (  # noqa: F401
    batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, normalize)
from wick.nn.functional.pooling import (  # noqa: F401
    adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d, adaptive_max_pool2d_with_indices, adaptive_max_pool3d, adaptive_max_pool3d_with_indices,
    fractional_max_pool2d, fractional_max_pool2d_with_indices, fractional_max_pool3d,
    fractional_max_pool3d_with_indices, lp_pool1d, lp_pool2d, max_pool1d, max_pool1d_with_indices, max_pool2d,
    max_pool2d_with_indices, max_pool3d, max_pool3d_with_indices, max_unpool1d, max_unpool2d, max_unpool3d)

# Functions that are operators as they stand, and those with another name.
conv1d = wick.conv1d
conv2d = wick.conv2d
conv3d = wick.conv3d
conv_transpose1d = wick.conv_transpose1d
conv_transpose2d = wick.conv_transpose2d
conv_transpose3d = wick.conv_transpose3d
conv_tbc = wick.conv_tbc
linear = wick.linear
bilinear = wick.bilinear
avg_pool1d = wick.avg_pool1d
avg_pool2d = wick.avg_pool2d
avg_pool3d = wick.avg_pool3d
adaptive_avg_pool1d = wick.adaptive_avg_pool1d
gelu = wick.gelu
hardshrink = wick.hardshrink
logsigmoid = wick.log_sigmoid
prelu = wick.prelu
softplus = wick.softplus
softshrink = wick.softshrink
relu_ = wick.relu_
elu_ = wick.elu_
selu_ = wick.selu_
celu_ = wick.celu_
rrelu_ = wick.rrelu_
leaky_relu_ = wick.leaky_relu_
hardtanh_ = wick.hardtanh_
threshold_ = wick.threshold_
one_hot = wick.one_hot
pad = wick.pad
pixel_shuffle = wick.pixel_shuffle
pixel_unshuffle = wick.pixel_unshuffle
channel_shuffle = wick.channel_shuffle
native_channel_shuffle = wick.native_channel_shuffle
cosine_similarity = wick.cosine_similarity
pairwise_distance = wick.pairwise_distance
pdist = wick.pdist
scaled_dot_product_attention = wick.scaled_dot_product_attention

for _value in list(vars().values()):  # torch's name for them
    if getattr(_value, '__module__', '').startswith(__name__ + '.'):
        _value.__module__ = __name__
del _value
