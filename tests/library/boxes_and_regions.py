def forward(boxes: Tensor, scores: Tensor, image: Tensor, regions: Tensor) -> Tuple[List[Tensor], List[Tensor]]:
    kept = [torch.ops.torchvision.nms(boxes, scores, 0.5), torch.ops.torchvision.nms(boxes, scores, 0.1),
            torch.ops.torchvision.nms(boxes[:0], scores[:0], 0.5)]
    return kept, [torch.ops.torchvision.roi_align(image, regions, 0.5, 3, 4, 2, False), torch.ops.torchvision.roi_align(image, regions, 0.5, 3, 4, -1, True),
                  torch.ops.torchvision.roi_align(image, regions, 1.0, 1, 1, 0, False), torch.ops.torchvision.roi_align(image, regions[:0], 1.0, 2, 2, 3, True)]
