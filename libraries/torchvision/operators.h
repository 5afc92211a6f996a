/* The kernels of torchvision; torchvision.c has the operators. */
#pragma once

#include "kit/kit.h"

wick_kernel kernel_nms, kernel_box_iou_rotated;
/* user: its RegionKind */
wick_kernel kernel_regions, kernel_regions_backward;
wick_kernel kernel_deform_conv2d, kernel_deform_conv2d_backward;

typedef enum RegionKind { ROI_ALIGN, ROI_POOL, PS_ROI_ALIGN, PS_ROI_POOL } RegionKind;

static inline bool kind_is_position_sensitive(RegionKind kind) {
  return kind == PS_ROI_ALIGN || kind == PS_ROI_POOL;
}
static inline bool kind_samples(RegionKind kind) { /* between pixels, on a grid; else it takes whole pixels */
  return kind == ROI_ALIGN || kind == PS_ROI_ALIGN;
}
