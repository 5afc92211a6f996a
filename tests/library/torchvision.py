# The operators of torchvision, and their gradients, with weights that tell the results' places apart.
def weigh(y: Tensor) -> Tensor:
    return (y * torch.arange(1, y.numel() + 1).reshape(y.size()).to(y.dtype)).sum()

def boxes(dets: Tensor, scores: Tensor):
    return [torch.ops.torchvision.nms(dets, scores, t) for t in [0.1, 0.3, 0.7]]

def regions(x: Tensor, rois: Tensor, scale: float, rows: int, columns: int, sampling: int):
    a = torch.ops.torchvision.roi_align(x, rois, scale, rows, columns, sampling, False)
    b = torch.ops.torchvision.roi_align(x, rois, scale, rows, columns, sampling, True)
    p, at = torch.ops.torchvision.roi_pool(x, rois, scale, rows, columns)
    q, channels = torch.ops.torchvision.ps_roi_align(x, rois, scale, rows, columns, sampling)
    s, others = torch.ops.torchvision.ps_roi_pool(x, rois, scale, rows, columns)
    return a, b, p, at, q, channels, s, others

def region_gradients(x: Tensor, rois: Tensor, scale: float, rows: int, columns: int, sampling: int):
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        a, b, p, at, q, channels, s, others = regions(x, rois, scale, rows, columns, sampling)
        return [torch.autograd.grad([weigh(y)], [x], retain_graph=True)[0] for y in [a, b, p, q, s]]

def convolution(x: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor, n: List[int], use_mask: bool):
    return torch.ops.torchvision.deform_conv2d(x, weight, offset, mask, bias, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], use_mask)

def convolution_gradients(x: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor, n: List[int], use_mask: bool):
    with torch.enable_grad():
        inputs = [t.detach().requires_grad_() for t in [x, weight, offset, mask, bias]]
        y = convolution(inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], n, use_mask)
        return torch.autograd.grad([weigh(y)], inputs)
