def forward(x: Tensor) -> Tuple[List[Tensor], List[Tensor]]:
    some = [torch.argsort(x), torch.argsort(x, 0, True), torch.sort(x, 1, True)[1], torch.sort(x, stable=True, dim=1, descending=True)[1],
            torch.topk(x, 1)[1], torch.topk(x, 3, 1, False)[1], torch.topk(x, 40)[1], torch.topk(x, 40, 1, False)[1],
            torch.topk(x, 40, 1, True, False)[1], torch.mode(torch.nan_to_num(x))[1], torch.mode(torch.nan_to_num(x), 0)[1], torch.kthvalue(x, 2, 0)[1]]
    return some, [torch.sort(x)[0], torch.topk(x, 40)[0], torch.mode(torch.nan_to_num(x))[0]]
