def forward(a: Tensor, b: Tensor) -> Tensor:
    return torch.ops.torchvision.box_iou_rotated(a, b)
