/* Convolutions by the names of kernels that PyTorch had for them, which programs may call. */
#include "call/row.h"

#define BODY(text, statement) \
  { .schema = text, .body = statement }

static const OpRow rows[] = {
    BODY("aten::thnn_conv2d(Tensor self, Tensor weight, int[2] kernel_size, Tensor? bias=None, int[2] stride=1, int[2] "
         "padding=0) -> Tensor",
         "return torch.conv2d(self, weight, bias, stride, padding)"),
    BODY("aten::_slow_conv2d_forward(Tensor self, Tensor weight, int[2] kernel_size, Tensor? bias, int[2] stride, "
         "int[2] padding) -> Tensor",
         "return torch.conv2d(self, weight, bias, stride, padding)"),
    BODY("aten::_nnpack_spatial_convolution(Tensor input, Tensor weight, Tensor? bias, int[2] padding, int[2] "
         "stride=1) -> Tensor",
         "return torch.conv2d(input, weight, bias, stride, padding)"),
    BODY("aten::slow_conv_dilated2d(Tensor self, Tensor weight, int[2] kernel_size, Tensor? bias=None, int[2] "
         "stride=1, int[2] padding=0, int[2] dilation=1) -> Tensor",
         "return torch.conv2d(self, weight, bias, stride, padding, dilation)"),
    BODY("aten::_conv_depthwise2d(Tensor self, Tensor weight, int[2] kernel_size, Tensor? bias, int[2] stride, int[2] "
         "padding, int[2] dilation) -> Tensor",
         "return torch.conv2d(self, weight, bias, stride, padding, dilation, self.size(1))"),
    BODY("aten::slow_conv3d(Tensor self, Tensor weight, int[3] kernel_size, Tensor? bias=None, int[3] stride=1, int[3] "
         "padding=0) -> Tensor",
         "return torch.conv3d(self, weight, bias, stride, padding)"),
    BODY("aten::slow_conv3d_forward(Tensor self, Tensor weight, int[3] kernel_size, Tensor? bias, int[3] stride, "
         "int[3] padding) -> Tensor",
         "return torch.conv3d(self, weight, bias, stride, padding)"),
    BODY("aten::slow_conv_dilated3d(Tensor self, Tensor weight, int[3] kernel_size, Tensor? bias=None, int[3] "
         "stride=1, int[3] padding=0, int[3] dilation=1) -> Tensor",
         "return torch.conv3d(self, weight, bias, stride, padding, dilation)"),
    BODY("aten::conv_depthwise3d(Tensor self, Tensor weight, int[3] kernel_size, Tensor? bias, int[3] stride, int[3] "
         "padding, int[3] dilation) -> Tensor",
         "return torch.conv3d(self, weight, bias, stride, padding, dilation, self.size(1))"),
    BODY("aten::slow_conv_transpose2d(Tensor self, Tensor weight, int[2] kernel_size, Tensor? bias=None, int[2] "
         "stride=1, int[2] padding=0, int[2] output_padding=0, int[2] dilation=1) -> Tensor",
         "return torch.conv_transpose2d(self, weight, bias, stride, padding, output_padding, 1, dilation)"),
    BODY("aten::slow_conv_transpose3d(Tensor self, Tensor weight, int[3] kernel_size, Tensor? bias=None, int[3] "
         "stride=1, int[3] padding=0, int[3] output_padding=0, int[3] dilation=1) -> Tensor",
         "return torch.conv_transpose3d(self, weight, bias, stride, padding, output_padding, 1, dilation)"),
};
OP_TABLE(op_table_conv_named, rows);
