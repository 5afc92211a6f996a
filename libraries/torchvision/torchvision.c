/* torchvision: what archives of detectors use of it (https://github.com/pytorch/vision, 0.14, has the operators'
 * meanings, 0.29 that of box_iou_rotated): boxes without overlap, regions of feature maps, deformable convolution. */
#include "torchvision/operators.h"

static RegionKind roi_align = ROI_ALIGN, roi_pool = ROI_POOL, ps_roi_align = PS_ROI_ALIGN, ps_roi_pool = PS_ROI_POOL;

#define REGIONS(name, rest, ...)                                                                        \
  OPERATOR("torchvision::" name                                                                         \
           "(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width" rest, \
           __VA_ARGS__)
#define BACKWARD(name, positions, more, last, of)                                 \
  OPERATOR("torchvision::_" name "_backward(Tensor grad, Tensor rois, " positions \
           "float spatial_scale, int pooled_height, int pooled_width, " more      \
           "int batch_size, int channels, int "                                   \
           "height, int width" last ") -> Tensor",                                \
           .kernel = kernel_regions_backward, .user = &(of))
#define SIZES "input.size(0), input.size(1), input.size(2), input.size(3)"
#define CONVOLUTION                                                                                                   \
  "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h, int stride_w, int pad_h, int " \
  "pad_w, int dilation_h, int dilation_w, int groups, int offset_groups, bool use_mask"

static const wick_operator operators[] = {
    OPERATOR("torchvision::_cuda_version() -> int _0", .kernel = kernel_cuda_version),
    OPERATOR("torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", .kernel = kernel_nms,
             .flags = WICK_OPERATOR_NOT_DIFFERENTIABLE),
    OPERATOR("torchvision::box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor", .kernel = kernel_box_iou_rotated,
             .flags = WICK_OPERATOR_NOT_DIFFERENTIABLE),

    REGIONS("roi_align", ", int sampling_ratio, bool aligned) -> Tensor", .kernel = kernel_regions, .user = &roi_align,
            .gradient = "input: torch.ops.torchvision._roi_align_backward(grad, rois, spatial_scale, pooled_height, "
                        "pooled_width, " SIZES ", sampling_ratio, aligned)"),
    REGIONS("roi_pool", ") -> (Tensor, Tensor)", .kernel = kernel_regions, .user = &roi_pool,
            .gradient = "input: torch.ops.torchvision._roi_pool_backward(grad, rois, results[1], spatial_scale, "
                        "pooled_height, pooled_width, " SIZES ")"),
    REGIONS("ps_roi_align", ", int sampling_ratio) -> (Tensor, Tensor)", .kernel = kernel_regions,
            .user = &ps_roi_align,
            .gradient = "input: torch.ops.torchvision._ps_roi_align_backward(grad, rois, results[1], spatial_scale, "
                        "pooled_height, pooled_width, sampling_ratio, " SIZES ")"),
    REGIONS("ps_roi_pool", ") -> (Tensor, Tensor)", .kernel = kernel_regions, .user = &ps_roi_pool,
            .gradient = "input: torch.ops.torchvision._ps_roi_pool_backward(grad, rois, results[1], spatial_scale, "
                        "pooled_height, pooled_width, " SIZES ")"),
    BACKWARD("roi_align", "", "", ", int sampling_ratio, bool aligned", roi_align),
    BACKWARD("roi_pool", "Tensor argmax, ", "", "", roi_pool),
    BACKWARD("ps_roi_align", "Tensor channel_mapping, ", "int sampling_ratio, ", "", ps_roi_align),
    BACKWARD("ps_roi_pool", "Tensor channel_mapping, ", "", "", ps_roi_pool),

    OPERATOR("torchvision::deform_conv2d(" CONVOLUTION ") -> Tensor", .kernel = kernel_deform_conv2d,
             .gradient = "input, weight, offset, mask, bias: torch.ops.torchvision._deform_conv2d_backward(grad, "
                         "input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, "
                         "groups, offset_groups, use_mask)"),
    OPERATOR("torchvision::_deform_conv2d_backward(Tensor grad, " CONVOLUTION
             ") -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
             .kernel = kernel_deform_conv2d_backward),
};

WICK_API wick_status wick_library_init(wick_error **error) {
  return wick_operators_register(operators, COUNT(operators), error);
}
