/* What errors of calls say: sizes and names, as PyTorch has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

static const struct {
  const char *expression, *message;
} texts[] = {
    {"torch.conv2d(torch.ones(1, 2, 8, 8), torch.ones(1, 3, 3, 3))",
     "Given groups=1, weight of size [1, 3, 3, 3], expected input[1, 2, 8, 8] to have 3 channels, but got 2 channels "
     "instead"},
    {"torch.conv_transpose2d(torch.ones(1, 2, 8, 8), torch.ones(3, 3, 3, 3))",
     "Given transposed=1, weight of size [3, 3, 3, 3], expected input[1, 2, 8, 8] to have 3 channels, but got 2 "
     "channels instead"},
    {"torch.conv2d(torch.ones(1, 3, 1, 2), torch.ones(1, 3, 5, 5), padding=1)",
     "Calculated padded input size per channel: (3 x 4). Kernel size: (5 x 5). Kernel size can't be greater than "
     "actual input size"},
    {"torch.conv1d(torch.ones(1, 3, 2), torch.ones(1, 3, 5))",
     "Calculated padded input size per channel: (2). Kernel size: (5). Kernel size can't be greater than actual input "
     "size"},
    {"torch.conv2d(torch.ones(8), torch.ones(1, 3, 5, 5))",
     "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [8]"},
    {"F.layer_norm(torch.ones(2, 3), [4])",
     "Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]"},
    {"F.layer_norm(torch.ones(2, 3), [3], torch.ones(3), torch.ones(2))",
     "Expected bias to be of same shape as normalized_shape, but got bias of shape [2] and normalized_shape = [3]"},
    {"torch.ones(4, 3)[torch.ones(4, 2) > 0]",
     "The shape of the mask [4, 2] at index 1 does not match the shape of the indexed tensor [4, 3] at index 1"},
    {"torch.ones(4, 4)[torch.tensor([1, 2]), torch.tensor([1, 2, 3])]",
     "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]"},
    {"torch.ones(4).index_put([torch.tensor([1, 2])], torch.ones(3))",
     "shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of shape [2]"},
    {"torch.gather(torch.ones(2, 2), 0, torch.ones(2, 2))", "gather(): Expected dtype int64 for index"},
    {"torch.gather(torch.ones(2, 2), 0, torch.zeros(2, 2, dtype=torch.int32))",
     "gather(): Expected dtype int64 for index"},
    {"torch.scatter_add(torch.zeros(3, 2), 0, torch.zeros(1, 1, dtype=torch.int32), torch.ones(1, 1))",
     "scatter(): Expected dtype int64 for index"},
    {"torch.index_add(torch.ones(3, 2), 0, torch.tensor([0, 1]), torch.ones(2, 3))",
     "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"},
    {"torch.index_add(torch.ones(3, 2), 0, torch.zeros(2, dtype=torch.int16), torch.ones(2, 2))",
     "index_add_(): Expected dtype int32/int64 for index but got: Short"},
    {"torch.index_add(torch.ones(3, 2), 0, torch.tensor([0]), torch.tensor(2.0))",
     "select() cannot be applied to a 0-dim tensor."},
    {"torch.index_add(torch.ones(3, 2), 0, torch.tensor([0, 7]), torch.ones(2, 2))", "index out of range in self"},
    {"torch.index_copy(torch.ones(3, 2, 4), 0, torch.tensor([0, 1]), torch.ones(2, 2, 3))",
     "Destination slice shape: 2 4 at dimension 0 and source slice shape: 2 3 at dimension 0."},
    {"torch.index_copy(torch.ones(3, 2), 0, torch.tensor([0, 1]), torch.ones(2))",
     "their dimensionality must match. Source dimensionality (1), destination dimensionality (2)"},
    {"torch.index_copy(torch.ones(3, 2), 0, torch.zeros(2, dtype=torch.int32), torch.ones(2, 2))",
     "index_copy_(): Expected a long tensor for index, but got Int"},
    {"torch.index_reduce(torch.ones(3, 2), 0, torch.tensor([0, 1]), torch.ones(2, 3), 'amax')",
     "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"},
    {"torch.index_fill(torch.ones(3, 2), 0, torch.zeros(2, dtype=torch.int32), 1.0)",
     "index_fill_(): Expected dtype int64 for index."},
    {"torch.index_fill(torch.ones(3, 2), 0, torch.tensor([0]), 2j)",
     "index_fill_(): Converting complex Scalar to non-complex type is not supported"},
    {"torch.addr(torch.ones(2, 2, dtype=torch.int64), torch.tensor([1, 2]), torch.tensor([1, 2]), alpha=0.5)",
     "For integral input tensors, argument alpha must not be a floating point number."},
    {"torch.zeros(2, dtype=torch.uint8).masked_fill_(torch.tensor([True, False]), 300)",
     "value cannot be converted to type uint8_t without overflow"},
    {"torch.renorm(torch.ones(2, 2), 2, 3, 1.0)",
     "Dimension out of range (expected to be in range of [-2, 1], but got 3)"},
    {"torch.embedding(torch.ones(3, 2), torch.ones(2))",
     "to have one of the following scalar types: Long, Int; but got torch.FloatTensor instead (while checking "
     "arguments for embedding)"},
    {"torch.grid_sampler(torch.ones(1, 2, 0, 3), torch.ones(1, 2, 2, 2), 0, 0, False)",
     "expected input to have non-empty spatial dimensions, but input has sizes [1, 2, 0, 3] with dimension 2 being "
     "empty"},
    {"F.interpolate(torch.ones(1, 2, 3, 4), [0, 2])",
     "Input and output sizes should be greater than 0, but got input (H: 3, W: 4) output (H: 0, W: 2)"},
    {"torch.ops.aten.upsample_nearest2d(torch.ones(1, 0, 3, 3), [2, 2])",
     "Non-empty 4D data tensor expected but got a tensor with sizes [1, 0, 3, 3]"},
    {"torch.zeros(2, 2).scatter(0, torch.ones(1, 1), torch.ones(1, 1))", "scatter(): Expected dtype int64 for index"},
    {"torch.gather(torch.ones(2, 2), 0, torch.zeros([1, 3], dtype=torch.int64))",
     "Size does not match at dimension 1 expected index [1, 3] to be smaller than self [2, 2] apart from dimension 0"},
    {"torch.zeros(2, 2).scatter(0, torch.tensor([[0, 0, 0]]), torch.ones(1, 3))",
     "Expected index [1, 3] to be smaller than self [2, 2] apart from dimension 0 and to be smaller size than src "
     "[1, 3]"},
    {"F.embedding(torch.tensor([5]), torch.ones(3, 2))", "index out of range in self"},
    {"F.interpolate(torch.ones(1, 1, 4, 4), size=[2, 2], mode='linear')",
     "Got 4D input, but linear mode needs 3D input"},
    {"F.interpolate(torch.ones(1, 1, 4, 4), size=[2])",
     "spatial dimensions of [4, 4] and output size of [2]. Please provide input tensor in (N, C, d1, d2, ...,dK) "
     "format"},
    {"F.max_pool1d(torch.ones(2, 4, dtype=torch.int64), 2)", "\"max_pool1d_impl\" not implemented for 'Long'"},
    {"F.max_pool2d(torch.ones(2, 4, 4, dtype=torch.int32), 2)", "\"max_pool2d\" not implemented for 'Int'"},
    {"F.max_pool3d(torch.ones(2, 4, 4, 4) > 0, 2)", "\"max_pool3d_with_indices_cpu\" not implemented for 'Bool'"},
    {"F.max_pool1d(torch.ones(3, 0, 4), 2)",
     "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:[3, 0, 4]"},
    {"F.max_pool2d(torch.ones(2, 0, 4, 4), 2)",
     "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:[2, 0, 4, 4]"},
    {"F.avg_pool2d(torch.ones(0, 4, 4), 2)",
     "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:[0, 4, 4]"},
    {"F.avg_pool3d(torch.ones(2, 0, 4, 4, 4), 2)",
     "avg_pool3d(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
     "[2, 0, 4, 4, 4] and non-batch dimension 0 has length zero!"},
    {"F.max_pool2d(torch.ones(1, 1, 2, 2), 5)",
     "Given input size: (1x2x2). Calculated output size: (1x0x0). Output size is too small"},
    {"F.max_pool3d(torch.ones(1, 7, 2, 9, 2), 5)",
     "Given input size: (7x2x9x2). Calculated output size: (7x0x1x0). Output size is too small"},
    {"F.avg_pool2d(torch.ones(1, 1, 8, 8), 3, padding=2)",
     "pad should be at most half of kernel size, but got pad=2 and kernel_size=3"},
    {"torch.ones(2).to('cuda')", "there is no device 'cuda' here"},
    {"torch.ones(2).cuda()", "there is no device 'cuda' here"},
    {"F.avg_pool1d(torch.ones(2, 0, 4), 2)",
     "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:[2, 0, 1, 4]"},
    {"F.max_pool1d(torch.ones(0, 4), 2)",
     "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:[0, 4]"},
    {"F.avg_pool2d(torch.ones(2, 4, 4, dtype=torch.int32), 2)", "\"avg_pool2d\" not implemented for 'Int'"},
    {"F.adaptive_max_pool1d(torch.ones(2, 0, 4), 2)",
     "adaptive_max_pool2d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes [2, 0, "
     "1, 4] with dimension 1 being empty"},
    {"F.adaptive_avg_pool3d(torch.ones(2, 0, 4, 4, 4), 2)",
     "adaptive_avg_pool3d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes [2, 0, "
     "4, 4, 4] with dimension 1 being empty"},
    {"torch.adaptive_max_pool1d(torch.ones(2, 4, dtype=torch.int64), 2)",
     "\"adaptive_max_pool2d\" not implemented for 'Long'"},
    {"F.max_unpool2d(torch.ones(2, 2), torch.zeros(2, 2, dtype=torch.int64), 2)",
     "Input to max_unpooling2d should be a 3d or 4d Tensor, but got a tensor with 2 dimensions."},
    {"F.max_unpool2d(torch.ones(2, 2, 2) > 0, torch.zeros(2, 2, 2, dtype=torch.int64), 2)",
     "\"max_unpool2d\" not implemented for 'Bool'"},
    {"F.max_unpool3d(torch.ones(1, 0, 2, 2, 2), torch.zeros(1, 0, 2, 2, 2, dtype=torch.int64), 2)",
     "max_unpooling3d_forward_out_cpu(): Expected input to have non-zero size for non-batch dimensions, but got [1, 0, "
     "2, 2, 2] with dimension 1 being empty."},
    {"F.pad(torch.ones(1, 4, 4, dtype=torch.int64), [1, 1, 1, 1], mode='reflect')",
     "\"reflection_pad2d\" not implemented for 'Long'"},
    {"F.pad(torch.ones(2, 4, 4) > 0, [1, 1], mode='replicate')",
     "\"replication_pad1d_cpu\" not implemented for 'Bool'"},
    {"F.pad(torch.ones(2, 0, 4), [1, 1], mode='replicate')",
     "Expected 2D or 3D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
     "got: [2, 0, 4]"},
    {"F.unfold(torch.ones(1, 1, 4, 4, dtype=torch.int32), 2)", "\"im2col_out_cpu\" not implemented for 'Int'"},
    {"F.fold(torch.ones(1, 4, 1, dtype=torch.int64), 2, 2)", "\"col2im_out_cpu\" not implemented for 'Long'"},
    {"F.glu(torch.ones(4, dtype=torch.int64))", "\"glu_cpu\" not implemented for 'Long'"},
    {"torch.prelu(torch.ones(2, 2) > 0, torch.ones(1) > 0)", "\"prelu_cpu\" not implemented for 'Bool'"},
    {"F.prelu(torch.ones(2, 2), torch.ones(2, 1))",
     "prelu: Expected `weight` to be a scalar or 1D tensor, but got ndim = 2"},
    {"F.celu(torch.ones(2), 0.0)", "ZeroDivisionError: alpha cannot be 0 for CELU"},
    {"F.softshrink(torch.ones(2), -1.0)", "lambda must be greater or equal to 0, but found to be -1."},
    {"F.gelu(torch.ones(2, dtype=torch.int64))", "\"GeluKernelImpl\" not implemented for 'Long'"},
    {"F.selu(torch.ones(2, dtype=torch.int8))", "\"elu_cpu\" not implemented for 'Char'"},
    {"F.mish(torch.ones(2, dtype=torch.complex64))", "\"mish_cpu\" not implemented for 'ComplexFloat'"},
    {"F.threshold(torch.ones(2) > 0, 1.0, 2.0)", "\"threshold_cpu\" not implemented for 'Bool'"},
    {"F.hardtanh(torch.ones(2, dtype=torch.uint8), -1.0, 1.0)",
     "cannot do hardtanh on an unsigned type with negative limits"},
    {"F.relu6(torch.ones(2) > 0)", "Bool inputs not supported for hardtanh"},
    {"F.mse_loss(torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.int64))",
     "\"mse_cpu\" not implemented for 'Long'"},
    {"F.smooth_l1_loss(torch.ones(2), torch.ones(2, dtype=torch.complex64))",
     "\"smooth_l1_cpu\" not implemented for 'ComplexFloat'"},
    {"F.huber_loss(torch.ones(2, dtype=torch.int32), torch.ones(2, dtype=torch.int32))",
     "\"huber_cpu\" not implemented for 'Int'"},
    {"F.kl_div(torch.ones(2), torch.ones(2, dtype=torch.int64))", "kl_div: Integral inputs not supported."},
    {"F.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(2, dtype=torch.int32))",
     "result type Float can't be cast to the desired output type Int"},
    {"F.soft_margin_loss(torch.ones(2, dtype=torch.uint8), torch.ones(2))",
     "result type Float can't be cast to the desired output type Byte"},
    {"F.multi_margin_loss(torch.ones(2, 0), torch.ones(2, dtype=torch.int64))",
     "Expected non-empty vector or matrix with optional 0-dim batch size, but got: [2, 0]"},
    {"F.multilabel_margin_loss(torch.ones(2, 3, 4), torch.ones(2, 3, 4, dtype=torch.int64))",
     "Expected non-empty vector or matrix with optional 0-dim batch size, but got: [2, 3, 4]"},
    {"F.cosine_embedding_loss(torch.ones(3, 2, 2), torch.ones(3, 2, 2), torch.ones(3))",
     "1D target tensor expects 2D input tensors, but found inputs with sizes [3, 2, 2] and [3, 2, 2]."},
    {"torch.isin(torch.ones(2) > 0, torch.ones(2) > 0)", "Unsupported input type encountered for isin(): Bool"},
    {"torch.histc(torch.ones(2, dtype=torch.int64))", "\"histogram_cpu\" not implemented for 'Long'"},
    {"torch.histogram(torch.ones(2, dtype=torch.uint8), 3)", "\"histogramdd\" not implemented for 'Byte'"},
    {"torch.bucketize(torch.ones(2), torch.ones(2, 2))", "boundaries tensor must be 1 dimension, but got dim(2)"},
    {"torch.searchsorted(torch.ones(2) > 0, torch.ones(2) > 0)", "\"searchsorted_out_cpu\" not implemented for 'Bool'"},
    {"torch.unique(torch.ones(2, dtype=torch.complex64))", "\"unique\" not implemented for 'ComplexFloat'"},
    {"torch.cross(torch.ones(3), torch.ones(3, dtype=torch.float64))", "expected scalar type Float but found Double"},
    {"torch.cdist(torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float64))",
     "expected scalar type Float but found Double"},
    {"torch.mm(torch.ones(2, 2) > 0, torch.ones(2, 2) > 0)", "\"addmm_impl_cpu_\" not implemented for 'Bool'"},
    {"torch.bmm(torch.ones(1, 2, 2) > 0, torch.ones(1, 2, 2) > 0)", "\"bmm\" not implemented for 'Bool'"},
    {"torch.mv(torch.ones(2, 2) > 0, torch.ones(2) > 0)", "\"addmv_impl_cpu\" not implemented for 'Bool'"},
    {"F.linear(torch.ones(2, 2) > 0, torch.ones(2, 2) > 0)", "\"addmm_impl_cpu_\" not implemented for 'Bool'"},
    {"torch.linalg.multi_dot([torch.ones(2, 2), torch.ones(2, 2, 2), torch.ones(2, 2)])",
     "multi_dot(): tensor 1 must be 2D but got 3D"},
    {"torch.linalg.multi_dot([torch.ones(2, 2), torch.ones(2, 2, 2)])",
     "multi_dot(): the last tensor must be 1D or 2D but got 3D"},
    {"torch.linalg.matrix_power(torch.ones(2), 2)",
     "linalg.matrix_power: The input tensor A must have at least 2 dimensions."},
    {"torch.addcmul(torch.ones(2) > 0, torch.ones(2) > 0, torch.ones(2) > 0)",
     "\"addcmul_cpu_out\" not implemented for 'Bool'"},
    {"torch.ones(2) << torch.ones(2)", "\"lshift_cpu\" not implemented for 'Float'"},
    {"torch.ones(2) & torch.ones(2)", "\"bitwise_and_cpu\" not implemented for 'Float'"},
    {"torch.bitwise_right_shift(torch.ones(2) > 0, torch.ones(2) > 0)", "\"rshift_cpu\" not implemented for 'Bool'"},
    {"torch.bitwise_not(torch.ones(2))", "\"bitwise_not_cpu\" not implemented for 'Float'"},
    {"(torch.ones(2) > 0) ** (torch.ones(2) > 0)", "\"pow\" not implemented for 'Bool'"},
    {"torch.gcd(torch.ones(2) > 0, torch.ones(2) > 0)", "\"gcd_cpu\" not implemented for 'Bool'"},
    {"torch.hypot(torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.int64))",
     "\"hypot_cpu\" not implemented for 'Long'"},
    {"torch.heaviside(torch.ones(2), torch.ones(2, dtype=torch.int64))",
     "heaviside is not yet implemented for tensors with different dtypes."},
    {"torch.lt(torch.ones(2, dtype=torch.complex64), 1)", "\"lt_cpu\" not implemented for 'ComplexFloat'"},
    {"torch.isclose(torch.ones(2), torch.ones(2, dtype=torch.int64))", "Float did not match Long"},
    {"torch.isneginf(torch.ones(2, dtype=torch.complex64))", "isneginf does not support complex inputs."},
    {"torch.xlogy(torch.ones(2), torch.ones(2, dtype=torch.complex64))",
     "\"xlogy_cpu\" not implemented for 'ComplexFloat'"},
    {"torch.nan_to_num(torch.ones(2, dtype=torch.complex64))", "\"nan_to_num\" not implemented for 'ComplexFloat'"},
    {"torch.median(torch.ones(2) > 0)", "\"median_cpu\" not implemented for 'Bool'"},
    {"torch.argmax(torch.ones(2) > 0)", "\"argmax_cpu\" not implemented for 'Bool'"},
    {"torch.topk(torch.ones(2) > 0, 1)", "\"topk_cpu\" not implemented for 'Bool'"},
    {"torch.trace(torch.ones(2, 2) > 0)", "\"trace\" not implemented for 'Bool'"},
    {"torch.floor(torch.ones(2) > 0)", "\"floor_vml_cpu\" not implemented for 'Bool'"},
    {"torch.ceil(torch.ones(2, dtype=torch.complex64))", "ceil is not supported for complex inputs"},
    {"torch.round(torch.ones(2, dtype=torch.complex64))", "\"round_vml_cpu\" not implemented for 'ComplexFloat'"},
    {"torch.frac(torch.ones(2, dtype=torch.int64))", "\"frac_cpu\" not implemented for 'Long'"},
    {"torch.erf(torch.ones(2, dtype=torch.complex64))", "\"erf_vml_cpu\" not implemented for 'ComplexFloat'"},
    {"torch.polygamma(-1, torch.ones(2))", "polygamma(n, x) does not support negative n."},
    {"torch.mvlgamma(torch.ones(2) > 0, 1)", "The input tensor may not be a boolean tensor."},
    {"torch.trapz(torch.ones(2) > 0)", "trapezoid: received a bool input for `y`, but bool is not supported"},
    {"torch.gradient(torch.ones(4, dtype=torch.uint8))", "torch.gradient does not support uint8 input."},
    {"torch.repeat_interleave(torch.tensor(1.5), 2, 0)", "Dimension specified as 0 but tensor has no dimensions"},
    {"torch.zeros(2, dtype=torch.complex64).uniform_(1.0, 0.0)",
     "uniform_ expects to return a [from, to) range, but found from=1 > to=0"},
    {"F.hinge_embedding_loss(torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.int64))",
     "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long"},
    {"torch.cumsum(torch.ones(2), 0, dtype=torch.bool)", "\"cumsum_out_cpu\" not implemented for 'Bool'"},
    {"torch.quantile(torch.ones(2), 0.5, interpolation='bad')",
     "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got bad"},
    {"torch.quantile(torch.ones(2), 1.5)", "quantile() q must be in the range [0, 1] but got 1.5"},
    {"torch.quantile(torch.ones(2, dtype=torch.int64), torch.tensor(0.5))",
     "quantile() input tensor must be either float or double dtype"},
    {"torch.linalg.vecdot(torch.ones(2, dtype=torch.int64), torch.ones(2))",
     "linalg.vecdot: Expected a floating point or complex tensor as input. Got Long"},
    {"torch.linalg.vecdot(torch.ones(2), torch.ones(2, dtype=torch.float64))",
     "linalg.vecdot: Expected x and y to have the same dtype, but found x of type Float and y of type Double instead"},
    {"F.dropout2d(torch.ones(1, 2, 2, 2, dtype=torch.int64), 0.5)",
     "result type Float can't be cast to the desired output type Long"},
    {"F.embedding_bag(torch.tensor([[0]]), torch.ones(2, 2, dtype=torch.int64))",
     "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, Float, Double; but got "
     "torch.LongTensor instead (while checking arguments for embedding_bag)"},
    {"F.rrelu(torch.ones(2), 0.5, 0.1)", "Lower bound should be less than or equal to the upper bound"},
    {"F.gelu(torch.ones(2), approximate='bad')", "approximate argument must be either none or tanh."},
    {"F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), label_smoothing=1.5)",
     "label_smoothing must be between 0.0 and 1.0. Got: 1.5"},
    {"F.binary_cross_entropy(torch.ones(2), torch.ones(2, dtype=torch.int64))", "Found dtype Long but expected Float"},
    {"F.conv1d(torch.ones(1, 3, 4), torch.ones(0, 3, 2))",
     "Given groups=1, expected weight to be at least 1 at dimension 0, but got weight of size [0, 3, 2] instead"},
    {"F.conv2d(torch.ones(1, 4, 4, 4), torch.ones(1, 2, 2, 2), groups=2)",
     "Given groups=2, expected weight to be at least 2 at dimension 0, but got weight of size [1, 2, 2, 2] instead"},
    {"F.pad(torch.ones(3, 3), [1, 1], mode='circular')", "Invalid padding size, expected 0 but got 2"},
    {"F.affine_grid(torch.ones(1, 2, 3), [1, 1, 0, 2])", "Expected non-zero, positive output size. Got [1, 1, 0, 2]"},
    {"F.affine_grid(torch.ones(1, 2, 3), [1, 1, 2])",
     "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size [1, 1, 2]."},
    {"torch.ones(2, dtype=torch.complex64).abs_()", "In-place abs is not supported for complex tensors."},
    {"torch.abs(torch.ones(2) > 0)", "\"abs_cpu\" not implemented for 'Bool'"},
    {"torch.mvlgamma(torch.ones(2), 0)", "p has to be greater than or equal to 1"},
    {"torch.special.xlog1py(torch.ones(2, dtype=torch.complex64), 2.0)",
     "\"xlog1py_cpu\" not implemented for 'ComplexFloat'"},
    {"torch.positive(torch.ones(2) > 0)", "The `+` operator, on a bool tensor is not supported."},
    {"torch.deg2rad(torch.ones(2, dtype=torch.complex64))", "deg2rad is not supported for complex tensors."},
    {"torch.cumulative_trapezoid(torch.ones(2) > 0)",
     "cumulative_trapezoid: received a bool input for `y`, but bool is not supported"},
    {"torch.sum(torch.tensor(1.0), [0, -1])", "dim 0 appears multiple times in the list of dims"},
    {"torch.kthvalue(torch.ones(2, 3), 9)", "kthvalue(): selected number k out of range for dimension 1"},
    {"torch.conv2d(torch.ones(3, 3), torch.ones(3, 3))",
     "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [3, 3]"},
    {"torch.conv1d(torch.ones(3), torch.ones(3))",
     "Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: [3]"},
    {"F.log_softmax(torch.ones(2, 2, dtype=torch.int64), 0)", "\"softmax_kernel_impl\" not implemented for 'Long'"},
    {"F.log_softmax(torch.ones(2, 2, dtype=torch.int64), 1)",
     "\"log_softmax_lastdim_kernel_impl\" not implemented for 'Long'"},
    {"F.softmax(torch.ones(2, 2), 1, dtype=torch.int64)", "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'"},
    {"torch.outer(torch.ones(2, 2), torch.ones(2))", "outer: Expected 1-D argument self, but got 2-D"},
    {"torch.outer(torch.ones(2), torch.ones(2, 2))", "outer: Expected 1-D argument vec2, but got 2-D"},
    {"torch.addr(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2))", "addr: Expected 1-D argument vec1, but got 2-D"},
    {"torch.normal(torch.ones(2), -1.0)", "normal expects std >= 0.0, but found std -1"},
    {"F.max_pool1d(torch.ones(2), 2)",
     "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:[2]"},
    {"F.max_pool2d(torch.ones(2, 2), 2)", "non-empty 3D or 4D (batch mode) tensor expected for input"},
    {"F.max_pool3d(torch.ones(2, 2), 2)", "non-empty 4D or 5D (batch mode) tensor expected for input"},
    {"F.avg_pool1d(torch.ones(2), 2)",
     "Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #1 'self' (while checking arguments for "
     "avg_pool1d)"},
    {"F.adaptive_avg_pool1d(torch.ones(2, 2, 2, 2), 2)",
     "Expected 2 to 3 dimensions, but got 4-dimensional tensor for argument #1 'self' (while checking arguments for "
     "adaptive_avg_pool1d)"},
};

static void test_calls(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char text[500];
    wick_module *module;
    wick_error *error;
    wick_value *result;
    snprintf(text, sizeof text, "import torch.nn.functional as F\ndef f():\n  return %s\n", texts[i].expression);
    if (wick_compile(NULL, text, strlen(text), NULL, &module, &error))
      fail_msg("%s: %s", texts[i].expression, wick_error_message(error));
    if (!wick_run(module, "f", NULL, 0, NULL, 0, NULL, &result, &error)) fail_msg("%s is fine", texts[i].expression);
    if (!strstr(wick_error_message(error), texts[i].message))
      fail_msg("%s: %s", texts[i].expression, wick_error_message(error));
    wick_error_free(error);
    wick_module_release(module);
  }
}

static void test_types(void **state) {
  (void)state;
  const char *const programs[] = {"def f(x: torch.Foo):\n  return x\n", "def f(x) -> torch.Foo:\n  return x\n",
                                  "def f(x: List[torch.Foo]):\n  return x\n"};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    wick_module *module;
    wick_error *error;
    assert_int_equal(wick_compile(NULL, programs[i], strlen(programs[i]), NULL, &module, &error), WICK_COMPILE);
    if (!strstr(wick_error_message(error), "Unknown type name 'torch.Foo'")) fail_msg("%s", wick_error_message(error));
    wick_error_free(error);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls),
      cmocka_unit_test(test_types),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
